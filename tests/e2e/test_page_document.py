"""The view of one document, in a real browser against a real explorer: from the paste to the file on disk."""

import json
import sqlite3

import pytest
from browser import expect, give, opened, settled, tile, turn, unfold
from explorer import explorer

from publius.privacy.ledger import Ledger
from toy import WORDS, sentence

TEXT = f"The {sentence(1)} zanzibar of the {sentence(2)}"


@pytest.fixture
def document(page):
    give(page, "document", TEXT)
    page.wait_for_selector("#draw .bag-list li")
    settled(page)
    return page


def test_tells_whose_eyes_it_is_for(page):
    note = page.inner_text("#curator-note")
    assert "curator" in note
    assert "No draw shown here is a release" in note


def test_sets_unknown_and_stop_words_apart(document):
    assert document.locator(".token.unknown", has_text="zanzibar").count() == 1
    assert document.locator("#tokens .tokens s.token.stop").all_inner_texts() == ["The", "of", "the"]
    assert document.inner_text("#tokens .tokens") == TEXT


@pytest.mark.parametrize(("kind", "property"), [("unknown", "outlineStyle"), ("stop", "textDecorationLine")])
def test_not_by_color_alone(document, kind, property):
    look = f"node => getComputedStyle(node).{property}"
    assert document.locator(f"#tokens .tokens .{kind}").first.evaluate(look) not in ("none", "")


def test_every_word_of_the_text_is_marked_as_it_was_drawn(document):
    unfold(document, "summary:text('Word by word')")
    rows = document.locator("#tokens table tbody tr").all()
    pairs = [(row.locator("th").inner_text(), row.locator("td").first.inner_text()) for row in rows]
    words = document.locator("#tokens .tokens :is(.word, .unknown)")
    stays = [node.evaluate("node => node.classList.contains('stays')") for node in words.all()]
    assert stays == [before == after for before, after in pairs[: len(stays)]]
    assert any(stays)
    assert not all(stays)


def test_the_bag_is_whole_and_of_n_words(document):
    counts = [int(text) for text in document.locator(".bag-list .bag-count").all_inner_texts()]
    words = document.locator(".bag-list .bag-word").all_inner_texts()
    assert sum(counts) == 400
    assert set(words) <= set(WORDS)
    assert len(set(words)) == len(words)


def test_the_bag_can_be_sorted_by_count(document):
    document.click(".switch button:text('Count')")
    counts = [int(text) for text in document.locator(".bag-list .bag-count").all_inner_texts()]
    assert counts == sorted(counts, reverse=True)


def test_epsilon_moves_what_stays(document):
    turn(document, 0.01)
    expect(document.locator(".equation")).to_contain_text("0.01")
    few = int(tile(document, "document", "Words that stay").split()[0].removeprefix("<").split(".")[0] or 0)
    turn(document, 100)
    expect(document.locator(".equation")).to_contain_text("40,000")
    assert few < 30
    known, unknown = (document.locator(f"#tokens .tokens .{kind}").count() for kind in ("word", "unknown"))
    assert tile(document, "document", "Words that stay") == f"{100 * known / (known + unknown):.0f} %"


def test_the_dial_moves_the_number_and_the_draw(document):
    before = document.input_value("#epsilon-number")
    document.locator("#epsilon").evaluate(
        "node => { node.value = 3; node.dispatchEvent(new Event('input', { bubbles: true })) }"
    )
    expect(document.locator("#epsilon-number")).not_to_have_value(before)
    settled(document)
    shown = float(tile(document, "document", "At epsilon"))
    assert shown == pytest.approx(float(document.input_value("#epsilon-number")), rel=1e-3)


def test_a_new_draw_is_another_draw(document):
    turn(document, 0.5)
    settled(document)
    bags = set()
    for _ in range(3):
        with document.expect_response("**/v1/draw"):
            document.click("#redraw")
        settled(document)
        bags.add(document.inner_text(".bag-list"))
    assert len(bags) > 1


def test_the_promise_is_the_guarantees_own_words(document):
    turn(document, 2)
    expect(document.locator(".equation")).to_contain_text("800")
    promise = document.inner_text("#promise")
    assert "exp(800 * E)" in promise
    assert "proven" in promise


def test_the_strongest_adversary_of_the_nearest_epsilon_is_named(document):
    turn(document, 9)
    expect(document.locator("#attack")).to_contain_text("the nearest to 9")
    attack = document.inner_text("#attack")
    assert "60 %" in attack
    assert "informed" in attack
    assert "at epsilon 10" in attack


def test_pictures_say_what_they_show(document):
    for picture in document.locator("#view-document svg[role=img]").all():
        title, description = picture.locator("title").text_content(), picture.locator("desc").text_content()
        assert title
        assert description
    unfold(document, "#histogram summary")
    counts = document.locator("#histogram td").all_inner_texts()
    assert sum(map(int, counts)) == int(tile(document, "document", "Real words"))  # pads are counted apart


