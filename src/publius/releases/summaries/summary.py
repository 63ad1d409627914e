"""`Summary`: a collection becomes noisy counts of public themes and subjects, the author as the unit.

Equivalent to one histogram of contributed documents over public cells, at most c of an author, with independent
discrete Laplace noise of scale 2c / epsilon in every cell, each statistic under its share of epsilon. Replacing all
documents of an author moves a histogram by at most 2c in all, so the release is (epsilon, 0)-private for each author.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Final, cast, final

from publius.arrays import IndexArray
from publius.collections.authors import author_key
from publius.collections.contributions import Contributions
from publius.collections.counting import Counting
from publius.collections.strata import Field, Strata
from publius.collections.tables import Shares, Statistic, histogram, noisy_table
from publius.documents.corpus import Corpus, open_corpus
from publius.documents.row_readers import RECORD_LIMIT, Row
from publius.errors import DataError, DocumentError, UsageError
from publius.files.progress import Advance, unheard
from publius.noise.discrete_laplace import DiscreteLaplace
from publius.noise.randomness import RunKey, system_rng
from publius.privacy.guarantee import Unit
from publius.privacy.promise import author_promise
from publius.releases.engines.worker_pool import AT_ONCE
from publius.releases.summaries.names import names_authors
from publius.releases.summaries.said import Told
from publius.releases.summaries.spaces import Spaces
from publius.settings import SummarySettings
from publius.vectors.learning.reference import Reference

Written = tuple[str, str, int]
"""An author's key, a text and its stratum."""

_AT_ONCE: Final = 512
OWN_KEYS: Final = ("theme", "bag", "passage", "source", "stratum")
"""Fields of a summary's own rows, which no field that is counted by may be called."""


@final
@dataclass
class Seen:
    """Counts of rows that were read: for the curator's eyes only, released nowhere.

    Attributes:
        documents: how many rows there were.
        unreadable: how many of them have no text that can be read; each counted as "no words".
        without_author: how many were left out because nobody is named, several are, or what can be nobody's id.
        undeclared: how many are "other" in some field.
    """

    documents: int = 0
    unreadable: int = 0
    without_author: int = 0
    undeclared: int = 0

    def check_any(self) -> None:
        """`DocumentError` where there was nothing."""
        if not self.documents:
            raise DocumentError("there is no document: check that it is the right file")

    def __iadd__(self, other: Seen) -> Seen:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))
        return self


