"""A collection whose authors, districts and words are made up, and public classifiers of it."""

import json

import numpy as np
import pytest

from publius.classifiers.classifier import Classifier
from publius.noise.randomness import seeded_rng

TOPICS = {
    "bus": ("bus", "train", "tram", "driver"),
    "heating": ("heating", "boiler", "landlord", "rent"),
    "school": ("school", "teacher", "pupils", "lesson"),
    "park": ("park", "trees", "benches", "flowers"),
}


class Keywords(Classifier):
    """The label whose words a text holds most of; "other" where it holds none."""

    def __init__(self, kind="topics", labels=tuple(TOPICS), accuracy=None):
        self.kind, self.name = kind, f"toy {kind}"
        self.labels = (*labels, "other")
        self.sha256 = kind[0] * 64
        self.public = ({"name": self.name, "kind": "texts", "sha256": kind[0] * 64, "licence": None, "trained": None},)
        self.asked = 0

    def answers(self, texts):
        found = []
        for text in texts:
            words = text.casefold().split()
            hits = [sum(words.count(word) for word in TOPICS[label]) for label in self.labels[:-1]]
            found.append(int(np.argmax(hits)) if max(hits) else len(hits))
        return np.array(found, np.int64)

    def words(self, label):
        return TOPICS.get(label, ())


class Letters:
    """An encoder: how often each letter stands in a text."""

    name, dimension, languages, sha256 = "letters", 26, ("en",), "e" * 64

    @property
    def public(self):
        return {"name": self.name, "kind": "encoder", "sha256": self.sha256, "licence": None, "trained": "2020-01-01"}

    def encode(self, texts):
        return np.array([[text.casefold().count(chr(97 + at)) for at in range(26)] for text in texts], np.float32)


@pytest.fixture(scope="session")
def topics():
    return Keywords()


@pytest.fixture(scope="session")
def subjects():
    return Keywords("subjects")


def made_rows(authors=400, seed=1, weights=(5, 3, 1, 1), per_author=2):
    """Rows with id, text, author, district: half of the authors in the north, where they write of buses."""
    rng, rows = seeded_rng(seed), []
    for author in range(authors):
        north = author % 2 == 0
        own = np.array([8, 1, 1, 1] if north else weights, float)
        for _ in range(1 + int(rng.integers(per_author))):
            topic = list(TOPICS)[int(rng.choice(4, p=own / own.sum()))]
            text = " ".join(TOPICS[topic][int(place)] for place in rng.integers(0, 4, 5))
            rows.append(
                {
                    "id": f"i{len(rows)}",
                    "text": text,
                    "author": f"Author {author}",
                    "district": "north" if north else "south",
                }
            )
    return rows


@pytest.fixture(scope="session")
def rows():
    return made_rows()


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def file(tmp_path, rows):
    return written(tmp_path / "in.jsonl", rows)
