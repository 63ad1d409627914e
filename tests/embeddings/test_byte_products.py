"""The search with 8-bit products gives the answers of sgemm, and a library that is wrong is not used."""

import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest

from audit.hard_points import hard_points
from publius.errors import MissingExtraError, PubliusError
from publius.noise.laplace import EuclideanLaplace
from publius.noise.randomness import seeded_rng
from publius.embeddings import byte_products, kernel_choice
from publius.embeddings.byte_products import POINTS, ZERO
from publius.embeddings.kernel_choice import BYTES, SGEMM
from publius.embeddings.nearest import NearestWords

ROOT = Path(__file__).resolve().parents[2]


class InNumPy:
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
    terms = np.concatenate(
        [terms, np.zeros((len(points), terms.shape[1] % 2, terms.shape[2]), np.int32)], axis=1
    )
    pairs = (terms[:, ::2] + terms[:, 1::2]).clip(-(2**15), 2**15 - 1)
    return pairs.sum(axis=1) - ZERO * words.astype(np.int32).sum(axis=0)


@pytest.fixture
def use(monkeypatch):
    def put(**more):
        made = []

        def panel(*arguments):
            made.append(InNumPy(*arguments, **more))
            made[-1].calls = made[0].calls
            return made[-1]

        monkeypatch.setattr(byte_products, "panel", panel)
        monkeypatch.setattr(byte_products, "unusable", lambda dimension: None)
        byte_products.reach.cache_clear()
        return made

    yield put
    byte_products.reach.cache_clear()


@pytest.fixture(params=["in NumPy", "onnxruntime"])
def any_library(request, use):
    if request.param == "in NumPy":
        use()
    else:
        pytest.importorskip("onnxruntime", reason="the extra onnxruntime is not installed")


def words_and_points(size, n, count, seed=1):
    rng = seeded_rng(seed)
    vectors = rng.standard_normal((size, n)).astype(np.float32)
    noisy = vectors[rng.integers(0, size, count)] + EuclideanLaplace(n, n / 4).sample(rng, count)
    return vectors, noisy


@pytest.mark.parametrize(
    ("size", "n", "width"), [(1, 4, 8192), (511, 3, 100), (513, 29, 256), (1500, 30, 8192), (2000, 300, 700)]
)
def test_same_answers_as_sgemm_for_real_points(any_library, monkeypatch, size, n, width):
    monkeypatch.setattr("publius.embeddings.shortlist._WIDTH", width)
    vectors, points = words_and_points(size, n, 700)
    expected = NearestWords(vectors, SGEMM).nearest(points)
    search = NearestWords(vectors, BYTES)
    np.testing.assert_array_equal(search.nearest(points), expected)
    np.testing.assert_array_equal(search.nearest(points, threads=3), expected)
    parts = [search.nearest(points[start : start + 37]) for start in range(0, len(points), 37)]
    np.testing.assert_array_equal(np.concatenate(parts), expected)


@pytest.mark.parametrize("n", [1, 5, 29, 400, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 61))])
def test_same_answers_as_sgemm_for_points_that_are_hard(any_library, monkeypatch, n):
    monkeypatch.setattr("publius.embeddings.shortlist._WIDTH", 200)
    for vectors, points in hard_points(n, 40 if n == 400 else 150, seeded_rng(n)):
        expected = NearestWords(vectors, SGEMM).nearest(points)
        search = NearestWords(vectors, BYTES)
        np.testing.assert_array_equal(search.nearest(points), expected)
        np.testing.assert_array_equal(search.nearest(points[::-1], threads=2)[::-1], expected)


@pytest.mark.parametrize("unit", [1e-300, 1e-40, 1e-12, 1.0, 1e30, 1e150])
def test_vectors_in_float64_of_any_size(any_library, unit):
    vectors, points = words_and_points(700, 12, 200)
    vectors = vectors.astype(np.float64) * unit
    vectors[5:50] *= 1e-25
    expected = NearestWords(vectors, SGEMM).nearest(points * unit)
    np.testing.assert_array_equal(NearestWords(vectors, BYTES).nearest(points * unit), expected)


