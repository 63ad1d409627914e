"""The figures of an evaluation: success of the adversaries and of the topic, against epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from publius.evaluation.statistics import Interval
from publius.evaluation.summary import AdversaryResult, SummaryLine
from publius.releases.drawing import GRID, INK, SERIES, drawing, svg
from publius.settings import Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def epsilon_curves(
    lines: Sequence[SummaryLine], mechanism: str, chance: dict[Task, float], floor: float | None
) -> str:
    """Topic accuracy and the strongest adversary of one mechanism against epsilon, with 95 % intervals."""
    with drawing() as plt:
        figure, axes = plt.subplots(figsize=(4.3, 3.4), layout="constrained")
        _curve(axes, lines, mechanism, "topic", SERIES[0], "topic, best classifier")
        _curve(axes, lines, mechanism, "author", SERIES[1], "author, strongest adversary")
        _levels(axes, lines, chance, floor)
        _axes(axes, f"{mechanism}: topic and author", _asked(lines, mechanism), "accuracy")
        return svg(figure)


def adversary_curves(lines: Sequence[SummaryLine], mechanism: str, chance: float, floor: float | None) -> str:
    """Every adversary's accuracy in naming authors against epsilon: the strongest few named, the others thin."""
    own = [line for line in lines if line.mechanism == mechanism]
    tried = {name for line in own for name, task in line.findings if task == "author"}
    ranked = sorted(tried, key=lambda name: -sum(_value(line.of(name, "author")) for line in own))
    with drawing() as plt:
        figure, axes = plt.subplots(figsize=(4.3, 3.4), layout="constrained")
        for place, name in enumerate(ranked):
            points = [(line.strength, f.accuracy.value) for line in own if (f := line.of(name, "author"))]
            shown = place < len(SERIES) - 3
            axes.plot(
                *zip(*sorted(points), strict=True), marker="o" if shown else "", markersize=4,
                color=SERIES[place] if shown else GRID, linewidth=1.8 if shown else 1,
                label=name if shown else ("others" if place == len(SERIES) - 3 else None),
            )  # fmt: skip
        _level(axes, chance, "chance")
        if floor is not None:
            _level(axes, floor, "topic only", left=True)
        highest = max(_value(line.best("author")) for line in own)
        top = min(1.0, 1.5 * max(highest, chance, floor or 0.0))
        _axes(axes, f"{mechanism}: every adversary", _asked(own, mechanism), "authors named", top)
        return svg(figure)


def trade_off(lines: Sequence[SummaryLine], mechanisms: Sequence[str], chance: dict[Task, float]) -> str:
    """Topic accuracy against the strongest adversary's, a curve for each mechanism, a point for each epsilon."""
    with drawing() as plt:
        figure, axes = plt.subplots(figsize=(4.3, 3.4), layout="constrained")
        for color, mechanism in zip(SERIES, mechanisms, strict=False):
            _trade_off_curve(axes, lines, mechanism, color)
        clean = next((line for line in lines if line.clean), None)
        if clean is not None:
            point = _value(clean.best("author")), _value(clean.best("topic"))
            axes.plot(*point, marker="D", linestyle="", color=INK, label="unprotected")
        _level(axes, chance["topic"], "topic by chance")
        _axes(
            axes,
            "What is kept against what is given away",
            "authors named by the strongest adversary",
            "topic",
        )
        return svg(figure)


def _asked(lines: Sequence[SummaryLine], mechanism: str) -> str:
    own = [line for line in lines if line.mechanism == mechanism]
    return "bound, nats" if any(line.bound is not None for line in own) else "epsilon a word"


def _trade_off_curve(axes: Axes, lines: Sequence[SummaryLine], mechanism: str, color: str) -> None:
    points = [
        (line.strength, author.accuracy, topic.accuracy)
        for line in lines
        if line.mechanism == mechanism and (author := line.best("author")) and (topic := line.best("topic"))
    ]
    if not points:
        return
    x, y = [author for _, author, _ in points], [topic for _, _, topic in points]
    axes.errorbar(
        [i.value for i in x], [i.value for i in y], xerr=_errors(x), yerr=_errors(y),
        color=color, marker="o", elinewidth=0.8, label=mechanism,
    )  # fmt: skip
    for epsilon, across, up in dict.fromkeys((points[0], points[-1])):  # the ends: all would meet
        axes.annotate(
            f"{epsilon:g}",
            (across.value, up.value),
            (4, -10),
            textcoords="offset points",
            fontsize=8,
            color=INK,
        )


def _curve(
    axes: Axes, lines: Sequence[SummaryLine], mechanism: str, task: Task, color: str, label: str
) -> None:
    points = sorted(
        (line.strength, found.accuracy)
        for line in lines
        if line.mechanism == mechanism and (found := line.best(task))
    )
    if points:
        x, accuracies = [epsilon for epsilon, _ in points], [accuracy for _, accuracy in points]
        axes.plot(x, [i.value for i in accuracies], marker="o", color=color, label=label)
        limits = [i.low for i in accuracies], [i.high for i in accuracies]
        axes.fill_between(x, *limits, color=color, alpha=0.18, linewidth=0)


def _levels(axes: Axes, lines: Sequence[SummaryLine], chance: dict[Task, float], floor: float | None) -> None:
    """Chance, the topic-only floor, and what the unprotected texts give."""
    clean = next((line for line in lines if line.clean), None)
    for task, color in (("topic", SERIES[0]), ("author", SERIES[1])):
        found = clean.best("topic" if task == "topic" else "author") if clean is not None else None
        if found is not None:
            _level(axes, found.accuracy.value, f"{task}, unprotected", color, ":", left=task == "author")
    for task, value in chance.items():
        _level(axes, value, f"{task} by chance")
    if floor is not None:
        _level(axes, floor, "topic only", left=True)


def _level(
    axes: Axes, value: float, label: str, color: str = INK, style: str = "--", *, left: bool = False
) -> None:
    """A horizontal line with its name above its right end, or its left one where two would meet."""
    axes.axhline(value, color=color, linestyle=style, linewidth=0.9)
    axes.annotate(
        label, (0.01 if left else 1, value), (0, 2), xycoords=("axes fraction", "data"), textcoords="offset points",
        ha="left" if left else "right", va="bottom", fontsize=8, color=INK,
    )  # fmt: skip


def _axes(axes: Axes, title: str, x: str, y: str, top: float = 1.0) -> None:
    axes.set(title=title, xlabel=x, ylabel=y, ylim=(-0.02 * top, 1.08 * top))
    axes.grid(axis="y", linewidth=0.6)
    axes.tick_params(length=0)
    axes.set_axisbelow(True)
    if axes.get_legend_handles_labels()[0]:
        axes.figure.legend(loc="outside lower left", ncols=2)  # type: ignore[call-arg, unused-ignore]


def _errors(intervals: Sequence[Interval]) -> list[list[float]]:
    return [[i.value - i.low for i in intervals], [i.high - i.value for i in intervals]]


def _value(found: AdversaryResult | None) -> float:
    return found.accuracy.value if found is not None else 0.0
