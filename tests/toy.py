"""A small vocabulary of ordinary words, and documents made of it."""

import numpy as np

from publius.embeddings.embeddings import Embeddings
from publius.noise.randomness import seeded_rng

WORDS = (
    "river mountain valley forest meadow harbor bridge castle garden market kitchen window letter paper pencil "
    "teacher student lesson music guitar violin singer dancer actor painter doctor nurse hospital medicine court "
    "judge lawyer witness verdict soldier captain vessel anchor storm thunder winter summer autumn spring bread "
    "butter cheese apple orange lemon horse donkey sparrow eagle salmon copper silver golden marble engine"
).split()


def sentence(seed, count=30):
    """``count`` vocabulary words in random order."""
    return " ".join(WORDS[i] for i in seeded_rng(seed).integers(0, len(WORDS), count).tolist())


def toy_embeddings():
    """The 60 words in 8 dimensions, neighbours about 2.5 apart; the fixture `embeddings` is one for all tests."""
    vectors = seeded_rng(20).standard_normal((len(WORDS), 8), np.float32)
    return Embeddings.from_arrays(WORDS, vectors, name="toy", tokenizer="word2vec")
