"""PASS, FAIL or NO EVIDENCE: what a release adds to what is known anyway, with an interval over authors."""

import re
from dataclasses import replace

import numpy as np
import pytest

from publius.errors import DataError, UsageError
from publius.evaluation.statistics import Interval
from publius.evaluation.summary import AdversaryResult, SummaryLine
from publius.evaluation.verdict import ADDS, FEWEST_JUDGED, NARROW, Limits, authors_of, judge

AUTHORS, EACH = 199, 10
BLIND = 1 / 12


def facts(texts=AUTHORS * EACH, anyway=BLIND):
    numbers = [place % AUTHORS for place in range(texts)]
    return {
        "chance": {"author": BLIND},
        "floor": anyway,
        "anyway": [anyway] * texts,
        "author_numbers": numbers,
    }


FACTS = facts()


def named(share, texts=AUTHORS * EACH):
    """Hits, of each author's texts about the same share."""
    place = np.arange(texts)
    return np.floor((place + 1) * share) - np.floor(place * share)


def finding(name, shares, task="author", blind=BLIND, spread=0.03, **extra):
    value = float(np.mean(shares))
    interval = Interval(value, value - spread, value + spread)
    kept = (tuple(shares), (blind,) * len(shares)) if task == "author" else (tuple(shares), ())
    return AdversaryResult(name, task, interval, value * len(shares), len(shares), extra, *kept)


def line(*findings, mechanism="tight", epsilon=1.0, bound=12.3):
    found = {(each.adversary, each.task): each for each in findings}
    return SummaryLine(mechanism, epsilon, bound, 1, 0.5, 1.0, 2.0, found, None, None, None)


def clean(share, **more):
    everything = finding("originals", np.ones(AUTHORS * EACH), exact=True)  # he does not count here
    return line(finding("svm", named(share, **more)), everything, mechanism="clean", epsilon=None, bound=None)


CLEAN = clean(0.5)


def answer(*findings, unprotected=CLEAN, given=FACTS, **limits):
    found = judge([unprotected, line(*findings)], Limits(**(limits or {"adds_at_most": 0.05})), given)
    assert found.text.startswith(f"{found.answer}: ")
    return found.answer


def test_no_limits_no_verdict():
    assert judge([CLEAN, line(finding("koppel", named(0.1)))], Limits(), FACTS) is None


def test_what_is_judged_is_what_the_release_adds():
    """The same share is a PASS where the topic tells it anyway, and a FAIL where it does not."""
    shares = named(0.26)
    assert answer(finding("koppel", shares, blind=0.26), given=facts(anyway=0.26)) == "PASS"
    assert answer(finding("koppel", shares)) == "FAIL"
    assert answer(finding("koppel", named(BLIND + 0.05))) == "NO EVIDENCE"  # on the limit: neither is shown


def judged(*findings, **limits):
    return judge([CLEAN, line(*findings)], Limits(**limits), FACTS)


@pytest.mark.parametrize("beyond", [0.0, 0.01, 0.02, 0.025, 0.03])
def test_a_pass_says_how_near_it_is(beyond):
    """4.8 of 5.0 points and 0.1 of them were the same PASS to whoever signs."""
    found = judged(finding("koppel", named(BLIND + beyond)), adds_at_most=0.05)
    assert found.answer == "PASS"
    high = float(re.search(r"to ([\d.]+) allowing", found.text)[1])  # as it is printed: rounded up
    left, allowed = (
        float(each) for each in re.search(r"PASS: ([\d.]+) of the ([\d.]+) points", found.room).groups()
    )
    assert allowed == 5.0
    assert left == pytest.approx(100 * (0.05 - max(high, 0.0)), abs=1e-6)
    assert found.room.startswith("A narrow PASS") is (left <= 100 * NARROW * 0.05)


def test_the_narrow_and_the_wide_both_occur_and_nothing_else_has_room():
    narrow, wide = (
        judged(finding("koppel", named(BLIND + each)), adds_at_most=0.05) for each in (0.025, 0.0)
    )
    assert (narrow.room.split(":")[0], wide.room.split(":")[0]) == ("A narrow PASS", "Not a narrow PASS")
    several = judge(
        [CLEAN, *(line(finding("koppel", named(BLIND + each)), epsilon=1 + each) for each in (0.0, 0.025, 0.01))],
        Limits(adds_at_most=0.06), FACTS,
    )  # fmt: skip
    assert several.answer == "PASS"
    alone = judge(
        [CLEAN, line(finding("koppel", named(BLIND + 0.025)))], Limits(adds_at_most=0.06, tries=3), FACTS
    )
    assert several.room == alone.room, "of several the nearest is told"
    for share in (0.05, 0.5):
        assert judged(finding("koppel", named(BLIND + share)), adds_at_most=0.05).room is None


