"""What is asked of an evaluation, each option once: of `publius evaluate` and of Python."""

from __future__ import annotations

from dataclasses import dataclass

from publius.errors import UsageError
from publius.settings import UnknownPolicy, Words


@dataclass(frozen=True, kw_only=True)
class Tried(Words):
    """What replaces the words, and how texts are read for it."""

    mechanism: str = "laplace"
    """Kernels, as laplace,exponential."""
    unknown: UnknownPolicy | None = None  # type: ignore[assignment]
    """unk, drop, reject, keep (the paper's). Default: unk."""
    length: str | int | None = None
    """Words per bag, or shortest. Default: 40."""
    draws: int = 1
    """Draws of noise in each setting."""
    seed: int = 0
    """Of the noise, as in any experiment."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits that make a verdict: exit code 0 PASS, 1 FAIL, 3 INCONCLUSIVE."""

    identified_at_most: float | None = None
    """Share of texts whose author is named."""
    advantage_at_most: float | None = None
    """Share beyond the baseline."""
    topic_at_least: float | None = None
    """Share of texts whose topic is told."""
    tries: int = 0
    """Settings tried on these texts before."""

    def __post_init__(self) -> None:
        for name, share in self.given.items():
            if not 0 <= share <= 1:
                raise UsageError(f"--{name.replace('_', '-')} is a share from 0 to 1, not {share:g}.")
        if self.tries < 0:
            raise UsageError(f"--tries is a number from 0, not {self.tries}.")

    @property
    def given(self) -> dict[str, float]:
        """Those that are set."""
        return {name: share for name, share in vars(self).items() if name != "tries" and share is not None}
