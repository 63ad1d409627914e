"""What a checkout adds to an audit: broken versions, hard and hostile cases, what can be seen, the ledger."""

from __future__ import annotations

from functools import partial

from audit.fences import check_fences
from audit.hard_points import check_kernels
from audit.hostile_inputs import check_parquet, check_texts
from audit.ledgers import check_ledger
from audit.mutants.catalog import FAMILIES, check_mutants
from audit.observable import check_observable
from audit.power import check_clean_runs, smallest_scale_error
from publius.audit.implementation import GENUINE
from publius.audit.levels import Level
from publius.audit.outcomes import Findings
from publius.audit.parts import Context, Piece

_CLEAN_RUNS_A_PIECE = 10


def pieces(level: Level) -> list[Piece]:
    """All of them, at ``level``."""
    mutants = [Piece(f"mutants-{family}", partial(_mutants, family=family)) for family in FAMILIES]
    starts = range(0, level.clean_runs, _CLEAN_RUNS_A_PIECE)
    clean = [Piece(f"clean-{start:03}", partial(_clean, start=start)) for start in starts]
    power = [
        Piece(f"power-{draws}", partial(_power, draws=draws))
        for draws in sorted({level.draws, 10**5})
        if level.power_seeds
    ]
    return [
        Piece("hard-points", _hard_points),
        Piece("hostile", _hostile),
        Piece("observable", _observable),
        Piece("ledger", _ledger),
        *([Piece("fences", _fences)] if level.all_ways else []),
        *mutants,
        *power,
        *clean,
    ]


def _hard_points(context: Context) -> Findings:
    return Findings(tuple(check_kernels(context.level.kernel_points, context.key)))


def _hostile(context: Context) -> Findings:
    return Findings((*check_texts(GENUINE), *check_parquet(GENUINE)))


def _observable(context: Context) -> Findings:
    return check_observable(full=context.level.all_ways)


def _ledger(context: Context) -> Findings:
    return Findings(tuple(check_ledger(GENUINE, context.level.spends)))


def _fences(context: Context) -> Findings:
    return check_fences()


def _mutants(context: Context, family: str) -> Findings:
    return check_mutants(family, context.key)


def _power(context: Context, draws: int) -> Findings:
    level = context.level
    return smallest_scale_error(GENUINE, level.dimensions, draws, level.power_seeds, context.key)


def _clean(context: Context, start: int) -> Findings:
    stop = min(start + _CLEAN_RUNS_A_PIECE, context.level.clean_runs)
    return check_clean_runs(GENUINE, range(start, stop), context.level, context.key)
