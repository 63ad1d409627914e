import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, UsageError
from publius.text.bag import UNKNOWN, Bag, Encoding, bags_at, words_of
from publius.text.tokenizer import StopWords

NONE = StopWords.load("none")


class Vocabulary:
    tokenizer = "glove"

    def __init__(self, words):
        self._words = frozenset(words.split())

    def __contains__(self, word):
        return word in self._words


KNOWN = Vocabulary("tea milk sugar cup do n't")


def encode(text, length=None, unknown="unk", stop_words=NONE, profile="glove"):
    return words_of(text, KNOWN, Encoding(length, unknown, stop_words, profile))


@settings(deadline=None)
@given(st.lists(st.sampled_from(["tea", "milk", "sugar"])), st.randoms(use_true_random=False))
def test_order_is_forgotten(words, random):
    shuffled = random.sample(words, len(words))
    bag = Bag(words)
    assert bag == Bag(shuffled)
    assert hash(bag) == hash(Bag(shuffled))
    assert pickle.dumps(bag) == pickle.dumps(Bag(shuffled))
    assert bag.size == len(words)
    assert dict(bag.counts) == Counter(words)
    assert list(bag.words()) == sorted(words)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["tea", "milk", "canary"]), min_size=1), st.randoms(use_true_random=False))
def test_permuting_a_text_leaves_its_bag_equal(words, random):
    shuffled = " ".join(random.sample(words, len(words)))
    assert Bag.from_text(" ".join(words), KNOWN) == Bag.from_text(shuffled, KNOWN)


def test_counts_are_sorted_and_read_only():
    bag = Bag({"tea": 2, "milk": 1})
    assert list(bag.counts) == ["milk", "tea"]
    with pytest.raises(TypeError):
        bag.counts["tea"] = 3


def test_a_bag_is_not_tied_to_what_it_was_made_from():
    counts = {"tea": 1}
    bag = Bag(counts)
    counts["milk"] = 1
    assert bag == Bag(["tea"])


@pytest.mark.parametrize("name", ["size", "counts", "other"])
def test_a_bag_cannot_be_changed(name):
    bag = Bag(["tea"])
    with pytest.raises((AttributeError, TypeError)):
        setattr(bag, name, 5)
    with pytest.raises((AttributeError, TypeError)):
        delattr(bag, name)
    assert (bag.size, dict(bag.counts)) == (1, {"tea": 1})


def test_a_bag_differs_from_other_counts_and_other_things():
    assert Bag(["tea", "tea"]) != Bag(["tea"])
    assert Bag(["tea"]) != {"tea": 1}
    assert Bag() == Bag([])


def test_a_bag_survives_pickling():
    bag = Bag(["tea", "milk", "tea"])
    assert pickle.loads(pickle.dumps(bag)) == bag


def test_a_repr_holds_no_word():
    assert repr(Bag(["canary", "canary", "bird"])) == "Bag(size=3, distinct=2)"
    assert "canary" not in repr(encode("canary tea", unknown="keep"))


@pytest.mark.parametrize(
    "words",
    [
        "canary",
        b"canary",
        {"canary": 0},
        {"canary": -1},
        {"canary": 1.0},
        {"canary": True},
        [""],
        ["canary", 5],
        [None],
    ],
)
def test_what_is_no_bag_is_refused_without_showing_it(words):
    with pytest.raises(UsageError) as caught:
        Bag(words)
    assert "canary" not in str(caught.value)


def test_the_first_words_are_kept():
    assert encode("milk, tea; sugar cup", length=2).words == ("milk", "tea")


def test_short_documents_are_filled_with_the_unknown_token():
    encoded = encode("milk tea", length=5)
    assert encoded.words == ("milk", "tea", UNKNOWN, UNKNOWN, UNKNOWN)
    assert (encoded.seen, encoded.unknown, encoded.padding) == (2, 0, 3)


@settings(deadline=None)
@given(st.text(), st.integers(1, 50), st.sampled_from(["unk", "drop", "keep"]))
def test_a_bag_has_exactly_n_words(text, length, unknown):
    assert Bag.from_text(text, KNOWN, length=length, unknown=unknown).size == length


