"""A summary by the service: the same numbers beforehand, the same door, the same charge; nothing else in the answer."""

import csv
import json
import tempfile

import pytest

from publius.collections.accuracy import accuracy
from publius.privacy.ledger import Ledger
from publius.releases.contents import FILES
from publius.releases.digests import file_digests
from publius.releases.summaries.summary import Summary
from publius.web import answers
from web_service import fault, service

ASKED = {
    "author_field": "author",
    "by": ["product=card,loan"],
    "epsilon": 4.0,
    "share": "totals=0.25,themes=0.5,subjects=0.25",
    "reference": "letters",
}


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where temporary folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def stored(reference, home):
    reference.save(home / "references" / "letters")


@pytest.fixture
def client(complaint_vectors, stored, tmp_path, temporary):
    with service(complaint_vectors, tmp_path) as found:
        yield found
    assert list(temporary.iterdir()) == []


@pytest.fixture
def book(tmp_path):
    return Ledger.create(tmp_path / "book.ledger", budget=10, subject_budget=10, unit="bound")


def released(tmp_path):
    folder = tmp_path / "releases"
    return sorted(folder.iterdir()) if folder.exists() else []


def test_how_far_counts_may_be_off_is_what_the_collection_room_says(client):
    numbers = {"authors": 2000, "cells": 400, "documents_per_author": 2}
    found = client.post("/v1/accuracy", json={**numbers, "epsilon": 0.3, "strata": 20, "wanted": 5}).json()
    answers.Accuracy.model_validate(found)
    for each in (found, *found["curve"]):
        exact = accuracy(2000, 400, _exactly(each["epsilon"]), documents_per_author=2)
        assert {name: each[name] for name in ("count_95", "all_95", "difference_95", "smallest_95")} == {
            "count_95": exact.count_95,
            "all_95": exact.all_95,
            "difference_95": exact.difference_95,
            "smallest_95": exact.smallest_95,
        }
    widths = [each["count_95"] for each in found["curve"]]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 50 * widths[-1]
    assert found["themes_that_pay"] == 15
    assert found["epsilon_for_wanted"] > 1


def test_an_epsilon_of_too_many_decimals_is_refused_as_by_the_command(client):
    found = client.post("/v1/accuracy", json={"authors": 20, "cells": 4, "epsilon": 5e-324})
    assert fault(found) == (
        400,
        2,
        "epsilon must be a number above 0 with at most twelve decimals, not 5e-324",
    )


def test_a_number_that_is_none_is_refused(client, tmp_path):
    body = json.dumps({**ASKED, "documents": [{"author": float("nan"), "text": "x"}]})
    found = client.post("/v1/summary", content=body, headers={"Content-Type": "application/json"})
    assert fault(found)[2].startswith("document 1 has a number that is none")
    assert released(tmp_path) == []


def _exactly(epsilon):
    from fractions import Fraction

    return Fraction(repr(epsilon))


def test_rows_become_the_folder_that_the_command_writes(client, rows, tmp_path):
    answer = client.post("/v1/summary", json={**ASKED, "documents": rows})
    answers.Summarized.model_validate_json(answer.text)
    found, (folder,) = answer.json(), released(tmp_path)
    assert found["folder"] == str(folder)
    assert found["manifest"] == json.loads((folder / "manifest.json").read_bytes())
    digests = file_digests(folder)
    assert digests.pop("manifest.json")
    assert found["manifest"][FILES] == digests
    with (folder / "counts.csv").open(encoding="utf-8", newline="") as file:
        written = [(row["stratum"], row["theme"], int(row["contributed"])) for row in csv.DictReader(file)]
    counts = found["tables"]["counts.csv"]
    assert [(row["stratum"], row["theme"], row["contributed"]) for row in counts] == written
    assert 250 < sum(row["contributed"] for row in counts) < 550
    assert {type(row["new"]) for row in found["tables"]["subjects.csv"]} == {bool}
    assert all(row["low"] <= row["contributed"] <= row["high"] for row in counts)
    excesses = [row["excess"] for row in found["tables"]["subjects.csv"]]
    assert min(excesses) < 0 < max(excesses)
    assert excesses == sorted(excesses, reverse=True)


def test_the_answer_tells_nothing_beside_what_leaves(client, rows):
    """Neither who wrote, nor a text, nor how many documents there were or could not be read."""
    more = [*rows, *({**row, "text": None} for row in rows[:7]), {**rows[0], "product": "unheard"}]
    found = client.post("/v1/summary", json={**ASKED, "documents": more}).json()
    assert set(found) == {"folder", "report", "manifest", "tables"}
    assert set(found["tables"]) == {
        "counts.csv",
        "strata.csv",
        "subjects.csv",
        "themes.csv",
        "words.csv",
    }
    said = json.dumps({**found, "folder": ""})
    assert "author 1" not in said
    assert "unheard" not in said
    assert rows[0]["text"][:30] not in said
    assert not {"documents", "authors", "unreadable", "rows"} & {*found["manifest"], *found}


