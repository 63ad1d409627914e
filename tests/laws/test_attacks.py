"""What an attacker found on the way to 1.0, each once: it must stay mended."""

import gzip
import io
import json
import math
import queue
import re
import sys
import time
import unicodedata
from decimal import Decimal
from pathlib import Path
from urllib.request import url2pathname

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import publius
from publius.classifiers import features
from publius.classifiers.encoder import load_encoder
from publius.documents import office
from publius.documents.corpus import open_corpus
from publius.documents.document import clean
from publius.errors import DataError, PolicyError, StorageError, UsageError
from publius.mechanisms.registry import make_kernel
from publius.releases import draft
from publius.releases.run import manifest_of, protect_corpus
from publius.settings import Leaving, Reading, Run
from publius.sklearn import BagPrivatizer, LabelPrivatizer
from publius.summaries.run import summarize_corpus
from publius.text.normal_form import LONGEST_TEXT, author_key, normal_form, said
from publius.web.server import token_for


@pytest.mark.parametrize("digits", ["9" * 5000, "x" + "f" * 5000, "0" * 5000 + "65", "x0041", "8364"])
def test_no_entity_stops_a_release(digits):
    assert isinstance(clean(f"before &#{digits}; after")[0], str)


@pytest.mark.parametrize("letter", ["\ufdfa", "\ufdfa\u0301", "\u3131\u314f", "\ufb01"])
def test_no_letter_makes_a_text_longer_than_texts_are(monkeypatch, letter):
    whole = unicodedata.normalize("NFKC", letter * 200_000)
    assert normal_form("NFKC", letter * 200_000) == whole
    monkeypatch.setattr("publius.text.normal_form.LONGEST_TEXT", 150_000)
    assert clean(letter * 200_000)[0] == whole[:150_000]


def test_no_cell_of_an_author_makes_other_rows_headers(tmp_path):
    (tmp_path / "a.csv").write_text('text\nopen\n"{""ImportId"":""QID1""}"\nclosed\nopen\n')
    assert len([*open_corpus(tmp_path / "a.csv")]) == 4


def test_qualtrics_own_headers_are_no_answers(tmp_path):
    rows = [
        "ResponseId,Q1",
        "Response ID,What?",
        '"{""ImportId"":""_recordId""}","{""ImportId"":""QID1""}"',
        "R_1,bad",
        "R_2,good",
    ]
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n")
    assert len([*open_corpus(tmp_path / "a.csv", Reading(text_field="Q1"))]) == 2


@pytest.mark.parametrize("first", [b"a\0b\0\n", b"\xef\xbb\xbfa\n", b"\xff\xfeod\n", b"\x1f\x8b\n"])
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
    "quotes": "Content-Type: text/html\n\n"
    + "<p a=" * 50_000
    + "<!--" * 50_000
    + "<script" * 50_000
    + "<p a='" * 50_000,
    "subject": "Subject: " + "=?a?q? " * 200_000 + "\n\nx",
    "sender": "From: " + "a" * 1_000_000 + "\n\nx",
    "parameters": 'Content-Type: text/plain; a="' + '\\";' * 60_000 + "\n\nx",
    "parameters of a part": "Content-Type: multipart/mixed; boundary=b\n\n--b\n"
    + 'Content-Type: text/plain; a="'
    + '\\";' * 60_000
    + "\n\nx\n--b--\n",
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


