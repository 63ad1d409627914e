"""Broken document mechanisms. Each claims what the genuine one claims on the same reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from audit.mutants.mutant import Mutant, Probe
from publius.arrays import Float64Array, IndexArray
from publius.audit import documents as checks
from publius.audit.documents import (
    check_document_draws,
    check_documents,
    check_own_texts,
    check_positions,
    check_what_leaves,
)
from publius.audit.implementation import GENUINE, Subject
from publius.audit.outcomes import Check
from publius.audit.toy_references import document_worlds
from publius.mechanisms.mechanism import TOTAL, Outcome
from publius.mechanisms.position import Position
from publius.mechanisms.prototype import Prototype
from publius.mechanisms.registry import make_document_mechanism
from publius.mechanisms.whole import Noise, WholeDocument
from publius.noise.randomness import Generator, RunKey
from publius.text.bag import Bag
from publius.vectors.learning.prototypes import distances_to
from publius.vectors.learning.reference import Reference

_CELLS = 15 * 10**5
_SAMPLES = 20_000
_WORLDS = 8

Change = Callable[[Any], dict[str, Any]]
"""What a broken version has in the place of the genuine mechanism's methods, made from that mechanism."""


def _altered(change: Change, kind: type[WholeDocument] = Prototype) -> Subject:
    """The genuine subject whose mechanism of one kind has some methods replaced."""

    def make(name: str, reference: Reference, **parameters: Any) -> WholeDocument:
        mechanism = make_document_mechanism(name, reference, **parameters)
        if isinstance(mechanism, kind):
            mechanism.__dict__.update(change(mechanism))
        return mechanism

    return replace(GENUINE, document_mechanism=make)


def _scores(scores: Callable[[Prototype, Float64Array], Float64Array]) -> Change:
    return lambda genuine: {"margin_scores": lambda positions: scores(genuine, positions)}


def _gaps(genuine: Prototype, positions: Float64Array) -> Float64Array:
    gaps = np.hstack(
        [distances_to(positions, genuine.prototypes.points), np.full((len(positions), 1), np.inf)]
    )
    return np.asarray(gaps - gaps.min(axis=1, keepdims=True))


def _not_halved(genuine: Prototype, positions: Float64Array) -> Float64Array:
    return np.asarray(np.minimum(_gaps(genuine, positions), genuine.gamma))


def _squared(genuine: Prototype, positions: Float64Array) -> Float64Array:
    return np.asarray(np.minimum((2 * _gaps(genuine, positions)) ** 2, genuine.gamma))


def _clipped_to_zero_or_all(genuine: Prototype, positions: Float64Array) -> Float64Array:
    return np.asarray(np.where(_gaps(genuine, positions) > 0, genuine.gamma, 0.0))


def _weights(weights: Callable[[Prototype, Sequence[IndexArray]], Float64Array]) -> Change:
    """The law of each document in proportion to ``weights``, as whole numbers that sum to 2^62."""

    def change(genuine: Prototype) -> dict[str, Any]:
        def law(documents: Sequence[IndexArray]) -> IndexArray:
            found = weights(genuine, documents)
            whole = np.floor(found / found.sum(axis=1, keepdims=True) * TOTAL).astype(np.int64)
            whole[np.arange(len(whole)), whole.argmax(axis=1)] += TOTAL - whole.sum(axis=1)
            return np.asarray(whole)

        return {"weights": law}

    return change


def _law(genuine: Prototype, documents: Sequence[IndexArray]) -> Float64Array:
    """The genuine law, also where the mechanism's own was replaced."""
    return np.asarray(Prototype.weights(genuine, documents) / TOTAL)


def _normalizer_forgotten(genuine: Prototype, documents: Sequence[IndexArray]) -> Float64Array:
    """The exponential law whose constant is taken for bound = s gamma, as if its normalizer did not vary."""
    gaps = _gaps(genuine, genuine.positions(documents))
    gaps[:, -1] = gaps[:, :-1].max(axis=1)
    width = genuine.gamma or 1e-9
    bound = genuine.guarantee.map()
    return np.exp(-bound / width * np.minimum(gaps / 2, width))


def _no_floor(genuine: Prototype, documents: Sequence[IndexArray]) -> Float64Array:
    """The choice without the share that every prototype has: what is far away becomes impossible."""
    law = _law(genuine, documents)
    return np.asarray(law - law.min() * (1 - 1e-3))


def _rounded(genuine: Prototype, documents: Sequence[IndexArray]) -> Float64Array:
    """Probabilities of eight bits."""
    return np.asarray(np.round(_law(genuine, documents) * 2**8) / 2**8)


