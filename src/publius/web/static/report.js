// The view of an evaluation: its rows summed up, their curves, and the report itself.

import { call } from "./api.js";
import { Card, announce } from "./card.js";
import { COLORS, legend, lines } from "./charts.js";
import { chosen } from "./choice.js";
import { byId, el, put, table } from "./dom.js";
import { Figure } from "./figures.js";
import { atLeast, atMost, distance, number, percent } from "./format.js";
import { summary } from "./summary.js";

const TASKS = ["author", "topic"];
const UNITS = ["bound", "epsilon"]; // a mechanism on whole documents has a bound, one on words an epsilon
const AXES = { bound: "bound between any two documents, nats", epsilon: "epsilon a word" };

export class ReportView {
  #card = new Card(byId("report-card"));
  #frame = new Card(byId("report-page"));
  #figures = Object.fromEntries(UNITS.flatMap((unit) => TASKS.map((task) => [unit + task, new Figure()])));
  #shown = null; // {id, title, lines}

  constructor(session) {
    this.reports = session.reports;
    byId("report-pick").hidden = this.reports.length < 2;
    put(byId("report-id"), this.reports.map(({ id, title }) => el("option", { value: id }, title)));
    byId("report-id").addEventListener("change", () => this.#open(byId("report-id").value));
    byId("report-show").addEventListener("click", () => this.#embed());
    byId("report-tab").addEventListener("click", () => this.#newTab());
  }

  /** Opened, or epsilon moved, which only moves the mark. */
  refresh(changed) {
    if (!this.reports.length) return this.#none();
    if (this.#shown === null) return this.#open(this.reports[0].id);
    return (changed === undefined || UNITS.some((unit) => changed.has(unit))) && this.#show();
  }

  #none() {
    put(this.#card.body, el("div", { class: "empty" },
      el("p", {}, "No evaluation is open. Evaluate a labelled corpus of your own, then open its folder:"),
      el("p", {}, el("code", {}, "publius evaluate CORPUS --output results")),
      el("p", {}, el("code", {}, "publius explore --report results"))));
  }

  async #open(id) {
    this.#shown = { id, title: "", lines: [] };
    byId("report-page").hidden = true;
    put(byId("report-frame"));
    const found = await this.#card.wait(call(`/v1/reports/${encodeURIComponent(id)}`));
    if (found === undefined || this.#shown.id !== id) return;
    this.#shown = { id, title: found.title, lines: summary(found.rows) };
    byId("report-page").hidden = false;
    this.#show();
    announce(`The evaluation ${found.title} is shown.`);
  }

  #show() {
    const { title, lines: found } = this.#shown;
    if (!found.length) return;
    put(byId("report-title"), `Evaluation: ${title}`);
    const charts = UNITS.flatMap((unit) => TASKS.map((task) => this.#chart(task, unit, found))).filter(Boolean);
    put(this.#card.body,
      el("p", { class: "note" }, "The strongest of all adversaries tried decides. An interval is shown where one repeat was run; the report itself has them for all."),
      el("div", { class: "charts" }, charts), resultTable(found));
    charts.forEach((chart) => chart.paint());
  }

  #chart(task, unit, found) {
    const scored = found.filter((line) => line[task]);
    const names = [...new Set(scored.filter((line) => unitOf(line) === unit).map((line) => line.mechanism))];
    if (!names.length) return null;
    const series = names.map((name, at) => ({
      name, color: 1 + (at % COLORS),
      points: scored.filter((line) => line.mechanism === name).sort((a, b) => a[unit] - b[unit])
        .map((line) => ({ x: line[unit], y: line[task].accuracy, low: line[task].low, high: line[task].high })),
    }));
    const title = task === "author" ? "Authors named by the strongest adversary" : "Topics named by the best classifier";
    const options = { series, levels: levels(scored, task), mark: chosen(unit), markName: unit, xLabel: AXES[unit], yLabel: `share of ${task}s named`, yFormat: percent, yHigh: 1 };
    const node = el("section", { class: "chart" }, el("h3", {}, title), this.#figures[unit + task].node);
    const paint = () => this.#figures[unit + task].show(title, described(series), lines(options),
      { key: legend(series), table: () => seriesTable(title, unit, series) });
    return Object.assign(node, { paint });
  }

  async #ticket() {
    const found = await this.#frame.wait(call(`/v1/reports/${encodeURIComponent(this.#shown.id)}/ticket`, {}));
    return found?.address;
  }

  /** The report has a policy of its own and runs no script; the frame forbids everything besides. */
  async #embed() {
    const address = await this.#ticket();
    if (address) put(byId("report-frame"), el("iframe", { src: address, sandbox: "", title: `Report: ${this.#shown.title}`, referrerpolicy: "no-referrer" }));
  }

  async #newTab() {
    const address = await this.#ticket();
    if (address) window.open(address, "_blank", "noopener,noreferrer");
  }
}

function levels(scored, task) {
  const clean = scored.find((line) => unitOf(line) === null);
  const chance = { name: `chance ${percent(scored[0][task].chance)}`, y: scored[0][task].chance };
  return clean ? [{ name: `unprotected ${percent(clean[task].accuracy)}`, y: clean[task].accuracy }, chance] : [chance];
}

const described = (series) =>
  series.map((each) => `${each.name}: ${each.points.map((point) => `${percent(point.y)} at ${number(point.x)}`).join(", ")}`).join("; ");

const unitOf = ({ mechanism, bound }) => (mechanism === "clean" ? null : bound === null ? "epsilon" : "bound");

const seriesTable = (title, unit, series) => table(title, [["mechanism", "text"], [unit, "number"], ["share", "number"]],
  series.flatMap((each) => each.points.map((point) => [each.name, number(point.x), percent(point.y)])));

function resultTable(found) {
  const repeated = found.some((line) => line.repeats > 1);
  const columns = [["mechanism", "text"], ["at", "number"], ["authors named", "number"], ["by", "text"], ["topics named", "number"], ["by", "text"],
    ["words changed", "number"], ["mean distance", "number"], ...(repeated ? [["repeats", "number"]] : [])];
  return table("Results", columns, found.map((line) => [
    unitOf(line) === null ? "unprotected" : line.mechanism, at(line),
    share(line.author), line.author?.adversary ?? "–", share(line.topic), line.topic?.adversary ?? "–",
    percent(line.changed), line.mean_distance === null ? "–" : distance(line.mean_distance), ...(repeated ? [String(line.repeats)] : []),
  ]));
}

const at = (line) => (unitOf(line) === null ? "–" : `${unitOf(line)} ${number(line[unitOf(line)])}`);

/** A share with its interval below. */
function share(finding) {
  if (!finding) return "–";
  return el("span", {}, percent(finding.accuracy), finding.low === null ? null : el("small", {}, `${atLeast(finding.low)} – ${atMost(finding.high)}`));
}
