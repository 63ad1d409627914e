"""Character n-grams as post-processing of a bag."""

import pytest

from publius.errors import UsageError
from publius.text.bag import Bag
from publius.text.character_grams import character_grams


def test_counts_of_the_pieces_inside_words():
    assert character_grams(Bag(["harbor", "harbor", "sea"])) == {"arbo": 2, "harb": 2, "rbor": 2, "sea": 1}
    assert character_grams(Bag(["abab"]), 2) == {"ab": 2, "ba": 1}
    assert character_grams(Bag([])) == {}


def test_equal_bags_have_equal_grams_in_one_order():
    one, other = character_grams(Bag(["sea", "harbor"])), character_grams(Bag(["harbor", "sea"]))
    assert list(one.items()) == list(other.items())


@pytest.mark.parametrize("length", [0, -1, 2.5, True])
def test_a_length_is_a_number_from_one(length):
    with pytest.raises(UsageError):
        character_grams(Bag(["sea"]), length)