def _empty_is_certain(genuine: Prototype, documents: Sequence[IndexArray]) -> Float64Array:
    """The empty document is given the last prototype for certain, so that it can be told."""
    law = _law(genuine, documents)
    empty = np.array([len(found) == 0 for found in documents])
    law[empty] = np.eye(law.shape[1])[-1] * (1 - 1e-12) + 1e-13
    return law


def _steeper(genuine: Prototype, documents: Sequence[IndexArray]) -> Float64Array:
    """Every ratio of probabilities to the power 1.02."""
    return np.asarray(_law(genuine, documents) ** 1.02)


def _none_for_certain(genuine: Prototype, documents: Sequence[IndexArray]) -> Float64Array:
    """ "None of these" beside the M prototypes instead of among them: certain for what fits none, else impossible."""
    law = _law(genuine, documents)
    none = law.argmax(axis=1) == law.shape[1] - 1
    law[~none, -1] = 1e-13
    law[none] = np.eye(law.shape[1])[-1] * (1 - 1e-12) + 1e-13
    return law


def _own_threshold(genuine: Prototype) -> dict[str, Any]:
    """The distance beyond which nothing fits, taken from the documents themselves."""

    def weights(documents: Sequence[IndexArray]) -> IndexArray:
        gaps = distances_to(genuine.positions(documents), genuine.prototypes.points).min(axis=1)
        reach = {"nearest": float(np.quantile(gaps, 0.9)), "cosine": 0.5}
        whole = genuine.prototypes
        genuine.__dict__["prototypes"] = replace(whole, farthest=reach)
        try:
            return Prototype.weights(genuine, documents)
        finally:
            genuine.__dict__["prototypes"] = whole

    return {"weights": weights}


def _always_fits(genuine: Prototype) -> dict[str, Any]:
    """What fits nothing becomes the nearest."""
    return {"prototypes": replace(genuine.prototypes, farthest=None)}


def _textless_left_out(genuine: Prototype) -> dict[str, Any]:
    apply = genuine.apply

    def some(documents: Sequence[IndexArray], noise: Sequence[Noise]) -> list[Outcome]:
        found = zip(apply(documents, noise), documents, strict=True)
        return [outcome for outcome, document in found if len(document)]

    return {"apply": some}


def _positions(positions: Callable[[Any, Sequence[IndexArray]], Float64Array]) -> Change:
    return lambda genuine: {"positions": lambda documents: positions(genuine, documents)}


def _summed(genuine: Any, documents: Sequence[IndexArray]) -> Float64Array:
    """Sums in the place of means: long documents lie further out."""
    sizes = np.array([max(1, len(found)) for found in documents])
    return np.asarray(genuine.aspect.positions(documents) * sizes[:, None])


def _distinct(genuine: Any, documents: Sequence[IndexArray]) -> Float64Array:
    """Means over distinct words: a weight that depends on the document."""
    return np.asarray(genuine.aspect.positions([np.unique(found) for found in documents]))


def _weighted(genuine: Any, documents: Sequence[IndexArray]) -> Float64Array:
    """A weighted mean in which the first word of the vocabulary counts five times."""
    repeated = [np.concatenate([found, np.repeat(found[found == 0], 4)]) for found in documents]
    return np.asarray(genuine.aspect.positions(repeated))


def _unknown_passes(genuine: Any, documents: Sequence[IndexArray]) -> Float64Array:
    """Unknown words have a place of their own instead of the public point."""
    counts = np.array([(found == genuine.reference.unknown_index).sum() for found in documents])
    return np.asarray(genuine.aspect.positions(documents) + 3.0 * (counts > 0)[:, None])


def _stated(**claims: Callable[[Any], float | None]) -> Change:
    """Another guarantee than the genuine one."""

    def change(genuine: Any) -> dict[str, Any]:
        stated = {name: claim(genuine) for name, claim in claims.items()}
        return {"_guarantee": replace(genuine.guarantee, **stated)}

    return change


def _number(change: Callable[[Prototype, Float64Array, IndexArray], IndexArray]) -> Change:
    """Another way to draw the prototype."""

    def make(genuine: Prototype) -> dict[str, Any]:
        drawn = genuine._drawn
        return {"_drawn": lambda places, numbers: drawn(places, change(genuine, places, numbers))}

    return make


def _two_bits(genuine: Prototype, places: Float64Array, numbers: IndexArray) -> IndexArray:
    return (numbers >> 60) << 60


