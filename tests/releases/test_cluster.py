"""The engine of a cluster on a runner in this process: positions, repeats, resume, bytes, ledger."""

import gzip
import json

import pytest
from pyarrow import parquet

from publius.documents.corpus import BadDocument, open_corpus
from publius.documents.shards import cut
from publius.errors import DocumentError, UsageError
from publius.mechanisms.words.laplace import Laplace
from publius.noise.randomness import seeded_rng
from publius.privacy.ledger import Ledger
from publius.releases.engines import default_batch_size, protect_corpus
from publius.releases.engines.charges import Bill
from publius.releases.engines.cluster import ClusterEngine
from publius.releases.engines.engine import Request
from publius.releases.engines.run_folder import working_folder, working_path
from publius.releases.engines.shard_job import AbstractRunner, Order, Survey, perform
from publius.releases.plan import Experiment, Plan
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords
from toy import sentence


class Here(AbstractRunner):
    """A third runner in one small class: every piece in this process, packed and unpacked as for another."""

    def __init__(self, stop_after=None, twice=False):
        self.stop_after, self.twice, self.performed = stop_after, twice, []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def survey(self, order):
        return [Survey.of(order.corpus, piece) for piece in order.pieces]

    def release(self, order, key, numbers):
        order = Order.unpack(order.pack(), lambda name: None)
        done = {}
        for number in numbers:
            if self.stop_after is not None and len(self.performed) >= self.stop_after:
                raise Stopped
            for _ in range(1 + self.twice):
                done[number] = perform(order, key, number)
            self.performed.append(number)
        return done


class Stopped(Exception):
    pass


@pytest.fixture
def plan(embeddings):
    encoding = Encoding(20, "unk", StopWords.load("none"), "word2vec")
    return Plan(Laplace(embeddings, epsilon=2.0), encoding, labels=("topic",), experiment=Experiment(seed=5))


def rows(count=600):
    return [{"id": f"doc{i}", "text": sentence(i), "topic": "ab"[i % 2]} for i in range(count)]


def write_jsonl(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return open_corpus(path, keep=["topic"])


@pytest.fixture
def corpus(tmp_path):
    return write_jsonl(tmp_path / "corpus.jsonl", rows())


def run(corpus, plan, output, runner=None, *, resume=False, skip_bad=False, ledger=None):
    request = Request(
        corpus,
        plan,
        default_batch_size(plan),
        skip_bad,
        Bill(ledger, plan),
        lambda n: None,
        lambda found: None,
    )
    engine = ClusterEngine(request, runner or Here())
    if not resume:
        return engine.at_once(output)
    with working_folder(output, plan, corpus) as work:
        return engine.resumable(work)


def table(output):
    return parquet.read_table(output / "bags.parquet")


def test_a_cluster_gives_the_same_rows_and_manifest_as_one_process(corpus, plan, tmp_path):
    protect_corpus(corpus, plan, tmp_path / "local", format="parquet", workers=1)
    run(corpus, plan, tmp_path / "out")
    assert len(list((tmp_path / "out" / "bags.parquet").iterdir())) > 3
    assert table(tmp_path / "out").equals(table(tmp_path / "local"))
    assert (tmp_path / "out/manifest.json").read_bytes() == (tmp_path / "local/manifest.json").read_bytes()
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"bags.parquet", "manifest.json"}


def test_pieces_done_twice_are_the_same_bytes(corpus, plan, tmp_path):
    run(corpus, plan, tmp_path / "once")
    run(corpus, plan, tmp_path / "twice", Here(twice=True))
    for path in (tmp_path / "once" / "bags.parquet").iterdir():
        assert (tmp_path / "twice" / "bags.parquet" / path.name).read_bytes() == path.read_bytes()


