"""The two-step inverse: the draw agrees with its definition by differences, far into the tails."""

import threading

import numpy as np
import pytest

from publius.distances.metrics import Euclidean
from publius.files.threads import in_threads
from publius.mechanisms.finite import sampler as inverse
from publius.mechanisms.finite.certificate import Law
from publius.mechanisms.finite.sweep import VocabularyDistances
from publius.mechanisms.kernels.exponential import Exponential
from publius.noise.randomness import seeded_rng
from publius.noise.tails import deep_uniform
from vocabularies import vocabulary

SIZE = 700


@pytest.fixture(scope="module")
def distances():
    vectors = seeded_rng(1).standard_normal((SIZE, 12)).astype(np.float32)
    return VocabularyDistances(vectors, Euclidean())


@pytest.fixture(scope="module")
def batch():
    rng = seeded_rng(2)
    return rng.integers(0, SIZE, 2000), deep_uniform(rng, 4000).reshape(2000, 2)


def inverse_of(distances, truncation=np.inf):
    return inverse.Inverse(Law(distances, np.ones(SIZE), truncation=truncation), 2.0)


def by_definition(draws, words, uniforms):
    return np.array([draws._exactly(words[i : i + 1], uniforms[i]) for i in range(len(words))])


@pytest.mark.parametrize("truncation", [np.inf, 4.0])
def test_the_fast_draw_is_the_definition(distances, batch, truncation):
    draws = inverse_of(distances, truncation)
    words, uniforms = batch
    np.testing.assert_array_equal(draws.draw(words, uniforms)[:400], by_definition(draws, words[:400], uniforms[:400]))


def test_uniforms_at_the_edges_of_cells_are_decided_by_differences(distances, monkeypatch):
    """Uniforms put exactly on boundaries are in doubt: the fast way must hand them on, and both agree."""
    draws = inverse_of(distances)
    words = np.arange(40)
    sums = draws._first_step(words)["sums"]
    uniforms = np.stack([sums[:, 3] / sums[:, -1], np.full(40, 0.5)], axis=1)
    handed_on = []
    exactly = inverse.Inverse._exactly
    monkeypatch.setattr(inverse.Inverse, "_exactly", lambda *a: handed_on.append(1) or exactly(*a))
    found = draws.draw(words, uniforms)
    assert len(handed_on) == 40
    np.testing.assert_array_equal(found, by_definition(draws, words, uniforms))


def test_doubt_is_rare(distances, batch, monkeypatch):
    monkeypatch.setattr(inverse.Inverse, "_exactly", lambda *_: pytest.fail("a draw was in doubt"))
    inverse_of(distances).draw(*batch)


def test_a_small_table_gives_the_same_words(distances, batch):
    """The table may be emptied and filled again at any time."""
    small = inverse_of(distances)
    expected = inverse_of(distances).draw(*batch)
    small._table = small._table[:64]
    np.testing.assert_array_equal(small.draw(*batch), expected)


def test_every_cell_has_its_probability_however_small():
    """Cells are intervals of the two uniforms: their measured lengths are the probabilities, down to 1e-25."""
    mechanism = Exponential(vocabulary("scattered", 12, size=60), epsilon=8.0)
    draws = mechanism._inverse
    weights = draws.weights(np.array([3]), slice(0, 60), exact=True)
    cells = np.append(weights[0], [1 / 60])  # one block and the word itself
    order, sums, _ = inverse._ascending(cells[None], 0.0)
    lengths = np.diff(sums[0], prepend=0.0) / sums[0, -1]
    expected = np.exp(mechanism.log_probabilities(np.array([3]))[0])
    expected = np.append(np.where(np.arange(60) == 3, 0, expected), expected[3])
    measured = np.empty(61)
    measured[order[0]] = lengths
    assert expected[expected > 0].min() < 1e-9
    np.testing.assert_allclose(measured, expected, rtol=2.0**-40)


def test_uniforms_have_53_bits_wherever_they_are():
    uniforms = Exponential(vocabulary("scattered", 12), epsilon=1.0).noise(20_000, seeded_rng(3))
    assert uniforms.shape == (20_000, 2)
    assert ((uniforms > 0) & (uniforms < 1)).all()
    assert abs(uniforms.mean() - 0.5) < 0.01
    small = uniforms[uniforms < 0.01] * 2.0**53
    assert (small != np.floor(small)).mean() > 0.9  # a plain float64 uniform is a multiple of 2^-53


def test_a_tiny_uniform_selects_a_word_below_two_to_the_minus_54():
    """A single cumulative sum in float64 would never return it."""
    mechanism = Exponential(vocabulary("clusters", 10), epsilon=2.5)
    logs = mechanism.log_probabilities(np.array([0]))[0]
    either = np.array([[2.0**-106, 2.0**-106], [1 - 2.0**-53, 2.0**-106]])  # the block stands first or last
    found = mechanism.apply(np.zeros(2, np.int64), either)
    assert 2.0**-106 < np.exp(logs[found].min()) < 2.0**-54


@pytest.mark.parametrize(("items", "threads", "here"), [(3, 1, True), (1, 4, True), (3, 2, False)])
def test_one_thread_is_the_calling_one(items, threads, here):
    """A word drawn by itself began a thread, which waits for its turn on a busy machine."""
    found = list(in_threads(lambda item: (item, threading.get_ident()), range(items), threads))
    assert [item for item, _ in found] == list(range(items))
    assert {ident == threading.get_ident() for _, ident in found} == {here}
