"""A summary counted by several: the same documents count, and nothing but hashes and cells goes between them."""

import json
import pickle
from fractions import Fraction

import pytest

from publius.errors import DataError, DocumentError, UsageError
from publius.noise.randomness import RunKey
from publius.privacy.ledger import Charge, Ledger
from publius.releases.engines.shard_job import unpacked
from publius.releases.summaries import work
from publius.releases.summaries.run import summarize
from publius.releases.summaries.summary import Summary
from publius.releases.summaries.work import CountJob, count_here, count_on_cluster
from toy_engine import ToyEngine

BY = ["product=card,loan"]


def nobody(*heard):
    """For who need not hear of authors or progress."""


@pytest.fixture
def file(rows, tmp_path):
    """Three letters of each author, in turn."""
    path = tmp_path / "letters.jsonl"
    many = [{**row, "author": f"author {place % 130}"} for place, row in enumerate(rows)]
    path.write_text("".join(json.dumps(row) + "\n" for row in many), encoding="utf-8")
    return path


@pytest.fixture
def summary(reference):
    return Summary(reference, 4, 2, by=BY)


def here(summary, file, key, workers=1):
    return count_here(
        summary, summary.rows(summary.corpus(file)), key, workers, author=nobody, progress=nobody
    )


def test_the_same_documents_count_whoever_counts_them(summary, file, tmp_path, monkeypatch):
    """In this process, in two others, and on a cluster that does each part twice and the last first."""
    monkeypatch.setattr("publius.releases.summaries.summary._AT_ONCE", 25)
    monkeypatch.setattr(work, "_FEW", 1)
    key = RunKey.fresh()
    found, seen = here(summary, file, key)
    assert (len(found.cells), found.authors) == (260, 130)
    for other, met in (
        here(summary, file, key, workers=2),
        count_on_cluster(ToyEngine(twice=True), summary, summary.corpus(file), key, tmp_path),
    ):
        assert other.cells.tolist() == found.cells.tolist()
        assert met == seen
    assert [path.name for path in tmp_path.iterdir()] == ["letters.jsonl"]


def test_what_a_cluster_is_handed_and_hands_back_holds_no_text(summary, file, tmp_path, monkeypatch):
    """The reference is named; what comes back are hashes under the run's key, and cells."""
    kept = []
    monkeypatch.setattr(
        work.shutil, "rmtree", lambda notes: kept.extend(path.read_bytes() for path in notes.iterdir())
    )
    count_on_cluster(ToyEngine(), summary, summary.corpus(file), RunKey.fresh(), tmp_path)
    text = json.loads(file.read_text().splitlines()[0])["text"]
    for part in kept:
        assert text.encode() not in part
        assert b"author 1" not in part
    job = CountJob(summary, summary.corpus(file), (), tmp_path)
    again = unpacked(job.pack(), {}.__getitem__)
    assert again.summary.spaces.reference.sha256 == summary.spaces.reference.sha256
    assert again.summary.counting.shape == summary.counting.shape
    assert len(job.pack()) < 400_000


def test_a_summary_is_the_same_after_it_was_carried(summary, rows):
    again = pickle.loads(pickle.dumps(summary))
    texts, strata = [row["text"] for row in rows], [0] * len(rows)
    assert (again.counting.cells(texts, strata) == summary.counting.cells(texts, strata)).all()
    assert (again.epsilon, again.shares, again.promise) == (Fraction(4), summary.shares, summary.promise)


def test_a_row_that_is_refused_on_a_cluster_is_named_by_its_place(summary, file, tmp_path):
    with file.open("a") as more:
        more.write(json.dumps({"product": "card", "text": "secret"}) + "\n")
    with pytest.raises(DataError, match=r"a document \(line") as error:
        summarize(summary.corpus(file), summary, tmp_path / "out", engine=ToyEngine())
    assert "secret" not in str(error.value)
    file.write_text("")
    with pytest.raises(DocumentError, match="there is no document"):
        summarize(summary.corpus(file), summary, tmp_path / "out", engine=ToyEngine())
    assert not (tmp_path / "out").exists()


def test_a_summary_on_a_cluster_is_charged_and_leaves_out_who_has_spent(summary, file, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger", budget=5, unit="bound")
    ledger.spend([Charge("row 1", 2, "AUTHOR 7")])
    finished = summarize(summary.corpus(file), summary, tmp_path / "out", ledger=ledger, engine=ToyEngine())
    assert (finished.left_out, finished.seen.documents) == (1, 400)
    assert (ledger.subject("author 7").spent, ledger.subject("author 8").spent) == (2, 4)
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


def test_an_engine_that_is_none_is_refused(summary, file, tmp_path):
    with pytest.raises(UsageError, match="no engine is called 'abacus'"):
        summarize(summary.corpus(file), summary, tmp_path / "out", engine="abacus")


def test_who_comes_in_between_the_charge_and_the_counting_is_not_counted(
    summary, file, tmp_path, monkeypatch
):
    """The driver reads who is charged, the workers what is counted: a file that grows is refused, nobody is added."""

    class Filling(ToyEngine):
        def carry(self, task, numbers):
            with file.open("a") as more:
                more.writelines(
                    json.dumps({"author": f"new {n}", "product": "card", "text": "a card"}) + "\n"
                    for n in range(99)
                )
            super().carry(task, numbers)

    def counted(output):
        ledger = Ledger.create(tmp_path / f"{output}.ledger", budget=5, unit="bound")
        drawn = []
        monkeypatch.setattr(
            Summary, "draw", lambda self, cells: drawn.append(len(cells)) or noisy(self, cells)
        )
        try:
            summarize(summary.corpus(file), summary, tmp_path / output, ledger=ledger, engine=Filling())
        finally:
            found = ledger.counts()[2], drawn, (tmp_path / output).exists()
        return found

    noisy = Summary.draw
    with pytest.raises(DocumentError, match="changed while it was read"):
        counted("refused")
    assert not (tmp_path / "refused").exists()
    assert Ledger(tmp_path / "refused.ledger").counts()[2] == 0
    monkeypatch.setattr("publius.documents.corpus.Corpus.check_unchanged", lambda self, before: None)
    file.write_text("".join(line + "\n" for line in file.read_text().splitlines() if '"new ' not in line))
    assert counted("kept") == (1, [260], True)  # two of each of 130, and of nobody else
