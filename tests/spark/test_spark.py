"""The engine for Spark, on this machine and on a standalone cluster of which a worker is killed: `make spark`."""

import base64
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="Spark has an environment of its own: make spark")
if shutil.which("java") is None:
    pytest.skip("there is no Java here: Spark needs Java 17", allow_module_level=True)

from pyarrow import parquet

from publius.documents.corpus import open_corpus
from publius.errors import DocumentError, PubliusError
from publius.mechanisms.kernels.exponential import Exponential
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.lifted import Lifted
from publius.mechanisms.mechanism import OrderedText
from publius.mechanisms.registry import make_document_mechanism
from publius.noise.randomness import RunKey
from publius.releases.engines import protect_corpus
from publius.releases.engines.run_folder import working_path
from publius.releases.engines.spark import SparkEngine, _quiet_start, _settings
from publius.releases.plan import Experiment, Plan
from publius.releases.summaries.run import summarize
from publius.releases.summaries.summary import Summary
from publius.releases.summaries.work import count_here, count_on_cluster
from publius.settings import ReleaseSettings
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords
from references import fitted, public_documents
from spark.standalone import Standalone
from spark_session import end_of_java
from toy import sentence

pytestmark = pytest.mark.filterwarnings("ignore")  # Spark leaves sockets open
SEED = 5


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Where the session puts its event log and what it keeps on the disk."""
    folder = tmp_path_factory.mktemp("spark")
    for name in ("events", "local"):
        (folder / name).mkdir()
    return folder


@pytest.fixture(scope="module")
def session(places):
    """One session for the tests of this machine, with the settings of the engine and an event log."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("tests")
    settings = _settings("local[2]", None) | {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{places}/events",
        "spark.local.dir": str(places / "local"),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    made = builder.getOrCreate()
    yield made
    made.stop()
    end_of_java()


@pytest.fixture
def plan(embeddings):
    encoding = Encoding(20, "unk", StopWords.load("none"), "word2vec")
    return Plan(Laplace(embeddings, epsilon=2.0), encoding, experiment=Experiment(seed=SEED))


def write_corpus(path, count, words=30):
    rows = ({"id": f"doc{i}", "text": sentence(i % 97, words)} for i in range(count))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return open_corpus(path)


def write_texts(folder, texts):
    folder.mkdir(exist_ok=True)
    rows = ({"id": f"doc{i}", "text": text} for i, text in enumerate(texts))
    path = folder / "corpus.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return open_corpus(path)


def topical(number):
    """A text of one of the toy reference's topics."""
    return " ".join(public_documents(number + 1, seed=9)[number][0]) + " "


def plan_of_documents(folder, name="prototype"):
    """With a fixed run key; the reference is opened from a store, as a release opens it."""
    mechanism = make_document_mechanism(name, fitted().save(folder), bound=4.0, length=20)
    return Plan.of(ReleaseSettings(experiment=True, seed=SEED), mechanism)


def table(output):
    return parquet.read_table(output / "bags.parquet")


def test_spark_gives_the_same_bags_as_local_processes(session, plan, tmp_path):
    corpus = write_corpus(tmp_path / "corpus.jsonl", 600)
    protect_corpus(corpus, plan, tmp_path / "local", format="parquet", workers=1)
    protect_corpus(corpus, plan, tmp_path / "spark", engine="spark")
    assert table(tmp_path / "spark").equals(table(tmp_path / "local"))
    manifests = [json.loads((tmp_path / name / "manifest.json").read_bytes()) for name in ("local", "spark")]
    assert [len(each.pop("files")) > 0 for each in manifests] == [True, True]  # an engine may write several
    assert manifests[0] == manifests[1]


def test_a_prepared_mechanism_gives_the_same_bags(session, home, tmp_path):
    from vocabularies import vocabulary

    encoding = Encoding(30, "unk", StopWords.load("none"), "word2vec")
    words = vocabulary("scattered", 10, 2500)
    rows = ({"id": str(i), "text": " ".join(f"w{i * j % 2500}" for j in range(30))} for i in range(900))
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for name, options in (("spark", {"engine": "spark"}), ("local", {"format": "parquet", "workers": 1})):
        plan = Plan(Exponential(words, scale=2.0), encoding, experiment=Experiment(seed=SEED))
        protect_corpus(open_corpus(path), plan, tmp_path / name, **options)
        (kept,) = (home / "tables").iterdir()
        kept.unlink()  # each has it made
    assert table(tmp_path / "spark").equals(table(tmp_path / "local"))


@pytest.mark.parametrize("name", ["prototype", "position"])
def test_spark_gives_documents_the_same_bags_as_local_processes(session, name, tmp_path):
    """A reference that workers open from its store, documents of any length, none and unknown words among them."""
    plan = plan_of_documents(tmp_path / "reference", name)
    texts = [topical(i) * (1 + i % 3) for i in range(600)]
    texts[3], texts[4], texts[5] = "", "qqqq zzzz", "judge"
    corpus = write_texts(tmp_path, texts)
    protect_corpus(corpus, plan, tmp_path / "local", format="parquet", workers=1)
    protect_corpus(corpus, plan, tmp_path / "two", format="parquet", workers=2, batch_size=7)
    protect_corpus(corpus, plan, tmp_path / "spark", engine="spark")
    assert table(tmp_path / "spark").equals(table(tmp_path / "local"))
    assert table(tmp_path / "two").equals(table(tmp_path / "local"))
    manifests = [json.loads((tmp_path / name / "manifest.json").read_bytes()) for name in ("local", "spark")]
    assert [len(each.pop("files")) > 0 for each in manifests] == [True, True]  # an engine may write several
    assert manifests[0] == manifests[1]
    assert manifests[1]["level"] == "document"
    assert {sum(counts) for counts in table(tmp_path / "spark")["counts"].to_pylist()} == {20}


def test_ordered_text_keeps_its_words(session, plan, tmp_path):
    from dataclasses import replace

    corpus = write_corpus(tmp_path / "corpus.jsonl", 300)
    ordered = replace(plan, mechanism=Lifted(plan.mechanism.kernel, 20, ordered=OrderedText("all")))
    protect_corpus(corpus, ordered, tmp_path / "local", format="parquet", workers=1)
    protect_corpus(corpus, ordered, tmp_path / "spark", engine="spark")
    assert table(tmp_path / "spark").equals(table(tmp_path / "local"))
    assert {len(words) for words in table(tmp_path / "spark")["words"].to_pylist()} == {20}


def test_a_folder_of_parquet_and_a_fresh_secret(session, plan, tmp_path):
    from dataclasses import replace

    import pyarrow as pa

    (tmp_path / "in").mkdir()
    for part in range(3):
        rows = [{"id": f"{part}-{i}", "text": sentence(i)} for i in range(100)]
        parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "in" / f"{part}.parquet")
    summary = protect_corpus(
        open_corpus(tmp_path / "in"),
        replace(plan, experiment=None),
        tmp_path / "out",
        engine="spark",
        resume=True,
    )
    assert summary.tally.documents == 300
    assert len(set(table(tmp_path / "out")["id"].to_pylist())) == 300
    assert not working_path(tmp_path / "out").exists()


