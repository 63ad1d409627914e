"""The table of stretches gives exactly the words of the tokenizer, whatever the text, the policy and the length."""

import os
import pickle
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from publius.errors import DataError
from publius.noise.randomness import seeded_rng
from publius.text import known_words as module
from publius.text.bag import UNKNOWN, Bag, Encoding, words_of
from publius.text.known_words import KnownWords, count_matrix
from publius.text.tokenizer import StopWords, Unknown, lookup

WORDS = tuple("tea milk n't do don't well-known well 1.5 2 # 's rock u.s straße σας".split())
PLACES = dict(zip(WORDS, range(len(WORDS)), strict=True))
STOPS = StopWords("few", frozenset({"the", "a", "it"}))


class Placed:
    """Words with places, as embeddings have them."""

    vocabulary = WORDS
    unknown_index = 3

    @property
    def places(self):
        return PLACES

    def __contains__(self, word):
        return word in WORDS


class Plain:
    """The same words without places: looked up one by one."""

    def __contains__(self, word):
        return word in WORDS


VOCABULARY = Placed()
TEXTS = st.lists(
    st.one_of(
        st.sampled_from(
            [*WORDS, "The", "it's", "Tea.", "milk,tea", "rock-n-tea", "don\u2019t", "ΣΑΣ", "x" * 70, "1.5,2"]
        ),
        st.sampled_from(
            [
                " ",
                "\n",
                "\x1c",
                "\u00a0",
                ". ",
                "--",
                "'",
                "-",
                "\u0301",
                "\u0344" * 16,
                "\ufb2c" + "\u0323" * 29,
                "\u034f",
                "\u00ad",
                "\u200d",
                "\x00",
                "I\u0307",
            ]
        ),
        st.text(max_size=6),
    ),
    max_size=40,
).map("".join)


@given(TEXTS, st.sampled_from(["unk", "drop", "reject"]), st.sampled_from([None, 1, 2, 7]),
       st.sampled_from(["glove", "word2vec"]))  # fmt: skip
def test_same_words_as_one_by_one(text, unknown, length, profile):
    encoding = Encoding(length, unknown, STOPS, profile)
    try:
        expected = words_of(text, Plain(), encoding)
    except DataError as error:
        with pytest.raises(DataError, match=str(error).split(":")[0]):
            words_of(text, VOCABULARY, encoding)
        return
    found = words_of(text, VOCABULARY, encoding)
    assert tuple(found.words) == expected.words
    assert (found.seen, found.unknown, found.padding) == (expected.seen, expected.unknown, expected.padding)
    names = [VOCABULARY.unknown_index if word == UNKNOWN else WORDS.index(word) for word in expected.words]
    assert found.places.tolist() == names


def test_a_full_table_is_begun_anew(monkeypatch):
    monkeypatch.setattr(module, "_MOST", 3)
    both = KnownWords(VOCABULARY, "glove", STOPS), KnownWords(VOCABULARY, "word2vec", STOPS)
    before = KnownWords(VOCABULARY, "glove", STOPS).places(["milk tea"])  # the table has two stretches, and goes on
    for stretch, words in (
        ("don't rock-n-tea well", "don't rock <unk> tea well"),
        ("tea rock-u.s", "tea rock <unk> <unk>"),
    ):
        for known in both:
            places = np.concatenate(known.places([f"{stretch} milk " * 2000]))
            assert [known.names[place] for place in places.tolist()] == [*words.split(), "milk"] * 2000
            assert len(module._all_stretches.all) < 10
    assert [each.places(["milk tea"])[0].tolist() for each in both] == [before[0].tolist()] * 2


def test_what_was_cut_for_one_vocabulary_is_not_cut_again_for_the_next(monkeypatch):
    texts = [f"{number} tea don't well " * 300 for number in range(5)]
    expected = [each.tolist() for each in KnownWords(VOCABULARY, "word2vec", STOPS).places(texts)]
    monkeypatch.setattr(module, "_plain", None)
    assert [each.tolist() for each in KnownWords(VOCABULARY, "word2vec", STOPS).places(texts)] == expected
    with pytest.raises(TypeError):
        KnownWords(VOCABULARY, "glove", STOPS).places([*texts, "other"])


def test_threads_share_a_table(monkeypatch):
    monkeypatch.setattr(module, "_MOST", 50)
    known = KnownWords(VOCABULARY, "glove", STOPS)

    def read(number):
        text = " ".join(f"tea-{number}-{k}-milk" for k in range(500))
        return {tuple(known.names[p] for p in row) for row in np.concatenate(known.places([text])).reshape(-1, 4)}

    with ThreadPoolExecutor(8) as pool:
        rows = set().union(*pool.map(read, range(40)))
    assert {(row[0], row[3]) for row in rows} == {("tea", "milk")}
    assert {word for row in rows for word in row[1:3]} == {"2", UNKNOWN}


