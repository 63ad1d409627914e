"""A quick check of what a release stands on: a few seconds, and no document.

Each check computes something twice in ways that have nothing in common, or compares with a number known beforehand.
`publius audit` is the thorough one. A check of randomness raises a false alarm once in some 10^9 runs.
"""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, final

import numpy as np

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.cli.familiarity import intact
from publius.distances import earth_movers_distance
from publius.errors import BudgetError, PubliusError, StorageError
from publius.mechanisms.kernels.exponential import Exponential
from publius.noise.laplace import EuclideanLaplace
from publius.noise.randomness import KEY_BYTES, RunKey, entropy, seeded_rng, system_rng
from publius.privacy.ledger import Charge, Ledger
from publius.text.bag import Bag
from publius.vectors.catalogue import (
    DEFAULT,
    PACKAGED,
    converted_folder,
    package_installed,
    store_root,
    stored_names,
)
from publius.vectors.embeddings import Embeddings
from publius.vectors.kernel_choice import Choice
from publius.vectors.learning.reference import Reference, stored_reference_names
from publius.vectors.nearest import NearestWords

KEYSTREAM: Final = "56efb2226e58591a"
"""The first eight bytes under seed 0; a test makes them with another implementation of ChaCha20."""
BITS: Final = "3543044fb389f878"
"""The same of the bits of documents; a test makes them with another implementation of SHAKE-256."""
_DRAWS: Final = 20_000
_SURE: Final = 6.5  # standard deviations: a false alarm in some 10^10 runs
_POINTS: Final = 64
_DIMENSION: Final = 50


@final
@dataclass(frozen=True)
class CheckOutcome:
    """The outcome of one check.

    Attributes:
        name: what was checked.
        passed: whether it is as it must be.
        detail: what was found, and the way out when it did not pass.
        exit_code: of the command when it did not pass.

    """

    name: str
    passed: bool
    detail: str
    exit_code: int = PubliusError.exit_code


def self_check(asked: str | None = None) -> Iterator[CheckOutcome]:
    """Every check, one after the other, the reference that is ``asked`` for last.

    An error inside a check is that check's failure.
    """
    for name, check in CHECKS.items():
        yield _outcome(name, check)
    for name in _vocabularies():
        yield _outcome(f"vectors {name}", partial(vectors, name))
    for name in stored_reference_names():
        if name != asked:
            yield _outcome(f"reference {name}", partial(reference, name))
    if asked is not None:
        yield _outcome(f"reference {asked}", partial(reference, asked))


def _outcome(name: str, check: Callable[[], str]) -> CheckOutcome:
    try:
        return CheckOutcome(name, True, check())
    except PubliusError as error:
        return CheckOutcome(name, False, str(error), error.exit_code)
    except Exception as error:  # whatever breaks is what this command is there to find
        return CheckOutcome(name, False, f"{type(error).__name__}: the check itself broke")


def random_source() -> str:
    """The operating system's randomness: two draws differ, and their bits are balanced."""
    first, second = entropy(4096), entropy(4096)
    ones = sum(byte.bit_count() for byte in first + second)
    deviation = abs(ones - 32768) / math.sqrt(65536 / 4)
    if first == second or deviation > _SURE:
        raise PubliusError(f"entropy is not random: bits are off by {deviation:.1f} standard deviations")
    return f"{KEY_BYTES}-byte keys; bits of 8 KiB balanced to {deviation:.1f} standard deviations"


def generator() -> str:
    """ChaCha20 and SHAKE-256 give what independent implementations give for the same key."""
    found = seeded_rng(0).integers(0, 2**64, 1, np.uint64, endpoint=False).tobytes().hex()
    if found != KEYSTREAM:
        raise PubliusError("the generator is not ChaCha20 as it must be: install randomgen again")
    if RunKey.seeded(0).bits([""], 8)[0].hex() != BITS:
        raise PubliusError("SHAKE-256 does not give what it must: this Python's hashlib is broken")
    if system_rng().random(4).tolist() == system_rng().random(4).tolist():
        raise PubliusError("two release generators gave the same numbers")
    return "known keystream, and fresh ones differ"


def noise() -> str:
    """The radius of fresh noise has the mean n, and its directions no preferred way, at epsilon 1."""
    n = 10
    drawn = EuclideanLaplace(n, 1.0).sample(system_rng(), _DRAWS)
    radii = np.linalg.norm(drawn, axis=1)
    radius = abs(float(radii.mean()) - n) * math.sqrt(_DRAWS / n)
    spread = abs(float(radii.var()) - n) / math.sqrt((2 * n * n + 6 * n) / _DRAWS)
    way = float(np.abs((drawn / radii[:, None]).mean(axis=0)).max()) * math.sqrt(_DRAWS * n)
    if (worst := max(radius, spread, way)) > _SURE:
        raise PubliusError(f"the noise does not have its law: off by {worst:.1f} standard deviations")
    return f"{_DRAWS:,} draws, worst of radius, spread and direction {worst:.1f} standard deviations"


