"""What draws alone can prove: p-values that are precise far into the tails, and bounds on a ratio of probabilities."""

from __future__ import annotations

import math

import numpy as np

from publius.arrays import Float64Array

_LEAST = 25.0


def log_p_pearson(counts: Float64Array, expected: Float64Array) -> float:
    """Ln of the p-value of Pearson's test of ``counts`` against ``expected``, shape (cells,), of the same sum.

    Cells that expect fewer than 25 are pooled; a count where nothing is expected refutes at once.
    """
    from scipy.stats import chi2

    if counts[expected <= 0].any():
        return -math.inf
    large = expected >= _LEAST
    observed, wanted = (np.append(each[large], each[~large].sum()) for each in (counts, expected))
    if len(observed) > 1 and wanted[-1] < _LEAST:  # the pool itself is small: it joins the smallest large cell
        smallest = int(wanted[:-1].argmin())
        observed[smallest] += observed[-1]
        wanted[smallest] += wanted[-1]
        observed, wanted = observed[:-1], wanted[:-1]
    if len(wanted) == 1:
        return 0.0
    statistic = float(((observed - wanted) ** 2 / wanted).sum())
    value = float(chi2.logsf(statistic, len(wanted) - 1))
    return value if math.isfinite(value) else -statistic / 4


def ratio_lower_bounds(
    counts: Float64Array,
    trials: Float64Array,
    other: Float64Array,
    other_trials: Float64Array,
    alpha: float,
    delta: float = 0.0,
) -> Float64Array:
    """Lower confidence bounds on ln((p - delta)/q), each wrong with probability at most ``alpha``.

    Clopper and Pearson's: a lower bound on p of ``counts`` in ``trials`` and an upper bound on q of ``other`` in
    ``other_trials``, each at alpha/2. Arrays of one shape.
    """  # fmt: skip
    from scipy.special import betaincinv

    with np.errstate(divide="ignore"):
        lower = np.where(counts > 0, betaincinv(np.maximum(counts, 1), trials - counts + 1, alpha / 2), 0.0)
        left = np.maximum(other_trials - other, 1)
        upper = np.where(other < other_trials, betaincinv(other + 1, left, 1 - alpha / 2), 1.0)
        return np.asarray(np.log(np.maximum(lower - delta, 0.0)) - np.log(upper))
