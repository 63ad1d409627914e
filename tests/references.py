"""Small public references for tests."""

from types import MappingProxyType

import numpy as np

from publius.noise.randomness import seeded_rng
from publius.vectors.learning.aspects import LearningSettings
from publius.vectors.learning.fit_reference import fit_reference
from publius.vectors.learning.prototypes import Aspect, Prototypes, on_grid
from publius.vectors.learning.reference import Reference
from publius.vectors.learning.typical_words import drawable

TOPICS = {
    "garden": "meadow forest river apple orange lemon sparrow eagle".split(),
    "court": "judge lawyer witness verdict letter paper court castle".split(),
    "music": "guitar violin singer lesson music dancer piano drum".split(),
}
SHARED = "morning evening window table street".split()


def public_documents(count=60, seed=5):
    """Labelled public documents of a dozen words, each topic in turn."""
    rng = seeded_rng(seed)
    found = []
    for place in range(count):
        topic = list(TOPICS)[place % len(TOPICS)]
        own = [TOPICS[topic][i] for i in rng.integers(0, 8, 8).tolist()]
        found.append((own + [SHARED[i] for i in rng.integers(0, 5, 4).tolist()], topic))
    return found


def fitted(name="toy", **settings):
    """A reference learned from `public_documents`."""
    settings.setdefault("features", "log-odds")
    return fit_reference(public_documents(), name=name, settings=LearningSettings(**settings))


def made(features, points, *, rule="nearest", low=None, high=None, empty=None, margin=0.2, name="topic"):
    """A reference of words w0, w1, ... with these features, shape (V, m), and these prototypes."""
    features, points = np.asarray(features, float), np.asarray(points, float)
    count, m = features.shape
    centre = np.zeros((1, m)) if empty is None else np.asarray(empty, float).reshape(1, m)
    chances = np.ones((len(points), count)) + np.eye(len(points), count)
    words, weights = drawable(chances / chances.sum(axis=1, keepdims=True))
    prototypes = Prototypes(points, tuple(f"p{k}" for k in range(len(points))), words, weights, margin)
    aspect = Aspect(
        name,
        "log-odds",
        on_grid(np.concatenate([features, centre])),
        rule,
        np.full(m, -1.0) if low is None else np.asarray(low, float),
        np.full(m, 1.0) if high is None else np.asarray(high, float),
        (prototypes,),
    )
    return Reference(
        name="made",
        vocabulary=tuple(f"w{i}" for i in range(count)),
        background=np.full(count, 1 / count),
        aspects=MappingProxyType({name: aspect}),
        tokenizer="word2vec",
        stop_words="none",
        source=MappingProxyType({"format": "reference"}),
    )
