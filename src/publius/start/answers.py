"""The answers of ``start``, one record for the terminal, the page in the browser and a later repetition; its questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal, final

import msgspec

from publius.errors import DataError, UsageError

FILE: Final = "answers.json"
_AUTHORS: Final = ("author", "author_id", "ResponseId", "respondent")  # columns that mean the author in any file
_PERHAPS: Final = ("Respondent ID", "requester_id", "user_id", "user", "username", "sender", "from", "email")
"""Those that a person must confirm."""
_EPSILONS: Final = {"summary": 1.0, "labels": 5.0, "words": 10.0}
Kind = Literal["summary", "labels", "words"]


@dataclass(kw_only=True)
class Given:
    """What a curator says, as options or asked for; None where nothing was said."""

    public: str | None = None
    """Public texts of the same kind: labels or authors."""
    release: Kind | None = None
    """What readers need: summary, labels or words."""
    author_field: str | None = None
    """Column that names the author."""
    by: str | None = None
    """Groups of a summary; several with ; between."""
    labels: str | None = None
    """Names of labels, separated by commas."""
    label_field: str | None = None
    """Column of labels in the public texts."""
    epsilon: float | None = None
    """Default: 1 an author, 5 a label, 10 for words."""
    length: int | None = None
    """Words of a bag. Default: 40."""
    purpose: str | None = None
    """For the page: what the release is for."""
    recipient: str | None = None
    """For the page: who gets it."""
    contact: str | None = None
    """For the page: whom to ask."""
    review: str | None = None
    """For the page: when to look again, YYYY-MM-DD."""


@dataclass(kw_only=True)
class Answers(Given):
    """All answers, with the file of texts and their column."""

    file: str
    text_field: str | None = None

    def save(self, folder: Path) -> None:
        """Write them for their owner alone."""
        from publius.files.writing import write_file

        said = {name: value for name, value in asdict(self).items() if value is not None}
        with write_file(folder / FILE) as file:
            file.write(msgspec.json.format(msgspec.json.encode(said), indent=2) + b"\n")

    @classmethod
    def load(cls, path: Path) -> Answers:
        """Read what `save` wrote; `DataError` for anything else."""
        try:
            found = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
            if unknown := {*found} - {each.name for each in fields(cls)}:
                raise msgspec.ValidationError(f"{min(unknown)!r:.40} is none of them")
            return msgspec.convert(found, cls)
        except msgspec.MsgspecError as error:
            raise DataError(f"{path.name} holds no answers of publius start: {error}") from None


@final
@dataclass(frozen=True)
class Question:
    """One question, by the name of the answer that it fills."""

    name: str
    text: str
    default: str | None = None  # the proposal; without one it must be typed
    choices: tuple[str, ...] = ()
    help: str = ""
    likely: str | None = None  # a person must confirm it: nothing takes it unasked

    def parse(self, typed: str) -> Any:
        """The value of what was typed; `UsageError` with the choices or the form for anything else."""
        value = typed.strip()
        if self.choices and value not in self.choices:
            raise UsageError(f"answer one of {', '.join(self.choices)}, not {value!r:.40}")
        kind = {"epsilon": float, "length": int}.get(self.name)
        if kind is None:
            return value or None
        try:
            number = kind(value)
        except ValueError:
            raise UsageError(f"{value!r:.40} is no number") from None
        if not number > 0:
            raise UsageError("answer a number above 0")
        return number


def open_questions(answers: Answers, columns: Sequence[str], likely: str | None = None) -> Iterator[Question]:
    """The questions that are still open; what is answered meanwhile decides which follow. ``likely`` may hold the texts."""
    return (each for each in _every(answers, tuple(columns), likely) if getattr(answers, each.name) is None)


def _every(answers: Answers, columns: tuple[str, ...], likely: str | None) -> Iterator[Question]:
    yield Question(
        "release", "What do readers need: the summary of the collection, labels for each document, or words?",
        "summary", ("summary", "labels", "words"),
        "summary: counts, each author protected; labels: one noisy label a document; words: noisy bags, which do not "
        "hide a text from somebody who holds it",
    )  # fmt: skip
    if columns and "text" not in columns and len(columns) > 1:
        yield Question("text_field", "Which column holds the texts?", None, columns, likely=likely)
    if answers.release == "summary":
        yield Question(
            "author_field", "Which column names the author?", _first(_AUTHORS, columns), columns,
            likely=_first(_PERHAPS, columns),
        )  # fmt: skip
        yield Question(
            "by", "Groups to compare, typed as FIELD=VALUE,VALUE (empty: none)", "",
            help="the values are published, so they are typed and never read from the file",
        )  # fmt: skip
    if answers.release == "labels":
        if answers.public is not None:
            yield Question("label_field", "Which column of the public texts holds their labels?", "label")
        else:
            yield Question(
                "labels", "Labels, separated by commas", None,
                help="public names, in any of 16 languages, such as housing,transport,health care",
            )  # fmt: skip
    if answers.release is not None:
        yield Question("epsilon", "How strongly: epsilon (smaller hides more)", f"{_EPSILONS[answers.release]:g}")
    if answers.release == "words":
        yield Question("length", "Words of each bag", "40")


def _first(names: Sequence[str], columns: Sequence[str]) -> str | None:
    return next((name for name in names if name in columns), None)


def filled(
    answers: Answers, columns: Sequence[str], ask: Callable[[Question], str] | None, likely: str | None = None
) -> Answers:
    """``answers`` with every question answered, by ``ask`` or, without it, by the proposals; `UsageError` where none is."""
    for question in open_questions(answers, columns, likely):
        if ask is not None:
            typed = ask(question)
        elif question.default is not None:
            typed = question.default
        else:
            flag = "--" + question.name.replace("_", "-")
            found = f" Columns: {', '.join(columns)}." if question.choices == tuple(columns) and columns else ""
            such = f", such as {question.likely}" if question.likely else ""
            raise UsageError(f"{question.text.rstrip('?')}: give {flag}{such}.{found}")
        setattr(answers, question.name, question.parse(typed))
    return answers
