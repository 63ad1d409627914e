"""The release path for whole documents as a transformer: texts become bags that keep their topic or meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self, final

import numpy as np

from publius.documents.corpus import BadDocument, Document
from publius.errors import DataError, UsageError, extra
from publius.mechanisms.registry import document_mechanism_of
from publius.privacy.promise import promise
from publius.releases.plan import Plan
from publius.releases.protect import protect
from publius.settings import Preserve, ReleaseSettings
from publius.vectors.learning.reference import Reference

with extra("sklearn", "scikit-learn"):
    from scipy.sparse import csr_matrix
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted

from publius.sklearn.inputs import texts_or_counts


@final
class DocumentPrivatizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Texts become protected bags that keep their topic or meaning, with a bound between any two of them.

    Input is an iterable of texts of any lengths. Output is a CSR matrix of counts, one column for each word of the
    reference; its rows add up to ``length``. There is no ``random_state``; fitting learns nothing from the texts.

    Attributes:
        reference: a `Reference`, or what `Reference.load` takes, such as "themes".
        bound: nats between any two documents whatever.
        preserve: "topic" or "meaning".
        length: the public number of words of every bag; None for the usual one.
        epsilon: nats per unit of the Earth Mover's distance; None where the bound says all.
        mechanism: name of the document mechanism; None for the usual one.
        parameters: further parameters of the mechanism, such as ``{"gamma": 0.0}``.
        plan_: after fitting, every public decision; ``plan_.manifest(documents)`` states them.
        guarantee_: after fitting, the guarantee of one call of ``transform``.
        promise_: the same in words.

    """

    def __init__(
        self,
        reference: Reference | str | None = None,
        bound: float | None = None,
        preserve: Preserve = "topic",
        *,
        length: int | None = None,
        epsilon: float | None = None,
        mechanism: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        self.reference, self.bound, self.preserve, self.length = reference, bound, preserve, length
        self.epsilon, self.mechanism, self.parameters = epsilon, mechanism, parameters

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; nothing is learned from the texts.

        Raises `UsageError` for parameters that do not fit or exist.
        """
        if self.reference is None:
            raise UsageError(
                "a public reference is needed: give one, or the name of a stored one, or 'themes'"
            )
        given = self.reference
        reference = given if isinstance(given, Reference) else Reference.load(given)
        settings = ReleaseSettings(
            preserve=self.preserve,
            bound=self.bound,
            epsilon=self.epsilon,
            length=self.length,
            mechanism=self.mechanism,
            parameters=self.parameters or {},
        )
        self.plan_ = Plan.of(settings, document_mechanism_of(settings, reference))
        self.guarantee_ = self.plan_.guarantee
        self.promise_ = promise(self.guarantee_, private=True)
        self._texts(X, reset=True)
        return self

    def transform(self, X: Any) -> Any:
        """Protect texts with fresh noise: CSR of shape (documents, V). Each call is a release and costs anew.

        Raises `DataError` for what is no text.
        """
        check_is_fitted(self)
        texts, index = self._texts(X, reset=False), self.plan_.vocabulary.index
        counts = [each.bag.counts for each in self._released(texts)]
        columns = np.array([index(word) for bag in counts for word in bag], np.int64)
        data = np.array([count for bag in counts for count in bag.values()], np.int64)
        starts = np.cumsum([0, *map(len, counts)])
        found = csr_matrix((data, columns, starts), shape=(len(counts), self.plan_.vocabulary.size))
        found.sort_indices()
        return found

    def _released(self, texts: Sequence[str]) -> Iterator[Any]:
        key, step = self.plan_.run_key(), self.plan_.mechanism.batch_size()
        for start in range(0, len(texts), step):
            part = enumerate(texts[start : start + step], start + 1)
            documents = [Document(str(position), text, {}, position) for position, text in part]
            for result in protect(documents, self.plan_, key)[0]:
                if isinstance(result, BadDocument):
                    raise DataError(result.reason)
                yield result

    def _texts(self, X: Any, *, reset: bool) -> Sequence[str]:
        texts, _ = texts_or_counts(self, X, reset=reset)
        if texts is None:
            raise DataError("a matrix of counts was given where texts are expected: give a list of texts")
        return texts

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The words of the output's columns: the reference's."""
        check_is_fitted(self)
        return np.asarray(self.plan_.vocabulary.vocabulary, dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Text in; the output is random by design."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array, tags.non_deterministic = True, False, True
        tags.requires_fit, tags.transformer_tags.preserves_dtype = True, []
        return tags
