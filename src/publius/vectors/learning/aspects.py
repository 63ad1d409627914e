"""The aspects of a reference: features and prototypes for the topic, and for the meaning."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count as counted
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import DataError, UsageError
from publius.files.progress import Progress, unheard
from publius.settings import AUTHORS_AT_LEAST, StopWordSettings
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.clusters import clusters, directions
from publius.vectors.learning.discriminants import fit_discriminants
from publius.vectors.learning.prototypes import (
    GRID,
    Aspect,
    Prototypes,
    Rule,
    distances_to,
    farthest,
    nearest_by,
    on_grid,
)
from publius.vectors.learning.topic_metric import centred_basis, log_odds
from publius.vectors.learning.typical_words import drawable, excess_words, tilted_words

_LEARNING: Final = "learning the reference"
"""What progress calls it."""

FEATURES: Final = ("log-odds", "discriminants", "embedding")
LADDER: Final = (10, 25, 50, 100, 200, 400)
"""Numbers of prototypes for the meaning; a release takes the one that suits its bound."""

_DOCUMENTS_A_CLUSTER: Final = 8  # on average, at least
_EMBEDDING_DIMENSION: Final = 20
_FEW_TOPICS: Final = 9  # with fewer, the topics say too little of the meaning
_WIDTHS: Final = (0.25, 0.5, 1.0, 2.0)
_FEWEST_FOR_RECALL: Final = 100
_HELD_OUT: Final = 5
_FEWEST_HELD_OUT: Final = 10
_CHOSEN_AT: Final = 5.0  # nats at which the box is chosen


@final
@dataclass(frozen=True)
class LearningSettings:
    """What to learn.

    Attributes:
        features: log-odds, discriminants or embedding for every aspect; None: discriminants for the topic and
            log-odds of the topics for the meaning, or an embedding where there are few topics.
        dimension: m, at most; None for all that the features have, and 20 of an embedding.
        prototypes: of the meaning; None for several sets, from which a release takes the one that suits its bound.
        saturation: half-width of the box that a position is clipped to, in public spreads; None to choose it.
        authors_at_least: words that fewer authors use are left out; texts are counted where no author is known.
        leave_out: words that are left out besides.
        tokenizer: profile by which the words were cut.
        stop_words: name of the list that was left out.
    """

    features: str | None = None
    dimension: int | None = None
    prototypes: int | None = None
    saturation: float | None = None
    authors_at_least: int = AUTHORS_AT_LEAST
    leave_out: frozenset[str] = frozenset()
    tokenizer: str = "glove"
    stop_words: str = StopWordSettings.stop_words

    def __post_init__(self) -> None:
        """Refuse what cannot be learned: `UsageError`."""
        if self.features is not None and self.features not in FEATURES:
            raise UsageError(
                f"no features are called {self.features!r:.40}: choose one of {', '.join(FEATURES)}"
            )
        for name in ("dimension", "prototypes", "authors_at_least"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise UsageError(f"{name.replace('_', ' ')} must be a whole number from 1, not {value!r:.40}")
        if self.saturation is not None and not (math.isfinite(self.saturation) and self.saturation > 0):
            raise UsageError(f"the saturation must be a positive number, not {self.saturation!r}")


@final
@dataclass(frozen=True, eq=False)
class Public:
    """Public documents as counts of words.

    Attributes:
        counts: sparse, shape (n, V); no row is empty.
        vocabulary: the V words.
        topics: the label of each document, shape (n,); 0 for all where there are none.
        labels: the names of the topics; none where the documents have no labels.
        embeddings: for features of that kind, where there are some.
    """

    counts: Any
    vocabulary: tuple[str, ...]
    topics: IndexArray
    labels: tuple[str, ...]
    embeddings: Embeddings | None
    used: set[str] = field(default_factory=set)

    @property
    def uses_embeddings(self) -> bool:
        """Whether an aspect took its features from the embeddings."""
        return "embedding" in self.used

    @property
    def sizes(self) -> Mapping[str, int]:
        """Documents of each topic."""
        found = np.bincount(self.topics, minlength=len(self.labels)).tolist()
        return dict(zip(self.labels, found, strict=False))

    @property
    def shares(self) -> Any:
        """Word shares: each row sums to 1."""
        totals = np.asarray(self.counts.sum(axis=1)).ravel()
        return self.counts.multiply((1 / totals)[:, None]).tocsr()

    @property
    def present(self) -> Any:
        """1 where a document has a word."""
        return (self.counts > 0).astype(np.float64).tocsr()

    @property
    def background(self) -> Float64Array:
        """The mean word shares, shape (V,)."""
        mean = np.asarray(self.shares.mean(axis=0)).ravel()
        return np.asarray(mean / mean.sum())


def topic_aspect(public: Public, settings: LearningSettings) -> tuple[Aspect, dict[str, Any]]:
    """The aspect that keeps topics, one prototype each, and what was chosen."""
    kind = settings.features or "discriminants"
    count = len(public.labels)
    shares = public.shares
    facts: dict[str, Any] = {"features": kind}
    if kind == "discriminants":
        found = fit_discriminants(shares, public.topics, count)
        basis = _basis(found.held_out, public.topics, count, settings.dimension)
        features, held_out = found.features @ basis, found.held_out @ basis
        points = np.eye(count) @ basis
        facts.update(penalty=found.penalty, cross_validated=found.scores)
    else:
        features = _features(kind, public, shares, settings.dimension)
        held_out = shares @ features
        points = _class_means(held_out, public.topics, count)
    apart = (held_out, points) if kind == "discriminants" else _topics_apart(kind, public, settings)
    scale = _scale(features)
    points, held_out = points / scale, held_out / scale
    fits = farthest(apart[0] / scale, apart[1] / scale)
    grid = on_grid(features)
    right = distances_to(held_out, points).argmin(axis=1) == public.topics
    facts["nearest_is_its_topic"] = round(float(right.mean()), 4)
    words, weights = drawable(excess_words(public.present, public.topics, count))
    prototypes = Prototypes(
        points, public.labels, words, weights, _margin(held_out, points), float(right.mean()), fits
    )
    middle = points.mean(axis=0)
    low, high, facts["saturation"] = _box(held_out, public.topics, points, settings.saturation)
    return Aspect("topic", kind, _with_empty(grid, middle), "nearest", low, high, (prototypes,)), facts


def meaning_aspect(
    public: Public,
    settings: LearningSettings,
    progress: Progress = unheard,
) -> tuple[Aspect, dict[str, Any]]:
    """The aspect that keeps the meaning as far as prototypes tell it, and what was chosen.

    ``progress`` hears how many prototypes are made, and of how many: they take most of the time.
    """
    kind = settings.features or _kind_for_meaning(public)
    shares = public.shares
    grid = on_grid(_meaning_features(kind, public, settings))
    positions = shares @ grid
    known, held_out = _positions_apart(kind, public, settings)
    sets, recalls = [], {}
    sizes = _ladder(len(positions), settings.prototypes)
    made = counted(1)
    progress(_LEARNING, 0, sum(sizes))
    for size in sizes:
        points, members = _cluster_points(positions, size)
        others = _cluster_points(known, min(size, len(np.unique(directions(known), axis=0))))[0]
        # The prototypes themselves may stand less well among the documents than those that were learned from fewer.
        of_both = farthest(held_out, others), farthest(positions, points)
        fits = {rule: max(each[rule] for each in of_both) for rule in of_both[0]}
        drawn = tilted_words(
            shares,
            members,
            size,
            grid,
            public.background,
            lambda: progress(_LEARNING, next(made), sum(sizes)),
        )
        words, weights = drawable(drawn)
        labels = _cluster_labels(public, members, size, words)
        quality = round(recall(positions, points, "cosine"), 4)
        sets.append(Prototypes(points, labels, words, weights, _margin(positions, points), quality, fits))
        recalls[str(size)] = quality
    low, high, saturation = _box(positions, None, sets[-1].points, settings.saturation)
    facts = {"features": kind, "recall_without_noise": recalls, "saturation": saturation}
    aspect = Aspect(
        "meaning", kind, _with_empty(grid, positions.mean(axis=0)), "cosine", low, high, tuple(sets)
    )
    return aspect, facts


def _meaning_features(kind: str, public: Public, settings: LearningSettings) -> Float64Array:
    if kind != "discriminants":
        return _features(kind, public, public.shares, settings.dimension)
    count, shares = len(public.labels), public.shares
    raw = fit_discriminants(shares, public.topics, count).features if count else None
    if raw is None:
        raise UsageError("discriminants need labels: give --label, or --features embedding")
    return np.asarray(raw @ _basis(shares @ raw, public.topics, count, settings.dimension))


def _cluster_points(positions: Float64Array, size: int) -> tuple[Float64Array, IndexArray]:
    """The point of each of ``size`` clusters, and the cluster of each position."""
    members = clusters(positions, size)
    points = _class_means(directions(positions), members, size)
    return points * np.sqrt((positions**2).sum(axis=1)).mean(), members


def _topics_apart(kind: str, public: Public, settings: LearningSettings) -> tuple[Float64Array, Float64Array]:
    """Positions of held-out documents, and prototypes of topics that were learned without them."""
    most, held_out = _split(public)
    features = _features(kind, most, most.shares, settings.dimension)
    points = _class_means(most.shares @ features, most.topics, len(public.labels))
    return held_out.shares @ features, points


def _positions_apart(
    kind: str, public: Public, settings: LearningSettings
) -> tuple[Float64Array, Float64Array]:
    """Positions of public documents, and of those that were held out when their features were learned."""
    most, held_out = _split(public)
    features = on_grid(_meaning_features(kind, most, settings))
    return most.shares @ features, held_out.shares @ features


def _split(public: Public) -> tuple[Public, Public]:
    """Four of five documents of each topic, and the fifth; everything twice where there are too few to part."""
    seen = np.zeros(max(1, len(public.labels)), np.int64)
    out = np.zeros(len(public.topics), bool)
    for place, topic in enumerate(public.topics.tolist()):
        out[place] = seen[topic] % _HELD_OUT == _HELD_OUT - 1
        seen[topic] += 1
    if out.sum() < _FEWEST_HELD_OUT:
        return public, public
    parts = (replace(public, counts=public.counts[rows], topics=public.topics[rows]) for rows in (~out, out))
    most, held_out = parts
    return most, held_out


def recall(positions: Float64Array, points: Float64Array, rule: Rule, sample: int = 300) -> float:
    """How many of the ten public documents nearest to one are among the 2 % nearest to its prototype.

    By cosine, without noise, over a sample of the public documents spread evenly; a document is not its own
    neighbour. Below a hundred documents there is too little to tell by, and it is 1.
    """
    n = len(positions)
    if n < _FEWEST_FOR_RECALL:
        return 1.0  # too few to tell
    asked = np.linspace(0, n - 1, min(sample, n)).astype(np.int64)
    units = directions(positions)
    nearness = units[asked] @ units.T
    nearness[np.arange(len(asked)), asked] = -2.0
    true = np.argpartition(-nearness, 10, axis=1)[:, :10]
    chosen = nearest_by(rule, positions[asked], points)
    seen = directions(points)[chosen] @ units.T
    seen[np.arange(len(asked)), asked] = -2.0
    among = max(10, n // 50)
    reached = np.argpartition(-seen, among, axis=1)[:, :among]
    hits = [len(set(a) & set(b)) / 10 for a, b in zip(true.tolist(), reached.tolist(), strict=True)]
    return float(np.mean(hits))


def _kind_for_meaning(public: Public) -> str:
    if len(public.labels) >= _FEW_TOPICS or (public.embeddings is None and public.labels):
        return "log-odds"
    return "embedding"


def _features(kind: str, public: Public, shares: Any, dimension: int | None) -> Float64Array:
    """Log-odds or embedding features, before they are put on the grid; shape (V, m)."""
    if kind == "log-odds":
        if not public.labels:
            raise UsageError("log-odds need labels: give --label, or --features embedding")
        count = len(public.labels)
        present, sizes = public.present, np.bincount(public.topics, minlength=count).astype(np.float64)
        table = np.stack(
            [np.asarray(present[public.topics == k].sum(axis=0)).ravel() for k in range(count)], axis=1
        )
        return _leading(log_odds(table, sizes), shares, dimension)
    if public.embeddings is None:
        raise UsageError("features of the kind embedding need word vectors: install publius[glove]")
    public.used.add("embedding")
    embeddings = public.embeddings
    places = np.array([-1 if (i := embeddings.index(word)) is None else i for word in public.vocabulary])
    known = places >= 0
    if known.sum() < 2:
        raise UsageError(f"the vectors {embeddings.name!r} know too few words of these texts")
    holding = np.maximum(np.asarray(public.present.sum(axis=0)).ravel(), 1)
    rarity = np.log((len(public.topics) + 1) / holding)
    vectors = np.zeros((len(places), embeddings.dimension))
    vectors[known] = np.asarray(embeddings.vectors[places[known]], np.float64)
    weighted = vectors * rarity[:, None]
    weighted[known] -= (public.background[known] @ weighted[known]) / public.background[known].sum()
    return _leading(weighted, shares, dimension or _EMBEDDING_DIMENSION)


def _leading(features: Float64Array, shares: Any, dimension: int | None) -> Float64Array:
    """The ``dimension`` principal components of the documents' positions, all of them unless it is smaller."""
    if dimension is None or dimension >= features.shape[1]:
        return features
    positions = shares @ features
    spread = np.cov(positions, rowvar=False)
    _, axes = np.linalg.eigh(np.atleast_2d(spread))
    return np.asarray(features @ axes[:, ::-1][:, :dimension])