def test_a_refusal_stands_in_its_place_in_the_services_words(document):
    document.click(".more summary")
    document.select_option("#unknown", "reject")
    document.wait_for_selector("#draw .error:visible")
    message = document.inner_text("#draw .error")
    assert "unknown" in message.lower() or "vocabulary" in message.lower()
    assert "zanzibar" not in message
    assert document.locator("#draw .bag-list").is_hidden()
    expect(document.locator("#promise-body")).to_have_text("There is no draw, so nothing is promised.")
    expect(document.locator("#tokens .token.unknown", has_text="zanzibar")).to_be_visible()
    document.select_option("#unknown", "drop")
    document.wait_for_selector("#draw .bag-list li")
    assert document.locator("#draw .error").is_hidden()


def test_a_number_that_is_none_is_refused_beside_its_box(document):
    turn(document, -1)
    assert document.inner_text("#epsilon-problem") == "Epsilon is a positive number."
    assert document.get_attribute("#epsilon-number", "aria-invalid") == "true"
    turn(document, 3)
    assert document.locator("#epsilon-problem").is_hidden()


def test_an_answer_that_was_overtaken_is_dropped(document):
    """The first of two texts is answered last: the second stays on the page."""
    held = []
    document.route("**/v1/draw", lambda route: held.append(route) if not held else route.continue_())
    give(document, "document", "river mountain")
    expect(document.locator("#draw")).to_have_attribute("aria-busy", "true")
    give(document, "document", "guitar violin singer")
    expect(document.locator("#tokens .tokens")).to_contain_text("guitar")
    held[0].abort()
    settled(document)
    unfold(document, "summary:text('Word by word')")
    assert document.locator("#tokens tbody th").first.inner_text() == "guitar"


def test_a_file_is_read_here_and_a_binary_one_refused(page):
    files = page.locator("#view-document input[type=file]")
    files.set_input_files({"name": "note.txt", "mimeType": "text/plain", "buffer": b"river\r\nvalley"})
    page.wait_for_selector("#draw .bag-list li")
    assert page.input_value("#view-document textarea") == "river\nvalley"
    files.set_input_files({"name": "note.txt", "mimeType": "text/plain", "buffer": b"\xff\xfe\x00"})
    expect(page.locator("#view-document .source .problem")).to_contain_text("UTF-8")


def test_a_wrong_token_is_told(chromium_browser, shared):
    page = chromium_browser.new_page()
    page.goto(f"http://{shared.host}/#token=wrong")
    page.wait_for_selector("#stopped:visible")
    assert "not the one of the explorer" in page.inner_text("#stopped")
    assert page.locator("#frame").is_hidden()
    page.close()


def test_the_token_leaves_the_address_bar(page, shared):
    assert shared.token not in page.url
    page.reload()
    page.wait_for_selector("html[data-ready=true]")


@pytest.fixture
def own(chromium_browser, toy_folder, tmp_path):
    """An explorer of its own: its releases and its ledger are looked at."""
    Ledger.create(tmp_path / "budget.ledger", budget=10_000)
    with (
        explorer(
            tmp_path, "--embeddings", str(toy_folder), "--ledger", str(tmp_path / "budget.ledger")
        ) as running,
        opened(chromium_browser, running) as page,
    ):
        give(page, "document", TEXT)
        page.wait_for_selector("#draw .bag-list li")
        yield page, running


def release(page, id):
    page.fill("#release-id", id)
    page.click("#release-open")
    page.click("#confirm-release")
    page.wait_for_selector("#release-result .done, #release .error:visible")


def test_nothing_is_written_or_charged_before_it_is_released(own):
    page, running = own
    page.click("#redraw")
    page.click("#release-open")
    expect(page.locator("#confirm")).to_contain_text("a fresh draw")
    page.click("#confirm-cancel")
    settled(page)
    assert not list(running.releases.parent.rglob("bags.jsonl"))
    assert Ledger(running.releases.parent / "budget.ledger").counts()[2] == 0


def test_a_release_is_a_folder_with_bag_and_manifest(own):
    page, running = own
    turn(page, 4)
    settled(page)
    release(page, "letter-7")
    (folder,) = running.releases.iterdir()
    (bag,) = (json.loads(line) for line in (folder / "bags.jsonl").read_text(encoding="utf-8").splitlines())
    manifest = (folder / "manifest.json").read_text(encoding="utf-8")
    assert (bag["id"], sum(bag["bag"].values())) == ("letter-7", 400)
    assert json.loads(manifest)["epsilon"] == 4
    assert str(folder) in page.inner_text("#release-result")
    assert "zanzibar" not in manifest


def test_a_release_is_debited_and_what_remains_is_shown(own):
    page, running = own
    turn(page, 4)
    release(page, "letter-7")
    expect(page.locator("#release-account")).to_contain_text("8,400 of 10,000")
    account = Ledger(running.releases.parent / "budget.ledger").document("letter-7")
    assert float(account.remaining) == 10_000 - 4 * 400


def test_a_budget_that_is_spent_refuses_in_place(own):
    page, running = own
    turn(page, 20)
    release(page, "letter-7")
    release(page, "letter-7")
    assert "code 77" in page.inner_text("#release .error")
    assert len(list(running.releases.iterdir())) == 1
    assert page.locator("#release-open").is_enabled()


def test_the_ledger_is_a_database_that_holds_no_word(own):
    page, running = own
    release(page, "letter-7")
    with sqlite3.connect(running.releases.parent / "budget.ledger") as ledger:
        held = "\n".join(ledger.iterdump())
    assert "zanzibar" not in held
