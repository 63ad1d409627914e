"""The ledger: what releases have cost each author, and a budget that refuses when it is spent.

A ledger is a SQLite file with one account per author, whatever is released of theirs (rule 9). A release is debited before
anything of it is visible, and never given back: a crash can cost budget but never privacy. Releases in different metrics
are charged to one sum. There is one budget whatever name reaches the file: it is locked itself, symbolic links are resolved,
and a second hard link or a mount of the file alone is refused, since SQLite keeps its journal beside a name.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Final, Literal, Self, final, get_args

from publius.errors import AnyPath, BudgetError, DataError, StorageError, UsageError, os_errors, shown, storage_error
from publius.files.writing import sync
from publius.privacy.guarantee import exact_number, upward
from publius.text.normal_form import author_key

Unit = Literal["epsilon", "exponent"]
Amount = int | float | Fraction

_APPLICATION: Final = 0x5075624C  # "PubL"
_VERSION: Final = 3
_MAGIC: Final = b"SQLite format 3\0"
_BUSY_SECONDS: Final = 60.0
_MOST_BITS: Final = 8192
_LONGEST_NAME: Final = 1024
_MOUNTS: Final = Path("/proc/self/mountinfo")
_POINT: Final = 4  # the field of a line that holds the mount point
_OCTAL: Final = re.compile(rb"\\([0-7]{3})")
_DAMAGE: Final = (
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_FORMAT,
)  # fmt: skip
_SCHEMA: Final = (
    "CREATE TABLE accounts (author TEXT PRIMARY KEY, spent TEXT NOT NULL, releases INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE debits (number INTEGER PRIMARY KEY, time TEXT NOT NULL, authors INTEGER NOT NULL, total TEXT NOT NULL)"
    " STRICT",
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
)


@final
@dataclass(frozen=True, slots=True)
class Account:
    """What was spent on an author, and what is left."""

    author: str = field(repr=False)
    spent: Fraction
    remaining: Fraction
    releases: int


@final
class Ledger:
    """A budget for each author, in a file that survives crashes and serves many processes.

    It holds no open file: each call locks the file, checks that it is a ledger, and closes it, so it can be used after a
    fork, from threads and in workers. A missing, foreign or damaged file is refused, never replaced.

    >>> import tempfile, publius
    >>> from pathlib import Path
    >>> ledger = publius.Ledger.create(Path(tempfile.mkdtemp(), "budget"), budget=10)
    >>> ledger.spend({"Ann": 4.5, "Bo": 1})
    >>> ledger.account(" ann ").remaining
    Fraction(11, 2)

    Attributes:
        path: the file.
        unit: "epsilon" or "exponent".
        budget: the most that may be spent on one author.
    """

    def __init__(self, path: AnyPath) -> None:
        """Open the ledger at ``path``: `StorageError` when it cannot be read, `DataError` when it is none."""
        self.path = Path(path)
        with _opened(self.path) as (_, settings):
            self.unit, self.budget = settings

    @classmethod
    def create(cls, path: AnyPath, *, budget: Amount, unit: Unit = "epsilon") -> Self:
        """A new ledger, readable by its owner only; `UsageError` when there is a file already, or no such unit."""
        path = Path(path)
        if unit not in get_args(Unit):
            raise UsageError(f"a ledger counts epsilon (labels, summaries) or exponent (words), not {unit!r:.40}")
        settings = {"unit": unit, "budget": _text(exact_number(budget, "the budget"))}
        taken = UsageError(f"{shown(path)} exists: choose another name; a ledger is never replaced")
        beside = [path.with_name(path.name + suffix) for suffix in ("", "-journal", "-wal")]
        if any(map(os.path.lexists, beside)):
            raise taken
        temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
        with os_errors("create", path):
            try:
                os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                try:
                    _fill(temporary, settings)
                    os.link(temporary, path)
                finally:
                    temporary.unlink()
            except FileExistsError:
                raise taken from None
            sync(path.parent)
        return cls(path)

    def spend(self, charges: Mapping[str, Amount]) -> None:
        """Debit every author's amount in one durable step, or none: call it before the release that they pay for.

        Spellings of one name are one author. `BudgetError` when an account would be overspent, `UsageError` for amounts
        or names that are none, `StorageError` when the file cannot be written.
        """
        totals = _totals(charges)
        if not totals:
            return
        with self._open() as connection, _transaction(connection):
            sums = self._sums(connection, totals)
            connection.executemany("INSERT OR REPLACE INTO accounts VALUES (?, ?, ?)", sums)
            moment, total = datetime.now(UTC).isoformat(timespec="seconds"), sum(totals.values(), Fraction(0))
            facts = moment, len(totals), _text(total)
            connection.execute("INSERT INTO debits (time, authors, total) VALUES (?, ?, ?)", facts)

    def admit(self, charges: Mapping[str, Amount]) -> None:
        """Raise `BudgetError` if ``charges`` would overspend now, to fail early; only `spend` decides."""
        with self._open() as connection:
            self._sums(connection, _totals(charges))

    def account(self, author: str) -> Account:
        """The account of an author; zero if uncharged."""
        with self._open() as connection:
            return self._found(connection, _name(author))

    def accounts(self) -> list[Account]:
        """Every account, by name."""
        with self._open() as connection:
            return self._all(connection)

    def _all(self, connection: sqlite3.Connection) -> list[Account]:
        rows = connection.execute("SELECT author, spent, releases FROM accounts ORDER BY author").fetchall()
        return [self._account(*row) for row in rows]

    def _account(self, name: str, spent: object, releases: int) -> Account:
        amount = Fraction(0) if spent is None else _amount_of(spent, self.path)
        return Account(name, amount, self.budget - amount, releases)

    def check(self) -> int:
        """How many debits there are, when all is read; `DataError` where structure, budget or sums are wrong."""
        with self._open() as connection:
            if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                raise _damaged(self.path, "SQLite's integrity check fails")
            debits = connection.execute("SELECT authors, total FROM debits").fetchall()
            accounts = self._all(connection)
        if any(account.remaining < 0 for account in accounts):
            raise _damaged(self.path, "an account is over its budget")
        debited = sum((_amount_of(total, self.path) for _, total in debits), Fraction(0))
        spent = sum((account.spent for account in accounts), Fraction(0))
        releases = sum(account.releases for account in accounts)
        if spent != debited or releases != sum(authors for authors, _ in debits):
            raise _damaged(self.path, "the accounts do not add up to the debits")
        return len(debits)

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection for one operation; `DataError` where the file now holds another ledger."""
        with _opened(self.path) as (connection, settings):
            if settings != (self.unit, self.budget):
                raise _damaged(self.path, "its budget was changed")
            yield connection

    def _found(self, connection: sqlite3.Connection, name: str) -> Account:
        row = connection.execute("SELECT spent, releases FROM accounts WHERE author = ?", (name,)).fetchone()
        return self._account(name, *(row or (None, 0)))

    def _sums(self, connection: sqlite3.Connection, totals: Mapping[str, Fraction]) -> list[tuple[str, str, int]]:
        """What each account would have; `BudgetError` where one would be overspent."""
        sums = []
        for name, amount in totals.items():
            found = self._found(connection, name)
            if amount > found.remaining:
                error = BudgetError(
                    f"an author has {decimal(found.remaining)} of {decimal(self.budget)} ({self.unit}) left, and "
                    f"this would cost {decimal(amount)}: choose a smaller {self.unit}, or leave out who has spent it. "
                    "Nothing was released and nothing debited"
                )
                error.account = name
                raise error
            sums.append((name, _text(found.spent + amount), found.releases + 1))
        return sums


