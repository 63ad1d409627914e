"""The view of outcomes: what a document may become, and that nothing on the page says otherwise than what is chosen."""

import json
import shlex
from dataclasses import replace

import numpy as np
import pytest
from browser import expect, give, opened, settled, tile
from explorer import explorer

from publius.files.reading import files_sha256
from publius.privacy.ledger import Ledger
from publius.releases.document_outcomes import outcomes_of
from publius.releases.plan import Plan
from publius.settings import ReleaseSettings
from publius.vectors.learning.reference import Reference, remember_texts
from references import fitted, public_documents

COURT = "The judge heard a lawyer and a witness in court this morning."


@pytest.fixture(scope="module")
def running(toy_folder, tmp_path_factory):
    """An explorer with two references of the user's own, one of which keeps the meaning only."""
    folder = tmp_path_factory.mktemp("outcomes")
    rows = [{"text": " ".join(words), "topic": topic} for words, topic in public_documents()]
    texts = folder / "letters.jsonl"
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    letters = fitted("letters")
    source = {**letters.source, "corpus_sha256": files_sha256([str(texts)])}
    replace(letters, source=source).save(folder / "home" / "references" / "letters")
    remember_texts(folder / "home" / "references" / "letters", texts, "text")
    only = fitted("meanings")
    aspects = {"meaning": only.aspect("meaning")}
    facts = (only.vocabulary, only.background, aspects, only.tokenizer, only.stop_words, only.source)
    Reference("meanings", *facts).save(folder / "home" / "references" / "meanings")
    Ledger.create(folder / "book.ledger", budget=12, unit="bound")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PUBLIUS_HOME", str(folder / "home"))
        options = ["--embeddings", str(toy_folder), "--ledger", str(folder / "book.ledger")]
        with explorer(folder, *options) as found:
            yield found, folder


@pytest.fixture
def page(chromium_browser, running):
    with opened(chromium_browser, running[0]) as found:
        found.click("#tab-outcomes")
        found.wait_for_selector("#reference option", state="attached")
        yield found


def bound(page, nats):
    page.fill("#bound-number", str(nats))
    settled(page)


def rows(page):
    return page.locator("#outcomes-card tbody th").evaluate_all(
        "cells => cells.map((cell) => cell.firstChild.textContent)"
    )


def test_the_figures_are_those_of_the_library(page, running, monkeypatch):
    give(page, "outcomes", COURT)
    bound(page, 3)
    monkeypatch.setenv("PUBLIUS_HOME", str(running[1] / "home"))
    plan = Plan.of(ReleaseSettings(preserve="topic", reference="letters", bound=3.0))
    expected = outcomes_of(COURT, plan)["outcomes"]
    assert rows(page)[0] == expected[0]["label"] == "court"
    assert tile(page, "outcomes", "Likeliest") == f"{100 * expected[0]['probability']:.0f} %"
    assert tile(page, "outcomes", "As a promise") == "moderate"
    assert "knows 5 words of this document; 1 it does not" in page.inner_text("#outcomes-card")
    promised = page.inner_text("#outcomes-promise")
    assert "any two documents whatever" in promised
    assert f"{np.ceil(np.exp(3) * 10) / 10} times" in promised
    page.click("#outcomes-card button:has-text('Show all')")
    assert sorted(rows(page)) == sorted(each["label"] for each in expected)


def test_the_strength_follows_the_bound(page):
    give(page, "outcomes", COURT)
    for nats, word in ((1, "strong"), (1.1, "moderate"), (10, "moderate"), (10.1, "weak"), (15, "weak")):
        bound(page, nats)
        assert tile(page, "outcomes", "As a promise") == word
        assert page.inner_text("#outcomes-promise .evidence >> nth=0") == word
        assert page.input_value("#bound") == str(nats)


def test_a_bound_that_is_none_is_said_and_not_taken(page):
    give(page, "outcomes", COURT)
    bound(page, 4)
    for wrong in ("0", "16", ""):
        page.fill("#bound-number", wrong)
        expect(page.locator("#bound-problem")).to_be_visible()
    settled(page)
    assert tile(page, "outcomes", "Bound") == "4"
    assert "--bound 4 " in page.inner_text("#outcomes-command")
    page.locator("#bound-number").blur()
    assert page.input_value("#bound-number") == "4"
    expect(page.locator("#bound-problem")).to_be_hidden()


