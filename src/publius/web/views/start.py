"""From files of texts to a signed release: the steps of ``publius start``, on the files that were given."""

from __future__ import annotations

import io
import shlex
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from publius.documents.inspection import Inspection
from publius.documents.readers import READERS
from publius.errors import PolicyError, UsageError
from publius.evaluation.signed import measured_for
from publius.evaluation.steps import PUBLIC, Choices, Older, Walk, commands, config_text, texts_of
from publius.evaluation.steps.measuring import Tried, found_in
from publius.evaluation.steps.measuring import instead as what_instead
from publius.evaluation.steps.showing import bound_in_words, examples
from publius.evaluation.steps.walk import CONFIG, EVALUATION
from publius.files import WHOLE_LIMIT, check_new_folder, new_folder, remove_leftovers, write_file
from publius.noise.randomness import entropy
from publius.releases.plan import Plan
from publius.releases.preflight import look as look_at
from publius.releases.signoff import Measured, read_manifest_of
from publius.web import requests
from publius.web import start_answers as answers
from publius.web.run import Run, Stage
from publius.web.state import State
from publius.web.workplace import Given, Workplace

TITLES: Final = {
    "reference": "Learn what is public",
    "obfuscate": "Release your texts",
    "evaluate": "Attack public texts, protected in the same way",
    "signoff": "Write the page to sign",
}
_FAIL: Final = 1
_NO_EVIDENCE: Final = 3
_VERDICTS: Final = (0, _FAIL, _NO_EVIDENCE)
_EXCERPT: Final = 280
_EXAMPLES: Final = 2


