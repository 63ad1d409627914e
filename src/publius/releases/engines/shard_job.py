"""The work of a cluster's workers: a shard of the corpus is read, protected and written as one Parquet file.

A worker reads the documents itself, so no text goes through the cluster's shuffles, logs or broadcasts. What it
writes is the same however often it is computed and whoever computes it, and takes its name in one step: a shard
that is retried or computed twice at once is released once.
"""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, Protocol, Self, TypeVar, final

from publius.documents.corpus import CHANGED, BadDocument, Corpus, Document, FilePart
from publius.documents.row_readers import import_parquet
from publius.documents.shards import Shard
from publius.errors import DocumentError, EmbeddingError, PubliusError
from publius.files import write_file
from publius.noise.randomness import RunKey
from publius.releases.engines.worker_pool import batches_of, protect_batch
from publius.releases.layout import Layout
from publius.releases.plan import Plan
from publius.releases.release import Release, Tally
from publius.releases.writers import COMPRESSION
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.reference import Reference, open_reference

ROWS: Final = 1024  # of a row group

Shipped = Callable[[str], Path]


@final
@dataclass(frozen=True, slots=True)
class ShardJob:
    """All that workers need beside the run key: public decisions, where to read, where to write.

    What is released goes to the folder ``parts``; ``notes`` is private. The rest is known after a survey: the
    position of the first item of each range, the documents left out, the positions whose id was there before, and
    the shards.
    """

    plan: Plan
    corpus: Corpus
    ranges: tuple[FilePart, ...]
    parts: Path
    notes: Path
    batch_size: int
    skip_bad: bool
    firsts: tuple[int, ...] = ()
    bad: tuple[BadDocument, ...] = ()
    repeats: frozenset[int] = frozenset()
    shards: tuple[Shard, ...] = ()

    @property
    def vocabulary(self) -> Embeddings | Reference | None:
        """The vocabulary that documents are read with."""
        return self.plan.vocabulary

    def pack(self) -> bytes:
        """As bytes for `unpacked`."""
        return packed(self)

    def documents(self, number: int) -> Iterator[Document]:
        """The documents of a shard; `DocumentError` when the input has changed since the survey."""
        shard = self.shards[number]
        read = 0
        for item in itertools.islice(self._good(shard.first), shard.skip, shard.skip + shard.count):
            read += 1
            yield item
        if read < shard.count:
            raise DocumentError(CHANGED)

    def _good(self, start: int) -> Iterator[Document]:
        for part, first in zip(self.ranges[start:], self.firsts[start:], strict=True):
            for item in self.corpus.read_range(part, first):
                if isinstance(item, Document) and item.position not in self.repeats:
                    yield item


def packed(job: object) -> bytes:
    """A job as bytes for `unpacked`; stored embeddings and references are named, not copied."""
    buffer = io.BytesIO()
    _Packer(buffer, pickle.HIGHEST_PROTOCOL).dump(job)
    return buffer.getvalue()


def unpacked(data: bytes, shipped: Shipped) -> Any:
    """Reverse `packed` of this run; ``shipped`` gives a folder, by its sha256, if the original is not here."""
    return _Unpacker(data, shipped).load()


class _Packer(pickle.Pickler):
    def persistent_id(self, obj: Any) -> tuple[str, str, str] | None:
        if isinstance(obj, Embeddings | Reference) and obj.folder is not None:
            return type(obj).__name__, str(obj.folder), obj.sha256
        return None


class _Unpacker(pickle.Unpickler):
    def __init__(self, data: bytes, shipped: Shipped) -> None:
        super().__init__(io.BytesIO(data))  # written by this run's own driver
        self._shipped = shipped

    def persistent_load(self, pid: Any) -> Embeddings | Reference:
        kind, folder, sha256 = pid
        place = Path(folder) if Path(folder).is_dir() else self._shipped(sha256)
        stored = Embeddings.open(place) if kind == Embeddings.__name__ else open_reference(place)
        if stored.sha256 != sha256:
            raise EmbeddingError("a worker has other vectors under the same name: give it the same store")
        return stored


def _not_shipped(sha256: str) -> Path:
    raise EmbeddingError("a worker does not see the vectors: store them where all workers can read them")


