"""Write what the first page shows: before, after and the promise, and the path with its commands.

Run by hand, for the draw is fresh each time: python docs/makers/first_page.py. It takes the packaged samples as older
texts (extra demo), learns from one half of them and protects a passage of the other half. The site's first page gets
both as text, which follows the width and the colors of the page; the README gets pictures.
"""

import html
import os
import re
import tempfile
import textwrap
from pathlib import Path
from typing import NamedTuple

import publius
from publius.documents.inspection import inspect
from publius.evaluation.steps.answers import Choices
from publius.evaluation.steps.kept import bound_in_words
from publius.evaluation.steps.older import PUBLIC, PublicCorpus
from publius.evaluation.steps.walk import Walk

DOCS = Path(__file__).parents[1]
FIGURES = DOCS / "figures"
BOUND = 7.0
BEGINS = "Bills of attainder"
"""The passage, of the Federalist: one that begins with a sentence."""
STYLE = """
  text { font: 15px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #1f2329; }
  .name { font-weight: 650; font-size: 16px; } .soft { fill: #5a616c; font-size: 13px; }
  .code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 11.5px; }
  .box { fill: #ffffff; stroke: #c9c6be; } .key { fill: #e3edfb; stroke: #1f5fbf; }
  .way { stroke: #5a616c; stroke-width: 1.6; fill: none; } .head { fill: #5a616c; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e8eb; } .soft { fill: #a1a8b4; } .box { fill: #1b1e24; stroke: #454b56; }
    .key { fill: #1f3250; stroke: #7fb2ff; } .way { stroke: #a1a8b4; } .head { fill: #a1a8b4; }
  }
"""


TITLE = "Before, after and the promise"
KEPT = "The topic is kept, so it is not hidden."


class Shown(NamedTuple):
    """A passage before and after, the promise in words, and the steps of the path: name, command, what it does."""

    before: str
    words: int
    after: str
    size: int
    label: str
    bound: str
    promised: str
    steps: list[tuple[str, str, str]]


def shown() -> Shown:
    """One draw of what ``publius start`` would release."""
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["PUBLIUS_HOME"] = temporary
        folder = Path(temporary)
        file = folder / "complaints.csv"
        file.write_text("id,text\n1,a stand-in that is not looked at here\n2,and another one beside it\n")
        choices = Choices(public="samples", preserve="topic", bound=BOUND, text_field="text")
        walk = Walk(file, inspect(file), PublicCorpus.read(choices), choices)
        if walk.older is None:
            raise SystemExit("the samples of the extra demo are needed")
        walk.older.write(folder / PUBLIC)
        walk.learn(folder)
        text = next(row["text"] for row in walk.older.attacked if row["text"].startswith(BEGINS))
        release = publius.release(text, walk.plan().mechanism)
        often = sorted(release.bag.counts.items(), key=lambda item: (-item[1], item[0]))[:14]
        means = bound_in_words(BOUND, len(walk.older.topic_names))
        strength, _, rest = means.partition(": ")
        promised = rest.partition("; ")[0]
        named = {
            step[0]: " ".join(step[:2]) if step[0] == "reference" else step[0]
            for step in walk.commands(Path("DIR"))
        }
    return Shown(
        re.match(r".*?[.]\s", text.replace("\n", " "))[0].strip(),
        len(text.split()),
        ", ".join(word if count == 1 else f"{word} ×{count}" for word, count in often),
        release.bag.size,
        release.label,
        strength.replace(" (", " nats ("),
        f"{promised[0].upper()}{promised[1:]}.",
        [
            ("Look", "inspect", "at what is in your file"),
            ("Learn", named["reference"], "from half of the older texts what may be public"),
            ("Protect", named["obfuscate"], "each of your texts: a bag of public words"),
            ("Attack", named["evaluate"], "the other half, protected alike: PASS or FAIL"),
            ("Sign", named["signoff"], "one page, bound to exactly this release"),
        ],
    )


def lines(words: str, x: int, y: int, width: int, kind: str = "", step: int = 21) -> str:
    """A text wrapped to so many characters, from a place downwards."""
    return "".join(
        f'<text x="{x}" y="{y + step * at}" class="{kind}">{html.escape(line)}</text>'
        for at, line in enumerate(textwrap.wrap(words, width))
    )


def box(x: int, y: int, width: int, height: int, kind: str = "box") -> str:
    """A rectangle with round corners."""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="10" class="{kind}"/>'


