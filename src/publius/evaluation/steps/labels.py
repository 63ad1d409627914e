"""How often a label would be right, on the public texts that nothing was learned from; exact, nothing is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from publius.mechanisms.prototype import fidelity
from publius.privacy.promise import ceiling
from publius.releases.label_shares import LabelShares, label_shares
from publius.releases.own_texts import right_probabilities
from publius.text.bag import places_of_all

if TYPE_CHECKING:
    from publius.evaluation.steps.walk import Walk


def public_label_shares(walk: Walk) -> LabelShares | None:
    """The shares at the walk's setting; None where no label is printed, or the public texts have no topics."""
    if walk.older is None or walk.older.topics is None or not walk.kept.bounded or not walk.learned_before:
        return None
    rows = [row for row in walk.older.attacked if row.get("topic")]
    plan = walk.plan()
    encoding, topics = plan.encoding, [row["topic"] for row in rows]
    places = places_of_all([row["text"] for row in rows], plan.vocabulary, encoding).places
    right = right_probabilities(plan, places, topics)
    return None if not right else label_shares(right, topics, plan.mechanism.outcomes)


def noise_in_words(bound: float, outcomes: int, alike: int = 1) -> str:
    """What the noise alone does, in a sentence: the share that says nothing of whether a label is right.

    ``alike`` outcomes at most have the same label.
    """
    kept = ceiling(100 * fidelity(bound, outcomes, alike), 1)
    return (
        f"The noise alone lets the label that was found in a text come out at most {kept:g} % of the time"
        f"{f', one of {outcomes:,}' if alike == 1 else ''}; whether that label is the right one is another question."
    )
