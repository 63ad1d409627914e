"""``publius start``: from a file of texts to a release that someone can sign, step by step.

It asks what it has to know, takes the steps of `publius.evaluation.steps`, and says which single commands do the same.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer

from publius.cli.console import print_json, printable, progress_shown, waiting
from publius.cli.options import Json, options
from publius.errors import DataError, PolicyError, UsageError
from publius.evaluation.steps.questions import (
    ACCEPT_LOSS,
    AFTER_FAIL,
    AUTHOR_FIELD,
    FIND,
    GO_ON,
    LEAVE_OUT,
    NONE,
    PRESERVE,
    PUBLIC,
    READERS,
    RELEASE,
    STOP,
    SUMMARY,
    TEXT_FIELD,
    TOPIC_FIELD,
    WITHOUT_EVIDENCE,
    YES,
    Question,
    with_columns,
)
from publius.settings import ReadersSettings, StartSettings

if TYPE_CHECKING:
    from publius.documents.inspection import Inspection
    from publius.evaluation.steps.answers import Choices
    from publius.evaluation.steps.measuring import Judged
    from publius.evaluation.steps.older import PublicCorpus
    from publius.evaluation.steps.walk import Walk
    from publius.evaluation.steps.workflow import ReleaseWorkflow

_SHOWN_WORDS: Final = 200
_SHOWN_ALIKE: Final = 10
_NO_EVIDENCE: Final = (
    "There is no evidence that authors are hidden: nothing was measured",
    "There is no evidence that authors are hidden: no attack could name one",
)


@final
class _NotReleased(Exception):
    """The walk ends before anything is released, with a result to show."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__()
        self.result = result


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
    from publius.evaluation.steps.answers import read_config, together

    choices = answers if config is None else together(answers, read_config(config))
    began = time.monotonic()
    with contextlib.redirect_stdout(io.StringIO()) if json else contextlib.nullcontext():
        ask = Asking(yes=yes or json)
        try:
            if _needs_summary(choices, readers, ledger, ask):
                from publius.cli.start_summary import summary_walk

                result = summary_walk(file, output, choices, readers, ledger, ask)
            else:
                result = _walk(file, output, choices, ask)
        except _NotReleased as stopped:
            result = stopped.result
    result["seconds"] = round(time.monotonic() - began, 1)
    if json:
        print_json(result)
    elif "summary" in result:
        show_summary_end(result)
    else:
        show_end(result)
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
    if not readers.summary and (readers.by or readers.accept_noise or ledger is not None):
        raise UsageError("--by, --accept-noise and --ledger go with --summary")
    stated = choices.preserve or choices.bound or choices.find or choices.public or choices.without_evidence
    if readers.summary or readers.rows or stated or ask.yes:
        return readers.summary
    return ask(READERS) == SUMMARY


def run_start(
    file: Path, output: Path, answers: Choices, *, measured: bool = True, shown: bool = True
) -> dict[str, Any]:
    """The walk with every proposed answer, for packaged texts: ``shown`` before and after wherever it is printed.

    What is not ``measured`` is not signed for either.
    """
    return _walk(file, output, answers, Asking(yes=True), measured=measured, shown=shown)


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
                typer.echo(f"   {option.value}: {option.means}")
        while True:
            try:
                return question.answer(
                    str(typer.prompt(printable(question.prompt), default=question.proposed))
                )
            except UsageError as error:
                typer.echo(f"   {printable(str(error))}.")

    def agreed(self, question: Question) -> bool:
        """Yes or no."""
        if self.yes:
            return question.proposed == YES
        return bool(typer.confirm(question.words, default=question.proposed == YES))


def _walk(
    file: Path, output: Path, choices: Choices, ask: Asking, *, measured: bool = True, shown: bool = False
) -> dict[str, Any]:
    from publius.evaluation.steps.walk import Walk
    from publius.evaluation.steps.workflow import ReleaseWorkflow, folder_for
    from publius.files import check_new_folder, remove_leftovers

    check_new_folder(output)
    typer.echo("1. What is in the file")
    found, choices = texts_in(file, choices, ask)
    show_found(found)
    choices = _losing(found, choices, ask)
    choices, older = _public(choices, ask, found.columns)
    choices = _kept(choices, older, ask)
    walk = Walk(file, found, older, choices)
    walk.check_authors()
    if older is not None:
        older.check_apart(walk.texts())
    for left in remove_leftovers(output):
        typer.echo(f"   Removed {printable(str(left))}, which a run that was stopped left behind.")
    with folder_for(output, walk) as folder:
        flow = ReleaseWorkflow(walk, folder)
        _learn(flow, ask, shown=shown)
        _before_and_after(flow.walk, shown=shown)
        stated = (choices.bound or choices.epsilon) is not None and not choices.find
        flow.walk = _strength(flow.walk, ask)
        _tell_labels(flow)
        _tell_authors(flow)
        if measured:
            _measured(flow, ask, stated=stated)
        _release(flow, ask, signed=measured)
        flow.write_answers()
        commands = flow.walk.commands(folder)
        said = ["publius " + shlex.join(step).replace(str(folder), str(output)) for step in commands]
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


