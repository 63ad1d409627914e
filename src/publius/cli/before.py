"""Messages of ``publius obfuscate`` before anything is drawn: whose ids leave, how the file is read, what is odd."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer

from publius.cli.console import printable, waiting
from publius.cli.log import say, say_here, seen_here
from publius.errors import DocumentError, PolicyError, UsageError
from publius.settings import Preserve

if TYPE_CHECKING:
    from publius.documents.corpus import BadDocument, Corpus
    from publius.releases.plan import Plan
    from publius.releases.preflight import Preflight
    from publius.settings import ReleaseSettings

_SHOWN = 20


def check_input(path: Path, engine: str) -> None:
    """`UsageError` for standard input where the engine's workers cannot read it."""
    if str(path) == "-" and engine != "local":
        raise UsageError(
            f"the engine {engine} cannot read standard input: name a file, or choose --engine local"
        )


def with_what_is_kept(settings: ReleaseSettings, *, ask: bool = False) -> ReleaseSettings:
    """The settings with what is kept of a document, where no --preserve says it.

    An option that only one kind has says it, too: --epsilon means words; --reference what it keeps, topic first; and
    --bound the topic. Otherwise it is asked at a terminal if ``ask``, else `UsageError`: a default would promise
    nothing, or release what nobody chose.
    """
    given: Preserve | None = settings.preserve
    if given is None:
        given = _implied(settings) or (
            _asked() if ask and sys.stdin.isatty() and sys.stderr.isatty() else None
        )
    if given is None:
        raise UsageError(
            "nothing says what to keep: give --preserve topic or meaning, with --reference and --bound (a bound "
            "between any two documents), or --preserve words, with --epsilon (strong for documents that are alike only)"
        )
    return replace(settings, preserve=given)


def _implied(settings: ReleaseSettings) -> Preserve | None:
    if settings.epsilon is not None or "scale" in settings.parameters:
        return "words"
    if settings.reference is not None:
        from publius.vectors.learning.reference import Reference

        kept: Any = Reference.load(settings.reference).keeps[0]
        return kept  # type: ignore[no-any-return]
    return None if settings.bound is None else "topic"


def _asked() -> Preserve:
    choices: tuple[Preserve, ...] = get_args(Preserve)
    while True:
        answer = typer.prompt(f"What to keep: {', '.join(choices)}", err=True)
        if answer in choices:
            return choices[choices.index(answer)]


def check_strength(settings: ReleaseSettings) -> None:
    """`UsageError` where nothing says how strongly to protect, with the ways there are."""
    strengths = (settings.epsilon, settings.bound, settings.parameters.get("scale"))
    if not any(each is not None for each in strengths):
        raise UsageError(
            "nothing says how strongly to protect: let 'publius start FILE' lead the way, give --preserve topic with "
            "--reference and --bound, or --epsilon for words"
        )


def say_first(corpus: Corpus, warnings: Iterable[str], engine: str) -> None:
    """Whose ids are published, how a table is read, and what to warn of: the first lines, on standard error."""
    say(printable(_ids(corpus, engine)), plain=True)
    if (form := _form(corpus)) is not None:
        say(form, plain=True)
    say_unseen(corpus)
    for warning in warnings:
        say(warning)


def say_emptiness(plan: Plan) -> None:
    """Say aloud, on standard error, where what is promised is empty even between near documents."""
    if why := plan.empty:
        say(printable(f"THE PROMISE IS EMPTY: {why}. Nobody will be able to sign for this release"))


def say_unseen(corpus: Corpus) -> None:
    """The hidden rows and other sheets of workbooks: with names of files, which are kept nowhere."""
    from publius.documents.inspection import unseen

    notes, several = [printable(each) for each in unseen(corpus)], len(corpus.paths) > 1
    for note in notes:
        if several:
            say_here(note)
        else:  # it names no file
            say(note, plain=True)
    if notes and several and not seen_here():
        say(
            "some files have hidden rows, which are read, or more sheets, which are not: publius inspect says which"
        )