@pytest.mark.parametrize(
    ("header", "author"),
    [
        (b"Ann Lee <Ann@x.org>", "ann@x.org"), (b"ann@x.org (Ann (Lee))", "ann@x.org"), (b"<ann@x.org>", "ann@x.org"),
        (b'"victim@x.org" <ann@x.org>', "ann@x.org"), (b"victim@x.org <ann@x.org>", "ann@x.org"),
        (b'"victim@x.org\\" <victim@x.org>" <ann@x.org>', "ann@x.org"), (b'"<victim@x.org> <ann@x.org>', '""<victim@x.org> <ann@x.org>"'),
        (b"(<victim@x.org>) ann@x.org", "ann@x.org"), (b"<victim@x.org>, ann@x.org", '"<victim@x.org>, ann@x.org"'), (b"Lee, Ann <ann@x.org>", "ann@x.org"),
        (b"attacker@evil.org, <victim@x.org>", "\"attacker@evil.org, <victim@x.org>\""),
        (b"<ann@x.org>, <victim@x.org>", '"<ann@x.org>, <victim@x.org>"'),
        (b"=?utf-8?q?victim=40x.org?=", '"victim@x.org"'), (b"=?utf-8?q?victim=EF=BC=A0x.org?=", '"victim\uff20x.org"'),
        (b"x <victim@x.org>" + b" " * 2000 + b", <ann@x.org>", '"x <victim@x.org>"'), (b"ann at x.org", None), (b"<ann\xff@x.org>", "ann\xff@x.org"),
    ],
)  # fmt: skip
def test_a_name_in_a_mail_makes_nobody_else_its_author(tmp_path, header, author):
    (tmp_path / "a.eml").write_bytes(b"From: " + header + b"\nSubject: hello\n\nopen\n")
    assert [each.author for each in open_corpus(tmp_path / "a.eml", author_field="from")] == [author or header.decode()]


@pytest.mark.parametrize("field", ["who", "by[].name"])
def test_several_authors_of_a_text_are_one_of_their_own_and_noted(tmp_path, field):
    rows = [{"text": "x", "who": names, "by": [{"name": each} for each in names]} for names in (["Bo", "Ann"], ["Ann"])]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    corpus = open_corpus(tmp_path / "a.jsonl", author_field=field)
    assert len({each.author for each in corpus}) == 2
    assert [each.count for each in corpus.notes() if "several authors" in each.what] == [1]


@pytest.mark.parametrize("quotes", ["standard", "none"])
@pytest.mark.parametrize("columns", [("text",), ("text", "who"), ("who", "text")])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_a_carriage_return_within_a_text_ends_no_row(tmp_path, quotes, columns, ends):
    texts = ["open", "x y" if ends == "\r" else "x\ry", "closed"]
    rows = [columns, *([text if name == "text" else "A" for name in columns] for text in texts)]
    (tmp_path / "a.csv").write_bytes(ends.join(map(",".join, rows)).encode())
    assert [each.text for each in open_corpus(tmp_path / "a.csv", Reading(raw=True, quotes=quotes))] == texts


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_no_cell_of_a_table_stops_it(tmp_path, kind):
    bytes_ = pa.array([b"open", b"caf\xe9", None])
    columns = {
        "text": pa.Array.from_buffers(pa.string(), 3, bytes_.buffers()),
        "late": pa.array([2**60, 0, 1], pa.timestamp("us")), "exact": pa.array([1, 2, 3], pa.timestamp("ns")),
    }  # fmt: skip
    table = pa.table(columns)
    (pq.write_table if kind == "parquet" else feather.write_feather)(table, tmp_path / f"a.{kind}")
    corpus = open_corpus(tmp_path / f"a.{kind}", fields=("late", "exact"))
    assert [each.text for each in corpus] == ["open", "café", ""]
    assert next(each.fields["exact"] for each in corpus) == "1970-01-01 00:00:00.000000001"
    assert len(publius.protect_table(table, _sure(), keep=["late"])) == 3


@pytest.mark.parametrize("first", ['{"a":1', "[1", "%PDF", "<html>", "From x", "Subject: hi", "a,b"])
def test_the_first_line_of_standard_input_is_a_line(monkeypatch, first):
    given = f"{first}\nother: text\nthird\n".encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    assert len([*open_corpus("-", Reading(lines=True))]) == 3


