"""Engines of clusters, by a toy in this process: positions, repeats, resume, layout, bytes, ledger."""

import gzip
import json

import pytest
from pyarrow import parquet

from publius.documents.corpus import BadDocument, open_corpus
from publius.documents.shards import reading_ranges, shard_size, shards
from publius.errors import DocumentError, UsageError
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import RunKey, seeded_rng
from publius.privacy.ledger import Ledger
from publius.releases.engines import protect_corpus
from publius.releases.engines.run_folder import working_path
from publius.releases.engines.shard_job import ShardJob, ShardTask, unpacked
from publius.releases.plan import Experiment, Plan
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords
from toy import sentence
from toy_engine import Stopped, ToyEngine


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


def run(corpus, plan, output, engine=None, **options):
    return protect_corpus(corpus, plan, output, engine=engine or ToyEngine(), **options)


def table(output):
    return parquet.read_table(output / "bags.parquet")


def test_a_cluster_gives_the_same_rows_and_manifest_as_one_process(corpus, plan, tmp_path):
    protect_corpus(corpus, plan, tmp_path / "local", format="parquet", workers=1)
    run(corpus, plan, tmp_path / "out")
    assert len(list((tmp_path / "out" / "bags.parquet").iterdir())) > 3
    assert table(tmp_path / "out").equals(table(tmp_path / "local"))
    local, out = (json.loads((tmp_path / name / "manifest.json").read_bytes()) for name in ("local", "out"))
    assert (len(out.pop("files")) > 3, list(local.pop("files"))) == (True, ["READ-ME.txt", "bags.parquet"])
    assert out == local
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "READ-ME.txt",
        "bags.parquet",
        "manifest.json",
    }


def test_pieces_done_twice_are_the_same_bytes(corpus, plan, tmp_path):
    run(corpus, plan, tmp_path / "once")
    run(corpus, plan, tmp_path / "twice", ToyEngine(twice=True))
    for path in (tmp_path / "once" / "bags.parquet").iterdir():
        assert (tmp_path / "twice" / "bags.parquet" / path.name).read_bytes() == path.read_bytes()


def test_a_resumed_run_does_what_is_left(corpus, plan, tmp_path):
    protect_corpus(corpus, plan, tmp_path / "local", format="parquet", workers=1)
    with pytest.raises(Stopped):
        run(corpus, plan, tmp_path / "out", ToyEngine(stop_after=2), resume=True)
    assert not (tmp_path / "out").exists()
    rest = ToyEngine()
    summary = run(corpus, plan, tmp_path / "out", rest, resume=True)
    assert len(rest.carried[1]) == len(list((tmp_path / "out" / "bags.parquet").iterdir())) - 2
    assert 0 < summary.found.documents < summary.tally.documents == 600
    assert table(tmp_path / "out").equals(table(tmp_path / "local"))
    assert not working_path(tmp_path / "out").exists()


def test_repeated_ids_are_refused_before_anything_is_drawn(tmp_path, plan):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [*rows(), rows()[7]])
    runner = ToyEngine()
    with pytest.raises(DocumentError, match="document 601: an earlier document") as error:
        run(corpus, plan, tmp_path / "out", runner)
    assert error.value.id == "doc7"
    assert len(runner.carried) == 1, "the survey only"
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.jsonl"]


def test_repeated_ids_that_are_skipped_are_released_once(tmp_path, plan):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [rows()[3], *rows(), rows()[7]])
    summary = run(corpus, plan, tmp_path / "out", skip_bad=True)
    assert [bad.position for bad in summary.bad] == [5, 602]
    ids = table(tmp_path / "out")["id"].to_pylist()
    assert len(ids) == len(set(ids)) == 600


@pytest.mark.parametrize(
    "bad", ["{}", '{"id": "x", "text": null, "topic": "a"}', '{"id": "x", "text": "the"', "\xff"]
)
def test_the_first_bad_document_is_named_as_on_one_machine(tmp_path, plan, bad):
    lines = [json.dumps(row) for row in rows()]
    path = tmp_path / "corpus.jsonl"
    path.write_bytes("\n".join([*lines[:450], "", bad, *lines[450:], bad]).encode("latin-1"))
    corpus = open_corpus(path, keep=["topic"])
    runner = ToyEngine()
    with pytest.raises(DocumentError, match="document 451"):
        run(corpus, plan, tmp_path / "out", runner)
    assert len(runner.carried) == 1, "the survey only"
    summary = run(corpus, plan, tmp_path / "out", skip_bad=True)
    assert [item.position for item in summary.bad] == [451, 602]


