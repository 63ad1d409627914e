"""Excel, Word, PDF, HTML and e-mail as people have them, and as an adversary makes them."""

import io
import json
import subprocess
import sys
import tracemalloc
import zipfile

import pytest

from publius.cli.before import say_first
from publius.cli.log import set_up
from publius.documents.corpus import BadDocument, Document, open_corpus, open_public_corpus
from publius.documents.inspection import inspect, unseen
from publius.errors import DocumentError, UsageError

CANARY = "canary"


def texts(path, **options):
    return [item.text for item in open_corpus(path, **options)]


def bad(path, **options):
    found = [item for item in open_corpus(path, **options) if isinstance(item, BadDocument)]
    assert found
    assert CANARY not in " ".join(str(item.error()) for item in found)
    return found[0].reason


def word(path, *paragraphs):
    document = pytest.importorskip("docx").Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "left", "right"
    document.add_paragraph("after the table")
    document.save(path)
    return path


def excel(path, rows):
    book = pytest.importorskip("openpyxl").Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def pdf(text):
    """A page of one line, written by hand."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n" % len(stream) + stream + b"\nendstream",
    ]
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(data)
    return (
        data + b"xref\n0 5\n0000000000 65535 f \n" + table
        + b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % start
    )  # fmt: skip


def test_word_gives_paragraphs_and_tables_in_their_order(tmp_path):
    path = word(tmp_path / "a.docx", "first line", "second line")
    assert texts(path) == ["first line\nsecond line\nleft\nright\nafter the table"]


def test_excel_is_read_like_a_table_of_values(tmp_path):
    path = excel(
        tmp_path / "a.xlsx",
        [["id", "text", "topic"], [7, "the bill was wrong", 1.0], [None, None, None], [8, "late", "b"]],
    )
    first, second = open_corpus(path, keep=["topic"])
    assert first == Document("7", "the bill was wrong", {"topic": "1"}, 1, account="7")
    assert (second.id, second.text) == ("8", "late")


def test_a_column_that_is_not_in_the_workbook_is_named(tmp_path):
    path = excel(tmp_path / "a.xlsx", [["id", CANARY], [7, "x"]])
    with pytest.raises(DocumentError, match="no columns called 'text' among 2") as caught:
        list(open_corpus(path))
    assert CANARY not in str(caught.value)


def workbook(path, hidden=(), sheets=1, first="visible"):
    book = pytest.importorskip("openpyxl").Workbook()
    for number in range(sheets):
        sheet = book.active if not number else book.create_sheet(f"{CANARY}{number}")
        for row in [["id", "text"], *([i, f"bill {i} of sheet {number}"] for i in range(1, 10))]:
            sheet.append(row)
    for number in hidden:
        book.active.row_dimensions[number].hidden = True
    book.active.sheet_state = first
    book.active = sheets - 1
    book.save(path)
    return path


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_sheet_that_nobody_sees_is_not_read(tmp_path, state):
    path = workbook(tmp_path / "a.xlsx", sheets=2, first=state)
    for read in (inspect, lambda path: list(open_corpus(path))):
        with pytest.raises(
            DocumentError, match="first of its 2 sheets is hidden: put the sheet that"
        ) as caught:
            read(path)
        assert CANARY not in str(caught.value)


def test_rows_that_nobody_sees_are_named_to_the_curator(tmp_path, capsys):
    """A filter hides them from whoever opens the workbook, and they are released all the same."""
    hidden = "7 rows are hidden, as by a filter, and read all the same: row 2, row 3, row 4, row 6, row 7 and 2 more"
    path = workbook(tmp_path / "a.xlsx", hidden=[1, 2, 3, 4, 6, 7, 8, 9, 30], sheets=3)
    notes = [hidden, "of 3 sheets only the first is read"]
    assert inspect(path).problems[:2] == (*notes,)
    assert len(texts(path)) == 9
    workbook(tmp_path / "b.xlsx")
    assert [*unseen(open_corpus(tmp_path / "b.xlsx"))] == []
    assert [*unseen(open_corpus(tmp_path))] == [f"file 'a.xlsx': {note}" for note in notes]
    set_up("text", 0)
    say_first(open_corpus(path), (), "local")
    assert capsys.readouterr().err.splitlines()[1:] == notes


def test_html_gives_what_a_reader_sees(tmp_path):
    pytest.importorskip("selectolax")
    page = b"""<html><head><title>A title</title><style>p {x: y}</style><script>canary()</script></head>
    <body><p>It was <b>l</b>ate<p>Caf\xc3\xa9 &amp; more<div>one<br>two</div><template>canary</template></body>"""
    path = tmp_path / "a.html"
    path.write_bytes(page)
    assert texts(path) == ["A title\nIt was late\nCafé & more\none\ntwo"]


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-8", "utf-16"])
def test_html_is_decoded_as_it_says(tmp_path, encoding):
    pytest.importorskip("selectolax")
    path = tmp_path / "a.htm"
    path.write_bytes(f'<meta charset="{encoding}"><p>café'.encode(encoding))
    assert texts(path) == ["café"]


def test_pdf_gives_the_text_of_its_pages(tmp_path):
    pytest.importorskip("pypdf")
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf("The bill was wrong"))
    assert texts(path) == ["The bill was wrong"]


MESSAGE = b"""From: canary@example.org
Subject: =?utf-8?q?A_caf=C3=A9_bill?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: 8bit

