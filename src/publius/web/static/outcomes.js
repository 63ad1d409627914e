// The view of what a document may become where its topic or meaning is kept: how probable, where it lies, what is promised.

import { Channel } from "./api.js";
import { BagView } from "./bag.js";
import { Card, announce } from "./card.js";
import { chosen, keptChoice } from "./choice.js";
import { evidence } from "./controls.js";
import { byId, el, put, svg, table, typed } from "./dom.js";
import { Exemplar } from "./exemplar.js";
import { Figure } from "./figures.js";
import { atMost, integer, nats, number, percent, plural } from "./format.js";
import { loadReferences, opened, referenceChosen, stage } from "./kept.js";
import { outcomeMap } from "./outcomemap.js";

const FIRST = 8; // prototypes listed at most until more are asked for

export class OutcomesView {
  #card = new Card(byId("outcomes-card"));
  #mapCard = new Card(byId("outcomes-map"));
  #drawCard = new Card(byId("outcomes-draw"));
  #promiseCard = new Card(byId("outcomes-promise"));
  #channel = new Channel("/v1/outcomes");
  #figure = new Figure("word-map");
  #bag = new BagView(true);
  #exemplar = new Exemplar();
  #list = el("div", { class: "block" });
  #all = false;
  #frame = 0;

  constructor(release) {
    this.release = release;
    byId("outcomes-redraw").addEventListener("click", () => this.#ask());
    this.#card.alsoStop = () => release.stop();
    this.#card.again = () => {
      this.#ask();
      release.refresh();
    };
  }

  /** Opened, or a choice changed. */
  async refresh() {
    this.release.show(byId("outcomes-side"));
    this.#showCommand();
    byId("outcomes-redraw").disabled = chosen("text") === "";
    if (!(await this.#hasReference())) return;
    if (chosen("text") === "") return this.#empty();
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#ask());
  }

  async #hasReference() {
    try {
      await loadReferences();
    } catch (error) {
      this.#empty();
      this.#card.fail(error);
      return false;
    }
    if (referenceChosen()) return true;
    this.#empty();
    this.#card.empty("There is no public reference yet. Make one from public texts, never from the documents to be released: ",
      el("code", {}, "publius reference fit PUBLIC --label topic --name NAME"));
    return false;
  }

  #empty() {
    cancelAnimationFrame(this.#frame);
    this.#channel.drop();
    this.#card.empty("Paste a document, choose a file or pick a sample: what a release may turn it into appears here.");
    this.#others("once there is a text");
  }

