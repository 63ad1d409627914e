"""How a table of text is written: what separates its fields, and its encoding; found by looking at its start."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from publius.documents.languages import language_of
from publius.errors import DocumentError, MissingExtraError, UsageError, extra
from publius.files import open_binary, shown
from publius.settings import Quotes

SAMPLE: Final = 2**20
"""Bytes at the start of a file that are looked at."""

DELIMITERS: Final = (",", ";", "\t", "|")
"""What may separate fields when nothing is said, the usual first."""

NOT_FOUND: Final = (
    "not UTF-8: name its encoding with --encoding (iso-8859-1, say), or have it found: "
    "pip install 'publius[documents]'"
)
"""What is said of a text whose encoding could be told, had the library that tells it been installed."""

_TELLING: Final = 2**16  # bytes beyond ASCII, with their lines, from which an encoding is told
_NEAR: Final = 0.06  # of the library's measure of disorder
_CENTRAL: Final = frozenset({"pl", "cs", "sk", "hu", "sl", "hr", "bs", "sq", "ro"})
_NAMED: Final = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_STATEFUL: Final = ("iso2022", "hz", "utf-7")
_OF_NAMES: Final = ("idna", "punycode", "unicode-escape", "raw-unicode-escape")
"""Encodings of names and of programs, in which a text could write a line break of the table."""
_NO_LETTERS: Final = bytes(range(0x80, 0xA0))
"""In Latin-1 they are controls."""
_CANDIDATES: Final = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "iso8859_2",
    "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr", "utf_16_le", "utf_16_be",
)  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class TableForm:
    """The delimiter of a table, the encoding of its text (a name that Python knows), and what its quotation marks are.

    Where nothing tells that, a field in quotation marks goes over no line that could be a row.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    quotes: Quotes | None = None

    def __str__(self) -> str:
        """For people: what was found, in words."""
        quotes = {None: "", "fields": ", in quotation marks where needed", "letters": ", a row a line"}[
            self.quotes
        ]
        return f"{self.encoding}, fields separated by {self.separator}{quotes}"

    @property
    def separator(self) -> str:
        """The delimiter in words."""
        names = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
        return names.get(self.delimiter, repr(self.delimiter))


def checked_delimiter(delimiter: str | None) -> str | None:
    """One character, or the name of one (tab, comma, semicolon, pipe); `UsageError` otherwise."""
    if delimiter is None:
        return None
    found = _NAMED.get(delimiter, delimiter)
    if len(found) != 1 or found in '"\r\n' or (found != "\t" and not found.isprintable()):
        raise UsageError(f"a delimiter is one character, or tab, not {delimiter!r}")
    return found


def checked_encoding(encoding: str | None) -> str | None:
    """The name of an encoding of text as it is written in files; `UsageError` for one that does not exist."""
    if encoding is None:
        return None
    try:
        codec = codecs.lookup(encoding)
        "a".encode(codec.name).decode(
            codec.name
        )  # rot13 and base64 are codecs, too, and no encodings of text
    except (LookupError, UnicodeError, ValueError, TypeError):
        raise UsageError(f"no encoding is called {encoding!r}: utf-8, iso-8859-1 or cp1252, say") from None
    if codec.name in _OF_NAMES:
        raise UsageError(f"no file of texts is written in {codec.name}: utf-8, iso-8859-1 or cp1252, say")
    if codec.name.startswith(_STATEFUL):
        raise UsageError(
            f"in {codec.name} one text can change how those after it are read: convert the file to UTF-8"
        )
    return _plain_name(codec.name)


def _plain_name(name: str) -> str:
    return {"utf_8_sig": "utf-8", "utf-8-sig": "utf-8", "iso8859-1": "iso-8859-1"}.get(
        name, name.replace("_", "-")
    )


def find_form(
    path: Path,
    columns: Sequence[str] = (),
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    quotes: Quotes | None = None,
    by_letters: bool = False,
) -> TableForm:
    """The form of the table at ``path``: what is given, and what its first `SAMPLE` bytes show for the rest.

    The header alone decides the delimiter: the one by which it names all ``columns``, otherwise that by which it has
    most of them; the rows of one author would decide it for all. The encoding is that of the mark at the start of the
    file, else UTF-8; ``by_letters`` it is what the letters of all rows tell. What is released is never read so: the
    letters of one author would decide how everybody's are read. Quotation marks enclose fields where the header has
    each of its names in them. Raises `UsageError` for names that do not exist, `DocumentError` where the letters tell
    nothing.
    """
    delimiter, encoding = checked_delimiter(delimiter), checked_encoding(encoding)
    if delimiter is not None and encoding is not None and quotes is not None:
        return TableForm(delimiter, encoding, quotes)
    with open_binary(path) as stream:
        data = stream.read(SAMPLE)
    chosen = encoding or (find_encoding(path, data) if by_letters else _marked(data) or "utf-8")
    try:
        text = _decoded(data, chosen)
    except UnicodeError:  # such as UTF-16 without the mark that it begins with
        raise DocumentError(f"{shown(path)} is not {chosen}: name another encoding") from None
    between = delimiter or _delimiter(text, columns)
    return TableForm(between, chosen, quotes or ("fields" if _quotes_names(text, between) else None))