The na\xefve bill was wrong
--x
Content-Type: application/zip
Content-Disposition: attachment; filename=canary.zip

canary
--x--
"""


def test_a_message_gives_subject_and_body_and_no_attachment(tmp_path):
    path = tmp_path / "a.eml"
    path.write_bytes(MESSAGE)
    assert texts(path) == ["A café bill\n\nThe naïve bill was wrong"]


def test_a_mailbox_is_a_document_a_message(tmp_path):
    path = tmp_path / "a.mbox"
    path.write_bytes((b"From a Mon Jan  1 00:00:00 2024\n" + MESSAGE + b"\n") * 3)
    found = list(open_corpus(path))
    assert [item.id for item in found] == ["1", "2", "3"]
    assert {item.account for item in found} == {None}  # a message has no name that lasts


def test_a_folder_may_mix_documents_that_are_files_of_their_own(tmp_path):
    word(tmp_path / "b.docx", "from word")
    (tmp_path / "a.txt").write_text("from text")
    (tmp_path / "c.eml").write_bytes(MESSAGE)
    (tmp_path / "d.pdf").write_bytes(pdf("from paper"))
    corpus = open_corpus(tmp_path)
    assert corpus.count_hint == 4
    assert [item.account for item in corpus] == ["a.txt", "b.docx", "c.eml", "d.pdf"]
    assert [item.text.split("\n")[0] for item in corpus] == [
        "from text",
        "from word",
        "A café bill",
        "from paper",
    ]


def test_tables_and_documents_do_not_mix(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "b.csv").write_text("id,text\n1,x\n")
    with pytest.raises(UsageError, match=r"holds \.csv, \.txt: give files of one kind"):
        open_corpus(tmp_path)


@pytest.mark.parametrize("name", ["a.docx", "a.pdf", "a.xlsx"])
@pytest.mark.parametrize("data", [b"", b"canary", b"PK\x03\x04canary", b"%PDF-1.7\ncanary"])
def test_a_damaged_file_is_one_bad_document_that_says_nothing_of_its_content(
    tmp_path, name, data, caplog, capfd
):
    for module in ("docx", "pypdf", "openpyxl"):
        pytest.importorskip(module)
    path = tmp_path / name
    path.write_bytes(data)
    if name.endswith("xlsx"):
        with pytest.raises(DocumentError) as caught:
            list(open_corpus(path))
        assert CANARY not in str(caught.value)
    else:
        assert "save it again" in bad(path)
    assert CANARY not in caplog.text + "".join(capfd.readouterr())


@pytest.mark.parametrize("name", ["punycode", "idna", "IDNA"])
def test_encodings_of_the_names_of_computers_are_none_of_text(tmp_path, name):
    """To decode them takes the square of a text: of one letter of a mailbox they took all of its time."""
    path = tmp_path / "a.eml"
    path.write_text(
        f"Subject: =?{name}?q?Bcher-kva?=\nContent-Type: text/plain; charset={name}\n\nBcher-kva\n"
    )
    (read,) = open_corpus(path)
    assert "Bcher-kva" in read.text
    assert "\u00fc" not in read.text


def test_a_place_that_no_file_has_is_a_defect_of_the_file(tmp_path):
    """Parts of an archive that stand before its beginning: to look there is an error of the system."""
    pytest.importorskip("docx")
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(path, "w") as parts:
        parts.writestr("[Content_Types].xml", "canary")
    data = bytearray(path.read_bytes())
    end = data.rindex(b"PK\x05\x06")
    data[end + 16 : end + 20] = (100_000).to_bytes(4, "little")
    path.write_bytes(data)
    assert "save it again" in bad(path)
    book = tmp_path / "a.xlsx"
    book.write_bytes(data)
    with pytest.raises(DocumentError):
        list(open_corpus(book))


def test_a_picture_of_text_is_a_bad_document(tmp_path):
    pytest.importorskip("pypdf")
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf(""))
    assert "a scan, perhaps" in bad(path)


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx"])
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, name):
    pytest.importorskip("docx")
    pytest.importorskip("openpyxl")
    path = tmp_path / name
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as parts,
        parts.open("bomb.xml", "w") as part,
    ):
        for _ in range(300):
            part.write(bytes(2**20))
    tracemalloc.start()
    try:
        if name == "a.docx":
            assert "unpacks suspiciously far" in bad(path)
        else:
            with pytest.raises(DocumentError, match="unpacks suspiciously far"):
                list(open_corpus(path))
        assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    finally:
        tracemalloc.stop()


def with_part(path, name, data):
    """The archive with the bytes of one of its parts replaced."""
    with zipfile.ZipFile(path) as parts:
        contents = {each: parts.read(each) for each in parts.namelist()}
    contents[name] = data(contents[name])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        for each, content in contents.items():
            parts.writestr(each, content)
    return path


ENTITIES = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "canarycanary">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(8))
    + b'<!ENTITY file SYSTEM "file:///etc/passwd">]>'
)


def _hostile(entity):
    def change(data):
        body = data.split(b"?>", 1)[1] if data.startswith(b"<?xml") else data
        return ENTITIES + body.replace(b"MARK", b"&%s;" % entity)

    return change


@pytest.mark.parametrize("entity", [b"i", b"file"])
def test_entities_of_xml_are_not_expanded_and_nothing_is_read_from_elsewhere(tmp_path, entity):
    document = with_part(word(tmp_path / "a.docx", "MARK"), "word/document.xml", _hostile(entity))
    found = list(open_corpus(document))
    assert "root:" not in str(found)
    assert all(isinstance(item, BadDocument) or len(item.text) < 1_000 for item in found)
    book = with_part(
        excel(tmp_path / "a.xlsx", [["id", "text"], [1, "MARK"]]),
        "xl/worksheets/sheet1.xml",
        _hostile(entity),
    )
    with pytest.raises(DocumentError, match="cannot be read as an Excel workbook"):
        list(open_corpus(book))


def test_deeply_nested_mail_and_pages_end(tmp_path):
    pytest.importorskip("selectolax")
    nested = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(3_000)
    )
    (tmp_path / "a.eml").write_bytes(nested + b"\ncanary")
    (tmp_path / "b.html").write_bytes(b"<div>" * 100_000 + b"canary")
    found = list(open_corpus(tmp_path))
    assert len(found) == 2
    assert CANARY not in " ".join(item.reason for item in found if isinstance(item, BadDocument))


def test_the_libraries_are_only_read_where_they_are_needed(tmp_path, monkeypatch):
    (tmp_path / "a.docx").write_bytes(b"x")
    monkeypatch.setitem(__import__("sys").modules, "docx", None)
    with pytest.raises(UsageError, match=r"publius\[documents\]"):
        list(open_corpus(tmp_path / "a.docx"))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "cp1252"])
def test_tables_are_read_as_they_are_written(tmp_path, delimiter, encoding):
    import csv

    pytest.importorskip("charset_normalizer")
    sheet = io.StringIO()
    rows = [
        [
            f"r{i}",
            f"the naïve café, row {i}; was\nlate – again"
            if encoding != "iso-8859-1"
            else f"the naïve café {i}",
        ]
        for i in range(30)
    ]
    csv.writer(sheet, delimiter=delimiter).writerows([["id", "text"], *rows])
    path = tmp_path / "a.csv"
    path.write_bytes(sheet.getvalue().encode(encoding))
    corpus = open_public_corpus(path)
    assert (corpus.delimiter, corpus.encoding) == (delimiter, encoding)
    assert [item.text for item in corpus] == [text for _, text in rows]


def test_the_letters_of_one_text_do_not_decide_how_the_others_are_read(tmp_path):
    """Otherwise one author could change everybody's words, and no bound would hold: what is not UTF-8 is bad alone."""
    pytest.importorskip("charset_normalizer")
    path = tmp_path / "a.csv"
    others = "".join(f"r{n},naïve café {n}\n" for n in range(200)).encode()

    def read(one, opened=open_corpus):
        path.write_bytes(b"id,text\nx," + one + b"\n" + others)
        return [item.text for item in opened(path) if isinstance(item, Document)]

    french = b'"' + "élève très déçu\n".encode("cp1252") * 2_500 + b'"'
    assert read(b"hello")[1:] == read(french) == read(b"hel\0lo")[1:]
    with pytest.raises(
        DocumentError, match="cannot be told"
    ):  # of public texts, whose letters are asked, it stops all
        read(french, open_public_corpus)


