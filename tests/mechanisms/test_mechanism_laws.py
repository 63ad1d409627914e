"""Laws that every mechanism in the registry keeps, and classes that break one.

The laws themselves are `publius.audit.laws`, so that a user can run them on a class of his own.
"""

import math
from bisect import bisect_left
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from scipy.stats import chi2

from bags import randomized
from publius.audit.laws import LAWS, Toy, check_laws, excess, fault, small_embeddings, word_counts, worlds
from publius.errors import PolicyError
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.exponential import Exponential
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.registry import KERNELS, kernel_class, make_kernel
from publius.noise.randomness import RunKey, seeded_rng, system_rng
from publius.option import declared
from publius.privacy.guarantee import Guarantee
from publius.text.bag import Bag
from vocabularies import CASES, brute_force, reference_rows, vocabulary

FINITE = [name for name in KERNELS if issubclass(kernel_class(name), AbstractFinite)]
EPSILON = 3.0
NO_TIGHT = [("clusters", 2), ("clusters", 10)]  # some weights are negative there


@pytest.fixture(scope="module", params=KERNELS)
def mechanism(request):
    return make_kernel(request.param, vocabulary("duplicates", 12), epsilon=EPSILON)


@pytest.fixture(scope="module")
def toy(mechanism):
    return Toy(lambda *given: made(mechanism.name, *given), mechanism.embeddings, EPSILON, 2000)


def made(name, embeddings, epsilon):
    return make_kernel(name, embeddings, epsilon=epsilon)


def test_the_table_names_each_as_it_names_itself():
    assert [kernel_class(name).name for name in KERNELS] == [*KERNELS]


@pytest.mark.parametrize("law", LAWS)
def test_law(toy, law):
    assert fault(law, toy) is None


def test_documents_are_drawn_together_and_each_as_if_alone(mechanism):
    """Each has a generator of its own, so company and threads change nothing."""
    batch = [seeded_rng(5).integers(0, 40, size) for size in (3, 0, 120)]
    together = mechanism.draw(batch, [seeded_rng(seed) for seed in (1, 2, 3)], threads=2)
    assert [len(words) for words in together] == [3, 0, 120]
    for words, seed, found in zip(batch, (1, 2, 3), together, strict=True):
        np.testing.assert_array_equal(mechanism.draw([words], [seeded_rng(seed)], threads=1)[0], found)
        np.testing.assert_array_equal(mechanism.apply(words, mechanism.noise(len(words), seeded_rng(seed))), found)
    assert mechanism.draw([], []) == []


def test_equal_vectors_have_the_same_law(mechanism):
    """Words at distance 0 must be indistinguishable. That the same noise gives the same word is enough, not needed."""
    noise = mechanism.noise(300, seeded_rng(2))
    first, second = (mechanism.apply(np.full(300, word), noise) for word in (0, 1))
    if not np.array_equal(first, second):
        counts = word_counts(mechanism, np.array([0, 1]), 100_000, RunKey.seeded(2))
        assert excess(counts, np.zeros((2, 2))) <= 0


def test_the_guarantee_is_the_one_asked_for(mechanism):
    guarantee = mechanism.guarantee
    assert guarantee.epsilon == EPSILON
    assert 0 < guarantee.delta < 1e-11
    assert guarantee.lifted(400).epsilon_total == EPSILON * 400


def test_what_it_takes_is_stated_by_the_name_that_set_takes(mechanism):
    assert declared(mechanism.Parameters).keys() <= mechanism.parameters.keys()


def test_bags_keep_their_size_and_the_facts_say_it(mechanism):
    bag = Bag([f"w{i % 40}" for i in range(50)])
    assert randomized(mechanism, bag, seeded_rng(4)).size == 50
    lifted = Lifted(mechanism, 50)
    facts = lifted.facts()
    assert (facts["mechanism"], facts["length"], facts["exponent_per_distance"]) == (
        mechanism.name, 50, EPSILON * 50,
    )  # fmt: skip
    assert lifted.charge("exponent") == 150
    with pytest.raises(PolicyError, match="--unit exponent"):
        lifted.charge("epsilon")


def chi_square(mechanism, counts, word):
    expected = np.exp(mechanism.log_probabilities(np.array([word]))[0]) * counts.sum()
    rare = expected < 5
    groups = np.append(expected[~rare], expected[rare].sum()), np.append(counts[~rare], counts[rare].sum())
    kept = groups[0] > 0
    statistic = ((groups[1] - groups[0])[kept] ** 2 / groups[0][kept]).sum()
    return statistic, chi2.isf(1e-7, max(1, kept.sum() - 1))


