"""What tests look at in a page."""

from html.parser import HTMLParser


class Balanced(HTMLParser):
    """Elements opened and not closed, and all attributes."""

    EMPTY = frozenset({"meta", "br", "rect", "path", "circle"})

    def __init__(self, text):
        super().__init__()
        self.open, self.attributes, self.wrong = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.attributes += [(tag, *each) for each in attributes]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.EMPTY and (not self.open or self.open.pop() != tag):
            self.wrong.append(tag)


HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(1)">\u202e\x1b[31m\u2028{{ 7 * 777 }}'
