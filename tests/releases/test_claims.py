"""An output belongs to one run from before it draws until it has its place, whatever is killed in between."""

import errno
import multiprocessing
import os
import sys

import pytest

import publius
from publius.errors import UsageError
from publius.files import remove_leftovers
from publius.releases.engines import protect_corpus, run_folder
from publius.releases.engines.charges import Charges
from publius.releases.engines.run_folder import working_path
from released import toy_documents, toy_plan

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks on files of this kind")


@pytest.fixture
def corpus(tmp_path):
    return publius.open_corpus(toy_documents(tmp_path / "texts.jsonl"))


@pytest.fixture
def ledger(tmp_path):
    return publius.Ledger.create(tmp_path / "budget", budget=100)


def _killed(corpus, output, ledger):
    protect_corpus(corpus, toy_plan(), output, ledger=ledger, progress=lambda done: os._exit(9))


def _raced(corpus, output, ledger, start, results):
    start.wait()
    try:
        protect_corpus(corpus, toy_plan(), output, ledger=ledger)
        results.put("released")
    except UsageError as error:
        results.put(str(error))


def _started(target, *arguments):
    process = multiprocessing.get_context("fork").Process(target=target, args=arguments)
    process.start()
    return process


@pytest.mark.parametrize("resume", [False, True])
def test_a_claim_whose_run_was_killed_is_taken_over(corpus, ledger, tmp_path, resume):
    output = tmp_path / "new" / "out"
    process = _started(_killed, corpus, output, ledger)
    process.join(60)
    assert process.exitcode == 9
    assert working_path(output).is_dir()
    protect_corpus(corpus, toy_plan(), output, ledger=ledger, resume=resume)
    assert ledger.document("doc0").releases == 1
    assert [each.name for each in output.parent.iterdir()] == ["out"]


def test_of_several_processes_one_pays_and_releases(corpus, ledger, tmp_path):
    context = multiprocessing.get_context("fork")
    start, results = context.Event(), context.Queue()
    processes = [_started(_raced, corpus, tmp_path / "out", ledger, start, results) for _ in range(4)]
    start.set()
    said = [results.get(timeout=600) for _ in processes]
    for process in processes:
        process.join(60)
    assert said.count("released") == 1
    assert ledger.document("doc0").releases == 1
    assert not working_path(tmp_path / "out").exists()


def test_a_folder_that_is_not_locked_yet_is_taken_for_no_leftover(corpus, ledger, tmp_path, monkeypatch):
    """Between its being made and its being locked it has not the mode of one that a dead process left."""
    real, removed = os.open, []

    def opened(path, *given, **named):
        if not removed and str(path).endswith(".tmp") and os.path.isdir(path):
            removed.append(path)
            assert remove_leftovers(tmp_path / "out") == []
        return real(path, *given, **named)

    monkeypatch.setattr(os, "open", opened)
    protect_corpus(corpus, toy_plan(), tmp_path / "out", ledger=ledger)
    assert removed
    assert ledger.document("doc0").releases == 1
    assert (tmp_path / "out" / "manifest.json").is_file()


def test_a_claim_that_ends_while_another_run_looks_at_it_is_at_work(corpus, tmp_path, monkeypatch):
    real = run_folder._made

    def made(path):
        path.mkdir(0o700)
        fresh = real(path)
        path.rmdir()
        return fresh

    monkeypatch.setattr(run_folder, "_made", made)
    with pytest.raises(UsageError, match="another process is at work"):
        protect_corpus(corpus, toy_plan(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_run_that_can_be_resumed_and_one_that_cannot_exclude_each_other(corpus, tmp_path):
    plan, said = toy_plan(), []

    def other(done):
        with pytest.raises(UsageError) as refused:
            protect_corpus(corpus, plan, tmp_path / "out", resume=True)
        said.append(str(refused.value))

    protect_corpus(corpus, plan, tmp_path / "out", progress=other)
    assert said
    assert all("another process is at work" in each for each in said)


def test_who_loses_the_place_after_all_is_told_of_the_charge(corpus, ledger, tmp_path, monkeypatch):
    def filled(charges, left_out, *, token=None):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "stranger").touch()
        return paid(charges, left_out, token=token)

    paid = Charges.pay
    monkeypatch.setattr(Charges, "pay", filled)
    with pytest.raises(UsageError, match=r"filled by someone else.*The ledger is debited"):
        protect_corpus(corpus, toy_plan(), tmp_path / "out", ledger=ledger)
    assert ledger.document("doc0").releases == 1
    assert not working_path(tmp_path / "out").exists()


def test_a_run_that_fails_leaves_neither_claim_nor_folders(corpus, tmp_path):
    with pytest.raises(UsageError):
        protect_corpus(corpus, toy_plan(), tmp_path / "new" / "deep" / "out", format="nothing")

    def stop(done):
        raise UsageError("stopped")

    with pytest.raises(UsageError, match="stopped"):
        protect_corpus(corpus, toy_plan(), tmp_path / "new" / "deep" / "out", progress=stop)
    assert not (tmp_path / "new").exists()


def test_on_a_disk_without_locks_the_folder_itself_is_the_claim(corpus, tmp_path, monkeypatch):
    import fcntl

    def without(file, operation):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", without)
    protect_corpus(corpus, toy_plan(), tmp_path / "out")
    working_path(tmp_path / "next").mkdir(0o700)
    with pytest.raises(UsageError, match="or one that was killed has left it: remove that folder"):
        protect_corpus(corpus, toy_plan(), tmp_path / "next")