@pytest.mark.parametrize("name", FINITE)
def test_sampled_frequencies_are_the_stated_probabilities(name):
    mechanism = make_kernel(name, vocabulary("scattered", 3), epsilon=4.0)
    for word in (0, 17):
        draws = mechanism.apply(np.full(40_000, word), mechanism.noise(40_000, seeded_rng(word)))
        statistic, threshold = chi_square(mechanism, np.bincount(draws, minlength=40), word)
        assert statistic < threshold


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize(("kind", "n"), CASES)
def test_the_certificate_bounds_every_pair_and_output(name, kind, n):
    if name == "tight" and (kind, n) in NO_TIGHT:
        with pytest.raises(PolicyError, match="negative"):
            make_kernel(name, vocabulary(kind, n), epsilon=2.0)
        return
    mechanism = make_kernel(name, vocabulary(kind, n), epsilon=2.0)
    exact = brute_force(mechanism)
    assert exact <= mechanism.constant.epsilon <= exact * (1 + 1e-10)
    assert mechanism.constant.epsilon <= 2.0


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize(("kind", "n"), [("duplicates", 1), ("duplicates", 20), ("scattered", 3)])
def test_stated_probabilities_are_those_of_the_definition(name, kind, n):
    mechanism = make_kernel(name, vocabulary(kind, n), epsilon=2.0)
    expected = np.array(reference_rows(mechanism), np.float64)
    np.testing.assert_allclose(mechanism.log_probabilities(), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", FINITE)
def test_rows_are_normalized_and_finite_at_any_epsilon(name):
    for epsilon in (0.5, 800.0):
        if (name, epsilon) == ("tight", 0.5):
            continue
        logs = make_kernel(name, vocabulary("scattered", 12), epsilon=epsilon).log_probabilities()
        assert np.isfinite(logs).all()
        np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("name", FINITE)
def test_pushed_distributions_are_products_with_the_rows(name):
    for n in (1, 12):
        mechanism = make_kernel(name, vocabulary("duplicates", n), epsilon=3.0)
        given = seeded_rng(6).dirichlet(np.ones(40), size=3)
        expected = given @ np.exp(mechanism.log_probabilities())
        np.testing.assert_allclose(mechanism.pushed(given), expected, rtol=1e-9, atol=1e-15)
        alone = np.exp(mechanism.log_probabilities(np.array([4, 7])))
        np.testing.assert_allclose(mechanism.pushed(np.eye(40)[[4, 7]]), alone, rtol=1e-9, atol=1e-12)


# Refusal -------------------------------------------------------------------------------------------------------


def test_an_option_that_a_mechanism_does_not_take_is_refused():
    with pytest.raises(ValueError, match="takes no floor"):
        make_kernel("laplace", vocabulary(), epsilon=1.0, parameters={"floor": 0.1})
    with pytest.raises(ValueError, match="metric of its own"):
        make_kernel("mahalanobis", vocabulary(), epsilon=1.0, metric="manhattan")


# The laws themselves -----------------------------------------------------------------------------------------------


class Lawful(Kernel):
    """The word itself with probability p, else a uniform one: ln(1 + p V / (1 - p)) is at most epsilon g, and 10.

    Numbers have 53 bits, so a probability is off by up to 2^-50: e^10 times that is less than the delta.
    """

    name = "lawful"

    def _truth(self):
        distances = self.metric.pairwise(self.embeddings.vectors, self.embeddings.vectors)
        gap = distances[~np.eye(self.embeddings.size, dtype=bool)].min()
        odds = np.expm1(0.999 * min(self.epsilon * gap, 10)) / self.embeddings.size
        return odds / (1 + odds)

    @property
    def guarantee(self):
        return Guarantee(self.epsilon, self.metric.name, "proven", delta=2.0**-30)

    def noise(self, count, rng):
        return rng.random((count, 2))

    def apply(self, words, noise, *, threads=1):
        drawn = np.minimum((noise[:, 1] * self.embeddings.size).astype(np.int64), self.embeddings.size - 1)
        return np.where(noise[:, 0] < self._truth(), words, drawn)


class Boastful(Lawful):
    def _truth(self):
        return 0.8


class Unproven(Lawful):
    evidence = "none"

    @property
    def guarantee(self):
        return Guarantee(self.epsilon, self.metric.name, "none")


class OwnLots(Lawful):
    def noise(self, count, rng):
        return system_rng().random((count, 2))


class OneLot(Lawful):
    def noise(self, count, rng):
        return seeded_rng(1).random((count, 2))


class Outsider(Lawful):
    def apply(self, words, noise, *, threads=1):
        return super().apply(words, noise) + (noise[:, 1] > 0.5)


class Batched(Lawful):
    """Row by row but for the first, which stays."""

    def apply(self, words, noise, *, threads=1):
        outputs = super().apply(words, noise)
        outputs[:1] = words[:1]
        return outputs


class Changeable(Lawful):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


class Homebound(Lawful):
    def __init__(self, embeddings, **given):
        super().__init__(embeddings, **given)
        self.helper = lambda: None


class Trusting(Lawful):
    def __init__(self, embeddings, *, epsilon, **given):
        super().__init__(embeddings, epsilon=epsilon if epsilon == epsilon and 0 < epsilon < 99 else 1.0, **given)


BROKEN = {
    Boastful: "output probabilities differ by at most epsilon*d", Unproven: "the guarantee is stated",
    OwnLots: "noise does not depend on the words", OneLot: "noise does not depend on the words",
    Outsider: "outputs are words of the vocabulary", Batched: "the same noise gives the same words, row by row",
    Changeable: "what the guarantee was computed for cannot be changed",
    Homebound: "it can be sent to a worker process", Trusting: "a bad epsilon is refused",
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_a_class_that_breaks_a_law_is_caught_by_it(kind):
    toy = Toy(lambda embeddings, epsilon: kind(embeddings, epsilon=epsilon), *[*worlds()][3])
    broken = [law for law in LAWS if fault(law, toy)]
    assert BROKEN[kind] in broken
    assert len(broken) <= 2


def test_a_lawful_class_passes_all_laws_on_all_vocabularies():
    verdicts = list(check_laws(lambda embeddings, epsilon: Lawful(embeddings, epsilon=epsilon), samples=2000))
    assert len(verdicts) == 8 * len(LAWS)
    assert [each for each in verdicts if each[2]] == []


def delta_needed(kernel, truth):
    """What a coin's exact probabilities exceed exp(epsilon d) by, where a draw is a multiple of 2^-53."""
    size, grid, vectors = kernel.embeddings.size, 2**53, kernel.embeddings.vectors
    told = Fraction(math.ceil(Fraction(float(truth)) * grid), grid)
    ends = [bisect_left(range(grid), word, key=lambda k: int(k / grid * size)) for word in range(size)]
    drawn = [Fraction(b - a, grid) * (1 - told) for a, b in pairwise([*ends, grid])]
    gaps = [[(Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(x, y, strict=True)]
            for x, y in combinations(vectors, 2)]  # fmt: skip
    distance = min(sum(gap) for gap in gaps)
    distance = (Decimal(distance.numerator) / distance.denominator).sqrt()
    ratio = Fraction((Decimal(kernel.epsilon) * distance).exp() * (1 - Decimal(10) ** -40))
    return max(told + share - ratio * share for share in drawn)


def test_the_delta_of_an_example_is_enough_for_its_exact_probabilities():
    for size, epsilon in product((4, 7), (1e-9, 1e-3, 2.0, 6.0, 7.0, 7.1, 15.0, 18.0, 300.0)):
        kernel = Lawful(small_embeddings(np.eye(size), "corners"), epsilon=epsilon)
        assert delta_needed(kernel, kernel._truth()) <= kernel.guarantee.delta


# Far apart, and seen -------------------------------------------------------------------------------------------


def test_no_probability_is_zero_at_a_large_scale():
    """As a softmax in float32 has it (SanText), hence an infinite ratio: here the constant is attained."""
    mechanism = Exponential(vocabulary("scattered", 3), epsilon=90.0)
    vectors = mechanism.embeddings.vectors
    logs, d = mechanism.log_probabilities(), mechanism.metric.pairwise(vectors, vectors)
    ratios = (logs[:, None, :] - logs[None, :, :]).max(axis=2)
    assert (ratios[d > 0] / d[d > 0]).max() == pytest.approx(mechanism.constant.epsilon, rel=1e-9)


def test_frequencies_tell_a_sampler_of_another_scale():
    """The chi-square of samples against stated probabilities sees a sampler whose scale is 5 % off."""
    stated, mutant = (Exponential(vocabulary("scattered", 3), epsilon=s) for s in (3.0, 3.15))
    draws = mutant.apply(np.full(40_000, 17), mutant.noise(40_000, seeded_rng(9)))
    statistic, threshold = chi_square(stated, np.bincount(draws, minlength=40), 17)
    assert statistic > threshold
