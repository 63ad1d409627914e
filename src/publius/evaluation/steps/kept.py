"""What can be kept of a document, as a first release treats it: how strongly, from what, under which options.

`publius.evaluation.steps.walk.Walk` and both faces ask these; another thing to keep is another class here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, final

from publius.errors import UsageError
from publius.evaluation.steps.answers import Choices
from publius.evaluation.steps.labels import public_label_shares
from publius.evaluation.steps.questions import BOUND, EPSILON, Question
from publius.privacy.guarantee import posterior_at_most, strength_of
from publius.privacy.promise import percent, rounded_up
from publius.releases.label_shares import LabelShares
from publius.settings import PROTOTYPE, MechanismSettings, Preserve, ReleaseSettings

if TYPE_CHECKING:
    from publius.evaluation.steps.walk import Walk

UNKNOWN: Final = "drop"
"""Where words are kept, unknown ones are left out: as a token their number would tell of the language."""

_CANDIDATES: Final = 1_000
_SHOWN: Final = (1.0, 3.0, 7.0, 15.0)
"""Bounds that are explained before one is asked for."""


class Kept(ABC):
    """What is kept of a document.

    Attributes:
        name: as `--preserve` has it.
        option: what says how strongly it is protected: a bound between any two documents, or epsilon per unit of word
            distance.
        question: asks for that.
        proposed: that number, where nobody says one.
        tried: numbers that are worth a try.
        bounded: whether any two documents are bounded, which holds whatever an attack finds.
        refused: options that belong to other things to keep, with the way out.
    """

    name: ClassVar[Preserve]
    option: ClassVar[Literal["bound", "epsilon"]]
    question: ClassVar[Question]
    proposed: ClassVar[float]
    tried: ClassVar[tuple[float, ...]]
    bounded: ClassVar[bool]
    refused: ClassVar[Mapping[str, str]]

    @final
    def check(self, choices: Choices) -> None:
        """`UsageError` for an answer that belongs to something else that could be kept."""
        for name, way_out in self.refused.items():
            if getattr(choices, name) is not None:
                raise UsageError(way_out)

    @final
    def strength(self, choices: Choices) -> float:
        """The bound in nats, or epsilon: as said, or as proposed."""
        said = getattr(choices, self.option)
        return self.proposed if said is None else float(said)

    @final
    def at(self, choices: Choices, strength: float) -> Choices:
        """The answers with another strength."""
        changed: dict[str, Any] = {self.option: strength}
        return replace(choices, **changed)

    @abstractmethod
    def reference(self, walk: Walk) -> str | None:
        """The name of the public reference; None where there is none."""

    @abstractmethod
    def topics(self, walk: Walk) -> int | None:
        """How many topics a text can become; None where none is kept, or the reference knows no topics."""

    @abstractmethod
    def size(self, walk: Walk) -> int | None:
        """Words of each bag, where they depend on the texts."""

    @abstractmethod
    def settings(self, walk: Walk) -> ReleaseSettings:
        """Every public decision of the release."""

    @abstractmethod
    def options(self, walk: Walk) -> list[str]:
        """The same for the command that releases."""

    @abstractmethod
    def attacked(self, walk: Walk, strengths: Sequence[float]) -> list[str]:
        """The same for the command that attacks, at each of ``strengths``."""

    @abstractmethod
    def instead(self, walk: Walk) -> tuple[Walk, tuple[float, ...]]:
        """What is worth a try after a FAIL, at which strengths; none where nothing is."""

    @abstractmethod
    def strength_in_words(self, walk: Walk) -> str:
        """What the strength means, in a sentence."""

    @abstractmethod
    def before_asking(self, walk: Walk) -> list[str]:
        """What somebody who is to choose a strength has to know."""


@final
class WordsKept(Kept):
    """Each word is protected alone, at an epsilon per unit of word distance: the paper's mechanism."""

    name = "words"
    option = "epsilon"
    question = EPSILON
    proposed = 5.0  # the largest round one at which near documents are bounded
    tried = (1.0, 2.0, 5.0)
    bounded = False
    refused: ClassVar[Mapping[str, str]] = {
        "bound": "where words are kept nothing bounds what tells any two documents apart: give --epsilon, or keep the "
        "topic or the meaning with this --bound",
        "reference": "--reference belongs to --preserve topic or meaning: words are kept without one",
    }

    def reference(self, walk: Walk) -> None:
        """See `Kept.reference`."""

    def topics(self, walk: Walk) -> None:
        """See `Kept.topics`."""

    def size(self, walk: Walk) -> int:
        """As said, or as the public texts have them; `UsageError` without either."""
        if walk.choices.length is not None:
            return walk.choices.length
        if walk.older is None:
            raise UsageError(
                "without public texts nothing says how many words a bag is to have: give --length"
            )
        from publius.releases.lengths import proposed_length

        return proposed_length([row["text"] for row in (*walk.older.learned, *walk.older.attacked)])

    def settings(self, walk: Walk) -> ReleaseSettings:
        """See `Kept.settings`."""
        return ReleaseSettings(
            preserve="words", mechanism=MechanismSettings.mechanism, epsilon=walk.strength, length=self.size(walk),
            unknown=UNKNOWN,
        )  # fmt: skip

    def options(self, walk: Walk) -> list[str]:
        """See `Kept.options`."""
        padding = ["--allow-padding"] if walk.choices.allow_padding else []
        return ["--preserve", self.name, *self.attacked(walk, [walk.strength]), *padding]

    def attacked(self, walk: Walk, strengths: Sequence[float]) -> list[str]:
        """See `Kept.attacked`."""
        return ["--epsilon", listed(strengths), "--length", str(self.size(walk)), "--unknown", UNKNOWN]

    def instead(self, walk: Walk) -> tuple[Walk, tuple[float, ...]]:
        """The topic or the meaning, at the bound that is proposed."""
        other = walk.keeping("topic" if walk.older and walk.older.topics else "meaning")
        return other.trying(2 * walk.tries), (other.strength,)

    def strength_in_words(self, walk: Walk) -> str:
        """See `Kept.strength_in_words`."""
        return f"epsilon {walk.strength:g}, per word and unit of distance; nothing bounds any two documents"

    def before_asking(self, walk: Walk) -> list[str]:
        """See `Kept.before_asking`."""
        return [
            "Epsilon, per word and unit of distance: smaller hides more; on the packaged vectors at 5 about one word "
            "in ten stays as it is, at 10 seven in ten."
        ]


