"""Claims of a mechanism, and how far apart two of its inputs are by them."""

from __future__ import annotations

import itertools
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, FloatArray
from publius.audit.outputs import BAG
from publius.distances.metrics import metric_named
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, UsageError
from publius.files.reading import read_bytes_limited
from publius.settings import EUCLIDEAN

WORD: Final = "word"
SEQUENCE: Final = "sequence"
DOCUMENT: Final = "document"
AUTHOR: Final = "author"
SIZES: Final = {WORD: 1, SEQUENCE: 2, BAG: 2, DOCUMENT: 5, AUTHOR: 8}
"""Units, and how many words (of a collection: authors) an input has where the claim says nothing."""

SAID: Final = {
    WORD: "a word",
    SEQUENCE: "a list of words",
    BAG: "a list of words",
    DOCUMENT: "a text",
    AUTHOR: 'a list of {"author": ..., "text": ...}',
}
"""What a target gets, by the unit."""

Part = str | tuple[str, str]
Input = tuple[Part, ...]
"""Words, or one text; of a collection its documents, each with its author first."""

_KEYS: Final = {
    "unit", "metric", "epsilon", "delta", "bound", "vocabulary", "vectors", "size", "neighbors", "forked",
}  # fmt: skip
_NEIGHBORS: Final = ("replaced", "removed")
_LIMIT: Final = 64 << 20
_MOST_INPUTS: Final = 500
_MOST_MATCHED: Final = 120