@pytest.mark.parametrize("odd", [" ", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "a,b,c", '"'])
def test_no_row_decides_whether_a_file_without_a_name_is_a_table(tmp_path, odd):
    for header in ("comment,who", "comment"):
        who = ",A" if "," in header else ""
        (tmp_path / "data").write_text(f'{header}\n"hello{odd.replace(chr(34), chr(34) * 2)}"{who}\nfoo{who}\n')
        assert len([*open_corpus(tmp_path / "data", Reading(text_field="comment"))]) == 2
    (tmp_path / "letter").write_text("Hello, world\nfoo, bar\n")
    assert len([*open_corpus(tmp_path / "letter")]) == 1


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.txt"])
def test_no_text_is_too_long_to_be_packed(tmp_path, name):
    long = "a" * (LONGEST_TEXT + 10)
    lines = {"csv": ["text", long, "open"], "txt": [long, "open"]}.get(
        name[2:], [json.dumps({"text": each}) for each in (long, "open")]
    )
    with gzip.open(tmp_path / f"{name}.gz", "wt", compresslevel=1) as file:
        file.write("\n".join(lines) + "\n")
    texts = [each.text for each in open_corpus(tmp_path / f"{name}.gz", Reading(lines=name == "a.txt"))]
    assert [len(each) for each in texts] == [LONGEST_TEXT, 4]


def test_each_string_of_json_has_its_own_encoding(tmp_path):
    (tmp_path / "a.json").write_bytes(b'[{"text": "caf\xc3\xa9"}, {"text": "caf\xe9"}, {"text": "caf\\ud83d"}]')
    assert [each.text for each in open_corpus(tmp_path / "a.json")] == ["caf\xe9", "caf\xe9", "caf?"]


@pytest.mark.parametrize("odd", ["null", '"text"', "3", "[]"])
@pytest.mark.parametrize("at", [0, 1])
def test_no_item_that_is_no_object_refuses_the_others(tmp_path, odd, at):
    items = ['{"comment": "a", "who": "A"}', '{"comment": "b", "who": "B"}']
    items.insert(at, odd)
    (tmp_path / "a.json").write_text(f'{{"n": 1, "rows": [{",".join(items)}]}}')
    (tmp_path / "a.jsonl").write_text("\n".join(items))
    for name in ("a.json", "a.jsonl"):
        corpus = open_corpus(tmp_path / name, Reading(text_field="comment"), author_field="who")
        assert [each.text for each in corpus] == ["", "a", "b"] if at == 0 else ["a", "", "b"]
        with pytest.raises(DataError, match="No column text"):
            open_corpus(tmp_path / name)


@pytest.mark.parametrize("encoding", ["iso2022_jp", "iso2022_kr", "hz", "utf-7"])
def test_no_encoding_lets_a_text_go_on_in_the_next(tmp_path, encoding):
    (tmp_path / "a.csv").write_bytes(b"text,who\nhello,A\nx\x1b$B,B\nopen,C\n")
    with pytest.raises(UsageError):
        open_corpus(tmp_path / "a.csv", Reading(encoding=encoding))


@pytest.mark.parametrize("odd", ['{"who": "C"}', "{}", '{"text": "x"}', "[null]"])
def test_no_file_of_a_folder_lacks_what_the_others_have(tmp_path, odd):
    for name, data in (("a", '{"text": "open", "who": "A"}'), ("b", ""), ("c", odd)):
        (tmp_path / f"{name}.json").write_text(data)
    (tmp_path / "d.jsonl").write_text("")
    book = openpyxl.Workbook()
    book.active.append(["text", "who"])
    book.save(tmp_path / "e.xlsx")
    corpus = open_corpus(tmp_path, author_field="who")
    assert [each.text for each in corpus] == ["open", "x" if "x" in odd else ""]
    assert ("files without any document", 3) in [(each.what, each.count) for each in corpus.notes()]


@pytest.mark.parametrize(("field", "listed"), [("text", "name"), ("body", "name"), ("body", "text")])
def test_no_list_in_a_file_of_a_folder_is_several_documents(tmp_path, field, listed):
    for name, data in (("a", {field: "open", "who": "A"}), ("b", {"who": "B", "more": [{listed: "x"}, {listed: "y"}]})):
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    corpus = open_corpus(tmp_path, Reading(text_field=field), author_field="who")
    assert [(each.text, each.author) for each in corpus] == [("open", "A"), ("", "B")]


