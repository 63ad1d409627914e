"""``publius audit``: this installation, a mechanism's laws, or anybody's mechanism against its claim."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from publius.cli import console
from publius.cli.console import Note, Table
from publius.cli.parsing import Help, Json
from publius.errors import PubliusError, UsageError

if TYPE_CHECKING:
    from publius.audit.case import Finding
    from publius.embeddings.embeddings import Embeddings
    from publius.mechanisms.kernel import Kernel

FAILED = 70


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
    from publius.noise.randomness import entropy

    chosen = int.from_bytes(entropy(4), "little") if seed is None else seed
    if target is None:
        if claim is not None or replay is not None:
            raise UsageError("--claim and --replay need --target, the mechanism that is tried")
        return _installation(mechanism, chosen, json=json)
    if (claim is None) == (replay is None):
        raise UsageError("--target needs --claim FILE.toml, or --replay CASE")
    return _target(target, claim, replay, draws, chosen, output or Path("case.json"), json=json)


def _made(name: str, world: Embeddings, epsilon: float) -> Kernel:
    from publius.mechanisms import registry

    return registry.make_kernel(name, world, epsilon=epsilon)


def _installation(names: tuple[str, ...], seed: int, *, json: bool) -> int:
    from publius.audit.check import Check, checks
    from publius.audit.laws import check_laws
    from publius.mechanisms import registry

    def found() -> list[Check]:
        made = [] if names else list(checks())
        for name in names or registry.KERNELS:
            verdicts = list(check_laws(partial(_made, name), seed=seed))
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
    return 0 if passed else FAILED


def _target(
    name: str, claim: Path | None, stored: Path | None, draws: int, seed: int, output: Path, *, json: bool
) -> int:
    from publius.audit import said
    from publius.audit.case import KINDS, Case, replay
    from publius.audit.claim import Claim
    from publius.audit.judge import judge
    from publius.audit.target import target_named

    def tried() -> Finding:
        if stored is not None:
            return replay(Case.read(stored), name)
        if claim is None:
            raise PubliusError("neither a claim nor a case")
        stated = Claim.read(claim)
        with target_named(name, stated.unit) as opened:
            return judge(opened, stated, draws, seed)

    found = console.watched(tried)
    place = stored
    if found.case is not None and stored is None:
        found.case.write(output)
        place = output
    keys = ("verdict", "confidence", "lower_bound", "claimed", "draws", "refused", "scope")
    rests = f"confidence {found.confidence:g}, {found.draws:,} draws"
    if found.case is not None:
        tried_with, seen = said.counterexample(found.case)
        told = (
            f"refuted: {KINDS[found.case.kind]}; {rests}\ntried: {tried_with}\nseen: {seen}\n"
            f"Try it again: publius audit --replay {place} --target {name}"
        )
    else:
        claimed = "nothing" if found.claimed is None else f"{found.claimed:.6g}"
        told = f"{found.verdict}: ln of the ratio is at least {found.lower_bound:.6g}, claimed {claimed}; {rests}"
    case = str(place) if found.case is not None else None
    console.answer(
        {**{key: getattr(found, key) for key in keys}, "case": case}, told,
        Note(f"{found.refused:,} inputs gave no output: nothing is said of them.") if found.refused else None,
        Note(f"Exact for {found.scope}; nothing is said of other inputs.") if found.scope else None, json=json,
    )  # fmt: skip
    return 1 if found.verdict == "refuted" else 0
