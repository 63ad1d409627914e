"""From documents to the folder of a summary: counted, paid for, drawn once, written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from publius.collections.accuracy import Accuracy, accuracy, sums_say_something
from publius.collections.authors import MOST_NAMES, author_key, near_duplicates
from publius.documents.corpus import Corpus, open_public_corpus
from publius.errors import DataError, PolicyError, PubliusError, StorageError, UsageError
from publius.files import new_folder, remove_leftovers, shown
from publius.files.progress import Advance, unheard
from publius.noise.randomness import RunKey
from publius.privacy.ledger import Charge, Ledger
from publius.releases.engines.cluster import AbstractClusterEngine
from publius.releases.engines.engine import AbstractEngine
from publius.releases.engines.run import engine_of
from publius.releases.engines.run_folder import claimed
from publius.releases.near import REPLACED, check_not_empty, emptiness_of_bound
from publius.releases.summaries.earlier import open_earlier
from publius.releases.summaries.folder import fill_folder, finish, manifest_of
from publius.releases.summaries.report import check_libraries
from publius.releases.summaries.said import Said
from publius.releases.summaries.summary import Seen, Summary
from publius.releases.summaries.work import count_here, count_on_cluster
from publius.vectors.learning.reference import remembered_texts


@final
@dataclass(frozen=True, eq=False)
class Finished:
    """A summary that has its place.

    Attributes:
        said: what it says.
        manifest: what it states.
        seen: for the curator alone.
        authors: how many there are, for the curator alone.
        left_out: authors without budget, for the curator alone.
        alike: authors that may be one person, for the curator alone.
        in_public: how many private authors also wrote public texts of the reference, for the curator alone.
    """

    said: Said
    manifest: dict[str, Any]
    seen: Seen
    authors: int
    left_out: int
    alike: tuple[tuple[str, ...], ...]
    in_public: int


@final
@dataclass
class _Authors:
    """Who wrote something: as many names as are needed, and no more."""

    keep_all: bool
    public: frozenset[str]
    names: set[str] = field(default_factory=set)
    in_public: set[str] = field(default_factory=set)
    many: bool = False

    def hear(self, name: str) -> None:
        """One more document of ``name``."""
        if name in self.public:
            self.in_public.add(name)
        if self.keep_all or not self.many:
            self.names.add(name)
            self.many = len(self.names) > MOST_NAMES
            if self.many and not self.keep_all:
                self.names.clear()

    def alike(self) -> tuple[tuple[str, ...], ...]:
        """Those who may be one person; none where there are too many to look."""
        return () if self.many else tuple(near_duplicates(self.names))


def summarize(
    corpus: Corpus,
    summary: Summary,
    output: Path,
    *,
    ledger: Ledger | None = None,
    compare: Path | None = None,
    authors: int | None = None,
    engine: str | AbstractEngine = "local",
    master: str | None = None,
    workers: int | None = None,
    progress: Advance = unheard,
    notice: Callable[[str], None] = lambda text: None,
) -> Finished:
    """Write what the documents of ``corpus`` say into the new folder ``output``, whole or not at all.

    An account of each author is debited in ``ledger`` once, durably and before anything is drawn; an author who has
    not enough left is left out before anything is chosen. A run that was killed is debited anew when it is repeated:
    no debit has two draws. ``compare`` is the folder of an earlier summary. ``authors`` is about how many are expected,
    a public number: where nothing could be told apart among so many nothing is read. Without it there is a summary
    whatever the documents are, and only ``notice`` hears that it says nothing: a refusal would tell of their number.

    The ``engine`` "local" counts in this process or in ``workers``, "spark" on the cluster at ``master``, whose workers
    must see the input and ``output``. Who may be one person, or wrote public texts, too, is looked for where this
    process reads: on a cluster only with a ledger. ``notice`` hears what only the curator is told.

    Raises `PolicyError` for an epsilon that bounds nothing, where nothing could be told apart among so many
    ``authors``, and for a reference that was learned from these documents; `DataError` for rows without author or with
    several; `BudgetError` where somebody else spends the same budget at the same time.
    """
    why = emptiness_of_bound(float(summary.epsilon), REPLACED)
    check_not_empty(why, "Nothing was read, drawn or debited")
    if authors is not None and (why := says_nothing(summary, authors)) is not None:
        raise PolicyError(
            f"{why}. Declare fewer values with --by, take a reference with fewer themes or a larger epsilon, or leave "
            "out --authors to go on all the same. Nothing was read, drawn or debited"
        )
    check_libraries()
    chosen = engine_of(engine, master, workers)
    summary.spaces.reference.check_learned_elsewhere(corpus.sha256())
    if summary.spaces.lacking:
        notice(summary.spaces.lacking)
    earlier = None if compare is None else open_earlier(compare, summary)
    if ledger is not None:
        ledger.price(summary)  # refuses a ledger that counts something else
    for left in remove_leftovers(output):
        notice(f"removed {shown(left)}, which a run that was killed left behind; nothing of it was released")
    with claimed(output), charged(ledger) as paid, new_folder(output, release=True) as folder:
        heard = _Authors(ledger is not None, _public_authors(summary, notice))
        key = RunKey.fresh()
        if isinstance(chosen, AbstractClusterEngine):
            before = corpus.state()
            if ledger is not None:
                for _ in summary.read(summary.rows(corpus), Seen(), heard.hear):
                    pass
            contributions, seen = count_on_cluster(chosen, summary, corpus, key, folder)
            corpus.check_unchanged(before)
        else:
            contributions, seen = count_here(
                summary, summary.rows(corpus), key, workers or 1, author=heard.hear, progress=progress
            )
        number = len(heard.names) if ledger is not None else contributions.authors
        if authors is None and (why := says_nothing(summary, number)) is not None:
            notice(f"{why}. This stands in no file, and there is a summary all the same")
        left_out = 0
        if ledger is not None:
            spent = ledger.without_room(summary.epsilon)
            admitted = sorted(name for name in heard.names if not spent(name))
            left_out = number - len(admitted)
            contributions.keep_only(admitted)
            ledger.spend(Charge(None, summary.epsilon, name) for name in admitted)
            paid.append(True)
        said = Said(summary.draw(contributions.cells), earlier)
        manifest = manifest_of(summary, None if earlier is None else earlier.name)
        fill_folder(folder, said, manifest)
        manifest = finish(folder, manifest)
    return Finished(said, manifest, seen, number, left_out, heard.alike(), len(heard.in_public))


def expected(summary: Summary, authors: int) -> dict[str, Accuracy]:
    """The accuracy that each statistic will have, from public numbers only."""
    return {
        name: accuracy(
            authors,
            cells,
            summary.epsilon_of(name),  # type: ignore[arg-type]
            documents_per_author=summary.documents_per_author,
        )
        for name, cells in summary.cells.items()
    }


def says_nothing(summary: Summary, authors: int) -> str | None:
    """Why no cell, stratum or theme of ten times the average could be told from an empty one; None where one could."""
    c, (strata, themes, _) = summary.documents_per_author, summary.counting.shape
    if summary.has("themes") and sums_say_something(
        authors, (strata, themes), summary.epsilon_of("themes"), documents_per_author=c
    ):
        return None
    found = expected(summary, authors)
    if not all(each.says_nothing for each in found.values()):
        return None
    best = min(found.values(), key=lambda each: each.smallest_95)
    return (
        f"nothing could be told apart: with {authors:,} authors and epsilon {float(summary.epsilon):g} only a cell of "
        f"{best.smallest_95:,} documents would differ from an empty one"
    )


def _public_authors(summary: Summary, notice: Callable[[str], None]) -> frozenset[str]:
    """Who wrote the public texts of the reference, where they still lie on this machine; a reference names nobody."""
    reference = summary.spaces.reference
    name, folder = reference.source.get("author_field"), reference.folder
    if not name or folder is None or (texts := remembered_texts(folder)) is None:
        return frozenset()
    path, text_field = texts
    try:
        public = open_public_corpus(path, text_field=text_field, keep=(str(name),), number=True)
        keys = {author_key(row.fields.get(str(name))) for _, row in public.rows()}
    except PubliusError:
        notice(
            "the public texts of the reference are gone or were moved: nobody looked whose names stand in both"
        )
        return frozenset()
    return frozenset(key for key in keys if key is not None)


@contextmanager
def charged(ledger: Ledger | None) -> Iterator[list[bool]]:
    """After a debit: what fails now says that it was made."""
    paid: list[bool] = []
    try:
        yield paid
    except (UsageError, StorageError, DataError) as error:
        if not paid or ledger is None:
            raise
        raise error.after_debit("nothing was released, and a new run is debited anew") from None
