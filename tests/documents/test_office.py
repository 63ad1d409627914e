"""Word, PDF, HTML, mail and workbooks, each once as it should be and once as it should not."""

import datetime
import os
import sys
import zipfile
from pathlib import Path

import pytest
from openpyxl import Workbook

sys.path.insert(0, str(Path(__file__).parents[1] / "use"))

from formats import pdf_bytes

from publius.documents import office
from publius.documents.corpus import open_corpus
from publius.errors import DataError, MissingExtraError
from publius.settings import Reading


def one(path, **reading):
    (document,) = open_corpus(path, Reading(**reading))
    return document.text


def notes(path, **reading):
    return {
        note.what.partition(",")[0].partition(":")[0]: (note.count, note.where)
        for note in open_corpus(path, Reading(**reading)).notes()
    }


def test_word_gives_paragraphs_and_tables_in_order_and_a_merged_cell_once(tmp_path):
    import docx

    made = docx.Document()
    made.add_paragraph("before")
    table = made.add_table(2, 2)
    for place, word in enumerate(("a", "b", "c", "d")):
        table.cell(place // 2, place % 2).text = word
    table.cell(0, 0).merge(table.cell(1, 0))
    made.add_paragraph("after")
    made.save(tmp_path / "a.docx")
    assert one(tmp_path / "a.docx").split() == ["before", "a", "c", "b", "d", "after"]


def test_pages_that_are_pictures_count_as_empty_and_are_said(tmp_path):
    words = (
        "the court finds that the claim is without merit and dismisses it with costs to the claimant in full as moved"
    )
    (tmp_path / "a.pdf").write_bytes(pdf_bytes(b"Electronically filed 2026"))
    (tmp_path / "b.pdf").write_bytes(pdf_bytes(words, b"stamp"))
    (tmp_path / "c.pdf").write_bytes(pdf_bytes("short, but text"))
    assert [each.text.strip() for each in open_corpus(tmp_path)] == ["", words, "short, but text"]
    assert notes(tmp_path)["files that are pictures"][0] == 1
    assert notes(tmp_path)["pages that are pictures"][0] == 1


@pytest.mark.parametrize(
    ("page", "expected"),
    [("<title>T</title><p>a<br>b<script>x</script><div>c &amp; d", "T\na\nb\nc & d"),
     (b"<html><meta charset=iso-8859-15><p>\xa4", "€"), (b"<html><p>caf\xe9", "café"),
     ("<html>" + "<div>" * 20_000 + "deep", "deep")],
)  # fmt: skip
def test_html_gives_what_a_reader_sees(tmp_path, page, expected):
    (tmp_path / "a.html").write_bytes(page if isinstance(page, bytes) else page.encode())
    assert one(tmp_path / "a.html") == expected


@pytest.mark.parametrize(
    "charset",
    ["unknown", "%CHARSET", "cp-850", "utf-8  euao6y69zh2w", "windows-874", '""', "x-user-defined", "idna",
     "utf-7", "iso-8859-1"],
)  # fmt: skip
def test_mail_of_any_charset_without_what_it_quotes(tmp_path, charset):
    head = f"From: S <s@post.example>\r\nSubject: =?{charset}?Q?late_train?=\r\n"
    head += f"Content-Type: text/plain; charset={charset}\r\n\r\n"
    body = b"caf\xe9 closed.\r\n\r\nOn Monday c@office.example wrote:\r\n> my mortgage\r\n>> was refused\r\n"
    (tmp_path / "a.eml").write_bytes(head.encode() + body)
    text = one(tmp_path / "a.eml")
    assert "late" in text
    assert "closed" in text
    assert "mortgage" not in text
    assert "office.example" not in text
    assert "mortgage" in one(tmp_path / "a.eml", keep_quotes=True)
    assert notes(tmp_path / "a.eml") == {"texts that quote others": (1, "")}
    (document,) = open_corpus(tmp_path / "a.eml", author_field="from")
    assert document.author == "s@post.example"


def test_of_parts_the_plain_text_counts_and_attachments_do_not(tmp_path):
    import email.message

    made = email.message.EmailMessage()
    made["Subject"] = "s"
    made.set_content("plain")
    made.add_alternative("<p>html", subtype="html")
    made.add_attachment(b"secret", maintype="text", subtype="plain")
    (tmp_path / "a.eml").write_bytes(made.as_bytes())
    assert one(tmp_path / "a.eml").split() == ["s", "plain"]


# Workbooks ------------------------------------------------------------------------------------------------


def workbook(path, sheets, hidden=()):
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        sheet.sheet_state = "hidden" if name in hidden else "visible"
    book.save(path)
    return path


HEADER = ["customer", "text"]


def test_numbers_and_dates_are_as_people_write_them(tmp_path):
    rows = [
        HEADER, [7000, "a"], [7000.0, 12], [None, None], [datetime.date(2026, 3, 1), None], ["0700", True],
    ]  # fmt: skip
    path = workbook(tmp_path / "a.xlsx", {"one": rows})
    corpus = open_corpus(path, author_field="customer")
    assert [(each.author, each.text) for each in corpus] == [
        ("7000", "a"), ("7000", "12"), (None, ""), ("2026-03-01", ""), ("0700", "true"),
    ]  # fmt: skip


def test_one_table_is_read_whatever_notices_and_hidden_sheets_stand_beside_it(tmp_path):
    path = workbook(
        tmp_path / "a.xlsx",
        {"Read me": [["Confidential."]], "data": [HEADER, [1, "a"]], "old": [HEADER, [1, "hidden"]]},
        ["old"],
    )
    assert one(path) == "a"
    assert notes(path) == {"hidden sheets": (1, "old"), "sheets that are no table": (1, "Read me")}
    assert one(path, sheet=("old",)) == "hidden"


def test_sheets_with_one_header_are_read_together(tmp_path):
    path = workbook(tmp_path / "a.xlsx", {"North": [HEADER, [1, "a"]], "South": [HEADER, [1, "b"]]})
    assert [each.text for each in open_corpus(path)] == ["a", "b"]
    assert notes(path) == {"sheets with one header": (2, "North, South")}


def test_sheets_that_are_not_one_table_are_offered(tmp_path):
    title = [["Complaints", None], [], HEADER, [1, "a"], [2, "b"]]
    path = workbook(tmp_path / "a.xlsx", {"North": title, "South": [["text", "n"], ["c", 3]]})
    with pytest.raises(DataError) as error:
        open_corpus(path)
    assert "North (names of columns in row 3, 2 rows below); South (names of columns in row 1, 1 rows below)" in str(
        error.value
    )
    assert str(error.value).endswith("--sheet North --header-row 3.")
    assert [each.text for each in open_corpus(path, Reading(sheet=("North",), header_row=3))] == ["a", "b"]
    with pytest.raises(DataError, match=r"No sheet West\. Found: North, South\."):
        open_corpus(path, Reading(sheet=("West",)))


def test_names_in_several_rows_and_columns_of_one_name(tmp_path):
    first, second = ["id", "Better?", "Services", None, "note", "note"], [None, "Open", "Bus", "Clinic", None, None]
    path = workbook(
        tmp_path / "a.xlsx", {"one": [first, second, [1, "a", "Bus", None, "x", "y"], [2, "b", None, None, None, "z"]]}
    )
    corpus = open_corpus(path, Reading(header_row="1-2", text_field="note"), author_field="id")
    assert corpus.columns == ("id", "Better?", "Services", "Clinic", "note")
    assert [(each.author, each.text) for each in corpus] == [("1", "x\n\ny"), ("2", "z")]


def test_formulas_without_a_stored_value_are_counted(tmp_path):
    path = workbook(tmp_path / "a.xlsx", {"one": [HEADER, [1, '=CONCATENATE("a","b")'], [2, "b"]]})
    assert [each.text for each in open_corpus(path)] == ["", "b"]
    assert notes(path) == {"cells that are formulas without a stored value": (1, "")}


# Hostile --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.docx", "a.pdf", "a.eml", "a.html"])
@pytest.mark.parametrize("data", [b"", b"PK\3\4 nothing", b"%PDF-1.4 nothing", b"\xff\xfe\x00", bytes(range(256)) * 9])
def test_a_damaged_document_is_an_empty_text_or_what_can_be_read(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    (tmp_path / "z.txt").write_text("fine")
    assert [each.text for each in open_corpus(tmp_path)][1] == "fine"


def test_a_damaged_workbook_is_refused(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"PK\3\4 nothing")
    with pytest.raises(DataError, match="cannot be read as a workbook"):
        open_corpus(tmp_path / "a.xlsx")


@pytest.mark.parametrize(("memory", "read"), [(2**25, False), (2**30, True)])
def test_a_bomb_counts_as_an_empty_text_and_the_next_file_is_read(tmp_path, monkeypatch, memory, read):
    """24 MiB in 24 kB, which more memory would read."""
    import docx

    monkeypatch.setattr(office, "MEMORY", memory)
    office._end_all()
    docx.Document().save(tmp_path / "kept")
    with (
        zipfile.ZipFile(tmp_path / "kept") as old,
        zipfile.ZipFile(tmp_path / "a.docx", "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for part in old.namelist():
            data = old.read(part)
            if part == "word/document.xml":
                long = b"<w:p><w:r><w:t>" + b"a" * 2**20 + b"</w:t></w:r></w:p>"
                data = data.replace(b"<w:body>", b"<w:body>" + long * 24)
            new.writestr(part, data)
    (tmp_path / "kept").unlink()
    (tmp_path / "b.html").write_text("<p>fine")
    assert [bool(each.text) for each in open_corpus(tmp_path)] == [read, True]
    assert [count for what, (count, _) in notes(tmp_path).items() if what == "files that cannot be read"] == [1] * (
        not read
    )
    office._end_all()


def test_a_file_that_takes_too_long_counts_as_an_empty_text(tmp_path, monkeypatch):
    monkeypatch.setattr(office, "SECONDS", 0.5)
    (tmp_path / "a.html").write_text("<p " + " ".join(f"a{n}=1" for n in range(150_000)) + ">slow")
    assert one(tmp_path / "a.html") in ("", "slow")


def test_a_library_that_is_not_there_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.docx").write_bytes(b"")
    monkeypatch.setattr(office._Process, "answer", lambda *_: {"missing": ["python-docx", "documents"]})
    with pytest.raises(MissingExtraError, match=r"publius\[documents\]"):
        open_corpus(tmp_path / "a.docx")


def test_a_name_may_be_missing_above_row_numbers_and_a_title_is_no_header(tmp_path):
    path = workbook(tmp_path / "a.xlsx", {"one": [[None, "author", "text"], [0, "a", "x"], [1, "b", "y"]]})
    assert [each.text for each in open_corpus(path)] == ["x", "y"]
    path = workbook(tmp_path / "b.xlsx", {"one": [["Complaints of March"], HEADER, [1, "a"]]})
    with pytest.raises(DataError, match=r"--sheet one --header-row 2\.$"):
        open_corpus(path)


def test_what_one_file_holds_is_gone_before_the_next(tmp_path, monkeypatch):
    import docx

    office._end_all()
    monkeypatch.setattr(office, "MEMORY", 75 * 2**20)
    made, kept = docx.Document(), tmp_path / "kept"
    made.add_paragraph("said")
    made.save(kept)
    for name, parts in {"a": 50, "b": 30}.items():
        with zipfile.ZipFile(kept) as old, zipfile.ZipFile(tmp_path / f"{name}.docx", "w", zipfile.ZIP_DEFLATED) as new:
            for part in old.namelist():
                data = old.read(part)
                if part == "[Content_Types].xml":
                    one = b'<Default Extension="bin" ContentType="application/octet-stream"/><Default '
                    data = data.replace(b"<Default ", one, 1)
                if part == "word/_rels/document.xml.rels":
                    one = '<Relationship Id="x{0}" Type="http://example.org/x" Target="media/{0}.bin"/>'
                    every = "".join(map(one.format, range(parts)))
                    data = data.replace(b"</Relationships>", every.encode() + b"</Relationships>")
                new.writestr(part, data)
            for number in range(parts):
                new.writestr(f"word/media/{number}.bin", bytes(2**20))
    kept.unlink()
    said = [each.text for each in open_corpus(tmp_path)]
    office._end_all()
    assert said == ["said", "said"]


def test_a_long_document_is_not_held_while_others_are_read(tmp_path):
    (tmp_path / "a.html").write_text("<p>" + "long " * 300_000)
    (tmp_path / "b.html").write_text("<p>short")
    corpus = open_corpus(tmp_path)
    assert [len(each.text) for each in corpus] == [len(each.text) for each in corpus] == [1_499_999, 5]
    assert ["_held" in table.__dict__ for table in corpus.tables] == [False, True]


def test_a_duration_that_python_cannot_hold_empties_its_row_alone(tmp_path):
    book = Workbook()
    for place, (text, took) in enumerate([("text", "took"), ("a", 1), ("b", 10**12), ("c", 2)], start=1):
        book.active.append([text, took])
        book.active.cell(place, 2).number_format = "[h]:mm:ss"
    book.save(tmp_path / "a.xlsx")
    assert [each.text for each in open_corpus(tmp_path / "a.xlsx")] == ["a", "", "c"]
    book.active.cell(3, 2).value = -(10**12)  # its library panics
    book.save(tmp_path / "b.xlsx")
    assert [each.text for each in open_corpus(tmp_path / "b.xlsx")] == ["a", "", "c"]


def test_a_name_that_is_not_utf_8_is_read(tmp_path):
    Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9.html")).write_text("<p>fine")
    assert [each.text for each in open_corpus(tmp_path)] == ["fine"]
