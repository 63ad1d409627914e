"""What a release is good for: neighbours found, the noisy label beside it in expectation, clusters."""

import numpy as np
import pytest

from publius.evaluation.retrieval import (
    PublicSpace,
    _found,
    _nearest,
    _noisy_label,
    adjusted_information,
    near_count,
    retrieval_rows,
)
from publius.evaluation.rows import Protection
from publius.noise.randomness import seeded_rng
from publius.text.bag import Bag

pytest.importorskip("sklearn", reason="extra evaluation is not installed")

CLEAN = Protection("clean", None, None, 0, 0.0, 0.0)


def documents(count, seed, topics=3):
    """Documents about topics, each topic of its own words, and each document with a few of its own among them."""
    rng = seeded_rng(seed)
    found = []
    for number in range(count):
        topic = number % topics
        words = [f"t{topic}w{rng.integers(20)}" for _ in range(30)] + [
            f"any{rng.integers(30)}" for _ in range(10)
        ]
        found.append((Bag(words), f"topic{topic}"))
    return found


@pytest.fixture(scope="module")
def space():
    public = documents(150, 1)
    return PublicSpace([bag for bag, _ in public], [topic for _, topic in public])


def test_the_original_finds_all_and_a_stranger_none(space):
    texts = documents(12, 2)
    clean, label, clusters = retrieval_rows(CLEAN, space, texts, [bag for bag, _ in texts], 0)
    assert (clean.adversary, clean.task) == ("retrieval", "neighbours")
    assert clean.extra["auc"] == 1.0
    assert clean.extra["within_two_percent"] == pytest.approx(0.3)  # 3 of 150 are 2 %, and 10 are wanted
    assert clean.extra["beats_noisy_label"]
    assert label.extra["auc"] < 1.0
    assert (clusters.adversary, clusters.task, clusters.extra["ami"]) == ("clustering", "clusters", 1.0)
    other, *_ = retrieval_rows(CLEAN, space, texts, [bag for bag, _ in [*texts[1:], texts[0]]], 0)
    assert other.extra["auc"] < 0.5
    assert not other.extra["beats_noisy_label"]
    assert clean.chance == 3 / 150


def test_few_public_texts_say_nothing():
    public = documents(20, 1)
    space = PublicSpace([bag for bag, _ in public], [topic for _, topic in public])
    assert retrieval_rows(CLEAN, space, public[:4], [bag for bag, _ in public[:4]], 0) == []


@pytest.mark.parametrize(
    "bound", [3.0, pytest.param(0.5, marks=pytest.mark.long), pytest.param(None, marks=pytest.mark.long)]
)
def test_the_noisy_label_is_its_simulation(space, bound):
    """Its figures are expectations: a simulation of randomised response and of ties by lot agrees."""
    texts = documents(6, 3)
    wanted = _nearest(space.of([bag for bag, _ in texts]) @ space.positions.T)
    topics = [topic for _, topic in texts]
    within, auc = _noisy_label(bound, space.labels, topics, wanted)
    rng, names = seeded_rng(5), sorted(set(space.labels.tolist()))
    kept = 1.0 if bound is None else np.exp(bound) / (np.exp(bound) + len(names) - 1)
    simulated = []
    for draw in range(1_500):
        said = [
            topic if rng.random() < kept else [n for n in names if n != topic][rng.integers(2)]
            for topic in topics
        ]
        similarity = np.array([(space.labels == topic).astype(float) for topic in said])
        simulated.append(_found(similarity, wanted, draw))
    assert np.mean([s[0].mean() for s in simulated]) == pytest.approx(within.mean(), abs=0.01)
    assert np.mean([s[1].mean() for s in simulated]) == pytest.approx(auc.mean(), abs=0.01)


def test_the_auc_is_by_pairs():
    similarity = seeded_rng(2).integers(0, 4, (3, 60)).astype(float)
    wanted = np.zeros((3, 60), bool)
    wanted[:, :10] = True
    pairs = (similarity[:, :10, None] > similarity[:, None, 10:]) + 0.5 * (
        similarity[:, :10, None] == similarity[:, None, 10:]
    )
    assert _found(similarity, wanted, 0)[1] == pytest.approx(pairs.mean(axis=(1, 2)))
    assert near_count(101) == 3


@pytest.mark.parametrize(
    ("count", "topics", "clusters"), [(60, 2, 3), (200, 5, 5), (7, 3, 1), (7, 1, 4), (9, 1, 1), (6, 6, 6)]
)
def test_agreement_is_that_of_scikit_learn(count, topics, clusters):
    from sklearn.metrics import adjusted_mutual_info_score

    rng = seeded_rng(count + topics)
    for kept in (0.0, 0.5, 1.0):
        truth = rng.integers(0, topics, count)
        found = np.where(rng.random(count) < kept, truth % clusters, rng.integers(0, clusters, count))
        for sample in (np.arange(count), rng.integers(0, count, count)):
            expected = adjusted_mutual_info_score(truth[sample], found[sample])
            assert adjusted_information(truth[sample], found[sample]) == pytest.approx(expected, abs=1e-9)
