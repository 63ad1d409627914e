"""`Mechanism`, the base of mechanisms on documents: texts in, public outcomes out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal, NamedTuple

from publius.errors import PolicyError
from publius.noise.randomness import RunKey
from publius.privacy.guarantee import Guarantee
from publius.settings import LARGEST_DELTA, LARGEST_LOCAL_EPSILON, LARGEST_WORD_EXPONENT
from publius.text.bag import Bag

TOTAL: Final = 2**62  # the sum of the whole numbers in which a finite law is written down, and drawn exactly


class Outcome(NamedTuple):
    """What is released instead of one document."""

    label: str | None
    bag: Bag | None = None
    words: tuple[str, ...] | None = None  # of ordered text, with what is kept between them


class Mechanism(ABC):
    """A randomized map from documents to public outcomes: `Lifted` or `RandomizedResponse`.

    >>> import publius
    >>> toy = publius.Embeddings.from_arrays(["north", "south"], [[0.0], [1.0]], name="toy")
    >>> mechanism = publius.Lifted(publius.Laplace(toy, epsilon=2.0), length=3)
    >>> isinstance(mechanism, publius.Mechanism), mechanism.guarantee.map(0.5)
    (True, 3.0)
    >>> publius.release("north, north", mechanism).bag.size
    3

    Attributes:
        kind: "labels" or "words".
        name: as it stands in a manifest.
    """

    kind: ClassVar[Literal["labels", "words"]]
    name: str

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The guarantee between two documents."""

    @property
    def trained_on(self) -> tuple[str, ...]:
        """Digests of the files that what it is made with was learned from; releasing one of them is refused."""
        return ()

    @property
    @abstractmethod
    def public(self) -> tuple[dict[str, Any], ...]:
        """Its public inputs, each with name, kind, sha256, licence and trained."""

    @abstractmethod
    def protect(self, texts: Sequence[str], rows: Sequence[int], key: RunKey) -> list[Outcome]:
        """Draw an outcome for each text. The noise of a text comes from ``key`` and its row's number alone."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What a manifest of its kind states of it."""

    @abstractmethod
    def charge(self, unit: Literal["epsilon", "exponent"]) -> Fraction:
        """What one document costs in a ledger of this unit; `PolicyError` where the unit does not cover it."""


def check_release(mechanism: Mechanism) -> None:
    """Refuse what only an experiment may draw, from public facts: every way to a release passes here (rule 13)."""
    facts = mechanism.facts()
    if mechanism.kind == "labels" and facts["epsilon"] > LARGEST_LOCAL_EPSILON:
        raise PolicyError(
            f"a local epsilon of {facts['epsilon']:g} hides nothing: at most {LARGEST_LOCAL_EPSILON:g} for a release, "
            "or --experiment"
        )
    if facts.get("delta", 0) > LARGEST_DELTA:
        raise PolicyError(
            f"the promise would fail with a probability of up to {facts['delta']:.2g}: at most {LARGEST_DELTA:g} for a "
            "release, so a smaller epsilon, another mechanism such as exponential, or --experiment"
        )
    if (facts.get("nearest_pair") or 0) > LARGEST_WORD_EXPONENT:
        raise PolicyError(
            f"an exponent of {facts['nearest_pair']:,.0f} between close words hides nothing: at most "
            f"{LARGEST_WORD_EXPONENT:,.0f} for a release, so a smaller epsilon, or --experiment"
        )
    if facts.get("evidence") == "none":
        raise PolicyError(
            f"nothing is proven or certified of the mechanism {facts.get('mechanism', mechanism.name)}: choose "
            "another, or --experiment"
        )
    if facts.get("unknown") == "keep":
        raise PolicyError("--unknown keep lets words of the documents leave unchanged: only with --experiment")


def release(text: str, mechanism: Mechanism, *, experiment: bool = False) -> Outcome:
    """What is released instead of one text: an `Outcome` with a label, a bag of words, or words in order.

    Every call draws anew under a fresh key: each is one more release of this text, and their epsilons add.
    `PolicyError` for what only an ``experiment`` may draw: a label above epsilon 20, words that nothing protects.

    >>> import publius
    >>> toy = publius.Embeddings.from_arrays(["north", "south"], [[0.0], [1.0]], name="toy")
    >>> publius.release("north, north", publius.Lifted(publius.Laplace(toy, epsilon=2.0), length=3)).bag.size
    3
    """
    if not experiment:
        check_release(mechanism)
    return mechanism.protect([text], [0], RunKey.fresh())[0]
