"""Excel, Word, PDF and HTML become rows of text by the libraries of the extra ``documents``.

The files are hostile until shown otherwise: archives are measured before anything is unpacked, XML entities are not
expanded, nothing is fetched, no archive within an archive is opened, and whatever a library stumbles over is a bad
document whose message ends here, for it may quote the content.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import importlib
import logging
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any, Final

from publius.documents.row_readers import (
    BAD_GZIP,
    FILE_LIMIT,
    OTHER_COLUMN,
    RECORD_LIMIT,
    TOO_LONG,
    Row,
    bad_row,
    check_width,
    within_limit,
)
from publius.documents.table_form import decoded
from publius.errors import DataError, DocumentError, PubliusError, extra, how_many
from publius.files import open_binary, os_errors, shown, storage_error

UNPACKED_LIMIT: Final = 256 * 2**20
"""The most bytes that the parts of a .docx or .xlsx may have together, unpacked."""

UNPACKED_RATIO: Final = 100
"""How many times its size such a file may unpack to, beyond 16 MiB: office files reach about 20."""

PARTS_LIMIT: Final = 10_000
PAGES_LIMIT: Final = 5_000
ROWS_LIMIT: Final = 2**20
"""Rows that a sheet of Excel has; a file may claim more, which would be filled up with empty ones."""

ROWS_NAMED: Final = 5
"""Hidden rows of a sheet that are named by number."""

DEPTH_LIMIT: Final = 5_000
"""Elements of HTML within each other."""

ATTRIBUTES_LIMIT: Final = 250
"""Attributes of one element of HTML: a parser compares each with all before it."""

_ELEMENT: Final = re.compile(
    r"""<[a-zA-Z][^\s/>]*+(?:[\s/]++|[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+)*+"""
)
_ATTRIBUTE: Final = re.compile(
    r"""[\s/]++[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+|(?<=["'])[^\s/>]"""
)
_BLOCKS: Final = (
    "address,article,aside,blockquote,br,caption,dd,div,dl,dt,figcaption,figure,footer,form,h1,h2,h3,h4,h5,h6,"
    "header,hr,legend,li,main,nav,ol,option,p,pre,section,table,td,th,title,tr,ul"
)
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_CLOSE_THEMSELVES: Final = frozenset(
    "area base body br col colgroup dd dt embed head hr html img input li link meta option p param source tbody td "
    "tfoot th thead tr wbr".split()
)
_UNSEEN: Final = "script,style,template,noscript"
_CHARSET: Final = re.compile(rb"""charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""")
_MAIN: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_PART: Final = 2**16
_SCAN: Final = "there is no text in it: a scan, perhaps, whose text must be recognised first"


def _library(module: str, name: str) -> Any:
    with extra("documents", name):
        return importlib.import_module(module)


@contextlib.contextmanager
def _quiet(name: str) -> Iterator[None]:
    """A library's log may quote what it reads, so it says nothing meanwhile, nor do the logs below it."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _file_fault(path: Path, *, archive: bool) -> str | None:
    """Why a file is not handed to a library: too large, or an archive that unpacks too far."""
    with os_errors("open", path):
        size = path.stat().st_size
    if size > FILE_LIMIT:
        return f"the file has more than {FILE_LIMIT >> 20} MiB: split it into documents"
    if not archive:
        return None
    try:
        with zipfile.ZipFile(path) as parts:
            found = parts.infolist()
    except Exception as error:  # as in `whole_text`
        _raise_of_system(path, error)
        return "it is damaged, encrypted or of another kind than its name says: save it again"
    unpacked = sum(part.file_size for part in found)
    if len(found) > PARTS_LIMIT or unpacked > min(UNPACKED_LIMIT, max(16 * 2**20, UNPACKED_RATIO * size)):
        return "it unpacks suspiciously far: copy its text into a plain file if you trust it"
    return None


def whole_text(
    path: Path, column: str, read: Callable[[Path], str], kind: str, *, archive: bool = False
) -> Row:
    """The one row of a file that is one document, by a library's ``read``; a bad one for whatever goes wrong in it."""
    if (fault := _file_fault(path, archive=archive)) is not None:
        return bad_row("", fault)
    try:
        text = read(path)
    except Refused as refused:
        return bad_row("", str(refused))
    except DataError:
        return bad_row("", BAD_GZIP)
    except Exception as error:  # of a library on a damaged file: its message may quote the content
        _raise_of_system(path, error)
        return bad_row("", f"it cannot be read as {kind}: save it again, whole and not encrypted")
    if len(text) > RECORD_LIMIT:
        return bad_row("", TOO_LONG)
    if kind == "PDF" and not text.strip():
        return bad_row("", _SCAN)
    return Row("", {column: _without_controls(text)})


def _raise_of_system(path: Path, error: Exception) -> None:
    """Raise what is no defect of a file: our own errors, and those of the disk.

    A library's have no number, or that of a place where no file has bytes, which a damaged one names.
    """
    if isinstance(error, (PubliusError, MemoryError)):
        raise error
    if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        raise storage_error("read", path, error) from None


class Refused(Exception):
    """A file that a library could read and we do not take; the message is ours."""


def _without_controls(text: str) -> str:
    """Lone surrogates and null characters, which libraries may make of damaged files, become replacement characters."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")


def read_docx(path: Path, columns: tuple[str, ...]) -> Iterator[Row]:
    """One row: paragraphs and tables of the body in their order. Headers, footers, notes and comments are left out."""
    docx = _library("docx", "python-docx")

    def text_of(path: Path) -> str:
        return "\n".join(_docx_lines(docx.Document(str(path))))

    yield whole_text(path, columns[0], text_of, "a Word document", archive=True)


def _docx_lines(part: Any) -> Iterator[str]:
    pending = [part.iter_inner_content()]
    while pending:
        item = next(pending[-1], None)
        if item is None:
            pending.pop()
        elif hasattr(item, "rows"):
            pending.extend(cell.iter_inner_content() for cell in reversed(_docx_cells(item)))
        else:
            yield item.text


def _docx_cells(table: Any) -> list[Any]:
    """The cells of a table, a merged one once: by their elements, for a cell may say that it spans 10^8 columns."""
    cell = _library("docx.table", "python-docx")._Cell
    elements = [element for row in table._tbl.tr_lst for element in row.tc_lst]
    return [cell(element, table) for element in elements if element.vMerge != "continue"]


def read_pdf(path: Path, columns: tuple[str, ...]) -> Iterator[Row]:
    """One row: the text of all pages, as the file has it; none is recognised in images."""
    pypdf = _library("pypdf", "pypdf")

    def text_of(path: Path) -> str:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted:
            raise Refused("it is encrypted: save it without a password")
        if len(reader.pages) > PAGES_LIMIT:
            raise Refused(f"it has more than {PAGES_LIMIT:,} pages: split it into documents")
        pages: list[str] = []
        length = 0
        for page in reader.pages:
            pages.append(page.extract_text())
            length += len(pages[-1])
            if length > RECORD_LIMIT:
                raise Refused(TOO_LONG)
        return "\n".join(pages)

    with _quiet("pypdf"):
        yield whole_text(path, columns[0], text_of, "PDF")


def read_html(path: Path, columns: tuple[str, ...]) -> Iterator[Row]:
    """One row: what a reader sees of the page, its title first."""
    _library("selectolax.lexbor", "selectolax")
    yield whole_text(path, columns[0], lambda path: html_text(_html_bytes(path)), "HTML")


def _html_bytes(path: Path) -> bytes:
    with open_binary(path) as stream:
        data = stream.read(RECORD_LIMIT + 1)
    if len(data) > RECORD_LIMIT:
        raise Refused(TOO_LONG)
    return data


def html_text(page: bytes | str) -> str:
    """The text of a page; of bytes in the encoding that a mark or the page names, else in that of its letters."""
    text = page if isinstance(page, str) else _html_decoded(page)
    if _depth(text) > DEPTH_LIMIT:
        raise Refused("its elements are nested too deeply: save it as plain text")
    if _most_attributes(text) > ATTRIBUTES_LIMIT:
        raise Refused(f"an element has more than {ATTRIBUTES_LIMIT} attributes: save it as plain text")
    tree = _library("selectolax.lexbor", "selectolax").LexborHTMLParser(text)
    for node in tree.css(_UNSEEN):
        node.decompose()
    for node in tree.css(_BLOCKS):
        node.insert_before("\n")
        node.insert_after("\n")
    text = tree.root.text(deep=True) if tree.root is not None else ""
    return "\n".join(line for part in text.splitlines() if (line := " ".join(part.split())))


def _depth(page: str) -> int:
    """At least how deep the elements of a page can stand within each other: parsing takes the square of that."""
    unclosed: Counter[str] = Counter()
    depth = 0
    for tag in _TAG.finditer(page):
        closing, name = tag.groups()
        if (name := name.lower()) in _CLOSE_THEMSELVES:
            continue
        step = 1 if not closing else -1 if unclosed[name] else 0
        unclosed[name] += step
        depth += step
        if depth > DEPTH_LIMIT:
            break
    return depth


def _most_attributes(page: str) -> int:
    """At least how many attributes an element of a page has, up to a little beyond the limit; in one pass."""
    most = 0
    for element in _ELEMENT.finditer(page):
        if element.end() - element.start() > ATTRIBUTES_LIMIT:  # an attribute has a letter at least
            found = islice(_ATTRIBUTE.finditer(page, element.start(), element.end()), ATTRIBUTES_LIMIT + 1)
            most = max(most, sum(1 for _ in found))
    return most


def _html_decoded(data: bytes) -> str:
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding)
    named = _CHARSET.search(data[:2048])
    if named:
        with contextlib.suppress(LookupError, UnicodeError):
            return data.decode(named[1].decode("ascii"))
    return decoded(data)


def read_xlsx(path: Path, columns: tuple[str, ...]) -> Iterator[Row]:
    """One row a row of the first sheet below its header, which has each of ``columns`` once; of formulas the values."""
    rows = _sheet(path)
    header = [_cell(value) for value in next(rows, ())]
    counts = Counter(header)
    for column in columns:
        if counts[column] != 1:
            raise DocumentError(
                f"{shown(path)}: the first row of the first sheet has {counts[column] or 'no'} columns called "
                f"{column!r} among {len(header)}: it must be a header that names each once. {OTHER_COLUMN}"
            )
    at = {column: place for place, column in enumerate(header)}
    places = {column: at[column] for column in columns}
    for number, row in enumerate(rows, start=2):
        if number > ROWS_LIMIT:
            raise DocumentError(f"{shown(path)} says that it has more rows than Excel allows: save it again")
        if row.count(None) == len(row):
            continue
        cells = [_cell(value) for value in row]
        if any(cells):
            cells += [""] * (len(header) - len(cells))
            fields = {column: cells[place] for column, place in places.items()}
            yield within_limit(Row(f"row {number}", fields))


def xlsx_header(path: Path) -> list[str]:
    """The names of the columns: the first row of the first sheet."""
    return [_cell(value) for value in next(_sheet(path), ())]


def xlsx_unseen(path: Path) -> tuple[int, int, list[int]]:
    """How many sheets a workbook has, how many rows of the first are hidden, and the first of these."""
    with _sheets(path) as sheets, sheets[0]._get_source() as source:
        found = _HiddenRows()
        parser = _library("defusedxml.ElementTree", "defusedxml").DefusedXMLParser(target=found)
        while part := source.read(_PART):
            parser.feed(part)
        parser.close()
        return len(sheets), found.count, found.first


class _HiddenRows:
    """Hidden rows below the header that have a value, for a parser of XML."""

    def __init__(self) -> None:
        self.count = self._number = 0
        self.first: list[int] = []
        self._hidden = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == f"{_MAIN}row":
            self._number = int(float(attributes.get("r", self._number + 1)))
            self._hidden = attributes.get("hidden") in ("1", "true") and self._number > 1
        elif self._hidden and tag in (f"{_MAIN}v", f"{_MAIN}is"):
            self._hidden = False
            self.count += 1
            if len(self.first) < ROWS_NAMED:
                self.first.append(self._number)

    def close(self) -> None:
        pass


def _sheet(path: Path) -> Iterator[tuple[Any, ...]]:
    with _sheets(path) as (sheet, *_):
        sheet.reset_dimensions()  # what the file says of its size is not believed
        header = _header_cells(path, next(sheet.iter_rows(max_row=1, values_only=True), ()))
        yield header
        if header:
            yield from sheet.iter_rows(min_row=2, max_col=len(header), values_only=True)


@contextlib.contextmanager
def _sheets(path: Path) -> Iterator[list[Any]]:
    """The sheets of a workbook, of which the first is seen; `DocumentError` for whatever goes wrong with them."""
    openpyxl = _library("openpyxl", "openpyxl")
    _library("defusedxml", "defusedxml")  # openpyxl expands no entities where it is there
    if (fault := _file_fault(path, archive=True)) is not None:
        raise DocumentError(f"{shown(path)}: {fault}")
    warnings.filterwarnings("ignore", module=r"openpyxl\b")  # its warnings quote cells
    book = None
    with os_errors("open", path):
        stream = path.open(
            "rb"
        )  # a path would be judged by its suffix, which the name of a held file has not
    try:
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True, keep_links=False)
        sheets = book.worksheets
        if sheets[0].sheet_state != "visible":
            raise DocumentError(
                f"{shown(path)}: the first of its {how_many(len(sheets), 'sheet')} is hidden: put the sheet that is "
                "meant first, or save it as CSV"
            )
        yield sheets
    except Exception as error:  # as in `whole_text`
        _raise_of_system(path, error)
        raise DocumentError(
            f"{shown(path)} cannot be read as an Excel workbook: save it again, whole and not encrypted"
        ) from None
    finally:
        if book is not None:
            book.close()
        stream.close()


def _header_cells(path: Path, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The first row up to its last cell with a value; `DocumentError` where that is too far out."""
    width = max((place for place, value in enumerate(row, start=1) if value is not None), default=0)
    check_width(path, width)
    return row[:width]


def _cell(value: object) -> str:
    """A cell's value as people write it; whole numbers without a decimal point."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)
