"""``publius doctor``: whether this installation can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from publius.cli.console import print_json, print_table
from publius.cli.options import Json

if TYPE_CHECKING:
    from publius.checks.doctor.checks import Finding
    from publius.checks.doctor.installation import Dependency

_WRONG_VERSION = 70


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(
    json: Json = False,
) -> None:
    """Show what is installed and check what a release stands on; exit 70 (or 65, 74) when a check fails."""
    from publius import __version__
    from publius.checks.doctor import installation
    from publius.checks.doctor.checks import self_check

    asked = installation.dependencies()
    extras, blas = installation.extras(asked), installation.libraries()
    findings = list(self_check())
    code = _exit_code(asked, findings)
    if json:
        print_json(
            {
                "healthy": code == 0,
                "publius": __version__,
                "machine": installation.machine(),
                "blas": [asdict(each) for each in blas],
                "dependencies": [{**asdict(each), "satisfied": each.satisfied} for each in asked],
                "extras": extras,
                "checks": [asdict(each) for each in findings],
            }
        )
    else:
        _show_machine(f"publius {__version__}", installation.machine())
        rows = [(each.name, each.version, f"{each.threads} threads") for each in blas]
        print_table(("BLAS", "version", ""), rows)
        _show_packages(asked, extras)
        _show_checks(findings)
    raise typer.Exit(code)


def _exit_code(asked: Sequence[Dependency], findings: Sequence[Finding]) -> int:
    """Zero, or that of the first thing that is wrong. What only an extra lacks is nothing wrong."""
    if wrong := [each.exit_code for each in findings if not each.passed]:
        return wrong[0]
    return 0 if all(each.satisfied for each in asked if each.extra is None) else _WRONG_VERSION


def _show_machine(title: str, facts: dict[str, object]) -> None:
    typer.echo(title)
    print_table(("", ""), [(key.replace("_", " "), value) for key, value in facts.items()])
    typer.echo("")


def _show_packages(asked: Sequence[Dependency], extras: dict[str, bool]) -> None:
    typer.echo("")
    rows = [
        (each.name, each.installed or "-", each.wanted or "any", each.extra or "", _verdict(each))
        for each in asked
    ]
    print_table(("package", "installed", "wanted", "extra", ""), rows)
    missing = [name for name, there in extras.items() if not there]
    if missing:
        typer.echo(f"extras to be had: pip install 'publius[{','.join(missing)}]'")


def _verdict(dependency: Dependency) -> str:
    if dependency.satisfied:
        return "ok"
    if dependency.installed is not None:
        return "WRONG VERSION"
    return "MISSING" if dependency.extra is None else "not installed"


def _show_checks(findings: Sequence[Finding]) -> None:
    typer.echo("")
    rows = [(each.name, "passed" if each.passed else "FAILED", each.detail) for each in findings]
    print_table(("check", "", "found"), rows)
    if not all(each.passed for each in findings):
        typer.echo("\nDo not release with this installation.")
