"""Long preparations on the page: what is done, how far it is, the way to stop it and to begin again."""

import os

import pytest
from browser import expect, give, opened, settled
from explorer import explorer

from complaint_files import complaints, table
from publius.noise.randomness import seeded_rng
from publius.vectors.embeddings import Embeddings
from toy import sentence

WORDS = 40_000  # a certificate takes many times as long as a click, on a quick machine with nothing else to do, too
ROWS = 40_000  # and read


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """An explorer on vectors of many words."""
    folder = tmp_path_factory.mktemp("progress")
    names = [f"w{number}" for number in range(WORDS - 60)] + sorted(
        {w for i in range(60) for w in sentence(i).split()}
    )
    vectors = seeded_rng(4).standard_normal((len(names), 100)).astype("float32")
    Embeddings.from_arrays(names, vectors, name="many", tokenizer="word2vec").save(folder / "many")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PUBLIUS_HOME", str(folder / "home"))
        with explorer(folder, "--embeddings", str(folder / "many")) as found:
            yield found


def picture(page, name):
    if folder := os.environ.get("PUBLIUS_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png")


def test_certifying_is_shown_and_can_be_stopped_and_begun_again(chromium_browser, running):
    with opened(chromium_browser, running) as page:
        give(page, "document", sentence(1))
        expect(page.locator("#draw .tiles")).to_be_visible()
        page.wait_for_selector("#mechanism option[value=exponential]", state="attached")
        page.select_option("#mechanism", "exponential")
        shown = page.locator("#draw .stages")
        expect(shown).to_contain_text("Certifying the mechanism, pass")
        expect(shown.locator("progress")).to_be_visible()
        expect(shown).to_contain_text("left")
        picture(page, "certifying")
        shown.get_by_role("button", name="Cancel").click()
        said = page.locator("#draw [role=alert]")
        expect(said).to_contain_text("Stopped as you said: nothing half-made is kept.")
        expect(shown).to_be_hidden()
        expect(page.locator("#draw .body")).to_be_hidden()  # nothing of another mechanism stands there
        expect(page.locator("#mechanism")).to_have_value("exponential")
        picture(page, "stopped")
        said.get_by_role("button", name="Start again").click()
        expect(shown).to_contain_text("Certifying the mechanism, pass")
        page.select_option("#mechanism", "laplace")  # another choice overtakes it
        settled(page)
        expect(said).to_be_hidden()
        expect(page.locator("#draw .tiles")).to_be_visible()


def test_curves_are_stopped_together(chromium_browser, running):
    with opened(chromium_browser, running) as page:
        give(page, "document", sentence(1))
        settled(page)
        page.click("#tab-epsilon")
        settled(page)
        page.check("#curve-mechanisms input[value=exponential]")
        page.check("#curve-mechanisms input[value=truncated-exponential]")
        shown = page.locator("#curves .stages")
        expect(shown).to_contain_text("at 7 strengths")
        picture(page, "curves")
        shown.get_by_role("button", name="Cancel").click()
        expect(page.locator("#curves .caution")).to_contain_text(
            "Stopped as you said: exponential, truncated-exponential"
        )
        expect(page.locator("#curves figure, #curves svg").first).to_be_visible()  # the others stay
        page.uncheck("#curve-mechanisms input[value=truncated-exponential]")
        page.locator("#curves").get_by_role("button", name="Start again").click()
        expect(shown).to_contain_text("at 7 strengths")
        shown.get_by_role("button", name="Cancel").click()
        settled(page)


def test_reading_a_file_is_shown_and_can_be_stopped_and_begun_again(chromium_browser, running, tmp_path):
    (tmp_path / "many.csv").write_bytes(table(list(complaints(ROWS // 20, 1, longest=200)) * 20))
    with opened(chromium_browser, running, view="start") as page:
        page.set_input_files("#start-texts input[type=file]", str(tmp_path / "many.csv"))
        shown = page.locator("#start-texts .stages")
        expect(shown).to_contain_text("Reading the rows")
        expect(shown).to_contain_text("left")
        picture(page, "reading")
        shown.get_by_role("button", name="Cancel").click()
        said = page.locator("#start-texts [role=alert]")
        expect(said).to_contain_text("Stopped as you said")
        expect(page.locator("#start-texts .zone")).to_be_visible()
        picture(page, "reading-stopped")
        said.get_by_role("button", name="Start again").click()
        page.wait_for_selector("#start-texts .given")
        expect(page.locator("#start-texts .tiles")).to_contain_text(f"{ROWS:,}")
