"""Each kind of file as its format says: what becomes a document, and what is said when it cannot."""

import csv
import gzip
import json
import os
import pickle

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from publius.documents import corpus as corpus_module
from publius.documents.corpus import open_corpus
from publius.documents.document import LOST
from publius.documents.sources import Source
from publius.documents.tables import Stored
from publius.errors import DataError, StorageError, UsageError
from publius.settings import Reading
from publius.text.normal_form import LONGEST_TEXT, Tally


def texts(source, reading=Reading(), **fields):
    return [each.text for each in open_corpus(source, reading, **fields)]


@pytest.fixture
def file(tmp_path):
    def write(data, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write


# Tables ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [("text\na\nb\n", ["a", "b"]), ("text\r\na\r\nb", ["a", "b"]), ("id,text\n1,a\n\n2,b\n", ["a", "b"]),
     ("text\n\na\n", ["", "a"]), ('text,id\n"a, ""b""\nc",1\n', ['a, "b"\nc']),
     ('text,id\n5 o\'clock "sharp",1\n', ['5 o\'clock "sharp"']), ("id;text\n1;a, b\n", ["a, b"]),
     ("id\ttext\n1\ta; b\n", ["a; b"]), ("id|text\n1|a\n", ["a"]), ("sep=;\r\nid,x;text\r\n1;a\r\n", ["a"]), ('"a;b;c",text\n1,x\n', ["x"]),
     ("id,text,\n1,a,\n2,b,\n", ["a", "b"]), ("id,text\n1,\n2,NULL\n", ["", "NULL"]), ('id,text\n1,""\n', [""])],
)  # fmt: skip
def test_rows_of_a_table(file, data, expected):
    assert texts(file(data)) == expected


@pytest.mark.parametrize(
    ("data", "said"),
    [("id,text\n1,a,b\n", "row 2: 3 fields where the header has 2"),
     ("id,text\n1,a\n2\n", "row 3: 1 field where the header has 2"),
     ("sep=;\nid;text\n1;a\n2\n", "row 4: 1 field where the header has 2"),
     ('id,text\n1,"a" b\n', "row 2: text after a closing quotation mark"),
     ('id,text\n1,a\n2,"b\n3,c\n', "row 3: a field is never closed")],
)  # fmt: skip
def test_a_broken_table_is_refused_with_its_row_and_a_way_out(file, data, said):
    with pytest.raises(DataError, match="--quotes none") as error:
        texts(file(data))
    assert said in str(error.value)


def test_without_quotation_marks_each_line_is_a_row(file):
    path = file('id,text\n1,"a\n2,b" c\n')
    assert texts(path, Reading(quotes="none")) == ['"a', 'b" c']
    with pytest.raises(DataError, match="and leave --quotes out"):
        texts(file("id,text\n1\n"), Reading(quotes="none"))


def test_marks_after_a_backslash_are_read_where_they_are_said_to_be(file):
    """As the CSV of Spark, Hive and MySQL has them."""
    some = 'text,who\nopen,A\n"he said \\"hi\\", left","B"\n"x\\",EVIL\nclosed,Victim\ny",C\n'
    corpus = open_corpus(file(some), Reading(quotes="backslash"), author_field="who")
    read = [("open", "A"), ('he said "hi", left', "B"), ('x",EVIL\nclosed,Victim\ny', "C")]
    assert [(each.text, each.author) for each in corpus] == read
    with pytest.raises(DataError, match=r"row 3: .*--quotes backslash"):
        texts(file(some))


def test_an_encoding_is_each_rows_own(file):
    rows = ["text,id", "Größe,1", "café,2", "\x81 „so“,3"]
    path = file(b"\n".join([rows[0].encode(), rows[1].encode(), rows[2].encode("cp1252"), b"\x81 \x84so\x93,3"]))
    corpus = open_corpus(path)
    assert [each.text for each in corpus] == ["Größe", "café", "\x81 „so“"]
    assert [(note.what[:22], note.count) for note in corpus.notes()] == [("rows that are not UTF-", 2)]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32"])
@pytest.mark.parametrize("name", ["data.csv", "data.jsonl", "data.json", "data.txt"])
def test_a_mark_or_the_nulls_of_utf16_decide_a_whole_file(file, encoding, name):
    rows = [{"text": "été 北京"}, {"text": "b"}]
    data = {
        "data.csv": "id,text\r\n1,été 北京\r\n2,b\r\n", "data.txt": "été 北京",
        "data.json": json.dumps(rows, ensure_ascii=False),
        "data.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
    }[name]  # fmt: skip
    assert texts(file(data.encode(encoding), name))[0] == "été 北京"


