"""Word vectors learned from public labelled text."""

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from publius.cli import app
from publius.documents.corpus import open_corpus
from publius.errors import DataError, DocumentError, UsageError
from publius.mechanisms.registry import make_mechanism
from publius.settings import CountedWordSettings
from publius.embeddings.embeddings import Embeddings
from publius.embeddings.learning.reference import remembered_texts
from publius.embeddings.learning.topic_metric import TopicMetric, centred_basis, clipped, log_odds
from toy import WORDS


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return open_corpus(path, keep=("topic",), number=True)


@pytest.fixture
def two_topics(tmp_path):
    """30 documents a topic; the first words of the list say one topic, the last the other, "bread" both."""
    rows = []
    for i in range(60):
        pool = WORDS[:20] if i % 2 else WORDS[-20:]
        words = [pool[(i + 3 * j) % 20] for j in range(8)]
        rows.append({"text": " ".join(["the", "bread", *words]), "topic": "ab"[i % 2]})
    return write(tmp_path / "public.jsonl", rows)


def test_log_odds_of_two_topics_are_one_number():
    found = log_odds(np.array([[3.0, 9.0], [5.0, 5.0]]), np.array([10.0, 20.0]))
    assert found.shape == (2, 1)
    assert found[0, 0] == pytest.approx(math.log(3.5 / 10) - math.log(9.5 / 20))


def test_more_topics_keep_the_distances_of_centred_log_odds():
    counts, documents = np.array([[3.0, 0, 4, 1], [1, 7, 2, 2], [0, 0, 9, 5]]), np.full(4, 10.0)
    logs = np.log((counts + 0.5) / documents)
    centred = logs - logs.mean(axis=1, keepdims=True)
    found = log_odds(counts, documents)
    assert found.shape == (3, 3)
    np.testing.assert_allclose(np.linalg.norm(found[0] - found[1]), np.linalg.norm(centred[0] - centred[1]))
    np.testing.assert_allclose(centred_basis(4).T @ centred_basis(4), np.eye(3), atol=1e-15)


def test_fit_puts_each_word_on_the_side_of_its_topic(two_topics):
    found = TopicMetric("topic", words=40).fit(two_topics, name="topics")
    values = dict(zip(found.vocabulary, found.vectors[:, 0], strict=True))
    assert found.dimension == 1
    assert "the" not in found
    assert all(value < 0 for word, value in values.items() if word in WORDS[:20] and word != "bread")
    assert all(value > 0 for word, value in values.items() if word in WORDS[-20:] and word != "bread")


def test_the_words_kept_are_the_informative_ones(two_topics):
    found = TopicMetric("topic", words=12).fit(two_topics, name="topics")
    assert found.size == 12
    assert "bread" not in found


def test_the_source_says_that_it_must_be_public(two_topics):
    source = TopicMetric("topic").fit(two_topics, name="topics").source
    assert "must be public" in source["notice"]
    assert source["corpus"] == "public.jsonl"
    assert source["topics"] == {"a": 30, "b": 30}


def test_clipping_shortens_and_keeps_the_direction(two_topics):
    assert np.abs(TopicMetric("topic", clip=1.5).fit(two_topics, name="t").vectors).max() == pytest.approx(
        1.5
    )
    np.testing.assert_allclose(clipped(np.array([[3.0, 4.0], [0.3, 0.4]]), 1.0), [[0.6, 0.8], [0.3, 0.4]])


def test_a_mixed_metric_adds_squares(two_topics, embeddings):
    plain = TopicMetric("topic", words=30, tokenizer="word2vec").fit(two_topics, name="t")
    mixed = TopicMetric("topic", words=30, mix=embeddings, weight=0.5).fit(two_topics, name="m")
    first, second = plain.vocabulary[0], plain.vocabulary[5]

    def squared(where):
        return ((where.vectors[where.index(first)] - where.vectors[where.index(second)]) ** 2).sum()

    assert squared(mixed) == pytest.approx(squared(plain) + 0.5 * squared(embeddings), rel=1e-5)


@pytest.mark.parametrize("name", ["exponential", "tight", "laplace", "projected-laplace", "vickrey"])
def test_every_mechanism_takes_it(two_topics, name):
    found = TopicMetric("topic").fit(two_topics, name="topics")
    assert make_mechanism(name, found, epsilon=0.5).guarantee.epsilon == 0.5


def test_what_makes_no_metric_is_refused(tmp_path):
    rows = [{"text": " ".join(WORDS), "topic": "a"}] * 9
    with pytest.raises(DataError, match="at least two"):
        TopicMetric("topic").fit(write(tmp_path / "one.jsonl", rows), name="t")
    rows = [*rows, {"text": "anchor", "topic": "b"}]
    with pytest.raises(DataError, match="at least 50 texts use it"):
        TopicMetric("topic", counted=CountedWordSettings(authors_at_least=50)).fit(
            write(tmp_path / "few.jsonl", rows), name="t"
        )
    with pytest.raises(DocumentError, match="document 11"):
        TopicMetric("topic").fit(write(tmp_path / "gap.jsonl", [*rows, {"text": "anchor"}]), name="t")
    for wrong in ({"clip": 0.0}, {"words": 1}, {"weight": 1.0}, {"clip": math.nan}):
        with pytest.raises(UsageError):
            TopicMetric("topic", **wrong)


def test_the_command_says_which_rare_words_become_public(tmp_path):
    rows = [
        {"text": f"{' '.join(WORDS[:9] if i % 2 else WORDS[-9:])}{' brontide' * (i < 6)}", "topic": "ab"[i % 2],
         "by": str(i % 7)}
        for i in range(42)
    ]  # fmt: skip
    write(tmp_path / "public.jsonl", rows)
    command = ["embeddings", "fit", str(tmp_path / "public.jsonl"), "--label", "topic"]
    result = CliRunner().invoke(app, [*command, "--name", "texts"])
    said = " ".join(result.output.split())
    assert "words of these vectors become public" in said
    assert "No author is known" in said
    assert "brontide 6" in said
    result = CliRunner().invoke(
        app, [*command, "--name", "people", "--author-field", "by", "--leave-out", "brontide"]
    )
    said = " ".join(result.output.split())
    assert result.exit_code == 0, said
    assert "Counted by authors; at least 5 use each" in said
    assert "brontide" not in said
    assert "brontide" not in Embeddings.load("people")
    assert remembered_texts(Embeddings.load("people").folder) == (tmp_path / "public.jsonl", "text")
