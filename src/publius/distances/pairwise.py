"""Distances between all documents of a corpus."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from publius.arrays import Float64Array
from publius.distances.ground import Ground, ground_distance, is_line
from publius.distances.problem import points_of, points_transport, vectors_at
from publius.embeddings.embeddings import Embeddings
from publius.settings import EUCLIDEAN
from publius.text.bag import Bag


def pairwise_distances(bags: Sequence[Bag], embeddings: Embeddings, metric: str | Ground = EUCLIDEAN) -> Float64Array:
    """Earth Mover's distances between all ``bags``, shape (m, m).

    Equals `earth_movers_distance` of each pair, whose errors it raises.
    """
    ground, points = ground_distance(metric), [points_of(bag, embeddings) for bag in bags]
    if is_line(ground, embeddings.dimension) and len({each.size for each in points}) == 1:
        from scipy.spatial.distance import cdist

        values = [np.sort(np.repeat(vectors_at(each.indices, embeddings)[:, 0], each.masses)) for each in points]
        return np.asarray(cdist(values, values, "cityblock") / points[0].size)  # the mean gap of the sorted values
    result = np.zeros((len(bags), len(bags)))
    for i, a in enumerate(points):
        for j, b in enumerate(points[:i]):
            result[i, j] = result[j, i] = points_transport(a, b, embeddings, ground)[1].distance
    return result
