"""`Clusters` and the classifier that a summary leaves."""

import json

import numpy as np
import pytest

from public_posts import alone_and_beside, posts
from publius.classifiers import load_classifier
from publius.classifiers.clusters import Clusters, SummaryClassifier, from_counts, places_of
from publius.errors import DataError, UsageError
from publius.noise.randomness import seeded_rng

TEXTS, TOPICS, AUTHORS = posts()
GROUPS = ("nature", "people", "places", "school", "other")


@pytest.fixture(scope="module")
def clusters():
    return Clusters.train(TEXTS, authors=AUTHORS, clusters=5)


@pytest.fixture(scope="module")
def counts(clusters):
    """Of each group in each cluster, of other texts."""
    texts, topics, _ = posts(400, seed=5)
    table = np.zeros((len(GROUPS), len(clusters.labels)), np.int64)
    np.add.at(table, ([GROUPS.index(topic) for topic in topics], clusters.answers(texts)), 1)
    return table


def test_clusters_are_named_by_public_words(clusters):
    assert len(clusters.labels) == 6
    assert clusters.labels[-1] == "other"
    for label in clusters.labels[:-1]:
        assert clusters.words(label)[:3] == tuple(label.split())[:3]
    assert not [word for word in clusters.meta.vocabulary if word.startswith("zqx")]


def test_texts_of_a_topic_stay_together(clusters):
    texts, topics, _ = posts(200, seed=4)
    answers = clusters.answers(texts)
    common = sum(max(np.sum((answers == k) & (np.array(topics) == t)) for t in set(topics)) for k in range(5))
    assert common / len(texts) > 0.8
    assert clusters.predict(["", "zqx1k", "??"]) == ["other"] * 3
    assert clusters.known("river zqx1k") == (2, 1)


def test_an_answer_depends_on_its_own_text_alone(clusters):
    texts = posts(40, seed=3)[0]
    alone, beside = alone_and_beside(clusters, texts)
    assert alone == beside
    together = clusters.at(texts)[0]
    assert all((clusters.at([text])[0][0] == together[row]).all() for row, text in enumerate(texts))


def test_saved_and_read_again(clusters, tmp_path):
    clusters.save(tmp_path / "made")
    assert load_classifier(tmp_path / "made").answers(TEXTS).tolist() == clusters.answers(TEXTS).tolist()


def test_too_few_texts_or_words_are_refused():
    with pytest.raises(DataError, match="too few"):
        Clusters.train(TEXTS[:10], clusters=8)
    with pytest.raises(DataError, match="may leave"):
        Clusters.train(["zqx"] * 20, clusters=2)
    with pytest.raises(UsageError):
        Clusters.train(TEXTS, clusters=1)


@pytest.mark.parametrize("scale", [0, 2.0])
def test_a_classifier_out_of_counts(clusters, counts, tmp_path, scale):
    noise = np.round(scale * seeded_rng(7).standard_normal(counts.shape)).astype(np.int64)
    from_counts(clusters, "topic", GROUPS, counts + noise, scale).save(tmp_path / "summary" / "classifier" / "topic")
    found = load_classifier(tmp_path / "summary")
    assert isinstance(found, SummaryClassifier)
    assert (found.kind, found.labels, found.name) == ("summary", GROUPS, "topic")
    texts, topics, _ = posts(100, seed=8)
    assert np.mean(np.array(found.predict(texts)) == np.array(topics)) > 0.8
    assert found.predict("??") == "other"
    alone, beside = alone_and_beside(found, texts[:20])
    assert alone == beside
    assert found.words("nature")
    assert found.public[1]["name"] == "clusters"


def test_what_leaves_with_it_is_public_words_and_the_counts(clusters, counts, tmp_path):
    from_counts(clusters, "topic", GROUPS, counts, 1.0).save(tmp_path / "made")
    meta = json.loads((tmp_path / "made" / "meta.json").read_bytes())
    assert set(meta["vocabulary"]) <= set(clusters.meta.vocabulary)
    names = {path.name for path in (tmp_path / "made").iterdir()}
    assert names == {"meta.json", *(f"{each}.npy" for each in meta["arrays"])}


def test_several_groups_are_not_guessed(clusters, counts, tmp_path):
    for field in ("a", "b"):
        from_counts(clusters, field, GROUPS, counts, 1.0).save(tmp_path / "classifier" / field)
    with pytest.raises(UsageError, match="choose one"):
        load_classifier(tmp_path)
    assert load_classifier(tmp_path / "classifier" / "a").name == "a"


def test_places_of_noise_alone_lie_where_the_margins_lie():
    table = np.array([[100.0, 0.0, 0.0], [0.0, 90.0, 1.0], [1.0, -1.0, 0.0]])
    places, shares = places_of(table, np.eye(3), 2.0)
    assert places[0].argmax() == 0
    assert places[1].argmax() == 1
    assert shares.sum() == pytest.approx(1)
    assert shares[2] < 0.03
    assert np.linalg.norm(places, axis=1) == pytest.approx(1)
