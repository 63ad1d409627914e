"""Ledgers under many processes, kills and full disks: no debit is lost, none is made twice, no release is unpaid."""

import multiprocessing
import shutil
import tempfile
from fractions import Fraction
from pathlib import Path

from publius.audit.outcomes import Findings, violations
from publius.documents.corpus import open_corpus
from publius.errors import BudgetError, PubliusError
from publius.noise.randomness import seeded_rng
from publius.privacy.ledger import Charge, Ledger
from publius.releases.engines import protect_corpus
from torture import bench
from torture.children import run_child
from torture.limits import limit_files

_DOCUMENTS = 20


def _spend(path, times):
    ledger = Ledger(path)
    passed = 0
    for _ in range(times):
        try:
            ledger.spend([Charge("d", 1)])
        except BudgetError:
            continue
        passed += 1
    return passed


def torture_concurrent(processes, times):
    """``processes`` spend at once, twice as much as there is: the ledger ends exactly at its cap."""
    cap = processes * times // 2
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.create(Path(folder) / "ledger", budget=cap)
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            passed = sum(pool.starmap(_spend, [(ledger.path, times)] * processes))
        ledger.check()
        spent = ledger.document("d").spent
    off = abs(passed - cap) + abs(spent - cap)
    checks = (violations("concurrent ledgers: off the cap", processes * times, int(off)),)
    return Findings(checks, {"concurrent spends": processes * times, "passed": passed, "cap": cap})


def torture_ledger_kills(count, seed=6):
    """A paid release is killed at a random instant, or its disk is full: then debits are at least releases."""
    rng = seeded_rng(seed)
    kills, unpaid, damaged, twice = 0, [], [], []
    with tempfile.TemporaryDirectory() as name:
        corpus = bench.write_corpus(Path(name) / "corpus.jsonl", _DOCUMENTS)
        price = bench.plan().guarantee.epsilon_total
        for trial in range(count):
            folder = Path(name) / str(trial)
            folder.mkdir()
            ledger = Ledger.create(folder / "ledger", budget=Fraction(price) * 3)
            job = _paid(corpus, folder / "out", ledger.path)
            if trial % 4 == 3:
                limit = int(rng.integers(1, 80_000))
                _, result = run_child(job, before=lambda n=limit: limit_files(n))
                hit = bool(result[0])
            else:
                signal, result = run_child(job, kill_after=float(rng.random()) * 0.15)
                hit = bool(signal)
            kills += hit
            _judge(trial, ledger, folder / "out", price, (unpaid, damaged, twice))
            shutil.rmtree(folder)
    checks = (
        violations("ledger under kills: releases without a debit", kills, len(unpaid)),
        violations("ledger under kills: damaged ledgers", kills, len(damaged)),
        violations("ledger under kills: debited twice", kills, len(twice)),
    )
    return Findings(
        checks, {"ledger kills and full disks": kills, "problems": (unpaid + damaged + twice)[:20]}
    )


def _paid(corpus, out, ledger):
    def job():
        protect_corpus(open_corpus(corpus), bench.plan(), out, workers=1, ledger=Ledger(ledger))

    return job


def _judge(trial, ledger, out, price, problems):
    unpaid, damaged, twice = problems
    try:
        ledger.check()
        spent = [ledger.document(f"d{index}").spent for index in range(_DOCUMENTS)]
    except PubliusError as error:
        damaged.append(f"{trial}: {error}")
        return
    if out.exists() and any(amount < price for amount in spent):
        unpaid.append(f"{trial}: {min(spent)}")
    if any(amount not in (0, Fraction(price)) for amount in spent):
        twice.append(f"{trial}: {max(spent)}")
