"""The best of many settings is judged at a level divided by their number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fences import Fence
from made_scores import clean, facts, line
from publius.evaluation import verdict
from publius.evaluation.verdict import Limits, judge
from publius.noise.randomness import seeded_rng


def _best_of_six(folder: Path) -> None:
    """All six add exactly the limit, so that every PASS is false: at most 5 in 100 may be, whichever is picked."""
    rng, given = seeded_rng(12), facts(600, 600, 0.1)
    bare = clean(rng.random(600) < 0.8, 0.1)
    false = 0
    for _ in range(100):
        best = min((rng.random(600) < 0.15 for _ in range(6)), key=np.sum)  # if one passes, this does
        found = judge([bare, line({"svm": (best, 0.1)})], Limits(adds_at_most=0.05, tries=6), given)
        false += found is not None and found.answer == "PASS"
    assert false <= 5, f"{false} of 100"


def _not_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = verdict.authors_of

    def once(*given: Any, **options: Any) -> Any:
        return asked(*given, **{**options, "tries": 1})

    monkeypatch.setattr(verdict, "authors_of", once)


FENCES = (Fence(12, "tries are counted", _best_of_six, _not_divided),)
