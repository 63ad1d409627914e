"""A command that is stopped: what it says is so, and a second signal does not stop what cleans up."""

import io
import os
import shutil
import signal
import stat
import sys

import pytest

from publius.cli import stopped
from publius.files import folders
from publius.files.placed import STOPPING
from publius.privacy.ledger import Ledger
from released import toy_release


@pytest.fixture(autouse=True)
def _signals_as_before():
    before = {number: signal.getsignal(number) for number in STOPPING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def interrupting(monkeypatch, place, name, when=lambda given: True):
    """Ctrl-C at this step."""
    real = getattr(place, name)

    def interrupted(*given, **named):
        if when(given):
            signal.raise_signal(signal.SIGINT)
        return real(*given, **named)

    monkeypatch.setattr(place, name, interrupted)


CODES = {KeyboardInterrupt: 130, RuntimeError: 70, OSError: 74, MemoryError: 74}
WORDS = ("--epsilon", 1, "--embeddings", "toy", "--length", 20)
COMMANDS = {
    "obfuscate": ("obfuscate", *WORDS),
    "resumable": ("obfuscate", "--resume", *WORDS),
    "summarize": ("summarize", "--author-field", "id", "--reference", "themes", "--epsilon", 1),
}


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_release_that_has_its_name_is_whole_and_not_denied(
    publius, corpus_file, tmp_path, monkeypatch, name
):
    output = tmp_path / "out"
    interrupting(monkeypatch, folders, "open_to_others", lambda given: given[0] == output)
    command, *options = COMMANDS[name]
    code, _, said = publius(command, corpus_file, *options, "--output", output)
    assert code == 130
    assert said.endswith(f"interrupted; '{output}' is complete\n")
    assert (output / "manifest.json").exists()
    assert stat.S_IMODE(output.stat().st_mode) != 0o700
    assert {path.name for path in tmp_path.iterdir()} <= {"corpus.jsonl", "out", "home"}


def test_a_page_that_has_its_name_is_not_denied(publius, tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    interrupting(monkeypatch, os, "replace", lambda given: given[1] == page)
    code, _, said = publius("signoff", toy_release(tmp_path / "release"), "--output", page)
    assert (code, page.exists()) == (130, True)
    assert said.endswith(f"interrupted; '{page}' is complete\n")


@pytest.mark.usefixtures("stored")
def test_before_it_has_its_name_nothing_is_there(publius, corpus_file, tmp_path, monkeypatch):
    interrupting(monkeypatch, folders, "_sync_tree")
    code, _, said = publius("obfuscate", corpus_file, *WORDS, "--output", tmp_path / "out")
    assert (code, said.splitlines()[-1]) == (
        130,
        "publius: interrupted; nothing was released under the final name",
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("ends", [KeyboardInterrupt, RuntimeError, OSError, MemoryError])
@pytest.mark.parametrize("resume", [(), ("--resume",)])
def test_a_debit_is_told_where_nothing_is_released(publius, corpus_file, tmp_path, monkeypatch, resume, ends):
    ledger = Ledger.create(tmp_path / "budget", budget=100)
    spent = Ledger.spend

    def spend(self, charges, **named):
        spent(self, charges, **named)
        if ends is KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)
        raise ends

    monkeypatch.setattr(Ledger, "spend", spend)
    options = (*WORDS, *resume, "--output", tmp_path / "out", "--ledger", ledger.path)
    code, _, said = publius("obfuscate", corpus_file, *options)
    assert (code, ledger.counts()[2] > 0, (tmp_path / "out").exists()) == (CODES[ends], True, False)
    assert "the ledger is debited" in said.lower()


@pytest.mark.usefixtures("stored")
def test_bags_that_were_being_sent_count_as_released(publius, corpus_file, tmp_path, monkeypatch):
    ledger = Ledger.create(tmp_path / "budget", budget=100)
    interrupting(monkeypatch, shutil, "copyfileobj")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    code, _, said = publius("obfuscate", corpus_file, *WORDS, "--output", "-", "--ledger", ledger.path)
    assert code == 130
    assert said.endswith(
        "interrupted; some of the bags may have left, so all of them count as released and stay charged\n"
    )
    assert ledger.counts()[2] > 0


def test_a_second_signal_stops_no_cleaning_up_and_no_exit(monkeypatch):
    cleaned, ended = [], []
    monkeypatch.setattr(os, "_exit", ended.append)
    try:
        with stopped.signals_stop():
            try:
                signal.raise_signal(signal.SIGINT)
            finally:
                signal.raise_signal(signal.SIGINT)
                cleaned.append(True)
    except stopped.Stopped:
        for number in STOPPING:  # as workers are waited for at the exit
            signal.raise_signal(number)
    assert (cleaned, ended) == ([True], [])
    monkeypatch.setattr(stopped, "_PATIENCE", 0.0)
    signal.raise_signal(signal.SIGINT)
    assert ended == [130]


def test_without_a_stop_signals_are_as_before():
    before = [signal.getsignal(number) for number in STOPPING]
    with stopped.signals_stop():
        assert [signal.getsignal(number) for number in STOPPING] != before
    assert [signal.getsignal(number) for number in STOPPING] == before
