"""Each law of releases once, over every mechanism, engine and format."""

import json
import os
import stat

import pytest

import publius
from laws.faults import Killed, changes_of, killed_after
from laws.subjects import AUTHORS, BY_NAME, SUBJECTS, FixedDraw, Heard, corpus_file
from publius.errors import DataError, PolicyError, UsageError
from publius.releases import draft, run
from publius.releases.register import digests, made_here, whole
from publius.settings import Leaving

KEY = bytes(range(32))


@pytest.fixture(params=SUBJECTS, ids=lambda subject: subject.name)
def subject(request):
    return request.param


@pytest.fixture
def fixed_key(monkeypatch):
    """The draw of every run is the same."""
    monkeypatch.setattr(draft, "entropy", lambda: KEY)


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def ids_of(folder):
    return [row["id"] for row in publius.read_release(folder).rows()]


def test_same_bytes_whatever_workers_and_batches(subject, tmp_path, fixed_key, monkeypatch):
    source = corpus_file(tmp_path)
    subject.run(source, tmp_path / "a", workers=1)
    monkeypatch.setattr(run, "BATCH", 7)
    subject.run(source, tmp_path / "b", workers=1)
    subject.run(source, tmp_path / "c", workers=2)
    assert content(tmp_path / "a") == content(tmp_path / "b") == content(tmp_path / "c")


def test_the_folder_holds_exactly_the_files_of_its_manifest_and_was_made_here(subject, tmp_path):
    result = subject.run(corpus_file(tmp_path), tmp_path / "a")
    manifest = made_here(tmp_path / "a")
    assert manifest == result.manifest
    assert digests(tmp_path / "a") == manifest.files
    assert {*os.listdir(tmp_path / "a")} == {*manifest.files, "manifest.json"}
    for name in os.listdir(tmp_path / "a"):
        path = tmp_path / "a" / name
        before = path.read_bytes()
        path.write_bytes(before + b" ")
        with pytest.raises((PolicyError, DataError)):
            made_here(tmp_path / "a")
        path.write_bytes(before)
    (tmp_path / "a" / "stray").touch()
    with pytest.raises(DataError, match="stray"):
        made_here(tmp_path / "a")


def test_worlds_that_differ_in_a_text_differ_in_nothing_else(subject, tmp_path, fixed_key):
    found = []
    for number, text in enumerate(("storm", "", "word " * 3000, "\ud83d\ude00 né \x1b[31m", None)):
        folder = tmp_path / str(number)
        folder.mkdir()
        source = corpus_file(folder, change={4: text})
        subject.run(source, folder / "out", FixedDraw(subject.mechanism()))
        found.append(content(folder / "out"))
        assert {*os.listdir(folder)} == {"in.jsonl", "out"}
    assert all(each == found[0] for each in found)


def test_the_order_of_rows_is_independent_of_the_input(subject, tmp_path, fixed_key):
    source = corpus_file(tmp_path)
    subject.run(source, tmp_path / "a")
    assert ids_of(tmp_path / "a") == [str(number) for number in range(1, 31)]
    kept = Leaving(ids=True)
    subject.run(source, tmp_path / "b", leaving=kept)
    assert ids_of(tmp_path / "b") == [f"doc-{row}" for row in range(30)]
    rows = {key: [{**row, "id": ""} for row in publius.read_release(tmp_path / key).rows()] for key in "ab"}
    assert rows["a"] != rows["b"]
    assert sorted(map(json.dumps, rows["a"])) == sorted(map(json.dumps, rows["b"]))


def test_a_kill_at_any_write_leaves_nothing_half_written_and_resume_never_draws_twice(subject, tmp_path):
    if subject.workers > 1:
        pytest.skip("a kill is injected into one process")
    source = corpus_file(tmp_path, documents=8)
    ledger_at = tmp_path / "ledger"
    (tmp_path / "0").mkdir()
    before = publius.Ledger.create(tmp_path / "0" / "ledger", budget=10**6, unit=_unit(subject))
    count = changes_of(lambda: subject.run(source, tmp_path / "0" / "out", ledger=before), tmp_path)
    price = subject.mechanism().charge(before.unit)
    assert count > 20
    for step in range(0, count, 1 if subject.name == "values" else 7):
        folder = tmp_path / f"at{step}"
        folder.mkdir()
        ledger = publius.Ledger.create(folder / "ledger", budget=10**6, unit=_unit(subject))
        mechanism = Heard(subject.mechanism())
        with pytest.raises(Killed), killed_after(step, tmp_path):
            subject.run(source, folder / "out", mechanism, resume=True, ledger=ledger)
        if (folder / "out").exists():
            whole(folder / "out")
            made_here(folder / "out")
        for path in folder.iterdir():
            if path.name not in ("out", "ledger"):
                assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
        paid = (folder / "out.publius-run" / "paid").exists()
        drawn = len(mechanism.calls)
        if (folder / "out").exists() and not paid:  # only an empty working folder was left
            with pytest.raises(UsageError, match="not empty"):
                subject.run(source, folder / "out", mechanism, resume=True)
            assert sorted(os.listdir(folder)) == ["ledger", "out"]
            continue
        result = subject.run(source, folder / "out", mechanism, resume=True, ledger=publius.Ledger(folder / "ledger"))
        assert len({key for key, _ in mechanism.calls}) <= 1 or not paid
        if paid:  # nothing is drawn again
            assert len(mechanism.calls) == drawn
        made_here(folder / "out")
        assert result.manifest.documents == 8
        spent = _spent(folder / "ledger", AUTHORS[0])
        assert spent in (2 * price, 4 * price)  # failure may cost twice, and never nothing
        assert sorted(os.listdir(folder)) == ["ledger", "out"]
    assert ledger_at.exists() is False


