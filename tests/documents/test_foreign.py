"""The process that reads foreign files: it ends with whoever asked, and the next file gets a good one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from publius.documents import foreign
from publius.documents.corpus import BadDocument, open_corpus

BUSY = """
import signal, sys
from publius.documents import foreign
from publius.documents.corpus import open_corpus
if sys.argv[2] == "stopped":
    signal.signal(signal.SIGTERM, lambda *got: sys.exit(3))
process = foreign._taken()
print(process._process.pid, flush=True)
foreign._give_back(process)
list(open_corpus(sys.argv[1], reading_seconds=1000))
"""


def alive(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to look for processes in")
@pytest.mark.parametrize(
    ("way", "number"), [("stopped", signal.SIGTERM), ("ended", signal.SIGTERM), ("killed", signal.SIGKILL)]
)
def test_a_busy_parser_ends_with_whoever_asked(tmp_path, way, number):
    path = tmp_path / "a.eml"
    path.write_bytes(b"Subject: a\n\n" + b"x\n" * (8 * 2**20))
    with subprocess.Popen(
        [sys.executable, "-c", BUSY, str(path), way], stdout=subprocess.PIPE, env=dict(os.environ)
    ) as asker:
        parser = int(asker.stdout.readline())
        time.sleep(0.3)
        asker.send_signal(number)
        asker.wait()
    while alive(parser):  # the whole test would have no end
        time.sleep(0.02)


def test_a_file_that_ends_its_parser_costs_no_other_file(tmp_path, monkeypatch):
    (tmp_path / "a.eml").write_bytes(b"Subject: a\n\nfirst")
    (tmp_path / "b.eml").write_bytes(b"Subject: b\n\n" + b"\n" * (2 * 2**20))
    (tmp_path / "c.eml").write_bytes(b"Subject: c\n\nlast")
    monkeypatch.setattr(foreign, "MEMORY_LIMIT", 16 * 2**20)
    first, bad, last = open_corpus(tmp_path)
    assert (first.text, last.text) == ("a\n\nfirst", "c\n\nlast")
    assert isinstance(bad, BadDocument)


def test_one_process_reads_file_after_file(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.eml").write_bytes(b"Subject: a\n\ntext")
    list(open_corpus(tmp_path))
    (before,) = {each._process.pid for each in foreign._idle[-1:]}
    list(open_corpus(tmp_path))
    assert foreign._idle[-1]._process.pid == before


def test_what_is_not_read_to_the_end_leaves_nothing_behind(tmp_path):
    (tmp_path / "a.mbox").write_bytes(b"From a Mon Jan  1 00:00:00 2024\nSubject: a\n\ntext\n\n" * 20_000)
    found = iter(open_corpus(tmp_path / "a.mbox"))
    assert next(found).text == "a\n\ntext"
    found.close()
    assert next(iter(open_corpus(tmp_path / "a.mbox"))).text == "a\n\ntext"
