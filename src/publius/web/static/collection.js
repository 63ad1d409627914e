// The view of a summary: how sure its counts will be, from public numbers alone, and the pages of summaries made.

import { Channel, call } from "./api.js";
import { axes, scale } from "./axes.js";
import { Card, announce } from "./card.js";
import { legend, lines } from "./charts.js";
import { problem } from "./controls.js";
import { byId, el, put, svg, table, typed } from "./dom.js";
import { Figure } from "./figures.js";
import { integer, number, percent, plural, rounded } from "./format.js";

const PAUSE = 120; // milliseconds
const STEPS = 200;
const LOW = 0.05, HIGH = 10; // epsilon, as the service's curve has it
const MANY = [1, 2, 5, 10]; // times the average count
const OWN_CELLS = 2; // "none of these" and "no words"
const WHOLE = { authors: 1e9, strata: 1e5, themes: 1e5, c: 1000 };
const box = (name) => byId(`summary-${name}`);

export class SummaryView {
  #card = new Card(byId("summary-card"));
  #frame = new Card(byId("summary-page"));
  #channel = new Channel("/v1/accuracy");
  #intervals = new Figure();
  #curve = new Figure();
  #later = 0;

  constructor(session, refreshSession) {
    this.refreshSession = refreshSession;
    this.#offer(session);
    for (const name of Object.keys(WHOLE)) box(name).addEventListener("input", () => this.#changed());
    box("epsilon").addEventListener("input", () => {
      box("epsilon-number").value = rounded(LOW * (HIGH / LOW) ** (Number(box("epsilon").value) / STEPS));
      this.#changed();
    });
    box("epsilon-number").addEventListener("input", () => this.#changed());
    byId("summary-show").addEventListener("click", () => this.#embed());
    byId("summary-tab").addEventListener("click", () => this.#newTab());
    byId("summary-id").addEventListener("change", () => put(byId("summary-frame")));
    this.#showDial();
  }

  /** Opened: summaries may have been made meanwhile. */
  async refresh(changed) {
    if (changed) return; // nothing that is chosen for other views matters here
    this.#changed();
    this.#offer(await this.refreshSession().catch(() => ({ summaries: [] })));
  }

  #offer({ summaries }) {
    const before = byId("summary-id").value;
    put(byId("summary-id"), summaries.map(({ id, title }) => el("option", { value: id }, title)));
    if (summaries.some(({ id }) => id === before)) byId("summary-id").value = before;
    byId("summary-pick").hidden = summaries.length === 0;
    byId("summary-none").hidden = summaries.length > 0;
  }

  #changed() {
    this.#showDial();
    clearTimeout(this.#later);
    this.#later = setTimeout(() => this.#ask(), PAUSE);
  }

  #showDial() {
    const epsilon = box("epsilon-number").valueAsNumber;
    if (!(epsilon > 0)) return;
    const step = Math.round((STEPS * Math.log(epsilon / LOW)) / Math.log(HIGH / LOW));
    if (document.activeElement !== box("epsilon")) box("epsilon").value = Math.min(STEPS, Math.max(0, step));
    box("epsilon").setAttribute("aria-valuetext", `epsilon ${number(epsilon)}`);
  }

  /** The numbers asked for; null where one is none. */
  #numbers() {
    const found = Object.fromEntries(Object.keys(WHOLE).map((name) => [name, box(name).valueAsNumber]));
    const epsilon = box("epsilon-number").valueAsNumber;
    const wrong = Object.keys(WHOLE).find((name) => !(Number.isInteger(found[name]) && found[name] >= 1 && found[name] <= WHOLE[name]));
    const good = epsilon > 0 && epsilon <= 1e6;
    const cells = found.strata * (found.themes + OWN_CELLS);
    for (const name of Object.keys(WHOLE)) box(name).setAttribute("aria-invalid", String(name === wrong));
    problem(box("epsilon-number"), "summary-problem", wrong ? `Whole numbers, from 1 to ${integer(WHOLE[wrong])} there.` : !good ? "Epsilon is a positive number." : cells > 5e7 ? "That is more than 50 million counts." : null);
    return wrong || !good || cells > 5e7 ? null : { authors: found.authors, cells, epsilon, documents_per_author: found.c, strata: found.strata };
  }

  async #ask() {
    const asked = this.#numbers();
    if (asked === null) return this.#channel.drop();
    const { authors, cells, epsilon, documents_per_author: c } = asked;
    put(byId("summary-command"), typed(`publius summarize --accuracy --authors ${authors} --cells ${cells} --epsilon ${epsilon}${c > 1 ? ` --documents-per-author ${c}` : ""}`));
    const found = await this.#card.wait(this.#channel.ask(asked));
    return found && this.#show(found);
  }

