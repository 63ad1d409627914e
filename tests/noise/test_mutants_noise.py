"""What faults planted in the room showed to be said and not tested: laws of sums, the delta of a ball, claimed ids."""

from fractions import Fraction

import numpy as np
import pytest

from publius.errors import UsageError
from publius.noise.discrete_laplace import DiscreteLaplace, LaplaceSum
from publius.noise.laplace import EuclideanLaplace
from publius.noise.randomness import RunKey


@pytest.mark.parametrize("terms", [1, 2, 5])
def test_the_law_of_a_sum_is_the_convolution_and_never_less(terms):
    noise = DiscreteLaplace(Fraction(2))
    law = single = np.array([noise.probability(value) for value in range(-120, 121)])
    for _ in range(terms - 1):
        law = np.convolve(law, single)
    middle, summed = len(law) // 2, LaplaceSum(noise, terms)
    for value in (-9, -2, -1, 0, 1, 7):
        exact = law[middle + value + 1 :].sum()
        assert exact <= summed.above(value) <= exact + 3e-11
    for width in (0, 1, 8, 30):
        exact = law[middle + width + 1 :].sum() + law[: middle - width].sum()
        assert exact <= summed.beyond(width) <= exact + 3e-11
    assert summed.beyond(10**9) <= 2e-11
    wanted = next(w for w in range(100) if law[middle + w + 1 :].sum() * 2 <= 0.05)
    assert LaplaceSum(noise, terms).half_width() == wanted


def test_the_delta_of_a_ball_is_that_of_its_farthest_two_words():
    vectors = np.array([[0.0, 0.0], [3.0, 4.0], [30.0, 40.0]])
    noise = EuclideanLaplace(2, 0.5)
    delta = noise.vocabulary_delta(vectors)
    assert noise.truncation_delta(0.5 * 50) <= delta <= noise.truncation_delta(0.5 * 50 * 2)
    assert noise.truncation_delta(0.5 / 50) < delta


def test_a_run_key_is_used_for_a_document_once():
    key = RunKey.fresh()
    key.claim(["a", "b"])
    key.claim(["c"])
    with pytest.raises(UsageError, match="same id"):
        key.claim(["d", "d"])
    with pytest.raises(UsageError, match="before"):
        key.claim(["d", "b"])
    key.claim(["d"])  # what was refused claims nothing
