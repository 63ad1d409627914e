"""PASS or FAIL, on the interval's safe side, with the reason."""

import pytest

from publius.errors import UsageError
from publius.evaluation.statistics import Interval
from publius.evaluation.summary import Finding, Line
from publius.evaluation.verdict import Limits, judge

FACTS = {"chance": {"author": 0.02, "topic": 0.5}, "floor": 0.04}


def finding(name, task, value, spread=0.05, **extra):
    return Finding(name, task, Interval(value, value - spread, value + spread), 50 * value, 50, extra)


def line(*findings, mechanism="tight", epsilon=1.0, bound=12.3):
    return Line(
        mechanism,
        epsilon,
        bound,
        1,
        0.5,
        1.0,
        2.0,
        {(f.adversary, f.task): f for f in findings},
        None,
        None,
        None,
    )


CLEAN = line(
    finding("svm", "author", 0.44),
    finding("linear", "topic", 1.0, 0.0),
    mechanism="clean",
    epsilon=None,
    bound=None,
)
GOOD = (finding("koppel", "author", 0.05, 0.04), finding("linear", "topic", 0.96, 0.03))


def verdict(one, **limits):
    return judge([CLEAN, one], Limits(**limits), FACTS)


def test_no_limits_no_verdict():
    assert judge([CLEAN, line(*GOOD)], Limits(), FACTS) is None


def test_the_safe_side_of_the_interval_decides():
    assert verdict(line(*GOOD), author_at_most=0.091, topic_at_least=0.929).passed
    assert not verdict(line(*GOOD), author_at_most=0.08).passed  # named 0.05, but up to 0.09
    assert not verdict(line(*GOOD), topic_at_least=0.95).passed  # named 0.96, but perhaps 0.93


def test_the_reason_stands_beside_chance_floor_and_clean():
    text = verdict(line(*GOOD), author_at_most=0.08, topic_at_least=0.9).text
    assert text.startswith("FAIL: tight 1: authors named 0.050, up to 0.090")
    assert "chance 0.020, topic alone 0.040, unprotected 0.440" in text
    assert "topics" not in text  # what holds is no reason


def test_where_the_holder_of_the_originals_is_exact_he_decides():
    """He bounds the wide interval of few texts, and the adversary who was not tried."""
    strong = finding("originals", "author", 0.05, 0.0, exact=True, at_most=0.9)
    wide = finding("koppel", "author", 0.05, 0.2)
    passed = verdict(line(wide, strong), author_at_most=0.06)
    assert passed.passed
    assert "no adversary can do better" in passed.text
    assert not verdict(
        line(wide, finding("originals", "author", 0.3, 0.0, exact=True)), author_at_most=0.26
    ).passed


def test_an_attack_of_his_does_not_pass_for_a_bound():
    attack = finding("originals", "author", 0.04, 0.04, exact=False, at_most=0.7)
    alone = verdict(line(attack), author_at_most=0.5)
    assert not alone.passed
    assert "what the guarantee alone allows" in alone.text
    assert verdict(line(attack), author_at_most=0.7).passed
    assert verdict(line(attack, GOOD[0]), author_at_most=0.5).passed


def test_the_bound():
    assert verdict(line(*GOOD), bound_at_most=12.3).passed
    assert not verdict(line(*GOOD), bound_at_most=12.2).passed
    assert "nothing bounds" in verdict(line(*GOOD, bound=None), bound_at_most=100).text


def test_every_setting_must_hold():
    other = line(*GOOD, epsilon=2.0, bound=24.6)
    found = judge([CLEAN, line(*GOOD), other], Limits(bound_at_most=20), FACTS)
    assert (found.passed, found.failed) == (False, ("tight 2",))
    assert "tight 1:" not in found.text


@pytest.mark.parametrize(
    ("limits", "found"), [({"author_at_most": 0.1}, GOOD[1:]), ({"topic_at_least": 0.1}, GOOD[:1])]
)
def test_what_was_not_measured_is_not_judged(limits, found):
    with pytest.raises(UsageError, match="cannot be judged"):
        verdict(line(*found), **limits)


@pytest.mark.parametrize(
    "limits", [{"author_at_most": 1.1}, {"topic_at_least": -0.1}, {"bound_at_most": float("nan")}]
)
def test_limits_are_checked(limits):
    with pytest.raises(UsageError):
        Limits(**limits)