def _one_in_ten_stays(genuine: Prototype, places: Float64Array, numbers: IndexArray) -> IndexArray:
    return np.where(numbers % 10 == 0, TOTAL - 1, numbers)


def _repeated_noise(genuine: Prototype) -> dict[str, Any]:
    """One draw for all documents."""
    first: list[Noise] = []

    def noise(rng: Generator) -> Noise:
        if not first:
            first.append(Prototype.noise(genuine, rng))
        return first[0]

    return {"noise": noise}


def _repeated_bits(genuine: Prototype) -> dict[str, Any]:
    """The bits of one document for all."""

    def draw_keyed(documents: Sequence[IndexArray], ids: Sequence[str], key: RunKey) -> Sequence[Outcome]:
        bits = key.bits(["all"], genuine.noise_bytes)[0]
        return genuine.apply(documents, [Noise(np.zeros(0), bits)] * len(documents))

    return {"draw_keyed": draw_keyed}


def _released(change: Callable[[Outcome, IndexArray, Any], Outcome]) -> Change:
    """What leaves, changed by what the document holds."""

    def make(genuine: Any) -> dict[str, Any]:
        apply = genuine.apply

        def altered(documents: Sequence[IndexArray], noise: Sequence[Noise]) -> list[Outcome]:
            found = apply(documents, noise)
            return [change(one, document, genuine) for one, document in zip(found, documents, strict=True)]

        return {"apply": altered}

    return make


def _with(bag: Bag, words: list[str]) -> Bag:
    return Bag([*bag.words(), *words])


def _size_leaks(found: Outcome, document: IndexArray, genuine: Any) -> Outcome:
    return found._replace(bag=Bag(list(found.bag.words())[: max(1, min(len(document), genuine.length))]))


def _unknown_kept(found: Outcome, document: IndexArray, genuine: Any) -> Outcome:
    held = bool((document == genuine.reference.unknown_index).any())
    return found._replace(bag=Bag([*list(found.bag.words())[:-1], "secret"])) if held else found


def _extra_word(found: Outcome, document: IndexArray, genuine: Any) -> Outcome:
    first = [genuine.reference.vocabulary[int(i)] for i in document[:1] if i < genuine.reference.size]
    return found._replace(bag=_with(found.bag, first))


def _float_leaks(found: Outcome, document: IndexArray, genuine: Any) -> Outcome:
    return found._replace(label=repr(float(genuine.aspect.positions([document])[0, 0])))


def _words_uneven(genuine: Prototype) -> dict[str, Any]:
    """The likeliest word of each prototype likelier than stated."""
    found = genuine.prototypes
    weights = found.weights.copy()
    moved = weights[:, 1] // 4
    weights[:, 0] += moved
    weights[:, 1] -= moved
    return {"prototypes": replace(found, weights=weights)}


def _unclipped(genuine: Position) -> dict[str, Any]:
    return {"centres": genuine.positions}


def _spread(genuine: Position) -> dict[str, Any]:
    return {"centres": lambda documents: 2 * genuine.aspect.saturated(genuine.positions(documents))}


def _normalized(genuine: Position) -> dict[str, Any]:
    """Every position put on the unit circle: near the origin points move apart."""

    def centres(documents: Sequence[IndexArray]) -> Float64Array:
        places = genuine.positions(documents)
        lengths = np.sqrt((places**2).sum(axis=1, keepdims=True))
        return np.asarray(genuine.aspect.saturated(places / np.maximum(lengths, 1e-300) / 4))

    return {"centres": centres}


def _probe_cells(subject: Subject, key: RunKey) -> Sequence[Check]:
    return check_documents(subject, _CELLS, document_worlds(_WORLDS)).checks


def _probe_positions(subject: Subject, key: RunKey) -> Sequence[Check]:
    return check_positions(subject, _WORLDS).checks


def _probe_draws(subject: Subject, key: RunKey) -> Sequence[Check]:
    return check_document_draws(subject, _SAMPLES, key).checks


def _probe_leaves(subject: Subject, key: RunKey) -> Sequence[Check]:
    return check_what_leaves(subject, key).checks


def _probe_own(subject: Subject, key: RunKey) -> Sequence[Check]:
    return check_own_texts(subject).checks


def _nothing_refused(reference: Reference, digest: str) -> None:
    return None


