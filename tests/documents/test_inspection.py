"""What a curator is told before anything is decided, and that only a few kinds of things are named."""

import csv
import json
from collections import Counter

import pytest

from publius.documents.corpus import open_corpus
from publius.documents.inspection import count_language, inspect, look
from publius.settings import Reading

TEXT = "the train to the city was late again and nobody at the station could say why it had stopped"


@pytest.fixture
def table(tmp_path):
    def write(rows, name="data.csv"):
        path = tmp_path / name
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return path

    return write


def told(path, **options):
    return {note.what: (note.count, note.where) for note in inspect(path, **options).notes}


def the(notes, start):
    (found,) = [value for what, value in notes.items() if what.startswith(start)]
    return found


def rows(count=20, **columns):
    return [
        {"author": f"a{n}", "text": f"{TEXT} {n}", **{name: make(n) for name, make in columns.items()}}
        for n in range(count)
    ]


def test_a_plain_file_has_no_notes(table):
    found = inspect(table(rows()))
    assert (found.documents, found.without_text, found.columns, found.text_field) == (
        20, 0, ("author", "text"), "text",
    )  # fmt: skip
    assert (found.encoding, found.languages, found.notes) == ("utf-8", {"en": 20}, ())


def test_authors_that_look_like_nobody(table):
    values = ["", "N/A", "anonymous", "unknown", "-", "A. Person"]
    notes = told(table(rows(60, author=lambda n: values[n % 6] if n % 6 < 5 else f"p{n}")))
    count, where = the(notes, "rows whose author looks like nobody")
    assert (count, where) == (50, "'' (10), N/A (10), anonymous (10), unknown (10), - (10)")
    left = inspect(table(rows(60, author=lambda n: values[n % 6])), no_author=["N/A,anonymous,unknown,-", ""])
    assert left.documents == 10


@pytest.mark.parametrize(
    "pair", [("0017", "17"), ("17", "17.0"), ("Mary-Ann Lee", "mary ann lee"), ("o'neil", "O’Neil"), ("a_b", "a.b")]
)
def test_authors_who_may_be_one_person(table, pair):
    notes = told(table(rows(20, author=lambda n: pair[n] if n < 2 else f"x{chr(97 + n)}")))
    assert the(notes, "authors who differ by") == (2, "rows 1, 2")
    assert not told(table(rows(20, author=lambda n: f"x{10 + n}")))


def test_one_author_of_most_rows(table):
    notes = told(table(rows(30, author=lambda n: "a" if n < 16 else f"x{n}")))
    assert the(notes, "rows of one author") == (16, "first in row 1")


def test_what_groups_would_call_other(table):
    path = table(rows(20, region=lambda n: ["North", "north ", "South", ""][n % 4]))
    notes = told(path, by={"region": {"North", "West"}.__contains__})
    assert the(notes, "rows that --by would call other") == (15, "region: north (5), South (5), (empty) (5)")


def test_ways_to_write_a_date(table):
    forms = [
        "2026-01-15", "01/02/2026", "2026-02", "Feb 2026", "45689", "2026-1-5", "15.01.2026", "",
        "2026-01-15T23:30:00-11:00",
    ]  # fmt: skip
    count, where = the(told(table(rows(90, month=lambda n: forms[n % 9]))), "ways to write a date")
    assert count == 8
    assert "9999-99-99 (10)" in where
    assert not told(table(rows(90, month=lambda n: f"2026-01-{1 + n % 28:02d}")))


def test_rows_that_look_like_further_headers(table):
    path = table(rows(30, opened=lambda n: "Open-Ended Response" if n == 0 else f"2026-01-{n:02d}"))
    what = "rows that look like further header rows: --header-row 1-2 takes them all for names"
    assert told(path)[what] == (1, "data row 1")
    assert inspect(path).documents == 30
    assert not told(path, reading=Reading(header_row="1-2"))


def test_a_first_row_that_is_a_document(table):
    what = "row of names that looks like a document: if it is one, write a row of names above it"
    questions = {
        "How old are you? Please choose. (18-99)": lambda n: n % 9,
        "Anything else? \n(optional)": lambda n: "no",
        "Bus": lambda n: "Bus" if n % 2 else "",
    }
    assert what not in told(table(rows(20, **questions)))
    for name, value in (("2026-03-01", lambda n: f"2026-03-{n:02d}"), ("North", lambda n: ["North", "South"][n % 2])):
        assert told(table(rows(20, **{name: value})))[what] == (1, "row 1")