@pytest.mark.parametrize("data", [b"\x1f\x8b no gzip", b"x" * 80_000_000])
def test_no_file_of_a_folder_refuses_the_others(tmp_path, data):
    (tmp_path / "a.txt").write_bytes(data)
    (tmp_path / "b.txt").write_text("open")
    texts = [each.text for each in open_corpus(tmp_path)]
    assert (len(texts), texts[1]) == (2, "open")
    assert len(texts[0]) <= LONGEST_TEXT


@pytest.mark.parametrize(
    ("name", "data", "texts"),
    [
        ("a.json", '["a", null, "b", 3, ["c"]]', ["a", "", "b", "3", ""]),
        ("a.jsonl", '{"id": 1}\n' * 250 + '{"id": 2, "text": "x"}\n', [""] * 250 + ["x"]),
    ],
)
def test_null_and_absent_are_empty_texts(tmp_path, name, data, texts):
    (tmp_path / name).write_text(data)
    assert [each.text for each in open_corpus(tmp_path / name)] == texts


@pytest.mark.parametrize("name", ["Ann\u200b Lee", "An\xadn Lee", "ann\u034f  LEE", "Ann\xa0Lee", " \ufeffAnn\tLee"])
def test_a_person_has_one_account_whatever_nobody_sees(name):
    assert author_key(name) == "ann lee"
    assert author_key("\u200b\xad") is None


def test_no_name_is_too_long_for_a_ledger(tmp_path):
    ledger = publius.Ledger.create(tmp_path / "budget", budget=10)
    for count in (1, 2):
        ledger.spend({"n" * 5000: 1})
        assert ledger.account("n" * 5000).spent == count


