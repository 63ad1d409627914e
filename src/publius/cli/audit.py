"""``publius audit``: this installation, a mechanism's laws, or anybody's mechanism against its claim."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from publius.cli import console
from publius.cli.parsing import Json
from publius.errors import PubliusError, UsageError

if TYPE_CHECKING:
    from publius.audit.case import Finding
    from publius.embeddings.embeddings import Embeddings
    from publius.mechanisms.kernel import Kernel

FAILED = 70


def audit(
    *,
    mechanism: tuple[str, ...] = (),
    target: str | None = None,
    claim: Path | None = None,
    replay: Path | None = None,
    draws: int = 100_000,
    seed: int | None = None,
    output: Path | None = None,
    json: Json = False,
) -> int:
    """Check this installation, or a mechanism's claim.

    Without options: known answers, laws of every mechanism; exit 70 if a check fails. A refuted target: exit 1.

    Args:
        mechanism: Laws of it, or of python:MODULE:CLASS; repeatable.
        target: python:MODULE:NAME, 'command: ...', recorded:FILE.
        claim: TOML: unit, epsilon or bound, vocabulary, vectors.
        replay: A case that refuted a target, to be tried again.
        draws: About how many draws are made.
        seed: Seed of all draws. Default: a fresh one.
        output: For the case that refutes. Default: case.json.
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
    if json:
        console.as_json({
            "passed": passed, "seed": seed,
            "checks": [{"name": row.name, "passed": row.passed, "found": row.found} for row in rows],
        })  # fmt: skip
    else:
        console.table(("check", "", "found"), [(row.name, "ok" if row.passed else "FAILED", row.found) for row in rows])
        console.say(
            "All checks passed." if passed else "FAILED: do not release with this installation; please report it."
        )
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
    if json:
        keys = ("verdict", "confidence", "lower_bound", "claimed", "draws", "refused", "scope")
        case = str(place) if found.case is not None else None
        console.as_json({**{key: getattr(found, key) for key in keys}, "case": case})
    else:
        rests = f"confidence {found.confidence:g}, {found.draws:,} draws"
        if found.case is not None:
            tried_with, seen = said.counterexample(found.case)
            console.say(f"refuted: {KINDS[found.case.kind]}; {rests}\ntried: {tried_with}\nseen: {seen}")
            console.say(f"Try it again: publius audit --replay {place} --target {name}")
        else:
            claimed = "nothing" if found.claimed is None else f"{found.claimed:.6g}"
            console.say(
                f"{found.verdict}: ln of the ratio is at least {found.lower_bound:.6g}, claimed {claimed}; {rests}"
            )
        if found.refused:
            console.note(f"{found.refused:,} inputs gave no output: nothing is said of them.")
        if found.scope:
            console.note(f"Exact for {found.scope}; nothing is said of other inputs.")
    return 1 if found.verdict == "refuted" else 0
