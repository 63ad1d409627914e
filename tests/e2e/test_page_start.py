"""The first page: from two files to a sign-off that is verified, as a curator would go, in a real browser."""

import io
import json
import re
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from browser import expect, opened, settled
from explorer import explorer
from pypdf import PdfReader

from complaint_files import FRENCH, as_given, complaints, table
from references import fitted

MOST_ANSWERS = 10


@pytest.fixture(scope="module")
def running(toy_folder, tmp_path_factory):
    """An explorer with an empty store."""
    folder = tmp_path_factory.mktemp("start")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PUBLIUS_HOME", str(folder / "home"))
        environment.setenv("TMPDIR", str(folder))
        with explorer(folder, "--embeddings", str(toy_folder)) as found:
            yield found
    assert list(folder.glob(".publius-*")) == []  # nothing of the texts is left


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The texts to be released, and older ones with topics and authors."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "complaints.csv").write_bytes(table(as_given(200, longest=300)))
    (folder / "older.csv").write_bytes(table(complaints(240, 2, longest=300)))
    return folder


@pytest.fixture
def page(chromium_browser, running):
    with opened(chromium_browser, running, view="start") as found:
        yield found


def choose(page, step, path):
    page.set_input_files(f"#start-{step} input[type=file]", str(path))
    page.wait_for_selector(f"#start-{step} .given")


