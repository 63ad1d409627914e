"""The service where a topic or meaning is kept: releases, guarantees, budgets, and what a document may become."""

import dataclasses
import json
import shutil
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from publius.cli import app as command
from publius.files.reading import files_sha256
from publius.privacy.ledger import Ledger
from publius.releases.document_outcomes import outcomes_of
from publius.releases.plan import Plan
from publius.releases.writing import exemplar
from publius.settings import ReleaseSettings
from publius.vectors.learning import reference as reference_store
from publius.vectors.learning.prototypes import NONE_OF_THESE
from publius.vectors.learning.reference import Reference
from publius.vectors.learning.themes import is_made
from publius.web import answers, document_answers, requests
from publius.web.references import ReferenceCache
from references import fitted, public_documents
from web_service import CANARY, fault, service

ASKED = {"preserve": "topic", "reference": "toy", "bound": 5, "length": 12}
COURT = "The judge heard a lawyer and a witness in court this morning."
TOPICS = ("court", "garden", "music")


@pytest.fixture(scope="module")
def learned():
    return fitted("toy")


@pytest.fixture
def client(embeddings, tmp_path, home, learned):
    learned.save(home / "references" / "toy")
    book = Ledger.create(tmp_path / "book.ledger", budget=11, unit="bound")
    with service(embeddings, tmp_path, ledger=book) as client:
        client.book = book
        yield client


def ask(client, path, form, **body):
    answer = client.post(f"/v1/{path}", json={**ASKED, **body})
    assert answer.status_code == 200, answer.text
    form.model_validate_json(answer.text)
    return answer.json()


def outcomes(client, **body):
    return ask(client, "outcomes", document_answers.Outcomes, **{"text": COURT, **body})


def plan(**choices):
    return Plan.of(ReleaseSettings(**{**ASKED, "bound": 5.0, **choices}))


def test_what_is_stored_now_is_released_with_whatever_was_stored_under_the_name_before(client, home, learned):
    """Who finds a name among its words removes a reference and learns it again."""

    def digests():
        found = ask(client, "obfuscate", answers.Releases, documents=[{"id": "d", "text": COURT}])
        listed = {each["name"]: each["sha256"] for each in client.get("/v1/references").json()["references"]}
        return {found["manifest"]["reference_sha256"], listed["toy"]}

    assert digests() == {learned.sha256}
    other = fitted("toy", prototypes=2)
    assert other.sha256 != learned.sha256
    shutil.rmtree(home / "references" / "toy")
    other.save(home / "references" / "toy")
    assert digests() == {other.sha256}


def test_a_release_says_its_prototype(client):
    documents = [{"id": f"d{k}", "text": COURT} for k in range(2)]
    found = ask(client, "obfuscate", answers.Releases, documents=documents)
    for each in found["releases"]:
        assert sum(each["bag"].values()) == each["size"] == 12
        assert each["prototype"] in range(4)
        assert each["label"] == [*TOPICS, NONE_OF_THESE][each["prototype"]]
    manifest = found["manifest"]
    assert (manifest["level"], manifest["preserve"], manifest["bound"], manifest["reference"]) == (
        "document",
        "topic",
        5.0,
        "toy",
    )
    assert [float(client.book.document(id).spent) for id in ("d0", "d1")] == [5, 5]


def test_a_release_into_a_folder_is_what_is_answered(client, tmp_path):
    found = ask(client, "release", answers.Released, id="paper", text=COURT)
    record = json.loads(next((tmp_path / "releases").iterdir()).joinpath("bags.jsonl").read_text())
    assert (record["prototype"], record["label"]) == (found["prototype"], found["label"])
    assert sorted(record["bag"].items()) == [tuple(pair) for pair in found["bag"]]
    assert found["account"]["unit"] == "bound"
    assert found["account"]["remaining"] == 6


def test_a_budget_of_bounds_refuses(client):
    assert ask(client, "account", answers.Account, id="paper")["price"] == 5
    for _ in range(2):
        ask(client, "release", answers.Released, id="paper", text=COURT)
    status, code, message = fault(client.post("/v1/release", json={**ASKED, "id": "paper", "text": COURT}))
    assert (status, code) == (403, 77)
    assert "budget" in message
    status, code, message = fault(client.post("/v1/account", json={"id": "paper", "epsilon": 2.0}))
    assert (status, code) == (403, 77)
    assert "epsilon-n" in message


