// The choices beside the views of words: the dial of epsilon, the mechanism, N, how text is read.

import { choose, chosen, keepsWords, onChoice } from "./choice.js";
import { byId, el, pairs, put } from "./dom.js";
import { integer, number, rounded } from "./format.js";

const STEPS = 200;
const STILL = 700; // milliseconds
const EVIDENCE = {
  proven: "Proven for every vocabulary.",
  certified: "Certified exactly on this vocabulary.",
  none: "Without a guarantee: for looking at only, it cannot be released.",
};

let later = 0;
const SLOW = " Each new epsilon is certified first, which may take half a minute; after that it is remembered.";

let mechanisms = [];
const named = (name) => mechanisms.find((mechanism) => mechanism.name === name);

/** What the service says of the mechanism that is chosen. */
export const mechanismChosen = () => named(chosen("mechanism"));
export const allMechanisms = () => mechanisms;

/** Fill the controls and keep them and the choice together. */
export function setUpControls(found) {
  mechanisms = found;
  fillMechanisms();
  byId("mechanism").addEventListener("change", (event) => pickMechanism(event.target.value));
  bindDial();
  bindLength();
  for (const name of ["unknown", "stop_words", "metric"]) bindSelect(name);
  onChoice((changed) => {
    if (changed.has("epsilon")) showEpsilon();
  });
  const first = named("laplace")?.available ? "laplace" : mechanisms.find((each) => each.available)?.name;
  if (first) pickMechanism(first);
  byId("length").value = chosen("length");
}

function fillMechanisms() {
  put(byId("mechanism"), mechanisms.map((each) =>
    el("option", { value: each.name, disabled: !each.available, title: each.reason }, each.available ? each.name : `${each.name} – not offered here`)));
}

/** All of them, once they are known; what is chosen stays chosen. */
export function offerMechanisms(found) {
  mechanisms = found;
  fillMechanisms();
  byId("mechanism").value = chosen("mechanism");
  offered.forEach((listener) => listener());
}

const offered = [];
export const onMechanisms = (listener) => offered.push(listener);

function pickMechanism(name) {
  const mechanism = named(name);
  clearTimeout(later);
  byId("mechanism").value = name;
  put(byId("mechanism-summary"), evidence(mechanism.evidence), ` ${mechanism.summary} ${EVIDENCE[mechanism.evidence] ?? ""}${mechanism.quick === false ? SLOW : ""}`);
  put(byId("epsilon-low"), number(mechanism.epsilon_low));
  put(byId("epsilon-high"), number(mechanism.epsilon_high));
  const fits = chosen("epsilon") >= mechanism.epsilon_low && chosen("epsilon") <= mechanism.epsilon_high;
  choose({ mechanism: name, metric: offerMetrics(mechanism), epsilon: fits ? chosen("epsilon") : rounded(mechanism.epsilon_default) });
  showEpsilon();
}

/** What is known of a guarantee, as a mark. */
export const evidence = (kind) => el("span", { class: `evidence ${kind}` }, kind === "none" ? "no guarantee" : kind);

/** Only metrics that the mechanism has can be chosen; the one chosen if it may stay, else its own first. */
function offerMetrics({ metrics }) {
  const select = byId("metric");
  for (const option of select.options) option.disabled = metrics !== undefined && !metrics.includes(option.value);
  if (select.selectedOptions[0]?.disabled) select.value = metrics[0];
  return select.value;
}

function bindDial() {
  byId("epsilon").addEventListener("input", (event) => move(atStep(Number(event.target.value))));
  byId("epsilon-number").addEventListener("input", (event) => typed(event.target));
  byId("epsilon-number").addEventListener("blur", showEpsilon);
}

/** Where an epsilon costs a certification, it is chosen once the dial or the box has been still for a moment. */
function move(epsilon) {
  clearTimeout(later);
  if (mechanismChosen().quick !== false) return choose({ epsilon });
  if (document.activeElement !== byId("epsilon-number")) byId("epsilon-number").value = epsilon;
  byId("epsilon").setAttribute("aria-valuetext", `epsilon ${number(epsilon)}`);
  later = setTimeout(() => choose({ epsilon }), STILL);
}

/** The dial is logarithmic between the ends that the service suggests for this mechanism and vocabulary. */
function atStep(step) {
  const { epsilon_low: low, epsilon_high: high } = mechanismChosen();
  return rounded(low * (high / low) ** (step / STEPS));
}

function stepOf(epsilon) {
  const { epsilon_low: low, epsilon_high: high } = mechanismChosen();
  return Math.round(STEPS * Math.min(1, Math.max(0, Math.log(epsilon / low) / Math.log(high / low) || 0)));
}

function typed(box) {
  const value = box.valueAsNumber;
  const good = Number.isFinite(value) && value > 0;
  problem(box, "epsilon-problem", good ? null : "Epsilon is a positive number.");
  if (good) move(value);
}

/** Say what is wrong with a box, or with null that nothing is. */
export function problem(box, id, text) {
  box.setAttribute("aria-invalid", String(text !== null));
  byId(id).hidden = text === null;
  put(byId(id), text);
}

function showEpsilon() {
  const epsilon = chosen("epsilon");
  const box = byId("epsilon-number");
  const dial = byId("epsilon");
  if (document.activeElement !== box) {
    box.value = epsilon;
    problem(box, "epsilon-problem", null);
  }
  if (atStep(Number(dial.value)) !== epsilon) dial.value = stepOf(epsilon);
  dial.setAttribute("aria-valuetext", `epsilon ${number(epsilon)}`);
}

function bindLength() {
  const box = byId("length");
  box.addEventListener("input", () => {
    const good = Number.isInteger(box.valueAsNumber) && box.valueAsNumber >= 1 && box.valueAsNumber <= 20000;
    problem(box, "length-problem", good ? null : "N is a whole number from 1 to 20,000.");
    if (good) choose({ length: box.valueAsNumber });
  });
}

function bindSelect(name) {
  const select = byId(name);
  select.value = chosen(name);
  select.addEventListener("change", () => choose({ [name]: select.value }));
}

/** Which vectors are used where words are replaced, and the ledger if there is one. */
export function showFacts(session, embeddings) {
  const current = embeddings.find((each) => each.current);
  const rows = keepsWords() ? [["Vectors", session.embeddings]] : [];
  if (current && keepsWords()) rows.push(["Vocabulary", `${integer(current.size)} words, ${current.dimension} dimensions`]);
  rows.push(["Ledger", session.ledger ? ledger(session.ledger) : "none: releases are not added up"]);
  rows.push(["Limits", session.limits_in_words]);
  put(byId("facts"), pairs(rows));
}

function ledger({ unit, budget, debits }) {
  const each = { epsilon: "epsilon", bound: "nats of bound" }[unit] ?? "epsilon × N";
  return `${number(budget, 6)} ${each} a document; ${integer(debits)} ${debits === 1 ? "debit" : "debits"} so far`;
}
