"""Tables in memory: documents of a pandas, polars or Arrow table become an Arrow table of protected bags."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from publius.documents.corpus import Document, accepted, documents_of
from publius.documents.row_readers import import_parquet
from publius.errors import UsageError
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.mechanism import Mechanism, OrderedText
from publius.noise.randomness import RunKey
from publius.privacy.ledger import Ledger
from publius.releases.plan import Plan
from publius.releases.protect import protect
from publius.releases.writers import Layout
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
    keep: Sequence[str] = (),
    number: bool = False,
    subject_field: str | None = None,
    unknown: UnknownPolicy | None = None,
    stop_words: str = ReleaseSettings.stop_words,
    ordered: OrderedText | None = None,
    ledger: Ledger | None = None,
) -> pyarrow.Table:
    """Release every row of ``table``: an Arrow table of bags, in the rows' order, with the manifest as metadata.

    ``table`` is a pandas data frame, an Arrow table or record batch, a mapping of columns, or anything that Arrow
    reads (polars, DuckDB). The result has id, size, the columns in ``keep``, words and counts (lists), as the
    Parquet files of `protect_corpus` have; ``.to_pandas()`` makes a data frame of it. The other arguments are those
    of `open_corpus` and `release`. Every call draws anew: it is one more release of its rows.
    A word mechanism needs a ``length``; a document mechanism has one, and says the prototype and its label too.

    Raises `DocumentError` for the first row that cannot be read, `UsageError` for what is no table or lacks a
    column, `BudgetError` when the ``ledger`` has not enough left for all rows, which are debited before any draw.
    """
    plan = plan_of(
        mechanism, length=length, keep=keep, unknown=unknown, stop_words=stop_words, ordered=ordered
    )
    layout = Layout.of(plan)
    columns = [text_field, *([] if number else [id_field]), *keep, *filter(None, [subject_field])]
    rows = _rows(_arrow(table), columns)
    documents = [
        accepted(item)
        for item in documents_of(
            rows,
            id_field=id_field,
            text_field=text_field,
            keep=keep,
            number=number,
            subject_field=subject_field,
        )
    ]
    if ledger is not None:
        ledger.spend(plan.charges(ledger, [item.charged for item in documents]))
    manifest = json.dumps(plan.manifest(len(documents)), ensure_ascii=False, allow_nan=False)
    made = import_parquet()[0].Table.from_batches(_batches(documents, plan, layout), schema=layout.schema())
    return made.replace_schema_metadata({**(made.schema.metadata or {}), MANIFEST: manifest})


def plan_of(
    mechanism: Kernel | Mechanism,
    *,
    length: int | None = None,
    keep: Sequence[str] = (),
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
    plan = Plan.of(settings, mechanism, labels=keep)
    if plan.mechanism.needs_length and length is None:
        raise UsageError("a release of words needs a public length N: give length=N")
    return plan


def _arrow(table: Any) -> pyarrow.Table:
    """``table`` as Arrow; no message of a failed conversion is passed on: it would quote a cell (R17)."""
    pa = import_parquet()[0]
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    try:
        return table if isinstance(table, pa.Table) else pa.table(table)
    except (TypeError, ValueError, KeyError, pa.ArrowException) as error:
        raise UsageError(
            f"{type(table).__name__} cannot be read as an Arrow table ({type(error).__name__}): give a data frame or "
            "a table whose columns hold one type each"
        ) from None


def _rows(table: pyarrow.Table, columns: Sequence[str]) -> Iterator[Mapping[str, object]]:
    """The columns asked for, row by row; `UsageError` when one is missing or named twice."""
    wanted = list(dict.fromkeys(columns))
    for name in wanted:
        if table.column_names.count(name) != 1:
            raise UsageError(
                f"the table has {table.column_names.count(name)} columns called {name!r}: name the one that is there, "
                "or give number=True for documents without ids"
            )
    return (row for batch in table.select(wanted).to_batches() for row in batch.to_pylist())


def _batches(documents: Sequence[Document], plan: Plan, layout: Layout) -> Iterator[pyarrow.RecordBatch]:
    key, step = RunKey.fresh(), plan.mechanism.batch_size()
    for start in range(0, len(documents), step):
        results, _ = protect(documents[start : start + step], plan, key)
        yield layout.rows([accepted(result) for result in results])
