"""``publius audit``: this installation, a plug-in's laws, anybody's claim, and the stored court of other tools."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from audit import toys
from benchmarks.court.trials import HERE, trials
from publius.audit import check
from publius.audit.case import Case, replay
from publius.audit.claim import Claim
from publius.audit.judge import judge
from publius.audit.target import target_named
from publius.errors import DataError, UsageError
from publius.noise.randomness import seeded_rng

STORED = json.loads((HERE / "verdicts.json").read_text(encoding="utf-8"))
REFUTED = [trial for trial in trials() if STORED.get(trial.name, {}).get("verdict") == "refuted"]
RECORDED = [trial for trial in REFUTED if (HERE / "cases" / trial.name / "draws.jsonl").exists()]


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch):
    """Processes of their own find the toys as they find a user's module."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))


def claim_file(folder, **more):
    values = {"unit": "word", "epsilon": toys.EPSILON, "vocabulary": toys.WORDS, "vectors": toys.VECTORS, **more}
    path = folder / "claim.toml"
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items() if value is not None))
    return path


def audited(run, folder, name, **more):
    code, out, err = run(
        "audit", "--target", f"python:audit.toys:{name}", "--claim", claim_file(folder, **more), "--draws", 8000,
        "--seed", 5, "--output", folder / "case.json", "--json",
    )  # fmt: skip
    assert out, err
    return code, json.loads(out)


@pytest.mark.parametrize(
    ("name", "verdict", "more"),
    [("sound", "not-refuted", {}), ("sound_bag", "not-refuted", {"unit": "bag"}),
     ("input_passes_more_often", "not-refuted", {"delta": 0.61}), ("sound_mapping", "not-refuted", {"unit": "bag"}),
     ("sound_text", "not-refuted", {"unit": "document", "size": 2})],
)  # fmt: skip
def test_a_sound_target_is_not_refuted(run, tmp_path, name, verdict, more):
    code, found = audited(run, tmp_path, name, **more)
    assert (code, found["verdict"], found["case"]) == (0, verdict, None)
    assert found["lower_bound"] <= found["claimed"]


@pytest.mark.parametrize(
    ("name", "kind", "more"),
    [("scale_off_by_three", "ratio", {}), ("unknown_words_pass", "unknown", {}), ("support_fault", "ratio", {}),
     ("input_passes_more_often", "ratio", {}), ("fixed_seed", "state", {}), ("remembers", "state or ratio", {}),
     ("tells_of_the_word_before", "carry", {}), ("repeats_where_it_is_forked", "forked", {"forked": True}),
     ("bag_that_keeps_a_word", "ratio", {"unit": "bag", "epsilon": 0.5}), ("number_with_holes", "ratio", {}),
     ("text_whose_length_stays", "ratio", {"unit": "document", "epsilon": None, "bound": 1.0, "vectors": None})],
)  # fmt: skip
def test_a_broken_target_is_refuted_and_the_case_shows_it_again(run, tmp_path, name, kind, more):
    code, found = audited(run, tmp_path, name, **more)
    assert (code, found["verdict"]) == (1, "refuted")
    # Two processes that each remember one draw remember the same one now and then: then the ratio refutes.
    assert json.loads(Path(found["case"]).read_text())["kind"] in kind.split(" or ")
    again = ("audit", "--replay", found["case"], "--target", f"python:audit.toys:{name}", "--json")
    tries = 20 if name == "remembers" else 1  # and then a single replay shows nothing, too
    assert any(
        (code, json.loads(out)["verdict"]) == (1, "refuted") for code, out, _ in (run(*again) for _ in range(tries))
    )


@pytest.mark.parametrize(("name", "verdict"), [("sound", "not-refuted"), ("scale_off_by_three", "refuted")])
def test_recorded_outputs_are_judged(run, tmp_path, name, verdict):
    lines = [
        {"input": word, "outputs": [getattr(toys, name)(word, seed) for seed in range(3000)]} for word in toys.WORDS
    ]
    (tmp_path / "draws.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, out, err = run(
        "audit", "--target", f"recorded:{tmp_path / 'draws.jsonl'}", "--claim", claim_file(tmp_path), "--seed", 5,
        "--output", tmp_path / "case.json", "--json",
    )  # fmt: skip
    assert (code, json.loads(out)["verdict"]) == (verdict == "refuted", verdict), err


def test_a_case_does_not_refute_a_sound_target(run, tmp_path):
    place = audited(run, tmp_path, "scale_off_by_three")[1]["case"]
    code, out, _ = run("audit", "--replay", place, "--target", "python:audit.toys:sound")
    assert code == 0
    assert "not-refuted" in out