@pytest.mark.parametrize("most", [0, 5, 60])
def test_points_with_many_words_are_left_to_sgemm(any_library, monkeypatch, most):
    monkeypatch.setattr("publius.embeddings.shortlist._MOST", most)
    monkeypatch.setattr("publius.embeddings.shortlist._WIDTH", 256)
    vectors, points = words_and_points(1500, 30, 300)
    points[::5] *= 1e6
    expected = NearestWords(vectors, SGEMM).nearest(points)
    np.testing.assert_array_equal(NearestWords(vectors, BYTES).nearest(points), expected)


def test_the_bound_holds_and_is_not_far_off(any_library):
    """Every score against float64: within the bound of its word, and somewhere at least a twentieth of it."""
    vectors, points = words_and_points(1500, 40, 100)
    search = NearestWords(vectors, BYTES)
    short = search._shortlist
    scaled, _, _ = search._scaled_points(points)
    memory = short.workspace()
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
    search = NearestWords(vectors, BYTES)
    scaled, _, _ = search._scaled_points(points)
    found = search._shortlist._found(scaled, search._shortlist.workspace())
    assert len(found.owner) < 20 * len(points)


@pytest.mark.parametrize("count", [1, 3, 8, 100])
def test_scores_not_below_the_level_of_their_row_are_found(any_library, count):
    """All of them and no other, what is not a number too, whatever the width; what stood there before tells nothing."""
    vectors, _ = words_and_points(1501, 40, 1)
    memory = NearestWords(vectors, BYTES)._shortlist.workspace()
    draw = np.random.default_rng(count)
    for share in (0.5, 0.001, 0):
        scores = draw.random((count, 1501), np.float32)
        scores[0, :2], scores[-1, -1] = np.nan, np.float32(1)
        levels = np.full(count, 1 - share, np.float32)
        levels[-1] = 1
        expected = np.flatnonzero(~(scores < levels[:, None]))
        assert np.array_equal(memory.not_below(scores, levels), expected)


# The gates ------------------------------------------------------------------------------------------------------


def _absent(name):
    raise PackageNotFoundError(name)


def test_without_the_extra_it_is_sgemm(monkeypatch):
    monkeypatch.setattr(byte_products, "version", _absent)
    vectors, points = words_and_points(100, 5, 10)
    assert NearestWords(vectors).kernel.kernel == SGEMM
    assert "not installed" in NearestWords(vectors).kernel.reason
    assert kernel_choice.usable_kernels() == (SGEMM,)
    NearestWords(vectors).nearest(points)
    with pytest.raises(MissingExtraError, match=r"publius\[onnxruntime\]"):
        NearestWords(vectors, BYTES)


@pytest.mark.parametrize("number", ["1.25.4", "1.29.0", "1.32.0", "2.0"])
def test_versions_that_may_report_their_use_are_not_loaded(monkeypatch, number):
    monkeypatch.setattr(byte_products, "version", lambda name: number)
    vectors, _ = words_and_points(100, 5, 10)
    assert NearestWords(vectors).kernel.kernel == SGEMM
    assert number in NearestWords(vectors).kernel.reason
    assert "send nothing" in NearestWords(vectors).kernel.reason
    with pytest.raises(PubliusError, match="send nothing"):
        NearestWords(vectors, BYTES)


def test_the_extra_asks_for_the_versions_that_are_used():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    least, end = (".".join(map(str, each)) for each in byte_products._SENDS_NOTHING)
    assert project["optional-dependencies"]["onnxruntime"] == [f"onnxruntime>={least},<{end}"]


