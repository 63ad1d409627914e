"""An estimate by samples, on a clock that work moves."""

import pytest

from publius.errors import UsageError
from publius.releases import estimate
from publius.releases.estimate import by_samples


@pytest.fixture
def work(monkeypatch):
    """Work of a hundredth of a second a document, a second more the first time, none on fewer than ten."""
    now, done = [0.0], list[int]()
    monkeypatch.setattr(estimate.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(estimate, "_peak", lambda: 1000 + 8 * max(done, default=0))

    def works(size):
        def work(step):
            count = -(-size // step)
            if count < 10:
                raise UsageError("too few")
            now[0] += 0.01 * count + (not done)
            done.append(count)

        return work, done

    return works


@pytest.mark.parametrize("size", [1600, 6400, 64_000])
def test_time_and_memory_grow_with_the_documents(work, size):
    learn, done = work(size)
    found = by_samples(learn, size)
    assert found == (size, 1, pytest.approx(0.01 * size), 1000 + 8 * size)
    assert sum(done) < size / 5


def test_what_is_small_is_measured_whole(work):
    learn, done = work(40)
    assert by_samples(learn, 40).seconds == pytest.approx(0.4)
    assert done == [10, 20, 40]


def test_what_cannot_be_done_at_all_is_said(work):
    with pytest.raises(UsageError, match="too few"):
        by_samples(work(9)[0], 9)