def test_a_typed_encoding_decides_and_refuses_no_row(file):
    path = file("id,text\n1,1 €\n2,b".encode("iso-8859-15") + b"\xff")
    assert texts(path, Reading(encoding="iso-8859-15")) == ["1 €", "bÿ"]
    assert texts(path, Reading(encoding="utf-8")) == ["1 \ufffd", "b\ufffd"]
    assert [each.what for each in open_corpus(path, Reading(encoding="utf-8")).notes()] == [LOST]
    with pytest.raises(UsageError, match="no encoding"):
        texts(path, Reading(encoding="rot13"))
    for name in ("data.csv", "data.jsonl", "data.json"):
        with pytest.raises(DataError, match="byte order mark says utf-16"):
            texts(file('{"text": "a"}\n'.encode("utf-16"), name), Reading(encoding="utf-8"))


def test_null_characters_go_and_are_said(file):
    path = file(b"id,text\n1,a\x00b\n2,c\n")
    corpus = open_corpus(path)
    assert [each.text for each in corpus] == ["ab", "c"]
    assert "null characters" in corpus.notes()[0].what
    assert texts(file(b'{"text": "a\x00b\\u0000"}\n{"text": "c"}\n', "data.jsonl")) == ["ab", "c"]


def test_a_header_further_down_and_a_delimiter_by_name(file):
    path = file("Export of March\n\nid;text\n1;a\n")
    assert texts(path, Reading(header_row=3)) == ["a"]
    assert texts(file("id~text\n1~a\n"), Reading(delimiter="~")) == ["a"]
    assert texts(file("id\ttext\n1\ta, b, c\n", "data.txt"), Reading(delimiter="tab")) == ["a, b, c"]
    with pytest.raises(UsageError, match="one character"):
        texts(path, Reading(delimiter="::"))
    with pytest.raises(UsageError, match="from 1"):
        texts(path, Reading(header_row=0))


def test_further_header_rows_of_a_survey_platform_are_no_people(file):
    ids = ['"{""ImportId"":""startDate""}"', '"{""ImportId"":""_recordId""}"', '"{""ImportId"":""QID1""}"']
    head = ["StartDate,ResponseId,Q1", "Start,Response ID,Your words?", ",".join(ids)]
    path = file("\n".join([*head, *(f"2026-03-0{n},R_{n},words {n}" for n in range(1, 5))]))
    corpus = open_corpus(path, Reading(text_field="Q1"), author_field="ResponseId")
    assert [each.author for each in corpus] == ["R_1", "R_2", "R_3", "R_4"]
    assert [(note.count, note.where) for note in corpus.notes()] == [(2, "rows 2 and 3")]
    assert len(texts(path, Reading(text_field="Q1", header_row=1))) == 6
    assert len(texts(path, Reading(text_field="Q1", header_row="1-3"))) == 4
    assert len(texts(file(path.read_text().replace("ImportId", "importId")), Reading(text_field="Q1"))) == 4
    forged = file("\n".join([head[0], head[1], f"2026,R_1,{ids[2]}", "2026,R_2,b"]))
    assert len(texts(forged, Reading(text_field="Q1"))) == 3


# Columns --------------------------------------------------------------------------------------------------


def test_the_column_of_texts_is_named_or_called_text_or_alone(file):
    assert texts(file("words\na\n")) == ["a"]
    assert texts(file("id,body,n\n1,a longer one,2\n"), Reading(text_field="body")) == ["a longer one"]
    with pytest.raises(DataError) as error:
        texts(file("id,body\n1,a longer one\n"))
    assert str(error.value) == "No column text. Found: id, body. Use --text-field body."
    with pytest.raises(DataError, match=r"No column Body\. Found: id, body\."):
        texts(file("id,body\n1,a\n"), Reading(text_field="Body"))