  /** What is beside the list must not stand there as if it were of another choice. */
  #others(when) {
    this.#mapCard.empty(`The document among the public prototypes, ${when}.`);
    this.#drawCard.empty(`A bag of public words, ${when}.`);
    this.#promiseCard.empty(`The promise of a release, in words, ${when}.`);
  }

  async #ask() {
    if (chosen("text") === "" || !referenceChosen()) return;
    const { bound, ...rest } = keptChoice();
    put(byId("outcomes-stage"), stage());
    byId("outcomes-stage").hidden = stage() === null;
    const answer = await this.#card.wait(this.#channel.ask({ text: chosen("text"), bound, ...rest }, JSON.stringify([chosen("text"), rest])));
    if (answer === undefined && !this.#card.failed) return; // overtaken
    byId("outcomes-stage").hidden = true;
    if (answer === undefined) return this.#others("once this is put right");
    opened();
    this.#show(answer, { bound, ...rest });
  }

  #show(answer, choice) {
    const { outcomes, words, document_warning: warning } = answer;
    put(this.#card.body,
      warning && el("p", { class: "caution" }, warning),
      el("dl", { class: "tiles" }, tiles(answer)),
      el("p", { class: "note" }, `The reference knows ${plural(words.known, "word", "words")} of this document; ${integer(words.unknown)} it does not.`),
      outcomes.length ? this.#list : el("p", { class: "empty" }, "The mechanism position names no prototype: noise goes on the document’s place, and public words are drawn that lie near it."));
    this.#showList(outcomes);
    this.#showMap(answer);
    this.#showDraw(answer, choice);
    this.#showPromise(answer);
    const [first] = outcomes;
    announce(first ? `At a bound of ${nats(answer.bound)} nats it becomes ${first.label} with probability ${percent(first.probability)}.` : `Drawn at a bound of ${nats(answer.bound)} nats.`);
  }

  #showList(outcomes) {
    const likely = listed(outcomes);
    const shown = this.#all ? outcomes : likely;
    const rest = outcomes.slice(shown.length);
    const more = el("button", { type: "button", hidden: outcomes.length === likely.length, click: () => {
      this.#all = !this.#all;
      this.#showList(outcomes);
      this.#list.querySelector("button").focus();
    } }, this.#all ? `Show the ${likely.length} likeliest` : `Show all ${integer(outcomes.length)}`);
    put(this.#list,
      table("What it may become", [["prototype", "text"], ["", "text bars"], ["probability", "number"]], shown.map(row)),
      rest.length ? el("p", { class: "note" }, others(rest)) : null,
      el("div", { class: "buttons" }, more));
  }

  #showMap({ picture, outcomes, mechanism, preserve }) {
    const [first] = outcomes;
    const [a, b] = picture.coordinates;
    const flat = picture.dimension <= 2 ? "" : ` Two of ${picture.dimension} coordinates (${a} and ${b}), in which the prototypes lie furthest apart: what is near here may be far in the others.`;
    this.#mapCard.clear();
    put(this.#mapCard.body, this.#figure.node, el("p", { class: "note" }, `Prototypes are public and the same for all; the place of the document is private.${flat}`));
    this.#figure.show("Where this document lies", `Among ${picture.prototypes.length} public prototypes of the ${preserve}.${first ? ` Likeliest: ${first.label}, ${percent(first.probability)}.` : ""}`,
      outcomeMap(picture, outcomes, mechanism === "position"), { key: key(mechanism) });
  }

  #showDraw({ draw, preserve }, choice) {
    this.#drawCard.clear();
    this.#bag.show(draw.bag);
    this.#exemplar.show(choice, draw);
    put(this.#drawCard.body,
      draw.label === null ? null : el("p", { class: "headline" }, "Became ", el("strong", {}, draw.label)),
      el("p", { class: "note" }, `Every word is drawn from public words for that ${draw.label === null ? "place" : preserve}: none is taken from the document.`),
      this.#bag.node, this.#exemplar.node);
  }

  #showPromise({ bound, epsilon, strength, evidence: kind, promise }) {
    const unit = epsilon === null ? "Nothing is stated per unit of distance." : `And ${nats(epsilon)} nats for each unit of Earth Mover’s distance on the reference’s features.`;
    this.#promiseCard.clear();
    put(this.#promiseCard.body,
      el("p", { class: "equation" }, el("strong", {}, nats(bound)), el("span", { class: "soft" }, " nats between any two documents")),
      el("p", { class: "note" }, el("span", { class: `evidence ${strength}` }, strength), " ", evidence(kind), " ", unit),
      el("p", { class: "prose" }, promise));
  }

  #showCommand() {
    const { preserve, reference, bound, mechanism, length, unknown, first } = keptChoice();
    const options = [
      ["preserve", preserve], ["reference", reference ?? "NAME"], ["bound", bound], ["mechanism", mechanism], ["length", length],
      ["unknown", unknown], ["first", first],
    ].filter(([name, value]) => value !== null && USUAL[name] !== value);
    put(byId("outcomes-command"), typed(["publius obfuscate INPUT", ...options.map(([name, value]) => `--${name} ${value}`), "--output DIR"].join(" ")));
  }
}

const USUAL = { mechanism: "prototype", unknown: "drop" };

/** Those that are likelier than the least likely: of these, which come out alike, none is worth a line. */
function listed(outcomes) {
  const least = outcomes.at(-1)?.probability ?? 0;
  const above = outcomes.filter(({ probability }) => probability > 1.01 * least).length;
  return outcomes.slice(0, Math.min(FIRST, Math.max(1, above)));
}

function others(rest) {
  const most = rest[0].probability, sum = rest.reduce((all, each) => all + each.probability, 0);
  const each = most === rest.at(-1).probability ? `each with ${number(100 * most, 2)} %` : `with at most ${atMost(most)} each`;
  return `${plural(rest.length, "other", "others")} ${each}, ${number(100 * sum, 2)} % in all.`;
}

function tiles({ bound, strength, outcomes: [likeliest], size }) {
  const rows = [["Bound, nats", nats(bound)], ["As a promise", strength], ["Words per bag", number(size, 6)]];
  if (likeliest) rows.unshift(["Likeliest outcome", percent(likeliest.probability)]);
  return rows.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value)));
}

/** A prototype, and of its typical words those that do not name it already. */
const row = ({ label, words, probability }) => [
  [label, el("small", {}, words.filter((word) => !label.split(", ").includes(word)).join(", "))], bar(probability), percent(probability),
];

const bar = (share) => svg("svg", { class: "cell-bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
  svg("rect", { class: "bar kept", width: Math.max(0.5, 100 * share), height: 8 }));

function key(mechanism) {
  const sign = (text, shape) => el("li", {}, svg("svg", { width: 18, height: 18, viewBox: "-9 -9 18 18", "aria-hidden": "true" }, shape), el("span", {}, text));
  const position = mechanism === "position";
  return el("ul", { class: "legend" },
    sign("this document", svg("path", { class: "dot word", d: "M0-7L7 0L0 7L-7 0Z" })),
    position ? null : sign("a prototype; its area is its probability", svg("circle", { class: "dot output", r: 7 })),
    sign(position ? "a prototype" : "an improbable one", svg("circle", { class: "dot neighbor", r: 3.5 })),
    position ? sign("the box that a place is clipped to before the noise", svg("rect", { class: "box", x: -7, y: -5, width: 14, height: 10 })) : null);
}
