"""Start as a form: the questions of ``publius start`` over the same answers, and its steps in a thread."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from publius.errors import PubliusError, UsageError
from publius.files.writing import check_new_folder
from publius.settings import Reading
from publius.start import steps
from publius.start.answers import Answers
from publius.start.questions import Question, open_questions
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
            if open_ones:
                facts["next"] = open_ones[0].name
        except PubliusError as error:
            facts["error"] = str(error)
    return facts


Asked = tuple[Question, str, str | None]
"""A question, what was typed, and what is wrong with that."""


def asked_of(state: State, asked: Mapping[str, str]) -> tuple[Answers, list[Asked], list[Question]]:
    """The answers so far, each question with what was typed, and those that still need an answer."""
    public = asked.get("public", "").strip()
    answers = Answers(
        file=str(_path(state, asked["file"].strip())), public=str(_path(state, public)) if public else None
    )
    columns, likely = steps.look(answers)
    skipped: list[str] = []
    found: list[Asked] = []
    needed: list[Question] = []
    while (question := next(open_questions(answers, columns, skipped, likely), None)) is not None:
        default = question.default or ""
        typed = asked.get(f"q-{question.name}", default).strip()
        if question.choices and typed not in question.choices:
            typed = default  # what was chosen before for another file
        wrong, value = None, None
        if typed:
            try:
                value = question.parse(typed)
            except UsageError as error:
                wrong = str(error)
        found.append((question, typed, wrong))
        if value is None:
            skipped.append(question.name)
            if wrong or question.default is None:
                needed.append(question)
        else:
            setattr(answers, question.name, value)
    return answers, found, needed


def begin(state: State, asked: Mapping[str, str]) -> None:
    """Run the steps of ``publius start`` in a thread; `UsageError` where a question is open or a job runs."""
    if state.job is not None and state.job.running:
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
