"""Earth Mover's distance between documents: the ``E_d`` of epsilon*N*E_d-privacy (theory, 1).

The names below are imported at first use: a release measures no distance, and need not wait for what does.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from publius.distances.earth_mover import (
        Move,
        TransportPlan,
        earth_movers_distance,
        pairwise_distances,
        transport_plan,
        word_by_word_distance,
    )  # fmt: skip

__all__ = [
    "Move", "TransportPlan", "earth_movers_distance", "pairwise_distances", "transport_plan", "word_by_word_distance",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'publius.distances' has no attribute {name!r}")
    return getattr(import_module("publius.distances.earth_mover"), name)
