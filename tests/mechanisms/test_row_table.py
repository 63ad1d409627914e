"""The table of all rows: the same words with it as without, nothing of the documents in it, never trusted blindly."""

import json
import os
import pickle
import time

import numpy as np
import pytest

from publius.documents.corpus import open_corpus
from publius.mechanisms.finite import row_table
from publius.mechanisms.finite import sampler as inverse
from publius.mechanisms.kernels.exponential import Exponential
from publius.noise.randomness import seeded_rng
from publius.releases.engines import LocalRunner, protect_corpus
from publius.releases.plan import Experiment, Plan
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords
from vocabularies import vocabulary

SIZE = 2050


@pytest.fixture(scope="module")
def words():
    return vocabulary("scattered", 10, SIZE)


def mechanism(words, **changes):
    return Exponential(words, scale=2.0, threads=2, **changes)


def draws(made, count=4000):
    rng = seeded_rng(5)
    return made.apply(rng.integers(0, SIZE, count), inverse.fine_uniforms(count, rng))


def full(*_):
    raise OSError(28, "No space left on device")


def tables(home):
    return sorted((home / "tables").glob("*"))


@pytest.mark.parametrize("changes", [{}, {"floor": 0.05}])
def test_words_are_the_same_and_no_row_is_made_again(words, home, monkeypatch, changes):
    expected = draws(mechanism(words, **changes))
    made = mechanism(words, **changes)
    made.prepare()
    (table,) = tables(home)
    file = table.stat()
    assert file.st_size > SIZE * inverse.first_step_type(SIZE).itemsize
    sent = pickle.loads(pickle.dumps(made))  # to a worker
    again = mechanism(words, **changes)  # in a later run
    again.prepare()
    assert table.stat().st_ino == file.st_ino
    monkeypatch.setattr(inverse.Inverse, "_first_step", lambda *_, **__: pytest.fail("a row was computed"))
    for each in (made, sent, again):
        np.testing.assert_array_equal(draws(each), expected)


def test_a_table_of_another_layout_is_not_taken(words, home, monkeypatch):
    mechanism(words).prepare()
    monkeypatch.setattr(inverse, "_OFFSET", 1.6)  # as a later version may have it
    made = mechanism(words)
    made.prepare()
    np.testing.assert_array_equal(draws(made), draws(mechanism(words)))


def test_what_was_checked_is_what_is_used(words, home, monkeypatch):
    made = mechanism(words)
    made.prepare()
    monkeypatch.setattr(os, "utime", lambda path: path.unlink())  # between the check and the use
    assert made._mapped() is not None
    assert tables(home) == []


def test_other_parameters_have_another_table(words, home):
    for made in (mechanism(words), mechanism(words, floor=0.05), Exponential(words, scale=2.5)):
        made.prepare()
    mechanism(vocabulary("clusters", 10, SIZE)).prepare()
    assert len(tables(home)) == 4


def damaged(data):
    middle = len(data) // 2
    yield data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]  # one bit of one sum
    yield data[:-1] + bytes([data[-1] ^ 1])
    yield data[:-1]
    yield data + b"\0"
    yield b""


def test_a_damaged_table_is_made_again(words, home):
    made = mechanism(words)
    made.prepare()
    (table,) = tables(home)
    whole, expected = table.read_bytes(), draws(made)
    for data in damaged(whole):
        table.write_bytes(data)
        assert made._mapped() is None
        sent = pickle.loads(pickle.dumps(made))  # a worker that meets it works without
        np.testing.assert_array_equal(draws(sent), expected)
        again = mechanism(words)
        again.prepare()
        assert again._mapped() is not None
    assert tables(home) == [table]


@pytest.mark.parametrize("writable", [True, False])
def test_a_table_of_other_vectors_is_made_again(words, home, monkeypatch, writable):
    """Vectors that were changed behind the back of their digest."""
    other = vocabulary("clusters", 10, SIZE)
    mechanism(other).prepare()
    (table,) = tables(home)
    monkeypatch.setattr(row_table, "table_path", lambda _: table)
    if not writable:
        monkeypatch.setattr(os, "fsync", full)
    made = mechanism(words)
    made.prepare()
    for each in (made, pickle.loads(pickle.dumps(made))):
        np.testing.assert_array_equal(draws(each), draws(mechanism(words)))


def test_a_table_under_another_name_is_not_taken(words, home):
    made = mechanism(words)
    made.prepare()
    (table,) = tables(home)
    table.rename(table.with_name("0" * 64 + ".npy"))
    assert row_table.open_table(
        home / "tables" / ("0" * 64 + ".npy"), SIZE, inverse.first_step_type(SIZE)
    ) is None  # fmt: skip


