// Files that are given: dropped or chosen, what was found in them, how they are read.

import { call } from "./api.js";
import { Card, announce } from "./card.js";
import { el, pairs, put, table } from "./dom.js";
import { integer, percent, plural } from "./format.js";

const DELIMITERS = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", ":": "colon" };
const QUOTES = { fields: "enclose fields, which may hold line breaks", letters: "are letters: each line is a row" };
const ENCODINGS = ["utf-8", "iso-8859-1", "cp1252", "iso-8859-15", "iso8859_2", "cp1250", "utf-16"];

/** One corpus of the two: `role` is "texts" or "older"; `onChange` hears when it is another, or is read otherwise. */
export class Intake {
  given = null;

  constructor(node, role, { invite, columns, onChange }) {
    Object.assign(this, { role, invite, columns, onChange });
    this.card = new Card(node);
    this.chosen = {};
    node.addEventListener("dragover", (event) => this.#over(event, true));
    node.addEventListener("dragleave", (event) => this.#over(event, false));
    node.addEventListener("drop", (event) => {
      this.#over(event, false);
      if (event.dataTransfer.files.length) this.#send([...event.dataTransfer.files]);
    });
  }

  /** What the service holds; looked into where it was not yet. */
  async show(given, kinds) {
    this.kinds = kinds;
    this.given = given;
    if (given && !given.packaged && (!given.found || given.excerpt === undefined)) return this.#look(given.found ? said(given.found) : {});
    return this.#paint();
  }

  get found() {
    return this.given?.found ?? null;
  }

  #over(event, on) {
    event.preventDefault();
    this.card.node.classList.toggle("dropping", on);
  }

  async #send(files) {
    const sorted = files.sort((a, b) => a.name.localeCompare(b.name, "en"));
    const sent = async () => {
      let given = null;
      for (const [at, file] of sorted.entries()) {
        const query = new URLSearchParams({ role: this.role, name: file.name, more: String(at > 0) });
        given = await call(`/v1/start/files?${query}`, file.slice());
      }
      return given;
    };
    const given = await this.card.wait(sent());
    if (given === undefined) return this.#again();
    this.chosen = {};
    this.given = given;
    return this.#look({});
  }

  async #look(form) {
    this.card.again = () => this.#look(form);
    const found = await this.card.wait(call("/v1/start/look", { role: this.role, ...form }));
    if (found === undefined) return this.#again();
    this.given = found;
    this.#paint();
    announce(`${plural(found.found.rows, "text", "texts")} found in ${found.name}.`);
    return this.onChange();
  }

  /** An error stands above; the way to another file stays, and nothing is said of the one before. */
  #again() {
    this.given = null;
    this.card.body.hidden = false;
    put(this.card.body, this.#zone());
    this.onChange();
  }

  #paint() {
    this.card.clear();
    put(this.card.body, this.given?.packaged ? this.#packaged() : this.given?.found ? this.#facts() : this.#zone());
  }

  #zone() {
    return el("div", { class: "zone" },
      el("p", {}, this.invite),
      el("div", { class: "buttons" }, this.#picker("Choose a file", true), el("span", { class: "soft" }, "or drop it here")),
      el("p", { class: "note" }, "CSV with any delimiter and encoding, Excel, JSON lines, Parquet; or several files of text, Word, PDF, HTML or mail, a document each."));
  }

  #picker(title, primary = false) {
    const input = el("input", { type: "file", multiple: true, accept: this.kinds?.join(","), "aria-label": `${title}: ${this.role === "texts" ? "your texts" : "public or older texts"}`, change: () => {
      if (input.files.length) this.#send([...input.files]);
      input.value = "";
    } });
    return el("label", { class: `pick${primary ? " primary" : ""}` }, input, el("span", {}, title));
  }

  #packaged() {
    return el("div", { class: "given" }, el("p", {}, el("strong", {}, "Packaged samples")), this.#picker("A file of yours"));
  }

  #facts() {
    const { name, found, excerpt } = this.given;
    return [
      el("div", { class: "given" }, el("p", {}, el("strong", {}, name), el("span", { class: "soft" }, ` · ${bytes(this.given.size)}`)), this.#picker("Another file")),
      el("dl", { class: "tiles" }, pairs(tiles(found))),
      el("div", { class: "choices" }, this.columns(this).map(([key, title, options, value, change]) => select(`${this.role}-${key}`, title, options, value, change)),
        this.#asked(found, "encoding") ? this.#encoding(found) : null,
        this.#asked(found, "quotes") ? this.#quotes(found) : null),
      excerpt ? el("figure", { class: "excerpt" }, el("figcaption", { class: "note" }, "The first text begins"), el("blockquote", {}, excerpt)) : null,
      problems(found.problems),
      details("All columns, and how the file is read", [
        found.delimiter === null ? null : el("div", { class: "choices" }, this.#form(found)),
        columnTable(found),
      ]),
    ];
  }

  /** The delimiter and the encoding, for a table of separated values. */
  #form(found) {
    const again = (part) => this.#look({ ...said(found), text_field: null, ...part });
    return [
      select(`${this.role}-delimiter`, "Fields are separated by", Object.entries(DELIMITERS), found.delimiter, (delimiter) => again({ delimiter })),
      this.#asked(found, "encoding") ? null : this.#encoding(found),
      this.#asked(found, "quotes") ? null : this.#quotes(found),
    ];
  }

  /** Whether a part of the form of what is to be released has to be said. */
  #asked(found, name) {
    return this.role === "texts" && isGuessed(found, name);
  }

  /** Chosen by somebody where the letters of the texts alone propose it. */
  #encoding(found) {
    const encodings = ENCODINGS.includes(found.encoding) ? ENCODINGS : [found.encoding, ...ENCODINGS];
    const first = isGuessed(found, "encoding") ? [["", `choose it; it looks like ${found.encoding}`]] : [];
    return select(`${this.role}-encoding`, "Encoding", [...first, ...encodings.map((each) => [each, each])], first.length ? "" : found.encoding, (encoding) => this.#look({ ...said(found), encoding }));
  }

  /** Chosen by somebody where a text opens a quotation mark and does not close it before what could be another row. */
  #quotes(found) {
    const first = isGuessed(found, "quotes") ? [["", "choose it"]] : found.quotes === null ? [["", "not needed: no line is in doubt"]] : [];
    return select(`${this.role}-quotes`, "Quotation marks", [...first, ...Object.entries(QUOTES)], first.length ? "" : found.quotes, (quotes) => this.#look({ ...said(found), quotes }));
  }

  /** Read with another column of texts. */
  column(text_field) {
    return this.#look({ ...said(this.found), text_field });
  }
}

