// What is chosen for every view: mechanism, epsilon and how text is read, and the two texts. One place, told to all.

const CHOICES = ["mechanism", "epsilon", "metric", "length", "unknown", "stop_words"];

const state = {
  mechanism: "laplace", epsilon: 10, metric: "euclidean", length: 400, unknown: "unk", stop_words: "english",
  text: "", other: "",
};
const listeners = [];

export const chosen = (name) => state[name];

/** The part of a request that says what is chosen, without `left` out. */
export function choice(...left) {
  return Object.fromEntries(CHOICES.filter((name) => !left.includes(name)).map((name) => [name, state[name]]));
}

/** Change some of it; listeners hear the names that did change. */
export function choose(part) {
  const changed = new Set(Object.keys(part).filter((name) => state[name] !== part[name]));
  Object.assign(state, part);
  if (changed.size) listeners.forEach((listener) => listener(changed));
}

export function onChoice(listener) {
  listeners.push(listener);
}
