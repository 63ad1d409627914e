"""The torture of ``make torture``, small: each part runs, hits something, and finds nothing."""

import importlib.util
import time
from concurrent.futures import ProcessPoolExecutor

import pytest

from audit import hostile_files
from publius.audit.checkout import attach
from publius.audit.outcomes import failures
from publius.errors import PubliusError
from publius.files.workers import spawning
from torture import bench, canaries, fuzz, malformed
from torture.children import run_child
from torture.faults import Replace, Save, torture_faults
from torture.fuzz import PARSERS, counting, seeds, target, torture_fuzz
from torture.kills import torture_kills
from torture.ledgers import torture_concurrent, torture_ledger_kills
from torture.limits import torture_full_disk, torture_memory
from torture.observable import torture_observable
from torture.watching import torture_watch, torture_watch_steps

fork_only = pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")


@pytest.fixture(scope="module")
def apart():
    """Forks are made in a process of their own: pytest's has threads, whose locks a fork would take along.

    One process for all parts: to start it takes longer than most of them.
    """
    with ProcessPoolExecutor(1, spawning(), attach) as process:
        yield lambda function, *arguments: process.submit(function, *arguments).result()


def hanging_child():
    return run_child(lambda: time.sleep(60), timeout=0.3)


def figure(found, name):
    assert failures(found.checks) == [], found.figures.get("problems")
    return found.figures[name]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_faults():
    """A file whose first write fails is closed by the collector, which says so: that is no fault of the release."""
    found = torture_faults(90, documents=3)
    assert figure(found, "faults that hit") >= 90
    assert set(found.figures["faults by kind"]) >= {"open", "write", "close", "fsync", "rename", "entropy"}


@pytest.mark.parametrize("operation", [Save(), Replace()], ids=lambda operation: operation.name)
def test_operations_tell_whole_from_untouched(operation, tmp_path):
    operation.prepare(tmp_path)
    assert (operation.whole(tmp_path), operation.untouched(tmp_path)) == (False, True)
    operation.run(tmp_path)
    assert (operation.whole(tmp_path), operation.untouched(tmp_path)) == (True, False)


@pytest.mark.parametrize("format", bench.FORMATS)
def test_a_release_without_its_last_bag_is_not_whole(format, tmp_path):
    bench.obfuscate(bench.write_corpus(tmp_path / "corpus.jsonl", 4), tmp_path / "out", format)
    assert bench.whole(tmp_path / "out", format, 4)
    assert not bench.whole(tmp_path / "out", format, 5)


@pytest.mark.long
@fork_only
def test_kills(apart):
    assert figure(apart(torture_kills, 4), "kills") == 4


@pytest.mark.long
@fork_only
def test_kills_of_paid_runs(apart):
    assert figure(apart(torture_observable, 4), "kills of paid runs") == 4


@pytest.mark.long
@fork_only
def test_watch(apart):
    """``make torture`` does it with 10,000 files and 50 kills."""
    assert figure(apart(torture_watch, 100, 3), "watch kills") == 3


@pytest.mark.long
@fork_only
@pytest.mark.parametrize(("stride", "kills"), [(12, 2), (1, 30)])
def test_watch_killed_before_each_step(apart, stride, kills):
    assert figure(apart(torture_watch_steps, stride), "watch steps") >= kills


@fork_only
def test_full_disk(apart):
    assert figure(apart(torture_full_disk, 15), "full disks") >= 8


@pytest.mark.long
@fork_only
def test_memory_limit(apart):
    assert figure(apart(torture_memory, 8), "memory limits that hit") >= 1


@fork_only
def test_a_child_that_hangs_is_killed(apart):
    ended, result = apart(hanging_child)
    assert (ended, result) == (9, None)


@pytest.mark.long
def test_malformed_files():
    """``make torture`` does it with 20,000."""
    found = malformed.torture_malformed(75)
    assert figure(found, "malformed files refused") >= 75
    assert len(found.figures["malformed files by kind"]) == 15


@pytest.mark.long
def test_hostile_files():
    """``make torture`` does it with 16 MB of each; here it is seen that the cost of a process is told."""
    suffix, name, make = next(each for each in hostile_files.hostile(2_000) if each[0] == "csv")
    found = hostile_files.measured(make(), suffix, name)
    assert found["seconds"] > 0.01
    assert hostile_files.within(found)
    late = {**found, "seconds": hostile_files.SECONDS + 1}
    assert not hostile_files.within(late)
    assert hostile_files.within({**late, "times as slow": 2})
    assert not hostile_files.within({**late, "seconds": 3 * hostile_files.SECONDS, "times as slow": 2})
    assert hostile_files.times_as_slow() >= 1
    assert not hostile_files.within({**found, "memory": hostile_files.MEMORY + 1})


