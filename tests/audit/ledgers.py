"""The ledger (R16): exact, durable, debited before a release, whatever happens at once or goes wrong."""

from __future__ import annotations

import contextlib
import math
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from audit.mutants.rewired import Rewired
from publius.audit.forking import PROCESSES, in_processes
from publius.audit.implementation import Spender, Subject
from publius.audit.outcomes import Check, violations
from publius.audit.release_path import toy_embeddings
from publius.errors import BudgetError, DataError, PolicyError, PubliusError, StorageError
from publius.privacy.ledger import Charge
from publius.text.bag import Bag

LedgerCheck = Callable[[Subject, Path], Check]

NO_AMOUNTS: Final[tuple[Any, ...]] = (math.nan, math.inf, -1.0, 0.0, 5e-324, "1", None, True)


def check_ledger(subject: Subject, spends: int) -> list[Check]:
    """All of the below, each on a ledger of its own in a temporary folder; ``spends`` for each process."""
    checks: list[LedgerCheck] = [
        lambda subject, folder: check_concurrent(subject, folder, spends),
        check_exact,
        check_amounts,
        check_files,
        check_batches,
        check_tokens,
        check_subjects,
        check_debit_first,
        check_cap,
    ]
    return [in_new_folder(check, subject) for check in checks]


def in_new_folder(check: LedgerCheck, subject: Subject) -> Check:
    """One check on a ledger of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return check(subject, Path(folder))


def _spent(ledger: Spender, charges: Sequence[Charge], token: str | None = None) -> bool:
    """Whether the ledger let ``charges`` pass; a typed refusal is no."""
    try:
        ledger.spend(charges, token=token)
    except PubliusError:
        return False
    return True


def _try(make: Callable[[Path, Any], Spender], path: Path, times: int) -> int:
    ledger = make(path, None)
    return sum(_spent(ledger, [Charge("d", 1)]) for _ in range(times))


def check_concurrent(subject: Subject, folder: Path, spends: int = 6) -> Check:
    """Processes and threads that spend at once end exactly at the cap."""
    path, total = folder / "ledger", 2 * PROCESSES * spends
    cap = total // 2
    ledger = subject.ledger(path, cap)
    passed = 0
    passed += sum(in_processes(_try, [(subject.ledger, path, spends)] * PROCESSES))
    with ThreadPoolExecutor(PROCESSES) as threads:
        rounds = [spends] * PROCESSES
        passed += sum(threads.map(_try, [subject.ledger] * PROCESSES, [path] * PROCESSES, rounds))
    off = abs(passed - cap) + (Fraction(ledger.document("d").spent) != cap)
    return violations("ledger: spends at once end exactly at the cap", total, off)


def _try_by_names(make: Callable[[Path, Any], Spender], names: Sequence[Path], times: int) -> int:
    return sum(_spent(make(names[turn % len(names)], None), [Charge("d", 1)]) for turn in range(times))


def check_names(subject: Subject, folder: Path, spends: int = 6) -> Check:
    """Processes that reach one file by its name, a link and a longer way end exactly at the cap (R25)."""
    path, total = folder / "ledger", PROCESSES * spends
    cap = total // 2
    subject.ledger(path, cap)
    link, way = folder / "link", folder / ".." / folder.name / "ledger"
    link.symlink_to(path)
    names = [path, link, way]
    jobs = [(subject.ledger, names[place % 3 :] + names[: place % 3], spends) for place in range(PROCESSES)]
    passed = sum(in_processes(_try_by_names, jobs))
    off = abs(passed - cap) + (Fraction(subject.ledger(path, None).document("d").spent) != cap)
    return violations("ledger: one budget by every name", total, off)


def check_links(subject: Subject, folder: Path) -> Check:
    """A second hard link has no journal in common with the first: nothing is spent while there is one."""
    path, other = folder / "ledger", folder / "elsewhere" / "ledger"
    subject.ledger(path, 5)
    other.parent.mkdir()
    other.hardlink_to(path)
    passed = _opens(subject, path) + _opens(subject, other)
    other.unlink()
    return violations("ledger: several hard links are refused", 3, passed + (not _opens(subject, path)))


def check_whole(subject: Subject, folder: Path) -> Check:
    """When a debit has returned, the file itself has it: another name or a copy sees it, whoever else has it open."""
    path, copy = folder / "ledger", folder / "copy"
    ledger = subject.ledger(path, 5)
    with contextlib.closing(sqlite3.connect(path)) as reader:
        with contextlib.suppress(sqlite3.Error):  # a ledger that is no database
            reader.execute("SELECT * FROM accounts").fetchall()
        ledger.spend([Charge("d", 3)])
        copy.write_bytes(path.read_bytes())
    spent = Fraction(subject.ledger(copy, None).document("d").spent)
    return violations("ledger: a debit is in the file itself", 1, int(spent != 3))


def check_exact(subject: Subject, folder: Path) -> Check:
    """Ten times 0.1 is more than 1, by 2^-54 or so: sums are exact, not rounded."""
    ledger = subject.ledger(folder / "ledger", 1)
    passed = sum(_spent(ledger, [Charge("d", 0.1)]) for _ in range(10))
    wrong = Fraction(ledger.document("d").spent) != 9 * Fraction(0.1)
    return violations("ledger: sums are exact", 10, abs(passed - 9) + wrong)


def check_amounts(subject: Subject, folder: Path) -> Check:
    """What is no positive number cannot be spent; a negative amount would give budget back."""
    ledger = subject.ledger(folder / "ledger", 5)
    passed = sum(_spent(ledger, [Charge("d", amount)]) for amount in NO_AMOUNTS)
    return violations("ledger: amounts that are none are refused", len(NO_AMOUNTS), passed)


def check_files(subject: Subject, folder: Path) -> Check:
    """A file that is missing, empty, cut short or something else is refused, not taken for an empty ledger."""
    path = folder / "ledger"
    subject.ledger(path, 5).spend([Charge("d", 5)])
    content = path.read_bytes()
    spoiled: list[bytes | None] = [None, b"", content[: len(content) // 2], b"{}", b"not a ledger\n" * 99]
    accepted = 0
    for data in spoiled:
        other = folder / "other"
        other.unlink(missing_ok=True)
        if data is not None:
            other.write_bytes(data)
        accepted += _opens(subject, other)
    return violations("ledger: files that are no ledger are refused", len(spoiled), accepted)


def _opens(subject: Subject, path: Path) -> bool:
    try:
        return _spent(subject.ledger(path, None), [Charge("d", 1)])
    except (DataError, StorageError):
        return False


def check_batches(subject: Subject, folder: Path) -> Check:
    """A batch of which one charge is too much debits nothing."""
    ledger = subject.ledger(folder / "ledger", 3)
    passed = _spent(ledger, [Charge("a", 1), Charge("b", 4), Charge("c", 1)])
    left = sum(Fraction(ledger.document(name).spent) != 0 for name in "abc")
    return violations("ledger: a batch is debited whole or not at all", 3, passed + left)


def check_tokens(subject: Subject, folder: Path) -> Check:
    """A draw that is computed again is paid for once; its token pays for nothing else."""
    ledger = subject.ledger(folder / "ledger", 3)
    draw = "batch 1"
    first = [_spent(ledger, [Charge("a", 1)], draw) for _ in range(5)]
    wrong = first.count(False) + (Fraction(ledger.document("a").spent) != 1)
    wrong += _spent(ledger, [Charge("a", 2)], draw)
    wrong += _spent(ledger, [Charge("b", 1)], draw)
    return violations("ledger: a token pays for one draw", 7, wrong)


def check_subjects(subject: Subject, folder: Path) -> Check:
    """The documents of one author add up: the author's budget refuses."""
    ledger = subject.ledger(folder / "ledger", 3)
    passed = sum(_spent(ledger, [Charge(f"d{place}", 1, "author")]) for place in range(8))
    return violations("ledger: the documents of one author add up", 8, abs(passed - 3))


