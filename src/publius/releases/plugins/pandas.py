"""``frame.publius.protect(mechanism, length=40)`` for pandas: import this module, and every data frame has it."""

from __future__ import annotations

import json
from typing import Any, Final, final

import pandas

from publius.releases.plugins.texts import Mechanism, ProtectedTable
from publius.releases.tables import MANIFEST, protect_table

NAME: Final = "publius"


@final
@pandas.api.extensions.register_dataframe_accessor(NAME)
class Accessor:
    """The attribute ``frame.publius``."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def protect(self, mechanism: Mechanism, **options: Any) -> ProtectedTable:
        """A data frame with id, size, what is kept, words and counts, and its manifest; see `publius.protect_table`.

        The frame has the index of the one it comes from only if that is kept as a column.
        """
        made = protect_table(self._frame, mechanism, **options)
        return ProtectedTable(made.to_pandas(), json.loads(made.schema.metadata[MANIFEST]))
