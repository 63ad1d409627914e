"""A plan holds every public decision of a release and refuses what would break the promise."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, final

import numpy as np

import publius.text.tokenizer
from publius.errors import PolicyError, UsageError
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.lifted import PADDING, as_mechanism, at_length
from publius.mechanisms.mechanism import Mechanism, OrderedText
from publius.mechanisms.outside import is_outside, known_guarantee, origin
from publius.mechanisms.registry import mechanism_for
from publius.noise.randomness import RunKey
from publius.privacy.crowd import Crowd, CrowdGuarantee
from publius.privacy.guarantee import Guarantee
from publius.privacy.ledger import Charge, Ledger
from publius.privacy.promise import promise
from publius.releases.near import ANY_TWO_VALUES, emptiness, emptiness_of_bound
from publius.settings import SHORTEST, ReleaseSettings
from publius.text.bag import UNKNOWN, Encoding
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.reference import Reference

MANIFEST_VERSION = 1
BAG: Final = "bag-of-words"
ORDERED_TEXT: Final = "ordered-text"
DECLARED_VALUE: Final = "declared-value"
SHUFFLED: Final = "in a secret random order"
"""How documents without ids are numbered: neither number nor place in the file tells the place in the input."""

AS_READ: Final = "in the order of the input"
"""The same where a cluster writes parts that nobody sees whole."""

OWN_IDS: Final = "by their own ids"
"""What stands for them where documents are not numbered."""

WHOSE: Final = {
    OWN_IDS: "Whoever knows an id knows whose row it is.",
    AS_READ: "Whoever has the file that the documents were read from knows whose row each is.",
}
"""What tells whose row is whose, in a sentence; nothing does under `SHUFFLED`."""


def placed(numbers: str | None) -> str:
    """A sentence for a promise where something tells whose row is whose; ``numbers`` as in a manifest."""
    if numbers == SHUFFLED:
        return ""
    name = "number" if numbers else "id"
    return (
        f" What is said here is of what was drawn for a row, not of its {name}. {WHOSE[numbers or OWN_IDS]}"
    )


OF_ONE: Final = "of one outcome: a label that several outcomes share is printed more often"
UPPER: Final = "an upper limit"
EXACT: Final = "exact, but for rounding up"
"""What the probability with which a document's own label is printed is."""


