"""What is promised: the guarantee as a record, and the one source of the promise in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, final

from publius.errors import UsageError

Evidence = Literal["proven", "certified", "none"]


@final
@dataclass(frozen=True)
class Guarantee:
    """epsilon*d-privacy of one word, or of a bag of ``size`` words by the lifting theorem (theory.md section 2).

    Attributes:
        epsilon: per unit of word distance.
        metric: name of d.
        evidence: "proven" by a theorem, "certified" by exact computation on the vocabulary, or "none".
        delta: probability by which the bound can be exceeded, per word, for word distances up to 10/epsilon.
        size: N, the public number of words of the bag; None for a single word.

    """

    epsilon: float
    metric: str
    evidence: Evidence
    delta: float = 0.0
    size: int | None = None

    def lifted(self, size: int) -> Guarantee:
        """The guarantee of a bag of ``size`` independent words: (epsilon*N)*E_d (the lifting theorem)."""
        if size < 1:
            raise UsageError(f"a bag needs at least one word, not {size}")
        return replace(self, size=size, delta=min(1.0, self.delta * size))

    @property
    def epsilon_total(self) -> float:
        """epsilon*N: nats per unit of Earth Mover's distance."""
        return self.epsilon * (self.size or 1)


def promise(guarantee: Guarantee, *, private: bool) -> str:
    """The promise of a release in words: for the manifest, the summary, every report and page."""
    if not private:
        return (
            "NOT PRIVATE. This is the output of an experiment: it promises nothing about the documents it was "
            "made from and must not be released."
        )
    n, total = guarantee.size or 1, guarantee.epsilon_total
    return (
        f"Take any two documents of {n} words whose Earth Mover's distance ({guarantee.metric}, on the public word "
        f"vectors) is E. Whatever is seen in this release is at most exp({total:g} * E) times as probable under "
        f"one as under the other ({guarantee.evidence} for epsilon = {guarantee.epsilon:g} a word, N = {n}), but for "
        f"a probability of {guarantee.delta:.1e} in documents whose words lie within 10/epsilon of each other. "
        "Documents that mean nearly the same are hard to tell apart; documents far apart are not: for those the "
        "exponent is easily thousands of nats and then bounds nothing in practice. The topic is not hidden. Each "
        "further release of a document adds its exponent to this one's."
    )
