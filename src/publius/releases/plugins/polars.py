"""``frame.publius.protect(mechanism, length=40)`` for polars: import this module, and every data frame has it."""

from __future__ import annotations

import json
from typing import Any, Final, final

import polars

from publius.releases.plugins.texts import Mechanism, ProtectedTable
from publius.releases.tables import MANIFEST, protect_table

NAME: Final = "publius"


@final
@polars.api.register_dataframe_namespace(NAME)
class Namespace:
    """The attribute ``frame.publius``."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def protect(self, mechanism: Mechanism, **options: Any) -> ProtectedTable:
        """A data frame with id, size, what is kept, words and counts, and its manifest; see `publius.protect_table`."""
        made = protect_table(self._frame.to_arrow(), mechanism, **options)
        return ProtectedTable(polars.from_arrow(made), json.loads(made.schema.metadata[MANIFEST]))
