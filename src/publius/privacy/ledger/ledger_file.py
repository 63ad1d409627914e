"""The file of a ledger: made whole or not at all, recognised exactly, opened for one operation at a time.

SQLite with a rollback journal and synchronous EXTRA: when a commit returns, the debit is on the disk and in the file
itself, not beside it. Whoever opens the file has it alone (`one_name`), so what was checked still holds when it is
written.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import sqlite3
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from publius.errors import DataError, StorageError, UsageError
from publius.files import read_bytes_limited, shown, storage_error, write_file
from publius.noise.randomness import KEY_BYTES
from publius.privacy.ledger.one_name import locked

APPLICATION_ID: Final = 0x5075624C  # "PubL"
VERSION: Final = 2
SETTINGS: Final = ("budget", "key_check", "subject_budget", "unit")
_MAGIC: Final = b"SQLite format 3\0"
_BESIDE: Final = ("-journal", "-wal")  # of another ledger, SQLite would take them for this one's
_BUSY_SECONDS: Final = 60.0
_DAMAGE: Final = (
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_FORMAT,
)
_SCHEMA: Final = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE accounts (kind TEXT NOT NULL, name TEXT NOT NULL, spent TEXT NOT NULL,"
    " releases INTEGER NOT NULL, PRIMARY KEY (kind, name)) STRICT, WITHOUT ROWID",
    "CREATE TABLE debits (number INTEGER PRIMARY KEY, time TEXT NOT NULL, token TEXT UNIQUE,"
    " digest TEXT NOT NULL, releases INTEGER NOT NULL, total TEXT NOT NULL) STRICT",
)


def create_file(path: Path, settings: Mapping[str, str], key: bytes | None) -> None:
    """A new ledger file, and its key file first; `UsageError` when either name is taken."""
    beside = (path.with_name(path.name + suffix) for suffix in _BESIDE)
    for taken in (path, *beside, *([] if key is None else [key_path(path)])):
        if os.path.lexists(taken):
            raise UsageError(f"{shown(taken)} exists: choose another name; a ledger is never replaced")
    if key is not None:
        with write_file(key_path(path), 0o600) as file:
            file.write(key)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            _fill(temporary, settings)
            os.link(temporary, path)
        finally:
            temporary.unlink()
        _flush(path.parent)
    except FileExistsError:
        raise UsageError(f"{shown(path)} exists: choose another name; a ledger is never replaced") from None
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        raise storage_error("create", path, error) from None


def _fill(path: Path, settings: Mapping[str, str]) -> None:
    with sqlite_errors(path), contextlib.closing(_connect(path)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        with transaction(connection):
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.executemany("INSERT INTO settings VALUES (?, ?)", settings.items())


def _flush(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def open_file(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to the ledger at ``path`` for one operation, after a check that it is one.

    Raises `StorageError` when the file cannot be opened, has several names or is busy for a minute, `DataError` when
    it is not a ledger, is of another version, or is damaged.
    """
    with locked(path, _BUSY_SECONDS) as found:
        _check_start(found, path)
        with sqlite_errors(path), contextlib.closing(_connect(found)) as connection:
            _check_identity(connection, path)
            yield connection


def _connect(path: Path) -> sqlite3.Connection:
    address = path.absolute().as_uri() + "?mode=rw"  # never creates a file
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=_BUSY_SECONDS)
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _check_start(found: Path, path: Path) -> None:
    try:
        if not stat.S_ISREG(found.stat().st_mode):
            raise not_a_ledger(path)
        with found.open("rb") as file:
            start = file.read(len(_MAGIC))
    except OSError as error:
        raise storage_error("open the ledger", path, error) from None
    if start != _MAGIC:
        raise not_a_ledger(path)


def _check_identity(connection: sqlite3.Connection, path: Path) -> None:
    def pragma(name: str) -> object:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]

    if pragma("application_id") != APPLICATION_ID:
        raise not_a_ledger(path)
    if pragma("user_version") != VERSION:
        raise DataError(f"{shown(path)} is a ledger of another version of Publius: use that version")
    tables = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY sql").fetchall()
    if [sql for (sql,) in tables] != sorted(_SCHEMA) or pragma("journal_mode") != "delete":
        raise damaged(path, "its tables are not those of a ledger")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, with no other writer from the start; on the disk when the block has ended."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _DAMAGE:
            raise damaged(path, f"SQLite reports {name}") from None
        if code == sqlite3.SQLITE_BUSY:
            raise StorageError(
                f"the ledger {shown(path)} was busy for {_BUSY_SECONDS:.0f} s: try again"
            ) from None
        raise StorageError(
            f"the ledger {shown(path)} cannot be used ({name}): check the permissions of the file and its "
            "folder, and that the disk is local and has space"
        ) from None


def not_a_ledger(path: Path) -> DataError:
    """The error for a file that is something else."""
    return DataError(f"{shown(path)} is not a ledger: name one made with publius ledger init")


def damaged(path: Path, what: str) -> DataError:
    """The error for a ledger that cannot be trusted."""
    return DataError(
        f"the ledger {shown(path)} is damaged: {what}; restore it from a backup that is not older than the "
        "last release"
    )


def read_settings(connection: sqlite3.Connection, path: Path) -> dict[str, str]:
    """The settings that were fixed when the ledger was made."""
    settings = dict(connection.execute("SELECT name, value FROM settings ORDER BY name").fetchall())
    if tuple(settings) != SETTINGS:
        raise damaged(path, "its settings are not those of a ledger")
    return settings


def key_path(path: Path) -> Path:
    """Where the key is that hides the ids of the ledger at ``path``."""
    return path.with_name(path.name + ".key")


def key_check(key: bytes) -> str:
    """A digest that tells whether a key is the right one, and nothing else about it."""
    return hmac.digest(key, b"publius/ledger/key-check/v1", "sha256").hex()


def read_key(path: Path, check: str) -> bytes:
    """The key beside the ledger at ``path``; `DataError` when it is another's, `StorageError` when there is none."""
    key = read_bytes_limited(key_path(path.resolve()), limit=KEY_BYTES)
    if len(key) != KEY_BYTES or not hmac.compare_digest(key_check(key), check):
        raise DataError(f"{shown(key_path(path))} is not the key of this ledger: restore the right one")
    return key
