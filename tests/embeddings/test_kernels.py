"""The search gives the answers of sgemm with every matrix product; a library that is wrong is not used."""

import contextlib
import multiprocessing
import subprocess
import sys
import tomllib
import types
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest

from hard_points import hard_points
from publius.embeddings import byte_products, cuda_products, nearest
from publius.embeddings.byte_products import ZERO
from publius.embeddings.cuda_products import OnDevice
from publius.embeddings.nearest import NearestWords
from publius.embeddings.shortlist import Shortlist, Workspace
from publius.errors import PubliusError
from publius.noise.laplace import EuclideanLaplace
from publius.noise.randomness import seeded_rng

ROOT = Path(__file__).resolve().parents[2]
SGEMM, BYTES, DEVICE = "sgemm", Shortlist.kernel, OnDevice.kernel


def search_with(vectors, kernel=SGEMM):
    """A search by this product, whatever the rule says; `few` is its first stage."""
    search = NearestWords(vectors)
    made = {
        SGEMM: lambda: None,
        BYTES: lambda: Shortlist(search._vectors, search._scale, search._squares / 2),
        DEVICE: lambda: OnDevice(search._vectors, search._scale),
    }
    search.few = made[kernel if search.dimension > 1 else SGEMM]()
    search._first_stage = lambda: search.few if getattr(search.few, "usable", True) else None
    return search


def chosen(vectors):
    """What searches of great size work with."""
    search = NearestWords(vectors)
    search._work = 1e15
    return search.kernel


class BytesInNumPy:
    """What a panel offers, in NumPy; ``change`` spoils scores, told how many products there were before."""

    def __init__(self, words, scales, offsets, change=lambda scores, calls: None, sums=None):
        self.words, self.scales, self.offsets = words, scales, offsets
        self.change, self.sums, self.calls = change, sums or self.exact, [0]

    @staticmethod
    def exact(points, words):
        return (points.astype(np.float64) - ZERO) @ words.astype(np.float64)  # whole numbers below 2**53

    def bind(self, points, scale, scores):
        def compute(count):
            self.calls[0] += 1
            whole = self.sums(points[:count], self.words)
            found = (whole.astype(np.float32) * (scale[0] * self.scales) + self.offsets).astype(np.float32)
            self.change(found, self.calls[0])
            scores[: found.size] = found.reshape(-1)

        return compute


def saturated(points, words):
    """Sums as of processors that add two neighboring products in 16 bits."""
    terms = points.astype(np.int32)[:, :, None] * words.astype(np.int32)[None]
    terms = np.concatenate([terms, np.zeros((len(points), terms.shape[1] % 2, terms.shape[2]), np.int32)], axis=1)
    pairs = (terms[:, ::2] + terms[:, 1::2]).clip(-(2**15), 2**15 - 1)
    return pairs.sum(axis=1) - ZERO * words.astype(np.int32).sum(axis=0)


class DeviceInNumPy:
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
        with np.errstate(invalid="ignore"):  # OpenBLAS may look at what lies beside an array of one column
            found = self.product(some, others)
        return found if self.change is None else self.change(found, self.calls)

    def get_default_memory_pool(self):
        return types.SimpleNamespace(free_all_blocks=lambda: None)


@pytest.fixture
def use_bytes(monkeypatch):
    def put(**more):
        made = []

        def panel(*arguments):
            made.append(BytesInNumPy(*arguments, **more))
            made[-1].calls = made[0].calls
            return made[-1]

        monkeypatch.setattr(byte_products, "Panel", panel)
        monkeypatch.setattr("importlib.metadata.version", lambda name: "1.26.0")
        byte_products.reach.cache_clear()
        return made

    yield put
    byte_products.reach.cache_clear()


@pytest.fixture
def use_device(monkeypatch):
    def put(**more):
        library = DeviceInNumPy(**more)
        monkeypatch.setattr(cuda_products, "_BLOCK", 100)  # the check multiplies as many points by all words
        monkeypatch.setattr(cuda_products, "_DISTINCT", (17, 31))
        monkeypatch.setattr(cuda_products, "_library", lambda: library)
        return library

    return put


