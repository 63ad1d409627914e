"""``publius audit``: this installation, a mechanism's laws, or anybody's mechanism against its claim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from publius.cli import console
from publius.cli.console import Note, Table
from publius.cli.parsing import Help, Json
from publius.errors import UsageError

if TYPE_CHECKING:
    from publius.audit.case import Finding


def audit(
    *,
    mechanism: Annotated[tuple[str, ...], Help("Laws of it, or of python:MODULE:CLASS; repeatable.")] = (),
    target: Annotated[str | None, Help("python:MODULE:NAME, 'command: ...', recorded:FILE.")] = None,
    claim: Annotated[Path | None, Help("TOML: unit, epsilon or bound, vocabulary, vectors.")] = None,
    replay: Annotated[Path | None, Help("A case that refuted a target, to be tried again.")] = None,
    draws: Annotated[int, Help("About how many draws are made.")] = 100_000,
    seed: Annotated[int | None, Help("Seed of all draws. Default: a fresh one.")] = None,
    output: Annotated[Path | None, Help("For the case that refutes. Default: case.json.")] = None,
    json: Json = False,
) -> int:
    """Check this installation, or a mechanism's claim.

    Without options: known answers, laws of every mechanism; exit 70 if a check fails. A refuted target: exit 1.
    """
    from publius.audit.case import Case
    from publius.audit.case import replay as tried_again
    from publius.noise.randomness import entropy

    seed = int.from_bytes(entropy(4), "little") if seed is None else seed
    if target is None:
        if claim is not None or replay is not None:
            raise UsageError("--claim and --replay need --target, the mechanism that is tried")
        return _installation(mechanism, seed, json=json)
    if claim is None and replay is not None:
        return _said(console.watched(tried_again, Case.read(replay), target), target, replay, json=json)
    if claim is None or replay is not None:
        raise UsageError("--target needs --claim FILE.toml, or --replay CASE")
    found, place = console.watched(_judged, target, claim, draws, seed), output or Path("case.json")
    if found.case is not None:
        found.case.write(place)
    return _said(found, target, place, json=json)


def _installation(names: tuple[str, ...], seed: int, *, json: bool) -> int:
    from publius.audit.check import Check, checks
    from publius.audit.laws import check_laws
    from publius.mechanisms.registry import KERNELS, make_kernel

    def found() -> list[Check]:
        made = [] if names else list(checks())
        for name in names or KERNELS:
            verdicts = list(check_laws(lambda *on, name=name: make_kernel(name, on[0], epsilon=on[1]), seed=seed))
            faults = [f"{each.law}, on {each.vocabulary}: {each.reason}" for each in verdicts if each.reason]
            laws = len({each.law for each in verdicts})
            said = faults[0] if faults else f"{laws} laws on {len({each.vocabulary for each in verdicts})} vocabularies"
            made.append(Check(f"laws of {name}", not faults, said))
        return made

    rows = console.watched(found)
    passed = all(row.passed for row in rows)
    said = "All checks passed." if passed else "FAILED: do not release with this installation; please report it."
    console.answer(
        {"passed": passed, "seed": seed, "checks": [row._asdict() for row in rows]},
        Table(("check", "", "found"), [(row.name, "ok" if row.passed else "FAILED", row.found) for row in rows]), said,
        json=json,
    )  # fmt: skip
    return 0 if passed else 70


def _judged(target: str, claim: Path, draws: int, seed: int) -> Finding:
    from publius.audit.claim import Claim
    from publius.audit.judge import judge
    from publius.audit.target import target_named

    stated = Claim.read(claim)
    with target_named(target, stated.unit) as opened:
        return judge(opened, stated, draws, seed)


def _said(found: Finding, target: str, place: Path, *, json: bool) -> int:
    """What is found of a target; a case that refutes it lies at ``place``."""
    from msgspec.structs import asdict

    from publius.audit import said
    from publius.audit.case import KINDS

    rests = f"confidence {found.confidence:g}, {found.draws:,} draws"
    if found.case is not None:
        tried_with, seen = said.counterexample(found.case)
        told = (
            f"refuted: {KINDS[found.case.kind]}; {rests}\ntried: {tried_with}\nseen: {seen}\n"
            f"Try it again: publius audit --replay {place} --target {target}"
        )
    else:
        claimed = "nothing" if found.claimed is None else f"{found.claimed:.6g}"
        told = f"{found.verdict}: ln of the ratio is at least {found.lower_bound:.6g}, claimed {claimed}; {rests}"
    console.answer(
        asdict(found) | {"case": str(place) if found.case is not None else None}, told,
        Note(f"{found.refused:,} inputs gave no output: nothing is said of them.") if found.refused else None,
        Note(f"Exact for {found.scope}; nothing is said of other inputs.") if found.scope else None, json=json,
    )  # fmt: skip
    return 1 if found.verdict == "refuted" else 0