def decimal(amount: Fraction) -> str:
    """``amount`` for people."""
    value = upward(amount)
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def _totals(charges: Mapping[str, Amount]) -> dict[str, Fraction]:
    totals: dict[str, Fraction] = {}
    for author, amount in charges.items():
        name = _name(author)
        totals[name] = totals.get(name, Fraction(0)) + exact_number(amount, "an amount")
    return totals


def _name(author: object) -> str:
    name = author_key(author)
    if name is None:
        raise UsageError("an author is a text that names somebody")
    return name if len(name) <= _LONGEST_NAME else f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"


def _text(amount: Fraction) -> str:
    """As it is stored: hexadecimal numerator/denominator, which has no limit on digits."""
    if max(amount.numerator.bit_length(), amount.denominator.bit_length()) > _MOST_BITS:
        raise UsageError("an amount has too many digits to be added exactly: give plain decimal numbers")
    return f"{amount.numerator:x}/{amount.denominator:x}"


def _amount_of(text: object, path: Path) -> Fraction:
    try:
        numerator, denominator = str(text).split("/")
        amount = Fraction(int(numerator, 16), int(denominator, 16))
        if amount > 0 and _text(amount) == text:
            return amount
    except (ValueError, ZeroDivisionError):
        pass
    raise _damaged(path, "an amount in it is not one")


