"""Clusters of public texts, and the classifier that a summary's counts in them make (docs/theory.md, encoder).

The vocabulary follows the list rule, since all of it leaves with a summary.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array, IndexArray
from publius.classifiers.classifier import checked_labels
from publius.classifiers.features import (
    checked_texts,
    inverse_frequencies,
    meaning,
    product,
    typical_words,
    unit,
    weighted,
)
from publius.classifiers.store import Meta, StoredClassifier
from publius.errors import DataError, UsageError, extra
from publius.files.progress import stage
from publius.text.known_words import count_matrix
from publius.text.list_rule import may_leave, uses
from publius.text.tokenizer import StopWords

if TYPE_CHECKING:
    from publius.classifiers.encoder import Encoder

_DIRECTIONS: Final = 100
_COMMON: Final = 0.3  # a word that more of the public texts use tells no cluster
_NAMED_BY: Final = 3
_SPACE: Final = ("components", "whiten", "centre", "mean")
_NEARNESS: Final = 9.0  # weight of the cosine to a label's place beside the logarithm of its share
_TOLD: Final = 2.0  # standard deviations of the noise from which a cell is taken as it is
_BELOW: Final = 0.3  # weight of what the margins predict for any other cell, at most one deviation


class _Placed(StoredClassifier):
    """A text lies among public texts by its words, components (V, r) and whiten (r, r), and by its meaning."""

    def _prepare(self) -> None:
        self._space = [self.arrays[name].astype(np.float64) for name in _SPACE]
        components, whiten, centre, mean = self._space
        width = whiten.shape[1] + (self.encoder.dimension if self.encoder else 0)
        if components.shape != (len(self.vocabulary), len(centre)) or mean.shape != (width,):
            raise ValueError("directions of these words")

    def at(self, texts: Sequence[str]) -> tuple[Float64Array, NDArray[np.bool_]]:
        """Where each text lies, shape (n, d + r), of unit length, and whether it can be read."""
        words, vectors, readable = self.read(texts)
        *directions, mean = self._space
        return unit(_rows(words, vectors, *directions) - mean), readable


def _rows(
    words: Any, vectors: Float64Array, components: Float64Array, whiten: Float64Array, centre: Float64Array
) -> Float64Array:
    """Where texts lie before the mean is taken off, shape (n, d + r), of unit length."""
    latent = unit(product(words, components))
    return unit(np.hstack([vectors, unit(product(latent - centre, whiten))]))


@final
class Clusters(_Placed):
    """The cluster of public texts whose centre is nearest. A text without a known word is "other".

    Made by `train`, or read by `publius.classifiers.load_classifier`.
    """

    kind = "clusters"

    @classmethod
    def train(
        cls, texts: Sequence[str], *, authors: Sequence[Any] | None = None, name: str = "clusters",
        encoder: Encoder | None = None, clusters: int = 100, extra_words: Collection[str] = (),
        languages: Sequence[str] = ("en",), trained_on: Sequence[str] = (),
    ) -> Self:  # fmt: skip
        """Train on public texts; arguments as of `TopicClassifier.train`, and how many ``clusters``.

        Raises:
            DataError: too few texts or words for so many clusters.
            UsageError: fewer than two clusters.
        """
        checked_texts(texts, None, authors)
        if clusters < 2:
            raise UsageError(f"--clusters must be at least 2, not {clusters}")
        if len(texts) < 2 * clusters:
            raise DataError(f"{len(texts):,} public texts are too few for {clusters} clusters: at most half as many")
        with stage("reading words"):
            used, users = uses(texts, authors)
            kept = may_leave(users, extra=extra_words, languages=languages) - StopWords.load("english").words
            vocabulary = tuple(sorted(word for word in kept if used[word] <= max(2, _COMMON * len(texts))))
            if len(vocabulary) < 2:
                raise DataError(
                    f"{len(vocabulary)} words of the public texts may leave: give more texts, of more authors, or a list "
                    "of words of your own (--words FILE)"
                )
            counts = count_matrix(texts, vocabulary, stop_words="none")
        idf = inverse_frequencies(counts)
        words = weighted(counts, idf)
        with stage("encoding"):
            vectors = meaning(texts, encoder)
        with stage("clustering"):
            arrays, labels = _clustered(words, vectors, clusters)
        public = typical_words(words, labels, clusters, vocabulary, {*vocabulary})
        return cls.taught(
            {"idf": idf, **arrays}, encoder, kind="clusters", name=name, labels=checked_labels(_names(public)),
            vocabulary=vocabulary, words=public, settings={"texts": len(texts)}, trained_on=tuple(trained_on),
        )  # fmt: skip

    def _prepare(self) -> None:
        super()._prepare()
        self.centres = self.arrays["centres"].astype(np.float64)
        if self.centres.shape != (len(self.labels) - 1, len(self.arrays["mean"])):
            raise ValueError("a centre for each label")

    def answers(self, texts: Sequence[str]) -> IndexArray:
        """See `Classifier.answers`."""
        rows, readable = self.at(texts)
        best = np.argmax(product(rows, self.centres.T), axis=1)
        return np.where(readable, best, len(self.labels) - 1).astype(np.int64)


def _clustered(words: Any, vectors: Float64Array, clusters: int) -> tuple[dict[str, Any], IndexArray]:
    """The directions, their means and the centres, and the cluster of each text."""
    with extra("sklearn", "scikit-learn"):
        from sklearn.cluster import KMeans
        from sklearn.decomposition import TruncatedSVD
    rank = max(1, min(_DIRECTIONS, words.shape[0] - 1, words.shape[1] - 1))
    components = TruncatedSVD(rank, random_state=0).fit(words).components_.T.astype(np.float32)
    latent = unit(product(words, components))
    centre = latent.mean(axis=0)
    values, axes = np.linalg.eigh(np.atleast_2d(np.cov(latent.T)))
    whiten = axes * np.maximum(values, values.max() * 1e-6) ** -0.25
    space = components, whiten.astype(np.float32), centre.astype(np.float32)
    rows = _rows(words, vectors, *space)
    mean = rows.mean(axis=0).astype(np.float32)
    rows = unit(rows - mean)
    centres = unit(KMeans(clusters, n_init=2, random_state=0).fit(rows).cluster_centers_)
    arrays = dict(zip(_SPACE, (*space, mean), strict=True)) | {"centres": centres.astype(np.float32)}
    return arrays, np.argmax(rows @ centres.T, axis=1)


def _names(words: Sequence[Sequence[str]]) -> list[str]:
    """A name for each cluster: its most typical words, more of them where two would be called the same."""
    found: list[str] = []
    for number, own in enumerate(words, start=1):
        names = (" ".join(own[:size]) for size in range(min(_NAMED_BY, len(own)), len(own) + 1) if size)
        found.append(next((name[:200] for name in names if name not in found), f"cluster {number}"))
    return found


@final
class SummaryClassifier(_Placed):
    """The label with the largest 9 * cosine to its place + ln(its share); of authors in the summary it costs epsilon again."""

    kind = "summary"

    def _prepare(self) -> None:
        super()._prepare()
        self._places = self.arrays["places"].astype(np.float64)
        self._shares = self.arrays["shares"]
        shape = (len(self.labels), len(self.arrays["mean"]))
        if self._places.shape != shape or self._shares.shape != shape[:1]:
            raise ValueError("a place and a share for each label")

    def scores(self, texts: Sequence[str]) -> Float64Array:
        """9 * cosine + ln(share) of each label, shape (n, M); of a text without a known word "other" alone."""
        rows, readable = self.at(texts)
        scores = _NEARNESS * product(rows, self._places.T) + np.log(self._shares)
        scores[~readable] = -np.inf
        scores[~readable, -1] = 0.0
        return np.asarray(scores)

    def answers(self, texts: Sequence[str]) -> IndexArray:
        """See `Classifier.answers`."""
        return np.asarray(np.argmax(self.scores(texts), axis=1), np.int64)


def from_counts(
    classifier: Clusters, field: str, labels: Sequence[str], counts: IndexArray, deviation: float
) -> SummaryClassifier:
    """The classifier of a field that a summary's counts make, shape (len(labels), M); ``deviation`` is that of their noise."""
    places, shares = places_of(np.asarray(counts, np.float64)[:, :-1], classifier.centres, deviation)
    meta = Meta(
        kind="summary", name=field, labels=tuple(labels), vocabulary=classifier.vocabulary,
        words=_words(places, classifier), settings={"clusters": len(classifier.centres)},
        encoder=classifier.meta.encoder, public=classifier.public, trained_on=classifier.trained_on,
    )  # fmt: skip
    arrays: dict[str, Any] = {each: classifier.arrays[each] for each in ("idf", *_SPACE)}
    return SummaryClassifier(meta, arrays | {"places": places.astype(np.float32), "shares": shares})


def places_of(counts: Float64Array, centres: Float64Array, deviation: float) -> tuple[Float64Array, Float64Array]:
    """Of each label its place, of unit length, and its share; what noise may have made is less than the margins predict."""
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
