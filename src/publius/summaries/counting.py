"""In which cells a document counts: its group, topic and subject, and the statements it is near to.

All of it is a function of the one document and of public things, to the last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import NDArray

from publius.arrays import Float64Array, IndexArray
from publius.classifiers.features import unit
from publius.errors import UsageError
from publius.files.progress import advance
from publius.noise.randomness import RunKey
from publius.summaries.contributions import NEAR_RECORD, Contributions, Mentions, Tags, tags_of
from publius.summaries.groups import Groups
from publius.text.author_names import author_key

if TYPE_CHECKING:
    from publius.classifiers.classifier import Classifier
    from publius.classifiers.encoder import Encoder
    from publius.documents.corpus import Batch

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
        return np.asarray(unit(np.asarray(self.encoder.encode([text]), np.float64))[0])

    def near(self, text: str) -> list[tuple[int, float]]:
        """The statements that a text is near to, with their cosines; none for a text without words."""
        if not any(map(str.isalnum, text)):
            return []
        vector = self._placed(text)
        cosines = [float(np.dot(vector, each)) for each in self._vectors]
        return [(place, cosine) for place, cosine in enumerate(cosines) if cosine > NEAR]


@final
@dataclass(frozen=True)
class Cells:
    """What a worker counts by, None where there is no such table; public, but for the key of the authors' tags."""

    groups: Groups
    topics: Classifier | None
    subjects: Classifier | None
    statements: Statements | None
    secret: bytes = field(default=b"", repr=False)
    names: bool = False  # whether those of authors are needed, for a ledger

    @property
    def shape(self) -> tuple[int, int, int]:
        """How many groups, topics and subjects; 1 where there are none."""
        topics = 1 if self.topics is None else len(self.topics.labels)
        return self.groups.size, topics, 1 if self.subjects is None else len(self.subjects.labels)

    def counted(
        self, texts: Sequence[str], authors: Sequence[object], groups: Sequence[Mapping[str, object]]
    ) -> Counted:
        """Where these documents count; those whose author is not named are left out."""
        keys = [author_key(author) for author in authors]
        named = [place for place, key in enumerate(keys) if key is not None]
        texts = [texts[place] for place in named]
        names = [key for key in keys if key is not None]
        of_groups = np.array([self.groups.place(groups[place]) for place in named], np.int64)
        topics = subjects = np.zeros(len(named), np.int64)
        if self.topics is not None:
            topics = np.asarray(self.topics.answers(texts), np.int64)
        if self.subjects is not None:
            subjects = topics if self.subjects is self.topics else np.asarray(self.subjects.answers(texts), np.int64)
        _, t, u = self.shape
        cells = (of_groups * t + topics) * u + subjects
        tags = tags_of(names, self.secret)
        asked = () if self.statements is None else tuple(map(self.statements.near, texts))
        near = [(tags[place], *each) for place, found in enumerate(asked) for each in found]
        by_field = np.unravel_index(of_groups, self.groups.shape) if self.groups.fields else ()
        undeclared = {
            each.name: int((places == len(each.values)).sum())
            for each, places in zip(self.groups.fields, by_field, strict=True)
        }
        kept = frozenset(names if self.names else ())
        return Counted(len(keys), tags, cells, np.array(near, NEAR_RECORD), kept, Counter(undeclared))


@final
@dataclass(frozen=True, eq=False)
class Counted:
    """What a worker gives back of a batch; private."""

    documents: int
    tags: Tags
    cells: IndexArray
    near: NDArray[np.void]
    names: frozenset[str]
    undeclared: Counter[str]


@final
class Collected:
    """What a collection contributes, as it streams by: keyed hashes, cells and cosines, no text. Private."""

    def __init__(self, key: RunKey, documents_per_author: int, statements_per_author: int) -> None:
        self.contributions = Contributions(key, documents_per_author)
        self.mentions = Mentions(statements_per_author)
        self.documents = self.left_out = 0
        self.undeclared: Counter[str] = Counter()
        self.names: set[str] = set()

    def take(self, counted: Iterable[Counted], total: int = 0) -> Collected:
        """Batches in the order of the documents; ``total``: how many there are, for whoever waits."""
        for each in counted:
            self.documents += each.documents
            self.left_out += each.documents - len(each.tags)
            self.contributions.add(each.tags, each.cells)
            self.mentions.take(each.near)
            self.names |= each.names
            self.undeclared += each.undeclared
            advance(self.documents, total)
        return self

    @property
    def authors(self) -> int:
        """How many authors there are: public."""
        return self.contributions.authors


def count_batch(cells: Cells, batch: Batch) -> Counted:
    """Where the documents of a batch count: what a worker does."""
    documents = batch.documents()
    return cells.counted(
        [each.text for each in documents], [each.author for each in documents], [each.fields for each in documents]
    )
