"""A look at the file to be released: whether it holds texts, and is written as the answers say."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from publius.errors import DataError, UsageError, how_many
from publius.evaluation.steps.answers import Choices

if TYPE_CHECKING:
    from publius.documents.inspection import Inspection

_FEWEST_WORDS: Final = 2
_DELIMITERS: Final = (";", ",", "\t", "|")
_UNICODE: Final = ("utf-8", "utf-8-sig")
_START: Final = 2**20
TEXT_FIELD: Final = "text_field"
ENCODING: Final = "encoding"
QUOTES: Final = "quotes"


def looked_at(file: Path, choices: Choices) -> Inspection:
    """What stands in the file to be released; `DataError` where it is not what the answers say it is."""
    from publius.documents.inspection import inspect

    found = inspect(
        file,
        text_field=choices.text_field,
        delimiter=choices.delimiter,
        encoding=choices.encoding,
        quotes=choices.quotes,
        **reading(choices),
    )
    _check_form(file, choices, found)
    if not found.words:
        return found
    named = "that was found" if choices.text_field is None else repr(choices.text_field)
    if found.words["median"] < _FEWEST_WORDS:
        raise DataError(
            f"the column {named} holds no texts, half of its cells are single words: name another of "
            f"{how_many(len(found.columns), 'column')} with --text-field (publius inspect shows them). Nothing was "
            "released"
        ).among(found.columns)
    if found.different == 1 and found.rows > 1:
        raise DataError(
            f"all texts in the column {named} are alike: check that it is the right column of the right "
            "file. Nothing was released"
        )
    return found


def reading(choices: Choices) -> dict[str, Any]:
    """How folders, links and foreign files are read."""
    seconds = {} if choices.reading_seconds is None else {"reading_seconds": choices.reading_seconds}
    return {"subfolders": choices.subfolders, "follow_links": choices.follow_links, **seconds}


def _check_form(file: Path, choices: Choices, found: Inspection) -> None:
    """`DataError` where a table is not written as the answers say."""
    if found.delimiter is None:
        return
    only = found.columns[0] if len(found.columns) == 1 else ""
    if other := next((mark for mark in _DELIMITERS if mark in only and mark != found.delimiter), None):
        raise DataError(
            f"read with {found.delimiter!r} between columns the table has only one: it seems to be "
            f"{other!r} that separates them, so check --delimiter. Nothing was released"
        ).among(found.columns)
    if choices.encoding is None:
        return
    from publius.releases.preflight import too_many

    if too_many(found.unread, found.rows):  # one that cannot be read stops nobody's release
        raise DataError(
            f"{found.unread:,} of {found.rows:,} rows cannot be read as {found.encoding}: check --encoding, or leave "
            "it out to have it found. Nothing was released"
        )
    if found.encoding not in _UNICODE and _is_unicode(file):
        raise DataError(
            f"the table is written in UTF-8, not in {found.encoding}: leave out --encoding. Nothing was released"
        )


def _is_unicode(file: Path) -> bool:
    """Whether the beginning of a file holds letters beyond ASCII that are UTF-8, which hardly happens by chance.

    In a few of its lines is not enough: one author may write so, and who said the encoding of the others is right.
    """
    from publius.files import open_binary
    from publius.releases.preflight import too_many

    with open_binary(file) as stream:
        start = stream.read(_START)
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    lines = text.split("\n")
    return too_many(sum(not line.isascii() for line in lines), len(lines))


def unsaid(found: Inspection) -> dict[str, str]:
    """What the texts alone propose of how they are to be read, and nobody has said: why it has to be, by answer."""
    why = {
        TEXT_FIELD: "the texts alone tell which column holds them, and one of them must not decide it for all, "
        "so name it with --text-field; publius inspect shows which is the longest, or called so. Nothing was released",
        ENCODING: f"the table is not in UTF-8: its letters look like {found.encoding}, but one text must not decide "
        f"how all are read, so say it: --encoding {found.encoding}. Nothing was released",
        QUOTES: "a text in the table opens a quotation mark that is not closed before a line that could be a row of "
        "its own, and one text must not decide where rows end, so say it: --quotes fields where the program that wrote "
        "the table puts fields in quotation marks, which may hold line breaks; --quotes letters where it quotes "
        "nothing, and each line is a row. Nothing was released",
    }
    return {name: why[name] for name in found.guessed}


def check_said(found: Inspection) -> None:
    """`UsageError` where nobody has said what the texts alone propose."""
    for why in unsaid(found).values():
        raise UsageError(why)


def texts_of(path: Path, found: Inspection, text_field: str | None) -> Iterator[str]:
    """The texts to be released, those apart that cannot be read."""
    from publius.documents.corpus import Document, open_corpus

    corpus = open_corpus(path, number=True, text_field=text_field or "text", **found.form)
    return (item.text for item in corpus if isinstance(item, Document))