def test_a_position_names_no_prototype(client):
    found = ask(client, "release", answers.Released, id="a", text=COURT, mechanism="position")
    assert "prototype" not in found
    shown = outcomes(client, mechanism="position")
    assert shown["outcomes"] == []
    assert shown["draw"]["label"] is None
    assert sum(count for _, count in shown["draw"]["bag"]) == 12


def test_the_guarantee_states_both_constants(client):
    form = document_answers.DocumentGuarantee
    found = ask(client, "guarantee", form, candidates=1000)
    promised = plan().guarantee
    assert (found["bound"], found["epsilon"], found["exponent"]) == (5.0, promised.epsilon, 5.0)
    assert (found["strength"], found["evidence"], found["delta"]) == ("moderate", "certified", 0.0)
    assert found["posterior_at_most"] == pytest.approx(1 / (1 + 999 * np.exp(-5)))
    assert found["posterior_at_most"] >= 1 / (1 + 999 * np.exp(-5))
    near = ask(client, "guarantee", form, distance=0.01, releases=3)
    assert near["exponent"] >= 3 * 0.01 * promised.epsilon
    assert near["exponent"] == pytest.approx(3 * 0.01 * promised.epsilon)
    assert near["delta"] >= 3 * promised.delta > 0
    sharp = ask(client, "guarantee", form, parameters={"gamma": 0})
    assert sharp["epsilon"] is None
    assert sharp["mechanism_parameters"]["gamma"] == 0


def test_outcomes_are_the_librarys(client):
    found = outcomes(client)
    expected = outcomes_of(COURT, plan())
    assert {key: found[key] for key in expected} == expected
    assert found["outcomes"][0]["label"] == "court"
    assert sum(each["probability"] for each in found["outcomes"]) == pytest.approx(1, abs=1e-12)
    assert found["words"] == {
        "known": 5,
        "unknown": 1,
        "counted": 5,
    }  # "heard" is not learned, the rest are stop words
    assert "not a release" in found["warning"]
    assert client.book.counts() == (0, 0, 0)


def test_outcomes_are_those_of_the_command(client, publius, tmp_path):
    path = tmp_path / "court.txt"
    path.write_text(COURT)
    options = "--reference toy --bound 5 --length 12 --json".split()
    printed = json.loads(CliRunner().invoke(command, ["outcomes", str(path), *options]).stdout)
    found = outcomes(client)
    assert {key: found[key] for key in printed} == printed


def test_the_picture_has_the_places_of_the_mechanism(client):
    picture = outcomes(client)["picture"]
    mechanism = plan().mechanism
    x, y = (axis - 1 for axis in picture["coordinates"])
    place = mechanism.positions([mechanism.indices("judge lawyer witness court morning".split())])[0]
    assert picture["document"] == {"x": place[x], "y": place[y]}
    points = mechanism.prototypes.points
    assert [(each["x"], each["y"]) for each in picture["prototypes"]] == [
        (p[x], p[y]) for p in points.tolist()
    ]
    low, high = picture["box"]
    assert low["x"] <= picture["clipped"]["x"] <= high["x"]
    assert low["y"] <= picture["clipped"]["y"] <= high["y"]
    rest = [points[:, k].std() for k in range(points.shape[1]) if k not in (x, y)]
    assert all(points[:, k].std() >= other for other in rest for k in (x, y))


def test_draws_follow_the_probabilities(client):
    labels, bags = [], set()
    for _ in range(60):
        found = outcomes(client, bound=2)
        labels.append(found["draw"]["label"])
        bags.add(json.dumps(found["draw"]["bag"]))
    expected = next(each["probability"] for each in found["outcomes"] if each["label"] == "court")
    assert abs(labels.count("court") / 60 - expected) < 0.37  # six standard deviations of the widest
    assert len(bags) > 10  # each is drawn anew, and not one for each label


def test_a_document_without_known_words_is_warned_of_and_not_shown(client):
    found = client.post("/v1/outcomes", json={**ASKED, "text": f"{CANARY} qqq"})
    assert CANARY not in found.text
    assert "no word that the reference knows" in found.json()["document_warning"]
    assert found.json()["words"] == {"known": 0, "unknown": 2, "counted": 0}
    unknown = outcomes(client, text=f"{CANARY} qqq", unknown="unk")
    assert unknown["words"] == {"known": 0, "unknown": 2, "counted": 2}
    assert outcomes(client)["document_warning"] is None


