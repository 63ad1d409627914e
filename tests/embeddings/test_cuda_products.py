"""The search with a graphics processor gives the answers of sgemm; one that rounds, errs or is lost changes none."""

import contextlib
import multiprocessing
import types
from importlib.util import find_spec

import numpy as np
import pytest

from audit.hard_points import hard_points
from publius.errors import MissingExtraError, PubliusError
from publius.noise.laplace import EuclideanLaplace
from publius.noise.randomness import seeded_rng
from publius.embeddings import byte_products, cuda_products, kernel_choice, nearest
from publius.embeddings.kernel_choice import BYTES, DEVICE, SGEMM, Choice
from publius.embeddings.nearest import NearestWords


class InNumPy:
    """What is used of CuPy, in NumPy; ``change`` spoils a product, told how many there were before."""

    def __init__(self, change=None, memory=2**34, devices=1, product=None):
        self.change, self.calls, self.product = change, 0, product or np.matmul
        self.cuda = types.SimpleNamespace(
            Device=lambda: types.SimpleNamespace(mem_info=(memory, memory)),
            Stream=lambda **_: contextlib.nullcontext(),
            runtime=types.SimpleNamespace(getDeviceCount=lambda: devices),
        )
        self.asarray = self.asnumpy = np.asarray
        self.empty, self.arange, self.nonzero = np.empty, np.arange, np.nonzero

    def matmul(self, some, others):
        self.calls += 1
        found = self.product(some, others)
        return found if self.change is None else self.change(found, self.calls)

    def get_default_memory_pool(self):
        return types.SimpleNamespace(free_all_blocks=lambda: None)


@pytest.fixture
def use(monkeypatch):
    def put(**more):
        library = InNumPy(**more)
        monkeypatch.setattr(cuda_products, "_BLOCK", 100)  # the check multiplies as many points by all words
        monkeypatch.setattr(cuda_products, "_DISTINCT", (17, 31))
        monkeypatch.setattr(cuda_products, "_library", lambda: library)
        monkeypatch.setattr(cuda_products, "find_spec", lambda name: name)
        cuda_products._missing.cache_clear()
        return library

    yield put
    cuda_products._missing.cache_clear()


@pytest.fixture(params=["in NumPy", "CuPy"])
def any_device(request, use, monkeypatch):
    if request.param == "in NumPy":
        return use()
    if find_spec("cupy") is None or cuda_products.unusable() is not None:
        pytest.skip(f"no CUDA device: {cuda_products.unusable()}")
    return None


def words_and_points(size, n, count, seed=1):
    rng = seeded_rng(seed)
    vectors = rng.standard_normal((size, n)).astype(np.float32)
    noisy = vectors[rng.integers(0, size, count)] + EuclideanLaplace(n, n / 4).sample(rng, count)
    return vectors, noisy


@pytest.mark.parametrize(("size", "n", "block"), [(1, 4, 64), (513, 29, 100), (2000, 300, 4096)])
def test_same_answers_as_sgemm_for_real_points(any_device, monkeypatch, size, n, block):
    monkeypatch.setattr(cuda_products, "_BLOCK", block)
    vectors, points = words_and_points(size, n, 700)
    expected = NearestWords(vectors, SGEMM).nearest(points)
    search = NearestWords(vectors, DEVICE)
    np.testing.assert_array_equal(search.nearest(points), expected)
    np.testing.assert_array_equal(search.nearest(points, threads=3), expected)
    parts = [search.nearest(points[start : start + 37]) for start in range(0, len(points), 37)]
    np.testing.assert_array_equal(np.concatenate(parts), expected)


@pytest.mark.parametrize("n", [1, 2, 5, 29, 61, 400])
def test_same_answers_as_sgemm_for_points_that_are_hard(any_device, monkeypatch, n):
    monkeypatch.setattr(cuda_products, "_TOGETHER", 8)
    for vectors, points in hard_points(n, 40 if n == 400 else 150, seeded_rng(n)):
        expected = NearestWords(vectors, SGEMM).nearest(points)
        search = NearestWords(vectors, DEVICE)
        np.testing.assert_array_equal(search.nearest(points), expected)
        np.testing.assert_array_equal(search.nearest(points[::-1], threads=2)[::-1], expected)


@pytest.mark.parametrize("unit", [1e-300, 1e-40, 1e-12, 1.0, 1e30, 1e150])
def test_vectors_in_float64_of_any_size(any_device, unit):
    vectors, points = words_and_points(700, 12, 200)
    vectors = vectors.astype(np.float64) * unit
    vectors[5:50] *= 1e-25
    expected = NearestWords(vectors, SGEMM).nearest(points * unit)
    np.testing.assert_array_equal(NearestWords(vectors, DEVICE).nearest(points * unit), expected)


