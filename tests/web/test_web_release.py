"""What leaves by the service: exactly a release, paid before it is drawn, or an error and nothing."""

import contextlib
import json
from fractions import Fraction

import pytest

from publius.errors import StorageError
from publius.mechanisms import registry
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.laplace import Laplace
from publius.privacy.guarantee import Guarantee
from publius.privacy.ledger import Ledger
from publius.web import answers
from publius.web.views import release
from toy import WORDS, sentence
from web_service import CANARY, TEXT, fault, service

ASKED = {"epsilon": 2.0, "length": 50}


@pytest.fixture
def book(tmp_path):
    return Ledger.create(tmp_path / "book.ledger", budget=250)


@pytest.fixture
def client(embeddings, tmp_path, book):
    with service(embeddings, tmp_path, ledger=book) as client:
        yield client


@pytest.fixture(scope="module")
def free(embeddings, tmp_path_factory):
    folder = tmp_path_factory.mktemp("web")
    with service(embeddings, folder) as client:
        client.folder = folder / "releases"
        yield client


def documents(count=3):
    return [{"id": f"d{i}", "text": sentence(i, 60)} for i in range(count)]


def test_obfuscate_answers_with_bags_and_manifest(free):
    answer = free.post("/v1/obfuscate", json={"documents": documents(), **ASKED})
    answers.Releases.model_validate_json(answer.text)
    found = answer.json()
    assert [each["id"] for each in found["releases"]] == ["d0", "d1", "d2"]
    for each in found["releases"]:
        assert sum(each["bag"].values()) == each["size"] == 50
        assert set(each["bag"]) <= set(WORDS)
    manifest = found["manifest"]
    assert (manifest["epsilon_total"], manifest["documents"], manifest["private"]) == (100, 3, True)
    assert "seed" not in json.dumps(manifest).replace("ChaCha20 keyed", "")


def test_public_fields_are_kept_and_no_other_leaves(client, book):
    given = [{**each, "topic": topic} for each, topic in zip(documents(2), ("a", "b"), strict=True)]
    found = client.post("/v1/obfuscate", json={"documents": given, "keep": ["topic"], **ASKED}).json()
    assert [each["topic"] for each in found["releases"]] == ["a", "b"]
    assert found["manifest"]["labels"] == ["topic"]
    spent = book.counts()
    named = {"documents": given, **ASKED}
    for wrong, code, says in (
        (named, 2, "documents.0: there is no such field topic: leave it out, or name it in keep"),
        ({**named, "keep": ["year", "topic"]}, 65, "there is no field 'year'"),
        ({**named, "keep": ["text"]}, 77, "is the private text"),
        ({**named, "keep": ["topic", "topic"]}, 2, "each field can be kept once"),
        ({**named, "keeps": ["topic"]}, 2, "there is no such field keeps: leave it out"),
        ({"documents": [{**each, "size": 1} for each in documents(1)], "keep": ["size"], **ASKED}, 2, "own"),
    ):
        status, exit_code, message = fault(client.post("/v1/obfuscate", json=wrong))
        assert (exit_code, says in message) == (code, True), (status, message)
    assert book.counts() == spent  # refused before anything is paid


def test_the_limits_stand_where_people_and_programs_look(free):
    document = free.get("/v1/openapi.json").json()
    session = free.get("/v1/session").json()
    assert document["info"]["x-limits"] == session["limits"]
    assert document["info"]["description"].endswith(session["limits_in_words"])
    assert session["limits"]["documents"] == 100
    assert "at most 100 documents of 1,000,000 characters, 8 MiB together" in session["limits_in_words"]
    most = [{"id": str(place), "text": "a"} for place in range(session["limits"]["documents"] + 1)]
    assert fault(free.post("/v1/obfuscate", json={"documents": most, **ASKED}))[0] == 400


def test_bags_come_in_vocabulary_order(free):
    bag = free.post("/v1/obfuscate", json={"documents": documents(1), **ASKED}).json()["releases"][0]["bag"]
    assert list(bag) == sorted(bag, key=WORDS.index)


def test_the_same_request_is_drawn_anew(free):
    first, second = (
        free.post("/v1/obfuscate", json={"documents": documents(1), **ASKED}).json() for _ in range(2)
    )
    assert first["releases"] != second["releases"]
    assert first["manifest"] == second["manifest"]


def test_unknown_words_never_pass(free):
    text = f"{CANARY} river " * 20
    found = free.post("/v1/obfuscate", json={"documents": [{"id": "a", "text": text}], "epsilon": 1e5})
    assert found.status_code == 200
    assert CANARY not in found.text


def test_a_ledger_is_debited_for_each_document(client, book):
    body = {"documents": [{**each, "subject": "author"} for each in documents(2)], **ASKED}
    assert client.post("/v1/obfuscate", json=body).status_code == 200
    assert [book.document(id).spent for id in ("d0", "d1")] == [100, 100]
    assert book.subject("author").spent == 200


def test_what_would_overspend_is_refused_whole(client, book):
    body = {"documents": documents(2), **ASKED}
    assert client.post("/v1/obfuscate", json=body).status_code == 200
    assert client.post("/v1/obfuscate", json={**body, "documents": documents(1)}).status_code == 200
    status, code, message = fault(client.post("/v1/obfuscate", json=body))
    assert (status, code) == (403, 77)
    assert "budget" in message
    assert book.document("d1").spent == 100