@pytest.fixture(params=["8 bits in NumPy", "onnxruntime", "device in NumPy", "CuPy"])
def kernel(request, use_bytes, use_device, monkeypatch):
    """Every product that can be tried here, with small panels and blocks."""
    monkeypatch.setattr("publius.embeddings.shortlist._WIDTH", 200)
    monkeypatch.setattr(cuda_products, "_TOGETHER", 8)
    if request.param == "8 bits in NumPy":
        use_bytes()
    elif request.param == "onnxruntime":
        pytest.importorskip("onnxruntime", reason="the extra onnxruntime is not installed")
    elif request.param == "device in NumPy":
        use_device()
    else:
        try:
            OnDevice(np.ones((1, 1), np.float32), 1.0)
        except Exception as error:
            pytest.skip(f"no CUDA device: {error!r}")
    return BYTES if request.param in ("8 bits in NumPy", "onnxruntime") else DEVICE


def words_and_points(size, n, count, seed=1):
    rng = seeded_rng(seed)
    vectors = rng.standard_normal((size, n)).astype(np.float32)
    noisy = vectors[rng.integers(0, size, count)] + EuclideanLaplace(n, n / 4).sample(rng, count)
    return vectors, noisy


@pytest.mark.parametrize(("size", "n"), [(1, 4), (513, 29), (2000, 300)])
def test_same_answers_for_real_points(kernel, size, n):
    vectors, points = words_and_points(size, n, 700)
    expected = search_with(vectors).nearest(points)
    search = search_with(vectors, kernel)
    np.testing.assert_array_equal(search.nearest(points), expected)
    np.testing.assert_array_equal(search.nearest(points, threads=3), expected)
    parts = [search.nearest(points[start : start + 37]) for start in range(0, len(points), 37)]
    np.testing.assert_array_equal(np.concatenate(parts), expected)


@pytest.mark.parametrize("n", [1, 5, 29, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 61, 400))])
def test_same_answers_for_points_that_are_hard(kernel, n):
    for vectors, points in hard_points(n, 40 if n == 400 else 150, seeded_rng(n)):
        expected = search_with(vectors).nearest(points)
        search = search_with(vectors, kernel)
        np.testing.assert_array_equal(search.nearest(points), expected)
        np.testing.assert_array_equal(search.nearest(points[::-1], threads=2)[::-1], expected)


@pytest.mark.parametrize("unit", [1e-300, 1e-12, 1e150])
def test_vectors_in_float64_of_any_size(kernel, unit):
    vectors, points = words_and_points(700, 12, 200)
    vectors = vectors.astype(np.float64) * unit
    vectors[5:50] *= 1e-25
    expected = search_with(vectors).nearest(points * unit)
    np.testing.assert_array_equal(search_with(vectors, kernel).nearest(points * unit), expected)


@pytest.mark.parametrize("most", [1, 60])
def test_points_with_many_words_are_left_to_sgemm(kernel, monkeypatch, most):
    monkeypatch.setattr("publius.embeddings.shortlist._MOST", most)
    monkeypatch.setattr(cuda_products, "_MOST", most)
    monkeypatch.setattr(nearest, "_ROWS", 32)
    vectors, points = words_and_points(1500, 30, 300)
    vectors[:100] = vectors[0] * (1 + 2.0**-23 * np.arange(100, dtype=np.float32))[:, None]
    points[::5] = vectors[0]
    points[1::5] *= 1e6
    expected = search_with(vectors).nearest(points)
    np.testing.assert_array_equal(search_with(vectors, kernel).nearest(points), expected)


@pytest.fixture(params=["in NumPy", "onnxruntime"])
def any_library(request, use_bytes):
    if request.param == "in NumPy":
        use_bytes()
    else:
        pytest.importorskip("onnxruntime", reason="the extra onnxruntime is not installed")


