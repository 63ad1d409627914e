// A figure: a picture drawn at the width there is, with a title for those who do not see it, and its table.

import { Unfolding, el, put, svg } from "./dom.js";

const NARROWEST = 220; // pixels; below, a drawing is cut rather than turned inside out
let count = 0;

/**
 * A figure that draws itself again when its width changes.
 *
 * `draw(width)` gives {height, parts}; `title` says what it is, `description` what it shows; `key` is its legend and
 * `table` makes the table of the same figures.
 */
export class Figure {
  #draw = null;
  #width = 0;

  constructor(className = "") {
    this.picture = el("div", { class: "picture" });
    this.aside = el("div", { class: "aside" });
    this.table = new Unfolding("As a table");
    this.node = el("figure", { class: `figure ${className}` }, this.picture, this.aside, this.table.node);
    new ResizeObserver(() => this.#resized()).observe(this.picture);
  }

  show(title, description, draw, { key = null, table = null } = {}) {
    this.#draw = (width) => image(title, description, width, draw);
    put(this.aside, key);
    this.table.node.hidden = table === null;
    if (table) this.table.set(table);
    this.#paint();
  }

  #resized() {
    const width = this.picture.clientWidth;
    if (Math.abs(width - this.#width) <= 1) return;
    this.#width = width;
    this.#paint();
  }

  /** At the width that was last seen: asking for it here would lay out the page in the middle of a change. */
  #paint() {
    if (this.#width > 0 && this.#draw) put(this.picture, this.#draw(Math.max(NARROWEST, this.#width)));
  }
}

function image(title, description, width, draw) {
  const { height, parts } = draw(width);
  count += 1;
  const ids = [`figure-${count}-title`, `figure-${count}-description`];
  return svg("svg", { role: "img", "aria-labelledby": ids.join(" "), viewBox: `0 0 ${width} ${height}`, width, height },
    svg("title", { id: ids[0] }, title), svg("desc", { id: ids[1] }, description), parts);
}