def forms(key):
    return (key, key.hex().encode(), base64.b64encode(key).rstrip(b"="), repr(key).encode()[2:-1])


def holders(key, *folders):
    """Files that hold the key in some form."""
    found = set()
    for folder in folders:
        for path in folder.rglob("*"):
            try:
                data = path.read_bytes() if path.is_file() else b""
            except OSError:
                continue
            if any(form in data for form in forms(key)):
                found.add(path)
    return found


class Watch:
    """Looks into folders for the key again and again while a run lasts."""

    def __init__(self, key, *folders):
        self.key, self.folders, self.found, self.looks = key, folders, set(), 0

    def __enter__(self):
        self._on = True
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def _look(self):
        while self._on:
            self.found |= holders(self.key, *self.folders)
            self.looks += 1
            time.sleep(0.02)

    def __exit__(self, *error):
        self._on = False
        self._thread.join()


def test_the_secret_is_in_no_log_plan_disk_or_output(session, places, plan, tmp_path, capfd):
    key = RunKey.seeded(SEED).expose()
    corpus = write_corpus(tmp_path / "corpus.jsonl", 400)
    with Watch(key, places, tmp_path) as watch:
        protect_corpus(corpus, plan, tmp_path / "out", engine="spark")
    events = b"".join(path.read_bytes() for path in (places / "events").rglob("*") if path.is_file())
    assert watch.looks > 3
    assert b"MapInArrow" in events, "the log has the plans"
    assert watch.found | holders(key, places, tmp_path) == set()
    assert not any(form in stream.encode() for form in forms(key) for stream in capfd.readouterr())
    (tmp_path / "planted").write_bytes(b"x" + key.hex().encode())
    assert holders(key, tmp_path) == {tmp_path / "planted"}