def workspace(short):
    return Workspace(short._panels, short._vectors.shape[1], short._width)


def test_the_bound_holds_and_is_not_far_off(any_library):
    """Every score against float64: within the bound of its word, and somewhere at least a twentieth of it."""
    vectors, points = words_and_points(1500, 40, 100)
    search = search_with(vectors, BYTES)
    short = search.few
    scaled, _, _ = search._scaled_points(points)
    memory = workspace(short)
    lost, length = memory.take(scaled)
    (scores,) = memory.scores(len(points))
    exact = vectors.astype(np.float64)[short._order] * search._scale
    true = scaled @ exact.T - np.square(exact).sum(axis=1) / 2
    errors = short._errors
    bound = lost[:, None] * errors[0] + length[:, None] * errors[1] + errors[2]
    share = np.abs(scores[:, : len(exact)] - true) / (1.01 * bound)
    assert share.max() <= 1
    assert share.max() > 0.05


def test_few_words_are_left(any_library):
    """The shortlist is short: else it would be right and of no use."""
    vectors, points = words_and_points(1500, 40, 128)
    search = search_with(vectors, BYTES)
    scaled, _, _ = search._scaled_points(points)
    found = search.few._found(scaled, workspace(search.few))
    assert len(found) < 20 * len(points)


@pytest.mark.parametrize("count", [1, 3, 8, 100])
def test_scores_not_below_the_level_of_their_row_are_found(any_library, count):
    """All of them and no other, what is not a number too, whatever the width; what stood there before tells nothing."""
    vectors, _ = words_and_points(1501, 40, 1)
    memory = workspace(search_with(vectors, BYTES).few)
    draw = np.random.default_rng(count)
    for share in (0.5, 0.001, 0):
        scores = draw.random((count, 1501), np.float32)
        scores[0, :2], scores[-1, -1] = np.nan, np.float32(1)
        levels = np.full(count, 1 - share, np.float32)
        levels[-1] = 1
        expected = np.flatnonzero(~(scores < levels[:, None]))
        assert np.array_equal(memory.not_below(scores, levels), expected)


# The rule and the gates ----


@pytest.mark.parametrize(
    ("shape", "unit", "wanted"),
    [((3000, 70), True, BYTES), ((3000, 70), False, SGEMM), ((3000, 60), True, SGEMM), ((2000, 70), True, SGEMM),
     ((3000, 1), True, SGEMM)],
)  # fmt: skip
def test_the_rule(use_bytes, monkeypatch, shape, unit, wanted):
    made = use_bytes()
    monkeypatch.setattr(nearest, "_has_byte_units", lambda: unit)
    vectors, points = words_and_points(*shape, 100)
    search = NearestWords(vectors)
    expected = search_with(vectors).nearest(points)
    np.testing.assert_array_equal(search.nearest(points), expected)
    assert not made, "a small search makes no 8-bit words"
    assert search.kernel == SGEMM
    assert chosen(vectors) == wanted
    made.clear()
    monkeypatch.setattr(nearest, "_WORTH", 1.0)
    np.testing.assert_array_equal(search.nearest(points), expected)
    assert bool(made) == (wanted == BYTES)


def test_a_device_is_started_for_large_work_alone(use_device, monkeypatch):
    use_device()
    monkeypatch.setattr(nearest, "_WORTH", 1.0)
    monkeypatch.setattr(nearest, "_WORTH_A_DEVICE", 2.5 * 300 * 600 * 5)
    vectors, points = words_and_points(600, 5, 300)
    search = NearestWords(vectors)
    for expected in (False, False, True):
        search.nearest(points)
        assert ("_device" in vars(search)) == expected
    assert search.kernel == DEVICE


def _absent(name):
    raise PackageNotFoundError(name)


