"""Earth Mover's distance between documents: the ``E_d`` of epsilon*N*E_d-privacy (docs/theory.md section 1).

The names below are imported at first use: a release measures no distance, and need not wait for what does.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from publius.distances.earth_mover import (
        Move,
        TransportPlan,
        earth_movers_distance,
        transport_plan,
        vector_transport,
    )
    from publius.distances.in_order import word_by_word_distance
    from publius.distances.pairwise import NearestDocuments, Neighbor, pairwise_distances

_HOMES = {
    "Move": "earth_mover",
    "NearestDocuments": "pairwise",
    "Neighbor": "pairwise",
    "TransportPlan": "earth_mover",
    "earth_movers_distance": "earth_mover",
    "pairwise_distances": "pairwise",
    "transport_plan": "earth_mover",
    "vector_transport": "earth_mover",
    "word_by_word_distance": "in_order",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'publius.distances' has no attribute {name!r}")
    return getattr(import_module(f"publius.distances.{_HOMES[name]}"), name)
