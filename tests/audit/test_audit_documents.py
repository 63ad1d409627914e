"""The audit of document mechanisms: the genuine ones pass, and what it checks with agrees with other ways to it."""

import numpy as np
import pytest

from audit.mutants.documents import document_mutants
from publius.audit.documents import (
    LARGEST_EXCESS,
    _in_line,
    check_document_draws,
    check_documents,
    check_own_texts,
    check_positions,
    check_what_leaves,
)
from publius.audit.implementation import GENUINE
from publius.audit.levels import FULL
from publius.audit.toy_references import document_worlds
from publius.distances.earth_mover import vector_transport
from publius.noise.randomness import RunKey


def test_the_genuine_mechanisms_pass():
    cells = check_documents(GENUINE, 10**5)
    assert all(check.passed for check in cells.checks)
    assert cells.figures["document_cells"] >= 10**5
    assert cells.figures["document_worst_excess"] <= LARGEST_EXCESS
    for found in (
        check_positions(GENUINE, 3),
        check_what_leaves(GENUINE, RunKey.seeded(1)),
        check_own_texts(GENUINE),
    ):
        assert all(check.passed for check in found.checks)
    assert all(check.passed for check in check_document_draws(GENUINE, 5000, RunKey.seeded(2)).checks)


def test_the_full_audit_has_the_promised_cells():
    assert FULL.document_cells >= 10**7
    assert len(document_mutants()) >= 15
    assert len({mutant.name for mutant in document_mutants()}) == len(document_mutants())


def test_worlds_are_soft_and_sharp_in_one_and_two_dimensions():
    worlds = list(document_worlds(12))
    assert {world.reference.aspect("topic").dimension for world in worlds} == {1, 2}
    assert any(world.gamma == 0 for world in worlds)
    assert any(world.gamma > 0 for world in worlds)
    assert {len(document) for document in worlds[0].documents} == set(range(6))


@pytest.mark.parametrize("seed", range(5))
def test_the_distance_in_line_is_the_solvers(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=4)
    shares, bags = [], []
    for size in (3, 5):
        bag = rng.integers(0, 4, size)
        bags.append(bag)
        shares.append(np.bincount(bag, minlength=4) / size)
    found = _in_line(np.array(shares), values)[0, 1]
    (left, m), (right, n) = (np.unique(bag, return_counts=True) for bag in bags)
    solved = vector_transport(values[left][:, None], values[right][:, None], counts_x=m, counts_y=n)
    assert found == pytest.approx(solved.distance, abs=1e-12)


@pytest.mark.parametrize("name", ["normalizer forgotten", "margin not halved", "an unknown word passes"])
def test_a_few_broken_versions_are_caught(name):
    mutant = next(found for found in document_mutants() if found.name == f"document: {name}")
    assert mutant.caught(RunKey.seeded(3))
