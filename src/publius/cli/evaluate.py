"""``publius evaluate`` and ``report``: what adversaries find in protected documents."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import as_json, print_json, print_table, printable, progress_shown
from publius.cli.log import say
from publius.cli.options import Json, MechanismCommand, options
from publius.errors import UsageError
from publius.noise.randomness import seeded_rng
from publius.option import declared
from publius.settings import EvaluationSettings, ExperimenterSettings, VerdictSettings

if TYPE_CHECKING:
    from publius.evaluation.runner import Evaluation, Results
    from publius.evaluation.verdict import Verdict

CorpusArgument = Annotated[
    str,
    typer.Argument(
        help="Labelled corpus: rows (JSONL, CSV, Parquet) with id, text, author, topic, role; a PAN folder; folders of "
        "stories; or demo:PROBLEM, such as demo:aaac_problem_a."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("evaluate", cls=MechanismCommand)(evaluate)
    app.command("report")(report)


@options()
def evaluate(
    ctx: typer.Context,
    corpus: CorpusArgument,
    settings: EvaluationSettings,
    limits: VerdictSettings,
    output: Annotated[
        Path, typer.Option(help="Folder for the results; a run that was cut short goes on there.")
    ],
    work: ExperimenterSettings,
    release: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a release: evaluate what made it; its manifest says mechanism, length and all."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Attack protected documents and report what was found.

    An experiment on texts of known authors and topics. With limits (--adds-at-most, --author-at-most,
    --topic-at-least, --bound-at-most) the first line is PASS, FAIL or NO EVIDENCE with the reason, and the
    exit code 0, 1 or 3. PASS and FAIL need the whole 95 % interval on their side; where unprotected texts
    pass, too, there is no evidence. Where the release is a summary, authors of the corpus are attacked by somebody
    who knows all other authors' documents: how often he is right about who is in it, beside what the promise allows.
    """
    if release is not None and _is_summary(release):
        _refuse_typed(ctx, settings)
        _membership(corpus, release, settings, work, output, json=json)
        return
    from publius.evaluation.language_choice import what_is_sent
    from publius.evaluation.prepare import prepared
    from publius.evaluation.runner import EvaluationRequest
    from publius.evaluation.verdict import Limits, write_limits
    from publius.mechanisms.threads import processors

    if release is not None:
        settings = _as_released(ctx, settings, release)
    request = EvaluationRequest.of(settings)
    if release is None:
        request.check_asked()
    chosen = Limits(**asdict(limits))
    evaluation = prepared(corpus, request, work, output)
    if release is not None:
        from publius.evaluation.of_release import aside_of, check_same

        check_same(release, request, evaluation.setting)
        chosen = replace(chosen, aside=aside_of(release))
    say_unlooked(evaluation)
    if said := what_is_sent(evaluation):
        say(said, plain=True)
    with progress_shown(quiet=json) as progress:
        evaluation.run(evaluation.request.cells(), workers=work.workers or processors(), progress=progress)
    write_limits(chosen, output)
    _finish(evaluation.results(), output, json=json)


def say_unlooked(evaluation: Evaluation) -> None:
    """Say where nobody knows whether what protects the texts has learned from them."""
    if said := evaluation.facts["unlooked"]:
        say(f"{said[0].upper()}{said[1:]}.", plain=True)


def _is_summary(release: Path) -> bool:
    from publius.releases.contents import SUMMARY
    from publius.releases.manifests import read_manifest_of

    return read_manifest_of(release).get("kind") == SUMMARY


_OF_A_SUMMARY = ("author_field", "text_field")


def _refuse_typed(ctx: typer.Context, settings: EvaluationSettings) -> None:
    """`UsageError` for options that were typed and have no part in the attack on a summary."""
    names = _typed(ctx, settings, VerdictSettings).difference(_OF_A_SUMMARY)
    if names:
        flags = {
            each.name: each.option.flag
            for kind in (type(settings), VerdictSettings)
            for each in declared(kind)
        }
        typed = ", ".join(flags.get(name) or f"--{name.replace('_', '-')}" for name in sorted(names))
        raise UsageError(
            f"a summary is attacked by what its counts tell: leave out {typed}. What names the columns are "
            "--author-field and --text-field"
        )


