"""Every exception Publius raises on purpose.

::

    PubliusError            70  a bug in Publius when nothing below fits
    |- UsageError            2  the call is wrong: an option, an argument, a combination
    |  |- MissingExtraError  2  an optional dependency is not installed
    |  `- CancelledError     2  whoever waited for long work has stopped it
    |- DataError            65  an input cannot be accepted
    |  |- EmbeddingError    65  a file or store of word vectors
    |  |- DocumentError     65  a corpus or a document
    |  `- UnknownWordError  65  a document has words outside the vocabulary and the policy is to reject
    |- StorageError         74  reading or writing failed
    |  `- EntropyError      74  the operating system gave no randomness
    `- PolicyError          77  the request is understood and refused: it would break what is promised
       `- BudgetError       77  a privacy budget would be overspent

The number is the exit code of the command line. A message says what was found, where, and the way out;
it never holds a word of a document (privacy-engineering R17).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import ClassVar, Self


class PubliusError(Exception):
    """Base of all; raised itself only for what can only be a bug.

    Attributes:
        columns: names of the columns among which none fitted. Of a table without a header they are the words of its
            first text, so they are in no message: who shows them decides to whom.
        debit_told: whether the message says that a ledger was debited.

    """

    exit_code: ClassVar[int] = 70
    columns: tuple[str, ...] = ()
    debit_told: bool = False

    def among(self, columns: Iterable[str]) -> Self:
        """The same error, of a table with these ``columns``."""
        self.columns = (*columns,)
        return self

    def after_debit(self, so: str) -> Self:
        """The same error, which says that a ledger was debited before it, and what follows: ``so``."""
        self.args = (f"{str(self).removesuffix('.')}. The ledger is debited: {so}",)
        self.debit_told = True
        return self


class UsageError(PubliusError, ValueError):
    """The caller asked for something that does not exist or does not fit together."""

    exit_code = 2


class MissingExtraError(UsageError):
    """An optional dependency is needed and absent; the message names the extra to install."""

    def __init__(self, module: str, extra: str) -> None:
        super().__init__(f"this needs {module}, which is not installed: pip install 'publius[{extra}]'")
        self._arguments = (module, extra)

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        """A worker's error reaches the parent process by pickle, with both arguments."""
        return type(self), self._arguments


@contextmanager
def extra(name: str, module: str) -> Iterator[None]:
    """The gate of what an extra brings: `MissingExtraError` for ``module`` where an import inside fails."""
    try:
        yield
    except ImportError:
        raise MissingExtraError(module, name) from None


class CancelledError(UsageError):
    """Whoever waited for long work has stopped it; nothing half-made is kept."""


class DataError(PubliusError, ValueError):
    """An input was read and cannot be accepted."""

    exit_code = 65


class EmbeddingError(DataError):
    """A file or store of word vectors is malformed, inconsistent or beyond the limits."""


class DocumentError(DataError):
    """A corpus or one of its documents cannot be read; named by position, never by content.

    Attributes:
        id: of the document, where there is one that has an id. It may be a person's name, so it is in no message: who
            shows it decides to whom.

    """

    id: str | None = None

    def of(self, id: str | None) -> Self:
        """The same error, of the document called ``id``."""
        self.id = id
        return self


class UnknownWordError(DataError):
    """A document has words outside the public vocabulary and the policy is ``reject``."""


class StorageError(PubliusError, OSError):
    """Reading or writing failed; nothing half-written was left under the final name."""

    exit_code = 74


class EntropyError(StorageError):
    """The operating system gave no randomness; nothing was released."""


class PolicyError(PubliusError):
    """The request would break a promise, so it is refused."""

    exit_code = 77


class BudgetError(PolicyError):
    """A privacy budget would be overspent; nothing was released and nothing debited.

    Attributes:
        account: whose budget, as the ledger names it; None where it hides ids. It may be a person's name, so it is in
            no message: who shows it decides to whom.

    """

    account: str | None = None


def place_of(error: BaseException) -> str:
    """Type and place of a bug, without its message: a message may hold the text that was being worked on."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return f"{type(error).__name__} at unknown place"
    return (
        f"{type(error).__name__} at {os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}"
    )


def how_many(count: float, one: str, more: str = "") -> str:
    """A number and what it counts, for messages: ``1 document``, ``1,234 documents``; ``more`` where no s is added."""
    return f"{count:,.0f} {one if count == 1 else more or one + 's'}"
