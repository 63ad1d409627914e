"""Runs that are interrupted and go on: nothing is drawn twice, nothing is lost, nothing is left."""

import fcntl
import json
import os
import shutil
import signal
import stat
import time
from functools import partial

import pytest

from held import held
from publius.documents import seen_ids
from publius.documents.corpus import open_corpus
from publius.documents.seen_ids import IdSet
from publius.errors import BudgetError, DataError, DocumentError, PolicyError, StorageError, UsageError
from publius.mechanisms.kernels.laplace import Laplace
from publius.privacy.ledger import Charge, Ledger
from publius.releases.engines import protect_corpus as protect_with_workers
from publius.releases.engines.journal import Journal
from publius.releases.engines.run_folder import fingerprint, working_path
from publius.releases.plan import Experiment, Plan
from publius.releases.release import Tally
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords
from torture_resume import torture
from toy import sentence

protect_corpus = partial(protect_with_workers, workers=1)


@pytest.fixture
def plan(embeddings):
    encoding = Encoding(20, "unk", StopWords.load("none"), "word2vec")
    return Plan(Laplace(embeddings, epsilon=2.0), encoding, labels=("topic",), experiment=Experiment(seed=5))


@pytest.fixture
def corpus(corpus_file):
    return open_corpus(corpus_file, keep=["topic"])


class Stopped(Exception):
    """Stands for a kill between two batches."""


def stop_after(documents):
    """A progress callback that stops the run when ``documents`` are finished."""
    done = 0

    def progress(count):
        nonlocal done
        done += count
        if done >= documents:
            raise Stopped

    return progress


def interrupted(corpus, plan, output, documents=6, **options):
    """A resumable run that ends after ``documents``; returns its working folder."""
    with pytest.raises(Stopped):
        protect_corpus(
            corpus, plan, output, resume=True, batch_size=2, progress=stop_after(documents), **options
        )
    return working_path(output)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".parquet"}


@pytest.mark.parametrize("format", ["jsonl", "csv", "mtx", "parquet"])
def test_resumed_run_is_the_same_as_one_in_one_go(corpus, plan, tmp_path, format):
    protect_corpus(corpus, plan, tmp_path / "whole", format=format)
    interrupted(corpus, plan, tmp_path / "out", format=format)
    summary = protect_corpus(corpus, plan, tmp_path / "out", resume=True, format=format)
    assert (summary.found.documents, summary.tally.documents) == (6, 12)
    assert files(tmp_path / "out") == files(tmp_path / "whole")
    assert not working_path(tmp_path / "out").exists()


def test_resumed_parquet_has_the_same_rows(corpus, plan, tmp_path):
    from pyarrow import parquet

    protect_corpus(corpus, plan, tmp_path / "whole", format="parquet")
    interrupted(corpus, plan, tmp_path / "out")
    protect_corpus(corpus, plan, tmp_path / "out", resume=True, format="parquet")
    read = [parquet.read_table(tmp_path / name / "bags.parquet") for name in ("whole", "out")]
    assert read[0].equals(read[1])


def test_finished_output_has_the_permissions_of_any_other(corpus, plan, tmp_path):
    protect_corpus(corpus, plan, tmp_path / "plain")
    protect_corpus(corpus, plan, tmp_path / "out", resume=True)
    modes = [stat.S_IMODE((tmp_path / name / "bags.jsonl").stat().st_mode) for name in ("plain", "out")]
    assert modes[0] == modes[1]


@pytest.mark.parametrize("size", [1, 5, 100])
def test_batch_size_changes_no_byte(corpus, plan, tmp_path, size):
    protect_corpus(corpus, plan, tmp_path / "usual")
    protect_corpus(corpus, plan, tmp_path / "out", batch_size=size)
    assert files(tmp_path / "out") == files(tmp_path / "usual")


