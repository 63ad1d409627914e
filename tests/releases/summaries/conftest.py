"""Made complaints with authors, and a small public reference that is fitted once."""

from dataclasses import replace

import pytest

import complaints
from publius.noise.randomness import seeded_rng
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.aspects import LearningSettings
from publius.vectors.learning.fit_reference import fit_reference
from publius.vectors.learning.public_counts import fit_counts

AUTHORS = 400


def letters(count, seed, topics=tuple(complaints.TOPICS)):
    """Topic and text, one topic after the other."""
    rng = seeded_rng(seed)
    return [
        (topic, complaints.letter(rng, topic, complaints.AUTHORS[place % 4], 40))
        for place in range(count)
        for topic in [topics[place % len(topics)]]
    ]


@pytest.fixture(scope="session")
def complaint_vectors():
    """Words of one topic beside each other."""
    rng = seeded_rng(8)
    groups = [*complaints.TOPICS.values(), complaints.COMMON]
    words = list(dict.fromkeys(word for group in groups for word in group))
    place = {word: number for number, group in enumerate(groups) for word in group}
    centres = 4 * rng.standard_normal((len(groups), 8))
    points = [centres[place[word]] + rng.standard_normal(8) for word in words]
    return Embeddings.from_arrays(words, points, name="complaints", tokenizer="glove")


@pytest.fixture(scope="session")
def reference(complaint_vectors, tmp_path_factory):
    """Themes and subjects of 120 public letters, stored and opened again."""
    texts = [(text.split(), topic) for topic, text in letters(120, 5)]
    found = fit_reference(texts, name="letters", settings=LearningSettings(features="log-odds"))
    patch = pytest.MonkeyPatch()
    patch.setenv("PUBLIUS_HOME", str(tmp_path_factory.mktemp("store")))
    counted = fit_counts([words for words, _ in texts], found.places, complaint_vectors, "english", themes=6)
    patch.undo()
    return replace(found, counted=counted).save(tmp_path_factory.mktemp("references") / "letters")


@pytest.fixture(scope="session")
def rows():
    """One letter of each author, a third of each topic."""
    return [
        {"author": f"author {place}", "product": topic, "text": text}
        for place, (topic, text) in enumerate(letters(AUTHORS, 6))
    ]
