"""Public releases, and private tallies for the curator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, final

from publius.arrays import LazySequence
from publius.mechanisms.mechanism import Outcomes
from publius.privacy.guarantee import Guarantee
from publius.text.bag import Bag


@final
@dataclass(frozen=True, slots=True)
class Release:
    """A protected bag: what may leave.

    Attributes:
        id: the id the user gave the document.
        bag: exactly N words of the public vocabulary, without order.
        guarantee: what holds for it; None for an experiment.
        labels: public labels kept with it.
        warning: NOT PRIVATE and why, for an experiment.
        words: in ordered text, the words in order, with what is kept between them.
        kept: the places (from 0) of those of ``words`` that are kept unprotected.
        prototype: the number of the public prototype that stands for the document, where the mechanism names one.
        label: what that prototype is called.

    """

    id: str
    bag: Bag
    guarantee: Guarantee | None
    labels: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    warning: str | None = None
    words: tuple[str, ...] | None = field(default=None, repr=False)
    kept: tuple[int, ...] = field(default=(), repr=False)
    prototype: int | None = None
    label: str | None = None

    def _repr_html_(self) -> str:
        """For a notebook: the released words with their counts, and what holds for them."""
        from html import escape  # with its table of entities, for notebooks alone

        rows = "".join(f"<tr><td>{escape(word)}</td><td>{n}</td></tr>" for word, n in self.bag.counts.items())
        said = escape(self.warning or ("" if self.guarantee is None else str(self.guarantee)))
        return f"<table><caption>{said}</caption><tr><th>word</th><th>count</th></tr>{rows}</table>"

    def __reduce__(self) -> tuple[type[Release], tuple[Any, ...]]:
        """A worker's releases go to the parent process by pickle."""
        facts = (self.id, self.bag, self.guarantee, dict(self.labels), self.warning)
        return Release, (*facts, self.words, self.kept, self.prototype, self.label)


@final
class ReleasedTogether(LazySequence[Release]):
    """Releases of documents that were drawn together, each made when it is asked for.

    Attributes:
        ids: of the documents.
        labels: public labels kept with each.
        outcomes: what is released instead of each.
        guarantee: what holds for each; None for an experiment.
        warning: NOT PRIVATE and why, for an experiment.

    """

    __slots__ = ("guarantee", "ids", "labels", "outcomes", "warning")

    def __init__(
        self,
        ids: Sequence[str],
        labels: Sequence[Mapping[str, Any]],
        outcomes: Outcomes,
        guarantee: Guarantee | None,
        warning: str | None,
    ) -> None:
        self.ids, self.labels, self.outcomes = ids, labels, outcomes
        self.guarantee, self.warning = guarantee, warning

    def __len__(self) -> int:
        return len(self.ids)

    def _item(self, place: int) -> Release:
        prototype, label, bag, *_ = self.outcomes[place]
        facts = (self.ids[place], bag, self.guarantee, self.labels[place], self.warning)
        return Release(*facts, prototype=prototype, label=label)

    def __reduce__(self) -> tuple[type[list[Release]], tuple[list[Release]]]:
        """A worker's releases go to the parent process one by one: what they were drawn from stays."""
        return list, (list(self),)


@final
@dataclass(frozen=True, slots=True)
class Tally:
    """Counts for the curator's summary; they describe the documents and are never written to a release."""

    documents: int = 0
    words: int = 0
    seen: int = 0
    unknown: int = 0
    padding: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.documents + other.documents,
            self.words + other.words,
            self.seen + other.seen,
            self.unknown + other.unknown,
            self.padding + other.padding,
        )

    @property
    def unknown_share(self) -> float:
        """Share of the words looked up that were outside the vocabulary."""
        return self.unknown / self.seen if self.seen else 0.0