def test_a_fresh_secret_survives_the_interruption(corpus, embeddings, tmp_path):
    """Without a seed: what was finished before is in the output as it was."""
    encoding = Encoding(20, "unk", StopWords.load("none"), "word2vec")
    plan = Plan(Laplace(embeddings, epsilon=2.0), encoding, labels=("topic",))
    kept = interrupted(corpus, plan, tmp_path / "out")
    before = (kept / "bags.jsonl").read_bytes()
    (kept / "bags.jsonl").write_bytes(before[: len(before) // 2])
    with pytest.raises(DataError, match="shorter"):
        protect_corpus(corpus, plan, tmp_path / "out", resume=True)
    progress = (kept / "progress.jsonl").read_bytes().splitlines(keepends=True)
    (kept / "bags.jsonl").write_bytes(before)
    (kept / "progress.jsonl").write_bytes(progress[0] + progress[1][:9])
    summary = protect_corpus(corpus, plan, tmp_path / "out", resume=True)
    assert summary.found.documents == 2
    assert summary.found.torn_bytes > 9
    assert (tmp_path / "out" / "bags.jsonl").read_bytes().startswith(before)


def test_the_working_folder_is_private_and_holds_no_document(plan, tmp_path):
    source = tmp_path / "corpus.jsonl"
    rows = [{"id": f"doc{i}", "text": f"river zzcanary{i}", "topic": "a"} for i in range(4)]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    kept = interrupted(open_corpus(source, keep=["topic"]), plan, tmp_path / "out", documents=2)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept.iterdir() if path.is_file()} == {0o600}
    assert stat.S_IMODE((kept / "release").stat().st_mode) == 0o700
    assert len((kept / "secret").read_bytes()) == 32
    assert not any(b"zzcanary" in path.read_bytes() for path in kept.iterdir() if path.is_file())


def test_another_plan_is_refused_by_name(corpus, plan, embeddings, tmp_path):
    interrupted(corpus, plan, tmp_path / "out")
    other = Plan(
        Laplace(embeddings, epsilon=3.0), plan.encoding, labels=plan.labels, experiment=plan.experiment
    )
    with pytest.raises(UsageError, match="epsilon, epsilon_total"):
        protect_corpus(corpus, other, tmp_path / "out", resume=True)


def test_another_seed_is_refused(corpus, plan, tmp_path):
    interrupted(corpus, plan, tmp_path / "out")
    other = Plan(plan.mechanism, plan.encoding, labels=plan.labels, experiment=Experiment(seed=6))
    with pytest.raises(UsageError, match="--seed"):
        protect_corpus(corpus, other, tmp_path / "out", resume=True)


def test_another_way_of_reading_is_refused(corpus, corpus_file, plan, tmp_path):
    interrupted(corpus, plan, tmp_path / "out")
    with pytest.raises(UsageError, match="another id_field"):
        protect_corpus(
            open_corpus(corpus_file, keep=["topic"], number=True), plan, tmp_path / "out", resume=True
        )


def test_a_changed_input_is_refused(corpus, corpus_file, plan, tmp_path):
    interrupted(corpus, plan, tmp_path / "out")
    corpus_file.write_text(corpus_file.read_text().replace("river", "rivet", 1))
    with pytest.raises(DocumentError, match="not what it was"):
        protect_corpus(corpus, plan, tmp_path / "out", resume=True)


def test_the_digest_of_the_input_is_keyed(corpus):
    assert fingerprint(corpus, bytes(32)) != fingerprint(corpus, bytes(31) + b"\1")
    assert fingerprint(corpus, bytes(32)) == fingerprint(corpus, bytes(32))


def test_of_a_file_that_is_too_large_for_a_document_no_more_is_read_than_tells_so(tmp_path):
    """A file without bytes on the disk may say that it has terabytes, and whoever reads it waits for all of them."""
    path = tmp_path / "a.txt"
    path.touch()
    os.truncate(path, 2**40)
    assert len(fingerprint(open_corpus(path, number=True), bytes(32))) == 128
    (bad,) = open_corpus(path, number=True)
    assert "more than 16 MiB" in bad.reason


def test_a_pipe_that_comes_in_the_place_of_a_file_is_not_waited_for(tmp_path):
    (tmp_path / "a.txt").write_text("kept", encoding="utf-8")
    corpus = open_corpus(tmp_path, number=True)
    (tmp_path / "a.txt").unlink()
    os.mkfifo(tmp_path / "a.txt")
    with pytest.raises(StorageError):
        fingerprint(corpus, bytes(32))
    with pytest.raises(StorageError):
        list(corpus)


def test_an_unfinished_run_is_not_started_a_second_time(corpus, plan, tmp_path):
    kept = interrupted(corpus, plan, tmp_path / "out")
    with pytest.raises(UsageError, match="--resume"):
        protect_corpus(corpus, plan, tmp_path / "out")
    assert kept.exists()


def test_a_second_process_waits(corpus, plan, tmp_path):
    kept = interrupted(corpus, plan, tmp_path / "out")
    with open(kept / "lock", "ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="another process"):
            protect_corpus(corpus, plan, tmp_path / "out", resume=True)


def test_a_folder_that_others_can_read_is_refused(corpus, plan, tmp_path):
    working_path(tmp_path / "out").mkdir(mode=0o755)
    with pytest.raises(PolicyError, match="only you can read"):
        protect_corpus(corpus, plan, tmp_path / "out", resume=True)


def test_a_lost_secret_is_refused(corpus, plan, tmp_path):
    kept = interrupted(corpus, plan, tmp_path / "out")
    (kept / "secret").unlink()
    with pytest.raises(DataError, match="secret is gone"):
        protect_corpus(corpus, plan, tmp_path / "out", resume=True)


def test_a_torn_beginning_begins_again(corpus, plan, tmp_path):
    kept = interrupted(corpus, plan, tmp_path / "out")
    (kept / "record.json").unlink()
    summary = protect_corpus(corpus, plan, tmp_path / "out", resume=True)
    assert (summary.found, summary.tally.documents) == (None, 12)


def test_killed_when_only_the_traces_were_left(corpus, plan, tmp_path, monkeypatch):
    monkeypatch.setattr("publius.releases.engines.run_folder.WorkingFolder.destroy", lambda work: None)
    protect_corpus(corpus, plan, tmp_path / "out", resume=True)
    monkeypatch.undo()
    before = files(tmp_path / "out")
    summary = protect_corpus(corpus, plan, tmp_path / "out", resume=True)
    assert (summary.found.documents, summary.tally.words) == (12, 240)
    assert files(tmp_path / "out") == before
    assert not working_path(tmp_path / "out").exists()


def test_killed_when_only_the_folder_was_left(corpus, plan, tmp_path):
    """Nothing tells any more that the output is this run's: it is left alone, and the folder goes."""
    protect_corpus(corpus, plan, tmp_path / "out")
    released = files(tmp_path / "out")
    work = working_path(tmp_path / "out")
    work.mkdir(0o700)
    with pytest.raises(UsageError, match="not empty"):
        protect_corpus(corpus, plan, tmp_path / "out", resume=True)
    assert not work.exists()
    assert files(tmp_path / "out") == released


def test_killed_while_a_half_placed_output_is_put_together_again(corpus, plan, tmp_path, monkeypatch):
    """Found by torture: the mark of an earlier placing outlived the stage that it spoke of."""

    def stop(*_, **__):
        raise Stopped

    for name in ("place_folder", "shutil.rmtree"):
        with monkeypatch.context() as patch:
            patch.setattr(f"publius.releases.engines.run_folder.{name}", stop)
            with pytest.raises(Stopped):
                protect_corpus(corpus, plan, tmp_path / "out", resume=True)
    shutil.rmtree(working_path(tmp_path / "out") / "release")
    summary = protect_corpus(corpus, plan, tmp_path / "out", resume=True)
    assert summary.tally.documents == 12
    assert len((tmp_path / "out" / "bags.jsonl").read_bytes().splitlines()) == 12


def test_a_bad_document_can_be_left_out_when_the_run_goes_on(corpus_file, plan, tmp_path):
    lines = corpus_file.read_text(encoding="utf-8").splitlines(keepends=True)
    corpus_file.write_text("".join([*lines[:7], "{}\n", *lines[7:]]), encoding="utf-8")
    corpus = open_corpus(corpus_file, keep=["topic"])
    with pytest.raises(DocumentError, match="document 8"):
        protect_corpus(corpus, plan, tmp_path / "out", resume=True, batch_size=2)
    summary = protect_corpus(corpus, plan, tmp_path / "out", resume=True, skip_bad=True)
    assert summary.found.documents == 6
    assert [bad.position for bad in summary.bad] == [8]
    assert summary.tally.documents == 12


def test_documents_left_out_before_still_count_as_bad(corpus_file, plan, tmp_path):
    corpus_file.write_text("{}\n" + corpus_file.read_text(encoding="utf-8"), encoding="utf-8")
    corpus = open_corpus(corpus_file, keep=["topic"])
    interrupted(corpus, plan, tmp_path / "out", skip_bad=True)
    with pytest.raises(DocumentError, match="document 1"):
        protect_corpus(corpus, plan, tmp_path / "out", resume=True)


def test_repeated_ids_are_found_across_the_interruption(corpus_file, plan, tmp_path):
    text = corpus_file.read_text(encoding="utf-8")
    corpus_file.write_text(text + text.splitlines()[0] + "\n", encoding="utf-8")
    corpus = open_corpus(corpus_file, keep=["topic"])
    interrupted(corpus, plan, tmp_path / "out")
    with pytest.raises(DocumentError, match="an earlier document has this id"):
        protect_corpus(corpus, plan, tmp_path / "out", resume=True)


def test_journal_keeps_whole_batches_only(tmp_path):
    with Journal(tmp_path) as journal:
        journal.append(2, b"one\ntwo\n", Tally(2, 40), [])
        journal.append(1, b"three\n", Tally(1, 20), [])
    progress = tmp_path / "progress.jsonl"
    progress.write_bytes(progress.read_bytes()[:-3])
    with Journal(tmp_path) as journal:
        assert (journal.items, journal.tally.words, journal.torn_bytes > 0) == (2, 40, True)
    assert journal.path.read_bytes() == b"one\ntwo\n"


def test_the_command_says_what_it_found(publius, corpus_file, stored, plan, tmp_path):
    call = ("obfuscate", corpus_file, "--epsilon", 2, "--output", tmp_path / "out", "--embeddings", stored,
            "--length", 20, "--keep", "topic", "--resume", "--batch-size", 2, "--workers", 1)  # fmt: skip
    corpus_file.write_text("{}\n" + corpus_file.read_text(encoding="utf-8"), encoding="utf-8")
    assert publius(*call)[0] == 65
    lines = corpus_file.read_text(encoding="utf-8").splitlines(keepends=True)
    corpus_file.write_text("".join([*lines[1:7], lines[0], *lines[7:]]), encoding="utf-8")
    assert publius(*call)[0] == 65, "the input has changed"
    working = working_path(tmp_path / "out")
    shutil.rmtree(working)
    assert publius(*call)[0] == 65
    code, out, err = publius(*call, "--skip-bad", "--accept-loss", "--json")
    assert code == 0
    assert json.loads(out)["resumed"] == {"documents": 6, "left_out": 0, "torn_bytes": 0}
    assert "6 documents were finished" in err


def test_workers_end_with_the_process_that_started_them(corpus_file, stored, tmp_path):
    rows = [json.dumps({"id": i, "text": "river castle " * 10}) for i in range(5_000)]  # enough for workers
    corpus_file.write_text("\n".join(rows), encoding="utf-8")
    command = ["obfuscate", corpus_file, "--epsilon", 1, "--output", tmp_path / "out", "--embeddings", stored]
    run = held([*command, "--length", 20, "--workers", 2, "--resume"], "bags.jsonl")
    started = children(run.pid)
    run.send_signal(signal.SIGKILL)
    run.wait()
    late = time.monotonic() + 600
    while any(map(runs, started)) and time.monotonic() < late:
        time.sleep(0.01)
    assert started
    assert not any(map(runs, started))


def runs(pid):
    """Whether a process runs: not one that has ended and waits to be asked for how."""
    try:
        with open(f"/proc/{pid}/status") as told:
            return "\nState:\tZ" not in told.read()
    except OSError:
        return False


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as listed:
        return [int(child) for child in listed.read().split()]


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.long)])
def test_kills(tmp_path, kills):
    assert torture(kills, tmp_path).kills == kills


