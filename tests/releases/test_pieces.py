"""Lines that workers read themselves: what is released, refused and said is as if one process had read all."""

import json
import subprocess
import sys
import threading
from itertools import product

import pytest

from publius.documents import row_readers
from publius.documents.corpus import open_corpus
from publius.documents.row_readers import cut_jsonl
from publius.documents.seen_ids import IdSet, id_digest
from publius.errors import DocumentError, PubliusError
from publius.files import workers
from publius.files.child import environment
from publius.mechanisms.kernels.laplace import Laplace
from publius.releases.digests import file_digests
from publius.releases.engines import protect_corpus, started_early
from publius.releases.engines.pieces import is_cut, pieces_of
from publius.releases.engines.worker_pool import LocalRunner
from publius.releases.plan import Experiment, Plan
from publius.settings import RunSettings
from publius.text.bag import Encoding
from toy import sentence

LINES = [json.dumps({"id": f"doc{i}", "text": sentence(i)}) for i in range(40)]
ODD = {
    "as they should be": LINES,
    "blank lines": ["", *LINES[:9], "  ", "\t", *LINES[9:], "", ""],
    "a mark before the first": ["\ufeff" + LINES[0], *LINES[1:]],
    "a mark alone": ["\ufeff", *LINES],
    "no JSON": [*LINES[:11], "{", *LINES[11:]],
    "no text": [*LINES[:30], '{"id": "none"}', *LINES[30:]],
    "an id twice in one piece": [*LINES[:12], LINES[12], LINES[12], *LINES[13:]],
    "an id twice far apart": [*LINES, LINES[3]],
    "a bad row and later its id": [*LINES[:20], '{"id": "late"}', *LINES[20:], '{"id": "late", "text": "river"}'],
    "an id of two kinds": ['{"id": 7, "text": "river"}', *LINES, '{"id": "7", "text": "castle"}'],
}  # fmt: skip

NUMBERED = ("blank lines", "no JSON", "an id twice far apart")
"""Where numbers could differ from one process to two: of lines that are none, or are left out, and of equal ids."""


@pytest.fixture(scope="module")
def plan(embeddings):
    encoding = Encoding.of(embeddings.tokenizer, length=20, unknown="unk")
    return Plan(Laplace(embeddings, epsilon=2.0), encoding, experiment=Experiment(seed=5))


@pytest.fixture(scope="module")
def runners(plan):
    """By the number of processes: none for this one alone, and two that serve all tests."""
    with LocalRunner(plan, 2) as two:
        yield {1: None, 2: two}


def outcome(corpus, plan, output, runner, **options):
    """The files that were written and what was left out, or the error."""
    try:
        made = protect_corpus(corpus, plan, output, runner=runner, batch_size=6, **options)
    except PubliusError as error:
        return type(error), str(error)
    return {path.name: path.read_bytes() for path in output.iterdir()}, made.bad, made.tally


@pytest.mark.parametrize(
    ("name", "skip_bad", "number"),
    [*product(ODD, [False, True], [False]), *product(NUMBERED, [False, True], [True])],
)
def test_all_is_as_with_one_process(tmp_path, plan, runners, name, skip_bad, number):
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(ODD[name]), encoding="utf-8")
    corpus = open_corpus(path, number=number)
    assert is_cut(corpus)
    one, two = (
        outcome(corpus, plan, tmp_path / str(count), runners[count], skip_bad=skip_bad) for count in (1, 2)
    )
    assert two == one


@pytest.mark.parametrize("workers", [1, 2])
def test_numbered_documents_may_have_one_id_or_one_that_is_none(tmp_path, plan, runners, workers):
    """Nobody looks at the ids: that two ways agree would not tell it, both could leave documents out."""
    rows = [*LINES[:12], LINES[12], LINES[12], *LINES[13:], LINES[3], '{"id": [], "text": "river"}']
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(rows), encoding="utf-8")
    corpus = open_corpus(path, number=True)
    found = list(corpus)
    assert [each.id for each in found] == [str(number) for number in range(1, len(rows) + 1)]
    _, bad, tally = outcome(corpus, plan, tmp_path / "out", runners[workers])
    assert (bad, tally.documents) == ((), len(rows))


@pytest.mark.parametrize("format", ["jsonl", "csv", "mtx", "parquet"])
def test_a_folder_is_cut_file_by_file_in_every_format(tmp_path, plan, runners, format):
    folder = tmp_path / "corpus"
    folder.mkdir()
    for part in range(3):
        rows = [*LINES[part * 13 : part * 13 + 13], "[]" if part == 1 else ""]
        (folder / f"{part}.jsonl").write_text("\n".join(rows), encoding="utf-8")
    corpus = open_corpus(folder)
    one, two = (
        outcome(corpus, plan, tmp_path / str(count), runners[count], skip_bad=True, format=format)
        for count in (1, 2)
    )
    assert two == one
    assert [bad.reason[:14] for bad in one[1]] == ["part 2, line 1"]
    assert json.loads(one[0]["manifest.json"])["files"] == {
        name: digest for name, digest in file_digests(tmp_path / "1").items() if name != "manifest.json"
    }


