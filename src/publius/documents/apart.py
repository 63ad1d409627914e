"""The process that takes foreign files apart: started by `publius.documents.office`, with limits, ended when late.

Requests and answers are msgpack over a pipe. Each file is read in a fork, so what one holds or breaks is gone before the
next (rule 5). What a library says of a file may quote it, so nothing of that leaves.
"""

from __future__ import annotations

import contextlib
import email.header
import email.parser
import email.policy
import importlib
import logging
import os
import re
import resource
import sys
import zipfile
from collections.abc import Callable, Iterator
from email.message import Message
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import msgspec

from publius.documents.document import BLOCKS, unescaped
from publius.documents.tables import whole_encoding
from publius.errors import MissingExtraError, extra
from publius.settings import Reading
from publius.text.normal_form import LONGEST_TEXT, decoded, normal_form, said

_MARKUP: Final = re.compile(  # each alternative ends at what closes it, or at the end: linear, whatever the page
    r"<!--.*?(?:-->|\Z)|<(script|style|template|noscript)(?=[\s/>]).*?(?:</\1\s*>|\Z)|<[!?][^>]*>?"
    r"""|</?([a-z][^\s/>]*)(?:[^>=]+|=\s*(?:"[^"]*(?:"|\Z)|'[^']*(?:'|\Z))?)*+>?""",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST: Final = LONGEST_TEXT + 1  # characters of a document that leave the fork: whoever asked cuts, and says so
_LONGEST_HEADER: Final = 2000  # characters; what parses one takes a time that grows with the square of its length
_NO_ADDRESS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\([^()]*\)')  # names in quotes and comments
_ADDRESS: Final = re.compile(r"(?:[^<@]*|[^<,;]*)<\s*([^\s<>@]+@[^\s<>@]+)\s*>\s*|[^@]*?([^\s<>,;@]+@[^\s<>,;@]+)[^@]*")
_WITHOUT_VALUE: Final = re.compile(rb"</f>\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>|<f/>\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")


def main() -> None:
    """Answer requests until there are none, or until one has ended its fork."""
    logging.disable()
    pipe: Connection[bytes, bytes] = Connection(int(sys.argv[2]))
    with contextlib.suppress(EOFError):
        while True:
            request = msgspec.msgpack.decode(pipe.recv_bytes())
            with contextlib.suppress(ImportError):  # once for all forks
                importlib.import_module(_LIBRARIES.get(request["kind"], "email"))
            if (fork := os.fork()) == 0:
                pipe.send_bytes(msgspec.msgpack.encode(_answer(request)))
                os._exit(0)
            if os.waitpid(fork, 0)[1]:
                return


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    with contextlib.suppress(ValueError):  # where the machine allows less
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]), most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        return {"found": READERS[request["kind"]](Path(os.fsdecode(request["path"])), request)}
    except MissingExtraError as error:
        return {"missing": error.__reduce__()[1]}
    except Exception:  # of a library on a damaged file
        return {"unreadable": True}


# One document a file --------------------------------------------------------------------------------------


def _docx(path: Path, request: dict[str, Any]) -> dict[str, Any]:
    with extra("documents", "python-docx"):
        import docx
        from docx.table import _Cell

    def lines(part: Any) -> Iterator[str]:
        for item in part.iter_inner_content():
            if hasattr(item, "rows"):  # a merged cell once, by its element: it may say that it spans 10^8 columns
                for row in item._tbl.tr_lst:
                    for cell in row.tc_lst:
                        if cell.vMerge != "continue":
                            yield from lines(_Cell(cell, item))
            else:
                yield item.text

    return {"text": "\n".join(lines(docx.Document(str(path))))[:_LONGEST]}


def _pdf(path: Path, request: dict[str, Any]) -> dict[str, Any]:
    """The text of its pages, and how many of them are pictures."""
    with extra("documents", "pypdf"):
        import pypdf
    pages, pictures = [], 0
    for page in pypdf.PdfReader(path).pages:
        text = page.extract_text()
        if len(text.split()) < 20 and page.images.keys():  # a picture with a stamp
            pictures, text = pictures + 1, ""
        pages.append(text)
    what = "pages that are pictures, which count as empty"
    if pictures == len(pages):
        what = "files that are pictures, which count as empty texts: recognise their text first"
        pictures = min(pictures, 1)
    return {"text": "\n".join(pages)[:_LONGEST], "told": {what: pictures}}


