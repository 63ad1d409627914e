"""Messages of commands beside their result: on standard error, as text for people or as JSON lines for machines.

The library logs to the logger ``publius``: numbers and public names, never a word of a document.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, Literal

Format = Literal["text", "json"]

_LOGGER: Final = logging.getLogger("publius")
_PLAIN: Final = "publius_plain"


def say(text: str, *, plain: bool = False, error: bool = False) -> None:
    """A line for whoever runs the command, whatever is asked of the log; ``plain`` without the name in front."""
    _LOGGER.log(logging.ERROR if error else logging.WARNING, "%s", text, extra={_PLAIN: plain})


def say_here(text: str) -> None:
    """A line for the eyes of whoever runs the command: on a terminal alone, in no log."""
    if seen_here():
        say(text, plain=True)


def seen_here() -> bool:
    """Whether standard error is a terminal, and messages are text for people."""
    objects = any(isinstance(handler.formatter, _Json) for handler in _LOGGER.handlers)
    return sys.stderr.isatty() and not objects


def set_up(format: Format, verbose: int) -> None:
    """Send the log to standard error: what commands say; with ``verbose`` 1 also the steps, with 2 everything."""
    handler = _ToStandardError()
    handler.setFormatter(_Json() if format == "json" else _Text())
    _LOGGER.handlers = [handler]
    _LOGGER.propagate = False
    _LOGGER.setLevel((logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)])


def format_asked(words: Sequence[str]) -> Format:
    """The format that a call asks for, known before it is parsed: what is wrong with a call is said in it, too."""
    found = os.environ.get("PUBLIUS_LOG_FORMAT", "text")
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, _, value = word.partition("=")
        if name == "--log-format":
            found = value or following
    return "json" if found == "json" else "text"


class _ToStandardError(logging.Handler):
    """Looks standard error up each time: whoever redirects it gets the log too."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line; a log that cannot be written stops nothing."""
        try:
            sys.stderr.write(self.format(record) + "\n")
            sys.stderr.flush()
        except (OSError, ValueError):
            return


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """The message, after the name of the command."""
        text = record.getMessage()
        return text if getattr(record, _PLAIN, False) else f"publius: {text}"


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """One object: time, level, logger, message, and the fields that the record brings."""
        fields = getattr(record, "fields", {})
        return json.dumps({
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage().strip(),
            **fields,
        })  # fmt: skip
