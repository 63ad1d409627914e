"""The pictures of a summary's page: bars with intervals, and how counts go over the months."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from publius.arrays import IndexArray
from publius.releases.drawing import INK, SERIES, drawing, svg

MOST_BARS: Final = 40
_MOST_LINES: Final = 6
_MOST_TICKS: Final = 6
_LONGEST: Final = 38


def bars(by: str, names: Sequence[str], counts: IndexArray, low: IndexArray, high: IndexArray) -> str:
    """A bar for each value of what is counted ``by``, with its interval."""
    with drawing() as plt:
        figure, axes = plt.subplots(figsize=(6.4, 1.1 + 0.27 * len(names)), layout="constrained")
        places = np.arange(len(names))[::-1]
        axes.barh(places, counts, color=SERIES[0], alpha=0.75, height=0.7)
        axes.hlines(places, low, high, color=INK, linewidth=1.4)
        for ends in (low, high):
            axes.plot(ends, places, linestyle="", marker="|", color=INK, markersize=7)
        axes.set_yticks(places, [_cut(name) for name in names])
        axes.set(title=f"Contributed documents by {_cut(by)}, with 95 % limits")
        axes.set_xlim(left=0)
        axes.grid(axis="x", linewidth=0.6)
        axes.tick_params(length=0)
        axes.set_axisbelow(True)
        return svg(figure)


def trend(
    months: Sequence[str], names: Sequence[str], counts: IndexArray, low: IndexArray, high: IndexArray
) -> str:
    """Counts over the months, a line for each of the largest strata, its limits shaded."""
    with drawing() as plt:
        figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
        places = np.arange(len(months))
        for color, row in zip(
            SERIES, np.argsort(-counts.sum(axis=1), kind="stable")[:_MOST_LINES], strict=False
        ):
            axes.plot(places, counts[row], color=color, marker="o", label=_cut(names[row]) or None)
            axes.fill_between(places, low[row], high[row], color=color, alpha=0.16, linewidth=0)
        step = -(-len(months) // _MOST_TICKS)
        axes.set_xticks(places[::step], list(months)[::step])
        axes.set(title="Contributed documents by month, with 95 % limits")
        axes.set_ylim(bottom=0)
        axes.grid(axis="y", linewidth=0.6)
        axes.tick_params(length=0)
        axes.set_axisbelow(True)
        if any(names):
            figure.legend(loc="outside lower left", ncols=2)
        return svg(figure)


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