# 1. The file, the public texts, what to keep ---------------------------------------------------------------


def texts_in(file: Path, choices: Choices, ask: Asking) -> tuple[Inspection, Choices]:
    """The file with its column of texts, which is asked for where it was not found or is none."""
    from publius.evaluation.steps.walk import looked_at

    fault: DataError | None = None
    with waiting("reading the file"):
        try:
            found = looked_at(file, choices)
        except DataError as error:
            if ask.yes or choices.text_field is None:
                raise
            fault, found = error, looked_at(file, replace(choices, text_field=None))
    while fault is not None or found.text_field is None:
        if fault is not None:
            typer.echo(f"   {printable(str(fault))}.")
        names = ", ".join(map(repr, found.columns))
        form = "" if found.delimiter is None else f" (read with {found.delimiter!r} between columns)"
        otherwise = (
            f"no column of texts was found among {names}{form}: name it with --text-field, or check --delimiter and "
            "--encoding. Nothing was released"
        )
        named = ask(replace(with_columns(TEXT_FIELD, found.columns), otherwise=otherwise))
        try:
            found, fault = looked_at(file, replace(choices, text_field=named)), None
        except DataError as error:
            fault = error
    return found, replace(choices, text_field=found.text_field)


def show_found(found: Inspection) -> None:
    """What was found in the file."""
    from publius.documents.table_form import TableForm

    if found.delimiter is not None and found.encoding is not None:
        typer.echo(f"   Read as {TableForm(found.delimiter, found.encoding)}.")
    median = f"; half of them have {found.words['median']:,.0f} words or more" if found.words else ""
    typer.echo(
        f"   {found.rows:,} rows with texts in the column {printable(repr(found.text_field))}{median}."
    )
    for problem in found.problems:
        if not problem.startswith("no column 'id'"):  # documents are numbered here
            typer.echo(f"   {printable(problem)}")


def _losing(found: Inspection, choices: Choices, ask: Asking) -> Choices:
    """Go on without documents that cannot be read: where they are many somebody has to say so, else `DocumentError`."""
    from publius.releases.preflight import check_loss, too_many

    if not too_many(found.lost, found.documents) or choices.accept_loss:
        return choices
    typer.echo(f"   {found.lost:,} of {found.documents:,} documents cannot be read and would be left out.")
    agreed = False
    with contextlib.suppress(typer.Abort):  # nobody is there to ask
        agreed = ask.agreed(ACCEPT_LOSS)
    check_loss(found.lost, found.documents, accepted=agreed)
    return replace(choices, accept_loss=True)


def _public(choices: Choices, ask: Asking, own: Sequence[str]) -> tuple[Choices, PublicCorpus | None]:
    """The public texts, or none where that was chosen."""
    from publius.evaluation.steps.older import SAMPLES, PublicCorpus

    named = choices.public
    if named is None and not choices.without_evidence:
        typer.echo(
            "   To learn what may be public, and to see whether authors stay hidden, it takes public or older texts\n"
            "   of the kind whose authors and topics are known. The words that enough of their authors use, how\n"
            "   often, and the names of topics become public; nothing else of these texts does."
        )
        named = ask(PUBLIC)
        while named.lower() not in (NONE, SAMPLES) and not Path(named).exists():
            typer.echo("   There is no such file or folder.")
            named = ask(PUBLIC)
    if named is None or named.strip().lower() == NONE:
        choices = replace(choices, public=None)
        return _without_evidence(choices, "there are no public texts whose authors are known", ask), None
    choices = replace(choices, public=named)
    if not ask.yes and named != SAMPLES:
        choices = _columns(choices, ask, own)
    with waiting("reading the public texts"):
        older = PublicCorpus.read(choices, own)
    if older.silent is not None:
        choices = _without_evidence(choices, older.silent, ask)
    elif older.unnamed is not None:
        typer.echo(f"   There will be no evidence that authors are hidden: {older.unnamed}.")
    typer.echo(f"   {older.count:,} public texts can be used" + _of_kind(older))
    return choices, older


