"""What is said of one document is said of one, and the worst author is measured with all of his together."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from fences import Fence
from publius.evaluation import hindsight, signed
from publius.evaluation.originals import exact_success
from publius.evaluation.protectors import Originals
from publius.evaluation.statistics import Interval, clopper_pearson
from publius.evaluation.summary import AdversaryResult
from publius.noise.randomness import seeded_rng
from publius.releases import account

_AUTHORS = ["Ann"] * 3 + ["Ben"] * 3 + ["Cy"] * 3
_LAW = np.array([[0.6, 0.2, 0.2]] * 3 + [[0.2, 0.6, 0.2]] * 3 + [[0.2, 0.2, 0.6]] * 3)


def _by_hand(author: str) -> float:
    """How often the best rule names ``author`` from all of his bags, summed over everything that can come."""
    laws = {name: _LAW[_AUTHORS.index(name)] for name in sorted(set(_AUTHORS))}
    total = 0.0
    for drawn in product(range(3), repeat=_AUTHORS.count(author)):
        likely = {name: float(np.prod(law[list(drawn)])) for name, law in laws.items()}
        best = [name for name, value in likely.items() if value >= max(likely.values()) * (1 - 1e-9)]
        total += likely[author] * (author in best) / len(best)
    return total


def _measured_and_said(folder: Path) -> None:
    shares = exact_success(_LAW, _AUTHORS)
    found = hindsight.together(
        Originals(shares, np.log(_LAW.T[[0, 0, 0, 1, 1, 1, 2, 2, 2]]), _LAW), _AUTHORS, shares
    )
    worst = max(("Ann", "Ben", "Cy"), key=_by_hand)
    assert abs(found["worst"] - _by_hand(worst)) < 0.05
    assert found["worst"] > found["worst_alone"], "all bags of one author tell no more than one"
    _, draws = hindsight.together_by_law(_LAW, _AUTHORS, seeded_rng(1))
    hits = int(np.ceil(found["worst"] * draws))
    assert found["worst_high"] > clopper_pearson(hits, draws, 1 - 0.05 / 2).high, (
        "one of several, picked as the worst"
    )
    assert (found["documents"], found["most"]) == (3, 3)
    interval = Interval(float(shares.mean()), 0.3, 0.7)
    finding = AdversaryResult("originals", "author", interval, 5.0, 9, {"exact": True, "together": found})
    said = dict(signed.together_rows(finding, 7.0))
    assert "of the documents, at most" in said[account.ONE_BAG]
    assert "3 documents" in said[account.ALL_BAGS]
    assert "the best rule finds as much or more" in said[account.ALL_BAGS]
    assert "21 nats for the author of most of the texts attacked" in said[account.ALL_BOUND]


def _one_bag_only(patch: pytest.MonkeyPatch) -> None:
    """As if an author had one document: each bag attacked alone."""

    def alone(law: np.ndarray, authors: list[str], rng: object) -> tuple[np.ndarray, int]:
        shares = exact_success(law, authors)
        return np.array(
            [shares[[name == each for each in authors]].mean() for name in sorted(set(authors))]
        ), 1000

    patch.setattr(hindsight, "together_by_law", alone)


FENCES = (
    Fence(
        7,
        "the worst author is measured with all of his documents together",
        _measured_and_said,
        _one_bag_only,
    ),
)
