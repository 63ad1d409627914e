"""``publius audit``: this installation against its guarantees, or anybody's mechanism against its claim."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from publius.cli.console import print_json, print_table, progress_shown
from publius.cli.options import Json, options
from publius.settings import DEMO_EPSILON, MechanismSettings, TargetSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from publius.audit.case import Finding
    from publius.audit.runs import Audit

_FAILED = 70
_REFUTED = 1
_OF_INSTALLATION = ("mechanism", "epsilon", "embeddings", "level", "page")
_TYPED = "COMMANDLINE"
_OF_TARGET = ("draws", "junit", "badge")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit")(audit)


@options(without=("metric", "parameters"), epsilon=DEMO_EPSILON)
def audit(
    ctx: typer.Context,
    settings: MechanismSettings,
    asked: TargetSettings,
    level: Annotated[str, typer.Option(help="quick (minutes) or full (up to an hour).")] = "quick",
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of all samples. Default: a fresh one.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the results; an interrupted audit goes on there. Default: in the store."
        ),
    ] = None,
    page: Annotated[Path | None, typer.Option(help="Write the results as a page (Markdown) too.")] = None,
    json: Json = False,
) -> None:
    """Check this installation, or anybody's mechanism.

    Of the installation: exits 70 if a check fails. Of a mechanism, publius audit --target python:MODULE:CALLABLE
    --claim CLAIM.toml: the verdict exact, not-refuted or refuted, and exit 1 if it is refuted, with two inputs that
    show it.
    """
    chosen = _fresh_seed() if seed is None else seed
    if asked.target is not None or asked.claim is not None or asked.replay is not None:
        _refuse(
            ctx, _OF_INSTALLATION, "tell how this installation is audited: leave them out beside --target"
        )
        folder = output or _default_folder("target", chosen)
        _judge(asked, chosen, folder, json=json)
        return
    _refuse(ctx, _OF_TARGET, "go with --target")
    from publius.audit.levels import level_named
    from publius.audit.report import write_page
    from publius.audit.runs import AuditRequest, run_audit
    from publius.errors import UsageError
    from publius.mechanisms.outside import is_outside
    from publius.mechanisms.registry import mechanism_class
    from publius.noise.laplace import checked_epsilon

    if settings.embeddings is None and is_outside(mechanism_class(settings.mechanism)):
        raise UsageError(
            "a class of your own is audited on vectors of some thousand words, since it could compare all pairs, and "
            "the packaged ones have 50,000: give --embeddings NAME. publius embeddings import FILE --limit 1000 "
            "--name NAME stores the first 1,000 words of a file"
        )
    epsilon = checked_epsilon(settings.epsilon or 0.0)
    request = AuditRequest(level_named(level), settings.embeddings, settings.mechanism, epsilon, chosen)
    folder = output or _default_folder(level, chosen)
    with progress_shown(quiet=False) as progress:
        found = run_audit(request, folder, progress)
    if page is not None:
        write_page(found, folder, page)
    _show(found, folder, json)
    if not found.passed:
        raise typer.Exit(_FAILED)


def _refuse(ctx: typer.Context, names: Sequence[str], why: str) -> None:
    """`UsageError` for options that were typed and would be of no effect."""
    from publius.errors import UsageError

    sources = {name: ctx.get_parameter_source(name) for name in names}
    if typed := [name for name, source in sources.items() if source is not None and source.name == _TYPED]:
        raise UsageError(f"{', '.join('--' + name for name in typed)} {why}")


def _judge(asked: TargetSettings, seed: int, folder: Path, *, json: bool) -> None:
    """The verdict on somebody's mechanism; a refutation is stored as a case."""
    from publius.audit import verdicts
    from publius.audit.case import Case, replay
    from publius.audit.claim import Claim
    from publius.audit.judge import judge
    from publius.audit.target import target_named
    from publius.errors import UsageError
    from publius.files.folders import make_parents

    stated: Claim | None = None
    if asked.replay is not None:
        if asked.claim is not None or asked.badge is not None:
            raise UsageError("--replay takes no --claim and no --badge: the case says what is tried")
        again = Case.read(asked.replay)
        found, place, named = replay(again, asked.target), asked.replay, asked.target or again.target
    elif asked.target is None or asked.claim is None:
        raise UsageError(
            "--target and --claim go together: a claim is a TOML file that states epsilon or bound, a vocabulary and, "
            "for epsilon, vectors"
        )
    else:
        stated = Claim.read(asked.claim)
        with target_named(asked.target, stated.unit) as opened:
            found = judge(opened, stated, asked.draws, seed)
        place, named = folder / "case.json", asked.target
        if found.case is not None:
            make_parents(place.parent)
            found.case.write(place)
    if asked.junit is not None:
        _write(asked.junit, verdicts.junit(found, named, stated))
    if asked.badge is not None and stated is not None:
        _write(asked.badge, verdicts.badge(found, stated))
    _tell_limits(found)
    if json:
        keys = ("verdict", "confidence", "lower_bound", "claimed", "draws")
        stored = None if found.case is None else str(place)
        said = {key: getattr(found, key) for key in keys}
        print_json({**said, "case": stored, "refused": found.refused, "scope": found.scope or None})
    else:
        _tell_verdict(found, place, anew=asked.replay is None)
    if found.verdict == "refuted":
        raise typer.Exit(_REFUTED)


