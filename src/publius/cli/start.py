"""``publius start``: from a file of texts to a release that someone can sign, step by step.

Every step is a command of its own; this one asks what it has to know, runs them, and says which they were.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import print_json, printable
from publius.cli.options import Json, options
from publius.errors import PolicyError, UsageError
from publius.evaluation.steps import (
    PUBLIC,
    Choices,
    Older,
    commands,
    config_text,
    read_config,
    texts_of,
    together,
)
from publius.settings import StartSettings, check

if TYPE_CHECKING:
    from publius.documents.inspection import Inspection

_FAIL = 1


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("start")(start)


@options()
def start(
    file: Annotated[Path, typer.Argument(help="The texts to release: any file that publius inspect reads.")],
    output: Annotated[
        Path, typer.Option(help="New folder for release, evaluation, signoff.html and publius.toml.")
    ],
    answers: StartSettings,
    config: Annotated[
        Path | None, typer.Option(help="Answers from a publius.toml; options come first.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Take the proposed answer to every question.")] = False,
    json: Json = False,
) -> None:
    """From a file of texts to a release that someone can sign; ends with 1 where the verdict is FAIL."""
    choices = answers if config is None else together(answers, read_config(config))
    began = time.monotonic()
    with contextlib.redirect_stdout(io.StringIO()) if json else contextlib.nullcontext():
        result = _walk(file, output, choices, yes=yes or json)
    result["seconds"] = round(time.monotonic() - began, 1)
    if json:
        print_json(result)
    else:
        _end(result)
    if result["verdict"] == "FAIL":
        raise typer.Exit(_FAIL)


def _walk(file: Path, output: Path, choices: Choices, *, yes: bool) -> dict[str, Any]:
    from publius.documents.inspection import inspect
    from publius.files import check_new_folder, new_folder, remove_leftovers, write_file

    check_new_folder(output)
    typer.echo("1. What is in the file")
    found = inspect(file, text_field=choices.text_field)
    _show(found)
    choices = _asked(choices, found, yes=yes)
    older = Older.read(choices)
    if older.authors is None and not choices.without_evidence:
        raise PolicyError(
            "the public texts have no column of authors, so there will be no evidence that authors are hidden: name it "
            "with --author-field, or go on all the same with --without-evidence. Nothing was released"
        )
    older.check_apart(texts_of(file, found, choices.text_field))
    for left in remove_leftovers(output):
        typer.echo(f"   Removed {printable(str(left))}, which a run that was killed left behind")
    with new_folder(output, private=(PUBLIC,)) as folder:
        steps = commands(file, found, folder, choices, older)
        verdict = _run(steps, older, folder)
        with write_file(folder / "publius.toml") as stream:
            stream.write(config_text(choices).encode())
        shown = ["publius " + shlex.join(step).replace(str(folder), str(output)) for step in steps]
    return {
        "verdict": None if verdict is None else verdict["verdict"],
        "reason": None if verdict is None else verdict["reason"],
        "release": str(output / "release"),
        "evaluation": None if verdict is None else str(output / "evaluation"),
        "signoff": str(output / "signoff.html"),
        "config": str(output / "publius.toml"),
        "inspection": found.record(),
        "choices": asdict(choices),
        "commands": shown,
    }


def _show(found: Inspection) -> None:
    median = f"; half of them have {found.words['median']:,.0f} words or more" if found.words else ""
    typer.echo(f"   {found.rows:,} texts in the column {found.text_field!r}{median}")
    for problem in found.problems:
        typer.echo(f"   {printable(problem)}")


def _asked(choices: Choices, found: Inspection, *, yes: bool) -> Choices:
    """The choices with what was not given asked for, or proposed where ``yes``."""

    def ask(question: str, proposed: str) -> str:
        return proposed if yes else str(typer.prompt(question, default=proposed))

    if found.text_field is None:
        raise UsageError("no column of texts was found: name it with --text-field")
    if choices.public is None:
        if yes:
            raise UsageError("public or older texts of the kind are needed: name them with --public")
        choices = replace(
            choices, public=str(typer.prompt("Public or older texts of the kind, with topics (a file)"))
        )
    if choices.preserve is None:
        kept: Any = ask("What to keep: topic or meaning", "topic")
        choices = replace(choices, preserve=kept)
    check(StartSettings, preserve=choices.preserve)
    if choices.bound is None:
        typer.echo(
            "   A bound of 1 nat is strong, 7 moderate, 15 weak: how much any reader can learn at most."
        )
        answer = ask("Bound between any two documents, in nats", "7")
        try:
            choices = replace(choices, bound=float(answer))
        except ValueError:
            raise UsageError(f"a bound is a number of nats, not {answer!r}") from None
    if not yes and not typer.confirm("Go on", default=True):
        raise UsageError("stopped as you said; nothing was released")
    return replace(choices, text_field=found.text_field)


def _run(steps: list[list[str]], older: Older, folder: Path) -> dict[str, Any] | None:
    """Run the commands; what the evaluation said."""
    import json

    older.write(folder / PUBLIC)
    verdict: dict[str, Any] | None = None
    for number, step in enumerate(steps, start=2):
        typer.echo(f"{number}. {_TITLES[step[0]]}")
        said = _quietly([*step, "--json"])
        if step[0] == "evaluate":
            verdict = json.loads(said)
            typer.echo(f"   {printable(str(verdict['reason']))}")
        elif step[0] == "obfuscate":
            typer.echo(f"   {printable(json.loads(said)['promise'])}")
    return verdict


_TITLES = {
    "reference": "Learn what is public from the first half of the public texts",
    "obfuscate": "Release",
    "evaluate": "Attack the second half of the public texts, protected in the same way",
    "signoff": "Write the page to sign",
}


def _quietly(arguments: list[str]) -> str:
    """What a command prints on standard output. Its errors are ours; the verdict tells of its exit code."""
    from publius.cli import app

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        app(arguments, standalone_mode=False)
    return said.getvalue().strip().splitlines()[-1] if said.getvalue().strip() else "{}"


def _end(result: dict[str, Any]) -> None:
    typer.echo(
        f"\n{result['verdict'] or 'There is no evidence that authors are hidden: nothing was measured'}."
    )
    typer.echo(
        f"Read {result['signoff']} in a browser, print it, sign it. The release may leave: {result['release']}"
    )
    typer.echo("\nThe same by single commands:")
    for command in result["commands"]:
        typer.echo(f"  {printable(command)}")
