// The first page: from a file of texts to a release that someone can sign, in four steps.

import { Channel, call } from "./api.js";
import { Card, announce } from "./card.js";
import { choose, chosen } from "./choice.js";
import { byId, el, pairs, put, table, typed } from "./dom.js";
import { atLeast, atMost, integer, nats, number, percent, plural } from "./format.js";
import { Intake, isGuessed, select } from "./intake.js";
import { keeping, loadReferences, reloadReferences } from "./kept.js";
import { Runs, putOnce, stageList } from "./stages.js";

const STRENGTHS = [[1, "strong"], [10, "moderate"], [20, "weak"], [Infinity, "empty"]]; // as privacy/document_guarantee.py
const CANDIDATES = 1000;
const PAUSE = 200; // milliseconds after which a new choice is planned

export const strength = (bound) => STRENGTHS.find(([limit]) => bound <= limit)[1];

export class StartView {
  #plan = null;
  #loading = null;
  #own = { reference: null, text_field: null, author_field: null, topic_field: null, publish_ids: false, without_evidence: false, allow_padding: false };
  #channel = new Channel("/v1/start/example");
  #later = 0;
  #planned = "";
  #planCard = new Card(byId("start-older"));
  #keepCard = new Card(byId("start-keep"));
  #runCard = new Card(byId("start-release"));