_ALONE = """
import os, sys
import numpy as np
from publius.embeddings.nearest import NearestWords
before = len(os.listdir("/proc/self/task"))
rng = np.random.Generator(np.random.PCG64(1))
vectors = rng.standard_normal((600, 8)).astype(np.float32)
NearestWords(vectors, "onnxruntime-int8").nearest(vectors[:300].astype(float))
links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
sockets = sum("socket" in os.readlink(link) for link in links if os.path.exists(link))
print(len(os.listdir("/proc/self/task")) - before, sockets, os.listdir(os.environ["HOME"]))
"""


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="the system does not tell its threads in /proc"
)
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
def test_wrong_products_are_caught(use, spoil):
    use(change=SPOILS[spoil])
    vectors, _ = words_and_points(600, 5, 300)
    assert NearestWords(vectors).kernel.kernel == SGEMM
    assert "wrong on this machine" in NearestWords(vectors).kernel.reason
    with pytest.raises(PubliusError, match="wrong on this machine"):
        NearestWords(vectors, BYTES)


def test_products_that_overflow_get_words_of_seven_bits(use):
    """Where neighbors are added in 16 bits, 8 bits are found wrong and 7 bits right; the answers stay the same."""
    made = use(sums=saturated)
    assert byte_products.reach(30, 400) == 63
    vectors, points = words_and_points(400, 30, 200)
    expected = NearestWords(vectors, SGEMM).nearest(points)
    np.testing.assert_array_equal(NearestWords(vectors, BYTES).nearest(points), expected)
    assert np.abs(made[-1].words).max() == 63


def test_overflow_is_found_in_two_dimensions_as_well(use):
    use(sums=saturated)
    assert byte_products.reach(2, 5) == 63


def test_a_dropped_dimension_is_caught_at_the_shape_where_it_is_dropped(use):
    """Right at most shapes: the check is of the very shape that is used."""

    def sums(points, words):
        return (
            InNumPy.exact(points[:, :-1], words[:-1])
            if words.shape == (70, 400)
            else InNumPy.exact(points, words)
        )

    use(sums=sums)
    assert byte_products.reach(70, 401) == byte_products.reach(69, 400) == 127
    assert "wrong" in byte_products.reach(70, 400)


def test_another_interface_is_caught(monkeypatch, use):
    use()

    def panel(*arguments):
        raise AttributeError

    monkeypatch.setattr(byte_products, "panel", panel)
    vectors, _ = words_and_points(600, 5, 300)
    assert NearestWords(vectors).kernel.kernel == SGEMM
    assert "AttributeError" in NearestWords(vectors).kernel.reason


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
def test_products_that_go_wrong_later_stop_the_search(use, monkeypatch, change, width):
    """The check has three products; what comes after is held to the bound where a word is decided."""
    monkeypatch.setattr("publius.embeddings.shortlist._WIDTH", width)
    use(change=_later(change))
    vectors, points = words_and_points(600, 5, 300)
    with pytest.raises(PubliusError, match="outside its bound"):
        NearestWords(vectors, BYTES).nearest(points)


# The choice -----------------------------------------------------------------------------------------------------


class Clock:
    """Processor time that passes as told."""

    def __init__(self, monkeypatch, seconds):
        self.now, self.searched = 0.0, []
        monkeypatch.setattr(kernel_choice.time, "thread_time", lambda: self.now)
        self.searches = {kernel: self._search(kernel, each) for kernel, each in seconds.items()}

    def _search(self, kernel, each):
        def search():
            self.searched.append(kernel)
            self.now += each(len(self.searched)) if callable(each) else each
            return 1

        return search


@pytest.fixture
def forget(monkeypatch):
    def now():
        kernel_choice._found.clear()

    now()
    yield now
    now()


@pytest.mark.parametrize("times", [0.5, 1.0, 1.02, 1.1, 3.0])
def test_the_faster_is_chosen_and_kept(monkeypatch, forget, times):
    clock = Clock(monkeypatch, {SGEMM: 0.001 * times, BYTES: 0.001})
    found = kernel_choice.choose((700, 12), lambda: clock.searches)
    assert (found.kernel == BYTES) == (times > 1.03)
    assert f"{times:.2f} times" in found.reason
    assert clock.searched[:4] == [SGEMM, BYTES, SGEMM, BYTES]
    (kept,) = kernel_choice.kept()
    assert kept.seconds == pytest.approx({SGEMM: 0.001 * times, BYTES: 0.001}, rel=1e-2)
    assert bool(kept.doubtful) == (abs(times - 1.03) < 0.08)
    assert kernel_choice.choose((700, 12), None) == found
    assert kernel_choice.here() == [kept]
    forget()  # another process
    again = kernel_choice.choose((700, 12), (lambda: clock.searches) if kept.doubtful else None)
    assert again.kernel == found.kernel
    assert (kernel_choice.here() == [kept]) == (not kept.doubtful)


