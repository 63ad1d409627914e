"""Claims of a mechanism, how far apart two of its inputs are by them, and the pairs to try: near ones and odd ones first."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, final

import msgspec
import numpy as np

from publius.arrays import Float64Array, FloatArray
from publius.audit.outputs import BAG, WHOLE, Look, Output
from publius.distances.metrics import ground_metric
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, UsageError
from publius.files.reading import read_bytes_limited
from publius.noise.randomness import Generator
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
_UNKNOWN: Final = ("zqxunlistedone", "zqxunlistedtwo")  # words of no vocabulary
_SPELLINGS: Final = (
    _UNKNOWN[0], "Zqxunlistedone", "7130942685", "zqx.unlisted@one.example", "zqx\u00fcnlist\u0435d",
)  # fmt: skip
_MOST_WORDS: Final = 1000
_LONG: Final = 200
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


# What is tried --------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """Two inputs, what is claimed of them, and the event that is looked at, once it is chosen."""

    x: Input
    y: Input
    claimed: float
    look: Look = WHOLE
    event: tuple[Output, ...] = ()


def pairs(claim: Claim, wanted: int, rng: Generator, given: Sequence[Input] | None = None) -> list[Pair]:
    """About ``wanted`` pairs, and the odd ones: among the inputs ``given``, or among all that there are."""
    every = chain(_lists(claim, wanted, rng), _odd_texts(claim, rng)) if given is None else combinations(given, 2)
    once: dict[frozenset[Input], Pair] = {}
    for x, y in every:
        claimed = claim.claimed(x, y)
        if x != y and claimed is not None:
            once.setdefault(frozenset((x, y)), Pair(x, y, claimed))
    if given is None:
        return [*once.values()]
    return sorted(once.values(), key=lambda each: each.claimed)[:wanted]


def unknown_inputs(claim: Claim) -> list[tuple[Input, Input, str]]:
    """Inputs with a word of no vocabulary, others of the same make, and what must not come back."""
    return [(_with(claim, each), _with(claim, _UNKNOWN[1]), each) for each in _SPELLINGS]


def _with(claim: Claim, word: str) -> Input:
    """An input of the claim's unit with ``word`` in the middle of words of the vocabulary."""
    words = [claim.vocabulary[place % len(claim.vocabulary)] for place in range(claim.size)]
    words[claim.size // 2] = word
    return claim.input_of(words)


def _two_words(claim: Claim, wanted: int, rng: Generator) -> Iterator[tuple[str, str]]:
    """The nearest words, those of the largest and the smallest norm, and some at random."""
    words = claim.vocabulary
    chosen = np.arange(len(words))
    if len(words) > _MOST_WORDS:
        chosen = np.sort(rng.permutation(len(words))[:_MOST_WORDS])
    claims = claim.distances(chosen.tolist())
    first, second = np.triu_indices(len(chosen), 1)
    order = np.argsort(claims[first, second], kind="stable")
    wanted = min(len(order), wanted)
    near, rest = order[: (wanted + 1) // 2], rng.permutation(order[(wanted + 1) // 2 :])
    for at in np.append(near, rest[: wanted - len(near)]).tolist():
        yield words[chosen[first[at]]], words[chosen[second[at]]]
    if claim.vectors is not None and len(words) > 2:
        norms = np.linalg.norm(np.asarray(claim.vectors[chosen], np.float64), axis=1)
        for extreme in (int(norms.argmax()), int(norms.argmin())):
            others = claims[extreme].copy()
            others[extreme] = np.inf
            yield words[chosen[extreme]], words[chosen[int(others.argmin())]]
        yield words[chosen[int(norms.argmax())]], words[chosen[int(norms.argmin())]]


def _lists(claim: Claim, wanted: int, rng: Generator) -> Iterator[tuple[Input, Input]]:
    """One word differs, or every word does; of bags and texts the order, too."""
    size = claim.size
    for turn, (x, y) in enumerate(_two_words(claim, wanted, rng)):
        others = 0 if turn % 2 else size - 1
        at = (0, size - 1, size // 2)[turn // 2 % 3] if others else 0
        shared = _drawn(claim, others, rng)
        one, two = ((*shared[:at], *(each,) * (size - others), *shared[at:]) for each in (x, y))
        yield claim.input_of(one), claim.input_of(two)
    if claim.unit != SEQUENCE and size > 1:
        x, y = next(_two_words(claim, 1, rng))
        rest = (y,) * (size - 1)
        yield claim.input_of((x, *rest)), claim.input_of((*rest, x))


def _odd_texts(claim: Claim, rng: Generator) -> Iterator[tuple[Input, Input]]:
    """Where any two texts are covered, texts as nobody expects them."""
    if claim.unit != DOCUMENT or claim.bound is None:
        return
    base = _drawn(claim, claim.size, rng)
    text = " ".join(base)
    odd = {
        "empty": "", "length": base[0], "long": " ".join(base * _LONG), "twice": f"{text} {text}",
        "capitals": text.title(), "all capitals": text.upper(), "marks": ", ".join(base) + "!",
        "lines": "\n\n".join(base), "digits": "4217 903 55", "unknown words": " ".join(_UNKNOWN),
        "other letters": "\u0431\u0435\u0440\u0435\u0433 \u6d77\u5cb8",
        "control characters": f"{base[0]}\0\u200d\ufeff{base[-1]}",
    }  # fmt: skip
    for other in odd.values():
        yield (text,), (other,)


def _drawn(claim: Claim, count: int, rng: Generator) -> tuple[str, ...]:
    return tuple(claim.vocabulary[place] for place in rng.integers(0, len(claim.vocabulary), count).tolist())
