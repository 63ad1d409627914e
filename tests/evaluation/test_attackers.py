"""The adversaries: right where they must be, at chance where nothing is to be found."""

import math

import numpy as np
import pytest

from letters import AUTHORS, text
from publius.errors import DataError, UsageError
from publius.evaluation.attackers.delta import Delta
from publius.evaluation.attackers.fasttext import FastText
from publius.evaluation.attackers.koppel import Koppel
from publius.evaluation.attackers.likelihood import Likelihood
from publius.evaluation.attackers.linear import character_machine, word_machine
from publius.evaluation.attackers.nearest import EarthMovers, NearestTexts
from publius.evaluation.features import bounded_grams
from publius.noise.randomness import seeded_rng
from publius.text.bag import Bag
from publius.text.character_grams import inner_grams
from publius.vectors.embeddings import Embeddings

KNOWN = [Bag(text(author, 0).split()) for author in AUTHORS]
UNKNOWN = [Bag(text(author, seed).split()) for author in AUTHORS for seed in range(1, 6)]
TRUTH = [author for author in AUTHORS for _ in range(5)]


@pytest.fixture
def attackers(embeddings):
    pytest.importorskip("sklearn", reason="extra evaluation is not installed")
    return {
        "sr-nearest": NearestTexts(EarthMovers(embeddings)),
        "koppel": Koppel(),
        "delta": Delta(),
        "svm": character_machine(),
        "likelihood": Likelihood(),
        "linear": word_machine(),
    }


KINDS = ["sr-nearest", "koppel", "delta", "svm", "likelihood", "linear"]


@pytest.mark.parametrize("kind", KINDS)
def test_names_authors_of_clean_texts(attackers, kind):
    assert attackers[kind].fit(KNOWN, AUTHORS).score(UNKNOWN, TRUTH) >= 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_is_at_chance_on_texts_without_an_author(attackers, kind):
    """96 bags of uniformly drawn words: naming 1/4 of 96 is 24; 43 or more has probability below 1e-5."""
    rng = seeded_rng(3)
    vocabulary = sorted({word for bag in KNOWN for word in bag.counts})
    noise = [Bag([vocabulary[i] for i in rng.integers(0, len(vocabulary), 40)]) for _ in range(96)]
    labels = [AUTHORS[i] for i in rng.integers(0, 4, 96)]
    assert attackers[kind].fit(KNOWN, AUTHORS).score(noise, labels) < 43 / 96


@pytest.mark.parametrize("kind", ["sr-nearest", "koppel", "delta", "likelihood"])
def test_ties_are_broken_at_random(attackers, kind):
    """Candidates with the same texts: not all answers are the first of them."""
    attacker = attackers[kind].fit([KNOWN[0]] * 4, AUTHORS)
    assert len(set(attacker.predict(UNKNOWN))) > 1


def test_two_labels_and_words_never_seen(attackers):
    machine = attackers["linear"].fit(KNOWN[:2], AUTHORS[:2])
    assert machine.predict([KNOWN[0], KNOWN[1]]) == list(AUTHORS[:2])
    for attacker in attackers.values():
        scores = attacker.fit(KNOWN, AUTHORS).decision_function(
            [Bag(["zebra", "zebra"]) if attacker is not attackers["sr-nearest"] else KNOWN[0]]
        )
        assert np.isfinite(scores).all()


def test_refused():
    with pytest.raises(UsageError, match="at least 2"):
        Koppel().fit(KNOWN, ["ada"] * 4)
    with pytest.raises(UsageError, match="fit before"):
        Koppel().predict(KNOWN)
    with pytest.raises(DataError, match="is empty"):
        Koppel().fit([Bag(), *KNOWN[1:]], AUTHORS)


def test_nearest_votes_of_five(embeddings):
    """Three far texts of one label outvote two near ones of another; a tie goes to the nearest."""
    table = np.array([[1.0, 2.0, 3.0, 3.0, 3.0, 9.0]])
    five = NearestTexts(lambda left, right: table, neighbors=5).fit([KNOWN[0]] * 6, list("aabbbc"))
    assert five.predict([KNOWN[1]]) == ["b"]
    four = NearestTexts(lambda left, right: table, neighbors=4).fit([KNOWN[0]] * 6, list("aabbbc"))
    assert four.predict([KNOWN[1]]) == ["a"]


