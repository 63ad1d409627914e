"""What a killed run leaves: nothing that others can read, and the next run takes it away and says so."""

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys

import pytest

from held import LEDGER, held
from publius.files import new_folder, private_folder, remove_leftovers
from publius.privacy.ledger import Ledger
from toy import sentence


def leftovers(folder):
    return sorted(path for path in folder.iterdir() if path.name.startswith("."))


@pytest.fixture
def call(stored, tmp_path):
    rows = [{"id": f"d{i}", "text": sentence(i, 400)} for i in range(600)]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    Ledger.create(tmp_path / "ledger", budget=10_000)
    return [sys.executable, "-m", "publius", "obfuscate", str(tmp_path / "corpus.jsonl"), "--epsilon", "1",
            "--embeddings", stored, "--length", "60", "--workers", "1", "--ledger", str(tmp_path / "ledger"),
            "--output", str(tmp_path / "out")]  # fmt: skip


def leftover(path):
    """A folder as a run that was killed leaves it."""
    path.mkdir()
    path.chmod(0o1700)
    return path


@pytest.fixture
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_a_killed_run_leaves_nothing_to_read_and_the_next_removes_it(call, tmp_path, usual_umask):
    run = held(call[3:], LEDGER)
    run.send_signal(signal.SIGKILL)
    run.wait()
    (left,) = leftovers(tmp_path)
    assert not (tmp_path / "out").exists()
    assert Ledger(tmp_path / "ledger").counts()[2] == 0
    assert {stat.S_IMODE(path.stat().st_mode) for path in left.iterdir()} == {0o600}
    assert stat.S_IMODE(left.stat().st_mode) == 0o1700
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"publius: removed {str(left)!r}, which a run that was killed left behind" in done.stderr
    assert leftovers(tmp_path) == []
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o755
    assert Ledger(tmp_path / "ledger").counts()[2] == 1


@pytest.mark.parametrize("resume", [False, True])
def test_both_kinds_of_run_take_leftovers_away(publius, corpus_file, stored, tmp_path, resume):
    left = leftover(tmp_path / ".publius-1-0.tmp")
    call = ("obfuscate", corpus_file, "--epsilon", 1, "--embeddings", stored, "--length", 20, "--workers", 1)
    code, _, err = publius(*call, "--output", tmp_path / "out", *["--resume"] * resume)
    assert (code, left.exists()) == (0, False)
    assert str(left) in err


def test_what_a_living_run_makes_is_left_alone(tmp_path):
    with new_folder(tmp_path / "a") as one, new_folder(tmp_path / "b"):
        assert remove_leftovers(tmp_path / "c") == []
        assert one.is_dir()
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}


def test_a_folder_that_is_not_locked_yet_is_no_leftover(tmp_path, monkeypatch):
    """Another run may look in the instant between a folder and its lock."""
    flock, seen = fcntl.flock, []

    def late(descriptor, how):
        if not seen:
            seen.append(how)
            assert remove_leftovers(tmp_path / "b") == []
        flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with new_folder(tmp_path / "a") as folder:
        (folder / "file").touch()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["file"]


def test_files_and_links_of_such_names_are_left_alone(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / ".publius-1-1.tmp").touch()
    (tmp_path / ".publius-1-2.tmp").symlink_to(tmp_path / "kept")
    leftover(tmp_path / ".publius-1-3.tmp")
    assert [path.name for path in remove_leftovers(tmp_path / "out")] == [".publius-1-3.tmp"]
    assert (tmp_path / "kept").is_dir()


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="file names are Unicode there")
def test_a_file_name_that_is_no_text_is_refused_with_a_ledger(publius, stored, tmp_path):
    folder = os.fsencode(tmp_path) + b"/in"
    os.mkdir(folder)
    for name in (b"a.txt", b"b\xff.txt"):
        with open(folder + b"/" + name, "wb") as file:
            file.write(b"river castle")
    Ledger.create(tmp_path / "ledger", budget=100)
    call = (
        "obfuscate",
        tmp_path / "in",
        "--epsilon",
        1,
        "--embeddings",
        stored,
        "--length",
        2,
        "--workers",
        1,
    )
    code, _, err = publius(*call, "--output", tmp_path / "out", "--ledger", tmp_path / "ledger")
    assert code == 65
    assert "document 2: the name of its file is not UTF-8" in err
    assert "rename the file" in err
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()
    assert publius(*call, "--output", tmp_path / "out")[0] == 0, "without a ledger no name is needed"


def test_what_a_killed_run_to_standard_output_leaves_the_next_one_removes(call, tmp_path):
    """The folder of a run that lives stays."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    call = [*call[:-1], "-"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    run = subprocess.Popen(call, stdout=subprocess.PIPE, env=environment)
    assert run.stdout.read(1)  # what does not fit into the pipe waits
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stdout.close()
    (left,) = temporary.iterdir()
    assert stat.S_IMODE(left.stat().st_mode) == 0o1700
    few = json.dumps({"id": "d", "text": sentence(1, 400)})
    (tmp_path / "corpus.jsonl").write_text(few + "\n", encoding="utf-8")
    with private_folder(temporary) as living:
        done = subprocess.run(call, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        assert f"publius: removed {str(left)!r}, which a run that was killed left behind" in done.stderr
        assert list(temporary.iterdir()) == [living]


def test_a_folder_of_ours_that_was_given_such_a_name_is_left_alone(tmp_path):
    """Whoever may write in the folder around it can rename it, also while it is looked at."""
    for number, mode in enumerate((0o700, 0o755)):
        work = tmp_path / f".publius-1-{number}.tmp"
        work.mkdir(mode)
        (work / "years.txt").write_text("of work")
    assert remove_leftovers(tmp_path / "out") == []
    assert [path.read_text() for path in tmp_path.rglob("years.txt")] == ["of work"] * 2


def test_a_folder_that_takes_the_name_of_a_leftover_meanwhile_is_left_alone(tmp_path, monkeypatch):
    left, work = leftover(tmp_path / ".publius-1-0.tmp"), tmp_path / "work"
    (left / "bags.jsonl").touch()
    work.mkdir()
    (work / "years.txt").write_text("of work")
    listed = os.listdir

    def late(place):
        if work.exists():
            left.rename(tmp_path / "away")
            work.rename(left)
        return listed(place)

    monkeypatch.setattr(os, "listdir", late)
    assert remove_leftovers(tmp_path / "out") == []
    assert ((left / "years.txt").read_text(), [*(tmp_path / "away").iterdir()]) == ("of work", [])


@pytest.mark.parametrize("moment", ["open", "fstat", "listdir"])
def test_a_folder_that_goes_while_it_is_looked_at_is_no_fault(tmp_path, monkeypatch, moment):
    """Runs that share a folder for what is temporary end and clean up at the same time."""
    left = leftover(tmp_path / ".publius-1-0.tmp")
    was = getattr(os, moment)

    def late(*given):
        if left.exists():
            left.rmdir()
        return was(*given)

    monkeypatch.setattr(os, moment, late)
    assert remove_leftovers(tmp_path / "out") == []
