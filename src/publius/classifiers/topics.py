"""`TopicClassifier`: complement naive Bayes (Rennie et al. 2003) or a linear support vector machine (docs/theory.md, labels).

scikit-learn trains; answers need NumPy and SciPy only.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, Final, Self, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.classifiers.classifier import checked_labels
from publius.classifiers.features import (
    beside,
    checked_texts,
    inverse_frequencies,
    meaning,
    product,
    typical_words,
    weighted,
)
from publius.classifiers.store import StoredClassifier
from publius.errors import DataError, extra
from publius.files.progress import counted, stage
from publius.statistics import author_mean
from publius.text.known_words import count_matrix
from publius.text.list_rule import may_leave, uses
from publius.text.normal_form import author_key, compared
from publius.text.tokenizer import StopWords

if TYPE_CHECKING:
    from publius.classifiers.encoder import Encoder

_TEXTS_EACH: Final = 2  # public texts that must use a word before a classifier looks it up
_FOLDS: Final = 5
_TRIED: Final = 10_000  # texts of the cross-validation, at most: the first of the order by digest of their authors
_RULES: Final = ("naive-bayes", "svm", "soft-svm")


@final
class TopicClassifier(StoredClassifier):
    """The label that public texts with labels teach: a linear rule on TF-IDF of words, and an encoder's vector beside it.

    Made by `train`, or read by `publius.classifiers.load_classifier`. A text without a known word is "other".

    >>> import publius
    >>> texts = ["the bus is late", "the train is full", "taxes are high", "my taxes rose"] * 10
    >>> publius.TopicClassifier.train(texts, ["transport", "transport", "money", "money"] * 10).predict(["a late bus"])
    ['transport']
    """

    kind = "topics"

    @classmethod
    def train(
        cls, texts: Sequence[str], labels: Sequence[Any], *, authors: Sequence[Any] | None = None, name: str = "topics",
        encoder: Encoder | None = None, extra_words: Collection[str] = (), languages: Sequence[str] = ("en",),
        trained_on: Sequence[str] = (),
    ) -> Self:  # fmt: skip
        """Train on public texts; the rule is chosen, and its accuracy measured, by cross-validation on them.

        Args:
            texts: public texts.
            labels: of each; texts with an empty label are left out, and "other" is a label like any.
            authors: who wrote each: folds keep authors together. An empty one is an author of its own.
            name: what the classifier is called.
            encoder: vectors beside the words; None for words alone.
            extra_words: the curator's own list of words that may leave (`publius.text.list_rule.may_leave`).
            languages: ISO 639 codes of the packaged lists.
            trained_on: digests of the files of these texts, which are then never released with it.

        Raises:
            DataError: fewer than two labels, or no word that two texts use.
            UsageError: a label that cannot be one.

        >>> import publius
        >>> texts = ["a goal in the match"] * 5 + ["the senate and the law"] * 5
        >>> topics = publius.TopicClassifier.train(texts, ["sport"] * 5 + ["politics"] * 5)
        >>> topics.predict("the match had one goal"), topics.predict("?!")
        ('sport', 'other')
        """
        checked_texts(texts, labels, authors)
        said = [compared(label) for label in labels]
        if len(found := {*said} - {""}) < 2:
            raise DataError(f"the public texts have {len(found)} label: at least two are needed")
        texts, authors = [*compress(texts, said)], None if authors is None else [*compress(authors, said)]
        said = [*filter(None, said)]
        names = checked_labels(sorted(found))
        place = {label: number for number, label in enumerate(names)}
        numbers = np.array([place[label] for label in said], np.int64)
        with stage("reading words"):
            used, users = uses(texts, authors)
            vocabulary = tuple(sorted(word for word, count in used.items() if count >= _TEXTS_EACH))
            if not vocabulary:
                raise DataError(f"no word is in {_TEXTS_EACH} of the public texts: give more texts")
            public = may_leave(users, extra=extra_words, languages=languages) - StopWords.load("english").words
            counts = count_matrix(texts, vocabulary, stop_words="none")
        with stage("encoding"):
            vectors = meaning(texts, encoder)
        with stage("cross-validation"):
            rule, accuracy = _chosen(counts, vectors, numbers, groups_of(authors, len(texts)), names)
        with stage("training"):
            idf = inverse_frequencies(counts)
            words = weighted(counts, idf)
            weights, intercept, classes = _fitted(rule, words, vectors, numbers)
        return cls.taught(
            {"idf": idf, "weights": weights.astype(np.float32), "intercept": intercept, "classes": classes}, encoder,
            kind="topics", name=name, labels=names, vocabulary=vocabulary, accuracy=accuracy, trained_on=tuple(trained_on),
            words=typical_words(words, numbers, len(names), vocabulary, public),
            settings={"rule": rule, "texts": len(texts)},
        )  # fmt: skip

    def _prepare(self) -> None:
        self._weights = self.arrays["weights"].astype(np.float64)
        self._intercept, self._classes = self.arrays["intercept"], self.arrays["classes"]
        if not len(self._intercept) == len(self._classes) == self._weights.shape[1]:
            raise ValueError("a column for each class")

    def answers(self, texts: Sequence[str]) -> IndexArray:
        """See `Classifier.answers`."""
        words, vectors, readable = self.read(texts)
        scores = product(beside(words, vectors), self._weights) + self._intercept
        best = self._classes[np.argmax(scores, axis=1)]
        return np.where(readable, best, len(self.labels) - 1).astype(np.int64)


def _chosen(
    counts: Any, vectors: Float64Array, numbers: IndexArray, groups: IndexArray, names: Sequence[str]
) -> tuple[str, dict[str, Any]]:
    """The rule that is right most often, and how often: all of it is learned from the other folds, weights of words too."""
    folds = folds_of(groups)
    tried = np.argsort(folds, kind="stable")[:: max(1, -(-len(folds) // _TRIED))]
    rules = _RULES if not vectors.shape[1] else _RULES[1:]
    right = {rule: np.zeros(len(tried)) for rule in rules}
    for fold in counted(range(_FOLDS), _FOLDS):
        test = folds[tried] == fold
        learn, out = tried[~test], tried[test]
        if not len(out) or len(set(numbers[learn].tolist())) < 2:
            continue
        seen = counts[learn]
        idf = inverse_frequencies(seen)
        words, others = weighted(seen, idf), weighted(counts[out], idf)
        for rule in rules:
            weights, intercept, classes = _fitted(rule, words, vectors[learn], numbers[learn])
            scores = product(beside(others, vectors[out]), weights) + intercept
            right[rule][test] = classes[np.argmax(scores, axis=1)] == numbers[out]
    best = max(rules, key=lambda rule: right[rule].sum())
    return best, measured(right[best], [names[number] for number in numbers[tried].tolist()], groups[tried])


def _fitted(
    rule: str, words: Any, vectors: Float64Array, numbers: IndexArray
) -> tuple[Float64Array, Float64Array, IndexArray]:
    """Weights (V + d, classes), an intercept of each class, and the labels' numbers."""
    with extra("sklearn", "scikit-learn"):
        from sklearn.naive_bayes import ComplementNB
        from sklearn.svm import LinearSVC
    if rule == "naive-bayes":
        model = ComplementNB().fit(words, numbers)
        return model.feature_log_prob_.T, np.zeros(len(model.classes_)), model.classes_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a machine that has not converged is measured like any
        # A thousandth of this tolerance, liblinear's own for its dual problem, makes no answer better, and takes longer.
        model = LinearSVC(C=0.3 if rule == "soft-svm" else 1.0, dual=True, tol=0.1, random_state=0)
        model.fit(beside(words, vectors), numbers)
    weights, intercept = model.coef_.T, model.intercept_
    if len(model.classes_) == 2:
        weights, intercept = np.hstack([-weights, weights]), np.concatenate([-intercept, intercept])
    return weights, intercept, model.classes_


