"""In which cells a document counts: its group, topic and subject, and the statements it is near to.

All of it is a function of the one document and of public things, to the last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array, IndexArray
from publius.classifiers.features import meaning
from publius.errors import UsageError
from publius.files.progress import advance
from publius.noise.randomness import RunKey
from publius.summaries.contributions import NEAR_RECORD, Contributions, Mentions, Tags, tags_of
from publius.summaries.groups import Groups
from publius.text.normal_form import author_key

if TYPE_CHECKING:
    from publius.classifiers.classifier import Classifier
    from publius.classifiers.encoder import Encoder
    from publius.documents.corpus import Batch
    from publius.documents.document import Document

BATCH: Final = 1000
NEAR: Final = 0.3
"""The cosine from which a text counts as something like a statement.

Of packaged made-up answers and statements about *other* concerns at most one pair in a hundred is as near (a test has
it); of those about the same concern half are.
"""


@final
class Statements:
    """Public statements, and the texts that are near to them by a sentence encoder."""

    def __init__(self, statements: Sequence[str], encoder: Encoder) -> None:
        self.texts = tuple(" ".join(text.split()) for text in statements)
        if not all(self.texts) or len({*self.texts}) < len(self.texts):
            raise UsageError("a statement of --ask is empty or given twice")
        self.encoder = encoder
        self._vectors = [self._placed(text) for text in self.texts]

    def _placed(self, text: str) -> Float64Array:
        return np.asarray(meaning([text], self.encoder)[0])

    def near(self, text: str) -> list[tuple[int, float]]:
        """The statements that a text is near to, with their cosines; none for a text without words."""
        if not any(map(str.isalnum, text)):
            return []
        vector = self._placed(text)
        cosines = [float(np.dot(vector, each)) for each in self._vectors]
        return [(place, cosine) for place, cosine in enumerate(cosines) if cosine > NEAR]


class Whose(NamedTuple):
    """Who wrote the documents of a batch; private: how many there are, the rows that name an author, whose they are."""

    documents: int
    rows: IndexArray
    tags: Tags
    names: frozenset[str]


def authors_of(given: tuple[bytes, bool], batch: Batch) -> Whose:
    """What a worker finds in the first reading, with the key of the tags; the names only where a ledger needs them."""
    secret, wanted = given
    keys = batch.authors()
    names = [key for key in keys if key is not None]
    rows = [row for row, key in enumerate(keys, start=batch.first) if key is not None]
    return Whose(len(keys), np.array(rows, np.int64), tags_of(names, secret), frozenset(names if wanted else ()))


class Counted(NamedTuple):
    """What a worker gives back of a batch in the second reading; private."""

    cells: IndexArray
    near: NDArray[np.void]
    undeclared: Counter[str]


@final
@dataclass(frozen=True)
class Cells:
    """What a worker counts by, None where there is no such table; public, but for the key of the authors' tags."""

    groups: Groups
    topics: Classifier | None
    subjects: Classifier | None
    statements: Statements | None
    secret: bytes = field(default=b"", repr=False)

    @property
    def shape(self) -> tuple[int, int, int]:
        """How many groups, topics and subjects; 1 where there are none."""
        topics = 1 if self.topics is None else len(self.topics.labels)
        return self.groups.size, topics, 1 if self.subjects is None else len(self.subjects.labels)

    def of(self, texts: Sequence[str], groups: Sequence[Mapping[str, object]]) -> IndexArray:
        """The cell of each document: its group, topic and subject as one number."""
        topics = subjects = np.zeros(len(texts), np.int64)
        if self.topics is not None:
            topics = np.asarray(self.topics.answers(texts), np.int64)
        if self.subjects is not None:
            subjects = topics if self.subjects is self.topics else np.asarray(self.subjects.answers(texts), np.int64)
        _, t, u = self.shape
        of_groups = np.array([self.groups.place(each) for each in groups], np.int64)
        return (of_groups * t + topics) * u + subjects

    def counted(self, batch: Batch, rows: IndexArray) -> Counted:
        """What the documents of these rows count as, and which statements any of the batch are near to."""
        chosen = {*rows.tolist()}
        documents = batch.documents(only=chosen if self.statements is None else None)
        near = [*self._near(documents)]
        documents = [each for each in documents if each.row in chosen]
        cells = self.of([each.text for each in documents], [each.fields for each in documents])
        return Counted(cells, np.array(near, NEAR_RECORD), self._undeclared(cells))

    def _near(self, documents: Iterable[Document]) -> Iterator[tuple[int, int, float]]:
        if self.statements is None:
            return
        for each in documents:
            if (key := author_key(each.author)) is not None:
                for found in self.statements.near(each.text):
                    yield (int(tags_of([key], self.secret)[0]), *found)

    def _undeclared(self, cells: IndexArray) -> Counter[str]:
        if not self.groups.fields:
            return Counter()
        _, t, u = self.shape
        places = np.unravel_index(cells // (t * u), self.groups.shape)
        return Counter(
            {
                each.name: int((at == len(each.values)).sum())
                for each, at in zip(self.groups.fields, places, strict=True)
            }
        )


def count_batch(cells: Cells, given: tuple[Batch, IndexArray]) -> Counted:
    """What a worker does with a batch, and the rows of it that were chosen."""
    return cells.counted(*given)


@final
class Collected:
    """What a collection contributes, as it is read twice: keyed hashes, cells and cosines, no text. Private.

    First who wrote what, by which each author's documents are chosen; then where the chosen ones count, so that no
    other is classified.

    Attributes:
        documents: how many there were.
        left_out: how many of them name no author.
        undeclared: of each field how many documents that count have no declared value.
        names: the authors' keys, where a ledger needs them.
    """

    def __init__(self, key: RunKey, documents_per_author: int, statements_per_author: int) -> None:
        self.contributions = Contributions(key, documents_per_author)
        self.mentions = Mentions(statements_per_author)
        self.documents = self.left_out = 0
        self.undeclared: Counter[str] = Counter()
        self.names: set[str] = set()
        self._cells: list[IndexArray] = []

    def meet(self, found: Iterable[Whose], total: int = 0) -> None:
        """The first reading, in the order of the documents; ``total``: how many there are, for whoever waits."""
        for each in found:
            self.documents += each.documents
            self.left_out += each.documents - len(each.rows)
            self.contributions.add(each.tags, each.rows)
            self.names |= each.names
            advance(self.documents, total)

    def chosen(self, batches: Iterable[Batch], *, every: bool) -> Iterator[tuple[Batch, IndexArray]]:
        """The batches of the second reading with the rows that were chosen, those without any only for ``every``."""
        rows = self.contributions.rows
        for batch in batches:
            low, high = np.searchsorted(rows, (batch.first, batch.first + len(batch)))
            if every or low < high:
                yield batch, rows[low:high]

    def take(self, counted: Iterable[Counted]) -> None:
        """The second reading."""
        done, total = 0, len(self.contributions.rows)
        for each in counted:
            self._cells.append(each.cells)
            self.mentions.take(each.near)
            self.undeclared += each.undeclared
            advance(done := done + len(each.cells), total)

    @property
    def cells(self) -> IndexArray:
        """The cell of each document that counts. Private."""
        return np.concatenate([np.zeros(0, np.int64), *self._cells])

    @property
    def authors(self) -> int:
        """How many authors there are: public."""
        return self.contributions.authors
