"""Natural logarithms of p-values of the tests that the audit uses; precise far into the tails."""

from __future__ import annotations

import math

import numpy as np

from publius.arrays import Float64Array


def log_p_normal(z: float) -> float:
    """Two-sided, for a statistic that is standard normal."""
    from scipy.special import log_ndtr

    return min(0.0, math.log(2) + float(log_ndtr(-abs(z))))


def log_p_chi_square(statistic: float, degrees: float) -> float:
    """P(chi-square with ``degrees`` > statistic)."""
    from scipy.stats import chi2

    if degrees <= 0:
        return 0.0
    value = float(chi2.logsf(statistic, degrees))
    return value if math.isfinite(value) else -statistic / 4


def log_p_kolmogorov(cdf_values: Float64Array) -> float:
    """Kolmogorov-Smirnov: ``cdf_values`` are the law's distribution function at the sample, shape (count,)."""
    from scipy.special import kolmogorov

    count = len(cdf_values)
    values = np.sort(cdf_values)
    steps = np.arange(count + 1) / count
    distance = max(float((steps[1:] - values).max()), float((values - steps[:-1]).max()))
    scaled = distance * (math.sqrt(count) + 0.12 + 0.11 / math.sqrt(count))  # Stephens 1970
    p = float(kolmogorov(scaled))
    return math.log(p) if p > 1e-300 else math.log(2) - 2 * scaled**2


def log_p_binomial(count: int, trials: int, probability: float) -> float:
    """Two-sided (twice the smaller tail) for ``count`` of ``trials``."""
    from scipy.stats import binom

    law = binom(trials, probability)
    tail = min(float(law.logcdf(count)), float(law.logsf(count - 1)))
    return min(0.0, math.log(2) + tail)


def pearson(counts: Float64Array, expected: Float64Array, least: float = 25.0) -> tuple[float, int]:
    """Pearson's statistic and its degrees of freedom; cells that expect fewer than ``least`` are pooled.

    ``counts`` and ``expected``, shape (cells,), have the same sum.
    """
    large = expected >= least
    observed = np.append(counts[large], counts[~large].sum())
    wanted = np.append(expected[large], expected[~large].sum())
    if (
        len(observed) > 1 and wanted[-1] < least
    ):  # the pool itself is small: add it to the smallest large cell
        smallest = int(wanted[:-1].argmin())
        observed[smallest] += observed[-1]
        wanted[smallest] += wanted[-1]
        observed, wanted = observed[:-1], wanted[:-1]
    return float(((observed - wanted) ** 2 / wanted).sum()), len(wanted) - 1


def log_p_pearson(counts: Float64Array, expected: Float64Array) -> float:
    """The chi-square test of ``counts`` against ``expected``; a count where nothing is expected refutes at once."""
    if counts[expected <= 0].any():
        return -math.inf
    return log_p_chi_square(*pearson(counts, expected))


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
    """
    from scipy.special import betaincinv

    with np.errstate(divide="ignore"):
        lower = np.where(counts > 0, betaincinv(np.maximum(counts, 1), trials - counts + 1, alpha / 2), 0.0)
        left = np.maximum(other_trials - other, 1)
        upper = np.where(other < other_trials, betaincinv(other + 1, left, 1 - alpha / 2), 1.0)
        return np.asarray(np.log(np.maximum(lower - delta, 0.0)) - np.log(upper))
