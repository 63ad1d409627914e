"""The search for epsilon, on curves that are known, and the command."""

import json
import time

import pytest
from typer.testing import CliRunner

from letters import AUTHORS, rows, text, write
from publius.cli import app
from publius.cli.console import progress_shown
from publius.errors import PolicyError, UsageError
from publius.evaluation import calibration, prepare
from publius.evaluation.calibration import Aim, Trial, conclude, search, to_be_had
from publius.evaluation.runner import read_results
from publius.evaluation.statistics import Interval
from publius.evaluation.summary import summarize
from publius.evaluation.verdict import Limits, judge
from publius.vectors.learning.aspects import LearningSettings
from publius.vectors.learning.fit_reference import fit_reference


def trial(epsilon, author, topic, spread=0.05, verdict="PASS"):
    return Trial(
        epsilon, Interval(author, author - spread, author + spread), "a",
        Interval(topic, topic - spread, topic + spread), "t", None, verdict, "said",
    )  # fmt: skip


def steps(author_from, topic_from):
    """Authors are found from one epsilon on, topics from another."""
    return lambda epsilon: trial(
        epsilon, 0.5 if epsilon > author_from else 0.04, 0.97 if epsilon >= topic_from else 0.5
    )


@pytest.mark.parametrize("start", [0.001, 1.0, 300.0])
@pytest.mark.parametrize(("author_from", "topic_from"), [(7.3, 0.31), (0.31, 7.3)])
def test_both_thresholds_are_found_from_anywhere(author_from, topic_from, start):
    aim = Aim(0.08, 0.94)
    trials = search(steps(author_from, topic_from), aim, start=start, precision=1.05)
    found = conclude("tight", 40, trials, aim)
    assert author_from / 1.05 <= found.author_epsilon <= author_from
    assert topic_from <= found.topic_epsilon <= topic_from * 1.05
    assert found.both == (author_from > topic_from)
    assert found.epsilon == (found.topic_epsilon if found.both else None)


def test_each_epsilon_is_measured_once():
    seen = []
    measure = steps(3.0, 2.0)
    search(lambda epsilon: seen.append(epsilon) or measure(epsilon), Aim(0.08, 0.94), start=1.0)
    assert len(seen) == len(set(seen))


def test_nothing_to_be_had():
    aim = Aim(0.01, 0.94)
    found = conclude("tight", 40, search(steps(3.0, 2.0), aim, start=1.0), aim)
    assert found.author_epsilon is None
    assert not found.both


@pytest.mark.parametrize("refused", [(0.9, 1.1), (1.5, 3.5), (0.1, 0.45)])
def test_what_a_mechanism_refuses_is_stepped_over(refused):
    """A mechanism does not exist for a range of epsilons; the search goes round it and ends."""
    measured = steps(7.3, 0.31)
    asked = []

    def measure(epsilon):
        asked.append(epsilon)
        if refused[0] < epsilon < refused[1]:
            raise PolicyError("not at this epsilon")
        return measured(epsilon)

    aim = Aim(0.08, 0.94)
    found = conclude("tight", 40, search(measure, aim, start=1.0, precision=1.1), aim)
    assert found.author_epsilon == pytest.approx(7.3, rel=0.11)
    assert found.both
    assert len(asked) == len(set(asked)) < 40
    assert not any(refused[0] < trial.epsilon < refused[1] for trial in found.trials)


def test_a_mechanism_that_refuses_everything():
    def measure(epsilon):
        raise PolicyError("never")

    aim = Aim(0.08, 0.94)
    assert search(measure, aim, start=1.0) == ()
    assert to_be_had([conclude("tight", 40, (), aim)], aim).startswith("Nothing can be had")


def test_it_ends_with_what_can_be_had():
    aim = Aim(0.08, 0.94)
    good = conclude("tight", 40, [trial(1, 0.05, 0.95)], aim)
    poor = conclude("laplace", 40, [trial(1, 0.05, 0.6), trial(2, 0.2, 0.8)], aim)
    bad = conclude("exponential", 40, [trial(1, 0.3, 0.95)], aim)
    assert to_be_had([poor, good, bad], aim).startswith("What can be had: tight, N = 40, epsilon 1,")
    assert "the most topic: laplace, N = 40, epsilon 1," in to_be_had([poor, bad], aim)
    assert to_be_had([bad], aim).startswith("Authors cannot be hidden")


