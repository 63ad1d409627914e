// Something to read for a draw: the public passage nearest to it, quoted.

import { call } from "./api.js";
import { el, put } from "./dom.js";

export class Exemplar {
  #button = el("button", { type: "button", click: () => this.#ask() }, "Quote the nearest public sentence");
  #found = el("div", { "aria-live": "polite" });
  #asked = null;
  #number = 0;
  node = el("div", { class: "exemplar" }, el("div", { class: "buttons" }, this.#button), this.#found);

  /** Of which draw, and under which choice; what was shown for another is gone. */
  show(choice, { bag, prototype }) {
    this.#asked = { ...choice, bag: Object.fromEntries(bag), prototype };
    this.#number += 1;
    this.#button.disabled = false;
    put(this.#found);
  }

  async #ask() {
    const number = this.#number;
    this.#button.disabled = true;
    put(this.#found, el("p", { class: "note" }, "Looking through the public sentences…"));
    const shown = await call("/v1/exemplar", this.#asked).then(quotation, (error) => [el("p", { class: "error" }, error.message)]);
    if (number !== this.#number) return;
    put(this.#found, shown);
    this.#button.disabled = false;
  }
}

function quotation({ text, fault, corpus, note }) {
  if (text === null) return [el("p", { class: "note" }, `There is none: ${fault}.`)];
  return [el("blockquote", {}, text), el("p", { class: "note" }, `From ${corpus}. ${note}.`)];
}
