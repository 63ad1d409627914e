"""Document mechanisms, cell by cell: every pair of documents of 0 to 5 words, every outcome, both constants.

ln P(k|b) - ln P(k|b') is at most the bound for all documents b, b' and outcomes k, and at most epsilon times their
Earth Mover's distance. In one dimension the distance has a closed form. In two it is replaced by the distance of the
mean features, which the coupling lemma puts below it and which is checked against the transport solver: what holds for
the smaller distance holds for the larger.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.audit.implementation import Subject
from publius.audit.lifting import largest_losses
from publius.audit.outcomes import Check, Findings, surprise, violations
from publius.audit.tests_of_fit import log_p_pearson
from publius.audit.toy_references import DocumentWorld, document_worlds
from publius.distances.earth_mover import vector_transport
from publius.errors import PolicyError, PubliusError
from publius.mechanisms.mechanism import TOTAL, Mechanism, Outcome
from publius.mechanisms.position import Position
from publius.mechanisms.prototype import Prototype
from publius.noise.randomness import RunKey
from publius.text.bag import Bag

LARGEST_EXCESS: Final = 1e-9
BOUND: Final = "documents: worst excess over the bound between any two (nats)"
UNIT: Final = "documents: worst excess over epsilon times the distance (nats)"
SUMS: Final = "documents: laws whose weights do not sum to 2^62"
COMPANY: Final = "documents: laws that depend on the other documents"
NONE: Final = "documents: 'none of these' by another rule than the public distance and the lack of text"
COUPLING: Final = "documents: mean features beyond the Earth Mover's distance"
POSITION_BOUND: Final = "documents: positions beyond the bound (nats)"
POSITION_UNIT: Final = "documents: positions beyond epsilon times the distance (nats)"
PROTOTYPES_DRAWN: Final = "documents: prototypes drawn against their law"
WORDS_DRAWN: Final = "documents: words drawn against their law"
LEAVES: Final = "documents: what leaves beside public words"
OWN_TEXTS: Final = "documents: references learned from the texts to be released"

_COUPLED: Final = 60  # pairs a world
_LENGTH: Final = 7
_NEAR: Final = 1e-9  # of the threshold: there rounding decides


def check_documents(
    subject: Subject, least_cells: int, worlds: Iterable[DocumentWorld] | None = None
) -> Findings:
    """Every cell of as many worlds as give ``least_cells``, and the lemma that the constant per unit stands on."""
    cells, over_bound, over_unit, wrong, laws, coupled, pairs = 0, -math.inf, -math.inf, 0, 0, -math.inf, 0
    company, misplaced = 0, 0
    for world in document_worlds(400) if worlds is None else worlds:
        if cells >= least_cells:
            break
        mechanism = subject.document_mechanism("prototype", world.reference, **world.parameters)
        documents = world.documents
        weights = _weights(mechanism, documents)
        wrong += int((weights.astype(object).sum(axis=1) != TOTAL).sum())
        laws += len(weights)
        company += _in_company(mechanism, documents, weights)
        misplaced += _misplaced(world, documents, weights)
        losses = pairwise_losses(weights)
        cells += len(weights) ** 2 * weights.shape[1]
        promised = mechanism.guarantee
        over_bound = max(over_bound, float(losses.max()) - promised.map())
        distances, gap = _distances(world, documents)
        coupled, pairs = max(coupled, gap), pairs + _COUPLED
        if promised.epsilon is not None:
            over_unit = max(over_unit, float((losses - promised.per_unit * distances).max()))
    checks = (
        Check(BOUND, cells, over_bound, LARGEST_EXCESS),
        Check(UNIT, cells, over_unit, LARGEST_EXCESS),
        violations(SUMS, laws, wrong),
        violations(COMPANY, laws, company),
        violations(NONE, laws, misplaced),
        Check(COUPLING, pairs, coupled, LARGEST_EXCESS),
    )
    figures = {"document_cells": cells, "document_worst_excess": max(over_bound, over_unit)}
    return Findings(checks, figures)


def _weights(mechanism: Mechanism, documents: Sequence[IndexArray]) -> IndexArray:
    weights = mechanism.weights(documents)
    if weights is None:
        raise PubliusError("the audit of laws needs a mechanism whose law is written in whole numbers")
    return weights


def _in_company(mechanism: Mechanism, documents: Sequence[IndexArray], weights: IndexArray) -> int:
    """How many documents have another law among a tenth of the documents than among all."""
    wrong = 0
    for part in (slice(0, 1), slice(1, None, 10), slice(len(documents) // 2, None, 10)):
        wrong += int((_weights(mechanism, documents[part]) != weights[part]).any(axis=1).sum())
    return wrong


def _misplaced(world: DocumentWorld, documents: Sequence[IndexArray], weights: IndexArray) -> int:
    """How many documents are "none of these" most probably and should not be, or the reverse; from the definition."""
    aspect = world.reference.aspect("topic")
    points, features, empty = aspect.sets[0].points, aspect.features, aspect.features[-1]
    means = np.stack([features[found].mean(axis=0) if len(found) else empty for found in documents])
    gaps = np.sqrt(((means[:, None] - points[None]) ** 2).sum(axis=2)).min(axis=1)
    textless = (means == empty).all(axis=1)
    stored = aspect.sets[0].farthest
    if world.gamma == 0:
        if aspect.rule == "cosine":
            sizes = np.sqrt((means**2).sum(axis=1))[:, None] * np.sqrt((points**2).sum(axis=1))[None]
            gaps = 1 - (means @ points.T / np.where(sizes > 0, sizes, 1.0)).max(axis=1)
        beyond = np.zeros(len(gaps)) if stored is None else gaps - stored[aspect.rule]
        beyond = np.where(textless, 1.0, beyond)
    else:
        away = np.sqrt(((empty - points) ** 2).sum(axis=1)).min() - 2 * world.gamma
        none = np.sqrt(((means - empty) ** 2).sum(axis=1)) + max(0.0, away)
        beyond = gaps - (none if stored is None else np.minimum(none, stored["nearest"] + world.gamma))
    told = weights[:, -1] > weights[:, :-1].max(axis=1)
    return int(((np.abs(beyond) > _NEAR) & (told != (beyond > 0))).sum())


def pairwise_losses(weights: IndexArray) -> Float64Array:
    """The largest ln of a ratio over all outcomes, for every pair of laws; shape (B, B)."""
    possible = weights[:, weights.max(axis=0) > 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(possible.astype(np.float64))
    return largest_losses(np.ascontiguousarray(logs))


def _distances(world: DocumentWorld, documents: Sequence[IndexArray]) -> tuple[Float64Array, float]:
    """Distances of all pairs, (B, B), and by how much a mean feature moves further than the solver's distance.

    Computed here from the definition, not by the mechanism: shares of words, the unknown token among them.
    """
    features = world.reference.aspect("topic").features
    filled = [found if len(found) else np.array([world.reference.unknown_index]) for found in documents]
    shares = np.stack([np.bincount(found, minlength=len(features)) / len(found) for found in filled])
    means = shares @ features
    moved = np.sqrt(((means[:, None] - means[None, :]) ** 2).sum(axis=2))
    distances = _in_line(shares, features[:, 0]) if features.shape[1] == 1 else moved
    worst = -math.inf
    for number in range(_COUPLED):
        a, b = (number * 7919) % len(filled), (number * 104729 + 1) % len(filled)
        (left, m), (right, n) = (np.unique(filled[place], return_counts=True) for place in (a, b))
        exact = vector_transport(features[left], features[right], counts_x=m, counts_y=n)
        worst = max(
            worst, float(moved[a, b]) - exact.distance_upper, float(distances[a, b]) - exact.distance_upper
        )
    return distances, worst


def _in_line(shares: Float64Array, values: Float64Array) -> Float64Array:
    """Earth Mover's distances in one dimension: the integral of the gap between the cumulative shares."""
    order = np.argsort(values)
    steps = np.diff(values[order])
    sums = np.cumsum(shares[:, order], axis=1)[:, :-1]
    return np.asarray((np.abs(sums[:, None] - sums[None, :]) * steps).sum(axis=2))