def test_columns_of_one_name_are_read_together(file):
    path = file("key,Comment,Labels,Comment,Labels\n1,a,x,,\n2,,,b,y\n3,c,,d,\n4,,,,\n")
    corpus = open_corpus(path, Reading(text_field="Comment"), fields=["Labels", "key"])
    assert corpus.columns == ("key", "Comment", "Labels")
    assert [each.text for each in corpus] == ["a", "b", "c\n\nd", ""]
    assert [each.fields for each in corpus][:2] == [{"Labels": "x", "key": "1"}, {"Labels": "y", "key": "2"}]
    assert [(note.what, note.count, note.where) for note in corpus.notes()] == [
        ("columns of one name, whose cells are read together", 4, "Comment (2), Labels (2)")
    ]


def test_names_in_several_rows(file):
    path = file("id,What could we do better?,Services,\n,Open-Ended Response,Bus,Clinic\n7,a,Bus,\n8,b,,Clinic\n")
    corpus = open_corpus(path, Reading(header_row="1-2", text_field="What could we do better?"), author_field="id")
    assert corpus.columns == ("id", "What could we do better?", "Services", "Clinic")
    assert [(each.author, each.text) for each in corpus] == [("7", "a"), ("8", "b")]
    path = file("Export\nid,text\n,words\n1,a\n")
    assert texts(path, Reading(header_row="2-3")) == ["a"]
    assert texts(path, Reading(header_row="2")) == texts(path, Reading(header_row=2)) == ["words", "a"]
    for typed in ("0", "2-1", "0-1", "1,2", "a", "-1", "1-"):
        with pytest.raises(UsageError, match="counts from 1: 3, or 1-3"):
            texts(path, Reading(header_row=typed))


def test_no_text_of_a_table_without_a_header_is_in_the_error(file):
    with pytest.raises(DataError, match="publius inspect lists it") as error:
        texts(file("1,a1,the train from Ulm was late again and nobody was there\n2,a2,b\n"))
    assert "Ulm" not in str(error.value)


def test_any_column_may_be_the_author_and_none_must_be(file):
    path = file("id,who,text\n1, Ada ,a\n2,,b\n3,ada,c\n4,N/A,d\n")
    assert [each.author for each in open_corpus(path, author_field="who")] == [" Ada ", None, "ada", "N/A"]
    assert texts(path, author_field="who", no_author=["n/a,"]) == ["a", "c"]
    kept = open_corpus(path, author_field="who", no_author=["ADA"], id_field="id", fields=["who"])
    assert [(each.row, each.id, each.fields) for each in kept] == [(0, "2", {"who": ""}), (1, "4", {"who": "N/A"})]
    typed = open_corpus(path, author_field="who", no_author=["(empty),ada"])
    assert [(each.count, each.where) for each in typed.notes()] == [(1, "'(empty)'")]
    assert [len(batch) for batch in kept.batches(1)] == [1, 1]
    with pytest.raises(DataError, match="No column writer"):
        open_corpus(path, author_field="writer")


def test_each_document_is_its_own_author_where_nothing_is_called_id(file):
    assert [each.author for each in open_corpus(file("text\na\nb\n"), author_field="id")] == ["\0000", "\0001"]
    assert [each.author for each in open_corpus(file("id,text\nx,a\n"), author_field="id")] == ["x"]
    some = file('{"text": "a"}\n{"text": "b", "id": 1}\n{"text": "c"}\n', "a.jsonl")  # one record decides no other
    assert [each.author for each in open_corpus(some, author_field="id")] == ["\x000", "1", "\x002"]


def test_one_odd_byte_decides_its_own_cell_alone(file):
    row = "Zo\u00eb,caf".encode() + b"\xe9\n"
    found = open_corpus(file(b"who,text\n" + row), author_field="who", fields=["who"])
    assert [(each.author, each.text) for each in found] == [("Zo\u00eb", "caf\u00e9")]
    line = '{"who": "Zo\u00eb", "text": "caf'.encode() + b'\xe9"}\n'
    assert [(each.author, each.text) for each in open_corpus(file(line, "a.jsonl"), author_field="who")] == [
        ("Zo\u00eb", "caf\u00e9")
    ]


def test_a_column_alone_has_no_delimiter(file):
    path = file('text\nopen\nI waited, and left; twice\n"in marks, and\nlines"\n')
    assert texts(path) == ["open", "I waited, and left; twice", "in marks, and\nlines"]


