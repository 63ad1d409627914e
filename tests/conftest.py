"""What every test stands on: a home of its own, a small public vocabulary, and documents made of it."""

import one_thread  # noqa: F401  # isort: skip
import gc
import json
import os
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import typer
from typer import testing

from homes import new_home
from publius.cli import main
from publius.noise.randomness import seeded_rng
from publius.vectors.embeddings import Embeddings
from threads import ended
from toy import WORDS, sentence

with suppress(ImportError):  # Spark's environment and the notebook's are without it
    from hypothesis import settings

    # A stall of a busy machine is no defect, and the same examples are tried each time; ten times as many for a law
    # that says no other number in `make test-long`.
    settings.register_profile("publius", deadline=None, derandomize=True, max_examples=40)
    settings.register_profile("long", settings.get_profile("publius"), max_examples=400)
    settings.load_profile("publius")

# No test loses its machine, and a disk takes a tenth of all their time to keep what they write: that a thing is flushed
# releases/test_flushed.py and the torture ask of the calls themselves.
os.fsync = os.fstat

if "PYTEST_XDIST_WORKER" in os.environ:  # little that is collected is garbage: see pytest_collection_finish
    gc.disable()

# The parser of a command is made for its first call in each process, not for every call.
typer.main.get_command = testing._get_command = cache(typer.main.get_command)

SLOWEST = (
    "fences/test_fences.py audit/test_audit_target.py cli/test_start.py releases/test_writing.py "
    "audit/test_audit_mutants.py mechanisms/test_mechanism_laws.py releases/summaries/test_summaries.py "
    "web/test_web_start.py mechanisms/test_outside.py web/test_web_server.py documents/test_corpus.py "
    "cli/test_obfuscate.py documents/test_office_and_mail.py releases/test_cluster.py evaluation/test_evaluate.py "
    "audit/test_audit_command.py mechanisms/test_row_table.py golden/test_golden.py web/test_web_progress.py "
    "evaluation/test_evaluate_verdict.py text/test_tokenizer.py mechanisms/test_certificate.py "
    "evaluation/test_grouped_mean.py web/test_web_documents.py web/test_web_stream.py audit/test_audit_foreign.py "
    "audit/test_observable.py audit/test_audit_own.py vectors/test_nearest.py releases/test_signoff.py "
    "releases/test_reconstruction.py releases/test_two_pages.py releases/test_engine_laws.py "
    "releases/summaries/test_start_summary.py torture/test_torture.py evaluation/test_calibrate.py "
    "releases/test_writers.py noise/test_discrete_laplace.py releases/summaries/test_by_the_service.py "
    "releases/test_pieces.py"
).split()
"""The files that take longest, longest first: the last that a worker is given should be short ones.

Measured: project/slowest.csv, processor time of a test with its child processes, both commits one after the other on
one machine; "before" is 0.2 (1e46f58), "after" 6f73dfa.
"""


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Every other of pytest's workers looks from the end on: each compiles half of the files, and finds the others'."""
    report = yield
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    if number % 2 and isinstance(collector, pytest.Directory):
        report.result.reverse()
    return report


def pytest_collection_modifyitems(items):
    """In a stable order, so that each of pytest's workers has the same; see `make test`."""
    place = {Path(__file__).parent / name: number for number, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: (place.get(item.path, len(place)), item.path))


def pytest_collection_finish():
    """What pytest's workers imported stays: to look through it again and again for garbage takes time.

    What tests leave is looked through every 20,000 objects instead of every 700. Elsewhere none of this: hypothesis of
    2025 asks who refers to its generator, and what is frozen is not told.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 10, 10)
        gc.enable()


@pytest.fixture(autouse=True)
def home(monkeypatch):
    """No test sees or leaves anything in the user's store."""
    folder = new_home()
    monkeypatch.setenv("PUBLIUS_HOME", str(folder))
    return folder


@pytest.fixture(scope="module", autouse=True)
def nothing_goes_on():
    """What a file of tests starts has ended when the next file begins: it would write and take time there."""
    processes = _processes()
    with ended():
        yield
    if parsers := sys.modules.get("publius.documents.foreign"):
        parsers._end_all()  # they wait for the next file to read, which is a later test's
    late = time.monotonic() + 300
    while (left := _processes() - processes) and time.monotonic() < late:
        time.sleep(0.02)  # told to end, and about to
    assert [_command(process) for process in left] == []


def _processes():
    """The numbers of our children that run, where the system tells; those of multiprocessing for itself apart."""
    while True:
        try:
            lists = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
            break
        except (
            FileNotFoundError,
            ProcessLookupError,
        ):  # a thread has ended meanwhile; its children are another's now
            continue
    found = {int(number) for some in lists for number in some.split()}
    said = {number: _command(number) for number in found}
    return {number for number, command in said.items() if command and not any(map(command.count, OF_PYTHON))}


OF_PYTHON = ("resource_tracker", "forkserver")


def _command(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""  # it has ended


@pytest.fixture(scope="module")
def one_processor():
    """For tests of small work: a worker process would take longer to import its libraries than to do its share.

    This process and what it starts have one processor, each of pytest's workers another.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    there = os.sched_getaffinity(0)
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    os.sched_setaffinity(0, {sorted(there)[number % len(there)]})
    yield
    os.sched_setaffinity(0, there)


@pytest.fixture
def undrawn(monkeypatch):
    """The figures of evaluations and summaries are made and not drawn, which takes longer: for tests without an eye."""
    from publius.evaluation import plots
    from publius.releases.drawing import pyplot
    from publius.releases.summaries import pictures

    def svg(figure):
        pyplot().close(figure)
        return "<svg></svg>"

    for module in (plots, pictures):
        monkeypatch.setattr(module, "svg", svg)


@pytest.fixture(scope="session")
def embeddings():
    """60 words in 8 dimensions, neighbours about 2.5 apart."""
    vectors = seeded_rng(20).standard_normal((len(WORDS), 8), np.float32)
    return Embeddings.from_arrays(WORDS, vectors, name="toy", tokenizer="word2vec")


@pytest.fixture
def stored(embeddings, home):
    """The name of the same vectors in the store."""
    embeddings.save(home / "embeddings" / "toy")
    return "toy"


@pytest.fixture
def corpus_file(tmp_path):
    """Twelve documents of 30 words as JSON lines, with a topic."""
    path = tmp_path / "corpus.jsonl"
    rows = [{"id": f"doc{i}", "text": sentence(i), "topic": "ab"[i % 2]} for i in range(12)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def publius(monkeypatch, capsys):
    """Run the command line: (exit code, standard output, standard error)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["publius", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run
