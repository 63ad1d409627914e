// Releasing: asked twice, drawn afresh by the service, written to a folder, debited to the ledger.

import { Channel, call } from "./api.js";
import { Card, announce } from "./card.js";
import { choice, chosen, keepsWords, keptChoice, onChoice, releaseChoice } from "./choice.js";
import { mechanismChosen } from "./controls.js";
import { byId, el, pairs, put } from "./dom.js";
import { nats, number, plural } from "./format.js";

const PAUSE = 250; // milliseconds after which the account of another id or choice is asked for

export class Release {
  #card = new Card(byId("release"));
  #dialog = byId("confirm");
  #channel = new Channel("/v1/account");
  #account = null; // {account, price} of the id and the choice, where a ledger is set
  #later = 0;
  #busy = false;

  constructor(session, refreshSession) {
    this.session = session;
    this.refreshSession = refreshSession;
    byId("subject-field").hidden = !session.ledger;
    byId("release-open").addEventListener("click", () => this.#confirm());
    byId("confirm-cancel").addEventListener("click", () => this.#dialog.close());
    byId("confirm-release").addEventListener("click", () => this.#release());
    byId("release-id").addEventListener("input", () => this.refresh());
    byId("release-id").value = newId();
    onChoice((changed) => {
      if (changed.has("text")) byId("release-id").value = newId(); // another text is another document
    });
  }

  /** Stand in `place`, which is of the view that is open, and say what can be released now. */
  show(place) {
    if (byId("release").parentNode !== place) place.append(byId("release"));
    this.refresh();
  }

  /** A choice, the text or the id changed. */
  refresh() {
    this.#allow();
    clearTimeout(this.#later);
    const known = keepsWords() || chosen("reference") !== null;
    if (this.session.ledger && known && byId("release-id").value) this.#later = setTimeout(() => this.#ask(), PAUSE);
  }

  /** What it would cost is not asked on: that would prepare what was just stopped. */
  stop() {
    clearTimeout(this.#later);
    this.#channel.cancel();
  }

  #allow() {
    const reason = this.#refusal();
    byId("release-open").disabled = this.#busy || reason !== null;
    put(byId("release-note"), reason ?? "A fresh draw is made and written, with its manifest, to a folder of its own.");
  }

  #refusal() {
    const mechanism = mechanismChosen();
    if (!this.session.releases) return "This explorer has no folder for releases.";
    if (keepsWords() && mechanism && !mechanism.releasable) return `The mechanism ${mechanism.name} gives no guarantee here, so nothing made by it can be released.`;
    if (chosen("text") === "") return "There is no document yet.";
    if (!keepsWords() && chosen("reference") === null) return "There is no public reference yet.";
    if (byId("release-id").value === "") return "Give the document an id.";
    return this.#account?.refused ?? null; // the ledger counts something else, say
  }

  async #ask() {
    const body = { id: byId("release-id").value, ...releaseChoice() };
    const found = await this.#channel.ask(body, JSON.stringify(body)).catch((error) => ({ refused: error.message }));
    if (found === undefined) return; // overtaken
    this.#account = found;
    byId("release-account").hidden = !found.account;
    if (found.account) put(byId("release-account"), accountText(found), gauge(found));
    this.#allow();
  }

  async #confirm() {
    if (this.session.ledger) await this.#ask(); // what is shown is what the ledger says now
    const rows = [
      ["Id", byId("release-id").value],
      ...(keepsWords() ? wordTerms(choice()) : keptTerms(keptChoice())),
      ["Folder", `a new one in ${this.session.releases}`],
      ["Ledger", this.#account?.account ? accountText(this.#account) : "none is set: nothing is added up"],
    ];
    put(byId("confirm-facts"), pairs(rows));
    put(byId("confirm-text"), "The bag and its manifest are written; the original is not. What is released is a fresh draw, not the one you see. What is charged is never given back, and each further release of this document adds to it.");
    this.#dialog.showModal();
  }

  async #release() {
    const subject = byId("release-subject").value;
    const body = { id: byId("release-id").value, text: chosen("text"), ...releaseChoice(), ...(subject ? { subject } : {}) };
    this.#dialog.close();
    put(byId("release-result"));
    this.#busy = true;
    this.refresh();
    const found = await this.#card.wait(call("/v1/release", body));
    this.#card.body.hidden = false; // the way to try again stays in sight beside an error
    this.#busy = false;
    if (found !== undefined) {
      put(byId("release-result"), released(found));
      announce(`Released to ${found.folder}`);
      this.session = await this.refreshSession().catch(() => this.session);
    }
    this.refresh();
  }
}

/** Of its own for each text, in a ledger too: by chance one of four thousand million. */
const newId = () => `document-${crypto.getRandomValues(new Uint32Array(1))[0].toString(36)}`;

const wordTerms = ({ mechanism, epsilon, length }) => [
  ["Mechanism", mechanism],
  ["Epsilon × N", `${nats(epsilon)} × ${number(length, 6)} = ${nats(epsilon * length)}`],
];

const keptTerms = ({ preserve, reference, mechanism, bound }) => [
  ["Keeps", `the ${preserve}, by the reference ${reference}`],
  ["Mechanism", mechanism],
  ["Bound", `${nats(bound)} nats between any two documents`],
];

function accountText({ account, price }) {
  return `${number(account.remaining, 6)} of ${number(account.budget, 6)} left for this id; this release costs ${number(price, 6)}.`;
}

const gauge = ({ account }) => el("meter", { min: 0, max: account.budget, value: account.remaining, "aria-label": "Budget that remains" });

function released({ folder, bag, manifest, label }) {
  const size = bag.reduce((sum, [, count]) => sum + count, 0);
  const facts = [
    ["Folder", el("code", {}, folder)],
    ["Files", "bags.jsonl, manifest.json"],
    ["Bag", `${plural(size, "word", "words")}, ${number(bag.length, 6)} different`],
  ];
  if (label !== undefined) facts.push(["Became", label]);
  facts.push(manifest.level === "document"
    ? ["Bound", `${nats(manifest.bound)} nats between any two documents, ${manifest.evidence}, ${manifest.strength}`]
    : ["Epsilon × N", `${nats(manifest.epsilon)} × ${number(manifest.size, 6)} = ${nats(manifest.epsilon_total)}, ${manifest.evidence}`]);
  return el("div", { class: "done" }, el("p", {}, el("strong", {}, "Released.")), el("dl", { class: "facts" }, pairs(facts)));
}
