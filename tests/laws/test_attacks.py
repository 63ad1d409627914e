"""What an attacker found on the way to 1.0, each once: it must stay mended."""

import json

import openpyxl
import pyarrow as pa
import pytest

import publius
from publius.documents import office
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
    ("field", "more"),
    [
        ("author", ("--keep", "author")), ("author", ("--keep", "status")), ("author", ("--ids", "--id-field", "author")),
        ("user.name", ("--keep", "user.name")), ("user.name", ("--ids", "--id-field", "user.name")),
    ],
)  # fmt: skip
def test_the_author_and_the_text_never_leave(run, tmp_path, monkeypatch, field, more):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_text(json.dumps({"status": "open", "author": "Ann", "user": {"name": "Ann"}}) + "\n")
    code, _, err = run(
        "label", "a.jsonl", "--field", "status", "--labels", "open,closed", "--author-field", field,
        "--documents-per-author", 1, "--output", "out", *more,
    )  # fmt: skip
    assert code == 77, err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("hole", ["", None, "=1+1", "#N/A"])
@pytest.mark.parametrize("header", [["text"], ["text", None], [None, "text"]])
def test_every_row_of_a_sheet_is_a_document_and_none_decides_where_the_names_stand(tmp_path, header, hole):
    at = header.index("text")
    rows = [[hole, None], ["a", "z"], [hole, None], ["b", "z"]]
    book = openpyxl.Workbook()
    for row in [header, *([row[0]] if len(header) == 1 else [row[at], row[1 - at]] for row in rows)]:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert [each.text for each in open_corpus(tmp_path / "a.xlsx")] == ["", "a", "", "b"]


_DEEP = "".join(f'Content-Type: multipart/mixed; boundary="{n}"\n\n--{n}\n' for n in range(2000))
_MAILS = {
    "nested parts": _DEEP,
    "nested tags": "Content-Type: text/html\n\n" + "<div>" * 300_000 + "x",
    "attributes": "Content-Type: text/html\n\n<p " + " ".join(f"a{n}=1" for n in range(200_000)) + ">x",
    "quotes": "Content-Type: text/html\n\n" + "<p a=" * 50_000 + "<!--" * 50_000 + "<script" * 50_000 + "<p a='" * 50_000,
    "subject": "Subject: " + "=?a?q? " * 200_000 + "\n\nx",
    "sender": "From: " + "a" * 1_000_000 + "\n\nx",
}


@pytest.mark.parametrize("mail", _MAILS)
def test_no_mail_stops_a_mailbox_or_loses_its_sender(tmp_path, monkeypatch, mail):
    monkeypatch.setattr(office, "SECONDS", 10.0)
    one = "From x\nFrom: {}@post.example\n{}\n"
    mails = [one.format("a", "\nopen"), one.format("b", _MAILS[mail]), one.format("c", "\nclosed")]
    (tmp_path / "a.mbox").write_text("".join(mails))
    found = [(each.author, each.text) for each in open_corpus(tmp_path / "a.mbox", author_field="from")]
    assert [found[0], found[2]] == [("a@post.example", "open"), ("c@post.example", "closed")]
    assert found[1][0] == "b@post.example"


@pytest.mark.parametrize("more", [{"keep": "who"}, {"ids": "who"}, {"keep": "comment"}])
def test_a_table_lets_neither_leave(more, tmp_path):
    table = pa.table({"comment": ["open", "closed"], "who": ["Ann", "Bo"]})
    ledger = publius.Ledger.create(tmp_path / "budget", budget=10)
    labels = publius.RandomizedResponse(publius.Values(["open", "closed"]), epsilon=1)
    with pytest.raises(PolicyError):
        publius.protect_table(table, labels, "comment", author="who", ledger=ledger, **more)
