// A bag of words: its most frequent as bars, and all of it as a sorted list with counts.

import { el, put, svg } from "./dom.js";
import { Figure } from "./figures.js";
import { integer, plural } from "./format.js";

const TOP = 14;
const ROW = 22;

export class BagView {
  #figure = new Figure("bag-bars");
  #list = el("ol", { class: "bag-list" });
  #sorting = "name";
  #bag = [];
  #kept = new Map();

  /** `plain` bags are not set beside the words they came from. */
  constructor(plain = false) {
    this.#plain = plain;
    this.#title = el("h3", {}, "");
    this.node = el("div", { class: "bag" },
      el("h3", {}, "Most frequent"), this.#figure.node,
      el("div", { class: "card-head" }, this.#title, this.#switch()),
      el("div", { class: "scroll bag-scroll", tabindex: "0", role: "region", "aria-label": "All words of the bag, with counts" }, this.#list));
  }

  #title;
  #plain;

  /** `bag` is [[word, count], ...]; `words`, none for a plain one, says which input word became which, to set apart those that stayed. */
  show(bag, words = []) {
    this.#bag = bag;
    this.#kept = new Map();
    for (const word of words) {
      if (word.in === word.out) this.#kept.set(word.out, (this.#kept.get(word.out) ?? 0) + 1);
    }
    this.#bars();
    this.#rows();
    put(this.#title, `All ${plural(bag.length, "word", "words")}`);
  }

  #switch() {
    const choices = [["name", "A–Z"], ["count", "Count"]].map(([value, text]) => {
      const button = el("button", { type: "button", "aria-pressed": String(value === this.#sorting), click: () => this.#sort(value) }, text);
      button.dataset.value = value;
      return button;
    });
    return el("div", { class: "switch", role: "group", "aria-label": "Sort the words" }, choices);
  }

  #sort(value) {
    this.#sorting = value;
    for (const button of this.node.querySelectorAll(".switch button")) button.setAttribute("aria-pressed", String(button.dataset.value === value));
    this.#rows();
  }

  #rows() {
    const sorted = this.#sorting === "name" ? this.#bag : byCount(this.#bag);
    put(this.#list, sorted.map(([word, count]) =>
      el("li", { class: this.#kept.has(word) ? "kept" : null }, el("span", { class: "bag-word" }, word), el("span", { class: "bag-count" }, integer(count)))));
  }

  #bars() {
    const top = byCount(this.#bag).slice(0, TOP);
    const all = this.#bag.reduce((sum, [, count]) => sum + count, 0);
    const description = top.map(([word, count]) => `${word} ${count}`).join(", ");
    this.#figure.show(`The ${top.length} most frequent of ${all} words`, description, (width) => bars(top, this.#kept, width), { key: this.#plain ? null : key() });
  }
}

const byCount = (bag) => [...bag].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0], "en"));

const key = () => el("ul", { class: "legend" },
  el("li", {}, swatch("kept"), el("span", {}, "stayed")), el("li", {}, swatch("moved"), el("span", {}, "came from another word")));

const swatch = (kind) => svg("svg", { width: 14, height: 10, viewBox: "0 0 14 10", "aria-hidden": "true" }, svg("rect", { class: `bar ${kind}`, width: 14, height: 10, rx: 1 }));

function bars(top, kept, width) {
  const names = Math.min(150, Math.max(90, width * 0.32));
  const most = top[0]?.[1] ?? 1;
  const length = (count) => (count / most) * (width - names - 46);
  const parts = top.map(([word, count], at) => {
    const stayed = Math.min(count, kept.get(word) ?? 0);
    const y = at * ROW + 4;
    return svg("g", {},
      svg("text", { x: names - 8, y: y + 11, "text-anchor": "end" }, cut(word, Math.floor(names / 8))),
      svg("rect", { class: "bar kept", x: names, y, width: length(stayed), height: ROW - 8 }),
      svg("rect", { class: "bar moved", x: names + length(stayed), y, width: length(count - stayed), height: ROW - 8 }),
      svg("text", { class: "soft", x: names + length(count) + 6, y: y + 11 }, integer(count)));
  });
  return { height: Math.max(ROW, top.length * ROW), parts };
}

/** A word that fits: long ones are cut, never in half a character. */
export const cut = (word, length) => ([...word].length > length ? `${[...word].slice(0, length - 1).join("")}…` : word);