def test_documents_that_cannot_be_protected_stop_the_other_workers(tmp_path, embeddings):
    encoding = Encoding(20, "reject", StopWords.load("none"), "word2vec")
    plan = Plan(Laplace(embeddings, epsilon=2.0), encoding, labels=("topic",))
    records = rows()
    records[589]["text"] = "zzcanary " + records[589]["text"]
    corpus = write_jsonl(tmp_path / "corpus.jsonl", records)
    with pytest.raises(DocumentError, match="document 590") as refused:
        run(corpus, plan, tmp_path / "out", resume=True)
    assert "canary" not in str(refused.value)
    kept = working_path(tmp_path / "out")
    assert len(list((kept / "parts").iterdir())) < 3
    assert not any(b"canary" in path.read_bytes() for path in kept.rglob("*") if path.is_file())


def test_a_ledger_is_debited_once(corpus, embeddings, tmp_path):
    plan = Plan(
        Laplace(embeddings, epsilon=2.0),
        Encoding(20, "unk", StopWords.load("none"), "word2vec"),
        labels=("topic",),
    )
    ledger = Ledger.create(tmp_path / "ledger", budget=40)
    with pytest.raises(Stopped):
        run(corpus, plan, tmp_path / "out", ToyEngine(stop_after=2), resume=True, ledger=ledger)
    assert ledger.counts()[2] == 0
    run(corpus, plan, tmp_path / "out", resume=True, ledger=ledger)
    assert ledger.counts() == (600, 0, 1)


def read_in_ranges(corpus):
    position = 1
    for part in reading_ranges(corpus):
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
    assert len(reading_ranges(corpus)) > 20
    assert list(map(same, read_in_ranges(corpus))) == list(map(same, corpus))


@pytest.mark.parametrize("group", [7, 100, pytest.param(1, marks=pytest.mark.long)])
def test_ranges_of_parquet_are_the_whole(tmp_path, group, monkeypatch):
    import pyarrow as pa

    monkeypatch.setattr("publius.documents.shards.SMALLEST", 16)
    folder = tmp_path / "folder"
    folder.mkdir()
    for part in range(3):
        records = [{"id": f"{part}-{i}", "text": sentence(i) if i % 9 else ""} for i in range(50 + part)]
        parquet.write_table(pa.Table.from_pylist(records), folder / f"{part}.parquet", row_group_size=group)
    corpus = open_corpus(folder)
    assert len(reading_ranges(corpus)) > 20
    assert list(map(same, read_in_ranges(corpus))) == list(map(same, corpus))


@pytest.mark.parametrize("kind", ["gz", "csv", "txt"])
def test_files_that_cannot_be_cut_are_ranges_of_their_own(tmp_path, kind):
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
    assert len(reading_ranges(corpus)) == 5
    assert list(map(same, read_in_ranges(corpus))) == list(map(same, corpus))


def test_stored_vectors_are_named_not_copied(plan, embeddings, tmp_path, corpus):
    from dataclasses import replace

    from publius.vectors.embeddings import Embeddings

    stored = embeddings.save(tmp_path / "elsewhere" / "toy")
    plan = replace(plan, mechanism=Laplace(stored, epsilon=2.0))
    job = ShardJob(plan, corpus, (), tmp_path, tmp_path, 1, False)
    packed = job.pack()
    assert len(packed) < 4000
    (tmp_path / "elsewhere" / "toy").rename(tmp_path / "toy")
    again = unpacked(packed, {stored.sha256: tmp_path / "toy"}.__getitem__)
    assert isinstance(again.plan.vocabulary, Embeddings)
    assert again.plan.vocabulary.folder == tmp_path / "toy"


