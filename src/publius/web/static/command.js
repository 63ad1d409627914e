// The command that does on the command line what a view of words shows.

import { chosen, onChoice } from "./choice.js";
import { byId, el, put, typed } from "./dom.js";

const DEFAULTS = { metric: "euclidean", unknown: "unk", stop_words: "english" };
const plain = (value) => String(Number(value.toPrecision(12)));

/** Options that are chosen otherwise than they are by default. */
const others = (...names) => names.filter((name) => chosen(name) !== DEFAULTS[name]).map((name) => ` --${name.replace("_", "-")} ${chosen(name)}`).join("");
const strength = () => `--mechanism ${chosen("mechanism")} --epsilon ${plain(chosen("epsilon"))}`;

const COMMANDS = {
  document: () => `publius obfuscate INPUT ${strength()} --length ${chosen("length")}${others("metric", "unknown", "stop_words")} --output DIR`,
  epsilon: () => `publius compare --mechanisms ${ticked() || chosen("mechanism")} --document A.txt${chosen("other") ? " --other B.txt" : ""} ${read()}`,
  words: () => `publius words ${/^[\w-]+$/.test(byId("word").value) ? byId("word").value : "WORD"} ${strength()}${others("metric")} --outputs ${byId("word-count").value}`,
  compare: () => `publius distance A.txt B.txt ${read()} --plan\npublius guarantee --between A.txt B.txt ${strength()} ${read()}`,
  report: () => "publius report FOLDER",
};
const read = () => `--length ${chosen("length")}${others("metric", "unknown", "stop_words")}`;
const ticked = () => [...document.querySelectorAll("#curve-mechanisms input:checked")].map((box) => box.value).join(",");

let view = null;

/** Show the command of the view that is open; the other views have a place of their own for theirs. */
export function showCommand(name = view) {
  view = name;
  byId("view-command").hidden = !(view in COMMANDS);
  if (view in COMMANDS) put(byId("view-command-text"), COMMANDS[view]().split("\n").map((each) => el("div", {}, typed(each))));
}

onChoice(() => showCommand());
for (const id of ["word", "word-count", "curve-mechanisms"]) byId(id).addEventListener("input", () => showCommand());