  constructor(openView) {
    this.openView = openView;
    this.runs = new Runs((run) => this.#ran(run));
    this.texts = new Intake(byId("start-texts"), "texts", {
      invite: "The texts whose content is to be released and whose authors are not: complaints, answers, reports.",
      columns: ({ found }) => found.columns.length > 1 ? [["text", this.#words("text_field"), [...(isGuessed(found, "text_field") ? [["", "choose it"]] : []), ...found.columns.map((each) => [each, each])], isGuessed(found, "text_field") ? "" : found.text_field, (name) => this.texts.column(name)]] : [],
      onChange: () => this.#given(),
    });
    this.older = new Intake(byId("start-older"), "older", {
      invite: "Public or older texts of the same kind, with their topics and authors, that are not among those to be released. Words that enough of their authors use become public. Half of these texts teach which; the other half is attacked, to see whether authors are hidden.",
      columns: (intake) => this.#olderColumns(intake),
      onChange: () => this.#given(),
    });
    this.#bindKeep();
  }

  /** Opened, or a choice changed. */
  async refresh(changed) {
    if (!this.questions) {
      await (this.#loading ??= this.#load().finally(() => (this.#loading = null))); // it shows what is chosen by then
    } else if (changed === undefined || ["preserve", "bound", "epsilon"].some((name) => changed.has(name))) {
      this.#showKeep();
      this.#showRelease(); // what was made for other choices says so at once
      clearTimeout(this.#later);
      this.#later = setTimeout(() => this.#ask(), PAUSE);
    }
  }

  async #load() {
    const found = await call("/v1/start");
    this.releases = found.releases;
    this.questions = new Map(found.questions.map((each) => [each.name, each]));
    this.#showKinds();
    if (found.run) this.#adopt(found.run.facts);
    await Promise.all([this.texts.show(found.texts, found.kinds), this.older.show(found.older, found.kinds)]);
    this.#showKeep();
    if (found.run) this.runs.take(found.run);
    await this.#ask();
  }

  /** A question as the terminal asks it. */
  #words(name) {
    return this.questions.get(name).words;
  }

  /** What can be kept, in the words of the terminal. */
  #showKinds() {
    for (const { value, title, means } of this.questions.get("preserve").options) {
      put(document.querySelector(`[name=start-preserve][value=${value}] + span`), el("b", {}, title), el("small", {}, means));
    }
  }

  /** After the page was opened anew: the answers that the run was started with. */
  #adopt(facts) {
    for (const name of Object.keys(this.#own)) this.#own[name] = facts[name === "reference" ? "chosen" : name];
    choose({ preserve: facts.preserve, [facts.preserve === "words" ? "epsilon" : "bound"]: facts.strength });
  }

  /** The plan for what is chosen now with its answers; null while there can be none. */
  async current() {
    if (this.questions) await this.#ask();
    else await this.refresh();
    return this.#plan?.learned ? { plan: this.#plan, answers: this.answers } : null;
  }

  get answers() {
    const own = Object.fromEntries(Object.entries({ ...this.#own, reference: this.reference }).filter(([, value]) => value));
    const strong = chosen("preserve") === "words" ? { epsilon: chosen("epsilon") } : { bound: chosen("bound") };
    const shown = { texts_key: this.texts.given?.key ?? null, older_key: this.older.given?.key ?? null }; // other tabs may give others
    return { preserve: chosen("preserve"), ...strong, ...own, ...shown };
  }

  /** The stored reference that was chosen, where it can keep what is to be kept. */
  get reference() {
    return keeping(chosen("preserve")).find((name) => name === this.#own.reference) ?? null;
  }

  #olderColumns({ found }) {
    const columns = found.columns.filter((each) => each !== found.text_field);
    const pick = (name) => (value) => {
      this.#own[name] = value || null;
      this.#ask();
    };
    const options = [["", "found by its name"], ...columns.map((each) => [each, each])];
    return [
      ["topic", this.#words("topic_field"), options, this.#own.topic_field, pick("topic_field")],
      ["author", this.#words("author_field"), options, this.#own.author_field, pick("author_field")],
    ];
  }

  #given() {
    this.#own = { ...this.#own, text_field: this.texts.found && !isGuessed(this.texts.found, "text_field") ? this.texts.found.text_field : null };
    this.runs.run = null;
    return this.#ask();
  }

  /** Ask what would be done with these answers, and show it. */
  async #ask() {
    if (this.texts.found) await loadReferences().catch(() => null); // where there is none to choose, one is learned
    const asked = JSON.stringify(this.answers);
    this.#planned = asked;
    let plan = null;
    if (this.texts.found) {
      try {
        plan = await call("/v1/start/plan", this.answers);
        this.#planCard.clear();
      } catch (error) {
        if (asked === this.#planned) this.#planCard.fail(error);
        this.#planCard.body.hidden = false;
      }
    }
    if (asked !== this.#planned) return; // chosen otherwise meanwhile
    this.#plan = plan;
    if (plan?.learned && plan.reference) await reloadReferences(plan.reference);
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
    this.#showReferences();
    const node = byId("start-learn");
    const { run } = this.runs;
    const mine = run?.kind === "learn" ? run : null;
    const older = this.#plan?.older;
    byId("start-samples").hidden = this.older.given !== null;
    node.hidden = !older && !mine;
    if (node.hidden) return;
    if (mine && (mine.state !== "done" || !older)) {
      put(node, stageList(mine, () => this.runs.cancel()), mine.state === "running" ? null : this.#learnButton("Try again"));
      return;
    }
    const { learned, reference, silent } = this.#plan;
    const who = [older.topic_field && `Topics stand in the column ${older.topic_field}`, older.author_field && `authors in ${older.author_field}`].filter(Boolean).join(", ");
    put(node,
      el("p", {}, `${plural(older.texts, "text", "texts")} can be used${older.topics ? `, on ${plural(older.topics, "topic", "topics")}` : ""}${older.authors ? `, by ${plural(older.authors, "author", "authors")}` : ""}: ${this.reference ? "" : "half to learn from, "}${integer(older.attacked)} to attack.${who && !older.packaged ? ` ${who}.` : ""}`),
      older.topics && !older.packaged ? el("p", { class: "note" }, `The names of their topics become public: ${older.topic_names.join(", ")}.`) : null,
      older.packaged ? el("p", { class: "caution" }, "Packaged passages of old books and papers, to try with. They say nothing about your texts.") : null,
      silent ? el("p", { class: "caution" }, `${silent[0].toUpperCase()}${silent.slice(1)}: there will be no evidence that authors are hidden.`) : null,
      this.#vocabulary(),
      reference === null ? el("p", { class: "good" }, "Where words are kept nothing has to be learned.")
        : this.reference ? el("p", { class: "good" }, `The stored reference ${reference} is used; nothing is learned.`)
        : learned ? el("p", { class: "good" }, `Learned, and kept as the reference ${reference}.`) : this.#learnButton("Learn what is public"));
  }

  /** Which words become public, and which of the rare ones are left out. */
  #vocabulary() {
    const found = this.#plan.vocabulary;
    if (!found) return null;
    const listed = (telling) => found.rare.filter((each) => each.telling === telling).map((each) => `${each.word} ${each.holders}`).join(", ");
    const lists = [["Rare: names, and words that general text does not know", listed(true)], ["Rare: others", listed(false)]].filter(([, words]) => words);
    const options = this.questions.get("leave_out").options.map(({ value, title }) => [value, title]);
    return el("div", {},
      el("p", {}, `${plural(found.size, "word", "words")} of these texts become public, each used by at least ${plural(found.at_least, found.counted_by.slice(0, -1), found.counted_by)}. Long numbers, addresses, mail and links never do.`),
      found.counted_by === "texts" ? el("p", { class: "caution" }, "No author is known, so texts are counted: a word that one person wrote in several of them can become public.") : null,
      lists.map(([title, words]) => el("details", { class: "more" }, el("summary", {}, `${title}; with how many use each`), el("p", {}, words))),
      found.warning ? el("p", { class: "caution" }, `${found.warning}.`) : null,
      found.rare.length ? select("start-leave-out", this.#words("leave_out"), options, found.leave_out, (choice) => {
        this.#own.leave_out = choice;
        this.#ask();
      }) : null);
  }

  /** What is public is learned from half of the texts, unless a stored reference is chosen. */
  #showReferences() {
    const { reference: learned } = this.#plan ?? {};
    const names = keeping(chosen("preserve")).filter((name) => name === this.reference || name !== (this.older.given ? learned : "themes"));
    const node = byId("start-reference");
    node.hidden = !this.texts.found || !names.length;
    const otherwise = this.older.given ? "learned from half of these texts" : "themes of public word vectors";
    const options = [["", otherwise], ...names.map((name) => [name, `the stored reference ${name}`])];
    putOnce(node, JSON.stringify([options, this.reference]), () => select("start-stored", "What is public", options, this.reference, (name) => {
      this.#own.reference = name || null;
      this.#ask();
    }));
  }

  #learnButton(title) {
    return el("div", { class: "buttons" }, el("button", { type: "button", class: "primary", id: "learn", disabled: !this.#plan || this.runs.running, click: () => this.#begin("learn", this.#planCard) }, title));
  }

  async #begin(kind, card, more = {}) {
    const started = await card.wait(call(`/v1/start/${kind}`, { ...this.answers, ...more }));
    card.body.hidden = false;
    const { run } = started ?? (await call("/v1/start/run")); // of a tab that was closed, perhaps: it can be cancelled here
    if (started || run?.state === "running") this.runs.take(run);
  }

  async #takeSamples() {
    const found = await this.#planCard.wait(call("/v1/start/samples", {}));
    if (!found) return;
    await this.older.show(found.older, found.kinds);
    await this.#given();
  }

  // Step 3: what to keep, and how strongly.

  #bindKeep() {
    for (const input of document.querySelectorAll("[name=start-preserve]")) input.addEventListener("change", () => choose({ preserve: input.value }));
    byId("start-bound").addEventListener("input", (event) => choose({ bound: Number(event.target.value) }));
    byId("start-epsilon").addEventListener("input", (event) => choose({ epsilon: Number(event.target.value) }));
    byId("start-another").addEventListener("click", () => this.#showBefore());
    byId("start-samples").querySelector("button").addEventListener("click", () => this.#takeSamples());
    put(byId("start-scale"), STRENGTHS.map(([limit, name], at) => el("li", { "data-name": name }, el("b", {}, name), el("span", { class: "soft" }, limit === Infinity ? `above ${STRENGTHS[at - 1][0]}` : `to ${limit}`))));
  }

  #showKeep() {
    const bound = chosen("bound");
    const words = chosen("preserve") === "words";
    byId("start-for-words").hidden = !words;
    byId("start-for-documents").hidden = words;
    byId("start-epsilon").value = chosen("epsilon");
    put(byId("start-epsilon-means"), el("strong", {}, `Epsilon ${number(chosen("epsilon"))}. `), "Per word and unit of distance: smaller hides more; at 5 many words stay as they are. Texts that are far apart can be told apart whatever you choose; what an adversary achieves is measured in step 4.");
    for (const input of document.querySelectorAll("[name=start-preserve]")) input.checked = input.value === chosen("preserve");
    byId("start-bound").value = bound;
    byId("start-bound").setAttribute("aria-valuetext", `${nats(bound)} nats, ${strength(bound)}`);
    for (const item of byId("start-scale").children) {
      if (item.dataset.name === strength(bound)) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
    }
    put(byId("start-means"), el("strong", {}, `${nats(bound)} nats: ${strength(bound)}. `),
      `Whoever knows ${integer(CANDIDATES)} texts, one of which is yours, names the right one with a probability of at most ${atMost(named(bound))}; whoever picks one blindly, with ${percent(1 / CANDIDATES)}.`);
  }

  async #showBefore() {
    const ready = this.#plan?.learned;
    byId("start-another").disabled = !ready;
    if (!ready) return this.#keepCard.empty("Before and after on public texts, once step 2 is done.");
    const found = await this.#keepCard.wait(this.#channel.ask(this.answers, JSON.stringify(this.answers)));
    if (!found) return undefined;
    const kept = found.means?.split("; ")[1];
    put(this.#keepCard.body, found.examples.map(beforeAndAfter),
      found.examples.length ? null : el("p", { class: "empty" }, "There are no public texts to show."),
      kept ? el("p", { class: "note" }, `At this bound ${kept}.`) : null,
      found.warnings.map((each) => el("p", { class: "caution" }, `Of your texts: ${each}.`)));
    return undefined;
  }

  // Step 4: release and measure.

  #showRelease() {
    const { run } = this.runs;
    const mine = run?.kind === "release" || run?.kind === "instead" ? run : null;
    const made = mine?.kind === "release" && mine.state === "done";
    const body = this.#runCard.body;
    const plan = this.#plan;
    const silent = plan?.silent;
    const ready = plan?.learned && !this.runs.running;
    const needed = !this.texts.found ? "Your texts are needed first: step 1."
      : !plan ? "Step 2 is not settled yet." : !plan.learned ? "What is public is to be learned first: step 2." : null;
    const blocked = needed ?? (silent && !this.#own.without_evidence ? `${silent[0].toUpperCase()}${silent.slice(1)}. Give such texts in step 2, or say that you go on without evidence.` : null);
    put(body,
      el("div", { class: "checks" },
        this.#check("publish_ids", "Release your own ids; otherwise the documents are numbered"),
        chosen("preserve") === "words" ? this.#check("allow_padding", "Release even where more than 30 % of the words are padding") : null,
        silent ? this.#check("without_evidence", this.#words("without_evidence")) : null),
      el("div", { class: "about" }, ["purpose", "recipient", "originals", "review", "contact"].map((name) => this.#said(name))),
      made ? null : el("p", { class: "note" }, blocked ?? `Half of the older texts is protected in the same way and attacked. Where that passes, your texts are released and the page to sign is written, into a new folder in ${this.releases}.`),
      mine && mine.state !== "done" ? stageList(mine, () => this.runs.cancel()) : null,
      mine?.state !== "done" ? null : !made ? this.#instead(mine) : mine.result.folder ? this.#result(mine) : this.#failed(mine, ready && !blocked),
      el("div", { class: "buttons" }, el("button", { type: "button", class: made ? null : "primary", id: "start-run", disabled: !ready || blocked !== null, click: () => this.#begin("release", this.#runCard) },
        !made ? "Measure, release, write the page" : mine.result.folder ? "Release again" : "Measure again")));
  }

  #check(name, title) {
    return el("label", { class: "check" }, el("input", { type: "checkbox", id: `start-${name}`, checked: this.#own[name], change: (event) => {
      this.#own[name] = event.target.checked;
      this.#ask();
    } }), el("span", {}, title));
  }

  /** What only people know, for the pages, which say what is left open. */
  #said(name) {
    return el("label", { class: "field" }, el("span", { class: "soft" }, this.#words(name)), el("input", { type: "text", id: `start-${name}`, maxLength: 500, placeholder: "left open", value: this.#own[name] ?? "", change: (event) => {
      this.#own[name] = event.target.value.trim() || null;
      this.#ask();
    } }));
  }

  /** The verdict is FAIL: nothing was released, and it is for the curator to say how to go on. */
  #failed({ result, facts }, ready) {
    const { unit, same } = this.#of(facts);
    return el("div", { class: "result" },
      same ? null : el("p", { class: "caution" }, `This was measured for the ${facts.preserve} at ${unit} ${number(facts.strength)}. You have chosen otherwise since: measure again for that.`),
      el("div", { class: `verdict ${result.verdict === "FAIL" ? "fail" : "none"}` }, el("strong", {}, result.verdict), el("p", {}, result.verdict === "FAIL" ? judged(result) : `${judged(result)} ${result.reason}.`)),
      el("p", {}, "Nothing was released and no folder was made."),
      measuredTable(result),
      same ? el("div", { class: "buttons" },
        el("button", { type: "button", class: "primary", id: "start-instead", disabled: !ready, click: () => this.#begin("instead", this.#runCard) }, "See what else could be had"),
        el("button", { type: "button", id: "start-all-the-same", disabled: !ready, click: () => this.#begin("release", this.#runCard, { after_fail: true }) }, "Release it all the same")) : null,
      same ? el("p", { class: "note" }, "What is released all the same has a page to sign that says FAIL.") : null);
  }

  /** Other settings that were tried; a click chooses one. */
  #instead({ result }) {
    return el("div", { class: "result" }, el("h3", {}, "Alternatives"),
      result.tried.map(({ preserve, strength: strong, verdict, sentence }) => el("div", { class: `tried ${verdict.toLowerCase()}` },
        el("p", {}, `${sentence[0].toUpperCase()}${sentence.slice(1)}.`),
        el("button", { type: "button", "aria-label": `Choose: ${sentence}`, click: () => choose({ preserve, [preserve === "words" ? "epsilon" : "bound"]: strong }) }, "Choose"))));
  }

  /** Whether what a run was started with is what is chosen now. */
  #of(facts) {
    const unit = facts.preserve === "words" ? "epsilon" : "bound";
    return { unit, same: facts.preserve === chosen("preserve") && facts.strength === chosen(unit) };
  }

  #result({ result, facts }) {
    const { verdict, reason, manifest, documents, skipped, folder } = result;
    const { unit, same } = this.#of(facts);
    const open = (what) => async () => {
      const { address } = await call("/v1/start/ticket", { what });
      window.open(address, what === "release" ? "_self" : "_blank", "noopener");
    };
    return el("div", { class: "result" },
      same ? null : el("p", { class: "caution" }, `This was made to keep the ${facts.preserve} at ${unit} ${number(facts.strength)}. You have chosen otherwise since: release again for that.`),
      el("div", { class: `verdict ${verdict === "PASS" ? "pass" : verdict === "FAIL" ? "fail" : "none"}` },
        el("strong", {}, verdict ?? "Not measured"),
        result.limit ? el("p", { class: "soft" }, `${result.limit}.`) : null,
        el("p", {}, reason ? `${judged(result)}${verdict === "NO EVIDENCE" ? " That shows nothing: only the proof stands." : ""}` : `There is no evidence that authors are hidden: ${result.measured ? "no attack could name one; what else was measured stands below" : "nothing was measured"}.`)),
      result.measured ? measuredTable(result) : null,
      el("details", { class: "more" }, el("summary", {}, "The promise in full"), el("p", { class: "prose" }, manifest.promise)),
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
    const lines = plan ? [plan.start] : this.texts.found ? [this.texts.given.command] : ["publius start FILE --public OLDER --preserve topic --bound 7 --yes --output DIR"];
    putOnce(node, JSON.stringify([lines, plan?.commands]), () => [
      el("pre", { class: "command", tabindex: "0", "aria-label": "Command" }, el("code", {}, typed(lines[0]))),
      plan ? el("details", { class: "more" }, el("summary", {}, "Step by step"), plan.commands.map((each) => el("pre", { class: "command", tabindex: "0" }, el("code", {}, typed(each))))) : null,
    ]);
  }
}

/** The posterior of one of `CANDIDATES` equally likely texts, rounded up. */
const named = (bound) => Math.min(1, Math.ceil(1e4 / (1 + (CANDIDATES - 1) * Math.exp(-bound))) / 1e4);

function beforeAndAfter({ before, words, after, size, label }) {
  return el("div", { class: "panes" },
    el("section", {}, el("h3", {}, "Before ", el("span", { class: "soft" }, plural(words, "word", "words"))), el("blockquote", { class: "pane" }, before)),
    el("section", {}, el("h3", {}, "After ", el("span", { class: "soft" }, `${plural(size, "word", "words")}${label === null ? "" : `, became ${label}`}`)), bagWords(after, size)));
}

/** The words of a bag, the most frequent first. */
export function bagWords(bag, size = 0) {
  const shown = bag.reduce((sum, [, count]) => sum + count, 0);
  return el("div", { class: "pane words" }, bag.map(([word, count]) => el("span", {}, word, count > 1 ? el("small", {}, ` ×${count}`) : null)),
    size > shown ? el("span", { class: "soft" }, `and ${integer(size - shown)} more`) : null);
}

const strongest = (found) => found.reduce((best, each) => (best === null || each.released.value > best.released.value ? each : best), null);
const of = ({ measured }, task) => measured.filter((each) => each.task === task);

/** What is compared with whoever knows only the topic is an adversary who knows it, too: the verdict's own figure. */
const shareOf = (finding) => finding.knowing_topic ?? finding.released;

/** An adversary, called by what it knows beside the released row. */
function who({ adversary, task, knowing_topic: told }) {
  if (adversary === "originals") return told ? "whoever knows the topic and holds the originals" : "whoever holds the originals";
  return told && task === "author" ? `${adversary}, told the topic` : adversary;
}

function judged(result) {
  const first = of(result, "author").reduce((best, each) => (best === null || shareOf(each).high > shareOf(best).high ? each : best), null);
  const topic = strongest(of(result, "topic"));
  if (!first) return result.reason.replace(/^(PASS|FAIL|NO EVIDENCE): /, "");
  const alone = result.floor === null ? "" : ` Whoever knows only the topic names ${percent(result.floor)}.`;
  return `Of ${plural(result.texts, "protected public text", "protected public texts")} the author of ${percent(shareOf(first).value)} was named by ${who(first)}, at most ${atMost(shareOf(first).high)} allowing for chance.${alone}${topic ? ` The topic was found for ${percent(topic.released.value)}.` : ""}`;
}

function measuredTable(result) {
  const { measured, reason } = result;
  const best = [strongest(of(result, "author")), strongest(of(result, "topic"))].filter(Boolean);
  return el("div", { class: "block" }, findings(best),
    el("details", { class: "more" }, el("summary", {}, "Every adversary, and the verdict in figures"), findings(measured), el("p", { class: "note" }, reason)));
}

function findings(rows) {
  const share = (found) => (found ? percent(found.value) : "–");
  return table("What was measured", [["named rightly", "text"], ["protected", "number"], ["95 % interval", "number wide"], ["and knowing the topic", "number"], ["unprotected", "number"], ["always the most frequent", "number wide"]],
    rows.map((each) => [`${each.task}, by ${who({ ...each, knowing_topic: null })}`, share(each.released), `${atLeast(each.released.low)} to ${atMost(each.released.high)}`, share(each.knowing_topic), share(each.clean), each.chance === null ? "–" : percent(each.chance)]));
}
