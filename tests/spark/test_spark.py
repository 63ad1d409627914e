"""Spark: the bytes of local processes, a worker that is killed, errors by type and place. Needs the extra spark."""

import json
import os
import shutil
from pathlib import Path

import pytest

from laws.subjects import BY_NAME, Odd, OddAnswers, corpus_file
from publius.errors import PolicyError, PubliusError
from publius.releases import draft, run

pytest.importorskip("pyspark", reason="the extra spark is not installed")
pytestmark = [
    pytest.mark.skipif(not shutil.which("java"), reason="Spark needs Java"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(autouse=True)
def of_spark(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.setattr(draft, "entropy", lambda: bytes(range(32)))
    monkeypatch.setattr(run, "BATCH", 4)


@pytest.fixture(scope="module", autouse=True)
def context():
    """One context for all tests of this file, as a notebook has it."""
    from publius.releases.spark import _context

    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1])
    made, _ = _context("local[2,4]", 2)
    yield made
    made.stop()
    os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def spark(subject):
    return type(subject)(**{**subject.__dict__, "engine": "spark", "workers": 2})


@pytest.mark.parametrize(
    "subject", [BY_NAME[name] for name in ("values", "topics with bags", "words")], ids=lambda subject: subject.name
)
def test_spark_makes_the_bytes_of_one_process_also_where_a_worker_is_killed(subject, tmp_path):
    source = corpus_file(tmp_path)
    subject.run(source, tmp_path / "local", workers=1)
    odd = Odd(subject.mechanism(), str(tmp_path / "killed"))
    spark(subject).run(source, tmp_path / "spark", odd)
    assert (tmp_path / "killed").exists()
    assert content(tmp_path / "local") == content(tmp_path / "spark")
    assert sorted(os.listdir(tmp_path)) == ["in.jsonl", "killed", "local", "spark"]


def test_authors_are_limited_and_charged_as_on_one_machine(tmp_path):
    import publius

    source = corpus_file(tmp_path)
    ledger = publius.Ledger.create(tmp_path / "ledger", budget=100, unit="epsilon")
    result = spark(BY_NAME["values"]).run(source, tmp_path / "out", ledger=ledger, documents_per_author=2)
    assert result.manifest.documents == 10
    assert ledger.account("Ada").spent == 4
    assert len((tmp_path / "out" / "labels.jsonl").read_text().splitlines()) == 10


def test_an_error_is_told_by_type_and_place(tmp_path):
    source = corpus_file(tmp_path)
    for error, kind in ((PolicyError("row 12 is refused"), PolicyError), (ValueError("storm river"), PubliusError)):
        odd = Odd(BY_NAME["values"].mechanism(), str(tmp_path / "never"), error)
        with pytest.raises(kind) as found:
            spark(BY_NAME["values"]).run(source, tmp_path / "out", odd)
        assert "storm" not in str(found.value)
    assert sorted(os.listdir(tmp_path)) == ["in.jsonl"]
    assert json.loads(source.read_text().splitlines()[0])["id"] == "doc-0"


def test_a_summary_is_counted_as_on_one_machine_also_where_a_worker_is_killed(tmp_path, monkeypatch):
    import publius
    from publius.summaries import summary
    from publius.summaries.run import summarize_corpus

    monkeypatch.setattr(summary, "BATCH", 4)
    source, values = corpus_file(tmp_path, documents=60), publius.Values(["river", "market"])
    ledger = publius.Ledger.create(tmp_path / "ledger", budget=100, unit="epsilon")

    def summarized(output, classifier, **more):
        asked = publius.Summary(
            classifier, 2, by={"year": ["2000"]}, documents_per_author=3, shares={"totals": 0.5, "topics": 0.5}
        )
        corpus = publius.open_corpus(source, author_field="author", fields=["year"])
        return summarize_corpus(corpus, asked, tmp_path / output, force=True, **more)

    here = summarized("local", values, workers=1)
    odd = OddAnswers(values, str(tmp_path / "killed"))
    there = summarized("spark", odd, workers=2, engine="spark", ledger=ledger)
    assert (tmp_path / "killed").exists()
    assert here.manifest.authors == there.manifest.authors == 5
    assert ledger.account("Ada").spent == 2
    assert content(tmp_path / "local") == content(tmp_path / "spark")
    assert sorted(os.listdir(tmp_path)) == ["in.jsonl", "killed", "ledger", "local", "spark"]