def nearest_word() -> str:
    """The fast search finds what plain float64 differences find, near and far."""
    rng = seeded_rng(1)
    words = rng.standard_normal((5000, _DIMENSION)).astype(np.float32)
    scales = np.repeat([0.01, 1.0, 100.0, 1e4], _POINTS // 4)[:, None]
    points = words[rng.integers(0, len(words), _POINTS)] + scales * rng.standard_normal((_POINTS, _DIMENSION))
    chosen = search_kernel()
    found = NearestWords(words, chosen.kernel).nearest(points)
    wrong = int((found != _nearest_plainly(words, points)).sum())
    if wrong:
        raise PubliusError(f"the nearest-word search is wrong for {wrong} of {_POINTS} points")
    return f"{_POINTS} points among {len(words):,} words, none differs from float64; with {chosen.kernel}"


def search_kernel() -> Choice:
    """The matrix product of the search among the default vectors, made ones where they are not, and why it is that."""
    vectors: FloatArray = seeded_rng(1).standard_normal((5000, _DIMENSION)).astype(np.float32)
    if package_installed():
        with contextlib.suppress(PubliusError):  # another check says what is wrong with them
            vectors = Embeddings.load().vectors
    return NearestWords(vectors).kernel


def _nearest_plainly(words: FloatArray, points: Float64Array) -> IndexArray:
    exact = words.astype(np.float64)
    return np.array([int(np.square(exact - point).sum(axis=1).argmin()) for point in points])


def certificate() -> str:
    """The certified constant of a small vocabulary is what all pairs and outputs give one by one."""
    embeddings = _small_vocabulary()
    mechanism = Exponential(embeddings, scale=1.5, threads=1)
    points = embeddings.vectors.astype(np.float64)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    rows = -1.5 * distances - np.log(np.exp(-1.5 * distances).sum(axis=1, keepdims=True))
    apart = distances > 0
    ratios = (rows[:, None, :] - rows[None, :, :]).max(axis=2)
    largest = float((ratios[apart] / distances[apart]).max())
    if not largest <= mechanism.epsilon * (1 + 1e-12) or mechanism.epsilon > largest * (1 + 1e-9):
        raise PubliusError(f"certified {mechanism.epsilon:.12g}, and one by one it is {largest:.12g}")
    return f"epsilon {mechanism.epsilon:.6f} for {embeddings.size} words, as one by one"


def transport() -> str:
    """Earth Mover's distance on a line is the mean gap of the sorted values."""
    rng = seeded_rng(2)
    x, y = rng.standard_normal(40), rng.standard_normal(40)
    words = [f"word{number}" for number in range(80)]
    line = np.column_stack([np.concatenate([x, y]).astype(np.float32), np.zeros(80, np.float32)])
    embeddings = Embeddings.from_arrays(words, line)  # two dimensions, so that the general solver is asked
    found = earth_movers_distance(Bag(words[:40]), Bag(words[40:]), embeddings)
    known = float(np.abs(np.sort(line[:40, 0].astype(float)) - np.sort(line[40:, 0].astype(float))).mean())
    if abs(found - known) > 1e-9:
        raise PubliusError(f"Earth Mover's distance {found:.12g}, and on a line it is {known:.12g}")
    return f"40 against 40 words, off by {abs(found - known):.1g}"


def budget() -> str:
    """A ledger in a temporary folder spends what it has and refuses the rest."""
    with tempfile.TemporaryDirectory(prefix="publius-doctor-") as folder:
        ledger = Ledger.create(Path(folder, "budget"), budget=10)
        ledger.spend([Charge("document", 6)])
        try:
            ledger.spend([Charge("document", 6)])
        except BudgetError:
            return "spent 6 of 10 and refused 6 more"
    raise PubliusError("a ledger let a budget be overspent")


def store() -> str:
    """The folder where vectors and certificates are kept can be written."""
    root = store_root()
    there = next(folder for folder in (root, *root.parents) if folder.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise StorageError(f"{root} cannot be written: set PUBLIUS_HOME to a folder of yours")
    return str(root)


def vectors(name: str) -> str:
    """The digest of the vectors called ``name``, from every byte of them."""
    found = Embeddings.load(name)
    found.verify()
    return f"{found.size:,} words, {found.dimension} dimensions, sha256 {found.sha256[:16]}"


def reference(name: str) -> str:
    """Every byte of the reference called ``name``, and that it keeps its bound."""
    return intact(Reference.load(name))


def _vocabularies() -> Iterator[str]:
    if package_installed():
        yield from (name for name in PACKAGED if name == DEFAULT or converted_folder(name).exists())
    yield from stored_names()


def _small_vocabulary() -> Embeddings:
    points = seeded_rng(3).standard_normal((40, 5))
    return Embeddings.from_arrays([f"word{number}" for number in range(40)], points, name="doctor")


CHECKS: Final[Mapping[str, Callable[[], str]]] = MappingProxyType(
    {
        "entropy": random_source,
        "generator": generator,
        "noise": noise,
        "nearest word": nearest_word,
        "certificate": certificate,
        "transport": transport,
        "ledger": budget,
        "store": store,
    }
)
