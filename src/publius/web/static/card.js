// A card that waits and fails in place.

import { STOPPED } from "./api.js";
import { el, put } from "./dom.js";
import { stageItem } from "./stages.js";

const PATIENCE = 150; // milliseconds before waiting is shown: quick answers do not flicker
const LONG = 1000; // milliseconds after which it is shown how far it is
const EVERY = 600;

export class Card {
  #waits = 0;
  #watches = new Set();
  #later = 0;
  #list = el("ol", {});
  #cancel = el("button", { type: "button", class: "cancel", click: () => this.#stop() }, "Cancel");
  again = null; // what asks anew after a stop
  alsoStop = null; // what stops what waits behind it

  constructor(node) {
    this.node = node;
    this.body = node.querySelector(".body");
    this.error = el("div", { class: "error", role: "alert", hidden: true });
    this.progress = el("div", { class: "stages", hidden: true }, this.#list, el("div", { class: "buttons" }, this.#cancel));
    this.body.before(this.error, this.progress);
  }

  /** Await an answer: busy while it takes, its error in place. Undefined when it failed or was overtaken. */
  async wait(answer) {
    this.#waits += 1;
    this.node.setAttribute("aria-busy", "true");
    const late = setTimeout(() => this.node.classList.add("busy"), PATIENCE);
    const { watch } = answer;
    if (watch) this.#watch(watch);
    try {
      const found = await answer;
      if (found !== undefined) this.clear();
      return found;
    } catch (error) {
      this.fail(error);
      return undefined;
    } finally {
      clearTimeout(late);
      this.#watches.delete(watch);
      this.#waits -= 1;
      if (this.#waits === 0) this.#still();
    }
  }

  #still() {
    this.node.classList.remove("busy");
    this.node.setAttribute("aria-busy", "false");
    clearTimeout(this.#later);
    this.progress.hidden = true;
    put(this.#list);
  }

  #watch(watch) {
    if (this.#watches.size === 0) {
      clearTimeout(this.#later);
      this.#later = setTimeout(() => this.#look(), LONG);
    }
    this.#watches.add(watch);
  }

  /** Show how far it is, and ask again: what has no stages is only busy. */
  async #look() {
    const found = await Promise.all([...this.#watches].map((watch) => watch.look().catch(() => ({ state: "none" }))));
    if (this.#watches.size === 0) return;
    const running = found.filter(({ state, stage }) => state === "running" && stage);
    const waiting = found.filter(({ state }) => state === "waiting").slice(0, 1);
    const shown = running.length ? running : waiting.map((each) => ({ ...each, stage: "Waiting for other work to end" }));
    if (shown.length && this.progress.hidden) announce(`${shown[0].stage}. This can be cancelled.`);
    this.#cancel.disabled = [...this.#watches].every(({ cancelled }) => cancelled);
    put(this.#cancel, this.#cancel.disabled ? "Stopping …" : "Cancel");
    put(this.#list, shown.map((each) => stageItem({ ...each, title: each.stage, state: "running" })));
    this.progress.hidden = shown.length === 0;
    this.#later = setTimeout(() => this.#look(), EVERY);
  }

  /** Stop what this card waits for, and what would begin the same again behind it. */
  #stop() {
    this.#cancel.disabled = true;
    put(this.#cancel, "Stopping …");
    for (const watch of this.#watches) watch.cancel().catch(() => {});
    this.alsoStop?.();
  }

  get failed() {
    return !this.error.hidden;
  }

  /** Show an error in the service's words; what was shown before is hidden, because it is no answer to this. */
  fail(error) {
    const stopped = error.type === STOPPED;
    const code = error.code && !stopped ? ` (${[error.type, `code ${error.code}`].filter(Boolean).join(", ")})` : "";
    this.error.className = stopped ? "caution" : "error";
    put(this.error, el("p", {}, stopped ? "Stopped as you said: nothing half-made is kept." : error.message, el("span", { class: "soft" }, code)),
      stopped && this.again ? el("div", { class: "buttons" }, el("button", { type: "button", class: "again", click: () => this.again() }, "Start again")) : null);
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