def test_a_resumed_run_does_what_is_left(corpus, plan, tmp_path):
    protect_corpus(corpus, plan, tmp_path / "local", format="parquet", workers=1)
    with pytest.raises(Stopped):
        run(corpus, plan, tmp_path / "out", Here(stop_after=2), resume=True)
    assert not (tmp_path / "out").exists()
    rest = Here()
    summary = run(corpus, plan, tmp_path / "out", rest, resume=True)
    assert rest.performed[0] == 2
    assert 0 < summary.found.documents < summary.tally.documents == 600
    assert table(tmp_path / "out").equals(table(tmp_path / "local"))
    assert not working_path(tmp_path / "out").exists()


def test_repeated_ids_are_refused_before_anything_is_drawn(tmp_path, plan):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [*rows(), rows()[7]])
    runner = Here()
    with pytest.raises(DocumentError, match=r"document 601 \(id 'doc7'\): an earlier document"):
        run(corpus, plan, tmp_path / "out", runner)
    assert runner.performed == []
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.jsonl"]


def test_repeated_ids_that_are_skipped_are_released_once(tmp_path, plan):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [rows()[3], *rows(), rows()[7]])
    summary = run(corpus, plan, tmp_path / "out", skip_bad=True)
    assert [bad.position for bad in summary.bad] == [5, 602]
    ids = table(tmp_path / "out")["id"].to_pylist()
    assert len(ids) == len(set(ids)) == 600


@pytest.mark.parametrize(
    "bad", ["{}", '{"id": "x", "text": "", "topic": "a"}', '{"id": "x", "text": "the"', "\xff"]
)
def test_the_first_bad_document_is_named_as_on_one_machine(tmp_path, plan, bad):
    lines = [json.dumps(row) for row in rows()]
    path = tmp_path / "corpus.jsonl"
    path.write_bytes("\n".join([*lines[:450], "", bad, *lines[450:], bad]).encode("latin-1"))
    corpus = open_corpus(path, keep=["topic"])
    runner = Here()
    with pytest.raises(DocumentError, match="document 451"):
        run(corpus, plan, tmp_path / "out", runner)
    assert runner.performed == []
    summary = run(corpus, plan, tmp_path / "out", skip_bad=True)
    assert [item.position for item in summary.bad] == [451, 602]


def test_documents_that_cannot_be_protected_stop_the_other_workers(tmp_path, embeddings):
    encoding = Encoding(20, "reject", StopWords.load("none"), "word2vec")
    plan = Plan(Laplace(embeddings, epsilon=2.0), encoding, labels=("topic",))
    records = rows()
    records[40]["text"] = "zzcanary " + records[40]["text"]
    corpus = write_jsonl(tmp_path / "corpus.jsonl", records)
    with pytest.raises(DocumentError, match="document 41") as refused:
        run(corpus, plan, tmp_path / "out", resume=True)
    assert "canary" not in str(refused.value)
    kept = working_path(tmp_path / "out")
    assert len(list((kept / "parts").iterdir())) < 3
    assert not any(b"canary" in path.read_bytes() for path in kept.rglob("*") if path.is_file())
    summary = run(corpus, plan, tmp_path / "out", resume=True, skip_bad=True)
    assert (summary.tally.documents, len(summary.bad)) == (599, 1)


def test_a_ledger_is_debited_once(corpus, embeddings, tmp_path):
    plan = Plan(
        Laplace(embeddings, epsilon=2.0),
        Encoding(20, "unk", StopWords.load("none"), "word2vec"),
        labels=("topic",),
    )
    ledger = Ledger.create(tmp_path / "ledger", budget=40)
    with pytest.raises(Stopped):
        run(corpus, plan, tmp_path / "out", Here(stop_after=2), resume=True, ledger=ledger)
    assert ledger.counts()[2] == 0
    run(corpus, plan, tmp_path / "out", resume=True, ledger=ledger)
    assert ledger.counts() == (600, 0, 1)


def read_in_pieces(corpus):
    position = 1
    for piece in cut(corpus, 40):
        for part in piece:
            for item in corpus.read_range(part, position):
                position += 1
                yield item


