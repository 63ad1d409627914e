"""`Summary`: what a collection says under one epsilon for each author."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, final

from publius.arrays import IndexArray
from publius.documents.document import Plan
from publius.errors import PolicyError, UsageError
from publius.files.processes import mapped
from publius.files.progress import stage
from publius.noise.discrete_laplace import DiscreteLaplace
from publius.noise.randomness import Generator, RunKey
from publius.settings import LARGEST_LOCAL_EPSILON
from publius.summaries.contributions import BATCH, Cells, Collected, Counted, Statements, authors_of
from publius.summaries.groups import Groups
from publius.summaries.tables import LEVEL, NoisyTable, Shares, Table, exact_share, histogram, shares_of

if TYPE_CHECKING:
    from publius.classifiers.classifier import Classifier
    from publius.classifiers.encoder import Encoder
    from publius.documents.corpus import Batch, Corpus
    from publius.summaries.told import Told

Mapped = Callable[..., Iterator[Any]]
"""`mapped`, or another engine's: a task, what it works with, and batches, to results in their order."""


@final
class Summary:
    """Noisy counts of what a collection says: pure epsilon-differential privacy, the author as the unit.

    Equals histograms of contributed documents, at most c of an author, with independent discrete Laplace noise of scale
    2c / epsilon in every cell, empty ones too, each table under its share of epsilon. Two collections are neighbours
    when all documents of one author are replaced: the number of authors is public. Of public ``statements`` it counts
    authors who wrote something like each; an author counts for at most k of S, so the scale is min(2k, S) / epsilon.
    Source: docs/theory.md, summaries.

    Args:
        classifier: topics, counted by group; None: the subjects of public word vectors alone.
        epsilon: of an author, for all tables together; taken as it is written.
        documents_per_author: c, fixed before looking; which of an author's documents count, decides secret randomness.
        by: fields with declared values: a mapping, or declarations such as ``"district=north,south"``.
        shares: how epsilon is divided, such as ``"totals=0.2,topics=0.5,subjects=0.3"``.
        ask: public statements.
        statements_per_author: k.
        subjects: another `Subjects` than that of the packaged vectors.
        encoder: of statements; by default the packaged one.

    Raises `UsageError` for what cannot be asked, `PolicyError` for an epsilon above 20.

    >>> import publius
    >>> summary = publius.Summary(publius.Values(["tea", "coffee"]), epsilon=1, shares={"topics": 1})
    >>> told = summary(["tea"] * 300 + ["coffee"] * 200, range(500))
    >>> told.authors, [row["label"] for row in told.topics]
    (500, ['tea', 'coffee'])
    """

    def __init__(
        self, classifier: Classifier | None = None, epsilon: float | str | Fraction = 1, *,
        documents_per_author: int = 1, by: Groups | Mapping[str, Sequence[str]] | Iterable[str] | str = (),
        shares: Mapping[str, float | str | Fraction] | str | None = None, ask: Sequence[str] = (),
        statements_per_author: int = 3, subjects: Classifier | None = None, encoder: Encoder | None = None,
    ) -> None:  # fmt: skip
        self.epsilon = exact_share(epsilon, "epsilon")
        if self.epsilon > LARGEST_LOCAL_EPSILON:
            raise PolicyError(
                f"an epsilon of {float(self.epsilon):g} hides nobody in a summary: at most {LARGEST_LOCAL_EPSILON:g}"
            )
        self.documents_per_author, self.statements_per_author = documents_per_author, statements_per_author
        bounds = (("documents", documents_per_author, 1000), ("statements", statements_per_author, 10**6))
        for what, value, most in bounds:
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
                raise UsageError(f"{what} per author must be a whole number from 1 to {most:,}, not {value!r:.40}")
        self.groups = Groups.of(by)
        if taken := [field.name for field in self.groups.fields if field.name in ("about", "bag")]:  # of made-up rows
            raise UsageError(f"a summary has a column {taken[0]!r} of its own: rename the field")
        grouped = self.groups.size > 1
        topics = classifier is not None and classifier.kind != "subjects"
        counted: dict[Table, bool] = {
            "totals": grouped, "topics": topics or grouped, "subjects": True, "statements": bool(ask),
        }  # fmt: skip
        made = [name for name, wanted in counted.items() if wanted]
        self.shares: Shares = shares_of(shares, tuple(made))
        self._given, self._subjects = (classifier, classifier if classifier is not None and not topics else subjects)
        self._encoder, self._ask = encoder, tuple(ask)
        if "statements" in self.shares and statements_per_author > len(self._ask):
            self.statements_per_author = len(self._ask)

    def __repr__(self) -> str:
        return f"Summary(epsilon={float(self.epsilon):g}, tables={', '.join(self.shares)})"

    @cached_property
    def cells(self) -> Cells:
        """What documents are counted by; the first use opens the packaged vectors and the encoder where they are needed."""
        topics = (self._given or self._packaged) if "topics" in self.shares else None
        subjects = self._packaged if "subjects" in self.shares else None
        statements = None
        if "statements" in self.shares:
            from publius.classifiers.encoder import load_encoder

            statements = Statements(self._ask, self._encoder or load_encoder("packaged"))
        return Cells(self.groups, topics, subjects, statements)

    @cached_property
    def _packaged(self) -> Classifier:
        if self._subjects is not None:
            return self._subjects
        from publius.classifiers.subjects import Subjects
        from publius.embeddings.embeddings import Embeddings

        return Subjects(Embeddings.load())

    @property
    def classifier(self) -> Classifier | None:
        """The classifier of topics: the one that was given, or the subjects where there are groups to compare."""
        return self.cells.topics

    @property
    def subjects(self) -> Classifier | None:
        """The classifier of subjects; None where they have no share."""
        return self.cells.subjects

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements that are asked."""
        return () if self.cells.statements is None else self.cells.statements.texts

    @property
    def shapes(self) -> dict[Table, tuple[int, ...]]:
        """The cells of each table."""
        groups, topics, subjects = self.cells.shape
        shapes: dict[Table, tuple[int, ...]] = {
            "totals": (groups,), "topics": (groups, topics), "subjects": (subjects,),
            "statements": (len(self.statements),),
        }  # fmt: skip
        return {name: shapes[name] for name in self.shares}

    def noise(self, table: Table) -> DiscreteLaplace:
        """The law of the noise in each cell of a table, by how much an author who is replaced moves all of them."""
        moved = 2 * self.documents_per_author
        if table == "statements":
            moved = min(2 * self.statements_per_author, len(self.statements))
        return DiscreteLaplace.protecting(moved, self.epsilon * self.shares[table])

    def __call__(
        self,
        texts: Sequence[str],
        authors: Sequence[object],
        groups: Mapping[str, Sequence[object]] | None = None,
        *,
        force: bool = False,
    ) -> Told:
        """Summarize texts: who wrote each, and the values of each field of ``by``. Every call is one more draw.

        `PolicyError` where the authors are so few that every count would be noise, but with ``force``.
        """
        columns = groups or {}
        if any(len(column) != len(texts) for column in (authors, *columns.values())):
            raise UsageError("there must be an author, and a value of each field, for each text")
        key = RunKey.fresh()
        return self.draw(self.gathered(texts, authors, columns, key), key.rng, force=force)

    def gathered(
        self, texts: Sequence[str], authors: Sequence[object], groups: Mapping[str, Sequence[object]], key: RunKey
    ) -> Collected:
        """What texts in memory contribute; private."""
        from publius.documents.corpus import Batch

        values = [*zip(texts, itertools.repeat(None), authors, *groups.values(), strict=False)]
        batch = Batch(0, values, Plan(text="text", fields=(*groups,), raw=True))
        here = partial(mapped, workers=1)
        return self._collected(lambda: iter([batch]), key, here, here)

    def collect(
        self, corpus: Corpus, key: RunKey, *, names: bool = False, workers: int | None = 1, second: Mapped | None = None
    ) -> Collected:
        """What the documents of a corpus contribute; private. ``second``: who does the second reading, if not processes."""
        check_authors(corpus)
        here = partial(mapped, workers=workers)
        batches = partial(corpus.batches, BATCH)
        return self._collected(batches, key, here, second or here, names=names, total=corpus.counted)

    def sampled(self, corpus: Corpus) -> Callable[[Batch], Counted]:
        """After the first reading, what both readings do with a batch: to measure it by."""
        key = RunKey.fresh()
        found, cells = Collected(key, self.documents_per_author, self.statements_per_author), self.cells_of(key)
        first = partial(authors_of, (cells.secret, False))
        found.meet(map(first, corpus.batches(BATCH)))

        def both(batch: Batch) -> Counted:
            first(batch)
            return cells.counted(next(found.chosen([batch], every=True)))

        return both

    def _collected(
        self, batches: Callable[[], Iterator[Batch]], key: RunKey, first: Mapped, second: Mapped, *,
        names: bool = False, total: int = 0,
    ) -> Collected:  # fmt: skip
        found, cells = Collected(key, self.documents_per_author, self.statements_per_author), self.cells_of(key)
        with stage("who wrote what"):
            found.meet(first(authors_of, (cells.secret, names), batches()), total)
        with stage("counting"):
            chosen = found.chosen(batches(), every=cells.statements is not None)
            found.take(second(Cells.counted, cells, chosen))
        return found

    def cells_of(self, key: RunKey) -> Cells:
        """`cells` with the key of a run."""
        return replace(self.cells, secret=key.derive("contribution-authors"))

    def draw(self, found: Collected, rng: Callable[[str], Generator], *, force: bool = False) -> Told:
        """Noisy tables of what was collected, under generators by their names. Draws: once a run."""
        from publius.summaries.told import Told

        few = too_few(self, found.authors)
        if few is not None and not force:
            raise PolicyError(f"{few}. Nothing was drawn or debited (--force draws it all the same)")
        cells, authors = found.cells, found.authors
        tables = dict[Table, NoisyTable]()
        for name in self.shares:
            if name == "statements":
                counts, most = found.mentions.counts(len(self.statements)), authors
            else:
                counts, most = self.histogram(name, cells), authors * self.documents_per_author
            noise = self.noise(name)
            tables[name] = NoisyTable(noise.noisy(counts, rng(f"summary/{name}")), noise, most)
        return Told(self, authors, tables)

    def histogram(self, name: Table, cells: IndexArray) -> IndexArray:
        """The counts of one table from the cells of contributed documents. Private."""
        _, t, u = self.cells.shape
        own = cells // (t * u) if name == "totals" else cells // u if name == "topics" else cells % u
        return histogram(own, self.shapes[name])

    @property
    def public(self) -> tuple[dict[str, Any], ...]:
        """Public inputs: those of classifiers, and the encoder of statements."""
        found: dict[str, dict[str, Any]] = {}
        for each in (self.cells.topics, self.cells.subjects):
            for one in () if each is None else each.public:
                found.setdefault(one["sha256"], one)
        if self.cells.statements is not None:
            used = self.cells.statements.encoder
            found.setdefault(used.sha256, dict(used.public))
        return tuple(found.values())


def check_authors(corpus: Corpus) -> None:
    """`UsageError`, with the columns that there are, where nobody said which one names the author."""
    if corpus.plan.author is None and not corpus.plan.own:
        raise UsageError(
            "a summary protects authors: name their column with --author-field. "
            f"Columns: {', '.join(corpus.columns) or 'none'}. (id: each document is its own author)"
        )


# How large a count can be told from none: public, before anything is read, drawn or spent ----------------------


@final
@dataclass(frozen=True)
class Expected:
    """The precision that a table will have."""

    table: Table
    cells: int
    epsilon: float
    scale: float
    within: int  # of the noisy count lies each true one, all together with 95 %
    told: int  # the smallest true count that is told from none, all together, with about 95 %


def expected(summary: Summary) -> list[Expected]:
    """The precision of each table, from epsilon, its shares, cells and contribution bounds alone."""
    found = []
    for name, shape in summary.shapes.items():
        noise, cells = summary.noise(name), math.prod(shape)
        within = noise.half_width(LEVEL, cells=cells)
        epsilon = summary.epsilon * summary.shares[name]
        found.append(Expected(name, cells, float(epsilon), float(noise.scale), within, 2 * within + 1))
    return found


def too_few(summary: Summary, authors: int) -> str | None:
    """Why no count of so many authors could be told from none, though all of them were in one cell; None where it could."""
    most = {"statements": authors}
    if any(each.told <= most.get(each.table, authors * summary.documents_per_author) for each in expected(summary)):
        return None
    who = "1 author is" if authors == 1 else f"{authors:,} authors are"
    return f"{who} too few at epsilon {float(summary.epsilon):g}: every count would be noise"
