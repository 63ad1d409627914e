"""The service: answers are draws under fresh keys, and plain records."""

import os
import signal
import subprocess
import sys
import time

import pytest

from publius.settings import LARGEST_LOCAL_EPSILON


@pytest.fixture
def values(monkeypatch):
    from publius.classifiers.classifier import Values
    from publius.web.state import State

    monkeypatch.setattr(State, "classifier", lambda *_: Values(["open", "closed"]))


def test_health_and_classifiers(client):
    assert client.get("/v1/health").json()["status"] == "ok"
    assert client.get("/v1/classifiers").json() == {"classifiers": []}


def test_labels_are_drawn(client, values):
    answer = client.post("/v1/label", json={"texts": ["open"] * 400, "classifier": "any", "epsilon": 1}).json()
    assert set(answer["labels"]) == {"open", "closed", "other"}
    assert answer["all_labels"] == ["open", "closed", "other"]
    kept = answer["labels"].count("open") / 400
    assert abs(1 - answer["noise_changes"] - kept) < 0.13  # five deviations
    again = client.post("/v1/label", json={"texts": ["open"] * 400, "classifier": "any", "epsilon": 1}).json()
    assert again["labels"] != answer["labels"]
    assert client.post("/v1/label", json={"texts": []}).json()["labels"] == []


def test_no_text_is_refused(client, values):
    strange = ["", " ", "\u0000", "x" * 100_000, "=1+1", "\U0001f600"]
    answer = client.post("/v1/label", json={"texts": strange, "classifier": "any"})
    assert len(answer.json()["labels"]) == len(strange)
    answer = client.post(
        "/v1/label", content='{"text": "\\ud800", "classifier": "any"}', headers={"content-type": "application/json"}
    )
    assert answer.status_code == 200
    bags = client.post("/v1/obfuscate", json={"texts": strange, "length": 3}).json()["bags"]
    assert [sum(bag.values()) for bag in bags] == [3] * len(strange)


def test_an_epsilon_that_hides_nothing_is_refused(client, values):
    asked = {"text": "open", "classifier": "any", "epsilon": LARGEST_LOCAL_EPSILON + 0.1}
    assert client.post("/v1/label", json=asked).status_code == 403


def test_a_classifier_must_be_named(client):
    for asked in ({"text": "a"}, {"text": "a", "classifier": "python:os:path"}, {"text": "a", "classifier": "/etc"}):
        assert client.post("/v1/label", json=asked).status_code == 400
    assert client.post("/v1/label", json={"classifier": "x"}).status_code == 400


def test_bags_have_their_length_and_only_public_words(client, embeddings):
    asked = {"text": f"{embeddings.word(1)} private", "length": 7, "epsilon": 1, "mechanism": "exponential"}
    answer = client.post("/v1/obfuscate", json=asked).json()
    assert sum(answer["bags"][0].values()) == 7
    assert set(answer["bags"][0]) <= set(embeddings.vocabulary)
    assert answer["exponent_per_distance"] == 7


def test_a_setting_a_word_and_two_texts_are_explained(client, embeddings):
    a, b = embeddings.word(1), embeddings.word(2)
    found = client.post("/v1/explain", json={"epsilon": 2, "length": 5}).json()
    assert found["exponent_per_distance"] == 10
    found = client.post("/v1/explain", json={"word": a, "epsilon": 1000}).json()
    assert found["outputs"][0]["word"] == a
    found = client.post("/v1/explain", json={"text": a, "other": b, "epsilon": 2, "length": 1}).json()
    assert found["exponent"] == pytest.approx(2 * found["distance"])
    assert client.post("/v1/explain", json={"word": "nowhere"}).status_code == 400
    assert client.post("/v1/explain", json={"text": a}).status_code == 400


def test_explore_needs_a_folder(run, tmp_path):
    code, _, said = run("explore", tmp_path / "nowhere", "--no-browser")
    assert code == 2
    assert "nowhere" in said


@pytest.mark.parametrize("ends", [signal.SIGTERM, signal.SIGHUP])
def test_no_token_is_left_in_the_home(tmp_path, ends):
    environment = {**os.environ, "HOME": str(tmp_path), "BROWSER": "true", "PUBLIUS_HOME": str(tmp_path / "store")}
    asked = [sys.executable, "-m", "publius", "explore", str(tmp_path), "--port", "0"]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True) as process:
        assert "#" in process.stdout.readline()
        until = time.monotonic() + 20
        while not [*tmp_path.glob("publius-explore-*/open.html")] and time.monotonic() < until:
            time.sleep(0.05)
        assert [*tmp_path.glob("publius-explore-*/open.html")]
        process.send_signal(ends)
        process.communicate(timeout=20)
    assert not [*tmp_path.glob("publius-explore-*")]