@pytest.mark.parametrize("most", [1, 5, 400])
def test_points_with_many_words_are_left_to_the_processor(any_device, monkeypatch, most):
    monkeypatch.setattr(cuda_products, "_MOST", most)
    monkeypatch.setattr(nearest, "_ROWS", 32)
    vectors, points = words_and_points(1500, 30, 300)
    vectors[:100] = vectors[0] * (1 + 2.0**-23 * np.arange(100, dtype=np.float32))[:, None]
    points[::5] = vectors[0]
    search = NearestWords(vectors, DEVICE)
    expected = NearestWords(vectors, SGEMM).nearest(points)
    np.testing.assert_array_equal(search.nearest(points), expected)
    scaled = search._scaled_points(points)
    winners, candidates = search._device.search(*scaled)
    assert (most < 100) == bool(set(np.flatnonzero(winners < 0)) - set(candidates))


# The gates ------------------------------------------------------------------------------------------------------


def test_without_the_extra_it_is_not_asked(monkeypatch):
    monkeypatch.setattr(cuda_products, "find_spec", lambda name: None)
    assert DEVICE not in kernel_choice.usable_kernels()
    vectors, _ = words_and_points(100, 5, 10)
    assert NearestWords(vectors).kernel.kernel != DEVICE
    with pytest.raises(MissingExtraError, match=r"publius\[cuda\]"):
        NearestWords(vectors, DEVICE)


def _no_driver():
    raise RuntimeError("cudaErrorNoDevice")


@pytest.mark.parametrize("devices", [0, None])
def test_without_a_device_it_is_not_asked(use, devices):
    library = use(devices=devices)
    if devices is None:
        library.cuda.runtime.getDeviceCount = _no_driver
    assert DEVICE not in kernel_choice.usable_kernels()
    vectors, _ = words_and_points(100, 5, 10)
    assert NearestWords(vectors).kernel.kernel != DEVICE
    with pytest.raises(PubliusError, match="no CUDA device"):
        NearestWords(vectors, DEVICE)


@pytest.mark.parametrize(("memory", "works"), [(2**30, True), (2 * 4 * 4 * 16 * 600, True), (2**18, False)])
def test_it_takes_no_more_memory_than_half_of_what_is_free(use, memory, works):
    use(memory=memory)
    vectors, points = words_and_points(600, 5, 100)
    if works:
        search = NearestWords(vectors, DEVICE)
        assert 16 <= search._device.block <= max(16, memory / (2 * 4 * 4 * 600))
        np.testing.assert_array_equal(search.nearest(points), NearestWords(vectors, SGEMM).nearest(points))
    else:
        with pytest.raises(PubliusError, match="too little free memory"):
            NearestWords(vectors, DEVICE)


def rounded(bits, which):
    """Products of numbers that lost all but ``bits`` bits: of the points, of the words, or of both."""

    def cut(numbers):
        share, power = np.frexp(numbers)
        return np.ldexp(np.rint(share * 2.0**bits) / 2.0**bits, power).astype(np.float32)

    return lambda some, others: np.matmul(
        cut(some) if "points" in which else some, cut(others) if "words" in which else others
    )


@pytest.mark.parametrize("which", ["points", "words", "points and words"])
@pytest.mark.parametrize("bits", [8, 11, 16, 22])
def test_products_of_rounded_numbers_are_caught(use, bits, which):
    """TF32 keeps 11 bits, bfloat16 8, two of them together 16."""
    use(product=rounded(bits, which))
    vectors, _ = words_and_points(600, 5, 1)
    with pytest.raises(PubliusError, match="wrong or rounded"):
        NearestWords(vectors, DEVICE)


def test_sums_in_fewer_bits_are_caught(use):
    use(product=lambda some, others: np.matmul(some, others).astype(np.float16).astype(np.float32))
    vectors, _ = words_and_points(600, 5, 1)
    with pytest.raises(PubliusError, match="wrong or rounded"):
        NearestWords(vectors, DEVICE)


def _entry(scores):
    scores[-1, -1] += max(1, abs(scores[-1, -1]) * 2.0**-22)
    return scores


