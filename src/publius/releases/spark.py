"""Pieces by Spark: the same pieces as on one machine, on a folder that driver and executors share.

The driver writes each batch as a private file beside the run key; one task a core makes every so-many-th piece of
them, and plain files carry everything: Python gets no data through Spark, and the key never leaves that folder. A
task that is tried again makes the same bytes, since noise is a function of the key and the row; a piece has its name
when it is whole, so which of two tasks was quicker changes nothing.
"""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import publius.errors
from publius.errors import PubliusError, StorageError, UsageError, extra, place_of
from publius.files.processes import one_processor, safe_start, searched
from publius.files.progress import stage
from publius.files.writing import write_file

if TYPE_CHECKING:
    from publius.documents.corpus import Batch


def mapped(
    work: Callable[[Any, Any], Any], state: Any, batches: Iterable[tuple[Batch, *tuple[Any, ...]]], *, folder: Path,
    master: str | None, workers: int | None,
) -> Iterator[Any]:  # fmt: skip
    """``work(state, given)`` of each batch and what stands beside it, in order, as `publius.files.processes.mapped` does.

    All machines of Spark see ``folder``; none of them need see the documents' files.
    """
    spooled = folder / "spooled"
    shutil.rmtree(spooled, ignore_errors=True)
    spooled.mkdir(0o700)
    try:
        count = 0
        with stage("handing documents to Spark"):
            for count, (batch, *beside) in enumerate(batches, start=1):
                _write(spooled / str(count), (batch.held(), *beside))
        if count:
            _write(spooled / "work", (work, state))
            context, own = _context(master, workers)
            try:
                with stage("Spark is at work"):
                    _run(context, spooled, count)
            finally:
                if own:
                    context.stop()
        for number in range(1, count + 1):
            yield _read(spooled / f"{number} done")
    finally:
        shutil.rmtree(spooled, ignore_errors=True)


def _write(path: Path, what: Any) -> None:
    with write_file(path, 0o600, durable=False) as file:
        pickle.dump(what, file, pickle.HIGHEST_PROTOCOL)


def _read(path: Path) -> Any:
    return pickle.loads(path.read_bytes())  # noqa: S301  # written by us in a folder of our own


def _run(context: Any, spooled: Path, count: int) -> None:
    tasks = min(count, max(int(context.defaultParallelism), 1))
    numbers = context.parallelize(range(tasks), tasks)
    try:
        found = numbers.map(partial(_task, spooled, count, tasks, tuple(searched()))).collect()
    except Exception as error:  # Spark's messages quote what a worker was doing
        raise StorageError(
            f"Spark could not finish ({type(error).__name__}): its own log says where. With --resume the run goes on"
        ) from None
    for failed in found:
        if failed is not None:
            kind = getattr(publius.errors, failed[0], PubliusError)
            raise (kind if kind is not publius.errors.MissingExtraError else UsageError)(failed[1])


def _task(spooled: Path, count: int, tasks: int, folders: tuple[str, ...], number: int) -> tuple[str, str] | None:
    """What one task does: every ``tasks``-th batch; an error of ours is an answer, so that it is not tried again."""
    from threadpoolctl import threadpool_limits

    sys.path += [each for each in folders if each not in sys.path]  # last: what the user named
    try:
        with one_processor(), threadpool_limits(1):
            work, state = _read(spooled / "work")
            for place in range(number + 1, count + 1, tasks):
                if not (done := spooled / f"{place} done").exists():  # a task that was killed had done it
                    _write(done, work(state, _read(spooled / str(place))))
    except PubliusError as error:
        return type(error).__name__, str(error)
    except Exception as error:  # its message and its trace may hold words of a document (rule 17)
        raise RuntimeError(f"a task failed: {place_of(error)}") from None
    return None


def _context(master: str | None, workers: int | None) -> tuple[Any, bool]:
    """A context and whether it is ours to stop; a session with its SQL would take seconds more."""
    with extra("spark", "pyspark"):
        from pyspark import SparkConf, SparkContext
    if (active := SparkContext._active_spark_context) is not None:
        return active, False
    if not shutil.which("java") and not os.environ.get("JAVA_HOME"):
        raise UsageError("Spark needs Java 17, and there is no java here: install it, or use --engine local")
    where = master or f"local[{workers or os.cpu_count() or 1},4]"  # a task may fail four times
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    wanted = SparkConf().setMaster(where).setAppName("publius").setAll([*_settings(where, workers).items()])
    try:
        with _quiet_start(where), safe_start():
            return SparkContext(conf=wanted), True
    except Exception as error:
        raise UsageError(
            f"no Spark with the master {where!r} ({type(error).__name__}): check its address and Java 17"
        ) from None


def _settings(master: str, workers: int | None) -> dict[str, str]:
    here = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    loopback = master.startswith("local") or "//127.0.0.1" in master or "//localhost" in master
    return {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.executorEnv.OMP_NUM_THREADS": "1",
        "spark.executorEnv.PYTHONSAFEPATH": "1",  # nothing from the folder it starts in
        **(here if loopback else {}),
        **({"spark.cores.max": str(workers)} if workers else {}),
    }


@contextmanager
def _quiet_start(master: str) -> Iterator[None]:
    """On this machine, Spark's warnings of its host name and of what it does without are no news to anybody.

    A Spark that somebody has set up keeps its own way of logging.
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
