"""What a curator reads before he chooses a bound is what the bound means, rounded to the safe side."""

from __future__ import annotations

from pathlib import Path

import pytest

from fences import Fence
from publius.evaluation.steps import kept
from publius.privacy.guarantee import posterior_at_most


def _upper_limits(folder: Path) -> None:
    for bound in (1.0, 3.0, 5.0, 7.0, 10.0):
        said = kept.bound_in_words(bound)
        stated = float(said.split("a probability of at most ", 1)[1].split(",", 1)[0])
        assert stated >= posterior_at_most(bound, 1_000), f"bound {bound:g}: {stated} is said to be the most"
        assert "equally likely before" in said
        assert "the right one of 4 topics comes out" not in said


def _nearest(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kept, "rounded_up", lambda value, digits: f"{value:.{digits}g}")


FENCES = (Fence(8, "a probability that is a limit is rounded up", _upper_limits, _nearest),)
