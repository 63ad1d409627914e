// The view of one document: what is read, what a draw of it looks like, what is promised.

import { showAttack } from "./attack.js";
import { BagView } from "./bag.js";
import { Channel } from "./api.js";
import { Card, announce } from "./card.js";
import { histogram } from "./charts.js";
import { choice, chosen } from "./choice.js";
import { byId, el, put, table } from "./dom.js";
import { Figure } from "./figures.js";
import { nats, number, percent } from "./format.js";
import { Tokens } from "./tokens.js";

const READING = ["text", "length", "unknown", "stop_words"];

export class DocumentView {
  #tokens = new Tokens();
  #card = new Card(byId("draw"));
  #histogramCard = new Card(byId("histogram"));
  #promiseCard = new Card(byId("promise"));
  #channel = new Channel("/v1/draw");
  #bag = new BagView();
  #figure = new Figure();
  #tiles = el("dl", { class: "tiles" });
  #frame = 0;
  #moved = 0;

  constructor(session, release) {
    this.session = session;
    this.release = release;
    byId("redraw").addEventListener("click", () => this.#ask());
    this.#card.alsoStop = () => release.stop();
    this.#card.again = () => {
      this.#ask();
      release.refresh();
    };
  }

  /** Show what is chosen; `changed` are the names that changed, or undefined when the view is opened. */
  refresh(changed) {
    this.release.show(byId("document-side"));
    showAttack(this.session.reports);
    byId("redraw").disabled = chosen("text") === "";
    if (chosen("text") === "") return this.#empty();
    if (changed === undefined || READING.some((name) => changed.has(name))) this.#tokens.read(chosen("text"), this.#key());
    this.#soon();
  }

  #key() {
    return JSON.stringify([chosen("text"), chosen("length"), chosen("unknown"), chosen("stop_words")]);
  }

  #empty() {
    this.#channel.drop();
    this.#tokens.empty();
    this.#card.empty("Paste a document, choose a file or pick a sample: what a release would keep of it appears here.");
    this.#histogramCard.empty("How far each word of the draw is from the word it came from.");
    this.#promiseCard.empty("The promise of a release, in words, once there is a text.");
  }

  /** Draw in the next frame: many moves of the dial in one frame are one question. */
  #soon() {
    if (!this.#moved) this.#moved = performance.now();
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#ask());
  }

  async #ask() {
    const key = this.#key();
    const started = this.#moved || performance.now();
    this.#moved = 0;
    const sent = choice();
    const draw = await this.#card.wait(this.#channel.ask({ text: chosen("text"), ...sent }, JSON.stringify([key, sent.mechanism, sent.metric])));
    if (draw === undefined) return this.#card.failed ? this.#noDraw() : undefined;
    this.#show(draw, key);
    return measured(started, draw.seconds);
  }

  /** A draw was refused: what was shown of another must not stand there as if it were of this choice. */
  #noDraw() {
    this.#histogramCard.empty("There is no draw.");
    this.#promiseCard.empty("There is no draw, so nothing is promised.");
  }

  #show(draw, key) {
    this.#tokens.mark(draw, key);
    put(this.#tiles, tiles(draw));
    this.#bag.show(draw.bag, draw.words);
    if (this.#bag.node.parentNode !== this.#card.body) put(this.#card.body, this.#tiles, this.#bag.node);
    this.#showHistogram(draw);
    this.#showPromise(draw);
    announce(`Drawn at epsilon ${number(draw.guarantee.epsilon)}: ${percent(draw.unchanged)} of ${draw.size - draw.padding} words stay, mean distance ${number(draw.mean_distance)}.`);
  }

  #showHistogram({ histogram: { edges, counts }, unchanged, words, mean_distance: mean }) {
    const size = words.length; // pads went nowhere
    const kept = Math.round(unchanged * size);
    const moved = withoutKept(counts, kept);
    const rows = [["stayed", kept], ...moved.map((count, at) => [`${number(edges[at])} to ${number(edges[at + 1])}`, count])];
    this.#histogramCard.clear();
    if (this.#figure.node.parentNode !== this.#histogramCard.body) put(this.#histogramCard.body, this.#figure.node);
    this.#figure.show("How far words went", `${kept} of ${size} words stayed; the mean distance is ${number(mean)}.`,
      histogram({ edges, counts: moved, kept, total: size }),
      { table: () => table("How far words went", [["distance", "text"], ["words", "number"]], rows.map(([range, count]) => [range, String(count)])) });
  }

  #showPromise({ guarantee, promise, size }) {
    this.#promiseCard.clear();
    put(this.#promiseCard.body,
      el("p", { class: "equation" },
        el("span", { class: "soft" }, "epsilon × N = "), `${nats(guarantee.epsilon)} × ${number(size, 6)} = `,
        el("strong", {}, nats(guarantee.epsilon_total))),
      el("p", { class: "note" }, el("span", { class: `evidence ${guarantee.evidence}` }, guarantee.evidence === "none" ? "no guarantee" : guarantee.evidence),
        " nats for each unit of Earth Mover’s distance between two documents."),
      el("p", { class: "prose" }, promise));
  }
}

/** Words that stayed are the first bar of their own: they are taken out of the bin that begins at 0. */
function withoutKept(counts, kept) {
  return counts.map((count, at) => (at === 0 ? Math.max(0, count - kept) : count));
}

function tiles({ unchanged, mean_distance: mean, distance, guarantee, words, padding }) {
  const rows = [
    ["Words that stay", percent(unchanged)],
    ["Mean distance of a word", number(mean)],
    ["Earth Mover’s distance", number(distance)],
    ["At epsilon", nats(guarantee.epsilon)],
    ["Real words", number(words.length, 6)],
    ["Pads", number(padding, 6)],
  ];
  return rows.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value)));
}

/** Leave in the browser's own timeline how long a move took to be seen, and of that the mechanism itself. */
function measured(started, seconds) {
  requestAnimationFrame(() => setTimeout(() => {
    performance.measure("publius-redraw", { start: started, end: performance.now(), detail: seconds });
  }));
}
