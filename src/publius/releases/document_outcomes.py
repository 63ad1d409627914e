"""Outcomes of one document under a plan about whole documents: for its curator, never for a release."""

from __future__ import annotations

from typing import Any

import numpy as np

from publius.arrays import IndexArray
from publius.errors import UsageError
from publius.mechanisms.whole import places_of as placed
from publius.releases.plan import Plan
from publius.text.bag import Encoded, words_of


def outcomes_of(text: str, plan: Plan) -> dict[str, Any]:
    """The public prototypes with the exact probability that ``text`` becomes each, the likeliest first.

    The probabilities are of this document, hence private. Raises `UsageError` for a mechanism that names no
    prototypes.
    """
    return outcomes_at(places_of(text, plan)[1], plan)


def places_of(text: str, plan: Plan) -> tuple[Encoded, IndexArray]:
    """A text as ``plan`` reads it, and its words' places in the reference, none for the empty document."""
    encoded = words_of(text, plan.vocabulary, plan.encoding)
    return encoded, placed(encoded)


def outcomes_at(places: IndexArray, plan: Plan) -> dict[str, Any]:
    """The same of a document that is read already, as its words' places in the reference."""
    mechanism = plan.mechanism
    law = mechanism.law([places])
    if law is None:
        raise UsageError(
            f"the mechanism {mechanism.name} names no prototypes, so there are no outcomes to list: choose prototype"
        )
    public = mechanism.outcomes
    order = np.argsort(-law[0], kind="stable").tolist()
    return {
        "outcomes": [
            {
                "prototype": public[k].prototype,
                "label": public[k].label,
                "words": list(public[k].words),
                "probability": float(law[0][k]),
            }
            for k in order
        ],
        "bound": mechanism.guarantee.bound,
        "epsilon": mechanism.guarantee.epsilon,
        "preserve": mechanism.preserve,
        "reference": mechanism.reference.name,
    }
