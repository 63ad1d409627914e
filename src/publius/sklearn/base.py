"""Base of both privatizers: a plan made in fitting, and texts through the release path into counts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from publius.documents.corpus import BadDocument, Document
from publius.errors import UnknownWordError, extra
from publius.privacy.promise import promise
from publius.releases.plan import Plan
from publius.releases.protect import protect
from publius.settings import ReleaseSettings
from publius.sklearn.inputs import texts_or_counts
from publius.text.bag import Bag
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.reference import Reference

with extra("sklearn", "scikit-learn"):
    from scipy.sparse import csr_matrix
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted


class Privatizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Documents become protected bags: the release path as a transformer, whatever the mechanism.

    Attributes:
        plan_: after fitting, every public decision; ``plan_.manifest(documents)`` states them.
        guarantee_: after fitting, the guarantee of one call of ``transform``.
        promise_: the same in words.

    """

    @abstractmethod
    def _settings(self) -> ReleaseSettings:
        """The settings of a release that the parameters ask for."""

    @abstractmethod
    def _public(self) -> Embeddings | Reference:
        """The public input that documents are read with."""

    @abstractmethod
    def _columns_of(self, counts: Any) -> None:
        """Note what the columns of a matrix of counts are, None for texts; `DataError` where they have no use."""

    @abstractmethod
    def _of_counts(self, counts: Any) -> Any:
        """The releases for the rows of a matrix of counts."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and note what the columns are; nothing is learned from the documents.

        Raises `UsageError` for parameters or names that do not fit, `PolicyError` where the promise would break.
        """
        self.plan_ = Plan.of(self._settings(), public=self._public())
        self.guarantee_ = self.plan_.guarantee
        self.promise_ = promise(self.guarantee_, private=True)
        self._columns_of(texts_or_counts(self, X, reset=True)[1])
        return self

    def transform(self, X: Any) -> Any:
        """Protect ``X`` with fresh noise: CSR of shape (documents, V). Each call is a release and costs anew.

        Raises `DataError` for what is neither text nor counts, `UnknownWordError` under "reject".
        """
        check_is_fitted(self)
        texts, counts = texts_or_counts(self, X, reset=False)
        return self._of_texts(texts or ()) if counts is None else self._of_counts(counts)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The words of the output's columns: the vocabulary's."""
        check_is_fitted(self)
        return np.asarray(self.plan_.vocabulary.vocabulary, dtype=object)

    def _of_texts(self, texts: Sequence[str]) -> Any:
        key, step = self.plan_.run_key(), self.plan_.mechanism.batch_size()
        bags: list[Bag] = []
        for start in range(0, len(texts), step):
            part = enumerate(texts[start : start + step], start + 1)
            documents = [Document(str(position), text, {}, position) for position, text in part]
            for result in protect(documents, self.plan_, key)[0]:
                if isinstance(result, BadDocument):
                    raise UnknownWordError(f"document {result.position}: {result.reason}")
                bags.append(result.bag)
        index = self.plan_.vocabulary.index
        columns = np.array([index(word) for bag in bags for word in bag.counts], np.int64)
        data = np.array([count for bag in bags for count in bag.counts.values()], np.int64)
        starts = np.cumsum([0, *(len(bag.counts) for bag in bags)])
        found = csr_matrix((data, columns, starts), shape=(len(bags), self.plan_.vocabulary.size))
        found.sort_indices()
        return found

    def __sklearn_tags__(self) -> Any:
        """Text in; the output is random by design."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.non_deterministic = True
        tags.transformer_tags.preserves_dtype = []
        return tags
