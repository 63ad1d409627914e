"""A classifier out of a summary: labels where their noisy counts lie among public clusters (docs/theory.md, encoder).

Post-processing of counts: nothing here sees a text. It leaves with the summary: public words by the list rule, public
directions and centres, and for each label a place and a share.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.classifiers.clusters import SPACE, Clusters, Space
from publius.classifiers.features import product, unit
from publius.classifiers.store import Meta, StoredClassifier, load_classifier
from publius.errors import AnyPath, UsageError

NEARNESS: Final = 9.0
"""Weight of the cosine to a label's place beside the logarithm of its share."""
_TOLD: Final = 2.0
"""Standard deviations of the noise from which a cell is taken as it is."""
_BELOW: Final = 0.3
"""Weight of what the margins predict for any other cell."""


@final
class SummaryClassifier(StoredClassifier):
    """The label with the largest 9 * cosine to its place + ln(its share), read from the folder of a summary.

    Its labels are a group's values: `SummaryClassifier.open("summary/classifier/district")`. A text without a known
    word is "other". Of authors who made the summary their labels cost epsilon again.
    """

    kind = "summary"

    @classmethod
    def open(cls, folder: AnyPath) -> SummaryClassifier:
        """The classifier in a folder, or the only one of a summary; `UsageError` where it is of another kind."""
        found = load_classifier(Path(folder))
        if not isinstance(found, cls):
            raise UsageError("this folder holds no classifier out of a summary: name SUMMARY/classifier/FIELD")
        return found

    def _prepare(self) -> None:
        self.space = Space(self.features, self.arrays)
        self._places = self.arrays["places"].astype(np.float64)
        self._shares = self.arrays["shares"]
        shape = (len(self.labels), len(self.space.mean))
        if self._places.shape != shape or self._shares.shape != shape[:1]:
            raise ValueError("a place and a share for each label")

    def scores(self, texts: Sequence[str]) -> Float64Array:
        """9 * cosine + ln(share) of each label, shape (n, M); of a text without a known word "other" alone."""
        rows, readable = self.space.at(texts)
        scores = NEARNESS * product(rows, self._places.T) + np.log(self._shares)
        scores[~readable] = -np.inf
        scores[~readable, -1] = 0.0
        return np.asarray(scores)

    def answers(self, texts: Sequence[str]) -> IndexArray:
        """See `Classifier.answers`."""
        return np.asarray(np.argmax(self.scores(texts), axis=1), np.int64)


def from_counts(
    classifier: Clusters, field: str, labels: Sequence[str], counts: IndexArray, deviation: float
) -> SummaryClassifier:
    """The classifier that a summary's counts make.

    Args:
        classifier: of the summary: public clusters.
        field: the group's name.
        labels: its values, "other" last.
        counts: noisy counts as released, shape (len(labels), M): of each label in each cluster, "other" last.
        deviation: standard deviation of the noise in one of them.
    """
    places, shares = places_of(np.asarray(counts, np.float64)[:, :-1], classifier.centres, deviation)
    meta = Meta(
        kind="summary", name=field, labels=tuple(labels), vocabulary=classifier.meta.vocabulary,
        words=_words(places, classifier), settings={"clusters": len(classifier.centres)},
        encoder=classifier.meta.encoder, public=classifier.public, trained_on=classifier.trained_on,
    )  # fmt: skip
    arrays: dict[str, Any] = {each: classifier.arrays[each] for each in ("idf", *SPACE)}
    return SummaryClassifier(meta, arrays | {"places": places.astype(np.float32), "shares": shares})


def places_of(counts: Float64Array, centres: Float64Array, deviation: float) -> tuple[Float64Array, Float64Array]:
    """Of each label its place, of unit length, and its share.

    A cell below two standard deviations is replaced by 0.3 of what the margins predict, at most one deviation.
    """
    table = counts.copy()
    if deviation > 0:
        margins = np.outer(np.maximum(table.sum(axis=1), 1), np.maximum(table.sum(axis=0), 0.5))
        margins *= max(table.sum(), 1) / margins.sum()
        table = np.where(table > _TOLD * deviation, table, _BELOW * np.minimum(margins, deviation))
    table = np.maximum(table, 1e-3)
    shares = table.sum(axis=1) / table.sum()
    return unit(table @ centres / table.sum(axis=1, keepdims=True)), shares


def _words(places: Float64Array, classifier: Clusters) -> tuple[tuple[str, ...], ...]:
    """Words of the clusters that are nearest to a label's place, more than to all labels' together: public ones."""
    near = places @ classifier.centres.T
    nearest = np.argsort(near.mean(axis=0) - near, axis=1, kind="stable")[:, :5].tolist()
    own = ([classifier.words(classifier.labels[cluster])[:10] for cluster in row] for row in nearest)
    return tuple(tuple(dict.fromkeys(itertools.chain(*words))) for words in own)