def test_only_the_first_words_count(client):
    found = outcomes(client, text="judge court guitar violin violin violin", first=2)
    assert found["words"]["counted"] == 2
    topics = [each["label"] for each in found["outcomes"] if each["label"] != NONE_OF_THESE]
    assert topics[0] == "court"  # two words alone may also be like no public text


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"reference": CANARY}, "publius reference fit"),
        ({"reference": "/etc"}, "no reference of this name"),
        ({"reference": "../references/toy"}, "no reference of this name"),
        ({"reference": None}, "needs a public reference"),
        ({"bound": None}, "needs a bound"),
        ({"bound": 0}, "greater than 0"),
        ({"bound": 99}, "1e-06 to 30"),
        ({"preserve": CANARY}, "preserve"),
        ({"preserve": "words"}, "belongs to --preserve topic or meaning"),
        ({"mechanism": "laplace"}, "replaces words"),
        ({"mechanism": CANARY}, "mechanism"),
        ({"unknown": "reject"}, "choose drop"),
        ({"parameters": {"share": 0.5}}, "takes no share"),
        ({"parameters": {"prototypes": 4}}, "has no 4 prototypes"),
        ({"first": 0}, "first"),
        ({"length": 20_001}, "length"),
        ({"epsilon": 1.0, "parameters": {"gamma": 0.1}}, "the third follows"),
        ({f"{CANARY} {CANARY}": 1}, "there is no such field: leave it out"),
        ({"embeddings": "glove"}, "there is no such field embeddings: leave it out"),
        ({"embeddding": "glove"}, "there is no such field embeddding: leave it out"),
    ],
)
def test_what_cannot_be_is_refused_clearly(client, wrong, says):
    for path, body in (("outcomes", {"text": CANARY}), ("release", {"id": "a", "text": CANARY})):
        found = client.post(f"/v1/{path}", json={**ASKED, **body, **wrong})
        status, code, message = fault(found)
        assert (status, code) == (400, 2), message
        assert says in message
        assert CANARY not in found.text
    assert client.book.counts() == (0, 0, 0)


def test_looking_at_words_takes_no_reference(client):
    for path in ("draw", "tokens", "curve"):
        assert fault(client.post(f"/v1/{path}", json={"text": COURT, "preserve": "topic"}))[:2] == (400, 2)


def test_the_options_are_those_of_the_settings():
    """Nothing is restated: names, bounds and help of a request are those of `ReleaseSettings`."""
    fields = requests.Choice.model_fields
    assert {"preserve", "reference", "bound", "first"} <= set(fields)
    assert {"gamma", "prototypes"} <= set(fields["parameters"].annotation.model_fields)
    words = requests.Obfuscate(documents=[{"id": "a", "text": "b"}]).settings
    chosen = words.chosen
    assert (chosen.mechanism, chosen.length, chosen.unknown, chosen.epsilon) == ("laplace", 400, "unk", 10.0)
    kept = requests.Outcomes(text="a", preserve="topic", bound=3.0).settings.chosen
    assert (kept.mechanism, kept.length, kept.unknown, kept.epsilon) == ("prototype", 40, "drop", None)


def test_references_are_listed(client, learned, home, monkeypatch):
    (home / "references" / "spoilt").mkdir()
    listed = client.get("/v1/references")
    document_answers.References.model_validate_json(listed.text)
    found = {each["name"]: each for each in listed.json()["references"]}
    assert found["toy"]["sha256"] == learned.sha256
    assert found["toy"]["keeps"]["topic"] == {"features": "log-odds", "prototypes": [3]}
    assert found["toy"]["learned_from"] == "60 public documents on 3 topics"
    assert "damaged" in found["spoilt"]["fault"]
    assert not found["toy"]["ready"]
    outcomes(client)
    assert client.get("/v1/references").json()["references"][1]["ready"]
    if "themes" in found:
        assert found["themes"]["made"] is is_made()  # all homes share what one test has made


def test_a_damaged_reference_is_refused_and_the_rest_work(client, home):
    (home / "references" / "spoilt").mkdir()
    asked = {**ASKED, "text": COURT, "reference": "spoilt"}
    assert fault(client.post("/v1/outcomes", json=asked))[1] == 65
    outcomes(client)


