"""A home for a test: its own, but for the packaged vectors, which are public and converted once for all tests."""

import atexit
import itertools
import shutil
import tempfile
from functools import cache
from pathlib import Path

from publius.vectors.catalogue import PACKAGED_FOLDER

_number = itertools.count()


@cache
def _shared(name):
    """A folder of this process, which goes when it ends."""
    folder = Path(tempfile.mkdtemp(prefix=f"publius-tests-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def home_at(folder):
    """The new folder ``folder`` as a home; what is made of the packaged vectors lies in all homes."""
    folder.mkdir(0o700)
    for name in (PACKAGED_FOLDER, "subjects"):  # grouping the subjects' words takes two seconds
        (folder / name).symlink_to(_shared(name))
    return folder


def new_home():
    """A home anywhere. Pytest would look through all temporary folders so far to number the next."""
    return home_at(_shared("homes") / str(next(_number)))


def left_in(home):
    """What lies in a home beside what all share."""
    return [path for path in home.iterdir() if not path.is_symlink()]
