// Line charts and histograms.

import { axes, scale } from "./axes.js";
import { el, svg } from "./dom.js";
import { number, percent } from "./format.js";

const SHAPES = [
  "M0-4.5A4.5 4.5 0 1 1 0 4.5A4.5 4.5 0 1 1 0-4.5Z", "M-4-4H4V4H-4Z", "M0-5.5L5 4H-5Z", "M0-5.5L5.5 0L0 5.5L-5.5 0Z",
  "M0 5.5L5-4H-5Z", "M-1.6-5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6Z",
  "M-4.5-4.5H4.5L-4.5 4.5H4.5Z", "M-5 0L-2.5-4.5H2.5L5 0L2.5 4.5H-2.5Z", "M0-5.5L4 5L-5-1.5H5L-4 5Z",
];
export const COLORS = 9; // and as many shapes

const shape = (index, x, y, className) =>
  svg("path", { class: `marker ${className}`, d: SHAPES[index % SHAPES.length], transform: `translate(${x} ${y})` });

/**
 * The drawing of lines over epsilon.
 *
 * `series`: [{name, color, points: [{x, y, low?, high?}]}]; a color is 1 to COLORS, each with a shape of its own, so that
 * lines are told apart without color too. `levels`: [{name, y}] are dashed horizontals. `mark` is the x of the
 * current epsilon, or of what `markName` says.
 */
export function lines({ series, levels = [], mark, markName = "epsilon", xLabel, yLabel, yFormat, yLow = 0, yHigh, yLog = false, height = 280 }) {
  return (width) => {
    const box = { left: 56, right: width - 14, top: 46, bottom: height - 44, width };
    const points = series.flatMap((each) => each.points);
    const x = scale(...widened(points.map((point) => point.x), mark), box.left, box.right, true);
    const values = points.flatMap((point) => [point.y, point.high ?? point.y]).filter((value) => Number.isFinite(value) && (!yLog || value > 0));
    const low = yLog ? Math.min(...values) : yLow;
    const y = scale(low, yHigh ?? (Math.max(...values, low) * (yLog ? 1 : 1.05) || 1), box.bottom, box.top, yLog);
    const parts = [
      axes({ x, y, box, xLabel, yLabel, yFormat }),
      levels.map((level) => levelLine(level, y, box)),
      markLine(mark, markName, x, box),
      series.map((each) => band(each, x, y)),
      series.map((each) => line(each, x, y)),
    ];
    return { height, parts: parts.flat().filter(Boolean) };
  };
}

function widened(values, mark) {
  const all = Number.isFinite(mark) && values.length && mark >= Math.min(...values) / 2 && mark <= Math.max(...values) * 2 ? [...values, mark] : values;
  const low = Math.min(...all), high = Math.max(...all);
  return low < high ? [low, high] : [low / 1.5, high * 1.5];
}

function levelLine({ name, y: value }, y, { left, right }) {
  return svg("g", { class: "level" },
    svg("line", { x1: left, x2: right, y1: y(value), y2: y(value) }),
    svg("text", { x: right, y: y(value) - 5, "text-anchor": "end" }, name));
}

function markLine(mark, name, x, { top, bottom, left, right }) {
  if (!Number.isFinite(mark) || mark < x.low || mark > x.high) return null;
  return svg("g", { class: "mark" },
    svg("line", { x1: x(mark), x2: x(mark), y1: top - 5, y2: bottom }),
    svg("text", { x: Math.min(Math.max(x(mark), left), right - 24), y: top - 10, "text-anchor": "middle" }, `${name} ${number(mark)}`));
}

function band({ color, points }, x, y) {
  const bounded = points.filter((point) => Number.isFinite(point.low) && Number.isFinite(point.high) && point.high > point.low);
  if (bounded.length < 2) return null;
  const there = bounded.map((point) => `${x(point.x)} ${y(point.high)}`);
  const back = bounded.map((point) => `${x(point.x)} ${y(point.low)}`).reverse();
  return svg("path", { class: `band series-${color}`, d: `M${[...there, ...back].join("L")}Z` });
}

function line({ color, points }, x, y) {
  const seen = points.filter((point) => Number.isFinite(point.y) && (!y.logarithmic || point.y > 0));
  const every = Math.ceil(seen.length / 12);
  return svg("g", { class: `series-${color}` },
    svg("path", { class: "line", d: seen.length ? `M${seen.map((point) => `${x(point.x)} ${y(point.y)}`).join("L")}` : "M0 0" }),
    seen.filter((_, at) => at % every === 0 || at === seen.length - 1).map((point) => shape(color - 1, x(point.x), y(point.y), "")));
}

/** A key of the series, each with its shape and, where known, its value at the current epsilon. */
export function legend(series, text = () => "") {
  return el("ul", { class: "legend" }, series.map((each) =>
    el("li", {},
      svg("svg", { class: `series-${each.color}`, width: 26, height: 14, viewBox: "0 0 26 14", "aria-hidden": "true" },
        svg("path", { class: "line", d: "M1 7H25" }), shape(each.color - 1, 13, 7, "")),
      el("span", {}, each.name), el("span", { class: "soft" }, text(each)))));
}

/** The value of a line at `x`, between its points; null outside. An exponent, which is linear in epsilon, is exact. */
export function valueAt(points, x) {
  const after = points.findIndex((point) => point.x >= x * (1 - 1e-9));
  if (after < 0 || !points.length) return null;
  const high = points[after];
  if (Math.abs(high.x / x - 1) < 1e-9) return high.y;
  if (after === 0) return null;
  const low = points[after - 1];
  return low.y + ((x - low.x) / (high.x - low.x)) * (high.y - low.y);
}

/** The drawing of counts between edges; words that did not move (`kept`) are the separate first bar. */
export function histogram({ edges, counts, kept, total, height = 240 }) {
  return (width) => {
    const box = { left: 44, right: width - 10, top: 44, bottom: height - 42, width };
    const gap = 34;
    const x = scale(edges[0], edges.at(-1), box.left + gap, box.right);
    const y = scale(0, Math.max(kept, ...counts, 1), box.bottom, box.top);
    const drawn = counts.map((count, at) => count > 0 && bar("moved", x(edges[at]) + 0.5, Math.max(1, x(edges[at + 1]) - x(edges[at]) - 1), y(count), box));
    return {
      height,
      parts: [
        axes({ x, y, box, xLabel: "distance", yLabel: "words", xFormat: (value) => number(value, 2) }),
        bar("kept", box.left + 4, gap - 14, y(kept), box),
        svg("text", { class: "bar-name", x: box.left + 4 + (gap - 14) / 2, y: Math.min(y(kept), box.bottom) - 5, "text-anchor": "middle", "aria-hidden": "true" }, percent(kept / total)),
        drawn.filter(Boolean),
      ],
    };
  };
}

const bar = (name, x, width, top, box) =>
  svg("rect", { class: `bar ${name}`, x, width, y: top, height: Math.max(0, box.bottom - top) });
