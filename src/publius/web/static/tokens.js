// The text as a release reads it: every word marked with what becomes of it, and not by color alone.

import { Channel } from "./api.js";
import { Card } from "./card.js";
import { choice } from "./choice.js";
import { byId, el, put, table, unfolding } from "./dom.js";
import { integer, number } from "./format.js";

const TAGS = { word: "span", unknown: "u", stop: "s" };
const TITLES = { unknown: "not in the vocabulary", stop: "a stop word" };

export class Tokens {
  #card = new Card(byId("tokens"));
  #channel = new Channel("/v1/tokens");
  #words = []; // elements of what the bag holds, in the text's order
  #text = el("div", { class: "tokens", tabindex: "0", role: "region", "aria-label": "The text as read" });
  #legend = el("ul", { class: "token-legend" });
  #details = el("div", {});
  #draw = null;
  #key = null;

  /** Read `text`; `key` says which text and reading it is, so that a draw of another is not marked on it. */
  async read(text, key) {
    const unknown = choice().unknown;
    const found = await this.#card.wait(this.#channel.ask({ text, ...choice() }, key));
    if (found === undefined) return;
    this.#show(found, unknown);
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
    this.#draw = { ...draw, key };
    if (this.#key === key) this.#mark();
  }

  #show({ tokens, counts }, unknown) {
    this.#words = [];
    const parts = [];
    let beyond = "";
    for (const token of tokens) {
      if (token.kind === "beyond" || (beyond && token.kind === "gap")) beyond += token.text;
      else parts.push(this.#part(token, unknown));
    }
    put(this.#text, parts, beyond && el("span", { class: "token beyond", title: "after the first N words" }, beyond));
    put(this.#legend, legend(counts, unknown));
    put(this.#card.body, this.#legend, this.#text, this.#details);
    put(this.#details);
  }

  #part({ text, kind }, unknown) {
    if (kind === "gap") return text;
    const node = el(TAGS[kind] ?? "span", { class: `token ${kind}`, title: TITLES[kind] }, text);
    if (kind === "word" || (kind === "unknown" && unknown === "unk")) this.#words.push(node);
    return node;
  }

  #mark() {
    const { words } = this.#draw;
    if (this.#words.length > words.length) return; // not the same reading: better no mark than a wrong one
    this.#words.forEach((node, at) => markOne(node, words[at]));
    put(this.#details, unfolding("Word by word", () => pairTable(words)));
  }
}

function markOne(node, { in: from, out }) {
  const stays = from === out;
  node.classList.toggle("stays", stays);
  node.classList.toggle("changes", !stays);
  node.title = stays ? "stays in this draw" : `${node.classList.contains("unknown") ? "not in the vocabulary; " : ""}becomes ${out} in this draw`;
}

function legend(counts, unknown) {
  const unknowns = unknown === "drop" ? "left out" : "one public token";
  const rows = [
    ["stays", "stays", null, "in this draw"],
    ["changes", "changes", null, "in this draw"],
    ["unknown", "unknown", counts.unknown, unknowns],
    ["stop", "stop word", counts.stop, "left out"],
    ["beyond", "beyond", counts.beyond, "after the first N"],
  ];
  const shown = rows.filter(([, , count]) => count === null || count > 0);
  const items = shown.map(([kind, name, count, note]) =>
    el("li", {}, el("span", { class: `token ${kind}` }, name), el("span", { class: "soft" }, count === null ? note : `${integer(count)}, ${note}`)));
  if (counts.padding) items.push(el("li", {}, el("span", { class: "soft" }, `${integer(counts.padding)} unknown tokens are added, to make N words`)));
  return items;
}

const pairTable = (words) =>
  table("What each word became in this draw", [["word", "text"], ["became", "text"], ["distance", "number"]],
    words.map((word) => [word.in, word.out, number(word.distance)]));