def test_an_object_with_a_text_is_one_document_whatever_lists_it_has(file):
    path = file('{"body": "a", "attachments": [{"name": "x"}, {"name": "y"}]}', "a.json")
    assert texts(path, reading=Reading(text_field="body")) == ["a"]
    path = file('{"answers": [{"a": "x"}, {"a": "y"}]}', "b.json")
    assert texts(path, reading=Reading(text_field="answers[].a")) == ["x\n\ny"]
    assert texts(file('{"rows": [{"text": "a"}, {"text": "b"}], "by": [{"name": "x"}]}', "c.json")) == ["a", "b"]
    with pytest.raises(DataError, match="Use --text-field review"):
        texts(file('{"rows": [{"review": "a", "n": 1}, {"review": "b", "n": 1}]}', "d.json"))
    assert texts(path.with_name("d.json"), reading=Reading(text_field="review")) == ["a", "b"]


# JSON -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"text": "a"}', "a"), ('{"text": null}', ""), ('{"id": 1}', ""), ('{"text": 12}', "12"), ('{"text": 1.5}', "1.5"),
        ('{"text": true}', "true"), ('{"text": ["a"]}', ""), ('{"text": {"a": 1}}', ""), ('{"text": "\\ud800x"}', "?x"),
        ('{"text": "a\tb"}', "a\tb"), ('{"text": "a", "n": NaN}', "a"), ('{"text": "a", "n": 1e999}', "a"),
        ('{"text": "a", "n": %s}' % ("9" * 5000), "a"), ('{"text": %s}' % ("9" * 5000), "9" * 5000),
        ('{"text": "a", "text": "b"}', "b"), ('{"deep": ' + "[" * 10**5 + "]" * 10**5 + ', "text": "a"}', ""),
    ],
)  # fmt: skip
def test_no_value_of_a_line_refuses_it(file, line, expected):
    data = f'{{"text": "first"}}\n{line}\n\n{{"text": "last"}}\n'
    assert texts(file(data, "data.jsonl")) == ["first", expected, "last"]


@pytest.mark.parametrize("line", ["not json", '{"text": "a"', '{"text": "a"} {"text": "b"}'])
def test_a_line_that_is_no_json_is_refused_with_its_number(file, line):
    with pytest.raises(DataError, match=r"line 2: .*object a line"):
        texts(file(f'{{"text": "secret"}}\n{line}\n', "data.jsonl"))


def test_paths_lead_into_nested_values(file):
    row = {
        "person": {"key": "p1"},
        "answers": [{"q": "why", "a": "one"}, {"q": "what", "a": None}, {"a": "two"}],
        "a.b": "dot",
    }
    path = file(json.dumps(row) + "\n" + json.dumps({"answers": [{"a": 3}]}) + "\n", "data.jsonl")
    corpus = open_corpus(path, Reading(text_field="answers[].a"), author_field="person.key", fields=["a.b"])
    assert [(each.text, each.author, each.fields["a.b"]) for each in corpus] == [
        ("one\n\ntwo", "p1", "dot"),
        ("3", None, None),
    ]
    assert corpus.columns == ("person.key", "answers[].q", "answers[].a", "a.b")
    with pytest.raises(DataError, match=r"Found: person\.key, answers\[\]\.q, answers\[\]\.a, a\.b\."):
        open_corpus(path)


@pytest.mark.parametrize("name", ["data.jsonl", "data.json"])
def test_a_column_of_later_rows_alone_is_taken_when_it_is_named(file, name):
    rows = [{"id": n} for n in range(450)] + [{"body": {"words": "late"}, "who": "ada"}]
    data = json.dumps(rows) if name == "data.json" else "".join(json.dumps(row) + "\n" for row in rows)
    corpus = open_corpus(file(data, name), Reading(text_field="body.words"), author_field="who")
    assert [(each.text, each.author) for each in corpus][-2:] == [("", None), ("late", "ada")]
    with pytest.raises(DataError, match="No column whom"):
        open_corpus(file(data, name), Reading(text_field="id"), author_field="whom")


@pytest.mark.parametrize("data", [[{"text": "a"}, {"text": None}], ["a", ""], {"n": 2, "rows": [{"text": "a"}, {}]}])
def test_a_json_file_holds_a_list(file, data):
    assert texts(file(json.dumps(data, indent=2), "data.json")) == ["a", ""]


@pytest.mark.parametrize("data", ["3", '"a"', "[" * 10**5, "{", "[{}", ""])
def test_another_json_file_is_refused(file, data):
    with pytest.raises(DataError):
        texts(file(data, "data.json"))


