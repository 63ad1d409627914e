// Tabs with one stop for the Tab key; arrows, Home and End go between them.

const KEYS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Bind the tabs of `list`; `onOpen(name)` hears which was opened, "document" for #tab-document. */
export function setUpTabs(list, onOpen) {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const open = (tab, focus) => {
    for (const each of tabs) select(each, each === tab);
    if (focus) tab.focus();
    uncover(list, tab);
    onOpen(tab.id.replace("tab-", ""));
  };
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => open(tab, false));
    tab.addEventListener("keydown", (event) => {
      const next = goal(event.key, at, tabs.length);
      if (next === null) return;
      event.preventDefault();
      open(tabs[next], true);
    });
  });
  return (name) => open(tabs.find((tab) => tab.id === `tab-${name}`), false);
}

/** Scroll `list` until `tab` is whole. Not by scrollIntoView, after which the Tab key would go on from there. */
function uncover(list, tab) {
  const { left, right } = tab.getBoundingClientRect(), frame = list.getBoundingClientRect();
  list.scrollLeft += Math.min(0, left - frame.left) + Math.max(0, right - frame.right);
}

function select(tab, selected) {
  tab.setAttribute("aria-selected", String(selected));
  tab.tabIndex = selected ? 0 : -1;
  document.getElementById(tab.getAttribute("aria-controls")).hidden = !selected;
}

function goal(key, at, count) {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return key in KEYS ? (at + KEYS[key] + count) % count : null;
}
