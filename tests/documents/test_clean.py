"""What no author wrote goes, what one wrote stays, in a time linear in the text."""

import time

import pytest

from publius.documents.document import clean


@pytest.mark.parametrize(
    ("text", "expected"),
    [("plain, as it is", "plain, as it is"), ("a &amp; b &lt;3 &eacute;", "a & b <3 é"),
     ('The <span style="color:red">book</span> was late.<br/>Twice.', "The book was late.\nTwice."),
     ("<style>p {color: red}</style><p>a</p><!-- b -->", "\na\n"), ("<script>steal()", ""),
     ("1 < 2 and x > y, I <3 you <john@post.example>", "1 < 2 and x > y, I <3 you <john@post.example>"),
     ("of\ufb01ce, ｆｕｌｌ", "office, full"), ("long\xadest", "longest"),
     ("com-\nplaint, well-known, a - b", "complaint, well-known, a - b"), ("pages 3-\n4", "pages 3-\n4"),
     ("a\0b", "ab"), ("[NAME] met <PERSON_1> at XXXX, [REDACTED], [name 2], ██", "  met   at  ,  ,  ,  "),
     ("[sic] and [note]", "[sic] and [note]"), ("a\n> b\n> c\nd", "a\nd"),
     ("a\nOn Monday x wrote:\n> b\n", "a\n"), ("a\n-----Original Message-----\nb", "a\n"),
     ("I wrote: this", "I wrote: this")],
)  # fmt: skip
def test_a_text_made_clean(text, expected):
    found = clean(text)[0]
    assert found == expected if "[NAME]" not in text else found.split() == expected.split()


OLD = "an old elephant"
OUTLOOK = "{}: Town <town@post.example>\n{}: Monday, 9:14\n{}: Jane\n{}: heating\n\n" + OLD


@pytest.mark.parametrize(
    "quoting",
    [f"\n> {OLD}\n", f"\n\nOn Mon, Mar 3, 2025 at 9:14 AM Support\n<support@post.example> wrote:\n\n> {OLD}\n",
     f"\n-----Original Message-----\n{OLD}", "\r\n\r\n" + OUTLOOK.format("From", "Sent", "To", "Subject").replace("\n", "\r\n"),
     "\n\n" + OUTLOOK.format("*Von*", "*Gesendet*", "*An*", "*Betreff*"), "\n" + OUTLOOK.format("De", "Envoyé", "À", "Objet"),
     "<br><b>" + OUTLOOK.format("From:</b>", "Sent", "To", "Subject").replace("\n", "<br>"),
     f'[quote="bob, post:2, topic:9"]\n[quote="al"]very[/quote] {OLD}\n[/quote]\n', f"[QUOTE=bob]{OLD}[/QUOTE]",
     f'<aside class="quote no-group" data-username="bob"><div>bob:</div><blockquote><p>{OLD}</p></blockquote></aside>',
     f"<div>On Monday bob wrote:<br></div><blockquote>{OLD} <blockquote>older</blockquote> elephant</blockquote>",
     f"<p>&gt; {OLD}</p>", f"\n{{quote}}\n{OLD}\n{{quote}}\n", f"\nbq. {OLD}\n"],
)  # fmt: skip
def test_the_words_of_others_go_unless_kept(quoting):
    left, quotes = clean(f"my own words{quoting}")
    assert (left.strip(), quotes) == ("my own words", True)
    assert OLD in clean(f"my own words{quoting}", keep_quotes=True)[0]


@pytest.mark.parametrize(
    "own",
    ["I quote: this -- and that", "[quote] that never ends", "{quote} that never ends", "From: me\nSubject: a bus",
     OUTLOOK.format("From", "Sent", "To", "Subject"), "See the Subject: line\nFrom: here on\nit rains", "a > b\nand c",
     "I wrote:\nmore", "</blockquote> and [/quote]"],
)  # fmt: skip
def test_an_authors_own_words_stay(own):
    assert clean(own) == (own.replace("</blockquote>", "\n"), False)


@pytest.mark.parametrize(
    "text", ["plain", "a\n> b\n> c", "<p>a &amp;lt;b&gt;", "[NAME] x", "-\n-\na-\nb", "ﬁ\xad\xad-\n"]
)
def test_a_text_alone_decides(text):
    assert clean(text) == clean(text)


@pytest.mark.parametrize(
    "piece",
    ["<", "<b", "<p ", "<!--", "<script>", "&", "&#", ">", "\n>", "-", "-\n", " ", "[A", "[", "X", "<A_",
     "\u0301", "wrote:\n", "--\n", "{{A", "\u0130", "&amp;", "[quote]", "[quote", "[/quote]", "<blockquote>", "<aside quote ",
     "</aside>", "{quote}", "bq. ", "\nFrom:\n", "\nFrom: Subject", "a\nFrom: b\nTo: c\n", "\n\t", "Subject\n", "On wrote ", "a "],
)  # fmt: skip
def test_time_is_linear_in_the_text(piece):
    def seconds(size):
        text = piece * (size // len(piece))
        start = time.thread_time()  # whatever else the machine does
        clean(text)
        return time.thread_time() - start

    seconds(1_000)
    short = max(min(seconds(50_000) for _ in range(2)), 1e-3)
    assert seconds(400_000) < 40 * short
