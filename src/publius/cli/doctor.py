"""``publius doctor``: whether this installation can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import print_json, print_table, waiting
from publius.cli.options import Json, options
from publius.errors import UsageError
from publius.settings import InputSettings, ReferenceSettings

if TYPE_CHECKING:
    from publius.cli.installation import Dependency
    from publius.cli.self_check import CheckOutcome
    from publius.vectors.kernel_choice import Measured

_WRONG_VERSION = 70


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


@options(without=("first",))
def doctor(
    reference: ReferenceSettings,
    documents: Annotated[
        Path | None,
        typer.Option(help="Texts, of which is said how much the reference knows. Read, never released."),
    ] = None,
    text_field: Annotated[str, typer.Option(help="Field that holds their text.")] = InputSettings.text_field,
    json: Json = False,
) -> None:
    """Check the installation and what a release stands on.

    Lists what is installed; exits 70 (or 65, 74) if a check fails. With --reference also what that reference
    promises, and with --documents how much it knows of them.
    """
    from publius import __version__
    from publius.cli import installation
    from publius.cli.self_check import search_kernel, self_check
    from publius.vectors import kernel_choice

    name = reference.reference
    if documents is not None and name is None:
        raise UsageError("--documents are compared with a reference: name it with --reference")
    asked = installation.dependencies()
    extras, blas = installation.extras(asked), installation.libraries()
    with waiting("checking"):
        findings = list(self_check(name))
        told = None if name is None or not findings[-1].passed else _told(name, documents, text_field)
    code = _exit_code(asked, findings)
    if json:
        print_json(
            {
                "healthy": code == 0,
                "publius": __version__,
                "machine": installation.machine(),
                "blas": [asdict(each) for each in blas],
                "search": {
                    **asdict(search_kernel()),
                    "kernels": kernel_choice.usable_kernels(),
                    "measured": [asdict(each) for each in kernel_choice.here()],
                },
                "dependencies": [{**asdict(each), "satisfied": each.satisfied} for each in asked],
                "extras": extras,
                "checks": [asdict(each) for each in findings],
                **({} if told is None else {"reference": told}),
            }
        )
    else:
        _show_machine(f"publius {__version__}", installation.machine())
        rows = [(each.name, each.version, f"{each.threads} threads") for each in blas]
        print_table(("BLAS", "version", ""), rows)
        chosen = search_kernel()
        typer.echo(f"\nThe search for nearest words works with {chosen.kernel}: {chosen.reason}")
        _show_kernels(kernel_choice.here())
        _show_packages(asked, extras)
        _show_checks(findings)
        if told is not None:
            _show_reference(told)
    raise typer.Exit(code)


def _told(name: str, documents: Path | None, text_field: str) -> dict[str, Any]:
    """The promise of a reference, the language of its words, and how well it knows the documents."""
    from publius.cli.familiarity import familiarity, promises
    from publius.documents.corpus import open_public_corpus
    from publius.releases.preflight import language_of_words
    from publius.vectors.learning.reference import Reference

    found = Reference.load(name)
    told: dict[str, Any] = {
        "name": found.name,
        "sha256": found.sha256,
        "promises": [asdict(each) for each in promises(found)],
        "language": language_of_words(found),
    }
    if documents is not None:
        corpus = open_public_corpus(documents, text_field=text_field, number=True)
        told["documents"] = asdict(familiarity(found, corpus))
    return told


def _show_reference(told: dict[str, Any]) -> None:
    from publius.privacy.promise import rounded_up

    rows = [
        (
            each["preserve"], each["mechanism"], rounded_up(each["bound"], 6),
            "-" if each["epsilon"] is None else rounded_up(each["epsilon"], 6), each["evidence"],
            each["prototypes"] or "-",
        )
        for each in told["promises"]
    ]  # fmt: skip
    typer.echo(f"\nWhat the reference {told['name']} promises:")
    columns = ("keeps", "mechanism", "nats between any two", "per unit", "evidence", "prototypes")
    print_table(columns, rows)
    typer.echo(f"Language of its words: {told['language'] or 'not clear'}")
    if known := told.get("documents"):
        typer.echo(
            f"It knows {known['known_share']:.0%} of {known['words']:,} words of {known['documents']:,} documents, and "
            f"hardly {known['hardly_known']:,} of these; {known['unreadable']:,} could not be read."
        )
        languages = known["languages"]
        counts = languages and ", ".join(f"{code} {count:,}" for code, count in languages.items())
        typer.echo(f"Languages of the documents: {counts or 'not told without the extra documents'}")


def _exit_code(asked: Sequence[Dependency], findings: Sequence[CheckOutcome]) -> int:
    """Zero, or that of the first thing that is wrong. What only an extra lacks is nothing wrong."""
    if wrong := [each.exit_code for each in findings if not each.passed]:
        return wrong[0]
    return 0 if all(each.satisfied for each in asked if each.extra is None) else _WRONG_VERSION


def _show_machine(title: str, facts: dict[str, object]) -> None:
    typer.echo(title)
    print_table(("", ""), [(key.replace("_", " "), value) for key, value in facts.items()])
    typer.echo("")


def _show_kernels(measured: Sequence[Measured]) -> None:
    if measured:
        rows = [
            (
                f"{each.shape[0]:,} x {each.shape[1]}",
                kernel,
                f"{1e6 * seconds:.3g}",
                each.choice().kernel == kernel,
            )
            for each in measured
            for kernel, seconds in each.seconds.items()
        ]
        print_table(("vectors", "kernel", "microseconds a point of a sample", "in use"), rows)


def _show_packages(asked: Sequence[Dependency], extras: dict[str, bool]) -> None:
    typer.echo("")
    rows = [
        (each.name, each.installed or "-", each.wanted or "any", each.extra or "", _verdict(each))
        for each in asked
    ]
    print_table(("package", "installed", "wanted", "extra", ""), rows)
    missing = [
        name for name, there in extras.items() if not there and name != "cuda"
    ]  # for those with a device
    if missing:
        typer.echo(f"extras to be had: pip install 'publius[{','.join(missing)}]'")


def _verdict(dependency: Dependency) -> str:
    if dependency.satisfied:
        return "ok"
    if dependency.installed is not None:
        return "WRONG VERSION"
    return "MISSING" if dependency.extra is None else "not installed"


def _show_checks(findings: Sequence[CheckOutcome]) -> None:
    typer.echo("")
    rows = [(each.name, "passed" if each.passed else "FAILED", each.detail) for each in findings]
    print_table(("check", "", "found"), rows)
    if not all(each.passed for each in findings):
        typer.echo("\nDo not release with this installation.")