def _ids(corpus: Corpus, engine: str) -> str:
    from publius.releases.preflight import published_ids

    if corpus.id_field is None:
        order = "a secret random order" if engine == "local" else "the order in which they are read"
        return f"Documents are published under numbers, in {order}, without your ids."
    return f"{published_ids(corpus.id_field)} With --number they get numbers instead."


def _form(corpus: Corpus) -> str | None:
    from publius.documents.readers import SEPARATED

    if corpus.kind not in SEPARATED:
        return None
    return f"Read as {corpus.form}."


def look_first(corpus: Corpus, plan: Plan, *, allow_padding: bool, skip_bad: bool) -> Preflight | None:
    """Show the plan's effect on the first documents; too much padding is refused. See `Preflight`.

    Where a document is to stop the run anyway it is None: its own error will tell.
    """
    from publius.releases.preflight import look

    if not plan.mechanism.reads_texts:
        return None
    found = look(corpus, plan)
    if found.bad and not skip_bad:
        return None
    found.check(allowed=allow_padding)
    return found


@contextmanager
def every_bad_document(corpus: Corpus) -> Iterator[None]:
    """When the run stops at a document that cannot be read, say first which others cannot."""
    try:
        yield
    except DocumentError:
        _list(corpus)
        raise


def _list(corpus: Corpus) -> None:
    from publius.releases.preflight import unusable

    try:
        bad = unusable(corpus)
    except DocumentError:  # the file cannot be read on: its error says where
        return
    if len(bad) > 1:
        say(f"{len(bad):,} documents cannot be used:")
        for each in bad[:_SHOWN]:
            say(f"  {printable(str(each.error()))}", plain=True)
        if len(bad) > _SHOWN:
            say(f"  and {len(bad) - _SHOWN:,} more", plain=True)
    name_files(corpus, bad)


def name_files(corpus: Corpus, bad: Iterable[BadDocument]) -> None:
    """The files that documents which cannot be used are in: a name may say much, so it is kept nowhere."""
    names = {each.position: name for each in bad if (name := corpus.file_name(each)) is not None}
    for position, name in [*names.items()][:_SHOWN]:
        say_here(f"  document {position} is the file {printable(repr(name))}")
    if len(names) > _SHOWN:
        say_here(f"  and {len(names) - _SHOWN:,} more files: see publius inspect")


def ask_about_loss(corpus: Corpus, looked: Preflight, *, accepted: bool) -> bool:
    """Whether so many documents may be left out as cannot be read; else `DocumentError`."""
    from publius.releases.preflight import check_loss, too_many, unusable

    lost, documents = looked.lost
    if accepted or not too_many(lost, documents):
        return accepted
    if looked.documents:  # else there is nothing to release, and its own error says so
        name_files(corpus, unusable(corpus))
        check_loss(lost, documents, accepted=_agreed(lost, documents))
    return True


def _agreed(lost: int, documents: int) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return typer.confirm(f"{lost:,} of {documents:,} documents cannot be read. Release the others", err=True)


def check_own_mechanism(plan: Plan, name: str | None, parameters: Mapping[str, Any]) -> None:
    """The laws of ``publius check-mechanism`` on a class from outside, before it sees a document.

    ``name`` and ``parameters`` are those that it was asked for with.

    `PolicyError` with the laws that it breaks. What passes is not proven, and the promise says so.
    """
    from publius.mechanisms.outside import is_outside

    if plan.experiment is not None or not is_outside(plan.mechanism.implementation):
        return
    from publius.audit.document_laws import check_named

    with waiting("checking the laws of a mechanism on toy vocabularies"):
        verdicts = check_named(str(name), **parameters)
        broken = list(dict.fromkeys(each.law for each in verdicts if not each.passed))
    if broken:
        raise PolicyError(
            f"the mechanism {plan.mechanism.name} breaks what its guarantee needs: {'; '.join(broken)}. Nothing was "
            f"released; publius check-mechanism {name} says where"
        )