def test_a_paid_run_goes_on_as_itself_alone(tmp_path, monkeypatch):
    def run(name, **more):
        return protect_corpus(open_corpus(tmp_path / name), _sure(1.0), tmp_path / "out", run=Run(**more))

    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(draft, "place_folder", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        run("a.txt", resume=True)
    monkeypatch.undo()
    with pytest.raises(DataError, match="another input"):
        run("b.txt", resume=True)
    assert run("a.txt", resume=True).manifest.documents == 1


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_every_table_of_an_experiment_says_so(tmp_path, format):
    (tmp_path / "a.csv").write_text("text,who\nopen,nobody\n")
    corpus = open_corpus(tmp_path / "a.csv", author_field="who", no_author=["nobody"])
    experiment = Leaving(experiment=True)
    protect_corpus(corpus, _sure(29), tmp_path / "out", run=Run(format=format), leaving=experiment)
    for name in ("labels.csv", f"rows.{format}"):
        assert b"warning" in (tmp_path / "out" / name).read_bytes()


def test_an_authors_delta_is_stated(monkeypatch):
    facts = _keeping().facts()
    monkeypatch.setattr(publius.Lifted, "facts", lambda _: facts | {"delta": 0.03})
    made = manifest_of(_keeping(), 9, Leaving(), documents_per_author=5)
    assert made.author.delta == pytest.approx(0.15)
    assert "(delta = 0.15" in made.promise


def test_a_token_that_others_can_read_is_none(tmp_path):
    path = tmp_path / "token"
    token = token_for(path)
    assert token_for(path) == token
    path.chmod(0o644)
    with pytest.raises(StorageError):
        token_for(path)


def test_nothing_says_a_smaller_epsilon(tmp_path):
    epsilon, lines = 17.00040001, [json.dumps({"text": "open", "who": f"w{at}"}) + "\n" for at in range(80)]
    (tmp_path / "a.jsonl").write_text("".join(lines))
    corpus = open_corpus(tmp_path / "a.jsonl", author_field="who")
    protect_corpus(corpus, _sure(epsilon), tmp_path / "rows", documents_per_author=3)
    asked = publius.Summary(epsilon=epsilon, subjects=publius.Values(["open", "closed"]))
    summarize_corpus(corpus, asked, tmp_path / "before", workers=1)
    summarize_corpus(corpus, asked, tmp_path / "after", compare=tmp_path / "before", workers=1)
    for page in (*tmp_path.rglob("*.html"), *tmp_path.rglob("README.txt"), *tmp_path.rglob("manifest.json")):
        said = page.read_text()
        assert "17.0005" in said or page.suffix == ".json"
        assert not re.findall(
            r"(?:epsilon|Here epsilon is|document,|earlier summary)[^.<]{0,40}\b(?:17|51)(?:\.00(?:04|1|12))?(?![\d.]*\d)",
            said,
        )


CODE = """
import logging, sys
logging.basicConfig()
class Loud:
    labels = ["a", "b"]
    def __call__(self, text):
        print("HEARD", text)
        print("HEARD", text, file=sys.stderr)
        logging.warning("HEARD %s", text)
        return "a"
class Uneven:
    def encode(self, texts):
        return [[1.0] * (3 if "odd" in text else 2) for text in texts]
"""


def test_foreign_code_neither_prints_into_the_rows_nor_stops_a_release(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k_loud.py").write_text(CODE)
    (tmp_path / "a.jsonl").write_text('{"text": "canary"}\n')
    code, out, err = run("label", "a.jsonl", "--classifier", "python:k_loud:Loud", "--output", "-")
    assert (code, "canary" in out + err, out.count("\n"), err) == (0, False, 1, "1 text.\n")
    assert load_encoder("python:k_loud:Uneven").encode(["even", "odd"]).tolist() == [[1, 1], [0, 0]]


def _sure(epsilon=20.0):
    return publius.RandomizedResponse(publius.Values(["open", "closed"]), epsilon=epsilon)


def _keeping(epsilon=2.0, unknown="keep"):
    toy = publius.Embeddings.from_arrays(["north", "south"], [[0.0], [1.0]], name="toy")
    return publius.Lifted(publius.Laplace(toy, epsilon=epsilon), length=3, unknown=unknown)


@pytest.mark.parametrize(
    "drawn",
    [
        lambda: publius.release("north canary", _keeping()),
        lambda: publius.release("open", _sure(29)),
        lambda: publius.protect_table({"text": ["open"]}, _sure(29)),
        lambda: LabelPrivatizer(publius.Values(["open"]), epsilon=29).fit([""]),
        lambda: BagPrivatizer(_keeping()).fit([""]),
        lambda: publius.release("north", _keeping(10_000.0, "drop")),  # its noise cannot reach: the promise may fail
    ],
)
def test_no_way_to_a_release_lets_through_what_only_an_experiment_may_draw(drawn):
    with pytest.raises(PolicyError):
        drawn()


@pytest.mark.parametrize("odd", [None, math.nan, 7, ["a"], b"a", object()])
@pytest.mark.parametrize("kind", [list, lambda items: np.array(items, dtype=object)])
def test_no_value_refuses_the_texts_of_an_estimator(odd, kind):
    fitted = LabelPrivatizer(publius.Values(["open", "7"]), epsilon=20).fit(["open"])
    given = kind([odd, "open"])
    assert fitted.transform(given).toarray()[:, :2].tolist() == [[0, int(odd == 7)], [1, 0]]


_SOURCE = pa.array(["open", "canary"]).dictionary_encode()
_NESTED = {
    "list of categories": pa.ListArray.from_arrays([0, 1, 2], _SOURCE),
    "struct of categories": pa.StructArray.from_arrays([_SOURCE], ["a"]),
    "beneath a null": pa.StructArray.from_arrays([pa.array(["open", "canary"])], ["a"], mask=pa.array([False, True])),
    "metadata": pa.array([{"a": 1}, {"a": 2}], pa.struct([pa.field("a", pa.int8(), metadata={"note": "canary"})])),
}


@pytest.mark.parametrize("column", _NESTED)
def test_a_kept_column_brings_nothing_of_its_source(column):
    table = pa.table({"text": ["open", "closed"], "kept": _NESTED[column]})
    drawn = publius.protect_table(table if column == "beneath a null" else table.slice(0, 1), _sure(), keep="kept")
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, drawn.schema) as writer:
        writer.write_table(drawn)
    assert b"canary" not in sink.getvalue().to_pybytes()
    assert table.column("kept").to_pylist()[0] in drawn.column("kept").to_pylist()


_ODD = pa.Array.from_buffers(pa.string(), 2, pa.array([b"plain", b"caf\xe9"], pa.binary()).buffers())
_LATE = pa.array([[0], [2**62]], pa.list_(pa.int64())).cast(pa.list_(pa.timestamp("s")))


@pytest.mark.parametrize("role", ["keep", "ids"])
@pytest.mark.parametrize(
    ("odd", "held"),
    [
        (pa.DictionaryArray.from_arrays([0, 1], _ODD), ["plain", "caf\xe9"]),
        (pa.ListArray.from_arrays([0, 1, 2], _ODD), [["plain"], None]),
        (pa.StructArray.from_arrays([_ODD], ["a"]), [{"a": "plain"}, None]),
        (_LATE, [_LATE[0].as_py(), None]),
    ],
)
def test_no_cell_of_a_kept_column_refuses_a_table(role, odd, held):
    drawn = publius.protect_table(pa.table({"text": ["open", "open"], "c": odd}), _sure(), **{role: "c"})
    assert sorted(drawn.column("c" if role == "keep" else "id").to_pylist(), key=str) == sorted(held, key=str)


@pytest.mark.parametrize("more", [{"keep": "who"}, {"ids": "who"}, {"keep": "comment"}])
def test_a_table_lets_neither_leave(more, tmp_path):
    table = pa.table({"comment": ["open", "closed"], "who": ["Ann", "Bo"]})
    ledger = publius.Ledger.create(tmp_path / "budget", budget=10)
    labels = publius.RandomizedResponse(publius.Values(["open", "closed"]), epsilon=1)
    with pytest.raises(PolicyError):
        publius.protect_table(table, labels, "comment", author="who", ledger=ledger, **more)


@pytest.mark.parametrize("odd", [17, None, math.nan, "\ud83d", ["a"], {"a": 1}, b"a"])
def test_no_value_of_a_mapping_refuses_the_others(odd):
    mechanism = _sure()
    assert publius.protect_table({"text": [odd, "open"]}, mechanism).num_rows == 2
    arrow = publius.protect_table({"text": pa.array([None, "open"]), "who": ["a", "b"]}, _sure(), ids="who")
    assert arrow["label"].to_pylist() != ["None", "open"]
    told = publius.Summary(epsilon=20, subjects=publius.Values(["open"]))([odd, "open"] * 40, range(80))
    assert told.authors == 80


def test_what_arrow_says_of_a_table_is_not_told():
    with pytest.raises(DataError) as caught:
        publius.protect_table({"text": ["open", ""], "year": [17, "canary"]}, _sure(), keep="year")
    assert "canary" not in str(caught.value)


def test_no_column_of_texts_of_a_second_file_leaves(run, tmp_path):
    (tmp_path / "a.csv").write_text("text,comment\nopen,fine\n")
    (tmp_path / "b.csv").write_text("comment\ncanary\n")
    asked = ("--labels", "open,closed", "--epsilon", 5, "--output", tmp_path / "out", "--keep", "comment")
    for first, second in (("a.csv", "b.csv"), ("b.csv", "a.csv")):
        code, _, err = run("label", tmp_path / first, tmp_path / second, *asked)
        assert (code, "canary" in err) == (77, False)


@pytest.mark.parametrize("share", [np.float64(1.5), -2, math.nan, "x", "0.5"])
def test_bounds_hold_for_every_kind_of_number(share):
    toy = publius.Embeddings.from_arrays(["north", "south"], [[0.0], [1.0]], name="toy")
    with pytest.raises(UsageError):
        make_kernel("vickrey", toy, epsilon=1, parameters={"share": share})


def test_an_unpaid_draft_is_no_release(run, tmp_path):
    (tmp_path / "a.csv").write_text("status\nopen\nclosed\n")
    made = tmp_path / "out.publius-run" / "release"
    made.parent.mkdir()
    asked = ("--field", "status", "--labels", "open,closed", "--epsilon", 5)
    assert run("label", tmp_path / "a.csv", *asked, "--output", made)[0] == 0
    code, _, err = run("verify", made)
    assert (code, "no release yet" in err) == (65, True)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [('"epsilon"', '"epsilon": 0.5,\n  "epsilon"', 65), ("{", "{ ", 65), ('"documents": 2', '"documents": 3', 0)],
)
def test_verify_says_no_more_of_a_manifest_than_it_can_tell(run, tmp_path, old, new, code):
    (tmp_path / "a.csv").write_text("status\nopen\nclosed\n")
    asked = ("--field", "status", "--labels", "open,closed", "--epsilon", 5, "--output", tmp_path / "out")
    assert run("label", tmp_path / "a.csv", *asked)[0] == 0
    assert "as they were drawn" in run("verify", tmp_path / "out")[1]
    manifest = tmp_path / "out" / "manifest.json"
    manifest.write_text(manifest.read_text().replace(old, new, 1))
    found, out, err = run("verify", tmp_path / "out")
    assert (found, "drawn" in out) == (code, False), err