def check_debit_first(subject: Subject, folder: Path) -> Check:
    """A release that fails after the debit stays paid for: the debit comes first and is never given back."""
    embeddings = toy_embeddings()
    ledger = subject.ledger(folder / "ledger", 1000)
    mechanism = subject.mechanism(embeddings, 1.0)
    bag = Bag(list(embeddings.vocabulary[:4]))
    failed = 0
    for place in range(4):
        try:
            subject.paid_release(bag, _breaking(mechanism), id=f"d{place}", ledger=ledger)
        except PolicyError as error:  # of a mechanism that is not ours type and place are told
            failed += _BreaksError.__name__ in str(error)
    unpaid = sum(Fraction(ledger.document(f"d{place}").spent) != 4 for place in range(4))
    return violations("ledger: debited before the release, and for good", 4, unpaid + (failed != 4))


def check_cap(subject: Subject, folder: Path) -> Check:
    """Releases of one document stop when its budget is spent, and the refusal is typed."""
    embeddings = toy_embeddings()
    ledger = subject.ledger(folder / "ledger", 10)
    mechanism, bag = subject.mechanism(embeddings, 1.0), Bag(list(embeddings.vocabulary[:4]))
    released = refused = 0
    for _ in range(6):
        try:
            subject.paid_release(bag, mechanism, id="d", ledger=ledger)
        except (BudgetError, PolicyError):
            refused += 1
        else:
            released += 1
    return violations("ledger: releases stop at the budget", 6, abs(released - 2) + abs(refused - 4))


class _BreaksError(Exception):
    """The power fails in the middle of a release."""


def _breaking(mechanism: Any) -> Rewired:
    def breaks(inner: Any, count: int, rng: Any) -> Any:
        raise _BreaksError

    return Rewired(mechanism, draw=breaks)
