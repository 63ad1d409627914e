"""Labelled corpora as people keep them: rows, one file a story, PAN folders, folders with a manifest.

Every reader gives `LabeledText`s; what cannot be read raises a `DocumentError` that names its place, never a word.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, final

from publius.documents.samples import sample_corpora
from publius.errors import DataError, DocumentError, UsageError
from publius.evaluation.data import Dataset, LabeledText, make_dataset
from publius.evaluation.own_data import Columns, OwnRows, once, read_rows, topic_rows
from publius.evaluation.stories import split_story
from publius.files import read_bytes_limited, shown

_PAN_META: Final = "meta-file.json"
_PAN_TRUTH: Final = "ground-truth.json"
_MANIFEST: Final = "manifest.json"
_DEMO: Final = "demo:"
_GIVEN: Final = "the roles that the problem gives"


def open_dataset(
    path: str | os.PathLike[str],
    topics: str | os.PathLike[str] | None = None,
    columns: Columns = Columns(),
    parts: int | None = None,
) -> Dataset:
    """The dataset at ``path``, whatever its layout, with the texts at ``topics`` to teach topics.

    - ``demo:PROBLEM`` is a problem of the package of extra ``demo``, such as ``demo:aaac_problem_a``.
    - A folder with ``meta-file.json`` is a PAN authorship problem, and so is each such folder's parent.
    - A folder that a ``manifest.json`` in it or beside it lists as a problem is that problem.
    - A folder of folders holds a ``.txt`` file a story: ``AUTHOR/story.txt`` or ``TOPIC/AUTHOR/story.txt``.
    - Anything else is rows (JSONL, CSV, Parquet), see `publius.evaluation.own_data`.

    With ``parts`` every row is attacked that can be, by those who learned without it; other layouts have their roles.
    A story's first 2,000 words are known and its last 1,000 unknown, as in the paper. Raises `UsageError`,
    `StorageError` and `DocumentError`.
    """
    own = _reader(path, columns, taught=topics is not None, parts=parts)
    return make_dataset(
        own.texts,
        () if topics is None else topic_rows(Path(topics), columns),
        split=own.split,
        alone=own.alone,
    )


def _reader(path: str | os.PathLike[str], columns: Columns, *, taught: bool, parts: int | None) -> OwnRows:
    if isinstance(path, str) and path.startswith(_DEMO):
        found = _manifest_problem(sample_corpora() / _MANIFEST, path.removeprefix(_DEMO))
        return _different(found, _GIVEN)
    folder = Path(path)
    if (folder / _PAN_META).is_file():
        return _different(_pan(folder), _GIVEN)
    for manifest in (folder / _MANIFEST, folder.parent / _MANIFEST):
        if folder.is_dir() and manifest.is_file():
            return _different(_manifest_problem(manifest, folder.name), _GIVEN)
    if folder.is_dir() and any(part.is_dir() for part in folder.iterdir()):
        said = "the first 2,000 words of each story are known, its last 1,000 are attacked"
        return _different(_story_folders(folder), said)
    return read_rows(folder, columns, taught=taught, parts=parts)


def _different(texts: Iterable[LabeledText], said: str) -> OwnRows:
    """The texts in their roles, each that is attacked once."""
    kept, left = once(texts)
    return OwnRows(tuple(kept), said + left)


# Stories --------------------------------------------------------------------------------------------------


def _story_folders(folder: Path) -> Iterator[LabeledText]:
    found = sorted(folder.glob("*/*.txt")), sorted(folder.glob("*/*/*.txt"))
    if bool(found[0]) == bool(found[1]):
        raise DocumentError(
            f"{shown(folder)}: stories lie in AUTHOR/story.txt or in TOPIC/AUTHOR/story.txt, all in the same way"
        )
    for number, path in enumerate(found[0] or found[1], start=1):
        topic = path.parent.parent.name if found[1] else None
        id = "/".join(path.relative_to(folder).with_suffix("").parts)
        story = LabeledText(id, _read_text(path), path.parent.name, topic, "unknown")
        yield from split_story(replace(story, place=f"{shown(folder)}, story {number}"))


def _read_text(path: Path, *, otherwise: str | None = None) -> str:
    """The text of a UTF-8 file; one that is not is read in the encoding ``otherwise``, if there is one."""
    data = read_bytes_limited(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if otherwise is None:
            raise DocumentError(f"{shown(path)}: byte {error.start} is not UTF-8: convert the file") from None
        text = data.decode(otherwise, errors="replace")
    if not text.strip():
        raise DocumentError(f"{shown(path)}: the text is empty: leave it out")
    return text


# PAN ------------------------------------------------------------------------------------------------------


def _pan(folder: Path) -> Iterator[LabeledText]:
    meta = _Json.read(folder / _PAN_META)
    for candidate in meta.records("candidate-authors"):
        author = candidate.text("author-name")
        for path in _texts(folder / _inside(author)):
            yield LabeledText(f"{author}/{path.stem}", _read_text(path), author, None, "known")
    unknown = folder / _inside(meta.text("folder"))
    truth = {
        record.text("unknown-text"): record.text("true-author")
        for record in _Json.read(folder / _PAN_TRUTH).records("ground_truth")
    }
    for record in meta.records("unknown-texts"):
        name = record.text("unknown-text")
        if name not in truth:
            raise DocumentError(f"{shown(folder / _PAN_TRUTH)} does not name the author of {name!r}: add it")
        yield LabeledText(
            f"unknown/{name}", _read_text(unknown / _inside(name)), truth[name], None, "unknown"
        )


def _texts(folder: Path) -> list[Path]:
    paths = sorted(folder.glob("*.txt"))
    if not paths:
        raise DocumentError(f"{shown(folder)} holds no .txt file: an author needs a known text")
    return paths


def _inside(name: str) -> Path:
    """``name`` as a path that cannot leave its folder."""
    path = Path(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise DocumentError(f"the file name {name!r} leads out of the problem's folder: correct it")
    return path


# A manifest of problems -----------------------------------------------------------------------------------


def _manifest_problem(manifest: Path, name: str) -> Iterator[LabeledText]:
    """The problem called ``name``, or whose files lie in the folder ``name``.

    Where the manifest names no author for an unknown text, or one without known texts, the text is left out:
    open problems have such. Files that are not UTF-8 are read as Windows-1252, which the AAAC of 2004 used.
    """
    problems = _Json.read(manifest).items("problems")
    for problem in problems:
        files = [record.text("file") for record in (*problem.records("known"), *problem.records("unknown"))]
        if name == problem.text("id") or any(Path(file).parts[0] == name for file in files):
            return _problem(manifest.parent, problem)
    known = ", ".join(problem.text("id") for problem in problems)
    raise UsageError(f"no problem {name!r}: choose one of {known}, which {shown(manifest)} holds")


def _problem(folder: Path, problem: _Json) -> Iterator[LabeledText]:
    authors: set[str] = set()
    for file, record in {record.text("file"): record for record in problem.records("known")}.items():
        author = record.text("author")
        authors.add(author)
        yield LabeledText(file, _read_text(folder / _inside(file), otherwise="cp1252"), author, None, "known")
    for record in problem.records("unknown"):
        file, author = record.text("file"), record.text("true_author", "")
        if author in authors:
            text = _read_text(folder / _inside(file), otherwise="cp1252")
            yield LabeledText(file, text, author, None, "unknown")


@final
class _Json:
    """A JSON value of a layout's file, read with checks that say what is missing where."""

    def __init__(self, value: Any, where: str) -> None:
        self._value, self._where = value, where

    @classmethod
    def read(cls, path: Path) -> _Json:
        try:
            return cls(json.loads(read_bytes_limited(path)), shown(path))
        except ValueError as error:
            if isinstance(error, DataError):
                raise
            raise DocumentError(f"{shown(path)} is not JSON: correct it") from None

    def items(self, what: str) -> list[_Json]:
        if not isinstance(self._value, list) or not all(isinstance(item, dict) for item in self._value):
            raise DocumentError(f"{self._where}: {what} must be a list of objects")
        return [_Json(item, self._where) for item in self._value]

    def records(self, name: str) -> list[_Json]:
        return _Json(self._field(name), self._where).items(f"{name!r}")

    def text(self, name: str, default: str | None = None) -> str:
        value = self._field(name) if default is None else self._value.get(name) or default
        if not isinstance(value, str):
            raise DocumentError(f"{self._where}: {name!r} must be a string")
        return value

    def _field(self, name: str) -> Any:
        if not isinstance(self._value, dict) or name not in self._value:
            raise DocumentError(f"{self._where} has no {name!r}: is it of the layout that its name says?")
        return self._value[name]
