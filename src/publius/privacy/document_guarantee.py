"""What a document mechanism promises: a constant per unit of distance and one between any two documents."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Literal, final

from publius.errors import UsageError
from publius.privacy.guarantee import Evidence, exact_epsilon, upward

Strength = Literal["strong", "moderate", "weak", "empty"]

STRENGTHS: Final[tuple[tuple[float, Strength], ...]] = ((1.0, "strong"), (10.0, "moderate"), (20.0, "weak"))
"""Largest bound, in nats, that is called so; beyond the last it is empty.

1 and 10 are the tiers of Ponomareva et al., "How to DP-fy ML" (JAIR 77, 2023, section 5.2), and of TensorFlow
Privacy's guide. At 20 nats one of a million equally likely documents may be named with a probability of 0.998.
"""


def strength_of(bound: float | None) -> Strength:
    """The word for a bound in nats between any two documents; no bound is an empty one."""
    for largest, name in STRENGTHS:
        if bound is not None and bound <= largest:
            return name
    return "empty"


@final
@dataclass(frozen=True)
class DocumentGuarantee:
    """Privacy of a whole document, whatever its size.

    Whatever is seen is at most exp(min(epsilon * E, bound)) times as probable under one document as under another at
    Earth Mover's distance E, but for a probability of ``delta`` where the first of the two is used.

    Attributes:
        epsilon: nats per unit of Earth Mover's distance; None where nothing is stated per unit.
        bound: nats between any two documents whatever, the empty one included.
        evidence: "proven" by a theorem, or "certified" by exact computation on the reference.
        delta: probability by which epsilon * E can be exceeded, for rounding or the finite range of noise.
        bound_delta: the same for the bound; 0 where it is exact.
        size: N, the public number of words of the released bag.
        preserve: what is kept: "topic" or "meaning".
        metric: name of d: the reference's own.
    """

    epsilon: float | None
    bound: float
    evidence: Evidence
    delta: float
    bound_delta: float
    size: int
    preserve: str
    metric: str = "reference"
    level: ClassVar[str] = "document"
    ordered: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse what is no guarantee: `UsageError`."""
        if not (math.isfinite(self.bound) and self.bound >= 0):
            raise UsageError(f"a bound must be a number of nats from 0, not {self.bound!r}")
        if self.epsilon is not None:
            exact_epsilon(self.epsilon)

    @property
    def strength(self) -> Strength:
        """The word for the bound: strong, moderate, weak or empty."""
        return strength_of(self.bound)

    def privacy_map(self, distance: float | None = None) -> float:
        """The exponent between two documents at Earth Mover's ``distance``: min(epsilon * distance, bound), rounded up.

        Without a distance, or without a constant per unit, the bound. `UsageError` for a distance below 0 or no number.
        """
        if distance is not None and not distance >= 0:
            raise UsageError(f"a distance must be a number from 0, not {distance!r}")
        if distance is None or self.epsilon is None or math.isinf(distance):
            return self.bound
        return min(self.bound, upward(exact_epsilon(self.epsilon) * Fraction(distance)))
