"""Tables in memory: documents of a pandas, polars or Arrow table become an Arrow table of protected bags."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any

from publius.documents.corpus import Document, accepted, documents_of
from publius.documents.row_readers import import_parquet
from publius.errors import DocumentError, UsageError
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.mechanism import Mechanism, OrderedText
from publius.noise.randomness import RunKey
from publius.privacy.ledger import Ledger
from publius.releases.layout import Layout
from publius.releases.plan import Plan
from publius.releases.protect import protect
from publius.settings import InputSettings, ReleaseSettings, UnknownPolicy

if TYPE_CHECKING:
    import pyarrow

MANIFEST = b"publius"
"""Under this key the metadata of a protected table's schema holds its manifest, as JSON."""


def protect_table(
    table: Any,
    mechanism: Kernel | Mechanism,
    *,
    length: int | None = None,
    id_field: str = InputSettings.id_field,
    text_field: str = InputSettings.text_field,
    keep: Sequence[str] | str = (),
    number: bool = False,
    subject_field: str | None = None,
    unknown: UnknownPolicy | None = None,
    stop_words: str = ReleaseSettings.stop_words,
    ordered: OrderedText | None = None,
    ledger: Ledger | None = None,
) -> pyarrow.Table:
    """Release every row of ``table``: an Arrow table of bags, in the rows' order, with the manifest as metadata.

    ``table`` is a pandas data frame, an Arrow table or record batch, a mapping of columns, or anything that Arrow
    reads (polars, DuckDB). The result has id, size, the columns in ``keep`` (one name or several), words and counts
    (lists), as the Parquet files of `protect_corpus` have; ``.to_pandas()`` makes a data frame of it. Ids and kept
    columns have the types they came with, nulls among them, so that the result can be merged with the table. The other
    arguments are those of `open_corpus` and `release`. Every call draws anew: it is one more release of its rows.
    A word mechanism needs a ``length``; a document mechanism has one, and says the prototype and its label too.

    Raises `DocumentError` for the first row that cannot be read, `UsageError` for what is no table or lacks a
    column, `BudgetError` when the ``ledger`` has not enough left for all rows, which are debited before any draw.
    """
    keep = _named(keep)
    plan = plan_of(
        mechanism, length=length, keep=keep, unknown=unknown, stop_words=stop_words, ordered=ordered
    )
    layout = Layout.of(plan)
    whole = _arrow(table)
    documents = list(
        documents_in(
            [whole],
            id_field=id_field,
            text_field=text_field,
            keep=keep,
            number=number,
            subject_field=subject_field,
        )
    )
    as_they_came = {**({} if number else {"id": id_field}), **{name: name for name in keep}}
    beside = {name: _as_it_came(whole.column(column)) for name, column in as_they_came.items()}
    if ledger is not None:
        ledger.spend(plan.charges(ledger, [item.charged for item in documents]))
    manifest = json.dumps(plan.manifest(len(documents)), ensure_ascii=False, allow_nan=False)
    made = import_parquet()[0].Table.from_batches(_batches(documents, plan, layout), schema=layout.schema())
    for name, values in beside.items():
        made = made.set_column(made.column_names.index(name), name, values)
    made = made.combine_chunks()  # the table that came may be cut at bytes of its texts (R23)
    return made.replace_schema_metadata({**(made.schema.metadata or {}), MANIFEST: manifest})


def documents_in(
    tables: Iterable[pyarrow.Table],
    *,
    id_field: str = InputSettings.id_field,
    text_field: str = InputSettings.text_field,
    keep: Sequence[str] | str = (),
    number: bool = False,
    subject_field: str | None = None,
) -> Iterator[Document]:
    """The documents of Arrow tables that are parts of one, read as `protect_table` reads it; raises the same."""
    keep = _named(keep)
    columns = [text_field, *([] if number else [id_field]), *keep, *filter(None, [subject_field])]
    rows = chain.from_iterable(_rows(table, columns, keep) for table in tables)
    read = documents_of(
        rows,
        id_field=id_field,
        text_field=text_field,
        keep=keep,
        number=number,
        subject_field=subject_field,
        gaps=True,
    )
    return map(accepted, read)


