"""The pictures of docs/explorer.md, made anew: python tests/e2e/screenshots.py docs/figures

The explorer on the packaged vectors with the Federalist papers, which the extra demo brings. Draws are fresh, so no two
runs give the same picture.
"""

import sys
import tempfile
from pathlib import Path

from browser import chromium, opened, settled
from explorer import explorer
from PIL import Image

from publius.privacy.ledger import Ledger

WIDE = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 844}


def picked(page, view, number, which=0):
    """A Federalist paper in a view's text area."""
    page.locator(f"#view-{view} .samples").nth(which).select_option(label=f"Federalist No. {number}")
    settled(page)


def document(page):
    picked(page, "document", 10)
    page.wait_for_selector("#draw .bag-list li")


def outcomes(page):
    page.click("#tab-outcomes")
    picked(page, "outcomes", 47)
    page.wait_for_selector("#outcomes-card .tiles", timeout=300_000)  # themes are made once


def epsilon(page):
    document(page)
    page.click("#tab-epsilon")
    picked(page, "epsilon", 51, which=1)
    page.check("#curve-mechanisms input[value=vickrey]")
    page.check("#curve-mechanisms input[value=projected-laplace]")
    page.wait_for_selector("#curves .legend li:nth-child(3)", timeout=300_000)
    page.locator("#curves").scroll_into_view_if_needed()


def words(page):
    page.click("#tab-words")
    page.fill("#word", "senate")
    page.press("#word", "Enter")
    page.wait_for_selector("#words-card table")


def compare(page):
    document(page)
    page.click("#tab-compare")
    picked(page, "compare", 51, which=1)
    page.wait_for_selector("#compare-card .move", state="attached")


SHOTS = {
    "document": (document, WIDE, "light", None),
    "outcomes": (outcomes, WIDE, "light", None),
    "epsilon": (epsilon, WIDE, "light", "#curves"),
    "words": (words, WIDE, "dark", None),
    "compare": (compare, WIDE, "light", "#compare-card"),
    "phone": (document, PHONE, "dark", None),
}


def shoot(browser, running, name, folder):
    prepare, viewport, scheme, part = SHOTS[name]
    place = folder / f"explorer-{name}.png"
    with opened(browser, running, viewport=viewport, color_scheme=scheme) as page:
        prepare(page)
        settled(page)
        if name == "phone":
            page.locator("#draw").scroll_into_view_if_needed()
            page.evaluate("document.querySelector('#draw').scrollIntoView()")
        (page.locator(part) if part else page).screenshot(path=place)
    Image.open(place).convert("RGB").quantize(128).save(place, optimize=True)


def main(folder):
    with tempfile.TemporaryDirectory() as temporary:
        ledger = Path(temporary) / "budget.ledger"
        Ledger.create(ledger, budget=20_000)
        with explorer(Path(temporary), "--ledger", str(ledger)) as running, chromium() as browser:
            for name in SHOTS:
                shoot(browser, running, name, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
