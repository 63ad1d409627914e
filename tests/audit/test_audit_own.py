"""Our own mechanisms through ``publius audit --target``: they hold, and on toy worlds reach their bounds nearly."""

import json
from pathlib import Path

import pytest

import audit.own_mechanisms as own
from publius.audit.claim import Claim
from publius.audit.judge import judge
from publius.audit.target import target_named
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.mechanisms.registry import DOCUMENT_MECHANISMS, MECHANISMS

TIGHT = 0.9
QUICK = ("labels", "field")


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch):
    """Processes of their own find our mechanisms as they find a user's module."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))


def verdict(folder, name, claim, draws):
    path = folder / "claim.toml"
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in claim.items()))
    read = Claim.read(path)
    with target_named(name, read.unit) as target:
        return judge(target, read, draws, seed=3)


@pytest.mark.parametrize("name", [
    pytest.param(each, marks=[] if each in QUICK else pytest.mark.long) for each in own.EXACT
])  # fmt: skip
def test_exact_and_tight(tmp_path, name):
    found = verdict(tmp_path, f"python:audit.own_mechanisms:{name}", own.CLAIMS[name], 1500)
    assert (found.verdict, found.case) == ("exact", None)
    assert TIGHT <= found.lower_bound / found.claimed <= 1 + 1e-9


@pytest.mark.long
@pytest.mark.parametrize("name", ["vickrey", "mahalanobis"])
def test_by_draws(tmp_path, name):
    found = verdict(tmp_path, f"python:audit.own_mechanisms:{name}", own.CLAIMS[name], 60_000)
    assert (found.verdict, found.case) == ("not-refuted", None)


@pytest.mark.parametrize("name", QUICK)
def test_a_smaller_claim_is_refuted(tmp_path, name):
    """The same door with nine tenths of the claim: what is tight says so."""
    claim = dict(own.CLAIMS[name])
    key = "bound" if "bound" in claim else "epsilon"
    claim[key] *= TIGHT
    assert verdict(tmp_path, f"python:audit.own_mechanisms:{name}", claim, 1000).verdict == "refuted"


@pytest.mark.long
def test_a_summary_with_noise_for_fewer_documents_than_count_is_refuted(tmp_path):
    claim = {**own.CLAIMS["counted"], "size": 2}
    found = verdict(tmp_path, "python:audit.own_mechanisms:too_little_noise", claim, 3000)
    assert found.verdict == "refuted"
    assert found.lower_bound > found.claimed == 1


@pytest.mark.long
@pytest.mark.parametrize(("draws", "told"), [(1_500, 0.03), (12_000, 0.6)])
def test_a_summary_by_its_draws_alone(tmp_path, draws, told):
    """An author who is left out: the draws that do not refute the claim would refute ``told`` of it."""
    found = verdict(tmp_path, "python:audit.own_mechanisms:totals", own.AUTHORS, draws)
    assert (found.verdict, found.case) == ("not-refuted", None)
    assert told < found.lower_bound <= found.claimed == 1


def test_a_summary_that_bounds_nobodys_documents_is_refuted_by_its_draws(tmp_path):
    found = verdict(tmp_path, "python:audit.own_mechanisms:everything_counted", own.AUTHORS, 600)
    assert found.verdict == "refuted"
    assert found.lower_bound > 2 * own.AUTHORS["epsilon"]


def test_every_mechanism_of_ours_comes_through_the_door():
    """By name: a new one fails here until it is audited like anybody's.

    In ``own_mechanisms`` it is a `Word`, or for whole documents of a class like `Labels`, whose ``mechanism`` it is, on
    a toy vocabulary where each outcome is reached. It has a claim in ``CLAIMS``, and its name in ``EXACT``.
    """
    kernels = {each.kernel.name for each in vars(own).values() if isinstance(each, own.Word)}
    tried = (getattr(each, "mechanism", None) for each in vars(own).values())
    whole = {each.name for each in tried if type(each) in DOCUMENT_MECHANISMS.values()}
    assert kernels | whole == {*MECHANISMS, *DOCUMENT_MECHANISMS}
    assert {*own.CLAIMS} == {*own.EXACT, "vickrey", "mahalanobis"}
    assert own.field.mechanism.name == RandomizedResponse.name
