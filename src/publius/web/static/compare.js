// The view of two documents: how far they are apart, and the plan that moves one to the other.

import { Channel } from "./api.js";
import { Card, announce } from "./card.js";
import { choice, chosen } from "./choice.js";
import { byId, el, put, table } from "./dom.js";
import { Figure } from "./figures.js";
import { flow } from "./flow.js";
import { distance, integer, nats, number, plural } from "./format.js";

const PAUSE = 120; // milliseconds
const FIRST = 24; // moves drawn until more are asked for

export class CompareView {
  #card = new Card(byId("compare-card"));
  #channel = new Channel("/v1/distance");
  #figure = new Figure("flow");
  #all = false;
  #later = 0;

  constructor() {
    this.#card.again = () => this.#ask();
  }

  /** Opened, or a choice changed. */
  refresh(changed) {
    clearTimeout(this.#later);
    this.#later = setTimeout(() => this.#ask(), changed ? PAUSE : 0);
  }

  async #ask() {
    if (chosen("text") === "" || chosen("other") === "") {
      this.#channel.drop();
      return this.#card.empty("Give two documents: the least work that moves one to the other appears here.");
    }
    const texts = { a: chosen("text"), b: chosen("other") };
    const answer = await this.#card.wait(this.#channel.ask({ ...texts, ...choice() }, JSON.stringify([texts, choice("epsilon")])));
    return answer && this.#show(answer);
  }

  #show(answer) {
    const moving = answer.moves.filter((move) => move.distance > 0).sort((a, b) => b.count * b.distance - a.count * a.distance || (a.from < b.from ? -1 : 1));
    const still = answer.size - moving.reduce((sum, move) => sum + move.count, 0);
    put(this.#card.body,
      el("dl", { class: "tiles" }, tiles(answer, still)),
      el("p", { class: "prose" }, `By the guarantee, whatever is seen of a release at epsilon ${number(chosen("epsilon"))} is at most ${answer.exponent_text} times as probable under one document as under the other.`),
      moving.length ? this.#plan(moving) : el("p", { class: "empty" }, "Nothing has to move: after stop words and unknown words, the two are the same bag."));
    if (moving.length) this.#draw(moving);
    announce(`The documents are ${number(answer.distance)} apart; ${plural(moving.length, "move", "moves")}.`);
  }

  #plan(moving) {
    this.#caption = el("p", { class: "note" });
    this.#more = el("button", { type: "button", hidden: moving.length <= FIRST, click: () => {
      this.#all = !this.#all;
      this.#draw(moving);
    } });
    return el("section", { class: "chart" }, el("h3", {}, "The plan"), this.#caption, this.#figure.node, el("div", { class: "buttons" }, this.#more));
  }

  #caption;
  #more;

  #draw(moving) {
    const drawn = this.#all ? moving : moving.slice(0, FIRST);
    put(this.#caption, drawn.length < moving.length
      ? `The ${integer(drawn.length)} moves of ${integer(moving.length)} that cost most. A line is as thick as words move, its label is how far.`
      : "Every move. A line is as thick as words move, its label is how far.");
    put(this.#more, this.#all ? `Show the ${FIRST} that cost most` : `Show all ${integer(moving.length)}`);
    this.#figure.show("The plan", `${moving.length} moves; the costliest: ${moving.slice(0, 3).map((move) => `${move.from} to ${move.to}, ${number(move.distance)}`).join("; ")}.`,
      flow(drawn), { table: () => moveTable(moving) });
  }
}

function tiles({ distance, size, exponent }, still) {
  const rows = [
    ["Earth Mover’s distance", number(distance, 4)],
    ["Words per bag", number(size, 6)],
    ["In both, need not move", number(Math.round(still), 6)],
    ["Exponent, nats", nats(exponent)],
  ];
  return rows.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value)));
}

const moveTable = (moves) => table("The plan", [["from", "text"], ["to", "text"], ["words", "number"], ["distance", "number"]],
  moves.map((move) => [move.from, move.to, integer(move.count), distance(move.distance)]));
