"""Each view once, from its form to its HTML; what it shows is what the library computes."""

import json
import re
import threading
import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from manifests import drawn, values_of
from publius.releases.register import MANIFEST
from publius.web import views
from publius.web.state import State

HOSTILE = "<script>alert(1)</script> \u202e<img src=x onerror=alert(2)>"


def seen(client, view, **asked):
    answer = client.post(f"/view/{view}", json={"mechanisms": "laplace", **asked})
    assert answer.status_code == 200
    return LexborHTMLParser(answer.text)


def text_of(page, selector):
    return [each.text(strip=True) for each in page.css(selector)]


@pytest.mark.parametrize("view", list(views.VIEWS))
def test_each_view_has_its_title_and_no_refusal(client, embeddings, view):
    page = seen(client, view, word=embeddings.word(3))
    assert text_of(page, "h1") == [views.VIEWS[view]]
    assert not page.css(".bad")


@pytest.mark.parametrize("view", ["document", "compare", "start", "word"])
def test_a_text_is_shown_as_text(client, view):
    page = seen(client, view, text=HOSTILE, other=HOSTILE, word=HOSTILE, file=HOSTILE, labels="", output=HOSTILE)
    assert not page.css("script")
    assert not page.css("img")
    assert "\u202e" not in page.html


def test_a_document_is_drawn_word_by_word(client, embeddings):
    words = [embeddings.word(place) for place in range(1, 9)]
    page = seen(client, "document", text=" ".join(words), length="20", epsilon="10000", labels="")
    drawn = text_of(page, "#result .text span[class^=far]")
    assert drawn == words
    assert page.css_first("#result .text .far0")


def test_a_document_says_its_label(client, embeddings, monkeypatch):
    from publius.classifiers.classifier import Values
    from publius.web.state import State

    monkeypatch.setattr(State, "classifier", lambda *_: Values(["open", "closed"]))
    page = seen(client, "document", text="open", labels="open,closed", local="2")
    assert "open" in text_of(page, "#result p b")


@pytest.mark.parametrize(
    ("name", "value"), [("epsilon", "none"), ("epsilon", "-1"), ("epsilon", "nan"), ("length", "2.5")]
)
def test_a_number_that_is_none_is_refused_in_place(client, name, value):
    page = seen(client, "document", text="a", **{name: value})
    assert len(page.css("#result .bad")) == 1
    assert page.css_first("form")


def test_a_word_has_outputs_and_neighbours(client, embeddings):
    word = embeddings.word(3)
    page = seen(client, "word", word=word, epsilon="10000")
    assert word in text_of(page, "svg text")
    assert len(page.css("circle")) > 10


def test_the_curve_goes_up(client):
    values = [
        float(found) for found in re.findall(r'cy="([0-9.]+)"', seen(client, "epsilon").css_first("figure").html)
    ][1:]
    assert len(values) == len(views.EPSILONS)
    assert values == sorted(values, reverse=True)


def test_texts_that_are_equal_are_at_no_distance(client, embeddings):
    words = " ".join(embeddings.word(place) for place in range(1, 9))
    page = seen(client, "compare", text=words, other=words, length="8")
    assert text_of(page, ".big b") == ["0", "0"]


def test_what_takes_long_says_so_and_is_there_later(client, embeddings, monkeypatch):
    from publius.mechanisms import word_outcomes
    from publius.web import state

    def slow(*given, **named):
        time.sleep(0.2)
        return word_outcomes.outcomes(*given, **named)

    monkeypatch.setattr(state, "_PATIENCE", 0.01)
    monkeypatch.setattr(views, "outcomes", slow)
    assert seen(client, "word", word=embeddings.word(3)).css("[data-again]")
    for _ in range(100):
        page = seen(client, "word", word=embeddings.word(3))
        if not page.css("[data-again]"):
            break
        time.sleep(0.05)
    assert page.css("circle")


