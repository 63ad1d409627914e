"""The discrete Laplace law: drawn exactly, without an end, and intervals that are never too narrow."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from publius.errors import DataError, UsageError
from publius.noise.discrete_laplace import LARGEST_RESULT, DiscreteLaplace, LaplaceSum, _WholeNumbers
from publius.noise.randomness import seeded_rng

SCALES = [Fraction(2), Fraction(3, 2), Fraction(2, 3), Fraction(20, 7), Fraction(40)]
BEYOND_WORDS = Fraction(2 * 10**20 + 1, 10**20)  # nearly 2, and neither part fits in a word


def exact(scale, value):
    r = math.exp(-1 / scale)
    return (1 - r) / (1 + r) * r ** abs(value)


class Words:
    """A generator whose words are a script."""

    def __init__(self, words):
        self.bit_generator, self._words = self, iter(words)

    def random_raw(self, count):
        return np.array([next(self._words) for _ in range(count)], np.uint64)


class MoreNeeded(Exception):
    pass


class Branch(_WholeNumbers):
    """Draws below n are a script, so that every path of the sampler can be walked with its exact probability."""

    def __init__(self, script):
        self.script, self.place, self.chance = script, 0, Fraction(1)

    def below(self, n, count):
        found = []
        for _ in range(count if n > 1 else 0):
            if self.place == len(self.script):
                raise MoreNeeded(n)
            found.append(self.script[self.place])
            self.place, self.chance = self.place + 1, self.chance / n
        return np.array(found if n > 1 else [0] * count, np.int64)


def walked(draw, least):
    """The probability of each result of ``draw``, and that of the paths that were left below ``least``."""
    law, undecided, stack = {}, Fraction(0), [((), Fraction(1))]
    while stack:
        script, chance = stack.pop()
        if chance < least:
            undecided += chance
            continue
        branch = Branch(script)
        try:
            result = draw(branch)
        except MoreNeeded as more:
            n = more.args[0]
            stack.extend(((*script, value), chance / n) for value in range(n))
            continue
        law[result] = law.get(result, 0) + branch.chance
    return law, undecided


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(2), Fraction(1, 2), Fraction(3, 2)], ids=str)
def test_the_sampler_is_exact_by_walking_its_paths(scale):
    """One candidate: what is kept has the law, up to the paths that were not walked to their end."""
    noise = DiscreteLaplace(scale)
    law, undecided = walked(lambda branch: tuple(noise._candidates(branch, 1).tolist()), Fraction(1, 20_000))
    kept = 1 - law.pop(())
    assert undecided < Fraction(1, 12)
    assert len(law) >= 5
    for (value,), chance in law.items():
        assert chance / kept <= exact(scale, value) * (1 + 1e-12) + float(undecided)
        assert (chance + undecided) / (kept - undecided) >= exact(scale, value) * (1 - 1e-12)
    assert all(law[(v,)] == law[(-v,)] for v in (1, 2) if (v,) in law)


@pytest.mark.parametrize(("u", "t"), [(0, 3), (1, 3), (2, 3), (3, 3), (1, 7)])
def test_a_coin_of_an_exponential_is_exact(u, t):
    law, undecided = walked(lambda branch: bool(branch.decays(np.array([u]), t)[0]), Fraction(1, 10**6))
    heads = law.get(True, 0)
    assert float(heads) <= math.exp(-u / t) + 1e-12
    assert float(heads + undecided) >= math.exp(-u / t) - 1e-12
    assert undecided < Fraction(1, 500)


@given(st.integers(2, 2**62), st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5))
def test_a_draw_below_n_keeps_whole_multiples_only(n, words):
    last = 2**64 // n * n - 1
    edge = [word for word in (last + 1, 2**64 - 1) if word < 2**64]  # rejected, each time
    kept = [word for word in [*edge, *words, 0, 0, 0] if word <= last]
    assert _WholeNumbers(Words([*edge, *words, 0, 0, 0])).below(n, 1).tolist() == [kept[0] % n]


def test_a_draw_below_a_number_longer_than_a_word():
    n = 2**70 + 1
    inside = [5, 2**57]  # the low and the high word; 71 bits count
    assert _WholeNumbers(Words(inside)).below(n, 1).tolist() == [(5 + 2**57 * 2**64) >> 57]
    rejected = [0, 2**64 - 1]
    assert _WholeNumbers(Words([*rejected, *inside])).below(n, 1).tolist() == [(5 + 2**121) >> 57]


@pytest.mark.parametrize("scale", [*SCALES, BEYOND_WORDS], ids=str)
def test_the_law_by_chi_square(scale):
    from scipy.stats import chisquare

    count = 20_000 if scale == BEYOND_WORDS else 200_000
    values = DiscreteLaplace(scale).sample(seeded_rng(31), count)
    assert len(values) == count
    assert values.dtype == np.int64
    edge = 1
    while exact(scale, edge + 1) * count > 25:
        edge += 1
    inside = np.bincount(values[abs(values) <= edge] + edge, minlength=2 * edge + 1)
    seen = [*inside, (values > edge).sum(), (values < -edge).sum()]
    law = [exact(scale, value) for value in range(-edge, edge + 1)]
    rest = (1 - sum(law)) / 2
    assert chisquare(seen, np.array([*law, rest, rest]) * count).pvalue > 1e-4


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_far_values_come_as_often_as_they_should(scale):
    from scipy.stats import binomtest

    noise, count = DiscreteLaplace(scale), 400_000
    values = np.abs(noise.sample(seeded_rng(32), count))
    for width in (int(4 * scale) + 1, int(8 * scale) + 2):
        seen = int((values > width).sum())
        assert binomtest(seen, count, noise.beyond(width)).pvalue > 1e-4


def test_neighbouring_values_are_independent():
    from scipy.stats import chi2_contingency

    values = np.clip(DiscreteLaplace(Fraction(2)).sample(seeded_rng(33), 200_000), -3, 3).reshape(-1, 2)
    table = np.zeros((7, 7))
    np.add.at(table, (values[:, 0] + 3, values[:, 1] + 3), 1)
    assert chi2_contingency(table).pvalue > 1e-4


class Long(_WholeNumbers):
    """Every coin of probability exp(-1) comes up so often that V is huge."""

    def __init__(self, length):
        super().__init__(seeded_rng(1))
        self.length = length

    def runs(self, count):
        return np.full(count, self.length)


@pytest.mark.parametrize("length", [0, 10, 10**6, 10**12])
def test_noise_has_no_end(length):
    """However long a run of coins is, the value grows with it: nothing cuts it off."""
    values = np.abs(DiscreteLaplace(Fraction(2))._candidates(Long(length), 50))
    assert len(values)
    assert values.min() >= 2 * length
    assert values.max() <= 2 * length + 2


def test_a_value_beyond_a_word_is_clamped_where_no_sum_shows_it():
    largest = DiscreteLaplace(Fraction(2))._candidates(Long(2**62), 20)
    assert set(np.abs(largest).tolist()) == {2**62}
    assert -LARGEST_RESULT >= 2**53 - 2**62


def test_a_run_of_coins_goes_on():
    heads = [0, 1]  # below 2 gives 0: on to k = 3; below 3 gives 1: stop, k is odd
    tails = [1]  # below 2 gives 1: stop, k = 2 is even
    assert Branch((*(heads * 30), *tails)).runs(1).tolist() == [30]


def test_every_cell_gets_noise_the_empty_ones_too():
    noise = DiscreteLaplace(Fraction(200))
    counts = np.zeros((30, 40), np.int64)
    counts[0, 0] = 1000
    result = noise.noisy(counts, seeded_rng(3))
    assert result.shape == counts.shape
    assert result.dtype == np.int64
    assert (result != counts).mean() > 0.98
    assert (result < 0).mean() > 0.4  # noise is not clamped
    assert (result == counts + noise.sample(seeded_rng(3), counts.size).reshape(counts.shape)).all()


@pytest.mark.parametrize("bad", [[-1], [1.0], [2**53 + 1], [True]])
def test_what_is_no_count_is_refused(bad):
    with pytest.raises(DataError, match="whole numbers from 0"):
        DiscreteLaplace(Fraction(2)).noisy(np.array(bad), seeded_rng(1))


@pytest.mark.parametrize("scale", [0.5, 2, Fraction(0), Fraction(-1), Fraction(2**41), Fraction(1, 2**21)])
def test_what_is_no_scale_is_refused(scale):
    with pytest.raises(UsageError, match="scale"):
        DiscreteLaplace(scale)


def test_the_scale_is_the_sensitivity_over_epsilon():
    assert DiscreteLaplace.protecting(2, Fraction(1, 10)).scale == 20
    for sensitivity, epsilon in ((0, Fraction(1)), (1, Fraction(0))):
        with pytest.raises(UsageError):
            DiscreteLaplace.protecting(sensitivity, epsilon)


# The law ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [*SCALES, BEYOND_WORDS], ids=str)
def test_probabilities_and_tails(scale):
    noise = DiscreteLaplace(scale)
    many = range(-int(50 * scale) - 9, int(50 * scale) + 10)
    assert sum(map(noise.probability, many)) == pytest.approx(1, abs=1e-9)
    for value in (-7, -1, 0, 1, 5):
        assert noise.probability(value) == pytest.approx(exact(scale, value), rel=1e-12)
        assert noise.above(value) == pytest.approx(sum(noise.probability(z) for z in range(value + 1, many[-1])))
    for width in (0, 1, 9):
        assert noise.beyond(width) == pytest.approx(noise.above(width) + noise.above(width), rel=1e-12)
    spread = math.sqrt(sum(noise.probability(z) * z * z for z in many))
    assert noise.deviation == pytest.approx(spread, rel=1e-9)


def test_numbers_are_rounded_up():
    """At scale 1/ln 2, as near as a fraction comes from below, r is below 1/2, so every probability is known."""
    nearly = Fraction(math.log(2)).limit_denominator(10**12)
    noise = DiscreteLaplace(1 / nearly)
    assert noise.beyond(3) == pytest.approx(2 * 0.5**4 / 1.5, rel=1e-9)
    r = Fraction(noise._ratio)
    assert Fraction(noise.probability(2)) >= (1 - r) / (1 + r) * r**2
    assert Fraction(noise.beyond(3)) >= 2 * r**4 / (1 + r)
    assert Fraction(noise.above(-3)) >= 1 - r**3 / (1 + r)


@pytest.mark.parametrize("scale", [*SCALES, Fraction(1, 50), Fraction(10**6)], ids=str)
@pytest.mark.parametrize("cells", [1, 20, 4000])
def test_a_half_width_is_the_smallest_that_holds(scale, cells):
    noise = DiscreteLaplace(scale)
    width = noise.half_width(0.95, cells=cells)
    assert (1 - noise.beyond(width)) ** cells >= 0.95 - 1e-9
    assert width == 0 or (1 - noise.beyond(width - 1)) ** cells < 0.95


def test_the_half_width_at_epsilon_1():
    """2 r^(w + 1) / (1 + r) <= 0.05 with r = exp(-1/2) asks for w + 1 >= 6.43."""
    assert DiscreteLaplace.protecting(2, Fraction(1)).half_width() == 6


@pytest.mark.parametrize(("scale", "summed"), [(Fraction(2), 5), (Fraction(2), 50), (Fraction(2, 3), 7)])
def test_the_half_width_of_a_sum(scale, summed):
    noise = DiscreteLaplace(scale)
    single = np.array([exact(scale, value) for value in range(-200, 201)])
    law = single
    for _ in range(summed - 1):
        law = np.convolve(law, single)
    middle = len(law) // 2
    tails = [1 - law[middle - width : middle + width + 1].sum() for width in range(120)]
    for level in (0.5, 0.95, 0.9999):
        expected = next(width for width, tail in enumerate(tails) if tail <= 1 - level)
        assert LaplaceSum(noise, summed).half_width(level) == expected
        assert expected <= LaplaceSum(noise, summed)._chernoff(1 - level) <= 2 * expected + 4 * float(scale) + 4


def test_sums_of_one_cell_and_of_very_many():
    noise = DiscreteLaplace(Fraction(2))
    assert LaplaceSum(noise, 1).half_width(0.95, cells=20) == noise.half_width(0.95, cells=20)
    normal = 1.96 * math.sqrt(4000) * noise.deviation
    assert LaplaceSum(noise, 4000).half_width() == pytest.approx(normal, rel=0.01)
    huge = DiscreteLaplace(Fraction(10**6))  # by Chernoff's bound
    assert 1 < LaplaceSum(huge, 4000).half_width() / (1.96 * math.sqrt(4000) * huge.deviation) < 1.5


@pytest.mark.parametrize(
    "call",
    [lambda n: n.half_width(1.0), lambda n: n.half_width(0), lambda n: n.half_width(cells=0),
     lambda n: LaplaceSum(n, 0).half_width()],
)  # fmt: skip
def test_levels_and_cells_that_do_not_exist_are_refused(call):
    with pytest.raises(UsageError):
        call(DiscreteLaplace(Fraction(2)))


def test_the_same_law_as_opendp():
    """Its discrete Laplace sampler, where it is installed."""
    dp = pytest.importorskip(
        "opendp.prelude", reason="opendp is not installed: the law is compared with its own formula"
    )
    from scipy.stats import chi2_contingency

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = np.array(dp.m.make_laplace(*space, scale=2.0)([0] * 100_000))
    ours = DiscreteLaplace(Fraction(2)).sample(seeded_rng(34), 100_000)
    table = [np.bincount(np.clip(values, -12, 12) + 12, minlength=25) for values in (ours, theirs)]
    assert chi2_contingency(np.array(table)).pvalue > 1e-6