# Where they lie -------------------------------------------------------------------------------------------


def test_a_folder_of_texts_and_their_names_as_ids_where_asked(tmp_path):
    for name in ("b.txt", "a.TXT", ".hidden.txt", "picture.png"):
        (tmp_path / name).write_text(name)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.txt").write_text("c")
    corpus = open_corpus(tmp_path, id_field="id")
    assert [(each.id, each.text) for each in corpus] == [("a", "a.TXT"), ("b", "b.txt")]
    assert {note.count for note in corpus.notes()} == {1}
    assert [each.id for each in open_corpus(tmp_path)] == [None, None]
    assert texts(tmp_path, Reading(subfolders=True)) == ["a.TXT", "b.txt", "c"]


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("a.doc", ".docx"),
        ("a.odt", ".docx"),
        ("a.msg", ".eml"),
        ("a.rtf", ".docx"),
        ("a.zip", "folder"),
        ("a.tar.gz", "folder"),
    ],
)
def test_a_kind_that_is_not_read_says_what_to_save_it_as(file, name, way_out):
    with pytest.raises(DataError, match=f"save it as .*{way_out}"):
        texts(file(b"\xd0\xcf\x11\xe0", name))
    with pytest.raises(DataError, match=rf"save \.\w+ as .*{way_out}"):
        texts(file(b"", name).parent)
    file("a", "b.txt")
    corpus = open_corpus(file(b"", name).parent)
    assert [each.text for each in corpus] == ["a"]
    assert [(each.count, way_out in each.what) for each in corpus.notes()] == [(1, True)]


def test_what_is_not_there_or_empty(tmp_path, file):
    with pytest.raises(StorageError, match="check the name"):
        texts(tmp_path / "absent.csv")
    for name in ("data.csv", "data.jsonl", "data.json", "data"):
        with pytest.raises(DataError):
            texts(file("", name))
    for name in ("data.csv", "data.jsonl"):
        with pytest.raises(DataError, match="holds no"):
            texts(file("id,text\n" if name.endswith("csv") else "\n\n", name))
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match="no file that is read"):
        texts(tmp_path / "folder")
    (tmp_path / "folder" / "below").mkdir()
    with pytest.raises(DataError, match="--subfolders"):
        texts(tmp_path / "folder")
    with pytest.raises(UsageError):
        texts([])


def test_an_empty_list_counts_as_no_documents_and_a_file_without_the_column_is_named(file, tmp_path):
    file('[{"text": "a"}]', "a.json")
    file("[]", "b.json")
    corpus = open_corpus(tmp_path)
    assert [each.text for each in corpus] == ["a"]
    assert [(each.what, each.count) for each in corpus.notes()] == [("files without any document", 1)]
    file("id,name\n1,b\n", "c.csv")
    with pytest.raises(DataError, match=r"c\.csv.*: No column text\. Found: id, name\."):
        texts(tmp_path)


def test_the_content_tells_where_no_name_does(file):
    assert texts(file('{"text": "a"}\n{"text": "b"}\n', "data")) == ["a", "b"]
    assert texts(file('[{"text": "a"}]', "data.export")) == ["a"]
    assert texts(file("id,text\n1,a\n", "data.dat")) == ["a"]
    letter = "Dear Sir, I write, again, about the train.\nYours, A.\n"
    assert texts(file(letter, "letter")) == [letter]
    assert texts(file(letter, "letter"), Reading(lines=True)) == letter.splitlines()
    assert texts(file('{"text": "a"}\n{"text": "b"}\n', "data.json")) == ["a", "b"]


def test_lines_of_a_text_are_documents_each_with_its_encoding(file):
    assert texts(file(b"caf\xe9\r\n\nGr\xc3\xb6\xc3\x9fe", "a.txt"), Reading(lines=True)) == [
        "café", "", "Größe",
    ]  # fmt: skip


# The corpus -----------------------------------------------------------------------------------------------


def test_batches_travel_and_hold_what_iterating_gives(file):
    rows = [{"id": n, "text": f"text {n}", "n": n} for n in range(25)]
    path = file("".join(json.dumps(row) + "\n" for row in rows), "data.jsonl")
    corpus = open_corpus(path, id_field="id", fields=["n"])
    for size in (1, 7, 1000):
        batches = [pickle.loads(pickle.dumps(each)) for each in corpus.batches(size)]
        assert [len(each) for each in batches][:1] == [min(size, 25)]
        found = [document for batch in batches for document in batch.documents()]
        assert found == list(corpus)
        assert [each.row for each in found] == [*range(25)]
        assert [batch.first for batch in batches] == [*range(0, 25, size)]
    assert corpus.counted == 25
    assert repr(found[0]) == "Document(row=0)"


