"""Everything without a mouse: every control is reached, is seen to have the focus, has a name, and does its work."""

import pytest
from browser import expect, give, settled

from toy import sentence

VIEWS = ["document", "epsilon", "words", "compare", "summary", "report"]
ACTIVE = "document.activeElement"
# What Tab should stop at: what can be used and is shown. Of the tabs only the selected one has a stop.
STOPS = """() => [...document.querySelectorAll(
  "a[href], button, input, select, textarea, summary, iframe, [tabindex='0']")].filter((node) =>
  !node.disabled && node.tabIndex >= 0 && node.checkVisibility() && !node.closest("[hidden]")).length"""
NAMELESS = """() => [...document.querySelectorAll(
  "button, input, select, textarea, [role=region], [role=img], iframe, meter")]
  .filter((node) => node.checkVisibility() && !(
    node.getAttribute("aria-label") || node.getAttribute("aria-labelledby") || node.labels?.length ||
    node.textContent.trim() || node.title))
  .map((node) => node.outerHTML)"""

# Text and the ground it is set on, as the variables of styles.css.
GROUNDS = [
    ("ink", "page"), ("ink", "card"), ("ink", "sunk"), ("ink", "accent-soft"), ("soft", "page"), ("soft", "card"),
    ("soft", "sunk"), ("accent", "card"), ("on-accent", "accent"), ("warn-ink", "warn-page"), ("bad-ink", "bad-page"),
    ("good-ink", "good-page"),
]  # fmt: skip


@pytest.fixture
def full(page):
    """With something in every view."""
    give(page, "document", sentence(1))
    page.click("#tab-compare")
    give(page, "compare", sentence(2), which=1)
    page.click("#tab-words")
    page.fill("#word", "river")
    page.press("#word", "Enter")
    page.click("#tab-document")
    settled(page)
    return page


def test_arrows_home_and_end_go_between_tabs(page):
    page.focus("#tab-document")
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "ArrowLeft", "Home"):
        page.keyboard.press(key)
        seen.append(page.evaluate(f"{ACTIVE}.id").removeprefix("tab-"))
        assert page.locator(f"#view-{seen[-1]}").is_visible()
        assert page.locator("[role=tab][aria-selected=true]").count() == 1
    assert seen == ["outcomes", "epsilon", "outcomes", "report", "start", "report", "start"]


@pytest.mark.parametrize("view", VIEWS)
def test_every_control_is_reached_and_seen(full, view):
    full.click(f"#tab-{view}")
    settled(full)
    expected = full.evaluate(STOPS)
    full.evaluate(
        "document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')"
    )
    reached, unseen = set(), []
    for _ in range(expected + 2):
        full.keyboard.press("Tab")
        if full.evaluate(f"{ACTIVE} === document.body"):
            break
        mark = full.evaluate(
            f"(() => {{ const node = {ACTIVE}; node.dataset.stop ??= Math.random(); return node.dataset.stop }})()"
        )
        reached.add(mark)
        outline = full.evaluate(
            f"(() => {{ const a = {ACTIVE}; const n = a.type === 'file' ? a.nextElementSibling : a;"
            " return getComputedStyle(n).outlineStyle })()"
        )
        if outline == "none":
            unseen.append(full.evaluate(f"{ACTIVE}.outerHTML"))
    assert len(reached) == expected
    assert unseen == []


@pytest.mark.parametrize("view", VIEWS)
def test_every_control_and_picture_has_a_name(full, view):
    full.click(f"#tab-{view}")
    settled(full)
    assert full.evaluate(NAMELESS) == []


def test_from_the_paste_to_the_release_without_a_mouse(page, shared):
    page.keyboard.press("Tab")  # the link that skips
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate(f"{ACTIVE}.tagName") == "TEXTAREA"
    page.keyboard.insert_text(sentence(3))
    expect(page.locator("#draw .bag-list li").first).to_be_visible()
    page.focus("#epsilon")
    before = page.input_value("#epsilon-number")
    for key in ("ArrowLeft", "ArrowLeft", "PageDown"):
        page.keyboard.press(key)
    settled(page)
    assert float(page.input_value("#epsilon-number")) < float(before)
    assert "epsilon" in page.get_attribute("#epsilon", "aria-valuetext")
    page.focus("#release-open")
    page.keyboard.press("Enter")
    expect(page.locator("#confirm")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#release-result .done")).to_be_visible()
    assert len(list(shared.releases.iterdir())) >= 1


def test_escape_leaves_the_question_without_a_release(full):
    full.focus("#release-open")
    full.keyboard.press("Enter")
    expect(full.locator("#confirm")).to_be_visible()
    full.keyboard.press("Escape")
    expect(full.locator("#confirm")).to_be_hidden()
    assert full.evaluate(f"{ACTIVE}.id") == "release-open"


def test_results_are_told_to_screen_readers(full):
    expect(full.locator("#announcer")).to_contain_text("words stay")
    assert full.get_attribute("#announcer", "aria-live") == "polite"


def test_motion_is_left_out_where_it_is_not_wanted(chromium_browser, shared):
    from browser import opened

    with opened(chromium_browser, shared, reduced_motion="reduce") as page:
        page.evaluate("document.querySelector('#draw').classList.add('busy')")
        name = page.evaluate("getComputedStyle(document.querySelector('#draw'), '::before').animationName")
        assert name == "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(chromium_browser, shared, scheme):
    """Contrast of at least 4.5, by the definition of WCAG 2, for the pairs of colors that text is set in."""
    from browser import opened

    with opened(chromium_browser, shared, color_scheme=scheme) as page:
        style = "getComputedStyle(document.documentElement)"
        colors = {
            name: page.evaluate(f"{style}.getPropertyValue('--{name}').trim()")
            for pair in GROUNDS
            for name in pair
        }
    measured = {pair: contrast(*(colors[name] for name in pair)) for pair in GROUNDS}
    assert {pair: found for pair, found in measured.items() if found < 4.5} == {}


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def luminance(color):
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