def test_no_false_alarm_on_eight_seeds(tmp_path):
    claim = Claim.read(claim_file(tmp_path))
    with target_named("python:audit.toys:sound", "word") as target:
        assert [judge(target, claim, 4000, seed).verdict for seed in range(8)] == ["not-refuted"] * 8


def test_where_nothing_answers_there_is_no_verdict(run, tmp_path):
    code, out, err = run(
        "audit", "--target", "python:audit.toys:refuses", "--claim", claim_file(tmp_path), "--draws", 1000
    )
    assert (code, out) == (65, "")
    assert "north" not in err


@pytest.mark.parametrize(
    ("more", "said"),
    [({"unit": "author"}, "unit"), ({"epsilon": -1.0}, "epsilon"), ({"bound": 1.0}, "one of epsilon"), ({"size": 2}, "size 1"),
     ({"epsilom": 1.0}, "epsilom"), ({"vectors": None}, "vectors for an epsilon"), ({"vectors": [[0.0], [1.0]]}, "of one length"),
     ({"vocabulary": ["a", "a"], "vectors": [[0.0], [1.0]]}, "each once"), ({"metric": "taxi"}, "taxi"), ({"delta": 1.0}, "delta")],
)  # fmt: skip
def test_a_claim_that_says_too_little_or_what_cannot_be_is_refused(tmp_path, more, said):
    with pytest.raises(DataError, match=said):
        Claim.read(claim_file(tmp_path, **more))


def test_a_file_that_is_no_case_is_refused(run, tmp_path):
    (tmp_path / "x.json").write_text("{}")
    assert run("audit", "--replay", tmp_path / "x.json", "--target", "python:audit.toys:sound")[0] == 65
    assert run("audit", "--replay", tmp_path / "x.json")[0] == 2
    assert run("audit", "--target", "python:audit.toys:sound")[0] == 2


@pytest.mark.parametrize("trial", RECORDED, ids=lambda trial: trial.name)
def test_the_court_replays_on_draws_that_had_no_part_in_it(trial):
    folder = HERE / "cases" / trial.name
    assert replay(Case.read(folder / "case.json"), f"recorded:{folder / 'draws.jsonl'}").verdict == "refuted"


def test_the_court_has_ten_mechanisms_of_three_tools():
    judged = {(trial.tool, trial.mechanism) for trial in trials() if trial.name in STORED}
    assert len(judged) >= 10
    assert len({tool for tool, _ in judged}) >= 3


def test_this_installation_passes(run):
    code, out, err = run("audit", "--mechanism", "laplace", "--mechanism", "mahalanobis", "--seed", 1, "--json")
    found = json.loads(out)
    assert (code, found["passed"]) == (0, True), err
    assert all(each.passed for each in check.checks())


@pytest.mark.parametrize(
    ("name", "part", "broken"),
    [("entropy", "entropy", bytes), ("generator", "KEYSTREAM", "00"), ("generator", "BITS", "00"),
     ("generator", "system_rng", lambda: seeded_rng(1)),
     ("nearest word", "NearestWords", lambda words: SimpleNamespace(nearest=lambda points: np.zeros(64))),
     ("transport", "earth_movers_distance", lambda *_: 1.0)],
)  # fmt: skip
def test_a_part_that_is_broken_is_found(name, part, broken, monkeypatch):
    monkeypatch.setattr(check, part, broken)
    assert [each.name for each in check.checks() if not each.passed] == [name]


def test_a_plug_in_that_breaks_a_law_is_told(run, tmp_path, monkeypatch):
    (tmp_path / "halved.py").write_text(
        "from publius.mechanisms.kernels.laplace import Laplace\n"
        "class Halved(Laplace):\n"
        "    name = 'halved'\n"
        "    def apply(self, words, noise, *, threads=1):\n"
        "        return super().apply(words, noise * 0.2, threads=threads)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    code, out, _ = run("audit", "--mechanism", "python:halved:Halved", "--seed", 1, "--json")
    assert code == 70
    assert not json.loads(out)["passed"]


def test_errors_are_of_the_kind_that_a_user_can_mend():
    with pytest.raises((DataError, UsageError)):
        target_named("python:audit.toys:nothing", "word")


def test_many_rare_outputs_together_are_a_cell():
    from publius.audit.laws import log_p_pearson

    expected = np.array([1000.0, *[5.0] * 100])
    drawn = np.array([1300.0, *[2.0] * 100])
    assert log_p_pearson(expected, expected) == 0
    assert log_p_pearson(drawn, expected) < -100
    assert log_p_pearson(np.array([1003.0, 2.0]), np.array([1000.0, 5.0])) == 0  # too rare to say anything
