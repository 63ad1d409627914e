"""Word vectors learned from public labelled text (theory, 7)."""

import math

import numpy as np
import pytest

from publius.embeddings import topic_metric
from publius.embeddings.topic_metric import fit_metric, log_odds
from publius.errors import DataError
from toy import WORDS


@pytest.fixture(scope="module")
def two_topics():
    """30 texts a topic; the first words of the list say one topic, the last the other, "bread" both."""
    texts = []
    for i in range(60):
        pool = WORDS[:20] if i % 2 else WORDS[-20:]
        texts.append(" ".join(["the", "bread", *(pool[(i + 3 * j) % 20] for j in range(8))]))
    return texts, ["ab"[i % 2] for i in range(60)]


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
    np.testing.assert_allclose(found @ found.T, centred @ centred.T, atol=1e-12)


def test_each_word_is_on_the_side_of_its_topic_and_the_informative_ones_stay(two_topics, monkeypatch):
    monkeypatch.setattr(topic_metric, "_WORDS", 40)
    found = fit_metric(*two_topics, name="topics")
    values = dict(zip(found.vocabulary, found.vectors[:, 0], strict=True))
    assert found.dimension == 1
    assert "the" not in found
    assert len(values) == 40
    assert all(value < 0 for word, value in values.items() if word in WORDS[:20])
    assert all(value > 0 for word, value in values.items() if word in WORDS[-20:] and word != "bread")
    assert "must be public" in found.source["notice"]
    assert found.source["topics"] == {"a": 30, "b": 30}
    monkeypatch.setattr(topic_metric, "_WORDS", 12)
    assert "bread" not in fit_metric(*two_topics, name="topics")


def test_only_words_by_the_list_rule_stay(two_topics):
    texts, labels = two_topics
    named = [f"{text} qzqzq anna{' rarely' * (i < 4)}" for i, text in enumerate(texts)]
    found = fit_metric(named, labels, name="t")
    assert "qzqzq" not in found
    assert "rarely" not in found
    assert "anna" in found
    assert "qzqzq" in fit_metric(named, labels, name="t", extra={"qzqzq"})
    with pytest.raises(DataError, match="may leave"):
        fit_metric(named, labels, name="t", authors=["one", "two"] * 30)


def test_what_makes_no_metric_is_refused(two_topics):
    with pytest.raises(DataError, match="at least two"):
        fit_metric(two_topics[0], ["a"] * 60, name="t")
    with pytest.raises(DataError, match="one label for each"):
        fit_metric(two_topics[0], ["a"], name="t")
