"""The prototype mechanism: an exact law, both constants, the corner cases."""

import math
import struct
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from publius.distances.earth_mover import vector_transport
from publius.errors import DataError, UsageError
from publius.mechanisms.mechanism import TOTAL
from publius.mechanisms.prototype import Prototype, fidelity
from publius.mechanisms.registry import make_document_mechanism, mechanism_class
from publius.mechanisms.whole import Noise
from publius.noise.randomness import RunKey, seeded_rng
from publius.text.bag import Bag
from publius.vectors.learning.prototypes import WORD_DRAWS
from references import fitted, made

FEATURES = seeded_rng(3).normal(size=(6, 2))
POINTS = seeded_rng(4).normal(size=(4, 2))
bags = st.lists(st.integers(0, 6), min_size=0, max_size=7).map(lambda words: np.array(words, np.int64))
spread = st.floats(0.01, 2, allow_nan=False)


def prototype(**parameters):
    return Prototype(made(FEATURES, POINTS), **parameters)


@settings(max_examples=60, deadline=None)
@given(bags, bags, st.floats(0.01, 12), st.sampled_from([0.0, 0.05, 0.5]))
def test_any_two_documents_are_within_the_bound_in_whole_numbers(a, b, bound, gamma):
    mechanism = prototype(bound=bound, gamma=gamma)
    one, two = mechanism.weights([a, b]).tolist()
    assert sum(one) == sum(two) == TOTAL
    largest = max(Fraction(x, y) for x, y in zip(one + two, two + one, strict=True))
    assert math.log(largest) <= mechanism.guarantee.bound + 1e-15
    assert mechanism.guarantee.bound == bound


@settings(max_examples=60, deadline=None)
@given(bags, bags, st.floats(0.2, 10), st.floats(0.02, 1))
def test_no_two_documents_lose_more_than_epsilon_times_their_distance(a, b, bound, gamma):
    mechanism = prototype(bound=bound, gamma=gamma)
    rows = [found if len(found) else np.array([6]) for found in (a, b)]
    (left, m), (right, n) = (np.unique(found, return_counts=True) for found in rows)
    features = mechanism.aspect.features
    distance = vector_transport(features[left], features[right], counts_x=m, counts_y=n).distance_upper
    law = np.log(mechanism.law([a, b]))
    assert np.abs(law[0] - law[1]).max() <= mechanism.guarantee.epsilon * distance + 1e-9
    gap = mechanism.between(a, b)
    assert gap.feature_distance <= gap.distance + 1e-12
    assert gap.exact <= gap.exponent + 1e-9


@settings(max_examples=60, deadline=None)
@given(st.lists(spread, min_size=2, max_size=2), st.lists(spread, min_size=2, max_size=2), st.floats(1e-6, 1))
def test_margin_scores_move_no_further_than_the_position(x, y, gamma):
    mechanism = prototype(bound=1.0, gamma=gamma)
    points = np.array([x, y])
    scores = mechanism.margin_scores(points)
    assert np.abs(scores[0] - scores[1]).max() <= np.linalg.norm(points[0] - points[1]) + 1e-12


@settings(max_examples=60, deadline=None)
@given(st.lists(spread, min_size=2, max_size=2), st.lists(spread, min_size=2, max_size=2))
def test_clipping_moves_no_two_positions_apart(x, y):
    aspect = made(FEATURES, POINTS, low=[-0.1, 0.2], high=[0.4, 0.9]).aspect("topic")
    points = np.array([x, y])
    clipped = aspect.saturated(points)
    assert np.linalg.norm(clipped[0] - clipped[1]) <= np.linalg.norm(points[0] - points[1]) + 1e-15
    assert np.linalg.norm(clipped[0] - clipped[1]) <= aspect.diameter


@pytest.mark.parametrize("gamma", [0.0, 0.3])
def test_what_comes_out_follows_the_stated_law(gamma):
    mechanism = prototype(bound=2.0, gamma=gamma, length=5)
    document, key = np.array([0, 1, 1, 4]), RunKey.seeded(11)
    draws = mechanism.draw([document] * 6000, [key.rng(str(i)) for i in range(6000)])
    law = mechanism.law([document])[0]
    counts = np.bincount([found.prototype for found in draws], minlength=5)
    assert chisquare(counts, law * 6000).pvalue > 1e-5
    words = np.zeros(6)
    for found in draws:
        for word, count in found.bag.counts.items():
            words[int(word[1:])] += count
    expected = np.zeros(6)
    for k, share in enumerate(law):
        words_of, weights_of = mechanism.drawable_words
        expected[words_of[k]] += share * weights_of[k] / 2**32
    assert chisquare(words, expected * words.sum()).pvalue > 1e-5


