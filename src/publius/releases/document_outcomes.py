"""What one document may become under a plan about whole documents: for its curator, never for a release."""

from __future__ import annotations

from typing import Any

import numpy as np

from publius.errors import UsageError
from publius.mechanisms.documents.prototype import Prototype
from publius.releases.plan import Plan
from publius.text.bag import words_of


def outcomes_of(text: str, plan: Plan) -> dict[str, Any]:
    """The public prototypes with the exact probability that ``text`` becomes each, the likeliest first.

    The probabilities are of this document, hence private. Raises `UsageError` for a mechanism that names no
    prototypes.
    """
    mechanism = plan.mechanism
    if not isinstance(mechanism, Prototype):
        raise UsageError(
            f"the mechanism {mechanism.name} names no prototypes, so there are no outcomes to list: choose prototype"
        )
    places = words_of(text, plan.vocabulary, plan.encoding).places
    law = mechanism.law([np.zeros(0, np.int64) if places is None else places])[0]
    public = mechanism.outcomes
    order = np.argsort(-law, kind="stable").tolist()
    return {
        "outcomes": [
            {
                "prototype": public[k].prototype,
                "label": public[k].label,
                "words": list(public[k].words),
                "probability": float(law[k]),
            }
            for k in order
        ],
        "bound": mechanism.guarantee.bound,
        "epsilon": mechanism.guarantee.epsilon,
        "preserve": mechanism.preserve,
        "reference": mechanism.reference.name,
    }
