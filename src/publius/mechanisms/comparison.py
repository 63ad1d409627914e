"""Mechanisms on a common axis: the epsilon at which each does the same to a list of public words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import PolicyError, UsageError, extra
from publius.files import write_file
from publius.files.child import away
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.finite.certificate.distances import AbstractDistances
from publius.mechanisms.finite.word_weights import Shape
from publius.mechanisms.kernel import AbstractExact, Kernel
from publius.mechanisms.outside import known_guarantee, stating
from publius.mechanisms.registry import make_mechanism, mechanism_class, parameters_of
from publius.mechanisms.threads import one_blas_thread
from publius.mechanisms.word_outcomes import Distortion, distortion, expected_distortion
from publius.noise.randomness import seeded_rng
from publius.settings import VectorSettings
from publius.vectors.embeddings import Embeddings

WORDS = 400
_TOLERANCE = 5e-4  # of the share unchanged, or relative of the mean distance
_STEPS = 40
_REFUSED = -math.inf  # instead of an excess, where a mechanism does not exist
_BORDER = 0.01  # how closely the least dial at which it exists is looked for
_SAMPLE = 24  # words that show where a picture should begin and end
_ENDS = (0.02, 0.98)
_STRIDE = 1.3
_STRIDES = 20
_KEPT_BYTES = 2**29
_CURVE = (0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.2)  # factors of the epsilon found

Evaluate = Callable[[float], Distortion]


@final
@dataclass(frozen=True)
class ComparisonTarget:
    """The value every mechanism is to reach: a share of unchanged words, or a mean distance."""

    unchanged: float | None = None
    mean_distance: float | None = None

    def __post_init__(self) -> None:
        """Exactly one, in range: `UsageError` otherwise."""
        if (self.unchanged is None) == (self.mean_distance is None):
            raise UsageError("give either --unchanged or --mean-distance")
        if self.unchanged is not None and not 0 < self.unchanged < 1:
            raise UsageError(f"--unchanged is a share between 0 and 1, not {self.unchanged!r}")
        if self.mean_distance is not None and not (
            math.isfinite(self.mean_distance) and self.mean_distance > 0
        ):
            raise UsageError(f"--mean-distance must be positive, not {self.mean_distance!r}")

    def excess(self, found: Distortion) -> float:
        """How much less distorted ``found`` is than asked for; rises with epsilon."""
        if self.unchanged is not None:
            return found.unchanged - self.unchanged
        return 1 - found.mean_distance / (self.mean_distance or math.inf)


@final
@dataclass(frozen=True)
class ComparisonRow:
    """A mechanism at the epsilon found; ``refused`` says why there is none."""

    mechanism: str
    epsilon: float | None
    unchanged: float | None
    mean_distance: float | None
    evidence: str | None = None
    exact: bool = False
    refused: str | None = None
    curve: tuple[tuple[float, float, float], ...] = ()


def compare(
    names: Sequence[str],
    embeddings: Embeddings,
    target: ComparisonTarget,
    words: IndexArray,
    *,
    draws: int = 20,
    curve: bool = False,
    **parameters: Any,
) -> list[ComparisonRow]:
    """A row for each mechanism called in ``names``: the epsilon that reaches ``target`` on the public ``words``.

    Shares are exact where output probabilities are available, else from ``draws`` draws a word with a fixed seed
    (the words are public; nothing is released). Each mechanism gets those of ``parameters`` that it takes. With
    ``curve`` also points around the epsilon found.
    """
    given = {key: value for key, value in parameters.items() if value is not None}
    if foreign := set(given) - {"metric"} - frozenset().union(*map(parameters_of, names)):
        raise UsageError(f"none of these mechanisms takes {' or '.join(sorted(foreign))}")
    for name in names:
        if given.get(
            "metric", VectorSettings.metric
        ) != VectorSettings.metric and "metric" not in parameters_of(name):
            raise UsageError(
                f"the mechanism {name} has a metric of its own: leave it out or leave out --metric"
            )
    given_words = _Words(embeddings, np.asarray(words, np.int64))
    return [_row(name, embeddings, target, given_words, draws, curve, given) for name in names]


def _row(
    name: str,
    embeddings: Embeddings,
    target: ComparisonTarget,
    words: _Words,
    draws: int,
    curve: bool,
    parameters: dict[str, Any],
) -> ComparisonRow:
    axis = _Axis(name, embeddings, words, draws, parameters)
    start = _starting_dial(embeddings, finite=axis.finite)
    if (
        axis.kind.preparation == "equations" and axis.kind.range_of
    ):  # each dial is dear: begin where others end
        plain = _Axis(axis.kind.range_of, embeddings, words, draws, parameters)
        with suppress(PolicyError):
            start = find_dial(plain.excess(target), start=start)
    try:
        dial = find_dial(axis.excess(target), start=start)
        mechanism = axis.mechanism(dial)
    except PolicyError as error:
        return ComparisonRow(name, None, None, None, refused=str(error))
    found = axis.at(dial)
    points = tuple(axis.points([dial * factor for factor in _CURVE])) if curve else ()
    evidence = known_guarantee(mechanism).evidence
    exact = isinstance(mechanism, AbstractExact)
    return ComparisonRow(
        name, mechanism.epsilon, found.unchanged, found.mean_distance, evidence, exact, None, points
    )


@final
class _Words:
    """Public words and their distances to all others: every dial of every mechanism asks for the same ones.

    They are kept while they fit `_KEPT_BYTES`; of more words they are computed whenever they are asked for.
    """

    def __init__(self, embeddings: Embeddings, words: IndexArray) -> None:
        self.words, self._size = words, embeddings.size
        self._kept: dict[tuple[str, str], Float64Array] = {}

    def distances(self, name: tuple[str, str], found: Callable[[IndexArray], Float64Array]) -> _Distances:
        """Those that ``found`` gives of some words, known as ``name``; of a part of the words in turn."""
        if 8 * len(self.words) * self._size * (len(self._kept) + 1) > _KEPT_BYTES and name not in self._kept:
            return lambda part: found(self.words[part])
        if name not in self._kept:
            self._kept[name] = np.full((len(self.words), self._size), np.nan)
        kept = self._kept[name]

        def known(part: slice) -> Float64Array:
            if np.isnan(kept[part, 0]).any():
                kept[part] = found(self.words[part])
            return kept[part]

        return known


_Distances = Callable[[slice], Float64Array]


@final
class _Axis:
    """A mechanism with one dial: its epsilon, or, where the constant is certified, its scale.

    Rows of probabilities depend on the scale only, so the dial is found first and certified once.
    """

    def __init__(
        self, name: str, embeddings: Embeddings, words: _Words, draws: int, parameters: dict[str, Any]
    ) -> None:
        self._name, self._embeddings, self._words, self._draws = name, embeddings, words, draws
        taken = parameters_of(name)
        self._parameters = {key: value for key, value in parameters.items() if key in taken}
        self.kind = mechanism_class(name)
        self.finite = issubclass(self.kind, AbstractFinite)
        self._known: dict[float, Distortion] = {}
        self._first: Kernel | None = None
        self._shapes: list[tuple[dict[str, Any], Shape]] = []

    def at(self, dial: float) -> Distortion:
        """The mechanism's effect on the words."""
        if dial not in self._known:
            kind = self.kind
            self._known[dial] = (
                self._finite(kind, dial) if issubclass(kind, AbstractFinite) else self._simulated(dial)
            )
        return self._known[dial]

    def excess(self, target: ComparisonTarget) -> Callable[[float], float]:
        """``target.excess`` at a dial. Where the mechanism is refused the dial is too low: there words crowd."""

        def excess(dial: float) -> float:
            try:
                return target.excess(self.at(dial))
            except PolicyError:
                return _REFUSED

        return excess

    def _finite(self, kind: type[AbstractFinite], scale: float) -> Distortion:
        facts, shape = self._shape(kind, scale)
        rows, outer = shape.rows(scale), self._distances((shape.metric.name, ""), shape.word_distances)
        inner = outer
        if shape.inner is not None:
            inner = self._distances((facts["metric"], facts["inner"]), rows.distances)
        return expected_distortion(
            self._words.words, lambda part: rows.log_probabilities_of(inner(part)), outer
        )

    def _shape(self, kind: type[AbstractFinite], scale: float) -> tuple[dict[str, Any], Shape]:
        """The shape at ``scale`` and its facts; one that agrees with the last keeps what was derived of that."""
        shape = kind.shape_at(self._embeddings, scale, **self._parameters)
        facts = shape.facts()
        if not self._shapes or self._shapes[0][0] != facts:
            self._shapes = [(facts, shape)]
        return self._shapes[0]

    def _distances(self, name: tuple[str, str], distances: AbstractDistances) -> _Distances:
        """By products where their error is proven: far below what the last digit of a share or mean says."""

        def found(words: IndexArray) -> Float64Array:
            with one_blas_thread():
                return distances.fast(words, slice(None))

        return self._words.distances(name, found)

    def _simulated(self, epsilon: float) -> Distortion:
        return distortion(self.mechanism(epsilon), self._words.words, draws=self._draws, rng=seeded_rng(0))

    def mechanism(self, dial: float) -> Kernel:
        """The mechanism itself, certified. What it keeps of the vectors is made once: see `Kernel.at`."""
        if self.finite:
            return make_mechanism(self._name, self._embeddings, scale=dial, **self._parameters)
        if self._first is None:
            self._first = make_mechanism(self._name, self._embeddings, epsilon=dial, **self._parameters)
        return stating(lambda first: first.at(dial), self._first)

    def points(self, dials: Sequence[float]) -> list[tuple[float, float, float]]:
        """(epsilon, unchanged, mean distance) at each dial where there is a mechanism."""
        points = []
        for dial in dials:
            try:
                epsilon, found = self.mechanism(dial).epsilon, self.at(dial)
            except PolicyError:
                continue
            points.append((epsilon, found.unchanged, found.mean_distance))
        return points