def _columns(choices: Choices, ask: Asking, own: Sequence[str]) -> Choices:
    """The answers with the columns of authors and topics, asked for where they are needed and not there."""
    from publius.evaluation.steps.older import public_columns

    with waiting("reading the public texts"):
        names, usual = public_columns(choices)
    needed = {
        AUTHOR_FIELD: not choices.without_evidence,
        TOPIC_FIELD: choices.learns_topics or (choices.preserve or choices.reference) is None,
    }
    for question, asked in needed.items():
        named = getattr(choices, f"public_{question.name}") or getattr(choices, question.name)
        if named in own and named not in names:
            named = None
        if named is not None and named not in names:
            typer.echo(f"   The public texts have no column {printable(repr(named))}.")
        elif named is not None or usual[question.name] is not None or not asked:
            continue
        answer = ask(with_columns(question, names))
        column: dict[str, Any] = {f"public_{question.name}": None if answer == NONE else answer}
        if named is not None and getattr(choices, question.name) == named:
            column[question.name] = None
        choices = replace(choices, **column)
    return choices


def _of_kind(older: PublicCorpus) -> str:
    topics = f", on {len(older.topic_names):,} topics" if older.topic_names else ", without topics"
    if not older.packaged:
        return f"{topics}."
    return f"{topics}: packaged passages of old books and papers, to try with. They say nothing about your texts."


def _without_evidence(choices: Choices, why: str, ask: Asking) -> Choices:
    """Go no further than a stated choice."""
    if not choices.without_evidence:
        said = f"{why}, so there will be no evidence that authors are hidden"
        if ask.yes:
            raise PolicyError(
                f"{said}: name the column with --author-field or other texts with --public, or go on all the same with "
                "--without-evidence. Nothing was released"
            )
        typer.echo(f"   {said[0].upper()}{said[1:]}.")
        if not ask.agreed(WITHOUT_EVIDENCE):
            raise UsageError("cancelled; nothing was released")
    return replace(choices, without_evidence=True)


def _kept(choices: Choices, older: PublicCorpus | None, ask: Asking) -> Choices:
    if choices.preserve is None:
        kept: Any = ask(_proposing(choices, older))
        choices = replace(choices, preserve=kept)
    if older is not None:
        older.check_topics(choices)
    return choices


def _proposing(choices: Choices, older: PublicCorpus | None) -> Question:
    """What to keep, with what can be."""
    if choices.reference is None:
        if older is None or older.topics:
            return PRESERVE
        why = "the public texts have no column of topics; --topic-field names one"
    else:
        from publius.vectors.learning.reference import Reference

        if "topic" in Reference.load(choices.reference).aspects:
            return PRESERVE
        why = "the reference knows no topics"
    return replace(PRESERVE, proposed="meaning", because=why)


# 2 to 4. Learn, show, how strongly ------------------------------------------------------------------------


def _learn(flow: ReleaseWorkflow, ask: Asking, *, shown: bool) -> None:
    typer.echo("2. What is public")
    walk = flow.walk
    if walk.reference is None:
        typer.echo(f"   Each bag gets {walk.size:,} words, {_chosen_by(walk)}.")
        flow.walk = walk = replace(walk, choices=replace(walk.choices, length=walk.size))
    elif walk.reference == "themes":
        typer.echo("   The themes that are made from public word vectors.")
    elif walk.choices.reference is not None:
        from publius.vectors.learning.public_words import stated
        from publius.vectors.learning.reference import read_reference_record, references_root

        said = stated(read_reference_record(references_root() / walk.choices.reference)["source"])
        typer.echo(f"   The stored reference {printable(walk.choices.reference)}, as you chose.")
        typer.echo(f"   All its words are public: {printable(said)}.")
    else:
        flow.walk = walk = _words(walk, ask, shown=shown)
        if walk.learned_before:
            typer.echo("   Learned from the same public texts before.")
        else:
            with _bar(flow):
                flow.learn()
            typer.echo("   Learned from the first half of the public texts.")


def _chosen_by(walk: Walk) -> str:
    """Who says how many words a bag has."""
    return "as the lengths of the public texts suggest" if walk.choices.length is None else "as you chose"


