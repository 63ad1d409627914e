"""A first release that is a summary: what to count by is shown to the curator, never taken from the documents.

The values of a column are private until the curator says that their list is public. What follows from it, the tables
and their accuracy, is made of public numbers.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, final

from publius.collections.authors import author_key
from publius.collections.strata import OTHER, Strata
from publius.documents.corpus import Corpus, open_corpus
from publius.documents.inspection import FORM, Inspection
from publius.errors import DataError
from publius.evaluation.steps.answers import Choices
from publius.evaluation.steps.commands import about_options
from publius.evaluation.steps.looking import check_said, reading
from publius.evaluation.steps.older import own_authors
from publius.evaluation.steps.walk import SIGNOFF
from publius.files import new_folder, write_file
from publius.files.progress import Advance
from publius.privacy.ledger import Ledger
from publius.releases.account import About
from publius.releases.engines.run_folder import claimed
from publius.releases.measured import Budget, Sources
from publius.releases.signoff import sign_off, write_receivers
from publius.releases.summaries.run import Finished, charged, expected, says_nothing, summarize
from publius.releases.summaries.summary import Summary
from publius.settings import AUTHORS_AT_LEAST, SummarySettings

FOLDER: Final = "summary"
FEW: Final = 30
"""Columns with more different values are no list that somebody could have declared."""


def column_of_authors(found: Inspection, choices: Choices) -> str | None:
    """The column that is stated, or one that is called as such columns are; None where there is none."""
    return choices.author_field or own_authors(found, None)


@final
@dataclass(frozen=True, slots=True)
class Seen:
    """The contents of a file beside its texts; private, for the curator's eyes only.

    Attributes:
        authors: how many there are.
        values: of each column with few values those that several authors have, in an order that tells no frequency.
        rare: the others, of fewer authors: to propose one would tell that somebody has it.
    """

    authors: int
    values: dict[str, tuple[str, ...]]
    rare: dict[str, tuple[str, ...]]


def seen(file: Path, found: Inspection, choices: Choices) -> Seen:
    """Look at the columns beside the texts."""
    columns = [name for name in found.columns if name not in (found.text_field, choices.author_field)]
    having: dict[str, dict[str, set[str | int]]] = {name: {} for name in columns}
    authors: set[str] = set()
    for number, (_, row) in enumerate(_corpus(file, found, choices, columns).rows()):
        try:
            author = author_key(row.fields.get(choices.author_field or ""))
        except DataError:
            author = None
        if author is not None:
            authors.add(author)
        for name in list(having):
            value = row.fields.get(name)
            if isinstance(value, str | int | float) and str(value).strip() not in ("", OTHER):
                having[name].setdefault(str(value).strip(), set()).add(number if author is None else author)
            if len(having[name]) > FEW:
                del having[name]
    kept: dict[str, tuple[str, ...]] = {}
    rare: dict[str, tuple[str, ...]] = {}
    for name, found_values in having.items():
        several = sorted(value for value, own in found_values.items() if len(own) >= AUTHORS_AT_LEAST)
        if len(several) > 1:
            kept[name], rare[name] = tuple(several), tuple(sorted({*found_values} - {*several}))
    return Seen(len(authors), kept, rare)


def _corpus(file: Path, found: Inspection, choices: Choices, columns: Sequence[str]) -> Corpus:
    keep = tuple(name for name in (*columns, choices.author_field) if name is not None)
    return open_corpus(
        file, text_field=found.text_field or "text", keep=keep, number=True,
        **{"encoding": choices.encoding, **found.form}, **reading(choices),
    )  # fmt: skip


def declared(field: str, values: Sequence[str]) -> str:
    """A field with its values as ``--by`` has them."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return f"{field}={line.getvalue()}"


@final
class SummaryWorkflow:
    """A summary as a first release: its accuracy, the folder, the page to sign.

    Attributes:
        summary: that is asked for.
    """

    def __init__(self, file: Path, found: Inspection, choices: Choices, by: Sequence[str]) -> None:
        """Raises what `Summary` and `check_said` raise."""
        check_said(found)
        self._file, self._found, self._choices = file, found, choices
        self._by, self.epsilon = tuple(by), choices.epsilon or 1.0
        strata = Strata.parse(self._by)
        self._columns = [field.name for field in strata.fields]
        self.summary = Summary(
            choices.reference, self.epsilon, by=strata, author_field=choices.author_field or "author",
            text_field=found.text_field or SummarySettings.text_field,
        )  # fmt: skip

    def at(self, epsilon: float) -> SummaryWorkflow:
        """The same with another epsilon."""
        return SummaryWorkflow(self._file, self._found, replace(self._choices, epsilon=epsilon), self._by)

    def accuracy(self, authors: int) -> list[str]:
        """How far counts may be off, in sentences."""
        return [
            f"{name}: {each.cells:,} counts, each within {each.count_95:,} documents (95 %), all at once within "
            f"{each.all_95:,}."
            for name, each in expected(self.summary, authors).items()
        ]

    def says_nothing(self, authors: int) -> str | None:
        """Why nothing could be told apart; None where something could."""
        return says_nothing(self.summary, authors)

    def release(
        self,
        output: Path,
        ledger: Ledger | None,
        *,
        progress: Advance,
        notice: Callable[[str], None],
    ) -> Finished:
        """The summary and the page to sign in the new folder ``output``, whole or not at all."""
        corpus = _corpus(self._file, self._found, self._choices, self._columns)
        with claimed(output), charged(ledger) as paid, new_folder(output, release=True) as folder:
            corpus.check_unchanged(self._found.state)
            finished = summarize(
                corpus, self.summary, folder / FOLDER, ledger=ledger, progress=progress,
                notice=notice,
            )  # fmt: skip
            paid.append(True)
            budget = None if ledger is None else Budget.of(ledger, finished.manifest)
            sources = Sources(budget=budget, about=About.of(self._choices))
            write_receivers(folder / FOLDER, sources)
            with write_file(folder / SIGNOFF, 0o600) as page:
                page.write(sign_off(folder / FOLDER, sources))
        return finished

    def commands(self, output: Path, ledger: Path | None = None) -> list[str]:
        """Which single commands do the same, charged to the same ``ledger``."""
        arguments: list[Any] = [
            "publius",
            "summarize",
            self._file,
            "--author-field",
            self.summary.author_field,
        ]
        arguments += [
            "--text-field",
            self.summary.text_field,
            "--epsilon",
            repr(self.epsilon).removesuffix(".0"),
        ]
        form = {f"--{name}": getattr(self._choices, name) for name in FORM}
        arguments += [part for name, value in form.items() if value for part in (name, value)]
        arguments += [part for each in self._by for part in ("--by", each)]
        if self._choices.reference is not None:
            arguments += ["--reference", self._choices.reference]
        arguments += ["--subfolders"] if self._choices.subfolders else []
        charged_to = [] if ledger is None else ["--ledger", ledger]
        arguments += charged_to
        about = about_options(self._choices)
        page = ["publius", "signoff", output / FOLDER, *charged_to, *about, "--receivers", "--output"]
        page += [output / SIGNOFF]
        return [shlex.join(map(str, each)) for each in ([*arguments, "--output", output / FOLDER], page)]
