"""The exported surface is what it is on purpose."""

import subprocess
import sys

import publius


def test_names_are_sorted_and_few():
    assert publius.__all__ == sorted(publius.__all__)
    assert (
        len(publius.__all__) <= 34
    )  # the classes of word, document, author and vector have names of their own


def test_every_name_is_there():
    for name in publius.__all__:
        assert getattr(publius, name) is not None


def test_release_stays_the_function():
    """No module may take the name of a public function."""
    names = "publius, publius.cli, publius.releases.engines, publius.releases.protect"
    script = f"import {names}; assert callable(publius.release)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