@pytest.mark.parametrize(("answers", "chosen"), [(["FAIL", "PASS"], 2), (["NO EVIDENCE"] * 2, None)])
def test_what_is_had_is_what_passes(answers, chosen):
    """Figures within the limits make a candidate; the smallest that passes is taken, or none."""
    aim = Aim(0.08, 0.94)
    trials = [trial(e, 0.05, 0.95, verdict=answer) for e, answer in enumerate(answers, 1)]
    found = conclude("tight", 40, trials, aim)
    assert (found.epsilon, found.both) == (chosen, chosen is not None)
    assert (found.author_epsilon, found.topic_epsilon, len(found.candidates)) == (2, 1, 2)
    begins = "What can be had: tight, N = 40, epsilon 2," if chosen else "Nothing is shown to hold both."
    assert to_be_had([found], aim).startswith(begins)
    assert to_be_had([found], aim).endswith("The verdict on it: said.")


def test_contradictions_are_read_cautiously():
    aim = Aim(0.08, 0.9)
    found = conclude("tight", 40, [trial(1, 0.05, 0.95), trial(2, 0.2, 0.8), trial(4, 0.05, 0.95)], aim)
    assert (found.author_epsilon, found.topic_epsilon, found.both) == (1, 4, False)


def test_cautious_takes_the_limits():
    assert Aim(0.08, 0.94).hides(trial(1, 0.05, 0.96))
    assert not Aim(0.08, 0.94, cautious=True).hides(trial(1, 0.05, 0.96))
    assert not Aim(0.08, 0.94, cautious=True).keeps(trial(1, 0.05, 0.96))


@pytest.mark.parametrize("shares", [(0, 0.9), (0.1, 1.1), (float("nan"), 0.9)])
def test_shares_are_checked(shares):
    with pytest.raises(UsageError, match="shares between 0 and 1"):
        Aim(*shares)


def test_command(tmp_path, stored, monkeypatch):
    """With an adversary who looks for neither authors nor topics, as there are among those of the default."""

    def with_another(results):
        lines = summarize(results)
        for line in lines:
            line.findings["retrieval", "neighbours"] = line.findings["koppel", "author"]
        return lines

    monkeypatch.setattr(calibration, "summarize", with_another)
    pytest.importorskip("jinja2", reason="extra evaluation is not installed")
    corpus = write(tmp_path / "corpus.jsonl", rows())
    result = CliRunner().invoke(app, [
        "calibrate", str(corpus), "--mechanism", "exponential", "--author-at-most", "0.9", "--topic-at-least", "0.7",
        "--embeddings", stored, "--adversaries", "koppel,likelihood", "--repeats", "2", "--length", "60,shortest",
        "--precision", "2", "--workers", "1", "--seed", "1", "--output", str(tmp_path / "out"), "--json",
    ])  # fmt: skip
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [each["size"] for each in found["lengths"]] == [60, 120]
    for each in found["lengths"]:
        hides = [t["epsilon"] for t in each["trials"] if t["author"]["value"] <= 0.9]
        assert each["author_epsilon"] in [None, *hides]
    assert "tell something of them" in found["warning"]
    assert (tmp_path / "out" / "length-60" / "report.html").exists()


@pytest.mark.parametrize("known", [True, False])
def test_texts_of_nobody_known_are_said_to_be(tmp_path, stored, known):
    pytest.importorskip("jinja2", reason="extra evaluation is not installed")
    given = [{"author": row["author"]} if known else {} for row in rows()]
    texts = [{"id": row["id"], "text": row["text"], "topic": row["topic"]} for row in rows()]
    corpus = write(tmp_path / "corpus.jsonl", [a | b for a, b in zip(texts, given, strict=True)])
    result = CliRunner().invoke(app, [
        "calibrate", str(corpus), "--mechanism", "exponential", "--author-at-most", "0.9", "--topic-at-least", "0.7",
        "--embeddings", stored, "--adversaries", "originals,likelihood", "--repeats", "1", "--length", "60",
        "--precision", "2", "--workers", "1", "--seed", "1", "--output", str(tmp_path / "out"),
    ])  # fmt: skip
    assert result.exit_code == 0, result.output
    assert ("Nobody said who wrote these texts" in result.stdout) is not known


def test_who_names_no_authors_is_refused_before_anything_is_protected(tmp_path, stored):
    corpus = write(tmp_path / "corpus.jsonl", rows())
    result = CliRunner().invoke(app, [
        "calibrate", str(corpus), "--mechanism", "exponential", "--author-at-most", "0.9", "--topic-at-least", "0.7",
        "--embeddings", stored, "--adversaries", "originals", "--repeats", "2", "--length", "60", "--workers", "1",
        "--output", str(tmp_path / "out"), "--json",
    ])  # fmt: skip
    assert "an adversary for authors and a classifier for topics" in str(result.exception)
    assert not list((tmp_path / "out").glob("*/cells/exponential-*"))


