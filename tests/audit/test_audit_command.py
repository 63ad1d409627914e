"""``publius audit``: its table, its JSON, its exit code, its records."""

import itertools
import json
import math
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import audit.fences as fences
import audit.hostile_inputs as hostile_inputs
import audit.neighboring_worlds as neighboring_worlds
import audit.observable as observable
import audit.pieces as harness
import publius.audit.levels as levels
import publius.audit.parts as pieces
import publius.audit.runs as runs
import publius.audit.timing as timing
from audit.mutants.catalog import FAMILIES, check_mutants
from audit.mutants.noises import noise_mutants
from fences import Fence
from publius.audit.implementation import GENUINE
from publius.audit.levels import FULL, QUICK, TESTS, level_named
from publius.audit.outcomes import LARGEST_FAMILY
from publius.audit.report import cell, kind
from publius.audit.runs import AuditRequest, run_audit
from publius.cli import app
from publius.errors import DataError, UsageError

SMALL = replace(
    TESTS,
    cells=10**5,
    configurations=4,
    words=200_000,
    draws=5000,
    draws_in_line=5000,
    dimensions=(1, 2, 10),
    ratio_words=8_000_000,
    search_points=500,
    kernel_points=100,
    streams=48,
    documents=100,
    own_points=50,
    timing_repeats=8,
    power_seeds=0,
    clean_runs=0,
)
REQUEST = AuditRequest(SMALL, "toy", "laplace", 2.0, 3)


def made_small(patch):
    """The quick level made small, on a made clock.

    Without the mutants, and of what can be seen in one format alone and of four pairs of worlds, as of hostile files:
    all have tests of their own.
    """
    ticks = itertools.count()
    patch.setattr(levels, "LEVELS", {"quick": SMALL})
    patch.setattr(harness, "FAMILIES", {})
    patch.setattr(observable, "ways", lambda full: [observable.Way("one process", "jsonl")])
    patch.setattr(observable, "pairs", lambda: neighboring_worlds.pairs()[:4])
    patch.setattr(observable, "check_formats", lambda: hostile_inputs.check_formats("csv"))
    patch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: float(next(ticks))))


@pytest.fixture
def small(monkeypatch):
    made_small(monkeypatch)


@pytest.fixture(scope="module")
def finished(embeddings, tmp_path_factory):
    """The folder of one audit in one go, with seed 3."""
    home = tmp_path_factory.mktemp("audited")
    with pytest.MonkeyPatch.context() as patch:
        made_small(patch)
        patch.setenv("PUBLIUS_HOME", str(home))
        embeddings.save(home / "embeddings" / "toy")
        assert run_audit(REQUEST, home / "a").passed
    return home / "a"


@pytest.fixture
def again(finished, small, stored, tmp_path):
    """A copy of it: whatever is recorded there is not run again."""
    return Path(shutil.copytree(finished, tmp_path / "a"))


def run(*arguments):
    return CliRunner().invoke(app, ["audit", "--epsilon", "2", *map(str, arguments)])


def test_json_is_one_object_with_the_promised_keys(again):
    result = run("--embeddings", "toy", "--seed", 3, "--json", "--output", again)
    report = json.loads(result.stdout)
    assert result.exit_code == 0
    assert {"passed", "checks", "exact_cells", "worst_excess", "tightness", "mutants"} <= set(report)
    assert all({"name", "samples", "statistic", "threshold", "passed"} == set(c) for c in report["checks"])
    assert report["passed"] is True
    assert report["exact_cells"] >= 10**5
    assert report["worst_excess"] <= 1e-9
    assert 0.99 <= report["tightness"] <= 1
    assert report["seed"] == 3


def test_table_and_record(small, stored, home, monkeypatch):
    """With a fresh seed, in the store; of the noise's pieces alone."""
    monkeypatch.setattr(
        runs, "pieces", lambda *asked: [p for p in pieces.pieces(*asked) if p.name.startswith("noise")]
    )
    result = run("--embeddings", stored)
    header = result.stdout.splitlines()[0].split()
    assert header == ["check", "samples", "statistic", "threshold", "verdict"]
    assert "FAILED" not in result.stdout
    recorded = list((home / "audits").glob("*/audit.json"))
    assert len(recorded) == 1
    seed = json.loads(recorded[0].read_text())["seed"]
    assert f"seed {seed}," in result.stdout


def test_a_failing_check_ends_with_exit_code_70(again, monkeypatch):
    broken = next(mutant for mutant in noise_mutants() if "Gaussian" in mutant.name).subject
    monkeypatch.setattr(pieces, "GENUINE", broken)
    for piece in again.glob("noise-*.json"):
        piece.unlink()
    result = run("--embeddings", "toy", "--seed", 3, "--output", again)
    assert result.exit_code == 70
    _, end = result.stdout.split("FAILED: do not release")  # the end of a log says what it was
    failed = [line for line in end.splitlines() if "FAILED" in line]
    assert any("noise n=10: radius (Kolmogorov-Smirnov)" in line for line in failed)
    assert "passed" not in end