def test_a_burst_in_a_few_rounds_decides_nothing(monkeypatch, forget):
    """Every fifth search takes ten times as long, whichever it is: the median of the pairs does not see it."""
    clock = Clock(
        monkeypatch,
        {SGEMM: 0.002, BYTES: lambda calls: 0.01 if calls % 10 == 0 else 0.001},
    )
    assert kernel_choice.choose((700, 12), lambda: clock.searches).kernel == BYTES


def test_rounds_that_contradict_each_other_are_followed_by_more(monkeypatch, forget):
    """Three of the first five are disturbed: their median says the wrong thing, and their spread that they may."""
    calls = []

    def disturbed(searched):
        calls.append(searched)
        return 0.015 if len(calls) in (2, 4, 6) else 0.01

    clock = Clock(monkeypatch, {SGEMM: 0.0125, BYTES: disturbed})
    assert kernel_choice.choose((700, 12), lambda: clock.searches).kernel == BYTES
    assert 5 < kernel_choice.kept()[0].rounds < 40
    assert clock.now < 0.4


def test_a_lead_within_noise_is_measured_on_in_the_next_process_and_all_rounds_decide(monkeypatch, forget):
    """The first process is disturbed and takes the wrong one; with every further one the truth weighs more."""

    def alternating(times):
        calls = []

        def search(searched):
            calls.append(searched)
            return 0.01 * times * (0.9 if len(calls) % 2 else 1.1)

        return search

    chosen, rounds = [], []
    for times in (0.95, 1.2, 1.2, 1.2):
        clock = Clock(monkeypatch, {SGEMM: alternating(times), BYTES: 0.01})
        chosen.append(kernel_choice.choose((700, 12), lambda made=clock.searches: made).kernel)
        rounds.append(kernel_choice.kept()[0].rounds)
        assert kernel_choice.choose((700, 12), None).kernel == chosen[-1]  # once a process
        forget()
    assert (chosen[0], chosen[-1]) == (SGEMM, BYTES)
    assert sorted({*rounds}) == rounds
    assert clock.now < 0.3


