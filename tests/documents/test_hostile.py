"""What authors may type and what broken files may hold: no text refuses, drops or bends anything; no error quotes one."""

import csv
import io
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publius.documents.corpus import open_corpus
from publius.documents.inspection import inspect
from publius.errors import PubliusError
from publius.settings import Reading

CANARY = "Kanarienvogel"
NASTY = [
    "", " ", "\n", "\r", "\r\n", '"', '""', '",', "',", ";;;;", "\t\t", "|", "\0", "\ufeff", "\u2028", "\x85", "\x1a",
    "\x1b[2J", "NULL", "nan", "[]", "{}", "{", "[", '{"text": 1}', "=1+1", "@x", "<script>", "<!--", "&#0;", "&#xd800;",
    "\u202e", "\U0001f600", "a" * 200_000, "\u0301" * 5_000, "text", "id,text", "From a@b.example\n", "--", "> quoted", "#",
    "\\", "\\N", "%s", "..", "1e999",
]  # fmt: skip


def write_csv(path, texts):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text"])
        writer.writerows(enumerate(texts))


def write_jsonl(path, texts):
    path.write_text("".join(json.dumps({"id": n, "text": each}) + "\n" for n, each in enumerate(texts)))


def write_json(path, texts):
    path.write_text(json.dumps([{"id": n, "text": each} for n, each in enumerate(texts)], ensure_ascii=False), "utf-8")


def write_parquet(path, texts):
    pyarrow = pytest.importorskip("pyarrow.parquet")
    import pyarrow as arrow

    pyarrow.write_table(arrow.table({"id": [*map(str, range(len(texts)))], "text": texts}), path)


WRITERS = {".csv": write_csv, ".jsonl": write_jsonl, ".json": write_json, ".parquet": write_parquet}


@pytest.mark.parametrize("suffix", WRITERS)
def test_rule_5_no_text_refuses_or_drops_anything(suffix, tmp_path):
    path = tmp_path / f"data{suffix}"
    for nasty in NASTY:
        WRITERS[suffix](path, ["first", nasty, "last"])
        corpus = open_corpus(path, Reading(raw=True), id_field="id")
        found = list(corpus)
        assert [each.id for each in found] == ["0", "1", "2"]
        assert (found[0].text, found[2].text) == ("first", "last")
        assert found[1].text in (nasty, nasty.replace("\0", ""))
        assert len(list(open_corpus(path))) == 3


@given(st.lists(st.text(max_size=40), min_size=1, max_size=6))
def test_rule_5_whatever_is_written_is_read(tmp_path_factory, texts):
    texts = [each.encode("utf-8", "replace").decode() for each in texts]
    path = tmp_path_factory.mktemp("any") / "data"
    for suffix, write in WRITERS.items():
        write(path.with_suffix(suffix), texts)
        found = [each.text for each in open_corpus(path.with_suffix(suffix), Reading(raw=True))]
        assert found == [each.replace("\0", "") if suffix in (".csv", ".json") else each for each in texts]


@given(st.binary(max_size=60))
def test_bytes_of_any_encoding_are_a_row(tmp_path_factory, data):
    for quoted in (b"\n", b"\r", b'"', b","):
        data = data.replace(quoted, b" ")
    path = tmp_path_factory.mktemp("any") / "data.csv"
    path.write_bytes("id,text\n1,Größe\n2,".encode() + data + b"\n3,last\n")
    found = [each.text for each in open_corpus(path, Reading(raw=True))]
    assert (len(found), found[0], found[2]) == (3, "Größe", "last")


def test_a_row_reads_the_same_whatever_the_others_hold(tmp_path):
    """Worlds that differ in one author's text differ in that row alone."""
    path = tmp_path / "data.csv"
    rows = []
    for nasty in ("plain", "caf\xe9".encode("cp1252"), "été".encode(), b"\xff\xfe", "x" * 100_000):
        data = nasty if isinstance(nasty, bytes) else nasty.encode()
        path.write_bytes(b"id;author;text\n1;a;" + data + "\n2;b;Größe\n".encode() + b"3;c;caf\xe9\n")
        rows.append([(each.author, each.text) for each in open_corpus(path, author_field="author")][1:])
    assert all(each == [("b", "Größe"), ("c", "café")] for each in rows)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", f"id,text\n1,{CANARY},3\n"), ("a.csv", f'id,text\n1,"{CANARY}\n'), ("a.csv", f'id,text\n1,"a" {CANARY}\n'),
        ("a.csv", f"1,{CANARY} met me at the station and asked for my name\n2,b\n"), ("a.jsonl", f"{CANARY}\n"),
        ("a.jsonl", f'{{"text": "{CANARY}"\n'), ("a.jsonl", f'["{CANARY}"]\n{{}}'), ("a.csv", f"{CANARY}\0"),
        ("a.jsonl", f'{{"{CANARY} {CANARY} {CANARY} a b c": 1, "x": 2}}\n'), ("a.json", f'[1, "{CANARY}"]'),
        ("a.json", f'{{"text": "{CANARY}"'), ("a.json", f'"{CANARY}"'), ("a.parquet", f"PAR1{CANARY}PAR1"),
        ("a.xlsx", f"PK\3\4{CANARY}"), ("a.arrow", CANARY), ("a.mbox", CANARY),
    ],
)  # fmt: skip
@pytest.mark.parametrize("look", [open_corpus, inspect])
def test_no_error_quotes_a_text(tmp_path, name, data, look):
    (tmp_path / name).write_text(data)
    said = ""
    try:
        corpus = look(tmp_path / name)
        said = f"{corpus!r} {[*corpus]!r}" if look is open_corpus else ""
    except PubliusError as error:
        said = f"{error} {pickle.loads(pickle.dumps(error))}"
    assert CANARY not in said
    assert len(said) < 1000


def test_a_text_of_16_mb_in_a_table_is_one_document(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id,text\n1,"' + "word, " * 2_800_000 + '"\n2,b\n')
    assert [len(each.text) > 10 for each in open_corpus(path, Reading(raw=True))] == [True, False]


def test_standard_input_that_is_a_terminal_is_refused(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Terminal())
    with pytest.raises(PubliusError, match="is a terminal"):
        open_corpus("-")
