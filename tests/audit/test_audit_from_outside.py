"""Our broken versions through the door for anybody's mechanism: each is found, or it is said why no output shows it."""

import json
from pathlib import Path

import pytest

from audit.from_outside import FOUND, NOT_FOUND, claim_of, target_of
from audit.mutants.catalog import catalog
from publius.audit.claim import Claim
from publius.audit.judge import judge
from publius.audit.target import target_named


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch):
    """Processes of their own find the targets as they find a user's module."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))


def verdict(folder, name, *, genuine=False):
    path = folder / "claim.toml"
    claim = claim_of(name, genuine=genuine)
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in claim.items()))
    read = Claim.read(path)
    with target_named(f"python:audit.from_outside:{target_of(name, genuine=genuine)}", read.unit) as target:
        return judge(target, read, FOUND[name].draws, seed=5)


def test_every_broken_version_is_found_or_it_is_said_why_not():
    assert {each.name for each in catalog()} == {*FOUND, *NOT_FOUND}
    assert not {*FOUND} & {*NOT_FOUND}
    assert all(NOT_FOUND.values())
    assert {*FOUND} >= ALIKE | FIRST


ALIKE = {
    *(f"finite: {each}" for each in ("normalizers forgotten in the constant", "constant of the nearest pair",
                                     "weights underflow")),
    *(f"release: {each}" for each in ("unknown words pass", "keeps its document", "text in a repr")),
    *(f"document: {each}" for each in (
        "normalizer forgotten", "no share for every prototype", "probabilities of eight bits",
        "bound stated 2 % too small", "none of these not counted in M", "margin squared", "margin all or nothing",
        "epsilon stated at half", "epsilon stated for a sharp choice", "sums of features instead of means",
        "mean over distinct words", "a word that counts five times",
    )),
}  # fmt: skip
"""Each is refuted as two that are quick are: by the same kind of case, of the same look and unit of claim."""


FIRST = {
    "finite: scale 2 % too large", "release: unknown words allowed to pass",
    "release: vocabulary fitted on the documents", "document: margin not halved",
}  # fmt: skip
"""One of words, of texts, of whole runs and of documents."""


def marks(name, view):
    if name in FIRST:
        return ()
    return pytest.mark.broken if view.quick and name not in ALIKE else pytest.mark.long


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=marks(name, view)) for name, view in FOUND.items()]
)
def test_a_broken_version_is_found(tmp_path, name):
    found = verdict(tmp_path, name)
    assert found.verdict == "refuted"
    assert found.case.kind in FOUND[name].kinds


SEEN_ALIKE = {id(view): name for name, view in FOUND.items()}
"""One of all that are looked at in the same way."""
NOT_CLAIMED = {"release: unknown words allowed to pass", "document: epsilon stated for a sharp choice"}
"""The genuine version refuses to be made, or claims nothing of it."""


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in SEEN_ALIKE.values() if name not in NOT_CLAIMED])
def test_what_it_claims_to_be_is_not_accused(tmp_path, name):
    assert verdict(tmp_path, name, genuine=True).case is None