@pytest.mark.parametrize("first", [0, 1000, 2**17])
def test_ids_are_known_again(first, monkeypatch):
    monkeypatch.setattr(seen_ids, "_FIRST", first)
    ids = IdSet()
    assert all(ids.add(f"doc{i}") for i in range(5000))
    assert not any(ids.add(f"doc{i}") for i in range(5000))
    assert ids.add("doc5000")
    assert len(ids) == 5001


@pytest.fixture
def private_plan(embeddings):
    return Plan(
        Laplace(embeddings, epsilon=2.0),
        Encoding(20, "unk", StopWords.load("none"), "word2vec"),
        labels=("topic",),
    )


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "ledger", budget=40)


def test_a_resumed_run_is_debited_once(corpus, private_plan, ledger, tmp_path):
    interrupted(corpus, private_plan, tmp_path / "out", ledger=ledger)
    assert ledger.counts()[2] == 0, "nothing is debited before all is finished"
    protect_corpus(corpus, private_plan, tmp_path / "out", resume=True, ledger=ledger)
    assert ledger.counts() == (12, 0, 1)
    ledger.check()


def test_killed_between_debit_and_release_it_is_not_paid_twice(
    corpus, private_plan, ledger, tmp_path, monkeypatch
):
    def stop(*_):
        raise Stopped

    monkeypatch.setattr("publius.releases.engines.run_folder.WorkingFolder.place", stop)
    with pytest.raises(Stopped):
        protect_corpus(corpus, private_plan, tmp_path / "out", resume=True, ledger=ledger)
    monkeypatch.undo()
    assert ledger.document("doc0").remaining == 0
    summary = protect_corpus(corpus, private_plan, tmp_path / "out", resume=True, ledger=ledger)
    assert summary.tally.documents == 12
    assert ledger.counts()[2] == 1


