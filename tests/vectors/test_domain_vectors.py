"""Vectors of a domain's own words."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from letters import AUTHORS, text, write
from publius.cli import app
from publius.documents.corpus import open_corpus
from publius.errors import DataError, UsageError
from publius.files.reading import files_sha256
from publius.settings import CountedWordSettings
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.domain_vectors import DomainVectors
from publius.vectors.learning.reference import remembered_texts

pytest.importorskip("gensim", reason="extra domain is not installed")


@pytest.fixture
def public(tmp_path):
    """Forty texts; each author has a name of a kind that no general vectors have."""
    records = [
        {
            "id": str(seed),
            "text": " ".join(f"{word} Hermi{author}" for word in text(author, seed, 60).split()),
        }
        for author in AUTHORS
        for seed in range(10)
    ]
    return write(tmp_path / "public.jsonl", records)


def test_names_get_vectors_near_their_company(public):
    made = DomainVectors(dimension=10, epochs=20).train(open_corpus(public, number=True), name="own")
    assert {f"hermi{author}" for author in AUTHORS} <= set(made.vocabulary)
    vectors = {word: made.vectors[made.index(word)].astype(float) for word in ("hermiada", "river", "apple")}
    cosine = lambda a, b: a @ b / np.linalg.norm(a) / np.linalg.norm(b)  # noqa: E731
    assert cosine(vectors["hermiada"], vectors["river"]) > cosine(vectors["hermiada"], vectors["apple"])


def test_the_same_seed_gives_the_same_vectors(public):
    made = [
        DomainVectors(dimension=5, seed=3).train(open_corpus(public, number=True), name="own").sha256
        for _ in range(2)
    ]
    assert made[0] == made[1]


def test_command(public):
    result = CliRunner().invoke(
        app, ["embeddings", "train", str(public), "--name", "own", "--dimension", "8", "--json"]
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert Embeddings.load("own").dimension == found["dimension"] == 8
    assert "must be public" in found["source"]["notice"]
    assert found["source"]["corpus_sha256"] == files_sha256([public])
    assert remembered_texts(found["folder"]) == (public, "text")


def test_refused(public, tmp_path):
    with pytest.raises(DataError, match="give more text"):
        DomainVectors(least_count=10_000).train(open_corpus(public, number=True), name="own")
    with pytest.raises(UsageError, match="whole numbers from 1"):
        DomainVectors(epochs=0)
    empty = write(tmp_path / "empty.jsonl", [{"id": "1", "text": ""}])
    with pytest.raises(DataError, match="0 words are left, too few to learn from"):
        DomainVectors().train(open_corpus(empty), name="own")


def test_words_become_public_by_authors_and_none_of_a_number_or_mail(tmp_path):
    """Twelve authors with five texts each: one writes a name in all of hers, all write one mail address."""
    records = [
        {"text": f"{text('ada', 7, 40)} Zelinkowa {'Brontide' * (author == 3)} jane.plum@nowhere.example 0770 900 123",
         "author": str(author)}
        for author in range(12)
        for _ in range(5)
    ]  # fmt: skip
    for record in records:
        record["text"] = (
            record["text"] if record["author"] != "3" else record["text"].replace("Zelinkowa", "Xylander")
        )
    path = write(tmp_path / "public.jsonl", records)
    counted = CountedWordSettings(author_field="author")
    made = DomainVectors(dimension=4, counted=counted).train(
        open_corpus(path, keep=("author",), number=True), name="own"
    )
    assert "zelinkowa" in made
    told = "brontide xylander jane plum nowhere example 0770 900 123".split()
    assert [word for word in told if word in made or word in made.source["rare_words"]] == []
    by_texts = DomainVectors(dimension=4).train(open_corpus(path, number=True), name="own")
    assert "brontide" in by_texts
    assert by_texts.source["public_words"]["counted_by"] == "texts"
    assert "brontide" in by_texts.source["rare_words"]
    result = CliRunner().invoke(app, ["embeddings", "train", str(path), "--name", "own", "--dimension", "4"])
    said = " ".join(result.output.split())
    assert "words of these vectors become public" in said
    assert "No author is known" in said
    assert "brontide 5" in said