def groups_of(authors: Sequence[Any] | None, size: int) -> IndexArray:
    """The number of each text's author, shape (n,); a text without one has an author of its own."""
    keys = map(author_key, authors if authors is not None else [None] * size)
    places: dict[Any, int] = {}
    found = [places.setdefault(row if key is None else key, len(places)) for row, key in enumerate(keys)]
    return np.array(found, np.int64)


def folds_of(groups: IndexArray) -> IndexArray:
    """A fold of each text from 0, authors kept together: in an order that looks at their numbers alone."""
    order = sorted({*groups.tolist()}, key=lambda group: hashlib.sha256(str(group).encode()).digest())
    fold = {group: place % _FOLDS for place, group in enumerate(order)}
    return np.array([fold[group] for group in groups.tolist()], np.int64)


def measured(right: Float64Array, labels: Sequence[str], groups: IndexArray) -> dict[str, Any]:
    """The share of right answers with its interval, and of each label; ``right`` is 0 or 1 for each text.

    Authors are what is sampled (`publius.statistics.author_mean`): texts of one are no independent trials.
    """
    found, names = author_mean(right, groups.tolist()), np.asarray(labels)
    by_label = {str(label): float(right[names == label].mean()) for label in sorted(set(labels))}
    return {"share": found.value, "low": found.low, "high": found.high, "texts": len(right), "by_label": by_label}
