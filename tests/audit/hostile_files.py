"""Hostile files of each format: what reading one costs, in seconds of a processor and in memory.

    python tests/audit/hostile_files.py [FORMAT ...]

Each is some 16 MB at most and made here. It has to be read or refused within `SECONDS` of all processors, of those that
take `YARDSTICK` seconds for ten million multiplications, with `MEMORY` bytes of a process. The last line is the
verdict.
"""

from __future__ import annotations

import base64
import io
import json
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from publius.audit.outcomes import Findings, violations

SIZE = 16_000_000
SECONDS = 5.0
YARDSTICK = 0.6
TRIES = 5
MEMORY = 500_000_000

_READ = """
import json, sys
from pathlib import Path
from publius.documents.corpus import open_corpus
from publius.documents.inspection import inspect
from publius.errors import PubliusError
read = bad = 0
refused = ""
try:
    if sys.argv[2].startswith("inspected"):
        read = inspect(Path(sys.argv[1])).rows
    for item in () if read else open_corpus(sys.argv[1], number=sys.argv[2] != "many ids", encoding=None):
        good = hasattr(item, "text")
        read, bad = read + good, bad + (not good)
        if not good: refused = item.reason
except PubliusError as error:
    refused = str(error)
print(json.dumps({"read": read, "bad": bad, "refused": refused[:90]}))
"""

_MULTIPLIED = """
def multiplied():
    total = 0
    for number in range(10_000_000):
        total += number * number
multiplied()
"""

_WATCH = """
import json, os, subprocess, sys, threading
child = subprocess.Popen([sys.executable, "-c", *sys.argv[1:]])
threading.Timer(120, child.kill).start()
_, status, used = os.wait4(child.pid, 0)
cost = {"status": status, "seconds": used.ru_utime + used.ru_stime, "memory": 1024 * used.ru_maxrss}
print(json.dumps(cost), flush=True)
os._exit(0)
"""
"""A small process between: what this one holds would count as the most that the reader ever held."""


def _zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
    return stream.getvalue()


_WORD = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>%s</w:body></w:document>'
_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
_RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="%s"/></Relationships>'
)


def _docx(body: str) -> bytes:
    return _zipped({
        "[Content_Types].xml": _TYPES.replace(
            "</Types>",
            '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
            'wordprocessingml.document.main+xml"/></Types>',
        ).encode(),
        "_rels/.rels": (_RELATIONS % "word/document.xml").encode(),
        "word/document.xml": (_WORD % body).encode(),
    })  # fmt: skip


def _xlsx(sheet: str, strings: str = "") -> bytes:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    sheets = '<sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets>'
    book = f'<workbook xmlns="{main}" xmlns:r="{office}">{sheets}</workbook>'
    links = _RELATIONS.replace('officeDocument" ', 'worksheet" ') % "worksheets/sheet1.xml"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    types = _TYPES.replace(
        "</Types>",
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}.sharedStrings+xml"/></Types>',
    )
    return _zipped({
        "[Content_Types].xml": types.encode(), "_rels/.rels": (_RELATIONS % "xl/workbook.xml").encode(),
        "xl/workbook.xml": book.encode(), "xl/_rels/workbook.xml.rels": links.encode(),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData></worksheet>'.encode(),
        "xl/sharedStrings.xml": f'<sst xmlns="{main}">{strings}</sst>'.encode(),
    })  # fmt: skip


def _pdf(stream: bytes, pages: int = 1) -> bytes:
    packed = zlib.compress(stream)
    kids = b" ".join(b"3 0 R" for _ in range(pages))
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, pages),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed),
    ]
    out, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 5\n0000000000 65535 f \n%strailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        table, len(out),
    )  # fmt: skip


def _parquet(columns: int, rows: int, groups: int) -> bytes:
    import pyarrow as arrow
    from pyarrow import parquet

    sink = io.BytesIO()
    table = arrow.table({"text" if not at else f"c{at}": ["a" * 1000] * rows for at in range(columns)})
    with parquet.ParquetWriter(sink, table.schema, compression="zstd") as writer:
        for _ in range(groups):
            writer.write_table(table)
    return sink.getvalue()