class _Failed(Exception):
    """The verdict is FAIL, or NO EVIDENCE where words are kept, so nothing is released."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__()
        self.result = result


def start(state: State) -> answers.Started:
    """What was given, what was found in it, and what is being made of it."""
    place = state.workplace
    return answers.Started.of(
        texts=_given(place.given("texts")),
        older=_given(place.given("older")),
        run=_run(place),
        kinds=sorted(READERS),
        releases=str(state.releases.resolve()),
    )


def look(state: State, asked: requests.Look) -> answers.Looked:
    """What is in the files that were given; read anew where another form is named."""
    place = state.workplace
    form = {"text_field": asked.text_field, "delimiter": asked.delimiter, "encoding": asked.encoding}
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
    output = state.releases / "release-NEW"
    return answers.Plan(
        start=_start_command(place, walk, asked, output),
        commands=[_shown(place, step) for step in walk.commands(output)],
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
        examples=[
            answers.Example.of(**{**asdict(each), "after": list(each.after)})
            for each in examples(walk, made, _EXAMPLES)
        ],
        means=None if walk.keeps_words else bound_in_words(walk.strength, walk.topics),
        warnings=list(look_at(walk.corpus, made).warnings()),
    )


def learn(state: State, asked: requests.Start) -> answers.Running:
    """Begin to learn what is public; nothing of the texts to be released is read."""
    place = state.workplace
    walk = walk_of(place, asked)
    folder = place.folder / f"learned-{entropy(8).hex()}"
    steps = [step for step in _missing(walk, folder) if step[0] == "reference"]

    def work(run: Run) -> dict[str, Any]:
        with new_folder(folder, private=(PUBLIC,)) as made:
            _write_older(walk, made)
            for step in _moved(steps, folder, made):
                run.command(step)
        return {"reference": walk.reference}

    return _begin(place, "learn", steps, walk, work)


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
    check_new_folder(output)
    remove_leftovers(output)
    ledger = [] if state.ledger is None else ["--ledger", str(state.ledger.path.resolve())]
    charged = {"obfuscate", "signoff"}
    steps = [[*step, *(ledger if step[0] in charged else [])] for step in _missing(walk, output)]

    def work(run: Run) -> dict[str, Any]:
        if walk.older is not None:
            walk.older.check_apart(walk.texts())
        with new_folder(output, private=(PUBLIC, CONFIG)) as made:
            _write_older(walk, made)
            for step in _moved(steps, output, made):
                measured = step[0] == "evaluate"
                code = run.command(step, codes=_VERDICTS if measured else (0,), watched=measured)
                alone = walk.keeps_words and not walk.choices.without_evidence
                if (code == _FAIL and not asked.after_fail) or (code == _NO_EVIDENCE and alone):
                    raise _Failed(_failed(walk, made))
            with write_file(made / CONFIG, 0o600) as stream:
                stream.write(config_text(_as_named(place, walk)).encode())
        return _result(output, run)

    def judged(run: Run) -> dict[str, Any]:
        try:
            return work(run)
        except _Failed as failed:
            return failed.result

    return _begin(place, "release", steps, walk, judged)


def instead(state: State, asked: requests.Start) -> answers.Running:
    """Begin to look for what could be had instead, after a FAIL; the texts to be released are not read."""
    place = state.workplace
    walk = walk_of(place, asked)
    if silent := _silent(walk):
        raise PolicyError(f"{silent}, so nothing can be looked for")
    other, strengths = what_instead(walk)
    if not strengths:
        raise UsageError("nothing else is known that could be had: this is the smallest bound that is tried")
    folder = place.folder / f"tried-{entropy(8).hex()}"
    steps = [step for step in _missing(other, folder) if step[0] == "reference"]
    steps.append(other.attack(str(folder / PUBLIC / "attacked.jsonl"), strengths, str(folder / EVALUATION)))

    def work(run: Run) -> dict[str, Any]:
        with new_folder(folder, private=(PUBLIC,)) as made:
            _write_older(other, made)
            for step in _moved(steps, folder, made):
                run.command(
                    step, codes=_VERDICTS if step[0] == "evaluate" else (0,), watched=step[0] == "evaluate"
                )
            found = found_in(other, strengths, made / EVALUATION)
        found.sort(key=lambda each: not each.judged.passed)
        return {"tried": [_tried(each) for each in found]}

    return _begin(place, "instead", steps, walk, work)


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
        data = _zipped(folder / "release")
        return answers.Ticket(address=state.reports.issue(lambda: data, f"{folder.name}.zip"))
    page = folder / "signoff.html" if asked.what == "signoff" else folder / "evaluation" / "report.html"
    return answers.Ticket(address=state.reports.issue_page(page))


def walk_of(place: Workplace, asked: requests.Start) -> Walk:
    """The walk with the files that were given and the answers of a request; what is left open is proposed."""
    texts, older = place.needed("texts"), place.given("older")
    found = texts.found or place.look("texts", text_field=asked.text_field)
    if asked.text_field not in (None, found.text_field):
        found = place.look("texts", text_field=asked.text_field, **texts.form)
    if found.text_field is None:
        raise UsageError("no column of texts was found: choose it")
    choices = replace(
        asked.answers,
        public=None if older is None else older.public,
        preserve=asked.answers.preserve or "topic",
        text_field=found.text_field,
    )
    read = None if older is None else place.named(lambda: Older.read(choices))
    return Walk(texts.path, found, read, choices)


def plan_of(place: Workplace, walk: Walk) -> Plan:
    """The plan of a walk, made once; `UsageError` before what is public was learned."""
    if not walk.learned_before:
        raise UsageError("what is public has to be learned first")
    made: Plan = place.plans.get((str(walk.settings),), walk.plan)
    return made


def _given(corpus: Given | None) -> dict[str, Any] | None:
    if corpus is None:
        return None
    found = None if corpus.found is None else corpus.found.record()
    return {
        "name": corpus.name, "files": len(corpus.names), "size": corpus.size, "packaged": corpus.packaged,
        "found": found,
    }  # fmt: skip


def _excerpt(corpus: Given, found: Inspection) -> str | None:
    """The beginning of the first text that can be read, to see that it is read well."""
    if found.text_field is None:
        return None
    items = texts_of(corpus.path, found, found.text_field)
    first = next(filter(None, (text.strip() for text in items)), "")
    return first if len(first) <= _EXCERPT else first[:_EXCERPT] + "…"


def _older(older: Older) -> answers.Older:
    return answers.Older(
        texts=older.count,
        attacked=len(older.attacked),
        author_field=older.authors,
        topic_field=older.topics,
        authors=len({row["author"] for row in (*older.learned, *older.attacked) if "author" in row}),
        topics=len(older.topic_names),
        floor=None if older.silent else older.floor,
        packaged=older.packaged,
    )


def _vocabulary(walk: Walk) -> answers.Vocabulary | None:
    found = walk.vocabulary()
    if found is None:
        return None
    rare = [answers.RareWord(**asdict(each)) for each in found.rare]
    return answers.Vocabulary(
        size=found.size,
        counted_by=found.by,
        at_least=found.at_least,
        rare=rare,
        leave_out=walk.words.leave_out,
    )


def _silent(walk: Walk) -> str | None:
    """Why nothing can be measured; None where it can."""
    return "there are no public texts whose authors are known" if walk.older is None else walk.older.silent


def _missing(walk: Walk, folder: Path) -> list[list[str]]:
    """The commands that are still to be run: nothing is learned twice."""
    return commands(walk.file, walk.found, folder, walk.choices, walk.older)


def _write_older(walk: Walk, folder: Path) -> None:
    if walk.older is not None:
        walk.older.write(folder / PUBLIC)


def _as_named(place: Workplace, walk: Walk) -> Choices:
    """The answers with the curator's names of files."""
    return replace(walk.choices, public=walk.choices.public and place.shown(walk.choices.public))


