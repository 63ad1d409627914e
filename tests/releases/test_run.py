"""A run: who is charged and whose rows leave, what is refused before the draw, what a manifest states."""

import json
import os
from types import SimpleNamespace

import pytest

import publius
from laws.subjects import words
from publius.errors import PolicyError
from publius.noise.randomness import RunKey
from publius.releases import draft, run
from publius.releases.register import made_here, note_files, refuse_training_file, were_released
from publius.releases.run import manifest_of
from publius.settings import Leaving, Run

KEY = bytes(range(32))
OF = ["ada", "bob", "ADA ", None, "ada", "ada", None, "cleo", "ada"]


@pytest.fixture
def mechanism():
    return publius.RandomizedResponse(publius.Values(["river", "market"]), epsilon=2)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.jsonl"
    lines = [{"id": f"d{row}", "author": author, "text": "river"} for row, author in enumerate(OF)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def released(source, mechanism, name="out", **more):
    corpus = publius.open_corpus(source, author_field="author", id_field="id")
    options = {"run": Run(workers=1), **more}
    return run.protect_corpus(corpus, mechanism, source.with_name(name), **options)


def ids_in(source, name="out"):
    return [row["id"] for row in publius.read_release(source.with_name(name)).rows()]


@pytest.mark.parametrize(
    ("c", "charged", "left_out"), [(None, (10, 2, 2), 2), (3, (6, 2, 2), 4), (1, (2, 2, 2), 6), (9, (10, 2, 2), 2)]
)
def test_an_author_is_charged_for_each_document_that_leaves_and_nobody_s_stay(source, mechanism, c, charged, left_out):
    ledger = publius.Ledger.create(source.with_name("ledger"), budget=10, unit="epsilon")
    found = released(source, mechanism, documents_per_author=c, ledger=ledger, leaving=Leaving(ids=True))
    assert tuple(ledger.account(name).spent for name in ("Ada", "bob", "cleo")) == charged
    assert (found.left_out, found.manifest.documents) == (left_out, len(OF) - left_out)
    left = ids_in(source)
    assert len(left) == len(OF) - left_out
    assert not {"d3", "d6"} & {*left}
    assert found.manifest.author == (None if c is None else run.AuthorFacts(documents=c, epsilon=2.0 * c))
    if c is None:
        assert left == ["d0", "d1", "d2", "d4", "d5", "d7", "d8"]


def test_of_an_author_those_rows_leave_whose_secret_numbers_are_smallest(source, mechanism, monkeypatch):
    monkeypatch.setattr(draft, "entropy", lambda: KEY)
    secret = RunKey(RunKey(KEY).derive("choice"))
    adas = sorted((0, 2, 4, 5, 8), key=lambda row: secret.bits([str(row)], 16))
    for c in (1, 2, 3, 4):
        released(source, mechanism, f"out{c}", documents_per_author=c, leaving=Leaving(ids=True))
        assert ids_in(source, f"out{c}") == [f"d{row}" for row in sorted([*adas[:c], 1, 7])]


def test_a_label_without_rows_is_counted_none(source):
    mechanism = publius.RandomizedResponse(publius.Values(["market", "river"]), epsilon=20)
    found, limits = released(source, mechanism).table, mechanism.count_limits([0, 9, 0])
    assert [(each["label"], each["rows"]) for each in found] == [("market", 0), ("river", 9), ("other", 0)]
    assert [(each["low"], each["high"]) for each in found] == [tuple(map(int, each)) for each in limits]


@pytest.mark.parametrize(
    ("share", "said", "stated"), [(0.99, None, 0.99), (0.99499, "99.5 %", 0.99499), (1.2, "100.0 %", 1.0), (-0.1, None, 0.0)]
)  # fmt: skip
def test_noise_that_leaves_nearly_all_words_is_refused_in_numbers(tmp_path, monkeypatch, share, said, stated):
    from publius.mechanisms import word_outcomes

    monkeypatch.setattr(word_outcomes, "share_unchanged", lambda kernel: share)
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "1", "author": "ada", "text": "river market"}\n')
    if said is None:
        assert released(source, words()).manifest.unchanged == stated
    else:
        with pytest.raises(PolicyError, match=f"leave {said} of frequent words as they are: at most 99 % "):
            released(source, words())
    experiment = Leaving(experiment=True)
    assert released(source, words(), "experiment", leaving=experiment).manifest.unchanged == stated
    assert released(source, words(), "rows", noted=False).manifest.unchanged is None


