// What is chosen for every view: what is kept, how, how text is read, and the two texts. One place, told to all.

const CHOICES = ["mechanism", "epsilon", "metric", "length", "unknown", "stop_words"];
/** Where a topic or meaning is kept: the names of a request, and of the state. */
const KEPT = { preserve: "preserve", reference: "reference", bound: "bound", mechanism: "kept_mechanism", length: "kept_length", unknown: "kept_unknown", first: "first" };

const state = {
  mechanism: "laplace", epsilon: 5, metric: "euclidean", length: 400, unknown: "unk", stop_words: "english",
  preserve: "words", reference: null, bound: 7, kept_mechanism: "prototype", kept_length: 40, kept_unknown: "drop", first: null,
  text: "", other: "",
};
const listeners = [];

export const chosen = (name) => state[name];

/** The part of a request that says what is chosen, without `left` out. */
export function choice(...left) {
  return Object.fromEntries(CHOICES.filter((name) => !left.includes(name)).map((name) => [name, state[name]]));
}

/** The same where a document's topic or meaning is kept. */
export const keptChoice = () => Object.fromEntries(Object.entries(KEPT).map(([name, own]) => [name, state[own]]));

export const keepsWords = () => state.preserve === "words";

/** What a release is made with now. */
export const releaseChoice = () => (keepsWords() ? choice() : keptChoice());

/** Change some of it; listeners hear the names that did change. */
export function choose(part) {
  const changed = new Set(Object.keys(part).filter((name) => state[name] !== part[name]));
  Object.assign(state, part);
  if (changed.size) listeners.forEach((listener) => listener(changed));
}

export function onChoice(listener) {
  listeners.push(listener);
}
