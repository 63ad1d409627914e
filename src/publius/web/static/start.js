// The first page: from a file of texts to a release that someone can sign, in four steps.

import { Channel, call } from "./api.js";
import { Card, announce } from "./card.js";
import { choose, chosen } from "./choice.js";
import { byId, el, pairs, put, table } from "./dom.js";
import { integer, number, percent, plural } from "./format.js";
import { Intake, select } from "./intake.js";
import { reloadReferences } from "./kept.js";
import { Runs, putOnce, stageList } from "./stages.js";

const STRENGTHS = [[1, "strong"], [10, "moderate"], [20, "weak"], [Infinity, "empty"]]; // as privacy/document_guarantee.py
const CANDIDATES = 1000;
const SHOWN = 24; // words of a bag

export const strength = (bound) => STRENGTHS.find(([limit]) => bound <= limit)[1];

export class StartView {
  #plan = null;
  #loaded = false;
  #own = { text_field: null, author_field: null, topic_field: null, publish_ids: false, without_evidence: false };
  #before = { number: 1, text: null };
  #channel = new Channel("/v1/outcomes");
  #planCard = new Card(byId("start-older"));
  #keepCard = new Card(byId("start-keep"));
  #runCard = new Card(byId("start-release"));

  constructor(openView) {
    this.openView = openView;
    this.runs = new Runs((run) => this.#ran(run));
    this.texts = new Intake(byId("start-texts"), "texts", {
      invite: "The texts whose content is to be released and whose authors are not: complaints, answers, reports.",
      columns: ({ found }) => found.columns.length > 1 ? [["text", "Column of texts", found.columns.map((each) => [each, each]), found.text_field, (name) => this.texts.column(name)]] : [],
      onChange: () => this.#given(),
    });
    this.older = new Intake(byId("start-older"), "older", {
      invite: "Public or older texts of the same kind, with their topics and authors, that are not to be released. Half of them teach what is public; the other half is attacked, to see whether authors are hidden.",
      columns: (intake) => this.#olderColumns(intake),
      onChange: () => this.#given(),
    });
    this.#bindKeep();
  }

  /** Opened, or a choice changed. */
  async refresh(changed) {
    if (!this.#loaded) {
      this.#loaded = true;
      await this.#load();
    } else if (changed === undefined || changed.has("preserve") || changed.has("bound")) {
      this.#showKeep();
      await this.#ask();
    }
  }

  async #load() {
    const found = await call("/v1/start");
    this.releases = found.releases;
    if (found.run) this.#adopt(found.run.facts);
    await Promise.all([this.texts.show(found.texts, found.kinds), this.older.show(found.older, found.kinds)]);
    this.#showKeep();
    if (found.run) this.runs.take(found.run);
    await this.#ask();
  }

