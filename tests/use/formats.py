"""The same twelve documents in every format that people have. A format is one line in `FORMATS`."""

import csv
import email.message
import gzip
import io
import json
import mailbox

WORDS = "the train was late again and nobody at the station could say why it had stopped".split()
ROWS = [
    {
        "id": f"r{i}",
        "author": f"a{i % 6}",
        "status": ("open", "closed")[i % 2],
        "text": " ".join(WORDS[i % 4 :]) + f" on day {i}, Größe",
    }
    for i in range(12)
]
COLUMNS = list(ROWS[0])


def separated(sep=",", encoding="utf-8", end="\n", bare=False):
    def write(path, rows):
        out = io.StringIO()
        style = {"quoting": csv.QUOTE_NONE, "quotechar": None} if bare else {}
        writer = csv.writer(out, delimiter=sep, lineterminator=end, **style)
        writer.writerow(COLUMNS)
        writer.writerows([row[name].replace(", ", " ") if bare else row[name] for name in COLUMNS] for row in rows)
        path.write_bytes(out.getvalue().encode(encoding))

    return write


def jsonl(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def zipped(path, rows):
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data))


def array(path, rows):
    path.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def wrapped(path, rows):
    path.write_text(json.dumps({"count": len(rows), "data": rows}), encoding="utf-8")


def nested(path, rows):
    jsonl(path, [{**row, "text": [{"q": "why", "a": row["text"]}]} for row in rows])


def parquet(path, rows):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def feather(path, rows):
    import pyarrow
    import pyarrow.feather

    pyarrow.feather.write_feather(pyarrow.Table.from_pylist(rows), path)


def xlsx(path, rows):
    from openpyxl import Workbook

    book = Workbook()
    book.active.append(COLUMNS)
    for row in rows:
        book.active.append([row[name] for name in COLUMNS])
    book.save(path)


def docx(path, rows):
    import docx

    document = docx.Document()
    for row in rows:
        document.add_paragraph(row["text"])
    document.save(str(path))


def pdf_bytes(*pages):
    """A PDF of pages of text; bytes where a page is a picture with that stamp."""
    picture = b"<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8/Length 1>>"
    picture += b"stream\nx\nendstream"
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ]
    for n, page in enumerate(pages):
        image = isinstance(page, bytes)
        said = page if image else page.encode("cp1252")
        drawn = b"BT /F 9 Tf 30 800 Td (" + said.replace(b"(", b"\\(").replace(b")", b"\\)") + b") Tj ET"
        drawn = b"q 500 0 0 700 40 60 cm /I Do Q " + drawn if image else drawn
        own = f"/XObject<</I {4 + 2 * len(pages)} 0 R>>" if image else ""
        resources = f"/Resources<</Font<</F 3 0 R>>{own}>>"
        page = f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]{resources}/Contents {5 + 2 * n} 0 R>>"
        objects.append(page.encode())
        objects.append(b"<</Length %d>>stream\n" % len(drawn) + drawn + b"\nendstream")
    objects.append(picture)
    data, at = bytearray(b"%PDF-1.4\n"), []
    for number, each in enumerate(objects, 1):
        at.append(len(data))
        data += b"%d 0 obj" % number + each + b"endobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in at)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table
    return bytes(data + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start))


def pdf(path, rows):
    path.write_bytes(pdf_bytes(" ".join(row["text"] for row in rows)))


def html(path, rows):
    body = "".join(f"<p>{row['text']}</p>" for row in rows)
    path.write_text(
        f"<!doctype html><html><head><meta charset=utf-8><style>p {{color: red}}</style></head><body>{body}</body></html>",
        encoding="utf-8",
    )


def message(row):
    made = email.message.EmailMessage()
    made["From"], made["Subject"] = f"{row['author']}@post.example", "a complaint"
    made.set_content(row["text"] + "\n\nOn Monday b@post.example wrote:\n> somebody else's words\n")
    return made


def eml(path, rows):
    path.write_bytes(message({**rows[0], "text": " ".join(row["text"] for row in rows)}).as_bytes())


def mbox(path, rows):
    box = mailbox.mbox(path)
    for row in rows:
        box.add(message(row))
    box.close()


def txt(path, rows):
    path.write_text(" ".join(row["text"] for row in rows), encoding="utf-8")


def lines(path, rows):
    path.write_text("".join(row["text"] + "\n" for row in rows), encoding="utf-8")


WHOLE = {"docx", "pdf", "html", "eml", "txt"}
"""Formats of which a file is one document."""
COLUMNED = {"csv", "csv-semicolon", "tsv", "pipe", "csv-bom", "csv-crlf", "csv-cp1252", "csv-utf16", "csv-bare", "jsonl",
            "jsonl-gz", "json", "json-object", "nested", "parquet", "arrow", "xlsx"}  # fmt: skip
"""Formats with a column of authors."""
OPTIONS = {"nested": ["--text-field", "text[].a"], "lines": ["--lines"], "csv-bare": ["--quotes", "none"]}
FORMATS = {
    "csv": (".csv", separated()), "csv-semicolon": (".csv", separated(";")), "tsv": (".tsv", separated("\t")),
    "pipe": (".csv", separated("|")), "csv-bom": (".csv", separated(encoding="utf-8-sig")),
    "csv-crlf": (".csv", separated(end="\r\n")), "csv-cp1252": (".csv", separated(";", "cp1252")),
    "csv-utf16": (".csv", separated("\t", "utf-16")), "csv-bare": (".csv", separated(bare=True)),
    "jsonl": (".jsonl", jsonl), "jsonl-gz": (".jsonl.gz", zipped), "json": (".json", array),
    "json-object": (".json", wrapped), "nested": (".jsonl", nested), "parquet": (".parquet", parquet),
    "arrow": (".arrow", feather), "xlsx": (".xlsx", xlsx), "docx": (".docx", docx), "pdf": (".pdf", pdf),
    "html": (".html", html), "eml": (".eml", eml), "mbox": (".mbox", mbox), "txt": (".txt", txt),
    "lines": (".txt", lines),
}  # fmt: skip


def family(format):
    """Formats that the same code reads."""
    kind = format.partition("-")[0]
    return {
        "tsv": "csv",
        "pipe": "csv",
        "nested": "jsonl",
        "arrow": "parquet",
        "pdf": "docx",
        "html": "docx",
        "mbox": "eml",
        "lines": "txt",
    }.get(kind, kind)