@pytest.fixture
def reach_of_version(monkeypatch):
    """What products reach with an installed version, and the libraries that were loaded for it."""
    loaded = []
    monkeypatch.setattr(nearest, "_has_byte_units", lambda: True)
    monkeypatch.setattr(byte_products, "import_module", loaded.append)

    def reach(version):
        monkeypatch.setattr("importlib.metadata.version", version)
        byte_products.reach.cache_clear()
        return byte_products.reach(70, 3000), loaded

    yield reach
    byte_products.reach.cache_clear()


def test_without_the_extra_it_is_sgemm(reach_of_version):
    assert reach_of_version(_absent) == (0, [])
    vectors, points = words_and_points(3000, 70, 10)
    assert chosen(vectors) == SGEMM
    NearestWords(vectors).nearest(points)


@pytest.mark.parametrize("number", ["1.25.4", "1.29.0", "1.32.0", "2.0"])
def test_versions_that_may_report_their_use_are_not_loaded(reach_of_version, number):
    assert reach_of_version(lambda name: number) == (0, [])
    assert reach_of_version(lambda name: "1.26.0") == (0, ["onnxruntime"])


def test_the_extra_asks_for_the_versions_that_are_used():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    least, end = (".".join(map(str, each)) for each in byte_products._SENDS_NOTHING)
    assert project["optional-dependencies"]["onnxruntime"] == [f"onnxruntime>={least},<{end}"]


