"""Which matrix product the search works with: the one whose whole searches take less processor time here.

What is measured: the search of a sample of the very vectors, with each product in rounds that alternate, by the time of
the thread that searches. A busy neighbor takes from the clock on the wall and from all rounds alike, so he does not
change the answer. What was found is kept for this machine, these versions and this shape in the user's folder, with its
figures, and found again when one of them is another. Where the lead was within noise the next process measures some
rounds more, and all rounds together decide.
"""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal, final, get_args

import numpy as np

from publius.errors import StorageError
from publius.files import read_bytes_limited
from publius.files.writing import write_file
from publius.embeddings import cuda_products
from publius.embeddings.byte_products import unusable
from publius.embeddings.catalogue import store_root

Kernel = Literal["sgemm", "onnxruntime-int8", "cupy-sgemm"]

SGEMM: Final[Kernel] = "sgemm"
BYTES: Final[Kernel] = "onnxruntime-int8"
DEVICE: Final[Kernel] = "cupy-sgemm"
KERNELS: Final[tuple[Kernel, ...]] = get_args(Kernel)
"""All; each can be asked for by its name."""
ON_PROCESSOR: Final[tuple[Kernel, ...]] = (SGEMM, BYTES)

_PAYS: Final = 1.03
"""A gain of less is not worth the memory."""
_ROUNDS: Final = (5, 40)
_ROUNDS_OF_DEVICE: Final = 3
_SECONDS: Final = 0.06
_FEW: Final = 12  # rounds that a neighbor may all have moved alike: seen at 0.95, where 1.16 was true
_MOVED, _MOVED_FEW = 1.07, 1.16
_UNDECIDED_SECONDS: Final = 0.15  # where busy neighbors make rounds differ
_ENOUGH: Final = 100  # rounds of all processes, after which a lead is what it is
_KEPT: Final = 64
_LARGEST: Final = 2**20  # bytes


@final
@dataclass(frozen=True)
class Choice:
    """The product that the search works with, and why."""

    kernel: Kernel
    reason: str


@final
@dataclass(frozen=True)
class Measured:
    """The measurements of one shape.

    Attributes:
        machine: which processor, in words, and a digest of what it can do.
        versions: of the libraries that multiply.
        shape: words and dimensions.
        seconds: of processor time that a point of the sample took, by kernel: the median of the rounds.
        ratio: how many times as fast as sgemm 8-bit products were: the median over the pairs of rounds.
        rounds: how many.
        doubtful: the ratio of each, where they do not say the same and more of them are wanted; else none.

    """

    machine: str
    versions: str
    shape: tuple[int, int]
    seconds: dict[str, float]
    ratio: float
    rounds: int
    doubtful: tuple[float, ...] = ()

    def choice(self) -> Choice:
        """The kernel that follows from it."""
        times = (
            f"{self.ratio:.2f} times as fast as with sgemm ({self.rounds} rounds of processor time in turn)"
        )
        if self.ratio < _PAYS:
            return Choice(SGEMM, f"searches with 8-bit products are {times}, too little to pay")
        return Choice(BYTES, f"8-bit products are right at this shape, and searches with them are {times}")


def usable_kernels() -> tuple[Kernel, ...]:
    """Those whose library is here."""
    why = {SGEMM: None, BYTES: unusable(1), DEVICE: cuda_products.unusable()}
    return tuple(each for each in KERNELS if why[each] is None)


def choose(shape: tuple[int, int], searches: Callable[[], dict[Kernel, Callable[[], int]]]) -> Choice:
    """The faster kernel for a vocabulary of this shape: what was found before, or what is measured now.

    ``searches`` makes what is timed: for each kernel a search of one thread that says how many points it took.
    """
    machine, versions = _machine(), _versions()
    known = _known(_found, shape, machine, versions)
    if known is None:
        known = _known(kept(), shape, machine, versions)
        if known is None or known.doubtful:
            before = () if known is None else known.doubtful
            known = _measure(shape, machine, versions, searches(), before)
            _keep(known)
    return known.choice()


def choose_device(processor: Choice, device: Callable[[], float], others: Callable[[], float]) -> Choice:
    """The device where it finds more words in a second than all processors together would, else ``processor``.

    Both say how many products of two numbers they worked off. The device is timed by the clock on the wall, as it has
    no other; a processor by the time of its thread, so that a busy neighbor does not speak for the device.
    """
    from statistics import median

    speeds: dict[str, list[float]] = {"device": [], "processor": []}
    device(), others()  # the first makes what it needs
    for _ in range(_ROUNDS_OF_DEVICE):
        start = time.perf_counter()
        speeds["device"].append(device() / max(time.perf_counter() - start, 1e-12))
        began = time.thread_time()
        speeds["processor"].append(others() / max(time.thread_time() - began, 1e-12))
    ratio = median(speeds["device"]) / (median(speeds["processor"]) * (cores := _cores()))
    times = f"{ratio:.2f} times as fast as those of {cores} processors with {processor.kernel}"
    if ratio < _PAYS:
        return Choice(processor.kernel, f"{processor.reason}; searches on the CUDA device are only {times}")
    return Choice(
        DEVICE, f"the CUDA device's products are right at this shape, and searches with them are {times}"
    )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def kept() -> list[Measured]:
    """Measurements of this and other machines with this folder; what cannot be read is not there."""
    try:
        rows = json.loads(read_bytes_limited(_path(), _LARGEST).decode())["measured"][-_KEPT:]
        return [_read(each) for each in rows]
    except Exception:  # whatever somebody wrote there, it is no more than a time that is measured again
        return []


