"""The work of a cluster's workers: a piece of the corpus is read, protected and written as one Parquet file.

A worker reads the documents itself, so no text goes through the cluster's shuffles, logs or broadcasts. What it
writes is the same however often it is computed and whoever computes it, and takes its name in one step: a piece
that is retried or computed twice at once is released once.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, final

import numpy as np

from publius.documents.corpus import REPEATED, BadDocument, Corpus, Document
from publius.documents.row_readers import import_parquet
from publius.documents.shards import Piece
from publius.errors import EmbeddingError, PubliusError
from publius.files import write_file
from publius.noise.randomness import RunKey
from publius.releases.engines.worker_pool import batches_of, protect_batch
from publius.releases.plan import Plan
from publius.releases.release import Release, Tally
from publius.releases.writers import COMPRESSION, Layout
from publius.vectors.embeddings import Embeddings

ROWS: Final = 1024  # of a row group
_DIGEST: Final = 8

Shipped = Callable[[str], Path]


@final
@dataclass(frozen=True, slots=True)
class Survey:
    """What a piece holds: items in each range, how many are bad, a digest of each id in order (none if numbered)."""

    items: tuple[int, ...]
    bad: int
    digests: bytes

    @classmethod
    def of(cls, corpus: Corpus, piece: Piece) -> Self:
        """Read the piece. A bad document's digest is random-like, so that it repeats no other's."""
        counts, bad, digests = [], 0, bytearray()
        for number, part in enumerate(piece):
            count = 0
            for item in corpus.read_range(part, 1):
                count += 1
                bad += isinstance(item, BadDocument)
                if corpus.id_field is not None:
                    name = f"{number}/{count}/{part}\0" if item.id is None else item.id
                    digests += hashlib.blake2b(name.encode(), digest_size=_DIGEST).digest()
            counts.append(count)
        return cls(tuple(counts), bad, bytes(digests))


def repeated(surveys: list[Survey]) -> list[list[int]]:
    """Groups of positions (from 1) whose ids have equal digests: repeated ids, and rarely a coincidence."""
    digests = np.frombuffer(b"".join(survey.digests for survey in surveys), np.uint64)
    order = np.argsort(digests, kind="stable")
    same = np.flatnonzero(np.diff(digests[order]) == 0)
    groups: dict[int, set[int]] = {}
    for at in same.tolist():
        first, second = order[at : at + 2].tolist()
        groups.setdefault(int(digests[first]), set()).update((first + 1, second + 1))
    return [sorted(group) for group in groups.values()]


@final
@dataclass(frozen=True, slots=True)
class Order:
    """All that workers need beside the run key: public decisions, where to read, where to write.

    ``firsts`` has the position of the first item of each range of each piece, ``repeats`` the positions whose id
    was there before. Released parts go to the folder ``parts``; ``notes`` is private.
    """

    plan: Plan
    corpus: Corpus
    pieces: tuple[Piece, ...]
    firsts: tuple[tuple[int, ...], ...]
    repeats: frozenset[int]
    parts: Path
    notes: Path
    batch_size: int
    skip_bad: bool

    def pack(self) -> bytes:
        """As bytes for `unpack`; stored embeddings are named, not copied."""
        buffer = io.BytesIO()
        _Packer(buffer, pickle.HIGHEST_PROTOCOL).dump(self)
        return buffer.getvalue()

    @staticmethod
    def unpack(data: bytes, shipped: Shipped) -> Order:
        """What `pack` made; ``shipped`` gives the folder of embeddings, by their sha256, if their own is not here."""
        return _Unpacker(data, shipped).load()  # type: ignore[no-any-return]  # pack() made it in this run

    def items(self, number: int) -> Iterator[Document | BadDocument]:
        """The documents of a piece, a repeated id as a bad document."""
        for part, first in zip(self.pieces[number], self.firsts[number], strict=True):
            for item in self.corpus.read_range(part, first):
                repeats = isinstance(item, Document) and item.position in self.repeats
                yield BadDocument(item.position, item.id, REPEATED) if repeats else item


class _Packer(pickle.Pickler):
    def persistent_id(self, obj: Any) -> tuple[str, str] | None:
        if isinstance(obj, Embeddings) and obj.folder is not None:
            return str(obj.folder), obj.sha256
        return None


class _Unpacker(pickle.Unpickler):
    def __init__(self, data: bytes, shipped: Shipped) -> None:
        super().__init__(io.BytesIO(data))  # written by this run's own driver
        self._shipped = shipped

    def persistent_load(self, pid: Any) -> Embeddings:
        folder, sha256 = pid
        place = Path(folder) if Path(folder).is_dir() else self._shipped(sha256)
        embeddings = Embeddings.open(place)
        if embeddings.sha256 != sha256:
            raise EmbeddingError("a worker has other vectors under the same name: give it the same store")
        return embeddings


@final
@dataclass(frozen=True, slots=True)
class Done:
    """What came of a piece; ``bad`` are left out, and stop the run unless they are to be skipped."""

    tally: Tally
    bad: tuple[BadDocument, ...]

    def to_json(self) -> str:
        """For the way to the driver and for a resumed run."""
        return json.dumps(
            {
                "tally": dataclasses.astuple(self.tally),
                "bad": [dataclasses.astuple(item) for item in self.bad],
            }
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """What `to_json` wrote."""
        kept = json.loads(text)
        return cls(Tally(*kept["tally"]), tuple(BadDocument(*item) for item in kept["bad"]))


class AbstractRunner(ABC):
    """Carries pieces to workers and answers back. To add a cluster, write one class.

    The run key goes to workers by the cluster's own means and is written nowhere.
    """

    @abstractmethod
    def __enter__(self) -> Self:
        """Make the workers ready."""

    @abstractmethod
    def __exit__(self, *error: object) -> None:
        """Let them go."""

    @abstractmethod
    def survey(self, order: Order) -> list[Survey]:
        """`Survey.of` each piece."""

    @abstractmethod
    def release(self, order: Order, key: RunKey, numbers: list[int]) -> dict[int, Done]:
        """`perform` the pieces ``numbers``, as often as it takes."""


def done_path(notes: Path, number: int) -> Path:
    """Where it is noted that a piece is finished: private, it counts unknown words."""
    return notes / f"{number:05d}.json"


def stop_path(notes: Path) -> Path:
    """A file that tells workers that the run will fail, so that they need not go on."""
    return notes / "stop"


def perform(order: Order, key: RunKey, number: int) -> Done:
    """Read, protect and write a piece; the same bytes whenever it is done again."""
    if stop_path(order.notes).exists():
        return Done(Tally(), ())
    tally, bad = Tally(), list[BadDocument]()
    with write_file(order.parts / f"part-{number:05d}.parquet") as file, _Part(file, order.plan) as part:
        for batch in batches_of(order.items(number), order.batch_size):
            results, batch_tally = protect_batch(batch, order.plan, key, threads=1)
            tally += batch_tally
            bad += [result for result in results if isinstance(result, BadDocument)]
            if bad and not order.skip_bad:
                stop_path(order.notes).touch(0o600)
                return Done(tally, tuple(bad[:1]))
            part.write([result for result in results if isinstance(result, Release)])
    done = Done(tally, tuple(bad))
    with write_file(done_path(order.notes, number), 0o600) as file:
        file.write(done.to_json().encode())
    return done


@final
class _Part:
    """A Parquet file of releases, in row groups that do not depend on the batches."""

    def __init__(self, file: Any, plan: Plan) -> None:
        self._layout = Layout.of(plan)
        self._writer = import_parquet()[1].ParquetWriter(file, self._layout.schema(), compression=COMPRESSION)
        self._rows: list[Release] = []

    def write(self, releases: list[Release]) -> None:
        self._rows += releases
        while len(self._rows) >= ROWS:
            self._flush(ROWS)

    def _flush(self, count: int) -> None:
        self._writer.write_batch(self._layout.rows(self._rows[:count]))
        del self._rows[:count]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._rows:
            self._flush(len(self._rows))
        self._writer.close()


def sanitized(error: Exception) -> PubliusError:
    """A worker's error as its type and place: its message could hold text, and a cluster logs messages (R17)."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}" if frame else "unknown place"
    return PubliusError(f"internal error in a worker: {type(error).__name__} at {place}; please report it")
