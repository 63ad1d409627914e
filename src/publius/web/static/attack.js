// What an attacker gets: never computed from the document, only from an evaluation that was loaded.

import { call } from "./api.js";
import { choice } from "./choice.js";
import { byId, el, put } from "./dom.js";
import { number, percent } from "./format.js";
import { nearestLine, summary } from "./summary.js";

let lines = null;

/** Read the reports once; a report that cannot be read says so in its own view. */
async function allLines(reports) {
  lines ??= Promise.all(reports.map(async ({ id, title }) =>
    call(`/v1/reports/${encodeURIComponent(id)}`).then(({ rows }) => summary(rows).map((line) => ({ ...line, title })), () => [])));
  return (await lines).flat();
}

/** The strongest adversary of the loaded reports at the epsilon nearest to the one chosen. */
export async function showAttack(reports) {
  const body = byId("attack-body");
  if (!reports.length) return put(body, unmeasured());
  const found = await allLines(reports);
  const { mechanism, epsilon } = choice();
  const line = nearestLine(found, mechanism, epsilon);
  return put(body, line ? measured(line, found, epsilon) : [missing(mechanism), link()]);
}

function unmeasured() {
  return [
    el("p", { class: "prose" }, "The promise bounds what anyone can learn, but between documents that are far apart it is loose. What an adversary really achieves has to be measured, with adversaries who know the mechanism:"),
    el("p", {}, el("code", {}, "publius evaluate CORPUS --output results")),
    el("p", {}, el("code", {}, "publius explore --report results")),
    el("p", { class: "note" }, "The strongest adversary of that evaluation is then shown here, at the epsilon nearest to yours."),
  ];
}

const missing = (mechanism) => el("p", { class: "prose" }, `The loaded evaluation did not try the mechanism ${mechanism}.`);

function measured(line, all, epsilon) {
  const clean = all.find((each) => each.title === line.title && each.mechanism === "clean")?.author;
  const { author } = line;
  const away = Math.abs(line.epsilon - epsilon) > 1e-9 ? `, the nearest to ${number(epsilon)} that was tried` : "";
  return [
    el("p", { class: "headline" }, el("strong", {}, percent(author.accuracy)), " of the authors named"),
    el("p", { class: "prose" }, `by the strongest adversary (${author.adversary}) at epsilon ${number(line.epsilon)}${away}. Blind guessing names ${percent(author.chance)}`,
      clean ? `; without protection ${percent(clean.accuracy)} were named (${clean.adversary}).` : "."),
    el("p", { class: "note" }, `From “${line.title}”: texts of that evaluation, not this document.`),
    link(),
  ];
}

const link = () => el("button", { type: "button", class: "quiet", click: () => byId("tab-report").click() }, "See the report");
