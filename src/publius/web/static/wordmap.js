// A word, its likely outputs and its neighbors, in the plane that shows most of how they lie.

import { scale } from "./axes.js";
import { cut } from "./bag.js";
import { svg } from "./dom.js";

const LETTER = 8; // pixels a letter takes at the size of the labels, generously

/** The drawing of an answer of /v1/words: areas are probabilities, rings are neighbors. */
export function wordMap(answer) {
  return (width) => {
    const height = Math.round(Math.min(560, Math.max(300, width * 0.62)));
    const dots = dotsOf(answer);
    const { x, y } = equalScales(dots, width, height);
    const placed = dots.map((dot) => ({ ...dot, x: x(dot.x), y: y(dot.y) }));
    return { height, parts: [...placed.filter((dot) => dot.kind !== "word").map(circle), star(placed[0]), ...labels(placed, width, height)] };
  };
}

function dotsOf({ word, x, y, stay, outputs, neighbors }) {
  const others = outputs.filter((output) => output.word !== word);
  const most = Math.max(...others.map((output) => output.probability), 1e-12);
  const drawn = others.map((output) => ({ kind: "output", word: output.word, x: output.x, y: output.y, radius: 3 + 15 * Math.sqrt(output.probability / most) }));
  const named = new Set([word, ...others.map((output) => output.word)]);
  const rings = neighbors.filter((neighbor) => !named.has(neighbor.word)).map((neighbor) => ({ kind: "neighbor", word: neighbor.word, x: neighbor.x, y: neighbor.y, radius: 3.5 }));
  return [{ kind: "word", word, x, y, radius: 8, stay }, ...drawn, ...rings];
}

/** One unit is as long across as up: distances in the picture can be compared. */
export function equalScales(dots, width, height) {
  const margin = { x: Math.min(90, width * 0.16), y: 34 };
  const span = (values) => [Math.min(...values), Math.max(...values)];
  const [left, right] = span(dots.map((dot) => dot.x));
  const [low, high] = span(dots.map((dot) => dot.y));
  const unit = Math.min((width - 2 * margin.x) / (right - left || 1), (height - 2 * margin.y) / (high - low || 1));
  const half = { x: width / (2 * unit), y: height / (2 * unit) };
  const middle = { x: (left + right) / 2, y: (low + high) / 2 };
  return { x: scale(middle.x - half.x, middle.x + half.x, 0, width), y: scale(middle.y - half.y, middle.y + half.y, height, 0) };
}

export const circle = ({ kind, x, y, radius }) => svg("circle", { class: `dot ${kind}`, cx: x, cy: y, r: radius });

export const star = ({ x, y }) => svg("path", { class: "dot word", d: "M0-9L9 0L0 9L-9 0Z", transform: `translate(${x} ${y})` });

/** A label beside each dot where it covers no other, and beside one that must be named: in the order given. */
export function labels(dots, width, height) {
  const taken = dots.map(({ x, y, radius }) => ({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius }));
  const drawn = [];
  dots.forEach((dot, own) => {
    const text = cut(dot.word, 18);
    const possible = places(dot, text).filter((each) => inside(each, width, height));
    const place = possible.find((each) => !taken.some((other, at) => at !== own && overlap(each, other))) ?? (dot.named ? possible[0] : undefined);
    if (!place) return;
    taken.push(place);
    drawn.push(svg("text", { class: `dot-name ${dot.kind}`, x: place.x, y: place.y, "text-anchor": place.anchor }, text));
  });
  return drawn;
}

function places({ kind, x, y, radius }, text) {
  const wide = [...text].length * (kind === "word" ? LETTER * 1.3 : LETTER), gap = radius + 5;
  const box = (left, middle, anchor, at) => ({ left, right: left + wide, top: middle - 8, bottom: middle + 8, x: at, y: middle + 4.5, anchor });
  return [
    box(x + gap, y, "start", x + gap), box(x - gap - wide, y, "end", x - gap),
    box(x - wide / 2, y - gap - 7, "middle", x), box(x - wide / 2, y + gap + 7, "middle", x),
  ];
}

const inside = (box, width, height) => box.left >= 0 && box.right <= width && box.top >= 0 && box.bottom <= height;
export const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
