"""K*(b){c} of a given bag: against every cell of the lifted kernel, against permanents, and against draws."""

import itertools
import math

import numpy as np
import pytest

from bags import all_bags, bag_kernel, randomized
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, UsageError
from publius.mechanisms.finite.bag_probability import log_probability
from publius.mechanisms.registry import make_kernel
from publius.noise.randomness import seeded_rng
from publius.text.bag import Bag

NAMES = ["one", "two", "three", "four"]


@pytest.fixture(scope="module")
def mechanism():
    vectors = seeded_rng(4).normal(size=(4, 2)).astype(np.float32)
    return make_kernel("exponential", Embeddings.from_arrays(NAMES, vectors, name="four"), epsilon=1.5)


def test_every_cell_of_the_lifted_kernel(mechanism):
    kernel = np.exp(mechanism.log_probabilities())
    expected = bag_kernel(kernel, 3)
    members = [Bag([NAMES[i] for i in row]) for row in all_bags(4, 3).tolist()]
    found = [[log_probability(mechanism, b, c) for c in members] for b in members]
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-12)


def test_it_is_a_permanent(mechanism):
    """Of a bag of different words: the sum over all orders of products, by the definition."""
    b, c = Bag(["one", "one", "two", "four"]), Bag(NAMES)
    places = ([NAMES.index(word) for word in bag.words()] for bag in (b, c))
    logs = mechanism.log_probabilities(np.array(next(places)))[:, next(places)]
    permanent = sum(
        math.exp(sum(logs[i, j] for i, j in enumerate(order))) for order in itertools.permutations(range(4))
    )
    assert math.exp(log_probability(mechanism, b, c)) == pytest.approx(permanent, rel=1e-12)


def test_draws_agree(mechanism):
    b, c = Bag(["one", "two"]), Bag(["two", "three"])
    rng = seeded_rng(8)
    share = np.mean([randomized(mechanism, b, rng) == c for _ in range(1500)])
    expected = math.exp(log_probability(mechanism, b, c))
    assert abs(share - expected) < 5 * math.sqrt(expected * (1 - expected) / 1500)


def test_what_no_float_holds_has_a_logarithm():
    far = Embeddings.from_arrays(["here", "there"], [[0.0], [400.0]], name="far")
    steep = make_kernel("exponential", far, epsilon=5.0)
    assert log_probability(steep, Bag(["here"]), Bag(["there"])) == pytest.approx(-2000.0)
    assert log_probability(steep, Bag(["here", "there"]), Bag(["here", "here"])) == pytest.approx(-2000.0)


def test_what_cannot_be(mechanism):
    assert log_probability(mechanism, Bag(["one"]), Bag(["one", "two"])) == -math.inf
    assert log_probability(mechanism, Bag(["one"]), Bag(["<unk>"])) == -math.inf
    assert log_probability(mechanism, Bag([]), Bag([])) == 0
    with pytest.raises(DataError):
        log_probability(mechanism, Bag(["one"]), Bag(["nowhere"]))


def test_what_would_take_too_long_is_refused(embeddings):
    large = make_kernel("exponential", embeddings, epsilon=2.0)
    words = Bag([embeddings.word(place) for place in range(19)])
    with pytest.raises(UsageError, match="permanent"):
        log_probability(large, words, words)


def test_a_mechanism_without_probabilities_is_refused(embeddings):
    with pytest.raises(UsageError, match="exponential"):
        log_probability(make_kernel("laplace", embeddings, epsilon=2.0), Bag(["river"]), Bag(["river"]))
