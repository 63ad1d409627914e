"""What an audit consists of: independent pieces, each run, recorded and resumed on its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import final

from publius.checks.audit.documents import (
    check_document_draws,
    check_documents,
    check_own_texts,
    check_positions,
    check_what_leaves,
)
from publius.checks.audit.generators import check_entropy, check_key, check_sealed, check_streams
from publius.checks.audit.given_vocabulary import check_own, check_own_timing
from publius.checks.audit.hard_points import check_kernels, kernels
from publius.checks.audit.hostile_inputs import check_parquet, check_texts
from publius.checks.audit.implementation import GENUINE, Subject
from publius.checks.audit.ledgers import check_ledger
from publius.checks.audit.levels import Level
from publius.checks.audit.mutants.catalog import FAMILIES, check_mutants
from publius.checks.audit.noise_law import noise_law
from publius.checks.audit.observable import check_observable
from publius.checks.audit.outcomes import Findings
from publius.checks.audit.power import check_clean_runs, smallest_scale_error
from publius.checks.audit.release_path import check_entropy_failures, check_release_path
from publius.checks.audit.searches import check_batch, check_blind, check_search
from publius.checks.audit.theorem import check_theorem, lifted_worlds
from publius.checks.audit.toy_vocabularies import World, worlds
from publius.checks.audit.vectors import check_vectors
from publius.checks.audit.words import check_ratios, check_words
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import RunKey
from publius.vectors.nearest import NearestWords

_EPSILON = 2.5
_LINE = 10  # up to this dimension a draw says little about the scale
_CLEAN_RUNS_A_PIECE = 10


@final
@dataclass(frozen=True)
class Context:
    """What every piece is given.

    Attributes:
        subject: the implementation, with the mechanism that is audited on small vocabularies.
        own: that mechanism on the user's vocabulary, at the user's epsilon.
        level: sizes.
        key: the source of all samples.

    """

    subject: Subject
    own: Kernel
    level: Level
    key: RunKey


@final
@dataclass(frozen=True)
class Piece:
    """A part of an audit.

    Attributes:
        name: unique, a file name.
        run: does it.
        alone: nothing else may run beside it: it measures time.

    """

    name: str
    run: Callable[[Context], Findings]
    alone: bool = False


def pieces(level: Level, mechanism: str) -> list[Piece]:
    """The pieces of an audit at ``level`` of the mechanism called ``mechanism``, the timing first."""
    noise = [Piece(f"noise-{n}", partial(_noise, dimension=n)) for n in level.dimensions]
    words = [
        Piece(f"words-{place:02}", partial(_words, place=place)) for place in range(level.configurations)
    ]
    mutants = [Piece(f"mutants-{family}", partial(_mutants, family=family)) for family in FAMILIES]
    starts = range(0, level.clean_runs, _CLEAN_RUNS_A_PIECE)
    clean = [Piece(f"clean-{start:03}", partial(_clean, start=start)) for start in starts]
    power = [
        Piece(f"power-{draws}", partial(_power, draws=draws))
        for draws in sorted({level.draws, 10**5})
        if level.power_seeds
    ]
    return [
        Piece(
            "timing", lambda context: check_own_timing(context.own, context.level, context.key), alone=True
        ),
        Piece("theorem", _theorem),
        Piece("documents", _documents),
        Piece("own", lambda context: check_own(context.own, context.level, context.key)),
        *(noise if mechanism == Laplace.name else []),
        *words,
        Piece("ratios", lambda c: check_ratios(c.subject, c.level.ratio_words, c.key)),
        Piece("search", _search),
        Piece("generators", _generators),
        Piece("vectors", _vectors),
        Piece("release", _release),
        Piece("observable", _observable),
        Piece("ledger", _ledger),
        *mutants,
        *power,
        *clean,
    ]


def _theorem(context: Context) -> Findings:
    return check_theorem(context.subject, lifted_worlds(context.level.cells))


def _documents(context: Context) -> Findings:
    level = context.level
    cells = check_documents(GENUINE, level.document_cells)
    others = (
        check_positions(GENUINE, 20),
        check_document_draws(GENUINE, level.document_draws, context.key),
        check_what_leaves(GENUINE, context.key),
        check_own_texts(GENUINE),
    )
    return Findings((*cells.checks, *(check for found in others for check in found.checks)), cells.figures)


def _noise(context: Context, dimension: int) -> Findings:
    level = context.level
    draws = level.draws_in_line if dimension <= _LINE else level.draws
    rng = context.key.rng(f"noise/{dimension}")
    return Findings(tuple(noise_law(GENUINE.noise(dimension, _EPSILON), draws, rng)))


def _words(context: Context, place: int) -> Findings:
    level = context.level
    world: World = worlds(level.configurations)[place]
    check = check_words(context.subject, world, level.words // level.configurations, context.key)
    words = 0 if check is None else check.samples
    return Findings(() if check is None else (check,), {"words": words, "configurations": int(words > 0)})


def _search(context: Context) -> Findings:
    points = context.level.search_points
    found = [
        *check_search(GENUINE, points, points // 10, context.key),
        check_batch(GENUINE, min(points, 2000), context.key),
        check_blind(GENUINE, min(points, 3000), context.key),
        *check_kernels(context.level.kernel_points, context.key),
    ]
    for kernel in kernels()[1:]:
        other = replace(GENUINE, search=partial(NearestWords, kernel=kernel))
        checks = (
            *check_search(other, points, points // 10, context.key),
            check_batch(other, min(points, 2000), context.key),
        )
        found += [replace(check, name=f"{check.name} ({kernel})") for check in checks]
    return Findings(tuple(found))


def _generators(context: Context) -> Findings:
    methods = ("fork", "spawn") if context.level.spawn else ("fork",)
    return Findings(
        (
            check_streams(GENUINE, context.level.streams, methods),
            check_entropy(GENUINE),
            check_key(GENUINE),
            check_sealed(GENUINE),
            check_entropy_failures(GENUINE, 200),
        )
    )


def _vectors(context: Context) -> Findings:
    draws = 10 * context.level.search_points
    hostile = (*check_texts(GENUINE), *check_parquet(GENUINE))
    return Findings((*check_vectors(GENUINE, draws, context.key), *hostile))


def _release(context: Context) -> Findings:
    return Findings(tuple(check_release_path(GENUINE, context.level.documents, context.key)))


def _observable(context: Context) -> Findings:
    return check_observable(full=context.level.all_ways)


def _ledger(context: Context) -> Findings:
    return Findings(tuple(check_ledger(GENUINE, context.level.spends)))


def _mutants(context: Context, family: str) -> Findings:
    return check_mutants(family, context.key)


def _power(context: Context, draws: int) -> Findings:
    level = context.level
    return smallest_scale_error(GENUINE, level.dimensions, draws, level.power_seeds, context.key)


def _clean(context: Context, start: int) -> Findings:
    stop = min(start + _CLEAN_RUNS_A_PIECE, context.level.clean_runs)
    return check_clean_runs(GENUINE, range(start, stop), context.level, context.key)