def test_the_law_knows_neither_order_nor_size_nor_company():
    mechanism = prototype(bound=3.0, gamma=0.4)
    some = [np.array([0, 1, 2]), np.array([2, 0, 1] * 7), np.array([5]), np.array([], np.int64)]
    together = mechanism.weights(some)
    assert (together[0] == together[1]).all()
    for row, document in zip(together, some, strict=True):
        assert (mechanism.weights([document])[0] == row).all()


def test_the_empty_document_and_unknown_words_stand_at_the_public_point():
    reference = made(FEATURES, POINTS, empty=[0.25, -0.5])
    mechanism = Prototype(reference, bound=3.0, gamma=0.4)
    nothing, unknown = mechanism.weights([np.array([], np.int64), np.array([6, 6, 6])])
    assert (nothing == unknown).all()
    assert mechanism.positions([np.array([], np.int64)])[0].tolist() == [0.25, -0.5]


def test_the_same_bits_give_the_same_release_whatever_the_batch():
    mechanism = prototype(bound=2.0)
    documents = [np.array([i % 6]) for i in range(9)]
    noise = [mechanism.noise(seeded_rng(i)) for i in range(9)]
    together = mechanism.apply(documents, noise)
    alone = [
        mechanism.apply([document], [found])[0] for document, found in zip(documents, noise, strict=True)
    ]
    assert list(together) == alone


def test_epsilon_and_bound_give_one_another():
    reference = made(FEATURES, POINTS)
    soft = Prototype(reference, bound=4.0, gamma=0.5)
    again = Prototype(reference, bound=4.0, epsilon=soft.guarantee.epsilon)
    assert again.gamma == pytest.approx(0.5)
    assert again.guarantee.epsilon <= soft.guarantee.epsilon * (1 + 1e-11)
    alone = Prototype(reference, epsilon=soft.guarantee.epsilon, gamma=0.5)
    assert alone.guarantee.bound == pytest.approx(4.0)
    assert Prototype(reference, epsilon=3.0).guarantee.bound > 0
    assert Prototype(reference, bound=4.0, gamma=0.0).guarantee.epsilon is None


def test_one_prototype_and_prototypes_that_coincide():
    alone = Prototype(made(FEATURES, POINTS[:1]), bound=2.0, none_of_these=False)
    assert alone.law([np.array([0])]).tolist() == [[1.0]]
    twins = Prototype(made(FEATURES, [POINTS[0], POINTS[0], POINTS[1]], margin=0.0), bound=2.0)
    law = twins.law([np.array([i]) for i in range(6)])
    assert (law[:, 1] == law[:, 1].min()).all()  # the first of equals is chosen
    soft = Prototype(made(FEATURES, [POINTS[0], POINTS[0], POINTS[1]]), bound=2.0, gamma=0.2)
    assert np.ptp(soft.law([np.array([0])])[0][:2]) < 1e-12


def test_a_document_of_one_word_and_of_a_million():
    mechanism = prototype(bound=2.0, gamma=0.3)
    long = np.tile(np.array([0, 3]), 500_000)
    assert (mechanism.weights([long])[0] == mechanism.weights([np.array([0, 3])])[0]).all()
    assert mechanism.randomize(Bag(["w3"])).bag.size == mechanism.length


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"bound": 0.0},
        {"bound": math.nan},
        {"bound": 31.0},
        {"epsilon": -1.0},
        {"bound": 1.0, "gamma": -0.1},
        {"bound": 1.0, "gamma": 1e-300},
        {"bound": 1.0, "length": 0},
        {"bound": 1.0, "epsilon": 1.0, "gamma": 1.0},
        {"bound": 1.0, "prototypes": 3},
        {"bound": 1.0, "preserve": "meaning"},
    ],
)
def test_what_cannot_be_is_refused(parameters):
    with pytest.raises(UsageError):
        prototype(**parameters)


