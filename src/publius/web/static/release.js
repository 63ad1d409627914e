// Releasing: asked twice, drawn afresh by the service, written to a folder, debited to the ledger.

import { call } from "./api.js";
import { Card, announce } from "./card.js";
import { choice, chosen } from "./choice.js";
import { mechanismChosen } from "./controls.js";
import { byId, el, pairs, put } from "./dom.js";
import { number, plural } from "./format.js";

export class Release {
  #card = new Card(byId("release"));
  #dialog = byId("confirm");

  constructor(session, refreshSession) {
    this.session = session;
    this.refreshSession = refreshSession;
    byId("release-open").addEventListener("click", () => this.#confirm());
    byId("confirm-cancel").addEventListener("click", () => this.#dialog.close());
    byId("confirm-release").addEventListener("click", () => this.#release());
  }

  refresh() {
    const reason = this.#refusal();
    byId("release-open").disabled = reason !== null;
    put(byId("release-note"), reason ?? "A fresh draw is made, written to a folder of its own with its manifest, and charged.");
  }

  #refusal() {
    if (!this.session.releases) return "This explorer has no folder for releases.";
    if (mechanismChosen() && !mechanismChosen().releasable) return `The mechanism ${chosen("mechanism")} gives no guarantee here, so nothing made by it can be released.`;
    return chosen("text") === "" ? "There is no document yet." : null;
  }

  #confirm() {
    const { mechanism, epsilon, length } = choice();
    const rows = [
      ["Id", byId("release-id").value],
      ["Mechanism", mechanism],
      ["Epsilon × N", `${number(epsilon, 4)} × ${number(length, 6)} = ${number(epsilon * length, 6)}`],
      ["Below", this.session.releases],
      ["Ledger", this.#ledger()],
    ];
    put(byId("confirm-facts"), pairs(rows));
    put(byId("confirm-text"), "The bag and its manifest are written; the original is not. What is released is a fresh draw, not the one you see. What is charged is never given back, and each further release of this document adds to it.");
    this.#dialog.showModal();
  }

  #ledger() {
    const { ledger } = this.session;
    if (!ledger) return "none is set: nothing is added up";
    return `debited; ${number(Number(ledger.remaining), 6)} left before`;
  }

  async #release() {
    this.#dialog.close();
    put(byId("release-result"));
    const answer = this.#card.wait(call("/v1/release", { id: byId("release-id").value, text: chosen("text"), ...choice() }));
    byId("release-open").disabled = true;
    const found = await answer;
    this.#card.body.hidden = false; // the way to try again stays in sight beside an error
    this.refresh();
    if (found === undefined) return;
    put(byId("release-result"), released(found));
    announce(`Released to ${found.folder}`);
    this.session = { ...this.session, ...(await this.refreshSession()) };
  }
}

function released({ folder, bag, manifest }) {
  const size = bag.reduce((sum, [, count]) => sum + count, 0);
  const facts = [
    ["Folder", el("code", {}, folder)],
    ["Files", "bags.jsonl, manifest.json"],
    ["Bag", `${plural(size, "word", "words")}, ${plural(bag.length, "different one", "different ones")}`],
  ];
  const epsilon = manifest?.guarantee?.epsilon ?? manifest?.epsilon;
  if (Number.isFinite(epsilon)) facts.push(["Epsilon", number(epsilon, 4)]);
  return el("div", { class: "done" }, el("p", {}, el("strong", {}, "Released.")), el("dl", { class: "facts" }, pairs(facts)));
}