def test_from_two_files_to_a_verified_sign_off(page, running, files):
    began, answers = time.monotonic(), 0

    def answer(act, *arguments):
        nonlocal answers
        answers += 1
        act(*arguments)

    answer(choose, page, "texts", files / "complaints.csv")
    found = page.inner_text("#start-texts")
    assert all(each in found for each in ("200", "semicolon", "iso-8859-1", "2 rows without text (empty)"))
    expect(page.locator("#start-older")).to_contain_text("choose it in step 1")
    answer(page.select_option, "#texts-encoding", "iso-8859-1")  # its letters alone propose it
    expect(page.locator("#texts-encoding option[value='']")).to_have_count(0)
    answer(choose, page, "older", files / "older.csv")
    answer(page.click, "#learn")
    expect(page.locator("#start-learn .good")).to_contain_text("Learned")
    expect(page.locator("#start-keep .panes")).to_have_count(2)
    answer(page.fill, "#start-purpose", "To learn what people complain about")
    page.press("#start-purpose", "Tab")
    answer(page.click, "#start-run")
    page.wait_for_selector("#start-release .stage.running")
    page.wait_for_selector("#start-release .verdict")
    if page.locator("#start-all-the-same").count():
        assert not running.releases.exists() or not list(running.releases.iterdir())
        answer(page.click, "#start-all-the-same")
        page.wait_for_selector("#start-release .facts code")
    assert answers <= MOST_ANSWERS
    assert time.monotonic() - began < 300
    assert page.inner_text("#start-release .verdict strong") in ("PASS", "FAIL", "NO EVIDENCE")
    folder = Path(page.inner_text("#start-release .facts code"))
    release, signed = folder / "release", folder / "signoff.html"
    checked = subprocess.run(
        [sys.executable, "-m", "publius", "verify", release, signed, "--evaluation", folder / "evaluation"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stderr
    bags = [json.loads(line) for line in (release / "bags.jsonl").read_text().splitlines()]
    manifest = json.loads((release / "manifest.json").read_text())
    assert {sum(bag["bag"].values()) for bag in bags} == {manifest["size"]}  # no length is to be seen
    with page.context.expect_page() as popup:
        page.click("#start-release button:text('Open the page to sign')")
    popup.value.wait_for_load_state()
    assert "exp(7)" in popup.value.content()
    first = first_side(popup.value)
    assert "To learn what people complain about" in first
    assert "left open" in first  # who gets it, which nobody said
    assert "In five points" in first
    assert "Not promised" in first
    assert "Signature" in first  # whoever signs sees what he signs on the side on which he signs
    popup.value.close()
    with page.expect_download() as stored:
        page.click("#start-release button:text('Store the release')")
    assert stored.value.suggested_filename == f"{folder.name}.zip"


def first_side(page):
    """What stands on the first side when a page is printed."""
    printed = page.pdf(prefer_css_page_size=True)
    return unicodedata.normalize(
        "NFKC", PdfReader(io.BytesIO(printed)).pages[0].extract_text()
    )  # "fi" is one sign


def test_what_was_made_never_stands_for_another_choice(page):
    """Follows the test above: the page is opened anew, and the service still holds files and run."""
    page.wait_for_selector("#start-release .verdict")
    expect(page.locator("#start-release .caution")).to_have_count(0)
    page.fill("#start-bound", "3")
    expect(page.locator("#start-release .caution")).to_contain_text("You have chosen otherwise since")
    expect(page.locator("#start-means")).to_contain_text("3 nats: moderate")
    expect(page.locator("#start-commands code").first).to_contain_text("--bound 3 ")
    page.click("#tab-corpus")
    expect(page.locator("#corpus-one")).to_contain_text("one draw, no release")
    page.click("#tab-start")
    page.fill("#start-bound", "7")
    expect(page.locator("#start-release .caution")).to_have_count(0)


def test_a_stored_reference_can_be_chosen_in_place_of_learning(page, running):
    """Follows the tests above, whose files are still there."""
    fitted("letters").save(running.releases.parent / "home" / "references" / "letters")
    page.reload()
    page.wait_for_selector("#start-stored")
    page.select_option("#start-stored", "letters")
    expect(page.locator("#start-learn .good")).to_contain_text("stored reference letters")
    expect(page.locator("#start-commands .command").first).to_contain_text("--reference letters")
    page.select_option("#start-stored", "")
    expect(page.locator("#start-commands .command").first).not_to_contain_text("--reference letters")


def test_each_text_is_seen_before_and_after(page):
    page.wait_for_selector("#start-release .verdict")
    page.click("#tab-corpus")
    expect(page.locator("#corpus-list .row")).to_have_count(25)
    page.locator("#corpus-list .row").nth(9).click()
    expect(page.locator("#corpus-one blockquote")).to_contain_text(FRENCH[:20])
    expect(page.locator("#corpus-one .caution")).to_contain_text("another language")
    expect(page.locator("#corpus-one")).to_contain_text("After: one draw, no release")
    expect(page.locator("#corpus-map .text-dot")).to_have_count(200)
    expect(page.locator("#corpus-command")).to_contain_text("publius obfuscate complaints.csv")
    page.click("#corpus-on")
    expect(page.locator("#corpus-one-title")).to_have_text("Text 11 of 200")
    page.click("#corpus-after")
    expect(page.locator("#corpus-list-title")).to_have_text("Texts 26 to 50 of 200")


def test_a_run_can_be_cancelled(page, running):
    page.wait_for_selector("#start-run:not([disabled])")
    before = sorted(running.releases.iterdir())
    page.click("#start-run")
    page.wait_for_selector("#start-release .stage.running")
    page.click("#start-release .body .cancel")
    expect(page.locator("#start-release .body .stages")).to_contain_text("Stopped as you said")
    assert sorted(running.releases.iterdir()) == before


@pytest.mark.parametrize("width", [320, 390, 768])
@pytest.mark.parametrize("view", ["start", "corpus"])
def test_it_fits_a_phone(chromium_browser, running, view, width):
    with opened(chromium_browser, running, view, viewport={"width": width, "height": 800}) as page:
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_what_is_chosen_before_the_questions_have_come_waits_for_them(page):
    held = []
    page.route("**/v1/start", lambda route: held.append(route))
    with page.expect_request("**/v1/start"):
        page.reload()
    page.wait_for_selector("html[data-ready=true]")
    page.click("#tab-start")
    page.fill("#start-bound", "3")
    page.click("#tab-corpus")  # which asks the same view what its plan is
    page.click("#tab-start")
    assert len(held) == 1
    held[0].continue_()
    expect(page.locator("#start-means")).to_contain_text(
        "nats: moderate"
    )  # 3, or 7 of a run before this test
    page.wait_for_selector("#start-purpose")


def test_what_is_wrong_stands_in_its_place(page, tmp_path):
    (tmp_path / "notes.exe").write_bytes(b"x")
    page.set_input_files("#start-texts input[type=file]", str(tmp_path / "notes.exe"))
    expect(page.locator("#start-texts .error")).to_contain_text("this kind of file cannot be read")
    expect(page.locator("#start-run")).to_be_disabled()
    (tmp_path / "one.csv").write_text("name\nx\n")
    page.set_input_files("#start-texts input[type=file]", str(tmp_path / "one.csv"))
    expect(page.locator("#start-texts .given")).to_be_visible()
    expect(page.locator("#start-run")).to_be_disabled()
    assert re.search(r"no column", page.inner_text("#start-texts") + page.inner_text("#start-older"))


def test_what_quotation_marks_do_is_asked_where_one_stays_open(page, files, tmp_path):
    """One text begins with a quotation mark, another ends with one; between them stand those of others."""
    lines = [f"{n};the river bends and the town sleeps" for n in range(40)]
    lines[5], lines[30] = '5;"the river', '30;the town"'
    (tmp_path / "odd.csv").write_text("\n".join(["id;complaint", *lines, ""]))
    choose(page, "texts", tmp_path / "odd.csv")
    choose(page, "older", files / "older.csv")
    expect(page.locator("#start-older")).to_contain_text("choose it in step 1")
    expect(page.locator("#texts-quotes option:checked")).to_contain_text("choose it")
    page.select_option("#texts-quotes", "letters")
    expect(page.locator("#texts-quotes option[value='']")).to_have_count(0)
    expect(page.locator("#start-texts .tiles")).to_contain_text("40")
    expect(page.locator("#start-older")).to_contain_text("240 texts can be used")  # learned or not
