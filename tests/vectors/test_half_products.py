"""The search with 16-bit products gives the answers of sgemm, and a library that is wrong is not used."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from audit.hard_points import hard_points
from publius.errors import MissingExtraError, PubliusError
from publius.noise.laplace import EuclideanLaplace
from publius.noise.randomness import seeded_rng
from publius.vectors import half_products
from publius.vectors.half_products import NUMKONG, POINTS, SGEMM, WORDS, halved, widened
from publius.vectors.nearest import NearestWords

AMX = {"sapphireamx": True, "genoa": True}


def library(change=lambda scores, calls: None, capabilities=AMX, **more):
    """What numkong offers, in NumPy; ``change`` spoils a product, told how many there were before."""
    calls = []

    def product(words, points, out):
        calls.append(1)
        out[...] = widened(words) @ widened(points).T
        change(out, len(calls))

    return SimpleNamespace(
        get_capabilities=lambda: dict(capabilities),
        from_pointer=lambda address, shape, kind, owner: owner,
        dots_pack=lambda points: points.copy(),
        dots_packed=product,
        **more,
    )


@pytest.fixture
def use(monkeypatch):
    known = half_products.fault, half_products._times_sgemm

    def forget():
        for each in known:
            each.cache_clear()

    def put(made):
        monkeypatch.setitem(sys.modules, "numkong", made)
        forget()

    yield put
    forget()


@pytest.fixture(params=["in NumPy", "numkong"])
def any_library(request, use):
    use(
        pytest.importorskip("numkong", reason="the extra numkong is not installed")
        if request.param == "numkong"
        else library()
    )


def words_and_points(size, n, count, seed=1):
    rng = seeded_rng(seed)
    vectors = rng.standard_normal((size, n)).astype(np.float32)
    noisy = vectors[rng.integers(0, size, count)] + EuclideanLaplace(n, n / 4).sample(rng, count)
    return vectors, noisy


@pytest.mark.parametrize(("size", "n"), [(1, 4), (511, 3), (513, 29), (1500, 30), (2000, 300)])
def test_same_answers_as_sgemm_for_real_points(any_library, size, n):
    vectors, points = words_and_points(size, n, 700)
    expected = NearestWords(vectors, SGEMM).nearest(points)
    search = NearestWords(vectors, NUMKONG)
    np.testing.assert_array_equal(search.nearest(points), expected)
    np.testing.assert_array_equal(search.nearest(points, threads=3), expected)
    parts = [search.nearest(points[start : start + 37]) for start in range(0, len(points), 37)]
    np.testing.assert_array_equal(np.concatenate(parts), expected)


@pytest.mark.parametrize("n", [1, 2, 5, 29, 61, 400])
def test_same_answers_as_sgemm_for_points_that_are_hard(any_library, n):
    for vectors, points in hard_points(n, 40 if n == 400 else 150, seeded_rng(n)):
        expected = NearestWords(vectors, SGEMM).nearest(points)
        search = NearestWords(vectors, NUMKONG)
        np.testing.assert_array_equal(search.nearest(points), expected)
        np.testing.assert_array_equal(search.nearest(points[::-1], threads=2)[::-1], expected)


def test_the_bound_holds_and_is_not_far_off(any_library):
    """Scores against float64: within the bound, and somewhere at least a hundredth of it."""
    vectors, points = words_and_points(1500, 40, 200)
    search = NearestWords(vectors, NUMKONG)
    scaled, rows, _ = search._scaled_points(points)
    workspace = search._shortlist.workspace()
    errors = search._shortlist._products(scaled, rows, workspace)
    words = search._shortlist._words.reshape(3, 32, 16)
    exact = vectors.astype(np.float64) * search._scale
    scores = scaled @ exact.T - np.square(exact).sum(axis=1) / 2
    largest = 0.0
    for panel in range(3):
        true = np.where(words[panel][:, :, None] < 0, -np.inf, scores.T[words[panel].clip(0)]).max(axis=1)
        gone = np.isneginf(true[:, 0])
        off = np.abs(workspace.maxima[panel, :, :200] - true)[~gone]
        assert (off <= errors[panel]).all()
        largest = max(largest, float((off / errors[panel]).max()))
    assert largest > 0.01


def test_halves_are_the_nearest_with_eight_bits():
    numbers = np.array(
        [1, 1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-7, 1 + 2**-8 + 2**-20, 0, 2.0**-127], np.float32
    )
    found = widened(halved(numbers))
    assert found.tolist() == [1, 1, 1 + 2**-6, -1 - 2**-7, 1 + 2**-7, 0, 0]


# The gates ------------------------------------------------------------------------------------------------------


def test_without_the_extra_it_is_sgemm(monkeypatch):
    monkeypatch.setitem(sys.modules, "numkong", None)
    vectors, points = words_and_points(100, 5, 10)
    assert NearestWords(vectors).kernel.kernel == SGEMM
    assert "not installed" in NearestWords(vectors).kernel.reason
    NearestWords(vectors).nearest(points)
    with pytest.raises(MissingExtraError, match=r"publius\[numkong\]"):
        NearestWords(vectors, NUMKONG)


def test_without_the_units_it_is_sgemm(use):
    use(library(capabilities={"haswell": True, "sapphireamx": False}))
    found = half_products.choice(50)
    assert found.kernel == SGEMM
    assert "no 16-bit units" in found.reason


@pytest.mark.parametrize("times", [0.5, 1.1, 1.5])
def test_a_timing_decides(use, monkeypatch, times):
    use(library())
    monkeypatch.setattr(half_products, "_times_sgemm", lambda dimension: times)
    found = half_products.choice(50)
    assert (found.kernel == NUMKONG) == (times >= 1.2)
    assert f"{times:.2f} times" in found.reason


def test_the_timing_is_one(use):
    """NumPy behind the seam does the work of both and more: it cannot be faster than sgemm alone."""
    use(library())
    assert 0 < half_products._times_sgemm(50) < 1.2
    assert half_products.choice(50).kernel == SGEMM


def test_a_large_search_uses_what_was_chosen(use, monkeypatch):
    made = library()
    use(made)
    monkeypatch.setattr(half_products, "_times_sgemm", lambda dimension: 3.0)
    vectors, points = words_and_points(600, 5, 300)
    expected = NearestWords(vectors, SGEMM).nearest(points)
    asked = []
    product = made.dots_packed
    made.dots_packed = lambda *arguments, **named: (asked.append(1), product(*arguments, **named))
    np.testing.assert_array_equal(NearestWords(vectors).nearest(points), expected)
    assert not asked, "a small search does not ask which kernel is the faster"
    monkeypatch.setattr("publius.vectors.nearest._WORTH", 1.0)
    np.testing.assert_array_equal(NearestWords(vectors).nearest(points), expected)
    assert asked


def _one_entry(scores, calls):
    scores[WORDS - 1, POINTS - 1] += 1e-3


def _one_column_dropped(words, points, out):
    out[...] = widened(words[:, :-1]) @ widened(points[:, :-1]).T


SPOILS = {
    "zeros": lambda scores, calls: scores.fill(0),
    "not a number": lambda scores, calls: scores.fill(np.nan),
    "nothing written in the last row": lambda scores, calls: scores[-1].fill(np.nan),
    "one entry": _one_entry,
    "one entry of the padding": lambda scores, calls: scores.__setitem__((300, 17), np.float32(0)),
    "a permutation": lambda scores, calls: scores.__setitem__(slice(None), scores[::-1].copy()),
    "eight bits of the sum": lambda scores, calls: scores.__setitem__(slice(None), widened(halved(scores))),
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_wrong_products_are_caught(use, spoil):
    use(library(SPOILS[spoil]))
    assert half_products.choice(50).kernel == SGEMM
    assert "wrong on this machine" in half_products.choice(50).reason
    vectors, _ = words_and_points(600, 5, 300)
    with pytest.raises(PubliusError, match="wrong on this machine"):
        NearestWords(vectors, NUMKONG)


def test_a_dropped_column_is_caught_at_the_depth_where_it_is_dropped(use):
    """Right at most shapes: the check is of the very shape that is used."""
    made = library()
    right = made.dots_packed

    def product(words, points, out):
        (_one_column_dropped if words.shape[1] == 96 else right)(words, points, out)

    made.dots_packed = product
    use(made)
    assert half_products.fault(half_products.depth(50)) is None
    assert half_products.depth(70) == 96
    assert "wrong" in half_products.fault(half_products.depth(70))


@pytest.mark.parametrize("broken", ["from_pointer", "dots_pack", "dots_packed"])
def test_another_interface_is_caught(use, broken):
    made = library()
    delattr(made, broken)
    use(made)
    assert half_products.choice(50).kernel == SGEMM
    assert "AttributeError" in half_products.choice(50).reason


@pytest.mark.parametrize(
    "later",
    [lambda scores, calls: scores.fill(np.nan) if calls > 3 else None,
     lambda scores, calls: scores.__iadd__(np.float32(1)) if calls > 3 else None],
    ids=["not a number", "too large"],
)  # fmt: skip
def test_products_that_go_wrong_later_stop_the_search(use, later):
    """The check has three products; what comes after is held to the bound where a word is decided."""
    use(library(later))
    vectors, points = words_and_points(600, 5, 300)
    with pytest.raises(PubliusError, match="outside its bound"):
        NearestWords(vectors, NUMKONG).nearest(points)
