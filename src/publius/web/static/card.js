// A card that waits and fails in place.

import { el, put } from "./dom.js";

const PATIENCE = 150; // milliseconds before waiting is shown: quick answers do not flicker

export class Card {
  #waits = 0;

  constructor(node) {
    this.node = node;
    this.body = node.querySelector(".body");
    this.error = el("div", { class: "error", role: "alert", hidden: true });
    this.body.before(this.error);
  }

  /** Await an answer: busy while it takes, its error in place. Undefined when it failed or was overtaken. */
  async wait(answer) {
    this.#waits += 1;
    this.node.setAttribute("aria-busy", "true");
    const late = setTimeout(() => this.node.classList.add("busy"), PATIENCE);
    try {
      const found = await answer;
      if (found !== undefined) this.clear();
      return found;
    } catch (error) {
      this.fail(error);
      return undefined;
    } finally {
      clearTimeout(late);
      this.#waits -= 1;
      if (this.#waits === 0) this.#still();
    }
  }

  #still() {
    this.node.classList.remove("busy");
    this.node.setAttribute("aria-busy", "false");
  }

  get failed() {
    return !this.error.hidden;
  }

  /** Show an error in the service's words; what was shown before is hidden, because it is no answer to this. */
  fail(error) {
    const code = error.code ? ` (${[error.type, `code ${error.code}`].filter(Boolean).join(", ")})` : "";
    put(this.error, el("p", {}, error.message, el("span", { class: "soft" }, code)));
    this.error.hidden = false;
    this.body.hidden = true;
  }

  clear() {
    this.error.hidden = true;
    this.body.hidden = false;
  }

  /** An empty state: what to do to see something. */
  empty(...content) {
    this.clear();
    put(this.body, el("p", { class: "empty" }, content));
  }
}

let telling = 0;

/** Tell screen readers, once things have been quiet for a moment. */
export function announce(text) {
  clearTimeout(telling);
  telling = setTimeout(() => put(document.getElementById("announcer"), text), 600);
}
