"""The power of `publius audit --target`: faults that others might make are found, sound mechanisms are not accused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import audit.foreign_faults as faults
from audit.foreign_sound import SOUND, made
from publius.audit.case import ALPHA, Case, replay
from publius.audit.claim import Claim
from publius.audit.judge import judge
from publius.audit.target import target_named


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch):
    """Processes of their own find the faults as they find a user's module."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))


def read_claim(folder, **values):
    path = folder / "claim.toml"
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items()))
    return Claim.read(path)


def found_in(foreign, folder):
    claim = read_claim(folder, **{"vocabulary": faults.WORDS, **foreign.claim})
    name = f"python:audit.foreign_faults:{foreign.name}"
    with target_named(name, claim.unit) as target:
        return judge(target, claim, foreign.draws, seed=11)


ALIKE = {
    "largest_passes", "no_long_noise", "noise_of_whole_steps", "eight_bits_of_seed", "gaussian", "keeps_capitals",
    "long_texts_average_out",
}  # fmt: skip
"""Each is refuted as three that are quick are: by a ratio of an output itself, of the same unit of claim."""


QUICK = [each for each in faults.FAULTS if not each.starts and each.name not in ALIKE]
FIRST = {(each.kinds, each.claim.get("unit")): each.name for each in reversed(QUICK)}
"""One that is refuted by each kind of case, for each unit of claim."""


def marks(foreign):
    if foreign.name in FIRST.values():
        return ()
    return pytest.mark.broken if foreign in QUICK else pytest.mark.long


@pytest.mark.parametrize(
    "foreign", [pytest.param(each, marks=marks(each), id=each.name) for each in faults.FAULTS]
)
def test_a_fault_is_found_and_replayed(tmp_path, foreign):
    found = found_in(foreign, tmp_path)
    assert found.verdict == "refuted"
    assert found.case.kind in foreign.kinds
    found.case.write(tmp_path / "case.json")
    case = Case.read(tmp_path / "case.json")
    assert case == found.case
    assert replay(case).verdict == "refuted"


def test_there_are_twenty_new_ones():
    assert len(faults.FAULTS) >= 20
    assert len({each.name for each in faults.FAULTS}) == len(faults.FAULTS)
    assert {each.name for each in faults.FAULTS} >= ALIKE


def verdicts(family, folder, draws=3000):
    found = []
    for number, sound in enumerate(family):
        claim = read_claim(folder, **sound.claim)
        with target_named(f"python:audit.foreign_sound:{sound.name}", claim.unit) as target:
            found.append(judge(target, claim, draws, seed=1000 + number).verdict)
    return found


def test_sound_ones_are_not_accused(tmp_path):
    """One of each family; all draws follow from seeds, so the verdicts are always the same."""
    assert "refuted" not in verdicts(SOUND[:8], tmp_path)


@pytest.mark.long
def test_two_hundred_sound_ones(tmp_path):
    """At a level of one in a thousand three or more alarms among two hundred have a probability of 0.001."""
    assert len(SOUND) == 200
    assert ALPHA == 1e-3
    assert verdicts(SOUND, tmp_path).count("refuted") <= 2


@pytest.mark.long
def test_what_a_sound_one_claims_too_little_of_is_found(tmp_path):
    """The same mechanisms with half the claim: the test that does not accuse them would see more."""
    tight = [each for each in SOUND if each.tight and each.claim[each.tight] > 0.6][:8]
    halved = [replace(each, claim={**each.claim, each.tight: each.claim[each.tight] / 2}) for each in tight]
    assert verdicts(halved, tmp_path, 60_000).count("refuted") == len(halved)


def test_the_sound_ones_are_what_their_names_say():
    assert {each.name for each in SOUND} == {name for name in vars(made) if not name.startswith("_")}
