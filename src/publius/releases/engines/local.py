"""Pieces by processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from publius.files.pool import mapped
from publius.files.progress import advance

Work = Callable[[Any, Path], None]
"""Makes one private piece of a batch, in one step; picklable."""


def make_pieces(
    work: Work, batches: Iterable[tuple[Any, Path]], *, workers: int | None, meanwhile: Callable[[], object] = bool,
    total: int = 0,
) -> None:  # fmt: skip
    """``work(batch, path)`` for every batch whose piece is not there yet; ``total``: documents, for whoever waits."""
    done = 0
    for rows in mapped(_make, work, batches, workers=workers, meanwhile=meanwhile):
        done += rows
        advance(done, total)


def _make(work: Work, given: tuple[Any, Path]) -> int:
    work(*given)
    (batch, _), _ = given
    return len(batch)
