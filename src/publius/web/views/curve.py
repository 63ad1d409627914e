"""Share unchanged and mean displacement against epsilon on one document; utility and exponent beside them."""

from __future__ import annotations

from typing import Any

from publius.arrays import IndexArray
from publius.distances import transport_plan
from publius.mechanisms import curves
from publius.mechanisms.kernel import is_exact, word_indices
from publius.mechanisms.registry import mechanism_class
from publius.web import answers, requests
from publius.web.state import State


def curve(state: State, asked: requests.Curve) -> answers.Curves:
    """A curve for each mechanism; epsilons are those of the mechanism's useful range on the vocabulary."""
    indices = word_indices(curves.real_words(state.encoded(asked.text, asked)), state.embeddings)
    found = [_curve(state, name, asked.metric, indices) for name in dict.fromkeys(asked.mechanisms)]
    apart = _distance(state, asked) if asked.other is not None else None
    grid = curves.epsilons(state.mechanisms, asked.mechanism, asked.metric)
    quick = state.mechanisms.is_quick(asked.mechanism)
    return answers.Curves.of(
        size=asked.length,
        curves=found,
        utility=curves.utility(state.mechanism(asked), asked.length, grid, apart) if quick else None,
        exponent=None if apart is None else curves.exponents(asked.metric, asked.length, grid, apart),
        distance_to_other=apart,
    )


def _curve(state: State, name: str, metric: str, indices: IndexArray) -> dict[str, Any]:
    if reason := state.mechanisms.unsuitable(name):
        exact = is_exact(mechanism_class(name))
        return {"mechanism": name, "exact": exact, "points": [], "reason": reason}
    return curves.curve(state.mechanisms, name, metric, indices)


def _distance(state: State, asked: requests.Curve) -> float:
    a = state.bag(asked.text, asked, "the first document: ")
    b = state.bag(asked.other or "", asked, "the second document: ")
    return transport_plan(a, b, state.embeddings, asked.metric).distance_upper
