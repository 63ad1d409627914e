"""A home for a test: its own, but for the packaged vectors and what is made of them, and for compiled templates."""

import atexit
import itertools
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from publius.embeddings import catalogue

SHARED = (catalogue.PACKAGED_FOLDER, "templates")
"""Compiling the templates of a release takes a third of a second."""

_computed, _packaged_subjects = catalogue.computed, []


def computed(facts, kind, check, make):
    """Grouping the words of the packaged subjects takes three seconds: once in each of pytest's workers."""

    def once():
        _packaged_subjects[:] = _packaged_subjects or [make()]
        return _packaged_subjects[0]

    return _computed(facts, kind, check, once if facts.get("subjects") and facts["words"] == 20_000 else make)


catalogue.computed = computed

_number = itertools.count()
_last = []


@cache
def _shared(name):
    """A folder of this process, which goes when it ends."""
    folder = Path(tempfile.mkdtemp(prefix=f"publius-tests-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _of_all():
    """A folder of all of pytest's workers, which goes with the last of them."""
    if (run := os.environ.get("PYTEST_XDIST_TESTRUNUID")) is None:
        return _shared("all")
    folder = Path(tempfile.gettempdir(), f"publius-tests-{run}")
    folder.mkdir(0o700, exist_ok=True)
    mine = folder / f"worker-{os.getpid()}"
    mine.touch()
    atexit.register(_leave, folder, mine)
    return folder


def _leave(folder, mine):
    mine.unlink(missing_ok=True)
    if not any(folder.glob("worker-*")):
        shutil.rmtree(folder, ignore_errors=True)


def home_at(folder):
    """The new folder ``folder`` as a home; what is made of the packaged vectors lies in all homes."""
    folder.mkdir(0o700)
    for name in SHARED:
        shared = _of_all() / name
        shared.mkdir(0o700, exist_ok=True)
        (folder / name).symlink_to(shared)
    return folder


def new_home():
    """A home anywhere. Pytest would look through all temporary folders so far to number the next.

    The last one again where nothing was left in it: of most tests.
    """
    if not _last or not _is_new(_last[0]):
        _last[:] = [home_at(_shared("homes") / str(next(_number)))]
    return _last[0]


def _is_new(home):
    try:
        mode = os.lstat(home).st_mode
        with os.scandir(home) as found:
            return mode == 0o40700 and {each.name for each in found if each.is_symlink()} == {*SHARED} == {
                *os.listdir(home)
            }
    except OSError:
        return False


def left_in(home):
    """What lies in a home beside what all share."""
    return [path for path in home.iterdir() if not path.is_symlink()]