def check_positions(subject: Subject, worlds: int) -> Findings:
    """The largest ln of a ratio of Laplace densities, epsilon' times the distance of their centres, for all pairs.

    The centres are the mechanism's own, the distances from the definition.
    """
    over_bound, over_unit, pairs = -math.inf, -math.inf, 0
    for world in document_worlds(worlds):
        mechanism = subject.document_mechanism("position", world.reference, bound=world.bound)
        if not isinstance(mechanism, Position):
            raise PubliusError("the audit of positions needs the mechanism position")
        documents = world.documents
        centres = mechanism.centres(documents)
        apart = np.sqrt(((centres[:, None] - centres[None, :]) ** 2).sum(axis=2))
        losses = mechanism.noise_epsilon * apart
        promised = mechanism.guarantee
        over_bound = max(over_bound, float(losses.max()) - promised.map())
        if promised.epsilon is not None:
            excess = losses - promised.per_unit * _distances(world, documents)[0]
            over_unit = max(over_unit, float(excess.max()))
        pairs += apart.size
    checks = (
        Check(POSITION_BOUND, pairs, over_bound, LARGEST_EXCESS),
        Check(POSITION_UNIT, pairs, over_unit, LARGEST_EXCESS),
    )
    return Findings(checks)


def check_document_draws(subject: Subject, samples: int, key: RunKey) -> Findings:
    """Prototypes and words that come out, against the law that is stated, for every document of two words."""
    world = list(document_worlds(8))[6]
    parameters = {"bound": 2.0, "gamma": 0.2, "length": _LENGTH}
    mechanism = subject.document_mechanism("prototype", world.reference, **parameters)
    genuine = Prototype(world.reference, bound=2.0, gamma=0.2, length=_LENGTH)
    documents = [found for found in world.documents if len(found) <= 2]
    each = max(1, samples // len(documents))
    worst, worst_words = 0.0, 0.0
    size, words = genuine.outcome_count, world.reference.size
    for place, document in enumerate(documents):
        ids = [f"documents/{place}/{number}" for number in range(each)]
        keyed, others = ids[::2], ids[1::2]  # as a run draws, and with generators
        drawn = list(mechanism.draw_keyed([document] * len(keyed), keyed, key))
        drawn += mechanism.draw([document] * len(others), [key.rng(name) for name in others])
        law = _weights(genuine, [document])[0] / TOTAL
        counts = np.bincount([found.prototype or 0 for found in drawn], minlength=size)
        worst = min(worst, log_p_pearson(counts.astype(np.float64), law * each))
        seen, expected = _words_drawn(drawn, genuine, counts, words)
        worst_words = min(worst_words, log_p_pearson(seen, expected))
    tests = len(documents)
    return Findings(
        (
            surprise(PROTOTYPES_DRAWN, each * tests, worst, tests),
            surprise(WORDS_DRAWN, each * tests * _LENGTH, worst_words, tests),
        )
    )


def _words_drawn(
    drawn: Sequence[Outcome], genuine: Prototype, counts: IndexArray, words: int
) -> tuple[Float64Array, Float64Array]:
    """How often each word came out, and how often it should, given the prototypes that did."""
    seen, expected = np.zeros(words), np.zeros(words)
    for found in drawn:
        for word, count in found.bag.counts.items():
            seen[int(word[1:])] += count
    for k, count in enumerate(counts.tolist()):
        places, weights = genuine.drawable_words
        np.add.at(expected, places[k], count * _LENGTH * weights[k] / 2.0**32)
    return seen, expected


def check_what_leaves(subject: Subject, key: RunKey) -> Findings:
    """A release holds a prototype's number and label and exactly N public words, whatever the document held."""
    world = next(iter(document_worlds(1)))
    wrong = total = 0
    for name in ("prototype", "position"):
        mechanism = subject.document_mechanism(name, world.reference, bound=2.0, length=_LENGTH)
        labels = {outcome.prototype: outcome.label for outcome in mechanism.outcomes}
        documents = [np.arange(size) % (world.reference.size + 1) for size in (0, 1, 3, 50, 1000)] * 20
        rngs = [key.rng(f"leaves/{name}/{number}") for number in range(len(documents))]
        left = mechanism.draw(documents, rngs)
        total += 1
        wrong += len(left) != len(documents)
        for found in left:
            total += 1
            wrong += not _public(found, labels, world)
    return Findings((violations(LEAVES, total, wrong),))


def _public(found: Outcome, labels: dict[int, str], world: DocumentWorld) -> bool:
    if type(found.bag) is not Bag or found.bag.size != _LENGTH:
        return False
    if not all(word in world.reference for word in found.bag.counts):
        return False
    if found.prototype is None:
        return not labels and found.label is None
    return type(found.prototype) is int and labels.get(found.prototype) == found.label


def check_own_texts(subject: Subject) -> Findings:
    """A reference learned from the very texts is refused, another is not."""
    reference = next(iter(document_worlds(1))).reference
    wrong = 0
    for digest, refused in (("0" * 64, True), ("1" * 64, False)):
        try:
            subject.own_texts(reference, digest)
            wrong += refused
        except PolicyError:
            wrong += not refused
    return Findings((violations(OWN_TEXTS, 2, wrong),))