def test_what_is_kept_and_the_view_agree(page):
    expect(page.locator("#preserve")).to_have_value("topic")
    expect(page.locator("#epsilon")).to_be_hidden()
    page.select_option("#preserve", "words")
    expect(page.locator("#view-document")).to_be_visible()
    expect(page.locator("#epsilon")).to_be_visible()
    expect(page.locator("#bound")).to_be_hidden()
    page.select_option("#preserve", "meaning")
    expect(page.locator("#view-outcomes")).to_be_visible()
    expect(page.locator("#tab-outcomes")).to_have_attribute("aria-selected", "true")
    page.click("#tab-epsilon")
    expect(page.locator("#preserve")).to_have_value("words")
    page.click("#tab-outcomes")
    expect(page.locator("#preserve")).to_have_value("meaning")
    settled(page)


def test_a_reference_that_keeps_less_says_so(page):
    give(page, "outcomes", COURT)
    page.select_option("#reference", "meanings")
    settled(page)
    expect(page.locator("#preserve")).to_have_value("meaning")
    expect(page.locator("#preserve option[value=topic]")).to_be_disabled()
    assert "7 prototypes; from 60 public documents on 3 topics" in page.inner_text("#reference-note")
    assert "kept is the meaning" in page.inner_text("#outcomes-promise").replace("What is ", "")
    page.select_option("#reference", "letters")
    settled(page)
    expect(page.locator("#preserve option[value=topic]")).to_be_enabled()


def test_the_command_does_the_same(page, running, tmp_path, monkeypatch, publius):
    page.click("#for-documents summary")
    page.fill("#kept_length", "9")
    page.fill("#first", "3")
    page.select_option("#kept_unknown", "unk")
    page.select_option("#kept_mechanism", "position")
    bound(page, 2.5)
    command = page.inner_text("#outcomes-command")
    monkeypatch.setenv("PUBLIUS_HOME", str(running[1] / "home"))
    (tmp_path / "a.txt").write_text(COURT)
    words = [
        {"INPUT": tmp_path / "a.txt", "DIR": tmp_path / "out"}.get(word, word)
        for word in shlex.split(command)
    ]
    assert words[0] == "publius"
    code, _, err = publius(*words[1:])
    assert code == 0, err
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (
        manifest["bound"],
        manifest["size"],
        manifest["first"],
        manifest["unknown"],
        manifest["mechanism"],
    ) == (
        2.5,
        9,
        3,
        "unk",
        "position",
    )


def test_the_mechanism_position_shows_its_box_and_no_probabilities(page):
    give(page, "outcomes", COURT)
    settled(page)
    assert page.locator("#outcomes-map svg .box").count() == 0
    page.click("#for-documents summary")
    page.select_option("#kept_mechanism", "position")
    settled(page)
    assert page.locator("#outcomes-map .picture .box").count() == 1
    assert rows(page) == []
    assert page.locator("#view-outcomes .tiles > div", has_text="Likeliest").count() == 0
    assert "Became" not in page.inner_text("#outcomes-draw")


def test_drawing_again_is_a_new_bag_and_charges_nothing(page, running):
    give(page, "outcomes", COURT)
    settled(page)
    bags = set()
    for _ in range(3):
        page.click("#outcomes-redraw")
        settled(page)
        bags.add(page.inner_text("#outcomes-draw .bag-list"))
    assert len(bags) == 3
    assert Ledger(running[1] / "book.ledger").counts() == (0, 0, 0)
    assert not running[0].releases.exists()


def test_a_document_of_unknown_words_is_warned_of(page):
    give(page, "outcomes", "zzcanaryzz qqq")
    settled(page)
    expect(page.locator("#outcomes-card .caution")).to_contain_text("no word that the reference knows")
    give(page, "outcomes", COURT)
    settled(page)
    assert page.locator("#outcomes-card .caution").count() == 0


def test_a_refusal_leaves_no_figure_of_another_choice(page):
    give(page, "outcomes", COURT)
    settled(page)
    page.route("**/v1/outcomes", lambda route: route.fulfill(
        status=400, json={"error": {"code": 2, "type": "UsageError", "message": "<b>no</b>"}}))  # fmt: skip
    bound(page, 2)
    expect(page.locator("#outcomes-card .error")).to_contain_text("<b>no</b>")
    for card in ("map", "draw", "promise"):
        assert "once this is put right" in page.inner_text(f"#outcomes-{card}")
    page.unroute("**/v1/outcomes")
    bound(page, 2.5)
    assert tile(page, "outcomes", "Bound") == "2.5"


