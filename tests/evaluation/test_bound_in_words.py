"""What a bound means, in a sentence that a curator reads before he chooses."""

import pytest

from publius.evaluation.steps.kept import bound_in_words


@pytest.mark.parametrize(
    ("bound", "topics", "share"), [(7, 2, "100 %"), (7, 20, "98.3 %"), (3, 2, "95.3 %"), (3, 4, "87.1 %")]
)
def test_the_share_of_topics_is_an_upper_limit(bound, topics, share):
    """e^B / (e^B + k - 1), rounded up: at bound 7 and 20 topics 0.98297."""
    said = bound_in_words(bound, topics)
    assert f"of {topics} topics the one found in a text comes out at most {share} of the time" in said
    assert "has to be measured" in said


def test_without_topics_only_the_promise_is_told():
    assert "topics" not in bound_in_words(7)
    assert "at most 0.53, if all were equally likely before" in bound_in_words(7)