_ALONE = """
import os, sys
import numpy as np
from publius.embeddings import nearest
before = len(os.listdir("/proc/self/task"))
rng = np.random.Generator(np.random.PCG64(1))
vectors = rng.standard_normal((2100, 64)).astype(np.float32)
nearest._WORTH, nearest._has_byte_units = 1, lambda: True
search = nearest.NearestWords(vectors)
search.nearest(vectors[:300].astype(float))
assert search.kernel == "onnxruntime-int8"
links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
sockets = sum("socket" in os.readlink(link) for link in links if os.path.exists(link))
print(len(os.listdir("/proc/self/task")) - before, sockets, os.listdir(os.environ["HOME"]))
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not tell its threads in /proc")
def test_the_library_has_no_thread_no_socket_and_no_file(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime", reason="the extra onnxruntime is not installed")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    done = subprocess.run(
        [sys.executable, "-c", _ALONE], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL
    )
    assert done.stdout.split(" ", 2) == ["0", "0", "[]\n"]
    assert not done.stderr


def _entry(scores, calls):
    scores[-1, -1] += max(1, abs(scores[-1, -1]) * 2.0**-19)


SPOILS = {
    "zeros": lambda scores, calls: scores.fill(0),
    "not a number": lambda scores, calls: scores.fill(np.nan),
    "nothing written in the last row": lambda scores, calls: scores[-1].fill(np.nan),
    "one entry": _entry,
    "a permutation": lambda scores, calls: scores.__setitem__(slice(None), scores[:, ::-1].copy()),
    "eight bits of the sum": lambda scores, calls: np.multiply(scores, 1 + 2.0**-9, out=scores),
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_wrong_8_bit_products_are_caught(use_bytes, monkeypatch, spoil):
    monkeypatch.setattr(nearest, "_has_byte_units", lambda: True)
    use_bytes(change=SPOILS[spoil])
    vectors, _ = words_and_points(3000, 70, 10)
    assert chosen(vectors) == SGEMM
    with pytest.raises(PubliusError, match="wrong on this machine"):
        search_with(vectors, BYTES)


def test_products_that_overflow_get_words_of_seven_bits(use_bytes):
    """Where neighbors are added in 16 bits, 8 bits are found wrong and 7 bits right; the answers stay the same."""
    made = use_bytes(sums=saturated)
    assert byte_products.reach(30, 400) == 63
    vectors, points = words_and_points(400, 30, 200)
    expected = search_with(vectors).nearest(points)
    np.testing.assert_array_equal(search_with(vectors, BYTES).nearest(points), expected)
    assert np.abs(made[-1].words).max() == 63


def test_overflow_is_found_in_two_dimensions_as_well(use_bytes):
    use_bytes(sums=saturated)
    assert byte_products.reach(2, 5) == 63


def test_a_dropped_dimension_of_8_bits_is_caught_at_the_shape_where_it_is_dropped(use_bytes):
    """Right at most shapes: the check is of the very shape that is used."""

    def sums(points, words):
        return (
            BytesInNumPy.exact(points[:, :-1], words[:-1])
            if words.shape == (70, 400)
            else BytesInNumPy.exact(points, words)
        )

    use_bytes(sums=sums)
    assert byte_products.reach(70, 401) == byte_products.reach(69, 400) == 127
    assert byte_products.reach(70, 400) == 0


def test_another_interface_is_caught(monkeypatch, use_bytes):
    monkeypatch.setattr(nearest, "_has_byte_units", lambda: True)
    use_bytes()

    def panel(*arguments):
        raise AttributeError

    monkeypatch.setattr(byte_products, "Panel", panel)
    vectors, _ = words_and_points(3000, 70, 10)
    assert chosen(vectors) == SGEMM
    assert byte_products.reach(70, 3000) == 0


def _later(change):
    return lambda scores, calls: change(scores) if calls > 3 else None


@pytest.mark.parametrize(
    "change",
    [lambda scores: scores.fill(np.nan),
     lambda scores: scores[:, 90].fill(np.nan),
     lambda scores: scores.__iadd__(np.float32(1)),
     lambda scores: scores.__setitem__((0, 7), np.float32(1e6))],
    ids=["not a number", "one column not a number", "too large", "one too large"],
)  # fmt: skip
@pytest.mark.parametrize("width", [8192, 100])
def test_8_bit_products_that_go_wrong_later_stop_the_search(use_bytes, monkeypatch, change, width):
    """The check has three products; what comes after is held to the bound where a word is decided."""
    monkeypatch.setattr("publius.embeddings.shortlist._WIDTH", width)
    use_bytes(change=_later(change))
    vectors, points = words_and_points(600, 5, 300)
    with pytest.raises(PubliusError, match="outside its bound"):
        search_with(vectors, BYTES).nearest(points)


# A graphics processor ----


def _no_driver(*_):
    raise RuntimeError("cudaErrorNoDevice")


@pytest.mark.parametrize("what", ["library", "device"])
def test_without_one_the_processor_works(use_device, monkeypatch, what):
    if what == "library":
        monkeypatch.setitem(sys.modules, "cupy", None)
    else:
        use_device().empty = _no_driver
    vectors, points = words_and_points(100, 5, 10)
    assert chosen(vectors) != DEVICE
    search = NearestWords(vectors)
    search._work = 1e15
    np.testing.assert_array_equal(search.nearest(points), search_with(vectors).nearest(points))


@pytest.mark.parametrize(("memory", "works"), [(2**30, True), (2 * 4 * 4 * 16 * 600, True), (2**18, False)])
def test_it_takes_no_more_memory_than_half_of_what_is_free(use_device, memory, works):
    use_device(memory=memory)
    vectors, points = words_and_points(600, 5, 100)
    if works:
        search = search_with(vectors, DEVICE)
        assert 16 <= search.few.block <= max(16, memory / (2 * 4 * 4 * 600))
        np.testing.assert_array_equal(search.nearest(points), search_with(vectors).nearest(points))
    else:
        with pytest.raises(PubliusError, match="too little free memory"):
            search_with(vectors, DEVICE)


def rounded(bits, which):
    """Products of numbers that lost all but ``bits`` bits: of the points, of the words, or of both."""

    def cut(numbers):
        share, power = np.frexp(numbers)
        return np.ldexp(np.rint(share * 2.0**bits) / 2.0**bits, power).astype(np.float32)

    return lambda some, others: np.matmul(
        cut(some) if "points" in which else some, cut(others) if "words" in which else others
    )


@pytest.mark.parametrize("which", ["points", "words", "points and words"])
@pytest.mark.parametrize("bits", [8, 11, 22])
def test_products_of_rounded_numbers_are_caught(use_device, bits, which):
    """TF32 keeps 11 bits, bfloat16 8, two of them together 16."""
    use_device(product=rounded(bits, which))
    vectors, _ = words_and_points(600, 5, 1)
    with pytest.raises(PubliusError, match="wrong or rounded"):
        search_with(vectors, DEVICE)


def test_sums_in_fewer_bits_are_caught(use_device):
    use_device(product=lambda some, others: np.matmul(some, others).astype(np.float16).astype(np.float32))
    vectors, _ = words_and_points(600, 5, 1)
    with pytest.raises(PubliusError, match="wrong or rounded"):
        search_with(vectors, DEVICE)


def _device_entry(scores):
    scores[-1, -1] += max(1, abs(scores[-1, -1]) * 2.0**-22)
    return scores


DEVICE_SPOILS = {
    "zeros": np.zeros_like,
    "not a number": lambda scores: np.full_like(scores, np.nan),
    "one entry": _device_entry,
    "a permutation": lambda scores: scores[:, ::-1],
}


@pytest.mark.parametrize("spoil", DEVICE_SPOILS)
def test_wrong_products_are_caught(use_device, spoil):
    use_device(change=lambda scores, calls: DEVICE_SPOILS[spoil](scores))
    vectors, _ = words_and_points(600, 5, 300)
    assert chosen(vectors) != DEVICE
    with pytest.raises(PubliusError, match="wrong or rounded"):
        search_with(vectors, DEVICE)


def test_a_dropped_dimension_is_caught_whichever_it_is(use_device):
    for dropped in (0, 37, 5000):
        use_device(product=lambda some, others, at=dropped: np.matmul(some, others) - np.outer(some[:, at], others[at]))
        vectors = np.ones((20, 6000), np.float32)
        with pytest.raises(PubliusError, match="wrong or rounded"):
            search_with(vectors, DEVICE)


LATER = {
    "not a number": lambda scores: np.full_like(scores, np.nan),
    "one column not a number": lambda scores: np.where(np.arange(scores.shape[1]) == 90, np.nan, scores),
    "too large": lambda scores: scores + np.float32(1),
    "one too large": lambda scores: np.where(np.arange(scores.size).reshape(scores.shape) == 7, 1e6, scores),
}


@pytest.mark.parametrize("change", LATER)
def test_products_that_go_wrong_later_stop_the_search(use_device, change):
    library = use_device()
    vectors, points = words_and_points(600, 5, 300)
    search = search_with(vectors, DEVICE)
    search.nearest(points)
    library.change = lambda scores, calls: LATER[change](scores).astype(np.float32)
    with pytest.raises(PubliusError, match="outside its bound"):
        search.nearest(points)


def test_a_device_that_is_lost_costs_no_answer(use_device):
    library = use_device()
    vectors, points = words_and_points(600, 5, 1000)
    search = search_with(vectors, DEVICE)
    expected = search.nearest(points)

    def lost(scores, calls):
        raise RuntimeError("cudaErrorIllegalAddress")

    library.change = lost
    np.testing.assert_array_equal(search.nearest(points), expected)
    calls = library.calls
    np.testing.assert_array_equal(search.nearest(points, threads=2), expected)
    assert library.calls == calls  # nor is it asked again


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork")
def test_a_forked_process_does_not_use_its_parents_device(use_device):
    use_device()
    vectors, points = words_and_points(600, 5, 300)
    search = search_with(vectors, DEVICE)
    context = multiprocessing.get_context("fork")
    told = context.SimpleQueue()
    child = context.Process(target=lambda: told.put((search.few.usable, search.nearest(points))))
    child.start()
    usable, found = told.get()
    child.join()
    assert not usable
    np.testing.assert_array_equal(found, search.nearest(points))