def test_no_document_reaches_spark(session, places, plan, tmp_path):
    path = tmp_path / "corpus.jsonl"
    rows = [{"id": str(i), "text": f"river zzcanary{i}"} for i in range(50)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    protect_corpus(open_corpus(path), plan, tmp_path / "out", engine="spark")
    written = [file for file in (*places.rglob("*"), *(tmp_path / "out").rglob("*")) if file.is_file()]
    assert written
    assert not any(b"zzcanary" in file.read_bytes() for file in written)


def test_a_summary_counts_the_same_on_spark_and_no_document_reaches_it(session, places, embeddings, tmp_path):
    """Which documents count follows from keyed hashes, so partitions do not matter; nothing is left behind."""
    reference, vectors = fitted().save(tmp_path / "reference"), embeddings.save(tmp_path / "toy")
    rows = [
        {"author": f"wallaby{i % 150}", "topic": topic, "text": " ".join(words)}
        for i, (words, topic) in enumerate(public_documents(600))
    ]
    path = tmp_path / "letters.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    summary = Summary(
        reference, 20, 2, by={"topic": ["music", "court"]}, shares="themes=1", embeddings=str(vectors.folder)
    )
    key = RunKey.fresh()
    here, seen = count_here(
        summary, summary.rows(rows), key, 1, author=lambda name: None, progress=lambda done: None
    )
    there, met = count_on_cluster(SparkEngine(), summary, summary.corpus(path), key, tmp_path)
    assert there.cells.tolist() == here.cells.tolist()
    assert (met, there.authors) == (seen, 150)
    finished = summarize(summary.corpus(path), summary, tmp_path / "out", engine="spark")
    assert finished.authors == 150
    kept = [each.read_bytes() for each in places.rglob("*") if each.is_file()]
    assert not [data for data in kept if b"wallaby" in data or rows[0]["text"].encode() in data]


def test_errors_of_a_worker_keep_their_type(session, plan, tmp_path):
    rows = [json.dumps({"id": str(i % 90), "text": sentence(i)}) for i in range(100)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(rows), encoding="utf-8")
    with pytest.raises(DocumentError, match="document 91: an earlier document"):
        protect_corpus(open_corpus(tmp_path / "corpus.jsonl"), plan, tmp_path / "out", engine="spark")
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.jsonl"]


def test_a_bug_in_a_worker_shows_no_text(session, places, tmp_path):
    buggy = functools.partial(
        "{zzcanary}".format
    )  # a KeyError that quotes it; Spark's workers cannot see this module
    buggy.vocabulary = None
    with SparkEngine() as engine, pytest.raises(PubliusError) as raised:
        engine.carry(buggy, [0])
    assert "zzcanary" not in str(raised.value)
    files = [path for path in places.rglob("*") if path.is_file()]
    assert any(b"internal error in a worker: KeyError" in path.read_bytes() for path in files)
    assert not any(b"zzcanary" in path.read_bytes() for path in files)


@pytest.fixture
def untouched(monkeypatch):
    """An environment in which nobody has set Spark up."""
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS", "SPARK_LOCAL_IP"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


# What Java says before Spark begins; and what Spark says on a busy machine, where its executor registers before its
# scheduler listens, and then again: an error that it ignores, with its causes.
_NOT_OURS = re.compile(
    r"WARNING: Using incubator modules: jdk\.incubator\.vector|\S+ \S+ ERROR Inbox: Ignoring error"
    r"|(Caused by: )?org\.apache\.spark\.(SparkException|rpc\.RpcEndpointNotFoundException): .*"
    r"|\tat [\w.$]+\(\w+\.(scala|java):\d+\)|\tat java\.base/.*|\t\.\.\. \d+ more"
)


def test_a_first_run_on_this_machine_is_quiet(untouched, tmp_path):
    """Everything on standard error that is neither Java's nor an error that Spark itself ignores would be ours."""
    untouched.delenv("JDK_JAVA_OPTIONS", raising=False)
    start = "from publius.releases.engines.spark import SparkEngine as S\nwith S(None, 1): print('started')"
    done = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "started\n"), done.stderr
    assert [line for line in done.stderr.splitlines() if not _NOT_OURS.fullmatch(line)] == []


_UNENCRYPTED = """
import sys, threading
from pyspark.sql import SparkSession
from publius.errors import UsageError
from publius.releases.engines.spark import ENCRYPTION, SparkEngine, _settings

def session():
    settings = _settings("local[1]", None) | {ENCRYPTION: "false"}
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    started.append(builder.getOrCreate())

def refused():
    try:
        with SparkEngine(None, 1):
            print("accepted")
    except UsageError as error:
        print(error)

started = []
thread = threading.Thread(target=session)
thread.start()
thread.join()
refused()
session()
refused()
print(started[0].range(3).count())
"""


