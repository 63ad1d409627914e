"""What every engine must do alike, local processes and a third one that is added here in one class.

`make spark` holds the engine for Spark to the same.
"""

import json
import stat

import pytest

from publius.documents.corpus import open_corpus
from publius.errors import BudgetError, DocumentError, PolicyError, UsageError
from publius.mechanisms.kernels.laplace import Laplace
from publius.privacy.ledger import Charge, Ledger
from publius.releases.engines import AbstractEngine, EngineResult, protect_corpus
from publius.releases.engines.local import LocalEngine
from publius.releases.engines.run_folder import working_path
from publius.releases.layout import Layout
from publius.releases.plan import Experiment, Plan
from publius.releases.writers import WRITERS
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords
from toy import sentence
from toy_engine import Stopped, ToyEngine

ENGINES = {"local": LocalEngine(), "two processes": LocalEngine(2), "toy": ToyEngine()}


def plan_of(embeddings, unknown="unk", *, seed=5):
    encoding = Encoding(20, unknown, StopWords.load("english"), "word2vec")
    experiment = None if seed is None else Experiment(seed=seed)
    return Plan(Laplace(embeddings, epsilon=2.0), encoding, experiment=experiment)


@pytest.fixture
def plan(embeddings):
    return plan_of(embeddings)


def rows(count=200):
    return [{"id": f"doc{i}", "text": sentence(i)} for i in range(count)]


def write(path, records):
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return open_corpus(path)


@pytest.fixture
def corpus(tmp_path):
    return write(tmp_path / "corpus.jsonl", rows())


def bags(output):
    from pyarrow import parquet

    return parquet.read_table(output / "bags.parquet").to_pylist()


@pytest.fixture(params=ENGINES)
def engine(request):
    return ENGINES[request.param]


def test_bags_and_manifest_are_those_of_one_process(engine, corpus, plan, tmp_path):
    protect_corpus(corpus, plan, tmp_path / "one", format="parquet")
    protect_corpus(corpus, plan, tmp_path / "out", format="parquet", engine=engine, batch_size=7)
    assert bags(tmp_path / "out") == bags(tmp_path / "one")
    one, out = (json.loads((tmp_path / name / "manifest.json").read_bytes()) for name in ("one", "out"))
    del one["files"], out["files"]  # an engine may write several
    assert out == one


@pytest.mark.parametrize("unknown", ["unk", "drop"])
def test_documents_without_words_are_there(engine, embeddings, tmp_path, unknown):
    """R27: stop words only, unknown words only, nothing at all: the id appears with N words."""
    empty = [
        {"id": f"e{i}", "text": text} for i, text in enumerate(["the of and", "zzcanary", "", " ", "!?"])
    ]
    corpus = write(tmp_path / "corpus.jsonl", [*rows(3), *empty])
    summary = protect_corpus(
        corpus, plan_of(embeddings, unknown, seed=None), tmp_path / "out", format="parquet", engine=engine
    )
    made = bags(tmp_path / "out")
    assert [row["id"] for row in made] == ["doc0", "doc1", "doc2", "e0", "e1", "e2", "e3", "e4"]
    assert {sum(row["counts"]) for row in made} == {20}
    assert (summary.manifest["documents"], summary.manifest["missing"]) == (8, 0)


def test_records_that_cannot_be_read_are_counted(engine, plan, tmp_path):
    corpus = write(tmp_path / "corpus.jsonl", [*rows(3), "{", *rows(4)])
    with pytest.raises(DocumentError, match=r"document 4.*--skip-bad"):
        protect_corpus(corpus, plan, tmp_path / "out", format="parquet", engine=engine)
    summary = protect_corpus(corpus, plan, tmp_path / "out", format="parquet", engine=engine, skip_bad=True)
    assert [bad.position for bad in summary.bad] == [4, 5, 6, 7]
    assert (summary.manifest["documents"], summary.manifest["missing"]) == (4, 4)
    assert [row["id"] for row in bags(tmp_path / "out")] == ["doc0", "doc1", "doc2", "doc3"]


