// The view of one public word: what it becomes, how likely, and how its neighborhood lies.

import { Channel } from "./api.js";
import { Card, announce } from "./card.js";
import { choice } from "./choice.js";
import { byId, el, put, svg, table } from "./dom.js";
import { Figure } from "./figures.js";
import { atLeast, atMost, distance, number, percent, plural } from "./format.js";
import { wordMap } from "./wordmap.js";

const PAUSE = 350; // milliseconds: exact probabilities of a large vocabulary take a while

export class WordsView {
  #card = new Card(byId("words-card"));
  #channel = new Channel("/v1/words");
  #figure = new Figure("word-map");
  #facts = el("dl", { class: "tiles" });
  #note = el("p", { class: "note" });
  #outputs = el("div", { class: "block" });
  #neighbors = el("div", { class: "block" });
  #later = 0;

  constructor() {
    this.#card.again = () => this.#ask();
    byId("word-show").addEventListener("click", () => this.#ask());
    byId("word").addEventListener("keydown", (event) => event.key === "Enter" && this.#ask());
    byId("word-count").addEventListener("change", () => this.#ask());
  }

  /** Opened, or a choice changed: ask again when things have been still for a moment. */
  refresh(changed) {
    clearTimeout(this.#later);
    if (changed && ![...changed].some((name) => ["mechanism", "epsilon", "metric"].includes(name))) return;
    this.#later = setTimeout(() => this.#ask(), changed ? PAUSE : 0);
  }

  async #ask() {
    const word = byId("word").value.trim();
    if (word === "") {
      this.#channel.drop();
      return this.#card.empty("Type a word: what it is likely to become, and how likely, appears here.");
    }
    const body = { word, count: Number(byId("word-count").value), ...choice("length", "unknown", "stop_words") };
    const answer = await this.#card.wait(this.#channel.ask(body, JSON.stringify([word, body.mechanism, body.metric, body.count])));
    return answer && this.#show(answer);
  }

  #show(answer) {
    put(byId("words-title"), "What becomes of ", el("q", {}, answer.word));
    put(this.#facts, tiles(answer));
    put(this.#note, answer.exact ? "Probabilities are exact." : `From ${plural(answer.draws, "draw", "draws")}: it stays with ${atLeast(answer.stay_low)} to ${atMost(answer.stay_high)} (99 % interval).`);
    put(this.#outputs, el("h3", {}, "Likely outputs"), this.#outputTable(answer));
    put(this.#neighbors, el("h3", {}, "Nearest words"), this.#neighborTable(answer));
    put(this.#card.body, this.#facts, this.#note, el("div", { class: "word-grid" }, this.#figure.node, this.#outputs, this.#neighbors));
    this.#figure.show(`Where ${answer.word} and what it becomes lie`,
      `A projection to two dimensions. Likeliest: ${answer.outputs.slice(0, 5).map((output) => `${output.word} ${percent(output.probability)}`).join(", ")}. The tables hold the same.`,
      wordMap(answer), { key: key() });
    announce(`${answer.word} stays with probability ${percent(answer.stay)}; ${plural(answer.support, "word", "words")} make up 99 %.`);
  }

  #outputTable({ word, outputs }) {
    const most = Math.max(...outputs.filter((output) => output.word !== word).map((output) => output.probability));
    return table("Likely outputs", [["word", "text"], ["probability", "number"], ["beside each other", "text wide"], ["distance", "number"]],
      outputs.map((output) => [this.#go(output.word, output.word === word), percent(output.probability), output.word === word ? "" : bar(output.probability / most), distance(output.distance)]));
  }

  #neighborTable({ neighbors }) {
    return table("Nearest words", [["word", "text"], ["distance", "number"]], neighbors.map((neighbor) => [this.#go(neighbor.word), distance(neighbor.distance)]));
  }

  /** A word that leads on to itself. */
  #go(word, itself = false) {
    if (itself) return el("strong", {}, `${word} (stays)`);
    return el("button", { type: "button", class: "link", click: () => {
      byId("word").value = word;
      this.#ask();
    } }, word);
  }
}

function tiles({ stay, support, expected_distance: far }) {
  const rows = [["It stays", percent(stay)], ["Words that make up 99 %", number(support, 6)], ["Mean distance", number(far)]];
  return rows.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value)));
}

const bar = (share) => svg("svg", { class: "cell-bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
  svg("rect", { class: "bar kept", width: Math.max(0.5, 100 * share), height: 8 }));

function key() {
  const sign = (kind, shape) => el("li", {}, svg("svg", { width: 18, height: 18, viewBox: "-9 -9 18 18", "aria-hidden": "true" }, shape), el("span", {}, kind));
  return el("ul", { class: "legend" },
    sign("the word", svg("path", { class: "dot word", d: "M0-7L7 0L0 7L-7 0Z" })),
    sign("a likely output; its area is its probability", svg("circle", { class: "dot output", r: 7 })),
    sign("a neighbor that is no likely output", svg("circle", { class: "dot neighbor", r: 3.5 })));
}
