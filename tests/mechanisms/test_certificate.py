"""Certificates against brute force over all pairs and outputs, the one-dimensional path, and their inverse."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from publius.distances.metrics import CLOSE, AbstractMetric, Euclidean, Manhattan
from publius.embeddings.catalogue import computed_place
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError, PolicyError
from publius.files import threads
from publius.mechanisms.finite import certificate as exact
from publius.mechanisms.finite import sweep
from publius.mechanisms.finite.certificate import Line
from publius.mechanisms.finite.sweep import VocabularyDistances
from publius.mechanisms.finite.word_weights import Shape, uniform
from publius.mechanisms.kernels.exponential import Exponential, TruncatedExponential
from publius.mechanisms.kernels.projected import ProjectedExponential, largest_ratio, projected
from publius.mechanisms.kernels.tight import Tight
from publius.noise.randomness import seeded_rng
from vocabularies import CASES, brute_force, vocabulary


def vocabulary_of(vectors):
    return Embeddings.from_arrays([f"w{i}" for i in range(len(vectors))], vectors, name="toy")


def reference_constant(vectors, metric, scale):
    """Of the exponential mechanism in extended precision, from its definition."""
    d = metric.pairwise(vectors, vectors).astype(np.longdouble)
    logs = -np.longdouble(scale) * d
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    ratios = (logs[:, None, :] - logs[None, :, :]).max(axis=2)
    return float((ratios[d > 0] / d[d > 0]).max())


@pytest.mark.parametrize(("kind", "n"), CASES)
@pytest.mark.parametrize("metric", [Euclidean(), Manhattan()], ids=["euclidean", "manhattan"])
@pytest.mark.parametrize("scale", [0.3, 2.0, 9.0])
def test_exponential_equals_brute_force(kind, n, metric, scale):
    words = vocabulary(kind, n)
    certified = Shape(words, metric, uniform(words)).certified("scale", scale).epsilon
    tolerance = 1e-8 if kind == "duplicates" else 1e-9  # the oracle's rounding over the smallest distance
    assert certified == pytest.approx(reference_constant(words.vectors, metric, scale), rel=tolerance)


class NamelessManhattan(AbstractMetric):
    """A metric that is known by its values only: nothing is known of how it is computed."""

    name = "nameless"

    def pairwise(self, a, b):
        return Manhattan().pairwise(a, b)


@pytest.mark.parametrize("metric", [Euclidean(), Manhattan(), NamelessManhattan()], ids=lambda m: m.name)
@pytest.mark.parametrize(
    ("truncation", "n"),
    [(np.inf, 20), (3.0, 1),
     *(pytest.param(*each, marks=pytest.mark.long) for each in (
         (np.inf, 1), (np.inf, 4), (np.inf, 12), (3.0, 4), (3.0, 12), (3.0, 20)))],
)  # fmt: skip
def test_words_that_nearly_coincide_are_never_certified_too_low(metric, truncation, n):
    """Some words are 1e-8 apart: a gain by subtracting two distances would lose 1e-10 of the slope there."""
    words = vocabulary("duplicates", n)
    shape = Shape(words, metric, uniform(words), truncation=truncation)
    for scale in (0.7, 2.0):
        constant = shape.certified("scale", scale)
        mechanism = SimpleNamespace(shape=shape, constant=constant, embeddings=words, metric=metric)
        true = brute_force(mechanism)
        assert true <= constant.epsilon <= true * (1 + (1e-6 if metric.name == "nameless" else 1e-8))


@pytest.mark.parametrize("make", [Exponential, TruncatedExponential, ProjectedExponential], ids=lambda m: m.name)
@pytest.mark.parametrize(("kind", "n"), [("scattered", 1), ("scattered", 3), ("duplicates", 20)])
def test_calibration_uses_the_epsilon_it_is_given(make, kind, n):
    mechanism = make(vocabulary(kind, n), epsilon=2.0)
    assert 0.999 * 2.0 <= mechanism.constant.epsilon <= 2.0
    assert brute_force(mechanism) <= 2.0 * (1 + 1e-9)


def test_the_worst_pair_attains_the_constant():
    mechanism = Exponential(vocabulary("clusters", 10), epsilon=3.0)
    x, other = mechanism.constant.worst
    logs = mechanism.log_probabilities(np.array([x, other]))
    distance = mechanism.metric.pairwise(mechanism.embeddings.vectors[[x]], mechanism.embeddings.vectors[[other]])
    assert (logs[0, x] - logs[1, x]) / distance[0, 0] == pytest.approx(mechanism.constant.epsilon, rel=1e-11)


def test_a_certificate_is_never_below_the_constant():
    """Rounded up: extended precision never finds more."""
    for seed in range(30):
        vectors = seeded_rng(seed).standard_normal((25, 10)).astype(np.float32)
        law = exact.Law(VocabularyDistances(vectors, Euclidean()), np.ones(25))
        assert exact.certify(law, 1.5).epsilon >= reference_constant(vectors, Euclidean(), 1.5)


def test_sums_over_several_tiles_agree_with_one_matrix():
    vectors = seeded_rng(6).standard_normal((1300, 12)).astype(np.float32)
    d, weights = VocabularyDistances(vectors, Euclidean()), seeded_rng(7).random((1300, 3))
    expected = np.exp(-1.3 * Euclidean().pairwise(vectors, vectors)) @ weights
    np.testing.assert_allclose(sweep.weighted_sums(d, 1.3, weights), expected, rtol=1e-12)
    np.testing.assert_allclose(sweep.weighted_sums(d, 1.3, weights[:, 0]), expected[:, 0], rtol=1e-12)


def test_pairs_over_several_tiles_agree_with_one_matrix():
    vectors = seeded_rng(6).standard_normal((1300, 12)).astype(np.float32)
    apart = Euclidean().pairwise(vectors, vectors)
    heights, apart[np.diag_indices(1300)] = np.log(np.exp(-1.3 * apart).sum(axis=1)), np.inf
    slopes = 1.3 + np.abs(heights[:, None] - heights) / apart
    constant = exact.certify(exact.Law(VocabularyDistances(vectors, Euclidean()), np.ones(1300)), 1.3)
    assert constant.epsilon == pytest.approx(slopes.max(), rel=1e-11)
    assert {*constant.worst} == {*np.unravel_index(slopes.argmax(), slopes.shape)}
    assert constant.smallest_distance == pytest.approx(apart.min(), rel=1e-11)


def test_threads_change_nothing(monkeypatch):
    law = exact.Law(VocabularyDistances(seeded_rng(8).standard_normal((600, 16)), Euclidean()), np.ones(600))
    found = []
    for count in (1, 3):
        monkeypatch.setattr(threads, "processors", lambda count=count: count)
        found.append(exact.certify(law, 2.0))
    assert found[0] == found[1]


@pytest.mark.parametrize(("kind", "n"), CASES)
@pytest.mark.parametrize("metric", [Euclidean(), Manhattan(), NamelessManhattan()], ids=lambda m: m.name)
def test_pairs_that_are_passed_over_change_no_constant(kind, n, metric):
    """With the same distances as if they were two metrics all pairs are looked at."""
    words = vocabulary(kind, n, 300)
    weights = 1 + seeded_rng(5).random(300)
    for scale in (0.3, 2.0, 9.0):
        few = Shape(words, metric, weights / weights.sum()).law
        whole = exact.certify(exact.Law(few.outer, few.weights, few.outer), scale)
        found = exact.certify(few, scale)
        assert found.epsilon == pytest.approx(whole.epsilon, rel=1e-9)
        assert found.smallest_distance == pytest.approx(whole.smallest_distance, rel=1e-9)


@pytest.mark.parametrize("levels", [2, 3])
def test_ties_change_no_constant(levels):
    """The corners of a cube, and its middles: sums and distances of many points are the same."""
    grid = np.stack(np.meshgrid(*[np.arange(levels)] * (9 if levels == 2 else 5)), axis=-1)
    outer = VocabularyDistances(grid.reshape(-1, grid.shape[-1]).astype(np.float64), Euclidean())
    laws = [exact.Law(outer, np.ones(outer.size), inner) for inner in (None, outer)]
    few, whole = (exact.certify(law, 1.1) for law in laws)
    assert few.epsilon == pytest.approx(whole.epsilon, rel=1e-9)
    assert few.smallest_distance == whole.smallest_distance


def test_most_pairs_are_passed_over(monkeypatch):
    """Of points in a cloud and one in its neighbourhood alone: else the order of heights would be for nothing."""
    vectors = seeded_rng(8).standard_normal((2000, 40))
    vectors[::50] *= 0.3
    looked_at, fast = [], VocabularyDistances.fast

    def counted(self, rows, columns):
        result = fast(self, rows, columns)
        looked_at.append(result.size)
        return result

    monkeypatch.setattr(VocabularyDistances, "fast", counted)
    exact.certify(exact.Law(VocabularyDistances(vectors, Euclidean()), np.ones(2000)), 2.0)
    assert sum(looked_at) < (0.5 + 0.25) * 2000**2  # sums take half of all, as do all pairs


def test_fast_distances_keep_their_error_bound():
    base = seeded_rng(9).standard_normal((200, 30))
    near = np.concatenate([base, base + 1e-5 * seeded_rng(10).standard_normal((200, 30)), 1e3 + base])
    for vectors in (near.astype(np.float32), 0.8 * CLOSE**-0.5 + base):  # the latter as near as a product is trusted
        d = VocabularyDistances(vectors, Euclidean())
        true, fast = d.exact(slice(None), slice(None)), d.fast(slice(None), slice(0, 600))
        assert (np.abs(fast - true) <= (d.relative_error + d.exact_error) * true).all()


def test_gain_is_right_between_near_duplicates():
    """d(y, w) - d(x, w) by its formula keeps the digits that a subtraction loses."""
    vectors = seeded_rng(11).standard_normal((50, 12)).astype(np.float32)
    vectors[1] = vectors[0] * (1 + 2.0**-20)
    gain = VocabularyDistances(vectors, Euclidean()).gain(0, 1)[0]
    wide = vectors.astype(np.longdouble)
    true = np.sqrt(((wide - wide[1]) ** 2).sum(1)) - np.sqrt(((wide - wide[0]) ** 2).sum(1))
    assert np.abs(gain - true).max() < 1e-12 * np.linalg.norm(vectors[1] - vectors[0])


# One dimension -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_line_certificate_equals_all_pairs(scale):
    vectors = np.sort(seeded_rng(12).standard_normal(50)).astype(np.float32)[:, None]
    weights = 0.5 + seeded_rng(13).random(50)
    by_line = Line(vectors[:, 0].astype(np.float64), weights / weights.sum()).certify(scale)
    by_pairs = exact.certify(exact.Law(VocabularyDistances(vectors, Euclidean()), weights), scale)
    assert by_line.epsilon == pytest.approx(by_pairs.epsilon, rel=1e-11)
    assert by_line.worst == by_pairs.worst


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 2.0, 100.0])
def test_tight_exists_at_every_epsilon_on_a_line(epsilon):
    mechanism = Tight(vocabulary("duplicates", 1), epsilon=epsilon)
    assert mechanism.constant.epsilon == pytest.approx(epsilon, rel=1e-9)
    assert mechanism.constant.epsilon <= epsilon


def test_tight_rows_on_a_line_sum_to_one_without_normalizing():
    values = seeded_rng(14).standard_normal(778)
    weights = Line(values, np.ones(778)).tight_weights(0.7)
    rows = np.exp(-0.7 * np.abs(values[:, None] - values)) @ weights
    assert (weights > 0).all()
    assert np.abs(rows - 1).max() < 1e-14


def test_a_hundred_thousand_words_on_a_line_take_seconds():
    values = np.unique(seeded_rng(15).standard_normal(100_000).astype(np.float32)).astype(np.float64)
    weights = Line(values, np.ones(len(values))).tight_weights(0.5)
    constant = Line(values, weights).certify(0.5)
    assert constant.epsilon == pytest.approx(0.5, rel=1e-9)


# Tight constraints ----------------------------------------------------------------------------------------------


def test_tight_equals_the_closed_solution_and_loses_nothing():
    mechanism = Tight(vocabulary("scattered", 12), epsilon=3.0)
    phi = np.exp(-mechanism.constant.scale * mechanism.metric.pairwise(*[mechanism.embeddings.vectors] * 2))
    weights = np.linalg.solve(phi, np.ones(40))
    np.testing.assert_allclose(np.exp(mechanism.log_probabilities()), phi * weights, atol=1e-6)
    assert 0.999 * 3.0 <= brute_force(mechanism) <= 3.0


@pytest.mark.parametrize("seed", range(12))
def test_tight_is_certified_where_all_pairs_are_equally_steep(seed):
    """Far-apart words: every slope is the scale but for rounding, so a word must not be taken as its own pair."""
    vectors = seeded_rng(seed).standard_normal((10, 2), np.float32)
    mechanism = Tight(vocabulary_of(vectors), epsilon=8.0)
    assert mechanism.constant.worst[0] != mechanism.constant.worst[1]
    assert mechanism.constant.epsilon <= 8.0


def test_tight_is_refused_with_the_reason_where_a_weight_is_negative():
    with pytest.raises(PolicyError, match=r"no solution at epsilon 0\.09.*negative"):
        Tight(vocabulary("clusters", 10), epsilon=0.1)


# Refusals and the cache ------------------------------------------------------------------------------------------


def test_what_has_no_certificate_is_refused():
    one = vocabulary("scattered", 3, size=40)
    with pytest.raises(DataError, match="two distinct points"):
        exact.certify(exact.Law(VocabularyDistances(one.vectors[:1], Euclidean()), np.ones(1)), 1.0)
    for weights, said in ((np.r_[0.0, np.ones(39)], "positive"), (np.r_[1e-15, np.ones(39)], "smallest")):
        with pytest.raises(DataError, match=said):
            exact.Law(VocabularyDistances(one.vectors, Euclidean()), weights)


def test_different_words_at_distance_zero_are_refused():
    """A pseudometric that joins words with different rows has no constant."""
    inner = VocabularyDistances(np.arange(6.0)[:, None], Euclidean())
    outer = VocabularyDistances(np.array([0.0, 0, 1, 2, 3, 4])[:, None], Euclidean())
    with pytest.raises(PolicyError, match="distance 0"):
        exact.certify(exact.Law(outer, np.ones(6), inner), 1.0)


def test_a_projection_never_brings_words_apart():
    vectors = vocabulary("scattered", 20).vectors
    outer = VocabularyDistances(vectors, Euclidean())
    inner = [VocabularyDistances(projected(vectors, m), Euclidean()) for m in (20, 5)]
    whole, some = (largest_ratio(exact.Law(outer, np.ones(40), each)).epsilon for each in inner)
    assert some < whole == pytest.approx(1.0, abs=1e-9)


@pytest.fixture
def cached_mechanism(monkeypatch):
    monkeypatch.setattr("publius.mechanisms.finite.word_weights.STORED_FROM_WORDS", 1)
    words = vocabulary("scattered", 12)
    mechanism = Exponential(words, epsilon=2.0)
    folder = computed_place({}).parent
    return words, mechanism, next(iter(folder.iterdir()))


def test_a_stored_certificate_is_used_again(cached_mechanism, monkeypatch):
    words, mechanism, _ = cached_mechanism
    monkeypatch.setattr(exact, "calibrate", lambda *_, **__: pytest.fail("certified again"))
    assert Exponential(words, epsilon=2.0).constant == mechanism.constant


@pytest.mark.parametrize(
    "change",
    [{"scale": 4.0}, {"epsilon": 0.5}, {"worst": [1, 1]}, {"worst": [0, 99]}, {"scale": float("nan")}, {"scale": "2"},
     {"epsilon": None}, {"epsilon": -1.0}, {"smallest_distance": 0.0}, b"", b"{", b"[1]", b"\xff\x00", b'{"facts": {}, "kept": {}}', b"[" * 10_000],
)  # fmt: skip
def test_a_certificate_that_was_tampered_with_is_made_again(cached_mechanism, change):
    words, mechanism, path = cached_mechanism
    if isinstance(change, dict):
        record = json.loads(path.read_text())
        record["kept"].update(change)
        change = json.dumps(record).encode()
    path.write_bytes(change)
    assert Exponential(words, epsilon=2.0).constant == mechanism.constant
