"""What Spark is asked and does with a piece, in this process: Spark itself, which needs Java, is tried in ``tests/spark``."""

import os
import pickle
import shutil
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from laws.subjects import BY_NAME, Odd, corpus_file
from publius.errors import MissingExtraError, PolicyError, PubliusError, StorageError, UsageError
from publius.releases import draft, run, spark


class Here:
    """A context whose tasks are done here, each from its pickle, the last one twice."""

    def __init__(self, defaultParallelism):
        self.defaultParallelism, self.asked, self.stopped = defaultParallelism, [], 0

    def parallelize(self, numbers, tasks):
        self.asked.append((numbers, tasks))
        return self

    def map(self, task):
        again = pickle.loads(pickle.dumps(task))
        numbers = [*self.asked[-1][0]]
        return SimpleNamespace(collect=lambda: [again(number) for number in [*numbers, numbers[-1]]])

    def stop(self):
        self.stopped += 1


def released(subject, tmp_path, context, mechanism=None, *, own=True, monkeypatch):
    monkeypatch.setattr(spark, "_context", lambda master, workers: (context, own))
    asked = type(subject)(**{**subject.__dict__, "engine": "spark"})
    return asked.run(tmp_path / "in.jsonl", tmp_path / "spark", mechanism)


@pytest.mark.parametrize(("processors", "tasks", "own"), [(0, 1, True), (3, 3, False), (64, 8, True)])
@pytest.mark.parametrize("name", ["values", "words"])
def test_tasks_make_the_bytes_of_one_process(tmp_path, monkeypatch, name, processors, tasks, own):
    monkeypatch.setattr(draft, "entropy", lambda: bytes(range(32)))
    monkeypatch.setattr(run, "BATCH", 4)
    BY_NAME[name].run(corpus_file(tmp_path), tmp_path / "local")
    context = Here(processors)
    released(BY_NAME[name], tmp_path, context, own=own, monkeypatch=monkeypatch)
    local, made = (
        {path.name: path.read_bytes() for path in (tmp_path / each).iterdir()} for each in ("local", "spark")
    )
    assert local == made
    assert (context.asked, context.stopped) == ([(range(tasks), tasks)], own)
    assert sorted(os.listdir(tmp_path)) == ["in.jsonl", "local", "spark"]


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (PolicyError("row 12"), PolicyError, "row 12"), (MissingExtraError("spark", "pyspark"), UsageError, "spark"),
        (ValueError("storm river"), StorageError, r"could not finish \(RuntimeError\)"),
    ],
)  # fmt: skip
def test_an_error_of_a_task_is_told_by_type_and_place(tmp_path, monkeypatch, error, kind, said):
    odd, context = Odd(BY_NAME["values"].mechanism(), str(tmp_path / "never"), error), Here(2)
    corpus_file(tmp_path)
    with pytest.raises(PubliusError, match=said) as found:
        released(BY_NAME["values"], tmp_path, context, odd, monkeypatch=monkeypatch)
    assert type(found.value) is kind
    assert "storm" not in str(found.value)
    assert (context.stopped, os.listdir(tmp_path)) == (1, ["in.jsonl"])


@pytest.mark.parametrize(
    "master", ["local[2,4]", "spark://127.0.0.1:7077", "spark://localhost:7077", "spark://far:7077"]
)
def test_only_a_master_of_this_machine_is_asked_to_listen_here_alone(master):
    found = spark._settings(master, None)
    assert ("spark.driver.bindAddress" in found, "spark.cores.max" in found) == ("far" not in master, False)
    assert found | {"spark.cores.max": "3"} == spark._settings(master, 3)


@pytest.mark.parametrize(("java", "home"), [("/bin/java", ""), (None, "/java"), (None, "")])
@pytest.mark.parametrize(
    ("master", "workers", "where"),
    [(None, 3, "local[3,4]"), (None, None, f"local[{os.cpu_count()},4]"), ("spark://far:1", 3, "spark://far:1")],
)
def test_spark_is_started_where_java_is_and_a_context_of_somebody_else_is_theirs(
    monkeypatch, java, home, master, workers, where
):
    made = MagicMock(**{"SparkContext._active_spark_context": None})
    named = made.SparkConf.return_value.setMaster
    wanted = named.return_value.setAppName.return_value.setAll
    monkeypatch.setitem(sys.modules, "pyspark", made)
    monkeypatch.setattr(shutil, "which", lambda name: java)
    for name, value in (("JAVA_HOME", home), ("PYSPARK_PYTHON", sys.executable)):
        monkeypatch.setenv(name, value)
    if java or home:
        assert spark._context(master, workers) == (made.SparkContext.return_value, True)
        made.SparkContext.assert_called_once_with(conf=wanted.return_value)
        named.assert_called_once_with(where)
        assert dict(wanted.call_args.args[0]) == spark._settings(where, workers)
    else:
        with pytest.raises(UsageError, match="needs Java 17, and there is no java here"):
            spark._context(master, workers)
    made.SparkContext._active_spark_context = "theirs"
    assert spark._context(master, workers) == ("theirs", False)
