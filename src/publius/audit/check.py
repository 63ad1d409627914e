"""A quick check of what a release stands on: a few seconds, and no document.

Each check computes something twice in ways that have nothing in common, or compares with a number known beforehand. A
check of randomness raises a false alarm once in some 10^10 runs.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from publius.classifiers.values import Values
from publius.distances import earth_movers_distance
from publius.embeddings.embeddings import Embeddings
from publius.embeddings.nearest import NearestWords
from publius.errors import BudgetError, PubliusError
from publius.mechanisms.kernels.exponential import Exponential
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.noise.laplace import EuclideanLaplace
from publius.noise.randomness import KEY_BYTES, RunKey, entropy, seeded_rng, system_rng
from publius.privacy.ledger import Ledger
from publius.text.bag import Bag

KEYSTREAM: Final = "56efb2226e58591a"
"""The first eight bytes under seed 0; a test makes them with another implementation of ChaCha20."""
BITS: Final = "3543044fb389f878"
"""The same of the bits of documents; a test makes them with another implementation of SHAKE-256."""
_DRAWS: Final = 20_000
_SURE: Final = 6.5  # standard deviations: a false alarm in some 10^10 runs


class Check(NamedTuple):
    """The outcome of one check: its name, whether it passed, and what was found."""

    name: str
    passed: bool
    found: str


def checks() -> Iterator[Check]:
    """Every check, one after the other; an error inside a check is that check's failure."""
    for name, check in CHECKS.items():
        try:
            yield Check(name, True, check())
        except PubliusError as error:
            yield Check(name, False, str(error))
        except Exception as error:  # whatever breaks is what this command is there to find
            yield Check(name, False, f"{type(error).__name__}: the check itself broke")


def _entropy() -> str:
    first, second = entropy(4096), entropy(4096)
    ones = sum(byte.bit_count() for byte in first + second)
    deviation = abs(ones - 32768) / math.sqrt(65536 / 4)
    if first == second or deviation > _SURE:
        raise PubliusError(f"entropy is not random: bits are off by {deviation:.1f} standard deviations")
    return f"{KEY_BYTES}-byte keys; bits of 8 KiB balanced to {deviation:.1f} standard deviations"


def _generator() -> str:
    found = seeded_rng(0).integers(0, 2**64, 1, np.uint64, endpoint=False).tobytes().hex()
    if found != KEYSTREAM:
        raise PubliusError("the generator is not ChaCha20 as it must be: install randomgen again")
    if RunKey.seeded(0).bits([""], 8)[0].hex() != BITS:
        raise PubliusError("SHAKE-256 does not give what it must: this Python's hashlib is broken")
    if system_rng().random(4).tolist() == system_rng().random(4).tolist():
        raise PubliusError("two release generators gave the same numbers")
    return "known keystream, and fresh ones differ"


def _noise() -> str:
    n = 10
    drawn = EuclideanLaplace(n, 1.0).sample(system_rng(), _DRAWS)
    radii = np.linalg.norm(drawn, axis=1)
    radius = abs(float(radii.mean()) - n) * math.sqrt(_DRAWS / n)
    spread = abs(float(radii.var()) - n) / math.sqrt((2 * n * n + 6 * n) / _DRAWS)
    way = float(np.abs((drawn / radii[:, None]).mean(axis=0)).max()) * math.sqrt(_DRAWS * n)
    if (worst := max(radius, spread, way)) > _SURE:
        raise PubliusError(f"the noise does not have its law: off by {worst:.1f} standard deviations")
    return f"{_DRAWS:,} draws, worst of radius, spread and direction {worst:.1f} standard deviations"


def _nearest_word() -> str:
    rng = seeded_rng(1)
    words = rng.standard_normal((5000, 50)).astype(np.float32)
    points = words[rng.integers(0, 5000, 64)] + np.repeat([0.01, 1.0, 100.0, 1e4], 16)[:, None] * rng.standard_normal(
        (64, 50)
    )
    exact = words.astype(np.float64)
    plainly = [int(np.square(exact - point).sum(axis=1).argmin()) for point in points]
    wrong = int((NearestWords(words).nearest(points) != plainly).sum())
    if wrong:
        raise PubliusError(f"the nearest-word search is wrong for {wrong} of 64 points")
    return "64 points among 5,000 words, none differs from float64"


def _certificate() -> str:
    embeddings = Embeddings.from_arrays(
        [f"word{n}" for n in range(40)], seeded_rng(3).standard_normal((40, 5)), name="check"
    )
    mechanism = Exponential(embeddings, epsilon=2.0)
    points = embeddings.vectors.astype(np.float64)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    logs = mechanism.log_probabilities()
    apart = distances > 0
    largest = float((np.abs(logs[:, None] - logs[None]).max(axis=2)[apart] / distances[apart]).max())
    if not largest <= mechanism.guarantee.per_unit * (1 + 1e-12):
        raise PubliusError(f"certified {mechanism.guarantee.per_unit:.12g}, and one by one it is {largest:.12g}")
    return f"epsilon {mechanism.guarantee.per_unit:.6f} for 40 words, {largest:.6f} one by one"


def _transport() -> str:
    rng = seeded_rng(2)
    words = [f"word{number}" for number in range(80)]
    line = np.column_stack([rng.standard_normal(80).astype(np.float32), np.zeros(80, np.float32)])
    embeddings = Embeddings.from_arrays(
        words, line, name="check"
    )  # two dimensions, so that the general solver is asked
    found = earth_movers_distance(Bag(words[:40]), Bag(words[40:]), embeddings)
    known = float(np.abs(np.sort(line[:40, 0].astype(float)) - np.sort(line[40:, 0].astype(float))).mean())
    if abs(found - known) > 1e-9:
        raise PubliusError(f"Earth Mover's distance {found:.12g}, and on a line it is {known:.12g}")
    return f"40 against 40 words, off by {abs(found - known):.1g}"


def _labels() -> str:
    mechanism = RandomizedResponse(Values(["a", "b"]), epsilon=1.0)
    drawn = mechanism.protect(["a"] * _DRAWS, range(_DRAWS), RunKey.fresh())
    kept = sum(outcome.label == "a" for outcome in drawn.outcomes) / _DRAWS
    expected = math.e / (math.e + 2)
    off = abs(kept - expected) / math.sqrt(expected * (1 - expected) / _DRAWS)
    if off > _SURE:
        raise PubliusError(f"randomized response keeps {kept:.4f} of labels where its law says {expected:.4f}")
    return f"{_DRAWS:,} labels at epsilon 1: kept {kept:.4f}, law {expected:.4f}"


def _ledger() -> str:
    with tempfile.TemporaryDirectory(prefix="publius-check-") as folder:
        ledger = Ledger.create(Path(folder, "budget"), budget=10)
        ledger.spend({"author": 6})
        try:
            ledger.spend({"author": 6})
        except BudgetError:
            return "spent 6 of 10 and refused 6 more"
    raise PubliusError("a ledger let a budget be overspent")


CHECKS: Final[dict[str, Callable[[], str]]] = {
    "entropy": _entropy, "generator": _generator, "noise": _noise, "nearest word": _nearest_word,
    "certificate": _certificate, "transport": _transport, "labels": _labels, "ledger": _ledger,
}  # fmt: skip
