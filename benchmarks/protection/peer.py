"""The word mechanisms of mldp-text as mechanisms from outside: ``--mechanism python:benchmarks.protection.peer:...``.

The package needs another numpy, so it runs in an environment of its own (MLDP_PYTHON names its interpreter) and
exchanges words with this process. What it promises is not stated, for what it computes is not always what its papers
prove (docs/peers.md): the evidence is "none". Its words are drawn with seeds from the run's noise, so that a run can be
made again.
"""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from publius.mechanisms.kernel import Kernel
from publius.privacy.guarantee import Guarantee


class Peer:
    """The process in which mldp-text runs; ``facts`` are its version and the file of its vectors."""

    def __init__(self, python: str) -> None:
        script = Path(__file__).with_name("peer_words.py")
        self._process = subprocess.Popen(
            [python, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.facts = self._answer()

    def replaced(self, **asked: Any) -> list[str]:
        """The words that come out."""
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(
                "the environment of mldp-text ended: see its error with `python peer_words.py`"
            )
        return json.loads(line)


@cache
def peer() -> Peer:
    """The one process, started when it is first needed; it ends when its input does."""
    return Peer(os.environ["MLDP_PYTHON"])


class AbstractPeer(Kernel):
    """A mechanism of mldp-text with its approximate search, as its users get it."""

    metrics = ("euclidean",)
    evidence = "none"
    theirs: ClassVar[str]

    @property
    def guarantee(self) -> Guarantee:
        """None that we would state."""
        return Guarantee(self.epsilon, self.metric.name, "none")

    def noise(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """A seed a word."""
        return rng.integers(0, 2**32, (count, 1)).astype(np.float64)

    def apply(self, words: np.ndarray, noise: np.ndarray, *, threads: int = 1) -> np.ndarray:
        """Their words; one that our reading of their vectors lacks stays as it was."""
        vocabulary = self.embeddings.vocabulary
        seeds = noise[:, 0].astype(np.int64).tolist()
        given = [vocabulary[word] for word in words.tolist()]
        found = peer().replaced(mechanism=self.theirs, epsilon=self.epsilon, words=given, seeds=seeds)
        indices = [self.embeddings.index(word) for word in found]
        pairs = zip(indices, words.tolist(), strict=True)
        return np.array([old if new is None else new for new, old in pairs], np.int64)


class Calibrated(AbstractPeer):
    """Multivariate calibrated noise (the paper's Laplace)."""

    name, theirs = "mldp-text-calibrated", "multivariate_calibrated"


class Vickrey(AbstractPeer):
    """The second nearest word to the noisy vector."""

    name, theirs = "mldp-text-vickrey", "vickrey"


class Elliptic(AbstractPeer):
    """Noise shaped by the covariance of the vectors."""

    name, theirs = "mldp-text-mahalanobis", "mahalanobis"


class Truncated(AbstractPeer):
    """The truncated exponential mechanism."""

    name, theirs = "mldp-text-tem", "tem"


THEIRS = {kind.__name__: kind for kind in (Calibrated, Vickrey, Elliptic, Truncated)}
