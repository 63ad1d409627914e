// The command that does on the command line what a view of words shows.

import { chosen, onChoice } from "./choice.js";
import { byId, put } from "./dom.js";

const DEFAULTS = { metric: "euclidean", unknown: "unk", stop_words: "english" };
const plain = (value) => String(Number(value.toPrecision(12)));

/** Options that are chosen otherwise than they are by default. */
const others = (...names) => names.filter((name) => chosen(name) !== DEFAULTS[name]).map((name) => ` --${name.replace("_", "-")} ${chosen(name)}`).join("");
const strength = () => `--mechanism ${chosen("mechanism")} --epsilon ${plain(chosen("epsilon"))}`;

const COMMANDS = {
  document: () => `publius obfuscate INPUT ${strength()} --length ${chosen("length")}${others("metric", "unknown", "stop_words")} --output DIR`,
  epsilon: () => `publius compare --mechanisms ${chosen("mechanism")} --unchanged 0.5${others("metric")} --plot curves.svg`,
  words: () => `publius words ${/^[\w-]+$/.test(byId("word").value) ? byId("word").value : "WORD"} ${strength()}${others("metric")}`,
  compare: () => `publius distance A.txt B.txt --length ${chosen("length")}${others("metric", "stop_words")} --plan`,
  report: () => `publius evaluate CORPUS ${strength()} --length ${chosen("length")}${others("metric", "stop_words")} --output DIR`,
};

let view = null;

/** Show the command of the view that is open; the other views have a place of their own for theirs. */
export function showCommand(name = view) {
  view = name;
  byId("view-command").hidden = !(view in COMMANDS);
  if (view in COMMANDS) put(byId("view-command-text"), COMMANDS[view]());
}

onChoice(() => showCommand());
byId("word").addEventListener("input", () => showCommand());
