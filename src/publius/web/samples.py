"""Public documents to try the explorer with."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, Final, final

from publius.documents.samples import federalist_papers
from publius.errors import MissingExtraError, UsageError
from publius.files import read_bytes_limited

_LARGEST: Final = 2**20


@final
class Samples:
    """The Federalist papers, where the extra ``demo`` is installed; else none."""

    @cached_property
    def _paths(self) -> dict[str, Path]:
        try:
            folder = federalist_papers()
        except MissingExtraError:
            return {}
        return {path.stem.replace("_", "-"): path for path in sorted(folder.glob("federalist_*.txt"))}

    def listing(self) -> list[dict[str, Any]]:
        """Id and title of each."""
        return [{"id": id, "title": _title(id)} for id in self._paths]

    def one(self, id: str) -> dict[str, Any]:
        """A sample with its text; `UsageError` when there is none of this id."""
        if id not in self._paths:
            raise UsageError("there is no sample of this id: see the list in /v1/session")
        text = read_bytes_limited(self._paths[id], _LARGEST).decode("utf-8", "replace")
        return {"id": id, "title": _title(id), "text": text}


def _title(id: str) -> str:
    return f"Federalist No. {int(id.rpartition('-')[2])}"
