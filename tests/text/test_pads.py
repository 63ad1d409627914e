"""The public words that fill short documents up: how they are drawn, what it costs, that they tell nothing."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

import publius
from publius.mechanisms.registry import make_mechanism
from publius.noise.randomness import RunKey, seeded_rng
from publius.releases.plan import Experiment
from publius.releases.stated import between
from publius.text.bag import Encoding, words_of
from publius.text.pads import BYTES, PADS, drawn_pads, pad_places
from publius.text.tokenizer import StopWords
from toy import WORDS, sentence

NO_STOPS = StopWords.load("none")


def small(words=8):
    vectors = seeded_rng(3).normal(size=(words, 3)).astype(np.float32)
    return publius.Embeddings.from_arrays(WORDS[:words], vectors, name="small", tokenizer="glove")


def test_pads_are_plain_words_and_no_stop_words():
    embeddings = publius.Embeddings.load()
    stops = StopWords.load("english")
    words = [embeddings.vocabulary[place] for place in pad_places(embeddings, stops).tolist()]
    assert len(words) == PADS
    assert all(word.isalpha() and word not in stops for word in words)


def test_pads_are_drawn_by_rank():
    embeddings = small()
    drawn = drawn_pads(embeddings, NO_STOPS, RunKey.seeded(1).bits(["a"], BYTES * 40_000)[0])
    shares = np.bincount(drawn, minlength=8) / len(drawn)
    weights = 1 / np.arange(1, 9)
    assert shares == pytest.approx(weights / weights.sum(), abs=0.01)


def exact_law(mechanism, text, size, plan):
    """The probability of every bag of a document, its pads averaged over by hand."""
    embeddings = mechanism.embeddings
    rows = np.exp(mechanism.log_probabilities())
    words = [embeddings.index(word) for word in text.split()]
    weights = 1 / (pad_places(embeddings, plan.encoding.stop_words) + 1.0)
    pad = (weights / weights.sum()) @ rows[pad_places(embeddings, plan.encoding.stop_words)]
    laws = [*(rows[word] for word in words), *[pad] * (size - len(words))]
    found = Counter()
    for outcome in product(range(embeddings.size), repeat=size):
        found[tuple(sorted(outcome))] += float(
            np.prod([law[one] for law, one in zip(laws, outcome, strict=True)])
        )
    return found


@pytest.mark.parametrize(
    "texts", [("river", "river mountain valley"), ("river", "forest"), ("castle bridge", "river")]
)
def test_what_is_stated_holds_for_the_exact_law_of_filled_documents(texts):
    embeddings = small()
    mechanism = make_mechanism("exponential", embeddings, epsilon=1.0)
    plan = publius.Plan(mechanism, Encoding(3, "unk", NO_STOPS, "glove"))
    one, two = (exact_law(mechanism, text, 3, plan) for text in texts)
    assert sum(one.values()) == pytest.approx(1)
    worst = max(abs(np.log(one[bag] / two[bag])) for bag in one)
    stated = between(plan, texts, None)
    assert 0.1 < worst <= stated["exponent"]


def test_the_distance_is_the_largest_over_what_may_be_drawn():
    """Against every choice of pads, by the Earth Mover's distance itself."""
    embeddings = small()
    mechanism = publius.Laplace(embeddings, epsilon=1.0)
    plan = publius.Plan(mechanism, Encoding(2, "unk", NO_STOPS, "glove"))
    a = words_of("river", embeddings, plan.encoding)
    far = max(
        publius.earth_movers_distance(
            publius.Bag(["river", pad]), publius.Bag(["forest", "harbor"]), embeddings
        )
        for pad in WORDS[:8]
    )
    b = words_of("forest harbor", embeddings, plan.encoding)
    bound = plan.mechanism.filled_distance(a, b, plan.encoding)
    assert far <= bound <= 1.5 * far


def released(text, length, key, plan):
    from publius.documents.corpus import Document
    from publius.releases.protect import protect

    (found,), _ = protect([Document(key, text, {}, 1)], plan, RunKey.seeded(int(key)))
    return found.bag


def test_no_token_tells_how_long_a_document_is(embeddings):
    """A document of one word and 39 pads: no single word stands out as the one token did, in 39 of 40 places."""
    mechanism = publius.Laplace(embeddings, epsilon=1e6)
    encoding = Encoding(40, "unk", NO_STOPS, embeddings.tokenizer)
    plan = publius.Plan(mechanism, encoding, experiment=Experiment(1))
    most = [max(released("river", 40, str(key), plan).counts.values()) for key in range(30)]
    assert max(most) < 20
    same = [released("river", 40, "7", plan) for _ in range(2)]
    assert same[0] == same[1]  # under one key


def test_pads_change_nothing_of_a_document_that_needs_none(embeddings):
    mechanism = publius.Laplace(embeddings, epsilon=5.0)
    text = sentence(4, 10)
    bags = []
    for stops in ("none", "english"):  # other pads, the same words
        encoding = Encoding(10, "unk", StopWords.load(stops), embeddings.tokenizer)
        plan = publius.Plan(mechanism, encoding, experiment=Experiment(1))
        bags.append(released(text, 10, "3", plan))
    assert bags[0] == bags[1]