def test_batches_of_plain_lines_are_places_and_hold_no_text(file, monkeypatch):
    monkeypatch.setattr("publius.documents.plain.MOST_AT_ONCE", 100)
    data = b"\xef\xbb\xbf" + b" \n" * 200 + b"".join(
        b'%s{"text": "ice %d caf\xe9"}\n' % (b"\n \n" * (n % 3), n) for n in range(40)
    ) + b'{"text": "' + b"long " * 60 + b'"}\n{"text": "end"}'  # fmt: skip
    corpus = open_corpus(file(data, "data.jsonl"))
    wanted = [f"ice {n} café" for n in range(40)] + ["long " * 60, "end"]
    batches = [pickle.dumps(each) for each in corpus.batches(3)]
    assert not any(b"ice" in each for each in batches)
    found = [pickle.loads(each) for each in batches]
    assert all(0 < len(each) <= 3 for each in found)
    assert [each.text for batch in found for each in batch.documents()] == wanted
    assert [each.row for batch in found for each in batch.documents()] == [*range(42)]
    assert [each.text for each in corpus] == wanted
    assert [note.count for note in corpus.notes()] == [40]


@pytest.mark.parametrize("kind", ["csv", "txt", "jsonl"])
def test_a_batch_of_places_is_read_in_a_process_that_has_opened_nothing(file, kind):
    long = "long " * 40_000
    data = {
        "csv": f'text\n"a\n{long}"\nb\n', "txt": f"a {long}\nb\n",
        "jsonl": json.dumps({"text": f"a {long}"}) + '\n{"text": "b"}\n',
    }[kind]  # fmt: skip
    corpus = open_corpus(file(data, f"data.{kind}"), Reading(lines=kind == "txt"))
    sent = [pickle.dumps(each) for each in corpus.batches(1)]
    assert not any(b"long" in each for each in sent)
    csv.field_size_limit(2**17)
    assert [each.text.split() for some in sent for each in pickle.loads(some).documents()] == [
        ["a", *long.split()],
        ["b"],
    ]


_PIECES = st.sampled_from(
    [
        b'"',
        b'""',
        b",",
        b";",
        b"\n",
        b"\r\n",
        b"\r",
        b"\0",
        b"a",
        b" ",
        "é".encode(),
        b"\xe9",
        b"\xef\xbb\xbf",
        b"1,",
        b'"a\nb"',
        b"{}",
    ]
)


@given(
    body=st.lists(_PIECES, max_size=30).map(b"".join), size=st.integers(1, 4),
    header=st.sampled_from([b"id,text\n", b"\xef\xbb\xbftext\r\n", b"sep=;\r\nid;text\r\n", b'text,"a\nb",text\n', b"id,text\r"]),
    reading=st.sampled_from(
        [Reading(), Reading(quotes="none"), Reading(quotes="backslash"), Reading(encoding="utf-8"), Reading(encoding="cp1252"),
         Reading(delimiter="\u00a7"), Reading(lines=True), Reading(lines=True, encoding="utf-8")]
    ),
    kind=st.sampled_from(["csv", "csv.gz", "jsonl"]),
)  # fmt: skip
@example(header=b"id,text\n", body=b"1,a\n\r\r\n2,b\n", size=1, reading=Reading(), kind="csv")
def test_a_file_in_pieces_has_the_rows_of_the_whole(tmp_path_factory, header, body, size, reading, kind):
    path = tmp_path_factory.getbasetemp() / f"data.{kind}"
    if kind == "jsonl":
        data = body.replace(b",", b'{"text": "\xe9"}')
    else:
        data = (header.replace(b",", "\u00a7".encode()) if reading.delimiter else header) + body
    path.write_bytes(gzip.compress(data) if kind == "csv.gz" else data)

    def found(size):
        tally = Tally()
        try:
            table = Source(path).tables(reading)[0]
            chunks = [*table.chunks(["text", "id", None], size)]
            rows = [row for some in chunks for row in (some.read(tally) if isinstance(some, Stored) else some)]
        except DataError as error:
            return str(error)
        return rows, +tally

    assert found(size) == found(10**6)