def test_earth_movers_leaves_out_words_that_passed(embeddings):
    pytest.importorskip("ot", reason="extra transport is not installed")
    distances = EarthMovers(embeddings)
    found = distances([Bag(["river", "hermione"]), Bag(["hermione"])], [Bag(["river"])])
    assert found.tolist() == [[0.0], [math.inf]]


# Koppel against a naive reimplementation --------------------------------------------------------------------


def naive_koppel(known, labels, unknown, halves, names):
    """By the letter of the method: dictionaries, one cosine at a time; rounds without a single winner left out."""

    def profile(bag):
        counts = {}
        for word, times in bag.counts.items():
            for start in range(max(1, len(word) - 3)):
                gram = word[start : start + 4]
                counts[gram] = counts.get(gram, 0) + times
        return counts

    def cosine(a, b, features):
        dot = sum(a.get(f, 0) * b.get(f, 0) for f in features)
        norms = math.sqrt(sum(a.get(f, 0) ** 2 for f in features)) * math.sqrt(
            sum(b.get(f, 0) ** 2 for f in features)
        )
        return dot / norms if norms else 0.0

    profiles, votes = [profile(bag) for bag in known], []
    for bag in unknown:
        own, wins = profile(bag), dict.fromkeys(labels, 0)
        for half in halves:
            features = [name for name, used in zip(names, half, strict=True) if used]
            similar = [cosine(own, other, features) for other in profiles]
            wins[labels[similar.index(max(similar))]] += 1
        votes.append([wins[label] for label in sorted(labels)])
    return np.array(votes)


def test_koppel_agrees_with_a_naive_reimplementation():
    attacker = Koppel(rounds=25, seed=4).fit(KNOWN, AUTHORS)
    votes = naive_koppel(KNOWN, AUTHORS, UNKNOWN, attacker.halves(), attacker.feature_names)
    assert np.array_equal(np.rint(attacker.decision_function(UNKNOWN) * 25), votes)


def test_koppel_uses_the_commonest_features_and_half_of_them():
    grams = {}
    for bag in KNOWN:
        for word, times in bag.counts.items():
            for gram in inner_grams(word):
                grams[gram] = grams.get(gram, 0) + times
    attacker = Koppel(features=30).fit(KNOWN, AUTHORS)
    worst = min(grams[name] for name in attacker.feature_names)
    assert len(attacker.feature_names) == 30
    assert all(count <= worst for gram, count in grams.items() if gram not in attacker.feature_names)
    assert (attacker.halves().sum(axis=1) == 15).all()
    assert len({tuple(half) for half in attacker.halves().tolist()}) > 90


def test_grams():
    assert inner_grams("sea") == ["sea"]
    assert inner_grams("harbor") == ["harb", "arbo", "rbor"]
    assert bounded_grams("ab", 2, 3) == [" a", "ab", "b ", " ab", "ab "]


def test_delta_by_hand():
    """Two words, three texts: z-scores and mean absolute differences as Burrows defines them."""
    known = [Bag({"a": 3, "b": 1}), Bag({"a": 1, "b": 3}), Bag({"a": 2, "b": 2})]
    delta = Delta().fit(known, ["x", "y", "z"])
    deviation = math.sqrt(1 / 24)
    expected = [-abs(0.5 - share) / deviation for share in (0.75, 0.25, 0.5)]
    assert delta.decision_function([Bag({"a": 1, "b": 1})])[0].tolist() == pytest.approx(expected)


def test_likelihood_by_hand():
    known = [Bag({"a": 3, "b": 1}), Bag({"a": 1, "b": 3})]
    found = Likelihood(prior_words=4).fit(known, ["x", "y"]).decision_function([Bag({"a": 2, "never": 5})])
    assert found[0].tolist() == pytest.approx([2 * math.log(5 / 8), 2 * math.log(3 / 8)])


def test_fasttext_names_topics():
    pytest.importorskip("fasttext", reason="extra fasttext is not installed")
    bags = [Bag(text(author, seed, 60).split()) for author in AUTHORS for seed in range(30, 50)]
    topics = [topic for topic in ("sea", "sea", "court", "court") for _ in range(20)]
    model = FastText(seed=1).fit(bags, topics)
    again = FastText(seed=1).fit(bags, topics)
    assert model.score(UNKNOWN, [t for t in ("sea", "sea", "court", "court") for _ in range(5)]) >= 0.8
    assert np.array_equal(model.decision_function(UNKNOWN), again.decision_function(UNKNOWN))