def _membership(
    corpus: str,
    release: Path,
    settings: EvaluationSettings,
    work: ExperimenterSettings,
    output: Path,
    *,
    json: bool,
) -> None:
    from publius.evaluation.membership import ATTACKS, membership, of_release
    from publius.evaluation.runner import MEMBERSHIP
    from publius.files import new_folder, write_file

    author = {} if settings.author_field is None else {"author_field": settings.author_field}
    summary = of_release(release, text_field=settings.text_field, leave_out_without_author=True, **author)
    if work.topics is not None:
        raise UsageError("a summary is attacked by what its counts tell: --topics has no part in it")
    rows = [row.fields for _, row in summary.corpus(corpus).rows()]
    with progress_shown(quiet=json) as progress:
        done = 0

        def more(count: int) -> None:
            nonlocal done
            done += count
            tenth = done % (ATTACKS // 10) == 0  # a log needs no line for each
            progress("attacks" if tenth else "", done, ATTACKS)

        rng = None if work.seed is None else seeded_rng(work.seed)
        found = membership(summary, rows, rng=rng, progress=more)
    facts = {
        **asdict(found),
        "epsilon": float(summary.epsilon),
        "holds": found.holds,
        "sentence": found.sentence,
    }
    with new_folder(output, private=(MEMBERSHIP,)) as folder, write_file(folder / MEMBERSHIP, 0o600) as file:
        file.write((as_json(facts) + "\n").encode())
    if json:
        print_json(facts)
    else:
        typer.echo(found.sentence)
    if not found.holds:
        raise typer.Exit(1)


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of an evaluation.")], json: Json = False
) -> None:
    """Write the report of an evaluation again.

    rows.jsonl, table.csv and report.html, from the results that are kept in its folder.
    """
    from publius.evaluation.runner import read_results

    _finish(read_results(folder), folder, json=json)


def _as_released(ctx: typer.Context, settings: EvaluationSettings, release: Path) -> EvaluationSettings:
    """The settings with what the release was made with; what the user named himself must agree."""
    from publius.evaluation.of_release import choices_of

    named = _typed(ctx, settings)
    return replace(settings, **choices_of(release, {name: getattr(settings, name) for name in named}))


def _typed(ctx: typer.Context, settings: EvaluationSettings, *more: type) -> set[str]:
    """The names of the settings that stand on the command line, and those of more kinds."""
    names = [each.name for kind in (EvaluationSettings, *more) for each in declared(kind)]
    sources = {name: ctx.get_parameter_source(name) for name in names}
    named = {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}
    return named | ({"parameters"} if settings.parameters else set())


def _finish(results: Results, folder: Path, *, json: bool) -> None:
    """Write the report, show the table under the verdict, and exit with the code of the verdict."""
    from publius.evaluation.prepare import concluded
    from publius.evaluation.verdict import EXIT_CODES

    lines, verdict = concluded(results, folder)
    _show(lines, folder, results.facts, verdict, json=json)
    if verdict is not None and (code := EXIT_CODES[verdict.answer]):
        raise typer.Exit(code)


def _show(lines: Any, output: Path, facts: dict[str, Any], verdict: Verdict | None, *, json: bool) -> None:
    from publius.evaluation.summary import PAPER, as_records

    records = as_records(lines)
    if json:
        print_json({
            "verdict": None if verdict is None else verdict.answer,
            "reason": None if verdict is None else verdict.text,
            "output": str(output), "report": str(output / "report.html"), "size": facts["size"],
            "seed": facts["seed"], "chance": facts["chance"], "floor": facts["floor"], "split": facts["split"],
            "table": records,
        })  # fmt: skip
        return
    if verdict is not None:
        typer.echo(f"{printable(verdict.text)}.\n")
    header = (
        "mechanism", "at", *PAPER, "strongest adversary", "accuracy", "holder of originals", "topic", "changed",
        "nats, any two",
    )  # fmt: skip
    shown = [(line.name, record) for line, record in zip(lines, records, strict=True)]
    print_table(header, [_cells(name, record, list(PAPER)) for name, record in shown])
    floor = "" if facts["floor"] is None else f"; an adversary who knows only the topic: {facts['floor']:.3f}"
    chances = ", ".join(f"{task} {value:.3f}" for task, value in facts["chance"].items())
    typer.echo(f"\nOf {facts['unknown_texts']} texts of {facts['size']} words. By chance: {chances}{floor}.")
    typer.echo(f"Who is known and who attacked: {facts['split']}.")
    typer.echo(
        f"An experiment, NOT PRIVATE: keep {output} as you keep the texts. Report: {output / 'report.html'}"
    )


def _cells(name: str, record: dict[str, Any], paper: list[str]) -> tuple[object, ...]:
    from publius.privacy.promise import rounded_up

    def shown(value: Any, form: str) -> str:
        return "-" if value is None else format(value, form)

    strongest = record["strongest"] or "-"
    asked = name.removeprefix(record["mechanism"]).strip(" ,")
    originals = shown(record["originals_accuracy"], ".3f")
    if record["originals"] == "at least":
        originals += " or more"
    return (
        record["mechanism"], "-" if record["mechanism"] == "clean" else asked,
        *(shown(record[column], ".4g") for column in paper), strongest, shown(record["strongest_accuracy"], ".3f"),
        originals, shown(record["topic_accuracy"], ".3f"), shown(record["changed"], ".3f"),
        "-" if record["bound"] is None else rounded_up(record["bound"], 6),
    )  # fmt: skip
