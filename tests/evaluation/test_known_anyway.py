"""What the topic alone names is what an adversary can know of it, and never the answers."""

import numpy as np
import pytest

from publius.evaluation.data import Dataset, LabeledText
from publius.evaluation.encoding import EncodedText
from publius.evaluation.hindsight import originals_row
from publius.evaluation.originals import exact_success
from publius.evaluation.protectors import Originals
from publius.evaluation.rows import Protection
from publius.evaluation.statistics import Interval
from publius.evaluation.summary import AdversaryResult, SummaryLine
from publius.evaluation.verdict import authors_of, knowing_topic
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


P, Q = 0.235, (1 - 0.235) / 79
"""Of eighty outcomes, one an author, his own comes with P and every other with Q."""


def test_who_is_judged_beside_the_topic_knows_it_too():
    """Forty topics of two authors each: with the release and the topic one of two is named, not one of eighty."""
    authors = np.repeat(np.arange(80), 12)
    law = np.full((960, 80), Q)
    law[np.arange(960), authors] = P
    texts = [
        EncodedText(str(n), f"a{author:02}", f"t{author // 2}", (), np.zeros(0, np.int64))
        for n, author in enumerate(authors)
    ]
    names = [each.author for each in texts]
    found = Originals(exact_success(law, names), np.log(law[:, authors]), law)
    row = originals_row(
        Protection("prototype", None, 2.5, 0, None, None), texts, found, 1 / 80, seeded_rng(1)
    )
    assert row.accuracy == pytest.approx(P)
    told = P + (1 - P - Q) / 2
    assert row.extra["told"] == pytest.approx([told] * 960, abs=1e-6)

    shown = {
        knowing: AdversaryResult(
            "originals", "author", Interval(P, P, P), 960 * P, 960, {}, (P,) * 960, (Q,) * 960,
            tuple(row.extra["told"]) if knowing else (), tuple(row.extra["told_blind"]) if knowing else (),
        )
        for knowing in (True, False)
    }  # fmt: skip
    everybody = AdversaryResult("svm", "author", Interval(1, 1, 1), 960, 960, {}, (1.0,) * 960, (0.5,) * 960)
    facts = {"anyway": [0.5] * 960, "author_numbers": authors.tolist(), "topics": ["t0", "t1"]}

    def judged(knowing):
        lines = (
            SummaryLine(
                name, None, None, 1, None, None, 0.0, {(each.adversary, "author"): each}, None, None, None
            )
            for name, each in (("prototype", shown[knowing]), ("clean", everybody))
        )
        return authors_of(*lines, facts, 0.05)

    assert told - 0.5 > 0.1
    assert (judged(True).answer, judged(False).answer) == ("FAIL", "PASS")

    worst, in_table = judged(True).worst, knowing_topic(shown[True], facts)
    assert worst.adversary == "whoever knows the topic and holds the originals"
    assert worst.named == pytest.approx(told)
    assert (in_table.value, in_table.low, in_table.high) == pytest.approx(
        (told, worst.judged.low + 0.5, worst.judged.high + 0.5), abs=1e-6
    )  # what stands in the table is what the verdict says, with what the topic names
    assert (
        f"by whoever knows the topic and holds the originals; allowed 0.05 (named {told:.3f}"
        in judged(True).text
    )
    assert knowing_topic(shown[True], {**facts, "topics": []}) is None