def _basis(scores: Float64Array, topics: IndexArray, count: int, dimension: int | None) -> Float64Array:
    """Orthonormal columns for scores that matter up to a constant; the leading ones by the topics' means."""
    basis = centred_basis(count)
    if dimension is None or dimension >= basis.shape[1]:
        return basis
    means = _class_means(scores, topics, count) @ basis
    _, axes = np.linalg.eigh(np.atleast_2d(np.cov(means, rowvar=False)))
    return np.asarray(basis @ axes[:, ::-1][:, :dimension])


def _class_means(positions: Float64Array, members: IndexArray, count: int) -> Float64Array:
    sums = np.zeros((count, positions.shape[1]))
    np.add.at(sums, members, positions)
    return np.asarray(sums / np.maximum(np.bincount(members, minlength=count), 1)[:, None])


def _scale(features: Float64Array) -> float:
    """By what `on_grid` divides features that are too large."""
    largest, scale = float(np.abs(features).max()), 1.0
    while largest / scale > 63:
        scale *= 2
    return scale


def _with_empty(grid: Float64Array, point: Float64Array) -> Float64Array:
    return np.concatenate([grid, on_grid(point[None, :])])


def _margin(positions: Float64Array, points: Float64Array) -> float:
    if len(points) < 2:
        return 0.0
    two = np.partition(distances_to(positions, points), 1, axis=1)[:, :2]
    return float(np.median((two[:, 1] - two[:, 0]) / 2))


