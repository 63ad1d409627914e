// Rows of an evaluation summed up: for each mechanism and epsilon the strongest adversary and the best topic classifier.

const HOLDER = "originals"; // of unprotected texts who holds the originals names every author: it says nothing

/** Lines in the order of the rows: {mechanism, epsilon, bound, repeats, changed, mean_distance, author, topic}. */
export function summary(rows) {
  const settings = grouped(rows, (row) => JSON.stringify([row.mechanism, row.epsilon, row.bound ?? null]));
  return [...settings.values()].map((found) => ({
    mechanism: found[0].mechanism,
    epsilon: found[0].epsilon,
    bound: found[0].bound ?? null,
    repeats: new Set(found.map((row) => row.repeat)).size,
    changed: mean(found.map((row) => row.changed)),
    mean_distance: mean(found.map((row) => row.mean_distance)),
    author: best(found.filter((row) => row.task === "author" && !(row.mechanism === "clean" && row.adversary === HOLDER))),
    topic: best(found.filter((row) => row.task === "topic")),
  }));
}

function grouped(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) {
    const key = keyOf(row);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return groups;
}

/** Null where a mechanism has no such figure. */
const mean = (values) => (values.includes(null) || values.includes(undefined) ? null : values.reduce((sum, value) => sum + value, 0) / values.length);

/**
 * The highest mean accuracy over repeats. Its interval is the row's own for one repeat; repeats share their texts, so
 * rows of several are not pooled into one: the report itself has their intervals.
 */
function best(rows) {
  const findings = [...grouped(rows, (row) => row.adversary).values()].map((found) => ({
    adversary: found[0].adversary,
    accuracy: mean(found.map((row) => row.accuracy)),
    chance: found[0].chance,
    low: found.length === 1 ? found[0].low : null,
    high: found.length === 1 ? found[0].high : null,
  }));
  return findings.reduce((top, each) => (top === null || each.accuracy > top.accuracy ? each : top), null);
}

/** Of the lines that name authors under `mechanism`, the one whose epsilon is nearest as a ratio. */
export function nearestLine(lines, mechanism, epsilon) {
  const tried = lines.filter((line) => line.mechanism === mechanism && line.epsilon !== null && line.author);
  const far = (line) => Math.abs(Math.log(line.epsilon / epsilon));
  return tried.reduce((nearest, line) => (nearest === null || far(line) < far(nearest) ? line : nearest), null);
}
