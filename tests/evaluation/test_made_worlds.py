"""Of ten made worlds the truth is known, and the rule says it in 95 of 100 draws."""

import numpy as np
import pytest

from made_scores import clean, facts, line
from publius.evaluation.verdict import Limits, judge
from publius.noise.randomness import seeded_rng

# authors, texts, known anyway, named with the release, named in clear text, the true verdict
WORLDS = {
    "nothing is added, many texts": (120, 2400, 0.10, 0.10, 0.50, "PASS"),
    "nothing is added, ten authors": (10, 1200, 0.15, 0.15, 0.60, "NO EVIDENCE"),
    "nothing is added, a telling topic": (200, 4000, 0.26, 0.26, 0.60, "PASS"),
    "much is added": (40, 800, 0.10, 0.40, 0.60, "FAIL"),
    "much is added, ten authors": (10, 600, 0.15, 0.40, 0.60, "FAIL"),
    "everything is added": (20, 400, 0.05, 0.95, 0.95, "FAIL"),
    "nothing is added, too few texts": (6, 18, 0.26, 0.26, 0.60, "NO EVIDENCE"),
    "much is added, ten texts": (5, 10, 0.20, 0.80, 0.90, "NO EVIDENCE"),
    "clear text names nobody, either": (40, 800, 0.10, 0.10, 0.10, "NO EVIDENCE"),
    "one author a topic": (10, 400, 0.99, 0.99, 0.99, "NO EVIDENCE"),
}


@pytest.mark.long  # a fence and test_verdict have one world of each verdict
@pytest.mark.parametrize("world", WORLDS)
def test_the_rule_says_what_is_true(world):
    authors, texts, anyway, released, bare, truth = WORLDS[world]
    rng, given = seeded_rng(29), facts(texts, authors, anyway)
    places = np.arange(texts) % authors
    right = 0
    for _ in range(100):
        habits = 1 + 0.2 * (rng.random(authors) - 0.5)  # authors differ in how well they are known
        shown, unprotected = (
            (rng.random(texts) < np.minimum(1.0, share * habits[places])).astype(float)
            for share in (released, bare)
        )
        verdict = judge(
            [clean(unprotected, anyway), line({"svm": (shown, anyway), "originals": (shown, anyway)})],
            Limits(adds_at_most=0.05), given,
        )  # fmt: skip
        right += verdict.answer == truth
    assert right >= 95