def test_it_keeps_private_words_to_itself():
    known = KnownWords(VOCABULARY, "glove", STOPS)
    assert len(np.concatenate(known.places(["canary tea"]))) == 2
    assert "canary" not in repr(known)
    assert b"canary" not in pickle.dumps(known)
    assert "canary" not in repr(module._all_stretches)


HOSTILE_PARTS = (
    "Σ", "ΑΣ:Α", "ΑΣ^", "`Σ", "É", "e\u0301", "I\u0307", "\ufb2c", "\u0323" * 40, "\ud800", "\0", "x" * 25, "y" * 24,
    "don\u2019t", "1.5", "tea", "-", "'", ".", ",", "\u00ad", " ", "  ", "\n", "\x1f", "\u2003", "_",
)  # fmt: skip


@pytest.mark.parametrize("few", [0, module._FEW, 2**30], ids=["in arrays", "as it is", "one by one"])
@pytest.mark.parametrize("profile", ["glove", "word2vec"])
def test_hostile_strings_give_the_words_of_the_tokenizer(few, profile, monkeypatch):
    monkeypatch.setattr(module, "_FEW", few)
    rng = seeded_rng(4)
    texts = ["".join(HOSTILE_PARTS[i] for i in rng.integers(0, len(HOSTILE_PARTS), 12).tolist()) for _ in range(1500)]
    found = KnownWords(VOCABULARY, profile, STOPS).places(texts)
    for text, places in zip(texts, found, strict=True):
        words = lookup(text, Plain(), profile=profile, stop_words=STOPS)
        assert places.tolist() == [-1 if type(word) is Unknown else WORDS.index(word) for word in words]


def test_what_ends_a_word_beside_other_characters_is_no_part_of_the_rule_of_the_final_sigma():
    """Python's own lower case says which marks that rule looks past."""
    looked_past = [mark for mark in map(chr, range(128)) if f"ΑΣ{mark}Α".lower()[1] == "σ" and not mark.isalpha()]
    assert {ord(mark) for mark in looked_past} == {*b"'.:^`"}
    assert all(module._MIXED[ord(mark)] == ord(mark) for mark in looked_past)


@pytest.mark.parametrize("few", [0, module._FEW])
def test_texts_at_once_are_cut_where_each_ends(few, monkeypatch):
    monkeypatch.setattr(module, "_FEW", few)
    monkeypatch.setattr(module, "_AT_ONCE", 20)
    texts = ["tea milk", "", "x", "do n't " * 30, " ", "well", "milk" * 40 + " tea"]
    known = KnownWords(VOCABULARY, "glove", STOPS)
    alone = [KnownWords(VOCABULARY, "glove", STOPS).places([text])[0].tolist() for text in texts]
    assert [found.tolist() for found in known.places(texts)] == alone
    assert [len(found) for found in known.places(texts, 2)] == [2, 0, 1, 2, 0, 1, 2]


def test_a_stretch_that_takes_the_row_of_another_gives_its_own_words(monkeypatch):
    monkeypatch.setattr(module, "_FEW", 0)
    monkeypatch.setattr(module, "_BITS", 1)
    known = KnownWords(VOCABULARY, "glove", STOPS)
    text = "tea milk well rock 1.5 2 nothing tea don't rock-tea milk"
    expected = "tea milk well rock 1.5 2 <unk> tea don't rock tea milk"
    for _ in range(3):
        assert [known.names[place] for place in known.places([text])[0].tolist()] == expected.split()


@given(st.lists(TEXTS, max_size=5))
def test_a_matrix_of_counts_has_the_words_of_each_text(texts):
    found = count_matrix(texts, WORDS, stop_words="english")
    assert found.shape == (len(texts), len(WORDS))
    assert found.has_sorted_indices
    encoding = Encoding(None, "drop", StopWords.load(), "glove", padded=False)
    for row, text in zip(found.toarray().tolist(), texts, strict=True):
        assert dict(Bag(words_of(text, VOCABULARY, encoding).words).counts) == {
            word: count for word, count in zip(WORDS, row, strict=True) if count
        }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_that_is_forked_while_a_thread_looks_words_up_can_look_them_up():
    held = threading.Event()

    def hold():
        with module._all_stretches.lock:
            held.set()
            time.sleep(0.2)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    if (child := os.fork()) == 0:
        signal.alarm(20)  # ends one that waits for a lock which nobody holds any more
        found = KnownWords(VOCABULARY, "glove", STOPS).places(["milk"])
        os._exit(0 if [row.tolist() for row in found] == [[1]] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    thread.join()
