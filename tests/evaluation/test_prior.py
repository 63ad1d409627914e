"""Who attacks uses how often authors write: with a release that holds little he names as many as that alone."""

import numpy as np
import pytest

from publius.evaluation.attackers.base import best_columns
from publius.evaluation.encoding import EncodedText
from publius.evaluation.prior import Scored, log_shares, with_prior
from publius.noise.randomness import seeded_rng

AUTHORS, TEXTS, PARTS = 30, 600, 3


def text(number, author, part):
    return EncodedText(str(number), f"a{author:02}", f"t{number % 5}", (), np.zeros(0, np.int64), part=part)


def attacked(shown, scale, seed):
    """Authors write unequally (1/rank); of a share of the texts the scores tell the author, the others' are noise."""
    rng = seeded_rng(seed)
    often = 1 / np.arange(1.0, AUTHORS + 1)
    texts = [
        text(number, author, number % PARTS)
        for number, author in enumerate(rng.choice(AUTHORS, TEXTS, p=often / often.sum()))
    ]
    names = sorted({each.author for each in texts})
    parts = []
    for part in range(PARTS):
        asked = [each for each in texts if each.part == part]
        known = [each for each in texts if each.part != part]
        scores = rng.normal(size=(len(asked), len(names)))
        for place, each in enumerate(asked):
            if rng.random() < shown:
                scores[place, names.index(each.author)] += 8
        parts.append(Scored(asked, names, scale * scores, log_shares(names, known, asked)))
    return parts


def right(parts, scores):
    """The share of texts whose author is named."""
    hits = [
        part.names[at] == each.author
        for part, by in zip(parts, scores, strict=True)
        for each, at in zip(part.texts, best_columns(by, 1).tolist(), strict=True)
    ]
    return np.mean(hits)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("shown", [0.0, 0.15, 0.6])
def test_with_a_release_that_holds_little_he_names_as_many_as_the_topic(shown, scale):
    parts = attacked(shown, scale, 3)
    majority = right(parts, [part.prior for part in parts])
    bare = right(parts, [part.scores for part in parts])
    beside = right(parts, with_prior(parts, 1))
    assert beside >= max(majority, bare) - 0.02  # the weight is learned from other texts than are counted
    if shown == 0.15:
        assert majority > 0.2 > bare, "without the prior he falls below the topic alone"
        assert beside > majority + 0.05, "whom the release tells is told beyond the topic"


def test_the_weight_of_a_single_part_is_learned_from_its_other_half():
    whole = attacked(0.15, 1.0, 4)
    (first, *_) = whole
    (scores,) = with_prior([first], 1)
    assert right([first], [scores]) >= right([first], [first.prior]) - 0.03


def test_who_is_not_known_to_write_on_a_topic_is_the_last():
    known = [text(0, 1, 0), text(5, 1, 0), text(10, 2, 0), text(1, 3, 0)]
    asked = [text(15, 1, 1), text(2, 1, 1)]
    found = log_shares(["a01", "a02", "a03"], known, asked)
    assert found[0] == pytest.approx([np.log(2 / 3), np.log(1 / 3), -np.inf])
    assert found[1].tolist() == [0.0, 0.0, 0.0], "on a topic of which nothing is known all are alike"
