import gzip
import io
import json
import os
import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from publius.documents.corpus import BadDocument, Document, open_corpus
from publius.documents.readers import LINES, PACKED
from publius.documents.separated import UnsaidQuotesError
from publius.errors import (
    DataError,
    DocumentError,
    MissingExtraError,
    PolicyError,
    StorageError,
    UsageError,
)
from publius.noise.randomness import seeded_rng

CANARY = "canary"
GOOD = [
    {"id": "a", "text": "First text, with a comma", "topic": "hp"},
    {"id": 7, "text": 'Second "text"\nof two lines', "topic": "fb"},
]


def jsonl(*lines):
    return (
        b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines) + b"\n"
    )


def parquet(columns):
    pyarrow = pytest.importorskip("pyarrow")
    sink = io.BytesIO()
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), sink)
    return sink.getvalue()


def store(path, data):
    path.write_bytes(data)
    return path


def read(path, **options):
    return list(open_corpus(path, **options))


CSV = b'topic,id,text\r\nhp,a,"First text, with a comma"\r\nfb,7,"Second ""text""\nof two lines"\r\n'


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("c.jsonl", jsonl(*GOOD)),
        ("c.NDJSON", jsonl(GOOD[0], b"", b"  \r", GOOD[1])),
        ("c.jsonl", b"\xef\xbb\xbf" + jsonl(*GOOD).rstrip()),
        ("c.jsonl.gz", gzip.compress(jsonl(*GOOD), mtime=0)),
        ("c.csv", CSV),
        ("c.csv", b"\xef\xbb\xbf" + CSV.replace(b"\r\nfb", b"\r\n\r\nfb")),
        ("c.csv.gz", gzip.compress(CSV, mtime=0)),
    ],
)
def test_every_kind_gives_the_same_documents(tmp_path, name, data):
    documents = read(store(tmp_path / name, data), keep=["topic"])
    assert documents == [
        Document("a", "First text, with a comma", {"topic": "hp"}, 1, account="a"),
        Document("7", 'Second "text"\nof two lines', {"topic": "fb"}, 2, account="7"),
    ]


def test_parquet_gives_the_same_documents(tmp_path):
    columns = {
        "id": [5, 7],
        "text": ["one", "two"],
        "topic": ["hp", "fb"],
        "x": [1.5, 2.0],
        "yes": [True, False],
    }
    corpus = open_corpus(store(tmp_path / "c.parquet", parquet(columns)), keep=["topic", "x", "yes"])
    assert [document.id for document in corpus] == ["5", "7"]
    assert list(corpus)[1] == Document(
        "7", "two", {"topic": "fb", "x": "2.0", "yes": "false"}, 2, account="7"
    )
    assert corpus.count_hint == 2


def test_parquet_needs_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"publius\[parquet\]"):
        open_corpus(store(tmp_path / "c.parquet", b""))


def test_a_txt_file_is_one_document(tmp_path):
    assert read(store(tmp_path / "secret name.txt", b"\xef\xbb\xbfsome text")) == [
        Document("1", "some text", {}, 1, account="secret name.txt")
    ]


def test_a_folder_of_txt_is_read_by_name_and_named_by_position(tmp_path):
    for name in ("b.txt", "a.txt", "c.TXT", ".hidden", "_SUCCESS"):
        store(tmp_path / name, name.encode())
    corpus = open_corpus(tmp_path)
    assert [(document.id, document.text) for document in corpus] == [
        ("1", "a.txt"),
        ("2", "b.txt"),
        ("3", "c.TXT"),
    ]
    assert corpus.count_hint == 3


def test_a_folder_of_parts_is_one_corpus(tmp_path):
    store(tmp_path / "part-2.jsonl.gz", gzip.compress(jsonl(GOOD[1])))
    store(tmp_path / "part-1.jsonl", jsonl(GOOD[0], b"{"))
    first, bad, last = read(tmp_path)
    assert (first.id, last.id, last.position) == ("a", "7", 3)
    assert bad.reason.startswith("part 1, line 2: not JSON")


def test_a_corpus_can_be_read_again(tmp_path):
    corpus = open_corpus(store(tmp_path / "c.jsonl", jsonl(*GOOD)))
    assert list(corpus) == list(corpus)
    assert corpus.count_hint is None


def test_documents_may_be_numbered(tmp_path):
    path = store(tmp_path / "c.jsonl", jsonl({"text": "one"}, {"text": ""}, {"text": "three"}))
    assert [(document.position, document.id) for document in read(path, number=True)] == [
        (1, "1"),
        (2, "2"),
        (3, "3"),
    ]


def test_fields_may_have_other_names(tmp_path):
    path = store(
        tmp_path / "c.jsonl", jsonl({"key": "k", "body": "some", "n": 3, "f": 0.5, "b": True, "e": ""})
    )
    (document,) = read(path, id_field="key", text_field="body", keep=["n", "f", "b", "e"])
    assert document.labels == {"n": "3", "f": "0.5", "b": "true", "e": ""}


