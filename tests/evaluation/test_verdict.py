"""PASS, FAIL, INCONCLUSIVE: one rule, by intervals, at a level divided by limits and settings."""

import msgspec
import numpy as np
import pytest

from publius.errors import UsageError
from publius.evaluation.corpus import Text
from publius.evaluation.records import CLEAR, Attempt, Setting, attempt
from publius.evaluation.report import strongest
from publius.evaluation.verdict import judged, level_of, needed, overall, too_few
from publius.noise.randomness import seeded_rng
from publius.settings import Limits
from publius.statistics import Interval, author_mean

SETTING = Setting("laplace", 10.0)


def made(values, *, setting=SETTING, attacker="letters", task="author", baseline=0.0, judged=True):
    names, found = [f"a{n}" for n in range(len(values))], np.array(values) - baseline
    texts = [Text(n, "", name, name) for n, name in enumerate(names)]
    one = attempt(attacker, ["texts"], task, setting, texts, values, clear=None, judged=judged)
    return msgspec.structs.replace(
        one, advantage=author_mean(found, names, 0.05, (-1.0, 1.0)),
        by_author=msgspec.structs.replace(one.by_author, advantage=tuple(found.tolist())),
    )  # fmt: skip


def hits(count, of):
    return [1.0] * count + [0.0] * (of - count)


CLEAR_HIT = made(hits(80, 100), setting=CLEAR)


@pytest.mark.parametrize(
    ("found", "answer", "reason"), [(1, "PASS", "within"), (40, "FAIL", "beyond"), (12, "INCONCLUSIVE", "between")]
)
def test_the_interval_decides(found, answer, reason):
    (verdict,) = judged([CLEAR_HIT, made(hits(found, 100))], Limits(identified_at_most=0.1))
    assert (verdict.answer, verdict.reason) == (answer, reason)
    assert verdict.checks[0].answer == answer


def test_clear_text_that_passes_shows_nothing():
    (verdict,) = judged([made(hits(1, 100), setting=CLEAR), made(hits(1, 100))], Limits(identified_at_most=0.1))
    assert (verdict.answer, verdict.reason) == ("INCONCLUSIVE", "clear-passes")


def test_a_missed_topic_fails_whatever_clear_text_shows_of_authors():
    limits = Limits(identified_at_most=0.1, topic_at_least=0.5)
    own = [made(hits(1, 100)), made(hits(20, 100), task="topic")]
    (verdict,) = judged([made(hits(1, 100), setting=CLEAR), *own], limits)
    assert (verdict.answer, verdict.reason) == ("FAIL", "beyond")


def test_a_check_says_its_level_and_the_figure_of_the_attempt():
    limits = Limits(identified_at_most=0.2, advantage_at_most=0.2)
    one = msgspec.structs.replace(made(hits(2, 100)), identified=Interval(0.0325, 0.01, 0.05))
    (verdict,) = judged([CLEAR_HIT, one], limits)
    assert {each.level for each in verdict.checks} == {verdict.level} == {0.025}
    one = msgspec.structs.replace(
        one, by_author=msgspec.structs.replace(one.by_author, identified=(0.0325000001,) * 100)
    )
    assert one.interval("identified", 0.05).value == 0.0325


def test_the_strongest_is_at_its_best_which_need_not_be_with_most_told():
    best, topical = made(hits(56, 100)), msgspec.structs.replace(made(hits(48, 100)), told=("texts", "topic"))
    assert strongest([best, topical], SETTING) is best


def test_every_limit_must_hold():
    limits = Limits(identified_at_most=0.2, advantage_at_most=0.2, topic_at_least=0.8)
    own = [made(hits(2, 100)), made(hits(97, 100), task="topic")]
    assert judged([CLEAR_HIT, *own], limits)[0].answer == "PASS"
    low = [made(hits(2, 100)), made(hits(30, 100), task="topic")]
    assert judged([CLEAR_HIT, *low], limits)[0].answer == "FAIL"
    assert judged([CLEAR_HIT, made(hits(2, 100))], limits)[0].reason == "unmeasured"


def test_who_holds_the_originals_stands_beside():
    own = [made(hits(1, 100)), made(hits(100, 100), attacker="worst-case", judged=False)]
    assert judged([CLEAR_HIT, *own], Limits(identified_at_most=0.1))[0].answer == "PASS"


