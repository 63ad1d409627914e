"""Rows that are longer than a document may be: what is short in them is still told, the rest is passed over.

So it can be told who wrote such a row, and no run stops or leaves somebody out for the length of what one author wrote.
Little of a row is held, however long it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal, final

NOT_TOLD: Final = "\udcff"
"""What stands for a value that is too long: no text, for no encoding has it."""

SHORT: Final = 4_096
"""Characters of the longest value of such a row that is told: no name, label or declared value needs more."""

_MOST_CELLS: Final = 2**14
_MOST_TEXTS: Final = 2**17
_QUOTED: Final = re.compile(r'(?:[^"]++|"")*+')
_TEXT: Final = re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL)


@final
class _Short:
    """A value of which no more is held than may be told."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._left = SHORT

    def add(self, text: str, start: int, stop: int) -> None:
        """Go on with a part of ``text``."""
        self._left -= stop - start
        if self._left >= 0:
            self._pieces.append(text[start:stop])

    def told(self) -> str | None:
        """The value; None where it is too long."""
        return "".join(self._pieces) if self._left >= 0 else None


@final
class LongRow:
    """A row of separated values (RFC 4180) that comes in parts; only its short cells are held."""

    def __init__(self, delimiter: str, *, letters: bool = False) -> None:
        """With ``letters`` quotation marks are letters like others."""
        self._delimiter, self._letters = delimiter, letters
        self._plain = re.compile(f"[^{re.escape(delimiter)}\r\n]*+")
        self._cells: list[str] = []
        self._state: Literal["start", "plain", "quoted", "closed", "ended", "done", "broken"] = "start"
        self._cell, self._unquote = _Short(), False

    def take(self, part: str) -> int | None:
        """Read on; where the row ended in this part, with its line, or None where it goes on."""
        at = 0
        while at < len(part):
            at = self._step(part, at)
            if self._state in ("done", "broken"):
                return at
        return None

    def told(self) -> list[str] | None:
        """The cells once nothing more comes, `NOT_TOLD` for each that is long.

        None where the quoting of the row is broken or never ends, or where it has far more cells than a table may.
        """
        if self._state in ("quoted", "broken"):
            return None
        if self._state not in ("ended", "done"):
            self._next()
        return self._cells

    def _step(self, part: str, at: int) -> int:
        """Take what comes at ``at`` in one go; where what follows begins."""
        if self._state == "start":
            self._unquote = part[at] == '"' and not self._letters
            self._state = "quoted" if self._unquote else "plain"
            return at + self._unquote
        if self._state in ("quoted", "plain"):
            found = (_QUOTED if self._unquote else self._plain).match(part, at)
            stop = at if found is None else found.end()
            self._cell.add(part, at, stop)
            if stop < len(part) and self._unquote:
                self._state = "closed"
                return stop + 1
            return stop if stop == len(part) else self._after(part[stop], stop)
        if self._state == "closed" and part[at] == '"':  # the half of a quote that begins a part
            self._cell.add('""', 0, 2)
            self._state = "quoted"
            return at + 1
        return self._after(part[at], at)

    def _after(self, character: str, at: int) -> int:
        """What stands behind a cell, or behind the row."""
        if character in "\r\n":
            if self._state != "ended":
                self._next()
            self._state = "done" if character == "\n" else "ended"
        elif character == self._delimiter and self._state != "ended" and len(self._cells) < _MOST_CELLS:
            self._next()
            self._state = "start"
        else:
            self._state = "broken"
        return at + 1

    def _next(self) -> None:
        told = self._cell.told()
        self._cells.append(NOT_TOLD if told is None else told.replace('""', '"') if self._unquote else told)
        self._cell, self._unquote = _Short(), False


def long_object(parts: Iterable[str], limit: int) -> str | None:
    """The object of a line of JSON that comes in ``parts``, with an empty text in the place of each long one.

    None where what is short in it has more than ``limit`` characters, or far more texts than an object may.
    """
    said: list[str] = []
    text: _Short | None = None
    texts, rest = 0, ""
    for part in parts:
        part, at, rest = rest + part, 0, ""
        while at < len(part):
            if text is None:
                stop = part.find('"', at) + 1 or len(part)
                said.append(part[at:stop])
                limit -= stop - at
                if stop and part[stop - 1] == '"':
                    text, texts = _Short(), texts + 1
            else:
                found = _TEXT.match(part, at)
                stop = at if found is None else found.end()
                text.add(part, at, stop)
                if stop < len(part) and part[stop] == '"':
                    said.append((text.told() or "") + '"')
                    limit -= len(said[-1])
                    text, stop = None, stop + 1
                elif stop < len(part):  # a backslash whose character comes with the next part
                    rest, stop = part[stop:], len(part)
            at = stop
            if limit < 0 or texts > _MOST_TEXTS:
                return None
    return "".join(said)
