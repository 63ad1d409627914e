"""Documents that the process which works on them reads itself: lines of a file, by where they stand.

A text that is read here and worked on elsewhere is pickled, copied twice and unpickled, and reading takes a quarter of
all work. So a worker is told where lines begin and end, and reads them. It decides nothing that depends on other
documents: a piece in which anything is odd, a row that cannot be read or an id that was there before, is read once more
here, one document after the other, as if there were no workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, final

from publius.documents.corpus import CHANGED, BadDocument, Corpus, Document, FilePart
from publius.documents.readers import LINES
from publius.documents.row_readers import cut_jsonl
from publius.documents.seen_ids import IdSet, id_digest
from publius.errors import DocumentError
from publius.files.reading import is_packed

MOST: Final = 16 * 2**20
"""Bytes of a piece, but for its last line: 512 texts may have gigabytes."""


@final
@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive lines of a corpus that hold ``size`` items, the first at position ``first``.

    ``alone`` is the corpus of their file, to be sent to workers; ``key`` is that of the digests of ids.
    """

    part: FilePart
    first: int
    size: int
    alone: Corpus = field(repr=False)
    key: bytes = field(repr=False)

    def read(self) -> tuple[list[Document], list[bytes]] | None:
        """The documents and the digests of their ids; None where anything is odd."""
        items = [*self.alone.read_range(replace(self.part, path=0), self.first)]
        found = [item for item in items if isinstance(item, Document)]
        if not len(found) == len(items) == self.size:
            return None
        if self.alone.id_field is None:
            return found, []
        digests = [id_digest(item.id, self.key) for item in found]
        return (found, digests) if len({*digests}) == len(digests) else None

    def read_in(self, corpus: Corpus, used: IdSet) -> list[Document | BadDocument]:
        """The items as a reader of the whole ``corpus`` finds them, who has ``used`` these ids before."""
        items = [*corpus.read_range(self.part, self.first, used)]
        if len(items) != self.size:
            raise DocumentError(CHANGED)
        return items


def is_cut(corpus: Corpus) -> bool:
    """Whether a corpus can be read in pieces: plain files of JSON lines, and nothing beside them."""
    kinds = {corpus.kind_at(number) for number in range(len(corpus.paths))}
    return (
        kinds <= LINES
        and not corpus.left
        and not any(is_packed(path, links=corpus.links) for path in corpus.paths)
    )


def pieces_of(corpus: Corpus, size: int, key: bytes) -> Iterator[Piece]:
    """A corpus that is cut, in order: ``size`` items each, fewer where texts are long."""
    first = 1
    for number, path in enumerate(corpus.paths):
        alone = replace(corpus, path=path, paths=(path,))
        for lines in cut_jsonl(path, size, MOST, links=corpus.links):
            part = FilePart(number, lines.start, lines.stop, lines.before)
            yield Piece(part, first, lines.rows, alone, key)
            first += lines.rows