def test_what_is_not_plain_lines_is_read_here(tmp_path):
    import gzip

    (tmp_path / "a.csv").write_text("id,text\n1,river\n", encoding="utf-8")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(LINES[0].encode()))
    (tmp_path / "c.jsonl").write_bytes(gzip.compress(LINES[0].encode()))
    assert not any(is_cut(open_corpus(tmp_path / name)) for name in ("a.csv", "b.jsonl.gz", "c.jsonl"))


def test_ranges_hold_all_lines_and_no_more_bytes_than_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(row_readers, "RECORD_LIMIT", 100)
    long = json.dumps({"id": "long", "text": "a" * 350})
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(["", *["{}"] * 9, long, *["{}"] * 9]) + "\n", encoding="utf-8")
    found = list(cut_jsonl(path, 4, 10**6))
    assert [each.rows for each in found] == [4, 4, 4, 4, 3]
    assert [each.before for each in found] == [0, 5, 9, 13, 17]
    assert [each.start for each in found[1:]] == [each.stop for each in found[:-1]]
    assert (found[0].start, found[-1].stop) == (0, path.stat().st_size)
    assert [each.rows for each in cut_jsonl(path, 100, 3)] == [1] * 19
    monkeypatch.setattr(row_readers, "ROWS_LIMIT", 3)
    with pytest.raises(DocumentError, match="rows of fewer"):
        list(cut_jsonl(path, 4, 10**6))


def test_an_input_that_changes_meanwhile_is_refused(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(LINES), encoding="utf-8")
    corpus = open_corpus(path)
    piece = next(pieces_of(corpus, 6, b"key"))
    assert len(piece.read()[0]) == 6
    path.write_text("\n".join(["", *LINES[2:]]), encoding="utf-8")
    assert piece.read() is None
    with pytest.raises(DocumentError, match="was changed"):
        piece.read_in(corpus, IdSet())


def test_ids_are_taken_together_or_not_at_all(monkeypatch):
    from publius.documents import seen_ids

    monkeypatch.setattr(seen_ids, "_FIRST", 50)
    ids = IdSet()

    def take(*numbers):
        return ids.add_all([id_digest(str(number), ids.key) for number in numbers])

    for start in range(0, 200, 10):
        assert take(*range(start, start + 10))
        assert not take(start + 3, start + 1000)
        assert not take(5, start + 2000)
        assert not take(start + 3000, start + 3000)
    assert len(ids) == 200
    assert not ids.add("199")
    assert take(1000)
    assert ids.add("2000")


forked_only = pytest.mark.skipif(sys.platform != "linux", reason="workers are copies on Linux only")


IN_COPIES = """
import json, os, sys
import scipy.linalg
from publius.noise.randomness import RunKey, system_rng
from publius.releases.engines import worker_pool

mine = system_rng()

def work(state, batch, key):
    drawn = int(mine.integers(2**62))
    return [os.getpid(), key.expose().hex(), os.environ.get("PYTHONPATH"), sys.path[-1], drawn]

worker_pool.spawning = None  # it would be an error
sys.path.insert(0, sys.argv[1])
key = RunKey.fresh()
with worker_pool.WorkerPool(work, None, 3, forked=True) as pool:
    pool.start(0)
    found = list(pool.run(range(60), key))
print(json.dumps([os.getpid(), key.expose().hex(), found]))
"""


@forked_only
def test_copies_have_the_run_key_streams_of_their_own_and_nothing_that_the_environment_names(tmp_path):
    """They are made though OpenBLAS has threads: those end themselves before."""
    named = str(tmp_path)
    run = subprocess.run(
        [sys.executable, "-c", IN_COPIES, named], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**environment(), "PYTHONPATH": named},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    first, key, found = json.loads(run.stdout)
    copies = [each for each in found if each[0] != first]
    assert {each[1] for each in found} == {key}
    assert {(each[2], each[3]) for each in copies} == {(None, named)}
    assert len({each[0] for each in copies}) >= 1
    assert len({each[4] for each in found}) == 60, "no generator goes on in two processes"


@forked_only
def test_nothing_is_copied_where_other_threads_run():
    ready, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (ready.set(), done.wait()))
    thread.start()
    ready.wait()
    try:
        assert workers.forking(10**6) is None
    finally:
        done.set()
        thread.join()
    assert workers.forking(-1) is None


@pytest.mark.parametrize("forked", [False, True])
def test_a_runner_that_was_started_early_releases_the_same(tmp_path, plan, forked):
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(LINES), encoding="utf-8")
    corpus, run = open_corpus(path), RunSettings(workers=2, batch_size=6)
    with started_early(corpus, plan, run, forked=forked) as runner:
        assert runner is not None
        protect_corpus(corpus, plan, tmp_path / "early", run, runner=runner)
    protect_corpus(corpus, plan, tmp_path / "one", workers=1)
    for name in ("bags.jsonl", "manifest.json"):
        assert (tmp_path / "early" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