def test_rounds_that_stay_in_doubt_come_to_an_end(monkeypatch, forget):
    for _ in range(kernel_choice._ENOUGH // kernel_choice._ROUNDS[0]):
        calls = []
        clock = Clock(
            monkeypatch,
            {
                SGEMM: lambda _, calls=calls: calls.append(0) or 0.01 * (0.8 if len(calls) % 2 else 1.2),
                BYTES: 0.01,
            },
        )
        kernel_choice.choose((700, 12), lambda made=clock.searches: made)
        forget()
    assert kernel_choice.kept()[0].doubtful == ()
    kernel_choice.choose((700, 12), None)


@pytest.mark.parametrize("part", ["_machine", "_versions"])
def test_it_is_measured_again_on_another_machine_or_version(monkeypatch, forget, part):
    clock = Clock(monkeypatch, {SGEMM: 0.003, BYTES: 0.001})
    assert kernel_choice.choose((700, 12), lambda: clock.searches).kernel == BYTES
    forget()
    monkeypatch.setattr(kernel_choice, part, lambda: "another")
    clock = Clock(monkeypatch, {SGEMM: 0.001, BYTES: 0.003})
    assert kernel_choice.choose((700, 12), lambda: clock.searches).kernel == SGEMM
    assert len(kernel_choice.kept()) == 1


def test_another_shape_is_measured_apart(monkeypatch, forget):
    for shape, times in (((700, 12), 2.0), ((700, 13), 0.5)):
        clock = Clock(monkeypatch, {SGEMM: 0.001 * times, BYTES: 0.001})
        assert (kernel_choice.choose(shape, lambda made=clock.searches: made).kernel == BYTES) == (times > 1)
    assert [each.shape for each in kernel_choice.kept()] == [(700, 12), (700, 13)]


ROW = (
    '{"measured": [{"machine": "m", "versions": "v", "shape": %s, "seconds": {"sgemm": %s, %s}, "ratio": 2, '
    '"rounds": 5}]}'
)
DAMAGED = {
    "empty": "",
    "torn": "{",
    "a list": "[]",
    "an empty row": '{"measured": [{}]}',
    "a number": '{"measured": 3}',
    "half a row": '{"measured": [{"shape": 1}]}',
    "deep": "[" * 200_000,
    "an infinite shape": ROW % ("[Infinity, 12]", "1", '"onnxruntime-int8": 1'),
    "not a number": ROW % ("[700, 12]", "NaN", '"onnxruntime-int8": 1'),
    "a kernel too few": ROW % ("[700, 12]", "1", '"other": 1'),
    "long": " " * 2**21 + '{"measured": []}',
    "no text": "\udcff",
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_what_is_kept_and_damaged_is_measured_again(monkeypatch, forget, text):
    kernel_choice._path().parent.mkdir(parents=True, exist_ok=True)
    kernel_choice._path().write_text(text, "utf-8", "surrogateescape")
    assert kernel_choice.kept() == []
    clock = Clock(monkeypatch, {SGEMM: 0.003, BYTES: 0.001})
    assert kernel_choice.choose((700, 12), lambda: clock.searches).kernel == BYTES
    assert len(kernel_choice.kept()) == 1


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(monkeypatch, forget, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PUBLIUS_HOME", str(tmp_path / "file"))
    clock = Clock(monkeypatch, {SGEMM: 0.003, BYTES: 0.001})
    assert kernel_choice.choose((700, 12), lambda: clock.searches).kernel == BYTES
    assert kernel_choice.choose((700, 12), None).kernel == BYTES


def test_whole_searches_of_a_sample_are_measured(use, monkeypatch, forget):
    """In NumPy the products are slow: that is found out, from searches whose answers agree."""
    use()
    monkeypatch.setattr("publius.embeddings.nearest._SAMPLE", 1600)
    vectors, _ = words_and_points(600, 8, 1)
    search = NearestWords(vectors)
    trials = search._trials()
    assert trials[SGEMM]() == trials[BYTES]() >= POINTS
    assert search.kernel.kernel == SGEMM


def test_a_large_search_uses_what_was_chosen(use, monkeypatch, forget):
    made = use()
    monkeypatch.setattr(kernel_choice, "choose", lambda *arguments: kernel_choice.Choice(BYTES, "told"))
    vectors, points = words_and_points(600, 5, 300)
    expected = NearestWords(vectors, SGEMM).nearest(points)
    np.testing.assert_array_equal(NearestWords(vectors).nearest(points), expected)
    assert not made, "a small search does not ask which kernel is the faster"
    monkeypatch.setattr("publius.embeddings.nearest._WORTH", 2.0 * 600 * 5 * 300)
    search = NearestWords(vectors)
    np.testing.assert_array_equal(search.nearest(points), expected)
    assert not made
    np.testing.assert_array_equal(search.nearest(points), expected)
    assert made, "many small searches do"


def test_five_rounds_that_a_neighbor_moved_alike_decide_nothing():
    """Seen beside seven others: 0.95 in five rounds, where 1.16 was true; it was kept for good."""
    assert not kernel_choice._decided([0.95] * 5)
    assert not kernel_choice._decided([1.12] * 5)
    assert kernel_choice._decided([0.95] * 12)
    assert kernel_choice._decided([0.85] * 5)
    assert kernel_choice._decided([1.25] * 5)
