"""What faults planted in the room showed to be said and not tested: limits of a share, bags of words, words of "other"."""

import numpy as np
import pytest
from made_collection import made_rows

from publius.errors import UsageError
from publius.noise.randomness import seeded_rng
from publius.summaries.summary import Summary
from publius.summaries.tables import exact_share
from publius.summaries.told import BAG, _bags


def test_an_epsilon_is_at_most_a_million():
    assert exact_share(10**6, "epsilon") == 10**6
    with pytest.raises(UsageError, match="up to a million"):
        exact_share(10**6 + 1, "epsilon")


def test_first_words_of_a_list_come_most_often():
    words = ("bus", "train", "tram", "driver")
    bags = list(_bags(seeded_rng(4), words, 2500))
    assert len(bags) == 2500
    assert {sum(bag.values()) for bag in bags} == {BAG}
    found = np.array([sum(bag.get(word, 0) for bag in bags) for word in words]) / (2500 * BAG)
    law = np.array([1 / 3, 1 / 4, 1 / 5, 1 / 6])
    assert found == pytest.approx(law / law.sum(), rel=0.05)


def test_what_has_no_label_stands_out_in_no_group(topics, subjects):
    rows = made_rows()
    district = rows[0]["district"]
    rows = [{**row, "text": "unheard"} if row["district"] == district else row for row in rows]
    columns = (
        [row["text"] for row in rows],
        [row["author"] for row in rows],
        {"district": [row["district"] for row in rows]},
    )
    told = Summary(topics, subjects=subjects, epsilon=20, by={"district": [district, "elsewhere"]})(*columns)
    other = len(topics.labels) - 1
    assert told.tables["topics"].values[0, other] > 100
    assert all(other not in places for places in told.standing_out)
