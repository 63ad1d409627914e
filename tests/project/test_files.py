"""Reading with limits, writing all or nothing."""

import errno
import gzip
import hashlib
import os
import random
import shutil
import stat
import subprocess
import sys
import threading

import pytest

from publius import files
from publius.errors import DataError, StorageError, UsageError


def _lines(path, **limits):
    return list(files.read_lines(path, **limits))


def _interrupted(action, *arguments):
    action(*arguments)
    raise KeyboardInterrupt


def _everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["a.txt", "a.gz"])
def test_gzip_is_told_by_content(tmp_path, packed, name):
    data = b"one\ntwo\n"
    (tmp_path / name).write_bytes(gzip.compress(data) if packed else data)
    if name == "a.gz" and not packed:
        with pytest.raises(DataError, match="but is not gzip"):
            files.read_bytes_limited(tmp_path / name)
    else:
        assert files.read_bytes_limited(tmp_path / name) == data


def test_members_that_hold_nothing_are_bounded_in_number(tmp_path):
    """Each costs time, some ten seconds in 16 MB of them. Blocks as bgzip writes them may be as many as it takes."""
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"") * 2_000 + gzip.compress(b"one"))
    with pytest.raises(DataError, match="pieces that hold nearly nothing"):
        list(files.read_lines(path))
    blocks = [hashlib.shake_128(b"%d" % place).hexdigest(4_000).encode() + b"\n" for place in range(1_500)]
    path.write_bytes(b"".join(map(gzip.compress, blocks)) + gzip.compress(b"") + bytes(512))
    assert [line for _, line in files.read_lines(path)] == [block[:-1] for block in blocks]


def test_several_gzip_members_are_one_stream(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two"))
    assert _lines(tmp_path / "a.gz") == [(1, b"one"), (2, b"two")]


def test_lines_split_at_newlines_only(tmp_path):
    odd = "a\u0085b\u2028c\x0bd\x0ce\rf".encode()
    (tmp_path / "a").write_bytes(odd + b"\r\n\nlast")
    assert _lines(tmp_path / "a") == [(1, odd + b"\r"), (2, b""), (3, b"last")]


def test_empty_file_has_no_lines(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    assert _lines(tmp_path / "a") == []


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_line_limit(tmp_path, end):
    (tmp_path / "a").write_bytes(b"ok\n" + b"x" * 10 + end)
    assert _lines(tmp_path / "a", limit=10) == [(1, b"ok"), (2, b"x" * 10)]
    with pytest.raises(DataError, match="line 2: more than 9 bytes"):
        _lines(tmp_path / "a", limit=9)


def test_whole_limit(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 10)
    assert files.read_bytes_limited(tmp_path / "a", limit=10) == b"x" * 10
    with pytest.raises(DataError, match="more than 9 bytes"):
        files.read_bytes_limited(tmp_path / "a", limit=9)


def test_reading_takes_the_memory_of_the_file_not_of_the_limit(tmp_path):
    """In a process of its own: other tests' threads take memory too."""
    (tmp_path / "a").write_bytes(b"x" * 10)
    script = """
import sys, tracemalloc
from publius import files
tracemalloc.start()
files.read_bytes_limited(sys.argv[1], limit=2**30)
assert list(files.read_lines(sys.argv[1], limit=2**30)) == [(1, b"x" * 10)]
print(tracemalloc.get_traced_memory()[1])
"""
    told = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "a")], capture_output=True, check=True
    )
    assert int(told.stdout) < 2**23


def test_bomb_is_refused_before_it_is_unpacked(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(2 * files.GZIP_FREE)))
    read = []
    with (
        pytest.raises(DataError, match="more than 200 times"),
        files.open_binary(tmp_path / "a.gz") as stream,
    ):
        read.extend(len(data) for data in iter(lambda: stream.read(2**16), b""))
    assert files.GZIP_FREE - 2**20 <= sum(read) <= files.GZIP_FREE


def test_small_repetitive_gzip_is_accepted(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(2**20)))
    assert len(files.read_bytes_limited(tmp_path / "a.gz")) == 2**20


