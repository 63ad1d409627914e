"""Results of ``publius evaluate`` and summaries that may be shown, and one-time addresses for their pages.

A report is a page of its own with its own styles, so it is shown in a frame that may do nothing: no script, no
network, no origin. A frame cannot send the token, so each showing gets a random address that works once.
"""

from __future__ import annotations

import base64
import io
import json
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn, final

from publius.errors import DataError, UsageError
from publius.files import read_bytes_limited, shown
from publius.noise.randomness import entropy
from publius.releases.contents import MANIFEST, SUMMARY
from publius.releases.manifests import read_manifest_of

POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; sandbox"
)
_LARGEST: Final = 64 * 2**20
_SECONDS: Final = 60.0
_MOST: Final = 64


@final
class Reports:
    """Result folders by number, and the tickets that are out."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """`UsageError` for a folder that is neither an evaluation's nor a summary's."""
        self._folders: dict[str, Path] = {}
        self._summaries: set[str] = set()
        self._tickets: dict[str, tuple[float, Callable[[], BinaryIO], str | None]] = {}
        self._lock = threading.Lock()
        for folder in folders:
            self.add(folder)

    def add(self, folder: Path) -> str:
        """One more folder that may be shown; its id."""
        is_summary = not (folder / "rows.jsonl").is_file()
        if is_summary and not _is_summary(folder):
            raise UsageError(
                f"{shown(folder)} is no result of an evaluation: give an output folder of publius evaluate, or of "
                "publius summarize"
            )
        with self._lock:
            id = str(len(self._folders) + 1)
            self._folders[id] = folder
            if is_summary:
                self._summaries.add(id)
        return id

    def listing(self, *, summaries: bool = False) -> list[dict[str, Any]]:
        """Id and title of each evaluation, or of each summary."""
        with self._lock:
            chosen = [id for id in self._folders if (id in self._summaries) is summaries]
        return [{"id": id, "title": self._folders[id].resolve().name} for id in chosen]

    def one(self, id: str) -> dict[str, Any]:
        """The rows of a result; `UsageError` when there is none of this id, `DataError` when it is damaged."""
        folder = self._folder(id)
        if id in self._summaries:
            raise UsageError("this is a summary: only its page can be shown")
        lines = read_bytes_limited(folder / "rows.jsonl", _LARGEST).splitlines()
        try:
            rows = [json.loads(line, parse_constant=_refuse) for line in lines]
        except (ValueError, RecursionError):
            raise DataError(f"{shown(folder / 'rows.jsonl')} is damaged: evaluate again") from None
        page = (folder / "report.html").is_file()
        return {"id": id, "title": folder.resolve().name, "rows": rows, "has_page": page}

    def ticket(self, id: str) -> str:
        """A fresh address at which the page of a result can be read once, within a minute."""
        page = self._folder(id) / "report.html"
        if not page.is_file():
            raise UsageError("this result has no report.html: evaluate again")
        return self.issue_page(page)

    def issue_page(self, page: Path) -> str:
        """The same for a page that this service made."""
        return self.issue(lambda: io.BytesIO(read_bytes_limited(page, _LARGEST)))

    def issue(self, read: Callable[[], BinaryIO], name: str | None = None) -> str:
        """The same for what ``read`` opens when it is asked for; with a ``name``, a file to store."""
        ticket = base64.urlsafe_b64encode(entropy(32)).decode().rstrip("=")
        with self._lock:
            self._forget_old()
            self._tickets[ticket] = (time.monotonic() + _SECONDS, read, name)
        return f"/report/{ticket}"

    def page(self, ticket: str) -> tuple[BinaryIO, str | None] | None:
        """The page of a ticket and the name to store it under, once; None for any other."""
        with self._lock:
            self._forget_old()
            found = self._tickets.pop(ticket, None)
        return None if found is None else (found[1](), found[2])

    def _forget_old(self) -> None:
        now = time.monotonic()
        alive = [(key, value) for key, value in self._tickets.items() if value[0] > now]
        self._tickets = dict(alive[-_MOST:])

    def _folder(self, id: str) -> Path:
        if id not in self._folders:
            raise UsageError("there is no report of this id: see the list in /v1/session")
        return self._folders[id]


def _is_summary(folder: Path) -> bool:
    if not (folder / MANIFEST).is_file():
        return False
    return read_manifest_of(folder).get("kind") == SUMMARY


def _refuse(constant: str) -> NoReturn:
    raise ValueError("NaN and infinity are not JSON")
