"""Tables of Arrow: Parquet, Arrow files, and whatever a data frame hands over by the Arrow interface."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, final

from publius.documents.document import Document, Plan, text_of
from publius.documents.tables import MOST_AT_ONCE, Stored, Table, picked
from publius.errors import DataError, UsageError, extra
from publius.text.normal_form import Tally, decoded

_AT_ONCE: Final = 1000  # rows
_NO_VALUE: Final = (ValueError, OverflowError, NotImplementedError)


def arrow() -> Any:
    """The module pyarrow."""
    with extra("parquet", "pyarrow"):
        import pyarrow
    return pyarrow


@final
class Arrow(Table):
    """A Parquet or Arrow file."""

    encoding = "utf-8"

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Those of its schema, and paths in the place of what is nested."""
        with self._opened() as (schema, _):
            return tuple(path for each in schema for path in _paths(each.name, each.type))

    def rows(self, names: Sequence[str | None]) -> Iterator[Sequence[Any]]:
        """Values with the types that they have."""
        for batch in self._batches(names):
            yield from picked(_records(batch), names)

    def chunks(self, names: Sequence[str | None], size: int) -> Iterator[Any]:
        """Pieces of plain columns are packed as they are: to make values of Python takes longest."""
        types = arrow().types
        flat = (types.is_primitive, types.is_string, types.is_large_string, types.is_null)
        for batch in self._batches(names):
            step = max(1, min(size, batch.num_rows * MOST_AT_ONCE // max(1, batch.nbytes)))
            plain = all(any(is_one(each) for is_one in flat) for each in batch.schema.types)
            for start in range(0, batch.num_rows, step):
                piece = batch.slice(start, step)
                if not plain:  # a piece of others may hold what all rows share, as words of a dictionary
                    yield [*picked(_records(piece), names)]
                    continue
                with arrow().BufferOutputStream() as packed:
                    with arrow().ipc.new_stream(packed, piece.schema) as stream:
                        stream.write(piece)
                    yield Packed(piece.num_rows, packed.getvalue().to_pybytes(), (*names,))

    def _batches(self, names: Sequence[str | None]) -> Iterator[Any]:
        with self._opened() as (schema, batches):
            known = {str(name) for name in schema.names}
            tops = [name if name in known else name.partition(".")[0].partition("[")[0] for name in names if name]
            yield from batches([name for name in dict.fromkeys(tops) if name in known])

    @contextlib.contextmanager
    def _opened(self) -> Iterator[tuple[Any, Any]]:
        """Its schema, and how batches of some of its columns are read."""
        library = arrow()
        try:
            if self.kind == "parquet":
                from pyarrow.parquet import ParquetFile

                with ParquetFile(self.path) as file:
                    yield file.schema_arrow, lambda some: file.iter_batches(_AT_ONCE, columns=some, use_threads=False)
            else:
                from pyarrow.feather import read_table

                table = read_table(self.path)
                yield table.schema, lambda some: table.select(some or table.column_names).to_batches(_AT_ONCE)
        except (OSError, library.ArrowException):  # whose message may quote a value
            raise DataError(
                f"{self.name} cannot be read as {self.kind}: write it again, whole and not encrypted."
            ) from None


@final
class Packed(Stored):
    """Rows of an Arrow file, as a stream of Arrow."""

    stream: bytes
    names: tuple[str | None, ...]

    def read(self, tally: Tally) -> Iterator[Sequence[Any]]:
        """Values with the types that they have."""
        with arrow().ipc.open_stream(self.stream) as stream:
            return picked(_records(stream.read_all()), self.names)


def _paths(name: str, kind: Any) -> Iterator[str]:
    types = arrow().types
    if types.is_struct(kind) and kind.num_fields:
        for each in kind:
            yield from _paths(f"{name}.{each.name}", each.type)
    elif types.is_list(kind) and types.is_struct(kind.value_type):
        yield from _paths(f"{name}[]", kind.value_type)
    else:
        yield name


def _records(table: Any) -> Iterator[dict[str, Any]]:
    names = table.column_names
    return (dict(zip(names, row, strict=True)) for row in zip(*map(values_of, table.columns), strict=True))


def values_of(column: Any) -> list[Any]:
    """A column's values; one that Python cannot hold as its text, or None: no value stops the others (rule 5)."""
    with contextlib.suppress(*_NO_VALUE):
        return list(column.to_pylist())
    return [_value(each) for each in column]


def _value(scalar: Any) -> Any:
    if isinstance(scalar, arrow().DictionaryScalar):
        scalar = scalar.value
    with contextlib.suppress(*_NO_VALUE):
        return scalar.as_py()
    if hasattr(scalar, "as_buffer"):
        return decoded(scalar.as_buffer().to_pybytes())
    with contextlib.suppress(*_NO_VALUE):
        return scalar.cast("string").as_py()
    return None


def documents_in(table: Any, plan: Plan) -> list[Document]:
    """The documents of an Arrow table that has the columns of the plan."""
    return [plan.document(row, values) for row, values in enumerate(picked(_records(table), plan.names()))]


def as_arrow(table: Any, texts: Sequence[str | None] = ()) -> Any:
    """A pyarrow table of a mapping of columns, or of anything with the Arrow interface.

    ``texts`` names the columns of a mapping whose values are texts whatever their type is: none of them refuses it.
    """
    pyarrow = arrow()
    if isinstance(table, pyarrow.Table):
        return table
    if isinstance(table, Mapping):
        arrays = (pyarrow.Array, pyarrow.ChunkedArray)
        table = {
            name: [None if each is None else text_of(each).encode("utf-8", "replace").decode() for each in column]
            if name in texts and not isinstance(column, arrays) else column
            for name, column in table.items()
        }  # fmt: skip
    try:
        if isinstance(table, Mapping) or hasattr(table, "__arrow_c_stream__"):
            return pyarrow.table(table)
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError) as error:  # which may quote a value
        raise DataError(
            f"the table cannot be read ({type(error).__name__}): make the values of each column of one type"
        ) from None
    data = getattr(table, "data", None)  # a data set of Hugging Face
    if hasattr(table, "with_format") and data is not None:
        return pyarrow.concat_tables([pyarrow.Table.from_batches(table.with_format("arrow")[:].to_batches())])
    raise UsageError("a table must have the Arrow interface, as those of pandas 2.2, polars, DuckDB and pyarrow have.")