def here() -> list[Measured]:
    """Of these what holds still: the same machine, the same versions."""
    return [each for each in kept() if each.machine == _machine() and each.versions == _versions()]


def _known(measured: list[Measured], shape: tuple[int, int], machine: str, versions: str) -> Measured | None:
    for each in measured:
        if (each.shape, each.machine, each.versions) == (shape, machine, versions):
            return each
    return None


_found: list[Measured] = []
"""In this process, which may have no folder to keep it in."""


def _measure(
    shape: tuple[int, int],
    machine: str,
    versions: str,
    searches: dict[Kernel, Callable[[], int]],
    before: tuple[float, ...],
) -> Measured:
    """More rounds, which decide together with those ``before``, of other processes."""
    from statistics import median

    ratios: list[float] = []
    took: dict[Kernel, list[float]] = {kernel: [] for kernel in searches}
    for search in searches.values():
        search()  # the first makes what it needs
    began = time.thread_time()
    while (done := len(ratios)) < _ROUNDS[1]:
        spent = time.thread_time() - began
        enough = _SECONDS if done and _decided([*before, *ratios]) else _UNDECIDED_SECONDS
        if done >= _ROUNDS[0] and spent > enough:
            break
        for kernel, search in searches.items():
            start = time.thread_time()
            points = search()
            took[kernel].append((time.thread_time() - start) / points)
        ratios.append(took[SGEMM][-1] / max(took[BYTES][-1], 1e-12))
    together = [*before, *(round(each, 4) for each in ratios)]
    seconds: dict[str, float] = {kernel: float(f"{median(each):.3g}") for kernel, each in took.items()}
    certain = _decided(together) or len(together) >= _ENOUGH
    return Measured(
        machine, versions, shape, seconds, round(median(together), 3), len(together),
        () if certain else tuple(together),
    )  # fmt: skip


def _decided(ratios: list[float]) -> bool:
    """Whether the middle half of the rounds say the same, and by more than a busy neighbor moves them."""
    ordered, quarter = sorted(ratios), len(ratios) // 4
    moved = _MOVED if len(ratios) >= _FEW else _MOVED_FEW
    return ordered[quarter] > _PAYS * moved or ordered[-1 - quarter] < _PAYS / moved


def _keep(measured: Measured) -> None:
    _found[:] = [*(each for each in _found if each.shape != measured.shape), measured][-_KEPT:]
    with suppress(OSError, StorageError):  # a folder that cannot be written costs a measurement each time
        others = [each for each in kept() if each.shape != measured.shape]
        path = _path()
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        with write_file(path, 0o600, durable=False) as file:
            rows = [asdict(each) for each in [*others, measured][-_KEPT:]]
            file.write(json.dumps({"measured": rows}, indent=1).encode())


def _path() -> Path:
    return store_root().parent / "kernels.json"


def _read(row: dict[str, Any]) -> Measured:
    words, dimension = row["shape"]
    seconds: dict[str, float] = {kernel: float(row["seconds"][kernel]) for kernel in ON_PROCESSOR}
    if not all(0 <= each < math.inf for each in (*seconds.values(), float(row["ratio"]))):
        raise ValueError("a time that nobody measured")
    doubtful = tuple(float(each) for each in row.get("doubtful", ()))
    if not all(0 <= each < math.inf for each in doubtful):
        raise ValueError("a ratio that nobody measured")
    return Measured(
        str(row["machine"]), str(row["versions"]), (int(words), int(dimension)), seconds, float(row["ratio"]),
        int(row["rounds"]), doubtful,
    )  # fmt: skip


@lru_cache(maxsize=1)
def _machine() -> str:
    name, able = platform.processor() or platform.machine(), ""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                name = value.strip()
            if key.strip() in ("flags", "Features"):
                able = " ".join(sorted(value.split()))
                break
    digest = sha256(f"{platform.machine()} {able} {os.cpu_count()}".encode()).hexdigest()[:12]
    return f"{name} ({digest})"


@lru_cache(maxsize=1)
def _versions() -> str:
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    libraries = (
        ("onnxruntime", version("onnxruntime")),
        ("numpy", np.__version__),
        (blas["name"], blas["version"]),
    )
    return ", ".join(f"{name} {number}" for name, number in libraries)
