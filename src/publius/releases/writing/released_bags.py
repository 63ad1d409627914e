"""The release that a writer is shown: its manifest, and its bags one after the other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final

from publius.errors import DataError, PubliusError, UsageError
from publius.files import AnyPath, read_bytes_limited, read_lines, shown
from publius.text.bag import Bag
from publius.vectors.admissible import word_fault

MOST_WORDS: Final = 1_000_000
"""Words of a bag that a text is written from: some writers make a piece of text of each."""


@final
@dataclass(frozen=True, slots=True)
class ReleasedBag:
    """A bag as it was released, with the labels that were kept and, where it has one, its public prototype.

    ``label`` is what the prototype is called.
    """

    id: str
    bag: Bag
    labels: Mapping[str, Any] = field(default_factory=dict)
    prototype: int | None = None
    label: str | None = None


def read_manifest(folder: AnyPath) -> dict[str, Any]:
    """The manifest of a release of bags; `DataError` when it is none, `UsageError` when it has an order already."""
    path = Path(folder) / "manifest.json"
    manifest = _json(read_bytes_limited(path), shown(path))
    if manifest.get("kind") == "ordered-text":
        raise UsageError(
            f"{shown(folder)} is ordered text: it has its order, there is nothing to reconstruct"
        )
    if manifest.get("kind") != "bag-of-words" or not isinstance(manifest.get("labels"), list):
        raise DataError(f"{shown(path)} is not the manifest of a release of bags")
    return manifest


def read_bags(folder: AnyPath, manifest: Mapping[str, Any]) -> Iterator[ReleasedBag]:
    """The bags of a release in ``bags.jsonl``; `DataError` names the first line that is none, or is too large."""
    path = Path(folder) / "bags.jsonl"
    if not path.is_file():
        raise UsageError(
            f"{shown(folder)} holds no bags.jsonl: text is made from releases in the format jsonl"
        )
    for number, line in read_lines(path):
        where = f"line {number} of {shown(path)}"
        record = _json(line, where)
        try:
            bag = Bag.from_counts(record["bag"])
            if (
                bag.size != record["size"]
                or not 0 < bag.size <= MOST_WORDS
                or not isinstance(record["id"], str)
            ):
                raise ValueError
            if any(map(word_fault, bag.counts)):
                raise ValueError
            labels = {label: record[label] for label in manifest["labels"]}
            of_reference = manifest.get("reference") is not None
            named = (record.get("prototype"), record.get("label")) if of_reference else (None, None)
            yield ReleasedBag(record["id"], bag, labels, *named)
        except (KeyError, TypeError, ValueError, AttributeError, PubliusError):
            raise DataError(f"{where} is not a released bag: give the folder as publius wrote it") from None


def _json(data: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(data)
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise DataError(f"{where} is not a JSON object: give the folder as publius wrote it")
    return record
