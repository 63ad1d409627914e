"""Hugging Face datasets: ``protect_dataset(dataset, mechanism, length=40)``."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any, Final

from publius.documents.row_readers import import_parquet
from publius.errors import DataError, UsageError
from publius.noise.randomness import entropy
from publius.privacy.ledger import Ledger
from publius.releases.layout import Layout
from publius.releases.plugins.texts import Mechanism, ProtectedTable
from publius.releases.tables import documents_in, plan_of, protect_table

_OF_PLAN: Final = ("length", "keep", "unknown", "stop_words", "ordered")
_LARGEST_BATCH: Final = 2**16
_OF_ROWS: Final = ("id_field", "text_field", "keep", "number", "subject_field")


def protect_dataset(
    dataset: Any,
    mechanism: Mechanism,
    *,
    batch_size: int | None = 1000,
    num_proc: int | None = None,
    ledger: Ledger | None = None,
    **options: Any,
) -> ProtectedTable:
    """``dataset.map`` with `publius.protect_table`: a dataset of bags in the same order, and its manifest.

    ``options`` are those of `publius.protect_table`; a kept class becomes its name, as text, and none (-1) None.
    Nothing is taken from the cache of datasets and no draw of this call can be found there by another: the name of its
    entry is random. All rows are read before any is drawn, and a ``ledger`` charges them in one step. Raises what
    `publius.protect_table` raises, and `UsageError` for what is no ``datasets.Dataset``.
    """
    from datasets import Dataset

    if not isinstance(dataset, Dataset):
        raise UsageError(
            f"a {type(dataset).__name__} is no datasets.Dataset: give one split, such as source['train'], and of a "
            "stream what Dataset.from_generator makes of it"
        )
    if unknown := sorted({*options} - {*_OF_PLAN, *_OF_ROWS}):  # before anything is charged
        raise UsageError(
            f"protect_dataset has no option {unknown[0]!r}: its own are {', '.join(sorted({*_OF_PLAN, *_OF_ROWS}))}"
        )
    size = batch_size if batch_size is not None and batch_size > 0 else max(1, len(dataset))
    plan = plan_of(mechanism, **{name: value for name, value in options.items() if name in _OF_PLAN})
    Layout.of(plan)  # refuses what cannot be kept
    if num_proc is not None and (type(num_proc) is not int or num_proc < 1):
        raise UsageError(f"the rows are read by at least one process, not {num_proc}")
    tables = dataset.with_format("arrow")
    _check_classes(tables, plan.labels)
    read_as = {name: value for name, value in options.items() if name in _OF_ROWS}
    documents = documents_in(tables.iter(size), **read_as)
    if ledger is not None:
        ledger.spend(plan.charges(ledger, [document.charged for document in documents]))
    else:
        deque(documents, maxlen=0)
    made = tables.map(
        partial(_part, mechanism=mechanism, **options), with_indices=True,
        batched=True, batch_size=size, num_proc=num_proc, remove_columns=dataset.column_names,
        load_from_cache_file=False, new_fingerprint=entropy(16).hex(),
    )  # fmt: skip
    return ProtectedTable(_bare(made, plan.labels), plan.manifest(len(made)))


def _check_classes(tables: Any, kept: Collection[str]) -> None:
    """`DataError` where a kept column of classes has a number that none of its names is of; -1 is no class."""
    from datasets import ClassLabel
    from pyarrow import compute

    for name, feature in tables.features.items():
        if name not in kept or not isinstance(feature, ClassLabel) or not len(tables):
            continue
        for part in tables.select_columns(name).iter(_LARGEST_BATCH):
            found = compute.min_max(part.column(name)).as_py()
            if found["min"] is not None and not -1 <= found["min"] <= found["max"] < feature.num_classes:
                raise DataError(
                    f"the column {name!r} has a number that stands for none of its {feature.num_classes:,} classes: "
                    "name them all in its ClassLabel, or leave it out of keep"
                )


def _part(table: Any, places: Sequence[int], *, number: bool = False, **options: Any) -> Any:
    """The rows of a batch; numbers are those of the rows in the dataset."""
    made = protect_table(table, number=number, **options)
    if not number:
        return made
    place = made.column_names.index("id")
    numbers = import_parquet()[0].array([str(each + 1) for each in places], made.schema.field(place).type)
    return made.set_column(place, "id", numbers)


def _bare(made: Any, kept: Collection[str]) -> Any:
    """Nothing but the rows: a dataset carries its description along, and names of classes that no row has."""
    from datasets import ClassLabel, Dataset, DatasetInfo, Features

    table = made.data.table
    for place, (name, feature) in enumerate(made.features.items()):
        # A column of ours whose name one of theirs had is given its classes by the library: they are not its own.
        if isinstance(feature, ClassLabel) and name in kept:
            numbers = table.column(name).to_pylist()
            written = [None if number in (None, -1) else feature.int2str(number) for number in numbers]
            table = table.set_column(place, name, import_parquet()[0].array(written, "string"))
    table = table.replace_schema_metadata(None)
    info = DatasetInfo(features=Features.from_arrow_schema(table.schema))
    return Dataset(table, info=info, fingerprint=entropy(16).hex())
