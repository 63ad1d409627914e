"""What is promised of documents: two constants, a word for the bound, the promise in plain words."""

import math

import pytest

from publius.errors import UsageError
from publius.privacy.guarantee import Guarantee, strength_of
from publius.privacy.promise import promise


def guarantee(epsilon=3.0, bound=7.0, **others):
    facts = {
        "evidence": "certified",
        "delta": 1e-11,
        "bound_delta": 0.0,
        "size": 40,
        "preserve": "topic",
        **others,
    }
    return Guarantee(epsilon, "reference", bound=bound, **facts)


def test_the_exponent_is_the_smaller_of_the_two():
    assert guarantee().privacy_map(1.0) == 3.0
    assert guarantee().privacy_map(100.0) == 7.0
    assert guarantee().privacy_map(math.inf) == 7.0
    assert guarantee().privacy_map() == 7.0
    assert guarantee(epsilon=None).privacy_map(0.1) == 7.0
    assert guarantee(epsilon=0.1).privacy_map(3.0) >= 0.1 * 3.0
    for wrong in (-1.0, math.nan):
        with pytest.raises(UsageError):
            guarantee().privacy_map(wrong)


@pytest.mark.parametrize(
    ("bound", "word"),
    [
        (0.5, "strong"),
        (1.0, "strong"),
        (1.1, "moderate"),
        (10, "moderate"),
        (20, "weak"),
        (21, "empty"),
        (None, "empty"),
    ],
)
def test_the_word_for_a_bound(bound, word):
    assert strength_of(bound) == word


@pytest.mark.parametrize("bound", [-1.0, math.inf, math.nan])
def test_a_bound_that_is_none_is_refused(bound):
    with pytest.raises(UsageError):
        guarantee(bound=bound)


def test_the_promise_says_the_bound_first_and_what_is_kept():
    text = promise(guarantee(), private=True)
    assert text.index("any two documents") < text.index("Earth Mover")
    assert "exp(7)" in text
    assert "moderate" in text
    assert "topic" in text
    assert "1,100 times" in text
    assert "0.5233" in text  # one of a thousand
    sharp = promise(guarantee(epsilon=None), private=True)
    assert "Earth Mover" not in sharp
    assert "not told apart at all" in sharp
    assert "NOT PRIVATE" in promise(guarantee(), private=False)


def test_both_levels_can_be_read_alike():
    from publius.privacy.guarantee import Guarantee

    assert (Guarantee(1.0, "euclidean", "proven").level, guarantee().level) == ("word", "document")
    assert Guarantee(1.0, "euclidean", "proven").bound is None