def test_files_that_were_given_are_counted_too(client, rows, tmp_path):
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    octets = {"Content-Type": "application/octet-stream"}
    params = {"role": "texts", "name": "l.jsonl"}
    key = client.post("/v1/start/files", params=params, content=data, headers=octets).json()["key"]
    found = client.post("/v1/summary", json=ASKED).json()
    assert [found["folder"]] == list(map(str, released(tmp_path)))
    assert client.post("/v1/summary", json={**ASKED, "texts_key": key}).status_code == 200
    client.post("/v1/start/files", params=params, content=data, headers=octets)
    others = fault(client.post("/v1/summary", json={**ASKED, "texts_key": key}))
    assert (others[:2], "other files were given" in others[2]) == ((400, 2), True)
    assert len(released(tmp_path)) == 2
    client.post("/v1/start/forget", json={"role": "texts"})
    assert fault(client.post("/v1/summary", json=ASKED))[:2] == (400, 2)


def given_as_texts(client, data):
    """Given on the page, and what it shows of the form."""
    params, headers = {"role": "texts", "name": "l.csv"}, {"Content-Type": "application/octet-stream"}
    client.post("/v1/start/files", params=params, content=data, headers=headers)
    return client.post("/v1/start/look", json={"role": "texts"}).json()["found"]


def test_one_authors_letters_do_not_decide_how_everybody_is_counted(client, rows, monkeypatch, tmp_path):
    """A table of others in UTF-8, and one author with more lines in Latin-1: refused until the encoding was said."""
    pytest.importorskip("charset_normalizer")
    others = [f"{row['author']},card,déjà {row['text']} né" for row in rows[:40]]
    head = "author,product,text"
    plain = "\n".join([head, *others, "x,card,hello"]).encode()
    latin = [b"x,card," + "le colis est arrivé abîmé et personne ne répond à côté".encode("latin-1")] * 200
    odd = b"\n".join(["\n".join([head, *others]).encode(), *latin])
    assert (given_as_texts(client, plain)["encoding"], given_as_texts(client, odd)["encoding"]) == (
        "utf-8",
        "iso-8859-1",
    )
    status, code, message = fault(client.post("/v1/summary", json=ASKED))
    assert (status, code) == (400, 2)
    assert "choose it in step 1" in message
    assert released(tmp_path) == []
    read = []
    counted = Summary.corpus
    monkeypatch.setattr(
        Summary, "corpus", lambda self, path, **form: read.append(form) or counted(self, path, **form)
    )
    client.post("/v1/start/look", json={"role": "texts", "encoding": "utf-8"})
    client.post("/v1/summary", json=ASKED)
    client.post("/v1/start/look", json={"role": "texts", "encoding": "iso-8859-1"})
    client.post("/v1/summary", json=ASKED)
    given_as_texts(client, plain)
    client.post("/v1/summary", json=ASKED)
    assert read == [
        {"delimiter": ",", "encoding": encoding, "quotes": None}
        for encoding in ("utf-8", "iso-8859-1", "utf-8")
    ]
    client.post("/v1/start/forget", json={"role": "texts"})


def test_each_author_is_debited_once_a_summary(complaint_vectors, stored, rows, tmp_path, temporary, book):
    with service(complaint_vectors, tmp_path, ledger=book) as client:
        assert client.post("/v1/summary", json={**ASKED, "documents": rows}).status_code == 200
        assert book.subject("author 3").spent == 4
        assert client.post("/v1/summary", json={**ASKED, "documents": rows}).status_code == 200
        assert book.subject("author 3").spent == 8
        third = client.post("/v1/summary", json={**ASKED, "documents": rows})
        assert third.status_code == 200  # nobody has enough left: all are left out, and nobody learns of it
        assert book.subject("author 3").spent == 8


def test_a_ledger_of_another_unit_is_refused_before_anything_is_read(
    complaint_vectors, stored, rows, tmp_path, temporary
):
    book = Ledger.create(tmp_path / "words.ledger", budget=100)
    with service(complaint_vectors, tmp_path, ledger=book) as client:
        status, code, _ = fault(client.post("/v1/summary", json={**ASKED, "documents": rows}))
    assert (status, code) == (403, 77)
    assert released(tmp_path) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"by": ["product=@/etc/passwd"]}, "sent in the request"),
        ({"reference": "/etc"}, "no reference of this name"),
        ({"author_field": "sender"}, "document 1 .*has no author"),
        ({"epsilon": 0.001, "authors": 400}, "nothing could be told apart"),
        ({"share": "themes=2"}, "sum to 2"),
    ],
)
def test_what_cannot_be_asked_leaves_nothing(client, rows, tmp_path, changed, said):
    import re

    answer = client.post("/v1/summary", json={**ASKED, "documents": rows, **changed})
    assert re.search(said, fault(answer)[2])
    assert "author 1" not in answer.text
    assert released(tmp_path) == []


def test_its_page_is_shown_once_and_is_no_evaluation(client, rows):
    before = client.get("/v1/session").json()
    found = client.post("/v1/summary", json={**ASKED, "documents": rows}).json()
    session = client.get("/v1/session").json()
    assert (before["summaries"], session["reports"]) == ([], [])
    assert session["summaries"] == [{"id": found["report"], "title": found["folder"].rpartition("/")[2]}]
    address = client.post(f"/v1/reports/{found['report']}/ticket", json={}).json()["address"]
    assert "contributed documents" in client.get(address).text
    assert client.get(address).status_code == 404
    assert "only its page" in fault(client.get(f"/v1/reports/{found['report']}"))[2]
