"""Two documents: how far apart they are, which word moves to which, and what that means for a release."""

from __future__ import annotations

import math

from publius.distances import TransportPlan, transport_plan
from publius.privacy.promise import factor_text
from publius.web import answers, requests
from publius.web.state import State


def distance(state: State, asked: requests.Pair) -> answers.Distance:
    """The Earth Mover's distance in the mechanism's metric, the plan, and the exponent between the documents."""
    mechanism = state.mechanism(asked)
    a = state.bag(asked.a, asked, "the first document: ")
    b = state.bag(asked.b, asked, "the second document: ")
    plan = transport_plan(a, b, state.embeddings, mechanism.metric)
    exponent = mechanism.guarantee.lifted(asked.length).between(plan)
    return answers.Distance(
        distance=plan.distance,
        size=asked.length,
        metric=mechanism.metric.name,
        moves=_moves(plan),
        exponent=exponent if math.isfinite(exponent) else None,
        exponent_text=factor_text(exponent),
    )


def _moves(plan: TransportPlan) -> list[answers.Move]:
    """The dearest moves first; bags of one size move whole words."""
    moves = sorted(plan.moves, key=lambda move: (-move.mass * move.distance, move.source, move.target))
    return [
        answers.Move.of(
            **{"from": move.source},
            to=move.target,
            count=round(move.mass * plan.size_a),
            distance=move.distance,
        )
        for move in moves
    ]