def test_shuffling_is_stated_of_rows_without_ids_order_and_kept_values_where_it_promises_a_tenth_more(
    mechanism, monkeypatch
):
    asked = []

    def shuffled(_, documents, c):
        asked.append((documents, c))
        return SimpleNamespace(guarantee=SimpleNamespace(epsilon=share * asked_c * 2.0, delta=1e-9))

    def stated(documents, c=None, **leaving):
        return manifest_of(mechanism, documents, Leaving(**leaving), documents_per_author=c).shuffled

    monkeypatch.setattr("publius.mechanisms.randomized_response.Shuffled", shuffled)
    for n, c, asked_c in ((2, None, 1), (1000, None, 1), (1000, 3, 3), (2, 3, 3)):
        for share, worth in ((0.0, False), (1e-9, True), (0.9, True), (0.9000001, False), (1.0, False)):
            assert stated(n, c) == (run.Pair(epsilon=share * asked_c * 2.0, delta=1e-9) if worth else None)
        assert {*asked} == {(n, min(asked_c, n))}
        asked.clear()
    assert [stated(1), stated(0), stated(9, ids=True), stated(9, keep=("a",)), stated(9, experiment=True)] == [None] * 5
    assert asked == []


def test_what_is_made_with_a_file_is_not_released_of_it(source, mechanism):
    """Nor is what learned of a file that was released here; an experiment may."""
    note_files(["f" * 64])
    for taught, public in ((("a" * 64,), ()), ((), ({"sha256": "a" * 64},))):
        refuse_training_file(["b" * 64], taught, public)
        with pytest.raises(PolicyError, match="made from"):
            refuse_training_file(["b" * 64, "a" * 64], taught, public)
    with pytest.raises(PolicyError, match="was released here"):
        refuse_training_file(["b" * 64], ["f" * 64], ())
    mechanism.classifier.trained_on = publius.open_corpus(source).digests()
    with pytest.raises(PolicyError, match="made from"):
        released(source, mechanism)
    assert released(source, mechanism, leaving=Leaving(experiment=True)).manifest.documents == len(OF)


def test_only_a_release_makes_its_file_one_that_was_released(source, mechanism):
    (digest,) = publius.open_corpus(source).digests()
    released(source, mechanism, "experiment", leaving=Leaving(experiment=True))
    released(source, mechanism, "rows", noted=False)
    assert not were_released([digest])
    released(source, mechanism)
    assert were_released([digest])


@pytest.mark.parametrize(
    ("leaving", "warning"),
    [
        ({}, None), ({"experiment": True}, "NOT PRIVATE: EXPERIMENT"),
        ({"experiment": True, "seed": 3}, "NOT PRIVATE: REPRODUCIBLE"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("documents", [9, 0])
def test_everything_that_an_experiment_writes_has_its_warning_and_no_release_has(
    source, mechanism, leaving, warning, documents
):
    source.write_text(
        "".join(source.read_text().splitlines(keepends=True)[:documents]) or '{"id": "d", "author": null, "text": ""}\n'
    )
    limited = {"documents_per_author": 9} if not documents else {}
    found = released(source, mechanism, leaving=Leaving(**leaving), run=Run(workers=1, format="csv"), **limited)
    own, last = ["warning"] * (warning is not None), [warning] * (warning is not None)
    out = publius.read_release(source.with_name("out"))
    assert [[*row] for row in out.table("labels")] == [["label", "rows", "low", "high", *own]] * 3
    assert all([row[name] for name in own] == last for row in [*out.table("labels"), *out.rows()])
    assert (out.folder / "rows.csv").read_text().splitlines()[0] == ",".join(["id", "label", *own])
    assert (found.manifest.warning, found.manifest.private, found.manifest.documents) == (warning, not own, documents)


def test_what_a_killed_run_had_paid_for_gets_its_place_and_nothing_is_drawn(source, mechanism, monkeypatch):
    def full(filled, path):
        raise OSError(28, "no space")

    going_on = Run(workers=1, resume=True)
    with monkeypatch.context() as patch:
        patch.setattr(draft, "place_folder", full)
        with pytest.raises(OSError, match="no space"):
            released(source, mechanism, run=going_on, documents_per_author=1)
    monkeypatch.setattr(run, "_make_pieces", None)
    found = released(source, mechanism, run=going_on, documents_per_author=1)
    assert found == run.Result(made_here(source.with_name("out")), source.with_name("out"))
    assert (found.left_out, found.manifest.documents) == (0, 3)
    assert sorted(os.listdir(source.parent)) == ["in.jsonl", "out"]


@pytest.mark.parametrize(("c", "total"), [(None, 0), (1, len(OF))])
def test_who_waits_is_told_how_many_documents_are_done_of_those_known(source, mechanism, monkeypatch, c, total):
    told = []
    monkeypatch.setattr(run, "BATCH", 4)
    monkeypatch.setattr(run, "advance", lambda *said: told.append(said))
    released(source, mechanism, documents_per_author=c)
    assert told == [(4, total), (8, total), (9, total)]
