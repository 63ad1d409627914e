"""What Windows has not: nothing needs it to be imported, and a folder is made without it."""

import subprocess
import sys

import pytest

from publius import files
from source_imports import PACKAGE

POSIX_ONLY = ("fcntl", "grp", "pwd", "resource", "termios")
EVERYTHING = """
import importlib, pkgutil, sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None  # importing it fails
import publius
missing = []
for found in pkgutil.walk_packages(publius.__path__, "publius."):
    if found.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(found.name)
    except ImportError as error:
        missing.append(f"{found.name}: {error.name}")
print("\\n".join(each for each in missing if each.rpartition(": ")[2] in sys.argv[1].split(",")))
"""


@pytest.mark.long
def test_every_module_is_imported_where_there_is_no_posix():
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", EVERYTHING, ",".join(POSIX_ONLY)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stdout.strip() == ""


def test_signals_that_windows_has_not_are_never_taken_for_granted():
    """``signal.SIGKILL`` does not exist there; ``getattr`` and ``process.kill()`` do."""
    wanted = ("signal.SIGKILL", "signal.SIGHUP", "signal.SIGALRM", "os.fork(", "os.mkfifo(")
    found = [
        (path.name, word) for path in PACKAGE.rglob("*.py") if "audit" not in path.parts
        for word in wanted if word in path.read_text(encoding="utf-8")
    ]  # fmt: skip
    assert found == []


def test_a_folder_is_placed_whole_without_locks_on_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with files.new_folder(tmp_path / "made") as folder:
        (folder / "a").write_text("a")
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["a"]
    assert files.remove_leftovers(tmp_path / "made") == []
