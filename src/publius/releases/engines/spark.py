"""The engine for Spark: the shards of a corpus through ``mapInArrow``.

Two jobs: a survey that counts documents and compares ids before anything is drawn, and the release, in which each
task writes one Parquet file. The number of tasks follows public numbers; what goes through Spark is numbers of
tasks, and of what came of them only an error. The run secret reaches workers as a broadcast variable, which Spark
writes to local disks: encrypted, for a session without `ENCRYPTION` is refused. It is part of no plan, no configuration
and no log. A task that is retried, run twice at once or recomputed writes the same bytes.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, final

import publius.errors
from publius.errors import MissingExtraError, PubliusError, UsageError, extra
from publius.files.child import named_folders, own_environment
from publius.releases.engines.cluster import AbstractClusterEngine
from publius.releases.engines.shard_job import ShardTask, sanitized
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.reference import Reference

if TYPE_CHECKING:
    import pyarrow

ENCRYPTION: Final = "spark.io.encryption.enabled"
"""The setting of Spark under which what it writes to a local disk is encrypted."""

_SCHEMA = "number long, failed string, message string"


def _shipped(sha256: str) -> Path:
    from pyspark import SparkFiles

    return Path(SparkFiles.get(sha256))


@functools.cache
def _archives() -> Path:
    """A folder that lasts as long as this process: a session may outlive a run, and executors may join it later."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


@final
@dataclass(frozen=True)
class _Tasks:
    """The function for ``mapInArrow``: record batches of places in ``numbers`` in, of errors out.

    ``folders`` hold the user's own code, where he named some.
    """

    task: Any  # Broadcast[ShardTask]
    numbers: tuple[int, ...]
    folders: tuple[str, ...]

    def __call__(self, batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow as pa

        sys.path += [each for each in self.folders if each not in sys.path]  # last: what the user named
        for batch in batches:
            for index in batch.column(0).to_pylist():
                failed, message = self._done(self.numbers[index])
                yield pa.RecordBatch.from_pydict(
                    {"number": [index], "failed": [failed], "message": [message]},
                    pa.schema([("number", pa.int64()), ("failed", pa.string()), ("message", pa.string())]),
                )

    def _done(self, number: int) -> tuple[str | None, str | None]:
        """An error of ours is an answer, so that it is neither tried again nor logged with a trace."""
        try:
            self.task.value(number, _shipped)
        except PubliusError as error:
            return type(error).__name__, str(error)
        except Exception as error:
            raise sanitized(error) from None
        return None, None


@final
class SparkEngine(AbstractClusterEngine):
    """Shards on Spark; a context manager that starts a session, unless the caller has one, and stops it."""

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

    def carry(self, task: ShardTask[Any], numbers: Sequence[int]) -> None:
        """See `AbstractClusterEngine.carry`."""
        self._ship(task.vocabulary)
        indices = self._session.range(0, len(numbers), 1, len(numbers))  # a task for each
        broadcast = self._session.sparkContext.broadcast(task)
        try:
            found = indices.mapInArrow(_Tasks(broadcast, tuple(numbers), named_folders()), _SCHEMA).collect()
        except Exception as error:  # Spark's messages quote what a worker was doing
            raise _job_error(error) from None
        finally:
            broadcast.destroy()
        for row in sorted(found, key=lambda row: row.number):
            if row.failed is not None:
                raise _typed(row.failed, row.message)

    def _ship(self, vocabulary: Embeddings | Reference | None) -> None:
        """What is stored, once a session, to executors that may be elsewhere; on this machine it is mapped."""
        context = self._session.sparkContext
        if vocabulary is None or vocabulary.folder is None or context.master.startswith("local"):
            return
        if not any(vocabulary.sha256 in address for address in context.listArchives):
            archive = _archives() / f"{vocabulary.sha256}.tar"
            with tarfile.open(archive, "w") as tar:
                for file in sorted(vocabulary.folder.iterdir()):
                    tar.add(file, file.name)
            context.addArchive(f"{archive}#{vocabulary.sha256}")


def _typed(name: str, message: str) -> PubliusError:
    kind = getattr(publius.errors, name, PubliusError)
    return PubliusError(message) if kind is MissingExtraError else kind(message)


def _job_error(error: Exception) -> PubliusError:
    return PubliusError(
        f"Spark could not finish the job ({type(error).__name__}): its own log says why. Nothing was released; "
        "with --resume, rerun to resume"
    )


def _session(master: str, workers: int | None) -> tuple[Any, bool]:
    """A session and whether it is ours to stop."""
    with extra("spark", "pyspark"):
        from pyspark.sql import SparkSession
    active = SparkSession.getActiveSession()
    if active is not None:
        return _encrypting(active), False
    if not shutil.which("java") and not os.environ.get("JAVA_HOME"):
        raise UsageError("Spark needs Java 17, and there is no java here: install it, or use --engine local")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("publius")
    for name, value in _settings(master, workers).items():
        builder = builder.config(name, value)
    try:
        with _quiet_start(master), own_environment():
            made = builder.getOrCreate()
    except Exception as error:
        raise UsageError(
            f"no Spark session with the master {master!r} ({type(error).__name__}): check its address and Java 17"
        ) from None
    return _encrypting(made), True  # what another thread has started is what Spark gives


def _encrypting(session: Any) -> Any:
    """The session, where what Spark writes to disks is encrypted; `UsageError` otherwise.

    The setting is fixed when a context starts, so it cannot be made good here.
    """
    if str(session.sparkContext.getConf().get(ENCRYPTION, "false")).strip().lower() != "true":
        raise UsageError(
            f"the session of Spark that is running does not set {ENCRYPTION}: the secret of the run would lie in clear "
            "on its disks, and whoever finds it takes the noise away. Start the session with "
            f'.config("{ENCRYPTION}", "true"), or run without one: a session of ours has it'
        )
    return session


@contextlib.contextmanager
def _quiet_start(master: str) -> Iterator[None]:
    """On this machine, Spark's warnings of its host name and of what it does without are no news to anybody.

    A Spark that somebody has set up keeps its own way of logging. No address is changed: what is set in the JVM stays
    there, and a later session may be one with a cluster.
    """
    chosen = {"SPARK_HOME", "SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS"} & os.environ.keys()
    if chosen or not master.startswith("local"):
        yield
        return
    with resources.as_file(resources.files(__package__) / "log4j2.properties") as file:
        os.environ["SPARK_SUBMIT_OPTS"] = f"-Dlog4j2.configurationFile={file.as_uri()}"
        try:
            yield
        finally:
            del os.environ["SPARK_SUBMIT_OPTS"]


def _settings(master: str, workers: int | None) -> dict[str, str]:
    here = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    loopback = master.startswith("local") or "//127.0.0.1" in master or "//localhost" in master
    return {
        ENCRYPTION: "true",  # what is kept on a disk, the broadcast secret too
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.executorEnv.OMP_NUM_THREADS": "1",
        "spark.executorEnv.PYTHONSAFEPATH": "1",  # nothing from the folder it starts in
        **(here if loopback else {}),
        **({"spark.cores.max": str(workers)} if workers else {}),
    }