  /** After the page was opened anew: the answers that the run was started with. */
  #adopt(facts) {
    for (const name of Object.keys(this.#own)) this.#own[name] = facts[name];
    choose({ preserve: facts.preserve, bound: facts.bound });
  }

  get answers() {
    const own = Object.fromEntries(Object.entries(this.#own).filter(([, value]) => value));
    return { preserve: chosen("preserve"), bound: chosen("bound"), ...own };
  }

  #olderColumns({ found }) {
    const columns = found.columns.filter((each) => each !== found.text_field);
    const pick = (name) => (value) => {
      this.#own[name] = value || null;
      this.#ask();
    };
    const options = [["", "none, or found by its name"], ...columns.map((each) => [each, each])];
    return [
      ["topic", "Column of topics", options, this.#own.topic_field ?? this.#plan?.older.topic_field, pick("topic_field")],
      ["author", "Column of authors", options, this.#own.author_field ?? this.#plan?.older.author_field, pick("author_field")],
    ];
  }

  #given() {
    this.#own = { ...this.#own, text_field: this.texts.found?.text_field ?? null };
    this.#before.text = null;
    this.runs.run = null;
    return this.#ask();
  }

  /** Ask what would be done with these answers, and show it. */
  async #ask() {
    this.#plan = null;
    if (this.texts.found && this.older.found) {
      try {
        this.#plan = await call("/v1/start/plan", this.answers);
        this.#planCard.clear();
      } catch (error) {
        this.#planCard.fail(error);
        this.#planCard.body.hidden = false;
      }
      if (this.#plan?.learned) await reloadReferences(this.#plan.reference);
    }
    this.#showAll();
  }

  #showAll() {
    this.#showLearn();
    this.#showBefore();
    this.#showRelease();
    this.#showCommands();
  }

  #ran(run) {
    if (run && run.state !== "running") {
      announce(run.state === "done" ? "The run is finished." : "The run has ended without a result.");
      this.#ask();
      return;
    }
    this.#showLearn();
    this.#showRelease();
  }

  // Step 2: what is learned.

  #showLearn() {
    const node = byId("start-learn");
    const { run } = this.runs;
    const mine = run?.kind === "learn" ? run : null;
    node.hidden = !this.#plan && !mine;
    if (node.hidden) return;
    if (mine && (mine.state !== "done" || !this.#plan)) {
      put(node, stageList(mine, () => this.runs.cancel()), mine.state === "running" ? null : this.#learnButton("Try again"));
      return;
    }
    const { learned, older, reference } = this.#plan;
    put(node,
      el("p", {}, `${plural(older.texts, "text", "texts")} on ${plural(older.topics, "topic", "topics")}${older.authors ? ` by ${plural(older.authors, "author", "authors")}` : ""}: half to learn from, ${integer(older.attacked)} to attack.`),
      older.author_field === null ? el("p", { class: "caution" }, "No column of authors: there will be no evidence that authors are hidden.") : null,
      learned ? el("p", { class: "good" }, `Learned, and kept as the reference ${reference}.`) : this.#learnButton("Learn what is public"));
  }

  #learnButton(title) {
    return el("div", { class: "buttons" }, el("button", { type: "button", class: "primary", id: "learn", disabled: !this.#plan || this.runs.running, click: () => this.#begin("learn", this.#planCard) }, title));
  }

  async #begin(kind, card) {
    const started = await card.wait(call(`/v1/start/${kind}`, this.answers));
    card.body.hidden = false;
    if (started) this.runs.take(started.run);
  }

  // Step 3: what to keep, and how strongly.

  #bindKeep() {
    for (const input of document.querySelectorAll("[name=start-preserve]")) input.addEventListener("change", () => choose({ preserve: input.value }));
    byId("start-bound").addEventListener("input", (event) => choose({ bound: Number(event.target.value) }));
    byId("start-another").addEventListener("click", () => {
      this.#before.number += 1;
      this.#before.text = null;
      this.#showBefore();
    });
    put(byId("start-scale"), STRENGTHS.map(([limit, name], at) => el("li", { "data-name": name }, el("b", {}, name), el("span", { class: "soft" }, limit === Infinity ? `above ${STRENGTHS[at - 1][0]}` : `to ${limit}`))));
  }

  #showKeep() {
    const bound = chosen("bound");
    for (const input of document.querySelectorAll("[name=start-preserve]")) input.checked = input.value === chosen("preserve");
    byId("start-bound").value = bound;
    byId("start-bound").setAttribute("aria-valuetext", `${number(bound)} nats, ${strength(bound)}`);
    for (const item of byId("start-scale").children) {
      if (item.dataset.name === strength(bound)) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
    }
    put(byId("start-means"), el("strong", {}, `${number(bound)} nats: ${strength(bound)}. `),
      `Whoever knows ${integer(CANDIDATES)} texts, one of which is yours, names the right one with a probability of at most ${percent(named(bound))}; by guessing it is ${percent(1 / CANDIDATES)}.`);
  }

  async #showBefore() {
    const ready = this.#plan?.learned;
    byId("start-another").disabled = !ready;
    if (!ready) return this.#keepCard.empty("Before and after on real words, once step 2 is done.");
    try {
      this.#before.text ??= await call("/v1/start/text", { role: "older", number: this.#before.number });
    } catch (error) {
      if (this.#before.number === 1) return this.#keepCard.fail(error);
      this.#before = { number: 1, text: null };
      return this.#showBefore();
    }
    const { text } = this.#before.text;
    const { preserve, bound } = this.answers;
    const found = await this.#keepCard.wait(this.#channel.ask({ text, preserve, bound, reference: this.#plan.reference }, JSON.stringify([text, preserve])));
    if (found) put(this.#keepCard.body, beforeAndAfter(text, found));
    return undefined;
  }

  // Step 4: release and measure.

  #showRelease() {
    const { run } = this.runs;
    const mine = run?.kind === "release" ? run : null;
    const body = this.#runCard.body;
    const ready = this.#plan?.learned && !this.runs.running;
    const needed = !this.texts.found ? "Your texts are needed first: step 1." : !this.older.found ? "Public or older texts are needed first: step 2." : !this.#plan ? "Step 2 is not settled yet." : !this.#plan.learned ? "What is public is to be learned first: step 2." : null;
    const evidence = this.#plan?.older.author_field != null;
    const blocked = needed ?? (evidence || this.#own.without_evidence ? null : "Say below that you go on without evidence, or name the column of authors in step 2.");
    put(body,
      el("div", { class: "checks" },
        this.#check("publish_ids", "Release your own ids; otherwise the documents are numbered"),
        this.#plan && !evidence ? this.#check("without_evidence", "Go on without evidence that authors are hidden") : null),
      mine?.state === "done" ? null : el("p", { class: "note" }, blocked ?? `Your texts are protected, half of the older ones is attacked in the same way, and the page to sign is written, into a new folder in ${this.releases}.`),
      mine && mine.state !== "done" ? stageList(mine, () => this.runs.cancel()) : null,
      mine?.state === "done" ? this.#result(mine) : null,
      el("div", { class: "buttons" }, el("button", { type: "button", class: mine?.state === "done" ? null : "primary", id: "start-run", disabled: !ready || blocked !== null, click: () => this.#begin("release", this.#runCard) },
        mine?.state === "done" ? "Release again" : "Release, measure, write the page")));
  }

  #check(name, title) {
    return el("label", { class: "check" }, el("input", { type: "checkbox", id: `start-${name}`, checked: this.#own[name], change: (event) => {
      this.#own[name] = event.target.checked;
      this.#ask();
    } }), el("span", {}, title));
  }

  #result({ result, facts }) {
    const { verdict, reason, manifest, documents, skipped, folder } = result;
    const same = facts.preserve === chosen("preserve") && facts.bound === chosen("bound");
    const open = (what) => async () => {
      const { address } = await call("/v1/start/ticket", { what });
      window.open(address, what === "release" ? "_self" : "_blank", "noopener");
    };
    return el("div", { class: "result" },
      same ? null : el("p", { class: "caution" }, `This was made to keep the ${facts.preserve} at ${number(facts.bound)} nats. You have chosen otherwise since: release again for that.`),
      el("div", { class: `verdict ${verdict === "PASS" ? "pass" : verdict === "FAIL" ? "fail" : "none"}` },
        el("strong", {}, verdict ?? "Not measured"),
        el("p", {}, reason ? reason.replace(/^(PASS|FAIL): /, "") : "There is no evidence that authors are hidden: nothing was measured.")),
      result.measured ? measuredTable(result) : null,
      el("p", { class: "prose" }, manifest.promise),
      el("dl", { class: "facts" }, pairs([
        ["Released", `${plural(documents, "document", "documents")}, ${integer(manifest.size)} public words each${skipped.length ? `; ${integer(skipped.length)} left out` : ""}`],
        ["Folder", el("code", {}, folder)],
      ])),
      el("div", { class: "buttons" },
        el("button", { type: "button", class: "primary", click: open("signoff") }, "Open the page to sign"),
        el("button", { type: "button", click: open("release") }, "Store the release"),
        result.measured ? el("button", { type: "button", click: open("report") }, "Open the report") : null,
        el("button", { type: "button", click: () => this.openView("corpus") }, "Look at each document")));
  }

  #showCommands() {
    const node = byId("start-commands");
    const plan = this.#plan;
    const lines = plan ? [plan.start] : this.texts.found ? [`publius inspect ${this.texts.given.name}`] : ["publius start FILE --public OLDER --preserve topic --bound 7 --yes --output DIR"];
    putOnce(node, JSON.stringify([lines, plan?.commands]), () => [
      el("pre", { class: "command", tabindex: "0", "aria-label": "Command" }, el("code", {}, lines[0])),
      plan ? el("details", { class: "more" }, el("summary", {}, "Step by step"), plan.commands.map((each) => el("pre", { class: "command", tabindex: "0" }, el("code", {}, each)))) : null,
    ]);
  }
}

/** The posterior of one of `CANDIDATES` equally likely texts, rounded up. */
const named = (bound) => Math.min(1, Math.ceil(1e4 / (1 + (CANDIDATES - 1) * Math.exp(-bound))) / 1e4);

function beforeAndAfter(text, { outcomes, draw, words }) {
  const bag = [...draw.bag].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0], "en"));
  return el("div", { class: "panes" },
    el("section", {}, el("h3", {}, "Before: one of the older texts"), el("blockquote", { class: "pane" }, text),
      el("p", { class: "note" }, `${plural(words.known, "word", "words")} that the reference knows, ${integer(words.unknown)} that it does not.`)),
    el("section", {}, el("h3", {}, "After: one draw"), el("div", { class: "pane words" }, bag.slice(0, SHOWN).map(([word, count]) => el("span", {}, word, count > 1 ? el("small", {}, ` ×${count}`) : null))),
      el("p", { class: "note" }, outcomes.length ? `Became ${draw.label}. ${outcomes.slice(0, 3).map((each) => `${each.label} ${percent(each.probability)}`).join(", ")}.` : "Drawn near its place.")));
}

function measuredTable({ measured, texts, floor }) {
  const share = (found) => (found ? `${percent(found.value)}` : "–");
  const rows = measured.map((each) => [`${each.task} by ${each.adversary}`, share(each.released), `${percent(each.released.low)} to ${percent(each.released.high)}`, share(each.clean), each.chance === null ? "–" : percent(each.chance)]);
  return el("div", { class: "block" },
    table("What was measured", [["named rightly", "text"], ["protected", "number"], ["95 % interval", "number"], ["unprotected", "number"], ["by chance", "number"]], rows),
    el("p", { class: "note" }, `Of ${plural(texts, "text", "texts")}.${floor === null ? "" : ` Who knows only the topic names ${percent(floor)} of the authors.`}`));
}

export { select };
