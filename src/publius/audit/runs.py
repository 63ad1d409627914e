"""Running an audit: piece by piece, each recorded as a file, so that an interrupted audit goes on where it stopped."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

from publius.audit.implementation import GENUINE
from publius.audit.levels import Level
from publius.audit.outcomes import Check, Findings
from publius.audit.parts import Context, Piece, pieces
from publius.errors import DataError
from publius.files import AnyPath, read_bytes_limited, write_file
from publius.files.progress import Progress, unheard
from publius.files.workers import spawning
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.registry import make_mechanism
from publius.noise.randomness import RunKey
from publius.releases.engines.worker_pool import end_with_parent
from publius.vectors.embeddings import Embeddings

"""Pieces done, pieces in all, what was just finished."""


@final
@dataclass(frozen=True)
class AuditRequest:
    """The subject of an audit: everything that its result depends on.

    Attributes:
        level: sizes.
        embeddings: name or path of the vocabulary; None for the packaged one.
        mechanism: its name.
        epsilon: at which the mechanism is audited on the vocabulary.
        seed: of all samples.

    """

    level: Level
    embeddings: str | None
    mechanism: str
    epsilon: float
    seed: int

    def context(self) -> Context:
        """The inputs of the pieces; the vocabulary is opened."""
        vocabulary = Embeddings.load(self.embeddings)
        own = make_mechanism(self.mechanism, vocabulary, epsilon=self.epsilon)
        subject = replace(GENUINE, mechanism=partial(_small_mechanism, self.mechanism))
        return Context(subject, own, self.level, RunKey.seeded(self.seed))


def _small_mechanism(name: str, embeddings: Embeddings, epsilon: float) -> Kernel:
    return make_mechanism(name, embeddings, epsilon=epsilon)


@final
@dataclass(frozen=True)
class Audit:
    """The result of a whole audit.

    Attributes:
        request: what was audited.
        findings: of each piece, by its name, in order.
        seconds: what each piece took.
        machine: where, and which versions.

    """

    request: AuditRequest
    findings: Mapping[str, Findings]
    seconds: Mapping[str, float]
    machine: Mapping[str, Any]

    @property
    def checks(self) -> list[Check]:
        """All checks in order."""
        return [check for findings in self.findings.values() for check in findings.checks]

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    def figure(self, name: str, default: Any = None) -> Any:
        """The figure called ``name`` of the first piece that has it."""
        return next((f.figures[name] for f in self.findings.values() if name in f.figures), default)

    def total(self, name: str) -> int:
        """The sum of a figure over the pieces."""
        return sum(f.figures.get(name, 0) for f in self.findings.values())

    @property
    def escaped(self) -> tuple[str, ...]:
        """The broken versions that no check caught, by name."""
        return tuple(name for found in self.findings.values() for name in found.figures.get("escaped", ()))

    def as_json(self) -> dict[str, Any]:
        """The object of the interface, and beside it what was audited, where and how long it took."""
        mutants = [f.figures["mutants"] for f in self.findings.values() if "mutants" in f.figures]
        excess = self.figure("worst_excess")
        return {
            "passed": self.passed,
            "checks": [check.as_json() for check in self.checks],
            "exact_cells": self.figure("exact_cells", 0),
            "worst_excess": excess,
            "document_cells": self.figure("document_cells", 0),
            "document_worst_excess": self.figure("document_worst_excess"),
            "tightness": self.figure("tightness"),
            "mutants": {
                "total": sum(found["total"] for found in mutants),
                "caught": sum(found["caught"] for found in mutants),
            },
            "level": self.request.level.name,
            "embeddings": self.request.embeddings,
            "mechanism": self.request.mechanism,
            "epsilon": self.request.epsilon,
            "seed": self.request.seed,
            "seconds": round(sum(self.seconds.values()), 1),
            "machine": dict(self.machine),
        }


def run_audit(request: AuditRequest, folder: AnyPath, progress: Progress = unheard) -> Audit:
    """Run every piece that ``folder`` holds no result of, write each result there, and put all together.

    Results of another request are refused with `DataError`: an audit is one whole.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    _claim(place, request)
    planned = pieces(request.level, request.mechanism)
    results = {piece.name: _recorded(place, piece.name) for piece in planned}
    missing = [piece for piece in planned if results[piece.name] is None]
    done = len(planned) - len(missing)
    for name, found in _run(request, missing):
        results[name] = found
        _write_json(place / f"{name}.json", found)
        done += 1
        progress(name, done, len(planned))
    whole = {name: found for name, found in results.items() if found is not None}
    findings = {name: _findings(found) for name, found in whole.items()}
    seconds = {name: float(found["seconds"]) for name, found in whole.items()}
    audit = Audit(request, findings, seconds, machine())
    _write_json(place / "audit.json", audit.as_json())
    return audit


def _claim(place: Path, request: AuditRequest) -> None:
    """Write down what the folder's results are of, or check that it is the same."""
    path = place / "request.json"
    asked = {**asdict(request), "publius": version("publius")}
    stated = json.loads(json.dumps(asked))
    if not path.exists():
        _write_json(path, stated)
    elif _read_json(path) != stated:
        raise DataError(f"{path} is of another audit: name another folder, or remove this one")


def _run(request: AuditRequest, missing: list[Piece]) -> Iterator[tuple[str, dict[str, Any]]]:
    processes = min(request.level.processes, len(missing))
    together = [piece for piece in missing if not piece.alone] if processes > 1 else []
    if alone := [piece for piece in missing if piece not in together]:
        context = request.context()
        for piece in alone:
            yield piece.name, _measured(piece, context)
    if together:
        with ProcessPoolExecutor(processes, spawning(), _start, (request,)) as pool:
            waiting: list[Future[tuple[str, dict[str, Any]]]] = [
                pool.submit(_work, piece.name) for piece in together
            ]
            for future in as_completed(waiting):
                yield future.result()


_context: Context | None = None


def _start(request: AuditRequest) -> None:
    global _context
    from threadpoolctl import threadpool_limits

    end_with_parent()
    threadpool_limits(1)
    _context = request.context()


def _work(name: str) -> tuple[str, dict[str, Any]]:
    if _context is None:
        raise RuntimeError("a worker of the audit was used before it was started")
    planned = {piece.name: piece for piece in pieces(_context.level, _context.own.name)}
    return name, _measured(planned[name], _context)


def _measured(piece: Piece, context: Context) -> dict[str, Any]:
    start = time.perf_counter()
    findings = piece.run(context)
    return {
        "piece": piece.name,
        "seconds": round(time.perf_counter() - start, 3),
        "checks": [asdict(check) for check in findings.checks],
        "figures": dict(findings.figures),
    }


def _recorded(place: Path, name: str) -> dict[str, Any] | None:
    path = place / f"{name}.json"
    return _read_json(path) if path.exists() else None


def _findings(found: Mapping[str, Any]) -> Findings:
    return Findings(tuple(Check(**check) for check in found["checks"]), found["figures"])


def _read_json(path: Path) -> Any:
    return json.loads(read_bytes_limited(path))


def _write_json(path: Path, value: object) -> None:
    with write_file(path) as file:
        file.write(json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n")


def machine() -> dict[str, Any]:
    """The machine, the versions and the day."""
    packages = ("publius", "numpy", "scipy", "randomgen")
    return {
        "processor": _processor(),
        "processors": os.cpu_count(),
        "memory_gb": _memory(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _memory() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (ValueError, OSError, AttributeError):
        return None
