"""`BagClassifier`: adversaries and topic classifiers as scikit-learn's classifiers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self, final

import numpy as np

from publius.errors import PolicyError, UsageError, extra
from publius.evaluation.adversaries import INFORMED, KINDS
from publius.evaluation.attackers.base import AbstractAttacker
from publius.evaluation.attackers.informed import Informed
from publius.evaluation.attackers.nearest import EarthMovers
from publius.evaluation.transition import transition_of
from publius.noise.randomness import system_rng
from publius.settings import TextSettings
from publius.sklearn.inputs import column_names, texts_or_counts, vectors_of
from publius.sklearn.privatizer import BagPrivatizer
from publius.text.bag import UNKNOWN, Bag, Encoding, words_of_all
from publius.vectors.embeddings import Embeddings

with extra("sklearn", "scikit-learn"):
    from scipy.sparse import issparse
    from sklearn.base import BaseEstimator, ClassifierMixin, clone
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d


@final
class BagClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An adversary or topic classifier of `publius.evaluation`, with what scikit-learn expects of a classifier.

    Input is a sequence of `Bag`, an iterable of texts (all their words count), or a matrix of counts, such as
    `BagPrivatizer` makes. Put it behind a `BagPrivatizer` in a pipeline and it is the adaptive adversary, who learns
    from protected texts; fit it on clean texts and predict protected ones for the naive one.

    Attributes:
        kind: "likelihood", "koppel", "delta", "svm", "linear", "fasttext", "sr-nearest", or "informed".
        task: "author" or "topic": how many neighbours "sr-nearest" asks.
        embeddings: as for `BagPrivatizer`; needed by "sr-nearest", and cuts texts into words where it is given.
        privatizer: for "informed": the `BagPrivatizer` whose mechanism the adversary knows; it is fitted on clean
            documents and predicts protected ones.
        stop_words: left out of texts.
        feature_names: as for `BagPrivatizer`.
        seed: of the adversary's own draws and tie breaks.
        classes_: after fitting, the labels, sorted.

    """

    def __init__(
        self,
        kind: str = "likelihood",
        task: str = "author",
        *,
        embeddings: Embeddings | str | None = None,
        privatizer: BagPrivatizer | None = None,
        stop_words: str = TextSettings.stop_words,
        feature_names: Sequence[str] | str | None = None,
        seed: int = 0,
    ) -> None:
        self.kind, self.task, self.embeddings, self.privatizer = kind, task, embeddings, privatizer
        self.stop_words, self.feature_names, self.seed = stop_words, feature_names, seed

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the documents ``X`` with the labels ``y``; `UsageError` for a kind that does not exist."""
        known = None if self.embeddings is None and self.kind != "sr-nearest" else vectors_of(self.embeddings)
        bags = _bags(self, X, known, reset=True)
        places = self._places(y, len(bags))
        self.embeddings_ = known
        self.attacker_ = self._attacker().fit(bags, [f"{place:09d}" for place in places])
        return self

    def _places(self, y: Any, documents: int) -> list[int]:
        """The place of each label among ``classes_``, which are set."""
        if y is None:
            raise UsageError(
                "this classifier requires y to be passed, but the target y is None: give the labels"
            )
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        self.classes_, places = np.unique(labels, return_inverse=True)
        if len(places) != documents:
            raise UsageError(f"{documents} documents with {len(places)} labels: give as many of both")
        if len(self.classes_) < 2:
            raise UsageError("there is only 1 class among the labels: at least 2 classes are needed")
        return [int(place) for place in places]

    def decision_function(self, X: Any) -> Any:
        """Scores, shape (documents, classes); of two classes one score, positive for the second."""
        check_is_fitted(self)
        scores = self.attacker_.decision_function(_bags(self, X, self.embeddings_, reset=False))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> Any:
        """The label with the highest score for each document; of equals, one at random from ``seed``."""
        check_is_fitted(self)
        names = self.attacker_.predict(_bags(self, X, self.embeddings_, reset=False))
        return self.classes_[np.array([int(name) for name in names], np.int64)]

    def _attacker(self) -> AbstractAttacker:
        if self.kind == INFORMED:
            return self._informed()
        if self.kind not in KINDS:
            raise UsageError(
                f"no adversary is called {self.kind!r}: choose one of {', '.join((*KINDS, INFORMED))}"
            )
        if self.task not in ("author", "topic"):
            raise UsageError(f"the task is author or topic, not {self.task!r}")
        distances = EarthMovers(vectors_of(self.embeddings)) if self.kind == "sr-nearest" else _no_distances
        return KINDS[self.kind].make(self.task, distances, self.seed)  # type: ignore[arg-type]  # checked above

    def _informed(self) -> AbstractAttacker:
        if self.privatizer is None:
            raise UsageError("the informed adversary knows the mechanism: give privatizer=BagPrivatizer(...)")
        mechanism = clone(self.privatizer).fit(["word"]).plan_.mechanism.kernel
        return Informed(transition_of(mechanism, system_rng()), mechanism.embeddings, seed=self.seed)

    def __sklearn_tags__(self) -> Any:
        """Text, bags or counts in; like other models of word shares, no good at blobs."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        tags.input_tags.string = tags.input_tags.sparse = tags.input_tags.positive_only = True
        return tags


def _no_distances(left: Sequence[Bag], right: Sequence[Bag]) -> Any:
    raise PolicyError("only the kind sr-nearest measures distances")


@final
class _EveryWord:
    """The vocabulary of a classifier without embeddings: every word as it stands."""

    def __contains__(self, word: object) -> bool:
        return True


def _bags(estimator: BagClassifier, X: Any, embeddings: Embeddings | None, *, reset: bool) -> Sequence[Bag]:
    """``X`` as bags; a document without any word holds the unknown token once."""
    if not issparse(X) and not hasattr(X, "shape"):
        X = list(X) if isinstance(X, Iterable) else np.asarray(X)
    if len(getattr(X, "shape", (0,))) == 1 and len(X) and all(isinstance(bag, Bag) for bag in X):
        return list(X)
    texts, counts = texts_or_counts(estimator, X, reset=reset)
    if texts is not None:
        profile = "word2vec" if embeddings is None else embeddings.tokenizer
        known = _EveryWord() if embeddings is None else embeddings
        encoding = Encoding.of(profile, stop_words=estimator.stop_words)
        return [Bag(found.words or (UNKNOWN,)) for found in words_of_all(texts, known, encoding)]
    names = column_names(estimator, counts.shape[1], embeddings)
    return [_bag(counts, row, names) for row in range(counts.shape[0])]


def _bag(counts: Any, row: int, names: Sequence[str]) -> Bag:
    start, stop = counts.indptr[row], counts.indptr[row + 1]
    found = zip(counts.indices[start:stop].tolist(), counts.data[start:stop].tolist(), strict=True)
    return Bag({names[column]: int(count) for column, count in found if count} or {UNKNOWN: 1})
