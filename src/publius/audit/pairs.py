"""The search for the worst case: pairs of inputs, near ones and odd ones first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import Final, NamedTuple

import numpy as np

from publius.audit.claim import DOCUMENT, SEQUENCE, Claim, Input
from publius.audit.outputs import WHOLE, Look, Output
from publius.noise.randomness import Generator

_UNKNOWN: Final = ("zqxunlistedone", "zqxunlistedtwo")  # words of no vocabulary
_SPELLINGS: Final = (
    _UNKNOWN[0], "Zqxunlistedone", "7130942685", "zqx.unlisted@one.example", "zqx\u00fcnlist\u0435d",
)  # fmt: skip
_MOST_WORDS: Final = 1000
_LONG: Final = 200


class Pair(NamedTuple):
    """Two inputs, what is claimed of them, why they are tried, and the event that is looked at, once it is chosen."""

    x: Input
    y: Input
    claimed: float
    why: str
    look: Look = WHOLE
    event: tuple[Output, ...] = ()


def pairs(claim: Claim, wanted: int, rng: Generator, given: Sequence[Input] | None = None) -> list[Pair]:
    """About ``wanted`` pairs, and the odd ones: among the inputs ``given``, or among all that there are."""
    found: Iterable[tuple[Input, Input, str]] = chain(_lists(claim, wanted, rng), _odd_texts(claim, rng))
    if given is not None:
        found = ((x, y, "recorded") for x, y in combinations(given, 2))
    once: dict[frozenset[Input], Pair] = {}
    for x, y, why in found:
        claimed = claim.claimed(x, y)
        if x != y and claimed is not None:
            once.setdefault(frozenset((x, y)), Pair(x, y, claimed, why))
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


def _two_words(claim: Claim, wanted: int, rng: Generator) -> Iterator[tuple[str, str, str]]:
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
    for why, places in (("near", near), ("random", rest[: wanted - len(near)])):
        for at in places.tolist():
            yield words[chosen[first[at]]], words[chosen[second[at]]], why
    if claim.vectors is not None and len(words) > 2:
        norms = np.linalg.norm(np.asarray(claim.vectors[chosen], np.float64), axis=1)
        for extreme in (int(norms.argmax()), int(norms.argmin())):
            others = claims[extreme].copy()
            others[extreme] = np.inf
            yield words[chosen[extreme]], words[chosen[int(others.argmin())]], "extreme norm"
        yield words[chosen[int(norms.argmax())]], words[chosen[int(norms.argmin())]], "extreme norm"


def _lists(claim: Claim, wanted: int, rng: Generator) -> Iterator[tuple[Input, Input, str]]:
    """One word differs, or every word does; of bags and texts the order, too."""
    size = claim.size
    for turn, (x, y, why) in enumerate(_two_words(claim, wanted, rng)):
        others = 0 if turn % 2 else size - 1
        at = (0, size - 1, size // 2)[turn // 2 % 3] if others else 0
        shared = _drawn(claim, others, rng)
        one, two = ((*shared[:at], *(each,) * (size - others), *shared[at:]) for each in (x, y))
        yield claim.input_of(one), claim.input_of(two), why
    if claim.unit != SEQUENCE and size > 1:
        x, y, _ = next(_two_words(claim, 1, rng))
        rest = (y,) * (size - 1)
        yield claim.input_of((x, *rest)), claim.input_of((*rest, x)), "order"


def _odd_texts(claim: Claim, rng: Generator) -> Iterator[tuple[Input, Input, str]]:
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
    for why, other in odd.items():
        yield (text,), (other,), why


def _drawn(claim: Claim, count: int, rng: Generator) -> tuple[str, ...]:
    return tuple(claim.vocabulary[place] for place in rng.integers(0, len(claim.vocabulary), count).tolist())
