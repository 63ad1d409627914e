"""What each kernel adds to the noise: which word is taken, how far words count, along which axes, at which delta."""

import math
from dataclasses import replace

import numpy as np
import pytest

from bags import randomized
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, UsageError
from publius.mechanisms.finite import sweep
from publius.mechanisms.finite.certificate import Law
from publius.mechanisms.kernels.mahalanobis import RegularizedMahalanobis
from publius.mechanisms.kernels.projected import projected
from publius.mechanisms.kernels.vickrey import TwoNearest
from publius.mechanisms.registry import make_kernel
from publius.noise.randomness import seeded_rng, system_rng
from publius.text.bag import Bag
from vocabularies import vocabulary


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
def test_vickrey_takes_the_second_nearest_word_as_often_as_it_says(share):
    """At 1 from the nearest word, 3 from the second and 4 from the input: of a thousand uniforms t / (t + 3 (1 - t))."""
    line = Embeddings.from_arrays(["a", "b", "c"], [[0.0], [4.0], [8.0]], name="line")
    kernel = make_kernel("vickrey", line, epsilon=1.0, parameters={"share": share})
    noise = np.column_stack([np.full(1000, 5.0), (np.arange(1000) + 0.5) / 1000])
    found = kernel.apply(np.zeros(1000, np.int64), noise)
    second = share / (share + 3 * (1 - share))
    assert {*found} <= {1, 2}
    assert (found == 2).sum() == pytest.approx(1000 * second, abs=1)
    assert (found[: math.floor(1000 * second)] == 2).all()


def test_the_two_nearest_are_right_where_float32_cannot_tell_words_apart():
    rng = seeded_rng(5)
    vectors = (3000 + rng.standard_normal((300, 50))).astype(np.float32)
    points = vectors[:40] + rng.standard_normal((40, 50))
    found, gaps = TwoNearest(vectors).find(points, threads=1)
    distances = np.sqrt(((vectors.astype(np.float64) - points[:, None]) ** 2).sum(axis=2))
    np.testing.assert_array_equal(found, np.argsort(distances, axis=1)[:, :2])
    np.testing.assert_allclose(gaps, np.sort(distances, axis=1)[:, :2], rtol=1e-12)


@pytest.mark.parametrize(("size", "beta"), [(2, 0.4999), (3, 0.1), (40, 0.001), (40, 0.9)])
def test_a_truncated_exponential_leaves_gamma_with_probability_beta_at_most(size, beta):
    kernel = make_kernel("truncated-exponential", vocabulary(size=size), epsilon=2.0, parameters={"beta": beta})
    assert math.exp(kernel.shape.truncation) == pytest.approx((1 - beta) * (size - 1) / beta, rel=1e-12)
    for words, large in ((2, 0.5), (3, 0.67)):
        with pytest.raises(UsageError, match="small beside the vocabulary"):
            make_kernel("truncated-exponential", vocabulary(size=words), epsilon=2.0, parameters={"beta": large})


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_the_ellipsoid_of_mahalanobis_has_the_axes_of_the_words_and_trace_n(share):
    vectors = vocabulary(n=6).vectors * np.float32([5, 1, 1, 1, 0.1, 2])
    metric = RegularizedMahalanobis(vectors, share)
    covariance = np.cov(vectors.T.astype(np.float64))
    expected = share * covariance * (6 / np.trace(covariance)) + (1 - share) * np.eye(6)
    np.testing.assert_allclose(metric.axes @ np.diag(metric.radii**2) @ metric.axes.T, expected, atol=1e-6)
    with pytest.raises(DataError, match="covariance is zero"):
        RegularizedMahalanobis(np.ones((3, 2), np.float32), share)


def test_a_projection_keeps_the_fewest_components_that_explain_a_third_or_those_asked_for():
    for squares, count in (([30, 36, 34], 1), ([100] * 4, 2), ([0.01] * 7, 3), ([1, 1, 1, 9], 1), ([7], 1)):
        axes = np.diag(np.sqrt(squares)).astype(np.float32)
        assert projected(np.concatenate([axes, -axes]), None).shape == (2 * len(squares), count)
    words = vocabulary(n=5)
    for count in (1, 5):
        kernel = make_kernel("projected-laplace", words, epsilon=2.0, parameters={"project": count})
        inner, outer = (
            np.sqrt(((each.astype(np.float64)[:, None] - each) ** 2).sum(axis=2))
            for each in (kernel.points, words.vectors)
        )
        ratio = (inner[outer > 0] / outer[outer > 0]).max()
        assert kernel.parameters == {"project": count, "noise_epsilon": pytest.approx(2.0 / ratio, rel=1e-9)}
        assert kernel.parameters["noise_epsilon"] * ratio <= 2.0


@pytest.mark.parametrize(("room", "delta"), [(1.01, 2.0**-900), (0.99, 2.0**-39), (0.0, 2.0**-39)])
def test_a_draw_errs_by_a_delta_unless_the_constant_leaves_room_for_it(room, delta):
    """Probabilities are right to 2^-40, both of a pair: the exponent at the smallest distance, or delta, holds that."""
    kernel = make_kernel("exponential", vocabulary(), epsilon=1.0)
    kernel.__dict__["constant"] = replace(kernel.constant, epsilon=1.0 - room * 2.0**-29, smallest_distance=2.0**-10)
    assert kernel.guarantee.delta == pytest.approx(delta, rel=1e-9, abs=0)


def test_weights_are_shares_and_progress_ends_where_all_pairs_are_seen(monkeypatch):
    law = Law(make_kernel("exponential", vocabulary(), epsilon=1.0).shape.law.outer, np.arange(1, 41.0))
    np.testing.assert_allclose(law.weights, np.arange(1, 41) / 820)
    told = []
    monkeypatch.setattr(sweep, "advance", lambda *said: told.append(said))
    monkeypatch.setattr(sweep, "_ROWS", 15)
    sweep.weighted_sums(law.outer, 1.0, law.weights)
    assert told == [(40**2 - 25**2, 40**2), (40**2 - 10**2, 40**2), (40**2, 40**2)]


@pytest.mark.parametrize("name", ["laplace", "exponential"])
def test_a_bag_is_drawn_anew_unless_a_generator_is_given(embeddings, name):
    kernel, bag = make_kernel(name, embeddings, epsilon=0.5), Bag(["river"] * 20)
    assert randomized(kernel, bag, seeded_rng(1)) == randomized(kernel, bag, seeded_rng(1))
    assert randomized(kernel, bag, system_rng()) != randomized(kernel, bag, system_rng())
