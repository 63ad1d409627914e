"""Tails that reach as far as float64, with the exact conditional law beyond the body."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import special, stats

from publius.noise import tails as variates
from publius.noise.randomness import seeded_rng
from publius.noise.tails import (
    BODY,
    DEEPEST,
    StandardGamma,
    deep_uniform,
    lower_quantile,
    standard_normal,
    upper_probability,
    upper_quantile,
)

ALPHA = 1e-6
COUNT = 20_000


class FarGenerator:
    """A generator whose normals and gammas all fall beyond the body; uniforms are genuine."""

    def __init__(self, value):
        self._value, self._rng = value, seeded_rng(1)

    def standard_normal(self, shape):
        return np.full(shape, self._value)

    def standard_gamma(self, shape, count):
        return np.full(count, self._value)

    def random(self, count):
        return self._rng.random(count)


def test_deep_uniform_is_uniform():
    assert stats.kstest(deep_uniform(seeded_rng(1), COUNT), stats.uniform.cdf).pvalue > ALPHA


def test_deep_uniform_is_as_fine_near_zero_as_near_one():
    """Minus its logarithm is exponential far beyond the 36.7 that 53 bits allow."""
    values = -np.log(deep_uniform(seeded_rng(2), COUNT))
    assert stats.kstest(values, stats.expon.cdf).pvalue > ALPHA
    assert len(set(values.tolist())) == COUNT


def test_deep_uniform_reaches_its_depth():
    class Heads:
        def random(self, count):
            return np.zeros(count)

    assert deep_uniform(Heads(), 3).tolist() == [2.0**-960] * 3


@pytest.mark.parametrize("sign", [1, -1])
def test_far_normals_follow_the_tail(sign):
    values = sign * standard_normal(FarGenerator(sign * 7.0), (COUNT, 1))[:, 0]
    tail = values[values > 6.2]
    assert len(tail) == COUNT
    assert stats.kstest(special.ndtr(-tail) / special.ndtr(-6.2), stats.uniform.cdf).pvalue > ALPHA


@pytest.mark.parametrize("shape", [1, 2, 10, 50, 300])
@pytest.mark.parametrize("side", ["upper", "lower"])
def test_far_gammas_follow_the_tail(shape, side):
    gamma = StandardGamma(shape)
    value, tail = (upper_quantile(shape, BODY) * 2, special.gammaincc)
    if side == "lower":
        value, tail = lower_quantile(shape, BODY) / 2, special.gammainc
    drawn = gamma.sample(FarGenerator(value), COUNT)
    assert stats.kstest(tail(shape, drawn) / BODY, stats.uniform.cdf).pvalue > ALPHA


@pytest.mark.parametrize("shape", [1, 2, 10, 50, 300, 768])
def test_gamma_reaches_the_deepest_probability(shape, monkeypatch):
    monkeypatch.setattr(variates, "deep_uniform", lambda rng, count: np.full(count, 2.0**-960))
    gamma = StandardGamma(shape)
    assert gamma.upper_tail(None, 1)[0] == gamma.reach
    assert special.gammaincc(shape, gamma.reach) == pytest.approx(DEEPEST, rel=1e-9)
    assert special.gammainc(shape, gamma.lower_tail(None, 1)[0]) == pytest.approx(DEEPEST, rel=1e-9)


def test_body_is_not_drawn_again():
    gamma = StandardGamma(10)
    np.testing.assert_array_equal(gamma.sample(seeded_rng(3), 5000), seeded_rng(3).standard_gamma(10, 5000))


def test_beyond_reach_is_the_tail_that_a_shift_uncovers():
    gamma = StandardGamma(50)
    assert gamma.beyond_reach(0.0) == pytest.approx(DEEPEST, rel=1e-9)
    assert gamma.beyond_reach(gamma.reach + 1) == 1.0
    assert gamma.beyond_reach(gamma.reach - 50) == pytest.approx(float(stats.gamma(50).sf(50)))


@pytest.mark.parametrize("shape", [1, 2, 3, 50, 300, 2000])
def test_the_tails_are_those_of_scipy(shape):
    """An implementation of somebody else's, at every scale; the stated inaccuracy covers both."""
    near = np.linspace(0.02, 3, 60) * shape
    ours = [upper_probability(shape, value) for value in (0.0, *near)]
    np.testing.assert_allclose(ours, special.gammaincc(shape, [0.0, *near]), rtol=1e-11, atol=1e-13)
    for probability in (1e-3, BODY, 1e-100, DEEPEST):
        above, below = upper_quantile(shape, probability), lower_quantile(shape, probability)
        assert above == pytest.approx(special.gammainccinv(shape, probability), rel=1e-13)
        assert upper_probability(shape, above) == pytest.approx(probability, rel=1e-11)
        assert special.gammainc(shape, below) == pytest.approx(probability, rel=1e-9)


@pytest.mark.parametrize("shape", [1, 50, 300])
def test_what_is_drawn_again_is_decided_as_scipy_decides_it(shape):
    """Values next to the edges on either side, and far inside."""
    gamma = StandardGamma(shape)
    high, low = special.gammainccinv(shape, BODY), special.gammaincinv(shape, BODY)
    more = 1 + 1e-12
    for kept in (high / more, low * more, float(shape)):
        assert gamma.sample(FarGenerator(kept), 1)[0] == kept
    for drawn_again in (high * more, low / more):
        assert gamma.sample(FarGenerator(drawn_again), 1)[0] != drawn_again


def test_a_first_draw_imports_no_scipy():
    """Its import is a quarter of the processor time of a first sentence."""
    draw = """
import sys
from publius.noise.laplace import EuclideanLaplace
from publius.noise.randomness import RunKey
EuclideanLaplace(50, 1.0).sample(RunKey.seeded(1).rng("a"), 2)
print(*(name for name in sys.modules if name.split(".")[0] == "scipy"))
"""
    done = subprocess.run([sys.executable, "-c", draw], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
