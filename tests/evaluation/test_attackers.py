"""Each attacker against a naive reimplementation, and what all have in common."""

import math
from collections import Counter

import numpy as np
import pytest
from made_texts import LINE, Small, authors_texts

from publius.errors import DataError, PolicyError, UsageError
from publius.evaluation.attackers import (
    BLANK,
    KINDS,
    STANDARD,
    checked_names,
    fitted,
    joined,
    make_attacker,
    naming,
    scores_of,
    told_of,
)
from publius.evaluation.attackers.counting import Koppel, Likelihood, inner_grams
from publius.evaluation.attackers.informed import EstimatedTransition, ExactTransition, Informed, transition_of
from publius.evaluation.attackers.transport import Transport
from publius.noise.randomness import seeded_rng

TEXTS = authors_texts(authors=4, each=3, topics=2, words=40)
KNOWN = [t for n, t in enumerate(TEXTS) if n % 3]
ASKED = [t for n, t in enumerate(TEXTS) if n % 3 == 0]


@pytest.mark.parametrize("name", [name for name in KINDS if name not in ("transport", "fasttext")])
def test_attackers_name_authors_with_habits(name):
    model = fitted(make_attacker(name), [t.text for t in KNOWN], [t.author for t in KNOWN])
    classes, scores = scores_of(model, [t.text for t in ASKED])
    assert classes == sorted({t.author for t in TEXTS})
    assert scores.shape == (4, 4)
    right = [classes[n] == t.author for n, t in zip(scores.argmax(axis=1), ASKED, strict=True)]
    assert sum(right) >= 3
    assert list(model.predict([t.text for t in ASKED])) == [classes[n] for n in scores.argmax(axis=1)]


@pytest.mark.parametrize("name", [name for name in KINDS if name not in ("transport", "fasttext")])
def test_order_of_words_tells_nothing(name):
    """A bag has none."""
    model = fitted(make_attacker(name), [t.text for t in KNOWN], [t.author for t in KNOWN])
    plain = scores_of(model, [t.text for t in ASKED])[1]
    other = scores_of(model, [" ".join(sorted(t.text.split())) for t in ASKED])[1]
    np.testing.assert_allclose(plain, other, atol=1e-12)


def test_ties_count_by_expectation():
    shares = naming(np.array([[1.0, 1.0, 0.5], [0.0, 0.0, 0.0], [-np.inf, 2.0, 1.0]]))
    np.testing.assert_allclose(shares, [[0.5, 0.5, 0], [1 / 3] * 3, [0, 1, 0]])


def test_names_are_checked_with_the_way_out():
    assert checked_names(()) == STANDARD
    assert checked_names(["koppel:least_words=400", "adaptive-words"]) == ("koppel:least_words=400", "adaptive-words")
    with pytest.raises(UsageError, match="letters"):
        checked_names(["svm"])
    with pytest.raises(UsageError, match="no parameter 'words'"):
        checked_names(["koppel:words=3"])
    with pytest.raises(UsageError, match="3-6"):
        checked_names(["fasttext:subwords=many"])


def test_what_an_attacker_is_told_stands_in_its_record():
    assert told_of("letters") == ("texts",)
    assert told_of("adaptive-letters") == told_of("informed") == ("texts", "mechanism")
    assert told_of("worst-case") == ("originals", "mechanism")


