"""Step 1: what is in the file, which public texts there are, and what is to be kept."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from publius.cli.console import printable, waiting
from publius.cli.start.asking import Asking
from publius.errors import DataError, PolicyError, UsageError, how_many
from publius.evaluation.steps.questions import (
    ACCEPT_LOSS,
    AUTHOR_FIELD,
    ENCODING,
    KEEP,
    NONE,
    OWN_AUTHOR,
    OWN_TOPIC,
    PRESERVE,
    PUBLIC,
    QUOTES,
    TEXT_FIELD,
    TOPIC_FIELD,
    WITHOUT_EVIDENCE,
    Question,
    columns_in,
    with_columns,
)
from publius.settings import InputSettings, Quotes

if TYPE_CHECKING:
    from publius.documents.inspection import Inspection
    from publius.evaluation.steps.answers import Choices
    from publius.evaluation.steps.older import PublicCorpus


def texts_in(file: Path, choices: Choices, ask: Asking) -> tuple[Inspection, Choices]:
    """The file with its column of texts, which is asked for where it was not found or is none."""
    from publius.documents.table_form import checked_encoding
    from publius.evaluation.steps.looking import looked_at, unsaid

    fault: DataError | None = None
    with waiting("reading the file"):
        try:
            found = looked_at(file, choices)
        except DataError as error:
            if ask.yes or choices.text_field is None:
                raise
            fault, found = error, looked_at(file, replace(choices, text_field=None))
    while fault is not None or found.text_field is None or "text_field" in found.guessed:
        if fault is not None:
            typer.echo(f"   {printable(str(fault))}.")
        form = "" if found.delimiter is None else f" (read with {found.delimiter!r} between columns)"
        none = (
            f"no column of texts was found among {how_many(len(found.columns), 'column')}{form}, which publius inspect "
            "shows: name it with --text-field, or check --delimiter and --encoding. Nothing was released"
        )
        if ask.yes:
            raise UsageError(unsaid(found).get("text_field", none)).among(found.columns)
        named = ask(replace(with_columns(TEXT_FIELD, found.columns), proposed=found.text_field))
        try:
            found, fault = looked_at(file, replace(choices, text_field=named)), None
        except DataError as error:
            fault = error
    choices = replace(choices, text_field=found.text_field)
    if "encoding" in found.guessed:
        said = ask(_proposed(ENCODING, found.encoding, unsaid(found)["encoding"], ask))
        choices = replace(choices, encoding=checked_encoding(said))
        found = looked_at(file, choices)
    if "quotes" in found.guessed:
        said = ask(_proposed(QUOTES, found.quotes, unsaid(found)["quotes"], ask))
        choices = replace(choices, quotes=_quotes(said))
        found = looked_at(file, choices)
    return found, choices


def _quotes(said: str) -> Quotes:
    return "letters" if said == "letters" else "fields"


def _proposed(question: Question, proposed: str | None, otherwise: str, ask: Asking) -> Question:
    """The question with what the texts propose, where somebody is asked; where nobody is it has to be said."""
    return replace(question, proposed=None if ask.yes else proposed, otherwise=otherwise)


def show_found(found: Inspection) -> None:
    """What was found in the file."""
    from publius.documents.table_form import TableForm

    if found.delimiter is not None and found.encoding is not None:
        typer.echo(f"   Read as {TableForm(found.delimiter, found.encoding, found.quotes)}.")
    median = f"; half of them have {found.words['median']:,.0f} words or more" if found.words else ""
    typer.echo(
        f"   {how_many(found.rows, 'row')} with texts in the column {printable(repr(found.text_field))}{median}."
    )
    for problem in found.problems:
        if not problem.startswith("no column 'id'"):  # documents are numbered here
            typer.echo(f"   {printable(problem)}")


def accept_losses(found: Inspection, choices: Choices, ask: Asking) -> Choices:
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


def own_columns(found: Inspection, choices: Choices, ask: Asking) -> Choices:
    """The answers with the columns of the file that are left: who wrote the texts, what they are about, what leaves."""
    from publius.evaluation.steps.older import check_author_column, maybe_author, own_authors, own_topics

    if ask.yes:
        check_author_column(found, choices.author_field)
    author, maybe = own_authors(found, choices.author_field), maybe_author(found)
    if author is not None:
        typer.echo(f"   Who wrote them: the column {printable(repr(author))}.")
    elif ask.yes and maybe is not None:
        typer.echo(
            f"   The column {printable(repr(maybe))} may say who wrote them. It is not looked at unless --author-field "
            "names it."
        )
    columns = [name for name in found.columns if name not in (found.text_field, InputSettings.id_field)]
    if ask.yes or not columns:
        return choices
    if author is None and choices.author_field is None:
        named = ask(replace(with_columns(OWN_AUTHOR, columns), proposed=maybe or NONE))
        author = None if named == NONE else named
        choices = replace(choices, author_field=author)
    columns = [name for name in columns if name != author]
    topic = own_topics(found, choices.topic_field)
    if columns and topic is None and choices.topic_field is None:
        named = ask(with_columns(OWN_TOPIC, columns))
        topic = None if named == NONE else named
        choices = replace(choices, topic_field=topic)
    columns = [name for name in columns if name != topic]
    while columns and not choices.keep:
        try:
            return replace(choices, keep=columns_in(ask(with_columns(KEEP, columns)), columns))
        except UsageError as error:
            typer.echo(f"   {printable(str(error))}.")
    return choices


def public_texts(choices: Choices, ask: Asking, own: Sequence[str]) -> tuple[Choices, PublicCorpus | None]:
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
    if older.topic_names and not older.packaged:
        typer.echo(f"   The names of their topics become public: {printable(', '.join(older.topic_names))}.")
    return choices, older


def _columns(choices: Choices, ask: Asking, own: Sequence[str]) -> Choices:
    """The answers with the columns of authors and topics, asked for where they are needed and not there."""
    from publius.evaluation.steps.older import public_columns

    with waiting("reading the public texts"):
        names, usual, maybe = public_columns(choices)
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
        answer = ask(replace(with_columns(question, names), proposed=maybe[question.name] or NONE))
        column: dict[str, Any] = {f"public_{question.name}": None if answer == NONE else answer}
        if named is not None and getattr(choices, question.name) == named:
            column[question.name] = None
        choices = replace(choices, **column)
    return choices


def _of_kind(older: PublicCorpus) -> str:
    topics = f", on {len(older.topic_names):,} topics" if older.topic_names else ", without topics"
    if not older.packaged:
        who = (
            "" if older.authors is None else f"; who wrote them: the column {printable(repr(older.authors))}"
        )
        return f"{topics}{who}."
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


def what_to_keep(choices: Choices, older: PublicCorpus | None, ask: Asking) -> Choices:
    """The answers with what is to be kept, as far as the public texts can tell it."""
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
