"""What every test stands on: a home of its own, a small public vocabulary, and documents made of it."""

import one_thread  # noqa: F401  # isort: skip
import json
import sys
from contextlib import suppress

import numpy as np
import pytest

from publius.cli import main
from publius.noise.randomness import seeded_rng
from publius.vectors.embeddings import Embeddings
from toy import WORDS, sentence

with suppress(ImportError):  # Spark's environment and the notebook's are without it
    from hypothesis import settings

    settings.register_profile("publius", deadline=None)  # a stall of a busy machine is no defect
    settings.load_profile("publius")


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


@pytest.fixture
def corpus_file(tmp_path):
    """Twelve documents of 30 words as JSON lines, with a topic."""
    path = tmp_path / "corpus.jsonl"
    rows = [{"id": f"doc{i}", "text": sentence(i), "topic": "ab"[i % 2]} for i in range(12)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def publius(monkeypatch, capsys):
    """Run the command line: (exit code, standard output, standard error)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["publius", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run
