"""Earth Mover's distance between documents: the ``E_d`` of epsilon*N*E_d-privacy (docs/theory.md section 1)."""

from publius.distances.earth_mover import (
    Move,
    TransportPlan,
    earth_movers_distance,
    transport_plan,
    vector_transport,
)
from publius.distances.in_order import word_by_word_distance
from publius.distances.pairwise import NearestDocuments, Neighbor, pairwise_distances

__all__ = [
    "Move",
    "NearestDocuments",
    "Neighbor",
    "TransportPlan",
    "earth_movers_distance",
    "pairwise_distances",
    "transport_plan",
    "vector_transport",
    "word_by_word_distance",
]
