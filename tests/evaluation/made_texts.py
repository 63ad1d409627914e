"""Made texts whose authors have habits, and a small kernel with a law that can be written down."""

from itertools import combinations_with_replacement

import numpy as np

from publius.embeddings.embeddings import Embeddings
from publius.evaluation.corpus import Text
from publius.noise.randomness import seeded_rng


def authors_texts(authors=12, each=4, topics=2, words=30, habit=0.3, seed=1, vocabulary=()):
    """``each`` texts of ``authors`` authors, on one topic an author; ``habit`` is the share of words only he prefers."""
    rng = seeded_rng(seed)
    pool = list(vocabulary) or [f"word{n}" for n in range(60)]
    topical = np.array_split(np.arange(len(pool)), topics)
    texts = []
    for author in range(authors):
        own = rng.permutation(len(pool))[:5]
        topic = author % topics
        for _ in range(each):
            chosen = [
                pool[rng.choice(own) if rng.random() < habit else rng.choice(topical[topic])] for _ in range(words)
            ]
            texts.append(Text(len(texts), " ".join(chosen), f"author {author}", f"topic {topic}"))
    return texts


def rows(texts):
    """The same as rows of a file."""
    return [{"id": f"t{t.row}", "text": t.text, "author": t.author, "topic": t.topic} for t in texts]


LINE = Embeddings.from_arrays(
    ["north", "east", "south", "west"], [[0.0], [1.0], [2.5], [4.0]], name="line", tokenizer="word2vec"
)


class Stated:
    """A guarantee as far as an evaluation asks for it."""

    delta, evidence = 0.0, "certified"

    def __init__(self, unit):
        self.unit = unit

    def map(self, distance):
        return self.unit * distance


class Small:
    """The exponential kernel on four words of a line: epsilon s d with s half of it."""

    name = "small"

    def __init__(self, epsilon, embeddings=LINE):
        from publius.distances.metrics import Euclidean

        self.embeddings, self.epsilon, self.metric = embeddings, epsilon, Euclidean()
        x = np.asarray(embeddings.vectors, np.float64)[:, 0]
        rows = np.exp(-epsilon / 2 * np.abs(x[:, None] - x[None, :]))
        self.rows = rows / rows.sum(axis=1, keepdims=True)
        self.guarantee = Stated(epsilon)

    def log_probabilities(self, words):
        return np.log(self.rows[words])

    def draw(self, batch, rngs, threads=1):
        return [
            np.array([rng.choice(len(self.rows), p=self.rows[word]) for word in words], np.int64)
            for words, rng in zip(batch, rngs, strict=True)
        ]


def bag_laws(rows):
    """All bags, as sorted places, and the law over them of each text, shape (n, bags).

    ``rows`` are for each text the laws of its words, shape (N, V). Words are drawn one after the other and added to the bag,
    so the sum over orders is never written out.
    """
    size, vocabulary = rows[0].shape
    bags = list(combinations_with_replacement(range(vocabulary), size))
    laws = np.zeros((len(rows), len(bags)))
    for place, words in enumerate(rows):
        law = {(): 1.0}
        for word in words:
            longer = {}
            for bag, probability in law.items():
                for out, share in enumerate(word.tolist()):
                    key = tuple(sorted((*bag, out)))
                    longer[key] = longer.get(key, 0.0) + probability * share
            law = longer
        laws[place] = [law.get(bag, 0.0) for bag in bags]
    return bags, laws