@settings(deadline=None)
@given(
    st.text() | st.lists(st.sampled_from(["tea", "canary", "don't", "-"])).map(" ".join),
    st.sampled_from(["unk", "drop"]),
)
def test_no_unknown_word_passes(text, unknown):
    encoded = encode(text, length=7, unknown=unknown)
    assert all(word in KNOWN or word == UNKNOWN for word in encoded.words)


@pytest.mark.parametrize(
    ("unknown", "words", "seen", "count"),
    [
        ("unk", (UNKNOWN, "tea", UNKNOWN), 3, 2),
        ("drop", ("tea", "milk", "cup"), 5, 2),
        ("keep", ("canary", "tea", "canary"), 3, 2),
    ],
)
def test_policies_for_unknown_words(unknown, words, seen, count):
    encoded = encode("Canary tea canary milk cup tea", length=3, unknown=unknown)
    assert (encoded.words, encoded.seen, encoded.unknown) == (words, seen, count)
    assert {type(word) for word in encoded.words} == {str}


def test_reject_says_how_many_and_the_way_out_but_not_which():
    with pytest.raises(DataError, match=r"2 of 3 words .* choose the policy unk or drop") as caught:
        encode("canary tea canary2", unknown="reject")
    assert "canary" not in str(caught.value)


def test_reject_looks_at_the_words_that_would_be_kept_only():
    assert encode("tea milk canary", length=2, unknown="reject").words == ("tea", "milk")


def test_the_text_cannot_write_the_unknown_token():
    assert encode("<unk> < unk >", unknown="keep").words == ("unk", "unk")


def test_from_text_uses_the_tokenizer_and_the_list_that_are_named():
    assert Bag.from_text("Don't!", KNOWN, stop_words="none") == Bag(["do", "n't"])
    assert Bag.from_text("Don't!", KNOWN) == Bag()
    assert Bag.from_text("don't", {"don", "t"}, profile="word2vec", stop_words=NONE) == Bag(["don", "t"])
    with pytest.raises(UsageError, match="give profile="):
        Bag.from_text("tea", {"tea"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"length": 0}, "whole number"),
        ({"length": -3}, "whole number"),
        ({"length": True}, "whole number"),
        ({"length": 2.5}, "whole number"),
        ({"unknown": "pass"}, "unk, drop, reject, keep"),
        ({"profile": "bert"}, "glove, icu, word2vec"),
    ],
)
def test_an_encoding_that_does_not_exist_is_refused(change, message):
    arguments = {"length": 5, "unknown": "unk", "stop_words": NONE, "profile": "glove"} | change
    with pytest.raises(UsageError, match=message):
        Encoding(**arguments)


def test_no_more_text_is_read_than_the_first_words_need():
    asked = []

    class Asked(Vocabulary):
        def __contains__(self, word):
            asked.append(1)
            return True

    words_of("tea " * 10_000, Asked(""), Encoding(4, "unk", NONE, "glove"))
    assert len(asked) == 4


HARD = ("zebra", 'quo"te', "back\\slash", "é", "naïve", "tab\tbed", "日本", "a", "B", UNKNOWN, "line\u2028end")


class Alphabet:
    """A vocabulary."""

    vocabulary = HARD


@pytest.mark.parametrize("count", [0, 1, 200])
def test_bags_made_together_are_the_bags_of_their_words(count):
    places = np.random.default_rng(3).integers(0, len(HARD), (count, 9))
    found = bags_at(Alphabet(), places)
    assert len(found) == count
    for bag, own in zip(found, places.tolist(), strict=True):
        plain = Bag([HARD[place] for place in own])
        assert (bag, bag.size, list(bag.counts.items())) == (plain, 9, list(plain.counts.items()))
        assert hash(bag) == hash(plain)
        assert pickle.loads(pickle.dumps(bag)) == plain


def test_texts_find_words_with_capitals_in_bags_and_in_ordered_text():
    vectors = Embeddings.from_arrays(["Chicago", "of"], [[0.0], [1.0]])
    encoding = Encoding(2, "unk", NONE, "glove")
    for keep in ("none", "punctuation"):
        assert list(words_of("CHICAGO, of", vectors, encoding, keep).words) == ["Chicago", "of"]
