"""``publius start``: a guided path from a file of texts to a release and the pages to sign."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from publius.cli import console
from publius.cli.parsing import AsRead, Documents, Folder, Help, Json
from publius.errors import UsageError
from publius.settings import Reading
from publius.start.answers import Answers, Given, Question, filled

_DEMOS = {
    "summary": "Answers of 2,000 authors to 'What should the town mend first?', made up by this program.",
    "labels": "Passages of old books; two thirds of them stand for public texts.",
    "words": "Passages of old books; two thirds of them stand for public texts.",
}


def start(
    file: Documents | None = None,
    *,
    output: Annotated[Folder, Help("New folder for release, pages and answers.")],
    answers: Annotated[Path | None, Help("Answers of an earlier run (answers.json).")] = None,
    demo: Annotated[bool, Help("Use packaged texts, or answers that are made up.")] = False,
    yes: Annotated[bool, Help("Take every proposal; what has none must be given.")] = False,
    json: Json = False,
    asked: Annotated[Given, Parameter(name="*")] = Given(),
    reading: AsRead = Reading(),
) -> None:
    """A guided path: look, choose, release, page.

    What is not given is asked at a terminal. It recommends a summary first.
    """
    from publius.files.writing import check_new_folder, make_parents
    from publius.start import steps
    from publius.start.samples import demo_texts

    target = check_new_folder(output)
    say = console.note if json else console.say
    given: dict[str, Any] = {**vars(asked), "text_field": reading.text_field}
    before: dict[str, Any] = {} if answers is None else vars(Answers.load(answers))
    if demo:
        kind = asked.release or "summary"
        say(_DEMOS[kind])
        file, before = None, before | demo_texts(kind, target)
        target, yes = target / "result", True
    given = {name: before.get(name) if value is None else value for name, value in given.items()}
    file = file or before.get("file")
    if file is None:
        raise UsageError("which texts? publius start FILE --output DIR, or publius start --demo --output DIR")
    known = Answers(file=file, **given)
    columns, likely = steps.look(known, reading)
    complete = filled(known, columns, None if yes or not sys.stdin.isatty() else _ask, likely)
    make_parents(target.parent)
    console.answer(console.watched(steps.run, complete, target, say, reading), json=json)


def _ask(question: Question) -> str:
    """One answer from the terminal; asked again while it is none."""
    if question.help:
        console.note(question.help)
    taken = question.default if question.default is not None else question.likely
    proposal = f" [{taken}]" if taken else ""
    choices = f" ({', '.join(question.choices)})" if question.choices else ""
    while True:
        sys.stderr.write(console.printable(f"{question.text}{choices}{proposal} "))
        sys.stderr.flush()
        typed = sys.stdin.readline()
        if not typed:
            raise UsageError("no answer: give the options, or --yes")
        value = typed.strip() or taken
        try:
            if value is None:
                raise UsageError(f"name one{' of these columns' if choices else ''}: nothing is proposed here")
            question.parse(value)
        except UsageError as error:
            console.note(str(error))
            choices = ""
            continue
        return value