def test_where_nothing_can_be_written_nothing_is_kept(words, home):
    (home / "tables").write_text("a file in its place")
    made = mechanism(words)
    made.prepare()
    np.testing.assert_array_equal(draws(made), draws(mechanism(words)))


def test_a_table_that_cannot_be_finished_leaves_nothing(words, home, monkeypatch):
    monkeypatch.setattr(os, "fsync", full)
    mechanism(words).prepare()
    assert tables(home) == []


def test_only_the_last_used_are_kept(home, monkeypatch):
    row = inverse.first_step_type(10)
    for number in range(7):
        path = row_table.table_path({"number": number})
        row_table.write_table(path, 10, row, [np.zeros(10, row)])
        os.utime(path, (number, number))
        if number == 3:
            first = row_table.table_path({"number": 0})
            assert row_table.open_table(first, 10, row) is not None  # used again: now the newest
            os.utime(first, (10, 10))
    left = [home / "tables" / f".publius-{number}-0.tmp" for number in (1, 2)]
    for file, age in zip(left, (100, 10), strict=True):  # of a killed process, of one at work
        file.touch()
        os.utime(file, (time.time() - age,) * 2)
    with monkeypatch.context() as patch:  # a full disk needs it most
        patch.setattr(os, "fsync", full)
        row_table.write_table(row_table.table_path({"number": 8}), 10, row, [np.zeros(10, row)])
    row_table.write_table(row_table.table_path({"number": 7}), 10, row, [np.zeros(10, row)])
    assert [file.exists() for file in left] == [False, True]
    kept = {number for number in range(8) if row_table.table_path({"number": number}).exists()}
    assert kept == {0, 5, 6, 7}


def test_few_words_and_far_too_many_have_none(home, monkeypatch):
    mechanism(vocabulary("scattered", 3, 100)).prepare()
    monkeypatch.setattr(inverse, "TABLE_BYTES", 1000)
    mechanism(vocabulary("scattered", 3, SIZE)).prepare()
    assert not (home / "tables").exists()


def corpus_of(tmp_path, name, documents):
    rng = seeded_rng(documents)
    lines = [
        json.dumps({"id": str(i), "text": " ".join(f"w{j}" for j in rng.integers(0, 300, 30))})
        for i in range(documents)
    ]
    path = tmp_path / f"{name}.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return open_corpus(path)


def plan_of(words):
    encoding = Encoding(30, "unk", StopWords.load("none"), words.tokenizer)
    return Plan(mechanism(words), encoding, False, Experiment(7))


def released(words, tmp_path, name, documents, **options):
    protect_corpus(corpus_of(tmp_path, name, documents), plan_of(words), tmp_path / name, **options)
    return (tmp_path / name / "bags.jsonl").read_bytes()


def test_a_large_corpus_has_one_made_and_a_small_one_does_not(words, home, tmp_path, monkeypatch):
    small = released(words, tmp_path, "small", 100)
    assert not (home / "tables").exists()
    released(words, tmp_path, "large", 900)
    (table,) = tables(home)
    content = table.read_bytes()
    table.unlink()
    released(words, tmp_path, "other", 901, resume=True)
    assert table.read_bytes() == content  # whatever the documents
    monkeypatch.setattr("publius.releases.engines.engine._REPAID", 0)
    assert released(words, tmp_path, "again", 100) == small


def test_processes_map_it(words, home, tmp_path):
    plan, corpus = plan_of(words), corpus_of(tmp_path, "corpus", 900)
    plan.mechanism.prepare()
    (table,) = tables(home)
    os.utime(table, (1, 1))
    with LocalRunner(plan, 2) as runner:  # this process prepares nothing for it
        protect_corpus(corpus, plan, tmp_path / "processes", batch_size=100, runner=runner)
    assert table.stat().st_mtime > 1
    alone = released(words, tmp_path, "corpus", 900, batch_size=100)
    assert (tmp_path / "processes" / "bags.jsonl").read_bytes() == alone


def test_nothing_is_prepared_where_nothing_is_left_to_draw(words, home, tmp_path, monkeypatch):
    monkeypatch.setattr("publius.releases.engines.run_folder.WorkingFolder.place", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        released(words, tmp_path, "corpus", 900, resume=True)
    monkeypatch.undo()
    monkeypatch.setenv("PUBLIUS_HOME", str(home))
    monkeypatch.setattr(Exponential, "prepare", lambda _: pytest.fail("it was prepared again"))
    released(words, tmp_path, "corpus", 900, resume=True)