def test_a_line_that_is_no_json_is_found_by_its_number(file):
    path = file('{"text": "a"}\n\n{"text": "b"}\n{"te', "data.jsonl")
    with pytest.raises(DataError, match="line 4: not JSON"):
        open_corpus(path)
    path = file('{"text": "a"}\n\n' * 300 + '{"te', "data.jsonl")
    with pytest.raises(DataError, match="line 601: not JSON"):
        texts(path)


@pytest.mark.parametrize("later", ['{"text": "a"}\n' * 3 + "\n" * 28, '{"text": "b"}\n' * 5, '{"text": "a"}\n{"te'])
def test_a_file_that_changes_while_it_is_read_is_refused(file, later):
    path = file('{"text": "a"}\n' * 5, "data.jsonl")
    first, second, *_ = open_corpus(path).batches(2)
    assert len(first.documents()) == 2
    path.write_text(later)
    os.utime(path, ns=(1, 1))
    with pytest.raises(DataError, match=r"data.jsonl. was changed while it was read"):
        second.documents()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
@pytest.mark.parametrize("kind", ["txt", "csv", "jsonl"])
def test_wide_characters_are_read_with_and_without_a_mark(file, encoding, kind):
    data = {"txt": "ab\ncé\n", "csv": "id,text\n1,ab\n2,cé\n", "jsonl": '{"text": "ab"}\n{"text": "cé"}\n'}[kind]
    reading = Reading(encoding=encoding[:6], lines=kind == "txt")
    assert texts(file(data.encode(encoding), f"data.{kind}"), reading) == ["ab", "cé"]


def test_a_file_is_digested_once_and_again_when_it_was_written_again(file, monkeypatch):
    asked = []
    digest = corpus_module.file_sha256
    monkeypatch.setattr(corpus_module, "file_sha256", lambda path: asked.append(path) or digest(path))
    path = file("id,text\n1,a\n")
    corpus = open_corpus(path)
    first = corpus.digests()
    assert corpus.digests() == first
    assert asked == [path]
    path.write_bytes(b"id,text\n1,b\n")
    os.utime(path, ns=(1, 1))
    assert corpus.digests() != first


def test_a_fingerprint_knows_files_and_how_they_are_read(file):
    path = file("id,text\n1,a\n")
    key = b"k" * 32
    first = open_corpus(path).fingerprint(key)
    assert open_corpus(path).fingerprint(key) == first
    assert open_corpus(path).fingerprint(b"l" * 32) != first
    assert open_corpus(path, Reading(raw=True)).fingerprint(key) != first
    path = file("id,text\n1,b\n")
    assert open_corpus(path).fingerprint(key) != first


def test_a_text_beyond_the_public_length_is_cut_and_said(file):
    path = file(json.dumps({"text": "a" * (LONGEST_TEXT + 5)}) + '\n{"text": "b"}\n', "data.jsonl")
    corpus = open_corpus(path)
    assert [len(each.text) for each in corpus] == [LONGEST_TEXT, 1]
    assert corpus.notes()[0].count == 1


def test_a_pipe_is_read_once_and_as_often_as_needed(tmp_path):
    import threading

    path = tmp_path / "pipe"
    os.mkfifo(path)
    threading.Thread(target=path.write_text, args=('{"text": "a"}\n{"text": "b"}\n',)).start()
    corpus = open_corpus(path)
    assert [each.text for each in corpus] == [each.text for each in corpus] == ["a", "b"]


def test_one_file_of_a_folder_decides_nothing_about_the_others(tmp_path):
    for folder, texts_of in {"public": "abc", "own": "axy"}.items():
        (tmp_path / folder).mkdir()
        for each in texts_of:
            (tmp_path / folder / f"{each}.txt").write_text(each)
    public, own = open_corpus(tmp_path / "public").digests(), open_corpus(tmp_path / "own").digests()
    assert len(public) == len(own) == 1  # of all files together, for each is a document of somebody
    assert public != own
    (tmp_path / "own" / "t.csv").write_text("text\na\n")
    (tmp_path / "t.csv").write_text("text\na\n")
    assert set(open_corpus(tmp_path / "t.csv").digests()) < set(open_corpus(tmp_path / "own").digests())