class TaskJob(Protocol):
    """The job of a cluster's workers: a `ShardJob`, or one that counts."""

    @property
    def notes(self) -> Path:
        """A private folder that all workers see."""
        ...

    @property
    def vocabulary(self) -> Embeddings | Reference | None:
        """The large stored inputs, for executors that may be elsewhere."""
        ...

    def pack(self) -> bytes:
        """As bytes for `unpacked`."""
        ...


J = TypeVar("J", bound=TaskJob)


@final
class ShardTask(Generic[J]):
    """The task that a cluster carries to its workers and calls with one number after another: `AbstractClusterEngine`.

    It holds the run key and where the job is kept, in a private folder that all workers see, and nothing whose size
    depends on documents. To be pickled by the cluster's own means and written nowhere.
    """

    def __init__(self, work: Callable[[J, RunKey, int], None], job: J, key: RunKey) -> None:
        self._work, self.kept = work, job.notes / "job"
        self._key, self._seeded = key.expose(), key.seeded_run
        self._job: J | None = None
        self.vocabulary: Embeddings | Reference | None = job.vocabulary
        with write_file(self.kept, 0o600, durable=False) as file:
            file.write(job.pack())

    def __call__(self, number: int, shipped: Shipped = _not_shipped) -> None:
        """Do the work called ``number``, as often as it is asked for; ``shipped`` as in `unpacked`."""
        if self._job is None:
            from threadpoolctl import threadpool_limits

            threadpool_limits(1)
            self._job = unpacked(self.kept.read_bytes(), shipped)
        self._work(self._job, RunKey(self._key, seeded_run=self._seeded), number)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_job": None, "vocabulary": None}

    def __repr__(self) -> str:
        return "ShardTask(secret)"


@final
@dataclass(frozen=True, slots=True)
class ShardResult:
    """The result of a shard; ``bad`` could not be protected, and stop the run unless they are to be skipped."""

    tally: Tally
    bad: tuple[BadDocument, ...]

    def to_json(self) -> str:
        """For the driver and for a resumed run."""
        bad = [dataclasses.astuple(item) for item in self.bad]
        return json.dumps({"tally": dataclasses.astuple(self.tally), "bad": bad})

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Reverse `to_json`."""
        kept = json.loads(text)
        return cls(Tally(*kept["tally"]), tuple(BadDocument(*item) for item in kept["bad"]))


def result_path(notes: Path, number: int) -> Path:
    """Where it is noted what came of a shard: private, it counts unknown words."""
    return notes / f"{number:05d}.json"


def stop_path(notes: Path) -> Path:
    """A file that tells workers that the run will fail, so that they need not go on."""
    return notes / "stop"


def refused_path(notes: Path, number: int) -> Path:
    """Where it is noted that a shard has a document that stops the run, and which."""
    return notes / f"refused-{number:05d}.json"


def perform(job: ShardJob, key: RunKey, number: int) -> None:
    """Read, protect and write a shard; the same bytes whenever it is done again."""
    if stop_path(job.notes).exists():
        return
    target = job.parts / f"part-{number:05d}.parquet"
    try:
        with write_file(target, 0o600) as file, _Part(file, job.plan) as part:
            result = _released(job, key, number, part)
    except _RefusedError as refused:
        result, path = refused.result, refused_path(job.notes, number)
        stop_path(job.notes).touch(0o600)
    else:
        path = result_path(job.notes, number)
    with write_file(path, 0o600) as file:
        file.write(result.to_json().encode())


def _released(job: ShardJob, key: RunKey, number: int, part: _Part) -> ShardResult:
    tally, bad = Tally(), list[BadDocument]()
    for batch in batches_of(job.documents(number), job.batch_size):
        results, batch_tally = protect_batch(batch, job.plan, key, threads=1)
        tally += batch_tally
        bad += [result for result in results if isinstance(result, BadDocument)]
        if bad and not job.skip_bad:
            raise _RefusedError(ShardResult(tally, tuple(bad[:1])))
        part.write([result for result in results if isinstance(result, Release)])
    return ShardResult(tally, tuple(bad))


class _RefusedError(Exception):
    """A shard holds a document that cannot be released: its file is not to be written."""

    def __init__(self, result: ShardResult) -> None:
        super().__init__()
        self.result = result


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
