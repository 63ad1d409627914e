"""What is believed of what a writer's process says: no more than a text for a bag of the release.

Code of somebody else may run there and say anything. So whose text a line is, which release it is of and what the
kernel held that code to stands here or was said before it was loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, final

from publius.errors import DataError, PolicyError, PubliusError, StorageError, UsageError
from publius.files.user_code import PYTHON
from publius.releases.writing.confinement import CALLS, FILES, HOLDS

LONGEST: Final = 2**26
"""Bytes of a line."""

UNCONFINED: Final = (
    "nothing kept its writer from other files: the promise of the release need not hold for it"
)
"""What each line says of a text by somebody else's writer that the kernel did not hold."""

_LONGEST_MESSAGE: Final = 2000
_ERRORS: Final[dict[int, type[PubliusError]]] = {
    kind.exit_code: kind for kind in (UsageError, DataError, StorageError, PolicyError, PubliusError)
}


@final
class Heard:
    """Takes the lines of one writer's process in their order.

    Attributes:
        held: what of `HOLDS` the kernel held it to; None until it was said.
        sent: what the last line says was sent to a language model; None where it says another thing.
        done: whether every bag has its text, or the reason why it has none.

    """

    def __init__(self, writer: str, ids: Sequence[str], written: Iterable[int], warning: str | None) -> None:
        """``ids`` of the release's bags in their order, ``written`` the places of those that have a line already."""
        self.held: tuple[str, ...] | None = None
        self.sent: Mapping[str, Any] | None = None
        self.done = False
        self._writer, self._ids, self._left = writer, ids, {*range(len(ids))} - {*written}
        self._who: tuple[str, str] | None = None
        self._warning = {} if warning is None else {"warning": warning}

    def line(self, line: bytes) -> tuple[int, dict[str, Any]] | None:
        """The place of a bag and its line in the output; None for any other line (`sent` has what was sent).

        Raises the error that the process reports, and `PolicyError` for what it may not say.
        """
        self.sent = None
        try:
            said = json.loads(line)
            json.dumps(
                said, ensure_ascii=False, allow_nan=False
            ).encode()  # what cannot be kept as it was said
            what = tuple(sorted(said))
            if self.done or (self.held is None) != (
                what == ("held",)
            ):  # the kernel's word comes first, and once
                raise ValueError
            if what == ("fault", "place", "source", "text"):
                return self._text(**said)
            self._take(what, said)
        except PubliusError:
            raise
        except (ValueError, TypeError, KeyError, RecursionError):
            raise PolicyError(
                f"the writer {self._writer:.200} said something else than a text for each bag of the release"
            ) from None
        return None

    def _text(self, *, place: Any, text: Any, source: Any, fault: Any) -> tuple[int, dict[str, Any]]:
        given = (isinstance(text, str) and fault is None) or (text is None and isinstance(fault, str))
        if self._who is None or type(place) is not int or not isinstance(source, dict) or not given:
            raise ValueError
        self._left.remove(place)
        name, note = self._who
        why = {} if fault is None else {"fault": plain(fault)}
        record = {"id": self._ids[place], "text": text, "writer": name, "source": source, "note": note}
        foreign = self._writer.startswith(PYTHON)
        loose = {"unconfined": UNCONFINED} if foreign and not {FILES, CALLS} <= {*(self.held or ())} else {}
        return place, {**record, **why, **loose, **self._warning}

    def _take(self, what: tuple[str, ...], said: Mapping[str, Any]) -> None:
        if what == ("held",):
            self.held = tuple(name for name in HOLDS if name in said["held"])
        elif what == ("note", "writer") and self._who is None:
            foreign = self._writer.startswith(
                PYTHON
            )  # the name that was typed; what it calls its texts is its own
            self._who = self._writer if foreign else plain(str(said["writer"])), plain(str(said["note"]))
        elif what == ("request",):
            self.sent = said["request"]
        elif what == ("error",):
            kind = _ERRORS.get(int(said["error"]["exit_code"]), PubliusError)
            raise kind(plain(str(said["error"]["message"])))
        elif what == ("done",) and self._who is not None and not self._left:
            self.done = True
        else:
            raise ValueError


def plain(text: str) -> str:
    """At most 2,000 characters on one line, none of which drives a terminal."""
    shown = (each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text[:_LONGEST_MESSAGE])
    return "".join(shown)