def _tell_limits(found: Finding) -> None:
    """What the verdict does not cover, on standard error."""
    if found.refused:
        typer.echo(
            f"inputs of the claim's own words that the target refused: {found.refused:,}; nothing is said of them, and "
            "whoever sees a refusal knows that it was one of these",
            err=True,
        )
    if found.unknown:
        typer.echo(
            f"inputs with unknown words that the target refused: {found.unknown:,}, as it may", err=True
        )
    if found.scope:
        typer.echo(f"exact for {found.scope}; nothing is said of other inputs", err=True)


def _tell_verdict(found: Finding, place: Path, *, anew: bool) -> None:
    """In words; a share of the claim only where it was tried ``anew``, not of a case that is tried again."""
    from publius.audit import verdicts

    if found.case is not None:
        inputs, seen = verdicts.counterexample(found.case)
        typer.echo(f"refuted: {verdicts.fault(found.case)}; {_rests_on(found)}")
        typer.echo(f"tried: {inputs}\nseen: {seen}")
        typer.echo(f"try it again: publius audit --replay {place}")
        return
    claimed = "nothing" if found.claimed is None else f"{found.claimed:.6g} nats"
    said = f"at least {found.lower_bound:.6g} nats, claimed {claimed}"
    agrees = ", if what it states is true; these draws agree" if found.verdict == "exact" else ""
    typer.echo(f"{found.verdict}: {said}{agrees}; {_rests_on(found)}")
    if anew and found.claimed and found.verdict == "not-refuted":
        share = found.lower_bound / found.claimed
        typer.echo(f"no proof that it holds; with {share:.0%} of this claim it would have been refuted")


def _rests_on(found: Finding) -> str:
    from publius.audit.verdicts import refused

    return f"confidence {found.confidence:g}, {found.draws:,} draws{refused(found)}"


def _write(path: Path, text: str) -> None:
    from publius.files.writing import write_file

    with write_file(path) as file:
        file.write(text.encode())


def _fresh_seed() -> int:
    from publius.noise.randomness import entropy

    return int.from_bytes(entropy(4), "little")


def _default_folder(level: str, seed: int) -> Path:
    import time

    from publius.vectors.catalogue import store_root

    return store_root().parent / "audits" / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{level}-{seed}"


def _show(found: Audit, folder: Path, json: bool) -> None:
    from publius.audit.report import NOT_TRIED, cell

    report = found.as_json()
    for name in found.escaped:
        typer.echo(f"broken version not caught: {name}", err=True)
    if json:
        if not report["mutants"]["total"]:
            typer.echo(NOT_TRIED, err=True)
        print_json({**report, "output": str(folder)})
        return
    columns = ("check", "samples", "statistic", "threshold", "verdict")
    print_table(columns, ([*map(cell, check.values())] for check in report["checks"]))
    caught = report["mutants"]
    broken = (
        f"broken versions caught: {caught['caught']} of {caught['total']}" if caught["total"] else NOT_TRIED
    )
    typer.echo(
        f"\n{report['exact_cells']:,} exact cells, worst excess {cell(report['worst_excess'])} nats; "
        f"tightness {cell(report['tightness'])}; {broken}\n"
        f"seed {report['seed']}, {report['seconds']:g} s, recorded in {folder}\n"
        + ("passed" if found.passed else "FAILED: do not release with this installation; please report it")
    )
    if not found.passed:  # once more: whoever reads the end of a log sees what it was
        print_table(columns, ([*map(cell, each.values())] for each in report["checks"] if not each["passed"]))
