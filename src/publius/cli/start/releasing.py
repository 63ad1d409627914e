"""Steps 6 and 7: the release and the page to sign, and what is said at the end."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import typer

from publius.cli.console import printable, waiting
from publius.cli.start.asking import Asking, shown_progress
from publius.errors import UsageError, how_many
from publius.evaluation.steps.questions import ABOUT, GO_ON, OPEN

if TYPE_CHECKING:
    from publius.evaluation.steps.walk import Walk
    from publius.evaluation.steps.workflow import ReleaseWorkflow

_NO_EVIDENCE: Final = (
    "There is no evidence that authors are hidden: nothing was measured",
    "There is no evidence that authors are hidden: no attack could name one",
)


def release(flow: ReleaseWorkflow, ask: Asking, *, signed: bool) -> None:
    """Release after a last question, and write the page where it is to be ``signed``."""
    typer.echo("6. Release")
    with waiting("looking at the texts"):
        warnings = flow.warnings()
    for warning in warnings:
        typer.echo(f"   {printable(warning)}")
    ids = "under your ids" if flow.walk.choices.publish_ids else "under numbers, not under names of yours"
    typer.echo(f"   Documents are published {ids}.")
    if signed:
        flow.walk = _about(flow.walk, ask)
    if not ask.agreed(GO_ON):
        raise UsageError("cancelled; nothing was released")
    with shown_progress(flow):
        summary = flow.release()
    left = f"; {how_many(len(summary.bad), 'row')} could not be read and left out" if summary.bad else ""
    typer.echo(f"   {how_many(summary.tally.documents, 'document is', 'documents are')} released{left}.")
    typer.echo(f"   {printable(summary.manifest['promise'])}")
    if signed:
        failed = flow.judged is not None and flow.judged.verdict == "FAIL"
        typer.echo("7. The page that says FAIL" if failed else "7. The page to sign")
        _tell_open(flow.walk)
        flow.sign()


def _about(walk: Walk, ask: Asking) -> Walk:
    """The walk with what only people know of the release, as far as they say it.

    Whoever leaves the purpose open has nothing to say yet, and is not asked for the others.
    """
    said: dict[str, Any] = {}
    for question in () if ask.yes else ABOUT:
        if not _open(walk, question.name):
            continue
        answer = ask(question)
        if answer != OPEN:
            said[question.name] = answer
        elif question is ABOUT[0]:
            break
    return replace(walk, choices=replace(walk.choices, **said))


def _open(walk: Walk, name: str) -> bool:
    return getattr(walk.choices, name) is None


def _tell_open(walk: Walk) -> None:
    """What nobody said: the pages say that it is open."""
    left = [question.name for question in ABOUT if _open(walk, question.name)]
    if left:
        options = ", ".join(f"--{name}" for name in left)
        typer.echo(
            f"   Left open, and the pages say so: {', '.join(left)}. Another run, or signoff, takes {options}."
        )


def show_commands(commands: Sequence[str]) -> None:
    """What does the same, one command a step."""
    typer.echo("\nThe same by single commands:")
    for command in commands:
        typer.echo(f"  {printable(command)}")


def show_end(result: dict[str, Any]) -> None:
    """What came of it, where it is, and the commands that do the same."""
    if result["release"] is None:
        typer.echo(f"\n{result['verdict']}. Nothing was released and no folder was made.")
        return
    typer.echo(f"\n{result['verdict'] or _NO_EVIDENCE[result['evaluation'] is not None]}.")
    if result["verdict"] == "FAIL":
        typer.echo(
            f"The release is in {result['release']}. It should not leave: read {result['signoff']} in a browser."
        )
    else:
        stands = "Only the proof stands. " if result["verdict"] == "NO EVIDENCE" else ""
        typer.echo(
            f"{stands}Read {result['signoff']} in a browser, print it, sign it. The release may leave: "
            f"{result['release']}"
        )
    show_commands(result["commands"])
    again = shlex.quote(result["config"])
    typer.echo(f"All answers again: publius start FILE --config {again} --yes --output NEW")