def test_half_an_emoji_in_a_text_is_no_reason_to_refuse_it(tmp_path):
    (document,) = read(store(tmp_path / "c.jsonl", b'{"id": 1, "text": "cut \\ud83d"}'))
    assert document.text == "cut \ud83d"


def test_a_document_does_not_show_its_text_and_travels_to_workers():
    document = Document("a", CANARY, {"topic": CANARY}, 1)
    assert repr(document) == "Document(id='a', position=1)"
    assert pickle.loads(pickle.dumps(document)) == document


def good(text):
    return {"id": "x", "text": text}


BAD_JSONL = {
    "not JSON": (b'{"id": "x", "text": "canary', "line 2: not JSON from column"),
    "two values": (b'{"id": "x", "text": "canary"} canary', "not JSON"),
    "escape": (b'{"id": "x", "text": "\\canary"}', "not JSON"),
    "control": (b'{"id": "x", "text": "canary\x00"}', "not JSON"),
    "UTF-8": (b'{"id": "x", "text": "canary\xff"}', "not UTF-8 at byte 28"),
    "UTF-16": ('{"id": "x", "text": "canary"}'.encode("utf-16"), "not UTF-8"),
    "list": (["canary"], "not an object but a list"),
    "string": (b'"canary"', "not an object but a string"),
    "objects": (b'{"id": "x", "text": "a", "b": [' + b"{}," * 2**20 + b"{}]}", "more than 1,048,576 lists and objects"),
    "nested": (b'{"id": "x", "text": ' + b"[" * 100_000, "nested too deeply"),
    "digits": (b'{"id": "x", "text": "canary", "n": ' + b"9" * 5000 + b"}", "too many digits"),
    "twice": (b'{"id": "x", "text": "canary", "text": "canary"}', "a field is there twice"),
    "no text": ({"id": "x", "canary": 1, "topic": "t"}, "no field 'text'"),
    "no id": ({"text": "canary", "topic": "t"}, "no field 'id'"),
    "no label": (good(CANARY), "no field 'topic'"),
    "text null": ({"id": "x", "text": None, "topic": "t"}, "the text field 'text' is null"),
    "text list": ({"id": "x", "text": [CANARY], "topic": "t"}, "is a list"),
    "text number": ({"id": "x", "text": 1, "topic": "t"}, "is a number"),
    "id null": ({"id": None, "text": CANARY, "topic": "t"}, "the id field 'id' is null"),
    "id bool": ({"id": True, "text": CANARY, "topic": "t"}, "is true or false"),
    "id float": ({"id": 1.5, "text": CANARY, "topic": "t"}, "is a number"),
    "id object": ({"id": {CANARY: 1}, "text": CANARY, "topic": "t"}, "is an object"),
    "id empty": ({"id": " ", "text": CANARY, "topic": "t"}, "the id field 'id' is empty"),
    "id long": ({"id": CANARY * 43, "text": "t", "topic": "t"}, "258 characters, more than 256"),
    "id control": ({"id": "canary\x1b[2J", "text": "t", "topic": "t"}, "control characters"),
    "id surrogate": (b'{"id": "canary\\ud800", "text": "t", "topic": "t"}', "lone surrogates"),
    "id newline": ({"id": "canary\u2028", "text": "t", "topic": "t"}, "control characters"),
    "id again": ({"id": "a", "text": CANARY, "topic": "t"}, "an earlier document has this id"),
    "label null": ({"id": "x", "text": "t", "topic": None}, "the kept field 'topic' is null"),
    "label list": ({"id": "x", "text": "t", "topic": [CANARY]}, "is a list"),
    "label NaN": (b'{"id": "x", "text": "t", "topic": NaN}', "a finite number"),
    "label infinite": (b'{"id": "x", "text": "t", "topic": 1e999}', "a finite number"),
    "label control": ({"id": "x", "text": "t", "topic": "canary\n"}, "control characters"),
    "label long": ({"id": "x", "text": "t", "topic": CANARY * 50}, "300 characters"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_JSONL)
def test_a_bad_line_is_named_by_place_and_never_shown(tmp_path, case):
    line, message = BAD_JSONL[case]
    last = GOOD[1] | {"topic": "fb"}
    first, bad, after = read(store(tmp_path / "c.jsonl", jsonl(GOOD[0], line, last)), keep=["topic"])
    assert isinstance(bad, BadDocument)
    assert (first.id, after.id, bad.position) == ("a", "7", 2)
    assert message in bad.reason
    error = bad.error()
    assert isinstance(error, DocumentError)
    assert str(error).startswith("document 2")
    assert "line 2: " in str(error)
    assert ": " in bad.reason.split("line 2: ")[1], "says the way out"
    assert CANARY not in f"{error} {bad!r}"


def test_a_bad_document_has_its_id_when_it_can_be_read_and_says_it_in_no_message(tmp_path):
    path = store(tmp_path / "c.jsonl", jsonl({"id": "x\u202e", "text": None}))
    (bad,) = read(path)
    assert str(bad.error()).startswith("document 1: line 1: the text field 'text' is null")
    assert bad.error().id == "x\u202e"


@pytest.mark.parametrize("text", ["", " \n\u3000"])
def test_an_empty_text_is_a_document_without_words(tmp_path, text):
    """R27: what a text holds does not decide whether its id appears."""
    (document,) = read(store(tmp_path / "c.jsonl", jsonl({"id": "x", "text": text, "topic": "t"})))
    assert (document.id, document.text) == ("x", text)


BAD_CSV = {
    "short": (b"hp,x\n", "2 fields where the header has 3"),
    "long": (b"hp,x,canary,canary\n", "4 fields where the header has 3"),
    "quotes": (b'hp,x,"canary" canary\n', "quoting is broken"),
    "UTF-8": (b"hp,x,canary\xff\n", "not UTF-8"),
    "surrogate": (b"hp,x,canary\xed\xa0\x80\n", "not UTF-8"),
    "empty id": (b"hp,,canary\n", "the id field 'id' is empty"),
    "id again": (b"hp,a,canary\n", "an earlier document has this id"),
    "label": (b"hp\x07,x,canary\n", "control characters"),
}


@pytest.mark.parametrize("case", BAD_CSV)
def test_a_bad_row_is_named_by_place_and_never_shown(tmp_path, case):
    row, message = BAD_CSV[case]
    data = b'topic,id,text\nhp,a,"two\nlines"\n' + row + b"fb,7,more\n"
    _, bad, after = read(store(tmp_path / "c.csv", data), keep=["topic"])
    assert isinstance(bad, BadDocument)
    assert after == Document("7", "more", {"topic": "fb"}, 3, account="7")
    assert bad.reason.startswith("line 4: ")
    assert message in bad.reason
    assert CANARY not in str(bad.error())


OPEN = (b'"canary', b'"canary"" canary', b'"')
BROKEN = (b'"canary" canary', b"canary\rcanary", b'""canary', b"canary\tcanary")


def unquoted(path, odd, columns, others=("bob", "cy")):
    """A table that was written without quoting: two authors, and ``others`` after them."""
    rows = [{"author": name, "text": text, "day": "7"} for name, text in (("ada", "t"), ("zz", odd))]
    rows += [{"author": name, "text": 'more "of" it', "day": "8"} for name in others]
    lines = ["\t".join(columns), *("\t".join(row[name] for name in columns) for row in rows)]
    return store(path, "\n".join(lines).encode() + (b"\n" if others else b""))


@pytest.mark.parametrize(
    ("broken", "others"),
    [*((each, ("bob", "cy")) for each in BROKEN), *((each, ()) for each in (*OPEN, *BROKEN))],
)
@pytest.mark.parametrize("columns", ["author text", "text author", "author text day"])
def test_a_text_that_is_not_quoted_as_it_should_be_costs_its_own_row_alone(tmp_path, broken, others, columns):
    """A program that quotes nothing wrote it: what one author wrote takes no row of anybody else's, nor hides him."""
    path = unquoted(tmp_path / "c.tsv", broken.decode(), columns.split(), others)
    corpus = open_corpus(path, number=True, keep=("author",))
    first, bad, *more = corpus
    assert first.text == "t"
    assert isinstance(bad, BadDocument)
    assert bad.reason.startswith("line 3: ")
    assert CANARY not in str(bad.error())
    assert [(each.position, each.text, each.labels["author"]) for each in more] == [
        (3 + place, 'more "of" it', name) for place, name in enumerate(others)
    ]
    (_, row), *after = list(corpus.rows())[1:]
    assert row.fields == {"author": "zz"}
    assert [row.place for _, row in after] == ["line 4", "line 5"][: len(others)]


@pytest.mark.parametrize("odd", OPEN)
@pytest.mark.parametrize("columns", ["author text", "text author", "author text day"])
def test_no_text_decides_where_rows_end(tmp_path, odd, columns):
    """Where a quotation mark stays open before what could be a row, somebody says what it is."""
    path = unquoted(tmp_path / "c.tsv", odd.decode(), columns.split())
    with pytest.raises(
        UnsaidQuotesError, match=r"row at line 3 opens a quotation mark .* --quotes"
    ) as caught:
        read(path, number=True)
    assert CANARY not in str(caught.value)
    found = read(path, number=True, keep=("author",), quotes="letters")
    assert [(each.labels["author"], each.text) for each in found] == [
        ("ada", "t"), ("zz", odd.decode()), ("bob", 'more "of" it'), ("cy", 'more "of" it')
    ]  # fmt: skip
    with pytest.raises(DocumentError, match="quoting is broken in the row at line 3"):
        read(path, number=True, quotes="fields")


def test_two_texts_of_one_author_take_no_rows_between_them(tmp_path):
    """One begins with a quotation mark, another ends with one: read as one field they would hold everybody's rows."""
    for first, last in (('"money', 'it is five inches"'), ('"', 'a,"'), ('5","', ',"')):
        rows = [f"x{n},hello there" for n in range(50)]
        path = store(
            tmp_path / "c.csv", "\n".join(["author,text", f"zz,{first}", *rows, f"zz,{last}", ""]).encode()
        )
        with pytest.raises(UnsaidQuotesError):
            list(open_corpus(path, number=True))
        told = list(open_corpus(path, number=True, keep=("author",), quotes="letters").rows())
        assert [row.fields["author"] for _, row in told] == ["zz", *(f"x{n}" for n in range(50)), "zz"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_line_breaks_in_a_field_are_read_where_no_line_of_it_could_be_a_row(tmp_path, end):
    data = b'author,text,day\nada,"one\n\ntwo, and\nthree",7\nbob,hello,8\n'.replace(b"\n", end)
    found = read(store(tmp_path / "c.csv", data), number=True)
    assert [each.text for each in found] == ["one\n\ntwo, and\nthree".replace("\n", end.decode()), "hello"]
    odd = data.replace(b"two, and", b"two, and, b")
    with pytest.raises(UnsaidQuotesError):
        read(store(tmp_path / "d.csv", odd), number=True)
    assert "two, and, b" in read(tmp_path / "d.csv", number=True, quotes="fields")[0].text
    quoted = odd.replace(b"author,text,day", b'"author","text","day"')  # nobody's text says so
    assert "two, and, b" in read(store(tmp_path / "e.csv", quoted), number=True)[0].text


def test_the_header_of_one_table_says_nothing_of_another(tmp_path):
    (tmp_path / "t").mkdir()
    store(tmp_path / "t" / "a.csv", b'"author","text"\n"ada","hello"\n')
    store(tmp_path / "t" / "b.csv", b'author,text\nzz,"money\nx,hello\nzz,five"\n')
    with pytest.raises(UnsaidQuotesError):
        read(tmp_path / "t", number=True)


def test_a_table_of_one_column_has_a_row_a_line_unless_somebody_says_more(tmp_path):
    path = store(tmp_path / "c.csv", b'text\n"one\ntwo"\nthree\n')
    with pytest.raises(UnsaidQuotesError):
        read(path, number=True)
    assert [each.text for each in read(path, number=True, quotes="fields")] == ["one\ntwo", "three"]
    assert [each.text for each in read(path, number=True, quotes="letters")] == ['"one', 'two"', "three"]


def test_half_a_pair_costs_its_own_row_in_a_table_of_utf_16(tmp_path):
    """A form that cuts a text after so many units of UTF-16 cuts an emoji in two."""
    text = "author\ttext\nada\tcut \ud83d\nbob\twhole \U0001f600\n"
    path = store(tmp_path / "c.tsv", b"\xff\xfe" + text.encode("utf-16-le", "surrogatepass"))
    bad, good = read(path, number=True)
    assert (bad.reason.startswith("line 2: not UTF-16"), good.text) == (True, "whole \U0001f600")


@pytest.mark.parametrize("encoding", ["idna", "punycode", "unicode_escape", "raw_unicode_escape"])
def test_an_encoding_of_names_or_programs_is_refused(tmp_path, encoding):
    with pytest.raises(UsageError, match="no file of texts is written in"):
        open_corpus(store(tmp_path / "c.csv", b"text\na\n"), number=True, encoding=encoding)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_table_that_lacks_the_mark_of_its_encoding_is_refused(tmp_path, encoding):
    with pytest.raises(DocumentError, match=f"is not {encoding}: name another encoding"):
        open_corpus(store(tmp_path / "c.csv", b"text\na short one\n"), number=True, encoding=encoding)


@pytest.mark.parametrize("encoding", ["iso2022_jp", "utf-7", "hz"])
def test_an_encoding_in_which_one_text_changes_the_next_is_refused(tmp_path, encoding):
    with pytest.raises(UsageError, match="one text can change how those after it are read"):
        open_corpus(store(tmp_path / "c.csv", b"text\na\n"), number=True, encoding=encoding)


@pytest.mark.parametrize(
    ("header", "row"),
    [(b"author,text", b"zz,a,b,c"), (b"text,author", b"a,b,zz"), (b"author,text,day", b"zz,a,b,7")],
)
def test_who_wrote_a_text_that_holds_what_separates_columns_is_told(tmp_path, header, row):
    path = store(tmp_path / "c.csv", header + b"\n" + row + b"\n")
    ((_, found),) = open_corpus(path, number=True, keep=("author",)).rows()
    assert (found.fields, "fields where the header has" in found.problem) == ({"author": "zz"}, True)


@pytest.mark.parametrize(("end", "row"), [('b"\n', 10_002), ('b"c\n', 10_002), ("", None)])
def test_the_lines_of_a_row_are_counted_however_many_are_held_as_one(tmp_path, end, row):
    after = "" if row is None else "x,after\n"
    path = store(tmp_path / "c.csv", ('a,text\nx,"\n' + "b\n" * 9_999 + end + after).encode())
    places = [row.place for _, row in open_corpus(path, number=True).rows()]
    assert places == ["line 2", *([] if row is None else [f"line {row + 1}"])]


def test_a_quote_that_swallows_rows_is_refused_at_the_first_of_them(tmp_path):
    path = store(tmp_path / "c.csv", b'id,text\na,"canary\n' + b"x,canary\n" * 400_000)
    corpus = open_corpus(path)
    tracemalloc.start()
    try:
        with pytest.raises(UnsaidQuotesError):
            list(corpus)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**21  # what was read ahead of the file, and nothing of its rows


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"canary,7,more", "no columns called 'text' among 3"),
        (b"text,canary", "no columns called 'id' among 2"),
        (b"id,text,text", "2 columns called 'text' among 3"),
        (b"id text", "no columns called 'text' among 1, separated by commas"),
        (b'id,"text"x', "no columns called"),
    ],
)
def test_a_csv_without_its_header_is_refused(tmp_path, header, message):
    path = store(tmp_path / "c.csv", header + b"\n1,canary\n")
    with pytest.raises(DocumentError, match=message) as caught:
        read(path)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(("name", "wrap"), [("c.jsonl", '{{"id": 1, "text": "{}"}}'), ("c.txt", "{}")])