def test_start_asks_releases_and_shows_the_folder(client, folder):
    rows = [{"text": each, "id": f"{place}"} for place, each in enumerate(["open", "closed"] * 30)]
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = {"file": "texts.jsonl"}
    page = seen(client, "start", **asked)
    assert page.css("[name=q-release]")
    asked |= {"q-release": "words", "q-length": "0"}
    assert seen(client, "start", **asked).css_first("#run").attributes.get("disabled", 0) is None
    assert client.post("/start/run", json=asked).status_code == 400
    asked |= {"q-length": "5", "q-epsilon": "", "output": "made"}
    assert client.post("/start/run", json=asked).status_code == 400
    asked |= {"q-epsilon": "3"}
    assert "disabled" not in seen(client, "start", **asked).css_first("#run").attributes
    from publius.start import steps

    def steps_run(answers, output, said, reading):
        assert (answers.release, answers.length, answers.epsilon) == ("words", 5, 3.0)
        from publius import Lifted, Values, protect_corpus
        from publius.documents.corpus import open_corpus
        from publius.mechanisms.randomized_response import RandomizedResponse

        assert Lifted
        protect_corpus(open_corpus(answers.file), RandomizedResponse(Values(["open", "closed"]), 1.0), output)
        said("done")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "run", steps_run)
        assert client.post("/start/run", json=asked).status_code == 200
        for _ in range(400):
            page = seen(client, "start", **asked)
            if page.css("#again"):
                break
            time.sleep(0.05)
    assert text_of(page, "pre") == ["done"]
    assert not page.css(".bad")
    page = seen(client, "folders", folder="made")
    assert text_of(page, ".release b") == ["made"]
    frame = page.css_first("iframe").attributes
    assert frame["sandbox"] in ("", None)
    assert "<main>" in frame["srcdoc"]
    assert not seen(client, "folders", folder="../folder/made").css("iframe")
    assert client.post("/start/again", json=asked).status_code == 200
    assert seen(client, "start", **asked).css("#run")


def test_a_folder_that_was_changed_is_named_and_no_folder_breaks_the_list(client, folder):
    for name in ("good", "page", "labels", "small", "large"):
        drawn(folder / name, values_of(), [{"id": "1", "label": "open"}])
    (folder / "page" / "release.html").write_bytes(b"<main>canary\xff</main>")
    told = json.loads((folder / "good" / MANIFEST).read_bytes())
    for name, more in (("labels", {"labels": []}), ("small", {"epsilon": 1e-320}), ("large", {"documents": 10**400})):
        (folder / name / MANIFEST).write_text(json.dumps(told | more))
    page = seen(client, "folders", folder="page")
    assert sorted(text_of(page, ".release b")) == ["good", "page"]
    assert not page.css("iframe")
    assert "not as it was drawn" in page.text()
    assert seen(client, "folders", folder="good").css("iframe")


def test_start_can_be_cancelled(client, folder, monkeypatch):
    from publius.files import progress
    from publius.start import steps

    def endless(*given):
        with progress.stage("counting"):
            while True:
                progress.advance(1, 2)
                time.sleep(0.01)

    monkeypatch.setattr(steps, "run", endless)
    (folder / "texts.jsonl").write_text('{"text": "open"}\n')
    asked = {"file": "texts.jsonl", "q-release": "words"}
    assert client.post("/start/run", json=asked).status_code == 200
    assert seen(client, "start", **asked).css("progress")
    client.post("/start/cancel", json=asked)
    for _ in range(200):
        page = seen(client, "start", **asked)
        if page.css("#again"):
            break
        time.sleep(0.02)
    assert len(page.css(".bad")) == 1


def test_what_was_made_and_is_kept_no_more_is_made_beside_the_request(tmp_path):
    state, made = State(tmp_path), []

    def make():
        made.append(threading.get_ident())
        return len(made)

    assert state.soon("key", make, "a thing") == state.soon("key", make, "a thing") == 1
    state._kept.clear()
    assert state.soon("key", make, "a thing") == 2
    assert threading.get_ident() not in made
