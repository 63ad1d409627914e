"""Rows that are longer than a document may be: who wrote them is told, and as little is held of them as of others."""

import csv
import gzip
import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from publius.documents import long_rows, separated
from publius.documents import row_readers as records
from publius.documents.corpus import BadDocument, Document, open_corpus
from publius.documents.long_rows import NOT_TOLD, LongRow, long_object
from publius.errors import DocumentError

MARKS = st.text(alphabet='ab",;\\{}[]\n\r é', max_size=12)


def parts_of(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


def cells_of(text, size, delimiter=","):
    """The cells of the first row of ``text``, and what stands behind it."""
    row, read = LongRow(delimiter), 0
    for part in parts_of(text, size):
        if (end := row.take(part)) is not None:
            return row.told(), text[read + end :]
        read += len(part)
    return row.told(), ""


@given(st.lists(MARKS, min_size=1, max_size=6), st.integers(1, 9), st.sampled_from(",;"), st.booleans())
def test_a_long_row_has_the_cells_that_any_reader_finds(cells, size, delimiter, quoting):
    text = io.StringIO(newline="")
    style = csv.QUOTE_ALL if quoting else csv.QUOTE_MINIMAL
    csv.writer(text, delimiter=delimiter, quoting=style, lineterminator="\r\n").writerow(cells)
    assert cells_of(text.getvalue() + "the next row\n", size, delimiter) == (cells, "the next row\n")


@given(st.text(alphabet='ab",\r\n', max_size=14), st.integers(1, 5))
def test_a_broken_row_is_broken_to_any_reader(text, size):
    """Whatever stands there: the same cells as the library's strict reader, or none where it finds none."""
    lines = [line + "\n" for line in text.split("\n")]
    try:
        wanted = next(csv.reader(lines, strict=True))
    except csv.Error:
        wanted = None
    found, _ = cells_of("".join(lines), size)
    assert found == ([""] if wanted == [] else wanted)  # a blank line is never long


@given(
    st.dictionaries(MARKS, st.one_of(MARKS, st.integers(), st.lists(MARKS, max_size=3))), st.integers(1, 9)
)
def test_a_long_object_is_the_one_that_any_reader_finds(value, size):
    line = json.dumps(value, ensure_ascii=False)
    assert json.loads(long_object(parts_of(line, size), 10**6)) == value


@given(st.lists(st.sampled_from(["a" * 11, '"' * 11, "\\" * 11, "short"]), min_size=1), st.integers(1, 9))
def test_no_long_value_is_held(values, size):
    patch = pytest.MonkeyPatch()
    patch.setattr(long_rows, "SHORT", 10)
    text = io.StringIO(newline="")
    csv.writer(text).writerow(values)
    line = json.dumps(values)
    try:
        cells, _ = cells_of(text.getvalue(), size)
        said = long_object(parts_of(line, size), 10**6)
    finally:
        patch.undo()
    assert cells == [value if value == "short" else NOT_TOLD for value in values]
    assert json.loads(said) == [value if value == "short" else "" for value in values]


def test_far_too_many_values_are_none():
    assert cells_of(",x" * 2**15, 2**10)[0] is None
    assert long_object(['{"a": ["', '", "' * 2**18, '"]}'], 2**24) is None
    assert long_object(['{"a": ', "[" * 100], 50) is None


WRAPPED = {
    "a.csv": (b'author,text\nada,"', b'"\nbob,hello\n'),
    "a.jsonl": (b'{"author": "ada", "text": "', b'"}\n{"author": "bob", "text": "hello"}\n'),
}


@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.parametrize("piece", [
    b'""', "é\U0001f600".encode(), b"\\n{[ ",
    *(pytest.param(each, marks=pytest.mark.long) for each in (b"a", b"\\\\", b",")),
])  # fmt: skip
def test_a_run_goes_on_after_a_row_that_is_too_long(tmp_path, monkeypatch, name, piece):
    """It is one bad document of any release, as a line of JSON that is too long always was."""
    for module in (records, separated):
        monkeypatch.setattr(module, "RECORD_LIMIT", 2**17)
        monkeypatch.setattr(module, "_PART", 2**10)
    before, after = WRAPPED[name]
    piece = b'\\"' if (name, piece) == ("a.jsonl", b'""') else piece
    path = tmp_path / name
    path.write_bytes(before + piece * (6 * 2**20 // len(piece)) + after)
    corpus = open_corpus(path, number=True, keep=("author",))
    tracemalloc.start()
    try:
        bad, good = corpus
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(bad, BadDocument)
    assert bad.reason.endswith(records.TOO_LONG)
    assert good == Document("2", "hello", {"author": "bob"}, 2)
    assert peak < 2**22, "a row is held whole"
    place = {"a.csv": "line 3", "a.jsonl": "line 2"}[name]
    assert [row.place for _, row in corpus.rows()][1] == place


@pytest.mark.parametrize(
    ("end", "after"),
    [(b"", []), (b'it ends"here, x\nbob,hello\n', ["hello"])],
    ids=["never ends", "ends too soon"],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_long_quoting_that_is_broken_costs_the_row_that_begins_it_alone(
    tmp_path, monkeypatch, end, after, packed
):
    """None of its lines could be a row, so they all are its own."""
    monkeypatch.setattr(separated, "RECORD_LIMIT", 2**17)
    monkeypatch.setattr(separated, "_PART", 2**10)
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    data = b'author,text\nada,"one\n' + b"some words\n" * 2**14 + end.replace(b", x", b"")
    path.write_bytes(gzip.compress(data) if packed else data)
    corpus = open_corpus(path, number=True, keep=("author",))
    bad, *others = corpus
    assert bad.reason.startswith("line 2: quoting is broken")
    assert [each.text for each in others] == after
    assert [row.place for _, row in corpus.rows()] == ["line 2", *(f"line {2**14 + 4}" for _ in after)]
    assert next(row.fields for _, row in corpus.rows()) == {"author": "ada"}


@pytest.mark.parametrize("where", [1, 2**14], ids=["early", "late"])
@pytest.mark.parametrize("whole", [b"x,some words\n", b",\n"])
def test_a_long_row_that_holds_a_line_that_could_be_a_row_is_refused_unless_it_is_said(
    tmp_path, monkeypatch, where, whole
):
    monkeypatch.setattr(separated, "RECORD_LIMIT", 2**15)
    monkeypatch.setattr(separated, "_PART", 2**10)
    path = tmp_path / "a.csv"
    lines = [b"some words\n"] * 2**14
    lines[where - 1] += whole
    path.write_bytes(b'author,text\nada,"one\n' + b"".join(lines) + b'"\nbob,hello\n')
    with pytest.raises(separated.UnsaidQuotesError, match="the row at line 2"):
        list(open_corpus(path, number=True))
    long, good = open_corpus(path, number=True, keep=("author",), quotes="fields")
    assert (long.reason.endswith(records.TOO_LONG), good.text) == (True, "hello")
    rows = [row for _, row in open_corpus(path, number=True, keep=("author",), quotes="letters").rows()]
    assert (rows[0].fields["author"], rows[-1].fields["text"]) == ("ada", "hello")
    assert sum(row.problem is None for row in rows) == 3


@pytest.mark.parametrize("mark", ['"', ""])
def test_a_long_line_is_a_row_where_quotation_marks_are_letters(tmp_path, monkeypatch, mark):
    monkeypatch.setattr(separated, "RECORD_LIMIT", 2**12)
    path = tmp_path / "a.csv"
    path.write_text(f"author,text\nada,{mark}{'one ' * 2**12}\nbob,hello\n")
    long, good = open_corpus(path, number=True, keep=("author",), quotes="letters")
    assert (long.reason.endswith(records.TOO_LONG), good.text) == (True, "hello")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("[" * 10**5 + "]" * 10**5, "nested too deeply"),
        ("[" + "[]," * 2**20 + '{"a": "]"}]', "lists and objects"),
        ('[{"a": "\\"[", "a": 2}]', "a field is there twice"),
        ("9" * 5_000, "too many digits"),
    ],
)
def test_who_wrote_a_line_that_cannot_be_read_for_one_value_is_told(tmp_path, value, problem):
    """What somebody put into a form must not stop the summary of everybody: he counts, with no words."""
    path = tmp_path / "a.jsonl"
    odd = '{"author": "zz\\\\", "text": ' + value + ', "day": 3}'
    path.write_text(odd + '\n{"author": "bob", "text": "hi"}\n')
    first, second = (row for _, row in open_corpus(path, number=True, keep=("author",)).rows())
    assert (first.fields, problem in first.problem) == ({"author": "zz\\", "day": 3}, True)
    assert second.fields == {"author": "bob", "text": "hi"}


@given(
    st.dictionaries(
        MARKS,
        st.recursive(
            st.one_of(MARKS, st.integers(), st.booleans()),
            lambda each: st.lists(each, max_size=3) | st.dictionaries(MARKS, each, max_size=3),
        ),
        max_size=4,
    ),
    st.booleans(),
)
def test_the_outermost_values_of_an_object_are_those_of_any_reader(value, plain):
    told = records._outermost(json.dumps(value, ensure_ascii=plain))
    assert told == {name: each for name, each in value.items() if not isinstance(each, list | dict)}


def test_a_header_that_is_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(separated, "RECORD_LIMIT", 2**10)
    path = tmp_path / "a.csv"
    path.write_bytes(b"text," + b"x" * 2**12 + b"\nada,b\n")
    with pytest.raises(DocumentError, match="row from line 1 has more than 0 MiB"):
        list(open_corpus(path, number=True))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("lines", [1, 2, 2**10, 2**10 + 1, 2**13 - 8, 2**13, 20_000])
def test_blank_lines_within_quotes_are_text_and_lines_as_others(tmp_path, lines, end):
    """They are taken many at once: a file of nothing else took 8 seconds of a processor."""
    text = "a" + lines * end + "b" + 2 * end
    path = tmp_path / "a.csv"
    path.write_text(
        f'text,id{end}{end}"{text}",1{end}{end}c,2,3{end}"d",4{end}', newline="", encoding="utf-16"
    )
    first, bad, last = open_corpus(path, encoding="utf-16", quotes="fields")
    assert (first.text, last.text) == (text, "d")
    assert bad.reason.startswith(f"line {lines + 7}: 3 fields")


def test_lines_are_the_same_however_much_is_read_at_once(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    rows = [(f"d{place}", "ab\n" * (place % 7) + "\n" * (place % 5) + "x" * place) for place in range(300)]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("id", "text"), *rows])
    for at_once in (1, 2, 7, 2**13):
        monkeypatch.setattr(separated, "_AT_ONCE", at_once)
        monkeypatch.setattr(separated, "_BLANK", at_once)
        assert [(each.id, each.text) for each in open_corpus(path, quotes="fields")] == rows
