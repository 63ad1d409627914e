"""From files of texts to a signed release: the steps of ``publius start``, on the files that were given."""

from __future__ import annotations

import io
import shlex
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, final

from publius.documents.corpus import BadDocument, Corpus, Document, open_corpus
from publius.documents.inspection import Inspection
from publius.documents.readers import READERS
from publius.errors import PolicyError, UsageError
from publius.evaluation.signed import measured_for
from publius.evaluation.steps import PUBLIC, Choices, Older, commands, config_text, texts_of
from publius.files import WHOLE_LIMIT, check_new_folder, new_folder, write_file
from publius.noise.randomness import entropy
from publius.releases.signoff import read_manifest_of
from publius.web import requests
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
_EXCERPT: Final = 280


@final
@dataclass(frozen=True, slots=True)
class _Ready:
    """Everything that the commands need."""

    texts: Given
    found: Inspection
    choices: Choices
    older: Older

    def steps(self, folder: Path) -> list[list[str]]:
        """The commands that make everything below ``folder``."""
        return commands(self.texts.path, self.found, folder, self.choices, self.older)

    @property
    def reference(self) -> str:
        """What is learned, or was, under its name."""
        release = next(step for step in self.steps(Path()) if step[0] == "obfuscate")
        return release[release.index("--reference") + 1]


def start(state: State) -> dict[str, Any]:
    """What was given, what was found in it, and what is being made of it."""
    place = state.workplace
    roles = {role: _given(place.given(role)) for role in ("texts", "older")}
    return {**roles, "run": _run(place), "kinds": sorted(READERS), "releases": str(state.releases.resolve())}


def look(state: State, asked: requests.Look) -> dict[str, Any]:
    """What is in the files that were given; read anew where another form is named."""
    place = state.workplace
    form = {"text_field": asked.text_field, "delimiter": asked.delimiter, "encoding": asked.encoding}
    found = place.look(asked.role, **form)
    corpus = place.needed(asked.role)
    return {**(_given(corpus) or {}), "excerpt": place.named(lambda: _excerpt(corpus, found))}


def forget(state: State, asked: requests.Given) -> dict[str, Any]:
    """Remove the files of a role from this machine's temporary folder."""
    state.workplace.forget(asked.role)
    return start(state)


def plan(state: State, asked: requests.Start) -> dict[str, Any]:
    """What would be done with these answers: the commands, what the public texts are, what evidence there can be."""
    ready = _ready(state.workplace, asked)
    older = ready.older
    output = state.releases / "release-NEW"
    return {
        "start": _start_command(state.workplace, asked, output),
        "commands": [_shown(state.workplace, step) for step in ready.steps(output)],
        "reference": ready.reference,
        "learned": any(entry["name"] == ready.reference for entry in state.references.listing()),
        "older": {
            "texts": len(older.learned) + len(older.attacked),
            "attacked": len(older.attacked),
            "author_field": older.authors,
            "topic_field": older.topics,
            "authors": _kinds(older, "author"),
            "topics": _kinds(older, "topic"),
            "floor": older.floor if older.authors else None,
        },
    }


def learn(state: State, asked: requests.Start) -> dict[str, Any]:
    """Begin to learn what is public; nothing of the texts to be released is read."""
    place = state.workplace
    ready = _ready(place, asked)
    folder = place.folder / f"learned-{entropy(8).hex()}"
    steps = [step for step in ready.steps(folder) if step[0] == "reference"]

    def work(run: Run) -> dict[str, Any]:
        with new_folder(folder, private=(PUBLIC,)) as made:
            ready.older.write(made / PUBLIC)
            for step in _moved(steps, folder, made):
                run.command(step)
        return {"reference": ready.reference}

    return _begin(place, "learn", steps, ready, work)


def release(state: State, asked: requests.Start) -> dict[str, Any]:
    """Begin to release, to measure and to write the page; a folder appears when all of it is done."""
    place = state.workplace
    ready = _ready(place, asked)
    if ready.older.authors is None and not ready.choices.without_evidence:
        raise PolicyError(
            "the public texts have no column of authors, so there will be no evidence that authors are hidden: name "
            "the column, or say that you go on without evidence. Nothing was released"
        )
    output = (state.releases / f"release-{entropy(4).hex()}").resolve()
    check_new_folder(output)
    ledger = [] if state.ledger is None else ["--ledger", str(state.ledger.path)]
    charged = {"obfuscate", "signoff"}
    steps = [[*step, *(ledger if step[0] in charged else [])] for step in ready.steps(output)]

    def work(run: Run) -> dict[str, Any]:
        place.named(lambda: _check_apart(ready))
        with new_folder(output, private=(PUBLIC,)) as made:
            ready.older.write(made / PUBLIC)
            for step in _moved(steps, output, made):
                measured = step[0] == "evaluate"
                run.command(step, codes=(0, _FAIL) if measured else (0,), watched=measured)
            with write_file(made / "publius.toml") as stream:
                named = replace(ready.choices, public=place.needed("older").name)
                stream.write(config_text(named).encode())
        return _result(output, run)

    return _begin(place, "release", steps, ready, work)


def run(state: State) -> dict[str, Any]:
    """How far the run is."""
    return {"run": _run(state.workplace)}


def cancel(state: State) -> dict[str, Any]:
    """Stop the run; nothing half-made stays."""
    if state.workplace.run is not None:
        state.workplace.run.cancel()
    return run(state)