class MeaningKept(Kept):
    """The nearest public theme stands for a document: a bound holds between any two documents."""

    name: ClassVar[Preserve] = "meaning"
    option = "bound"
    question = BOUND
    proposed = 7.0
    tried = (1.0, 2.0, 3.0, 5.0, 7.0, 10.0)
    bounded = True
    refused: ClassVar[Mapping[str, str]] = {
        "epsilon": "--epsilon belongs to --preserve words: topic and meaning take --bound",
        "length": "--length belongs to --preserve words: topic and meaning take --bound",
    }

    @final
    def reference(self, walk: Walk) -> str:
        """The one that was chosen, else the one learned from the public texts, else the packaged themes."""
        from publius.vectors.learning.themes import NAME

        if walk.choices.reference is not None:
            return walk.choices.reference
        return NAME if walk.older is None else f"start-{walk.learned_digest[:12]}"

    def topics(self, walk: Walk) -> int | None:
        """See `Kept.topics`."""
        return None

    @final
    def size(self, walk: Walk) -> None:
        """See `Kept.size`."""

    @final
    def settings(self, walk: Walk) -> ReleaseSettings:
        """See `Kept.settings`."""
        return ReleaseSettings(
            preserve=self.name, mechanism=PROTOTYPE, reference=walk.reference, bound=walk.strength
        )

    @final
    def options(self, walk: Walk) -> list[str]:
        """See `Kept.options`."""
        named = ["--preserve", self.name, "--reference", str(walk.reference)]
        return [*named, "--bound", listed([walk.strength])]

    @final
    def attacked(self, walk: Walk, strengths: Sequence[float]) -> list[str]:
        """See `Kept.attacked`."""
        named = ["--preserve", self.name, "--reference", str(walk.reference)]
        return [*named, "--bound", listed(strengths), "--bound-at-most", f"{max(strengths):g}"]

    @final
    def instead(self, walk: Walk) -> tuple[Walk, tuple[float, ...]]:
        """Smaller bounds."""
        strengths = tuple(each for each in self.tried if each < walk.strength)
        return walk.trying(2 * walk.tries * max(1, len(strengths))), strengths

    @final
    def strength_in_words(self, walk: Walk) -> str:
        """See `Kept.strength_in_words`."""
        return f"bound {bound_in_words(walk.strength, public_label_shares(walk))}"

    @final
    def before_asking(self, walk: Walk) -> list[str]:
        """See `Kept.before_asking`."""
        examples = [self.strength_in_words(walk.at(bound)) for bound in _SHOWN]
        return ["A bound is how much any reader can learn at most, in nats:", *examples]


@final
class TopicKept(MeaningKept):
    """The nearest public topic stands for a document: a bound holds between any two documents."""

    name = "topic"

    def topics(self, walk: Walk) -> int | None:
        """See `Kept.topics`: those of the reference, or of the public texts that it is learned from."""
        if walk.choices.reference is None:
            return None if walk.older is None else len(walk.older.topic_names) or None
        from publius.vectors.learning.reference import Reference

        return len(Reference.load(walk.choices.reference).source.get("topics") or ()) or None


KEPT: Final[Mapping[str, Kept]] = {kept.name: kept for kept in (WordsKept(), MeaningKept(), TopicKept())}


def listed(strengths: Sequence[float]) -> str:
    """As the command line takes several."""
    return ",".join(f"{each:g}" for each in strengths)


def bound_in_words(bound: float, shares: LabelShares | None = None) -> str:
    """What a bound in nats means, in a sentence, with how often a label is right where that was measured."""
    named = posterior_at_most(bound, _CANDIDATES)
    kept = (
        ""
        if shares is None
        else f"; the label was right for {percent(shares.right)} of {shares.texts:,} public texts (always the most "
        f"frequent topic: {percent(shares.majority)})"
    )
    return (
        f"{rounded_up(bound, 6)} ({strength_of(bound)}): whoever knows the exact text of {_CANDIDATES:,} documents "
        f"names the one that was released with a probability of at most {rounded_up(named, 2)}, if all were equally "
        f"likely before{kept}"
    )
