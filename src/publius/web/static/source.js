// Where a text comes in: pasted, dropped, from a file or a sample. It goes nowhere but to the service on this machine.

import { call } from "./api.js";
import { choose, chosen, onChoice } from "./choice.js";
import { byId, el, put } from "./dom.js";
import { integer } from "./format.js";

const PAUSE = 200; // milliseconds after the last key before the views follow
let samples = [];
let limit = Infinity;
let made = 0;

/** Fill every place that is marked in the page for a text. */
export function setUpSources(session) {
  samples = session.samples;
  limit = session.limits?.text_characters ?? Infinity;
  document.querySelectorAll("[data-source]").forEach(setUp);
}

function setUp(place) {
  const root = byId("source-template").content.cloneNode(true).firstElementChild;
  const source = { name: place.dataset.source, root, area: root.querySelector("textarea"), problem: root.querySelector(".problem") };
  made += 1;
  source.area.id = `source-${made}`;
  source.area.setAttribute("aria-label", place.dataset.label);
  if ("short" in place.dataset) source.area.rows = 5;
  put(place, root);
  bindArea(source);
  bindFile(source);
  bindSamples(source);
  root.querySelector(".clear").addEventListener("click", () => {
    set(source, "");
    source.area.focus();
  });
  onChoice((changed) => changed.has(source.name) && show(source));
  show(source);
}

function bindArea(source) {
  let later = 0;
  source.area.addEventListener("input", () => {
    clearTimeout(later);
    later = setTimeout(() => set(source, source.area.value), PAUSE);
  });
  source.area.addEventListener("dragover", (event) => event.preventDefault());
  source.area.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    readFile(source, event.dataTransfer.files[0]);
  });
}

function bindFile(source) {
  const input = source.root.querySelector("input[type=file]");
  input.setAttribute("aria-label", `Choose a file: ${source.area.getAttribute("aria-label")}`);
  input.addEventListener("change", () => {
    if (input.files.length) readFile(source, input.files[0]);
    input.value = "";
  });
}

async function readFile(source, file) {
  if (file.size > 4 * limit) return complain(source, tooLong(file.size));
  try {
    set(source, new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()));
  } catch {
    complain(source, "This file is not UTF-8 text. Save it as plain text in UTF-8 and choose it again.");
  }
}

function bindSamples(source) {
  const select = source.root.querySelector(".samples");
  select.hidden = samples.length === 0;
  select.setAttribute("aria-label", `A sample: ${source.area.getAttribute("aria-label")}`);
  put(select, el("option", { value: "" }, "Pick a sample"), samples.map(({ id, title }) => el("option", { value: id }, title)));
  select.addEventListener("change", async () => {
    if (!select.value) return;
    try {
      set(source, (await call(`/v1/samples/${encodeURIComponent(select.value)}`)).text);
    } catch (error) {
      complain(source, error.message);
    }
    select.value = "";
  });
}

function set(source, text) {
  if (text.length > limit) return complain(source, tooLong(text.length));
  complain(source, null);
  choose({ [source.name]: text.replace(/\r+\n?/g, "\n") }); // as the text area has it
}

const tooLong = (size) => `This text has ${integer(size)} characters; the explorer takes ${integer(limit)}. Only the first N words count anyway.`;

function complain(source, text) {
  source.problem.hidden = text === null;
  source.area.setAttribute("aria-invalid", String(text !== null));
  put(source.problem, text);
}

function show(source) {
  const text = chosen(source.name);
  if (source.area.value !== text) source.area.value = text;
  put(source.root.querySelector(".size"), text ? `${integer(text.length)} characters` : "");
  source.root.querySelector(".clear").hidden = text === "";
}
