"""What arrives in a folder is released once. Kills are in tests/torture/watching.py."""

import json
import signal
import stat
import subprocess
import sys

import pytest

from publius.documents.corpus import open_corpus
from publius.errors import DataError, PolicyError, PubliusError, StorageError, UsageError
from publius.files.arrivals import Arrivals
from publius.files.record_lines import RecordLines
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.privacy.ledger import Ledger
from publius.releases.plan import Plan
from publius.releases.watching import RECORD, FolderWatch, record_folder
from publius.settings import ReleaseSettings
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords
from toy import sentence


class Clock:
    """Time that passes when it is told to."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def plan(embeddings):
    return Plan(Laplace(embeddings, epsilon=2.0), Encoding(20, "unk", StopWords.load("none"), "word2vec"))


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "ledger", budget=100)


@pytest.fixture
def inbox(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    return folder


@pytest.fixture
def watch(plan, ledger, inbox, tmp_path):
    def make(**options):
        return FolderWatch(inbox, tmp_path / "out", plan, ledger, **{"settle": 0, **options})

    return make


def events(watch):
    return [(event.number, event.what) for event in watch.look()]


# When a file is complete


def test_a_file_is_complete_when_it_has_not_changed(inbox):
    clock = Clock()
    arrivals = Arrivals(inbox, 2.0, clock)
    path = inbox / "a.txt"
    path.write_text("one", encoding="utf-8")
    assert arrivals.look() == []
    assert arrivals.unsettled == 1
    clock.now += 1.9
    path.write_text("one two", encoding="utf-8")
    assert arrivals.look() == []
    clock.now += 1.9
    assert arrivals.look() == []
    clock.now += 0.2
    assert [found.name for found, _ in arrivals.look()] == ["a.txt"]
    assert arrivals.unsettled == 0


def test_hidden_files_and_folders_are_passed_over(inbox):
    for name in (".a.txt", "_b.txt"):
        (inbox / name).write_text("x", encoding="utf-8")
    (inbox / "folder").mkdir()
    arrivals = Arrivals(inbox, 0)
    assert arrivals.look() == []
    (inbox / ".a.txt").rename(inbox / "a.txt")
    assert [found.name for found, _ in arrivals.look()] == ["a.txt"]


# Each once


def test_each_file_is_released_once_also_by_another_process(watch, inbox, ledger, tmp_path):
    (inbox / "b.txt").write_text(sentence(1), encoding="utf-8")
    (inbox / "a.txt").write_text(sentence(2), encoding="utf-8")
    with watch() as first:
        assert events(first) == [(1, "released"), (2, "released")]
        assert events(first) == []
    (inbox / "c.txt").write_text(sentence(3), encoding="utf-8")
    with watch() as second:
        assert events(second) == [(3, "released")]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["00000001", "00000002", "00000003"]
    assert [(account.name, account.releases) for account in ledger.accounts()] == [
        ("a.txt", 1), ("b.txt", 1), ("c.txt", 1),
    ]  # fmt: skip
    ledger.check()


def test_rows_keep_their_stated_ids(watch, inbox, tmp_path, ledger):
    rows = [{"id": f"d{number}", "text": sentence(number)} for number in range(3)]
    (inbox / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with watch() as running:
        event = next(iter(running.look()))
    assert (event.what, event.documents) == ("released", 3)
    assert event.said[0].startswith("Documents are published under the ids in your field 'id': whoever knows")
    bags = (tmp_path / "out" / "00000001" / "bags.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in bags] == ["d0", "d1", "d2"]
    assert {account.name for account in ledger.accounts()} == {"d0", "d1", "d2"}


def test_a_release_that_is_taken_away_is_not_made_again(watch, inbox, tmp_path):
    (inbox / "a.txt").write_text(sentence(1), encoding="utf-8")
    with watch() as running:
        assert events(running) == [(1, "released")]
        (tmp_path / "out" / "00000001").rename(tmp_path / "elsewhere")
        assert events(running) == []
    with watch() as running:
        assert events(running) == []


def test_a_change_after_the_release_is_told_once(watch, inbox):
    path = inbox / "a.txt"
    path.write_text(sentence(1), encoding="utf-8")
    with watch() as running:
        list(running.look())
        path.write_text(sentence(2) + " more", encoding="utf-8")
        assert events(running) == [(1, "changed")]
        assert events(running) == []


def test_a_numbered_file_that_has_gone_is_told_once(watch, inbox):
    (inbox / "a.txt").write_bytes(b"\xff\xfe\xff")
    with watch() as running:
        assert events(running) == [(1, "refused")]
    (inbox / "a.txt").unlink()
    with watch() as running:
        assert events(running) == [(1, "missing")]
        assert events(running) == []


# What is refused


def test_a_file_that_is_refused_can_be_mended(watch, inbox, tmp_path, ledger):
    path = inbox / "rows.jsonl"
    path.write_text('{"id": "a", "text": 5}\n', encoding="utf-8")
    with watch() as running:
        assert events(running) == [(1, "refused")]
        assert events(running) == []  # until it changes
        assert [path.name for path in (tmp_path / "out").iterdir()] == []
        path.write_text(json.dumps({"id": "a", "text": sentence(1)}) + "\n", encoding="utf-8")
        assert events(running) == [(1, "released")]
    assert ledger.document("a").releases == 1


def test_what_the_system_refuses_is_tried_again_after_a_minute(watch, inbox, monkeypatch):
    clock = Clock()
    (inbox / "a.txt").write_text(sentence(1), encoding="utf-8")

    def refuse(path, **options):
        raise StorageError(f"cannot open {str(path)!r}: permission denied")

    with watch(clock=clock) as running:
        with monkeypatch.context() as broken:
            broken.setattr("publius.releases.watching.open_corpus", refuse)
            (event,) = running.look()
        assert event.said == ("cannot open file 1: permission denied",)
        assert events(running) == []
        clock.now += 61
        assert events(running) == [(1, "released")]


def test_what_leads_nowhere_is_refused_alone(watch, inbox):
    """A link to itself has no state that could be asked for; one to nothing is no file."""
    (inbox / "a.txt").write_text(sentence(1), encoding="utf-8")
    (inbox / "loop.txt").symlink_to("loop.txt")
    (inbox / "none.txt").symlink_to("nothing.txt")
    with watch() as running:
        assert sorted(event.what for event in running.look()) == ["refused", "released"]
    with watch(reading={"follow_links": True}) as running:
        assert [event.what for event in running.look()] == ["refused"]


def test_what_is_written_again_before_its_turn_waits_until_it_is_complete(watch, inbox):
    """One look finds hundreds of files, and a file at their end may be half of one when its turn comes."""
    clock = Clock()
    for number in range(3):
        (inbox / f"{number}.txt").write_text(sentence(number), encoding="utf-8")
    with watch(clock=clock, settle=1.0) as running:
        assert events(running) == []
        clock.now += 1.1
        found = running.look()
        assert next(found).what == "released"
        for path in inbox.iterdir():
            path.write_text("half", encoding="utf-8")
        assert [event.what for event in found] == []
        assert running.unsettled == 0, "as the look found them"
        assert not list(running.look())
        assert running.unsettled == 3
        for number in range(3):
            (inbox / f"{number}.txt").write_text(sentence(number), encoding="utf-8")
        assert not [event for event in running.look() if event.what == "released"]
        clock.now += 1.1
        assert [event.what for event in running.look() if event.what != "changed"] == ["released"] * 2


def test_a_defect_of_ours_in_one_file_leaves_the_others(watch, inbox, monkeypatch):
    (inbox / "a.txt").write_text(sentence(1), encoding="utf-8")
    (inbox / "b.txt").write_text(sentence(2), encoding="utf-8")

    def broken(path, **options):
        if path.name == "a.txt":
            raise PubliusError("internal error: here. Please report it; no document text is shown")
        return open_corpus(path, **options)

    monkeypatch.setattr("publius.releases.watching.open_corpus", broken)
    with watch() as running:
        assert sorted(event.what for event in running.look()) == ["refused", "released"]


@pytest.mark.parametrize("name", ["e", "of", "kind"])
def test_a_name_that_is_a_word_of_what_is_said_is_not_looked_for_in_it(watch, inbox, name):
    (inbox / name).write_text(sentence(1), encoding="utf-8")
    with watch() as running:
        (event,) = running.look()
    assert event.said == ("it is of no kind that can be read: see publius inspect",)


def test_a_spent_budget_refuses_one_file_and_not_the_next(watch, inbox, ledger):
    for number in range(4):
        row = {"id": "same" if number < 3 else "other", "text": sentence(number)}
        (inbox / f"{number}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    with watch() as running:  # a release costs 40 of 100
        assert sorted(what for _, what in events(running)) == ["refused", "released", "released", "released"]
    assert ledger.document("same").spent == 80
    ledger.check()


def test_unknown_words_must_not_decide_what_is_released(embeddings, ledger, inbox, tmp_path):
    plan = Plan(Laplace(embeddings, epsilon=2.0), Encoding(20, "reject", StopWords.load("none"), "word2vec"))
    with pytest.raises(PolicyError, match="tell which"):
        FolderWatch(inbox, tmp_path / "out", plan, ledger, settle=0)


@pytest.mark.parametrize("other", [None, "cards"])
def test_values_of_a_field_must_not_decide_what_is_released(ledger, inbox, tmp_path, other):
    found = RandomizedResponse("product", ["loans", "cards"], bound=2.0, other=other)
    with pytest.raises(PolicyError, match="would tell what stands in 'product'"):
        FolderWatch(inbox, tmp_path / "out", Plan.of(ReleaseSettings(), found), ledger, settle=0)


def test_two_processes_cannot_watch_for_one_output(watch):
    with watch(), pytest.raises(UsageError, match="another process"), watch():
        pass


def test_a_damaged_record_is_refused_and_a_torn_line_cut_off(watch, inbox, tmp_path):
    (inbox / "a.txt").write_text(sentence(1), encoding="utf-8")
    with watch() as running:
        list(running.look())
    record = record_folder(tmp_path / "out") / RECORD
    whole = record.read_bytes()
    record.write_bytes(whole + b'{"number": 2, "na')
    with watch() as running:
        assert events(running) == []
    assert record.read_bytes() == whole
    record.write_bytes(b"\0\0\n" + whole)
    with pytest.raises(DataError, match="damaged"), watch():
        pass


def test_record_lines_survive(tmp_path):
    with RecordLines(tmp_path / "r") as lines:
        lines.append({"name": "\udcff"})  # a name that is no text
    with RecordLines(tmp_path / "r") as lines:
        assert lines.kept == [{"name": "\udcff"}]
    assert stat.S_IMODE((tmp_path / "r").stat().st_mode) == 0o600


# The command


@pytest.fixture
def command(publius, stored, inbox, tmp_path, ledger):
    def run(*arguments):
        return publius(
            "watch", inbox, "--output", tmp_path / "out", "--ledger", ledger.path, "--epsilon", 2, "--length", 20,
            "--embeddings", stored, "--settle", 0, "--once", *arguments,
        )  # fmt: skip

    return run


def test_no_word_or_file_name_is_told(command, inbox, tmp_path):
    (inbox / "zzcanaryname.txt").write_text(f"zzcanaryword {sentence(1)}", encoding="utf-8")
    (inbox / "zzcanarybad.jsonl").write_text("zzcanaryword\n", encoding="utf-8")
    (inbox / "zzcanarykind.xyz").write_text("zzcanaryword", encoding="utf-8")
    code, out, err = command("--json")
    said = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert sorted(each["what"] for each in said) == ["refused", "refused", "released"]
    assert "zzcanary" not in out + err
    for path in (tmp_path / "out").rglob("*"):
        assert "zzcanary" not in path.name
        assert path.is_dir() or b"zzcanary" not in path.read_bytes()
    assert stat.S_IMODE(record_folder(tmp_path / "out").stat().st_mode) == 0o700


def test_the_same_call_again_releases_nothing_twice(command, inbox):
    (inbox / "a.txt").write_text(sentence(1), encoding="utf-8")
    assert command()[1].splitlines()[-1] == "Files: 1 released"
    assert command()[1] == "Files: nothing arrived\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--length", "shortest"], 2),
        (["--unknown", "reject"], 77),
        (["--experiment"], 2),
        (["--seed", "1"], 2),
    ],
)
def test_what_no_watch_can_promise_is_refused(command, arguments, code):
    assert command(*arguments)[0] == code


def test_a_signal_ends_it_in_order(stored, inbox, tmp_path, ledger):
    call = [sys.executable, "-m", "publius", "watch", inbox, "--output", tmp_path / "out", "--ledger", ledger.path,
            "--epsilon", "2", "--length", "20", "--embeddings", stored, "--settle", "0", "--pause", "0.05"]  # fmt: skip
    (inbox / "a.txt").write_text(sentence(1), encoding="utf-8")
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        told = running.stdout.readline()
        running.send_signal(signal.SIGTERM)
        out, err = running.communicate(timeout=600)
    assert told.startswith("file 1: ")
    assert running.returncode == 0
    assert "Files: 1 released" in out
    assert "rerun to resume" in err
