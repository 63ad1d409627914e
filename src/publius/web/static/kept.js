// The choices where a document's topic or meaning is kept: which of them, the public reference, the bound.

import { call } from "./api.js";
import { choose, chosen, keepsWords, onChoice } from "./choice.js";
import { problem } from "./controls.js";
import { byId, el, put } from "./dom.js";
import { integer, nats, plural } from "./format.js";

const LOWEST = 1;
const HIGHEST = 15; // nats
let references = null;
let loading = null;

/** What the service says of the reference that is chosen. */
export const referenceChosen = () => references?.find((each) => each.name === chosen("reference"));

/** The names of the references that can keep this; none before they were asked for. */
export const keeping = (preserve) => (references ?? []).filter(({ keeps, fault }) => fault === null && preserve in keeps).map(({ name }) => name);

/** Keep the controls and the choice together; `open(preserve)` opens the view that what is to be kept belongs to. */
export function setUpKept(open) {
  byId("preserve").addEventListener("change", (event) => open(event.target.value));
  byId("reference").addEventListener("change", (event) => pick(event.target.value));
  byId("bound").addEventListener("input", (event) => choose({ bound: Number(event.target.value) }));
  byId("bound-number").addEventListener("input", (event) => typed(event.target));
  byId("bound-number").addEventListener("blur", showBound);
  bindNumber("kept_length", 20000, "N is a whole number from 1 to 20,000.");
  bindNumber("first", 1e6, "A whole number from 1, or nothing for all words.", true);
  for (const name of ["kept_mechanism", "kept_unknown"]) byId(name).addEventListener("change", (event) => choose({ [name]: event.target.value }));
  onChoice((changed) => {
    if (changed.has("preserve")) showLevel();
    if (changed.has("bound")) showBound();
  });
  showLevel();
  showBound();
}

/** Ask once which references there are, and choose one: one of the user's own that keeps what is asked for, if any. */
export async function loadReferences() {
  loading ??= call("/v1/references");
  try {
    const found = await loading;
    if (references === null) offer(found.references);
  } catch (error) {
    loading = null;
    throw error;
  }
}

/** There is a new one: know it, and choose it. */
export async function reloadReferences(name) {
  if (references?.some((each) => each.name === name)) return chosen("reference") === name ? undefined : pick(name);
  loading = null;
  references = null;
  await loadReferences();
  return pick(name);
}

function offer(found) {
  references = found;
  put(byId("reference"), references.map(({ name, fault }) => el("option", { value: name, disabled: fault !== null, title: fault }, fault ? `${name} – ${fault}` : name)));
  const sound = references.filter(({ fault }) => fault === null);
  const first = sound.find(({ keeps }) => chosen("preserve") in keeps) ?? sound[0];
  if (first) pick(first.name);
}

/** It is stored and open now: the next time there is nothing to wait for. */
export function opened() {
  Object.assign(referenceChosen(), { made: true, ready: true });
}

/** What is done before the first answer with this reference, or null. */
export function stage() {
  const { name, made, ready } = referenceChosen();
  if (ready) return null;
  return made ? `Opening the reference ${name} …` : `Making the reference ${name} from the packaged vectors. It is made once, which may take a minute …`;
}

function pick(name) {
  const { keeps } = references.find((each) => each.name === name);
  byId("reference").value = name;
  choose({ reference: name, preserve: keepsWords() || chosen("preserve") in keeps ? chosen("preserve") : Object.keys(keeps)[0] });
  showLevel();
}

/** Only the controls of what is kept are there; what the reference cannot keep cannot be chosen. */
function showLevel() {
  const reference = referenceChosen();
  byId("for-words").hidden = !keepsWords();
  byId("for-documents").hidden = keepsWords();
  byId("preserve").value = chosen("preserve");
  for (const option of byId("preserve").options) option.disabled = !(option.value === "words" || !reference || option.value in reference.keeps);
  if (reference) put(byId("reference-note"), described(reference));
}

function described({ size, keeps, learned_from: from }) {
  const sets = keeps[chosen("preserve")]?.prototypes ?? [];
  const prototypes = sets.length ? `${sets.map(integer).join(", ")} prototypes; ` : "";
  return `${plural(size, "word", "words")}, ${prototypes}from ${from}.`;
}

function showBound() {
  const bound = chosen("bound");
  byId("bound").value = bound;
  byId("bound").setAttribute("aria-valuetext", `${nats(bound)} nats between any two documents`);
  if (document.activeElement === byId("bound-number")) return;
  byId("bound-number").value = bound;
  problem(byId("bound-number"), "bound-problem", null);
}

function typed(box) {
  const good = box.valueAsNumber >= LOWEST && box.valueAsNumber <= HIGHEST;
  problem(box, "bound-problem", good ? null : `A bound from ${LOWEST} to ${HIGHEST} nats; the command takes others.`);
  if (good) choose({ bound: box.valueAsNumber });
}

function bindNumber(name, most, wrong, optional = false) {
  const box = byId(name);
  box.value = chosen(name) ?? "";
  box.addEventListener("input", () => {
    const empty = optional && box.value === "" && !box.validity.badInput;
    const good = empty || (Number.isInteger(box.valueAsNumber) && box.valueAsNumber >= 1 && box.valueAsNumber <= most);
    problem(box, `${name}-problem`, good ? null : wrong);
    if (good) choose({ [name]: empty ? null : box.valueAsNumber });
  });
}
