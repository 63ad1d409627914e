"""The position mechanism: what it promises, and that nothing but public words leaves."""

import numpy as np
import pytest

from publius.errors import UsageError
from publius.mechanisms.position import Position
from publius.noise.randomness import RunKey, seeded_rng
from references import fitted, made

FEATURES = seeded_rng(3).normal(size=(40, 1))


def position(**parameters):
    return Position(made(FEATURES, [[-1.0], [1.0]], low=[-0.5], high=[0.5]), **parameters)


def test_the_bound_is_epsilon_times_the_diameter_of_the_box():
    given = position(epsilon=3.0).guarantee
    assert given.bound == pytest.approx(3.0)
    assert given.bound >= 3.0
    assert given.epsilon == 3.0
    assert given.evidence == "proven"
    assert 0 < given.delta < 1e-200
    asked = position(bound=7.0).guarantee
    assert asked.bound == 7.0
    assert asked.epsilon * 1.0 <= 7.0


def test_documents_beyond_the_box_are_the_same():
    mechanism = position(bound=5.0)
    far = np.flatnonzero(FEATURES[:, 0] > 0.5)
    noise = [mechanism.noise(seeded_rng(2))] * len(far)
    released = mechanism.apply([np.array([i]) for i in far], noise)
    assert len({found.bag for found in released}) == 1


def test_the_bag_leans_to_where_the_document_lies():
    mechanism = position(bound=20.0, length=60)
    low, high = np.argsort(FEATURES[:, 0])[[0, -1]]
    key, means = RunKey.seeded(4), []
    for document in (low, high):
        drawn = mechanism.draw([np.array([document])] * 30, [key.rng(f"{document}/{i}") for i in range(30)])
        words = [int(word[1:]) for found in drawn for word in found.bag.words()]
        means.append(FEATURES[words, 0].mean())
    assert means[1] - means[0] > 0.5


def test_a_bag_of_public_words_of_the_asked_size_and_nothing_else():
    mechanism = position(bound=5.0, length=17)
    found = mechanism.draw([np.array([], np.int64), np.array([0] * 1000)], [seeded_rng(1), seeded_rng(2)])
    assert all(outcome.bag.size == 17 for outcome in found)
    assert all(outcome.prototype is None and outcome.label is None for outcome in found)
    assert mechanism.outcomes == []


def test_a_bound_or_an_epsilon_is_needed():
    with pytest.raises(UsageError):
        position()


def test_it_works_on_a_fitted_reference():
    found = Position(fitted(), bound=6.0).draw([np.array([0, 1])], [seeded_rng(1)])[0]
    assert found.bag.size == 40
