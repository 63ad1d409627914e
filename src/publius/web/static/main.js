// The explorer: asks the service what there is, sets up the controls and the views.

import { adoptToken, call } from "./api.js";
import { choose, chosen, keepsWords, onChoice } from "./choice.js";
import { showCommand } from "./command.js";
import { SummaryView } from "./collection.js";
import { CompareView } from "./compare.js";
import { CorpusView } from "./corpus.js";
import { offerMechanisms, setUpControls, showFacts } from "./controls.js";
import { DocumentView } from "./document.js";
import { byId, put } from "./dom.js";
import { EpsilonView } from "./epsilon.js";
import { setUpKept } from "./kept.js";
import { OutcomesView } from "./outcomes.js";
import { Release } from "./release.js";
import { ReportView } from "./report.js";
import { setUpSources } from "./source.js";
import { StartView } from "./start.js";
import { setUpTabs } from "./tabs.js";
import { WordsView } from "./words.js";

async function start() {
  if (!adoptToken()) return stop("Open the address that publius explore printed: it ends in #token=… and lets only you in.");
  try {
    const [session, { mechanisms }, { embeddings }] = await Promise.all([call("/v1/session"), call("/v1/mechanisms?name=laplace"), call("/v1/embeddings")]);
    setUp(session, mechanisms, embeddings);
    if (mechanisms.length < 2) await addMechanisms();
  } catch (error) {
    stop(error.status === 401 ? "This token is not the one of the explorer that runs now. Open the address that publius explore printed." : error.message);
  }
  return undefined;
}

function setUp(session, mechanisms, embeddings) {
  let current = session;
  const refreshSession = async () => {
    current = await call("/v1/session");
    showFacts(current, embeddings);
    return current;
  };
  byId("starting").hidden = true;
  byId("frame").hidden = false;
  showFacts(session, embeddings);
  setUpControls(mechanisms);
  setUpSources(session);
  const release = new Release(session, refreshSession);
  const start = new StartView((name) => open(name));
  const views = { start, corpus: new CorpusView(start, (name) => open(name)), document: new DocumentView(session, release), outcomes: new OutcomesView(release), epsilon: new EpsilonView(), words: new WordsView(), compare: new CompareView(), summary: new SummaryView(session, refreshSession), report: new ReportView(session) };
  let active = "start";
  const open = setUpTabs(document.querySelector("[role=tablist]"), (name) => {
    if (active !== name) scrollTo(0, 0); // a view begins at its top
    active = null; // nothing is asked for twice
    keepFor(name);
    document.body.dataset.view = name;
    active = name;
    showCommand(name);
    views[name].refresh();
  });
  onChoice((changed) => {
    if (changed.has("preserve")) showFacts(current, embeddings);
    if (active) views[active].refresh(changed);
  });
  setUpKept((preserve) => {
    if (preserve === "words") return open("document");
    if (active === "outcomes") return choose({ preserve });
    kept = preserve;
    return open("outcomes");
  });
  open(active);
  document.documentElement.dataset.ready = "true";
}

const FILES = new Set(["start", "corpus", "summary"]); // views of whatever is kept
let forFiles = "topic"; // what they keep when they are opened again
let kept = "topic"; // the same of the view of outcomes
let last = null;

/** Each view belongs to words, to whole documents or to both: what is chosen beside it never says otherwise. */
function keepFor(view) {
  if (FILES.has(last)) forFiles = chosen("preserve");
  else if (!keepsWords()) kept = chosen("preserve");
  last = view;
  choose({ preserve: FILES.has(view) ? forFiles : view === "outcomes" ? kept : "words" });
}

/** The others may have to be prepared, the first time on these vectors for long: the page is in use meanwhile. */
async function addMechanisms() {
  byId("preparing").hidden = false;
  const { mechanisms } = await call("/v1/mechanisms").catch((error) => ({ mechanisms: [], error }));
  byId("preparing").hidden = true;
  if (mechanisms.length) offerMechanisms(mechanisms);
}

/** Nothing can be shown: say why, and nothing else. */
function stop(reason) {
  byId("starting").hidden = true;
  put(byId("stopped"), reason);
  byId("stopped").hidden = false;
  byId("frame").hidden = true;
}

start();
