"""Claims of a mechanism, and how far apart two of its inputs are by them."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Literal, final

import msgspec
import numpy as np

from publius.arrays import Float64Array, FloatArray
from publius.audit.outputs import BAG
from publius.distances.metrics import ground_metric
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, UsageError
from publius.files.reading import read_bytes_limited
from publius.settings import EUCLIDEAN

Unit = Literal["word", "sequence", "bag", "document"]
WORD: Final = "word"
SEQUENCE: Final = "sequence"
DOCUMENT: Final = "document"
SAID: Final[dict[Unit, str]] = {
    WORD: "a word", SEQUENCE: "a list of words", BAG: "a list of words", DOCUMENT: "a text",
}  # fmt: skip
Input = tuple[str, ...]  # words, or one text

_SIZES: Final[dict[Unit, int]] = {WORD: 1, SEQUENCE: 2, BAG: 2, DOCUMENT: 5}
_LIMIT: Final = 64 << 20
_Exponent = Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)]


class _Stated(msgspec.Struct, forbid_unknown_fields=True):
    """What the file of a claim may say; see `Claim`. ``vectors`` are numbers or stored ones."""

    unit: Unit = WORD
    metric: str = EUCLIDEAN
    epsilon: _Exponent | None = None
    bound: _Exponent | None = None
    delta: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.0
    vocabulary: list[str] | None = None
    vectors: str | list[list[float]] | None = None
    size: Annotated[int, msgspec.Meta(ge=1)] | None = None
    forked: bool = False


@final
@dataclass(frozen=True)
class Claim:
    """A mechanism's claim: ln of the ratio is at most ``epsilon`` times d, or at most ``bound``."""

    unit: Unit
    size: int  # how many words a sequence, a bag or a text has
    vocabulary: tuple[str, ...]  # the public words that inputs are made of
    vectors: FloatArray | None  # of the words, shape (V, n); None where ``bound`` holds whatever the distance
    metric: str  # d between words; sequences add it place by place; bags, and texts as their bags, by the best matching
    epsilon: float | None
    bound: float | None  # of any two inputs; this or ``epsilon``
    delta: float
    forked: bool  # whether it is claimed to be safe in processes that are forked after it was used

    @classmethod
    def read(cls, path: Path) -> Claim:
        """From a TOML file; `DataError` for one that says too little, too much or what cannot be."""
        try:
            said = msgspec.convert(tomllib.loads(read_bytes_limited(path, _LIMIT).decode()), _Stated)
            ground_metric(said.metric)
        except (msgspec.ValidationError, UsageError) as error:
            raise DataError(f"the claim {path.name}: {error}") from None
        except ValueError as error:  # of a TOML error the place alone: its text quotes the file
            at = re.search(r"\(at [^)]*\)", str(error))
            raise DataError(f"the claim {path.name} is not TOML in UTF-8{f' {at[0]}' if at else ''}") from None
        words, vectors = _world(said)
        size, epsilon, bound = said.size or _SIZES[said.unit], said.epsilon, said.bound
        for wrong, must in (
            ((epsilon is None) == (bound is None), "one of epsilon (per unit of the metric) and bound (of any inputs)"),
            (said.unit == WORD and size != 1, "as size 1 for words"),
            (vectors is None and epsilon is not None, "vectors for an epsilon: a list of them, or a stored name"),
            (len(words) < 2 or len({*words}) != len(words), "as vocabulary two words or more, each once"),
        ):
            if wrong:
                raise DataError(f"the claim must state {must}")
        return cls(said.unit, size, words, vectors, said.metric, epsilon, bound, said.delta, said.forked)

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Of each word in the vocabulary."""
        return {word: place for place, word in enumerate(self.vocabulary)}

    def input_of(self, words: Sequence[str]) -> Input:
        """These words as an input of the unit."""
        return (" ".join(words),) if self.unit == DOCUMENT else tuple(words)

    def distances(self, one: Iterable[int], other: Iterable[int] | None = None) -> Float64Array:
        """Claimed ln ratios of words against words (against each other by default), shape (words, words)."""
        first = np.fromiter(one, np.int64)
        second = first if other is None else np.fromiter(other, np.int64)
        if self.epsilon is None or self.vectors is None:
            return np.where(first[:, None] == second, 0.0, float(self.bound or 0.0))
        x, y = (np.asarray(self.vectors[rows], np.float64) for rows in (first, second))
        return np.where(first[:, None] == second, 0.0, self.epsilon * ground_metric(self.metric).pairwise(x, y))

    def claimed(self, x: Input, y: Input) -> float | None:
        """The largest ln ratio that it allows between two inputs; None where it says nothing of them."""
        if self.bound is not None:
            same = sorted(x) == sorted(y) if self.unit == BAG else x == y
            return 0.0 if same else self.bound
        one, other = self._places(x), self._places(y)
        if one is None or other is None or len(one) != len(other):
            return None
        costs = self.distances(one, other)
        if self.unit in (WORD, SEQUENCE):
            return float(np.trace(costs))
        from scipy.optimize import linear_sum_assignment

        return float(costs[linear_sum_assignment(costs)].sum())

    def _places(self, given: Input) -> list[int] | None:
        """Of the words of an input in the vocabulary; None where one is not there."""
        words = given[0].split() if self.unit == DOCUMENT else given
        return [self.place[word] for word in words] if self.place.keys() >= {*words} else None


def content(given: Input, unit: str) -> str | list[str]:
    """An input as a target gets it: a word or a text, or a list of words."""
    return given[0] if unit in (WORD, DOCUMENT) else [*given]


def input_from(value: Any, unit: str) -> Input:
    """The input whose `content` this is; `DataError` where it is none of the unit."""
    words = [value] if unit in (WORD, DOCUMENT) else value
    if not isinstance(words, list) or not all(isinstance(each, str) for each in words):
        raise DataError(f"an input is no {unit}: a text, or a list of words")
    return tuple(words)


def _world(said: _Stated) -> tuple[tuple[str, ...], FloatArray | None]:
    """The words and their vectors; those of stored vectors where no words are listed."""
    words = said.vocabulary
    if isinstance(said.vectors, str):
        stored = Embeddings.load(said.vectors)
        places = [stored.index(word) for word in (words if words is not None else stored.vocabulary)]
        known = [place for place in places if place is not None]
        if len(known) < len(places):
            raise DataError(f"{len(places) - len(known)} words of the claim have no vector in {said.vectors!r}")
        return tuple(stored.vocabulary[place] for place in known), stored.vectors[known]
    if words is None:
        raise DataError('the claim needs vocabulary = ["north", "east"]')
    if said.vectors is None:
        return tuple(words), None
    vectors = np.array(said.vectors) if len({*map(len, said.vectors)}) == 1 else np.empty(0)
    if len(vectors) != len(words) or not np.isfinite(vectors).all():
        raise DataError("the claim's vectors must be one list of finite numbers a word, all of one length")
    return tuple(words), vectors
