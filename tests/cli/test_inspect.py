"""`publius inspect`: a file of complaints as it comes."""

import csv
import io
import json
import subprocess
import sys

import pytest

from publius.documents.inspection import inspect
from publius.errors import DocumentError
from publius.evaluation.steps.older import maybe_author, own_authors

ENGLISH = (
    "the bill was wrong again and nobody answered my letter about the account because money had gone".split()
)
GERMAN = "die Lieferung kam drei Wochen zu spät und niemand hat mir wegen des Geldes geantwortet".split()


def complaints(path, encoding="iso-8859-1"):
    """Rows as in the issue: empty ones, one of a megabyte, another language, a duplicate."""
    rows = [
        [f"r{i}", " ".join((ENGLISH * 20)[i % 7 : i % 7 + 20 + i]), ["card", "loan"][i % 2]]
        for i in range(200)
    ]
    for place in (10, 11, 12):
        rows[place][1] = " ".join(GERMAN * (place - 8))
    rows[5][1] = rows[50][1] = ""
    rows[60][1] = "word " * 200_000
    rows[70][1] = rows[3][1]
    sheet = io.StringIO()
    csv.writer(sheet, delimiter=";").writerows([["id", "complaint", "topic"], *rows])
    path.write_bytes(sheet.getvalue().encode(encoding))
    return path


def test_what_stands_in_the_file_is_found(tmp_path):
    pytest.importorskip("py3langid")
    found = inspect(complaints(tmp_path / "a.csv"))
    assert (found.rows, found.columns) == (200, ("id", "complaint", "topic"))
    assert (found.delimiter, found.encoding, found.text_field) == (";", "iso-8859-1", "complaint")
    assert 100 < found.words["median"] < 140
    assert found.words["longest"] == 200_000
    assert found.languages["de"] == 3
    assert found.languages["en"] > 190
    problems = "\n".join(found.problems)
    assert "2 rows without text (empty): line 7, line 52" in problems
    assert "1 duplicate, the same text as an earlier row: line 72" in problems
    assert "1 row far longer than the others: line 62 (200,000 words)" in problems
    assert "another language (de) than most (en): line 12, line 13, line 14" in problems


def test_the_command_prints_the_same_as_json_and_for_people(tmp_path):
    path = complaints(tmp_path / "a.csv")
    call = [sys.executable, "-m", "publius", "inspect", str(path)]
    record = json.loads(subprocess.run([*call, "--json"], capture_output=True, check=True).stdout)
    assert set(record) == {
        "rows", "columns", "delimiter", "encoding", "quotes", "text_field", "guessed", "words", "languages", "problems",
        "fields",
    }  # fmt: skip
    assert record["guessed"] == ["encoding"]
    shown = subprocess.run(call, capture_output=True, check=True, text=True).stdout
    assert "iso-8859-1, fields separated by semicolons" in shown
    assert "nothing was released" in shown