def test_unknown_words_never_decide_who_is_there(engine, embeddings, corpus, tmp_path):
    with pytest.raises(PolicyError, match="which do"):
        protect_corpus(
            corpus, plan_of(embeddings, "reject", seed=None), tmp_path / "out", engine=engine, skip_bad=True
        )
    marked = plan_of(embeddings, "reject")
    summary = protect_corpus(corpus, marked, tmp_path / "out", engine=engine, skip_bad=True)
    assert "NOT PRIVATE" in summary.manifest["warning"]


def test_rejecting_refuses_the_whole_run(engine, embeddings, tmp_path):
    records = rows(60)
    records[40]["text"] = "zzcanary " + records[40]["text"]
    corpus = write(tmp_path / "corpus.jsonl", records)
    with pytest.raises(DocumentError, match="document 41") as refused:
        protect_corpus(corpus, plan_of(embeddings, "reject", seed=None), tmp_path / "out", engine=engine)
    assert not {"canary", "--skip-bad"} & {
        word for word in ("canary", "--skip-bad") if word in str(refused.value)
    }
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.jsonl"]


def test_a_ledger_is_debited_once_for_what_is_released(engine, embeddings, tmp_path):
    corpus = write(tmp_path / "corpus.jsonl", [*rows(30), "{"])
    ledger = Ledger.create(tmp_path / "ledger", budget=40)
    options = {"engine": engine, "skip_bad": True, "ledger": ledger}
    plan = plan_of(embeddings, seed=None)
    protect_corpus(corpus, plan, tmp_path / "out", **options)
    assert ledger.counts() == (30, 0, 1)
    with pytest.raises(BudgetError):
        protect_corpus(corpus, plan, tmp_path / "again", **options)
    assert not (tmp_path / "again").exists()
    assert ledger.counts() == (30, 0, 1)


@pytest.mark.parametrize("resume", [False, True])
def test_an_input_that_changes_while_it_is_read_is_neither_charged_nor_released(
    engine, embeddings, tmp_path, resume
):
    """Who is charged is who is released, whoever writes into the file meanwhile."""
    path = tmp_path / "corpus.jsonl"
    corpus, ledger = write(path, rows(30)), Ledger.create(tmp_path / "ledger", budget=40)

    def more(lost, documents):
        with path.open("a") as file:
            file.write(json.dumps({"id": "new", "text": sentence(1)}) + "\n")

    path.write_text(path.read_text() + "{\n")
    options = {"engine": engine, "skip_bad": True, "ledger": ledger, "losing": more, "resume": resume}
    with pytest.raises(DocumentError, match="changed while it was read"):
        protect_corpus(corpus, plan_of(embeddings, seed=None), tmp_path / "out", **options)
    assert (ledger.counts()[2], (tmp_path / "out").exists()) == (0, False)


def test_a_run_that_is_stopped_goes_on(engine, embeddings, corpus, tmp_path):
    plan = plan_of(embeddings, seed=None)
    ledger = Ledger.create(tmp_path / "ledger", budget=40)
    ledger.spend([Charge("doc199", 1)])
    options = {"engine": engine, "resume": True, "format": "parquet", "batch_size": 10}
    with pytest.raises(BudgetError):
        protect_corpus(corpus, plan, tmp_path / "out", ledger=ledger, **options)
    assert not (tmp_path / "out").exists()
    kept = working_path(tmp_path / "out")
    modes = {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in [kept, *kept.rglob("*")]}
    assert modes == {0}
    protect_corpus(corpus, plan, tmp_path / "out", **options)
    assert len(bags(tmp_path / "out")) == 200
    assert not kept.exists()


def test_modes_follow_the_umask_when_all_has_its_place(engine, corpus, plan, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    usual = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("file", "folder")]
    for name, resume in (("once", False), ("kept", True)):
        out = tmp_path / name
        protect_corpus(corpus, plan, out, engine=engine, resume=resume)
        for path in [out, *out.rglob("*")]:
            assert stat.S_IMODE(path.stat().st_mode) == usual[path.is_dir()]


