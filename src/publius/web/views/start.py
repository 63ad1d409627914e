"""From files of texts to a signed release: the steps of ``publius start``, on the files that were given."""

from __future__ import annotations

import shlex
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO, Final

from publius.documents.inspection import FORM, Inspection
from publius.documents.readers import READERS
from publius.errors import PolicyError, UsageError
from publius.evaluation.steps.answers import Choices
from publius.evaluation.steps.commands import attack_command, commands_by_step
from publius.evaluation.steps.kept import bound_in_words
from publius.evaluation.steps.labels import public_label_shares
from publius.evaluation.steps.looking import texts_of
from publius.evaluation.steps.older import PUBLIC, PublicCorpus, check_author_column
from publius.evaluation.steps.questions import ON_PAGE, Question
from publius.evaluation.steps.showing import examples
from publius.evaluation.steps.walk import EVALUATION, Step, Walk
from publius.evaluation.steps.workflow import ReleaseResult, learn_apart, release_apart, try_apart
from publius.files import WHOLE_LIMIT, os_errors
from publius.noise.randomness import entropy
from publius.releases.measured import Measured
from publius.releases.plan import Plan
from publius.releases.preflight import look as look_at
from publius.vectors.learning.public_words import left_out, many_left_out
from publius.web import requests
from publius.web import start_answers as answers
from publius.web.references import stored_now
from publius.web.run import StepProgress
from publius.web.state import State
from publius.web.workplace import Upload, Workplace, check_form

_EXCERPT: Final = 280
_EXAMPLES: Final = 2


def start(state: State) -> answers.Started:
    """What was given, what was found in it, and what is being made of it."""
    place = state.workplace
    return answers.Started.of(
        texts=_given(place.given("texts")),
        older=_given(place.given("older")),
        run=_run(place),
        questions=[_question(each) for each in ON_PAGE],
        kinds=sorted(READERS),
        releases=str(state.releases.resolve()),
    )


def look(state: State, asked: requests.Look) -> answers.Looked:
    """What is in the files that were given; read anew where another form is named."""
    place = state.workplace
    form = {name: getattr(asked, name) for name in ("text_field", *FORM)}
    found = place.look(asked.role, **form)
    corpus = place.needed(asked.role)
    return answers.Looked.of(**(_given(corpus) or {}), excerpt=place.named(lambda: _excerpt(corpus, found)))


def samples(state: State) -> answers.Started:
    """Let the packaged texts be the public ones: to try with, and of another kind than anybody's."""
    state.workplace.take_samples()
    return start(state)


def forget(state: State, asked: requests.Given) -> answers.Started:
    """Remove the files of a role from this machine's temporary folder."""
    state.workplace.forget(asked.role)
    return start(state)


def plan(state: State, asked: requests.Start) -> answers.Plan:
    """What would be done with these answers: the commands, what the public texts are, what evidence there can be."""
    place = state.workplace
    walk = walk_of(place, asked)
    walk.check_authors()
    output = state.releases / "release-NEW"
    return answers.Plan(
        start=_start_command(place, walk, asked, output),
        commands=[_shown(place, step) for step in _charged(commands_by_step(walk, output), state).values()],
        reference=walk.reference,
        learned=walk.learned_before,
        older=None if walk.older is None else _older(walk.older),
        silent=_silent(walk),
        vocabulary=_vocabulary(walk),
        strength=walk.strength,
        length=walk.size,
    )


def example(state: State, asked: requests.Start) -> answers.Examples:
    """Before and after on public texts, the strength in words, and what to know of the texts to be released."""
    walk = walk_of(state.workplace, asked)
    made = plan_of(state.workplace, walk)
    return answers.Examples(
        examples=examples(walk, made, _EXAMPLES),
        means=bound_in_words(walk.strength, public_label_shares(walk)) if walk.kept.bounded else None,
        warnings=list(look_at(walk.corpus, made).warnings()),
    )


def learn(state: State, asked: requests.Start) -> answers.Running:
    """Begin to learn what is public; nothing of the texts to be released is read."""
    place = state.workplace
    walk = walk_of(place, asked)
    return _begin(
        place,
        "learn",
        _learning(walk, place.folder),
        walk,
        learn_apart,
        (walk, place.folder),
        lambda name: {"reference": name},
    )


def release(state: State, asked: requests.Start) -> answers.Running:
    """Begin to measure, to release and to write the page; a folder appears when all of it is done.

    After a FAIL nothing is drawn and no folder appears, unless that was asked for.
    """
    place = state.workplace
    walk = walk_of(place, asked)
    if (silent := _silent(walk)) and not walk.choices.without_evidence:
        raise PolicyError(
            f"{silent}, so there will be no evidence that authors are hidden: give such texts, or say that you go on "
            "without evidence. Nothing was released"
        )
    output = (state.releases / f"release-{entropy(4).hex()}").resolve()
    ledger = None if state.ledger is None else state.ledger.path.resolve()
    steps = _charged(_missing(walk, output), state)
    arguments = (walk, output, _as_named(place, walk), ledger, asked.after_fail)

    def shown(outcome: ReleaseResult) -> dict[str, Any]:
        if outcome.measured is not None:
            place.tried(walk.tries)
        return _made(outcome)

    return _begin(place, "release", steps, walk, release_apart, arguments, shown)