SPOILS = {
    "zeros": np.zeros_like,
    "not a number": lambda scores: np.full_like(scores, np.nan),
    "one entry": _entry,
    "a permutation": lambda scores: scores[:, ::-1],
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_wrong_products_are_caught(use, spoil):
    use(change=lambda scores, calls: SPOILS[spoil](scores))
    vectors, _ = words_and_points(600, 5, 300)
    assert NearestWords(vectors).kernel.kernel != DEVICE
    assert "wrong or rounded" in NearestWords(vectors).kernel.reason
    with pytest.raises(PubliusError, match="wrong or rounded"):
        NearestWords(vectors, DEVICE)


def test_a_dropped_dimension_is_caught_whichever_it_is(use):
    for dropped in (0, 37, 5000):
        use(
            product=lambda some, others, at=dropped: (
                np.matmul(some, others) - np.outer(some[:, at], others[at])
            )
        )
        vectors = np.ones((20, 6000), np.float32)
        with pytest.raises(PubliusError, match="wrong or rounded"):
            NearestWords(vectors, DEVICE)


LATER = {
    "not a number": lambda scores: np.full_like(scores, np.nan),
    "one column not a number": lambda scores: np.where(np.arange(scores.shape[1]) == 90, np.nan, scores),
    "too large": lambda scores: scores + np.float32(1),
    "one too large": lambda scores: np.where(np.arange(scores.size).reshape(scores.shape) == 7, 1e6, scores),
}


@pytest.mark.parametrize("change", LATER)
def test_products_that_go_wrong_later_stop_the_search(use, change):
    library = use()
    vectors, points = words_and_points(600, 5, 300)
    search = NearestWords(vectors, DEVICE)
    search.nearest(points)
    library.change = lambda scores, calls: LATER[change](scores).astype(np.float32)
    with pytest.raises(PubliusError, match="outside its bound"):
        search.nearest(points)


def test_a_device_that_is_lost_costs_no_answer(use):
    library = use()
    vectors, points = words_and_points(600, 5, 1000)
    search = NearestWords(vectors, DEVICE)
    expected = search.nearest(points)

    def lost(scores, calls):
        raise RuntimeError("cudaErrorIllegalAddress")

    library.change = lost
    np.testing.assert_array_equal(search.nearest(points), expected)
    calls = library.calls
    np.testing.assert_array_equal(search.nearest(points, threads=2), expected)
    assert library.calls == calls  # nor is it asked again


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork")
def test_a_forked_process_does_not_use_its_parents_device(use):
    use()
    vectors, points = words_and_points(600, 5, 300)
    search = NearestWords(vectors, DEVICE)
    context = multiprocessing.get_context("fork")
    told = context.SimpleQueue()
    child = context.Process(target=lambda: told.put((search._device.usable, search.nearest(points))))
    child.start()
    usable, found = told.get()
    child.join()
    assert not usable
    np.testing.assert_array_equal(found, search.nearest(points))


# The choice -----------------------------------------------------------------------------------------------------


@pytest.fixture
def clocks(monkeypatch):
    """Two clocks that stand until they are moved: the wall's and the processor's."""
    now = types.SimpleNamespace(wall=0.0, processor=0.0)
    monkeypatch.setattr(kernel_choice.time, "perf_counter", lambda: now.wall)
    monkeypatch.setattr(kernel_choice.time, "thread_time", lambda: now.processor)
    return now


@pytest.mark.parametrize(
    ("seconds", "chosen"), [(0.01, DEVICE), (0.24, DEVICE), (0.249, BYTES), (3.0, BYTES)]
)
def test_the_device_is_chosen_where_it_is_faster_than_all_processors(monkeypatch, clocks, seconds, chosen):
    monkeypatch.setattr(kernel_choice, "_cores", lambda: 4)

    def device():
        clocks.wall += seconds
        return 1.0

    def others():
        clocks.wall += 100.0  # busy neighbors
        clocks.processor += 1.0
        return 1.0

    found = kernel_choice.choose_device(Choice(BYTES, "measured"), device, others)
    assert found.kernel == chosen
    assert "4 processors" in found.reason


def test_it_is_started_for_large_work_alone(use, monkeypatch):
    use()
    monkeypatch.setattr(kernel_choice, "choose_device", lambda *given: Choice(DEVICE, "made"))
    monkeypatch.setattr(nearest, "_WORTH", 1.0)
    monkeypatch.setattr(nearest, "_WORTH_A_DEVICE", 2.5 * 300 * 600 * 5)
    vectors, points = words_and_points(600, 5, 300)
    search = NearestWords(vectors)
    for expected in (False, False, True):
        search.nearest(points)
        assert ("_device" in vars(search)) == expected


def test_a_choice_made_by_time_gives_the_same_words(use, monkeypatch):
    """Nothing of the choice but its outcome is made up: the trials run."""
    use()
    monkeypatch.setattr(nearest, "_WORTH_A_DEVICE", 0.0)
    monkeypatch.setattr(nearest, "_WORTH", 0.0)
    vectors, points = words_and_points(600, 5, 300)
    search = NearestWords(vectors)
    assert search.kernel.kernel in kernel_choice.KERNELS
    assert "CUDA device" in search.kernel.reason
    np.testing.assert_array_equal(search.nearest(points), NearestWords(vectors, SGEMM).nearest(points))


def test_where_8_bit_products_are_not_installed_the_trial_is_of_sgemm(use, monkeypatch):
    use()
    monkeypatch.setattr(byte_products, "unusable", lambda dimension: "the extra onnxruntime is not installed")
    vectors, _ = words_and_points(600, 5, 1)
    assert "sgemm" in NearestWords(vectors).kernel.reason or NearestWords(vectors).kernel.kernel == DEVICE
