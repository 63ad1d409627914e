// The corpus view: every text before and after, where they lie, and one of them in two panes.

import { Channel } from "./api.js";
import { Card, announce } from "./card.js";
import { byId, el, pairs, put, svg, typed } from "./dom.js";
import { Figure } from "./figures.js";
import { integer, percent, plural } from "./format.js";
import { bagWords } from "./start.js";
import { equalScales, labels } from "./wordmap.js";

const PAGE = 25; // texts in a list
const EXCERPT = 90; // characters of a text in the list
const COLORS = 9;

export class CorpusView {
  #one = new Card(byId("corpus-one"));
  #list = new Card(byId("corpus-list"));
  #map = new Card(byId("corpus-map"));
  #channel = new Channel("/v1/start/corpus");
  #mapChannel = new Channel("/v1/start/map");
  #figure = new Figure("word-map");
  #page = null;
  #places = null;
  #first = 1;
  #number = 1;
  #key = "";
  #mapKey = "";

  constructor(start, openView) {
    Object.assign(this, { start, openView });
    byId("corpus-back").addEventListener("click", () => this.#go(this.#number - 1));
    byId("corpus-on").addEventListener("click", () => this.#go(this.#number + 1));
    byId("corpus-before").addEventListener("click", () => this.#go(Math.max(1, this.#first - PAGE)));
    byId("corpus-after").addEventListener("click", () => this.#go(this.#first + PAGE));
  }

  /** Opened, or a choice changed. */
  async refresh() {
    const ready = await this.start.current();
    if (!ready) return this.#empty();
    put(byId("corpus-command"), typed(ready.plan.commands.find((each) => each.startsWith("publius obfuscate"))));
    this.#showMap(ready.answers);
    return this.#ask(ready.answers);
  }

  #empty() {
    this.#key = this.#mapKey = "";
    this.#page = null;
    const way = () => [el("span", {}, "Give your texts and say what to keep first."), el("button", { type: "button", class: "primary", click: () => this.openView("start") }, "To the first page")];
    this.#one.empty(...way());
    this.#list.empty("Each of your texts with its length, its language, what to look at, and what becomes of it.");
    this.#map.empty("Your texts among the public prototypes.");
    put(byId("corpus-command"), typed("publius obfuscate FILE --preserve topic --reference NAME --bound 7 --output DIR"));
    this.#buttons();
  }

  async #ask(answers) {
    const key = JSON.stringify([answers, this.#first, this.start.runs.run?.state]);
    if (key === this.#key && this.#page) return this.#show();
    const found = await this.#list.wait(this.#channel.ask({ ...answers, first: this.#first, count: PAGE }, key));
    if (found === undefined) {
      if (this.#list.failed) this.#one.empty("Nothing to show.");
      return undefined;
    }
    this.#key = key;
    this.#page = found;
    return this.#show();
  }

  /** Show the text of this number, with the page of the list that holds it. */
  #go(wanted) {
    const rows = this.#page?.rows ?? 1;
    this.#number = Math.min(rows, Math.max(1, wanted));
    this.#first = this.#number - ((this.#number - 1) % PAGE);
    return this.refresh();
  }

  #buttons() {
    const rows = this.#page?.rows ?? 0;
    byId("corpus-back").disabled = this.#number <= 1 || !rows;
    byId("corpus-on").disabled = this.#number >= rows;
    byId("corpus-before").disabled = this.#first <= 1 || !rows;
    byId("corpus-after").disabled = this.#first + PAGE > rows;
  }

  #show() {
    const { documents, rows, released } = this.#page;
    put(byId("corpus-list-title"), `Texts ${integer(this.#first)} to ${integer(this.#first + documents.length - 1)} of ${integer(rows)}`);
    put(this.#list.body, el("ol", { class: "texts" }, documents.map((each) => this.#item(each))));
    const one = documents.find((each) => each.number === this.#number) ?? documents[0];
    put(byId("corpus-one-title"), `Text ${integer(one.number)} of ${integer(rows)}`);
    this.#one.clear();
    put(this.#one.body, one.problem === null ? panes(one, released) : el("p", { class: "caution" }, `It cannot be read and is left out: ${one.problem}.`));
    this.#buttons();
    this.#paintMap();
    announce(`Text ${one.number} of ${rows}.`);
  }

  #item(each) {
    const facts = each.problem === null ? [plural(each.words, "word", "words"), each.language, each.outcomes[0] && `${each.outcomes[0].label} ${percent(each.outcomes[0].probability)}`] : ["left out"];
    return el("li", {}, el("button", { type: "button", class: "row", "aria-current": each.number === this.#number ? "true" : null, click: () => this.#go(each.number) },
      el("span", { class: "soft place" }, integer(each.number)),
      el("span", { class: "row-text" }, each.problem === null ? cut(each.text) : each.problem, el("small", {}, facts.filter(Boolean).join(" · ")),
        each.problem !== null || each.warnings.length ? el("small", { class: "flag" }, each.problem === null ? each.warnings.join("; ") : "cannot be read") : null)));
  }

  async #showMap(answers) {
    const key = JSON.stringify(answers);
    if (answers.preserve === "words") {
      this.#mapKey = "";
      this.#places = null;
      return this.#map.empty("Where words are kept a text has no place of its own: each word is replaced by one near it.");
    }
    if (key === this.#mapKey) return undefined;
    this.#mapKey = key;
    this.#places = await this.#map.wait(this.#mapChannel.ask(answers, key));
    if (this.#places === undefined) this.#mapKey = "";
    return this.#paintMap();
  }

  #paintMap() {
    if (!this.#places) return;
    const { documents, prototypes, rows, dimension } = this.#places;
    const flat = dimension > 2 ? ` Two of ${dimension} coordinates: what is near here may be far in the others.` : "";
    put(this.#map.body, this.#figure.node, el("p", { class: "note" }, `${documents.length < rows ? `The first ${integer(documents.length)} texts` : plural(documents.length, "text", "texts")} among ${plural(prototypes.length, "public prototype", "public prototypes")}. A color is the prototype that a text most likely becomes.${flat}`));
    this.#figure.show("Where your texts lie", `${documents.length} texts among ${prototypes.length} public prototypes.`, drawn(this.#places, this.#number));
  }
}

const cut = (text) => {
  const line = text.trim().replace(/\s+/g, " ");
  return line === "" ? "(empty)" : [...line].length > EXCERPT ? `${[...line].slice(0, EXCERPT).join("")}…` : line;
};

function panes(one, released) {
  const { text, words, unknown, padding, beyond, language, warnings, after, outcomes } = one;
  const size = after?.bag.reduce((sum, [, count]) => sum + count, 0) ?? 0;
  const facts = [["Real words", integer(words)], ["Unknown", integer(unknown)], ["Language", language ?? "unclear"]];
  if (padding) facts.push(["Pads", integer(padding)]);
  if (beyond) facts.push(["Left out", integer(beyond)]);
  return [
    warnings.map((each) => el("p", { class: "caution" }, each)),
    el("dl", { class: "tiles" }, pairs(facts)),
    el("div", { class: "panes" },
      el("section", {}, el("h3", {}, "Before"), el("blockquote", { class: "pane tall" }, text)),
      el("section", {}, el("h3", {}, released ? "After: as released" : "After: one draw, no release", el("span", { class: "soft" }, ` ${plural(size, "word", "words")}`)),
        after ? bagWords(after.bag) : el("p", { class: "note" }, "It is not in the release."),
        after?.label ? el("p", {}, "Became ", el("strong", {}, after.label)) : null)),
    outcomes.length ? el("div", { class: "block" }, el("h3", {}, "What it may become"), el("ul", { class: "likely" }, outcomes.map((each) =>
      el("li", {}, el("span", {}, each.label), el("meter", { min: 0, max: 1, value: each.probability, "aria-label": each.label }), el("span", { class: "soft" }, percent(each.probability)))))) : null,
  ];
}

/** The drawing: prototypes with their names, texts as small dots in the color of the likeliest, the open one ringed. */
function drawn({ documents, prototypes }, current) {
  return (width) => {
    const line = prototypes.every((each) => each.y === prototypes[0].y); // two topics lie on one
    const height = line ? 170 : Math.round(Math.min(460, Math.max(280, width * 0.62)));
    const { x, y } = equalScales([...prototypes, ...documents], width, height);
    const named = prototypes.map(({ label, x: px, y: py }, at) => ({ kind: "output", word: label, x: x(px), y: y(py), radius: 7, named: true, color: (at % COLORS) + 1 }));
    const open = documents.find((each) => each.number === current);
    return { height, parts: [
      ...documents.map((each) => svg("circle", { class: `text-dot series-${(each.prototype % COLORS) + 1}`, cx: x(each.x), cy: y(each.y), r: 3 })),
      ...named.map((each) => svg("circle", { class: `prototype series-${each.color}`, cx: each.x, cy: each.y, r: each.radius })),
      open ? svg("circle", { class: "open-text", cx: x(open.x), cy: y(open.y), r: 8 }) : null,
      ...labels(named, width, height),
    ].filter(Boolean) };
  };
}