def test_an_emptied_text_leaves_nothing(page):
    give(page, "outcomes", COURT)
    settled(page)
    page.locator("#view-outcomes .clear").click()
    settled(page)
    assert "court" not in page.inner_text("#view-outcomes").lower()
    expect(page.locator("#outcomes-redraw")).to_be_disabled()


def test_a_release_is_charged_its_bound(page, running):
    give(page, "outcomes", COURT)
    bound(page, 5)
    expect(page.locator("#release-account")).to_contain_text("12 of 12 left")
    page.click("#release-open")
    expect(page.locator("#confirm-facts")).to_contain_text("5 nats between any two documents")
    expect(page.locator("#confirm-facts")).to_contain_text("the topic, by the reference letters")
    page.click("#confirm-release")
    expect(page.locator("#release-result")).to_contain_text("Released")
    settled(page)
    manifest = json.loads(next(running[0].releases.iterdir()).joinpath("manifest.json").read_text())
    assert (manifest["preserve"], manifest["bound"], manifest["reference"]) == ("topic", 5.0, "letters")
    expect(page.locator("#release-account")).to_contain_text("7 of 12 left")
    page.click("#tab-document")
    expect(page.locator("#release-note")).to_contain_text("epsilon-n")  # this ledger cannot count words
    expect(page.locator("#release-open")).to_be_disabled()


def test_the_keyboard_does_it_all(page):
    give(page, "outcomes", COURT)
    page.focus("#bound")
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    settled(page)
    assert tile(page, "outcomes", "Bound") == "8"
    page.focus("#outcomes-redraw")
    page.keyboard.press("Enter")
    settled(page)
    page.locator("#view-outcomes .command").focus()
    assert page.evaluate("document.activeElement.className") == "command"
    expect(page.locator("#announcer")).to_contain_text("probability")


@pytest.mark.parametrize("width", [320, 390, 768])
def test_it_fits_a_phone(chromium_browser, running, width):
    with opened(chromium_browser, running[0], viewport={"width": width, "height": 800}) as page:
        page.click("#tab-outcomes")
        give(page, "outcomes", COURT)
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        expect(page.locator("#bound")).to_be_in_viewport()


def test_without_a_reference_it_says_how_to_make_one(chromium_browser, running):
    with opened(chromium_browser, running[0]) as page:
        page.route("**/v1/references", lambda route: route.fulfill(json={"references": []}))
        page.click("#tab-outcomes")
        expect(page.locator("#outcomes-card")).to_contain_text("publius reference fit PUBLIC")
        give(page, "outcomes", COURT)
        settled(page)
        expect(page.locator("#release-open")).to_be_disabled()


@pytest.mark.parametrize(("made", "said"), [(True, "Opening the reference"), (False, "Making the reference")])
def test_what_is_waited_for_is_said(chromium_browser, running, made, said):
    def unopened(route):
        found = route.fetch().json()
        changed = [{**each, "made": made, "ready": False} for each in found["references"]]
        route.fulfill(json={"references": changed})

    held = []
    with opened(chromium_browser, running[0]) as page:
        page.route("**/v1/references", unopened)
        page.route("**/v1/outcomes", lambda route: held.append(route))
        page.click("#tab-outcomes")
        give(page, "outcomes", COURT)
        expect(page.locator("#outcomes-stage")).to_contain_text(said)
        page.wait_for_function(
            "document.querySelector('#outcomes-card').getAttribute('aria-busy') === 'true'"
        )
        held[0].continue_()
        page.unroute("**/v1/outcomes")
        expect(page.locator("#outcomes-stage")).to_be_hidden()
        assert tile(page, "outcomes", "Bound") == "7"


def test_a_draw_has_a_public_sentence_to_read(page):
    """On demand; gone with the draw it belongs to; told why where nobody let any be quoted."""
    give(page, "outcomes", COURT)
    page.click("text=Quote the nearest public sentence")
    expect(page.locator("#outcomes-draw .exemplar .error")).to_contain_text("nobody said that sentences")
    quote = {
        "text": "The court sat.",
        "fault": None,
        "corpus": "letters.jsonl",
        "row": None,
        "note": "QUOTED from it",
    }
    page.route("**/v1/exemplar", lambda route: route.fulfill(json=quote))
    page.click("text=Quote the nearest public sentence")
    quoted = page.locator("#outcomes-draw blockquote")
    expect(quoted).to_have_text("The court sat.")
    assert "From letters.jsonl. QUOTED from it." in page.inner_text("#outcomes-draw")
    page.unroute("**/v1/exemplar")
    page.click("#outcomes-redraw")
    settled(page)
    expect(quoted).to_have_count(0)
