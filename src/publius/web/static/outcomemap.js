// A document among public prototypes, in two coordinates of the reference.

import { svg } from "./dom.js";
import { circle, equalScales, labels, star } from "./wordmap.js";

const SMALL = 0.01; // probability below which a prototype is a ring only

/** The drawing of an answer of /v1/outcomes; with `clips`, the box of the mechanism position and the place in it. */
export function outcomeMap(picture, outcomes, clips) {
  return (width) => {
    const height = Math.round(Math.min(440, Math.max(260, width * 0.72)));
    const dots = dotsOf(picture, outcomes);
    const corners = clips ? [...picture.box, picture.clipped] : [];
    const { x, y } = equalScales([...dots, ...corners], width, height);
    const placed = dots.map((dot) => ({ ...dot, x: x(dot.x), y: y(dot.y) }));
    const others = placed.slice(1);
    return { height, parts: [
      clips ? box(picture, x, y) : null,
      others[0]?.kind === "output" ? link(placed[0], others[0]) : null,
      ...others.map(circle).reverse(), star(placed[0]), ...labels(placed, width, height),
    ].filter(Boolean) };
  };
}

/** The document first, then the likeliest, which is always named: labels are given room in this order. */
function dotsOf({ document: own, prototypes }, outcomes) {
  const chances = new Map(outcomes.map(({ prototype, probability }) => [prototype, probability]));
  const found = prototypes.map(({ prototype, label, x, y }) => dot(label, x, y, chances.get(prototype) ?? 0));
  found.sort((a, b) => b.probability - a.probability);
  if (found[0]?.kind === "output") found[0].named = true;
  return [{ kind: "word", word: "this document", ...own, radius: 8 }, ...found];
}

const dot = (word, x, y, probability) =>
  ({ kind: probability >= SMALL ? "output" : "neighbor", word, x, y, probability, radius: probability >= SMALL ? 4 + 16 * Math.sqrt(probability) : 3.5 });

const link = (from, to) => svg("line", { class: "link", x1: from.x, y1: from.y, x2: to.x, y2: to.y });

function box({ box: [low, high], document: own, clipped }, x, y) {
  const place = { x: x(low.x), y: y(high.y), width: Math.max(1, x(high.x) - x(low.x)), height: Math.max(1, y(low.y) - y(high.y)) };
  const moved = own.x !== clipped.x || own.y !== clipped.y;
  return svg("g", {}, svg("rect", { class: "box", ...place }), moved ? link({ x: x(own.x), y: y(own.y) }, { x: x(clipped.x), y: y(clipped.y) }) : null);
}
