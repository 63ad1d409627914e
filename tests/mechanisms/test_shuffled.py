"""`Shuffled`: what rows without ids promise and say, and which mechanisms it is not for."""

import numpy as np
import pytest

import publius
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.position import Position
from publius.mechanisms.prototype import Prototype
from publius.noise.randomness import seeded_rng
from publius.privacy.crowd import Crowd
from references import made

POINTS = np.array([[0.0, 0], [2, 0], [0, 2], [2, 2]])
FEATURES = np.repeat(POINTS, 2, axis=0)


def prototype(**parameters):
    return Prototype(made(FEATURES, POINTS), **{"bound": 3.0, "gamma": 0.0} | parameters, none_of_these=False)


def test_it_counts_every_outcome():
    mechanism = prototype()
    shuffled = publius.Shuffled(mechanism, documents=5000, delta=1e-6)
    assert shuffled.guarantee == Crowd(3.0, 4, 5000).guarantee(1e-6)
    assert 0 < shuffled.guarantee.epsilon < mechanism.guarantee.bound
    assert shuffled.delta_at(shuffled.guarantee.epsilon) <= 1e-6
    fewer = Crowd(3.0, 3, 5000).guarantee(1e-6)
    assert shuffled.guarantee.epsilon != fewer.epsilon


def test_the_default_delta_and_several_documents_of_an_author():
    shuffled = publius.Shuffled(prototype(), documents=50_000, documents_per_author=2)
    assert shuffled.guarantee.delta == 1 / 5_000_000
    assert shuffled.guarantee == Crowd(3.0, 4, 50_000).guarantee(documents_per_author=2)
    assert shuffled.guarantee.as_json == {
        "documents": 50_000,
        "documents_per_author": 2,
        "epsilon": shuffled.guarantee.epsilon,
        "delta": 2e-7,
    }


def test_other_mechanisms_are_refused_with_the_reason(embeddings):
    for mechanism, reason in (
        (Position(made(FEATURES, POINTS), bound=3.0), "centred on the document"),
        (Laplace(embeddings, epsilon=1.0), "one by one"),
        (Lifted(Laplace(embeddings, epsilon=1.0), length=5), "one by one"),
        (object(), "proven for the mechanism prototype only"),
    ):
        with pytest.raises(PolicyError, match=reason):
            publius.Shuffled(mechanism, documents=100)


@pytest.mark.parametrize(
    "wrong", [{"documents": 0}, {"delta": 1.0}, {"documents_per_author": 101}, {"delta": -1}]
)
def test_numbers_that_do_not_exist_are_refused(wrong):
    with pytest.raises(UsageError):
        _ = publius.Shuffled(prototype(), **{"documents": 100} | wrong).guarantee


def test_shares_have_no_bias_and_their_intervals_hold():
    """Drawn 300 times from documents of known prototypes: 0.5, 0.3, 0.2 and 0."""
    mechanism, rng = prototype(), seeded_rng(9)
    own = np.repeat([0, 1, 2], [1000, 600, 400])
    documents = [np.array([2 * k]) for k in own.tolist()]
    law = mechanism.law([documents[0], documents[1000], documents[1600]])
    truth, estimates, held = np.array([0.5, 0.3, 0.2, 0]), [], 0
    shuffled = publius.Shuffled(mechanism, documents=2000)
    for _ in range(300):
        counts = sum(
            rng.multinomial(size, chances) for size, chances in zip((1000, 600, 400), law, strict=True)
        )
        shares = shuffled.shares(counts.tolist())
        estimates.append([each.share for each in shares])
        held += all(each.low <= share <= each.high for each, share in zip(shares, truth, strict=True))
    deviations = np.array([each.deviation for each in shares])
    error = np.mean(estimates, axis=0) - truth
    assert np.abs(error).max() < 4 * deviations.max() / np.sqrt(300)
    assert (np.std(estimates, axis=0) < deviations * 1.1).all()
    assert held >= 0.95 * 300
    assert max(each.high - each.low for each in shares) < 6 * deviations.max()


@pytest.mark.parametrize("counts", [[1, 2, 3], [100, -1, 0, 1], [25, 25, 25, 26]])
def test_counts_that_do_not_fit_are_refused(counts):
    with pytest.raises(DataError, match="4 counts from 0 that sum to 100"):
        publius.Shuffled(prototype(), documents=100).shares(counts)
