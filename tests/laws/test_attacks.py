"""What an attacker found on the way to 1.0, each once: it must stay mended."""

import json

import pyarrow as pa
import pytest

import publius
from publius.documents.clean import clean
from publius.documents.corpus import open_corpus
from publius.errors import PolicyError
from publius.settings import Reading


@pytest.mark.parametrize("digits", ["9" * 5000, "x" + "f" * 5000, "0" * 5000 + "65", "x0041", "8364"])
def test_no_entity_stops_a_release(digits):
    assert isinstance(clean(f"before &#{digits}; after"), str)


def test_no_cell_of_an_author_makes_other_rows_headers(tmp_path):
    (tmp_path / "a.csv").write_text('text\nopen\n"{""ImportId"":""QID1""}"\nclosed\nopen\n')
    assert open_corpus(tmp_path / "a.csv").count() == 4


def test_qualtrics_own_headers_are_no_answers(tmp_path):
    rows = ["ResponseId,Q1", "Response ID,What?", '"{""ImportId"":""_recordId""}","{""ImportId"":""QID1""}"', "R_1,bad", "R_2,good"]
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n")
    assert open_corpus(tmp_path / "a.csv", Reading(text_field="Q1")).count() == 2


@pytest.mark.parametrize("first", [b"a\0b\0\n", b"\xef\xbb\xbfa\n"])
def test_no_line_decides_how_others_are_read(tmp_path, first):
    (tmp_path / "a.txt").write_bytes(first + b"caf\xe9\nopen\nclosed\n")
    texts = [each.text for each in open_corpus(tmp_path / "a.txt", Reading(lines=True, raw=True))]
    assert texts[1:] == ["café", "open", "closed"]


@pytest.mark.parametrize(
    "more", [("--keep", "author"), ("--keep", "status"), ("--ids", "--id-field", "author"), ("--keep", "author.name")]
)
def test_the_author_and_the_text_never_leave(run, tmp_path, monkeypatch, more):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_text(json.dumps({"status": "open", "author": {"name": "Ann"}}) + "\n")
    field = "author.name" if "author.name" not in more else "author"
    code, _, err = run(
        "label", "a.jsonl", "--field", "status", "--labels", "open,closed", "--author-field", field,
        "--documents-per-author", 1, "--output", "out", *more,
    )  # fmt: skip
    assert code == 77, err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("more", [{"keep": "who"}, {"ids": "who"}, {"keep": "comment"}])
def test_a_table_lets_neither_leave(more, tmp_path):
    table = pa.table({"comment": ["open", "closed"], "who": ["Ann", "Bo"]})
    ledger = publius.Ledger.create(tmp_path / "budget", budget=10)
    labels = publius.RandomizedResponse(publius.Values(["open", "closed"]), epsilon=1)
    with pytest.raises(PolicyError):
        publius.protect_table(table, labels, "comment", author="who", ledger=ledger, **more)
