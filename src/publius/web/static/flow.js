// The plan of an Earth Mover's distance: two columns of words, a line for each move.

import { cut } from "./bag.js";
import { svg } from "./dom.js";
import { integer } from "./format.js";
import { overlap } from "./wordmap.js";

const ROW = 26;
const PLACES = [0.5, 0.36, 0.64, 0.24, 0.76, 0.14, 0.86]; // of the way across

/** The drawing of moves [{from, to, count, distance}]: a line is as thick as words move and labeled with how far they go. */
export function flow(moves) {
  return (width) => {
    const left = order(moves.map((move) => move.from));
    const right = beside(moves, left);
    const height = Math.max(left.size, right.size) * ROW + 34;
    const at = placer(left, right, width, height);
    const most = Math.max(...moves.map((move) => move.count));
    return {
      height,
      parts: [
        heading(at.left, width < 480 ? "first" : "first document", "end"), heading(at.right, width < 480 ? "second" : "second document", "start"),
        ...moves.map((move) => line(move, at, most)),
        ...distances(moves, at),
        ...names(left, at.left, at.fromY, "end", at.room), ...names(right, at.right, at.toY, "start", at.room),
      ],
    };
  };
}

/** Words in the order of their first move: their places in a column. */
const order = (words) => new Map([...new Set(words)].map((word, at) => [word, at]));

/** The right column, each word beside the mean of where its words come from: few lines cross. */
function beside(moves, left) {
  const from = new Map();
  for (const move of moves) {
    const found = from.get(move.to) ?? { sum: 0, count: 0 };
    from.set(move.to, { sum: found.sum + left.get(move.from) * move.count, count: found.count + move.count });
  }
  const middle = (word) => from.get(word).sum / from.get(word).count;
  return order([...from.keys()].sort((a, b) => middle(a) - middle(b)));
}

function placer(left, right, width, height) {
  const room = Math.min(170, width * 0.3);
  const rows = (size) => (at) => 34 + ((height - 34) / size) * (at + 0.5);
  const fromRow = rows(left.size), toRow = rows(right.size);
  return { left: room, right: width - room, room, fromY: (word) => fromRow(left.get(word)), toY: (word) => toRow(right.get(word)) };
}

const heading = (x, text, anchor) => svg("text", { class: "axis-name", x, y: 14, "text-anchor": anchor }, text);

function line({ from, to, count, distance: far }, at, most) {
  const start = at.left + 8, end = at.right - 8, middle = (start + end) / 2;
  const y = [at.fromY(from), at.toY(to)];
  return svg("path", { class: far > 0 ? "move" : "move still", "stroke-width": 1.5 + (8 * count) / Math.max(most, 4), d: `M${start} ${y[0]}C${middle} ${y[0]} ${middle} ${y[1]} ${end} ${y[1]}` });
}

/** How far, on each line, where the label covers no other: half way, or a little to a side. The table has all. */
function distances(moves, at) {
  const taken = [];
  return moves.map((move) => {
    const text = move.count > 1 ? `${integer(move.count)} × ${move.distance.toFixed(1)}` : move.distance.toFixed(1);
    const boxes = PLACES.map((part) => boxAt(move, at, part, text.length * 6.6 + 10));
    const box = boxes.find((each) => !taken.some((other) => overlap(each, other)));
    if (!box) return null;
    taken.push(box);
    return svg("g", { class: "move-name" },
      svg("rect", { x: box.x - box.wide / 2, y: box.y - 8, width: box.wide, height: 16, rx: 3 }),
      svg("text", { x: box.x, y: box.y + 4, "text-anchor": "middle" }, text));
  });
}

function boxAt({ from, to }, at, part, wide) {
  const [x, y] = along(at.left + 8, at.fromY(from), at.right - 8, at.toY(to), part);
  return { x, y, wide, left: x - wide / 2, right: x + wide / 2, top: y - 9, bottom: y + 9 };
}

/** A point of the line's curve: cubic, with both middle points halfway across. */
function along(x1, y1, x2, y2, t) {
  const middle = (x1 + x2) / 2, u = 1 - t;
  const at = (a, b, c, d) => u ** 3 * a + 3 * u * u * t * b + 3 * u * t * t * c + t ** 3 * d;
  return [at(x1, middle, middle, x2), at(y1, y1, y2, y2)];
}

function names(column, x, y, anchor, room) {
  return [...column.keys()].map((word) => svg("text", { class: "move-word", x, y: y(word) + 4.5, "text-anchor": anchor }, cut(word, Math.floor(room / 8))));
}