def test_placeholders_and_repeated_texts(table):
    path = table(rows(20, text=lambda n: f"{TEXT} [NAME]" if n < 3 else f"{TEXT} {n}"))
    notes = told(path)
    assert the(notes, "texts with placeholders") == (3, "")
    assert the(notes, "texts that are there more than once") == (3, "1 different")


def test_quoted_fields_that_hold_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('author,text\na1,"a stray\na2,another row\na3,and one"\na4,b\n')
    notes = told(path)
    assert the(notes, "fields that hold lines") == (1, "data row 1")
    path.write_text('author,text\na1,"a letter\n\nwith lines, of two, or more"\na4,b\n')
    assert not [what for what in told(path) if what.startswith("fields that hold")]
    path.write_text("author,text\na1,x\\\na2,y\n")
    assert the(told(path), "fields that hold lines") == (1, "data row 1")
    assert not [what for what in told(path, reading=Reading(quotes="none")) if what.startswith("fields that hold")]


def test_a_column_that_is_not_told_is_looked_at_and_said(table, tmp_path):
    path = table([{"id": n, "body": f"{TEXT} {n}"} for n in range(5)])
    found = inspect(path)
    assert found.text_field == "body"
    assert found.notes[0].where == "looked at: body"
    (tmp_path / "b.csv").write_bytes(path.read_bytes())
    assert inspect([path, tmp_path / "b.csv"]).documents == 10


def test_an_encoding_by_row_is_said(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("text,id\nGrüße aus Köln und alles Gute,1\nplain,2\n".encode("cp1252"))
    assert inspect(path).encoding == "utf-8, 1 rows cp1252"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (TEXT, "en"), ("火车又晚点了，车站没有工作人员卖票，也没有人开门。", "zh"),
        ("Die Straßenbahn fährt heute nicht mehr zurück.", "de"), ("short", None), ("12 34 56 78", None),
    ],
)  # fmt: skip
def test_languages(text, language):
    counts = Counter()
    count_language(text, counts)
    assert counts == {language or "unclear": 1}


# Before anything is spent ---------------------------------------------------------------------------------


def test_what_is_said_before_is_the_same_whatever_the_workers(tmp_path, monkeypatch):
    monkeypatch.setattr("publius.documents.inspection._AT_ONCE", 500)
    path = tmp_path / "data.jsonl"
    lines = [{"text": f"{TEXT} {n}" * (n % 7 > 0), "author": f"a{n % 90}" if n % 10 else "n/a"} for n in range(3_000)]
    lines[2_500]["text"] = "> quoted\nown"
    path.write_bytes(b"".join(json.dumps(each).encode() + b"\n" for each in lines) + b'{"text": "caf\xe9"}\n')
    found = [
        look(open_corpus(path, author_field="author"), lambda text: (10, 10 * ("3" in text)), workers=count)
        for count in (1, 2)
    ]
    assert found[0] == found[1]
    assert found[0][0] == "3,001 texts by 82 authors."
    assert "words is known" not in found[0][2]
    assert "of the 257 texts looked at" in found[0][2]
    assert [line.rpartition(": ")[2] for line in found[0][4:]] == ["1", "1"]


def test_three_lines_before_anything_is_spent(table):
    path = table(rows(20, text=lambda n: "..." if n < 2 else TEXT))
    corpus = open_corpus(path, author_field="author")
    assert look(corpus) == ["20 texts by 20 authors.", "2 have no words: they count as texts without any."]
    assert look(corpus, lambda text: (10, 9)) == look(corpus)
    assert (
        look(corpus, lambda text: (10, 0))[2]
        == "no word of 18 of 18 texts is known to this classifier (languages: en (18)). "
        "publius label --labels A,B reads sixteen languages."
    )
    few = look(corpus, lambda text: (10, 6), by="these vectors")[2]
    assert few.startswith(
        "a third of the words or more is unknown to these vectors in 18 of 18 texts (languages: en (18))."
    )
    assert look(open_corpus(path, Reading()))[0] == "20 texts."
