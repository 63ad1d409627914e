"""The distance of two documents that are filled up with public words: the largest over what may be drawn."""

from __future__ import annotations

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.distances.problem import Transport
from publius.distances.solver import optimal_flow
from publius.releases.plan import Plan
from publius.text.bag import Encoded
from publius.text.pads import pad_places


def filled_distance(a: Encoded, b: Encoded, plan: Plan) -> float:
    """An upper bound on the Earth Mover's distance of two documents of N words, whatever pads are drawn.

    Both are filled up with the same draws as far as both need them (`publius.text.pads`): a pad lies at distance 0
    from a pad, and from a word as far as the farthest word that may be drawn.
    """
    left, supply = _points(a, plan)
    right, demand = _points(b, plan)
    embeddings, metric = plan.word_mechanism.embeddings, plan.word_mechanism.metric
    pads = np.asarray(embeddings.vectors[pad_places(embeddings, plan.encoding.stop_words)], np.float64)

    def vectors(places: IndexArray) -> Float64Array:
        return np.asarray(embeddings.vectors[places], np.float64)

    costs = np.zeros((len(supply), len(demand)))
    costs[: len(left), : len(right)] = metric.pairwise(vectors(left), vectors(right))
    if len(demand) > len(right):
        costs[: len(left), -1] = metric.pairwise(vectors(left), pads).max(axis=1)
    if len(supply) > len(left):
        costs[-1, : len(right)] = metric.pairwise(vectors(right), pads).max(axis=1)
    flow = optimal_flow(costs, supply, demand)
    return Transport(flow, costs[flow.rows, flow.columns], plan.size, embeddings.dimension).distance_upper


def _points(document: Encoded, plan: Plan) -> tuple[IndexArray, IndexArray]:
    """The places of a document's own words, each once, and how often they occur; pads last, where there are some."""
    words = plan.word_mechanism.indices(list(document.words)[: len(document.words) - document.padding])
    places, counts = np.unique(words, return_counts=True)
    masses = [*counts.tolist(), document.padding] if document.padding else counts.tolist()
    return places, np.array(masses, np.int64)
