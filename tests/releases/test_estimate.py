"""An estimate by samples, on a clock that work moves."""

import pytest

from publius.errors import UsageError
from publius.releases import estimate
from publius.releases.estimate import Estimate, by_samples, estimated


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


class Read:
    """A corpus of ``count`` batches of a hundred documents, a quarter of a second to read each."""

    def __init__(self, now, count):
        self.now, self.count = now, count

    def batches(self, size):
        for _ in range(self.count):
            self.now[0] += 0.25
            yield range(100)


@pytest.mark.parametrize(
    ("count", "workers", "seconds", "worked"),
    [(0, 2, 0, 0), (1, 2, 0.25 + 7, 1), (2, 1, 0.5 + 7 + 2, 2), (10, 2, 2.5 + 7 + 5, 4), (10, 1, 2.5 + 7 + 10, 4)],
)
def test_work_on_the_first_documents_says_how_long_all_take(monkeypatch, count, workers, seconds, worked):
    """Seven seconds the first time, one later: after three all others are counted alone, the workers share the work."""
    now, done = [0.0], []

    def work(batch):
        now[0] += 1 if done else 7
        done.append(len(batch))

    monkeypatch.setattr(estimate.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(estimate, "_peak", lambda: 5)
    assert estimated(work, Read(now, count), workers) == (100 * count, workers, seconds, 5)
    assert done == [100] * worked


def test_an_estimate_is_told_in_a_sentence():
    found = {seconds: str(Estimate(1234, 2, seconds, 3 * 2**20)) for seconds in (0.4, 119.0, 120.0, 5400.0, 72_000.0)}
    assert [each.split("about ")[1].split(" with")[0] for each in found.values()] == [
        "0 seconds", "119 seconds", "2 minutes", "90 minutes", "1,200 minutes",
    ]  # fmt: skip
    assert found[120.0] == "1,234 documents: about 2 minutes with 2 workers, 3 MB each. Nothing was kept."