def _html(path: Path, request: dict[str, Any]) -> dict[str, Any]:
    """What a reader sees of the page, its title first; in the encoding of its mark, of its head, or of its letters."""
    data = path.read_bytes()
    whole = whole_encoding(data, Reading(encoding=request["encoding"]))
    named = re.search(rb"""charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", data[:2048])
    page = data.decode(whole, "replace") if whole else _as_said(data, named and named[1].decode())
    return {"text": _page(page)[:_LONGEST]}


def _page(page: str) -> str:
    """Its text; a parser that builds a tree is quadratic where tags are nested or attributes many."""
    text = _MARKUP.sub(lambda found: "\n" if (found[2] or "").lower() in BLOCKS else "", page)
    return "\n".join(line for part in unescaped(text).splitlines() if (line := " ".join(part.split())))


# Mail -----------------------------------------------------------------------------------------------------


def _mbox(path: Path, request: dict[str, Any]) -> list[int]:
    with path.open("rb") as file:
        starts, at, begins = [], 0, True
        while line := file.readline(2**20):
            if begins and line.startswith(b"From "):
                starts.append(at)
            at, begins = at + len(line), line.endswith(b"\n")
    return starts


def _mail(path: Path, request: dict[str, Any]) -> dict[str, Any]:
    """The text of a mail, its subject first, and who sent it, whatever charset it claims; of a ``sender`` this alone."""
    (start, stop), whole = request["part"], request["kind"] == "eml"
    with path.open("rb") as file:
        file.seek(start)
        data = file.read(min(stop - start, 2**27))
    parser = email.parser.BytesParser if whole else email.parser.BytesHeaderParser
    message = parser(policy=_ShortHeaders()).parsebytes(data)
    fields = {name.lower(): str(value) for name, value in reversed([*message.raw_items()])}
    sender = fields.get("from", "")
    address = _ADDRESS.fullmatch(_NO_ADDRESS.sub(" ", sender))  # of several none is the author's
    if address and len(sender) < _LONGEST_HEADER:
        sender = decoded((address[1] or address[2]).encode("ascii", "surrogateescape")).lower()
    elif "@" in normal_form("NFKC", sender := _header(sender)):
        sender = f'"{sender}"'  # a name, whatever it says
    parts = (_header(fields.get("subject", "")), _body(message).strip()) if whole else ()
    return {"text": "\n\n".join(filter(None, parts))[:_LONGEST], "from": sender}


class _ShortHeaders(email.policy.Compat32):
    """Cuts each header, those of parts too, before anything parses it."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_HEADER]


def _body(message: Message) -> str:
    """The first plain text that is no attachment, else the first page of HTML."""
    html: Message | None = None
    for part in message.walk():
        disposition = str(part.get("content-disposition", "")).strip().lower()
        if part.is_multipart() or disposition.startswith("attachment"):
            continue
        if part.get_content_type() == "text/plain":
            return _part(part)
        html = part if html is None and part.get_content_type() == "text/html" else html
    return "" if html is None else _page(_part(html))


def _part(part: Message) -> str:
    data = part.get_payload(decode=True)
    charset = None
    with contextlib.suppress(Exception):  # of a header that no parser takes
        charset = part.get_content_charset()
    return _as_said(data, charset) if isinstance(data, bytes) else ""


def _as_said(data: bytes, charset: str | None) -> str:
    """Text in the encoding that is named, where there is such a one and it fits; else in that of its letters."""
    with contextlib.suppress(LookupError, UnicodeError, ValueError):
        if charset and charset.lower() not in ("idna", "punycode", "latin-1", "iso-8859-1"):
            return data.decode(charset)
    return decoded(data)


def _header(raw: str) -> str:
    unfolded = " ".join(raw.encode("ascii", "surrogateescape").decode("latin-1").split())
    try:
        words = email.header.decode_header(unfolded)
    except Exception:  # not what it says: left as it stands
        words = [(unfolded, None)]
    parts = ((each.encode("latin-1", "replace") if isinstance(each, str) else each, charset) for each, charset in words)
    return "".join(_as_said(part, charset) for part, charset in parts)


# Workbooks ------------------------------------------------------------------------------------------------


def _sheets(path: Path, request: dict[str, Any]) -> list[Any]:
    """Each sheet's name, whether it is hidden, and its rows; and how many formulas have no stored value."""
    with extra("documents", "python-calamine"):
        from python_calamine import load_workbook
    book = load_workbook(str(path))
    found = []
    for facts in book.sheets_metadata:
        hidden = not str(facts.visible).endswith(".Visible")
        read = not hidden or facts.name in request["sheet"]
        rows = _rows(book.get_sheet_by_name(facts.name)) if read else []
        found.append([facts.name, hidden, [[None if cell == "" else said(cell) for cell in row] for row in rows]])
    formulas = 0
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as parts:
            for name in parts.namelist():
                if name.startswith("xl/worksheets/"):
                    formulas += len(_WITHOUT_VALUE.findall(parts.read(name)))
    return [found, formulas]


def _rows(sheet: Any) -> Iterator[list[Any]]:
    """A row with a cell that Python cannot hold, as 10^12 days, counts as an empty one: it stops no others (rule 5)."""
    rows, before = sheet.iter_rows(), [""] * (sheet.start or (0, 0))[1]
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except BaseException:  # a panic of its library is no Exception
            row = [""] * sheet.width
        yield before + row


READERS: Final[dict[str, Callable[[Path, dict[str, Any]], Any]]] = {
    "docx": _docx, "pdf": _pdf, "html": _html, "eml": _mail, "sender": _mail, "mbox": _mbox, "sheets": _sheets,
}  # fmt: skip

_LIBRARIES: Final = {"docx": "docx", "pdf": "pypdf", "sheets": "python_calamine"}

if __name__ == "__main__":
    main()
