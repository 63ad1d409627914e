"""How often the label that is printed is the right one, by topic, from exact probabilities.

The noise alone says how often the label *that was found in a text* is printed. Whether that is the right one depends on
the texts, so it is measured on texts whose topic is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Self, final

from publius.mechanisms.mechanism import PublicOutcome
from publius.privacy.promise import percent, percent_down, percent_up

RARE: Final = 0.05
"""Share of the texts below which a topic is named as a rare one."""

VANISHES: Final = 0.5
"""Share of right labels below which a topic is said to vanish."""


@final
@dataclass(frozen=True, slots=True)
class TopicShare:
    """One topic.

    Attributes:
        topic: its name.
        texts: how many texts are of it.
        right: how often their label is this one, from 0 to 1.
        printed: how many rows say so in the mean, right or not; None where it was not computed.

    Of the rows that say a topic, `right_of_printed` are of it: for a reader of rows that is the question.
    """

    topic: str
    texts: int
    right: float
    printed: float | None = None

    @property
    def right_of_printed(self) -> float | None:
        """The share of right ones among the rows that say so, in the mean; None where it was not computed."""
        return self.texts * self.right / self.printed if self.printed else None


@final
@dataclass(frozen=True, slots=True)
class LabelShares:
    """How often labels are right.

    Attributes:
        texts: on how many texts that was measured.
        right: over all of them.
        majority: how often the most frequent topic would be right, without any release.
        topics: by topic, the most frequent first.
        unknown: texts whose topic is none of the labels: their label cannot be right.
        low, high: the 95 % interval of ``right`` for other texts of the kind; None where all texts were looked at.
    """

    texts: int
    right: float
    majority: float
    topics: tuple[TopicShare, ...]
    unknown: int = 0
    low: float | None = None
    high: float | None = None

    @property
    def rare(self) -> tuple[TopicShare, ...]:
        """Topics of few texts, and those of which most rows say something else."""
        return tuple(each for each in self.topics if each.texts < RARE * self.texts or each.right < VANISHES)

    def sentences(self) -> Iterator[str]:
        """For people: words first."""
        chance = (
            ""
            if self.low is None or self.high is None
            else f" (from {percent_down(self.low)} to {percent_up(self.high)} allowing for chance)"
        )
        yield (
            f"Of {self.texts:,} texts whose topic is known, the label is right for {percent(self.right)}{chance}; "
            f"whoever always says the most frequent topic is right for {percent(self.majority)}."
        )
        if self.unknown:
            yield unnamed_sentence(self.unknown)
        if self.rare:
            named = "; ".join(
                f"{each.topic} ({each.texts:,} texts): right for {percent(each.right)}"
                for each in self.rare[:12]
            )
            more = f"; and {len(self.rare) - 12:,} more" if len(self.rare) > 12 else ""
            yield f"Rare or hard to tell: {named}{more}."

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @classmethod
    def of_record(cls, facts: Mapping[str, Any]) -> Self:
        """What `record` gave; raises `KeyError` or `TypeError` for anything else."""
        topics = tuple(TopicShare(**each) for each in facts["topics"])
        shares = (facts["right"], facts["majority"], topics)
        return cls(int(facts["texts"]), *shares, int(facts["unknown"]), facts["low"], facts["high"])


def unnamed_sentence(texts: int) -> str:
    """Of texts whose topics are none of the labels."""
    return f"{texts:,} of them are of topics that no label names, so none of these can be right."


def label_shares(
    right: Sequence[float],
    labels: Sequence[str],
    outcomes: Sequence[PublicOutcome],
    printed: Mapping[str, float] | None = None,
) -> LabelShares:
    """The shares of texts with these ``labels``, each right with the probability ``right``.

    ``printed`` says how many rows have each label in the mean, where that was computed.
    """
    found: dict[str, list[float]] = {}
    for label, chance in zip(labels, right, strict=True):
        found.setdefault(label, []).append(chance)
    names = {each.label for each in outcomes}
    rows = printed or {}
    topics = [
        TopicShare(label, len(each), sum(each) / len(each), rows.get(label)) for label, each in found.items()
    ]
    ordered = sorted(topics, key=lambda each: (-each.texts, each.topic))
    total = len(labels)
    unknown = sum(each.texts for each in topics if each.topic not in names)
    return LabelShares(total, sum(right) / total, ordered[0].texts / total, tuple(ordered), unknown)