def test_a_session_that_would_write_the_secret_to_a_disk_is_refused(untouched):
    """One of the caller's own, be it another thread's: it is refused before anything is drawn, and goes on."""
    untouched.setenv("PYSPARK_PYTHON", sys.executable)
    done = subprocess.run([sys.executable, "-c", _UNENCRYPTED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, second, rows = done.stdout.splitlines()
    assert first == second
    assert "spark.io.encryption.enabled" in first
    assert rows == "3"


_PLANTED = """
open({mark!r}, "a").close()
raise ImportError({name!r})
"""
_OWN = """
import numpy as np

import publius
from publius.privacy.guarantee import Guarantee


class Coin(publius.Kernel):
    "Any word of the vocabulary, whatever the word is."

    name = "coin"

    @property
    def guarantee(self):
        return Guarantee(self.epsilon, self.metric.name, "proven")

    def noise(self, count, rng):
        return rng.random((count, 1))

    def apply(self, words, noise, *, threads=1):
        return (noise[:, 0] * self.embeddings.size).astype(np.int64)
"""


@pytest.mark.parametrize("own", [False, True], ids=["none", "of the user's own"])
def test_workers_import_nothing_from_the_working_folder(untouched, tmp_path, embeddings, own):
    """An empty entry of PYTHONPATH is the working folder: there, what lies beside the documents would run.

    What the user names is imported all the same, after everything else.
    """
    home, place, code = (tmp_path / name for name in ("home", "place", "code"))
    for each in (place, code):
        each.mkdir()
    embeddings.save(home / "embeddings" / "toy")
    (code / "owncoin.py").write_text(_OWN)
    for name in ("numpy", "pyarrow", "pandas", "pyspark", "typer", "scipy", "regex"):
        (place / f"{name}.py").write_text(_PLANTED.format(mark=str(tmp_path / f"ran-{name}"), name=name))
    rows = [json.dumps({"id": str(each), "text": sentence(each)}) + "\n" for each in range(8)]
    (place / "texts.jsonl").write_text("".join(rows))
    command = Path(sys.executable).with_name("publius")
    done = subprocess.run(
        [command, "obfuscate", "texts.jsonl", "--epsilon", "3", "--length", "5", "--embeddings", "toy",
         "--mechanism", "python:owncoin:Coin" if own else "laplace", "--engine", "spark", "--output", "out"],
        cwd=place, capture_output=True, text=True, check=False,
        env={**os.environ, "PUBLIUS_HOME": str(home), "PYTHONPATH": os.pathsep.join(["", str(code)])},
    )  # fmt: skip
    assert sorted(path.name for path in tmp_path.glob("ran-*")) == []
    assert done.returncode == 0, done.stderr
    assert json.loads((place / "out" / "manifest.json").read_text())["documents"] == 8


@pytest.mark.parametrize(
    ("master", "own"), [("spark://host:7077", None), ("yarn", None), ("local[2]", "SPARK_CONF_DIR"),
                        ("local[2]", "SPARK_SUBMIT_OPTS")],
)  # fmt: skip
def test_a_cluster_and_a_spark_that_was_set_up_start_as_they_did(untouched, master, own):
    if own:
        untouched.setenv(own, "-Dmine=1")
    before = dict(os.environ)
    with _quiet_start(master):
        assert dict(os.environ) == before
    with _quiet_start("local[2]"):
        assert (dict(os.environ) == before) == (own is not None)
    assert dict(os.environ) == before


def test_a_killed_worker_costs_time_only(tmp_path, embeddings):
    """The command on a standalone cluster of two workers, one of which is killed while it works."""
    corpus = write_corpus(tmp_path / "corpus.jsonl", 12_000, words=60)
    home = Path(os.environ["PUBLIUS_HOME"])
    embeddings.save(home / "embeddings" / "toy")
    call = ["obfuscate", str(corpus.path), "--epsilon", "2", "--embeddings", "toy", "--length", "60",
            "--experiment", "--seed", "5", "--json"]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "publius", *call, "--output", tmp_path / "local", "--format", "parquet"],
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    logs = tmp_path / "cluster"
    logs.mkdir()
    with Standalone(logs) as cluster:
        out = tmp_path / "out"
        run = subprocess.Popen(
            [sys.executable, "-m", "publius", *call, "--output", out, "--resume",
             "--engine", "spark", "--master", cluster.master],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        parts = working_path(out) / "parts"
        while not parts.is_dir() or len(list(parts.glob("part-*"))) < 5:
            assert run.poll() is None, run.stderr.read()
            time.sleep(0.02)
        assert cluster.executors(0)
        cluster.kill_worker(0)
        at_the_kill = len(list(parts.glob("part-*")))
        stdout, stderr = run.communicate(timeout=400)
    assert run.returncode == 0, stderr
    assert at_the_kill < len(list((out / "bags.parquet").iterdir())), "it was killed too late"
    assert json.loads(stdout)["documents"] == 12_000
    assert table(out).equals(table(tmp_path / "local"))
    print(f"killed one of two workers when {at_the_kill} pieces were finished")


def test_a_session_on_a_cluster_ships_the_vectors_once(tmp_path, embeddings):
    """Two runs of one session, and the second finds the vectors with the workers only."""
    write_corpus(tmp_path / "corpus.jsonl", 400)
    embeddings.save(tmp_path / "vectors")
    logs = tmp_path / "cluster"
    logs.mkdir()
    with Standalone(logs) as cluster:
        done = subprocess.run(
            [sys.executable, Path(__file__).with_name("two_runs.py"), cluster.master, tmp_path, str(SEED)],
            capture_output=True, check=False, timeout=500,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert table(tmp_path / "first").equals(table(tmp_path / "second"))


def sizes_of(event):
    """What a task is said to have taken in and given out: bytes and rows, no times."""
    metrics = event.get("Task Metrics") or {}
    told = {key: metrics.get(key) for key in ("Output Metrics", "Input Metrics")}
    rows = ("data sent to Python workers", "data returned from Python workers", "number of output rows")
    counted = event["Task Info"]["Accumulables"]
    return told | {each["Name"]: each.get("Update") for each in counted if each.get("Name") in rows}


def events_of(places, known):
    lines = [
        json.loads(line)
        for path in sorted((places / "events").rglob("*"))
        if path.is_file() and not path.name.startswith(".")
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True)
        if line.endswith("}\n")
    ]
    return lines[known:], len(lines)


def shape(events):
    """Kinds of events, how many of each, and the sizes of tasks: what a log tells besides clocks."""
    kinds = [event["Event"].rsplit(".", 1)[-1] for event in events]
    tasks = [sizes_of(event) for event in events if event["Event"] == "SparkListenerTaskEnd"]
    plans = [
        re.sub(r"#\d+|plan_id=\d+|\[id=.*?\]", "", event["physicalPlanDescription"])
        for event in events
        if "physicalPlanDescription" in event
    ]
    return {kind: kinds.count(kind) for kind in set(kinds)}, sorted(map(str, tasks)), plans


def test_folder_log_and_plan_tell_nothing_of_what_is_no_part_of_the_bags(session, places, plan, tmp_path):
    """Worlds of other tails, orders, unknown words and bytes: the same files, tasks, plans and sizes of answers."""
    check_worlds(places, plan, tmp_path, [sentence(i) for i in range(300)], {
        "tail": lambda text: text + " engine zebra" * 20_000,
        "order": lambda text: " ".join([*reversed(text.split()[:20]), *text.split()[20:]]),
    })  # fmt: skip


def test_folder_log_and_plan_tell_nothing_beside_the_shares_of_known_words(session, places, tmp_path):
    """Worlds at a distance of 0 under a reference: longer by a factor, other orders, unknown words and bytes."""
    plan = plan_of_documents(tmp_path / "reference")
    check_worlds(places, plan, tmp_path, [topical(i) for i in range(300)], {
        "longer": lambda text: text * 2_000,
        "unknown": lambda text: text + " qqqq zzzz" * 20_000,
        "order": lambda text: " the of\n".join(reversed(text.split())).upper(),
    })  # fmt: skip


def check_worlds(places, plan, folder, texts, changes):
    """The eighth text changed in each way, and as it is: everything that is seen of the runs is the same."""
    seen, logs = [], []
    _, known = events_of(places, 0)
    for name, change in {"plain": str, **changes}.items():
        corpus = write_texts(folder / name, [*texts[:7], change(texts[7]), *texts[8:]])
        out = folder / name / "out"
        protect_corpus(corpus, plan, out, engine="spark")
        seen.append({str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()})
        time.sleep(2)  # the log is written a moment later
        events, known = events_of(places, known)
        logs.append(shape(events))
    assert all(found == seen[0] for found in seen)
    assert all(log == logs[0] for log in logs)
    assert any("data returned from Python workers" in task for task in logs[0][1])
    assert logs[0][0]["SparkListenerTaskEnd"] == 64 + len([name for name in seen[0] if "part-" in name])
