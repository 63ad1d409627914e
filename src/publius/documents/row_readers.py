"""Files of documents become rows of named fields, one at a time, in bounded memory.

A row that cannot be read is a `Row` with a problem, so that a run may skip it and go on. What leaves no way
to find the next row (a damaged file, a header without the fields) is raised. Neither holds any content: fields are
named as the user named them, and places are line and row numbers.
"""

from __future__ import annotations

import codecs
import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, final

from publius.documents.long_rows import long_object
from publius.documents.parquet_limits import Allowance
from publius.documents.table_form import NOT_FOUND, TableForm, text_encoding
from publius.errors import DataError, DocumentError, MissingExtraError, extra
from publius.files import open_binary, shown, storage_error

if TYPE_CHECKING:
    import pyarrow

OTHER_COLUMN: Final = "Say which column it is, as with --text-field; publius inspect shows the columns"
RECORD_LIMIT: Final = 16 * 2**20
"""Longest document in bytes as stored: a file .txt, a line of JSONL, a row of CSV; some two million words."""

FILE_LIMIT: Final = 64 * 2**20
"""Largest file in bytes that is handed to a library; any that is one document is bad above it."""

COLUMNS_LIMIT: Final = 1_000
"""Columns of a table."""

ROWS_LIMIT: Final = 2**19
"""Rows of a file whose rows are nearly empty; any number where they have `ROW_BYTES` each on average."""

ROW_BYTES: Final = 32
"""Bytes that so many rows have on average, as stored, or characters of CSV: reading a file costs what its rows do."""

BRACKETS_LIMIT: Final = 2**20
"""Lists and objects of a line of JSON: each takes far more memory than the two bytes that it has in the file."""

_MARK: Final = b"\xef\xbb\xbf"  # the byte order mark that some programs put before UTF-8
TOO_LONG: Final = f"more than {RECORD_LIMIT >> 20} MiB: split it into documents"
"""Why a document of more than `RECORD_LIMIT` is bad."""

_PART: Final = 2**20  # of a line that is too long to be held
BAD_GZIP: Final = "gzip that is damaged, or no gzip, or unpacks suspiciously far: unpack it yourself"


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One record where it stands: its fields, or the problem that kept it from being read.

    With a problem there are those fields that can be told all the same: who wrote it, say.
    """

    place: str
    fields: Mapping[str, object] = field(repr=False)
    problem: str | None = None
    encoding: str | None = None
    """Of a text that is a file: how it was read."""


def bad_row(place: str, problem: str) -> Row:
    """A record that could not be read, and why."""
    return Row(place, {}, problem)


def read_txt(
    path: Path, columns: tuple[str, ...], form: TableForm = TableForm(), *, links: bool = True
) -> Iterator[Row]:
    """One row: the whole file as the only one of ``columns``, in the encoding of ``form`` or, without one, as found."""
    try:
        with open_binary(path, links=links) as stream:
            data = stream.read(RECORD_LIMIT + 1)
    except DataError:
        yield bad_row("", BAD_GZIP)
        return
    if len(data) > RECORD_LIMIT:
        yield bad_row("", TOO_LONG)
        return
    name = form.encoding
    try:
        name = name or _told(data)
        yield Row("", {columns[0]: data.decode(name).removeprefix("\ufeff")}, encoding=name)
    except MissingExtraError:
        yield bad_row("", NOT_FOUND)
    except UnicodeDecodeError as error:
        utf8 = name in ("", "utf-8")
        yield bad_row("", _not_utf8(error.start) if utf8 else f"not {name}: name another --encoding")


def _told(data: bytes) -> str:
    """The encoding of a whole text: UTF-8 where all of it fits, else by its letters."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return text_encoding(data) or "utf-8"
    return "utf-8"


def _not_utf8(position: int) -> str:
    return f"not UTF-8 at byte {position + 1}: convert the file to UTF-8"


def read_jsonl(
    path: Path,
    columns: tuple[str, ...],
    start: int = 0,
    stop: int | None = None,
    form: TableForm = TableForm(),
    *,
    links: bool = True,
    before: int | None = None,
) -> Iterator[Row]:
    """One row a line that is not blank: a JSON object. ``columns`` are not checked here.

    Of a plain file a range can be read: the lines whose first byte is from ``start`` on and before ``stop``. Where it
    is known how many lines stand ``before`` them, their places are those in the whole file.
    """
    encoding = form.encoding or "utf-8"
    with open_binary(path, max(0, start - 1), links=links) as stream:
        after = f" after byte {start}" if start and before is None else ""
        size = 0
        for number, line in _lines(stream, start, stop):
            size += len(line) if isinstance(line, bytes) else RECORD_LIMIT
            check_filled(path, number, size)
            place = f"line {number + (before or 0)}{after}"
            if not isinstance(line, bytes):
                yield Row(place, _long_line(line, encoding), TOO_LONG)
            elif line.strip():
                yield Row(place, *_json_object(line, encoding))