def test_a_broken_version_that_escapes_is_named(small, stored, monkeypatch):
    """It may not be a fault of the installation: whoever reports it can say which."""
    piece = pieces.Piece("mutants", lambda context: check_mutants("noise", context.key))
    monkeypatch.setattr(runs, "pieces", lambda *asked: [piece])
    monkeypatch.setitem(
        FAMILIES, "noise", lambda: [noise_mutants()[0], replace(noise_mutants()[1], subject=GENUINE)]
    )
    result = run("--embeddings", stored)
    assert result.exit_code == 70
    assert "broken version not caught: noise: scale 2 % too large" in result.stderr
    assert "too small" not in result.stderr


REPEATED = ("noise-*", "words-*", "vectors", "release", "search")
"""What takes no time and draws from the seed."""


def test_an_interrupted_audit_goes_on_and_finds_what_one_in_one_go_finds(finished, small, stored, tmp_path):
    def interrupt(name, done, total):
        if done == total - 3:
            raise KeyboardInterrupt

    shutil.copytree(finished, tmp_path / "a")
    for pattern in REPEATED:
        for path in (tmp_path / "a").glob(f"{pattern}.json"):
            path.unlink()
    with pytest.raises(KeyboardInterrupt):
        run_audit(REQUEST, tmp_path / "a", interrupt)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "a").glob("*-*.json")}
    assert any(path.stat().st_mtime_ns > (finished / path.name).stat().st_mtime_ns for path in kept)
    seen = []
    audit = run_audit(REQUEST, tmp_path / "a", lambda name, done, total: seen.append(total - done))
    assert seen == [2, 1, 0]
    assert all(path.stat().st_mtime_ns == time for path, time in kept.items())
    assert audit.as_json()["checks"] == json.loads((finished / "audit.json").read_bytes())["checks"]


def test_results_of_another_audit_are_not_mixed(again):
    with pytest.raises(DataError, match="another audit"):
        run_audit(replace(REQUEST, seed=6), again)


def test_page_states_machine_seed_and_every_check(again, tmp_path):
    page = tmp_path / "docs" / "audit.md"
    result = run("--embeddings", "toy", "--seed", 3, "--output", again, "--page", page)
    text = page.read_text()
    report = json.loads((again / "audit.json").read_text())
    assert result.exit_code == 0
    assert "--seed 3" in text
    assert report["machine"]["numpy"] in text
    largest: dict[tuple[str, float], float] = {}
    for check in report["checks"]:
        found = kind(check["name"]), check["threshold"]
        largest[found] = max(check["statistic"], largest.get(found, -math.inf))
    groups = Counter(
        name.partition(":")[0] for (name, threshold), most in largest.items() if most == threshold == 0
    )
    assert max(groups.values()) > 1
    assert all(f"| {group} | {kinds} |" in text for group, kinds in groups.items())
    others = [name for (name, threshold), most in largest.items() if not most == threshold == 0]
    assert others
    assert all(name.replace("|", "\\|") in text for name in others)


def test_values_in_a_table():
    assert cell({"a": 1000, "b, c": -0.0}) == "a: 1,000; b, c: 0"
    assert (cell(True), cell(0.12345), cell("text")) == ("passed", "0.1235", "text")


def test_unknown_level_is_refused():
    with pytest.raises(UsageError, match="quick, full"):
        level_named("thorough")


@pytest.mark.parametrize("level", [QUICK, FULL])
def test_the_family_of_tests_is_as_large_as_its_level_allows(level):
    """ALPHA shares the family's level among at most LARGEST_FAMILY statistical checks."""
    checks = 14 * (len(level.dimensions) + 1) + level.configurations + 10
    assert checks <= LARGEST_FAMILY


def test_full_sizes_are_those_of_the_goals():
    assert FULL.cells >= 10**9
    assert FULL.words >= 10**9
    assert FULL.configurations == 40
    assert FULL.draws >= 10**6
    assert FULL.dimensions == (1, 2, 10, 50, 100, 300)
    assert FULL.search_points + FULL.search_points // 10 >= 110_000
    assert FULL.kernel_points >= 200_000
    assert FULL.streams >= 10_000
    assert FULL.clean_runs >= 200


def test_the_full_level_of_a_checkout_tries_the_fences(monkeypatch):
    assert [piece.name for piece in harness.pieces(FULL)].count("fences") == 1
    fence = next(each for each in fences.all_fences() if each.row == 4)
    found = fences.check_fences([fence, Fence(4, "that never fails", lambda folder: None, fence.broken)])
    assert [check.passed for check in found.checks] == [True, False]
    assert found.figures["mutants"] == {"total": 2, "caught": 1}
    assert found.checks[0].name == f"fence 4: {fence.name}"
