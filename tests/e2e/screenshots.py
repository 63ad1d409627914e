"""The pictures of docs/explorer.md, made anew: python tests/e2e/screenshots.py docs/figures

The explorer on the packaged vectors with the Federalist papers, which the extra demo brings, and with passages of old
books and papers from it as the file to be released and the older one. Draws are fresh, so no two runs give the same
picture. With --all every view is taken at 390, 1280 and 1920 pixels, light and dark, to be looked at.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from browser import chromium, opened, settled
from explorer import explorer
from PIL import Image

from complaint_files import table
from publius.documents.samples import labelled_passages

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


def passages(folder):
    """A file of passages to be released and an older one with authors and topics, of the same books."""
    found = list(itertools.islice(labelled_passages(), 0, None, 3))
    own = ({"number": each["id"].split()[-1], "report": each["text"]} for each in found[::2])
    older = (
        {"author": each["author"], "topic": each["topic"], "report": each["text"]} for each in found[1::2]
    )
    for name, rows in (("reports", own), ("older-reports", older)):
        (folder / f"{name}.csv").write_bytes(table(rows, encoding="utf-8"))


def start(page):
    """The whole way, once; the service keeps what was made."""
    page.click("#tab-start")
    settled(page)
    if page.locator("#start-texts .given").count() == 0:
        for step, name in (("texts", "reports"), ("older", "older-reports")):
            page.set_input_files(f"#start-{step} input[type=file]", f"{os.environ['PASSAGES']}/{name}.csv")
            page.wait_for_selector(f"#start-{step} .given", timeout=300_000)
        page.wait_for_selector("#learn, #start-learn .good", timeout=300_000)
        if page.locator("#learn").count():
            page.click("#learn")
        page.wait_for_selector("#start-keep .panes", timeout=300_000)
        page.click("#start-run")
    page.wait_for_selector("#start-release .verdict", timeout=900_000)
    page.wait_for_selector("#start-keep .panes", timeout=300_000)


def corpus(page):
    start(page)
    page.click("#tab-corpus")
    page.wait_for_selector("#corpus-map svg", timeout=300_000)
    page.wait_for_selector("#corpus-one .panes", timeout=300_000)


def evaluated(folder):
    """Results of an evaluation of passages at three bounds, as the report of a session."""
    corpus = folder / "passages.jsonl"
    rows = itertools.islice(labelled_passages(), 0, None, 5)
    corpus.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    command = ["evaluate", str(corpus), "--preserve", "meaning", "--reference", "themes"]
    limits = ["--bound", "3,7,12", "--preset", "quick", "--author-at-most", "0.3"]
    call = [sys.executable, "-m", "publius", *command, *limits, "--output", str(folder / "meaning-kept")]
    if subprocess.run(call, stdout=subprocess.DEVNULL).returncode not in (0, 1):
        raise SystemExit("the evaluation that is to be shown has failed")
    return folder / "meaning-kept"


def report(page):
    page.click("#tab-report")
    page.wait_for_selector("#report-card table")
    page.click("#report-show")
    page.wait_for_selector("#report-frame iframe")


SHOTS = {
    "start": (start, WIDE, "light", None),
    "corpus": (corpus, WIDE, "light", None),
    "document": (document, WIDE, "light", None),
    "outcomes": (outcomes, WIDE, "light", None),
    "epsilon": (epsilon, WIDE, "light", "#curves"),
    "words": (words, WIDE, "dark", None),
    "compare": (compare, WIDE, "light", "#compare-card"),
    "report": (report, WIDE, "light", "#report-card"),
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
        else:
            page.evaluate("scrollTo(0, 0)")
        (page.locator(part) if part else page).screenshot(path=place)
    Image.open(place).convert("RGB").quantize(128).save(place, optimize=True)


def shoot_all(browser, running, folder):
    """Every view, whole, at three widths, light and dark: to be looked at, kept nowhere."""
    for name, scheme in itertools.product(SHOTS, ("light", "dark")):
        if name == "phone":
            continue
        with opened(browser, running, viewport=WIDE, color_scheme=scheme) as page:
            SHOTS[name][0](page)
            for width in (1280, 1920, 390):
                page.set_viewport_size({"width": width, "height": 900})
                settled(page)
                page.evaluate("scrollTo(0, 0)")
                page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)


def main(folder, *, whole):
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["PASSAGES"] = temporary
        passages(Path(temporary))
        options = ("--report", str(evaluated(Path(temporary))))
        with explorer(Path(temporary), *options) as running, chromium() as browser:
            if whole:
                shoot_all(browser, running, folder)
            for name in () if whole else SHOTS:
                shoot(browser, running, name, folder)


if __name__ == "__main__":
    main(Path(sys.argv[-1]), whole="--all" in sys.argv)