def test_start_says_no_cell_of_the_file(run, tmp_path):
    rows = [{"text": "open", "who": f"w{at}", "district": "north"} for at in range(600)]
    rows += [{"text": "open", "who": "test", "district": "ward of canary"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, out, err = run(
        "start", tmp_path / "a.jsonl", "--yes", "--release", "summary", "--by", "district=north,south", "--author-field", "who",
        "--output", tmp_path / "out",
    )  # fmt: skip
    assert code == 0, err
    assert "rows that --by would call other: 1" in out
    assert "looks like nobody" in out
    assert not re.search(r"canary|test \(", out + err)


def test_no_file_is_released_twice(tmp_path):
    (tmp_path / "a.csv").write_text("text\nopen\n")
    (tmp_path / "b.csv").symlink_to("a.csv")
    for given in ([tmp_path / "a.csv", tmp_path / "a.csv"], [tmp_path], [tmp_path / "b.csv", tmp_path / "a.csv"]):
        with pytest.raises(UsageError, match="one file"):
            open_corpus(given)


def test_numbers_in_one_call_are_as_many_as_memory_holds(monkeypatch):
    class Dense:
        shape = (2**22 + 1, 512)
        ravel = staticmethod(lambda: None)

    monkeypatch.setattr(np, "tile", lambda *_: None)
    monkeypatch.setattr("scipy.sparse.csr_array", lambda given, shape: given[2])
    starts = features._sparse(Dense())
    assert (starts.min(), starts.max()) == (0, 512 * (2**22 + 1))


def test_a_value_has_one_spelling_in_every_format(tmp_path):
    decimals = [Decimal("17.00"), Decimal("1.50"), Decimal("0.00"), Decimal(10) ** 20]
    columns = {
        "text": pa.array([b"open", b"caf\xe9", None, b""], pa.binary()),
        "who": pa.array(decimals, pa.decimal128(38, 2)),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    corpus = open_corpus(tmp_path / "a.parquet", author_field="who")
    assert [each.text for each in corpus] == ["open", "caf\xe9", "", ""]
    assert [each.author for each in corpus] == ["17", "1.5", "0", "1" + "0" * 20]
    assert said(Decimal("sNaN")) is None


def test_no_output_is_anothers_working_folder(run, tmp_path):
    (tmp_path / "a.csv").write_text("status\nopen\nclosed\n")
    asked = ("--field", "status", "--labels", "open,closed", "--epsilon", 5)
    assert run("label", tmp_path / "a.csv", *asked, "--output", tmp_path / "q.publius-run")[0] == 2
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]


def test_no_folder_names_code_that_runs(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_text('{"text": "goal"}\n')
    code = "open('ran', 'w').close()\nclass E:\n    def encode(self, texts): return [[1.0]] * len(texts)\n"
    (tmp_path / "k_sent.py").write_text(code)
    made = publius.TopicClassifier.train(["a goal"] * 5 + ["a law"] * 5, ["sport"] * 5 + ["politics"] * 5)
    made.save("sent")
    meta = json.loads((tmp_path / "sent" / "meta.json").read_text())
    meta["encoder"] = {"name": "python:k_sent:E", "sha256": "0" * 64}
    (tmp_path / "sent" / "meta.json").write_text(json.dumps(meta))
    asked = ("label", "a.jsonl", "--classifier", "sent", "--output", "-")
    code, _, err = run(*asked)
    assert (code, "--encoder" in err, (tmp_path / "ran").exists()) == (77, True, False)
    code, _, err = run(*asked, "--encoder", "python:k_sent:E")  # the curator names it, and it is another
    assert (code, "not the one" in err, (tmp_path / "ran").exists()) == (65, True, True)


@pytest.mark.parametrize(
    ("epsilon", "code", "lead"), [("20.5", 77, ""), ("20", 0, "limits what"), ("1", 0, "hides what")]
)
def test_no_summary_says_that_noise_hides_what_it_does_not(run, tmp_path, epsilon, code, lead):
    lines = (json.dumps({"text": "open", "who": f"w{at}"}) + "\n" for at in range(300))
    (tmp_path / "a.jsonl").write_text("".join(lines))
    asked = ("--author-field", "who", "--by", "text=open,closed", "--epsilon", epsilon, "--share", "totals=1")
    assert run("summarize", tmp_path / "a.jsonl", *asked, "--output", tmp_path / "out")[0] == code
    page = tmp_path / "out" / "release.html"
    assert page.exists() == (code == 0)
    assert lead in (page.read_text() if lead else "")


def test_no_list_of_processes_shows_the_token(run, tmp_path, monkeypatch):
    server = pytest.importorskip("publius.web.server", reason="the extra web is not installed")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(server, "_MINUTE", 1.5)
    opened = queue.Queue()
    monkeypatch.setattr("webbrowser.open", opened.put)

    def serve(listener, token, folder, started):
        listener.close()
        started(f"http://127.0.0.1:1/#{token}")
        address = opened.get(timeout=20)
        assert address.startswith("file://")
        assert token not in address
        page = Path(url2pathname(address.removeprefix("file://")))
        assert f"#{token}" in page.read_text()
        assert [each.stat().st_mode & 0o077 for each in (page, page.parent)] == [0, 0]

    monkeypatch.setattr(server, "serve", serve)
    assert run("explore", tmp_path, "--port", 0)[0] == 0
    until = time.monotonic() + 20
    while any(tmp_path.iterdir()) and time.monotonic() < until:
        time.sleep(0.1)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "asked",
    [
        ("summarize", "--author-field", "id", "--force", "--by", "text=@a.txt"),
        ("summarize", "--author-field", "id", "--force", "--share", "statements=1", "--ask", "@a.txt"),
        ("label", "--field", "text", "--labels", "@a.txt"),
    ],
)
def test_no_list_of_values_is_the_file_that_is_released(run, tmp_path, monkeypatch, asked):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("canary one\ncanary two\n")
    command, *more = asked
    code, _, err = run(command, "a.txt", "--lines", *more, "--output", "out")
    assert (code, "list of public values" in err, (tmp_path / "out").exists()) == (77, True, False)


def test_no_list_of_values_is_a_file_that_was_released_here(run, tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(f"canary {name}\nopen\n")
    asked = ("--lines", "--field", "text", "--labels")
    assert run("label", tmp_path / "a.txt", *asked, "open,closed", "--output", tmp_path / "one")[0] == 0
    code, _, err = run("label", tmp_path / "b.txt", *asked, f"@{tmp_path / 'a.txt'}", "--output", tmp_path / "two")
    assert (code, "was released here" in err, (tmp_path / "two").exists()) == (77, True, False)


def test_no_summary_is_compared_with_a_private_file(run, tmp_path):
    for name in ("before", "after"):
        lines = (json.dumps({"text": "open", "who": f"{name}{at}"}) + "\n" for at in range(300))
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    asked = ("--author-field", "who", "--by", "text=open,closed", "--epsilon", 2)
    assert run("summarize", tmp_path / "before.jsonl", *asked, "--output", tmp_path / "one")[0] == 0
    for place, expected in (("before.jsonl", 77), ("one", 0)):
        out = tmp_path / f"with {place}"
        code, _, err = run(
            "summarize", tmp_path / "after.jsonl", *asked, "--compare", tmp_path / place, "--output", out
        )
        assert (code, out.exists()) == (expected, expected == 0), err
