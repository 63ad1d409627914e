"""The public words that fill short documents up: how they are drawn. What they cost is tested with the mechanisms."""

import numpy as np
import pytest

from publius.embeddings.embeddings import Embeddings
from publius.noise.randomness import RunKey, seeded_rng
from publius.text.bag import BYTES, PADS, drawn_pads, pad_places
from publius.text.tokenizer import StopWords
from toy import WORDS

NO_STOPS = StopWords.load("none")


def small(words=8):
    vectors = seeded_rng(3).normal(size=(words, 3)).astype(np.float32)
    return Embeddings.from_arrays(WORDS[:words], vectors, name="small", tokenizer="glove")


def test_pads_are_plain_words_and_no_stop_words():
    embeddings = Embeddings.load()
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
