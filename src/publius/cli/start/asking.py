"""Questions to the one who runs ``publius start``, and how far a step is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import typer

from publius.cli.console import printable, progress_shown
from publius.errors import UsageError
from publius.evaluation.steps.questions import YES, Question

if TYPE_CHECKING:
    from publius.evaluation.steps.workflow import ReleaseWorkflow


@final
@dataclass(frozen=True, slots=True)
class Asking:
    """Questions to the one who runs it; with ``yes`` every proposed answer is taken."""

    yes: bool

    def __call__(self, question: Question) -> str:
        """The answer; what is none of the answers is asked again. `UsageError` where nobody is asked nor proposes."""
        if self.yes:
            if question.proposed is None:
                raise UsageError(question.otherwise)
            if not question.yes_or_no:
                typer.echo(f"   {printable(question.taken)}")
            return question.proposed
        for option in question.options:
            if option.means:
                typer.echo(f"   {printable(option.value)}: {printable(option.means)}")
        shown = None if question.proposed is None else printable(question.proposed)  # a file may name it
        while True:
            try:
                said = str(typer.prompt(printable(question.prompt), default=shown))
                return question.answer(question.proposed or said if said == shown else said)
            except UsageError as error:
                typer.echo(f"   {printable(str(error))}.")

    def agreed(self, question: Question) -> bool:
        """Yes or no."""
        if self.yes:
            return question.proposed == YES
        return bool(typer.confirm(printable(question.words), default=question.proposed == YES))


@contextmanager
def shown_progress(flow: ReleaseWorkflow) -> Iterator[None]:
    """Inside, how far the workflow is stands on a terminal."""
    from publius.evaluation.steps.workflow import Advanced, Event

    with progress_shown(quiet=True) as progress:

        def hear(event: Event) -> None:
            if isinstance(event, Advanced):
                progress("", event.done, event.total)

        flow.listener = hear
        yield