def useful_range(name: str, embeddings: Embeddings, **parameters: Any) -> tuple[float, float, float]:
    """Dials at which about 2 %, half and 98 % of a sample of the vocabulary stay, for a picture's axis.

    The dial is epsilon, or the scale of a certified mechanism, which is less than a factor of 2 below its epsilon.
    Found in steps; an end that is not reached is where looking for it stopped.
    """
    words = np.linspace(0, embeddings.size - 1, num=min(_SAMPLE, embeddings.size)).astype(np.int64)
    axis = _Axis(name, embeddings, _Words(embeddings, np.unique(words)), 16, parameters)
    start = _starting_dial(embeddings, finite=axis.finite)
    down = _walked(axis, start, 1 / _STRIDE, lambda share: share <= _ENDS[0])
    up = _walked(axis, start, _STRIDE, lambda share: share >= _ENDS[1])
    shares = down | up
    middle = min(shares, key=lambda dial: abs(shares[dial] - 0.5), default=start)
    low, high = min(shares, default=start), max(shares, default=start)
    return float(f"{low:.2g}"), float(f"{middle:.2g}"), float(f"{high:.2g}")


def _walked(axis: _Axis, start: float, stride: float, reached: Callable[[float], bool]) -> dict[float, float]:
    """Shares unchanged at dials from ``start`` by factors of ``stride``, to the first that is ``reached``."""
    shares: dict[float, float] = {}
    for step in range(_STRIDES):
        dial = start * stride**step
        with suppress(PolicyError):
            shares[dial] = axis.at(dial).unchanged
            if reached(shares[dial]):
                break
    return shares