def test_any_other_attacker_counts():
    own = [made(hits(1, 100)), made(hits(40, 100), attacker="informed")]
    (verdict,) = judged([CLEAR_HIT, *own], Limits(identified_at_most=0.1))
    assert verdict.answer == "FAIL"
    assert verdict.checks[0].attacker == "informed (texts)"


def test_an_advantage_counts_from_the_baseline():
    own = made(hits(30, 100), baseline=0.29)
    assert judged([CLEAR_HIT, own], Limits(advantage_at_most=0.2))[0].answer == "PASS"
    assert judged([CLEAR_HIT, own], Limits(identified_at_most=0.2))[0].answer != "PASS"


def test_the_level_is_divided_by_limits_and_settings():
    limits = Limits(identified_at_most=0.1, topic_at_least=0.5)
    assert level_of(limits, 3) == pytest.approx(0.05 / 6)
    assert level_of(Limits(identified_at_most=0.1, tries=2), 3) == pytest.approx(0.05 / 5)
    one = judged([CLEAR_HIT, made(hits(3, 100))], Limits(identified_at_most=0.1))[0]
    several = [made(hits(3, 100), setting=Setting("laplace", e)) for e in (1.0, 2.0, 5.0, 10.0, 20.0)]
    five = judged([CLEAR_HIT, *several], Limits(identified_at_most=0.1))[0]
    assert five.checks[0].found.high > one.checks[0].found.high


def test_a_grid_is_a_calibration():
    grid = [made(hits(n, 200), setting=Setting("laplace", e)) for e, n in ((30.0, 120), (20.0, 2), (10.0, 1))]
    verdicts = judged([made(hits(160, 200), setting=CLEAR), *grid], Limits(identified_at_most=0.1))
    assert [v.answer for v in verdicts] == ["FAIL", "PASS", "PASS"]
    assert overall(verdicts).setting.epsilon == 20.0
    assert overall(verdicts[:1]).answer == "FAIL"


def test_power_is_said_before_anything_is_attacked():
    limits = Limits(advantage_at_most=0.05)
    (verdict,) = too_few(limits, [SETTING], 12)
    assert (verdict.answer, verdict.tested, verdict.needed) == ("INCONCLUSIVE", 12, 72)
    assert too_few(limits, [SETTING], 72) == []
    assert needed(Limits(identified_at_most=0.0), 1) is None
    assert needed(Limits(topic_at_least=0.95), 1) == 72
    assert needed(Limits(identified_at_most=0.9), 1) == 10


def test_limits_are_shares():
    with pytest.raises(UsageError, match="--identified-at-most"):
        Limits(identified_at_most=5)
    with pytest.raises(UsageError, match="--tries"):
        Limits(tries=-1)


def test_a_false_fail_is_rare_with_several_limits_attackers_and_settings():
    """Three limits, three attackers, two settings, all exactly at their limits: at most 5 % of runs say FAIL."""
    rng, failed, runs = seeded_rng(5), 0, 60
    limits = Limits(identified_at_most=0.2, advantage_at_most=0.2, topic_at_least=0.8)
    for _ in range(runs):
        attempts = [made(hits(45, 50), setting=CLEAR)]
        for epsilon in (1.0, 2.0):
            setting = Setting("laplace", epsilon)
            attempts += [
                made((rng.random(50) < 0.2).astype(float), setting=setting, attacker=name) for name in ("a", "b", "c")
            ]
            attempts.append(made((rng.random(50) < 0.8).astype(float), setting=setting, task="topic"))
        failed += any(v.answer == "FAIL" for v in judged(attempts, limits))
    assert failed / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)


def test_verdicts_can_be_computed_again_from_results():
    rng = seeded_rng(2)
    values = rng.random(60)
    first = attempt(
        "letters", ["texts"], "author", SETTING, [Text(n, "", f"a{n // 3}") for n in range(60)], values, clear=None
    )
    again = msgspec.json.decode(msgspec.json.encode(first), type=Attempt)
    assert again == first
    for what in ("identified", "advantage"):
        assert again.interval(what, 0.05).low == pytest.approx(getattr(first, what).low, abs=1e-4)
        assert again.interval(what, 0.05).high == pytest.approx(getattr(first, what).high, abs=1e-4)