def _filled(piece: str | bytes, size: int = SIZE) -> bytes:
    data = piece if isinstance(piece, bytes) else piece.encode()
    return data * (size // len(data))


def hostile(size: int = SIZE) -> Iterator[tuple[str, str, Callable[[], bytes]]]:
    """Suffix, what is hostile in it, and how it is made, each of at most ``size`` bytes on the disk."""
    few = size // 100
    yield "eml", "encoded words", lambda: b"Subject: " + _filled("=?utf-8?q?caf=C3=A9?= ", size) + b"\n\na"
    yield (
        "eml",
        "parameters",
        lambda: b"Content-Type: text/plain" + b"".join(b"; a%d=b" % i for i in range(size // 12)),
    )
    yield "eml", "nested parts", lambda: b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(size // 60))  # fmt: skip
    yield (
        "eml",
        "many parts",
        lambda: b"Content-Type: multipart/mixed; boundary=b\n\n" + _filled("--b\n\na\n", size),
    )
    yield "eml", "many fields", lambda: _filled("A: b\n", size) + b"\na"
    yield "eml", "base64 body", lambda: (
        b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(_filled("\n", size * 2 // 3)))  # fmt: skip
    yield "mbox", "many messages", lambda: _filled("From a\nSubject: b\n\nc\n\n", size)
    yield "mbox", "one long line", lambda: b"From a\n\n" + _filled("a", size)
    yield "html", "nesting", lambda: _filled("<div>", size)
    yield "html", "attributes", lambda: b"<a " + b" ".join(b"a%d=x" % i for i in range(size // 9)) + b">"
    yield "html", "many elements", lambda: _filled("<b>a</b>", size)
    yield "html", "tables that do not close", lambda: _filled("<table><tr><td>", size)
    yield "html", "references", lambda: _filled("&amp;", size)
    yield "docx", "a bomb", lambda: _docx("<w:p><w:r><w:t>" + "a" * (40 * size) + "</w:t></w:r></w:p>")
    yield "docx", "many paragraphs", lambda: _docx("<w:p><w:r><w:t>a</w:t></w:r></w:p>" * (size // 36))
    yield "docx", "nesting", lambda: _docx("<w:p>" * few + "</w:p>" * few)
    yield "xlsx", "many cells", lambda: _xlsx(("<row>" + "<c><v>1</v></c>" * 50 + "</row>") * (size // 800))
    yield "xlsx", "a far cell", lambda: _xlsx('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
    yield (
        "xlsx",
        "many strings",
        lambda: _xlsx('<row><c t="s"><v>0</v></c></row>', "<si><t>a</t></si>" * (size // 17)),
    )
    yield "pdf", "a bomb", lambda: _pdf(b"BT (a) Tj ET\n" * (3 * size))
    yield "pdf", "many pages", lambda: _pdf(b"BT (a) Tj ET", size // 7)
    yield "parquet", "a bomb", lambda: _parquet(1, 200_000, 20)
    yield "parquet", "many columns", lambda: _parquet(size // 4_500, 1, 1)
    yield "parquet", "many groups", lambda: _parquet(1, 1, few // 50)
    yield "csv", "many columns", lambda: b",".join(b"c%d" % i for i in range(size // 8)) + b",text\n"
    yield "csv", "a quote that does not close", lambda: b'text\n"' + _filled("a,\n", size)
    yield "csv", "many rows", lambda: b"text\n" + _filled("a\n", size)
    yield "csv", "rows as small as may be", lambda: b"text\n" + _filled("a" * 31 + "\n", size)
    yield "csv", "blank lines", lambda: b"text\n" + _filled("\n", size)
    yield "csv", "lines within quotes", lambda: b'text\n"' + _filled("\n", size) + b'"\n'
    yield "csv", "short lines within quotes", lambda: b'id,text\n1,"' + _filled("a\n", size) + b'"\n'
    yield "csv", "blank lines of Windows within quotes", lambda: b'text\n"' + _filled("\r\n", size) + b'"\n'
    yield "csv", "one long line", lambda: b"text\n" + _filled("a", size) + b"\n"
    yield "jsonl", "nesting", lambda: b'{"text": ' + _filled("[", size) + b"}\n"
    yield "jsonl", "many lines", lambda: _filled('{"text": "a"}\n', size)
    yield "jsonl", "blank lines", lambda: _filled("\n", size)
    yield "jsonl", "lines as small as may be", lambda: _filled('{"text": "' + "a" * 19 + '"}\n', size)
    yield "jsonl", "many ids", lambda: b"".join(
        b'{"id": %d, "text": "aaaa"}\n' % (10**6 + i) for i in range(size // 32))  # fmt: skip
    yield "jsonl", "many keys", lambda: (
        b'{"text": "a", ' + b", ".join(b'"k%d": 1' % i for i in range(size // 14)) + b"}\n")  # fmt: skip
    yield "jsonl", "inspected: many keys", lambda: (
        b'{"text": "a", ' + b", ".join(b'"k%d": 1' % i for i in range(size // 14)) + b"}\n")  # fmt: skip
    yield "jsonl", "a long number", lambda: b'{"text": ' + _filled("9", size) + b"}\n"
    yield "txt", "one word", lambda: _filled("a", size)
    yield "txt", "one-letter words", lambda: _filled("a ", size)
    yield "txt", "marks on one letter", lambda: b"a" + _filled("\N{COMBINING ACUTE ACCENT}", size)
    yield "txt", "bytes of no encoding", lambda: _filled(bytes(range(128, 256)), size)


def measured(data: bytes, suffix: str, name: str = "") -> dict[str, object]:
    """What reading costs, with everything that it starts and the start of Python itself; ended after two minutes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a.{suffix}")
        path.write_bytes(data)
        said, found = _watched(_READ, str(path), name)
    if found["status"]:
        return {**found, "seconds": 120.0, "refused": f"ended: {said[-1:]!r:.90}", "read": 0, "bad": 0}
    return {**found, **json.loads(said[-1])}


def _watched(code: str, *arguments: str) -> tuple[list[str], dict[str, object]]:
    """What a process of its own said, in lines, and what it cost."""
    with tempfile.TemporaryFile() as stream:
        subprocess.run(
            [sys.executable, "-c", _WATCH, code, *arguments], stdout=stream, stderr=stream, check=False
        )
        stream.seek(0)
        *said, cost = stream.read().decode(errors="replace").splitlines()
    return said, json.loads(cost)


def times_as_slow() -> float:
    """How many times as long as `YARDSTICK` this machine takes now; 1 where it is faster."""
    return max(1.0, float(str(_watched(_MULTIPLIED)[1]["seconds"])) / YARDSTICK)


def within(found: dict[str, object]) -> bool:
    """Whether that is what a file may cost; by ``times as slow`` more where that was measured beside it."""
    allowed = SECONDS * float(str(found.get("times as slow", 1)))
    return float(str(found["seconds"])) <= allowed and int(str(found["memory"])) <= MEMORY


def all_measured(
    size: int = SIZE, kinds: Sequence[str] = ()
) -> Iterator[tuple[str, bytes, dict[str, object]]]:
    """What is hostile, the file, and what it costs, of every format or of some.

    What costs too much is measured anew, and the machine before and after it, some times: one that is busy otherwise
    charges a process for time in which it waited for memory, so that chance only adds to a cost.
    """
    for suffix, name, make in hostile(size):
        if kinds and suffix not in kinds:
            continue
        data = make()
        found = measured(data, suffix, name)
        for _ in range(TRIES - 1):
            if within(found):
                break
            before, found = times_as_slow(), measured(data, suffix, name)
            found["times as slow"] = max(before, times_as_slow())
        yield f"{suffix}, {name}", data, found


def torture_hostile(size: int = SIZE) -> Findings:
    """Every file of every format: within the seconds and the memory that a file may cost, read or refused."""
    costs = [(what, found) for what, _, found in all_measured(size)]
    worse = [f"{what}: {found}" for what, found in costs if not within(found)]
    figures = {
        "hostile files": len(costs),
        "hostile files refused": sum(bool(found["refused"]) for _, found in costs),
        "most processor seconds of a hostile file": max(float(str(found["seconds"])) for _, found in costs),
        "most megabytes of a hostile file": max(int(str(found["memory"])) for _, found in costs) // 10**6,
        "problems": worse,
    }
    return Findings(
        (violations("hostile files that cost more than they may", len(costs), len(worse)),), figures
    )


def main(chosen: list[str]) -> int:
    """Every file of the formats that are named, or of all."""
    worse = 0
    for what, data, found in all_measured(kinds=chosen):
        worse += not within(found)
        print(
            f"{'ok' if within(found) else 'WORSE':5} {what:36}{len(data) / 1e6:6.1f} MB {found['seconds']:7.2f} s "
            f"{int(str(found['memory'])) / 1e6:6.0f} MB  read {found['read']}, bad {found['bad']} {found['refused']}",
            flush=True,
        )
    print("passed" if not worse else f"FAILED: {worse} cost more than they may")
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
