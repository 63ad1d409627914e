"""The folder of a summary: tables, rows that others can count, a page to read, and the manifest that binds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, final

import numpy as np

from publius.arrays import IndexArray, Rows
from publius.files import write_file
from publius.noise.randomness import Generator, system_rng
from publius.releases.contents import (
    FILES,
    MANIFEST,
    NOISE,
    SUMMARY,
)
from publius.releases.digests import file_digests
from publius.releases.manifests import manifest_bytes
from publius.releases.plan import MANIFEST_VERSION, publius_version
from publius.releases.read_me import READ_ME
from publius.releases.summaries.names import (
    COUNTED,
    MECHANISM,
    NOISY,
    REPORT,
    ROWS,
)
from publius.releases.summaries.read_me import SOURCE, independent, read_me
from publius.releases.summaries.report import libraries, render
from publius.releases.summaries.said import Said
from publius.releases.summaries.spaces import facts_of
from publius.releases.summaries.summary import Summary
from publius.releases.summaries.written import JSON, head, tables_of


def manifest_of(summary: Summary, compared_with: str | None = None) -> dict[str, Any]:
    """Everything that is revealed beside the tables: public, and the same whatever the documents say."""
    epsilon, spaces = summary.epsilon, summary.spaces
    shares = summary.shares.parts
    return {
        "manifest_version": MANIFEST_VERSION,
        "publius_version": publius_version(),
        "private": True,
        "promise": summary.promise,
        "kind": SUMMARY,
        "unit": "author",
        "author_field": summary.author_field,
        "level": "author",
        "epsilon": _number(epsilon),
        "epsilon_exactly": str(epsilon),
        "epsilon_added_or_left_out": _number(epsilon / 2),
        "delta": 0,
        "evidence": "proven",
        "neighbours": "replace",
        "documents_per_author": summary.documents_per_author,
        "shares": {name: _number(share) for name, share in shares.items()},
        "strata": {field.name: list(field.labels) for field in summary.strata.fields},
        "cells": sum(summary.cells.values()),
        "tables": {
            name: {
                "cells": cells,
                "epsilon": str(summary.epsilon_of(name)),  # type: ignore[arg-type]
                "noise": NOISE,
                "scale": str(summary.noise(name).scale),  # type: ignore[arg-type]
            }
            for name, cells in summary.cells.items()
        },
        "counted": COUNTED,
        "mechanism": MECHANISM,
        "reference": spaces.reference.name,
        "vocabulary_sha256": spaces.themes_sha256,
        "subjects_sha256": spaces.subjects_sha256,
        **({"passages": SOURCE} if spaces.passages and summary.has("themes") else {}),
        "compared_with": compared_with,
        **facts_of(spaces.reference),
        "randomness": "ChaCha20 keyed by the operating system",
        "versions": {"numpy": np.__version__, **libraries()},
    }


def _number(value: Any) -> float | int:
    return int(value) if value.denominator == 1 else float(value)


def fill_folder(folder: Path, said: Said, manifest: Mapping[str, Any]) -> None:
    """Write every file of a summary but the manifest; see `finish`. The page is made of the tables beside it."""
    reference = said.told.by.spaces.reference
    _write(folder / NOISY, [said.drawn.written(said.names)])
    for name, content in tables_of(said):
        _write(folder / name, [content])
    if said.told.themes is not None:
        _write(folder / ROWS, row_lines(said, system_rng()))
    _write(folder / REPORT, [render(folder, manifest, independent(reference))])
    _write(folder / READ_ME, [read_me(manifest, reference).encode()])


def finish(folder: Path, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Write the manifest, last, with the digest of every file beside it."""
    whole = {**manifest, FILES: file_digests(folder)}
    _write(folder / MANIFEST, [manifest_bytes(whole)])
    return whole


def _write(path: Path, parts: Iterable[bytes]) -> None:
    with write_file(
        path, 0o600, durable=False
    ) as file:  # the folder is flushed whole before it has its place
        for part in parts:
            file.write(part)


def row_lines(said: Said, rng: Generator) -> Iterator[bytes]:
    """A line for each counted document: the values it counts under, its theme, and a bag of words drawn for that."""
    strata, themes = said.told.by.strata, said.told.by.spaces.themes
    heads = [head(strata, place) for place in range(strata.size)]
    labels = [JSON.encode(name) for name in said.theme_labels]
    pairs = _Pairs([JSON.encode(word) for word in themes.vocabulary])
    for stratum, theme, bags in said.rows(rng):
        begin = f'{{{heads[stratum]}"theme": {labels[theme]}, "bag": {{'
        yield "".join(f"{begin}{bag}}}}}\n" for bag in pairs.of(bags)).encode()


@final
class _Pairs:
    """A word with its count as JSON has it, by (count - 1) * V + place of the word; each is made once."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._made = np.zeros(0, np.bool_)
        self._texts = np.zeros(0, object)

    def _make(self, codes: IndexArray) -> None:
        """The texts of these codes that nobody asked for before."""
        v = len(self._words)
        if (more := (int(codes.max(initial=0)) // v + 1) * v - len(self._made)) > 0:
            self._made = np.concatenate([self._made, np.zeros(more, np.bool_)])
            self._texts = np.concatenate([self._texts, np.zeros(more, object)])
        for code in np.unique(codes[~self._made[codes]]).tolist():
            count, place = divmod(code, v)
            self._texts[code] = f"{self._words[place]}: {count + 1}"
            self._made[code] = True

    def of(self, bags: Rows) -> Iterator[str]:
        """The words of each bag in order, with how often each is there."""
        number, v = len(bags.starts) - 1, len(self._words)
        words = np.sort(np.repeat(np.arange(number), np.diff(bags.starts)) * v + bags.flat)
        first = np.flatnonzero(np.diff(words, prepend=-1))
        counts = np.diff(first, append=len(words))
        own, places = np.divmod(words[first], v)
        codes = (counts - 1) * v + places
        self._make(codes)
        texts = self._texts[
            codes
        ].tolist()  # a list of texts that are there already: no number becomes an object
        for start, end in pairwise(np.searchsorted(own, np.arange(number + 1)).tolist()):
            yield ", ".join(texts[start:end])