def test_who_set_the_limit_is_said_and_the_proposal_is_told_from_a_choice():
    found = finding("koppel", named(BLIND))
    proposed, chosen = judged(found, adds_at_most=ADDS), judged(found, adds_at_most=0.07)
    absolute = judged(found, author_at_most=0.35)
    assert proposed.set_by == (
        "The program proposes 5.0 points, and nobody chose another limit; no law or authority set it"
    )
    assert chosen.set_by.startswith(
        "The limit of 7.0 points was chosen by whoever had the test made; the program "
    )
    assert (
        "proposes 5.0 points beyond what is named without the rows. No law or authority set either"
        in chosen.set_by
    )
    assert "The limit of 35.0 % of the authors in all was chosen" in absolute.set_by
    assert judged(finding("svm", named(0.4), task="topic"), topic_at_least=0.3).set_by is None


def test_an_absolute_limit_can_be_asked_for_instead():
    shares = named(0.26)
    assert answer(finding("koppel", shares), author_at_most=0.35) == "PASS"
    assert answer(finding("koppel", shares), author_at_most=0.15) == "FAIL"
    assert answer(finding("koppel", shares), author_at_most=0.27) == "NO EVIDENCE"


@pytest.mark.parametrize("share", [0.09, 0.11, 0.6])
def test_what_clear_text_passes_shows_nothing_not_even_a_failure(share):
    """The holder of the originals names every author of clear text, and does not count there."""
    weak = clean(0.11)
    assert answer(finding("koppel", named(share)), unprotected=weak) == "NO EVIDENCE"
    unsure = clean(0.14)  # 0.06 beyond the topic, perhaps less than the limit
    assert answer(finding("koppel", named(share)), unprotected=unsure) == "NO EVIDENCE"
    nobody = line(mechanism="clean", epsilon=None, bound=None)
    assert answer(finding("koppel", named(share)), unprotected=nobody) == "NO EVIDENCE"


def test_a_limit_that_nothing_could_exceed_shows_nothing():
    one = facts(anyway=1.0)  # one author a topic
    assert answer(finding("koppel", named(1.0), blind=1.0), given=one) == "NO EVIDENCE"
    assert answer(finding("koppel", named(0.1)), author_at_most=0.97) == "NO EVIDENCE"


def test_too_few_texts_show_nothing():
    few = FEWEST_JUDGED - 1
    given = facts(few)
    found = answer(
        finding("koppel", np.zeros(few), blind=0.0),
        unprotected=clean(1.0, texts=few),
        given=given,
        author_at_most=0.6,
    )
    assert found == "NO EVIDENCE"
    enough = FEWEST_JUDGED + 1
    found = answer(
        finding("koppel", np.zeros(enough), blind=0.0), unprotected=clean(1.0, texts=enough), given=facts(enough),
        author_at_most=0.6,
    )  # fmt: skip
    assert found == "PASS"


def _of_authors(authors, share, *, each=EACH, anyway=0.0, **more):
    """The verdict on so many authors, of whose texts the first ``share`` are named."""
    texts = authors * each
    given = {
        **facts(texts, anyway=anyway),
        "author_numbers": [place % authors for place in range(texts)],
        **more,
    }
    unprotected = line(
        finding("svm", named(0.9, texts)), finding("originals", np.ones(texts)), mechanism="clean", epsilon=None,
        bound=None,
    )  # fmt: skip
    hits = (
        np.arange(texts) % authors < share * authors
    )  # all texts of some authors: they differ as much as can be
    found = finding("koppel", hits.astype(float), blind=0.0)
    return judge([unprotected, line(found)], Limits(adds_at_most=0.2), given)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_fewer_than_ten_authors_show_nothing_not_even_a_failure(share):
    """The interval is shown to hold from ten authors on, and six gave FAIL for what chance does."""
    for authors in (3, 6, 9):
        found = _of_authors(authors, share)
        assert found.answer == "NO EVIDENCE"
        assert f"only {authors} author" in found.text
        assert "a PASS takes about 17" in found.text  # (1 - 0.2)^17 < 0.025
    assert _of_authors(10, 1.0).answer == "FAIL"
    alone = _of_authors(9, share, known_texts=0).text
    assert "only 9 texts, each as of an author of its own since none is given, were judged" in alone


