"""The ledger: what releases have cost each document and each author, and a budget that refuses when it is spent.

A ledger is a SQLite file. A release is debited durably before it is made and never given back, so a crash can
cost budget but never privacy (R16). Amounts are exact rationals: sums have no rounding error, and a float counts
as the exact number it is.

Releases of one document add up, and so do those of an author's documents (docs/theory.md section 2). The unit is
epsilon*N (nats per unit of Earth Mover's distance) or epsilon. Releases in different metrics or embeddings are
charged to one sum: for each of them the budget then holds all the more.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Final, Literal, Self, cast, final, get_args

from publius.errors import BudgetError, PolicyError, UsageError
from publius.files import AnyPath, shown
from publius.files.placed import note_debit, signals_wait
from publius.noise.randomness import KEY_BYTES, entropy
from publius.privacy.guarantee import Unit
from publius.privacy.ledger.amounts import (
    Amount,
    Priced,
    bounded,
    exact_amount,
    from_text,
    price,
    to_decimal,
    to_text,
)
from publius.privacy.ledger.ledger_file import (
    create_file,
    damaged,
    key_check,
    open_file,
    read_key,
    read_settings,
    transaction,
)
from publius.text.author_names import name_key
from publius.text.normal_form import normal_form

Kind = Literal["document", "subject"]
Name = tuple[Kind, str]

_LONGEST_ID: Final = 1024


@final
@dataclass(frozen=True, slots=True)
class Charge:
    """The cost of one release to one document, and the subject (its author) if there is one. The repr holds no id.

    Without a document it is the subject alone that is charged, once, for all documents together.
    """

    document: str | None = field(repr=False)
    amount: Amount
    subject: str | None = field(default=None, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Account:
    """Spending on a document or a subject. ``name`` is a pseudonym where ids are hidden."""

    kind: Kind
    name: str = field(repr=False)
    spent: Fraction
    remaining: Fraction
    releases: int


@final
class Ledger:
    """A budget for each document and each subject, in a file that survives crashes and serves many processes.

    It holds no open file: each call opens the file alone, checks that it is a ledger, and closes it. So it can be used
    after a fork, from threads, and in workers. A missing, foreign or damaged file is refused, never replaced, and so
    is one with several names (hard links, or a mount of the file alone); symbolic links are followed.

    Attributes:
        path: the file.
        unit: "epsilon-n", "epsilon", "epsilon-n-ordered" or "bound".
        budget: the most that may be spent on one document.
        subject_budget: the most that may be spent on one subject.
        hides_ids: whether ids are kept as HMAC-SHA256 under the key in the file beside it, ``PATH.key``.
    """

    def __init__(self, path: AnyPath) -> None:
        """Open the ledger at ``path``: `StorageError` when it cannot be read, `DataError` when it is none."""
        self.path = Path(path)
        with open_file(self.path) as connection:
            self._settings = settings = read_settings(connection, self.path)
        if settings["unit"] not in get_args(Unit):
            raise damaged(self.path, "its unit is none")
        self.unit = cast("Unit", settings["unit"])
        self.budget = from_text(settings["budget"], shown(path))
        self.subject_budget = from_text(settings["subject_budget"], shown(path))
        self.hides_ids = settings["key_check"] != ""
        self._key = read_key(self.path, settings["key_check"]) if self.hides_ids else None

    @classmethod
    def create(
        cls,
        path: AnyPath,
        *,
        budget: Amount,
        unit: Unit = "epsilon-n",
        subject_budget: Amount | None = None,
        hide_ids: bool = False,
    ) -> Self:
        """A new ledger, readable by its owner only; `UsageError` when there is a file already.

        ``subject_budget`` is ``budget`` unless given. With ``hide_ids`` a fresh key is put beside the ledger, in
        ``PATH.key``: without that file the ledger cannot be used, and with it ids can be tried.
        """
        if unit not in get_args(Unit):
            raise UsageError(f"no unit is called {unit!r}: choose one of {', '.join(get_args(Unit))}")
        most = exact_amount(budget, "the budget")
        most_subject = (
            most if subject_budget is None else exact_amount(subject_budget, "the subject's budget")
        )
        key = entropy(KEY_BYTES) if hide_ids else None
        settings = {
            "unit": unit,
            "budget": to_text(most),
            "subject_budget": to_text(most_subject),
            "key_check": key_check(key) if key else "",
        }
        create_file(Path(path), settings, key)
        return cls(path)

    def price(self, promised: Priced) -> Fraction:
        """The cost of a release here, from its guarantee or its summary; see `price`."""
        return price(promised, self.unit)

    def spend(self, charges: Iterable[Charge], *, token: str | None = None) -> bool:
        """Debit all ``charges`` in one durable step, or none: call it before the release that they pay for.

        A ``token`` names a draw whose noise repeats when it is computed again (a batch of a resumed run): it is
        debited once. Returns whether something was debited: False for a token that was paid for before. Raises
        `BudgetError` when an account would be overspent, `UsageError` for amounts or ids that are none,
        `PolicyError` for a token that paid for other charges, `StorageError` when the file cannot be written.
        """
        batch = [_checked(charge) for charge in charges]
        if not batch:
            return False
        totals = self._totals(batch)
        with signals_wait():
            with self._open() as connection, transaction(connection):
                if token is not None and _paid(connection, token, _digest(totals)):
                    return False
                self._debit(connection, totals)
                self._record(connection, batch, token, _digest(totals))
            note_debit()
        return True

    def admit(self, charges: Iterable[Charge]) -> None:
        """Raise `BudgetError` if ``charges`` would overspend now, to fail early; only `spend` decides."""
        totals = self._totals([_checked(charge) for charge in charges])
        with self._open() as connection:
            self._sums(connection, totals)

    def without_room(self, amount: Fraction) -> Callable[[str], bool]:
        """Whether a subject has less than ``amount`` left, as far as accounts stand now; only `spend` decides."""
        spent = {each.name for each in self.accounts() if each.kind == "subject" and each.remaining < amount}
        if amount > self.subject_budget:
            return lambda subject: True
        return lambda subject: self._stored("subject", subject) in spent

    def document(self, id: str) -> Account:
        """The account of a document; zero if uncharged."""
        return self._lookup("document", id)

    def subject(self, name: str) -> Account:
        """The account of a subject, with all documents; zero if uncharged."""
        return self._lookup("subject", name)

    def accounts(self) -> Iterator[Account]:
        """Every account, documents before subjects, by name."""
        with self._open() as connection:
            found = connection.execute("SELECT kind, name, spent, releases FROM accounts ORDER BY kind, name")
            rows = found.fetchall()  # who looks at them may take long, and must not keep the file
        for kind, name, spent, releases in rows:
            if kind not in get_args(Kind):
                raise damaged(self.path, "an account is of no known kind")
            amount = from_text(spent, shown(self.path))
            yield Account(kind, name, amount, self._most(kind) - amount, releases)

    def counts(self) -> tuple[int, int, int]:
        """How many documents, subjects and durable debits there are."""
        with self._open() as connection:
            kinds = dict(connection.execute("SELECT kind, count(*) FROM accounts GROUP BY kind"))
            debits = connection.execute("SELECT count(*) FROM debits").fetchone()[0]
        return kinds.get("document", 0), kinds.get("subject", 0), debits

    def check(self) -> None:
        """Read everything: structure, amounts, caps, and that accounts and debits tell the same story.

        Raises `DataError` naming what is wrong.
        """
        with self._open() as connection:
            if connection.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                raise damaged(self.path, "SQLite's integrity check fails")
            debits = connection.execute("SELECT releases, total FROM debits").fetchall()
        accounts = list(self.accounts())
        if any(account.remaining < 0 for account in accounts):
            raise damaged(self.path, "an account is over its budget")
        documents = [account for account in accounts if account.kind == "document"]
        totals = (from_text(total, shown(self.path)) for releases, total in debits if releases)
        debited = sum(totals, Fraction(0))
        if sum((account.spent for account in documents), Fraction(0)) != debited:
            raise damaged(self.path, "the accounts do not add up to the debits")
        if sum(account.releases for account in documents) != sum(releases for releases, _ in debits):
            raise damaged(self.path, "the accounts and the debits count different releases")

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The file, if it is still the ledger that was opened."""
        with open_file(self.path) as connection:
            if read_settings(connection, self.path) != self._settings:
                raise damaged(self.path, "its settings are not those it was opened with")
            yield connection

    def _totals(
        self, batch: list[tuple[str | None, Fraction, str | None]]
    ) -> dict[Name, tuple[Fraction, int]]:
        """Amount and number of releases for each account that ``batch`` touches."""
        totals: dict[Name, tuple[Fraction, int]] = {}
        for document, amount, subject in batch:
            names: tuple[tuple[Kind, str | None], ...] = (("document", document), ("subject", subject))
            for account in [(kind, self._stored(kind, name)) for kind, name in names if name is not None]:
                before, releases = totals.get(account, (Fraction(0), 0))
                totals[account] = before + amount, releases + 1
        return totals

    def _stored(self, kind: Kind, name: str) -> str:
        """An id as the file has it: in one Unicode form, for the same name in another is the same name.

        Somebody's name is the same in capitals, too, with blanks around it, and with characters that show nothing.
        """
        name = normal_form("NFC", name)
        if kind == "subject":
            name = name_key(name)
        if self._key is None:
            return name
        return hmac.digest(self._key, f"publius/ledger/{kind}/v1\0{name}".encode(), "sha256").hex()

    def _most(self, kind: Kind) -> Fraction:
        return self.budget if kind == "document" else self.subject_budget

    def _lookup(self, kind: Kind, name: str) -> Account:
        stored = self._stored(kind, _checked_id(name, kind))
        with self._open() as connection:
            spent, releases = self._account(connection, (kind, stored))
        return Account(kind, stored, spent, self._most(kind) - spent, releases)

    def _account(self, connection: sqlite3.Connection, name: Name) -> tuple[Fraction, int]:
        row = connection.execute(
            "SELECT spent, releases FROM accounts WHERE kind = ? AND name = ?", name
        ).fetchone()
        return (Fraction(0), 0) if row is None else (from_text(row[0], shown(self.path)), row[1])

    def _sums(
        self, connection: sqlite3.Connection, totals: dict[Name, tuple[Fraction, int]]
    ) -> list[tuple[Kind, str, Fraction, int]]:
        """What each account would have; `BudgetError` at the first that would be overspent."""
        sums = []
        for (kind, name), (amount, releases) in totals.items():
            spent, before = self._account(connection, (kind, name))
            if spent + amount > self._most(kind):
                raise self._overspent(kind, name, spent, amount)
            sums.append((kind, name, bounded(spent + amount), before + releases))
        return sums

    def _debit(self, connection: sqlite3.Connection, totals: dict[Name, tuple[Fraction, int]]) -> None:
        """Check every account, then change them."""
        connection.executemany(
            "INSERT OR REPLACE INTO accounts (kind, name, spent, releases) VALUES (?, ?, ?, ?)",
            [(kind, name, to_text(sum), count) for kind, name, sum, count in self._sums(connection, totals)],
        )

    def _record(
        self,
        connection: sqlite3.Connection,
        batch: list[tuple[str | None, Fraction, str | None]],
        token: str | None,
        digest: str,
    ) -> None:
        """Note the debit; its releases and their total are those of documents, as `check` counts them."""
        amounts = [amount for document, amount, _ in batch if document is not None]
        total = sum(amounts, Fraction(0))
        connection.execute(
            "INSERT INTO debits (time, token, digest, releases, total) VALUES (?, ?, ?, ?, ?)",
            (
                datetime.now(UTC).isoformat(timespec="seconds"),
                token,
                digest,
                len(amounts),
                to_text(bounded(total)),
            ),
        )

    def _overspent(self, kind: Kind, name: str, spent: Fraction, amount: Fraction) -> BudgetError:
        most = self._most(kind)
        less = {"bound": "bound", "epsilon": "epsilon"}.get(self.unit, "epsilon or length")
        way_out = (
            f"choose a smaller {less}, or leave it out"
            if most > spent
            else "its budget is spent: leave it out"
        )
        error = BudgetError(
            f"a {kind} has {to_decimal(most - spent)} of its budget of {to_decimal(most)} ({self.unit}) left, and this "
            f"would cost {to_decimal(amount)}; nothing was released and nothing debited: {way_out}"
        )
        error.account = None if self.hides_ids else name
        return error


def _paid(connection: sqlite3.Connection, token: str, digest: str) -> bool:
    """Whether ``token`` was debited; `PolicyError` when it was for other charges."""
    row = connection.execute("SELECT digest FROM debits WHERE token = ?", (token,)).fetchone()
    if row is not None and row[0] != digest:
        raise PolicyError("this batch was paid for with other documents or amounts: start a new run")
    return row is not None


def _digest(totals: dict[Name, tuple[Fraction, int]]) -> str:
    rows = sorted(f"{kind}\0{name}\0{to_text(amount)}" for (kind, name), (amount, _) in totals.items())
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def _checked(charge: Charge) -> tuple[str | None, Fraction, str | None]:
    subject = None if charge.subject is None else _checked_id(charge.subject, "subject")
    together = charge.document is None and subject is not None
    return (
        None if together else _checked_id(charge.document, "document"),
        exact_amount(charge.amount),
        subject,
    )


def _checked_id(name: object, kind: str) -> str:
    if not isinstance(name, str) or not name or len(name) > _LONGEST_ID or not _is_unicode(name):
        raise UsageError(f"the id of a {kind} must be a text of 1 to {_LONGEST_ID} characters")
    return name


def _is_unicode(name: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in name)
