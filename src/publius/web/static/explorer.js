// Asks for a view with the token that stands behind # in the address, and puts what comes into <main>. No text is kept
// but in the fields of this page, none in an address or a store of the browser.
"use strict";

const token = location.hash.slice(1);
const main = document.querySelector("main");
const status = document.getElementById("status");
const values = {};
let view = "start";
let asking = new AbortController();
let timer = 0;

function say(text) {
  status.textContent = text;
}

function collect() {
  const boxes = {};
  for (const field of main.querySelectorAll("input[name], select[name], textarea[name]")) {
    if (field.type === "checkbox") (boxes[field.name] ??= []).push(...(field.checked ? [field.value] : []));
    else if (field.type !== "radio" || field.checked) values[field.name] = field.value;
  }
  for (const [name, chosen] of Object.entries(boxes)) values[name] = chosen.join(",");
}

async function ask(path, whole) {
  clearTimeout(timer);
  asking.abort();
  const mine = (asking = new AbortController());
  const slow = setTimeout(() => {
    main.setAttribute("aria-busy", "true");
    say("Being computed…");
  }, 200);
  try {
    const answer = await fetch(path, {
      method: "POST", body: JSON.stringify(values), signal: mine.signal,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
    if (!answer.ok) {
      say((await answer.json()).error);
      return;
    }
    const content = await answer.text();
    if (mine.signal.aborted) return;
    swap(content, whole);
    say("");
  } catch (error) {
    if (error.name !== "AbortError") say("No answer. Does publius explore still run?");
  } finally {
    clearTimeout(slow);
    if (asking === mine) main.removeAttribute("aria-busy");
  }
}

function swap(content, whole) {
  const fresh = new DOMParser().parseFromString(content, "text/html").body;
  const old = main.querySelector("#result");
  const result = fresh.querySelector("#result");
  if (!whole && old && result) {
    old.replaceWith(result);
  } else {
    const at = document.activeElement?.id;
    const open = main.querySelector("details")?.open;
    main.replaceChildren(...fresh.childNodes);
    if (open && main.querySelector("details")) main.querySelector("details").open = true;
    if (at) document.getElementById(at)?.focus();
  }
  for (const slider of main.querySelectorAll("input[data-for]")) place(slider);
  const again = main.querySelector("[data-again]");
  if (again) timer = setTimeout(() => ask(again.dataset.again, again.matches("[data-whole]")), 600);
}

// A slider stands for the logarithm of the number beside it.
function place(slider) {
  const [low, high] = [Math.log(slider.dataset.low), Math.log(slider.dataset.high)];
  const value = Math.log(document.getElementById(slider.dataset.for).value);
  slider.value = (100 * (value - low)) / (high - low);
}

function show(name) {
  collect();
  view = name;
  for (const tab of document.querySelectorAll("nav [data-view]")) {
    tab.toggleAttribute("aria-current", tab.dataset.view === view);
    if (tab.dataset.view === view) tab.setAttribute("aria-current", "page");
  }
  ask(`/view/${view}`, true);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (event.target.closest("[data-skip]")) {
    event.preventDefault();
    main.focus();
  } else if (button?.dataset.view) {
    show(button.dataset.view);
  } else if (button?.name) {
    values[button.name] = button.value;
    ask(`/view/${view}`, true);
  } else if (button?.dataset.step && button.type === "button") {
    ask(`/start/${button.dataset.step}`, true);
  }
});

main.addEventListener("input", (event) => {
  const field = event.target;
  if (field.dataset.for) {
    const [low, high] = [Math.log(field.dataset.low), Math.log(field.dataset.high)];
    const value = Math.exp(low + (field.value / 100) * (high - low));
    document.getElementById(field.dataset.for).value = Number(value.toPrecision(2));
  } else if (field.id) {
    main.querySelectorAll(`[data-for="${CSS.escape(field.id)}"]`).forEach(place);
  }
  if (field.form?.dataset.whole !== undefined) return;
  clearTimeout(timer);
  timer = setTimeout(() => { collect(); ask(`/view/${view}`, false); }, "slow" in field.dataset ? 900 : 150);
});

main.addEventListener("change", (event) => {
  if (event.target.form?.dataset.whole === undefined) return;
  collect();
  ask(`/view/${view}`, true);
});

main.addEventListener("submit", (event) => {
  event.preventDefault();
  collect();
  const step = event.submitter?.dataset.step;
  ask(step ? `/start/${step}` : `/view/${view}`, step !== undefined);
});

if (token) show(view);
else say("Open the whole address that publius explore printed: it ends with # and the token.");