@final
class Summary:
    """A summary of a collection, under one epsilon for each author with all documents.

    Args:
        reference: of public texts, a name or an open one; by default the packaged themes.
        epsilon: of an author who is replaced; half of it where one is added or left out. Taken as it is written.
        documents_per_author: c, the most documents of an author that count, fixed before looking.
        by: fields with their declared values: a mapping, or texts such as ``"category=Loans,Cards"``.
        shares: how epsilon is divided: a mapping, or ``"totals=0.2,themes=0.5,subjects=0.3"``.
        author_field: field that names the author.
        text_field: field that holds the text.
        leave_out_without_author: leave out rows that do not name one author instead of refusing them.

    >>> summary = Summary(epsilon=1, by=["product=card,loan"])  # doctest: +SKIP
    >>> told = summary("complaints.csv")  # doctest: +SKIP

    Raises `UsageError` for what cannot be asked.
    """

    def __init__(
        self,
        reference: Reference | str | os.PathLike[str] | None = None,
        epsilon: float | str | Fraction = SummarySettings.epsilon,
        documents_per_author: int = SummarySettings.documents_per_author,
        by: Strata | Mapping[str, Sequence[str]] | Iterable[str] = (),
        shares: Shares | Mapping[str, float | str | Fraction] | str = SummarySettings.share,
        *,
        author_field: str = "author",
        text_field: str = SummarySettings.text_field,
        leave_out_without_author: bool = False,
        embeddings: str | None = None,
    ) -> None:
        self.epsilon = exact_number(epsilon, "epsilon")
        self.documents_per_author = documents_per_author
        self.strata = _strata(by)
        self.shares = _shares(shares)
        self.author_field, self.text_field = author_field, text_field
        self.leave_out_without_author = leave_out_without_author
        Contributions(RunKey.fresh(), documents_per_author)  # refuses a c that is none
        self._check_fields()
        name = os.fspath(reference) if isinstance(reference, os.PathLike) else reference
        self.spaces = Spaces.of(name, embeddings)
        self.counting = self._counting()

    def _counting(self) -> Counting:
        return Counting(
            self.strata,
            self.spaces.themes if self.has("themes") else None,
            self.spaces.subjects if self.has("subjects") else None,
            self.spaces.encoding,
            self.spaces.looked_up,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "shares": dict(self.shares.parts), "counting": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= {**state, "shares": Shares(state["shares"])}
        self.counting = self._counting()

    def _check_fields(self) -> None:
        names = [field.name for field in self.strata.fields]
        if taken := [name for name in names if name in OWN_KEYS]:
            raise UsageError(f"a summary has a column {taken[0]!r} of its own: rename the field")
        if self.text_field in (*names, self.author_field):
            raise UsageError(f"the field {self.text_field!r} is the private text: name another")
        if any(
            "\ud800" <= character <= "\udfff" for name in (*names, self.author_field) for character in name
        ):
            raise UsageError("the name of a field must be a text of Unicode: the summary states it")
        if not names_authors(self.author_field):
            raise UsageError(
                "the name of the column of authors is published, so it must be one, without a digit and of words such "
                "as author, customer, patient, user, sender, name and id: rename the column. A table without a header "
                "has the words of its first row there"
            )

    def has(self, statistic: Statistic) -> bool:
        """Whether a statistic has a share of epsilon."""
        return statistic in self.shares.parts

    def epsilon_of(self, statistic: Statistic) -> Fraction:
        """The share of epsilon that a statistic gets; 0 where it has none."""
        return self.shares.epsilon(self.epsilon, statistic) or Fraction(0)

    def noise(self, statistic: Statistic) -> DiscreteLaplace:
        """The law of the noise in each cell of a statistic."""
        return DiscreteLaplace.protecting(2 * self.documents_per_author, self.epsilon_of(statistic))

    @property
    def prices(self) -> dict[Unit, Fraction]:
        """The cost to an author in the unit that covers it."""
        return {"bound": self.epsilon}

    @property
    def promise(self) -> str:
        """The promise to each author, in words."""
        return author_promise(self.epsilon, self.documents_per_author, self.author_field)

    @property
    def cells(self) -> dict[str, int]:
        """How many noisy counts each statistic has."""
        strata, themes, subjects = self.counting.shape
        sizes = {"totals": strata, "themes": strata * themes, "subjects": subjects}
        return {name: sizes[name] for name in self.shares.parts}

    def __call__(self, collection: Iterable[Mapping[str, object]] | str | os.PathLike[str]) -> Told:
        """Summarize a collection: a file or folder of documents, or rows of fields. One draw, with fresh noise."""
        contributions = Contributions(RunKey.fresh(), self.documents_per_author)
        self.count(self.rows(collection), contributions)
        return self.draw(contributions.cells)

    def rows(
        self, collection: Iterable[Mapping[str, object]] | str | os.PathLike[str] | Corpus
    ) -> Iterator[tuple[int, Row]]:
        """Each row with its position from 1."""
        if isinstance(collection, str | os.PathLike):
            collection = self.corpus(collection)
        if isinstance(collection, Corpus):
            return collection.rows()
        return ((position, Row("", fields)) for position, fields in enumerate(collection, start=1))

    def corpus(self, path: str | os.PathLike[str], **reading: Any) -> Corpus:
        """The files at ``path``, to be read by this summary's fields."""
        names = (*(field.name for field in self.strata.fields), self.author_field)
        keep = tuple(dict.fromkeys(names))
        return open_corpus(path, text_field=self.text_field, keep=keep, number=True, **reading)

    def count(
        self,
        rows: Iterable[tuple[int, Row]],
        contributions: Contributions,
        *,
        author: Callable[[str], object] = lambda author: None,
        progress: Advance = unheard,
    ) -> Seen:
        """Let each row's document count for its author; what was met, for the curator.

        ``author`` hears every author's key. `DataError`, naming a place and nothing that stands there, for a row
        without author (unless those are left out) or with several, and where there is no row.
        """
        seen = Seen()
        for written in self.read(rows, seen, author, progress):
            self.contribute(written, contributions)
        seen.check_any()
        return seen

    def read(
        self,
        rows: Iterable[tuple[int, Row]],
        seen: Seen,
        author: Callable[[str], object] = lambda author: None,
        progress: Advance = unheard,
    ) -> Iterator[list[Written]]:
        """Authors, texts and strata of some rows at a time, counted in ``seen``; raises as `count` does."""
        some, held = list[Written](), 0
        for done, (position, row) in enumerate(rows, start=1):
            written = self._read(position, row, seen)
            if written is not None:
                author(written[0])
                some.append(written)
                held += len(written[1])
            if done % _AT_ONCE == 0:
                progress(_AT_ONCE)
            if len(some) == _AT_ONCE or held >= AT_ONCE:
                yield some
                some, held = [], 0
        if some:
            yield some

    def contribute(self, written: Sequence[Written], contributions: Contributions) -> None:
        """Let these documents count for their authors."""
        cells = self.counting.cells([each[1] for each in written], [each[2] for each in written])
        contributions.add_all(
            (author, text, cell) for (author, text, _), cell in zip(written, cells.tolist(), strict=True)
        )

    def _read(self, position: int, row: Row, seen: Seen) -> Written | None:
        """Author, text and stratum of a row; None where it is left out. Position 0 is one that is not known."""
        seen.documents += 1
        key, why = None, row.problem or f"its field {self.author_field!r} names nobody"
        try:
            key = author_key(row.fields.get(self.author_field))
        except DataError as error:  # what can be no author's id is none
            why = str(error)
        if key is None:
            if not self.leave_out_without_author:
                raise DataError(
                    f"{_where(position, row)} has no author, so no promise would cover it ({why}): mend it, or leave "
                    "such documents out with --leave-out-without-author. Nothing was released"
                )
            seen.without_author += 1
            return None
        stratum = self.strata.place(row.fields)
        seen.undeclared += self.strata.is_other(stratum)
        text = row.fields.get(self.text_field)
        if row.problem is not None or not isinstance(text, str) or len(text) > RECORD_LIMIT:
            seen.unreadable += 1
            text = ""
        return key, text, stratum

    def draw(self, cells: IndexArray) -> Told:
        """Noisy tables of the cells of contributed documents, a place in `Counting.shape` each. Draws: once a run."""
        rng = system_rng()
        tables = {
            name: noisy_table(
                self._histogram(name, cells),
                epsilon=self.epsilon_of(name),
                per_author=self.documents_per_author,
                rng=rng,
            )
            for name in self.shares.parts
        }
        return Told(self, tables.get("totals"), tables.get("themes"), tables.get("subjects"))

    def _histogram(self, statistic: Statistic, cells: IndexArray) -> IndexArray:
        """The counts of one statistic. One after the other: there may be millions of ``cells``."""
        s, k, u = self.counting.shape
        if statistic == "subjects":
            return histogram(cells % u, (u,))
        return histogram(cells // u, (s, k)) if statistic == "themes" else histogram(cells // (k * u), (s,))


def _where(position: int, row: Row) -> str:
    number = f"document {position}" if position else "a document"
    return number + (f" ({row.place})" if row.place else "")


def _strata(by: Strata | Mapping[str, Sequence[str]] | Iterable[str]) -> Strata:
    if isinstance(by, Strata):
        return by
    if isinstance(by, str):
        return Strata.parse([by])
    if isinstance(by, Mapping):
        return Strata(tuple(Field(name, tuple(values)) for name, values in by.items()))
    return Strata.parse(by)


def _shares(shares: Shares | Mapping[str, float | str | Fraction] | str) -> Shares:
    if isinstance(shares, Shares):
        return shares
    if isinstance(shares, str):
        return Shares.parse(shares)
    return Shares({cast("Statistic", name): exact_number(share, "a share") for name, share in shares.items()})


def exact_number(value: float | str | Fraction, what: str) -> Fraction:
    """A positive number as it is written: 0.1, "0.1" and "1/10" are one tenth; `UsageError` for anything else."""
    try:
        if isinstance(value, bool):
            raise ValueError
        exact = Fraction(repr(value) if isinstance(value, float) else value)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise UsageError(f"{what} must be a number, not {value!r:.40}") from None
    if not 0 < exact <= 10**6 or exact.denominator > 10**12:
        raise UsageError(f"{what} must be a number above 0 with at most twelve decimals, not {value!r:.40}")
    return exact
