"""Count the words a reader of the built site sees without opening anything: python tests/site_words.py site

A word is whatever stands between blanks and holds a letter or a digit, in the text of a page, its code and its
tables; the bars beside the page are not counted. What is folded away under a "More" counts only with its title. Pages
that programs write for looking things up are counted apart.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

LOOKED_UP = {
    "reference/command-line",
    "reference/python",
    "reference/licences",
    "genindex",
    "py-modindex",
    "search",
}
"""Made from the commands, the docstrings, the packages and the site itself."""

_VOID = {"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_SKIPPED = {"script", "style", "svg", "button"}


class Words(HTMLParser):
    """Of one page: ``shown`` and ``folded``, numbers of words."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self._pieces: dict[bool, list[str]] = {True: [], False: []}
        self.feed(page.read_text(encoding="utf-8"))
        self.shown, self.folded = (_count("".join(self._pieces[kind])) for kind in (True, False))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self._open.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in (name for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass
            self._add(" " if tag not in {"a", "b", "code", "em", "i", "span", "strong"} else "")

    def handle_data(self, data: str) -> None:
        self._add(data)

    def _add(self, data: str) -> None:
        names = [name for name, _ in self._open]
        article = any(name == "article" and what.get("role") == "main" for name, what in self._open)
        if (
            article
            and not _SKIPPED & {*names}
            and not any("headerlink" in (what.get("class") or "") for _, what in self._open)
        ):
            self._pieces[not self._folded(names)].append(data)

    def _folded(self, names: list[str]) -> bool:
        """Inside something closed, but for its own title."""
        closed = [
            at for at, (name, what) in enumerate(self._open) if name == "details" and "open" not in what
        ]
        return bool(closed) and (len(closed) > 1 or names[closed[0] + 1 : closed[0] + 2] != ["summary"])


def _count(text: str) -> int:
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def counted(site: Path) -> dict[str, Words]:
    """Every page by its name."""
    pages = sorted(site.rglob("*.html"))
    return {
        str(page.relative_to(site).with_suffix("")): Words(page)
        for page in pages
        if "_static" not in page.parts
    }


def shown(site: Path) -> int:
    """Words of the pages that people wrote, or read from start to end."""
    return sum(words.shown for name, words in counted(site).items() if name not in LOOKED_UP)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    for name, words in sorted(counted(place).items(), key=lambda found: -found[1].shown):
        print(f"{words.shown:7,} shown {words.folded:7,} folded  {name}{'  (apart)' * (name in LOOKED_UP)}")
    print(f"{shown(place):7,} words are shown, without the pages that are only looked up")