def test_a_class_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "own_attackers_g.py").write_text(
        "class Longest:\n"
        "    def fit(self, texts, authors):\n"
        "        self.classes_ = sorted(set(authors))\n"
        "        self.best = max(zip(map(len, texts), authors))[1]\n"
        "        return self\n"
        "    def predict(self, texts):\n"
        "        return [self.best for _ in texts]\n"
        "class Broken:\n"
        "    def fit(self, texts, authors):\n"
        "        raise ValueError(texts[0])\n"
        "    predict = fit\n"
        "class Nothing:\n"
        "    pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    model = fitted(make_attacker("python:own_attackers_g:Longest"), ["a", "a b"], ["x", "y"])
    classes, scores = scores_of(model, ["c", "d"])
    assert classes == ["x", "y"]
    assert scores.tolist() == [[0, 1], [0, 1]]
    with pytest.raises(PolicyError) as error:
        fitted(make_attacker("python:own_attackers_g:Broken"), ["secret words"], ["x"])
    assert "secret" not in str(error.value)
    with pytest.raises(PolicyError, match="fit"):
        make_attacker("python:own_attackers_g:Nothing")


# Koppel ---------------------------------------------------------------------------------------------------


def test_koppel_agrees_with_a_naive_reimplementation():
    texts, authors = [t.text for t in KNOWN], [t.author for t in KNOWN]
    model = Koppel(rounds=20, seed=3).fit(texts, authors)
    profiles = {name: Counter() for name in model.classes_}
    for text, author in zip(texts, authors, strict=True):
        for word in text.split():
            profiles[author].update(inner_grams(word))
    names = model.counter_.get_feature_names_out().tolist()
    found = model.decision_function([t.text for t in ASKED])
    for row, asked in enumerate(ASKED):
        counts = Counter(gram for word in asked.text.split() for gram in inner_grams(word))
        votes = dict.fromkeys(model.classes_, 0.0)
        for mask in model.halves_:
            used = [name for name, on in zip(names, mask, strict=True) if on]
            cosines = {}
            for author, profile in profiles.items():
                norm = math.sqrt(sum(profile[g] ** 2 for g in used))
                cosines[author] = sum(profile[g] * counts[g] for g in used) / norm if norm else 0.0
            best = max(cosines.values())
            winners = [a for a, c in cosines.items() if c >= best * (1 - 1e-9)]
            for winner in winners:
                votes[winner] += 1 / len(winners) / 20
        assert found[row].tolist() == pytest.approx([votes[a] for a in model.classes_], abs=1e-9)


def test_koppel_leaves_out_who_has_too_few_words_by_the_text_before_the_cut():
    texts, authors = [t.text for t in KNOWN], [t.author for t in KNOWN]
    lengths = [500 if author == "author 1" else 400 if author == "author 2" else 100 for author in authors]
    model = Koppel(least_words=600).fit(texts, authors, lengths=lengths)
    scores = model.decision_function([ASKED[0].text])[0]
    assert np.isfinite(scores).tolist() == [False, True, True, False]
    with pytest.raises(UsageError, match="0 of 4 authors have 600 known words"):
        Koppel(least_words=600).fit(texts, authors)


def test_inner_grams_are_inside_words():
    assert inner_grams("nurses") == ("nurs", "urse", "rses")
    assert inner_grams("tea") == ("tea",)


# Likelihood -----------------------------------------------------------------------------------------------


def test_likelihood_is_the_smoothed_multinomial():
    model = Likelihood(prior_words=10).fit(["a a b", "b c"], ["x", "y"])
    shares = {"x": {"a": 2 / 3, "b": 1 / 3, "c": 0}, "y": {"a": 0, "b": 0.5, "c": 0.5}}
    average = {w: (shares["x"][w] + shares["y"][w]) / 2 for w in "abc"}
    counts = {"x": {"a": 2, "b": 1, "c": 0}, "y": {"a": 0, "b": 1, "c": 1}}
    expected = [
        sum(
            times * math.log((counts[who][w] + 10 * average[w]) / (sum(counts[who].values()) + 10))
            for w, times in {"a": 1, "c": 2}.items()
        )
        for who in "xy"
    ]
    assert model.decision_function(["a c c unseen"])[0].tolist() == pytest.approx(expected)


# Transport ------------------------------------------------------------------------------------------------


def test_transport_finds_the_nearest_texts_as_all_distances_would(embeddings):
    from publius.distances.earth_mover import pairwise_distances
    from publius.text.bag import Bag

    rng = seeded_rng(5)
    vocabulary = embeddings.vocabulary
    texts = [[vocabulary[n] for n in rng.integers(0, 60, size)] for size in rng.integers(8, 20, 25).tolist()]
    asked = [[vocabulary[n] for n in rng.integers(0, 60, 12)] for _ in range(4)]
    model = Transport(embeddings).fit([joined(t) for t in texts], [f"a{n % 5}" for n in range(25)])
    table = pairwise_distances([Bag(t) for t in (*asked, *texts)], embeddings)[: len(asked), len(asked) :]
    for row, found in zip(table, model.nearest([joined(t) for t in asked], 5), strict=True):
        best = np.argsort(row)[:5]
        assert [place for _, place in found] == best.tolist()
        assert [distance for distance, _ in found] == pytest.approx(row[best].tolist())


def test_transport_votes_go_to_the_nearer_of_equals():
    model = Transport()
    model.classes_, model.labels_ = np.array(["x", "y", "z"]), np.array([0, 1, 1, 0, 2])
    votes = model.votes([(1.0, 0), (2.0, 1), (3.0, 2), (4.0, 3), (5.0, 4)], 4)
    assert votes.argmax() == 0
    assert model.votes([(1.0, 0), (1.0, 1)], 1)[:2].tolist() == pytest.approx([0.5 + 0.5e-6] * 2)
    assert model.votes([], 1).tolist() == [0, 0, 0]


def test_transport_leaves_out_words_without_a_vector(embeddings):
    model = Transport(embeddings, cut=2).fit(["river zzzz mountain", "garden market"], ["x", "y"])
    assert len(model.words_) == 3
    assert model.decision_function(["qqqq"]).tolist() == [[0, 0]]
    with pytest.raises(DataError, match="embeddings"):
        Transport(embeddings).fit(["zzzz", "qqqq"], ["x", "y"])
    with pytest.raises(UsageError, match="word vectors"):
        Transport().fit(["river", "garden"], ["x", "y"])


def test_words_with_blanks_stay_whole():
    assert joined(["new york", "tea"]) == f"new{BLANK}york tea"


# Informed -------------------------------------------------------------------------------------------------


def test_informed_pushes_each_authors_words_through_the_kernel():
    kernel = Small(1.0)
    model = Informed(ExactTransition(kernel), LINE, prior_words=0.0).fit(["north north east", "west"], ["x", "y"])
    pushed = np.array([[2 / 3, 1 / 3, 0, 0], [0, 0, 0, 1]]) @ kernel.rows
    expected = np.log(0.999 * pushed + 0.001 * pushed.mean(axis=0))
    np.testing.assert_allclose(model.log_shares_, expected)
    np.testing.assert_allclose(model.decision_function(["east west"])[0], expected[:, 1] + expected[:, 3])


def test_words_that_pass_are_compared_as_they_stand():
    model = Informed(ExactTransition(Small(1.0)), LINE).fit(["north hermione", "west harry"], ["x", "y"])
    assert model.decision_function(["harry"])[0].argmax() == 1
    assert model.decision_function(["nobody"])[0].tolist() == [0, 0]


def test_estimated_rows_come_near_the_exact_ones():
    kernel = Small(1.5)
    words = np.arange(4)
    estimated = EstimatedTransition(kernel, seeded_rng(1)).push(np.eye(4), words)
    np.testing.assert_allclose(estimated, kernel.rows, atol=0.15)
    sampled = EstimatedTransition(kernel, seeded_rng(1)).sample(np.zeros(4000, np.int64), seeded_rng(2))
    np.testing.assert_allclose(np.bincount(sampled, minlength=4) / 4000, kernel.rows[0], atol=0.12)


def test_what_can_be_computed_is_not_estimated():
    assert isinstance(transition_of(Small(1.0), seeded_rng(1)), ExactTransition)


# fastText -------------------------------------------------------------------------------------------------


def test_fasttext_learns_validates_and_starts_from_vectors(embeddings):
    pytest.importorskip("fasttext")
    from publius.evaluation.attackers.fasttext import FastText

    texts = authors_texts(authors=10, each=6, topics=2, habit=0.0, vocabulary=embeddings.vocabulary)
    known, topics = [t.text for t in texts[:40]], [t.topic for t in texts[:40]]
    model = FastText(validation=0.2, subwords="3-4", vectors=embeddings).fit(known, topics)
    assert model.validation_texts_ == 8
    assert model.validation_ >= 0.8
    assert (model.predict([t.text for t in texts[40:]]) == [t.topic for t in texts[40:]]).mean() >= 0.9
    again = FastText(subwords="3-4", vectors=embeddings).fit(known, topics)
    np.testing.assert_array_equal(model.decision_function(known[:5]), again.decision_function(known[:5]))
