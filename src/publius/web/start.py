"""Start as a form: the questions of ``publius start`` over the same answers, and its steps in a thread."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from publius.errors import PubliusError, UsageError
from publius.files.writing import check_new_folder
from publius.settings import Reading
from publius.start import steps
from publius.start.answers import Answers, Question, open_questions
from publius.web.state import Job, State

FIRST: Final = {"file": "", "public": "", "output": "release"}
_KINDS: Final = (".jsonl", ".csv", ".tsv", ".parquet", ".xlsx", ".txt", ".json")
_LISTED: Final = 200


def form(state: State, asked: Mapping[str, str]) -> dict[str, Any]:
    """The files there are, the questions with what was answered, and the job that runs or ran."""
    facts: dict[str, Any] = {
        "files": _files(state.folder), "questions": [], "ready": False, "job": state.job, "error": None,
        "progress": state.job.watch.record() if state.job else None, "about": steps.ABOUT,
    }  # fmt: skip
    if state.job is None and asked["file"].strip():
        try:
            _, facts["questions"], open_ones = asked_of(state, asked)
            facts["ready"] = not open_ones
        except PubliusError as error:
            facts["error"] = str(error)
    return facts


Asked = tuple[Question, str, str | None]  # what was typed, and what is wrong with that


def asked_of(state: State, asked: Mapping[str, str]) -> tuple[Answers, list[Asked], list[Question]]:
    """The answers so far, each question with what was typed, and those that still need an answer."""
    public = asked.get("public", "").strip()
    answers = Answers(
        file=str(_path(state, asked["file"].strip())), public=str(_path(state, public)) if public else None
    )
    found: list[Asked] = []
    needed: list[Question] = []
    for question in open_questions(answers, *steps.look(answers)):
        default = question.default or ""
        typed = asked.get(f"q-{question.name}", default).strip()
        if question.choices and typed not in question.choices:
            typed = default  # what was chosen before for another file
        wrong = None
        if typed:
            try:
                setattr(answers, question.name, question.parse(typed))
            except UsageError as error:
                wrong = str(error)
        if wrong or (not typed and question.default != ""):
            needed.append(question)
        found.append((question, typed, wrong))
    return answers, found, needed


def begin(state: State, asked: Mapping[str, str]) -> None:
    """Run the steps of ``publius start`` in a thread; `UsageError` where a question is open or a job runs."""
    if state.job is not None and state.job.is_alive():
        raise UsageError("a release is under way: wait for it, or cancel it")
    answers, _, needed = asked_of(state, asked)
    if needed:
        raise UsageError(f"answer first: {needed[0].text}")
    for name in steps.ABOUT:
        setattr(answers, name, asked.get(f"q-{name}", "").strip() or None)
    output = _path(state, asked.get("output", "").strip() or FIRST["output"])
    check_new_folder(output)
    state.job = Job(lambda said: steps.run(answers, output, said, Reading()))


def _path(state: State, typed: str) -> Path:
    return state.folder / Path(typed).expanduser()


def _files(folder: Path) -> list[str]:
    """Files of texts in the folder and in those below it, to choose from."""
    found = [*folder.glob("*.*"), *folder.glob("[!.]*/*.*")]
    names = (each.relative_to(folder).as_posix() for each in found if each.suffix in _KINDS)
    return sorted(names, key=lambda name: (name.count("/"), name))[:_LISTED]
