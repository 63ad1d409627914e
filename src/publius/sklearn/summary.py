"""`SummaryClassifier`: the classifier that a summary leaves, as one of scikit-learn's."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np

from publius.classifiers import summary
from publius.errors import AnyPath, extra
from publius.sklearn.inputs import only_texts

with extra("sklearn", "scikit-learn"):
    from scipy.special import softmax
    from sklearn.base import BaseEstimator, ClassifierMixin


@final
class SummaryClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Labels of texts from what a summary released; it is fitted by its folder alone.

    Attributes:
        folder: of a summary, or ``SUMMARY/classifier/FIELD``.
    """

    def __init__(self, folder: AnyPath) -> None:
        self.folder = folder

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Read the folder; nothing is learned from ``X`` and ``y``."""
        self.classifier_ = summary.SummaryClassifier.open(self.folder)
        return self

    @property
    def classes_(self) -> Any:
        """The labels, "other" the last."""
        return np.asarray(self._found().labels, dtype=object)

    def predict(self, X: Any) -> Any:
        """The label of each text, shape (documents,)."""
        return self.classes_[self._found().answers(only_texts(X))]

    def predict_proba(self, X: Any) -> Any:
        """How probable each label is by the summary's score, shape (documents, labels); rows add up to 1."""
        return softmax(self._found().scores(only_texts(X)), axis=1)

    def _found(self) -> summary.SummaryClassifier:
        return self.classifier_ if hasattr(self, "classifier_") else self.fit().classifier_

    def __sklearn_is_fitted__(self) -> bool:
        """Its folder is all it needs."""
        return True

    def __sklearn_tags__(self) -> Any:
        """Text in; nothing to fit."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = tags.requires_fit = False
        return tags
