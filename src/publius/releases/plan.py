"""A plan holds every public decision of a release and refuses what would break the promise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast, final

import numpy as np

import publius.text.tokenizer
from publius.errors import PolicyError, UsageError
from publius.mechanisms.base import AbstractMechanism
from publius.mechanisms.documents.base import AbstractDocumentMechanism
from publius.mechanisms.outside import is_outside, known_guarantee, origin
from publius.mechanisms.registry import document_mechanism_of, mechanism_of
from publius.noise.randomness import RunKey
from publius.privacy.document_guarantee import DocumentGuarantee
from publius.privacy.guarantee import Guarantee
from publius.privacy.ledger import Charge, Ledger
from publius.privacy.promise import promise
from publius.settings import Between, Preserve, ReleaseSettings, TextSettings, check
from publius.text.bag import UNKNOWN, Encoding
from publius.text.pads import PADS
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.public_words import stated
from publius.vectors.learning.reference import Reference

MANIFEST_VERSION = 1
BAG: Final = "bag-of-words"
ORDERED_TEXT: Final = "ordered-text"
SHUFFLED: Final = "in a secret random order"
"""How documents without ids are numbered: neither number nor place in the file tells the place in the input."""

AS_READ: Final = "in the order of the input"
"""The same where a cluster writes parts that nobody sees whole."""

_PADDING: Final = (
    f"drawn by rank from the first {PADS:,} plain words of the vocabulary that are no stop words"
)


@final
@dataclass(frozen=True, slots=True)
class Experiment:
    """Leave to be weaker than a release. Everything made under it is marked NOT PRIVATE.

    Attributes:
        seed: makes the noise reproducible; with the seed known it can be taken away again.

    """

    seed: int | None = None

    def __post_init__(self) -> None:
        if self.seed is not None and (type(self.seed) is not int or self.seed < 0):
            raise UsageError(f"a seed must be a whole number from 0, not {self.seed!r}")


@final
@dataclass(frozen=True, slots=True)
class OrderedText:
    """A release of its own kind: the protected words in the order of the text, instead of a bag of them.

    Its guarantee is the weaker one for sequences (`Guarantee.in_order`); it is no Earth Mover's privacy.

    Attributes:
        keep: what stands unprotected between the words, for which nothing is promised: "none", "stop-words",
            "punctuation" (a few plain marks), or "all" of it.

    """

    keep: Between = "none"

    def __post_init__(self) -> None:
        check(ReleaseSettings, keep_between=self.keep)


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """Every public decision of a release: what is in the manifest.

    Raises `PolicyError` where the decisions would break the promise and no experiment was asked for: a mechanism
    without a guarantee, or unknown words that pass. `UsageError` when the length N is not fixed.
    """

    mechanism: AbstractMechanism | AbstractDocumentMechanism
    encoding: Encoding
    length_from_documents: bool = False
    experiment: Experiment | None = None
    labels: tuple[str, ...] = ()
    ordered: OrderedText | None = None
    _stated: str | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.level == "document":
            self._check_document()
        elif self.encoding.length is None:
            raise UsageError(
                "a release needs a public length N: give a number, or take the shortest document's"
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
        if is_outside(type(self.mechanism)):
            object.__setattr__(self, "_stated", self._said())

    def _said(self) -> str:
        """What the mechanism states of itself."""
        return repr((self.mechanism.guarantee, self.mechanism.parameters))

    def _check_document(self) -> None:
        if self.ordered is not None:
            raise UsageError("a document's prototype or position has no order to keep: leave out --order")
        if self.encoding.unknown not in ("drop", TextSettings.unknown):
            raise UsageError(
                f"unknown words cannot be {self.encoding.unknown!r} where whole documents are protected: choose drop, "
                "which leaves them out, or unk, which puts them at a public point"
            )
        if self.encoding.missing(0):
            raise UsageError("a whole document is never filled up: make the encoding with padded=False")

    @classmethod
    def of(
        cls,
        settings: ReleaseSettings,
        mechanism: AbstractMechanism | AbstractDocumentMechanism | None = None,
        *,
        labels: Sequence[str] = (),
        shortest: Callable[[Encoding, Embeddings], int] | None = None,
    ) -> Plan:
        """The plan that ``settings`` ask for, with a ``mechanism`` that is made already or the one they name.

        ``shortest`` finds the length of the shortest document, where that is to be N.
        """
        if settings.seed is not None and not settings.experiment:
            raise PolicyError("--seed makes a run that is NOT PRIVATE: it is allowed only with --experiment")
        if settings.keep_between is not None and not settings.order:
            raise UsageError("--keep-between says what stands between ordered words: give --order too")
        experiment = Experiment(settings.seed) if settings.experiment else None
        if isinstance(mechanism, AbstractDocumentMechanism):
            return cls._with(mechanism, settings, experiment, tuple(labels))
        settings = settings.resolved()
        if settings.level == "document":
            return cls._of_documents(settings, experiment, tuple(labels))
        if given := [name for name in ("reference", "bound", "first") if getattr(settings, name) is not None]:
            raise UsageError(
                f"--{given[0]} belongs to --preserve topic or meaning: name one, or leave out --{given[0]}"
            )
        ordered = OrderedText(settings.keep_between or "none") if settings.order else None
        made = mechanism or mechanism_of(settings)
        encoding = Encoding.of(
            made.embeddings.tokenizer,
            length=1 if shortest is not None and settings.size is None else settings.size,
            unknown=settings.unknown or TextSettings.unknown,
            stop_words=settings.stop_words,
        )
        plan = cls(made, encoding, settings.size is None, experiment, tuple(labels), ordered)
        if shortest is None or settings.size is not None:
            return plan
        return replace(plan, encoding=replace(encoding, length=shortest(encoding, made.embeddings)))

    @classmethod
    def _of_documents(
        cls, settings: ReleaseSettings, experiment: Experiment | None, labels: tuple[str, ...]
    ) -> Plan:
        """A plan whose promise is about whole documents."""
        if settings.embeddings is not None:
            raise UsageError("--embeddings belongs to --preserve words: a reference has features of its own")
        if settings.order:
            raise UsageError("--order belongs to --preserve words: a topic or meaning has no order")
        if settings.size is None:
            raise UsageError(
                "--length shortest belongs to --preserve words: give the words of a released bag"
            )
        if settings.reference is None:
            raise UsageError(
                f"--preserve {settings.preserve} needs a public reference: --reference themes is made from the "
                "packaged vectors, and 'publius reference fit' makes one of your own public texts"
            )
        mechanism = document_mechanism_of(settings, Reference.load(settings.reference))
        return cls._with(mechanism, settings, experiment, labels)

    @classmethod
    def _with(
        cls, mechanism: AbstractDocumentMechanism, settings: ReleaseSettings, experiment: Experiment | None,
        labels: tuple[str, ...],
    ) -> Plan:  # fmt: skip
        """A plan with a document mechanism that is made already, which says what is kept."""
        chosen = replace(settings, preserve=cast(Preserve, mechanism.preserve)).resolved()
        if settings.length not in (None, mechanism.length):
            raise UsageError(
                f"the mechanism makes bags of {mechanism.length} words, not {settings.length}: leave out the length"
            )
        encoding = Encoding.of(
            mechanism.reference.tokenizer,
            length=chosen.first,
            unknown=chosen.unknown or TextSettings.unknown,
            stop_words=mechanism.reference.stop_words,
            padded=False,
        )
        ordered = OrderedText(settings.keep_between or "none") if settings.order else None
        return cls(mechanism, encoding, False, experiment, labels, ordered)

    @property
    def level(self) -> str:
        """What the promise is about: each "word", or the "document" as a whole."""
        return self.mechanism.level

    @property
    def word_mechanism(self) -> AbstractMechanism:
        """The mechanism of a plan whose promise is about words; `UsageError` for a plan about whole documents."""
        if isinstance(self.mechanism, AbstractDocumentMechanism):
            raise UsageError(
                f"this works on words: it has no use for a plan that keeps the {self.mechanism.preserve}"
            )
        return self.mechanism

    @property
    def vocabulary(self) -> Embeddings | Reference:
        """The public words that documents are read with and bags are made of."""
        return self.mechanism.vocabulary

    @property
    def names_prototypes(self) -> bool:
        """Whether a release says which public prototype stands for a document."""
        return self.mechanism.names_prototypes

    @property
    def size(self) -> int:
        """N, the number of words of every bag."""
        if isinstance(self.mechanism, AbstractDocumentMechanism):
            return self.mechanism.length
        return self.encoding.length or 0

    @property
    def guarantee(self) -> Guarantee | DocumentGuarantee:
        """The mechanism's guarantee: of the whole document, or lifted to bags of N words, or for N words in order."""
        if isinstance(self.mechanism, AbstractDocumentMechanism):
            return self.mechanism.guarantee
        lifted = known_guarantee(self.word_mechanism).lifted(self.size)
        return lifted if self.ordered is None else lifted.in_order(self.ordered.keep)

    @property
    def kind(self) -> str:
        """What is released: `BAG` or `ORDERED_TEXT`."""
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
        """What releasing ``documents``, pairs of id and subject, costs in ``ledger``.

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

    def manifest(self, documents: int, missing: int = 0) -> dict[str, Any]:
        """Everything revealed beside the bags themselves, and nothing else (R14, R15).

        ``missing`` documents are not among the ``documents`` released: their record could not be read, or has an
        id that was there before. `PolicyError` for a mechanism from outside that has changed what it states.
        """
        if self._stated is not None and self._said() != self._stated:
            raise PolicyError(
                f"the mechanism {self.mechanism.name} states another guarantee or other parameters than before it saw "
                "a document: its class must state the same always. Nothing was released"
            )
        guarantee, vocabulary = self.guarantee, self.vocabulary
        return {
            "manifest_version": MANIFEST_VERSION,
            "publius_version": publius_version(),
            "private": self.experiment is None,
            **({"warning": self.warning} if self.warning else {}),
            "promise": promise(guarantee, private=self.experiment is None, labels=self.labels),
            "kind": self.kind,
            "documents": documents,
            "missing": missing,
            "size": self.size,
            "size_from": "the shortest of the documents" if self.length_from_documents else "given",
            "level": self.level,
            "epsilon": guarantee.epsilon,
            **self._constants(),
            "delta": guarantee.delta,
            "evidence": guarantee.evidence,
            "mechanism": self.mechanism.name,
            **({"mechanism_source": source} if (source := origin(type(self.mechanism))) else {}),
            "mechanism_parameters": self.mechanism.parameters,
            "metric": guarantee.metric,
            **self._public_inputs(),
            "vocabulary_size": vocabulary.size,
            "vocabulary_sha256": vocabulary.sha256,
            "tokenizer": publius.text.tokenizer.PROFILES[self.encoding.profile].label,
            "stop_words": self.encoding.stop_words.name,
            "stop_words_sha256": self.encoding.stop_words.sha256,
            "unknown": self.encoding.unknown,
            "unknown_token": UNKNOWN,
            **({"padding": _PADDING} if self.encoding.padded and self.level == "word" else {}),
            "labels": list(self.labels),
            "ordered": self.ordered is not None,
            **({"kept_between": self.ordered.keep} if self.ordered else {}),
            "randomness": self._randomness,
            "versions": {"numpy": np.__version__},
        }

    def _constants(self) -> dict[str, Any]:
        """What is promised beside epsilon: per bag of words, and between any two documents."""
        guarantee = self.guarantee
        if isinstance(guarantee, DocumentGuarantee):
            facts = {"bound": guarantee.bound, "bound_delta": guarantee.bound_delta}
            return {"epsilon_total": guarantee.epsilon, **facts, "strength": guarantee.strength}
        return {"epsilon_total": guarantee.epsilon_total, "bound": None}

    def _public_inputs(self) -> dict[str, Any]:
        """What was learned from public texts or vectors, and how much of a document counts."""
        if isinstance(self.mechanism, AbstractDocumentMechanism):
            reference, preserve = self.mechanism.reference, self.mechanism.preserve
            return {
                "preserve": preserve,
                "reference": reference.name,
                "reference_sha256": reference.sha256,
                "reference_words": stated(reference.source),
                "embeddings": None,
                "dimension": self.mechanism.aspect.dimension,
                "first": self.encoding.length,
            }
        embeddings = self.word_mechanism.embeddings
        named = {"preserve": ReleaseSettings.preserve, "reference": None, "reference_sha256": None,
                 "reference_words": None}  # fmt: skip
        return {**named, "embeddings": embeddings.name, "dimension": embeddings.dimension}

    @property
    def _randomness(self) -> str:
        mechanism = self.mechanism
        bits = isinstance(mechanism, AbstractDocumentMechanism) and mechanism.noise_bytes is not None
        name = "SHAKE-256" if bits else "ChaCha20"
        return f"seeded {name}" if self.run_is_seeded else f"{name} keyed by the operating system"

    @property
    def run_is_seeded(self) -> bool:
        """Whether the noise can be made again from a seed."""
        return self.experiment is not None and self.experiment.seed is not None


def publius_version() -> str:
    """Of the installed package."""
    from importlib.metadata import version

    return version("publius")
