"""Our own mechanisms as targets of the audit of anybody's: on toy worlds where their bounds are nearly reached."""

import functools
import itertools
import math
from collections import Counter

import numpy as np

from audit.own_worlds import DOCUMENTS
from publius.audit.kernels import laplace_kernel
from publius.audit.toy_references import toy_reference
from publius.audit.toy_vocabularies import sharp_world
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.mechanisms.registry import make_document_mechanism, make_mechanism
from publius.noise.randomness import RunKey, seeded_rng
from publius.settings import ReleaseSettings
from publius.vectors.learning.typical_words import tilt

SHARP = sharp_world()
WORDS = list(SHARP.embeddings.vocabulary)
CLAIM = {"vocabulary": WORDS, "vectors": SHARP.vectors.tolist(), "epsilon": SHARP.epsilon}
VALUES = ["loans", "cards", "accounts", "other"]
FIELD_BOUND = 2.5
PLACE_BOUND, PLACE_LENGTH = 2.0, 50


class Word:
    """A kernel; its law by itself, or of the Laplace by an independent computation. Made where it is asked."""

    def __init__(self, name):
        self.name = name

    @functools.cached_property
    def kernel(self):
        return make_mechanism(self.name, SHARP.embeddings, epsilon=SHARP.epsilon)

    @functools.cached_property
    def rows(self):
        """The law."""
        if hasattr(self.kernel, "log_probabilities"):
            return np.exp(self.kernel.log_probabilities())
        if self.name == "laplace":
            return laplace_kernel(SHARP.vectors, SHARP.epsilon)
        if self.name == "projected-laplace":  # on a line its only component is the line
            return laplace_kernel(SHARP.vectors, self.kernel.parameters["noise_epsilon"])
        raise AssertionError

    def probabilities(self, word):
        return dict(zip(WORDS, self.rows[WORDS.index(word)].tolist(), strict=True))

    def __call__(self, word, seed):
        drawn = self.kernel.draw([self.kernel.indices([word])], [seeded_rng(seed)], threads=1)
        return WORDS[int(drawn[0][0])]


class Unstated(Word):
    """One whose law no formula tells."""

    probabilities = None


class Bags:
    """A kernel lifted to bags of two words."""

    def __init__(self, word):
        self.word = word

    @functools.cached_property
    def lifted(self):
        return Lifted(self.word.kernel, 2)

    def __call__(self, words, seed):
        document = self.lifted.indices(words)
        return self.lifted.draw([document], [seeded_rng(seed)], threads=1)[0].bag

    def probabilities(self, words):
        """The law of two independent words, in no order."""
        found = Counter()
        one, two = (self.word.rows[WORDS.index(word)].tolist() for word in words)
        for (x, p), (y, q) in itertools.product(zip(WORDS, one, strict=True), zip(WORDS, two, strict=True)):
            found[tuple(sorted((x, y)))] += p * q
        return dict(found)


class Labels:
    """What stands for a document, drawn by its whole law."""

    def __init__(self):
        self.mechanism = make_document_mechanism("prototype", DOCUMENTS.reference, **DOCUMENTS.parameters)

    def _document(self, text):
        places = [DOCUMENTS.reference.index(word) for word in text.split()]
        return np.array([place for place in places if place is not None], np.int64)

    def __call__(self, text, seed):
        return self.mechanism.draw([self._document(text)], [seeded_rng(seed)])[0].label

    def probabilities(self, text):
        law = self.mechanism.law([self._document(text)])[0].tolist()
        return {outcome.label: p for outcome, p in zip(self.mechanism.outcomes, law, strict=True)}


class Place:
    """A bag drawn for a document's noisy place on a line; its law by the cells of the public grid."""

    def __init__(self):
        reference = toy_reference(np.array([[-1.0], [1.0]]), np.zeros((1, 1)))
        self.mechanism = make_document_mechanism(
            "position", reference, bound=PLACE_BOUND, length=PLACE_LENGTH
        )
        self.reference, self.label = reference, reference.vocabulary[0]

    def _document(self, text):
        places = [self.reference.index(word) for word in text.split()]
        return np.array([place for place in places if place is not None], np.int64)

    def __call__(self, text, seed):
        drawn = self.mechanism.draw([self._document(text)], [seeded_rng(seed)])[0].bag
        return str(drawn.counts.get(self.label, 0))

    @functools.cached_property
    def cells(self):
        """The upper ends of the grid's cells, and the law of the number of first words in a bag for each."""
        from scipy.stats import binom

        mechanism, aspect = self.mechanism, self.mechanism.aspect
        grid, middle = mechanism._grid, mechanism._middle
        seen = np.arange(round(aspect.low[0] / grid), round(aspect.high[0] / grid) + 1) * grid
        targets = middle + mechanism._amplified * (seen[:, None] - middle)
        shares = [tilt(mechanism._base, mechanism._features, each, mechanism._ridge) for each in targets]
        first = np.array([each[list(mechanism._words).index(0)] for each in shares])
        laws = binom.pmf(np.arange(PLACE_LENGTH + 1), PLACE_LENGTH, first[:, None])
        return np.append(seen[:-1] + grid / 2, np.inf), laws

    def probabilities(self, text):
        from scipy.stats import laplace as laplace_on_a_line

        ends, laws = self.cells
        center = self.mechanism.centres([self._document(text)])[0, 0]
        below = laplace_on_a_line(loc=center, scale=1 / self.mechanism.noise_epsilon).cdf(ends)
        law = np.diff(below, prepend=0.0) @ laws
        return {str(count): p for count, p in enumerate(law.tolist())}


class Field:
    """A declared value through randomized response."""

    def __init__(self):
        self.mechanism = RandomizedResponse("product", VALUES, bound=FIELD_BOUND)

    def __call__(self, value, seed):
        encoding = self.mechanism.encoding(ReleaseSettings())
        return self.mechanism.protect([value], ["d"], encoding, RunKey.seeded(seed)).outcomes[0].label

    def probabilities(self, value):
        kept = 1 / (1 + (len(VALUES) - 1) * math.exp(-FIELD_BOUND))
        rest = (1 - kept) / (len(VALUES) - 1)
        return {each: kept if each == value else rest for each in VALUES if value in VALUES}


laplace, exponential, tight, truncated = (
    Word(name) for name in ("laplace", "exponential", "tight", "truncated-exponential")
)
repaired, projected = Word("repaired-tight"), Word("projected-exponential")
projected_laplace, place = Word("projected-laplace"), Place()
vickrey, mahalanobis = Unstated("vickrey"), Unstated("mahalanobis")
lifted, labels, field = Bags(exponential), Labels(), Field()
CLAIMS = {
    **dict.fromkeys(("laplace", "exponential", "tight", "truncated", "repaired", "projected"), CLAIM),
    **dict.fromkeys(("projected_laplace", "vickrey", "mahalanobis"), CLAIM),
    "lifted": {"unit": "bag", "size": 2, **CLAIM},
    "labels": {
        "unit": "document",
        "size": 2,
        "vocabulary": list(DOCUMENTS.reference.vocabulary),
        "bound": DOCUMENTS.bound,
    },
    "place": {
        "unit": "document", "size": 2, "vocabulary": list(place.reference.vocabulary), "bound": PLACE_BOUND
    },
    "field": {"vocabulary": VALUES, "bound": FIELD_BOUND},
}  # fmt: skip
EXACT = (
    *("laplace", "exponential", "tight", "truncated", "repaired", "projected", "projected_laplace"),
    *("lifted", "labels", "place", "field"),
)
