"""What a collection says: how far counts may be off, and a summary by the same door as the command's."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Final

from publius.collections.accuracy import Accuracy, said_beforehand
from publius.collections.accuracy import accuracy as expected
from publius.errors import DataError, UsageError
from publius.files import private, private_folder
from publius.noise.randomness import entropy
from publius.releases.summaries.names import COUNTS, STRATA, SUBJECTS, THEMES, WORDS
from publius.web import answers, requests
from publius.web.state import State
from publius.web.workplace import check_form

EPSILONS: Final = ("1/20", "1/10", "1/5", "3/10", "1/2", "7/10", "1", "3/2", "2", "3", "5", "7", "10")
_NAMED: Final = ("stratum", "theme", "words")
"""Columns of names: everything else is a number, or whether it is so."""


def accuracy(state: State, asked: requests.Accuracy) -> answers.Accuracy:
    """How far the counts of a summary may be off, from public numbers alone: nothing is read and nothing spent."""
    from publius.releases.summaries.summary import exact_number

    found = said_beforehand(
        *_expected(asked, exact_number(asked.epsilon, "epsilon")), strata=asked.strata, wanted=asked.wanted
    )
    names = answers.Accurate.model_fields
    curve = [said_beforehand(*_expected(asked, Fraction(each))) for each in EPSILONS]
    return answers.Accuracy.of(**found, curve=[{name: facts[name] for name in names} for facts in curve])


def _expected(asked: requests.Accuracy, epsilon: Fraction) -> tuple[Accuracy, Fraction]:
    found = expected(asked.authors, asked.cells, epsilon, documents_per_author=asked.documents_per_author)
    return found, epsilon


def summary(state: State, asked: requests.Summarize) -> answers.Summarized:
    """Count a collection, its authors protected, into a new folder with a random name, as publius summarize does.

    With a ledger every author is debited once, before anything is drawn. What the command tells the curator of the
    documents themselves is not in the answer, which may be passed on.
    """
    from publius.releases.summaries.run import summarize  # the page need not wait for them
    from publius.releases.summaries.summary import Summary

    if any(given.partition("=")[2].lstrip().startswith("@") for given in asked.by):
        raise UsageError("values are sent in the request: FIELD=V1,V2 instead of FIELD=@FILE")
    counted = Summary(
        None if asked.reference is None else state.references.get(asked.reference),
        asked.epsilon, asked.documents_per_author, asked.by, asked.share,
        author_field=asked.author_field, text_field=asked.text_field,
        leave_out_without_author=asked.leave_out_without_author,
    )  # fmt: skip
    folder = state.releases / f"summary-{entropy(8).hex()}"
    with _collection(state, asked) as (path, form):
        corpus = counted.corpus(path, **form)
        finished = state.workplace.named(
            lambda: summarize(corpus, counted, folder, ledger=state.ledger, authors=asked.authors, workers=1)
        )
    tables = {
        name: _rows((folder / name).read_text(encoding="utf-8"))
        for name in (COUNTS, STRATA, SUBJECTS, THEMES, WORDS)
        if (folder / name).is_file()
    }
    return answers.Summarized(
        folder=str(folder), report=state.reports.add(folder), manifest=finished.manifest, tables=tables
    )


@contextmanager
def _collection(state: State, asked: requests.Summarize) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Where the documents lie and how they are read; those of a request are gone from the disk afterwards."""
    if asked.documents is None:
        if asked.texts_key is not None:
            state.workplace.check_shown(texts=asked.texts_key)
        given = state.workplace.needed("texts")
        shown = given.found
        if shown is not None:
            check_form(shown)
        yield given.path, {**({} if shown is None else shown.form), **given.form}
        return
    with private_folder(gettempdir()) as folder:
        path = folder / "rows.jsonl"
        with open(path, "xb", opener=private) as file:
            for place, row in enumerate(asked.documents, 1):
                try:
                    file.write(json.dumps(row, allow_nan=False).encode() + b"\n")
                except ValueError:
                    raise DataError(
                        f"document {place} has a number that is none: give null where there is no value"
                    ) from None
        yield path, {}


def _rows(table: str) -> list[dict[str, bool | int | float | str | None]]:
    """A table that was written, with numbers where it has numbers."""
    return [
        {name: value if name in _NAMED else _value(value) for name, value in row.items()}
        for row in csv.DictReader(io.StringIO(table))
    ]


def _value(text: str) -> bool | int | float | str | None:
    if text in ("", "true", "false"):
        return None if text == "" else text == "true"
    value = float(text)
    if not math.isfinite(value):
        return text
    return int(text) if text.lstrip("-").isdigit() else value