def test_the_rows_that_cannot_be_used_are_named_without_their_words(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1,fine words here and more of them\n1,canary,canary\n2,"canary" canary\n,\n')
    found = inspect(path)
    assert found.rows == 4
    assert "canary" not in str(found)
    assert any(problem.startswith("2 rows cannot be read: line 3 (3 fields") for problem in found.problems)


@pytest.mark.parametrize(
    ("name", "data", "found", "guessed"),
    [
        ("a.csv", "asked,said\n{0},b\n", "asked", ["text_field"]),
        ("a.csv", "text,said\n{0},b\n", "text", []),
        ("a.csv", "comment,text\n{0},b\n", "text", []),  # the header says so, whoever wrote what
        ("a.csv", "said\n{0}\n", "said", []),
        ("a.csv", "text,said\n{1},b\n", "text", ["encoding"]),
        ("a.csv", 'text,said\n{0},"b\n{0},"c\n{0},d\n', "text", ["quotes"]),
        ("a.csv", 'text,said\n{0},"b\n{0},""c"\n{0},d\n', "text", ["quotes"]),
        ("a.csv", '"text","said"\n{0},"b\n{0},c"\n{0},d\n', "text", []),
        ("a.csv", 'text,said\n"{0}\nhello",b\n{0},d\n', "text", ["quotes"]),
        ("a.csv", 'said,text\nb,"{0}\nhello"\nd,{0}\n', "text", []),
        ("a.jsonl", '{{"text": "{0}", "said": "b"}}\n', "text", []),
        ("a.jsonl", '{{"comment": "{0}"}}\n{{"comment": "b", "text": ""}}\n', "text", ["text_field"]),
        ("a.jsonl", '{{"asked": "{0}", "said": "b"}}\n', "asked", ["text_field"]),
    ],
)
def test_what_the_texts_alone_tell_of_how_they_are_read_is_guessed(tmp_path, name, data, found, guessed):
    """One author's text would decide how everybody's are read: the longest column, letters, a field of one row."""
    pytest.importorskip("charset_normalizer")
    path = tmp_path / name
    french = "le colis est arrivé abîmé et personne ne répond à mes messages depuis hier"
    path.write_bytes(data.format("hello world " * 20, french).encode("iso-8859-1"))
    looked = inspect(path)
    assert (looked.text_field, [*looked.guessed]) == (found, guessed)
    said = inspect(path, text_field=looked.text_field, encoding=looked.encoding, quotes=looked.quotes)
    assert said.guessed == ()


def test_a_field_that_one_row_brings_tells_nobody_who_wrote_the_others(tmp_path):
    """Of rows with fields of their own an author's name is where it alone is called so; a header is everybody's."""
    lines = [{"user": f"u{n}", "text": "a river bends"} for n in range(9)]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in lines))
    alone = inspect(path)
    assert (own_authors(alone, None), maybe_author(alone)) == (None, "user")
    path.write_text("".join(json.dumps(row) + "\n" for row in [*lines, {"author": "x", **lines[0]}]))
    looked = inspect(path)
    assert (own_authors(looked, None), looked.by_name(["author", "user"])) == (None, ["author", "user"])
    assert own_authors(looked, "user") == "user"
    path.write_text(
        "".join(json.dumps(row) + "\n" for row in [{"Author": "x"}, {"author": "y", "text": "a river"}])
    )
    looked = inspect(path)  # nor does one that is written in another way
    assert (own_authors(looked, None), looked.by_name(["author"])) == (None, ["Author", "author"])
    table = tmp_path / "a.csv"
    table.write_text("user,author,text\nu1,,a river bends\n")
    assert own_authors(inspect(table), None) == "author"


def test_all_texts_alike_are_said_to_be(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps({"id": i, "text": "the same few words again"}) for i in range(5)))
    assert any("all texts are alike" in problem for problem in inspect(path).problems)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (
            b"id,text\n1,x\n",
            {"text_field": "canary"},
            "no column 'canary' among its 2 columns: publius inspect shows them",
        ),
        (b"id,text\n", {}, "holds no row"),
        (b"", {}, "holds no row"),
    ],
)
def test_what_cannot_be_looked_at_is_one_clear_sentence(tmp_path, data, options, message):
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    with pytest.raises(DocumentError, match=message):
        inspect(path, **options)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_file_of_too_many_columns_is_refused_whatever_its_kind(tmp_path, suffix):
    """Each column is counted by itself, which takes memory."""
    path = tmp_path / f"wide.{suffix}"
    names = ["text", *(f"c{place}" for place in range(1_000))]
    if suffix == "parquet":
        arrow = pytest.importorskip("pyarrow")
        arrow.parquet = pytest.importorskip("pyarrow.parquet")
        arrow.parquet.write_table(arrow.table({name: ["a"] for name in names}), path)
    elif suffix == "csv":
        path.write_text(",".join(names) + "\n" + ",".join("a" for _ in names) + "\n")
    else:
        rows = (dict.fromkeys(part, "a") for part in (names[:600], names[600:]))
        path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DocumentError, match=r"1,001 columns, more than 1,000"):
        inspect(path)


def test_a_file_without_header_is_said_to_have_none(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,the bill was wrong again and nobody answered\n2,late\n")
    assert any("does not look like names of columns" in problem for problem in inspect(path).problems)
