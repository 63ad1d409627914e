"""The runner of a cluster: pieces of the corpus through Spark's ``mapInArrow``.

Two jobs: a survey that counts documents and compares ids before anything is drawn, and the release, in which each
task writes one Parquet file. Rows on their way through Spark are numbers of pieces and what came of them. The run
secret reaches workers as a broadcast variable, encrypted where Spark keeps it on a disk; it is part of no plan,
no configuration and no log. A task that is retried, run twice at once or recomputed writes the same bytes.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, final

import publius.errors
from publius.errors import MissingExtraError, PubliusError, UsageError
from publius.noise.randomness import RunKey
from publius.releases.engines.shard_job import AbstractRunner, Done, Order, Survey, perform, sanitized

if TYPE_CHECKING:
    import pyarrow

Answer = tuple[int, bytes]
Work = Callable[["Shared", int], bytes]

_SCHEMA = "piece long, failed string, answer binary"


@final
class Shared:
    """What every task of a run is given: broadcast, unpacked once in each worker process."""

    def __init__(self, order: bytes, key: bytes | None, seeded: bool) -> None:
        self._packed, self._key, self._seeded = order, key, seeded
        self._order: Order | None = None

    @property
    def order(self) -> Order:
        """The order, unpacked at first use, with one BLAS thread from then on."""
        if self._order is None:
            from threadpoolctl import threadpool_limits

            threadpool_limits(1)
            self._order = Order.unpack(self._packed, _shipped)
        return self._order

    @property
    def key(self) -> RunKey:
        """The run key; only the release has it."""
        if self._key is None:
            raise PubliusError("the survey has no run key")
        return RunKey(self._key, seeded_run=self._seeded)

    def __repr__(self) -> str:
        return "Shared(order, secret)"


def _shipped(sha256: str) -> Path:
    from pyspark import SparkFiles

    return Path(SparkFiles.get(sha256))


@functools.cache
def _archives() -> Path:
    """A folder that lasts as long as this process: a session may outlive a run, and executors may join it later."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _survey(shared: Shared, number: int) -> bytes:
    import pickle

    survey = Survey.of(shared.order.corpus, shared.order.pieces[number])
    return pickle.dumps((survey.items, survey.bad, survey.digests))


def _release(shared: Shared, number: int) -> bytes:
    return perform(shared.order, shared.key, number).to_json().encode()


@final
@dataclass(frozen=True)
class _Task:
    """The function for ``mapInArrow``: record batches of piece numbers in, of answers out."""

    work: Work
    shared: Any  # Broadcast[Shared]
    numbers: tuple[int, ...]

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            for index in batch.column(0).to_pylist():
                number = self.numbers[index]
                failed, answer = self._answer(number)
                yield pa.RecordBatch.from_pydict(
                    {"piece": [number], "failed": [failed], "answer": [answer]},
                    pa.schema([("piece", pa.int64()), ("failed", pa.string()), ("answer", pa.binary())]),
                )

    def _answer(self, number: int) -> tuple[str | None, bytes]:
        """An error of ours is an answer, so that it is neither tried again nor logged with a trace."""
        try:
            return None, self.work(self.shared.value, number)
        except PubliusError as error:
            return type(error).__name__, str(error).encode()
        except Exception as error:
            raise sanitized(error) from None


@final
class SparkRunner(AbstractRunner):
    """Runs pieces on Spark; a context manager that starts a session, unless the caller has one, and stops it."""

    def __init__(self, master: str | None = None, workers: int | None = None) -> None:
        """``master``: a Spark master URL, by default this machine; ``workers``: cores to use."""
        self._master = master or f"local[{workers or os.cpu_count() or 1}]"
        self._workers = workers
        self._session: Any = None

    def __enter__(self) -> Self:
        self._session, self._own = _session(self._master, self._workers)
        return self

    def __exit__(self, *error: object) -> None:
        if self._own:
            self._session.stop()

    def survey(self, order: Order) -> list[Survey]:
        """See `AbstractRunner.survey`."""
        import pickle

        self._ship(order)
        answers = self._run(_survey, Shared(order.pack(), None, False), range(len(order.pieces)))
        return [Survey(*pickle.loads(answer)) for _, answer in answers]  # noqa: S301  # our own worker's

    def release(self, order: Order, key: RunKey, numbers: list[int]) -> dict[int, Done]:
        """See `AbstractRunner.release`."""
        shared = Shared(order.pack(), key.expose(), key.seeded_run)
        return {number: Done.from_json(answer) for number, answer in self._run(_release, shared, numbers)}

    def _ship(self, order: Order) -> None:
        """Stored vectors, once a session, to executors that may be elsewhere; on this machine they are mapped."""
        embeddings, context = order.plan.mechanism.embeddings, self._session.sparkContext
        if embeddings.folder is None or context.master.startswith("local"):
            return
        if not any(embeddings.sha256 in address for address in context.listArchives):
            archive = _archives() / f"{embeddings.sha256}.tar"
            with tarfile.open(archive, "w") as tar:
                for file in sorted(embeddings.folder.iterdir()):
                    tar.add(file, file.name)
            context.addArchive(f"{archive}#{embeddings.sha256}")

    def _run(self, work: Work, shared: Shared, numbers: Any) -> list[Answer]:
        chosen = list(numbers)
        if not chosen:
            return []
        indices = self._session.range(0, len(chosen), 1, len(chosen))  # a task for each
        broadcast = self._session.sparkContext.broadcast(shared)
        try:
            found = indices.mapInArrow(_Task(work, broadcast, tuple(chosen)), _SCHEMA).collect()
        except Exception as error:  # Spark's messages quote what a worker was doing
            raise _job_error(error) from None
        finally:
            broadcast.destroy()
        for row in found:
            if row.failed is not None:
                raise _typed(row.failed, bytes(row.answer).decode())
        return sorted((row.piece, bytes(row.answer)) for row in found)


def _typed(name: str, message: str) -> PubliusError:
    kind = getattr(publius.errors, name, PubliusError)
    return PubliusError(message) if kind is MissingExtraError else kind(message)


def _job_error(error: Exception) -> PubliusError:
    return PubliusError(
        f"Spark could not finish the job ({type(error).__name__}): its own log says why. Nothing was released; "
        "with --resume the same call goes on"
    )


def _session(master: str, workers: int | None) -> tuple[Any, bool]:
    """A session and whether it is ours to stop."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("pyspark", "spark") from None
    active = SparkSession.getActiveSession()
    if active is not None:
        return active, False
    if not shutil.which("java") and not os.environ.get("JAVA_HOME"):
        raise UsageError("Spark needs Java 17, and there is no java here: install it, or use --engine local")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("publius")
    for name, value in _settings(master, workers).items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate(), True
    except Exception as error:
        raise UsageError(
            f"no Spark session with the master {master!r} ({type(error).__name__}): check its address and Java 17"
        ) from None


def _settings(master: str, workers: int | None) -> dict[str, str]:
    here = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    loopback = master.startswith("local") or "//127.0.0.1" in master or "//localhost" in master
    return {
        "spark.io.encryption.enabled": "true",  # what is kept on a disk, the broadcast secret too
        "spark.driver.maxResultSize": "0",  # eight bytes a document come back from the survey
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.executorEnv.OMP_NUM_THREADS": "1",
        **(here if loopback else {}),
        **({"spark.cores.max": str(workers)} if workers else {}),
    }
