"""Draw the two pictures of the docs' first page: before, after and the promise, and the path with its commands.

Run by hand, for the draw is fresh each time: python docs/makers/first_page.py. It takes the packaged samples as older
texts (extra demo), learns from one half of them and protects a passage of the other half.
"""

import html
import os
import tempfile
import textwrap
from pathlib import Path

from publius.documents.inspection import inspect
from publius.evaluation.steps import PUBLIC, Choices, Older, Walk
from publius.evaluation.steps.showing import Example, bound_in_words, examples

FIGURES = Path(__file__).parents[1] / "figures"
BOUND = 7.0
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


def shown() -> tuple[Example, str, list[list[str]]]:
    """A passage before and after, the promise in words, and the commands of the whole path."""
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["PUBLIUS_HOME"] = temporary
        folder = Path(temporary)
        file = folder / "complaints.csv"
        file.write_text("id,text\n1,a stand-in that is not looked at here\n2,and another one beside it\n")
        choices = Choices(public="samples", preserve="topic", bound=BOUND, text_field="text")
        walk = Walk(file, inspect(file), Older.read(choices), choices)
        if walk.older is None:
            raise SystemExit("the samples of the extra demo are needed")
        walk.older.write(folder / PUBLIC)
        walk.learn(folder)
        found = examples(walk, walk.plan(), 1)[0]
        return found, bound_in_words(BOUND, len(walk.older.topic_names)), walk.commands(Path("DIR"))


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


def before_and_after(found: Example, means: str) -> None:
    """Three panels: the text, the bag, what is promised."""
    after = ", ".join(word if count == 1 else f"{word} ×{count}" for word, count in found.after)
    strength, _, rest = means.partition(": ")
    promised = rest.partition("; ")[0]
    parts = [
        box(10, 10, 330, 270), '<text x="30" y="42" class="name">Before</text>',
        lines(f"{found.words} words of a book, its author known to you", 30, 64, 48, "soft"),
        lines(found.before, 30, 98, 36),
        arrow((346, 145), (372, 145)),
        box(376, 10, 300, 270), '<text x="396" y="42" class="name">After</text>',
        lines(f"{found.size} public words, became “{found.label}”", 396, 64, 42, "soft"),
        lines(f"{after}, …", 396, 98, 31),
        arrow((682, 145), (708, 145)),
        box(712, 10, 278, 270, "key"), '<text x="732" y="42" class="name">The promise</text>',
        lines(f"a bound of {strength.replace(' (', ' nats (')}, between any two documents", 732, 64, 36, "soft", 18),
        lines(f"{promised[0].upper()}{promised[1:]}.", 732, 120, 30),
        lines("What is kept is the topic, so it is not hidden.", 732, 238, 34, "soft", 18),
    ]  # fmt: skip
    store(
        "before-and-after",
        "A text, the bag of words that is released instead, and the promise",
        1000,
        320,
        parts,
    )


def path(commands: list[list[str]]) -> None:
    """The steps, with the commands that are one each."""
    named = {step[0]: " ".join(step[:2]) if step[0] == "reference" else step[0] for step in commands}
    steps = [
        ("Look", "inspect", "what is in your file"), ("Learn", named["reference"], "from half of older texts"),
        ("Release", named["obfuscate"], "a bag for each of your texts"),
        ("Attack", named["evaluate"], "the other half: PASS or FAIL"),
        ("Sign", named["signoff"], "one page, bound to the release"),
    ]  # fmt: skip
    parts = [
        lines("Your texts stay with you. Older or public texts of the kind teach what may be public and are attacked.",
              10, 24, 130, "soft"),
    ]  # fmt: skip
    for at, (name, command, what) in enumerate(steps):
        x = 10 + at * 199
        parts += [
            box(x, 46, 174, 112, "key" if name == "Release" else "box"),
            f'<text x="{x + 16}" y="76" class="name">{at + 1}. {name}</text>',
            f'<text x="{x + 16}" y="101" class="code">publius {html.escape(command)}</text>',
            lines(what, x + 16, 125, 23, "soft", 18),
        ]
        if at:
            parts.append(arrow((x - 22, 102), (x - 4, 102)))
    parts.append(
        lines("All of it at once: publius start, or the first page of publius explore.", 10, 190, 120, "soft")
    )
    store(
        "path",
        "The path from a file of texts to a signed release, with the command of each step",
        1000,
        204,
        parts,
    )


def main() -> None:
    """Both."""
    found, means, commands = shown()
    before_and_after(found, means)
    path(commands)


if __name__ == "__main__":
    main()