def test_brackets_within_a_text_are_no_lists(tmp_path, monkeypatch):
    monkeypatch.setattr("publius.documents.row_readers.BRACKETS_LIMIT", 20)
    path = tmp_path / "a.jsonl"
    text = "[{" * 30 + '"\\' + "[" * 9
    path.write_text(json.dumps({"id": "1", "text": text}) + "\n")
    assert texts(path) == [text]
    path.write_text(json.dumps({"id": "1", "text": "x", "more": [[]] * 20}) + "\n")
    assert "lists and objects" in bad(path)


def test_what_is_told_is_believed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("id:text\n1:früh\n".encode("cp1252"))
    assert texts(path, delimiter=":", encoding="windows-1252") == ["früh"]
    for wrong in ({"delimiter": "::"}, {"encoding": "rot13"}, {"encoding": "canary-8"}, {"delimiter": '"'}):
        with pytest.raises(UsageError):
            open_corpus(path, **wrong)


def test_a_few_damaged_rows_leave_a_file_utf8(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("id,text\n1,früh\n2,spät\n3,".encode() + b"canary\xff\n")
    corpus = open_corpus(path, encoding=None)
    assert corpus.encoding == "utf-8"
    assert "not UTF-8" in bad(path, encoding=None)


def test_json_lines_name_no_encoding(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": "1", "text": "x"}))
    assert open_corpus(path, encoding=None).encoding == "utf-8"


def with_changed(path, name, change):
    """The archive at ``path`` with one of its parts changed."""
    with zipfile.ZipFile(path) as parts:
        content = {part: parts.read(part) for part in parts.namelist()}
    content[name] = change(content[name])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        for part, data in content.items():
            parts.writestr(part, data)
    return path


def fresh_interpreter(path):
    """The standard error of a process that reads ``path``: no test runner catches warnings or logs there."""
    code = "import sys; from publius.documents.corpus import open_corpus; print(len(list(open_corpus(sys.argv[1]))))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, timeout=600
    )
    assert done.stdout.strip() == "1"
    return done.stderr


def test_what_a_library_logs_or_warns_of_is_shown_to_nobody(tmp_path):
    pytest.importorskip("pypdf")
    openpyxl = pytest.importorskip("openpyxl")
    paper = tmp_path / "a.pdf"
    paper.write_bytes(pdf("bill").replace(b"/BaseFont /Helvetica", b"/BaseFont /Helvetica /Encoding /canary"))
    assert fresh_interpreter(paper) == ""
    book = openpyxl.Workbook()
    book.active.append(["id", "text", "born"])
    book.active.append(["a", "bill", 98_765_432_109.0])
    book.active["C2"].number_format = "yyyy-mm-dd"
    book.save(tmp_path / "a.xlsx")
    assert fresh_interpreter(tmp_path / "a.xlsx") == ""


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', None),
        (b'<row r="9999999999"/>', "more rows"),
    ],
)
def test_a_sheet_that_claims_to_be_huge_is_read_by_its_cells(tmp_path, cell, message):
    path = excel(tmp_path / "a.xlsx", [["id", "text"], ["a", "bill"]])
    with_changed(
        path,
        "xl/worksheets/sheet1.xml",
        lambda data: data.replace(b"</sheetData>", cell + b"</sheetData>").replace(
            b"A1:B2", b"A1:XFD1048576"
        ),
    )
    if message is None:
        assert texts(path) == ["bill"]
    else:
        with pytest.raises(DocumentError, match=message):
            texts(path)