@contextlib.contextmanager
def _bar(flow: ReleaseWorkflow) -> Iterator[None]:
    """Inside, how far the workflow is stands on a terminal."""
    from publius.evaluation.steps.workflow import Advanced, Event

    with progress_shown(quiet=True) as progress:

        def hear(event: Event) -> None:
            if isinstance(event, Advanced):
                progress("", event.done, event.total)

        flow.listener = hear
        yield


def _words(walk: Walk, ask: Asking, *, shown: bool) -> Walk:
    """The walk with the rare words that do not become public: stated, or asked for where there are any."""
    from publius.vectors.learning.public_words import left_out, wording

    with waiting("counting who uses which word"):
        found = walk.vocabulary()
    if found is None:
        return walk
    typer.echo(
        f"   {found.size:,} words of the public texts become public, each used by at least {found.at_least:,} "
        f"{found.by}:\n   whoever gets the release can learn them. Long numbers, addresses, mail and links never do."
    )
    if found.by == "texts":
        typer.echo(
            "   No author is known, so they are counted by texts: a word that one person wrote in several texts can\n"
            "   be among them. Name the column of authors with --author-field."
        )
    if shown or not ask.yes or sys.stdout.isatty():
        _tell_alike(walk)
    telling, others = ([each for each in found.rare if each.telling is kind] for kind in (True, False))
    if walk.choices.leave_out is None and found.rare:
        if shown or not ask.yes or sys.stdout.isatty():
            for words, what in ((telling, "names, and words general text does not know"), (others, "others")):
                if words:
                    listed = ", ".join(wording(words, _SHOWN_WORDS))
                    typer.echo(f"   Rare, {what}, and how many {found.by} use each: {printable(listed)}.")
        typer.echo("   The rare words that you do not leave out will be public.")
        answer = ask(replace(LEAVE_OUT, proposed=walk.words.leave_out))
        walk = replace(walk, choices=replace(walk.choices, leave_out=answer.lower()))
    without = left_out(found.rare, walk.words.leave_out)
    rare = sum(each.word not in without for each in found.rare)
    typer.echo(f"   Left out: {len(without):,} words. Rare words that will be public: {rare:,}.")
    return walk


def _tell_alike(walk: Walk) -> None:
    """Authors of the public texts who may be one person, for the curator to bring under one name."""
    from publius.collections.authors import MOST_NAMES, near_duplicates
    from publius.text.author_names import counted_name

    rows = () if walk.older is None else (*walk.older.learned, *walk.older.attacked)
    names = {counted_name(row["author"]): row["author"] for row in rows if "author" in row}
    alike = near_duplicates(names) if len(names) <= MOST_NAMES else []
    for group in alike[:_SHOWN_ALIKE]:
        listed = ", ".join(sorted(printable(names[key]) for key in group))
        typer.echo(f"   Perhaps one person, counted as {len(group)} authors: {listed}.")
    if len(alike) > _SHOWN_ALIKE:
        typer.echo(f"   ... and {len(alike) - _SHOWN_ALIKE:,} more such groups.")


def _before_and_after(walk: Walk, *, shown: bool) -> None:
    from publius.evaluation.steps.showing import examples

    older = walk.older
    typer.echo("3. Before and after, on public texts")
    if older is None:
        typer.echo("   There are none to show.")
        return
    if not (shown or older.packaged or sys.stdout.isatty()):
        typer.echo("   Shown on a terminal only: your texts belong in no log.")
        return
    with waiting("protecting two public texts"):
        found = examples(walk, walk.plan())
    for each in found:
        label = "" if each.label is None else f" [{each.label}]"
        words = ", ".join(f"{word} {count}" if count > 1 else word for word, count in each.after)
        typer.echo(f"   before: {printable(each.before)} ({each.words:,} words)")
        typer.echo(f"   after:{printable(label)} {printable(words)}, ... ({each.size:,} words)")


def _strength(walk: Walk, ask: Asking) -> Walk:
    """The walk with its bound, or epsilon: stated, or proposed in words."""
    typer.echo("4. How strongly to protect")
    choices = walk.choices
    if choices.find:
        return walk
    if choices.bound is not None or choices.epsilon is not None:
        typer.echo(f"   {walk.kept.strength_in_words(walk)}")
        return walk
    for line in walk.kept.before_asking(walk):
        typer.echo(f"   {line}")
    answer = ask(replace(walk.kept.question, proposed=f"{walk.strength:g}"))
    if answer == FIND:
        return replace(walk, choices=replace(choices, find=True))
    return walk.at(float(answer))


