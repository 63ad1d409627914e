"""`Mechanism`, the base of mechanisms on documents: it reads a text, draws, and gives a bag of public words.

A kernel protects a word (`publius.mechanisms.kernel`). A mechanism protects a document, whichever way: `Lifted` by a
kernel on each of its words, `Prototype` and `Position` by noise on a property of the whole. Everything above this room
holds a mechanism and never asks of which kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, final

import numpy as np

from publius.arrays import Float64Array, IndexArray, LazySequence
from publius.errors import UnknownWordError, UsageError
from publius.noise.randomness import Generator, RunKey, system_rng
from publius.option import Settings, check
from publius.privacy.guarantee import Guarantee, strength_of
from publius.settings import Between, ReleaseSettings
from publius.text.bag import Bag, Encoded, Encoding, drawn_bag
from publius.text.drawn_bags import DrawnBags

if TYPE_CHECKING:
    from publius.mechanisms.kernel import Kernel
    from publius.embeddings.embeddings import Embeddings
    from publius.embeddings.learning.prototypes import Prototypes
    from publius.embeddings.learning.reference import Reference


WORDS: Final = ("nurse", "red", "monday", "paris", "doctor", "river", "money", "angry")
"""Ordinary words of which examples are made where a vocabulary has them and no texts are given."""

EXAMPLES: Final = 3

TOTAL: Final = 2**62
"""The sum of the whole numbers in which a finite law is written down, and drawn exactly."""


class Outcome(NamedTuple):
    """The release of one document: a bag, with its prototype or its order where it has one.

    Attributes:
        prototype: the public prototype that was drawn; None where the mechanism names none.
        label: what that is called; None likewise.
        bag: as many words as the mechanism's length, public ones but in an experiment in which unknown words pass.
        words: of ordered text, the words in order with what is kept between them; None otherwise.
        kept: the places (from 0) of those of ``words`` that are kept unprotected.
    """

    prototype: int | None
    label: str | None
    bag: Bag
    words: tuple[str, ...] | None = None
    kept: tuple[int, ...] = ()


@final
class Outcomes(LazySequence[Outcome]):
    """The releases of many documents, each made when it is asked for.

    Attributes:
        bags: the bag of each.
        named: the public prototype of each and what that is called; None twice where the mechanism names none.
    """

    __slots__ = ("bags", "named")

    def __init__(self, bags: DrawnBags, named: Sequence[tuple[int | None, str | None]]) -> None:
        self.bags, self.named = bags, named

    def __len__(self) -> int:
        return len(self.bags)

    def _item(self, place: int) -> Outcome:
        return Outcome(*self.named[place], drawn_bag(self.bags, place))


class Votes(NamedTuple):
    """Rows that are votes by randomized response at the bound: what the constants of a manifest say of their labels.

    Attributes:
        outcomes: M, every outcome that a row may have.
        soft: whether the choice between near labels is soft, so that a document's own is printed less often.
    """

    outcomes: int
    soft: bool = False


@final
@dataclass(frozen=True)
class PublicOutcome:
    """One of the things that a document may become: public, the same for all documents.

    Attributes:
        prototype: its number.
        label: what it is called.
        words: its most typical words, the likeliest first.
    """

    prototype: int
    label: str
    words: tuple[str, ...]


@final
@dataclass(frozen=True)
class Comparison:
    """How far two documents can be told apart.

    Attributes:
        distance: the Earth Mover's distance that the guarantee is stated in, rounded up; None where it is not
            computed.
        exponent: what the guarantee states: `Guarantee.map` of the distance, in nats.
        delta: probability by which that can be exceeded.
        exact: the largest ln of a ratio of probabilities over all outcomes, in nats, where the law is a finite one.
        feature_distance: how far apart the two lie on a reference's features, at most the distance; None elsewhere.
    """

    distance: float | None
    exponent: float
    delta: float
    exact: float | None = None
    feature_distance: float | None = None


@final
@dataclass(frozen=True, slots=True)
class Pair:
    """Two documents or words, how far they are apart, and the exponent between them in nats.

    ``distance`` is None where only the exponent is known.
    """

    name: str
    distance: float | None
    exponent: float

    @property
    def strength(self) -> str:
        """The word for the exponent on the scale of words: strong, moderate, weak or empty."""
        return strength_of(self.exponent)


@final
@dataclass(frozen=True)
class Drawn:
    """The releases of a batch of documents, and the words that were met on the way (for the curator's eyes).

    Attributes:
        outcomes: of each document, in order; an error in place of one that must not be released.
        seen: words that were looked up.
        unknown: those of them that the vocabulary lacks.
        padding: public words that short documents were filled up with.
    """

    outcomes: Sequence[Outcome | UnknownWordError]
    seen: int
    unknown: int
    padding: int = 0


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


class Mechanism(ABC):
    """A randomized map from documents to bags of public words: `Lifted`, `Prototype`, `Position`.

    >>> import publius
    >>> toy = publius.Embeddings.from_arrays(["north", "south"], [[0.0], [1.0]], name="toy")
    >>> mechanism = publius.Lifted(publius.Laplace(toy, epsilon=2.0), length=3)
    >>> isinstance(mechanism, publius.Mechanism), mechanism.guarantee.map(0.5)
    (True, 3.0)
    >>> publius.release("north, north", mechanism).bag.size
    3

    Attributes:
        name: as given on the command line and written in the manifest.
        Parameters: what it takes beyond epsilon, bound and length, declared with `publius.option.option`.
        fields: the attributes of an `Outcome` that leave beside its bag, as files name them; a "label" never without
            `probability_kept`.
        field: the column of declared values that is released itself; None where texts are read.
        length: N, the public number of words of a released bag.
        preserve: what a release keeps: "words", "topic" or "meaning".
        ordered: what is kept of the order of a text; None for bags.
        reads_texts: whether documents are texts, whose words are looked up in the vocabulary.
        releases_bags: whether a bag of words leaves beside the label.
        tells_preserved: whether labels tell what ``preserve`` names, and words are drawn from those typical of it.
            READ-ME and pages say so; of others, that the mechanism put the words there.
        replaces: the kernel on each word; None where words are not replaced one by one.
    """

    name: str
    Parameters: ClassVar[type[Settings]] = Settings
    reads_texts: ClassVar[bool] = True
    fields: ClassVar[tuple[str, ...]] = ()
    releases_bags: ClassVar[bool] = True
    tells_preserved: ClassVar[bool] = False
    length: int
    preserve: str
    ordered: OrderedText | None = None
    replaces: Kernel | None = None
    field: str | None = None

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The promise between two documents."""

    @property
    @abstractmethod
    def vocabulary(self) -> Embeddings | Reference:
        """The public words that documents are read with and bags are made of."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Public parameters beyond those of the guarantee, for the manifest."""

    @abstractmethod
    def encoding(self, settings: ReleaseSettings) -> Encoding:
        """How a document is read under ``settings``: which words count, what unknown ones and short texts become.

        Raises `UsageError` for settings that belong to mechanisms of another kind.
        """

    @abstractmethod
    def check(self, encoding: Encoding) -> None:
        """Refuse an encoding that the guarantee does not cover: `UsageError`."""

    @abstractmethod
    def public_inputs(self, encoding: Encoding) -> dict[str, Any]:
        """The public texts or vectors behind it, and how much of a document counts: for the manifest."""

    @abstractmethod
    def batch_size(self) -> int:
        """Documents that are best drawn together; it never changes a result."""

    @abstractmethod
    def draw(
        self, documents: Sequence[IndexArray], generators: Iterable[Generator], *, threads: int | None = None
    ) -> Sequence[Outcome]:
        """Draw a release for each document, with a generator of its own; the one way to noise.

        A document is an array of places in the vocabulary, its ``unknown_index`` for an unknown word that counts.
        The result of one depends neither on the others nor on ``threads`` (default: the processors there are).
        """

    @abstractmethod
    def protect(
        self,
        texts: Sequence[str],
        ids: Sequence[str],
        encoding: Encoding,
        key: RunKey,
        *,
        threads: int | None = None,
    ) -> Drawn:
        """Texts through the mechanism: read, drawn with randomness that belongs to ``key`` and each id, made public.

        A document without any word is released as N public words, for no private word decides whether an id appears
        (R27).
        """

    @abstractmethod
    def compare(self, a: Encoded, b: Encoded, encoding: Encoding) -> Comparison:
        """How far two documents can be told apart, filled up as ``encoding`` says."""

    @abstractmethod
    def at_distance(self, distance: float) -> Comparison:
        """The exponent of two documents at ``distance``; `UsageError` where a distance alone says nothing."""

    @property
    def near_exponent(self) -> float | None:
        """Nats between two documents that differ in one word and are near; None where that is not computed."""
        return None

    def word_pairs(self, words: Sequence[str] = WORDS) -> list[Pair]:
        """For each of the first ``words`` that the vocabulary has, its nearest neighbor, and what replacing it costs.

        Empty where words are not replaced one by one.
        """
        return []

    def check_learned_elsewhere(self, corpus_sha256: Callable[[], str]) -> None:  # noqa: B027
        """Refuse a corpus that the public inputs were learned from: `PolicyError`.

        ``corpus_sha256`` reads the corpus: it is called only where something was learned.
        """

    @abstractmethod
    def indices(self, words: Sequence[str]) -> IndexArray:
        """Places in the vocabulary; the unknown token has its ``unknown_index``. `DataError` for other words."""

    @final
    @property
    def kernel(self) -> Kernel:
        """The word mechanism that is lifted; `UsageError` where the whole document is protected at once."""
        if self.replaces is None:
            raise UsageError(f"this works on words: it has no use for a plan that keeps the {self.preserve}")
        return self.replaces

    @property
    def between_any(self) -> float:
        """Nats between any two documents whatever: the bound, or what is stated at the largest distance there is."""
        return self.guarantee.map()

    @property
    def reference(self) -> Reference:
        """The public reference; `UsageError` where words are protected one by one."""
        raise UsageError("this is about whole documents: name a reference and what to keep of it")

    @property
    def implementation(self) -> type:
        """The class that draws, for the manifest's word on where it comes from."""
        return type(self)

    @property
    def constants(self) -> dict[str, Any]:
        """Constants of the manifest beside epsilon: per bag of words, and between any two documents."""
        stated = self.guarantee
        if stated.bound is None:
            return {"epsilon_total": stated.epsilon_total, "bound": None}
        facts = {"bound": stated.bound, "bound_delta": stated.bound_delta}
        return {"epsilon_total": stated.epsilon, **facts, "strength": stated.strength}

    @property
    def needs_length(self) -> bool:
        """Whether N decides how much of a document counts, so that a caller has to choose it."""
        return False

    @property
    def outcomes(self) -> list[PublicOutcome]:
        """The public outcomes that a document may have, where the mechanism names them."""
        return []

    def weights(self, documents: Sequence[IndexArray]) -> IndexArray | None:
        """The law of each document over `outcomes` as whole numbers, shape (n, M); None where it is not a finite law.

        Every row sums to 2^62 exactly. Private: never to be released.
        """
        return None

    @final
    def law(self, documents: Sequence[IndexArray]) -> Float64Array | None:
        """The same as probabilities."""
        weights = self.weights(documents)
        return None if weights is None else np.asarray(weights / TOTAL)

    def positions(self, documents: Sequence[IndexArray]) -> Float64Array | None:
        """Where documents lie among public features, shape (n, m); None where they are not placed as a whole.

        Private: never to be released.
        """
        return None

    def centres(self, documents: Sequence[IndexArray]) -> Float64Array | None:
        """Where noise among the features is centred, shape (n, m): the `positions`, unless they are clipped first."""
        return self.positions(documents)

    @property
    def shows_topics(self) -> bool:
        """Whether the topic is what is preserved, so that a row tells it on purpose."""
        return self.preserve == "topic"

    @property
    def landmarks(self) -> Prototypes:
        """Public points among a reference's features: what a document may become, or a few for orientation."""
        return self.reference.aspect(self.preserve).sets[0]

    @property
    def probability_kept(self) -> float | None:
        """The probability with which a document's own label is printed, or its upper limit: a public constant.

        For votes it is e^B / (e^B + M - 1) at the bound B, see `votes`; another law states its own. None where a
        release has no labels.
        """
        return None

    @classmethod
    def votes(cls, parameters: Mapping[str, Any]) -> Votes | None:
        """Of a release with these ``parameters``, as its manifest states them; None where its rows are no such votes.

        READ-ME, the crowd and a sign-off without the public input rest on it. Labels of another law leave it out:
        a sign-off compares them where the public input is stored.
        """
        return None

    @property
    def crowd_outcomes(self) -> int | None:
        """M, every outcome of a row, where a crowd of rows hides each (`publius.privacy.crowd`); None elsewhere."""
        found = self.votes(self.parameters)
        return None if found is None else found.outcomes

    @property
    def farthest(self) -> float | None:
        """How far a document may be from what it can become before it fits none; None where that is not known."""
        return None

    @property
    def kept_is_a_limit(self) -> bool:
        """Whether `probability_kept` is an upper limit only, since a choice between near labels is soft."""
        found = self.votes(self.parameters)
        return found is not None and found.soft

    def fit_none(self, documents: Sequence[IndexArray]) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
        """Whether each document, as places of its words, fits nothing public; None where there is no such outcome.

        Private: never to be released.
        """
        return None

    def check_documents(self, texts: Iterable[str]) -> None:  # noqa: B027
        """Refuse documents that cannot be read, counted and never quoted, before anything is drawn: `DataError`."""

    @property
    def noise_bytes(self) -> int | None:
        """How many bits, in bytes, are all the noise of a document; None where it is more than bits."""
        return None

    @property
    def randomness(self) -> str:
        """The source that noise comes from, for the manifest."""
        return "ChaCha20" if self.noise_bytes is None else "SHAKE-256"

    def prepare(self) -> None:  # noqa: B027  # most mechanisms have nothing to prepare
        """Make what repays itself over many documents, once, where later runs and other processes find it.

        It depends on nothing private, and the results are the same without it.
        """

    @property
    def is_prepared(self) -> bool:
        """Whether there is nothing that `prepare` could make."""
        return True

    @final
    def randomize(self, bag: Bag, rng: Generator | None = None) -> Outcome:
        """Draw a release for one bag. Without ``rng``, fresh operating system randomness.

        Words outside the vocabulary are the public unknown token's (`DataError` otherwise): give the bag through
        `Bag.from_text`, which applies the unknown-word policy.
        """
        return self.draw([self.indices([*bag.words()])], [rng if rng is not None else system_rng()])[0]


def without(settings: ReleaseSettings, names: Mapping[str, str]) -> None:
    """Refuse settings that belong to another kind of release: ``names`` of options with the way out of each."""
    for name, way_out in names.items():
        if getattr(settings, name) not in (None, False, ()):
            raise UsageError(f"--{name.replace('_', '-')} {way_out}")
