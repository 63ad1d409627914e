"""A quick check of what a release finds on this machine: randomness, and what compiled libraries compute. No document."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np

from publius.distances.earth_mover import earth_movers_distance
from publius.embeddings.embeddings import Embeddings
from publius.embeddings.nearest import NearestWords
from publius.errors import PubliusError
from publius.noise.randomness import KEY_BYTES, RunKey, entropy, seeded_rng, system_rng
from publius.text.bag import Bag

# The first eight bytes under seed 0 of the generator and of the bits of documents; a test compares them with other
# implementations of ChaCha20 and of SHAKE-256.
KEYSTREAM: Final = "56efb2226e58591a"
BITS: Final = "3543044fb389f878"
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


def _nearest_word() -> str:
    rng = seeded_rng(1)
    words = rng.standard_normal((5000, 50)).astype(np.float32)
    noise = np.repeat([0.01, 1.0, 100.0, 1e4], 16)[:, None] * rng.standard_normal((64, 50))
    points = words[rng.integers(0, 5000, 64)] + noise
    exact = words.astype(np.float64)
    plainly = [int(np.square(exact - point).sum(axis=1).argmin()) for point in points]
    wrong = int((NearestWords(words).nearest(points) != plainly).sum())
    if wrong:
        raise PubliusError(f"the nearest-word search is wrong for {wrong} of 64 points")
    return "64 points among 5,000 words, none differs from float64"


def _transport() -> str:
    rng = seeded_rng(2)
    words = [f"word{number}" for number in range(80)]
    line = np.column_stack([rng.standard_normal(80).astype(np.float32), np.zeros(80, np.float32)])
    embeddings = Embeddings.from_arrays(words, line, name="check")  # two dimensions: the general solver is asked
    found = earth_movers_distance(Bag(words[:40]), Bag(words[40:]), embeddings)
    known = float(np.abs(np.sort(line[:40, 0].astype(float)) - np.sort(line[40:, 0].astype(float))).mean())
    if abs(found - known) > 1e-9:
        raise PubliusError(f"Earth Mover's distance {found:.12g}, and on a line it is {known:.12g}")
    return f"40 against 40 words, off by {abs(found - known):.1g}"


CHECKS: Final[dict[str, Callable[[], str]]] = {
    "entropy": _entropy, "generator": _generator, "nearest word": _nearest_word, "transport": _transport,
}  # fmt: skip