def _starting_dial(embeddings: Embeddings, *, finite: bool) -> float:
    """An epsilon of the right order: a few nats, or the noise's length, over the typical distance of words."""
    sample = embeddings.vectors[:: max(1, embeddings.size // 200)]
    spread = float(np.sqrt(np.var(sample, axis=0, dtype=np.float64).sum() * 2)) or 1.0
    return (math.log(embeddings.size) if finite else embeddings.dimension) / spread


def find_dial(excess: Callable[[float], float], *, start: float) -> float:
    """The dial at which ``excess``, which rises, is 0 within the tolerance: bracketing, then regula falsi."""
    low = high = math.log(start)
    at_low = at_high = excess(start)
    for _ in range(_STEPS):
        if at_low <= 0 <= at_high:
            break
        if at_low > 0:
            high, at_high, low = low, at_low, low - math.log(1.5)
            at_low = excess(math.exp(low))
        else:
            low, at_low, high = high, at_high, high + math.log(1.5)
            at_high = excess(math.exp(high))
    else:
        raise PolicyError("no epsilon reaches the target on these words: ask for another share")
    return _inside(excess, (low, at_low), (high, at_high))


def _inside(
    excess: Callable[[float], float], below: tuple[float, float], above: tuple[float, float]
) -> float:
    """Regula falsi on the logarithm of the dial, halving the value of an end that stays (the Illinois method)."""
    stayed = 0  # how the last step went: -1 replaced the lower end, 1 the upper
    for _ in range(_STEPS):
        for place, value in (below, above):
            if abs(value) <= _TOLERANCE and stayed == 0:
                return math.exp(place)
        if below[1] == _REFUSED:  # bisect; where the border itself is too high a value, it is refused
            if above[0] - below[0] < _BORDER:
                return math.exp(below[0])
            middle = (below[0] + above[0]) / 2
            value = excess(math.exp(middle))
            below, above = ((middle, value), above) if value < 0 else (below, (middle, value))
            continue
        if above[0] - below[0] < 1e-7:
            break
        middle = below[0] - below[1] * (above[0] - below[0]) / (above[1] - below[1])
        value = excess(math.exp(middle))
        if abs(value) <= _TOLERANCE:
            return math.exp(middle)
        side = -1 if value < 0 else 1
        if side < 0:
            below, above = (middle, value), (above[0], above[1] / 2 if stayed == side else above[1])
        else:
            below, above = (below[0], below[1] / 2 if stayed == side else below[1]), (middle, value)
        stayed = side
    return math.exp((below[0] + above[0]) / 2)


def draw_curves(rows: Sequence[ComparisonRow], path: Path, title: str) -> None:
    """Share unchanged and mean distance against epsilon, one line a mechanism, to an SVG, PNG or PDF file."""
    with extra("plots", "matplotlib"), away():
        from matplotlib import style
        from matplotlib.figure import Figure
    kind = path.suffix.lower().lstrip(".")
    if kind not in ("svg", "png", "pdf"):
        raise UsageError(f"--plot must end in .svg, .png or .pdf, not {path.suffix!r}")
    with style.context(["default", {"svg.hashsalt": "publius", "svg.fonttype": "none"}]):
        figure = Figure(figsize=(10, 4.2), layout="constrained")
        axes = figure.subplots(1, 2)
        for row in rows:
            if row.curve:
                epsilons, unchanged, distances = zip(*row.curve, strict=True)
                axes[0].plot(epsilons, unchanged, marker="o", markersize=3, label=row.mechanism)
                axes[1].plot(epsilons, distances, marker="o", markersize=3, label=row.mechanism)
        for plot, label in zip(axes, ("share of unchanged words", "mean distance"), strict=True):
            plot.set(xscale="log", xlabel="epsilon", ylabel=label)
            for ticks in (plot.xaxis.set_major_formatter, plot.xaxis.set_minor_formatter):
                ticks(lambda value, _: f"{value:g}" if f"{value:e}"[0] in "1235" else "")
            plot.grid(alpha=0.3)
        axes[0].legend(fontsize="small")
        figure.suptitle(title)
        metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
        with write_file(path) as stream:
            figure.savefig(stream, format=kind, metadata=metadata)