def arrow(*points: tuple[int, int]) -> str:
    """A line through points with a head at the last."""
    (a, b), (x, y) = points[-2:]
    way = " ".join(f"{'ML'[at > 0]}{px} {py}" for at, (px, py) in enumerate(points))
    head = f"M{x} {y}l-9 -5v10z" if x > a else f"M{x} {y}l-5 -9h10z" if y > b else f"M{x} {y}l-5 9h10z"
    return f'<path d="{way}" class="way"/><path d="{head}" class="head"/>'


def store(name: str, title: str, width: int, height: int, parts: list[str]) -> None:
    """Write the picture, as it is or as it was when nothing can be drawn."""
    body = "\n".join(parts)
    (FIGURES / f"{name}.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{html.escape(title)}">\n<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n{body}\n</svg>\n',
        encoding="utf-8",
    )


def before_and_after(found: Shown) -> None:
    """Three panels: the text, the bag, what is promised."""
    parts = [
        box(10, 10, 330, 270), '<text x="30" y="42" class="name">Before</text>',
        lines(f"the first of {found.words} words; you know who wrote them", 30, 64, 40, "soft", 18),
        lines(found.before, 30, 120, 36),
        arrow((346, 145), (372, 145)),
        box(376, 10, 300, 270), '<text x="396" y="42" class="name">After</text>',
        lines(f"the first of {found.size} public words on “{found.label}”", 396, 64, 38, "soft", 18),
        lines(f"{found.after}, …", 396, 120, 31),
        arrow((682, 145), (708, 145)),
        box(712, 10, 278, 270, "key"), '<text x="732" y="42" class="name">The promise</text>',
        lines(f"a bound of {found.bound}, between any two documents", 732, 64, 36, "soft", 18),
        lines(found.promised, 732, 120, 30),
        lines(KEPT, 732, 238, 34, "soft", 18),
    ]  # fmt: skip
    title = "A text, the bag of words that is released instead, and the promise"
    store("before-and-after", title, 1000, 290, parts)


def path(steps: list[tuple[str, str, str]]) -> None:
    """The steps, with the commands that are one each."""
    parts = []
    for at, (name, command, what) in enumerate(steps):
        x = 10 + at * 199
        parts += [
            box(x, 10, 174, 132, "key" if name == "Protect" else "box"),
            f'<text x="{x + 16}" y="40" class="name">{at + 1}. {name}</text>',
            f'<text x="{x + 16}" y="65" class="code">publius {html.escape(command)}</text>',
            lines(what, x + 16, 89, 23, "soft", 18),
        ]
        if at:
            parts.append(arrow((x - 22, 76), (x - 4, 76)))
    title = "The path from a file of texts to a signed release, with the command of each step"
    store("path", title, 1000, 152, parts)


def as_text(found: Shown) -> dict[str, str]:
    """Both for the first page, by the marks between which they stand there."""
    panels = [
        ("Before", f"The first of {found.words} words. You know who wrote them.", found.before),
        ("After", f"The first of {found.size} public words on “{found.label}”.", f"{found.after}, …"),
        ("The promise", f"A bound of {found.bound}, between any two documents.", f"{found.promised} {KEPT}"),
    ]
    pair = "".join(
        f"<div><strong>{name}</strong> <small>{html.escape(small)}</small>\n<p>{html.escape(text)}</p></div>\n"
        for name, small, text in panels
    )
    steps = "".join(
        f"<li><strong>{name}</strong> <code>publius {command}</code>\n<span>{what}</span></li>\n"
        for name, command, what in found.steps
    )
    return {
        "before and after": f'<div class="before-after" role="group" aria-label="{TITLE}">\n{pair}</div>',
        "path": f'<ol class="path" aria-label="The path from a file of texts to a signed release">\n{steps}</ol>',
    }


def main() -> None:
    """Pictures and text of one draw."""
    found = shown()
    before_and_after(found)
    path(found.steps)
    page = DOCS / "index.md"
    text = page.read_text(encoding="utf-8")
    for mark, new in as_text(found).items():
        text, times = re.subn(
            rf"(<!-- {mark}, made by docs/makers/first_page.py -->\n\n).*?(?=\n\n)",
            lambda kept, new=new: kept[1] + new,
            text,
            flags=re.DOTALL,
        )
        if times != 1:
            raise SystemExit(f"{page} has no place for {mark}")
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