@final
@dataclass(frozen=True, slots=True)
class Experiment:
    """Opts out of privacy: a run that may be weaker than a release. Everything made under it is marked NOT PRIVATE.

    Attributes:
        seed: makes the noise reproducible; with the seed known it can be taken away again.

    """

    seed: int | None = None

    def __post_init__(self) -> None:
        if self.seed is not None and (type(self.seed) is not int or self.seed < 0):
            raise UsageError(f"a seed must be a whole number from 0, not {self.seed!r}")


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """Every public decision of a release: what is in the manifest. A kernel is lifted to the encoding's length.

    Raises `PolicyError` where the decisions would break the promise and no experiment was asked for: a mechanism
    without a guarantee, or unknown words that pass. `UsageError` when the length N is not fixed.
    """

    mechanism: Mechanism
    encoding: Encoding
    length_from_documents: bool = False
    experiment: Experiment | None = None
    labels: tuple[str, ...] = ()
    documents_per_author: int = 1
    _stated: str | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mechanism", as_mechanism(self.mechanism, self.encoding.length))
        self.mechanism.check(self.encoding)
        if self.mechanism.field in self.labels:
            raise PolicyError(
                "the field that is released under the bound cannot be kept unchanged beside it: leave out its --keep"
            )
        if "label" in self.mechanism.fields and self.mechanism.probability_kept is None:
            raise PolicyError(
                f"the mechanism {self.mechanism.name} prints labels and does not state how probable a document's own "
                "is: define probability_kept"
            )
        if self.experiment is not None:
            return
        if self.mechanism.guarantee.evidence == "none":
            raise PolicyError(
                f"the mechanism {self.mechanism.name} has no guarantee that can be stated, so it releases nothing: "
                "choose another, or run an experiment (NOT PRIVATE)"
            )
        if self.encoding.unknown == "keep":
            raise PolicyError(
                "unknown words that pass have no guarantee at all: choose unk, drop or reject, or run an experiment "
                "(NOT PRIVATE)"
            )
        if is_outside(self.mechanism.implementation):
            object.__setattr__(self, "_stated", self._said())

    def _said(self) -> str:
        """The statement of the mechanism about itself."""
        return repr((self.mechanism.guarantee, self.mechanism.parameters))

    @classmethod
    def of(
        cls,
        settings: ReleaseSettings,
        mechanism: Kernel | Mechanism | None = None,
        *,
        labels: Sequence[str] = (),
        shortest: Callable[[Encoding, Embeddings], int] | None = None,
        public: Embeddings | Reference | None = None,
    ) -> Plan:
        """The plan that ``settings`` ask for, with a ``mechanism`` that is made already or the one they name.

        A kernel is lifted to their length. ``shortest`` finds the length of the shortest document, where that is to
        be N; ``public`` are the vectors or the reference, where they are open already.
        """
        if settings.seed is not None and not settings.experiment:
            raise PolicyError("--seed makes a run that is NOT PRIVATE: it is allowed only with --experiment")
        experiment = Experiment(settings.seed) if settings.experiment else None
        made = mechanism_for(settings, mechanism, public=public)
        from_documents = made.needs_length and settings.length == SHORTEST
        if from_documents and shortest is None:
            raise UsageError(
                "a release needs a public length N: give a number, or take the shortest document's"
            )
        kept = tuple(labels)
        plan = cls(
            made, made.encoding(settings), from_documents, experiment, kept, settings.documents_per_author
        )
        if not from_documents or shortest is None:
            return plan
        made = at_length(made, shortest(plan.encoding, made.kernel.embeddings))
        return replace(plan, mechanism=made, encoding=made.encoding(settings))

    @property
    def level(self) -> str:
        """The unit of the promise: each "word", or the "document" as a whole."""
        return self.guarantee.level

    @property
    def ordered(self) -> OrderedText | None:
        """The order of a text that is kept; None for bags."""
        return self.mechanism.ordered

    @property
    def vocabulary(self) -> Embeddings | Reference:
        """The public words that documents are read with and bags are made of."""
        return self.mechanism.vocabulary

    @property
    def size(self) -> int:
        """N, the number of words of every bag."""
        return self.mechanism.length

    @property
    def guarantee(self) -> Guarantee:
        """The mechanism's, as far as it is known: what is promised between two documents."""
        return known_guarantee(self.mechanism)

    @property
    def empty(self) -> str | None:
        """Why what is promised is empty even between near documents; None where it is not, and for an experiment."""
        if self.experiment is not None:
            return None
        guarantee = self.guarantee
        if self.kind == DECLARED_VALUE and guarantee.bound is not None:
            return emptiness_of_bound(guarantee.bound, ANY_TWO_VALUES)
        return emptiness(guarantee.between_any_delta, self.mechanism.near_exponent)

    @property
    def kind(self) -> str:
        """The kind of release: `BAG`, `ORDERED_TEXT` or `DECLARED_VALUE`."""
        if not self.mechanism.releases_bags:
            return DECLARED_VALUE
        return BAG if self.ordered is None else ORDERED_TEXT

    @property
    def warning(self) -> str | None:
        """NOT PRIVATE and why, for an experiment; None for a release."""
        if self.experiment is None:
            return None
        reasons = [
            ("REPRODUCIBLE", self.experiment.seed is not None),
            ("UNKNOWN WORDS PASS", self.encoding.unknown == "keep"),
            ("ORDER KEPT", self.ordered is not None),
            ("NO GUARANTEE", self.mechanism.guarantee.evidence == "none"),
        ]
        return "NOT PRIVATE: " + (", ".join(text for text, holds in reasons if holds) or "EXPERIMENT")

    def charges(self, ledger: Ledger, documents: Sequence[tuple[str, str | None]]) -> list[Charge]:
        """The charges for releasing ``documents``, pairs of id and subject, in ``ledger``.

        Raises `PolicyError` for an experiment: no budget covers what is not private.
        """
        if self.experiment is not None:
            raise PolicyError(
                "an experiment is NOT PRIVATE, so no budget covers it: leave out the ledger or the experiment"
            )
        price = ledger.price(self.guarantee)
        return [Charge(document, price, subject) for document, subject in documents]

    def run_key(self) -> RunKey:
        """A fresh key for a release, the seed's for a seeded experiment."""
        if self.experiment is not None and self.experiment.seed is not None:
            return RunKey.seeded(self.experiment.seed)
        return RunKey.fresh()

    @property
    def crowd_outcomes(self) -> int | None:
        """`Mechanism.crowd_outcomes`; None for a class from outside, whose law nobody here knows."""
        return None if is_outside(self.mechanism.implementation) else self.mechanism.crowd_outcomes

    def crowd(self, documents: int) -> CrowdGuarantee | None:
        """The promise of so many rows without ids, in a random order, to each author; None where nothing can be stated.

        That is so for an experiment, beside fields that are kept, and for mechanisms whose rows are no votes among a
        few outcomes (`publius.privacy.crowd`).
        """
        outcomes, bound = self.crowd_outcomes, self.guarantee.bound
        if outcomes is None or bound is None or self.labels or self.experiment is not None:
            return None
        if documents < max(2, self.documents_per_author):
            return None
        return Crowd(bound, outcomes, documents).guarantee(documents_per_author=self.documents_per_author)

    def manifest(self, documents: int, missing: int = 0, numbers: str | None = None) -> dict[str, Any]:
        """Everything revealed beside the bags themselves, and nothing else (R14, R15).

        ``missing`` documents are not among the ``documents`` released: their record could not be read, or has an
        id that was there before; ``numbers`` are as in `placed`. `PolicyError` for a mechanism from outside that has
        changed what it states.
        """
        if self._stated is not None and self._said() != self._stated:
            raise PolicyError(
                f"the mechanism {self.mechanism.name} states another guarantee or other parameters than before it saw "
                "a document: its class must state the same always. Nothing was released"
            )
        guarantee, vocabulary, empty = self.guarantee, self.vocabulary, self.empty
        said = promise(guarantee, private=self.experiment is None, labels=self.labels, empty=empty)
        return {
            "manifest_version": MANIFEST_VERSION,
            "publius_version": publius_version(),
            "private": self.experiment is None,
            **({"warning": self.warning} if self.warning else {}),
            "promise": said + (placed(numbers) if self.experiment is None else ""),
            **({"empty": empty} if empty else {}),
            "kind": self.kind,
            "documents": documents,
            "missing": missing,
            "size": self.size,
            "size_from": "the shortest of the documents" if self.length_from_documents else "given",
            "level": self.level,
            "epsilon": guarantee.epsilon,
            **self.mechanism.constants,
            **self._label_facts(),
            "delta": guarantee.delta,
            "evidence": guarantee.evidence,
            "mechanism": self.mechanism.name,
            **({"mechanism_source": source} if (source := origin(self.mechanism.implementation)) else {}),
            "mechanism_parameters": self.mechanism.parameters,
            "metric": guarantee.metric,
            **self.mechanism.public_inputs(self.encoding),
            "vocabulary_size": vocabulary.size,
            "vocabulary_sha256": vocabulary.sha256,
            "tokenizer": publius.text.tokenizer.PROFILES[self.encoding.profile].label,
            "stop_words": self.encoding.stop_words.name,
            "stop_words_sha256": self.encoding.stop_words.sha256,
            "unknown": self.encoding.unknown,
            "unknown_token": UNKNOWN,
            **({"padding": PADDING} if self.encoding.padded else {}),
            "labels": list(self.labels),
            "ordered": self.ordered is not None,
            **({"kept_between": self.ordered.keep} if self.ordered else {}),
            "randomness": self._randomness,
            "versions": {"numpy": np.__version__},
        }

    @property
    def shared_labels(self) -> dict[str, int]:
        """How many outcomes have a label, for labels of more than one."""
        return labels_shared(self.mechanism)

    def _label_facts(self) -> dict[str, Any]:
        """What stands beside the label of every row, and whether it is attained or an upper limit."""
        kept, shared = self.mechanism.probability_kept, self.shared_labels
        if kept is None:
            return {}
        is_what = OF_ONE if shared else UPPER if self.mechanism.kept_is_a_limit else EXACT
        facts = {"probability_kept": published(kept), "probability_kept_is": is_what}
        return {**facts, "outcomes_of_label": shared} if shared else facts

    @property
    def _randomness(self) -> str:
        name = self.mechanism.randomness
        return f"seeded {name}" if self.run_is_seeded else f"{name} keyed by the operating system"

    @property
    def run_is_seeded(self) -> bool:
        """Whether the noise can be made again from a seed."""
        return self.experiment is not None and self.experiment.seed is not None


def labels_shared(mechanism: Mechanism) -> dict[str, int]:
    """How many outcomes have a label, for labels of more than one."""
    counts = Counter(each.label for each in mechanism.outcomes)
    return {label: count for label, count in counts.items() if count > 1}


def published(probability: float) -> float:
    """A probability as it is printed in every row: six decimals, rounded up."""
    return min(1.0, math.ceil(probability * 1e6) / 1e6)


def publius_version() -> str:
    """Of the installed package."""
    from importlib.metadata import version

    return version("publius")
