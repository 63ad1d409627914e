"""Outcomes of one document where its topic or meaning is kept: for the curator's eyes, never a release."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.mechanisms.mechanism import Mechanism
from publius.noise.randomness import system_rng
from publius.privacy.promise import promise
from publius.releases.document_outcomes import outcomes_at, places_of
from publius.web import document_answers as answers
from publius.web import requests
from publius.web.state import State

WARNING: Final = (
    "For the curator's eyes. The probabilities, the place and the draw are made from this document: they are not a "
    "release, nothing of them is saved and nothing is charged."
)
_NO_WORD: Final = (
    "This document has no word that the reference knows, so it is treated as the empty document: nothing of "
    "it is kept. Take a reference learned from texts more like it."
)


def references(state: State) -> answers.References:
    """The public references that are stored, what each can keep, and whether it is made and open."""
    return answers.References.of(references=state.references.listing())


def outcomes(state: State, asked: requests.Outcomes) -> answers.Outcomes:
    """The outcomes of a document with their probabilities, where it lies, and a fresh draw.

    For the curator's eyes alone: all of it but the prototypes is made from the document and carries no guarantee.
    """
    plan = state.plan(asked)
    mechanism = plan.mechanism
    reference = mechanism.reference
    encoded, places = places_of(asked.text, plan)
    known = int(np.count_nonzero(places != reference.unknown_index))
    drawn = mechanism.draw([places], [system_rng()])[0]
    found = {"outcomes": [], **_constants(mechanism)}
    if mechanism.outcomes:
        found = outcomes_at(places, plan)
    promised = mechanism.guarantee
    return answers.Outcomes.of(
        warning=WARNING,
        **found,
        mechanism=mechanism.name,
        parameters=mechanism.parameters,
        size=promised.size,
        evidence=promised.evidence,
        strength=promised.strength,
        promise=promise(promised, private=True),
        words=answers.KnownWords(known=known, unknown=encoded.unknown, counted=len(places)),
        document_warning=None if known else _NO_WORD,
        picture=_picture(mechanism, places),
        draw=answers.DocumentDraw(
            prototype=drawn.prototype, label=drawn.label, bag=list(drawn.bag.counts.items())
        ),
    )


def _constants(mechanism: Mechanism) -> dict[str, Any]:
    promised = mechanism.guarantee
    return {
        "bound": promised.bound,
        "epsilon": promised.epsilon,
        "preserve": mechanism.preserve,
        "reference": mechanism.reference.name,
    }


def _picture(mechanism: Mechanism, document: IndexArray) -> answers.Picture:
    """The document, public prototypes and the box a position is clipped to, in two of the reference's coordinates."""
    aspect, shown = mechanism.reference.aspect(mechanism.preserve), mechanism.landmarks
    axes = axes_of(shown.points)
    place = aspect.positions([document])
    return answers.Picture.of(
        dimension=aspect.dimension,
        coordinates=[axis + 1 for axis in axes],
        document=flat(place, axes)[0],
        clipped=flat(aspect.saturated(place), axes)[0],
        box=flat(np.stack([aspect.low, aspect.high]), axes),
        prototypes=[
            {"prototype": k, "label": label, **at}
            for k, (label, at) in enumerate(zip(shown.labels, flat(shown.points, axes), strict=True))
        ],
    )


def axes_of(points: Float64Array) -> list[int]:
    """The two coordinates in which the prototypes lie furthest apart, the first of equals; public."""
    return sorted(np.argsort(-points.std(axis=0), kind="stable")[:2].tolist())


def flat(points: Float64Array, axes: list[int]) -> list[dict[str, float]]:
    """Points in those coordinates; the second is 0 where there is but one."""
    rows = np.asarray(points)[:, axes].tolist()
    return [{"x": row[0], "y": row[1] if len(row) > 1 else 0.0} for row in rows]
