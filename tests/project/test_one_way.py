"""Four options on their way from the command to their effect: no call hands one to a room that is not below its own."""

import json
import sys
from pathlib import Path

import pytest
from test_house import RANKS

from publius.settings import ReleaseSettings
from references import TOPICS, fitted
from released import completed, toy_vectors
from source_imports import PACKAGE
from toy import sentence

HOLDERS = {"ReleaseSettings", "WordRelease", "DocumentRelease", "MechanismSettings", "TextSettings"}


def holds(value, name, wanted):
    """Whether an argument is the option's value, settings that have it, or what they were made of."""
    if type(value) is type(wanted):
        return value == wanted
    if type(value).__name__ in HOLDERS:
        return getattr(value, name, None) == wanted
    return isinstance(value, dict) and value.get(name) == wanted


def place(frame):
    """Room and function of a frame of the package; None of any other."""
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(PACKAGE):
        return None
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py"), frame.f_code.co_name


def calls_with(name, wanted, run):
    """Each call of ``run`` that hands the value over: the caller's room and function, and those of the called."""
    found = []

    def look(frame, event, _):
        if event != "call" or (called := place(frame)) is None:
            return
        code = frame.f_code
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 8)]
        if not any(holds(frame.f_locals.get(each), name, wanted) for each in arguments):
            return
        above = frame.f_back
        while above is not None and place(above) is None:
            above = above.f_back
        if above is not None:
            found.append((place(above), called))

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(before)
    return list(dict.fromkeys(found))


def upwards(calls):
    """Those that leave their room and do not go to a lower one."""
    return [(a, b) for a, b in calls if a[0] != b[0] and RANKS[b[0]] >= RANKS[a[0]]]


@pytest.fixture
def files(tmp_path):
    texts = [sentence(seed, 40) for seed in range(2)] + [" ".join(words) for words in TOPICS.values()]
    rows = [{"id": str(number), "text": text} for number, text in enumerate(texts)]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    toy_vectors().save(tmp_path / "toy")
    fitted().save(tmp_path / "reference")
    return tmp_path


WORDS = ("--preserve", "words", "--epsilon", "3.1875", "--length", "7", "--embeddings", "toy")
TOPIC = ("--preserve", "topic", "--reference", "reference", "--bound", "6.4375")


@pytest.mark.parametrize(
    ("name", "wanted", "options", "effect"),
    [("epsilon", 3.1875, WORDS, ("noise", "noise_for")), ("length", 7, WORDS, ("privacy", "lifted")),
     ("bound", 6.4375, TOPIC, ("mechanisms", "least_weight")), ("reference", "reference", TOPIC, ("vectors", "load"))],
)  # fmt: skip
def test_an_option_only_goes_down(files, monkeypatch, name, wanted, options, effect):
    monkeypatch.chdir(files)
    done = []

    def run():
        done.append(completed("obfuscate", "texts.jsonl", *options, "--workers", "1", "--output", "out"))

    calls = calls_with(name, wanted, run)
    assert done[0].returncode == 0, done[0].stderr
    assert effect in {called for _, called in calls}
    assert upwards(calls) == []


def test_a_call_upwards_is_seen():
    """The rule bites, and settings that have the value count as the value."""
    assert upwards([(("noise", "a"), ("releases", "b")), (("cli", "a"), ("cli", "b"))]) == [
        (("noise", "a"), ("releases", "b"))
    ]
    assert holds(ReleaseSettings(preserve="words", epsilon=2.5), "epsilon", 2.5)
