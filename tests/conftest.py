"""What every test stands on: a home of its own, a small public vocabulary, and documents made of it."""

import json

import numpy as np
import pytest

from publius.embeddings import Embeddings
from publius.rng import seeded_rng

WORDS = ["river", "mountain", "valley", "forest", "meadow", "harbor", "bridge", "castle", "garden", "market", "kitchen", "window", "letter", "paper", "pencil", "teacher", "student", "lesson", "music", "guitar", "violin", "singer", "dancer", "actor", "painter", "doctor", "nurse", "hospital", "medicine", "court", "judge", "lawyer", "witness", "verdict", "soldier", "captain", "vessel", "anchor", "storm", "thunder", "winter", "summer", "autumn", "spring", "bread", "butter", "cheese", "apple", "orange", "lemon", "horse", "donkey", "sparrow", "eagle", "salmon", "copper", "silver", "golden", "marble", "engine"]


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """No test sees or leaves anything in the user's store."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("PUBLIUS_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def embeddings():
    """60 words in 8 dimensions, neighbours about 2.5 apart."""
    vectors = seeded_rng(20).standard_normal((len(WORDS), 8), np.float32)
    return Embeddings.from_arrays(WORDS, vectors, name="toy", tokenizer="word2vec")


@pytest.fixture
def stored(embeddings, home):
    """The name of the same vectors in the store."""
    embeddings.save(home / "embeddings" / "toy")
    return "toy"


def sentence(seed, count=30):
    """``count`` vocabulary words in random order."""
    return " ".join(WORDS[i] for i in seeded_rng(seed).integers(0, len(WORDS), count).tolist())


@pytest.fixture
def corpus_file(tmp_path):
    """Twelve documents of 30 words as JSON lines, with a topic."""
    path = tmp_path / "corpus.jsonl"
    rows = [{"id": f"doc{i}", "text": sentence(i), "topic": "ab"[i % 2]} for i in range(12)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