def test_a_spent_budget_stops_a_resumed_run(corpus, private_plan, ledger, tmp_path):
    interrupted(corpus, private_plan, tmp_path / "out", ledger=ledger)
    ledger.spend([Charge("doc9", 1)])
    with pytest.raises(BudgetError):
        protect_corpus(corpus, private_plan, tmp_path / "out", resume=True, ledger=ledger)
    assert not (tmp_path / "out").exists()


def test_a_repeated_id_that_is_left_out_leaves_the_first_one_charged(
    corpus_file, private_plan, ledger, tmp_path
):
    text = corpus_file.read_text(encoding="utf-8")
    corpus_file.write_text(text + text.splitlines()[0] + "\n", encoding="utf-8")
    corpus = open_corpus(corpus_file, keep=["topic"])
    protect_corpus(corpus, private_plan, tmp_path / "out", skip_bad=True, ledger=ledger)
    assert ledger.document("doc0").releases == 1


def test_a_folder_with_a_file_that_cannot_be_read_is_gone_on_with(plan, tmp_path):
    """Its name is not written down: it may hold words."""
    plan = Plan(plan.mechanism, plan.encoding, experiment=plan.experiment)
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.txt").write_text(sentence(number), encoding="utf-8")
    (folder / "zzcanary.unknown").write_text("x", encoding="utf-8")
    first = open_corpus(folder)
    with pytest.raises(Stopped):
        protect_corpus(first, plan, output, resume=True, skip_bad=True, batch_size=2, progress=stop_after(4))
    record = working_path(output) / "record.json"
    assert "no kind that can be read" in record.read_text(encoding="utf-8")
    assert "zzcanary" not in record.read_text(encoding="utf-8")
    folder.rename(tmp_path / "moved")
    summary = protect_corpus(open_corpus(tmp_path / "moved"), plan, output, resume=True, skip_bad=True)
    assert (summary.tally.documents, len(summary.bad)) == (8, 1)
    assert not working_path(output).exists()
