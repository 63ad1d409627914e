"""`TopicClassifier`: what it learns, what it says of itself, and that an answer is a function of one text."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from public_posts import alone_and_beside, posts
from publius.classifiers import load_classifier, stored_classifiers
from publius.classifiers.store import SHELF, store
from publius.classifiers.topics import TopicClassifier, folds_of, groups_of, measured
from publius.errors import DataError, UsageError
from publius.noise.randomness import seeded_rng

TEXTS, TOPICS, AUTHORS = posts()


@pytest.fixture(scope="module")
def topics():
    return TopicClassifier.train(TEXTS, TOPICS, authors=AUTHORS, name="made", trained_on=("ab" * 32,))


def test_it_learns(topics):
    others, right, _ = posts(60, seed=9)
    assert np.mean([a == b for a, b in zip(topics.predict(others), right, strict=True)]) > 0.9
    assert topics.labels == ("nature", "people", "places", "school", "other")
    assert topics.accuracy["texts"] == len(TEXTS)
    assert topics.accuracy["low"] <= topics.accuracy["share"] <= topics.accuracy["high"]
    assert set(topics.accuracy["by_label"]) == set(TOPICS)
    assert topics.trained_on == ("ab" * 32,)
    assert topics.public[0]["sha256"] == topics.sha256


def test_a_text_without_a_known_word_is_other(topics):
    assert topics.predict(["", "?!", "qqqq zzzz", "\ud800", "river"]) == ["other"] * 4 + ["places"]
    assert topics.known("river qqqq") == (2, 1)


def test_an_answer_depends_on_its_own_text_alone(topics):
    alone, beside = alone_and_beside(topics, posts(40, seed=3)[0])
    assert alone == beside


def test_scores_are_equal_to_the_last_bit_whatever_stands_beside(topics):
    from publius.classifiers.features import product

    rows = topics.read(TEXTS[:50])[0]
    together = product(rows, topics._weights)
    for place, text in enumerate(TEXTS[:50]):
        assert (product(topics.read([text])[0], topics._weights)[0] == together[place]).all()


def test_words_follow_the_list_rule(topics):
    words = {word for label in topics.labels for word in topics.words(label)}
    assert "sparrow" in topics.words("nature")
    assert not [word for word in words if word.startswith("zqx")]  # twelve authors, one each
    assert any(word.startswith("zqx") for word in topics.meta.vocabulary)  # inside it may be any word
    assert topics.words("other") == topics.words("no label") == ()
    few = TopicClassifier.train(TEXTS, TOPICS, authors=["one"] * len(TEXTS))
    assert not any(few.words(label) for label in few.labels)


def test_saved_and_read_again_it_is_the_same(topics, tmp_path):
    topics.save(tmp_path / "made")
    again = load_classifier(tmp_path / "made")
    assert again.sha256 == topics.sha256
    assert again.answers(TEXTS).tolist() == topics.answers(TEXTS).tolist()
    assert again.accuracy == topics.accuracy
    assert pickle.loads(pickle.dumps(topics)).answers(TEXTS).tolist() == topics.answers(TEXTS).tolist()


@pytest.mark.parametrize("part", ["weights.npy", "idf.npy", "meta.json"])
def test_a_changed_part_is_refused(topics, tmp_path, part):
    topics.save(tmp_path / "made")
    content = bytearray((tmp_path / "made" / part).read_bytes())
    content[0 if part == "meta.json" else -1] ^= 1
    (tmp_path / "made" / part).write_bytes(content)
    with pytest.raises(DataError):
        load_classifier(tmp_path / "made")


def test_the_store(topics):
    store(topics)
    assert stored_classifiers() == ["made"]
    assert load_classifier("made").sha256 == topics.sha256
    with pytest.raises(UsageError, match="is stored"):
        store(topics)
    SHELF.remove("made")
    assert stored_classifiers() == []
    with pytest.raises(UsageError, match="no classifier is called"):
        load_classifier("made")


@pytest.mark.parametrize("name", ["../x", "", "Ä", "subjects"])
def test_names_that_no_folder_can_have(topics, name):
    import msgspec

    renamed = TopicClassifier(msgspec.structs.replace(topics.meta, name=name), topics.arrays)
    with pytest.raises(UsageError, match="the name of"):
        store(renamed)


def test_training_is_refused_without_two_labels_or_words():
    with pytest.raises(DataError, match="at least two"):
        TopicClassifier.train(["a b", "a c"], ["x", "x"])
    with pytest.raises(DataError, match="one for each"):
        TopicClassifier.train(["a b"], ["x", "y"])
    with pytest.raises(DataError, match="no word"):
        TopicClassifier.train(["?", "!"], ["x", "y"])


def test_texts_without_a_label_are_left_out_and_empty_authors_are_authors():
    texts, labels, authors = [*TEXTS, "river"], [*TOPICS, ""], [*AUTHORS, None]
    found = TopicClassifier.train(texts, labels, authors=authors)
    assert found.accuracy["texts"] == len(TEXTS)
    assert found.labels == ("nature", "people", "places", "school", "other")


def test_two_labels_and_a_label_called_other():
    half = [topic if topic == "nature" else "other" for topic in TOPICS]
    found = TopicClassifier.train(TEXTS, half)
    assert found.labels == ("nature", "other")
    assert found.predict(["sparrow eagle salmon", "river valley forest"]) == ["nature", "other"]


def test_folds_keep_authors_together_and_look_at_no_text():
    groups = groups_of(AUTHORS, len(AUTHORS))
    folds = folds_of(groups)
    assert set(folds) == {0, 1, 2, 3, 4}
    assert all(len(set(folds[groups == group])) == 1 for group in set(groups))
    assert len(set(groups_of([None, "", "a", "A "], 4))) == 3


def test_the_interval_is_exact_and_of_authors():
    right = np.array([1.0] * 80 + [0.0] * 20)
    alone = measured(right, ["x"] * 100, np.arange(100))
    assert (round(alone["low"], 4), round(alone["high"], 4)) == (0.7082, 0.8733)  # Clopper and Pearson 1934
    together = measured(right, ["x"] * 100, np.arange(100) // 20)
    assert together["low"] < alone["low"]


def test_the_interval_holds_where_one_author_in_twelve_is_never_right():
    rng, missed = seeded_rng(5), 0
    for _ in range(200):
        chances = np.where(rng.random(12) < 1 / 12, 0.0, 0.9)
        found = measured(np.repeat(chances, 20), ["x"] * 240, np.arange(240) // 20)
        missed += not found["low"] <= 0.9 * 11 / 12 <= found["high"]
    assert missed <= 18  # of 200 at 95 %; Wilson's with a design effect misses 66


def test_answers_need_no_scikit_learn(topics, tmp_path):
    topics.save(tmp_path / "made")
    code = (
        "import sys; from publius.classifiers import load_classifier; "
        f"c = load_classifier({str(tmp_path / 'made')!r}); c.predict('river'); "
        "sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
