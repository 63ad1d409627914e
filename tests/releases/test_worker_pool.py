"""The processes of a run: this one works too and waits for none, outcomes stay in order, a death is an error."""

import json
import os
import pickle
import threading
import time

import pytest

from publius.documents.corpus import Document, open_corpus
from publius.errors import DataError, StorageError
from publius.files.workers import carried, spawning
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import RunKey
from publius.releases.engines import protect_corpus, started_early
from publius.releases.engines.worker_pool import WorkerPool
from publius.releases.plan import Plan
from publius.settings import RunSettings
from publius.text.bag import Encoding
from toy import sentence

PATIENCE = 120


def toy_plan(embeddings):
    return Plan(Laplace(embeddings, epsilon=2), Encoding.of(embeddings.tokenizer, length=20))


def together(state, batch, key):
    """Elsewhere: wait until the first process has worked, too."""
    first, folder = state
    if os.getpid() == first:
        (folder / "worked").touch()
        return batch, True
    end = time.monotonic() + PATIENCE
    while not (folder / "worked").exists() and time.monotonic() < end:
        time.sleep(0.01)
    return batch, not (folder / "worked").exists()


def dying(first, batch, key):
    if os.getpid() != first:
        os._exit(9)
    return batch


def refusing(state, batch, key):
    raise DataError(f"batch {batch}")


def keyed(state, batch, key):
    return batch, key.expose()


def test_this_process_works_beside_the_others_and_all_stays_in_order(tmp_path):
    with WorkerPool(together, (os.getpid(), tmp_path), 2) as pool:
        found = list(pool.run(range(40), RunKey.fresh()))
    assert [batch for batch, _ in found] == list(range(40))
    assert {own for _, own in found} == {False, True}


def test_a_state_of_any_size_reaches_every_process():
    state = (os.urandom(2**22),)
    with WorkerPool(keyed, state, 3) as pool:
        key = RunKey.fresh()
        assert list(pool.run(range(9), key)) == [(batch, key.expose()) for batch in range(9)]
        other = RunKey.fresh()
        assert list(pool.run(range(9), other)) == [(batch, other.expose()) for batch in range(9)]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_the_work_is_raised_as_it_is(workers):
    with WorkerPool(refusing, None, workers) as pool, pytest.raises(DataError, match="batch 0"):
        list(pool.run(range(20), RunKey.fresh()))


def test_a_process_that_dies_is_an_error_and_nothing_hangs():
    with WorkerPool(dying, os.getpid(), 2) as pool, pytest.raises(StorageError, match="worker process died"):
        list(pool.run(range(40), RunKey.fresh()))


def test_documents_travel_as_they_are():
    document = Document("a", "text", {"kept": "b"}, 7, None, "subject")
    assert pickle.loads(pickle.dumps(document)) == document


@pytest.mark.parametrize(("count", "workers", "early"), [(12, 2, False), (13, 2, True), (13, 1, False)])
def test_the_number_of_documents_decides_whether_processes_start_early(
    tmp_path, embeddings, count, workers, early
):
    lines = [json.dumps({"id": f"d{i}", "text": sentence(i)}) + "\n" for i in range(count)]
    (tmp_path / "corpus.jsonl").write_text("".join(lines), encoding="utf-8")
    corpus, plan = open_corpus(tmp_path / "corpus.jsonl"), toy_plan(embeddings)
    with started_early(corpus, plan, RunSettings(workers=workers, batch_size=12)) as runner:
        assert (runner is not None) == early
        summary = protect_corpus(
            corpus, plan, tmp_path / "out", RunSettings(workers=workers, batch_size=12), runner=runner
        )
    assert summary.tally.documents == count


def test_a_corpus_that_cannot_be_read_starts_nothing_and_says_so_later(tmp_path, embeddings):
    (tmp_path / "corpus.jsonl").write_text("", encoding="utf-8")
    corpus = open_corpus(tmp_path / "corpus.jsonl")
    with started_early(corpus, toy_plan(embeddings), RunSettings(workers=2)) as runner:
        assert runner is None


class _Grows:
    """A state that whoever works with it adds to, as a plan keeps what it has found out."""

    def __init__(self):
        self.packed_by = []

    def __getstate__(self):
        self.packed_by.append(threading.get_ident())
        return {"packed_by": []}


def test_what_workers_need_is_packed_before_anybody_works_with_it():
    """A thread that packs what changes meanwhile may fail, and a worker would wait for it for ever."""
    state = _Grows()
    with carried(spawning(), state, 2) as needed:
        assert state.packed_by == [threading.get_ident()]
        assert isinstance(needed.get(), _Grows)
        assert isinstance(needed.get(), _Grows)
    assert state.packed_by == [threading.get_ident()]


def test_what_cannot_be_packed_is_told_and_not_waited_for():
    with pytest.raises((TypeError, AttributeError)), carried(spawning(), threading.Lock(), 1):
        pytest.fail("the block ran")
