"""What a bound means, in a sentence that a curator reads before he chooses."""

import pytest

from publius.evaluation.steps.showing import bound_in_words


@pytest.mark.parametrize(
    ("bound", "topics", "share"), [(7, 2, "99.9 %"), (7, 20, "98.2 %"), (3, 2, "95.2 %"), (40, 2, "99.9 %")]
)
def test_what_can_fail_is_never_said_to_be_certain(bound, topics, share):
    """e^B / (e^B + k - 1), rounded down: at bound 7 and 20 topics 0.98297."""
    assert f"the right one of {topics} topics comes out {share} of the time" in bound_in_words(bound, topics)


def test_without_topics_only_the_promise_is_told():
    assert "topics" not in bound_in_words(7)
    assert "at most 0.52" in bound_in_words(7)
