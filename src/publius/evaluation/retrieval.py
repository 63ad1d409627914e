"""Retrieval: finding the public documents that are near the original from its release.

Nearness is the cosine between positions in a space learned from the public documents (tf-idf weights of words, then
their strongest singular directions). Beside each figure stands the same for the trivial release, the noisy label
alone: the topic through randomised response with the same bound. A mechanism that does not beat it is no better than a
label.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array
from publius.errors import extra
from publius.evaluation.adversaries import CLUSTERING, NOISY_LABEL, RETRIEVAL
from publius.evaluation.features import FeatureCounts
from publius.evaluation.rows import Protection, ResultRow, measured_row
from publius.evaluation.statistics import Interval, bootstrap_mean
from publius.noise.randomness import Generator, seeded_rng
from publius.text.bag import Bag

NEIGHBORS: Final = 10
NEAR: Final = 0.02
"""The share of public documents that count as near the release."""

FEWEST_PUBLIC: Final = 50
DIRECTIONS: Final = 100


@final
class PublicSpace:
    """Positions of bags in the space of public documents.

    Attributes:
        positions: of the public documents, shape (public, directions), each of length 1.
        labels: their topics.

    """

    def __init__(self, bags: Sequence[Bag], labels: Sequence[str], seed: int = 0) -> None:
        with extra("evaluation", "scikit-learn"):
            from sklearn.decomposition import TruncatedSVD
            from sklearn.feature_extraction.text import TfidfTransformer
        self._counts = FeatureCounts(limit=20_000)
        counts = self._counts.fit(bags).transform(bags)
        self._weights = TfidfTransformer(sublinear_tf=True).fit(counts)
        directions = max(1, min(DIRECTIONS, counts.shape[0] - 1, counts.shape[1] - 1))
        self._svd = TruncatedSVD(directions, random_state=seed % 2**32)
        self._svd.fit(self._weights.transform(counts))
        self.labels = np.array(labels)
        self.positions = self.of(bags)

    def of(self, bags: Sequence[Bag]) -> Float64Array:
        """Positions of ``bags``, shape (bags, directions), of length 1, or 0 where no word is known."""
        found = self._svd.transform(self._weights.transform(self._counts.transform(bags)))
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.where(lengths > 0, lengths, 1.0), np.float64)


def retrieval_rows(
    protection: Protection,
    space: PublicSpace | None,
    texts: Sequence[tuple[Bag, str | None]],
    released: Sequence[Bag],
    seed: int,
) -> list[ResultRow]:
    """Rows of the tasks "neighbours" and "clusters", and of the noisy label alone.

    ``texts`` are the original bags with their topics, in the order of ``released``. No rows where there are fewer than
    `FEWEST_PUBLIC` public documents.
    """
    if space is None or len(space.positions) < FEWEST_PUBLIC:
        return []
    wanted = _nearest(space.of([bag for bag, _ in texts]) @ space.positions.T)
    within, auc = _found(space.of(released) @ space.positions.T, wanted, seed)
    trivial = _noisy_label(protection.bound, space.labels, [topic for _, topic in texts], wanted)
    rows = [_row(protection, RETRIEVAL, (within, auc), space, trivial)]
    if trivial is None:
        return rows
    rows.append(_row(protection, NOISY_LABEL, trivial, space, None))
    return rows + _clusters(protection, space, [str(topic) for _, topic in texts], released, seed)


def _nearest(similarity: Float64Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """For each document, which public ones are its nearest, shape (documents, public)."""
    order = np.argsort(-similarity, axis=1, kind="stable")[:, :NEIGHBORS]
    wanted = np.zeros(similarity.shape, bool)
    np.put_along_axis(wanted, order, True, axis=1)
    return wanted


def near_count(public: int) -> int:
    """How many public documents are the nearest 2 %, rounded up."""
    return math.ceil(NEAR * public)


def _found(
    similarity: Float64Array, wanted: np.ndarray[Any, np.dtype[np.bool_]], seed: int
) -> tuple[Float64Array, Float64Array]:
    """For each release: the share of the wanted among its nearest 2 %, and the area under the curve (ties by lot)."""
    from scipy.stats import rankdata

    lots = seeded_rng(seed).random(similarity.shape)
    order = np.lexsort((lots, -similarity), axis=1)[:, : near_count(similarity.shape[1])]
    within = np.take_along_axis(wanted, order, axis=1).sum(axis=1) / wanted.sum(axis=1)
    ranks = rankdata(similarity, axis=1)
    count = wanted.sum(axis=1)
    others = similarity.shape[1] - count
    auc = ((ranks * wanted).sum(axis=1) - count * (count + 1) / 2) / (count * others)
    return np.asarray(within, np.float64), np.asarray(auc, np.float64)


def _noisy_label(
    bound: float | None,
    labels: np.ndarray[Any, Any],
    topics: Sequence[str | None],
    wanted: np.ndarray[Any, np.dtype[np.bool_]],
) -> tuple[Float64Array, Float64Array] | None:
    """What the topic alone finds, in expectation: those of the named topic first, in any order, then the others.

    The topic goes through randomised response with the same ``bound``; without one it is the true topic.
    """
    names = sorted(set(labels.tolist()))
    if len(names) < 2 or not all(topic in names for topic in topics):
        return None
    kept = 1.0 if bound is None else 1 / (1 + (len(names) - 1) * math.exp(-min(bound, 700.0)))
    members = np.array([labels == name for name in names])
    by_label = [_by_label(own, wanted) for own in members]
    within, auc = (np.array([parts[which] for parts in by_label]) for which in (0, 1))
    law = np.full((len(names), len(topics)), (1 - kept) / (len(names) - 1))
    law[[names.index(str(topic)) for topic in topics], np.arange(len(topics))] = kept
    return (law * within).sum(axis=0), (law * auc).sum(axis=0)


def _by_label(
    own: np.ndarray[Any, np.dtype[np.bool_]], wanted: np.ndarray[Any, np.dtype[np.bool_]]
) -> tuple[Float64Array, Float64Array]:
    public, members, near = len(own), int(own.sum()), near_count(len(own))
    count = wanted.sum(axis=1)
    inside = wanted[:, own].sum(axis=1)
    share_inside = min(1.0, near / members) if members else 0.0
    share_outside = max(0, near - members) / max(1, public - members)
    within = (inside * share_inside + (count - inside) * share_outside) / count
    rest_in, rest_out = members - inside, public - members - (count - inside)
    above = inside * (rest_out + rest_in / 2) + (count - inside) * rest_out / 2
    return within, above / (count * (public - count))


def _row(
    protection: Protection,
    adversary: str,
    found: tuple[Float64Array, Float64Array],
    space: PublicSpace,
    trivial: tuple[Float64Array, Float64Array] | None,
) -> ResultRow:
    within, auc = (bootstrap_mean(values[None, :], seeded_rng(len(values))) for values in found)
    public = len(space.positions)
    extra: dict[str, Any] = {
        "auc": auc.value, "auc_low": auc.low, "auc_high": auc.high, "within_two_percent": within.value,
        "neighbors": NEIGHBORS, "public": public,
    }  # fmt: skip
    if trivial is not None:
        gain = bootstrap_mean((found[0] - trivial[0])[None, :], seeded_rng(len(found[0])))
        extra |= {"noisy_label": float(trivial[0].mean()), "beats_noisy_label": gain.low > 0}
    total = (within, len(found[0]))
    return measured_row(protection, adversary, "neighbours", total, near_count(public) / public, extra)


# Clusters -------------------------------------------------------------------------------------------------


def _clusters(
    protection: Protection, space: PublicSpace, topics: Sequence[str], released: Sequence[Bag], seed: int
) -> list[ResultRow]:
    """How well clusters of the releases agree with the topics: adjusted mutual information, 0 by chance, 1 at best."""
    from sklearn.cluster import KMeans

    count = len(set(topics))
    if count < 2 or len(released) < 2 * count:
        return []
    machine = KMeans(count, n_init=5, random_state=seed % 2**32)
    found = machine.fit_predict(space.of(released))
    rng = seeded_rng(seed)
    interval = _agreement(found, topics, rng)
    names = sorted(set(topics))
    noisy = _agreement(
        _through_response([names.index(topic) for topic in topics], count, protection.bound, rng), topics, rng
    )
    extra = {
        "ami": interval.value,
        "noisy_label": noisy.value,
        "beats_noisy_label": interval.low > noisy.high,
    }
    return [measured_row(protection, CLUSTERING, "clusters", (interval, len(topics)), 0.0, extra)]


def _through_response(
    labels: Sequence[int], count: int, bound: float | None, rng: Generator
) -> np.ndarray[Any, np.dtype[np.int64]]:
    kept = 1.0 if bound is None else 1 / (1 + (count - 1) * math.exp(-min(bound, 700.0)))
    other = (np.array(labels) + rng.integers(1, count, len(labels))) % count
    return np.where(rng.random(len(labels)) < kept, np.array(labels), other)


def _agreement(found: np.ndarray[Any, Any], topics: Sequence[str], rng: Generator) -> Interval:
    """Adjusted mutual information with a bootstrap interval over the documents."""
    truth = np.unique(np.array(topics), return_inverse=True)[1]
    value = adjusted_information(truth, found)
    draws = []
    for _ in range(100):
        sample = rng.integers(0, len(truth), len(truth))
        draws.append(adjusted_information(truth[sample], found[sample]))
    low, high = np.quantile(draws, [0.025, 0.975])
    return Interval(value, min(value, float(low)), max(value, float(high)))


def adjusted_information(truth: np.ndarray[Any, Any], found: np.ndarray[Any, Any]) -> float:
    """`adjusted_mutual_info_score` of two labellings by numbers from 0, without looking each over at length."""
    from scipy.special import entr, rel_entr
    from sklearn.metrics.cluster import expected_mutual_information

    width = int(found.max()) + 1
    table = np.bincount(truth * width + found, minlength=(int(truth.max()) + 1) * width).reshape(-1, width)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if 1 in table.shape:
        return float(table.shape == (1, 1))
    joint = table / table.sum()
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    shared = float(rel_entr(joint, np.outer(rows, columns)).sum())
    expected = expected_mutual_information(table, int(table.sum()))
    most = float(entr(rows).sum() + entr(columns).sum()) / 2
    return _off_zero(shared - expected) / _off_zero(most - expected)


def _off_zero(number: float) -> float:
    """Of the same sign, and at least the smallest step: a perfect agreement of few is 0 by 0 otherwise."""
    return math.copysign(max(abs(number), np.finfo(np.float64).eps), -1 if number < 0 else 1)