def test_nothing_can_be_read_by_others_while_it_is_made(engine, corpus, plan, tmp_path, monkeypatch):
    seen = []

    def look(*_, **__):
        here = [path for path in tmp_path.rglob("*") if path.name != "corpus.jsonl"]
        seen.extend(stat.S_IMODE(path.stat().st_mode) & 0o077 for path in here)
        raise Stopped

    monkeypatch.setattr("publius.releases.engines.charges.Charges.pay", look)
    for resume in (False, True):
        with pytest.raises(Stopped):
            protect_corpus(corpus, plan, tmp_path / "out", engine=engine, resume=resume)
    assert set(seen) == {0}
    assert len(seen) > 4


def test_a_format_that_an_engine_does_not_write_is_refused(corpus, plan, tmp_path):
    with pytest.raises(UsageError, match="writes parquet, not csv"):
        protect_corpus(corpus, plan, tmp_path / "out", engine=ToyEngine(), format="csv")


def test_an_engine_of_ones_own_need_not_be_a_cluster(corpus, plan, tmp_path):
    """The protocol itself: one method, which may do the work however it likes."""
    from publius.releases.engines.worker_pool import batches_of, protect_batch
    from publius.releases.release import Tally

    class Plain(AbstractEngine):
        formats = ("csv",)

        def release(self, job, key, folder, kept):
            tally = Tally()
            with WRITERS[job.format](folder, Layout.of(job.plan)) as writer:
                for batch in job.charges.note(batches_of(job.corpus, job.batch_size)):
                    results, counted = protect_batch(batch, job.plan, key)
                    tally += counted
                    for result in results:
                        writer.write(result)
            return EngineResult(tally, ())

    protect_corpus(corpus, plan, tmp_path / "own", engine=Plain())
    protect_corpus(corpus, plan, tmp_path / "local", format="csv")
    assert (tmp_path / "own/bags.csv").read_bytes() == (tmp_path / "local/bags.csv").read_bytes()


def test_a_batch_holds_so_many_characters_and_no_text_is_lost():
    from publius.documents.corpus import BadDocument, Document
    from publius.releases.engines import worker_pool

    long = worker_pool.AT_ONCE // 3
    items = [
        BadDocument(i, None, "why") if i % 5 == 4 else Document(str(i), "a" * long * (i % 3), {}, i)
        for i in range(60)
    ]
    batches = list(worker_pool.batches_of(iter(items), 50))
    assert [item for batch in batches for item in batch] == items
    assert len(batches) > 5
    for batch in batches[:-1]:
        sizes = [len(item.text) for item in batch if isinstance(item, Document)]
        assert sum(sizes[:-1]) < worker_pool.AT_ONCE <= sum(sizes)
    assert [len(batch) for batch in worker_pool.batches_of(items[:1] * 7, 3)] == [3, 3, 1]


@pytest.mark.parametrize("count", [12, 13, 25])
def test_the_number_of_documents_decides_about_processes_and_no_length(tmp_path, plan, count, monkeypatch):
    """And bags are the same however texts come together."""
    from publius.releases.engines import local, worker_pool

    seen = []

    class Noting(worker_pool.LocalRunner):
        def __init__(self, plan, workers=1):
            seen[-1].append(workers)
            super().__init__(plan, 1)

    monkeypatch.setattr(local, "LocalRunner", Noting)
    corpus, made = write(tmp_path / "corpus.jsonl", rows(count)), []
    for limit in (1, 700, 2**24):
        monkeypatch.setattr(worker_pool, "AT_ONCE", limit)
        seen.append([])
        protect_corpus(corpus, plan, tmp_path / str(limit), workers=3, batch_size=12)
        made.append((tmp_path / str(limit) / "bags.jsonl").read_bytes())
    assert [found[-1:] for found in seen] == [[3 if count > 12 else 1]] * 3
    assert len({*made}) == 1
