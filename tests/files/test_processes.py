"""Batches through processes: in order, the same for any number of workers, errors by type and place."""

import os
import signal

import pytest
from threadpoolctl import threadpool_info

from publius.errors import DataError, PubliusError, StorageError, UsageError
from publius.files.processes import mapped


def squared(state, batch):
    return [state * each * each for each in batch], os.getpid()


def threads(state, batch):
    import numpy as np

    np.ones((4, 4)) @ np.ones((4, 4))
    return [each["num_threads"] for each in threadpool_info()]


def failing(state, batch):
    if batch == state:
        raise ValueError("a word of a document")
    if batch == -1:
        raise DataError("row 7 cannot be read")
    if batch == -2:
        os.kill(os.getpid(), signal.SIGKILL)
    return batch


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_come_in_order_whatever_the_workers(workers):
    found = [*mapped(squared, 2, ([n, n + 1] for n in range(40)), workers=workers)]
    assert [values for values, _ in found] == [[2 * n * n, 2 * (n + 1) ** 2] for n in range(40)]
    assert (os.getpid() in {pid for _, pid in found}) == (workers == 1)


def test_few_batches_are_under_way_at_once():
    taken = []

    def batches():
        for n in range(100):
            taken.append(n)
            yield [n]

    results = mapped(squared, 1, batches(), workers=2)
    next(results)
    assert len(taken) < 12
    results.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_what_waits_is_done_meanwhile_where_this_process_only_waits(workers):
    done = []

    def meanwhile():
        done.append(os.getpid())
        raise ValueError("it comes again where it matters")

    assert len([*mapped(squared, 2, ([n] for n in range(9)), workers=workers, meanwhile=meanwhile)]) == 9
    assert done == [os.getpid()] * (workers == 2)


def test_workers_have_one_thread():
    for found in mapped(threads, None, range(4), workers=2):
        assert {*found} <= {1}
    assert [*mapped(squared, 1, [], workers=2)] == []


def test_errors_tell_type_and_place_and_never_a_word():
    with pytest.raises(PubliusError, match=r"ValueError at test_processes.py:\d+") as found:
        [*mapped(failing, 3, range(10), workers=2)]
    assert "word" not in str(found.value)
    with pytest.raises(DataError, match="row 7"):
        [*mapped(failing, None, [1, -1, 2], workers=2)]
    with pytest.raises(StorageError, match="a worker process died"):
        [*mapped(failing, None, [1, -2, 2], workers=2)]
    with pytest.raises(UsageError, match="at least 1"):
        [*mapped(failing, None, [1], workers=0)]
