"""The exported surface is what it is on purpose."""

import csv
import json
import subprocess
import sys

import publius
from golden import public_names


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


def test_every_name_of_0_2_is_there_or_has_what_stands_for_it():
    """The list that docs/versions.md links to has all that are gone; what is new is listed by `make pages`."""
    was = json.loads(public_names.RECORDED.read_text(encoding="utf-8"))
    gone = [each for each in public_names.changes(was, public_names.public_names()) if each[1] == "removed"]
    assert [name for name, _, stands in gone if not stands] == []
    with public_names.WRITTEN.open(encoding="utf-8", newline="") as file:
        assert [row for row in csv.reader(file) if row[1] == "removed"] == [[*each] for each in gone]
