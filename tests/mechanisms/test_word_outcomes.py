"""What becomes of a word, and the epsilon that leaves a share of words unchanged."""

import numpy as np
import pytest
from scipy.special import gammainc

from publius.embeddings.embeddings import Embeddings
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
    share_unchanged,
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
    assert found == outcomes(make_kernel("laplace", embeddings, epsilon=4.0), "river", draws=3000, rng=seeded_rng(1))


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
    for name, metric in (("laplace", "manhattan"), ("vickrey", "euclidean"), ("exponential", "euclidean")):
        assert setting(Lifted(make_kernel(name, embeddings, epsilon=2.0, metric=metric), 40))["utility"] is None


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
    assert not (home / "computed").exists()
    of_frequent_words(make_kernel("laplace", embeddings, epsilon=2.0))
    assert len([*(home / "computed").iterdir()]) == 1


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0, 10.0])
def test_the_share_that_stays_is_that_of_draws(embeddings, epsilon):
    kernel = make_kernel("laplace", embeddings, epsilon=epsilon)
    drawn = distortion(kernel, frequent_words(embeddings), draws=2000, rng=seeded_rng(3)).unchanged
    assert share_unchanged(kernel) == pytest.approx(drawn, abs=0.05)  # 60 words in two directions


def test_the_share_that_stays_of_words_on_a_line_is_a_law():
    words, n = [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(400)], np.arange(400.0)
    line = Embeddings.from_arrays(words, np.stack([n / 2, 0 * n, 0 * n + 1], axis=1), name="line")
    cosines = (np.arange(10_000) + 0.5) / 10_000  # of a direction in space with the line: uniform
    for epsilon in (2.0, 8.0, 30.0):
        stays = gammainc(3, epsilon * 0.25 / cosines).mean()
        assert share_unchanged(make_kernel("laplace", line, epsilon=epsilon)) == pytest.approx(stays, abs=0.03)


@pytest.mark.parametrize("n", [1, 2])
def test_where_words_lie_close_they_are_drawn(n):
    words = [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(40)]
    kernel = make_kernel(
        "laplace", Embeddings.from_arrays(words, np.eye(40)[:, :n] + np.arange(40)[:, None], name="close"), epsilon=2.0
    )
    assert share_unchanged(kernel) == of_frequent_words(kernel).unchanged


def test_of_two_words_at_one_place_the_first_stays():
    vectors = np.eye(4)[[0, 1, 1, 2]]
    twins = Embeddings.from_arrays(["south", "east", "orient", "north"], vectors, name="twins")
    assert share_unchanged(make_kernel("laplace", twins, epsilon=1e4)) == 0.75


def test_one_computation_serves_all_settings_and_all_that_say_the_share(embeddings, home):
    kernels = [make_kernel("laplace", embeddings, epsilon=epsilon) for epsilon in (2.0, 2.5)]
    shares = [share_unchanged(kernel) for kernel in kernels]
    assert len([*(home / "computed").iterdir()]) == 1
    assert shares[0] < shares[1]
    assert [setting(Lifted(kernel, 40))["unchanged"] for kernel in kernels] == shares
    for name, chosen in (("vickrey", {}), ("laplace", {"metric": "manhattan"})):
        other = make_kernel(name, embeddings, epsilon=2.0, **chosen)
        assert share_unchanged(other) == of_frequent_words(other).unchanged