def instead(state: State, asked: requests.Start) -> answers.Running:
    """Begin to look for what could be had instead, after a FAIL; the texts to be released are not read."""
    place = state.workplace
    walk = walk_of(place, asked)
    if silent := _silent(walk) if walk.older is None else walk.older.unnamed:
        raise PolicyError(f"{silent}, so nothing can be looked for")
    from publius.evaluation.steps.measuring import instead as what_instead

    other, strengths = what_instead(walk)
    if not strengths:
        raise UsageError("nothing else is known that could be had: this is the smallest bound that is tried")
    steps = _learning(other, place.folder)
    attacked, tried = (str(place.folder / name) for name in (f"{PUBLIC}/attacked.jsonl", EVALUATION))
    steps["measure"] = attack_command(other, attacked, strengths, tried)

    def shown(found: Any) -> dict[str, Any]:
        place.tried(other.tries)
        return {"tried": found}

    return _begin(place, "instead", steps, walk, try_apart, (walk, place.folder), shown)


def run(state: State) -> answers.Running:
    """How far the run is."""
    return answers.Running.of(run=_run(state.workplace))


def cancel(state: State) -> answers.Running:
    """Stop the run; nothing half-made stays."""
    if state.workplace.run is not None:
        state.workplace.run.cancel()
    return run(state)


def ticket(state: State, asked: requests.Page) -> answers.Ticket:
    """An address at which a page or the release of the finished run can be read once."""
    made = state.workplace.run
    if made is None or not (made.result or {}).get("folder"):
        raise UsageError("nothing was released here yet")
    folder = Path((made.result or {})["folder"])
    if asked.what == "release":
        files = _to_send(folder / "release")
        return answers.Ticket(
            address=state.reports.issue(lambda: _zipped(folder, files), f"{folder.name}.zip")
        )
    page = folder / "signoff.html" if asked.what == "signoff" else folder / "evaluation" / "report.html"
    return answers.Ticket(address=state.reports.issue_page(page))


def walk_of(place: Workplace, asked: requests.Start) -> Walk:
    """The walk with the files that were given and the answers of a request; what is left open is proposed."""
    if asked.texts_key is not None:
        place.check_shown(texts=asked.texts_key, older=asked.older_key)
    texts, older = place.needed("texts"), place.given("older")
    found = texts.found or place.look("texts", text_field=asked.text_field)
    if asked.text_field is not None and (
        "text_field" in found.guessed or asked.text_field != found.text_field
    ):
        found = place.look("texts", text_field=asked.text_field, **texts.form)
    if found.text_field is None or "text_field" in found.guessed:
        raise UsageError("which column holds the texts is not known: choose it in step 1")
    check_form(found)
    check_author_column(found, asked.answers.author_field)
    choices = replace(
        asked.answers,
        public=None if older is None else older.public,
        preserve=asked.answers.preserve or "topic",
        text_field=found.text_field,
    )
    read = None if older is None else place.named(lambda: PublicCorpus.read(choices, found.columns))
    return Walk(texts.path, found, read, choices).trying(place.tries)


def plan_of(place: Workplace, walk: Walk) -> Plan:
    """The plan of a walk, made once; `UsageError` before what is public was learned."""
    if not walk.learned_before:
        raise UsageError("what is public has to be learned first")
    now = () if walk.settings.reference is None else stored_now(walk.settings.reference)
    made: Plan = place.plans.get((str(walk.settings), *now), walk.plan)
    return made


def _given(corpus: Upload | None) -> dict[str, Any] | None:
    if corpus is None:
        return None
    found = None if corpus.found is None else corpus.found.record()
    return {
        "key": corpus.key, "name": corpus.name, "files": len(corpus.names), "size": corpus.size,
        "packaged": corpus.packaged, "found": found, "command": corpus.command,
    }  # fmt: skip


def _question(question: Question) -> answers.Question:
    return answers.Question(name=question.name, words=question.words, options=question.options)


def _excerpt(corpus: Upload, found: Inspection) -> str | None:
    """The beginning of the first text that can be read, to see that it is read well."""
    if found.text_field is None:
        return None
    items = texts_of(corpus.path, found, found.text_field)
    first = next(filter(None, (text.strip() for text in items)), "")
    return first if len(first) <= _EXCERPT else first[:_EXCERPT] + "…"


def _older(older: PublicCorpus) -> answers.Older:
    return answers.Older(
        texts=older.count,
        attacked=len(older.attacked),
        author_field=older.authors,
        topic_field=older.topics,
        authors=len({row["author"] for row in (*older.learned, *older.attacked) if "author" in row}),
        topics=len(older.topic_names),
        topic_names=list(older.topic_names),
        floor=None if older.unnamed else older.floor,
        packaged=older.packaged,
    )


