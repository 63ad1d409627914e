// A run of the service: its stages, the time it takes, and the way to stop it.

import { call } from "./api.js";
import { el, put } from "./dom.js";

const EVERY = 600; // milliseconds
const SIGNS = { waiting: "waits", running: "now", done: "done", failed: "failed", stopped: "stopped" };

/** Asks how far the run is until it ends; `onChange(run)` hears each time. */
export class Runs {
  run = null;
  #later = 0;

  constructor(onChange) {
    this.onChange = onChange;
  }

  get running() {
    return this.run?.state === "running";
  }

  /** What the service said of it. */
  take(run) {
    this.run = run;
    clearTimeout(this.#later);
    if (this.running) this.#later = setTimeout(() => this.#ask(), EVERY);
    this.onChange(run);
  }

  async cancel() {
    this.take((await call("/v1/start/cancel", {})).run);
  }

  async #ask() {
    try {
      this.take((await call("/v1/start/run")).run);
    } catch (error) {
      this.take({ ...this.run, state: "failed", error: { message: error.message } });
    }
  }
}

/** The stages of a run, with what is left of the one that runs. */
export function stageList(run, cancel) {
  const running = run.state === "running";
  return el("div", { class: "stages" },
    el("ol", {}, run.stages.map(stageItem)),
    running ? el("div", { class: "buttons" }, el("button", { type: "button", class: "cancel", click: cancel }, "Cancel")) : null,
    run.state === "stopped" && !run.error ? el("p", { class: "note" }, "Stopped as you said. Nothing was released, and nothing half-made is left.") : null,
    run.error ? el("div", { class: "error", role: "alert" }, el("p", {}, run.error.message)) : null);
}

/** A stage in words, with a bar of its parts, the time it took, takes or still needs. */
export function stageItem({ title, state, seconds, done, total, left, notes = [] }) {
  const parts = state === "running" && total ? el("progress", { max: total, value: done, "aria-label": title }) : null;
  return el("li", { class: `stage ${state}` },
    el("span", { class: "sign", "aria-hidden": "true" }),
    el("div", { class: "stage-text" },
      el("span", {}, title), el("span", { class: "visually-hidden" }, `, ${SIGNS[state]}`),
      el("span", { class: "soft" }, time(state, seconds, left)),
      parts, state === "done" ? null : notes.map((note) => el("p", { class: "note" }, note))));
}

function time(state, seconds, left) {
  if (state === "waiting") return "";
  if (state !== "running") return duration(seconds);
  return left === null ? `${duration(seconds)} so far` : `about ${duration(left)} left`;
}

export const duration = (seconds) => (seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`);

/** Fill a node only when what it shows is another: a list that is made anew each moment cannot be read or pressed. */
export function putOnce(node, key, make) {
  if (node.dataset.key === key) return;
  node.dataset.key = key;
  put(node, make());
}
