"""Claims of a mechanism, and how far apart two of its inputs are by them."""

from __future__ import annotations

import itertools
import math
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal, final

import msgspec
import numpy as np

from publius.arrays import Float64Array, FloatArray
from publius.audit.outputs import BAG
from publius.distances.metrics import metric_named
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, UsageError
from publius.files.reading import read_bytes_limited
from publius.settings import EUCLIDEAN

Unit = Literal["word", "sequence", "bag", "document", "author"]
WORD: Final = "word"
SEQUENCE: Final = "sequence"
DOCUMENT: Final = "document"
AUTHOR: Final = "author"
SIZES: Final[dict[Unit, int]] = {WORD: 1, SEQUENCE: 2, BAG: 2, DOCUMENT: 5, AUTHOR: 8}
"""Units, and how many words (of a collection: authors) an input has where the claim says nothing."""

SAID: Final[dict[Unit, str]] = {
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

_LIMIT: Final = 64 << 20
_MOST_INPUTS: Final = 500
_MOST_MATCHED: Final = 120
_Exponent = Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)]


class _Stated(msgspec.Struct, forbid_unknown_fields=True):
    """What the file of a claim may say; see `Claim`. ``vectors`` are numbers or stored ones, words a list or a file."""

    unit: Unit = WORD
    metric: str = EUCLIDEAN
    epsilon: _Exponent | None = None
    bound: _Exponent | None = None
    delta: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.0
    vocabulary: str | list[str] | None = None
    vectors: str | list[list[float]] | None = None
    size: Annotated[int, msgspec.Meta(ge=1)] | None = None
    neighbors: Literal["replaced", "removed"] = "replaced"
    forked: bool = False


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

    unit: Unit
    size: int
    vocabulary: tuple[str, ...]
    vectors: FloatArray | None
    metric: str
    epsilon: float | None
    bound: float | None
    delta: float
    neighbors: str = "replaced"
    forked: bool = False

    @classmethod
    def read(cls, path: Path) -> Claim:
        """From a TOML file; `DataError` for one that says too little, too much or what cannot be."""
        try:
            said = msgspec.convert(tomllib.loads(read_bytes_limited(path, _LIMIT).decode()), _Stated)
            metric_named(said.metric)
        except (msgspec.ValidationError, UsageError) as error:
            raise DataError(f"the claim {path.name}: {error}") from None
        except ValueError as error:  # of a TOML error the place alone: its text quotes the file
            at = re.search(r"\(at [^)]*\)", str(error))
            raise DataError(f"the claim {path.name} is not TOML in UTF-8{f' {at[0]}' if at else ''}") from None
        words, vectors = _world(said, path.parent)
        size, epsilon, bound = said.size or SIZES[said.unit], said.epsilon, said.bound
        if said.unit == AUTHOR and bound is None:
            epsilon, bound = None, epsilon  # collections have no metric: an author's epsilon is
        for wrong, must in (
            (
                (epsilon is None) == (bound is None),
                "one of epsilon (per unit of the metric) and bound (for any inputs)",
            ),
            (said.unit == WORD and size != 1, "as size 1 for words"),
            (vectors is None and epsilon is not None, "vectors for an epsilon: a list of them, or a stored name"),
            (len(words) < 2 or len({*words}) != len(words), "as vocabulary two words or more, each once"),
        ):
            if wrong:
                raise DataError(f"the claim must state {must}")
        return cls(
            said.unit, size, words, vectors, said.metric, epsilon, bound, said.delta, said.neighbors, said.forked
        )

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
        if self.unit in (WORD, BAG, SEQUENCE):
            found = itertools.product(words, repeat=self.size)
        elif self.unit == DOCUMENT:
            sizes = range(self.size + 1) if self.bound is not None else (self.size,)
            found = (
                (" ".join(each),) for size in sizes for each in itertools.combinations_with_replacement(words, size)
            )
        else:
            given = (None, *words) if self.neighbors == "removed" else words
            found = (
                tuple((f"a{place}", word) for place, word in enumerate(each) if word is not None)
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
        """Of the words of an input in the vocabulary; None where one is not there."""
        words = str(given[0]).split() if self.unit == DOCUMENT else [str(each) for each in given]
        return [self.place[word] for word in words] if self.place.keys() >= {*words} else None


def _by_author(rows: Input) -> dict[str, list[str]]:
    found = defaultdict(list)
    for row in rows:
        found[row[0]].append(row[1])
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


def _world(said: _Stated, folder: Path) -> tuple[tuple[str, ...], FloatArray | None]:
    """The words and their vectors; those of stored vectors where no words are listed."""
    words = said.vocabulary
    if isinstance(words, str):
        try:
            lines = read_bytes_limited(folder / words, _LIMIT).decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise DataError(f"the vocabulary {words} is not UTF-8 at byte {error.start}: convert it") from None
        words = [word for line in lines if (word := line.strip())]
    if isinstance(said.vectors, str):
        stored = Embeddings.load(said.vectors)
        places = [stored.index(word) for word in (words if words is not None else stored.vocabulary)]
        known = [place for place in places if place is not None]
        if len(known) < len(places):
            raise DataError(f"{len(places) - len(known)} words of the claim have no vector in {said.vectors!r}")
        return tuple(stored.vocabulary[place] for place in known), stored.vectors[known]
    if words is None:
        raise DataError('the claim needs vocabulary = ["north", "east"], or a file with one word a line')
    if said.vectors is None:
        return tuple(words), None
    vectors = np.array(said.vectors) if len({*map(len, said.vectors)}) == 1 else np.empty(0)
    if len(vectors) != len(words) or not np.isfinite(vectors).all():
        raise DataError("the claim's vectors must be one list of finite numbers a word, all of one length")
    return tuple(words), vectors
