"""What the topic alone names is what an adversary can know of it, and never the answers."""

import numpy as np
import pytest

from publius.evaluation.data import Dataset, LabeledText
from publius.noise.randomness import seeded_rng


def text(number, author, topic, role, part=None):
    return LabeledText(f"{role}{number}", "x", f"a{author}", f"t{topic}", role, part=part)


def crossed(authors, topics, parts=5):
    """Every text is known and attacked, part by part, as `publius.evaluation.own_data` splits rows."""
    order = sorted(range(len(authors)), key=lambda n: (topics[n], authors[n]))
    place = {number: at % parts for at, number in enumerate(order)}
    made = {
        role: tuple(
            text(n, a, t, role, place[n]) for n, (a, t) in enumerate(zip(authors, topics, strict=True))
        )
        for role in ("known", "unknown")
    }
    return Dataset(made["known"], made["unknown"], ())


@pytest.mark.parametrize(
    ("topics", "authors", "texts"), [(60, 40, 240), (100, 50, 400), (20, 20, 200), (10, 20, 200)]
)
def test_a_topic_that_tells_nothing_names_nobody(topics, authors, texts):
    """Of many topics with few texts each, the most frequent author is known only from the answers."""
    rng = seeded_rng(5)
    found = [
        np.mean(
            crossed(
                rng.integers(authors, size=texts).tolist(), rng.integers(topics, size=texts).tolist()
            ).anyway()
        )
        for _ in range(20)
    ]
    assert np.mean(found) == pytest.approx(1 / authors, abs=0.03)  # the answers would name 0.1 to 0.3 more


def test_a_topic_of_one_author_names_him():
    assert crossed([0] * 10 + [1] * 10, [0] * 10 + [1] * 10).anyway() == [1.0] * 20


def test_of_equally_frequent_authors_each_is_named_as_often():
    assert crossed([0, 1] * 10, [0] * 20).anyway() == [0.5] * 20


def test_known_texts_tell_and_a_topic_on_which_none_is_known_tells_nothing():
    known = (text(0, 0, 0, "known"), text(1, 0, 0, "known"), text(2, 1, 0, "known"), text(3, 1, 1, "known"))
    asked = (text(4, 0, 0, "unknown"), text(5, 1, 0, "unknown"), text(6, 1, 2, "unknown"))
    assert Dataset(known, asked, ()).anyway() == [1.0, 0.0, 0.5]


def test_where_no_author_is_known_each_text_is_one_of_its_topic():
    assert (
        Dataset((), tuple(text(n, n, n // 4, "unknown") for n in range(6)), ()).anyway()
        == [0.25] * 4 + [0.5] * 2
    )
