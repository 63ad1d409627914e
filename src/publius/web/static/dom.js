// Building elements. Text is always a text node: nothing here, or anywhere on the page, parses a string as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; attributes that are null or false are left out, functions become listeners. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element, likewise. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

/** Replace what is in `node`. */
export function put(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
}

/** A command as it is typed, each option with its value on one line where there is room. */
export const typed = (command) => command.split(" --").map((part, place) => [place ? " " : null, el("span", {}, place ? `--${part}` : part)]);

export const byId = (id) => document.getElementById(id);

/** A definition list's rows from pairs of a term and a text or node. */
export function pairs(rows) {
  return rows.map(([term, text]) => el("div", {}, el("dt", {}, term), el("dd", {}, text)));
}

/** A table with a caption for screen readers; `columns` are [heading, "text" | "number"], rows arrays of texts or nodes. */
export function table(caption, columns, rows) {
  const head = columns.map(([title, kind]) => el("th", { scope: "col", class: kind }, title));
  const body = rows.map((row) =>
    el("tr", {}, row.map((cell, at) =>
      at === 0 ? el("th", { scope: "row", class: columns[at][1] }, cell) : el("td", { class: columns[at][1] }, cell))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {}, el("caption", { class: "visually-hidden" }, caption), el("thead", {}, el("tr", {}, head)), el("tbody", {}, body)));
}

/** Details whose content is made only while they are open: long tables cost nothing until they are wanted. */
export class Unfolding {
  #summary;
  #make = null;

  constructor(title) {
    this.#summary = el("summary", {}, title);
    this.node = el("details", { class: "unfolding", toggle: () => this.#fill() }, this.#summary);
  }

  /** What it unfolds to from now on; it stays open if it is. */
  set(make) {
    this.#make = make;
    this.#fill();
  }

  #fill() {
    put(this.node, this.#summary, this.node.open && this.#make ? this.#make() : null);
  }
}
