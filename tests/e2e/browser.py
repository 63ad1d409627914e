"""A headless Chromium on the explorer's page, watched: whatever a page must never do fails the test at its end."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest

pytest.importorskip("playwright", reason="a part of make e2e, which has its own environment")

from playwright.sync_api import expect, sync_playwright

__all__ = ["chromium", "expect", "give", "opened", "settled", "tile", "turn", "unfold"]
CHROMIUM = "/usr/bin/chromium"
PATIENCE = 300_000  # milliseconds: a busy machine is slow, and that is no failure
expect.set_options(timeout=PATIENCE)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]
# Before any script of the page: a canary that no payload may touch, and an ear for breaches of the policy.
WATCH = """
  window.breaches = [];
  document.addEventListener("securitypolicyviolation", (event) => window.breaches.push(event.violatedDirective));
"""
PAUSES = 450  # milliseconds, more than the longest pause of a view
REFUSAL = "Failed to load resource: the server responded with a status of 4"


@dataclass
class Watch:
    """What was seen of one page."""

    host: str
    faults: list = field(default_factory=list)
    refusals: int = 0

    def console(self, message):
        if message.text.startswith(REFUSAL):
            self.refusals += 1  # an error that the page shows in place; tests that expect none look at this
        elif message.type in ("error", "warning"):
            self.faults.append(f"console {message.type}: {message.text}")

    def request(self, request):
        if urlsplit(request.url).netloc != self.host and not request.url.startswith(("data:", "about:")):
            self.faults.append(f"request off the machine: {request.url}")

    def dialog(self, dialog):
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@contextmanager
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def opened(browser, running, view="document", **options):
    """The explorer's page with a ``view`` open; at the end nothing it must never do was done."""
    context = browser.new_context(**options)
    context.add_init_script(WATCH)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.watch = watch = Watch(running.host)
    page.on("console", watch.console)
    page.on("pageerror", lambda error: watch.faults.append(f"error: {error}"))
    page.on("dialog", watch.dialog)
    context.on("request", watch.request)
    page.goto(f"http://{running.host}/#token={running.token}")
    page.wait_for_selector("html[data-ready=true]")  # vectors are prepared once
    page.evaluate(
        "view => document.getElementById(`tab-${view}`).click()", view
    )  # the focus stays where it is
    yield page
    breaches = page.evaluate("window.breaches")
    canary = page.evaluate("typeof window.canary")
    context.close()
    seen = (watch.faults, breaches, canary)
    assert seen == ([], [], "undefined"), seen


def settled(page):
    """Nothing is waited for any more: the page's pauses after a key are over, and no card is busy.

    The page's own clock tells: on a busy machine its timers fire late, and one that is set later fires after them.
    """
    page.evaluate("pause => new Promise((done) => setTimeout(done, pause))", PAUSES)
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


def unfold(page, summary):
    """Open details, and wait for the table in them."""
    page.click(summary)
    page.locator("details[open] table").first.wait_for()


def give(page, view, text, which=0):
    """Put a text into the ``which``-th text area of a view, as a paste does."""
    page.locator(f"#view-{view} textarea").nth(which).fill(text)


def tile(page, view, name):
    """The figure in the tile called ``name``."""
    return page.locator(f"#view-{view} .tiles > div", has_text=name).locator("dd").inner_text()


def turn(page, epsilon):
    """Type an epsilon into the box beside the dial."""
    page.fill("#epsilon-number", str(epsilon))
