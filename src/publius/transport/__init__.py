"""Earth Mover's distance between documents: the ``E_d`` of epsilon*N*E_d-privacy (theory.md section 1)."""

from publius.transport.distance import (
    Move,
    TransportPlan,
    earth_movers_distance,
    transport_plan,
    vector_transport,
)
from publius.transport.pairwise import NearestDocuments, Neighbor, pairwise_distances
from publius.transport.sequence import word_by_word_distance

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