def _as_it_came(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """A column of its type, copied: a part of a table holds the whole of it, and so would what is made of the part.

    Categories are written out, since a dictionary may hold values of no row.
    """
    pa = import_parquet()[0]
    kind = column.type
    if pa.types.is_dictionary(kind):
        try:
            column = column.cast(kind.value_type)
        except pa.ArrowNotImplementedError:  # such as categories that are views of strings
            column = pa.chunked_array([pa.array(column.to_pylist(), kind.value_type)])
    elif pa.types.is_run_end_encoded(kind):
        from pyarrow import compute

        column = pa.chunked_array([compute.run_end_decode(chunk) for chunk in column.chunks], kind.value_type)
    try:
        return column.take(pa.array(range(len(column)), pa.int64()))
    except pa.ArrowNotImplementedError:  # such as views of strings, which Arrow copies in no other way
        return pa.chunked_array([pa.array(column.to_pylist(), column.type)])


def _named(keep: Sequence[str] | str) -> Sequence[str]:
    """The columns to keep; a string is the name of one."""
    return (keep,) if isinstance(keep, str) else tuple(keep)


def plan_of(
    mechanism: Kernel | Mechanism,
    *,
    length: int | None = None,
    keep: Sequence[str] | str = (),
    unknown: UnknownPolicy | None = None,
    stop_words: str = ReleaseSettings.stop_words,
    ordered: OrderedText | None = None,
) -> Plan:
    """The plan under which `protect_table` releases with these arguments; raises the same."""
    settings = ReleaseSettings(
        length=length,
        unknown=unknown,
        stop_words=stop_words,
        order=ordered is not None,
        keep_between=ordered.keep if ordered else None,
    )
    plan = Plan.of(settings, mechanism, labels=_named(keep))
    if plan.mechanism.needs_length and length is None:
        raise UsageError("a release of words needs a public length N: give length=N")
    return plan


def _arrow(table: Any) -> pyarrow.Table:
    """``table`` as Arrow; nothing of a failed conversion is passed on, not even as context: it quotes a cell (R17)."""
    pa = import_parquet()[0]
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    try:
        return table if isinstance(table, pa.Table) else pa.table(table)
    except (TypeError, ValueError, KeyError, pa.ArrowException) as error:
        failed = type(error).__name__
    raise UsageError(
        f"{type(table).__name__} cannot be read as an Arrow table ({failed}): give a data frame or a table whose "
        "columns hold one type each"
    )


def _rows(
    table: pyarrow.Table, columns: Sequence[str], keep: Sequence[str]
) -> Iterator[Mapping[str, object]]:
    """The columns asked for, row by row; `UsageError` when one is missing or named twice.

    A date or another single value of a column in ``keep`` is looked at as text: it leaves as it came.
    """
    wanted = list(dict.fromkeys(columns))
    for name in wanted:
        if table.column_names.count(name) != 1:
            raise UsageError(
                f"the table has {table.column_names.count(name)} columns called {name!r}: name the one that is there, "
                "or give number=True for documents without ids"
            )
    rows = chain.from_iterable(map(_values, table.select(wanted).to_batches()))
    return ({**row, **{name: _plain(row[name]) for name in keep}} for row in rows)


def _values(batch: pyarrow.RecordBatch) -> list[dict[str, Any]]:
    """The rows of a part; `DocumentError` for what is no value of Python's, without Arrow's words, which quote it."""
    with suppress(TypeError, ValueError, OverflowError, import_parquet()[0].ArrowException):
        return batch.to_pylist()  # type: ignore[no-any-return]
    raise DocumentError(
        f"a cell of the columns {', '.join(map(repr, batch.schema.names))} cannot be read: texts are UTF-8, dates "
        "of the years 1 to 9999. Nothing was released"
    )


def _plain(value: object) -> object:
    """A kept value as the rules of labels know it."""
    single = (datetime.date, datetime.time, datetime.timedelta, Decimal)
    return str(value) if isinstance(value, single) else value


def _batches(documents: Sequence[Document], plan: Plan, layout: Layout) -> Iterator[pyarrow.RecordBatch]:
    key, step = RunKey.fresh(), plan.mechanism.batch_size()
    for start in range(0, len(documents), step):
        results, _ = protect(documents[start : start + step], plan, key)
        yield layout.rows([accepted(result) for result in results])
