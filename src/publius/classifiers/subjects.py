"""`Subjects`: clusters of public word vectors; a text counts in the one that stands out in it (docs/theory.md, subjects).

They need no public texts: words weigh by Zipf's law. They come of exact arithmetic, so that all machines agree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.classifiers.classifier import Classifier, checked_labels
from publius.classifiers.features import LOGS, public_input, unit
from publius.embeddings.catalogue import computed
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, UsageError
from publius.files.progress import counted, stage
from publius.noise.randomness import seeded_rng
from publius.text.known_words import count_matrix
from publius.text.tokenizer import StopWords

_NAMED_BY: Final = 3
_WORDS_EACH: Final = 50
_ROUNDS: Final = 60
_HUNDRED: Final = 100  # words of the documents in which a word's rarity is reckoned
_SPREAD: Final = 0.5  # standard deviation of a subject's share among writers, as a part of it
_SEED: Final = 2
_VERSION: Final = 3


@final
class Subjects(Classifier):
    """The subject that stands out in a text: one of ``count`` clusters of the most frequent ``words`` of public vectors.

    A text without one of these words is "other". Languages that the vectors lack are not covered: `known` tells.
    `DataError` for vectors of too few words; `MissingExtraError` without the packaged vectors (extra ``glove``).
    """

    kind = "subjects"
    vocabulary: tuple[str, ...]

    def __init__(self, embeddings: Embeddings | None = None, *, count: int = 300, words: int = 20_000) -> None:
        vectors = Embeddings.load() if embeddings is None else embeddings
        if count < 2:
            raise UsageError(f"there must be at least 2 subjects, not {count}")
        stops = StopWords.load("english")
        most = list(enumerate(vectors.vocabulary[:words]))
        kept = [place for place, word in most if word.isalpha() and len(word) > 2 and word not in stops]
        if len(kept) < 2 * count:
            raise DataError(
                f"{len(kept):,} words of {vectors.name} are too few for {count} subjects: at most half as many"
            )
        self.vocabulary = tuple(vectors.vocabulary[place] for place in kept)
        rows = unit(np.asarray(vectors.vectors[kept], np.float64))
        ranks = np.array(kept, np.float64)
        frequency = 1 / (ranks + 2) / np.log(max(words, 3))
        self._rarity = -np.log(1 - np.exp(-_HUNDRED * frequency))

        def made() -> Any:
            with stage("clustering words"):
                return clustered(rows, count).tolist()

        facts = {"subjects": _VERSION, "count": count, "words": words, "sha256": vectors.sha256}
        member = computed(
            facts, list[int], lambda kept: len(kept) == len(rows) and 0 <= min(kept) <= max(kept) < count, made
        )
        self._member: IndexArray = np.array(member, np.int64)
        share = np.bincount(self._member, weights=frequency * self._rarity, minlength=count)
        self._share: Float64Array = share / share.sum()
        self._words = self._central(rows, count)
        # No word is in two clusters, so no two names are equal.
        self.labels = checked_labels([" ".join(own[:_NAMED_BY]) for own in self._words])
        self.name = "subjects" if embeddings is None else f"subjects of {vectors.name}"
        decides = "\n".join((*self.labels, *self.vocabulary)).encode() + self._member.astype("<i8").tobytes()
        self.sha256 = hashlib.sha256(decides).hexdigest()
        self.public = (public_input(vectors.name, vectors.sha256, "vectors"),)
        self.trained_on = tuple(vectors.source.get("trained_on", ()))

    def answers(self, texts: Sequence[str]) -> IndexArray:
        """See `Classifier.answers`."""
        scores = self._excess(count_matrix(texts, self.vocabulary))
        other = len(self.labels) - 1
        return np.where(scores.max(axis=1) > 0, np.argmax(scores, axis=1), other).astype(np.int64)

    def _excess(self, counts: Any) -> Float64Array:
        """How far each subject stands out, shape (n, count): (mass - expected) / sqrt(e + 1/2 + (e / 2)^2), e expected.

        0 where a text has no word of it. The last term is for what writers have in common with no newspaper: "know",
        "think", "something".
        """
        n, size = counts.shape[0], len(self._share)
        rows = np.repeat(np.arange(n), np.diff(counts.indptr))
        weights = LOGS[np.minimum(counts.data, len(LOGS) - 1)] * self._rarity[counts.indices]
        mass = np.bincount(rows * size + self._member[counts.indices], weights=weights, minlength=n * size)
        cells = np.flatnonzero(mass)  # one in ten
        expected = np.bincount(rows, weights=weights, minlength=n)[cells // size] * self._share[cells % size]
        mass[cells] = (mass[cells] - expected) / np.sqrt(expected + 0.5 + (_SPREAD * expected) ** 2)
        return np.asarray(mass.reshape(n, size), np.float64)

    def _central(self, rows: Float64Array, count: int) -> list[tuple[str, ...]]:
        """The words of each subject: cosine to its centre, times rarity^-0.3."""
        found = []
        for subject in range(count):
            near = np.flatnonzero(self._member == subject)
            centre = unit(rows[near].mean(axis=0)[None])[0]
            central = (rows[near] * centre).sum(axis=1) * self._rarity[near] ** -0.3
            best = near[np.argsort(-central, kind="stable")[:_WORDS_EACH]]
            found.append(tuple(self.vocabulary[place] for place in best.tolist()))
        return found


def clustered(rows: Float64Array, count: int) -> IndexArray:
    """k-means of vectors of unit length (Lloyd's rounds after k-means++ from a public seed), the same on every machine.

    Vectors are rounded to 2^-12 and centres to 2^-20, so that all sums and products are exact in float64.
    """
    rows = np.round(rows * 2**12) / 2**12
    centres = rows[_beginnings(rows, count)]
    member = np.full(len(rows), -1, np.int64)
    every = np.arange(len(rows))
    for _ in counted(range(_ROUNDS), _ROUNDS):
        nearness = rows @ centres.T - (centres * centres).sum(axis=1) / 2
        nearest = np.argmax(nearness, axis=1)
        if (nearest == member).all():
            break
        member = nearest
        for empty in np.flatnonzero(np.bincount(member, minlength=count) == 0).tolist():
            worst = int(np.argmin(nearness[every, member]))  # the word that lies worst begins a new one
            member[worst] = empty
            nearness[worst, empty] = np.inf
        sizes = np.bincount(member, minlength=count)
        sums = [np.bincount(member, weights=column, minlength=count) for column in rows.T]
        centres = np.round(np.stack(sums, axis=1) / sizes[:, None] * 2**20) / 2**20
    return member


def _beginnings(rows: Float64Array, count: int) -> list[int]:
    """k-means++: each next one with a chance like its squared distance to the nearest before."""
    rng = seeded_rng(_SEED)
    squares = (rows * rows).sum(axis=1)
    found = [int(rng.integers(len(rows)))]
    far = np.full(len(rows), np.inf)
    while len(found) < count:
        last = found[-1]
        far = np.maximum(np.minimum(far, squares + squares[last] - 2 * (rows @ rows[last])), 0.0)
        sums = np.cumsum(far)
        found.append(min(int(np.searchsorted(sums, rng.random() * sums[-1], side="right")), len(rows) - 1))
    return found
