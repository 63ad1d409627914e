// The view of epsilon: curves of what it does to this document, for each mechanism that is ticked.

import { Channel, STOPPED } from "./api.js";
import { Card } from "./card.js";
import { COLORS, legend, lines, valueAt } from "./charts.js";
import { choice, chosen } from "./choice.js";
import { allMechanisms, onMechanisms } from "./controls.js";
import { Unfolding, byId, el, pairs, put, table } from "./dom.js";
import { Figure } from "./figures.js";
import { atLeast, number, percent } from "./format.js";

const FIGURES = ["unchanged", "distance", "utility", "exponent"];

export class EpsilonView {
  #card = new Card(byId("curves"));
  #channels = new Map();
  #found = new Map(); // mechanism -> its answer for #key
  #failed = new Map(); // mechanism -> what the service said
  #key = null;
  #ticked = null;
  #figures = Object.fromEntries(FIGURES.map((name) => [name, new Figure()]));
  #problems = el("div", {});
  #grid = el("div", { class: "charts" });

  constructor() {
    onMechanisms(() => this.#ticked && this.#tick());
  }

  /** Curves depend on the text and its reading, not on epsilon: a moved dial only moves the mark. */
  refresh() {
    if (this.#ticked === null) this.#tick();
    if (chosen("text") === "") return this.#empty();
    const key = JSON.stringify([chosen("text"), chosen("other"), choice("epsilon", "mechanism")]);
    if (key !== this.#key) this.#forget(key);
    const missing = [...this.#ticked].filter((name) => !this.#found.has(name) && !this.#failed.has(name));
    missing.forEach((name) => this.#ask(name));
    return this.#show();
  }

  #forget(key) {
    this.#key = key;
    this.#found.clear();
    this.#failed.clear();
  }

  #empty() {
    this.#key = null;
    this.#channels.forEach((channel) => channel.drop());
    this.#card.empty("The curves of a document appear here: paste one, choose a file or pick a sample.");
  }

  /** A box for each mechanism that is offered; made again when more become known. */
  #tick() {
    this.#ticked ??= new Set([chosen("mechanism")]);
    const boxes = allMechanisms().filter((each) => each.available).map((each) => this.#box(each));
    const others = allMechanisms().filter((each) => !each.available);
    const unoffered = new Unfolding(`${others.length} are not offered here`);
    unoffered.set(() => reasons(others));
    put(byId("curve-mechanisms"), el("legend", { class: "visually-hidden" }, "Mechanisms to draw"), boxes, others.length ? unoffered.node : null);
  }

  #box({ name, exact }) {
    const box = el("input", { type: "checkbox", value: name, checked: this.#ticked.has(name) });
    box.addEventListener("change", () => this.#toggle(name, box.checked));
    return el("label", { class: "check" }, box, el("span", {}, name, " ", el("span", { class: "soft" }, exact ? "exact" : "from draws")));
  }

  #toggle(name, on) {
    if (on) this.#ticked.add(name);
    else this.#ticked.delete(name);
    this.refresh();
  }

  async #ask(name) {
    const key = this.#key;
    if (!this.#channels.has(name)) this.#channels.set(name, new Channel("/v1/curve"));
    const body = { text: chosen("text"), ...(chosen("other") ? { other: chosen("other") } : {}), ...choice("mechanism"), mechanism: name, mechanisms: [name] };
    const asked = this.#channels.get(name).ask(body, key);
    const answer = asked.catch((error) => {
      if (this.#key === key) this.#failed.set(name, error);
    });
    const found = await this.#card.wait(Object.assign(answer, { watch: asked.watch }));
    if (this.#key !== key) return;
    if (found !== undefined) this.#found.set(name, found);
    this.#show();
  }

  #shown() {
    return allMechanisms().map(({ name }, at) => ({ name, color: 1 + (at % COLORS), answer: this.#found.get(name) }))
      .filter(({ name, answer }) => answer && this.#ticked.has(name));
  }

  #show() {
    const shown = this.#shown();
    const failed = [...this.#failed].filter(([name]) => this.#ticked.has(name));
    const pending = [...this.#ticked].filter((name) => !this.#found.has(name) && !this.#failed.has(name));
    put(this.#problems,
      failed.filter(([, error]) => error.type !== STOPPED).map(([name, error]) => el("p", { class: "error", role: "alert" }, `${name}: ${error.message}`)),
      this.#stopped([...this.#ticked].filter((name) => this.#failed.get(name)?.type === STOPPED)),
      pending.length ? el("p", { class: "note" }, `Still drawing ${pending.join(", ")}. Mechanisms with exact probabilities are certified first.`) : null);
    if (this.#ticked.size === 0) return this.#card.empty("Tick a mechanism to see its curve.");
    this.#card.clear();
    put(this.#card.body, this.#problems, shown.length ? this.#grid : null);
    const charts = [this.#unchanged(shown), this.#distance(shown), this.#utility(shown), this.#exponent(shown)].filter(Boolean);
    if (shown.length) put(this.#grid, charts);
    return charts.forEach((chart) => chart.paint());
  }

  #stopped(names) {
    if (names.length === 0) return null;
    const again = () => {
      names.forEach((name) => this.#failed.delete(name));
      this.refresh();
    };
    return el("div", { class: "caution", role: "alert" },
      el("p", {}, `Stopped as you said: ${names.join(", ")}. Nothing half-made is kept.`),
      el("div", { class: "buttons" }, el("button", { type: "button", class: "again", click: again }, "Start again")));
  }

  #unchanged(shown) {
    const series = shown.map(({ name, color, answer }) => ({
      name, color,
      points: answer.curves[0].points.map((point) => ({ x: point.epsilon, y: point.unchanged, low: point.unchanged_low, high: point.unchanged_high })),
    }));
    return this.#chart("unchanged", "Words that stay", { series, yLabel: "share of words that stay", yFormat: percent, yHigh: 1 },
      "Where a line is from draws, its band is the interval of the share.");
  }

  #distance(shown) {
    const series = shown.map(({ name, color, answer }) => ({
      name, color, points: answer.curves[0].points.map((point) => ({ x: point.epsilon, y: point.mean_distance })),
    }));
    return this.#chart("distance", "How far a word goes", { series, yLabel: "mean distance of a word", yFormat: number });
  }

  #utility(shown) {
    const found = shown.find(({ answer }) => answer.utility?.length);
    if (!found) return null;
    const { utility } = found.answer;
    const series = [{ name: "95 % of releases stay within", color: found.color, points: utility.map((point) => ({ x: point.epsilon, y: point.distance_95_at_most })) }];
    const nearer = valueAt(utility.map((point) => ({ x: point.epsilon, y: point.bound })), chosen("epsilon"));
    return this.#chart("utility", `Utility bound of ${found.name}`, { series, yLabel: "Earth Mover’s distance to the original", yFormat: number },
      `Proven for every document of N words, so it is cautious.${nearer === null || nearer < 0.001 ? "" : ` A release is nearer to the original than the second document is with probability at least ${atLeast(nearer)}.`}`);
  }

  #exponent(shown) {
    const series = shown.filter(({ answer }) => answer.exponent?.length).map(({ name, color, answer }) => ({
      name, color, points: answer.exponent.map((point) => ({ x: point.epsilon, y: point.exponent })),
    }));
    const apart = shown.find(({ answer }) => Number.isFinite(answer.distance_to_other))?.answer.distance_to_other;
    return series.length > 0 && this.#chart("exponent", "Formal exponent to the second document", { series, yLabel: "nats", yFormat: number, yLog: true },
      `The documents are ${number(apart)} apart. A few nats are privacy in the sense people know it; thousands bound nothing in practice.`);
  }

  #chart(name, title, options, note = null) {
    const figure = this.#figures[name];
    const epsilon = chosen("epsilon");
    const atMark = (each) => {
      const value = valueAt(each.points, epsilon);
      return value === null ? "" : options.yFormat(value);
    };
    const said = options.series.map((each) => `${each.name}: ${atMark(each) || "not drawn"}`).join("; ");
    const paint = () => figure.show(title, `At epsilon ${number(epsilon)}: ${said}.`, lines({ ...options, mark: epsilon, xLabel: "epsilon a word" }),
      { key: legend(options.series, atMark), table: () => pointTable(title, options) });
    const node = el("section", { class: "chart" }, el("h3", {}, title), figure.node, note ? el("p", { class: "note" }, note) : null);
    return Object.assign(node, { paint });
  }
}

const reasons = (others) => el("dl", { class: "facts" }, pairs(others.map(({ name, reason }) => [name, reason ?? "not offered on these vectors"])));

function pointTable(title, { series, yFormat }) {
  const rows = series.flatMap((each) => each.points.map((point) => [
    each.name, number(point.x, 4), Number.isFinite(point.low) && point.high > point.low ? `${yFormat(point.y)} (${yFormat(point.low)} to ${yFormat(point.high)})` : yFormat(point.y),
  ]));
  return table(title, [["mechanism", "text"], ["epsilon", "number"], ["value", "number"]], rows);
}
