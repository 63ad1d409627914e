"""What becomes of a word, and the epsilon that leaves a share of words unchanged."""

import numpy as np
import pytest

from publius.errors import UsageError
from publius.mechanisms import word_outcomes
from publius.mechanisms.kernels.laplace import NoisyWords
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.registry import make_kernel
from publius.mechanisms.word_outcomes import (
    distortion,
    epsilon_for,
    frequent_words,
    of_frequent_words,
    outcomes,
    setting,
)
from publius.noise.randomness import seeded_rng


def test_exact_outcomes_are_the_row(embeddings):
    mechanism = make_kernel("exponential", embeddings, epsilon=1.5)
    found = outcomes(mechanism, "river", count=60)
    row = np.exp(mechanism.log_probabilities(np.array([0]))[0])
    assert found.stay == pytest.approx(row[0])
    assert sum(output.probability for output in found.outputs) == pytest.approx(1)
    assert found.support == 1 + np.searchsorted(np.cumsum(np.sort(row)[::-1]), 0.99)
    distances = mechanism.metric.pairwise(embeddings.vectors[:1], embeddings.vectors)[0]
    assert found.expected_distance == pytest.approx(row @ distances)
    assert found.draws is None


def test_simulated_outcomes_come_with_an_interval(embeddings):
    found = outcomes(make_kernel("laplace", embeddings, epsilon=4.0), "river", draws=3000, rng=seeded_rng(1))
    assert found.stay_low < found.stay < found.stay_high
    assert found.draws == 3000


def test_a_word_outside_the_vocabulary_is_refused(embeddings):
    with pytest.raises(UsageError, match="not in the vocabulary"):
        outcomes(make_kernel("laplace", embeddings, epsilon=1.0), "zebra")


@pytest.mark.parametrize("name", ["laplace", "exponential", "projected-exponential", "vickrey"])
def test_the_epsilon_that_keeps_a_share(embeddings, name):
    epsilon, share = epsilon_for(lambda at: make_kernel(name, embeddings, epsilon=at), 0.6)
    again = distortion(
        make_kernel(name, embeddings, epsilon=epsilon), frequent_words(embeddings), draws=60, rng=seeded_rng(5)
    )
    assert share == pytest.approx(0.6, abs=1e-3)
    assert again.unchanged == pytest.approx(0.6, abs=0.04)


@pytest.mark.parametrize("share", [0.0, 1.0, 7.0])
def test_a_share_that_is_none_is_refused(embeddings, share):
    with pytest.raises(UsageError, match="--unchanged"):
        epsilon_for(lambda at: make_kernel("laplace", embeddings, epsilon=at), share)


def test_a_setting_from_public_words_alone(embeddings):
    found = setting(Lifted(make_kernel("laplace", embeddings, epsilon=2.0), 40))
    assert (found["epsilon"], found["exponent_per_distance"], found["evidence"]) == (2.0, 80.0, "proven")
    distance = np.linalg.norm(np.subtract(*[embeddings.vectors[embeddings.index(w)] for w in ("nurse", "doctor")]))
    assert found["nearest_pair"] == pytest.approx(2 * distance, rel=1e-6)
    assert 0 < found["unchanged"] < 1
    assert found["utility"]["probability"] >= 0.5


class Foreign(NoisyWords):
    """A mechanism from outside: its code may change between two releases."""

    name = "foreign"


def test_what_becomes_of_frequent_words_is_kept(embeddings, monkeypatch):
    made = []
    monkeypatch.setattr(word_outcomes, "distortion", lambda *a, **k: made.append(0) or distortion(*a, **k))

    def found(name="laplace", epsilon=2.0, vectors=embeddings, **chosen):
        before, kernel = len(made), make_kernel(name, vectors, epsilon=epsilon, parameters=chosen)
        return of_frequent_words(kernel), len(made) - before

    first, again = found(), found()
    assert again == (first[0], 0)
    assert first[1] == 1
    other = embeddings.from_arrays(embeddings.vocabulary, embeddings.vectors * 0.5, name="other")
    for changed in ({"epsilon": 2.5}, {"vectors": other}, {"name": "vickrey"}, {"name": "vickrey", "share": 0.4}):
        assert found(**changed)[1] == 1, changed


def test_of_a_mechanism_from_outside_nothing_is_kept(embeddings, home):
    of_frequent_words(Foreign(embeddings, epsilon=2.0))
    assert not (home / "certificates").exists()
    of_frequent_words(make_kernel("laplace", embeddings, epsilon=2.0))
    assert len([*(home / "certificates").iterdir()]) == 1