DAMAGES = {
    "last byte missing": lambda data: data[:-1],
    "cut in the middle": lambda data: data[:500],
    "cut in the header": lambda data: data[:5],
    "something after": lambda data: data + b"tail",
    "checksum": lambda data: data[:-8] + bytes(8),
    "content": lambda data: data[:30] + bytes(9) + data[39:],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_gzip(tmp_path, damage):
    data = random.Random(1).randbytes(1000)
    (tmp_path / "a.gz").write_bytes(damage(gzip.compress(data)))
    with pytest.raises(DataError, match="damaged or cut short"):
        files.read_bytes_limited(tmp_path / "a.gz")


def test_missing_file_folder_and_null(tmp_path):
    for path in (tmp_path / "missing", tmp_path, tmp_path / "missing" / "a"):
        with pytest.raises(StorageError, match="cannot open"):
            files.open_binary(path)
    with pytest.raises(UsageError, match="null"):
        files.open_binary("a\0b")


def test_names_cannot_drive_a_terminal(tmp_path):
    with pytest.raises(StorageError) as caught:
        files.open_binary(tmp_path / "\x1b[2J\u202e")
    assert str(caught.value).isprintable()


def test_a_pipe_can_be_read(tmp_path):
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as sink:
        sink.write(gzip.compress(b"one\ntwo"))
    try:
        assert _lines(f"/dev/fd/{reader}") == [(1, b"one"), (2, b"two")]
    finally:
        os.close(reader)


def test_write_file_replaces_in_one_step(tmp_path):
    target = tmp_path / "a"
    target.write_bytes(b"old")
    with files.write_file(target) as stream:
        stream.write(b"new")
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"new"
    assert _everything(tmp_path) == ["a"]


def test_write_file_that_fails_leaves_the_old(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), files.write_file(tmp_path / "a") as stream:
        _interrupted(stream.write, b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert _everything(tmp_path) == ["a"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_full_disk(tmp_path, monkeypatch, step):
    def fail(*_):
        raise OSError(errno.ENOSPC, "")

    monkeypatch.setattr(os, step, fail)
    with (
        pytest.raises(StorageError, match="free some space"),
        files.write_file(tmp_path / "a") as out,
    ):
        out.write(b"new")
    assert _everything(tmp_path) == []


def test_write_file_onto_a_folder_or_nowhere(tmp_path):
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "missing" / "a"):
        with pytest.raises(StorageError, match="cannot write"), files.write_file(path):
            pass
    assert _everything(tmp_path) == ["folder"]


def test_private_file_is_0600_from_the_start(tmp_path):
    with files.write_file(tmp_path / "key", mode=0o600) as stream:
        assert stat.S_IMODE(os.fstat(stream.fileno()).st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


def test_content_is_flushed_before_it_is_named(tmp_path, monkeypatch):
    events, mine = [], threading.get_ident()
    fsync, replace = os.fsync, os.replace

    def told(event):
        if threading.get_ident() == mine:  # another test's server may still write its own files
            events.append(event)

    monkeypatch.setattr(os, "fsync", lambda fd: (told(stat.S_ISDIR(os.fstat(fd).st_mode)), fsync(fd)))
    monkeypatch.setattr(os, "replace", lambda a, b: (told("replace"), replace(a, b)))
    with files.write_file(tmp_path / "a") as stream:
        stream.write(b"x")
    assert events == [False, "replace", True]


@pytest.mark.parametrize("name", ["new", "empty", "deep/er/new"])
def test_new_folder_appears_whole(tmp_path, name):
    (tmp_path / "empty").mkdir(mode=0o700)
    target = tmp_path / name
    with files.new_folder(target) as folder:
        (folder / "a").write_text("a")
        (folder / "b").mkdir()
        assert not target.exists() or not list(target.iterdir())
    assert _everything(target) == ["a", "b"]
    assert stat.S_IMODE((tmp_path / "empty").stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["new", "empty", "deep/er/new"])
def test_new_folder_that_fails_leaves_nothing(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(KeyboardInterrupt), files.new_folder(tmp_path / name) as folder:
        _interrupted((folder / "a").write_text, "a")
    assert _everything(tmp_path) == ["empty"]


def test_new_folder_refuses_what_is_there(tmp_path, monkeypatch):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").write_text("a")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    before = _everything(tmp_path)
    for name in ("full", "full/a", "here"):
        with pytest.raises(UsageError, match="name a new"), files.new_folder(tmp_path / name):
            pytest.fail("the block ran")
    assert _everything(tmp_path) == before


def test_new_folder_does_not_win_over_someone_else(tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "b").touch()
    with pytest.raises(UsageError, match="meanwhile"), files.new_folder(tmp_path / "a"):
        shutil.copytree(tmp_path / "theirs", tmp_path / "a")
    assert _everything(tmp_path) == ["a", "a/b", "theirs", "theirs/b"]


def test_new_folder_under_a_file(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(StorageError, match="is a file, not a folder"), files.new_folder(tmp_path / "a" / "b"):
        pass


def test_full_disk_in_a_folder(tmp_path, monkeypatch):
    def fail(_):
        raise OSError(errno.ENOSPC, "")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match="no space left"), files.new_folder(tmp_path / "x" / "a") as folder:
        (folder / "a").touch()
    assert _everything(tmp_path) == []


def test_temporary_left_by_a_killed_process_is_passed_over(tmp_path, monkeypatch):
    (tmp_path / f".publius-{os.getpid()}-0.tmp").touch()
    monkeypatch.setattr("publius.files.writing._serial", iter(range(9)))
    with files.write_file(tmp_path / "a") as stream:
        stream.write(b"x")
    assert (tmp_path / "a").read_bytes() == b"x"