def test_a_document_that_is_too_long_is_passed_over(tmp_path, name, wrap):
    data = wrap.format(CANARY * 3_000_000).encode() + b'\n{"id": 2, "text": "short"}\n'
    bad, *after = read(store(tmp_path / name, data))
    assert "more than 16 MiB: split it" in bad.reason
    assert [document.id for document in after] == (["2"] if name == "c.jsonl" else [])


def test_a_txt_file_that_cannot_be_read_is_one_bad_document(tmp_path):
    store(tmp_path / "canary-1.txt", b"canary \xff")
    store(tmp_path / "canary-2.txt", b" \n")
    store(tmp_path / "canary-3.txt", b"fine")
    store(tmp_path / "canary-4.txt.gz", gzip.compress(b"canary " * 99, mtime=0)[:-9])
    first, second, third, fourth = read(tmp_path, encoding="utf-8")
    assert "part 4: gzip that is damaged" in str(fourth.error())
    assert str(first.error()) == "document 1: part 1: not UTF-8 at byte 8: convert the file to UTF-8"
    assert (second.id, third.id) == ("2", "3")
    assert CANARY not in f"{first.error()}{fourth.error()}{open_corpus(tmp_path).kind}"


def bad_parquet():
    return {
        "nested text": ({"id": ["x"], "text": [[CANARY]]}, "convert the column 'text'"),
        "binary text": ({"id": ["x"], "text": [CANARY.encode()]}, "convert the column 'text'"),
        "struct id": ({"id": [{CANARY: 1}], "text": ["t"]}, "convert the column 'id'"),
        "no text": ({"id": ["x"], CANARY: ["t"]}, "no columns called 'text'"),
    }


