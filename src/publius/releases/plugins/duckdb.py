"""DuckDB: after ``register(connection, mechanism, length=40)`` SQL has ``publius(id, text)``."""

from __future__ import annotations

from typing import Any, Final

from publius.documents.row_readers import import_parquet
from publius.privacy.ledger import Ledger
from publius.releases.plugins.texts import Mechanism, Texts

NAME: Final = "publius"


def register(
    connection: Any, mechanism: Mechanism, *, ledger: Ledger | None = None, name: str = NAME, **settings: Any
) -> dict[str, Any]:
    """Give a connection the SQL function ``name(id, text)``; what each of its values states, as a manifest of one.

    The value is a MAP of words and counts. Each call of the function on a row is a release of that row's text, charged
    to the id where there is a ``ledger``: store the result, and select from that. ``settings`` are those of
    `publius.settings.ReleaseSettings`.
    """
    texts = Texts.of(mechanism, ledger, **settings)
    kinds = import_parquet()[0]

    def protect(ids: Any, documents: Any) -> Any:
        made = texts.counts(documents.to_pylist(), ids.to_pylist())
        return kinds.array([list(each.items()) for each in made], kinds.map_(kinds.string(), kinds.int64()))

    connection.create_function(
        name, protect, ["VARCHAR", "VARCHAR"], "MAP(VARCHAR, BIGINT)", type="arrow", side_effects=True,
        null_handling="special",
    )  # fmt: skip
    return texts.manifest(1)
