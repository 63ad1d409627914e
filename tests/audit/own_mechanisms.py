"""Our own mechanisms as targets of the audit of anybody's: on toy worlds where their bounds are nearly reached."""

import functools
import itertools
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import complaints
from audit.own_worlds import DOCUMENTS
from publius.audit.kernels import laplace_kernel
from publius.audit.toy_references import toy_reference
from publius.audit.toy_vocabularies import sharp_world
from publius.collections.contributions import Contributions
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.mechanisms.registry import make_document_mechanism, make_mechanism
from publius.noise.randomness import RunKey, seeded_rng
from publius.releases.summaries import summary as summaries
from publius.releases.summaries.summary import Summary
from publius.settings import ReleaseSettings
from publius.vectors.learning.aspects import LearningSettings
from publius.vectors.learning.fit_reference import fit_reference
from publius.vectors.learning.public_counts import fit_counts
from publius.vectors.learning.typical_words import tilt

SHARP = sharp_world()
WORDS = list(SHARP.embeddings.vocabulary)
CLAIM = {"vocabulary": WORDS, "vectors": SHARP.vectors.tolist(), "epsilon": SHARP.epsilon}
VALUES = ["loans", "cards", "accounts", "other"]
FIELD_BOUND = 2.5
PLACE_BOUND, PLACE_LENGTH = 2.0, 50
BANKING = ["loan", "card", "fee", "rate", "bill", "bank", "cash", "debt"]


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


class Counted:
    """A summary of a collection: which of two noisy counts of themes are above 1 and below 1.

    ``noisy_for`` is how many documents of an author the noise is made for; as many as count, unless it is broken.
    """

    def __init__(self, documents=1, noisy_for=None):
        self.documents, self.noisy_for = documents, noisy_for or documents

    @functools.cached_property
    def summary(self):
        rng, topics = seeded_rng(5), tuple(complaints.TOPICS)
        texts = [
            (
                complaints.letter(rng, topics[at % len(topics)], complaints.AUTHORS[at % 4], 40).split(),
                topics[at % len(topics)],
            )
            for at in range(60)
        ]
        found = fit_reference(texts, name="letters", settings=LearningSettings(features="log-odds"))
        counted = fit_counts([words for words, _ in texts], found.places, None, "english", themes=3)
        return Summary(replace(found, counted=counted), 1, self.documents, shares="themes=1")

    @functools.cached_property
    def cells(self):
        """The cells of the two texts whose counts are looked at."""
        return [self.cell(text) for text in LETTERS]

    def cell(self, text):
        return int(self.summary.counting.cells([text], [0])[0]) % self.summary.counting.shape[1]

    def __call__(self, collection, seed):
        """One draw of `Summary`, with a generator of this seed in the place of the system's."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(summaries, "system_rng", lambda: seeded_rng(seed))
            patch.setattr(RunKey, "fresh", staticmethod(lambda: RunKey.seeded(seed)))
            if self.noisy_for != self.documents:
                table = summaries.noisy_table
                less = {"per_author": self.noisy_for}
                patch.setattr(
                    summaries, "noisy_table", lambda counts, **more: table(counts, **{**more, **less})
                )
            told = self.summary(collection)
        return "".join(self.side(told.themes.values.ravel()[cell]) for cell in self.cells)

    @staticmethod
    def side(count):
        return "+" if count > 1 else "-" if count < 1 else "0"

    def probabilities(self, collection):
        """By the tails of the discrete Laplace law of scale 2c/epsilon; each of an author's texts counts as likely."""
        by_author = {}
        for row in collection:
            by_author.setdefault(row["author"], []).append(self.cell(row["text"]))
        chosen = [
            list(itertools.combinations(cells, min(self.documents, len(cells))))
            for cells in by_author.values()
        ]
        found, ways = Counter(), list(itertools.product(*chosen))
        for way in ways:
            counts = Counter(itertools.chain(*way))
            one, two = (self.sides(counts[cell]) for cell in self.cells)
            for (x, p), (y, q) in itertools.product(one.items(), two.items()):
                found[x + y] += p * q / len(ways)
        return dict(found)

    def sides(self, count):
        ratio = math.exp(-1 / (2 * self.noisy_for))
        at = (1 - ratio) / (1 + ratio) * ratio ** abs(1 - count)
        above = ratio ** (2 - count) / (1 + ratio) if count < 2 else 1 - ratio ** (count - 1) / (1 + ratio)
        return {"+": above, "0": at, "-": 1 - above - at}


class Totals:
    """A summary whose law nobody states: noisy counts of documents that begin with a loan, and of others.

    Of each author ``counted`` documents count, and the noise is made for two.
    """

    probabilities = None

    def __init__(self, counted):
        self.counted = counted

    @functools.cached_property
    def summary(self):
        return Summary(epsilon=2, documents_per_author=2, by={"product": BANKING[:1]}, shares="totals=1")

    def __call__(self, rows, seed):
        given = [{**row, "product": (row["text"].split() or [""])[0]} for row in rows]
        contributions = Contributions(RunKey.seeded(seed), self.counted)
        self.summary.count(self.summary.rows(given), contributions)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(summaries, "system_rng", lambda: seeded_rng(seed))
            told = self.summary.draw(contributions.cells)
        return dict(zip([*BANKING[:1], "other"], told.totals.values.ravel().tolist(), strict=True))


LETTERS = ["money", "arrived"]
laplace, exponential, tight, truncated = (
    Word(name) for name in ("laplace", "exponential", "tight", "truncated-exponential")
)
repaired, projected = Word("repaired-tight"), Word("projected-exponential")
projected_laplace, place = Word("projected-laplace"), Place()
vickrey, mahalanobis = Unstated("vickrey"), Unstated("mahalanobis")
lifted, labels, field = Bags(exponential), Labels(), Field()
counted, too_little_noise = Counted(), Counted(2, noisy_for=1)
totals, everything_counted = Totals(2), Totals(1000)
AUTHORS = {"unit": "author", "size": 3, "vocabulary": BANKING, "neighbors": "removed", "epsilon": 1.0}
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
    "counted": {"unit": "author", "size": 2, "vocabulary": LETTERS, "epsilon": 1.0},
}  # fmt: skip
EXACT = (
    *("laplace", "exponential", "tight", "truncated", "repaired", "projected", "projected_laplace"),
    *("lifted", "labels", "place", "field", "counted"),
)
