"""Every broken version is caught by the check that is named for it; the genuine one is not accused."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.stats import binom, chi2, gamma, ncx2, norm

from audit.mutants import noises
from audit.mutants.catalog import catalog
from audit.mutants.finite import _SAMPLED, _SAMPLES, GENUINE_FINITE
from audit.mutants.mutant import Mutant
from publius.audit.implementation import GENUINE
from publius.audit.outcomes import ALPHA, failures
from publius.errors import PubliusError
from publius.noise.randomness import RunKey

MUTANTS = catalog()


def looks(mutant):
    """What its probe looks at; the observable ones have a probe each, of which some look at the same."""
    broken = getattr(mutant.probe, "__self__", None)
    return (broken.caught_by, broken.world, broken.way) if broken else mutant.probe


PROBES = {looks(mutant): mutant for mutant in MUTANTS}


def test_there_are_enough():
    assert len(MUTANTS) >= 40
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


FIRST = {mutant.caught_by: mutant.name for mutant in reversed(MUTANTS)}
"""One of each check; the fast audit of the gate tries the others, too."""


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(mutant, marks=() if mutant.name in FIRST.values() else pytest.mark.broken)
        for mutant in MUTANTS
    ],
    ids=lambda mutant: mutant.name,
)
def test_caught_by_its_check(mutant):
    assert mutant.caught(RunKey.seeded(21))


LONGEST = {"finite: uniforms of eight bits"}
"""Whose probe takes a fifth of the time of all of them where it accuses nobody."""


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(mutant, marks=pytest.mark.long if mutant.name in LONGEST else ())
        for mutant in PROBES.values()
    ],
    ids=lambda mutant: mutant.name,
)
def test_the_genuine_version_is_not_accused(mutant):
    assert failures(mutant.probe(mutant.genuine, RunKey.seeded(22))) == []


LUCK = 1e-7
"""The chance to escape that a broken version may have in an audit; the next test computes it where it is not 0."""


def scale(share, n, draws):
    """Of a mean radius that is off by ``share``, against the normal law that is tested."""
    apart = share * math.sqrt(n * draws)
    return norm.cdf((-norm.ppf(ALPHA / 2) - apart) / (1 - share))


def too_long(draws):
    """Of one radius in two thousand three times as long, beyond the 99.99 % quantile."""
    beyond = 0.0005 * gamma.sf(gamma.ppf(0.9999, 10) / 3, 10) + 0.9995 * 0.0001
    least = int(binom.isf(ALPHA / 2, draws, 0.0001)) + 2
    return binom.cdf(least, draws, beyond)


def words_kept(draws):
    """Of one word in a hundred that stays: each input's chi-square misses."""
    kernel = np.exp(GENUINE_FINITE.mechanism(_SAMPLED.embeddings, _SAMPLED.epsilon).log_probabilities())
    kept, size = 0.99 * kernel + 0.01 * np.eye(len(kernel)), len(kernel)
    apart = ((kept - kernel) ** 2 / kernel).sum(axis=1) * draws / size
    return float(np.prod(ncx2.cdf(chi2.isf(ALPHA / size, size - 1), size - 1, apart)))


@pytest.mark.parametrize(
    ("chance", "draws"),
    [
        (partial(scale, 0.02, 2), noises._MUCH),
        (partial(scale, 0.005, 300), 20_000),
        (too_long, noises._MUCH),
        (words_kept, _SAMPLES),
    ],
    ids=["scale", "scale in 300 dimensions", "too long", "words kept"],
)
def test_none_escapes_by_luck(chance, draws):
    """A tenth of the draws would not do, which shows that the chance is computed."""
    assert chance(draws) <= LUCK < chance(draws // 10)


def test_a_mutant_whose_check_does_not_exist_is_a_bug():
    mutant = Mutant("x", GENUINE, MUTANTS[-1].probe, "no such check")
    with pytest.raises(PubliusError, match="no such check"):
        mutant.caught(RunKey.seeded(1))