@pytest.mark.parametrize("case", bad_parquet())
def test_a_parquet_file_of_other_columns_is_refused(tmp_path, case):
    columns, message = bad_parquet()[case]
    with pytest.raises(DocumentError, match=message) as caught:
        read(store(tmp_path / "c.parquet", parquet(columns)))
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("column", ["id", "text"])
def test_a_null_in_parquet_is_one_bad_document(tmp_path, column):
    columns = {"id": ["a", "b", "c"], "text": ["one", CANARY, "three"]} | {column: ["a", None, "c"]}
    _, bad, after = read(store(tmp_path / "c.parquet", parquet(columns)))
    assert bad.reason.startswith(f"row 2: the {column} field '{column}' is null")
    assert after.id == "c"


def test_text_of_invalid_utf8_in_parquet_is_one_bad_document(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    raw = pyarrow.array([b"fine", b"canary\xff", b"too"])
    text = pyarrow.Array.from_buffers(pyarrow.string(), 3, raw.buffers())
    _, bad, after = read(store(tmp_path / "c.parquet", parquet({"id": [1, 2, 3], "text": text})))
    assert bad.reason == "row 2: not UTF-8: write the column as UTF-8"
    assert after.text == "too"


@pytest.mark.parametrize(
    "cut", [0, -9, pytest.param(3, marks=pytest.mark.long), pytest.param(40, marks=pytest.mark.long)]
)
def test_a_damaged_parquet_file_is_refused(tmp_path, cut):
    data = parquet({"id": ["x"] * 100, "text": [CANARY] * 100})
    corpus = open_corpus(store(tmp_path / "c.parquet", data[:cut]))
    for attempt in (lambda: list(corpus), lambda: corpus.count_hint):
        with pytest.raises(DocumentError, match="cannot be read as Parquet: write it again"):
            attempt()


def test_a_scrambled_parquet_page_is_refused_without_its_content(tmp_path):
    data = bytearray(
        parquet({"id": [str(i) for i in range(500)], "text": [f"{CANARY} {i}" for i in range(500)]})
    )
    data[4:400] = bytes(396)
    with pytest.raises(DocumentError, match="cannot be read as Parquet") as caught:
        read(store(tmp_path / "c.parquet", bytes(data)))
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("c.jsonl", b"", DocumentError),
        ("c.jsonl", b"\n \n", DocumentError),
        ("c.csv", b"", DocumentError),
        ("c.csv", b"id,text\n", DocumentError),
        ("c.jsonl.gz", jsonl(good(CANARY)), DataError),
        ("c.jsonl.gz", gzip.compress(jsonl(good(CANARY) | {"n": os.urandom(999).hex()}))[:-20], DataError),
        ("c.jsonl.gz", gzip.compress(b'{"id": 1, "text": "' + b"a" * 30_000_000 + b'"}', mtime=0), DataError),
    ],
)
def test_a_file_without_documents_or_damaged_is_refused(tmp_path, name, data, error):
    with pytest.raises(error, match=r"c\.(jsonl|csv)") as caught:
        read(store(tmp_path / name, data))
    assert caught.value.exit_code == 65
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("name", ["c.rtf", "c", "c.parquet.gz", "c.txt.canary", ".gz"])
def test_an_unknown_kind_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match=r"give files of one kind of \.txt, \.jsonl") as caught:
        open_corpus(store(tmp_path / name, b"x"))
    assert ".canary:" not in str(caught.value)


