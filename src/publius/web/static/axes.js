// Scales and axes of a chart.

import { svg } from "./dom.js";
import { number } from "./format.js";

/** A scale from values between `low` and `high` to pixels between `from` and `to`. */
export function scale(low, high, from, to, logarithmic = false) {
  const at = logarithmic ? Math.log : (value) => value;
  const span = at(high) - at(low) || 1;
  const place = (value) => from + ((at(value) - at(low)) / span) * (to - from);
  return Object.assign(place, { low, high, logarithmic });
}

/** About `count` round values between the ends of a scale. */
export function ticks(place, count) {
  return place.logarithmic ? logTicks(place.low, place.high, count) : linearTicks(place.low, place.high, count);
}

function linearTicks(low, high, count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((unit) => unit * power).find((unit) => unit >= rough * 0.999);
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) found.push(Number(value.toPrecision(12)));
  return found;
}

function logTicks(low, high, count) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
    for (const unit of [1, 2, 3, 5, 7]) found.push(Number((unit * 10 ** power).toPrecision(6)));
  }
  const inside = found.filter((value) => value >= low * 0.999 && value <= high * 1.001);
  if (inside.length < 2) return linearTicks(low, high, count);
  if (inside.length <= count + 1) return inside;
  const round = inside.filter((value) => [1, 2, 5].includes(Number(value.toExponential()[0])));
  if (round.length <= count + 1) return round;
  const tens = inside.filter((value) => value.toExponential()[0] === "1");
  const every = Math.ceil(tens.length / count);
  return tens.filter((_, at) => at % every === 0);
}

/** Horizontal grid lines with labels, the base line with labels, and the names of both axes. */
export function axes({ x, y, box, xLabel, yLabel, xFormat = number, yFormat = number, xTicks = ticks(x, box.width < 360 ? 4 : 7), yTicks = ticks(y, 4) }) {
  const { left, right, top, bottom } = box;
  return svg("g", { class: "axes", "aria-hidden": "true" },
    yTicks.map((value) => svg("g", {},
      svg("line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) }),
      svg("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, yFormat(value)))),
    svg("line", { class: "base", x1: left, x2: right, y1: bottom, y2: bottom }),
    xTicks.map((value) => svg("g", {},
      svg("line", { class: "tick", x1: x(value), x2: x(value), y1: bottom, y2: bottom + 4 }),
      svg("text", { x: x(value), y: bottom + 18, "text-anchor": "middle" }, xFormat(value)))),
    svg("text", { class: "axis-name", x: right, y: bottom + 36, "text-anchor": "end" }, xLabel),
    svg("text", { class: "axis-name", x: left, y: 14, "text-anchor": "start" }, yLabel));
}