def test_the_debit_comes_before_the_draw(client, book, monkeypatch):
    """R16: when the draw fails, the budget is spent all the same."""
    seen = []

    def broken(*arguments):
        seen.append(book.document("d0").spent)
        raise MemoryError

    monkeypatch.setattr("publius.web.views.release.protect", broken)
    assert fault(client.post("/v1/obfuscate", json={"documents": documents(1), **ASKED}))[:2] == (503, 74)
    assert seen == [100]
    assert book.document("d0").spent == 100


def test_what_cannot_be_released_costs_nothing(client, book):
    for text, unknown in (("", "unk"), (f"river {CANARY}", "reject")):
        body = {"documents": [*documents(1), {"id": "bad", "text": text}], "unknown": unknown, **ASKED}
        status, code, message = fault(client.post("/v1/obfuscate", json=body))
        assert (status, code) == (422, 65)
        assert CANARY not in message
        assert "document 2" in message
    assert book.document("d0").spent == 0


def test_two_documents_of_one_id_are_refused(client, book):
    body = {"documents": [*documents(1), *documents(1)], **ASKED}
    assert fault(client.post("/v1/obfuscate", json=body))[:2] == (400, 2)
    assert book.document("d0").spent == 0


def test_looking_costs_nothing(client, book):
    for path in ("draw", "tokens", "curve", "guarantee"):
        body = {"text": TEXT} if path != "guarantee" else {}
        assert client.post(f"/v1/{path}", json={**body, **ASKED}).status_code == 200
    assert book.counts() == (0, 0, 0)


def test_a_mechanism_without_a_guarantee_is_refused(client, monkeypatch):
    def naked(self):
        return Guarantee(self.epsilon, "euclidean", "none")

    monkeypatch.setattr(Laplace, "guarantee", property(naked))
    assert fault(client.post("/v1/obfuscate", json={"documents": documents(1), **ASKED}))[:2] == (403, 77)
    assert issubclass(registry.MECHANISMS["laplace"], Kernel)


def test_release_writes_a_folder_and_charges(client, book, tmp_path):
    answer = client.post("/v1/release", json={"id": "paper", "text": TEXT, **ASKED})
    answers.Released.model_validate_json(answer.text)
    found = answer.json()
    folder = next((tmp_path / "releases").iterdir())
    assert found["folder"] == str(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["READ-ME.txt", "bags.jsonl", "manifest.json"]
    record = json.loads((folder / "bags.jsonl").read_text())
    assert record["id"] == "paper"
    assert sorted(record["bag"].items()) == [tuple(pair) for pair in found["bag"]]
    assert json.loads((folder / "manifest.json").read_text()) == found["manifest"]
    assert book.document("paper").spent == Fraction(100)
    assert found["account"] == {
        "unit": "epsilon-n",
        "budget": 250,
        "spent": 100,
        "remaining": 150,
        "releases": 1,
    }


def test_a_release_has_its_place_before_it_is_paid_for(client, book, tmp_path, monkeypatch):
    """What cannot be written costs nothing."""

    @contextlib.contextmanager
    def full(folder):
        raise StorageError("the disk is full")
        yield

    with monkeypatch.context() as patch:
        patch.setattr(release, "new_folder", full)
        answer = client.post("/v1/release", json={"id": "paper", "text": TEXT, **ASKED})
    assert fault(answer)[1] == 74
    assert book.document("paper").spent == 0
    seen = []
    spend = type(book).spend

    def spending(self, charges):
        seen.extend(path.name for path in (tmp_path / "releases").iterdir())
        return spend(self, charges)

    monkeypatch.setattr(type(book), "spend", spending)
    client.post("/v1/release", json={"id": "paper", "text": TEXT, **ASKED})
    assert len(seen) == 1
    client.post("/v1/release", json={"id": "paper", "text": TEXT, **ASKED})
    answer = client.post("/v1/release", json={"id": "paper", "text": TEXT, **ASKED})
    assert fault(answer)[1] == 77
    assert len(list((tmp_path / "releases").iterdir())) == 2, "what was refused leaves a folder behind"


def test_a_release_holds_nothing_of_the_original(free):
    text = f"{CANARY} " + sentence(4)
    found = free.post("/v1/release", json={"id": "a", "text": text, **ASKED})
    assert CANARY not in found.text
    assert not [path for path in free.folder.rglob("*") if path.is_file() and CANARY in path.read_text()]


def test_a_spent_budget_writes_nothing(client, tmp_path):
    body = {"id": "paper", "text": TEXT, "epsilon": 4.0, "length": 50}
    assert client.post("/v1/release", json=body).status_code == 200
    assert fault(client.post("/v1/release", json=body))[:2] == (403, 77)
    assert len(list((tmp_path / "releases").iterdir())) == 1


def test_account_tells_the_price(client):
    answer = client.post("/v1/account", json={"id": "paper", **ASKED})
    answers.Account.model_validate_json(answer.text)
    found = answer.json()
    assert found["price"] == 100
    assert found["account"]["remaining"] == 250


def test_an_id_of_controls_is_refused_without_showing_it(client):
    found = client.post("/v1/release", json={"id": f"{CANARY}\n", "text": TEXT, **ASKED})
    assert fault(found)[:2] == (422, 65)
    assert CANARY not in found.text


def test_too_many_words_at_once_are_refused(free):
    body = {"documents": documents(50), "length": 20_000}
    assert fault(free.post("/v1/obfuscate", json=body))[:2] == (400, 2)
