"""What a bound means, in sentences that a curator reads before he chooses."""

import pytest

from publius.evaluation.steps.kept import bound_in_words
from publius.evaluation.steps.labels import noise_in_words
from publius.releases.label_shares import LabelShares, TopicShare, label_shares


@pytest.mark.parametrize(
    ("bound", "outcomes", "share"), [(7, 2, "100 %"), (7, 20, "98.3 %"), (3, 2, "95.3 %"), (3, 4, "87.1 %")]
)
def test_the_share_of_the_noise_is_an_upper_limit_and_no_share_of_right_labels(bound, outcomes, share):
    """e^B / (e^B + M - 1), rounded up: at bound 7 and 20 outcomes 0.98297."""
    said = noise_in_words(bound, outcomes)
    assert f"at most {share} of the time" in said
    assert "another question" in said


def test_without_topics_only_the_promise_is_told():
    assert "label" not in bound_in_words(7)
    assert "at most 0.53, if all were equally likely before" in bound_in_words(7)


def test_the_measured_share_stands_beside_the_majority_with_the_digits_of_the_page():
    shares = LabelShares(200, 0.7549, 0.2259, (TopicShare("card", 200, 0.7549),))
    said = bound_in_words(7, shares)
    assert "right for 75.5 % of 200 public texts" in said
    assert "the most frequent topic: 22.6 %" in said


def test_a_share_is_rounded_by_one_rule_wherever_it_is_said():
    """A label was right for 91.5 % on one page and for 91 % on another, beside 21.6 % and 21.7 % of one thing."""
    from publius.evaluation import report
    from publius.privacy import promise
    from publius.releases import page_parts

    for share in (0.0, 0.0004, 0.04951, 0.21685, 0.9145, 0.99999, 1.0):
        said = promise.percent(share)
        assert said == f"{100 * share:.1f} %" == report._percent(share)
        assert page_parts.percent(share).replace("\N{NO-BREAK SPACE}", " ") == said
        low, high = promise.percent_down(share), promise.percent_up(share)
        assert (low, high) == (report._down(share), report._up(share))
        assert float(low[:-2]) - 1e-9 <= 100 * share <= float(high[:-2]) + 1e-9
        assert bound_in_words(7, LabelShares(9, share, share, ())).count(said) == 2
        assert next(LabelShares(9, share, share, ()).sentences()).count(said) == 2


def test_rare_topics_are_named():
    topics = ["loan"] * 90 + ["card"] * 8 + ["parcel"] * 2
    found = label_shares([0.9] * 90 + [0.1] * 8 + [0.0] * 2, topics, [])
    said = " ".join(found.sentences())
    assert "card (8 texts): right for 10.0 %" in said
    assert "parcel (2 texts): right for 0.0 %" in said
    assert "loan (" not in said
    assert found.right == pytest.approx((81 + 0.8) / 100)
