"""How small an error the audit sees, and how often it sees one that is not there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array
from publius.audit.implementation import Subject
from publius.audit.levels import Level
from publius.audit.nearest import check_search
from publius.audit.noise_law import mean_radius_log_p, noise_law
from publius.audit.outcomes import FAMILY_ALPHA, Check, Findings, failures, violations
from publius.audit.release_path import check_release_path
from publius.audit.toy_vocabularies import worlds
from publius.audit.words import check_ratios, check_words
from publius.noise.randomness import RunKey

SCALE_ERRORS: Final = (0.05, 0.02, 0.01, 0.005, 0.0025, 0.001, 0.0005)
_EPSILON: Final = 2.5
_BLOCK_NUMBERS: Final = 2**19


def smallest_scale_error(
    subject: Subject, dimensions: Sequence[int], draws: int, seeds: int, key: RunKey
) -> Findings:
    """The smallest scale error that the mean radius shows, at level 1e-6, in every one of ``seeds`` repetitions.

    For each dimension alone, and for all together: one error in the code changes the scale in all of them, and
    the audit sees it when any of its tests does.
    """
    seen = {n: np.zeros((seeds, len(SCALE_ERRORS)), bool) for n in dimensions}
    level = np.log(FAMILY_ALPHA / len(dimensions))
    for seed in range(seeds):
        for n in dimensions:
            radii = _radii(subject, n, draws, key.rng(f"power/{draws}/{seed}/{n}").bytes(8))
            seen[n][seed] = [mean_radius_log_p(radii * (1 - error), n) < level for error in SCALE_ERRORS]
    together: NDArray[np.bool_] = np.logical_or.reduce(list(seen.values()))
    figures = {
        "draws": draws,
        "seeds": seeds,
        "together": _smallest(together),
        **{f"n={n}": _smallest(found) for n, found in seen.items()},
    }
    goal = 0.02 if draws <= 10**5 else 0.005
    smallest = figures["together"]
    statistic = float(smallest) if isinstance(smallest, float) else 1.0
    check = Check(f"smallest scale error caught with {draws:,} draws", draws * seeds, statistic, goal)
    return Findings((check,), {f"scale_error_{draws}": figures})


def _smallest(seen: NDArray[np.bool_]) -> float | None:
    """The smallest error below which not all are caught; None when not even the largest was always seen."""
    found = None
    for place, error in enumerate(SCALE_ERRORS):
        if not seen[:, place].all():
            break
        found = error
    return found


def _radii(subject: Subject, dimension: int, draws: int, seed: bytes) -> Float64Array:
    """Epsilon * radius of ``draws`` vectors."""
    noise = subject.noise(dimension, _EPSILON)
    rng = RunKey.seeded(int.from_bytes(seed, "little")).rng("power")
    rows = max(1, _BLOCK_NUMBERS // dimension)
    parts = [
        np.linalg.norm(noise.sample(rng, min(rows, draws - start)), axis=1) for start in range(0, draws, rows)
    ]
    return np.concatenate(parts) * _EPSILON


def check_clean_runs(subject: Subject, runs: range, level: Level, key: RunKey) -> Findings:
    """Whole statistical audits of the genuine subject, each with a seed of its own: none may raise an alarm."""
    alarms = [name for run in runs for name in _alarms(subject, level, RunKey.seeded(_seed(key, run)))]
    check = violations(f"false alarms in clean runs {runs.start}-{runs.stop - 1}", len(runs), len(alarms))
    return Findings((check,), {"clean_runs": len(runs), "false_alarms": alarms})


def _seed(key: RunKey, run: int) -> int:
    return int(key.rng(f"clean/{run}").integers(2**62))


def _alarms(subject: Subject, level: Level, key: RunKey) -> list[str]:
    checks: list[Check | None] = []
    for n in level.dimensions:
        checks += noise_law(subject.noise(n, _EPSILON), 20_000, key.rng(f"noise/{n}"))
    checks += [check_words(subject, world, 50_000, key) for world in worlds(level.configurations)]
    checks += check_ratios(subject, 400_000, key).checks[:1]
    checks += check_search(subject, 1000, 200, key)
    checks += check_release_path(subject, 500, key)
    return failures([check for check in checks if check is not None])