def test_an_interval_across_the_limit_says_how_many_authors_like_these_a_pass_takes():
    """No promise: if they differ as these do, and as many are named."""
    found = _of_authors(40, 0.1)
    assert found.answer == "NO EVIDENCE"
    said = int(
        re.search(r"about (\d+) authors would give a PASS, if they differ as these 40 do", found.text)[1]
    )
    assert 40 < said < 200
    assert _of_authors(10 * round(1.1 * said / 10), 0.1).answer == "PASS"
    assert _of_authors(10 * round(0.8 * said / 10), 0.1).answer == "NO EVIDENCE"
    assert "would give a PASS" not in _of_authors(40, 0.2).text  # as much as is allowed: no number helps


def test_the_holder_of_the_originals_counts_for_words_too():
    weak = finding("koppel", named(BLIND))
    assert answer(weak) == "PASS"
    for exact in (True, False):
        assert answer(weak, finding("originals", named(0.9), exact=exact)) == "FAIL"
    for strong, expected in (
        (named(BLIND), "PASS"),
        (named(0.9), "FAIL"),
    ):  # his attack decides, not his limit
        assert answer(weak, finding("originals", strong, exact=False, at_most=1.0)) == expected
    assert answer(finding("koppel", named(0.9)), finding("originals", named(BLIND), exact=True)) == "FAIL"


def test_nothing_passes_without_the_holder_of_the_originals():
    """He was not asked, and one weak adversary does not say that he names few. A FAIL needs no other."""
    bare = line(finding("svm", named(0.5)), mechanism="clean", epsilon=None, bound=None)
    found = judge([bare, line(finding("koppel", named(BLIND)))], Limits(adds_at_most=0.05), FACTS)
    assert found.answer == "NO EVIDENCE"
    assert "the holder of the originals was not asked, and nothing passes without him" in found.text
    assert answer(finding("koppel", named(0.4)), unprotected=bare) == "FAIL"


def test_a_habit_is_no_evidence_of_anything():
    """He who always names one of the authors is right for all of that one's texts, and has learned nothing."""
    numbers = [3 if 3 <= number < 9 else number for number in FACTS["author_numbers"]]
    shares = np.array([float(number == 3) for number in numbers])
    habit = AdversaryResult(
        "koppel", "author", Interval(BLIND, 0.05, 0.11), EACH, len(shares), {}, (*shares,), (shares * 1.0).tolist()
    )  # fmt: skip
    given = {**facts(anyway=shares.mean()), "author_numbers": numbers}
    assert answer(habit, given=given) == "PASS"
    assert answer(replace(habit, blind=(0.0,) * len(shares)), given=given) == "NO EVIDENCE"


def test_a_pass_takes_enough_authors():
    """Of a kind as frequent as what is allowed there might be none among fewer, whatever was found."""
    for authors, expected in ((71, "NO EVIDENCE"), (72, "PASS")):  # (1 - 0.05)^72 < 0.025, the tail of 95 %
        texts = authors * EACH
        given = facts(texts, anyway=0.0)
        given["author_numbers"] = [place % authors for place in range(texts)]
        unprotected = line(
            finding("svm", named(0.5, texts)), finding("originals", np.ones(texts)), mechanism="clean",
            epsilon=None, bound=None,
        )  # fmt: skip
        found = judge(
            [unprotected, line(finding("koppel", np.zeros(texts), blind=0.0))],
            Limits(adds_at_most=0.05),
            given,
        )
        assert found.answer == expected, found.text
        assert ("only 71 authors were judged and a PASS takes about 72" in found.text) == (authors == 71)
        given["known_texts"] = 0
        alone = judge(
            [unprotected, line(finding("koppel", np.zeros(texts), blind=0.0))],
            Limits(adds_at_most=0.05),
            given,
        )
        assert "each as of an author of its own since none is given" in alone.text
        never = authors_of(
            line(finding("koppel", np.zeros(texts), blind=0.0)), unprotected, given, 0.0
        )  # nothing shows an addition of nothing
        assert (never.answer, never.needed) == ("NO EVIDENCE", None)
        assert "no number of them can show" in never.text


