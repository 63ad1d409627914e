"""The outcome "none of these": what fits no prototype or has no text, counted in M and inside the bound."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from publius.errors import DataError
from publius.mechanisms.prototype import TOTAL, Prototype, fidelity
from publius.noise.randomness import seeded_rng
from publius.vectors.learning.prototypes import NONE_OF_THESE, Prototypes, farthest
from publius.vectors.learning.reference import open_reference
from references import fitted, made, public_documents

FEATURES, POINTS = seeded_rng(3).normal(size=(6, 2)), seeded_rng(4).normal(size=(4, 2))
bags = st.lists(st.integers(0, 6), min_size=0, max_size=6).map(lambda words: np.array(words, np.int64))


def within(reach, *, rule="nearest", empty=(3.0, 3.0)):
    """A reference whose documents may be so far from their prototype."""
    whole = made(FEATURES, POINTS, rule=rule, empty=empty)
    topic = whole.aspect("topic")
    own = replace(topic.sets[0], farthest={"nearest": reach, "cosine": reach})
    return replace(whole, aspects={"topic": replace(topic, sets=(own,))})


@settings(max_examples=60, deadline=None)
@given(bags, bags, st.floats(0.1, 9), st.sampled_from([0.0, 0.05, 0.5]), st.floats(0.01, 3))
def test_it_is_counted_among_all_outcomes_and_inside_both_constants(a, b, bound, gamma, reach):
    mechanism = Prototype(within(reach), bound=bound, gamma=gamma)
    one, two = mechanism.weights([a, b]).tolist()
    assert len(one) == len(POINTS) + 1 == mechanism.crowd_outcomes == len(mechanism.outcomes)
    assert sum(one) == sum(two) == TOTAL
    largest = max(Fraction(x, y) for x, y in zip(one + two, two + one, strict=True))
    assert math.log(largest) <= bound + 1e-15
    assert mechanism.probability_kept == fidelity(bound, 5)
    if gamma:
        assert math.log(largest) <= mechanism.guarantee.epsilon * mechanism.between(a, b).distance + 1e-9


@pytest.mark.parametrize("gamma", [0.0, 0.02])
def test_a_text_beyond_the_public_distance_and_one_without_words_are_none_of_these(gamma):
    words = [np.array([word]) for word in range(6)]
    gaps = np.sqrt(((FEATURES[:, None] - POINTS[None]) ** 2).sum(axis=2)).min(axis=1)
    reach = float(np.sort(gaps)[3:5].mean())
    mechanism = Prototype(within(reach), bound=5.0, gamma=gamma)
    assert mechanism.fit_none(words).tolist() == (gaps > reach + gamma).tolist()
    assert mechanism.fit_none([np.array([], np.int64)]).tolist() == [True]
    assert mechanism.outcomes[-1].label == NONE_OF_THESE
    none = mechanism.law([np.array([], np.int64)])[0]
    assert none.argmax() == len(POINTS)
    assert none[-1] == pytest.approx(fidelity(5.0, 5), rel=1e-3)


def test_by_direction_too():
    mechanism = Prototype(within(0.05, rule="cosine"), bound=5.0)
    directions = FEATURES / np.linalg.norm(FEATURES, axis=1, keepdims=True)
    cosines = (directions @ (POINTS / np.linalg.norm(POINTS, axis=1, keepdims=True)).T).max(axis=1)
    words = [np.array([word]) for word in range(6)]
    assert mechanism.fit_none(words).tolist() == (1 - cosines > 0.05).tolist()


def test_an_older_reference_opens_and_only_texts_without_words_are_none(tmp_path):
    old = made(FEATURES, POINTS)
    assert old.aspect("topic").sets[0].farthest is None
    stored = old.save(tmp_path / "old")
    mechanism = Prototype(stored, bound=3.0)
    assert mechanism.farthest is None
    assert not mechanism.fit_none([np.array([word]) for word in range(6)]).any()
    assert mechanism.fit_none([np.array([], np.int64)]).all()
    before = Prototype(stored, bound=3.0, none_of_these=False)
    assert before.law([np.array([0])]).shape == (1, 4)
    assert "none_of_these" not in before.parameters


def test_a_fitted_reference_stores_the_distance_and_its_digest_covers_it(tmp_path):
    reference = fitted()
    sets = [found for aspect in reference.aspects.values() for found in aspect.sets]
    assert all(found.farthest is not None and found.farthest["nearest"] > 0 for found in sets)
    stored = reference.save(tmp_path / "toy")
    assert open_reference(tmp_path / "toy").aspect("topic").sets[0].farthest == sets[0].farthest
    topic = stored.aspect("topic")
    other = replace(topic.sets[0], farthest={"nearest": 9.0, "cosine": 1.0})
    changed = replace(reference, aspects={**reference.aspects, "topic": replace(topic, sets=(other,))})
    assert changed.sha256 != reference.sha256


def test_nearly_all_public_texts_fit_and_foreign_ones_do_not():
    reference = fitted()
    mechanism = Prototype(reference, bound=5.0)
    documents = [
        np.array([reference.places[word] for word in words if word in reference.places], np.int64)
        for words, _ in public_documents(300, seed=17)
    ]
    assert mechanism.fit_none(documents).mean() <= 0.1
    shared = [reference.places[word] for word in ("morning", "evening") if word in reference.places]
    assert mechanism.fit_none([np.array([], np.int64)]).all()
    assert shared


def test_the_distance_is_a_quantile_of_held_out_positions():
    positions = np.linspace(0, 1, 101)[:, None]
    assert farthest(positions, np.zeros((1, 1)))["nearest"] == pytest.approx(0.99)


def test_no_topic_may_have_its_name():
    prototypes = made(FEATURES, POINTS).aspect("topic").sets[0]
    with pytest.raises(DataError, match="none of these"):
        Prototypes(
            prototypes.points, (NONE_OF_THESE, "b", "c", "d"), prototypes.words, prototypes.weights, 0.2
        )