def test_a_reference_is_opened_once(home, learned, monkeypatch):
    learned.save(home / "references" / "toy")
    opened = []
    load = Reference.load
    monkeypatch.setattr(Reference, "load", lambda name: opened.append(name) or load(name))
    found, references = [], ReferenceCache()
    threads = [threading.Thread(target=lambda: found.append(references.get("toy"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opened == ["toy"]
    assert len(set(map(id, found))) == 1
    assert references.is_ready("toy")


def test_what_opens_a_reference_has_a_lane_of_its_own(embeddings, home, tmp_path, learned):
    from publius.web.app import _Service
    from publius.web.guards.limits import ServerLimits
    from publius.web.queues import Work
    from publius.web.state import State
    from publius.web.views.outcomes import outcomes as view

    learned.save(home / "references" / "toy")
    state = State(embeddings, releases=tmp_path)
    running, asked = _Service(state, ServerLimits(), Work()), requests.Outcomes(text="judge", **ASKED)
    assert running._lane(view, asked) is running._opening
    state.plan(asked)
    assert running._lane(view, asked) is running._quick


def test_without_packaged_vectors_there_are_no_themes(monkeypatch, home):
    monkeypatch.setattr("publius.web.references.package_installed", lambda: False)
    assert ReferenceCache().listing() == []
    assert reference_store.stored_reference_names() == []


def test_openapi_has_the_new_addresses(client):
    found = client.get("/v1/openapi.json").json()
    assert {"/v1/outcomes", "/v1/references"} <= set(found["paths"])
    body = found["paths"]["/v1/outcomes"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    schema = found["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    assert {"text", "preserve", "reference", "bound", "first", "mechanism", "parameters"} <= set(
        schema["properties"]
    )
    assert schema["additionalProperties"] is False
    answer = SimpleNamespace(**found["paths"]["/v1/guarantee"]["post"]["responses"]["200"])
    assert len(answer.content["application/json"]["schema"]["anyOf"]) == 2


def drawn_and_quoted(client):
    """A draw of a topic, for none of these has no texts; and the answer with its exemplar."""
    draws = (outcomes(client)["draw"] for _ in range(20))
    drawn = next(draw for draw in draws if draw["label"] != NONE_OF_THESE)
    body = {**ASKED, "bag": dict(drawn["bag"]), "prototype": drawn["prototype"]}
    return drawn, client.post("/v1/exemplar", json=body)


def test_a_draw_has_an_exemplar_where_the_reference_lets_sentences_be_quoted(
    client, embeddings, home, tmp_path, learned, monkeypatch
):
    """It knows where its texts lie, and they are not opened."""
    texts = [{"text": " ".join(words), "topic": topic} for words, topic in public_documents()]
    public = tmp_path / "texts.jsonl"
    public.write_text("".join(json.dumps(row) + "\n" for row in texts))
    named = {**learned.source, "corpus": "texts.jsonl", "corpus_sha256": files_sha256([str(public)])}
    shutil.rmtree(home / "references" / "toy")
    dataclasses.replace(learned, source=named).save(home / "references" / "toy")
    reference_store.remember_texts(home / "references" / "toy", public, "text")
    sentences = {row["topic"]: row["text"] for row in texts}
    with service(embeddings, tmp_path) as another:
        status, code, message = fault(drawn_and_quoted(another)[1])
        assert (status, code) == (400, 2)
        assert "nobody said that sentences" in message
        monkeypatch.setattr(exemplar, "_quotable", lambda reference: (reference, [*sentences.values()]))
        drawn, answer = drawn_and_quoted(another)
    assert answer.status_code == 200, answer.text
    found = document_answers.Exemplar.model_validate_json(answer.text)
    assert (found.corpus, found.row, found.fault) == ("texts.jsonl", None, None)
    assert found.text == sentences[drawn["label"]]
    assert found.note.startswith("QUOTED from a public text")


@pytest.mark.parametrize(
    "bad", [{"bag": {}}, {"bag": {"court": 0}}, {"bag": {"x" * 201: 1}}, {"text": COURT}]
)
def test_an_exemplar_is_asked_for_a_bag_and_nothing_else(client, bad):
    body = {**ASKED, "bag": {"court": 1}, **bad}
    assert client.post("/v1/exemplar", json=body).status_code in (400, 422)