/** Whether the texts alone propose it, so that somebody has to say it. */
export const isGuessed = (found, name) => found.guessed.includes(name);

/** How a file is to be read, as far as somebody said it or its header does. */
function said(found) {
  return { text_field: isGuessed(found, "text_field") ? null : found.text_field, delimiter: found.delimiter, encoding: isGuessed(found, "encoding") ? null : found.encoding, quotes: isGuessed(found, "quotes") ? null : found.quotes };
}

export const bytes = (size) => (size < 1e6 ? `${integer(Math.max(1, size / 1e3))} kB` : `${(size / 1e6).toFixed(1)} MB`);

export function select(id, title, options, value, change) {
  const node = el("select", { id, change: (event) => change(event.target.value) },
    options.map(([key, text]) => el("option", { value: key, selected: key === (value ?? "") }, text)));
  return el("div", { class: "field" }, el("label", { for: id }, title), node);
}

export const details = (title, content) => el("details", { class: "more" }, el("summary", {}, title), content);

function tiles({ rows, words, languages, delimiter, encoding }) {
  const found = [["Rows", integer(rows)]];
  if (words.median !== undefined) found.push(["Words a text, median", integer(words.median)], ["Longest", integer(words.longest)]);
  if (Object.keys(languages).length) found.push(["Language", language(languages)]);
  if (encoding) found.push(["Fields end in", DELIMITERS[delimiter] ?? delimiter], ["Encoding", encoding]);
  return found;
}

function language(languages) {
  const all = Object.values(languages).reduce((sum, count) => sum + count, 0);
  const [name, count] = Object.entries(languages)[0];
  return count === all ? name : `${name} ${percent(count / all)}`;
}

function problems(all) {
  const found = all.filter((each) => !each.startsWith("no column 'id'")); // documents are numbered here
  if (!found.length) return el("p", { class: "note" }, "Nothing odd was found.");
  return el("div", { class: "block" }, el("h3", {}, "To look at"), el("ul", { class: "problems" }, found.map((text) => el("li", {}, text))),
    el("p", { class: "note" }, "Rows that cannot be read are left out of a release, and listed. Nothing is released yet."));
}

const columnTable = ({ fields }) =>
  table("Columns", [["column", "text"], ["filled", "number"], ["different values", "number"]], fields.map(({ name, filled, values }) => [name, percent(filled), integer(values)]));