def test_the_registry_names_what_is_there():
    with pytest.raises(UsageError, match="here whole documents are protected"):
        make_document_mechanism("laplace", fitted(), bound=1.0)
    with pytest.raises(UsageError, match=r"prototype protects whole documents, .* say topic or meaning"):
        mechanism_class("prototype")
    with pytest.raises(UsageError, match="takes no gamma"):
        make_document_mechanism("position", fitted(), bound=1.0, gamma=0.1)


def test_words_outside_the_reference_are_refused_without_being_named():
    with pytest.raises(DataError) as caught:
        prototype(bound=1.0).randomize(Bag(["secret"]))
    assert "secret" not in str(caught.value)


def test_the_set_that_keeps_most_at_the_bound_is_taken():
    reference = fitted()
    sets = reference.aspect("meaning").sets
    for bound in (0.5, 3.0, 8.0):
        taken = Prototype(reference, preserve="meaning", bound=bound).prototypes
        kept = {found.size: fidelity(bound, found.size + 1) * found.quality for found in sets}
        assert kept[taken.size] == max(kept.values())


@pytest.mark.parametrize("name", ["prototype", "position"])
def test_drawing_by_key_is_a_documents_own_whatever_its_company(name):
    mechanism = make_document_mechanism(name, made(FEATURES, POINTS), bound=2.0)
    documents, ids, key = [np.array([i]) for i in range(6)], [f"d{i}" for i in range(6)], RunKey.seeded(8)
    together = mechanism.draw_keyed(documents, ids, key)
    assert list(mechanism.draw_keyed(documents[::-1], ids[::-1], key)) == together[::-1]
    for document, document_id, found in zip(documents, ids, together, strict=True):
        assert list(mechanism.draw_keyed([document], [document_id], key)) == [found]
    assert len({found.bag for found in together}) == len(together)


@pytest.mark.parametrize("length", [1, 2, 37])
def test_words_are_drawn_by_whole_number_weights(length):
    """By the definition: a number below 2^32 is the word in whose share it lies, words in alphabetical order."""
    mechanism = Prototype(fitted(), bound=4.0, length=length)
    noise = [mechanism.noise(seeded_rng(i)) for i in range(40)]
    documents = [np.array([i % 9]) for i in range(40)]
    vocabulary, (words_of, weights_of) = mechanism.reference.vocabulary, mechanism.drawable_words
    for found, drawn in zip(mechanism.apply(documents, noise), noise, strict=True):
        shares = zip(words_of[found.prototype].tolist(), weights_of[found.prototype].tolist(), strict=True)
        order = sorted((vocabulary[word], weight) for word, weight in shares)
        words = []
        for number in struct.unpack(f"<{length}I", drawn.bits[8:]):
            for word, weight in order:
                number -= weight
                if number < 0:
                    words.append(word)
                    break
        assert found.bag == Bag(words)
        assert list(found.bag.counts) == sorted(found.bag.counts)


def test_a_draw_just_before_and_at_the_end_of_a_words_share():
    """Shares from one part of 2^32 to half of all, so that many end between two neighbouring multiples of 2^20."""
    shares = np.array([1, 1, 2**20 - 2, 2**20, 3, 2**31, *[5] * 400, 2**22 + 7])
    weights = np.array([*shares, WORD_DRAWS - shares.sum()])
    plain = made(seeded_rng(5).normal(size=(len(weights), 2)), [[0.0, 0.0]])
    topic = plain.aspect("topic")
    own = replace(topic.sets[0], words=np.arange(len(weights))[None], weights=weights[None])
    reference = replace(plain, aspects={"topic": replace(topic, sets=(own,))})
    by_name = sorted(range(len(weights)), key=reference.vocabulary.__getitem__)
    ends = np.cumsum(weights[by_name])
    for end, word, following in zip(ends.tolist(), by_name, [*by_name[1:], None], strict=True):
        mechanism = Prototype(reference, bound=4.0, length=2)
        draws = [end - 1, end if following is not None else end - 1]
        noise = Noise(np.zeros(0), struct.pack("<QII", 0, *draws))
        expected = [word, word if following is None else following]
        bag = mechanism.apply([np.zeros(1, np.int64)], [noise])[0].bag
        assert bag == Bag([reference.vocabulary[place] for place in expected])


def test_the_choice_reaches_the_limit_of_any_mechanism():
    mechanism = prototype(bound=3.0, gamma=0.0)
    assert mechanism.law([np.array([0])]).max() == pytest.approx(fidelity(3.0, 5), rel=1e-12)