def test_folders_of_several_kinds_are_refused(tmp_path):
    with pytest.raises(UsageError, match="holds nothing that can be read"):
        open_corpus(tmp_path)
    store(tmp_path / "a.txt", b"x")
    store(tmp_path / "canary.csv", b"x")
    with pytest.raises(UsageError, match=r"holds \.csv, \.txt") as caught:
        open_corpus(tmp_path)
    assert CANARY not in str(caught.value)
    (tmp_path / "canary.csv").unlink()
    (tmp_path / "canary").mkdir()
    assert [item.id for item in open_corpus(tmp_path)] == ["1"]


def test_a_path_that_is_not_there_or_no_file_is_refused(tmp_path):
    with pytest.raises(StorageError, match="check the name"):
        open_corpus(tmp_path / "missing.jsonl")
    with pytest.raises(UsageError, match="no path"):
        open_corpus("a\0b")
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        open_corpus(tmp_path / "pipe.jsonl")


def test_a_file_that_goes_away_is_a_storage_error(tmp_path):
    for name, data in (("c.jsonl", jsonl(*GOOD)), ("c.parquet", parquet({"id": ["x"], "text": ["t"]}))):
        corpus = open_corpus(store(tmp_path / name, data))
        (tmp_path / name).unlink()
        with pytest.raises(StorageError, match="check the name"):
            list(corpus)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"keep": ["text"]}, PolicyError, "private text"),
        ({"id_field": "text"}, PolicyError, "private text"),
        ({"keep": ["topic", "topic"]}, UsageError, "once"),
        ({"keep": ["id"]}, UsageError, "once"),
        ({"keep": "topic"}, UsageError, r"give \['topic'\]"),
    ],
)
def test_fields_that_do_not_fit_are_refused(tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        open_corpus(store(tmp_path / "c.jsonl", jsonl(*GOOD)), **options)


def test_txt_has_no_fields_to_keep(tmp_path):
    with pytest.raises(UsageError, match=r"use \.jsonl"):
        open_corpus(store(tmp_path / "c.txt", b"x"), keep=["topic"])


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary() | st.text('"{}[],:\\\n\r id text1\x00').map(str.encode),
    st.sampled_from(["jsonl", "csv", "txt"]),
)
def test_any_bytes_give_documents_or_typed_errors(tmp_path, data, kind):
    header = b"id,text\n" if kind == "csv" else b""
    try:
        documents = read(store(tmp_path / f"c.{kind}", header + data))
    except DataError:
        return
    assert [document.position for document in documents] == list(range(1, len(documents) + 1))