def _unit(subject):
    return "epsilon" if subject.mechanism().kind == "labels" else "exponent"


def _spent(path, author):
    return publius.Ledger(path).account(author).spent


def test_the_debit_comes_before_any_row_has_its_place(subject, tmp_path, monkeypatch):
    source = corpus_file(tmp_path)
    ledger = publius.Ledger.create(tmp_path / "ledger", budget=10**6, unit=_unit(subject))
    seen = []
    place = draft.place_folder

    def placing(filled, path):
        seen.append((_spent(tmp_path / "ledger", "ada"), sorted(os.listdir(filled.parent))))
        place(filled, path)

    monkeypatch.setattr(draft, "place_folder", placing)
    subject.run(source, tmp_path / "out", ledger=ledger)
    ((spent, beside),) = seen
    assert spent == 6 * subject.mechanism().charge(ledger.unit)
    assert "key" not in beside
    assert "pieces" not in beside


def test_an_unfinished_run_is_of_one_input_and_one_setting(subject, tmp_path):
    source = corpus_file(tmp_path)
    with pytest.raises(Killed), killed_after(12, tmp_path):
        subject.run(source, tmp_path / "out", resume=True, workers=1)
    assert (tmp_path / "out.publius-run" / "input").exists()
    with pytest.raises(DataError, match="another input or had other options"):
        subject.run(source, tmp_path / "out", resume=True, leaving=Leaving(ids=True))
    source.write_bytes(source.read_bytes().replace(b"storm", b"river", 1))
    with pytest.raises(DataError, match="another input or had other options"):
        subject.run(source, tmp_path / "out", resume=True)
    subject.run(source, tmp_path / "out")  # anew, under another key
    assert not (tmp_path / "out.publius-run").exists()


def test_an_author_has_at_most_c_documents_and_the_choice_looks_at_his_own_alone(subject, tmp_path, fixed_key):
    first = corpus_file(tmp_path)
    result = subject.run(first, tmp_path / "a", leaving=Leaving(ids=True), documents_per_author=2)
    assert (result.manifest.documents, result.left_out) == (10, 20)
    chosen = ids_of(tmp_path / "a")
    facts = result.manifest.author
    each = result.manifest.epsilon if subject.mechanism().kind == "labels" else result.manifest.exponent_per_distance
    assert (facts.documents, facts.epsilon) == (2, 2 * each)
    lines = first.read_text().splitlines()
    others = [json.loads(line) for line in lines]
    for row, other in enumerate(others):
        if row % 5:
            other["author"], other["text"] = f"other {row % 3}", "storm"
    second = tmp_path / "second.jsonl"
    second.write_text("".join(json.dumps(each) + "\n" for each in others))
    subject.run(second, tmp_path / "b", leaving=Leaving(ids=True), documents_per_author=2)

    def adas(ids):
        return [each for each in ids if int(each[4:]) % 5 == 0]

    assert adas(chosen) == adas(ids_of(tmp_path / "b"))


def test_an_output_that_is_there_and_a_run_at_work_are_refused(tmp_path):
    subject = BY_NAME["values"]
    source = corpus_file(tmp_path)
    subject.run(source, tmp_path / "out")
    before = content(tmp_path / "out")
    with pytest.raises(UsageError, match="not empty"):
        subject.run(source, tmp_path / "out")
    with pytest.raises(UsageError, match="needs --author-field"):
        publius.protect_corpus(publius.open_corpus(source), subject.mechanism(), tmp_path / "b", documents_per_author=1)
    assert content(tmp_path / "out") == before
    assert sorted(os.listdir(tmp_path)) == ["in.jsonl", "out"]
