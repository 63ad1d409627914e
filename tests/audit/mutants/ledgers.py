"""Broken ledgers and releases that use a ledger wrongly."""

from __future__ import annotations

import functools
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, final

from audit.ledgers import (
    LedgerCheck,
    check_amounts,
    check_batches,
    check_cap,
    check_concurrent,
    check_debit_first,
    check_exact,
    check_files,
    check_links,
    check_names,
    check_subjects,
    check_tokens,
    check_whole,
    in_new_folder,
)
from audit.mutants.mutant import Mutant, Probe
from publius.audit.implementation import GENUINE, Subject
from publius.errors import BudgetError, DataError, PolicyError, UsageError
from publius.privacy.guarantee import Guarantee
from publius.privacy.ledger import Amount, Charge, price
from publius.releases.protect import release
from publius.releases.release import Release


@final
@dataclass(frozen=True)
class CarelessAccount:
    """What was spent."""

    spent: Fraction


@final
class Careless:
    """A ledger in a JSON file that is right but for its ``faults``.

    Faults: "floats", "no lock", "any amount", "negative", "any file", "partial", "tokens", "subjects", "names",
    "links", "beside".
    """

    def __init__(self, faults: frozenset[str], path: Path, budget: Amount | None) -> None:
        self._faults, self._path = faults, path if "names" in faults else path.resolve()
        if budget is not None:
            self._write({"budget": str(Fraction(budget)), "spent": {}, "tokens": {}})
        self._budget = Fraction(self._read()["budget"])

    def spend(self, charges: Sequence[Charge], *, token: str | None = None) -> bool:
        """Debit all or refuse, as far as the faults let it."""
        amounts = [self._amount(charge.amount) for charge in charges]
        with self._locked():
            state = self._read()
            asked = json.dumps([(charge.document, str(charge.amount)) for charge in charges])
            if token is not None and token in state["tokens"]:
                if state["tokens"][token] != asked and "tokens" not in self._faults:
                    raise PolicyError("the token paid for something else")
                return False
            if token is not None:
                state["tokens"][token] = asked
            if self._faults & {"no lock", "names"}:
                time.sleep(0.002)
            self._add(state, charges, amounts)
            self._write(state)
        return True

    def document(self, id: str) -> CarelessAccount:
        """The account of a document."""
        return CarelessAccount(Fraction(self._read()["spent"].get(f"d:{id}", "0")))

    def _amount(self, amount: Any) -> Fraction:
        if isinstance(amount, bool) or not isinstance(amount, int | float | Fraction):
            raise UsageError("no number")
        if not math.isfinite(amount):
            if "any amount" in self._faults:
                return Fraction(0)
            raise UsageError("not finite")
        exact = Fraction(amount)
        negative = exact <= 0 and "negative" not in self._faults
        if negative or (0 < exact < Fraction(2) ** -1022 and "any amount" not in self._faults):
            raise UsageError("not positive")
        return exact

    def _add(self, state: dict[str, Any], charges: Sequence[Charge], amounts: Sequence[Fraction]) -> None:
        for charge, amount in zip(charges, amounts, strict=True):
            names = [f"d:{charge.document}"]
            if charge.subject is not None and "subjects" not in self._faults:
                names.append(f"s:{charge.subject}")
            for name in names:
                total = self._sum(Fraction(state["spent"].get(name, "0")), amount)
                if total > self._budget:
                    raise BudgetError("overspent")
                state["spent"][name] = str(total)
            if "partial" in self._faults:
                self._write(state)

    def _sum(self, spent: Fraction, amount: Fraction) -> Fraction:
        return Fraction(float(spent) + float(amount)) if "floats" in self._faults else spent + amount

    def price(self, guarantee: Guarantee) -> Fraction:
        """Epsilon*N, as the genuine ledger."""
        return price(guarantee, "epsilon-n")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if "no lock" in self._faults:
            yield
            return
        import fcntl  # POSIX only

        with open(f"{self._path}.lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _read(self) -> Any:
        if "links" not in self._faults and self._path.exists() and self._path.stat().st_nlink > 1:
            raise DataError("several names")
        try:
            newest = self._beside if self._beside.exists() else self._path
            state = json.loads(newest.read_text(encoding="utf-8"))
            _ = state["budget"]
        except (OSError, ValueError, KeyError, TypeError):
            if "any file" in self._faults:
                return {"budget": "100", "spent": {}, "tokens": {}}
            raise DataError("no ledger") from None
        return state

    def _write(self, state: Any) -> None:
        temporary = self._path.with_name(f"{self._path.name}.{time.monotonic_ns()}")
        temporary.write_text(json.dumps(state), encoding="utf-8")
        late = "beside" in self._faults and self._path.exists()
        temporary.replace(self._beside if late else self._path)

    @property
    def _beside(self) -> Path:
        """Debits that were not put into the file yet."""
        return self._path.with_name(f"{self._path.name}-wal")


def _careless(*faults: str) -> Subject:
    return replace(GENUINE, ledger=partial(Careless, frozenset(faults)))


def _late_debit(bag: Any, mechanism: Any, *, id: str, ledger: Any) -> Release:
    """Releases first and debits afterwards."""
    made = release(bag, mechanism, id=id)
    if made.guarantee is not None:
        ledger.spend([Charge(id, made.guarantee.epsilon * bag.size)])
    return made


def _no_debit(bag: Any, mechanism: Any, *, id: str, ledger: Any) -> Release:
    return release(bag, mechanism, id=id)


def _epsilon_only(bag: Any, mechanism: Any, *, id: str, ledger: Any) -> Release:
    """Debits epsilon where the unit is epsilon*N."""
    ledger.spend([Charge(id, mechanism.epsilon)])
    return release(bag, mechanism, id=id)


def _goes_on(bag: Any, mechanism: Any, *, id: str, ledger: Any) -> Release:
    """Takes a refusal for a warning."""
    with suppress(BudgetError):
        return release(bag, mechanism, id=id, ledger=ledger)
    return release(bag, mechanism, id=id)


@functools.cache
def probe_ledger(check: LedgerCheck) -> Probe:
    """One check of the ledger."""
    return lambda subject, key: [in_new_folder(check, subject)]


def ledger_mutants() -> list[Mutant]:
    """Eleven broken ledgers and four releases that use a right one wrongly."""
    ledgers: dict[str, tuple[str, LedgerCheck, str]] = {
        "floats": ("rounded sums", check_exact, "ledger: sums are exact"),
        "no lock": ("checks, then writes", check_concurrent, "ledger: spends at once end exactly at the cap"),
        "any amount": (
            "NaN and subnormal amounts pass",
            check_amounts,
            "ledger: amounts that are none are refused",
        ),
        "negative": (
            "negative amounts give back",
            check_amounts,
            "ledger: amounts that are none are refused",
        ),
        "any file": (
            "an unreadable file is empty",
            check_files,
            "ledger: files that are no ledger are refused",
        ),
        "partial": (
            "half a batch is debited",
            check_batches,
            "ledger: a batch is debited whole or not at all",
        ),
        "tokens": ("a token pays for anything", check_tokens, "ledger: a token pays for one draw"),
        "names": ("locked by name", check_names, "ledger: one budget by every name"),
        "links": ("hard links are allowed", check_links, "ledger: several hard links are refused"),
        "beside": (
            "debits stay in a journal beside the file",
            check_whole,
            "ledger: a debit is in the file itself",
        ),
        "subjects": ("authors are not charged", check_subjects, "ledger: the documents of one author add up"),
    }
    first, cap = "ledger: debited before the release, and for good", "ledger: releases stop at the budget"
    releases: dict[str, tuple[Callable[..., Release], LedgerCheck, str]] = {
        "debited after the release": (_late_debit, check_debit_first, first),
        "not debited": (_no_debit, check_cap, cap),
        "debited without N": (_epsilon_only, check_cap, cap),
        "a refusal is ignored": (_goes_on, check_cap, cap),
    }
    found = [
        Mutant(f"ledger: {name}", _careless(fault), probe_ledger(check), caught_by)
        for fault, (name, check, caught_by) in ledgers.items()
    ]
    return found + [
        Mutant(f"ledger: {name}", replace(GENUINE, paid_release=path), probe_ledger(check), caught_by)
        for name, (path, check, caught_by) in releases.items()
    ]
