"""`Lifted`: the theorem on toy inputs, exhaustively; rows drawn alone; short documents; order."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2

import publius
from bags import all_bags, bag_kernel, by_assignment
from publius.embeddings.embeddings import Embeddings
from publius.errors import UsageError
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.registry import make_kernel
from publius.noise.randomness import RunKey, seeded_rng
from publius.text.bag import Bag, drawn_pads, pad_places
from toy import WORDS, sentence

NAMES = ["aa", "bb", "cc", "dd"]


@pytest.fixture(scope="module")
def four():
    vectors = seeded_rng(4).normal(size=(4, 2)).astype(np.float32)
    return Embeddings.from_arrays(NAMES, vectors, name="four", tokenizer="word2vec")


def lifted(embeddings, length=3, epsilon=1.5, kernel="exponential", **more):
    return Lifted(make_kernel(kernel, embeddings, epsilon=epsilon), length, stop_words="none", **more)


def test_no_pair_of_bags_and_no_output_is_beyond_the_guarantee(four):
    """All documents of three words, all released bags: the exact law against epsilon * N * E."""
    mechanism = lifted(four)
    law = np.log(bag_kernel(np.exp(mechanism.kernel.log_probabilities()), 3))
    members = [Bag([NAMES[i] for i in row]) for row in all_bags(4, 3).tolist()]
    tightest = 0.0
    for (one, b), (other, c) in itertools.combinations(enumerate(members), 2):
        stated = mechanism.bound(mechanism.distance(" ".join(b.words()), " ".join(c.words()))).exponent
        assert stated == pytest.approx(1.5 * 3 * by_assignment(b, c, four), rel=1e-9)
        found = np.abs(law[one] - law[other]).max()
        assert found <= stated
        tightest = max(tightest, found / stated)
    assert tightest > 0.99


@pytest.mark.parametrize("kernel", ["exponential", "tight"])
def test_released_bags_have_the_exact_law(four, kernel):
    mechanism = lifted(four, epsilon=3.0, kernel=kernel)
    law = bag_kernel(np.exp(mechanism.kernel.log_probabilities()), 3)
    members = [tuple(row) for row in all_bags(4, 3).tolist()]
    start = members.index((0, 1, 1))
    drawn = mechanism.protect(["bb aa bb"] * 6000, range(6000), RunKey.seeded(2))
    seen = Counter(tuple(sorted(NAMES.index(word) for word in each.bag.words())) for each in drawn)
    expected = law[start] * 6000
    counts = np.array([seen[each] for each in members])
    kept = expected > 3
    assert ((counts - expected)[kept] ** 2 / expected[kept]).sum() < chi2.isf(1e-7, kept.sum())


def test_a_row_is_drawn_alone_and_order_is_forgotten(embeddings):
    mechanism, key = lifted(embeddings, 10, kernel="laplace"), RunKey.seeded(3)
    texts = [sentence(row, 4 + row % 12) for row in range(30)]
    together = mechanism.protect(texts, range(30), key)
    assert together == [mechanism.protect([texts[row]], [row], key)[0] for row in range(30)]
    backwards = mechanism.protect([texts[row] for row in range(29, -1, -1)], range(29, -1, -1), key)
    assert list(backwards) == list(together)[::-1]
    turned = [" ".join(reversed(text.split()[:10])) for text in texts]
    assert [each.bag for each in mechanism.protect(turned, range(30), key)] == [each.bag for each in together]
    assert all(each.bag.size == 10 and each.label is None and each.words is None for each in together)


def test_every_bag_is_of_the_length(embeddings):
    drawn = lifted(embeddings, 5, kernel="laplace").protect(
        ["river xyzzy", "", sentence(1, 9)], [0, 1, 2], RunKey.seeded(1)
    )
    assert [each.bag.size for each in drawn] == [5, 5, 5]


# Short documents ---------------------------------------------------------------------------------------------------


def exact_law(mechanism, text):
    """The law of the released bag: over every choice of pads, and every output."""
    words = text.split()
    kernel = np.exp(mechanism.kernel.log_probabilities())
    vocabulary = mechanism.vocabulary
    places, ends = pad_places(vocabulary, mechanism.encoding.stop_words), []
    for place in places.tolist():  # the share of each pad, from the draw itself
        draws = drawn_pads(vocabulary, mechanism.encoding.stop_words, np.arange(0, 2**32, 2**20, dtype="<u4").tobytes())
        ends.append((draws == place).mean())
    members = [tuple(row) for row in all_bags(len(kernel), mechanism.length).tolist()]
    bags = bag_kernel(kernel, mechanism.length)
    law = np.zeros(len(members))
    missing = mechanism.length - len(words)
    for pads in itertools.product(range(len(places)), repeat=missing):
        chance = math.prod(ends[pad] for pad in pads)
        given = tuple(sorted([*(vocabulary.index(word) for word in words), *(int(places[pad]) for pad in pads)]))
        law += chance * bags[members.index(given)]
    return law


@pytest.mark.parametrize("texts", [("aa", "aa bb cc"), ("aa", "bb"), ("cc dd", "aa")])
def test_what_is_stated_holds_for_the_exact_law_of_filled_documents(four, texts):
    mechanism = lifted(four, epsilon=1.0)
    one, two = (exact_law(mechanism, text) for text in texts)
    assert one.sum() == pytest.approx(1)
    worst = np.abs(np.log(one / two)).max()
    assert 0.1 < worst <= mechanism.bound(mechanism.distance(*texts)).exponent


def test_the_distance_is_the_largest_over_what_may_be_drawn(four):
    """Against every choice of pads, by the Earth Mover's distance itself, and by places in order."""
    far = max(publius.earth_movers_distance(Bag(["aa", pad]), Bag(["bb", "cc"]), four) for pad in NAMES)
    assert far <= lifted(four, 2).distance("aa", "bb cc") <= 1.5 * far
    texts = ("aa dd", "bb aa cc")
    far = max(
        publius.earth_movers_distance(Bag(["aa", "dd", pad, *pads]), Bag(["bb", "aa", "cc", *pads]), four)
        for pad in NAMES for pads in (["aa"], ["cc"])
    )  # fmt: skip
    for one, two in (texts, texts[::-1]):
        assert far <= lifted(four, 4).distance(one, two) <= 1.5 * far
    apart = {(a, b): publius.earth_movers_distance(Bag([a]), Bag([b]), four) for a in NAMES for b in NAMES}
    in_order = apart["aa", "bb"] + max(apart[pad, "cc"] for pad in NAMES)
    assert lifted(four, 2, ordered=True).distance("aa", "bb cc") == pytest.approx(in_order, rel=1e-6)