def _quotes_names(text: str, delimiter: str) -> bool:
    """Whether the header, which no author wrote, has each of its names in quotation marks."""
    header = text.lstrip("\r\n").partition("\n")[0].removesuffix("\r")
    return re.fullmatch(f'"[^"]*"(?:{re.escape(delimiter)}"[^"]*")*+', header) is not None


def _decoded(data: bytes, encoding: str) -> str:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    return decoder.decode(data).removeprefix("\ufeff")


def find_encoding(path: Path, data: bytes) -> str:
    """The encoding of the bytes at the start of a file: by its mark, else UTF-8 where that fits, else by its letters.

    Some bytes that are not UTF-8 in a file that else is leave it UTF-8: those rows are damaged, and said to be.
    """
    if name := _marked(data):
        return name
    good, bad = _utf8_lines(data)
    if good >= bad and b"\0" not in data:
        return "utf-8"
    return _by_letters(path, data)


def _marked(data: bytes) -> str | None:
    """The encoding that the mark at the start of a file names; None without one."""
    return next((name for mark, name in _MARKS if data.startswith(mark)), None)


def _utf8_lines(data: bytes) -> tuple[int, int]:
    """How many lines hold letters beyond ASCII in UTF-8, and how many hold bytes that no UTF-8 has."""
    good = bad = 0
    lines = data.split(b"\n")
    for line in lines[:-1] if len(lines) > 1 and len(data) >= SAMPLE else lines:
        if line.isascii():
            continue
        try:
            line.decode("utf-8")
            good += 1
        except UnicodeDecodeError:
            bad += 1
    return good, bad


def text_encoding(data: bytes) -> str | None:
    """The encoding of a text that stands in no table: None where it cannot be told; errors as `encoding_of`."""
    if name := _marked(data):
        return name
    good, bad = _utf8_lines(data)
    return "utf-8" if good >= bad and b"\0" not in data else encoding_of(data)


def decoded(data: bytes) -> str:
    """Text in the encoding that its letters tell, else in Windows-1252, which has a letter for nearly every byte."""
    with contextlib.suppress(UnicodeDecodeError):
        return data.decode("utf-8-sig")
    found = None
    with contextlib.suppress(MissingExtraError):
        found = text_encoding(data[:SAMPLE])
    return data.decode(found or "cp1252", "replace").removeprefix("\ufeff")


def _by_letters(path: Path, data: bytes) -> str:
    """By the letters beyond ASCII; the western and the central European code pages, nearly alike, by the language."""
    try:
        found = encoding_of(data)
    except MissingExtraError:
        raise UsageError(f"{shown(path)} is {NOT_FOUND}") from None
    if found is None:
        raise DocumentError(
            f"the encoding of {shown(path)} cannot be told: name it with --encoding (iso-8859-1, say)"
        )
    return found


def encoding_of(data: bytes) -> str | None:
    """The encoding of bytes that are not UTF-8, by their letters; None where it cannot be told.

    `MissingExtraError` without the library that tells it.
    """
    with extra("documents", "charset-normalizer"):
        import charset_normalizer
    telling = (
        b"\n".join(line for line in data.split(b"\n") if not line.isascii())[:_TELLING] or data[:_TELLING]
    )
    matches = charset_normalizer.from_bytes(
        telling, cp_isolation=list(_CANDIDATES), preemptive_behaviour=False
    )
    best = matches.best()
    if best is None:
        return None
    near = [
        name for match in matches if match.chaos <= best.chaos + _NEAR for name in match.could_be_from_charset
    ]
    if "cp1252" not in near:
        return _plain_name(best.encoding)
    if _central_european(telling):
        return _plain_name(best.encoding if best.encoding == "iso8859_2" else "cp1250")
    return "cp1252" if data != data.translate(None, _NO_LETTERS) else "iso-8859-1"


def _central_european(data: bytes) -> bool:
    with contextlib.suppress(MissingExtraError):
        return language_of(data.decode("cp1250", "replace")) in _CENTRAL
    return False


def _delimiter(text: str, columns: Sequence[str]) -> str:
    headers = {each: _header_of(text, each) for each in DELIMITERS}
    return max(DELIMITERS, key=lambda each: _score(headers[each], columns))


def _header_of(text: str, delimiter: str) -> list[str]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    with contextlib.suppress(csv.Error):
        return next((row for row in reader if row), [])
    return []


def _score(header: Sequence[str], columns: Sequence[str]) -> tuple[bool, bool, bool, int]:
    """How well a delimiter fits: whether the header has the columns, or several; whether none begins with a space."""
    named = bool(columns) and all(header.count(column) == 1 for column in columns)
    return named, len(header) > 1, not any(cell.startswith(" ") for cell in header), len(header)