def check_filled(path: Path, rows: int, size: int) -> None:
    """`DocumentError` for more than `ROWS_LIMIT` ``rows`` that have less than `ROW_BYTES` of ``size`` on average."""
    if rows > ROWS_LIMIT and size < rows * ROW_BYTES:
        raise DocumentError(
            f"{shown(path)} has more than {ROWS_LIMIT:,} rows of fewer than {ROW_BYTES} bytes each on average, as "
            f"files do that are made to keep a reader busy: cut it into files of at most {ROWS_LIMIT:,} rows"
        )


@final
@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines of a file whose first bytes are from ``start`` on and before ``stop``, with so many ``rows``.

    So many lines stand ``before`` them.
    """

    start: int
    stop: int
    before: int
    rows: int


def cut_jsonl(path: Path, rows: int, most: int, *, links: bool = True) -> Iterator[LineRange]:
    """Ranges of ``rows`` rows each for `read_jsonl`, of fewer where they have more than ``most`` bytes; in order."""
    with open_binary(path, links=links) as stream:
        start = before = found = size = number = end = 0
        while line := stream.readline(RECORD_LIMIT + 1):
            number, length = number + 1, len(line)
            end += length
            if length > RECORD_LIMIT:
                end += _LongLine(stream, line).rest()
                size, found = size + RECORD_LIMIT, found + 1
            else:
                if number == 1:
                    line = line.removeprefix(_MARK)
                size += length
                if line and not line.isspace():
                    found += 1
            if found == rows or end - start >= most:
                check_filled(path, number, size)
                yield LineRange(start, end, before, found)
                start, before, found = end, number, 0
        check_filled(path, number, size)
        if found:
            yield LineRange(start, end, before, found)


def _lines(stream: BinaryIO, start: int, stop: int | None) -> Iterator[tuple[int, bytes | _LongLine]]:
    """Pairs (number, line) from ``stream``, which stands one byte before ``start``."""
    number, at = 0, start
    if start:  # the line that holds the byte before belongs to the range before
        at += _LongLine(stream, b"?").rest() - 1
    while (stop is None or at < stop) and (line := stream.readline(RECORD_LIMIT + 1)):
        number, at = number + 1, at + len(line)
        told = line.removeprefix(_MARK) if number == 1 and not start else line
        if len(line) <= RECORD_LIMIT:
            yield number, told
            continue
        long = _LongLine(stream, told)
        yield number, long
        at += long.rest()


@final
class _LongLine:
    """A line that is too long to be held: what began it, and then part by part what is left, once."""

    def __init__(self, stream: BinaryIO, line: bytes) -> None:
        self._read = 0
        self._parts = self._of(stream, line)

    def __iter__(self) -> Iterator[bytes]:
        return self._parts

    def _of(self, stream: BinaryIO, line: bytes) -> Iterator[bytes]:
        yield line
        while line and not line.endswith(b"\n"):
            line = stream.readline(_PART)
            self._read += len(line)
            yield line

    def rest(self) -> int:
        """Pass over what nobody read; how many bytes came after what began it."""
        for _ in self._parts:
            pass
        return self._read


class _RepeatedFieldError(ValueError):
    """A JSON object names a field twice, and readers differ in which they take."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _RepeatedFieldError
    return fields


def _whole_number(digits: str) -> int | None:
    """A number; None where it has more digits than Python reads."""
    try:
        return int(digits)
    except ValueError:
        return None


_ORDINARY: Final = bytes({*range(256)} - {*b'"[{'})
_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique)
_WITHOUT_LARGE: Final = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_whole_number)
_REPLACED: Final = "\ufffd"  # what decoders put in the place of bytes that they cannot read


