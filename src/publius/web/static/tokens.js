// The text as a release reads it: every word marked with what becomes of it, and not by color alone.

import { Channel } from "./api.js";
import { Card } from "./card.js";
import { choice } from "./choice.js";
import { Unfolding, byId, el, put, table } from "./dom.js";
import { distance, integer } from "./format.js";

const TAGS = { word: "span", unknown: "u", stop: "s" };
const TITLES = { unknown: "not in the vocabulary", stop: "a stop word" };

export class Tokens {
  #card = new Card(byId("tokens"));
  #channel = new Channel("/v1/tokens");
  #words = []; // [element, how many words of the bag it gives], in the text's order
  #size = 0; // words of the bag that come from the text
  #text = el("div", { class: "tokens", tabindex: "0", role: "region", "aria-label": "The text as read" });
  #legend = el("ul", { class: "token-legend" });
  #details = new Unfolding("Word by word");
  #draw = null;
  #key = null;

  /** Read `text`; `key` says which text and reading it is, so that a draw of another is not marked on it. */
  async read(text, key) {
    const asked = choice();
    if (asked.unknown === "reject") asked.unknown = "unk"; // where a release refuses, this is where to see why
    const found = await this.#card.wait(this.#channel.ask({ text, ...asked }, key));
    if (found === undefined) return;
    this.#show(found);
    this.#key = key;
    if (this.#draw?.key === key) this.#mark();
  }

  empty() {
    this.#channel.drop();
    this.#key = null;
    this.#card.empty("Unknown and stop words are set apart here once there is a text.");
  }

  /** Mark what became of each word in a draw of the text `key`. */
  mark(draw, key) {
    this.#draw = { words: draw.words, key };
    if (this.#key === key) this.#mark();
  }

  #show({ tokens, counts }) {
    const dropped = choice().unknown === "drop";
    this.#words = [];
    this.#size = counts.words;
    const parts = [];
    let beyond = "";
    for (const token of tokens) {
      if (token.kind === "beyond" || (beyond && token.kind === "gap")) beyond += token.text;
      else parts.push(this.#part(token, dropped));
    }
    put(this.#text, parts, beyond && el("span", { class: "token beyond", title: "after the first N words" }, beyond));
    put(this.#legend, legend(counts, dropped));
    this.#details.node.hidden = true; // until it is drawn
    put(this.#card.body, this.#legend, this.#text, this.#details.node);
  }

  #part({ text, kind, words }, dropped) {
    if (kind === "gap") return text;
    const node = el(TAGS[kind] ?? "span", { class: `token ${kind}`, title: TITLES[kind] }, text);
    const given = words ?? (kind === "word" || (kind === "unknown" && !dropped) ? 1 : 0);
    if (given > 0) this.#words.push([node, given]);
    return node;
  }

  #mark() {
    const { words } = this.#draw;
    this.#details.node.hidden = false;
    this.#details.set(() => pairTable(words));
    const given = this.#words.reduce((sum, [, count]) => sum + count, 0);
    if (given < this.#size) return; // not the same reading: better no mark than a wrong one
    let at = 0;
    for (const [node, count] of this.#words) {
      markOne(node, words.slice(at, Math.min(at + count, this.#size)));
      at += count;
    }
  }
}

function markOne(node, became) {
  const stays = became.length > 0 && became.every((word) => word.in === word.out);
  node.classList.toggle("stays", stays);
  node.classList.toggle("changes", !stays);
  const outputs = became.map((word) => word.out).join(", ");
  node.title = `${node.classList.contains("unknown") ? "not in the vocabulary; " : ""}${stays ? "stays in this draw" : `becomes ${outputs} in this draw`}`;
}

function legend(counts, dropped) {
  const rows = [
    ["stays", "stays", null, "in this draw"],
    ["changes", "changes", null, "in this draw"],
    ["unknown", "unknown", counts.unknown, dropped ? "left out" : "one public token"],
    ["stop", "stop word", counts.stop, "left out"],
    ["beyond", "beyond", counts.beyond, "after the first N"],
  ];
  const shown = rows.filter(([, , count]) => count === null || count > 0);
  const items = shown.map(([kind, name, count, note]) =>
    el("li", {}, el("span", { class: `token ${kind}` }, name), el("span", { class: "soft" }, count === null ? note : `${integer(count)}, ${note}`)));
  if (counts.padding) items.push(el("li", {}, el("span", { class: "soft" }, `${integer(counts.padding)} pads, public words drawn for it, make N words`)));
  return items;
}

const pairTable = (words) =>
  table("What each word became in this draw", [["word", "text"], ["became", "text"], ["distance", "number"]],
    words.map((word) => [word.in, word.out, distance(word.distance)]));
