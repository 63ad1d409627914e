"""The release path for whole documents as a transformer: texts become bags that keep their topic or meaning."""

from __future__ import annotations

from typing import Any, final

from publius.errors import DataError, UsageError
from publius.settings import Preserve, ReleaseSettings
from publius.sklearn.base import Privatizer
from publius.vectors.learning.reference import Reference


@final
class DocumentPrivatizer(Privatizer):
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

    def _settings(self) -> ReleaseSettings:
        return ReleaseSettings(
            preserve=self.preserve,
            bound=self.bound,
            epsilon=self.epsilon,
            length=self.length,
            mechanism=self.mechanism,
            parameters=self.parameters or {},
        )

    def _public(self) -> Reference:
        if self.reference is None:
            raise UsageError(
                "a public reference is needed: give one, or the name of a stored one, or 'themes'"
            )
        return self.reference if isinstance(self.reference, Reference) else Reference.load(self.reference)

    def _columns_of(self, counts: Any) -> None:
        if counts is not None:
            raise DataError("a matrix of counts was given where texts are expected: give a list of texts")

    def _of_counts(self, counts: Any) -> Any:
        self._columns_of(counts)

    def __sklearn_tags__(self) -> Any:
        """Text in."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.requires_fit = False, True
        return tags
