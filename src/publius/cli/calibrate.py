"""``publius calibrate``: which epsilon hides the author and keeps the topic."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from publius.cli.console import print_json, print_table, progress_shown
from publius.cli.evaluate import CorpusArgument, say_unlooked
from publius.cli.options import Json, MechanismCommand, options
from publius.settings import (
    CalibrationSettings,
    ExperimenterSettings,
    MechanismSettings,
    names,
    parsed_length,
)

if TYPE_CHECKING:
    from publius.evaluation.calibration import Aim, Calibration
    from publius.evaluation.runner import Evaluation
    from publius.evaluation.summary import SummaryLine

SEARCHED = (MechanismSettings.mechanism, "exponential", "tight")
_REPEATS: Final = 5
"""Mechanisms that are searched where none is named."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("calibrate", cls=MechanismCommand)(calibrate)


@options(without=(
    "epsilons", "tasks", "snippet", "adversary", "i_own_these_texts", "context", "remote_ok", "timeout",
))  # fmt: skip
def calibrate(
    corpus: CorpusArgument,
    settings: CalibrationSettings,
    work: ExperimenterSettings,
    output: Annotated[
        Path | None, typer.Option(help="Folder to keep what was measured; a search goes on there.")
    ] = None,
    json: Json = False,
) -> None:
    """Find settings that stop attackers and keep the topic.

    Reports if there are none. For mechanisms on words the epsilon is searched; with a reference, mechanisms on
    documents are tried at each bound. Figures within the limits make candidates; what holds is said by the verdict of
    `publius evaluate`, its level divided by the number of settings tried.
    """
    from tempfile import TemporaryDirectory

    from publius.evaluation.calibration import Aim, judged, length_of
    from publius.evaluation.prepare import prepared
    from publius.evaluation.runner import EvaluationRequest
    from publius.evaluation.verdict import authors_given
    from publius.mechanisms.registry import DOCUMENT_MECHANISMS

    if settings.preset is None:
        settings = replace(settings, repeats=settings.repeats or _REPEATS)
    aim = Aim(settings.author_at_most, settings.topic_at_least, settings.cautious)
    measured = []
    with nullcontext(output) if output else TemporaryDirectory() as folder:
        of_documents = tuple(DOCUMENT_MECHANISMS) if settings.reference else ()
        searched = settings.mechanisms or (*SEARCHED, *of_documents)
        sizes = {each: names(settings.length or str(length_of(each))) for each in searched}
        for mechanism, size in [(each, size) for each in searched for size in sizes[each]]:
            place = Path(folder) / (f"length-{size}" if len(searched) == 1 else f"{mechanism}-length-{size}")
            request = replace(
                EvaluationRequest.of(replace(settings, mechanisms=(mechanism,))), length=parsed_length(size)
            )
            measured.append(
                _search(prepared(corpus, request, work, place), aim, place, settings, work, json=json)
            )
    tries = sum(not line.clean for _, lines, _ in measured for line in lines)
    _show([judged(found, lines, facts, aim, tries) for found, lines, facts in measured], aim, json=json)
    if not (json or all(authors_given(facts) for _, _, facts in measured)):
        typer.echo(
            "Nobody said who wrote these texts: each counts as of an author of its own, and is found, not named."
        )


def _search(
    evaluation: Evaluation,
    aim: Aim,
    place: Path,
    settings: CalibrationSettings,
    work: ExperimenterSettings,
    *,
    json: bool,
) -> tuple[Calibration, Sequence[SummaryLine], dict[str, Any]]:
    """Calibrate at one length, and leave the report of all that was measured."""
    from publius.evaluation.calibration import calibrate
    from publius.evaluation.report import write_report
    from publius.evaluation.summary import summarize
    from publius.mechanisms.threads import processors

    say_unlooked(evaluation)
    count, start, precision = work.workers or processors(), settings.start, settings.precision
    with progress_shown(quiet=json) as progress:
        found = calibrate(evaluation, aim, start=start, precision=precision, workers=count, progress=progress)
    results = evaluation.results()
    lines = summarize(results)
    write_report(results, lines, place)
    return found, lines, results.facts


def _show(found: list[Calibration], aim: Aim, *, json: bool) -> None:
    from publius.evaluation.calibration import WARNING, to_be_had

    best = min((each for each in found if each.both), key=lambda each: each.size, default=None)
    if json:
        chosen: dict[str, Any] = {
            "length": None,
            "epsilon": None,
            "bound": None,
            "author_epsilon": None,
            "topic_epsilon": None,
        }
        if best is not None:
            chosen = {
                "length": best.size, "epsilon": best.epsilon, "bound": None, best.strength: best.epsilon,
                "author_epsilon": best.author_epsilon, "topic_epsilon": best.topic_epsilon,
            }  # fmt: skip
        lengths = [{**asdict(each), "both": each.both, "epsilon": each.epsilon} for each in found]
        mechanism = (best or found[0]).mechanism
        told = {"mechanism": mechanism, **asdict(aim), "both": best is not None, **chosen}
        print_json({**told, "lengths": lengths, "to_be_had": to_be_had(found, aim), "warning": WARNING})
        return
    header = (
        "mechanism",
        "N",
        "epsilon or bound",
        "authors named",
        "by",
        "topics named",
        "by",
        "nats, same topic",
        "within the limits",
        "verdict",
    )
    print_table(header, [line for each in found for line in _lines(each, aim)])
    for each in found:
        typer.echo(_sentence(each))
    typer.echo(f"\n{to_be_had(found, aim)}\n\n{WARNING}")


def _lines(found: Calibration, aim: Aim) -> list[tuple[object, ...]]:
    return [
        (
            found.mechanism, found.size, f"{trial.epsilon:g}", f"{trial.author.value:.3f}", trial.author_by,
            f"{trial.topic.value:.3f}", trial.topic_by,
            "-" if trial.exponent_same_topic is None else f"{trial.exponent_same_topic:.3g}",
            " and ".join(
                word for word, holds in (("author", aim.hides(trial)), ("topic", aim.keeps(trial))) if holds
            ),
            trial.verdict,
        )
        for trial in found.trials
    ]  # fmt: skip


def _sentence(found: Calibration) -> str:
    if not found.trials:
        return f"\nN = {found.size}, {found.mechanism}: it refuses every {found.strength} that was tried."
    none = f"at no {found.strength} tried"
    hidden = none if found.author_epsilon is None else f"up to {found.strength} {found.author_epsilon:g}"
    kept = none if found.topic_epsilon is None else f"from {found.strength} {found.topic_epsilon:g}"
    if found.both:
        verdict = f"PASS: {found.strength} {found.epsilon:g}"
    elif found.candidates:
        verdict = f"from {found.topic_epsilon:g} to {found.author_epsilon:g} are candidates, and none of them passes"
    else:
        verdict = "both cannot be had"
    return (
        f"\nN = {found.size}, {found.mechanism}: no more authors are named than allowed {hidden}, topics are kept "
        f"{kept}; {verdict}."
    )
