"""A bound of how far apart words can be, without all pairs."""

import subprocess
import sys

import numpy as np
import pytest

from publius.distances.metrics import METRICS, AbstractMetric, ground_metric
from publius.noise.randomness import seeded_rng


class Chebyshev(AbstractMetric):
    """A metric of a user's own, who wrote what must be written."""

    name = "chebyshev"
    calls = 0

    def pairwise(self, a, b):
        type(self).calls += 1
        return np.abs(a[:, None, :] - b[None]).max(axis=2)


@pytest.mark.parametrize("metric", [*map(ground_metric, METRICS), Chebyshev()], ids=lambda each: each.name)
def test_no_two_words_are_further_apart_and_some_half_as_far(metric):
    vectors = seeded_rng(1).standard_normal((300, 5)).astype(np.float32)
    largest = metric.pairwise(vectors, vectors).max()
    assert largest <= metric.diameter_bound(vectors) <= 2.01 * largest


def test_a_metric_of_ones_own_is_not_asked_row_by_row():
    Chebyshev.calls = 0
    Chebyshev().diameter_bound(np.zeros((300, 2)))
    assert Chebyshev.calls == 1


def test_it_is_found_without_scipy():
    code = (
        "import sys, numpy as np; from publius.distances.metrics import METRICS\n"
        "print([each().diameter_bound(np.eye(3)) > 1 for each in METRICS.values()], 'scipy.spatial' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[True, True] False"