@pytest.mark.parametrize(
    ("asked", "repeats"),
    [
        ((), 5),
        (("--preset", "quick"), 1),
        (("--repeats", "3"), 3),
        (("--preset", "quick", "--repeats", "3"), 3),
    ],
)
def test_each_epsilon_is_tried_as_often_as_the_preset_says(tmp_path, stored, monkeypatch, asked, repeats):
    def seen(corpus, request, *rest):
        raise InterruptedError(request.repeats)

    monkeypatch.setattr(prepare, "prepared", seen)
    call = [
        "calibrate",
        str(tmp_path),
        "--embeddings",
        stored,
        "--author-at-most",
        "0.9",
        "--topic-at-least",
        "0.7",
    ]
    found = CliRunner().invoke(app, [*call, *asked]).exception
    assert found.args == (repeats,)


def test_document_mechanisms_are_tried_at_each_bound(tmp_path, stored, undrawn):
    """With a reference it ends with a mechanism, a bound, and how many authors and topics were named there."""
    pytest.importorskip("jinja2", reason="extra evaluation is not installed")
    public = [
        (text(a, 100 + n).split(), "sea" if a in ("ada", "ben") else "court")
        for a in AUTHORS
        for n in range(15)
    ]
    fit_reference(public, name="toy", settings=LearningSettings(prototypes=2)).save(tmp_path / "reference")
    corpus = write(tmp_path / "corpus.jsonl", rows())
    call = [
        "calibrate", str(corpus), "--mechanism", "prototype,position", "--author-at-most", "0.9", "--topic-at-least",
        "0.6", "--embeddings", stored, "--reference", str(tmp_path / "reference"), "--adversaries",
        "likelihood,informed,originals", "--repeats", "2", "--workers", "1", "--seed", "1", "--bound", "7,3",
    ]  # fmt: skip
    result = CliRunner().invoke(app, [*call, "--output", str(tmp_path / "out"), "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [each["mechanism"] for each in found["lengths"]] == ["prototype", "position"]
    for each in found["lengths"]:
        assert [trial["epsilon"] for trial in each["trials"]] == [3.0, 7.0]
        assert each["author_epsilon"] == 7.0
        assert each["topic_epsilon"] is not None
    # Four settings on the texts of four authors, as the verdict of an evaluation would say.
    assert (found["both"], found["bound"]) == (False, None)
    for each in found["lengths"]:
        results = read_results(tmp_path / "out" / f"{each['mechanism']}-length-40")
        clean, *lines = sorted(summarize(results), key=lambda line: line.bound or 0)
        for made, line in zip(each["trials"], lines, strict=True):
            verdict = judge([clean, line], Limits(0.9, 0.6, tries=4), results.facts)
            assert (made["verdict"], made["reason"]) == (verdict.answer, verdict.text)
            assert made["verdict"] == "NO EVIDENCE"
    told = CliRunner().invoke(app, [*call, "--output", str(tmp_path / "out")])
    assert "are candidates, and none of them passes" in told.stdout
    assert "Nothing is shown to hold both. The nearest candidate: p" in told.stdout
    assert "only 4 texts were attacked" in told.stdout
    assert "4 settings were tried on these texts" in told.stdout


def test_the_time_left_is_that_of_the_evaluation_at_hand(monkeypatch, caplog):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with progress_shown(quiet=False) as progress:
        for part, done, seconds in (
            ("clean", 1, 100), ("first", 2, 100),  # an evaluation that starts from nothing
            ("found from before", 1, 0), ("second", 2, 10), ("third", 3, 10),  # the next one of the search
            ("other", 1, 50), ("last", 2, 20),
        ):  # fmt: skip
            now[0] += seconds
            progress(part, done, 4)
    said = [line.partition(", ") for line in caplog.messages]
    assert [(done, left) for done, _, left in said] == [
        ("1/4 clean", "about 5 min left"),
        ("2/4 first", "about 3 min left"),
        ("1/4 found from before", ""),
        ("2/4 second", "about 20 s left"),
        ("3/4 third", "about 10 s left"),
        ("1/4 other", ""),
        ("2/4 last", "about 40 s left"),
    ]
