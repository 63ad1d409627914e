"""Anybody's mechanism through ``publius audit --target``: the verdict, the case, and its replay."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import audit.target_toys as toys
from publius.audit.judge import judge
from publius.audit.target import Claim, Target
from publius.cli import app
from publius.errors import DataError

KEYS = ["verdict", "confidence", "lower_bound", "claimed", "draws", "case"]
DRAWS = 20_000


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch):
    """Processes of their own find the toys as they find a user's module."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))


def claim_file(folder, **more):
    values = {
        "unit": "word",
        "epsilon": toys.EPSILON,
        "vocabulary": toys.WORDS,
        "vectors": toys.VECTORS,
        **more,
    }
    path = folder / "claim.toml"
    path.write_text(
        "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items() if value is not None)
    )
    return path


def audited(folder, name, **more):
    arguments = [
        "audit",
        "--target",
        f"python:audit.target_toys:{name}",
        "--claim",
        str(claim_file(folder, **more)),
    ]
    return ran(
        [*arguments, "--draws", str(DRAWS), "--seed", "5", "--output", str(folder / "found"), "--json"]
    )


def ran(arguments):
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, json.loads(result.stdout) if result.stdout else None, result


def test_our_exponential_kernel_is_exact_and_tight(tmp_path):
    code, found, _ = audited(tmp_path, "exponential")
    assert (code, list(found), found["verdict"], found["case"]) == (0, KEYS, "exact", None)
    assert 0.9 <= found["lower_bound"] / found["claimed"] <= 1 + 1e-9


@pytest.mark.parametrize(
    ("name", "more"),
    [("laplace", {}), ("sound", {}), ("seeded", {}), ("our_bag", {"unit": "bag"}),
     ("input_passes_more_often", {"delta": 0.61}), ("sound", {"epsilon": None, "bound": 6.0})],
)  # fmt: skip
def test_sound_ones_are_not_refuted(tmp_path, name, more):
    code, found, _ = audited(tmp_path, name, **more)
    assert (code, list(found), found["verdict"], found["case"]) == (0, KEYS, "not-refuted", None)
    assert found["confidence"] == 0.999
    assert found["lower_bound"] <= found["claimed"]


@pytest.mark.parametrize(
    ("name", "kind", "more"),
    [("scale_off_by_three", "ratio", {}), ("unknown_words_pass", "unknown", {}),
     ("input_passes_more_often", "ratio", {}), ("support_fault", "ratio", {}), ("fixed_seed", "state", {}),
     ("bag_that_keeps_a_word", "ratio", {"unit": "bag", "epsilon": 0.5}), ("states_too_much", "exact", {}),
     ("states_too_much", "exact", {"delta": 0.01}), ("states_another_law", "stated", {}),
     ("sound", "ratio", {"epsilon": None, "bound": 0.5}), ("input_passes_more_often", "ratio", {"delta": 0.2})],
)  # fmt: skip
def test_broken_ones_are_refuted_and_replayed(tmp_path, name, kind, more):
    code, found, _ = audited(tmp_path, name, **more)
    assert (code, list(found), found["verdict"]) == (1, KEYS, "refuted")
    case = json.loads(Path(found["case"]).read_text())
    assert case["kind"] == kind
    if kind in ("ratio", "exact"):
        assert found["lower_bound"] > found["claimed"]
    code, again, _ = ran(["audit", "--replay", found["case"], "--json"])
    assert (code, list(again), again["verdict"]) == (1, KEYS, "refuted")


def test_a_case_does_not_refute_a_sound_target(tmp_path):
    """The replay judges: it does not repeat what the case says."""
    for name, sound in (
        ("scale_off_by_three", "sound"),
        ("fixed_seed", "sound"),
        ("states_too_much", "exponential"),
    ):
        place = Path(audited(tmp_path, name)[1]["case"])
        case = json.loads(place.read_text())
        place.write_text(json.dumps({**case, "target": f"python:audit.target_toys:{sound}"}))
        code, again, _ = ran(["audit", "--replay", str(place), "--json"])
        assert (code, again["verdict"], again["case"]) == (0, "not-refuted", None)


def test_no_false_alarm_on_sound_ones(tmp_path):
    """Twenty seeds of draws that the seed determines; one alarm in a thousand audits is allowed."""
    claim = Claim.read(claim_file(tmp_path, epsilon=toys.EPSILON))
    target = Target("python:audit.target_toys:seeded")
    assert [judge(target, claim, 4000, seed).verdict for seed in range(20)] == ["not-refuted"] * 20


def test_a_refusal_is_reported_and_no_fault(tmp_path):
    code, found, result = audited(
        tmp_path, "sound", vocabulary=[*toys.WORDS, "up"], vectors=[*toys.VECTORS, [9.0]]
    )
    assert (code, found["verdict"]) == (0, "not-refuted")
    assert "refused: " in result.stderr
    with pytest.raises(DataError, match="refused every input"):
        judge(Target("python:audit.target_toys:refuses"), Claim.read(claim_file(tmp_path)), 1000, 1)


def test_a_target_in_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "court_toy_here.py").write_text("def same(word):\n    return 'one'\n")
    monkeypatch.chdir(tmp_path)
    arguments = [
        "audit",
        "--target",
        "python:court_toy_here:same",
        "--claim",
        str(claim_file(tmp_path)),
        "--json",
    ]
    assert ran([*arguments, "--draws", "1000"])[0] == 0


@pytest.mark.parametrize(
    ("more", "said"),
    [({"bound": 1.0}, "either epsilon"), ({"epsilon": None}, "either epsilon"), ({"unit": "author"}, "unit"),
     ({"vectors": None}, "needs vectors"), ({"vectors": [[1.0]]}, "one list"), ({"epsilom": 1}, "none of"),
     ({"epsilon": -1}, "from 0"), ({"vocabulary": ["a", "a", "b", "c"]}, "each once"), ({"delta": 1.0}, "below 1")],
)  # fmt: skip
def test_a_claim_that_cannot_be_is_an_error(tmp_path, more, said):
    with pytest.raises(DataError, match=said):
        Claim.read(claim_file(tmp_path, **more))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--target", "python:audit.target_toys:sound"], 2), (["--claim", "x.toml"], 2),
     (["--target", "audit.target_toys:sound", "--claim", "CLAIM"], 2),
     (["--target", "python:audit.target_toys:WORDS", "--claim", "CLAIM"], 2), (["--replay", "CLAIM"], 65)],
)  # fmt: skip
def test_bad_calls_have_their_exit_codes(tmp_path, arguments, code):
    claim = str(claim_file(tmp_path))
    result = ran(["audit", *(claim if each == "CLAIM" else each for each in arguments)])[2]
    assert getattr(result.exception, "exit_code", None) == code