def test_no_token_tells_how_long_a_document_is(embeddings):
    mechanism = Lifted(Laplace(embeddings, epsilon=1e6), 40, stop_words="none")
    drawn = mechanism.protect(["river"] * 30, range(30), RunKey.seeded(2))
    assert max(max(each.bag.counts.values()) for each in drawn) < 20


def test_pads_change_nothing_of_a_document_that_needs_none(embeddings):
    text = sentence(4, 10)
    bags = [
        Lifted(Laplace(embeddings, epsilon=5.0), 10, stop_words=stops).protect([text], [3], RunKey.seeded(3))
        for stops in ("none", "english")  # other pads, the same words
    ]
    assert bags[0] == bags[1]


# Order -------------------------------------------------------------------------------------------------------------


def test_ordered_text_adds_distances_place_by_place(four):
    mechanism = lifted(four, 2, ordered=True)
    (outcome,) = mechanism.protect(["aa bb"], [0], RunKey.seeded(1))
    assert len(outcome.words) == 2
    assert Bag(outcome.words) == outcome.bag
    swapped = mechanism.distance("aa bb", "bb aa")
    assert swapped == pytest.approx(2 * publius.earth_movers_distance(Bag(["aa"]), Bag(["bb"]), four))
    assert mechanism.bound(swapped).exponent == pytest.approx(1.5 * swapped)
    assert lifted(four, 2).distance("aa bb", "bb aa") == 0
    law = mechanism.kernel.log_probabilities()
    assert 2 * np.abs(law[0] - law[1]).max() <= mechanism.bound(swapped).exponent


def test_what_is_kept_between_words_stays_in_its_place(embeddings):
    mechanism = Lifted(Laplace(embeddings, epsilon=1e6), 3, ordered=True, between="all")
    (outcome,) = mechanism.protect(["The river, and forest of the mountain."], [0], RunKey.seeded(1))
    assert [word for word in outcome.words if word in WORDS] == ["river", "forest", "mountain"]
    assert len(outcome.words) > 3


@pytest.mark.parametrize(
    "wrong", [{"length": 0}, {"length": 2.5}, {"length": 10**9}, {"unknown": "reject"}, {"between": "all"}]
)
def test_what_cannot_be_a_release_is_refused(embeddings, wrong):
    with pytest.raises(UsageError):
        lifted(embeddings, **{"length": 3} | wrong)


def test_unknown_words_are_filled_left_out_or_in_an_experiment_kept(embeddings):
    found = {}
    for unknown in ("unk", "drop", "keep"):
        mechanism = lifted(embeddings, 3, 1e4, "laplace", unknown=unknown)
        (outcome,) = mechanism.protect(["river zebra harbor"], [0], RunKey.seeded(1))
        found[unknown] = outcome.bag.counts
    assert [found[unknown].get("zebra", 0) for unknown in found] == [0, 0, 1]
    assert all({"river", "harbor"} <= {*each} for each in found.values())
    assert lifted(embeddings, 1).protect(["river"], [0], RunKey.seeded(1))[0].bag.size == 1
