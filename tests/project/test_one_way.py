"""Four options on their way from the command to their effect: no call hands one to a room that is not below its own."""

import json

import pytest
from test_house import RANKS

from project.ways import HERE, OPTIONS, calls_with, holds, prepare
from publius.settings import ReleaseSettings
from released import completed


def upwards(calls):
    """Those that leave their room and do not go to a lower one."""
    return [(a, b) for a, b in calls if a[0] != b[0] and RANKS[b[0]] >= RANKS[a[0]]]


EFFECTS = {
    "epsilon": ("noise", "noise_for"), "length": ("privacy", "lifted"), "bound": ("mechanisms", "least_weight"),
    "reference": ("vectors", "load"),
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_only_goes_down(tmp_path, monkeypatch, name):
    wanted, options = OPTIONS[name]
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = []

    def run():
        done.append(completed("obfuscate", "texts.jsonl", *options, "--workers", "1", "--output", "out"))

    calls = calls_with(name, wanted, run)
    assert done[0].returncode == 0, done[0].stderr
    assert EFFECTS[name] in {called for _, called in calls}
    assert upwards(calls) == []


def test_the_ways_of_earlier_are_of_the_same_options():
    earlier = json.loads((HERE / "tests" / "project" / "ways_0_2.json").read_text(encoding="utf-8"))
    assert [*earlier] == [*OPTIONS]
    assert all(calls[0][0].startswith("cli.") for calls in earlier.values())


def test_a_call_upwards_is_seen():
    """The rule bites, and settings that have the value count as the value."""
    assert upwards([(("noise", "a"), ("releases", "b")), (("cli", "a"), ("cli", "b"))]) == [
        (("noise", "a"), ("releases", "b"))
    ]
    assert holds(ReleaseSettings(preserve="words", epsilon=2.5), "epsilon", 2.5)