@pytest.mark.parametrize(
    "suffix", ["jsonl.gz", *(pytest.param(each, marks=pytest.mark.long) for each in ("csv", "jsonl"))]
)
def test_reading_holds_no_more_than_a_document(tmp_path, suffix):
    """20,000 documents of 1 kB are 20 MB; the ids that were met take under 100 bytes each."""
    rows = (("x" * (i % 7) + f" {i} " + "word " * 200, i) for i in range(20_000))
    if suffix == "csv":
        data = b"id,text\n" + b"".join(f'{i},"{text}"\n'.encode() for text, i in rows)
    else:
        data = b"".join(json.dumps({"id": i, "text": text}).encode() + b"\n" for text, i in rows)
    path = store(tmp_path / f"c.{suffix}", gzip.compress(data, 1, mtime=0) if suffix.endswith("gz") else data)
    tracemalloc.start()
    try:
        count = sum(isinstance(document, Document) for document in open_corpus(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 20_000
    assert (
        peak < 8 * 2**20
    )  # the ids, and a table's first bytes, which are looked at for separator and encoding


MIB = 2**20


def parquet_bomb(path, kind):
    """What unpacks to 4 GB, or to 600 MB of pages, which take their time to be packed; the file has kilobytes."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    count, text = (1360, "a" * (3 * MIB)) if kind == "dictionary" else (272, "a" * (15 * MIB))
    count = 40 if kind == "pages" else count
    ids = [str(number) for number in range(count)]
    if kind.startswith("dictionary"):
        texts = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), [text])
        pq.write_table(pa.table({"id": ids, "text": texts}), path, compression="zstd")
    elif kind == "pages":
        schema = pa.schema([("id", pa.string()), ("text", pa.string())])
        with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as writer:
            for start in range(0, count, 8):
                rows = ids[start : start + 8]
                writer.write_table(pa.table({"id": rows, "text": [text] * len(rows)}, schema))
    else:
        rows = 20_000_000
        texts = pa.nulls(rows, pa.string())
        pq.write_table(pa.table({"id": texts, "text": texts}), path, compression="zstd")
    assert path.stat().st_size < 400_000
    return path


READ_WHOLE = """
import sys, time
from publius.documents.corpus import open_corpus
from publius.errors import DocumentError
import pyarrow.parquet
def most():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
before = most()
start, count = time.process_time(), 0
try:
    for document in open_corpus(sys.argv[1], number=False):
        count += 1
except DocumentError as error:
    print("refused:", error)
print(count, (most() - before) // 1024, time.process_time() - start)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="there is no /proc to measure memory by")
@pytest.mark.parametrize(
    ("kind", "rows", "most"),
    [
        pytest.param("dictionary", 22, 36, marks=pytest.mark.long),
        ("dictionary of a longer text", 4, 160),
        pytest.param("pages", 0, 20, marks=pytest.mark.long),
        ("empty rows", 0, 20),
    ],
)
def test_a_parquet_bomb_is_refused_before_it_fills_the_memory(tmp_path, kind, rows, most):
    """Measured in a process of its own, in MiB beyond what it had; 64 may be unpacked."""
    bomb = parquet_bomb(tmp_path / "bomb.parquet", kind)
    run = subprocess.run([sys.executable, "-c", READ_WHOLE, bomb], capture_output=True, text=True, check=True)
    refusal, found = run.stdout.splitlines()
    read, mebibytes, _ = found.split()
    assert "more than 200 times as many" in refusal
    assert int(read) <= rows
    assert int(mebibytes) < most


def lying(path):
    """The footer of a Parquet file made to say that its texts have 1,000 bytes, in numbers as long as before."""
    parquet_module = pytest.importorskip("pyarrow.parquet")
    found, data = parquet_module.read_metadata(path), bytearray(path.read_bytes())
    groups = [found.row_group(number) for number in range(found.num_row_groups)]

    def number(value, length=0):
        left, coded = value << 1, bytearray()  # zigzag, then seven bits a byte, the lowest first
        while left > 127 or len(coded) < length - 1:
            coded.append(left & 127 | 128)
            left >>= 7
        return bytes([*coded, left])

    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer = bytes(data[start:-8])
    for size in {
        each for group in groups for each in (group.total_byte_size, group.column(1).total_uncompressed_size)
    }:
        footer = footer.replace(number(size), number(1000, len(number(size))))
    data[start:-8] = footer
    path.write_bytes(data)
    assert parquet_module.read_metadata(path).row_group(0).column(1).total_uncompressed_size == 1000
    return path


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="there is no /proc to measure memory by")
def test_a_parquet_footer_that_lies_is_found_out_by_the_pages(tmp_path):
    """It was 1.2 GB: what the footer says was believed."""
    bomb = lying(parquet_bomb(tmp_path / "bomb.parquet", "pages"))
    run = subprocess.run([sys.executable, "-c", READ_WHOLE, bomb], capture_output=True, text=True, check=True)
    refusal, found = run.stdout.splitlines()
    assert "declares more than 200 times as many" in refusal
    assert (int(found.split()[0]), int(found.split()[1]) < 20) == (0, True)


@pytest.mark.parametrize("compression", ["none", "zstd", "snappy"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_declare_what_an_honest_footer_does(tmp_path, compression, version):
    """All of a chunk but the headers of its pages, which the footer counts too."""
    from publius.documents.parquet_pages import unpacked_size

    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    texts = [f"text {i} " * (i % 700) for i in range(3000)]
    table = pa.table({"id": list(map(str, range(3000))), "text": texts, "kind": ["a", None, "b"] * 1000})
    path = tmp_path / "c.parquet"
    pq.write_table(
        table,
        path,
        compression=compression,
        data_page_version=version,
        row_group_size=1000,
        data_page_size=10_000,
    )
    metadata = pq.read_metadata(path)
    with path.open("rb") as file:
        for group in map(metadata.row_group, range(3)):
            for column in map(group.column, range(3)):
                size = column.total_uncompressed_size
                assert 0.9 * size - 200 < unpacked_size(file.fileno(), column) <= size


SPOILED = (0, 0x15, 0x9C, 0xFF)


@pytest.mark.parametrize(
    ("stride", "bytes_a_place"), [(16, 1), pytest.param(1, len(SPOILED), marks=pytest.mark.long)]
)
def test_pages_whose_headers_are_damaged_are_refused_or_read(tmp_path, stride, bytes_a_place):
    """Never a crash, a hang or a word of the text: at places of the header, by one byte in turn or by each."""
    whole, told = parquet({"id": ["x"] * 100, "text": [CANARY] * 100}), []
    for place in range(4, 60, stride):
        for number in range(bytes_a_place):
            data = bytearray(whole)
            data[place] = SPOILED[(place // stride + number) % len(SPOILED)]
            try:
                read(store(tmp_path / "c.parquet", bytes(data)))
            except DocumentError as error:
                told.append(str(error))
    assert len(told) > 5 * bytes_a_place / stride
    assert CANARY not in "".join(told)


def test_parquet_of_repeated_labels_and_long_texts_is_read(tmp_path):
    """What dictionaries are for: 20,000 rows of two labels, from a file of some kilobytes; and real text."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = 20_000
    pq.write_table(
        pa.table({"id": pa.array(range(rows)), "text": ["spam", "ham"] * (rows // 2)}),
        tmp_path / "labels.parquet",
    )
    assert sum(1 for _ in open_corpus(tmp_path / "labels.parquet")) == rows
    rng = seeded_rng(4)
    texts = [rng.integers(97, 123, MIB, np.uint8).tobytes().decode() for _ in range(5)]
    pq.write_table(pa.table({"id": list("abcde"), "text": texts}), tmp_path / "long.parquet")
    assert [document.text for document in open_corpus(tmp_path / "long.parquet")] == texts


READ_PACKED = """
import resource, sys
from publius.documents.corpus import BadDocument, open_corpus
from publius.errors import DataError
for path in sys.argv[1:]:
    try:
        found = [each for each in open_corpus(path, number=True)]
        read = sum(not isinstance(each, BadDocument) for each in found)
    except DataError:
        read = 0
    print(read)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
own = int(status["VmHWM"].split()[0])  # ru_maxrss of a process begins with that of whoever started it
print((own + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) // 1024)
"""


@pytest.mark.long  # it packs 64 MiB for each kind
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured in KiB on Linux")
def test_a_packed_file_counts_as_what_it_unpacks_to(tmp_path):
    """64 MiB in less than 100 KiB of each kind that may be packed: refused, in the memory that 16 MiB take."""
    piece = {".html": b"<p>a", ".htm": b"<p>a", ".csv": b"a,a\n", ".tsv": b"a\ta\n", ".eml": b"a: b\n"}
    lines = b'{"text": "a"}\n'
    paths = []
    for kind in sorted(PACKED):
        unit = piece.get(kind, lines if kind in LINES else b"a ") * 2**16
        head = {".csv": b"id,text\n", ".tsv": b"id\ttext\n"}.get(kind, b"")
        paths.append(tmp_path / f"bomb{kind}.gz")
        with gzip.open(paths[-1], "wb", compresslevel=6) as stream:
            stream.write(head)
            for _ in range(2**26 // len(unit)):
                stream.write(unit)
        assert paths[-1].stat().st_size * 200 < 2**26
    run = subprocess.run(
        [sys.executable, "-c", READ_PACKED, *paths], capture_output=True, text=True, check=True
    )
    *read, mebibytes = map(int, run.stdout.split())
    assert read == [0] * len(paths), dict(zip(sorted(PACKED), read, strict=True))
    assert mebibytes < 500, "the processes together"


def test_a_file_is_the_same_where_its_place_or_permissions_changed_and_another_where_it_was_written(tmp_path):
    """The system notes both: what the explorer moves to where it keeps it, and a curator protects, holds the same."""
    path = store(tmp_path / "c.jsonl", jsonl({"id": "x", "text": "river"}))
    corpus = open_corpus(path)
    state = corpus.state()
    path.chmod(0o400)
    os.link(path, tmp_path / "other.jsonl")
    corpus.check_unchanged(state)
    path.chmod(0o600)
    path.write_text(path.read_text() + "\n")
    with pytest.raises(DocumentError, match="changed while it was read"):
        corpus.check_unchanged(state)