def text(state: State, asked: requests.GivenText) -> dict[str, Any]:
    """One text of the files that were given: for the curator's eyes."""
    corpus = state.workplace.needed(asked.role)
    found = corpus.found or state.workplace.look(asked.role)
    item = next(islice(opened(corpus, found), asked.number - 1, None), None)
    if item is None:
        raise UsageError("there is no text of this number")
    if isinstance(item, BadDocument):
        raise item.error()
    return {"number": asked.number, "rows": found.rows, "text": item.text}


def ticket(state: State, asked: requests.Page) -> dict[str, Any]:
    """An address at which a page or the release of the finished run can be read once."""
    made = state.workplace.run
    if made is None or made.result is None or "folder" not in made.result:
        raise UsageError("nothing was released here yet")
    folder = Path(made.result["folder"])
    if asked.what == "release":
        data = _zipped(folder / "release")
        return {"address": state.reports.issue(lambda: data, f"{folder.name}.zip")}
    page = folder / "signoff.html" if asked.what == "signoff" else folder / "evaluation" / "report.html"
    return {"address": state.reports.issue_page(page)}


def opened(corpus: Given, found: Inspection) -> Corpus:
    """The texts that were given, numbered, as they were found to be written."""
    return open_corpus(
        corpus.path, number=True, text_field=found.text_field or "text", delimiter=found.delimiter,
        encoding=found.encoding,
    )  # fmt: skip


def _given(corpus: Given | None) -> dict[str, Any] | None:
    if corpus is None:
        return None
    found = None if corpus.found is None else corpus.found.record()
    return {"name": corpus.name, "files": len(corpus.names), "size": corpus.size, "found": found}


def _excerpt(corpus: Given, found: Inspection) -> str | None:
    """The beginning of the first text that can be read, to see that it is read well."""
    if found.text_field is None:
        return None
    items = (item.text.strip() for item in opened(corpus, found) if isinstance(item, Document))
    first = next(filter(None, items), "")
    return first if len(first) <= _EXCERPT else first[:_EXCERPT] + "…"


def _ready(place: Workplace, asked: requests.Start) -> _Ready:
    texts, older = place.needed("texts"), place.needed("older")
    found = texts.found or place.look("texts", text_field=asked.text_field)
    chosen = asked.text_field or found.text_field
    if chosen is None:
        raise UsageError("no column of texts was found: choose it")
    if chosen != found.text_field:
        found = place.look("texts", text_field=chosen, delimiter=found.delimiter, encoding=found.encoding)
    given = asked.answers
    choices = replace(
        given,
        public=str(older.path),
        text_field=chosen,
        preserve=given.preserve or "topic",
        bound=given.bound or 7.0,
    )
    return _Ready(texts, found, choices, place.named(lambda: Older.read(choices)))


def _check_apart(ready: _Ready) -> None:
    ready.older.check_apart(texts_of(ready.texts.path, ready.found, ready.choices.text_field))


def _kinds(older: Older, label: str) -> int:
    return len(Counter(row[label] for row in (*older.learned, *older.attacked) if label in row))


def _moved(steps: Sequence[Sequence[str]], shown: Path, real: Path) -> list[list[str]]:
    """The commands for the folder in which everything is made before it gets its place."""
    return [[part.replace(str(shown), str(real)) for part in step] for step in steps]


def _begin(
    place: Workplace, kind: str, steps: Sequence[Sequence[str]], ready: _Ready, work: Any
) -> dict[str, Any]:
    stages = [Stage(TITLES.get(step[0], step[0]), _shown(place, step)) for step in steps]
    facts = {**asdict(ready.choices), "public": place.needed("older").name, "reference": ready.reference}
    place.begin(kind, stages, facts, work)
    return {"run": _run(place)}


def _run(place: Workplace) -> dict[str, Any] | None:
    return None if place.run is None else place.run.record()


def _shown(place: Workplace, step: Sequence[str]) -> str:
    """A command as it would be typed, with the curator's names of files."""
    return "publius " + shlex.join(place.shown(part) for part in step)


def _start_command(place: Workplace, asked: requests.Start, output: Path) -> str:
    said = [place.needed("texts").name, "--public", place.needed("older").name]
    for name, value in asdict(asked.answers).items():
        if value:
            option = f"--{name.replace('_', '-')}"
            said += (
                [option] if value is True else [option, f"{value:g}" if isinstance(value, float) else value]
            )
    return "publius start " + shlex.join([*said, "--yes", "--output", str(output)])


def _result(output: Path, run: Run) -> dict[str, Any]:
    manifest = read_manifest_of(output / "release")
    evaluation = output / "evaluation"
    measured = measured_for(manifest, evaluation) if evaluation.is_dir() else None
    said = next(stage.said for stage in run.stages if "documents" in stage.said)
    return {
        "folder": str(output),
        "verdict": None if measured is None else (measured.verdict or "").partition(":")[0],
        "reason": None if measured is None else measured.verdict,
        "measured": None if measured is None else [asdict(each) for each in measured.findings],
        "floor": None if measured is None else measured.floor,
        "texts": None if measured is None else measured.texts,
        "documents": manifest["documents"],
        "skipped": [
            {"position": bad["position"], "reason": bad["reason"]} for bad in said.get("skipped", ())
        ],
        "manifest": manifest,
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
