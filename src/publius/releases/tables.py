"""Tables in memory: the rows of anything with the Arrow interface become an Arrow table of labels or bags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from publius.documents.arrow import as_arrow, documents_in, values_of
from publius.documents.document import Plan
from publius.errors import UsageError
from publius.noise.randomness import RunKey
from publius.releases.rows import check_kept, row_of
from publius.releases.run import check_run, manifest_of
from publius.settings import Leaving
from publius.text.normal_form import author_key

if TYPE_CHECKING:
    import pyarrow

    from publius.mechanisms.mechanism import Mechanism
    from publius.privacy.ledger import Ledger

MANIFEST: Final = b"publius"
"""Under this key the metadata of a protected table's schema holds its manifest, as JSON."""


def protect_table(
    table: Any, mechanism: Mechanism, text: str = "text", *, ids: str | None = None, keep: Sequence[str] | str = (),
    author: str | None = None, ledger: Ledger | None = None,
) -> pyarrow.Table:  # fmt: skip
    """Release every row of ``table``: an Arrow table with id, label or bag, and the columns in ``keep``.

    Rows are numbered in a secret order, unless ``ids`` names a column: then it leaves with its type, and the order is
    the table's. Kept columns leave as they are, by value, with their types and nulls: nothing protects them. The
    schema's metadata holds the manifest. ``.to_pandas()`` makes a data frame of it, `polars.from_arrow` another. Every
    call draws anew: it is one more release of its rows, and their epsilons add.

    Args:
        table: a pandas or polars data frame, an Arrow table, a DuckDB relation, a mapping of columns, or anything
            else with the Arrow interface.
        mechanism: a `RandomizedResponse` or a `Lifted`.
        text: the column of texts, or of declared values; null counts as an empty text.
        ids: a column of ids that leave.
        keep: columns that leave unprotected; one name or several.
        author: the column of authors, for the ``ledger``; it does not leave.
        ledger: debited before anything is returned, each author for all rows; rows that name nobody are left out.

    Raises `UsageError` for what is no table or lacks a column, `BudgetError` where an account has not enough left.

    >>> import publius
    >>> table = {"text": ["yes", "no", None], "year": [2024, 2025, 2026]}
    >>> answers = publius.RandomizedResponse(publius.Values(["yes", "no"]), epsilon=5)
    >>> publius.protect_table(table, answers, keep="year").column_names
    ['id', 'label', 'year']
    """
    import pyarrow as pa

    kept = (keep,) if isinstance(keep, str) else tuple(keep)
    check_kept(kept, ids, (text, author))
    leaving = Leaving(ids=ids is not None, keep=kept)
    check_run(mechanism, leaving)
    if (ledger is None) != (author is None):
        raise UsageError("a ledger has an account for each author: give ledger= and author= together")
    whole = as_arrow(table, (text, author))
    for name in filter(None, (text, ids, author, *kept)):
        if whole.column_names.count(name) != 1:
            raise UsageError(
                f"the table has {whole.column_names.count(name)} columns called {name!r}, where one is needed"
            )
    declared = getattr(getattr(mechanism, "classifier", None), "kind", None) == "values"
    read = whole.select([*dict.fromkeys(filter(None, (text, author)))])
    documents = documents_in(read, Plan(text, author=author, raw=declared, own=author == "id"))
    if author is not None:  # who is not named cannot be charged
        documents = [each for each in documents if author_key(each.author) is not None]
    count, key = len(documents), RunKey.fresh()
    drawn = mechanism.protect([each.text for each in documents], [each.row for each in documents], key)
    rows = [row_of(outcome) for outcome in drawn]
    place = list(range(count)) if ids else RunKey(key.derive("order")).rng("").permutation(count).tolist()
    taken = [documents[each].row for each in place]
    columns: dict[str, Any] = {
        "id": _copied(whole.column(ids), taken) if ids else pa.array(map(str, range(1, count + 1)), pa.string())
    }
    kinds = {
        "label": pa.string(), "size": pa.int64(), "words": pa.list_(pa.string()),
        "bag": pa.map_(pa.string(), pa.int64()),
    }  # fmt: skip
    facts = mechanism.facts()
    fields = ["label"] * (mechanism.kind == "labels")
    if mechanism.kind == "words" or facts.get("bag") is not None:
        fields += ["size", "words" if facts.get("ordered") else "bag"]
    for name in fields:
        values = [rows[each][name] for each in place]
        columns[name] = pa.array([[*each.items()] for each in values] if name == "bag" else values, kinds[name])
    columns |= {name: _copied(whole.column(name), taken) for name in kept}
    if ledger is not None:
        price = mechanism.charge(ledger.unit)
        authors = Counter(author_key(each.author) for each in documents)
        ledger.spend({name: price * times for name, times in authors.items() if name is not None})
    manifest = msgspec.json.encode(manifest_of(mechanism, count, leaving))
    return pa.table(columns).replace_schema_metadata({MANIFEST: manifest})


def _copied(column: pyarrow.ChunkedArray, place: Sequence[int]) -> pyarrow.ChunkedArray:
    """A column by value, in another order: no slice, no dictionary, no metadata, nothing beneath a null."""
    import pyarrow as pa

    kind = _plain(column.type)
    if kind == column.type and not kind.num_fields:
        try:
            return column.combine_chunks().take(pa.array(place, pa.int64()))
        except pa.ArrowNotImplementedError:  # such as views of strings, which Arrow copies in no other way
            pass
    found = values_of(column)
    values = [found[each] for each in place]
    try:
        return pa.chunked_array([pa.array(values, kind)])
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # one that Python cannot hold stops no others
        return pa.chunked_array([pa.concat_arrays([_alone(each, kind) for each in values])])


def _alone(value: Any, kind: pyarrow.DataType) -> pyarrow.Array:
    import pyarrow as pa

    try:
        return pa.array([value], kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.nulls(1, kind)


def _plain(kind: pyarrow.DataType) -> pyarrow.DataType:
    """A type without what belongs to the source: dictionaries, runs, extensions, metadata of fields."""
    import pyarrow as pa

    if isinstance(kind, pa.DictionaryType | pa.RunEndEncodedType):
        return _plain(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return _plain(kind.storage_type)
    if pa.types.is_struct(kind):
        return pa.struct([(each.name, _plain(each.type)) for each in kind])
    if pa.types.is_map(kind):
        return pa.map_(_plain(kind.key_type), _plain(kind.item_type))
    return pa.list_(_plain(kind.value_type)) if kind.num_fields == 1 else kind