def _tell_labels(flow: ReleaseWorkflow) -> None:
    """How often a label is right: on public texts, and on the curator's own column, for his eyes."""
    from publius.evaluation.steps.labels import noise_in_words, public_label_shares

    walk = flow.walk
    if (shares := public_label_shares(walk)) is None or walk.choices.find:
        return
    typer.echo("   How often a label is right, on the second half of the public texts:")
    for sentence in shares.sentences():
        typer.echo(f"   {printable(sentence)}")
    outcomes = walk.plan().mechanism.crowd_outcomes
    if outcomes is not None:
        typer.echo(f"   {noise_in_words(walk.strength, outcomes)}")
    with waiting("looking at the texts"):
        own = flow.own()
    if own.labels is not None:
        typer.echo(f"   The same on your own column {printable(repr(walk.own_topic))}, for your eyes only:")
        for sentence in own.labels.sentences():
            typer.echo(f"   {printable(sentence)}")


def _tell_authors(flow: ReleaseWorkflow) -> None:
    """How much of one author leaves, or that nobody counted."""
    own, walk = flow.own().authors, flow.walk
    if own is None:
        typer.echo(
            "   No column says who wrote your texts, so the promise is per document: an author of five documents can\n"
            "   lose five times as much. Name the column with --author-field to see how many anybody has."
        )
        return
    typer.echo(f"   {printable(own.sentence)}")
    most = walk.choices.documents_per_author
    if most is None and own.most > 1:
        typer.echo(
            "   What rows without ids promise an author is stated for one document each; for others declare the most\n"
            f"   with --documents-per-author {own.most}."
        )


# 5. Attack, and what else could be had --------------------------------------------------------------------


def _measured(flow: ReleaseWorkflow, ask: Asking, *, stated: bool) -> None:
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
        with _bar(flow):
            found = flow.find()
        for each in found:
            typer.echo(f"   {printable(each.sentence)}")
    while True:
        with _bar(flow):
            judged = flow.measure()
        typer.echo(f"   {printable(judged.sentence)}")
        if judged.passed:
            return
        if judged.verdict != "FAIL":
            if _goes_on_without_evidence(flow, ask):
                return
            raise _NotReleased(_result(flow.walk, judged, None, []))
        _tell_alternatives(flow)
        if ask.yes and stated and flow.walk.kept.bounded:
            typer.echo("   Released all the same, as you asked for it; the page to sign says FAIL.")
            return
        answer = ask(AFTER_FAIL)
        if answer == RELEASE:
            return
        if answer == STOP:
            raise _NotReleased(_result(flow.walk, judged, None, []))
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
    with _bar(flow):
        found = flow.alternatives()
    typer.echo("   Alternatives:" if found else "   No alternative was found.")
    for each in found:
        typer.echo(f"   {printable(each.sentence)}")


# 6 and 7. Release, and the page ---------------------------------------------------------------------------


def _release(flow: ReleaseWorkflow, ask: Asking, *, signed: bool = True) -> None:
    typer.echo("6. Release")
    with waiting("looking at the texts"):
        warnings = flow.warnings()
    for warning in warnings:
        typer.echo(f"   {printable(warning)}")
    ids = "under your ids" if flow.walk.choices.publish_ids else "under numbers, not under names of yours"
    typer.echo(f"   Documents are published {ids}.")
    if not ask.agreed(GO_ON):
        raise UsageError("cancelled; nothing was released")
    with _bar(flow):
        summary = flow.release()
    left = f"; {len(summary.bad):,} rows could not be read and are left out" if summary.bad else ""
    typer.echo(f"   {summary.tally.documents:,} documents are released{left}.")
    typer.echo(f"   {printable(summary.manifest['promise'])}")
    if signed:
        failed = flow.judged is not None and flow.judged.verdict == "FAIL"
        typer.echo("7. The page that says FAIL" if failed else "7. The page to sign")
        flow.sign()


def show_summary_end(result: dict[str, Any]) -> None:
    """Where a summary is, and the commands that do the same."""
    typer.echo(
        f"\nRead {result['summary']}/report.html and {result['signoff']} in a browser, print the page, sign it. The "
        f"summary may leave: {result['summary']}"
    )
    typer.echo("\nThe same by single commands:")
    for command in result["commands"]:
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
    typer.echo("\nThe same by single commands:")
    for command in result["commands"]:
        typer.echo(f"  {printable(command)}")
    typer.echo(f"All answers again: publius start FILE --config {result['config']} --yes --output NEW")
