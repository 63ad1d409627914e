"""``publius start``: from a file of texts to a release that someone can sign, step by step.

It asks what it has to know, takes the steps of `publius.evaluation.steps`, and says which single commands do the same.
One module a part of the way: `texts`, `protection`, `attacks`, `releasing`; or `summary`, where readers need no rows.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import print_json, printable
from publius.cli.options import Json, options
from publius.cli.start.asking import Asking
from publius.errors import UsageError
from publius.evaluation.steps.questions import READERS, SUMMARY
from publius.option import declared
from publius.settings import ReadersSettings, StartSettings

if TYPE_CHECKING:
    from publius.evaluation.steps.answers import Choices
    from publius.evaluation.steps.measuring import Judged
    from publius.evaluation.steps.walk import Walk


_OF_SUMMARY = frozenset({
    "text_field", "author_field", "topic_field", "reference", "epsilon", "delimiter", "encoding", "quotes",
    "subfolders", "follow_links", "reading_seconds", "accept_loss",
})  # fmt: skip
"""Options that a summary has a use for, too."""


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
    readers: ReadersSettings,
    ledger: Annotated[
        Path | None, typer.Option(help="With --summary: budget to debit, once for each author.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="Answers from a publius.toml; options come first.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Take the proposed answer to every question.")] = False,
    json: Json = False,
) -> None:
    """Release a file of texts step by step, to a page to sign.

    It asks first what readers need: a summary of them, or a row for each.

    Exits 1 if the verdict is FAIL and 3 if it is NO EVIDENCE. After a FAIL it lists alternatives. A bound that you
    stated is released all the same, and the page says FAIL; a bound that was only proposed is not released, nor are
    words. With NO EVIDENCE only the proof stands: topic or meaning are released, words with --without-evidence only.
    """
    from publius.cli.start.releasing import show_end
    from publius.cli.start.summary import show_summary_end, summary_walk
    from publius.evaluation.steps.answers import read_config, together

    choices = answers if config is None else together(answers, read_config(config))
    began = time.monotonic()
    with contextlib.redirect_stdout(io.StringIO()) if json else contextlib.nullcontext():
        ask = Asking(yes=yes or json)
        of_summary = _needs_summary(choices, readers, ledger, ask)
        result = (
            summary_walk(file, output, choices, readers, ledger, ask)
            if of_summary
            else _walk(file, output, choices, ask)
        )
    result["seconds"] = round(time.monotonic() - began, 1)
    if json:
        print_json(result)
    else:
        (show_summary_end if of_summary else show_end)(result)
    if code := _exit_code(result):
        raise typer.Exit(code)


def _exit_code(result: dict[str, Any]) -> int:
    from publius.evaluation.verdict import EXIT_CODES

    return 0 if result["verdict"] is None else EXIT_CODES[result["verdict"]]


def _needs_summary(choices: Choices, readers: ReadersSettings, ledger: Path | None, ask: Asking) -> bool:
    """Whether readers need what the collection says: stated, or asked first; scripts of rows are asked nothing."""
    if readers.summary and readers.rows:
        raise UsageError(
            "a first release is a summary or has a row for each document: choose --summary or --rows"
        )
    if not readers.summary and (readers.by or ledger is not None):
        raise UsageError("--by and --ledger go with --summary")
    if readers.summary and (others := _of_rows(choices)):
        raise UsageError(
            f"{', '.join(others)} belong to rows, and a summary has none: leave them out, or --summary"
        )
    stated = choices.preserve or choices.bound or choices.find or choices.public or choices.without_evidence
    if readers.summary or readers.rows or stated or ask.yes:
        return readers.summary
    return ask(READERS) == SUMMARY


def _of_rows(choices: Choices) -> list[str]:
    """The options that were given and that a summary has no use for, as they are typed."""
    return [
        f"--{each.name.replace('_', '-')}"
        for each in declared(StartSettings)
        if each.name not in _OF_SUMMARY and getattr(choices, each.name) != each.default
    ]


def run_start(
    file: Path, output: Path, answers: Choices, *, measured: bool = True, shown: bool = True
) -> dict[str, Any]:
    """The walk with every proposed answer, for packaged texts: ``shown`` before and after wherever it is printed.

    What is not ``measured`` is not signed for either.
    """
    return _walk(file, output, answers, Asking(yes=True), measured=measured, shown=shown)


def _walk(
    file: Path, output: Path, choices: Choices, ask: Asking, *, measured: bool = True, shown: bool = False
) -> dict[str, Any]:
    from publius.cli.start import attacks, protection, releasing, texts
    from publius.evaluation.steps.commands import commands_of
    from publius.evaluation.steps.walk import Walk
    from publius.evaluation.steps.workflow import ReleaseWorkflow, folder_for
    from publius.files import check_new_folder, remove_leftovers

    check_new_folder(output)
    typer.echo("1. What is in the file")
    found, choices = texts.texts_in(file, choices, ask)
    texts.show_found(found)
    choices = texts.own_columns(found, texts.accept_losses(found, choices, ask), ask)
    choices, older = texts.public_texts(choices, ask, found.columns)
    choices = texts.what_to_keep(choices, older, ask)
    walk = Walk(file, found, older, choices)
    walk.check_authors()
    walk.check_apart()
    for left in remove_leftovers(output):
        typer.echo(f"   Removed {printable(str(left))}, which a run that was stopped left behind.")
    try:
        with folder_for(output, walk) as folder:
            flow = ReleaseWorkflow(walk, folder)
            protection.learn(flow, ask, shown=shown)
            protection.before_and_after(flow.walk, shown=shown)
            stated = (choices.bound or choices.epsilon) is not None and not choices.find
            flow.walk = protection.strength(flow.walk, ask)
            protection.tell_labels(flow)
            protection.tell_authors(flow)
            if measured:
                attacks.measure(flow, ask, stated=stated)
            releasing.release(flow, ask, signed=measured)
            flow.write_answers()
            commands = commands_of(flow.walk, folder)
            said = ["publius " + shlex.join(step).replace(str(folder), str(output)) for step in commands]
    except attacks.NotReleased:
        return _result(flow.walk, flow.judged, None, [])
    return _result(flow.walk, flow.judged, output, said)


def _result(walk: Walk, judged: Judged | None, output: Path | None, commands: list[str]) -> dict[str, Any]:
    def place(name: str, there: bool = True) -> str | None:
        return str(output / name) if output is not None and there else None

    agreed = walk.choices.without_evidence and not walk.names_authors  # nothing was to be shown of authors
    return {
        "verdict": None if judged is None or agreed else judged.verdict,
        "reason": None if judged is None else judged.sentence,
        "release": place("release"),
        "evaluation": place("evaluation", judged is not None),
        "signoff": place("signoff.html"),
        "config": place("publius.toml"),
        "inspection": walk.found.record(),
        "choices": asdict(walk.choices),
        "commands": commands,
    }
