"""`Clusters`: learned from public texts without labels; named by typical words.

Singular directions of TF-IDF, half whitened, with an encoder's vector beside them where there is one; k-means on those
(docs/theory.md, encoder). Its vocabulary follows the list rule, since all of it leaves with a summary.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final, Self, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.classifiers.features import Features, inverse_frequencies, product, typical_words, unit, uses, weighted
from publius.classifiers.store import Arrays, Meta, StoredClassifier, checked_texts, taught
from publius.classifiers.topics import TYPICAL
from publius.classifiers.values import checked_labels
from publius.errors import DataError, UsageError, extra
from publius.files.progress import stage
from publius.text.list_rule import may_leave
from publius.text.tokenizer import StopWords

if TYPE_CHECKING:
    from publius.classifiers.encoder import Encoder

CLUSTERS: Final = 100
DIRECTIONS: Final = 100
_COMMON: Final = 0.3
"""A word that more of the public texts use tells no cluster."""
_NAMED_BY: Final = 3
SPACE: Final = ("components", "whiten", "centre", "mean")
"""The arrays of a `Space`."""


@final
class Space:
    """Where a text lies among public texts: its words' singular directions, half whitened, and its meaning; unit length.

    Attributes:
        features: words and encoder.
        components: shape (V, r), directions of TF-IDF.
        whiten: shape (r, r).
        centre: mean of the directions of public texts, shape (r,).
        mean: mean of all features of public texts, shape (d + r,).
    """

    def __init__(self, features: Features, arrays: Arrays) -> None:
        self.features = features
        self.components, self.whiten, self.centre, self.mean = (arrays[name].astype(np.float64) for name in SPACE)
        width = self.whiten.shape[1] + (features.encoder.dimension if features.encoder else 0)
        if self.components.shape != (len(features.vocabulary), len(self.centre)) or self.mean.shape != (width,):
            raise ValueError("directions of these words")

    def rows(self, words: Any, meaning: Float64Array) -> Float64Array:
        """The features of texts before the mean is taken off, shape (n, d + r), of unit length."""
        latent = unit(product(words, self.components))
        latent = unit(product(latent - self.centre, self.whiten))
        return unit(np.hstack([meaning, latent]))

    def at(self, texts: Sequence[str]) -> tuple[Float64Array, np.ndarray[Any, np.dtype[np.bool_]]]:
        """Where each text lies, shape (n, d + r), of unit length, and whether it can be read."""
        words = self.features.words(texts)
        placed = unit(self.rows(words, self.features.meaning(texts)) - self.mean)
        return placed, self.features.readable(texts, words)


@final
class Clusters(StoredClassifier):
    """The cluster of public texts whose centre is nearest. A text without a known word is "other".

    Made by `train`, or read by `publius.classifiers.load_classifier`.
    """

    kind = "clusters"

    @classmethod
    def train(
        cls,
        texts: Sequence[str],
        *,
        authors: Sequence[Any] | None = None,
        name: str = "clusters",
        encoder: Encoder | None = None,
        clusters: int = CLUSTERS,
        extra_words: Collection[str] = (),
        languages: Sequence[str] = ("en",),
        trained_on: Sequence[str] = (),
    ) -> Self:
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
            vocabulary = _vocabulary(texts, authors, extra_words, languages)
            counts = Features(vocabulary, np.ones(len(vocabulary))).counts(texts)
        idf = inverse_frequencies(counts)
        features = Features(vocabulary, idf, encoder)
        words = weighted(counts, idf)
        with stage("encoding"):
            meaning = features.meaning(texts)
        with stage("clustering"):
            arrays, labels = _clustered(features, words, meaning, clusters)
        public = typical_words(words, labels, clusters, vocabulary, {*vocabulary}, TYPICAL)
        meta = Meta(
            kind="clusters", labels=checked_labels(_names(public)), vocabulary=vocabulary, words=public,
            settings={"texts": len(texts)}, **taught(name, encoder, trained_on),
        )  # fmt: skip
        return cls(meta, {"idf": idf, **arrays})

    def _prepare(self) -> None:
        self.space = Space(self.features, self.arrays)
        self.centres = self.arrays["centres"].astype(np.float64)
        if self.centres.shape != (len(self.labels) - 1, len(self.space.mean)):
            raise ValueError("a centre for each label")

    def answers(self, texts: Sequence[str]) -> IndexArray:
        """See `Classifier.answers`."""
        rows, readable = self.space.at(texts)
        best = np.argmax(product(rows, self.centres.T), axis=1)
        return np.where(readable, best, len(self.labels) - 1).astype(np.int64)


def _vocabulary(
    texts: Sequence[str], authors: Sequence[Any] | None, extra_words: Collection[str], languages: Sequence[str]
) -> tuple[str, ...]:
    """The words that may leave, without stop words and what every third text uses."""
    words, used, users = uses(texts, authors)
    often = dict(zip(words, used.tolist(), strict=True))
    stops = StopWords.load("english")
    kept = may_leave(dict(zip(words, users.tolist(), strict=True)), extra=extra_words, languages=languages)
    found = tuple(sorted(w for w in kept if w not in stops and often[w] <= max(2, _COMMON * len(texts))))
    if len(found) < 2:
        raise DataError(
            f"{len(found)} words of the public texts may leave: give more texts, of more authors, or a list of words of "
            "your own (--words FILE)"
        )
    return found


def _clustered(
    features: Features, words: Any, meaning: Float64Array, clusters: int
) -> tuple[dict[str, Any], IndexArray]:
    """The arrays of `Space`, the centres, and the cluster of each text."""
    with extra("sklearn", "scikit-learn"):
        from sklearn.cluster import KMeans
        from sklearn.decomposition import TruncatedSVD
    rank = max(1, min(DIRECTIONS, words.shape[0] - 1, words.shape[1] - 1))
    components = TruncatedSVD(rank, random_state=0).fit(words).components_.T.astype(np.float32)
    latent = unit(product(words, components))
    centre = latent.mean(axis=0)
    values, axes = np.linalg.eigh(np.atleast_2d(np.cov(latent.T)))
    whiten = axes * np.maximum(values, values.max() * 1e-6) ** -0.25
    arrays = {
        "components": components, "whiten": whiten.astype(np.float32), "centre": centre.astype(np.float32),
        "mean": np.zeros(meaning.shape[1] + rank, np.float32),
    }  # fmt: skip
    rows = Space(features, arrays).rows(words, meaning)
    arrays["mean"] = rows.mean(axis=0).astype(np.float32)
    rows = unit(rows - arrays["mean"])
    model = KMeans(clusters, n_init=2, random_state=0).fit(rows)
    centres = unit(model.cluster_centers_)
    arrays["centres"] = centres.astype(np.float32)
    return arrays, np.argmax(rows @ centres.T, axis=1)


def _names(words: Sequence[Sequence[str]]) -> list[str]:
    """A name for each cluster: its most typical words, more of them where two would be called the same."""
    found: list[str] = []
    for number, own in enumerate(words, start=1):
        names = [" ".join(own[:size]) for size in range(min(_NAMED_BY, len(own)), len(own) + 1) if size]
        free = [name for name in names if name not in found]
        found.append(free[0][:200] if free else f"cluster {number}")
    return found