  #show(found) {
    const average = (found.authors * found.documents_per_author) / found.cells;
    const marked = MANY.map((times) => ({ times, count: Math.round(times * average) }));
    put(this.#card.body,
      el("dl", { class: "tiles" }, tiles(found)),
      found.says_nothing ? el("p", { class: "caution" }, "Not even a count ten times the average could be told from an empty one: a summary would refuse, unless its sums say something. Fewer counts, or a larger epsilon.") : null,
      el("div", { class: "charts" },
        el("section", { class: "chart" }, el("h3", {}, "How sure four counts would be"), this.#intervals.node,
          el("p", { class: "note" }, `An average count is ${number(average)}: ${plural(found.authors, "author", "authors")}, ${plural(found.cells, "count", "counts")}. The bars hold together with those of all counts, at 95 %.`)),
        el("section", { class: "chart" }, el("h3", {}, "What epsilon does to that"), this.#curve.node)));
    const said = marked.map(({ times, count }) => `${times} times the average, ${integer(count)}: ${limits(count, found)}`).join("; ");
    this.#intervals.show("How sure four counts would be", `At epsilon ${number(found.epsilon)}: ${said}.`, intervals(marked, found),
      { table: () => table("How sure four counts would be", [["times the average", "text"], ["count", "number"], ["limits", "number"]], marked.map(({ times, count }) => [String(times), integer(count), limits(count, found)])) });
    const series = [["all counts together", "all_95"], ["one count", "count_95"]].map(([name, key], at) =>
      ({ name, color: at + 1, points: found.curve.map((each) => ({ x: each.epsilon, y: each[key] })) }));
    const levels = average >= 1 ? [{ name: "an average count", y: average }] : [];
    this.#curve.show("What epsilon does to that", found.curve.map((each) => `${number(each.epsilon)}: ${each.all_95}`).join("; "),
      lines({ series, levels, mark: found.epsilon, xLabel: "epsilon", yLabel: "documents off, at 95 %", yFormat: number, yLog: true }),
      { key: legend(series, (each) => integer(found[each.name === "one count" ? "count_95" : "all_95"])), table: () => table("What epsilon does to that", [["epsilon", "text"], ["one count", "number"], ["all together", "number"]], found.curve.map((each) => [number(each.epsilon), integer(each.count_95), integer(each.all_95)])) });
    announce(`At epsilon ${number(found.epsilon)} one count may be off by ${found.count_95}, all together by ${found.all_95}.`);
  }

  async #ticket() {
    const found = await this.#frame.wait(call(`/v1/reports/${encodeURIComponent(byId("summary-id").value)}/ticket`, {}));
    return found?.address;
  }

  /** The page has a policy of its own and runs no script; the frame forbids everything besides. */
  async #embed() {
    const address = await this.#ticket();
    if (address) put(byId("summary-frame"), el("iframe", { src: address, sandbox: "", title: "Page of the summary", referrerpolicy: "no-referrer" }));
  }

  async #newTab() {
    const address = await this.#ticket();
    if (address) window.open(address, "_blank", "noopener,noreferrer");
  }
}

const limits = (count, { all_95: width }) => `${integer(Math.max(0, count - width))} to ${integer(count + width)}`;

function tiles(found) {
  return [
    ["One count is off by at most, at 95 %", integer(found.count_95)],
    ["All of them together by", integer(found.all_95)],
    ["Told from an empty one from", integer(found.smallest_95)],
    ["Told from each other by a share of", percent(found.share_95)],
    ["Themes that pay, about", integer(found.themes_that_pay)],
  ].map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value)));
}

/** Four counts with the limits of all counts together; the axis stays while epsilon moves, so that limits do. */
function intervals(marked, { all_95: off }) {
  return (width) => {
    const height = 60 + 34 * marked.length;
    const area = { left: 64, right: width - 20, top: 24, bottom: height - 40, width };
    const most = Math.max(4, 2 * marked.at(-1).count);
    const x = scale(0, most, area.left, area.right);
    const y = scale(0, 1, area.bottom, area.top);
    const parts = [axes({ x, y, box: area, xLabel: "contributed documents", yLabel: "times the average", yTicks: [] })];
    marked.forEach(({ times, count }, at) => {
      const row = area.top + 20 + 34 * at;
      const [low, high] = [Math.max(0, count - off), Math.min(most, count + off)];
      parts.push(svg("g", { class: "series-1" },
        svg("text", { x: area.left - 10, y: row + 4, "text-anchor": "end" }, `× ${times}`),
        svg("path", { class: "line interval", d: `M${x(low)} ${row}H${x(high)}` }),
        svg("path", { class: "line", d: `M${x(low)} ${row - 6}v12${count + off <= most ? `M${x(high)} ${row - 6}v12` : ""}` }),
        svg("circle", { class: "marker", cx: x(count), cy: row, r: 5 })));
    });
    return { height, parts };
  };
}
