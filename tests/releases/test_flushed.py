"""What a release holds is on the disk before its folder has its name, whatever the disk was told to begin with.

Every flush, every name given and every word to the disk is recorded while a release is made.
"""

import json
import os
import stat
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from publius import files
from publius.documents.corpus import open_corpus
from publius.files import writing
from publius.mechanisms.prototype import Prototype
from publius.releases.engines import protect_corpus
from publius.releases.plan import Plan
from publius.settings import ReleaseSettings
from references import fitted, public_documents

FORMATS = {"jsonl": "bags.jsonl", "csv": "bags.csv", "parquet": "bags.parquet", "mtx": "documents.jsonl"}
_STRETCH = 1500


def made(place, format, **options):
    """A release of 60 documents, with all that may stand beside the bags."""
    if format == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    source = place / "t.jsonl"
    rows = [
        {"id": f"r{n}", "text": " ".join(words)} for n, (words, _) in enumerate(public_documents(60, seed=9))
    ]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = Plan.of(ReleaseSettings(), Prototype(fitted(), bound=5.0))
    (place / "out").mkdir()
    protect_corpus(
        open_corpus(source), plan, place / "out" / "release", format=format, metadata=True, **options
    )
    return place / "out" / "release"


@dataclass
class Recorded:
    """Steps in their order: (what, which file or folder, ...); of a file that it is the same when it is renamed."""

    steps: list[tuple] = field(default_factory=list)

    def of(self, what, number=None):
        """(place, step) of all that are ``what``, of the file or folder with the ``number``."""
        return [
            (place, step)
            for place, step in enumerate(self.steps)
            if step[0] == what and number in (None, step[1])
        ]


@pytest.fixture
def recorded(monkeypatch):
    found, mine = Recorded(), threading.get_ident()
    fsync, rename, replace, advise = os.fsync, os.rename, os.replace, os.posix_fadvise

    def told(*step):
        if threading.get_ident() == mine:
            found.steps.append(step)

    def flushing(descriptor):
        fsync(descriptor)
        facts = os.fstat(descriptor)
        told(
            "flushed",
            facts.st_ino,
            None if stat.S_ISDIR(facts.st_mode) else Path(f"/proc/self/fd/{descriptor}").read_bytes(),
        )

    def naming(rename):
        def named(old, new, **given):
            rename(old, new, **given)
            told("named", os.stat(new).st_ino, Path(new))

        return named

    def advising(descriptor, start, length, advice):
        facts = os.fstat(descriptor)
        told("begun", facts.st_ino, start, length, facts.st_size, advice)
        advise(descriptor, start, length, advice)

    monkeypatch.setattr(os, "fsync", flushing)
    monkeypatch.setattr(os, "rename", naming(rename))
    monkeypatch.setattr(os, "replace", naming(replace))
    monkeypatch.setattr(os, "posix_fadvise", advising)
    monkeypatch.setattr(writing, "_STRETCH", _STRETCH)
    return found


def _number(path):
    return path.stat().st_ino


def _check_flushed(recorded, release):
    """All that is in the folder, as it is now, was flushed before its name; then the folder that has the name."""
    ((named, _),) = recorded.of("named", _number(release))
    for path in (release, *release.rglob("*")):
        flushed = [(place, step[2]) for place, step in recorded.of("flushed", _number(path)) if place < named]
        assert flushed, f"{path.name} was not flushed before its folder had its name"
        if path.is_file():
            assert flushed[-1][1] == path.read_bytes(), f"{path.name} was written to after it was flushed"
        else:  # its entries, when all that it holds is there
            inside = [
                place
                for each in path.iterdir()
                for what in ("named", *(["flushed"] if each.is_file() else []))
                for place, _ in recorded.of(what, _number(each))
            ]
            assert flushed[-1][0] > max(inside, default=-1), f"{path.name} was flushed before what is in it"
    assert [place for place, _ in recorded.of("flushed", _number(release.parent)) if place > named]


@pytest.mark.parametrize(
    ("format", "options"),
    [
        *((format, {}) for format in FORMATS),
        ("jsonl", {"workers": 2, "batch_size": 4}),
        ("csv", {"resume": True}),
    ],
)
def test_every_file_is_on_the_disk_before_the_folder_has_its_name(tmp_path, recorded, format, options):
    _check_flushed(recorded, made(tmp_path, format, **options))


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_what_the_disk_begins_with_has_no_gap_and_does_not_stand_for_the_flush(tmp_path, recorded, format):
    release = made(tmp_path, format, batch_size=5)
    bags = release / FORMATS[format]
    begun = recorded.of("begun", _number(bags))
    assert len(begun) > 3
    end = 0
    for _, (_, _, start, length, size, advice) in begun:
        assert start == end
        assert length >= _STRETCH
        end = start + length
        assert end <= size, "what the system does not have yet cannot be begun with"
        assert advice == os.POSIX_FADV_DONTNEED
    assert bags.stat().st_size - end < 2 * _STRETCH  # no more is left for the end
    assert begun[-1][0] < recorded.of("flushed", _number(bags))[-1][0]


def test_a_disk_that_knows_no_beginning_gets_the_same_file(tmp_path, recorded, monkeypatch):
    def unknown(*_):
        raise OSError

    monkeypatch.setattr(os, "posix_fadvise", unknown)
    with files.new_folder(tmp_path / "new") as folder, (folder / "a").open("wb") as stream:
        early = files.EarlyFlush(stream)
        for _ in range(5):
            early.wrote(stream.write(b"x" * _STRETCH))
    assert (tmp_path / "new" / "a").read_bytes() == b"x" * 5 * _STRETCH
    _check_flushed(recorded, tmp_path / "new")


def test_a_folder_that_was_filled_before_is_flushed_when_it_gets_its_name(tmp_path, recorded):
    (tmp_path / "filled" / "in").mkdir(parents=True)
    (tmp_path / "filled" / "in" / "a").write_bytes(b"x")
    files.place_folder(tmp_path / "filled", tmp_path / "release")
    _check_flushed(recorded, tmp_path / "release")