def test_boosted_trees_learn_what_is_not_linear():
    """Two words together, or neither, is one author; one of the two is the other: no sum of words tells them apart."""
    pytest.importorskip("sklearn", reason="extra evaluation is not installed")
    from publius.evaluation.attackers.boosting import BoostedTrees
    from publius.evaluation.attackers.linear import word_machine

    rng = seeded_rng(4)
    bags, labels = [], []
    for _ in range(200):
        first, second = bool(rng.integers(2)), bool(rng.integers(2))
        words = ["river"] * (6 * first) + ["judge"] * (6 * second) + ["paper"] * 4
        bags.append(Bag([*words, *["letter"] * int(rng.integers(1, 3))]))
        labels.append("same" if first == second else "other")
    trees = BoostedTrees().fit(bags[:150], labels[:150]).score(bags[150:], labels[150:])
    assert trees >= 0.95
    assert trees > word_machine().fit(bags[:150], labels[:150]).score(bags[150:], labels[150:]) + 0.1


def test_koppel_leaves_out_who_has_too_little_known_text():
    """As the paper, which asks for 400 words: an author of fewer is never named, unless asked for fewer."""
    short = [Bag(text(AUTHORS[0], 0).split()[:100]), *KNOWN[1:]]
    assert AUTHORS[0] in Koppel().fit(short, AUTHORS).predict(UNKNOWN)
    least = min(bag.size for bag in KNOWN[1:])
    assert AUTHORS[0] not in Koppel(least_words=least).fit(short, AUTHORS).predict(UNKNOWN)
    with pytest.raises(UsageError, match="known words"):
        Koppel(least_words=10**6).fit(KNOWN, AUTHORS)


def test_fasttext_starts_from_vectors_and_from_subwords_and_reports_a_validation():
    pytest.importorskip("fasttext", reason="extra fasttext is not installed")
    words = sorted({word for bag in [*KNOWN, *UNKNOWN] for word in bag.counts})
    vectors = Embeddings.from_arrays(words, seeded_rng(1).normal(size=(len(words), 7)), name="seven")
    started = FastText(vectors=vectors, validation=0.25).fit(UNKNOWN, TRUTH)
    assert started._model.get_dimension() == 7
    assert started.facts_["validation_texts"] == len(UNKNOWN) // 4
    assert 0 <= started.facts_["validation"] <= 1
    whole = FastText(dimension=12).fit(UNKNOWN, TRUTH)
    assert (whole._model.get_dimension(), whole.facts_) == (12, {})
    pieces = FastText(dimension=12, subwords=(3, 4)).fit(UNKNOWN, TRUTH)
    assert len(pieces._model.get_subwords("harbor")[0]) > len(whole._model.get_subwords("harbor")[0])


def test_the_vectors_are_where_training_begins():
    """With no step of learning to speak of, the word vectors of the model are those that were given."""
    pytest.importorskip("fasttext", reason="extra fasttext is not installed")
    words = sorted({word for bag in KNOWN for word in bag.counts})
    given = Embeddings.from_arrays(words, seeded_rng(1).normal(size=(len(words), 7)), name="seven")
    model = FastText(vectors=given, epochs=1, rate=1e-9).fit(KNOWN, AUTHORS)._model
    direction = given.vectors[3] / np.linalg.norm(given.vectors[3])  # fastText scales them to length 1
    np.testing.assert_allclose(model.get_word_vector(words[3]), direction, rtol=1e-4)


@pytest.mark.parametrize(
    "wrong", [{"validation": 1.0}, {"validation": -0.1}, {"dimension": 0}, {"subwords": (4, 3)}]
)
def test_fasttext_says_what_cannot_be(wrong):
    with pytest.raises(UsageError):
        FastText(**wrong)


def test_the_help_names_every_adversary():
    from publius.evaluation.adversaries import NAMES
    from publius.option import declared
    from publius.settings import EvaluationSettings

    said = next(each.option.help for each in declared(EvaluationSettings) if each.name == "adversaries")
    words = set(said.replace(",", " ").replace(";", " ").replace(":", " ").split())
    assert {name.removeprefix("adaptive-") for name in NAMES} <= words