def document_mutants() -> list[Mutant]:
    """Broken ways to release a document, each with the check that must see it."""
    sharp = _stated(epsilon=lambda genuine: genuine.guarantee.epsilon or 1.0)
    small, half = _stated(bound=_bound_times(0.98)), _stated(bound=_bound_times(0.5))
    careless = replace(GENUINE, own_texts=_nothing_refused)
    rows: tuple[tuple[str, Subject, Probe, str], ...] = (
        ("normalizer forgotten", _altered(_weights(_normalizer_forgotten)), _probe_cells, checks.BOUND),
        ("no share for every prototype", _altered(_weights(_no_floor)), _probe_cells, checks.BOUND),
        ("probabilities of eight bits", _altered(_weights(_rounded)), _probe_cells, checks.BOUND),
        ("the empty document told by its prototype", _altered(_weights(_empty_is_certain)), _probe_cells, checks.BOUND),
        ("ratios 2 % too steep", _altered(_weights(_steeper)), _probe_cells, checks.BOUND),
        ("bound stated 2 % too small", _altered(small), _probe_cells, checks.BOUND),
        ("margin not halved", _altered(_scores(_not_halved)), _probe_cells, checks.UNIT),
        ("margin squared", _altered(_scores(_squared)), _probe_cells, checks.UNIT),
        ("margin all or nothing", _altered(_scores(_clipped_to_zero_or_all)), _probe_cells, checks.UNIT),
        ("epsilon stated at half", _altered(_stated(epsilon=_half)), _probe_cells, checks.UNIT),
        ("epsilon stated for a sharp choice", _altered(sharp), _probe_cells, checks.UNIT),
        ("sums of features instead of means", _altered(_positions(_summed)), _probe_cells, checks.UNIT),
        ("mean over distinct words", _altered(_positions(_distinct)), _probe_cells, checks.UNIT),
        ("a word that counts five times", _altered(_positions(_weighted)), _probe_cells, checks.UNIT),
        ("unknown words pass through the features", _altered(_positions(_unknown_passes)), _probe_cells, checks.UNIT),
        ("weights that do not sum", _altered(_missing), _probe_cells, checks.SUMS),
        ("position not clipped", _altered(_unclipped, Position), _probe_positions, checks.POSITION_BOUND),
        ("position stretched", _altered(_spread, Position), _probe_positions, checks.POSITION_BOUND),
        ("position put on a circle", _altered(_normalized, Position), _probe_positions, checks.POSITION_UNIT),
        ("diameter of half the box", _altered(half, Position), _probe_positions, checks.POSITION_BOUND),
        ("none of these not counted in M", _altered(_weights(_none_for_certain)), _probe_cells, checks.BOUND),
        ("distance learned from the private texts", _altered(_own_threshold), _probe_cells, checks.COMPANY),
        ("what fits nothing becomes the nearest", _altered(_always_fits), _probe_cells, checks.NONE),
        ("a row without text left out", _altered(_textless_left_out), _probe_leaves, checks.LEAVES),
        ("drawn with numbers of two bits", _altered(_number(_two_bits)), _probe_draws, checks.PROTOTYPES_DRAWN),
        ("one document in ten stays", _altered(_number(_one_in_ten_stays)), _probe_draws, checks.PROTOTYPES_DRAWN),
        ("one draw for all documents", _altered(_repeated_noise), _probe_draws, checks.PROTOTYPES_DRAWN),
        ("the bits of one document for all", _altered(_repeated_bits), _probe_draws, checks.PROTOTYPES_DRAWN),
        ("words unevenly drawn", _altered(_words_uneven), _probe_draws, checks.WORDS_DRAWN),
        ("the bag's size tells the document's", _altered(_released(_size_leaks)), _probe_leaves, checks.LEAVES),
        ("an unknown word passes", _altered(_released(_unknown_kept)), _probe_leaves, checks.LEAVES),
        ("a word of the document added", _altered(_released(_extra_word)), _probe_leaves, checks.LEAVES),
        ("the position leaves as a float", _altered(_released(_float_leaks)), _probe_leaves, checks.LEAVES),
        ("noisy position leaves as a float", _altered(_released(_float_leaks), Position), _probe_leaves, checks.LEAVES),
        ("reference learned from the private texts", careless, _probe_own, checks.OWN_TEXTS),
    )  # fmt: skip
    return [Mutant(f"document: {name}", subject, probe, check) for name, subject, probe, check in rows]


def _bound_times(factor: float) -> Callable[[Any], float | None]:
    return lambda genuine: factor * genuine.guarantee.bound


def _half(genuine: Any) -> float | None:
    epsilon = genuine.guarantee.epsilon
    return None if epsilon is None else epsilon / 2


def _missing(genuine: Prototype) -> dict[str, Any]:
    one = np.eye(1, genuine.outcome_count, dtype=np.int64)
    return {"weights": lambda documents: Prototype.weights(genuine, documents) - one}
