"""All mutants, and how an audit runs them."""

from __future__ import annotations

from collections.abc import Sequence

from audit.mutants.documents import document_mutants
from audit.mutants.finite import finite_mutants
from audit.mutants.generators import generator_mutants
from audit.mutants.ledgers import ledger_mutants
from audit.mutants.mutant import Mutant, Probe
from audit.mutants.noises import noise_mutants
from audit.mutants.numbers import number_mutants
from audit.mutants.observable import observable_mutants
from audit.mutants.release_paths import release_mutants
from audit.mutants.searches import search_mutants
from publius.audit.outcomes import Findings, failures, violations
from publius.noise.randomness import RunKey

FAMILIES = {
    "noise": noise_mutants,
    "finite": finite_mutants,
    "search": search_mutants,
    "generator": generator_mutants,
    "release": release_mutants,
    "observable": observable_mutants,
    "ledger": ledger_mutants,
    "numbers": number_mutants,
    "document": document_mutants,
}


def catalog() -> list[Mutant]:
    """Every mutant, in a fixed order."""
    return [mutant for family in FAMILIES.values() for mutant in family()]


def check_mutants(family: str, key: RunKey) -> Findings:
    """Each mutant of a family against its named check, and the genuine subject against every probe they use."""
    mutants = FAMILIES[family]()
    escaped = [mutant.name for mutant in mutants if not mutant.caught(key)]
    probes: dict[Probe, list[str]] = {}
    for mutant in mutants:
        if mutant.probe not in probes:
            probes[mutant.probe] = failures(mutant.probe(mutant.genuine, key))
    accused = sum(map(len, probes.values()))
    checks = (
        violations(f"broken versions that escape: {family}", len(mutants), len(escaped)),
        violations(f"the genuine version is accused: {family}", len(probes), accused),
    )
    figures = {"mutants": {"total": len(mutants), "caught": len(mutants) - len(escaped)}, "escaped": escaped}
    return Findings(checks, {**figures, "catalog": listed(mutants)})


def listed(mutants: Sequence[Mutant]) -> list[dict[str, str]]:
    """What is broken and what catches it, for the report."""
    return [{"mutant": mutant.name, "caught_by": mutant.caught_by} for mutant in mutants]
