"""Files: whole or not at all, private until they have their place, bounded when read."""

import gzip
import os
import stat
from pathlib import Path

import pytest

from publius.errors import DataError, PolicyError, StorageError, UsageError
from publius.files.progress import Watch, advance, counted, stage
from publius.files.reading import GZIP_FREE, largest_content, open_binary, read_bytes_limited, value_list
from publius.files.user_code import object_at, unheard
from publius.files.writing import (
    check_new_folder,
    new_folder,
    own_folder,
    place_folder,
    private_folder,
    remove_leftovers,
    remove_secret,
    write_file,
)


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_a_file_appears_whole_or_keeps_what_stood_there(tmp_path):
    path = tmp_path / "a"
    with write_file(path) as file:
        file.write(b"first")
    with pytest.raises(RuntimeError), write_file(path) as file:  # noqa: PT012
        file.write(b"second")
        raise RuntimeError
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["a"]
    with write_file(path, 0o600) as file:
        file.write(b"third")
    assert (path.read_bytes(), mode(path)) == (b"third", 0o600)


def test_what_the_system_refuses_names_the_path_and_the_way_out(tmp_path):
    with pytest.raises(StorageError, match="check the name and that its folder exists"):
        open_binary(tmp_path / "absent")
    with pytest.raises(StorageError, match="cannot write"), write_file(tmp_path / "absent" / "a"):
        pass
    with pytest.raises(UsageError, match="null character"):
        open_binary("a\0b")


def test_a_folder_is_private_until_it_has_its_place(tmp_path):
    target = tmp_path / "parent" / "release"
    with new_folder(target) as folder:
        (folder / "rows").write_text("x")
        assert mode(folder) & 0o077 == 0
        assert not target.exists()
    assert (target / "rows").read_text() == "x"
    assert mode(target) & 0o077
    with pytest.raises(UsageError, match="not empty"), new_folder(target):
        pass
    with new_folder(tmp_path / "mine", owner_only=True) as folder:
        (folder / "rows").write_text("x")
    assert mode(tmp_path / "mine") == 0o700
    assert mode(tmp_path / "mine" / "rows") == 0o600


def test_a_folder_whose_block_fails_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), new_folder(tmp_path / "deep" / "er" / "release"):
        raise RuntimeError
    assert os.listdir(tmp_path) == []


def test_leftovers_of_dead_processes_go_and_no_others(tmp_path):
    dead = tmp_path / ".publius-1-0.tmp"
    dead.mkdir()
    dead.chmod(0o1700)
    somebodys = tmp_path / ".publius-2-0.tmp"
    somebodys.mkdir(0o755)
    with private_folder(tmp_path) as living:
        remove_leftovers(tmp_path / "out")
        assert not dead.exists()
        assert living.is_dir()
    assert somebodys.is_dir()


def test_an_own_folder_is_one_process_s_and_nobody_else_s(tmp_path):
    path = tmp_path / "run"
    with own_folder(path) as fresh:
        assert fresh
        assert mode(path) == 0o700
        with pytest.raises(UsageError, match="another process is at work"), own_folder(path):
            pass
    with own_folder(path) as fresh:
        assert not fresh
    path.chmod(0o755)
    with pytest.raises(PolicyError, match="yours alone"), own_folder(path):
        pass


def test_a_filled_folder_takes_a_name_in_one_step(tmp_path):
    with own_folder(tmp_path / "run"):
        (tmp_path / "run" / "out").mkdir(0o700)
        (tmp_path / "run" / "out" / "rows").write_text("x")
        place_folder(tmp_path / "run" / "out", tmp_path / "release")
    assert (tmp_path / "release" / "rows").read_text() == "x"
    with pytest.raises(UsageError):
        check_new_folder(tmp_path / "release")
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is a file"):
        check_new_folder(tmp_path / "file")


def test_a_secret_is_overwritten_and_gone(tmp_path, monkeypatch):
    path = tmp_path / "key"
    path.write_bytes(b"k" * 33)
    os.link(path, tmp_path / "other-name")
    remove_secret(path)
    assert not path.exists()
    assert (tmp_path / "other-name").read_bytes() == bytes(33)
    remove_secret(path)  # once more is nothing


def test_gzip_is_read_as_a_stream_and_bounded(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"one\ntwo") + gzip.compress(b"\nthree"))
    assert read_bytes_limited(path) == b"one\ntwo\nthree"
    assert largest_content(path) == GZIP_FREE
    path.write_bytes(gzip.compress(bytes(2 * GZIP_FREE)))
    with pytest.raises(DataError, match="unpacks to more than"):
        read_bytes_limited(path)
    path.write_bytes(gzip.compress(os.urandom(1000))[:-20])
    with pytest.raises(DataError, match="damaged or cut short"):
        read_bytes_limited(path)
    path.write_bytes(b"plain")
    with pytest.raises(DataError, match="is not gzip"):
        read_bytes_limited(path)


def test_what_is_read_whole_has_a_limit(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert read_bytes_limited(path, 3) == b"abc"
    with pytest.raises(DataError, match="more than 2 bytes"):
        read_bytes_limited(path, 2)


def test_values_are_quoted_as_in_csv_or_a_line_each(tmp_path):
    assert value_list('a, "b, c",d ', "--labels") == ["a", "b, c", "d"]
    (tmp_path / "labels").write_bytes("\ufeffeins\n\nzwei\n".encode())
    assert value_list(f"@{tmp_path / 'labels'}", "--labels") == ["eins", "zwei"]
    with pytest.raises(UsageError, match="quoted as in CSV"):
        value_list('a,"b', "--labels")


def test_a_watch_hears_how_far_its_work_is_and_stops_it():
    watch = Watch()

    def work():
        with stage("outer"), stage("inner"):
            advance(1, 2)
        with stage("counting"):
            for part in counted(range(4), 4):
                if part == 2:
                    assert watch.record()["done"] == 2
                    assert watch.record()["stage"] == "counting"
                    watch.cancelled = True
        return "never"

    with pytest.raises(UsageError):
        watch.run(work)
    assert [*counted("ab", 2)] == ["a", "b"]  # nobody watches


class Foreign:
    __module__ = "elsewhere"


def test_an_error_of_foreign_code_is_told_by_type_and_place():
    with (
        pytest.raises(PolicyError, match=r"ValueError at test_files.py:\d+") as found,
        unheard(Foreign, "the metric m"),
    ):
        raise ValueError("secret words")
    assert "secret" not in str(found.value)
    with pytest.raises(ValueError, match="ours"), unheard(Watch, "ours"):
        raise ValueError("ours")


def test_an_object_is_found_by_name_or_refused(tmp_path, monkeypatch):
    assert object_at("python:pathlib:Path") is Path
    for wrong in ("python:pathlib", "python::x", "python:absent_module:x", "python:pathlib:Absent"):
        with pytest.raises(UsageError):
            object_at(wrong)
    (tmp_path / "users_own.py").write_text("value = 7")
    (tmp_path / "broken_own.py").write_text("raise ValueError('secret')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert object_at("python:users_own:value") == 7
    with pytest.raises(UsageError, match="ended with ValueError") as found:
        object_at("python:broken_own:value")
    assert "secret" not in str(found.value)