def _vocabulary(walk: Walk) -> answers.Vocabulary | None:
    found = walk.vocabulary()
    if found is None:
        return None
    without = left_out(found.words, found.rare, walk.words.leave_out)
    return answers.Vocabulary(
        size=len(found.words),
        counted_by=found.by,
        at_least=found.at_least,
        rare=list(found.rare),
        leave_out=walk.words.leave_out,
        warning=many_left_out(len(without), len(found.words) - len(without), found.by, found.uses(without)),
    )


def _silent(walk: Walk) -> str | None:
    """Why nothing can be measured; None where it can."""
    return "there are no public texts whose authors are known" if walk.older is None else walk.older.silent


def _missing(walk: Walk, folder: Path) -> dict[Step, list[str]]:
    """The steps that are still to be taken: nothing is learned twice."""
    steps = commands_by_step(walk, folder)
    return {step: command for step, command in steps.items() if step != "learn" or not walk.learned_before}


def _learning(walk: Walk, folder: Path) -> dict[Step, list[str]]:
    """Of these the first alone, where it is among them."""
    steps = _missing(walk, folder)
    return {"learn": steps["learn"]} if "learn" in steps else {}


def _as_named(place: Workplace, walk: Walk) -> Choices:
    """The answers with the curator's names of files."""
    return replace(walk.choices, public=walk.choices.public and place.shown(walk.choices.public))


def _begin(
    place: Workplace,
    kind: str,
    steps: Mapping[Step, Sequence[str]],
    walk: Walk,
    work: Callable[..., Any],
    arguments: Sequence[Any],
    shown: Callable[[Any], dict[str, Any]],
) -> answers.Running:
    stages = [StepProgress(step, _shown(place, command)) for step, command in steps.items()]
    facts = {
        **asdict(_as_named(place, walk)),
        "chosen": walk.choices.reference,
        "reference": walk.reference,
        "strength": walk.strength,
    }
    place.begin(kind, stages, facts, work, arguments, shown)
    return answers.Running.of(run=_run(place))


def _run(place: Workplace) -> dict[str, Any] | None:
    return None if place.run is None else place.run.record()


def _charged(steps: dict[Step, list[str]], state: State) -> dict[Step, list[str]]:
    """The commands with the ledger that is charged, if any."""
    if state.ledger is None:
        return steps
    ledger = ["--ledger", str(state.ledger.path.resolve())]
    return {name: [*step, *(ledger if name in ("release", "sign") else [])] for name, step in steps.items()}


def _shown(place: Workplace, step: Sequence[str]) -> str:
    """A command as it would be typed, with the curator's names of files."""
    return "publius " + shlex.join(place.shown(part) for part in step)


def _start_command(place: Workplace, walk: Walk, asked: requests.Start, output: Path) -> str:
    answers = replace(
        asked.answers,
        **place.needed("texts").form,
        text_field=walk.choices.text_field,
        public=_as_named(place, walk).public,
    )
    said = [place.needed("texts").name]
    for name, value in asdict(answers).items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            said += [option]
        elif value:
            for each in value if isinstance(value, tuple | list) else (value,):
                said += [option, repr(each).removesuffix(".0") if isinstance(each, float) else str(each)]
    return "publius start " + shlex.join([*said, "--yes", "--output", str(output)])


def _made(outcome: ReleaseResult) -> dict[str, Any]:
    manifest = outcome.manifest
    return {
        "folder": None if outcome.folder is None else str(outcome.folder),
        "documents": None if manifest is None else manifest["documents"],
        "skipped": [{"position": position, "reason": reason} for position, reason in outcome.skipped],
        "manifest": manifest,
        **_measured(outcome.measured),
    }


def _measured(measured: Measured | None) -> dict[str, Any]:
    if measured is None:
        return dict.fromkeys(("verdict", "reason", "limit", "measured", "floor", "texts"))
    return {
        "verdict": (measured.verdict or "").partition(":")[0],
        "reason": measured.verdict,
        "limit": ". ".join(filter(None, (measured.room, measured.set_by))) or None,
        "measured": list(measured.findings),
        "floor": measured.floor,
        "texts": measured.texts,
    }


def _to_send(folder: Path) -> list[Path]:
    """The files of a release; `UsageError` where they are too many bytes."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if sum(path.stat().st_size for path in files) > WHOLE_LIMIT:
        raise UsageError(f"the release is too large to be sent by a browser: copy the folder {folder}")
    return files


def _zipped(folder: Path, files: Sequence[Path]) -> BinaryIO:
    """A file without a name, which is gone when it was sent; not in memory, where many may be asked for."""
    with ExitStack() as opened, os_errors("pack", folder):
        packed = opened.enter_context(TemporaryFile())
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
            for path in files:
                archive.write(path, path.relative_to(folder))
        packed.seek(0)
        opened.pop_all()
        return packed