def test_what_a_cluster_carries_tells_nothing_of_the_corpus(plan, corpus, tmp_path):
    import pickle

    from publius.releases.engines.survey import survey

    sizes = set()
    for ranges in ((), tuple(reading_ranges(corpus))):
        job = ShardJob(plan, corpus, ranges, tmp_path, tmp_path, 1, False)
        sizes.add(len(pickle.dumps(ShardTask(survey, job, RunKey.fresh()))))
    assert len(sizes) == 1
    assert (tmp_path / "job").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("words", [1, 20, 400, 2**21])
def test_shards_follow_public_numbers(words):
    """However the documents are spread over ranges, they are cut at the same ones, and no shard is empty."""
    for documents in (0, 1, 7, 600, 5000):
        spread = seeded_rng(documents).multinomial(documents, [0.2, 0, 0.5, 0.3, 0]).tolist()
        for counts in ([documents], spread, [0, 0, documents, 0]):
            cut = shards(counts, words)
            starts = [sum(counts[: shard.first]) + shard.skip for shard in cut]
            size = shard_size(documents, words)
            assert starts == list(range(0, documents, size))
            assert [shard.count for shard in cut] == [min(size, documents - start) for start in starts]


def worlds(tmp_path):
    """Two corpora that differ only after the first N words of one document."""
    for name, tail in (("short", ""), ("long", " engine zebra" * 20_000)):
        records = rows()
        records[7]["text"] += tail
        (tmp_path / name).mkdir()
        yield tmp_path / name, write_jsonl(tmp_path / name / "corpus.jsonl", records)


def test_the_tail_of_a_document_changes_no_file(plan, tmp_path):
    """Found by an attack: parts cut at bytes of the input told of 200 kB that are no part of the bag."""
    seen = []
    for folder, corpus in worlds(tmp_path):
        run(corpus, plan, folder / "out")
        seen.append({path.name: path.read_bytes() for path in (folder / "out").rglob("*") if path.is_file()})
    assert seen[0] == seen[1]
    assert len(seen[0]) > 4


def test_an_input_that_changes_while_it_is_read_is_refused(plan, corpus, tmp_path):
    class Changing(ToyEngine):
        def carry(self, task, numbers):
            super().carry(task, numbers)
            write_jsonl(tmp_path / "corpus.jsonl", rows(300))

    with pytest.raises(DocumentError, match="changed while it was read"):
        run(corpus, plan, tmp_path / "out", Changing())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("where", "resume"), [
    pytest.param(0, False, id="before the survey"),
    pytest.param(1, True, id="before the noise, resumable"),
    pytest.param(0, True, id="before the survey, resumable", marks=pytest.mark.long),
    pytest.param(1, False, id="before the noise", marks=pytest.mark.long),
])  # fmt: skip
def test_what_comes_in_between_the_charge_and_the_noise_is_not_released(embeddings, tmp_path, where, resume):
    """The driver reads who is charged, the workers what is released: a file that grows, or is another, is refused."""

    class Filling(ToyEngine):
        def carry(self, task, numbers):
            if len(self.carried) == where:
                self.fill()
            super().carry(task, numbers)

    def append():
        with path.open("a") as file:
            file.writelines(json.dumps({**row, "id": f"new{row['id']}"}) + "\n" for row in rows(100))

    def others():
        write_jsonl(path, [{**row, "id": f"new{n:04d}"} for n, row in enumerate(rows())])

    plan = Plan(
        Laplace(embeddings, epsilon=2.0),
        Encoding(20, "unk", StopWords.load("none"), "word2vec"),
        labels=("topic",),
    )
    path = tmp_path / "corpus.jsonl"
    for number, fill in enumerate((append, others)):
        corpus, output = write_jsonl(path, rows()), tmp_path / f"out{number}"
        ledger = Ledger.create(tmp_path / f"ledger{number}", budget=40)
        engine = Filling()
        engine.fill = fill
        with pytest.raises(DocumentError, match="changed while it was read"):
            run(corpus, plan, output, engine, ledger=ledger, resume=resume)
        assert (ledger.counts()[2], output.exists()) == (0, False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"engine": "mainframe"}, "local, spark"),
        ({"engine": "spark", "format": "csv"}, "writes parquet"),
        ({"master": "local[2]"}, "engine spark"),
    ],
)
def test_wrong_engines(corpus, plan, tmp_path, arguments, said):
    with pytest.raises(UsageError, match=said):
        protect_corpus(corpus, plan, tmp_path / "out", **arguments)
