"""Every broken version is caught by the check that is named for it; the genuine one is not accused."""

import pytest

from audit.mutants.catalog import catalog
from audit.mutants.mutant import Mutant
from publius.audit.implementation import GENUINE
from publius.audit.outcomes import failures
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


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
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


def test_a_mutant_whose_check_does_not_exist_is_a_bug():
    mutant = Mutant("x", GENUINE, MUTANTS[-1].probe, "no such check")
    with pytest.raises(PubliusError, match="no such check"):
        mutant.caught(RunKey.seeded(1))