def test_a_pass_needs_every_adversary_and_a_failure_one_of_them():
    good, bad = finding("koppel", named(BLIND)), finding("delta", named(0.3))
    assert answer(good, bad) == answer(bad, good) == "FAIL"


def test_the_level_is_divided_by_the_number_of_tries():
    """What passes alone may not pass as the best of many, here or before."""
    shares = named(BLIND)
    one = line(finding("koppel", shares))
    upper = [authors_of(one, CLEAN, FACTS, 0.05, tries=tries).worst.judged.high for tries in (1, 3, 6, 25)]
    assert upper == sorted(upper)
    assert upper[3] > upper[0] + 0.01
    limit = (upper[0] + upper[3]) / 2
    assert answer(*one.findings.values(), adds_at_most=limit) == "PASS"
    assert answer(*one.findings.values(), adds_at_most=limit, tries=25) == "NO EVIDENCE"
    several = [line(finding("koppel", shares), epsilon=float(at)) for at in range(1, 26)]
    found = judge([CLEAN, *several], Limits(adds_at_most=limit), FACTS)
    assert found.answer == "NO EVIDENCE"
    assert "25 settings were tried" in found.text


def test_the_topic_and_the_bound():
    def topics(value, texts=AUTHORS * EACH):
        return finding("linear", named(value, texts), task="topic")

    assert answer(topics(0.96), topic_at_least=0.92) == "PASS"
    assert answer(topics(0.96), topic_at_least=0.955) == "NO EVIDENCE"  # perhaps 0.95
    assert answer(topics(0.7), topic_at_least=0.95) == "FAIL"
    lower = [
        float(re.search(r"from ([\d.]+) to", judged(topics(0.96), topic_at_least=0.5, tries=tries).text)[1])
        for tries in (1, 100)
    ]
    assert lower[1] < lower[0] - 0.005, "tries count"
    unsigned = judge([CLEAN, line(topics(0.96))], Limits(topic_at_least=0.5), {**FACTS, "known_texts": 0})
    assert "each text as of an author of its own" in unsigned.text
    assert "of its own" not in judged(topics(0.96), topic_at_least=0.5).text
    assert answer(bound_at_most=12.3) == "PASS"
    assert answer(bound_at_most=12.2) == "FAIL"
    unbounded = judge([CLEAN, line(bound=None)], Limits(bound_at_most=100), FACTS)
    assert (unbounded.answer, "nothing bounds" in unbounded.text) == ("FAIL", True)


def test_the_reason_stands_beside_what_is_known_anyway_and_clear_text():
    lines, known = [CLEAN, line(finding("koppel", named(0.3)))], {**FACTS, "topics": ["card", "loan"]}
    text = judge(lines, Limits(adds_at_most=0.05), known).text
    assert text.startswith("FAIL: tight 1: authors named beyond those whom the topic names 0.2")
    assert "allowed 0.05" in text
    assert "topic alone 0.083, unprotected 0.5" in text
    text = judge(lines, Limits(adds_at_most=0.05), FACTS).text  # no topics, of which nobody could be told
    assert text.startswith(
        "FAIL: tight 1: authors named beyond those whom always saying one author names 0.2"
    )
    assert "always saying one author 0.083, unprotected 0.5" in text


def test_every_setting_must_hold():
    good, bad = line(finding("koppel", named(BLIND))), line(finding("koppel", named(0.3)), epsilon=2.0)
    found = judge([CLEAN, good, bad], Limits(adds_at_most=0.08), FACTS)
    assert (found.answer, found.passed, found.failed) == ("FAIL", False, ("tight 2",))
    assert "tight 1:" not in found.text


@pytest.mark.parametrize("limits", [{"author_at_most": 0.1}, {"adds_at_most": 0.1}, {"topic_at_least": 0.1}])
def test_what_was_not_measured_is_not_judged(limits):
    with pytest.raises(UsageError, match="cannot be judged"):
        answer(**limits)


def test_an_evaluation_of_another_version_is_not_judged():
    with pytest.raises(DataError, match="another version"):
        answer(finding("koppel", named(0.1)), given={"chance": {"author": 0.1}, "floor": 0.1})


@pytest.mark.parametrize(
    "limits",
    [
        {"author_at_most": 1.1},
        {"adds_at_most": -0.1},
        {"topic_at_least": -0.1},
        {"bound_at_most": float("nan")},
        {"tries": 0},
    ],
)
def test_limits_are_checked(limits):
    with pytest.raises(UsageError):
        Limits(**limits)