@final
@dataclass(frozen=True)
class Claim:
    """A mechanism's claim: ln of the ratio is at most ``epsilon`` times d, or at most ``bound``.

    Attributes:
        unit: what it protects at a time: a word, a sequence or a bag of ``size`` words, a text (a document), or all
            documents of an author in a collection of ``size`` authors.
        vocabulary: the public words that inputs are made of.
        vectors: of the words, shape (V, n); None where ``bound`` holds whatever the distance.
        metric: name of d between words. Sequences are as far apart as their words, place by place; bags, and texts as
            their bags, as their best matching.
        epsilon, bound: one of them; ``bound`` is of any two inputs, or of any two collections that are neighbors.
        delta: how much of the probability the exponent need not hold for.
        neighbors: of collections: all documents of one author "replaced" by others, or "removed".
        forked: whether it is claimed to be safe in processes that are forked after it was used.

    """

    unit: str
    size: int
    vocabulary: tuple[str, ...]
    vectors: FloatArray | None
    metric: str
    epsilon: float | None
    bound: float | None
    delta: float
    neighbors: str = _NEIGHBORS[0]
    forked: bool = False

    @classmethod
    def read(cls, path: Path) -> Claim:
        """From a TOML file; `DataError` for one that says too little, too much or what cannot be."""
        try:
            values = tomllib.loads(read_bytes_limited(path, _LIMIT).decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            at = re.search(r"\(at [^)]*\)", str(error))
            where = f" {at[0]}" if at else ""
            raise DataError(f"the claim {path.name} is not TOML in UTF-8{where}") from None
        if foreign := sorted(set(values) - _KEYS):
            raise DataError(f"the claim says {foreign[0]!r}, which is none of {', '.join(sorted(_KEYS))}")
        unit, metric = values.get("unit", WORD), values.get("metric", EUCLIDEAN)
        epsilon, bound, delta = (_number(values, key) for key in ("epsilon", "bound", "delta"))
        neighbors, forked = values.get("neighbors", _NEIGHBORS[0]), values.get("forked", False)
        if unit not in SIZES:
            raise DataError(f"the claim's unit must be one of {', '.join(SIZES)}")
        if unit == AUTHOR and bound is None:
            epsilon, bound = None, epsilon  # collections have no metric: an author's epsilon is
        words, vectors = _world(values, path.parent)
        size = values.get("size", SIZES[unit])
        whole = isinstance(size, int) and not isinstance(size, bool) and size >= 1
        for wrong, said in (
            (
                (epsilon is None) == (bound is None),
                "one of epsilon (per unit of the metric) and bound (for any inputs)",
            ),
            ((delta or 0.0) >= 1, "a delta below 1"),
            (not whole or (unit == WORD and size != 1), "as size the number of words or of authors, from 1"),
            (vectors is None and epsilon is not None, "vectors for an epsilon: a list of them, or a stored name"),
            (len(words) < 2 or len({*words}) != len(words), "as vocabulary two words or more, each once"),
            (neighbors not in _NEIGHBORS, f"as neighbors {' or '.join(_NEIGHBORS)}"),
            (not isinstance(forked, bool), "as forked true or false"),
        ):
            if wrong:
                raise DataError(f"the claim must state {said}")
        try:
            metric_named(metric)
        except UsageError as error:
            raise DataError(f"the claim's metric: {error}") from None
        return cls(unit, size, words, vectors, metric, epsilon, bound, delta or 0.0, neighbors, forked)

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Of each word in the vocabulary."""
        return {word: place for place, word in enumerate(self.vocabulary)}

    def distances(self, one: Iterable[int], other: Iterable[int] | None = None) -> Float64Array:
        """Claimed ln ratios of words against words (against each other by default), shape (words, words)."""
        first = np.fromiter(one, np.int64)
        second = first if other is None else np.fromiter(other, np.int64)
        if self.epsilon is None or self.vectors is None:
            return np.where(first[:, None] == second, 0.0, float(self.bound or 0.0))
        x, y = (np.asarray(self.vectors[rows], np.float64) for rows in (first, second))
        return np.where(first[:, None] == second, 0.0, self.epsilon * metric_named(self.metric).pairwise(x, y))

    def claimed(self, x: Input, y: Input) -> float | None:
        """The largest ln ratio that it allows between two inputs; None where it says nothing of them."""
        if self.unit == AUTHOR:
            return self.bound if self._one_author(x, y) else None
        if self.bound is not None:
            same = x == y or (self.unit == BAG and sorted(map(str, x)) == sorted(map(str, y)))
            return 0.0 if same else self.bound
        one, other = self._places(x), self._places(y)
        if one is None or other is None or len(one) != len(other):
            return None
        costs = self.distances(one, other)
        if self.unit in (WORD, SEQUENCE):
            return float(np.trace(costs))
        from scipy.optimize import linear_sum_assignment

        return float(costs[linear_sum_assignment(costs)].sum())

    def table(self, inputs: Sequence[Input]) -> Float64Array:
        """`claimed` of each input against each, shape (inputs, inputs); infinite where nothing is claimed."""
        if self.unit == WORD:
            return self.distances(self.place[str(each[0])] for each in inputs)
        found = np.zeros((len(inputs), len(inputs)))
        for (i, x), (j, y) in itertools.combinations(enumerate(inputs), 2):
            claimed = self.claimed(x, y)
            found[i, j] = found[j, i] = math.inf if claimed is None else claimed
        return found

    def every_input(self) -> list[Input] | None:
        """All inputs where they are few enough to look at each pair.

        Of texts there are more: those of up to ``size`` words, each in one order; and of collections: those of ``size``
        authors with one word each, or none where authors are removed.
        """
        words, most = self.vocabulary, _MOST_INPUTS if self.unit == WORD else _MOST_MATCHED
        found: Iterable[Input]
        if self.unit == WORD:
            found = ((word,) for word in words)
        elif self.unit in (BAG, SEQUENCE):
            found = itertools.product(words, repeat=self.size)
        elif self.unit == DOCUMENT:
            sizes = range(self.size + 1) if self.bound is not None else (self.size,)
            found = (
                (" ".join(each),) for size in sizes for each in itertools.combinations_with_replacement(words, size)
            )
        else:
            authors = [f"a{place}" for place in range(self.size)]
            given = (None, *words) if self.neighbors == "removed" else words
            found = (
                tuple((author, word) for author, word in zip(authors, each, strict=True) if word is not None)
                for each in itertools.product(given, repeat=self.size)
            )
        inputs = list(itertools.islice(found, most + 1))
        return inputs if len(inputs) <= most else None

    def _one_author(self, x: Input, y: Input) -> bool:
        """Whether the documents of just one author differ; where authors are removed, one side has none of them."""
        one, other = (_by_author(side) for side in (x, y))
        differ = [author for author in {*one, *other} if one.get(author) != other.get(author)]
        return len(differ) == 1 and (self.neighbors == "replaced" or differ[0] not in one or differ[0] not in other)

    def _places(self, given: Input) -> list[int] | None:
        words = str(given[0]).split() if self.unit == DOCUMENT else [str(each) for each in given]
        places = [self.place.get(word) for word in words]
        known = [place for place in places if place is not None]
        return known if len(known) == len(places) else None


def _by_author(rows: Input) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row[1])
    return {author: sorted(texts) for author, texts in found.items()}


def content(given: Input, unit: str) -> Any:
    """An input as a target gets it: a word or a text, a list of words, or a list of rows with author and text."""
    if unit in (WORD, DOCUMENT):
        return given[0]
    if unit == AUTHOR:
        return [{"author": each[0], "text": each[1]} for each in given]
    return [*given]


def input_from(value: Any, unit: str) -> Input:
    """The input whose `content` this is; `DataError` where it is none of the unit."""
    if unit in (WORD, DOCUMENT) and isinstance(value, str):
        return (value,)
    try:
        if unit == AUTHOR and isinstance(value, list):
            return tuple((str(row["author"]), str(row["text"])) for row in value)
        if unit in (BAG, SEQUENCE) and isinstance(value, list) and all(isinstance(e, str) for e in value):
            return tuple(value)
    except (TypeError, KeyError):
        pass
    raise DataError(f"an input is no {unit}: a text, a list of words, or rows with author and text")


def _number(values: Mapping[str, Any], key: str) -> float | None:
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise DataError(f"the claim's {key} must be a number from 0")
    return float(value)


def _world(values: Mapping[str, Any], folder: Path) -> tuple[tuple[str, ...], FloatArray | None]:
    """The words and their vectors; those of stored vectors where no words are listed."""
    given, words = values.get("vectors"), values.get("vocabulary")
    if isinstance(words, str):
        try:
            lines = read_bytes_limited(folder / words, _LIMIT).decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise DataError(f"the vocabulary {words} is not UTF-8 at byte {error.start}: convert it") from None
        words = [word for line in lines if (word := line.strip())]
    if words is not None and not (isinstance(words, list) and all(isinstance(each, str) for each in words)):
        raise DataError("the claim's vocabulary is a list of words or a file with one a line")
    if isinstance(given, str):
        stored = Embeddings.load(given)
        places = [stored.index(word) for word in (words if words is not None else stored.vocabulary)]
        known = [place for place in places if place is not None]
        if len(known) < len(places):
            raise DataError(f"{len(places) - len(known)} words of the claim have no vector in {given!r}")
        return tuple(stored.vocabulary[place] for place in known), stored.vectors[known]
    if words is None:
        raise DataError('the claim needs vocabulary = ["north", "east"], or a file with one word a line')
    if given is None:
        return tuple(words), None
    try:
        vectors = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        vectors = np.empty(0)
    if vectors.ndim != 2 or len(vectors) != len(words) or not np.isfinite(vectors).all():
        raise DataError("the claim's vectors must be one list of finite numbers a word, all of one length")
    return tuple(words), vectors
