"""How much an audit does: sizes by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, final

from publius.errors import UsageError


@final
@dataclass(frozen=True)
class Level:
    """Sizes of one level; the goals of the full one are in docs/audit.md.

    Attributes:
        name: "quick", "full", or "tests" for the project's own tests.
        cells: least number of exact cells (b, b', c).
        configurations: worlds on which words are sampled.
        words: words in all, over the configurations.
        draws: noise vectors at each dimension.
        draws_in_line: the same for dimensions up to 10, where a draw says less about the scale.
        dimensions: of the noise law.
        ratio_words: words of the black-box ratio bounds.
        search_points: random points; a tenth as many near-ties.
        kernel_points: real points, and hard ones, on which the search's kernels are compared.
        streams: generators in processes and threads.
        spawn: whether processes are spawned too (slow to start).
        documents: documents for each law of the release path.
        document_cells: least number of exact cells of document mechanisms.
        document_draws: documents released for the comparison with the stated law.
        all_ways: whether neighboring worlds are compared in every engine and format.
        spends: of each process and thread that uses a ledger.
        own_points: points of the search and words a pair on the given vocabulary.
        timing_repeats: releases of each class of words.
        power_seeds: repetitions of each scale error.
        clean_runs: runs of a correct implementation that are watched for false alarms.
        processes: at once.

    """

    name: str
    cells: int
    configurations: int
    words: int
    draws: int
    draws_in_line: int
    dimensions: tuple[int, ...]
    ratio_words: int
    search_points: int
    kernel_points: int
    streams: int
    spawn: bool
    documents: int
    document_cells: int
    document_draws: int
    all_ways: bool
    spends: int
    own_points: int
    timing_repeats: int
    power_seeds: int
    clean_runs: int
    processes: int


DIMENSIONS: Final = (1, 2, 10, 50, 100, 300)

QUICK: Final = Level(
    name="quick",
    cells=10**9,
    configurations=40,
    words=8 * 10**6,
    draws=10**5,
    draws_in_line=10**5,
    dimensions=DIMENSIONS,
    ratio_words=12 * 10**6,
    search_points=10**4,
    kernel_points=2000,
    streams=1000,
    spawn=False,
    documents=3000,
    document_cells=2 * 10**6,
    document_draws=40_000,
    all_ways=False,
    spends=10,
    own_points=400,
    timing_repeats=60,
    power_seeds=0,
    clean_runs=0,
    processes=1,
)

FULL: Final = Level(
    name="full",
    cells=2 * 10**10,
    configurations=40,
    words=10**9,
    draws=10**6,
    draws_in_line=4 * 10**6,
    dimensions=DIMENSIONS,
    ratio_words=2 * 10**8,
    search_points=10**5,
    kernel_points=200_000,
    streams=10**4,
    spawn=True,
    documents=30_000,
    document_cells=2 * 10**7,
    document_draws=400_000,
    all_ways=True,
    spends=200,
    own_points=4000,
    timing_repeats=300,
    power_seeds=20,
    clean_runs=200,
    processes=2,
)

TESTS: Final = Level(
    name="tests",
    cells=10**7,
    configurations=10,
    words=10**6,
    draws=30_000,
    draws_in_line=30_000,
    dimensions=(1, 2, 10, 50),
    ratio_words=8 * 10**6,
    search_points=4000,
    kernel_points=400,
    streams=480,
    spawn=False,
    documents=1500,
    document_cells=2 * 10**5,
    document_draws=20_000,
    all_ways=False,
    spends=5,
    own_points=200,
    timing_repeats=20,
    power_seeds=2,
    clean_runs=2,
    processes=1,
)

LEVELS: Final[Mapping[str, Level]] = MappingProxyType({level.name: level for level in (QUICK, FULL)})


def level_named(name: str) -> Level:
    """The level called ``name``; `UsageError` when there is none."""
    if name not in LEVELS:
        raise UsageError(f"no level is called {name!r}: choose one of {', '.join(LEVELS)}")
    return LEVELS[name]
