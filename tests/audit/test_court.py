"""What `make court` stored: each counterexample is tried again, and the page says what was found."""

import importlib.util
import json
from dataclasses import replace

import pytest

from benchmarks.court.trials import HERE, ROOT, TOOLS, trials
from publius.audit.case import Case, replay
from publius.errors import UsageError

STORED = json.loads((HERE / "verdicts.json").read_text(encoding="utf-8"))
REFUTED = [trial for trial in trials() if STORED.get(trial.name, {}).get("verdict") == "refuted"]
ON_DRAWS = [trial for trial in REFUTED if STORED[trial.name]["kind"] in ("ratio", "unknown")]


NEAR = 0.5
"""Nats: a case that is nearer to its claim is tried with more draws, so that chance decides nothing."""


def case_of(trial):
    return Case.read(HERE / "cases" / trial.name / "case.json")


@pytest.mark.parametrize("trial", ON_DRAWS, ids=lambda trial: trial.name)
def test_a_counterexample_on_recorded_draws(trial):
    """On draws that had no part in finding it, without the tool."""
    assert (
        replay(case_of(trial), f"recorded:{HERE / 'cases' / trial.name / 'draws.jsonl'}").verdict == "refuted"
    )


def test_only_cases_of_two_processes_have_no_recorded_draws():
    """As the page says: the others can be tried without the tool."""
    rest = [trial.name for trial in REFUTED if not (HERE / "cases" / trial.name / "draws.jsonl").exists()]
    assert rest == [trial.name for trial in REFUTED if case_of(trial).kind in ("state", "forked")]


@pytest.mark.long
@pytest.mark.parametrize("trial", REFUTED, ids=lambda trial: trial.name)
def test_a_counterexample_on_the_tool_itself(trial, monkeypatch):
    python = ROOT / TOOLS[trial.tool][1] / "bin" / "python"
    if not python.exists():
        pytest.skip(f"{trial.tool} is not installed in {python.parent.parent.name}: make court")
    monkeypatch.chdir(ROOT)
    case = case_of(trial)
    near = case.kind == "ratio" and case.lower_bound - case.claimed < NEAR
    assert replay(replace(case, draws=(4 if near else 1) * case.draws), trial.command).verdict == "refuted"


def test_a_case_of_a_tool_starts_nothing_by_itself():
    with pytest.raises(UsageError, match="name it yourself"):
        replay(case_of(REFUTED[0]))


def test_every_trial_has_a_verdict_and_every_known_fault_a_trial_that_finds_it_or_a_reason(maker):
    assert [*STORED] == [trial.name for trial in trials()]
    refuted = {trial.name for trial in REFUTED}
    for _, _, name, why in maker._KNOWN:
        assert name in refuted if name else why


def test_ten_mechanisms_of_three_tools_have_verdicts():
    judged = {
        (trial.tool, trial.mechanism.rpartition("/")[2])
        for trial in trials()
        if STORED.get(trial.name, {}).get("verdict") in ("exact", "not-refuted", "refuted")
    }
    assert len(judged) >= 10
    assert len({tool for tool, _ in judged}) >= 3
    assert all(trial.because for trial in REFUTED)
    untried = {name for name, found in STORED.items() if found["verdict"] == "not tried"}
    assert untried == {trial.name for trial in trials() if trial.impossible}


@pytest.fixture
def maker():
    path = ROOT / "docs" / "makers" / "court.py"
    spec = importlib.util.spec_from_file_location("court_page", path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_page_says_what_was_found(maker):
    assert maker.PAGE.read_text(encoding="utf-8") == maker.page()