def same(item):
    return (item.position, item.id) if isinstance(item, BadDocument) else (item.position, item.id, item.text)


@pytest.mark.parametrize("seed", range(8))
def test_ranges_of_json_lines_are_the_whole(tmp_path, seed, monkeypatch):
    monkeypatch.setattr("publius.documents.shards.SMALLEST", 16)
    rng = seeded_rng(seed)
    lines = [
        json.dumps({"id": i, "text": "é" * int(rng.integers(1, 90))}, ensure_ascii=bool(i % 3)).encode()
        for i in range(120)
    ]
    lines = [line if rng.random() < 0.9 else b"" if rng.random() < 0.5 else b"{" for line in lines]
    path = tmp_path / "c.jsonl"
    path.write_bytes(
        (b"\xef\xbb\xbf" if seed % 2 else b"")
        + (b"\r\n" if seed % 3 else b"\n").join(lines)
        + b"\n" * (seed % 2)
    )
    corpus = open_corpus(path)
    assert len(cut(corpus, 40)) > 20
    assert list(map(same, read_in_pieces(corpus))) == list(map(same, corpus))


@pytest.mark.parametrize("group", [1, 7, 100])
def test_ranges_of_parquet_are_the_whole(tmp_path, group, monkeypatch):
    import pyarrow as pa

    monkeypatch.setattr("publius.documents.shards.SMALLEST", 16)
    folder = tmp_path / "folder"
    folder.mkdir()
    for part in range(3):
        records = [{"id": f"{part}-{i}", "text": sentence(i) if i % 9 else ""} for i in range(50 + part)]
        parquet.write_table(pa.Table.from_pylist(records), folder / f"{part}.parquet", row_group_size=group)
    corpus = open_corpus(folder)
    assert len(cut(corpus, 40)) > 20
    assert list(map(same, read_in_pieces(corpus))) == list(map(same, corpus))


@pytest.mark.parametrize("kind", ["gz", "csv", "txt"])
def test_files_that_cannot_be_cut_are_pieces_of_their_own_or_share_one(tmp_path, kind):
    folder = tmp_path / "folder"
    folder.mkdir()
    for part in range(5):
        if kind == "gz":
            data = gzip.compress("".join(json.dumps(row) + "\n" for row in rows(4)).encode())
            (folder / f"{part}.jsonl.gz").write_bytes(data)
        elif kind == "csv":
            (folder / f"{part}.csv").write_text('id,text\n1,"a\nb"\n2,c\n', encoding="utf-8")
        else:
            (folder / f"{part}.txt").write_text(sentence(part), encoding="utf-8")
    corpus = open_corpus(folder, number=True)
    assert len(cut(corpus, 40)) == 1
    assert list(map(same, read_in_pieces(corpus))) == list(map(same, corpus))


def test_stored_vectors_are_named_not_copied(plan, embeddings, tmp_path, corpus):
    from dataclasses import replace

    from publius.vectors.embeddings import Embeddings

    stored = embeddings.save(tmp_path / "elsewhere" / "toy")
    plan = replace(plan, mechanism=Laplace(stored, epsilon=2.0))
    order = Order(plan, corpus, (), (), frozenset(), tmp_path, tmp_path, 1, False)
    packed = order.pack()
    assert len(packed) < 4000
    (tmp_path / "elsewhere" / "toy").rename(tmp_path / "toy")
    again = Order.unpack(packed, {stored.sha256: tmp_path / "toy"}.__getitem__)
    assert isinstance(again.plan.mechanism.embeddings, Embeddings)
    assert again.plan.mechanism.embeddings.folder == tmp_path / "toy"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"engine": "mainframe"}, "local, spark"),
        ({"engine": "spark", "format": "csv"}, "Parquet"),
        ({"master": "local[2]"}, "engine spark"),
    ],
)
def test_wrong_engines(corpus, plan, tmp_path, arguments, said):
    with pytest.raises(UsageError, match=said):
        protect_corpus(corpus, plan, tmp_path / "out", **arguments)