def _json_object(line: bytes, encoding: str) -> tuple[dict[str, object], str | None]:
    """The object of a line, and why it cannot be read: the decoder's own messages may quote it, so they end here.

    Where single values cannot be read there are the others.
    """
    if line.count(b"{") + line.count(b"[") > BRACKETS_LIMIT and _brackets(line) > BRACKETS_LIMIT:
        too_many = f"more than {BRACKETS_LIMIT:,} lists and objects: split it into documents"
        return _outermost(line.decode(encoding, "replace")), too_many
    problem = None
    try:
        text = line.decode(encoding)
    except UnicodeDecodeError as error:
        problem = (
            _not_utf8(error.start) if encoding == "utf-8" else f"not {encoding}: name another --encoding"
        )
        text = line.decode(encoding, "replace")
    try:
        try:
            value = _DECODER.decode(text)
        except (json.JSONDecodeError, _RepeatedFieldError):
            raise
        except ValueError:
            problem = "a number has too many digits: write it as a string"
            value = _WITHOUT_LARGE.decode(text)
    except _RepeatedFieldError:
        return _outermost(text), "a field is there twice: keep one of them"
    except RecursionError:
        return _outermost(text), "lists or objects are nested too deeply: flatten them"
    except json.JSONDecodeError as error:
        return {}, problem or f"not JSON from column {error.colno} on: write one object a line"
    if not isinstance(value, dict):
        return {}, problem or f"not an object but {kind_of(value)}: write one object a line"
    return (value if problem is None else _surely(value)), problem


def _outermost(text: str) -> dict[str, object]:
    """The values of an object that are no lists and no objects, whatever those hold: who wrote it, say."""
    import numpy as np

    data = text.encode("utf-8", "surrogatepass")
    found = np.frombuffer(data, np.uint8).copy()
    told = np.frombuffer(data.replace(rb"\\", b"  ").replace(rb"\"", b"  "), np.uint8)
    within = np.cumsum(told == ord('"'), dtype=np.int32) % 2 == 1
    opening, closing = (~within & np.isin(told, [ord(each) for each in marks]) for marks in ("[{", "]}"))
    depth = np.cumsum(opening.astype(np.int8) - closing.astype(np.int8), dtype=np.int32)
    value = opening & (depth == 2)
    found[value] = 1  # no JSON has such a byte
    outer = (depth < 2) & ~(closing & (depth == 1))
    said = found[value | outer].tobytes().replace(b"\1", b"null")
    try:
        fields = _WITHOUT_LARGE.decode(said.decode("utf-8", "surrogatepass"))
    except ValueError:
        return {}
    return _surely(fields) if isinstance(fields, dict) else {}


def _surely(fields: dict[str, object]) -> dict[str, object]:
    """Those of a damaged object that are as they were written, as far as can be told."""
    return {
        name: value
        for name, value in fields.items()
        if value is not None and _REPLACED not in name and not (isinstance(value, str) and _REPLACED in value)
    }


