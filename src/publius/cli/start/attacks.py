"""Step 5: attacks on public texts, protected in the same way, and what else could be had."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import typer

from publius.cli.console import printable
from publius.cli.start.asking import Asking, shown_progress
from publius.errors import UsageError
from publius.evaluation.steps.questions import AFTER_FAIL, RELEASE, STOP, WITHOUT_EVIDENCE

if TYPE_CHECKING:
    from publius.evaluation.steps.workflow import ReleaseWorkflow


@final
class NotReleased(Exception):
    """What was measured is the result, and nothing is released."""


def measure(flow: ReleaseWorkflow, ask: Asking, *, stated: bool) -> None:
    """Attack the setting that is to be released until one is to be; nothing where nobody can be named."""
    from publius.evaluation.steps.measuring import power

    typer.echo("5. Attacks on the second half of the public texts, protected in the same way")
    able = power(flow.walk)
    if able is None and flow.walk.choices.find:
        raise UsageError("nothing can be looked for without texts whose authors are known: give a number")
    if not flow.walk.measurable:
        typer.echo("   Not possible: there is no evidence that authors are hidden.")
        return
    if able is not None:
        typer.echo(f"   {able.sentence}")
    if flow.walk.choices.find:
        with shown_progress(flow):
            found = flow.find()
        for each in found:
            typer.echo(f"   {printable(each.sentence)}")
    while True:
        with shown_progress(flow):
            judged = flow.measure()
        typer.echo(f"   {printable(judged.sentence)}")
        if judged.passed:
            return
        if judged.verdict != "FAIL":
            if _goes_on_without_evidence(flow, ask):
                return
            raise NotReleased
        _tell_alternatives(flow)
        if ask.yes and stated and flow.walk.kept.bounded:
            typer.echo("   Released all the same, as you asked for it; the page to sign says FAIL.")
            return
        answer = ask(AFTER_FAIL)
        if answer == RELEASE:
            return
        if answer == STOP:
            raise NotReleased
        flow.again_at(float(answer))


def _goes_on_without_evidence(flow: ReleaseWorkflow, ask: Asking) -> bool:
    """Whether to release where nothing was shown: what has a bound between any two documents, words if asked for."""
    if flow.refused is None:
        typer.echo(
            "   The bound between any two documents holds all the same; the page says that only it stands."
            if flow.walk.kept.bounded
            else "   Words are released all the same, as you asked for it; the page says that nothing was shown."
        )
        return True
    typer.echo(
        "   Nothing bounds what tells any two documents apart where words are kept, and nothing was shown."
    )
    return ask.agreed(WITHOUT_EVIDENCE)


def _tell_alternatives(flow: ReleaseWorkflow) -> None:
    with shown_progress(flow):
        found = flow.alternatives()
    typer.echo("   Alternatives:" if found else "   No alternative was found.")
    for each in found:
        typer.echo(f"   {printable(each.sentence)}")