def _moved(steps: Sequence[Sequence[str]], shown: Path, real: Path) -> list[list[str]]:
    """The commands for the folder in which everything is made before it gets its place."""
    return [[part.replace(str(shown), str(real)) for part in step] for step in steps]


def _begin(
    place: Workplace, kind: str, steps: Sequence[Sequence[str]], walk: Walk, work: Any
) -> answers.Running:
    rows = {"obfuscate": walk.found.rows}
    stages = [
        Stage(TITLES.get(step[0], step[0]), _shown(place, step), rows.get(step[0], 0)) for step in steps
    ]
    facts = {
        **asdict(_as_named(place, walk)),
        "chosen": walk.choices.reference,
        "reference": walk.reference,
        "strength": walk.strength,
    }
    place.begin(kind, stages, facts, work)
    return answers.Running.of(run=_run(place))


def _run(place: Workplace) -> dict[str, Any] | None:
    return None if place.run is None else place.run.record()


def _shown(place: Workplace, step: Sequence[str]) -> str:
    """A command as it would be typed, with the curator's names of files."""
    return "publius " + shlex.join(place.shown(part) for part in step)


def _start_command(place: Workplace, walk: Walk, asked: requests.Start, output: Path) -> str:
    answers = replace(asked.answers, **place.needed("texts").form, public=_as_named(place, walk).public)
    said = [place.needed("texts").name]
    for name, value in asdict(answers).items():
        if value:
            option = f"--{name.replace('_', '-')}"
            said += (
                [option]
                if value is True
                else [option, f"{value:g}" if isinstance(value, float) else str(value)]
            )
    return "publius start " + shlex.join([*said, "--yes", "--output", str(output)])


def _result(output: Path, run: Run) -> dict[str, Any]:
    manifest = read_manifest_of(output / "release")
    evaluation = output / EVALUATION
    measured = measured_for(manifest, evaluation) if evaluation.is_dir() else None
    said = next(stage.said for stage in run.stages if "documents" in stage.said)
    skipped = [{"position": bad["position"], "reason": bad["reason"]} for bad in said.get("skipped", ())]
    made = {
        "folder": str(output),
        "documents": manifest["documents"],
        "skipped": skipped,
        "manifest": manifest,
    }
    return {**made, **_measured(measured)}


def _failed(walk: Walk, folder: Path) -> dict[str, Any]:
    """What was measured, where nothing is released."""
    measured = measured_for(walk.plan().manifest(0), folder / EVALUATION)
    return {"folder": None, "documents": None, "skipped": [], "manifest": None, **_measured(measured)}


def _measured(measured: Measured | None) -> dict[str, Any]:
    if measured is None:
        return dict.fromkeys(("verdict", "reason", "measured", "floor", "texts"))
    return {
        "verdict": (measured.verdict or "").partition(":")[0],
        "reason": measured.verdict,
        "measured": [asdict(each) for each in measured.findings],
        "floor": measured.floor,
        "texts": measured.texts,
    }


def _tried(found: Tried) -> dict[str, Any]:
    walk = found.walk
    return {
        "preserve": walk.choices.preserve,
        "strength": walk.strength,
        "verdict": found.judged.verdict,
        "sentence": found.sentence,
    }


def _zipped(folder: Path) -> bytes:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if sum(path.stat().st_size for path in files) > WHOLE_LIMIT:
        raise UsageError(f"the release is too large to be sent by a browser: copy the folder {folder}")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            archive.write(path, path.relative_to(folder.parent))
    return packed.getvalue()