def _ladder(documents: int, asked: int | None) -> tuple[int, ...]:
    if asked is not None:
        return (asked,)
    fitting = tuple(size for size in LADDER if size * _DOCUMENTS_A_CLUSTER <= documents)
    return fitting or (max(1, documents // _DOCUMENTS_A_CLUSTER),)


def _cluster_labels(public: Public, members: IndexArray, count: int, words: IndexArray) -> tuple[str, ...]:
    """The commonest topic of each cluster's documents, or its most typical words."""
    if public.labels:
        table = np.zeros((count, len(public.labels)), np.int64)
        np.add.at(table, (members, public.topics), 1)
        return tuple(public.labels[int(topic)] for topic in table.argmax(axis=1))
    return tuple(", ".join(public.vocabulary[int(word)] for word in row[:3]) for row in words)


def _box(
    positions: Float64Array, topics: IndexArray | None, points: Float64Array, asked: float | None
) -> tuple[Float64Array, Float64Array, float]:
    """Lower and upper ends round the middle of the public positions, and the half-width in public spreads.

    The spread of a coordinate is that of the topics' means, or of the positions. In one dimension the half-width is
    the one that keeps most topics at 5 nats; the expectation over Laplace noise has a closed form. In more it is 1.
    `DataError` for topics that lie on one point.
    """
    if topics is None:
        middle, spread = positions.mean(axis=0), positions.std(axis=0)
    else:
        means = _class_means(positions, topics, len(points))
        middle = (means.max(axis=0) + means.min(axis=0)) / 2
        spread = (means.max(axis=0) - means.min(axis=0)) / 2
        if spread.max() < GRID:
            raise DataError(
                "the public documents of all topics have the same words equally often, so topics cannot be told apart: "
                "check that the label field holds the topic"
            )
    width = asked
    if width is None:
        width = (
            1.0
            if topics is None or positions.shape[1] > 1
            else _best_width(positions, topics, middle, spread, points)
        )
    return middle - width * spread, middle + width * spread, width


def _best_width(
    positions: Float64Array,
    topics: IndexArray,
    middle: Float64Array,
    spread: Float64Array,
    points: Float64Array,
) -> float:
    """The half-width at which the noisy position most often lies on the topic's side of the middle."""
    side = np.sign(points[topics, 0] - points.mean())
    best, kept = _WIDTHS[0], -1.0
    for width in _WIDTHS:
        reach = width * float(spread[0])
        shifted = np.clip(positions[:, 0] - middle[0], -reach, reach) * side
        rate = _CHOSEN_AT / (2 * reach)
        tail = 0.5 * np.exp(-rate * np.abs(shifted))
        right = float(np.where(shifted >= 0, 1 - tail, tail).mean())
        if right > kept:
            best, kept = width, right
    return best