def _long_line(parts: Iterable[bytes], encoding: str) -> dict[str, object]:
    """The short values of the object of a line that is too long; none where it has none that can be told."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    said = long_object(map(decoder.decode, parts), RECORD_LIMIT)
    fields, _ = ({}, None) if said is None else _json_object(said.encode("utf-8", "surrogatepass"), "utf-8")
    return _surely(fields)


def _brackets(line: bytes) -> int:
    """How many lists and objects a line opens: brackets within a text open none."""
    bare = line.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, _ORDINARY)
    found = inside = 0
    for start in range(
        0, len(bare), 2**16
    ):  # piece by piece: each piece of text takes more memory than its bytes
        parts = bare[start : start + 2**16].split(b'"')
        found += sum(map(len, parts[inside::2]))
        inside = (inside + len(parts) - 1) % 2
    return found


def kind_of(value: object) -> str:
    """The type of a value, in the words of JSON, for messages that must not show it."""
    kinds: dict[type, str] = {
        bool: "true or false", str: "a string", int: "a number", float: "a number", list: "a list",
        dict: "an object", type(None): "null",
    }  # fmt: skip
    return kinds.get(type(value), "something else")


def check_width(path: Path, columns: int) -> None:
    """`DocumentError` for a table of more than `COLUMNS_LIMIT` columns."""
    if columns > COLUMNS_LIMIT:
        raise DocumentError(
            f"{shown(path)} has {columns:,} columns, more than {COLUMNS_LIMIT:,}: keep those that are needed"
        )


def read_parquet(
    path: Path, columns: tuple[str, ...], start: int = 0, stop: int | None = None
) -> Iterator[Row]:
    """One row a row; all of ``columns`` must be there once, flat, as strings, numbers or booleans.

    A range can be read: the rows from ``start`` (the first is 0) on and before ``stop``.
    """
    with _open_parquet(path) as file:
        _check_schema(file.schema_arrow, path, columns)
        try:
            allowance = Allowance(path, file.metadata, columns)
        except ValueError as error:
            raise (error if isinstance(error, DocumentError) else _damaged(path)) from None
        groups, number = _overlapping(file.metadata, start, stop)
        chosen = {"columns": list(columns), "row_groups": groups}
        for batch in file.iter_batches(allowance.rows, **chosen, use_threads=False) if groups else ():
            for index in range(batch.num_rows):
                number += 1
                if start < number and (stop is None or number <= stop):
                    yield _parquet_row(f"row {number}", batch, index, columns, allowance)


def _overlapping(metadata: Any, start: int, stop: int | None) -> tuple[list[int], int]:
    """The row groups that have rows from ``start`` on and before ``stop``, and how many rows are before them."""
    groups: list[int] = []
    before = first = 0
    for group in range(metadata.num_row_groups):
        after = before + metadata.row_group(group).num_rows
        if after > start and (stop is None or before < stop):
            first = first if groups else before
            groups.append(group)
        before = after
    return groups, first


def parquet_groups(path: Path) -> list[tuple[int, int]]:
    """Rows and bytes of each row group."""
    with _open_parquet(path) as file:
        groups = [file.metadata.row_group(group) for group in range(file.metadata.num_row_groups)]
        return [(int(group.num_rows), int(group.total_byte_size)) for group in groups]


def parquet_columns(path: Path) -> list[str]:
    """The names of the columns."""
    with _open_parquet(path) as file:
        return [str(name) for name in file.schema_arrow.names]


@contextlib.contextmanager
def _open_parquet(path: Path) -> Iterator[Any]:
    pyarrow, parquet = import_parquet()
    try:
        with parquet.ParquetFile(path, buffer_size=2**20, pre_buffer=False) as file:
            yield file
    except OSError as error:  # pyarrow's own for a damaged file, too, then without a number
        raise (storage_error("read", path, error) if error.errno else _damaged(path)) from None
    except pyarrow.ArrowException:  # its message may quote a value, so it ends here
        raise _damaged(path) from None


def _damaged(path: Path) -> DocumentError:
    return DocumentError(f"{shown(path)} cannot be read as Parquet: write it again, whole and not encrypted")


def import_parquet() -> tuple[Any, Any]:
    """The modules pyarrow and pyarrow.parquet; `MissingExtraError` when the extra is not installed."""
    with extra("parquet", "pyarrow"):
        import pyarrow
        import pyarrow.parquet
    return pyarrow, pyarrow.parquet


def _check_schema(schema: pyarrow.Schema, path: Path, columns: tuple[str, ...]) -> None:
    types = import_parquet()[0].types
    flat = (types.is_string, types.is_large_string, types.is_integer, types.is_floating, types.is_boolean)
    for column in columns:
        found = schema.get_all_field_indices(column)
        if len(found) != 1:
            raise DocumentError(
                f"{shown(path)} has {len(found) or 'no'} columns called {column!r}. {OTHER_COLUMN}"
            )
        kind = schema.field(found[0]).type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        if not any(accepts(kind) for accepts in flat):
            raise DocumentError(
                f"{shown(path)}: convert the column {column!r} to strings, numbers or booleans"
            )


def _parquet_row(
    place: str, batch: pyarrow.RecordBatch, index: int, columns: tuple[str, ...], allowance: Allowance
) -> Row:
    fields: dict[str, object] = {}
    problem = None
    for column in columns:
        found = batch.column(column)[index]
        if long := _too_long(found):
            allowance.pass_over(long)
            problem = TOO_LONG
            continue
        try:
            fields[column] = found.as_py()
        except UnicodeDecodeError:
            problem = "not UTF-8: write the column as UTF-8"
    allowance.take(fields)
    return Row(place, fields, problem)


def _too_long(found: Any) -> int:
    """Bytes of a text that is longer than a document may be, told without a copy of it; 0 for any other value."""
    arrow, _ = import_parquet()
    value = found.value if isinstance(found, arrow.DictionaryScalar) else found
    if not isinstance(value, arrow.StringScalar | arrow.LargeStringScalar) or not value.is_valid:
        return 0
    size = int(value.as_buffer().size)
    return size if size > RECORD_LIMIT else 0


def within_limit(row: Row) -> Row:
    """A row without values that are longer than a document may be; the others are told."""
    short = {
        name: value
        for name, value in row.fields.items()
        if not (isinstance(value, str) and len(value) > RECORD_LIMIT)
    }
    return row if len(short) == len(row.fields) else Row(row.place, short, TOO_LONG)