def test_a_sheet_of_very_many_columns_is_refused(tmp_path):
    path = excel(tmp_path / "a.xlsx", [["id", "text", *["x"] * 1_000], ["a", "bill"]])
    with pytest.raises(DocumentError, match=r"1,002 columns, more than 1,000"):
        texts(path)


def test_a_cell_that_says_it_spans_the_world_is_one_cell(tmp_path):
    path = word(tmp_path / "a.docx", "bill")
    before = texts(path)
    with_changed(
        path,
        "word/document.xml",
        lambda data: data.replace(b"<w:tcPr>", b'<w:tcPr><w:gridSpan w:val="100000000"/>', 1),
    )
    assert texts(path) == before == ["bill\nleft\nright\nafter the table"]


def test_cells_merged_downwards_are_read_once(tmp_path):
    document = pytest.importorskip("docx").Document()
    table = document.add_table(rows=2, cols=2)
    for number, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = f"cell {number}"
    table.cell(0, 0).merge(table.cell(1, 0)).text = "both"
    document.save(tmp_path / "a.docx")
    assert texts(tmp_path / "a.docx") == ["both\ncell 1\ncell 3"]


def test_an_archive_without_a_workbook_is_no_bug_of_ours(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"></Types>',
        )
    with pytest.raises(DocumentError, match="cannot be read as an Excel workbook"):
        list(open_corpus(path, number=True))