def test_valid_files_are_accepted(tmp_path):
    """The files that are spoiled are right before."""
    for kind in malformed.kinds(tmp_path):
        path = tmp_path / kind.file
        path.write_bytes(kind.content)
        kind.read(path)


def test_canaries():
    assert figure(canaries.torture_canaries(45), "canary scenarios") >= 45


def test_canaries_are_found_where_they_are_let_out(home, tmp_path):
    """An experiment that keeps unknown words shows that the search for canaries finds them."""
    bench.EMBEDDINGS.save(home / "embeddings" / "canaries")
    source = canaries.write_input(tmp_path, "jsonl", "text")
    arguments = canaries.command(tmp_path, source, "keep", "parquet", "text")
    code, *_ = canaries.run([*arguments, "--experiment"])
    assert code == 0
    assert canaries.WORD in canaries.contents(tmp_path / "out")


@pytest.mark.long
def test_concurrent_ledgers(apart):
    assert figure(apart(torture_concurrent, 3, 10), "passed") == 15


@pytest.mark.long
@fork_only
def test_ledger_kills(apart):
    assert figure(apart(torture_ledger_kills, 8), "ledger kills and full disks") >= 2


@pytest.mark.parametrize("parser", PARSERS)
def test_fuzz_targets_read_their_seeds_and_noise(parser, tmp_path):
    one = target(parser, tmp_path)
    for content in [*seeds(parser), b"", b"\x00", b"\xff" * 99, b"\x01{", b'"' * 9]:
        one(content)


def test_fuzz_targets_let_untyped_errors_out(tmp_path, monkeypatch):
    import publius.vectors.importing.reader as reader

    def broken(path):
        raise KeyError("untyped")

    monkeypatch.setattr(reader, "read_word_list", broken)
    with pytest.raises(KeyError):
        target("word list", tmp_path)(b"x")
    assert not issubclass(KeyError, PubliusError)


@pytest.mark.skipif(importlib.util.find_spec("atheris") is not None, reason="atheris is installed")
def test_fuzzing_without_atheris_is_no_success():
    assert failures(torture_fuzz(6).checks) == ["fuzzing: atheris is not installed"]


def test_fuzzing_keeps_each_parser_that_is_done(tmp_path, monkeypatch):
    """Who ends the longest part does not begin it anew."""
    asked = []

    def fuzzed(parser, runs, seed):
        asked.append(parser)
        if parser == "csv" and len(asked) < 9:
            raise KeyboardInterrupt
        return [runs, "KeyError: 'x'" if parser == "text" else ""]

    monkeypatch.setattr(fuzz.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(fuzz, "fuzzed", fuzzed)
    with pytest.raises(KeyboardInterrupt):
        torture_fuzz(60, processes=1, kept=tmp_path)
    before = asked.copy()
    asked.extend(["again"] * 9)
    found = torture_fuzz(60, processes=1, kept=tmp_path)
    assert set(before) & set(asked[len(before) :]) == {"csv"}
    assert found.figures["by parser"] == dict.fromkeys(PARSERS, 10)
    assert (failures(found.checks), found.figures["problems"]) == (
        ["fuzzing: untyped exceptions"], ["text: KeyError: 'x'"],
    )  # fmt: skip


def test_fuzzing_shares_its_runs_among_processes(monkeypatch):
    asked = []

    def one_process(parser, runs, seed, folder):
        asked.append((runs, seed, folder))
        return (3, "KeyError: 'x'") if runs < 1000 else (runs, "")

    monkeypatch.setattr(fuzz, "_in_one_process", one_process)
    assert fuzz.fuzzed("csv", 2000, 7, at_once=1000) == (2000, "")
    assert [(runs, seed) for runs, seed, _ in asked] == [(1000, 7), (1000, 8)]
    assert len({folder for *_, folder in asked}) == 1, "what one has found is there for the next"
    assert fuzz.fuzzed("csv", 1200, 7, at_once=1000) == (1003, "KeyError: 'x'")


@pytest.mark.long
def test_fuzzing_says_how_far_it_is(capsys):
    read = []
    one = counting(read.append, "csv", 1000)
    for place in range(1000):
        one(place)
    lines = capsys.readouterr().out.splitlines()
    assert (len(read), len(lines)) == (1000, 4)
    assert lines[0].startswith("fuzzing, csv: 200 of these 1,000, about ")
    assert lines[0].endswith(" left")