def _fill(path: Path, settings: Mapping[str, str]) -> None:
    with _errors(path), contextlib.closing(_connect(path)) as connection:
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")
        with _transaction(connection):
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.executemany("INSERT INTO settings VALUES (?, ?)", settings.items())


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tuple[sqlite3.Connection, tuple[Unit, Fraction]]]:
    """A connection for one operation, while nobody else has the file, and unit and budget of the ledger that it is."""
    with _locked(path) as found:
        with os_errors("open the ledger", path), found.open("rb") as file:
            start = file.read(len(_MAGIC))
        if start != _MAGIC:
            raise _foreign(path)
        with _errors(path), contextlib.closing(_connect(found)) as connection:
            yield connection, _settings(connection, path)


def _connect(path: Path) -> sqlite3.Connection:
    address = path.absolute().as_uri() + "?mode=rw"  # never creates a file
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=_BUSY_SECONDS)
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _settings(connection: sqlite3.Connection, path: Path) -> tuple[Unit, Fraction]:
    """Unit and budget, after a check that this is a ledger and whole."""

    def pragma(name: str) -> object:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]

    if pragma("application_id") != _APPLICATION:
        raise _foreign(path)
    if pragma("user_version") != _VERSION:
        raise DataError(f"{shown(path)} is a ledger of another version of Publius: use that version")
    tables = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY sql").fetchall()
    if [sql for (sql,) in tables] != sorted(_SCHEMA) or pragma("journal_mode") != "delete":
        raise _damaged(path, "its tables are not those of a ledger")
    found = dict(connection.execute("SELECT name, value FROM settings").fetchall())
    if set(found) != {"unit", "budget"} or found["unit"] not in get_args(Unit):
        raise _damaged(path, "its settings are not those of a ledger")
    return found["unit"], _amount_of(found["budget"], path)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, with no other writer from the start; on the disk when the block has ended."""
    connection.execute("BEGIN IMMEDIATE")
    with connection:
        yield


@contextlib.contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _DAMAGE:
            raise _damaged(path, f"SQLite reports {name}") from None
        if code == sqlite3.SQLITE_BUSY:
            raise StorageError(f"the ledger {shown(path)} was busy for {_BUSY_SECONDS:.0f} s: try again") from None
        raise StorageError(
            f"the ledger {shown(path)} cannot be used ({name}): check the permissions of the file and its folder, and "
            "that the disk is local and has space"
        ) from None


def _foreign(path: Path) -> DataError:
    return DataError(f"{shown(path)} is not a ledger: name one made with publius ledger init")


def _damaged(path: Path, what: str) -> DataError:
    said = f"the ledger {shown(path)} is damaged: {what}"
    return DataError(f"{said}; restore it from a backup that is not older than the last release")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[Path]:
    """The file's one true name, while nobody else has the file: no thread, process or container of this machine."""
    try:
        found = path.resolve(strict=True)
        descriptor = os.open(found, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, RuntimeError) as error:  # RuntimeError: links that go in a circle
        raise storage_error("open the ledger", path, error if isinstance(error, OSError) else OSError()) from None
    try:
        import fcntl

        end, pause = time.monotonic() + _BUSY_SECONDS, 0.0005
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise StorageError(
                        f"the ledger {shown(path)} was busy for {_BUSY_SECONDS:g} s: try again"
                    ) from None
            time.sleep(pause)
            pause = min(2 * pause, 0.016)
        try:
            _check_names(descriptor, found, path)
            yield found
        finally:  # said aloud: a child that was forked meanwhile has the descriptor too, and would keep the lock
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def _check_names(descriptor: int, found: Path, path: Path) -> None:
    """Refuse the file when it can be reached by another name, or is no longer what its name says."""
    ours = os.fstat(descriptor)
    with os_errors("open the ledger", path):
        theirs = os.stat(found)
    if (ours.st_dev, ours.st_ino) != (theirs.st_dev, theirs.st_ino):
        raise StorageError(f"the ledger {shown(path)} was replaced while it was opened: try again")
    if not stat.S_ISREG(ours.st_mode):
        raise _foreign(path)
    if ours.st_nlink != 1:
        raise StorageError(
            f"the ledger {shown(path)} has {ours.st_nlink} names (hard links), and what is spent under one could be "
            "missed under another: remove all but one (find -samefile shows them), or use symbolic links"
        )
    if os.fsencode(found) in _mount_points():
        raise StorageError(
            f"the ledger {shown(path)} is mounted as a single file, and what is spent here could be missed outside: "
            "mount the folder that holds it instead"
        )


def _mount_points() -> frozenset[bytes]:
    """Where something is mounted, as this process sees it; nothing where the system does not say."""
    try:
        lines = [line.split(b" ") for line in _MOUNTS.read_bytes().splitlines()]
    except OSError:
        return frozenset()
    points = (line[_POINT] for line in lines if len(line) > _POINT)
    return frozenset(_OCTAL.sub(lambda code: bytes([int(code[1], 8)]), point) for point in points)
