"""Every pair of neighboring toy collections, exactly: nothing beyond epsilon, and nearly epsilon is reached.

For every key of the run, what is released is a table of counts plus independent noise. So the largest logarithm of a
ratio of probabilities over *all* outputs is a sum over the cells, each from the noise's law; if it is at most epsilon
for every key, it is for the release. The parts are the product's; each broken version replaces one and must be caught.
"""

import functools
import itertools
import math
import zlib
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from publius.noise.discrete_laplace import DiscreteLaplace
from publius.noise.randomness import RunKey, seeded_rng
from publius.summaries.contributions import Contributions, tags_of
from publius.summaries.groups import Groups
from publius.summaries.summary import Summary
from publius.summaries.tables import histogram, shares_of

EPSILON = Fraction(1)
GROUPS = Groups.of(["s=a"])  # "a" and "other"
TABLES = ("totals", "topics", "subjects")
TOPICS = ("x", "y")  # a text's first letter; its theme and its subject
KEYS = [RunKey.seeded(seed) for seed in range(3)]
DOCUMENTS = list(itertools.product(["x1", "x2", "y1", "y2"], ["a", "z"]))
SETS = [chosen for size in (1, 2) for chosen in itertools.combinations(DOCUMENTS, size)]
OTHERS = [(), (("x1", "a"),), (("x1", "a"), ("y2", "z"))]


def cells_of(rows, key, per_author):
    """The product's choice: group times topic of each document that counts."""
    contributions = Contributions(key, per_author)
    tags = tags_of([author for author, *_ in rows], key.derive("contribution-authors"))
    cells = [GROUPS.place({"s": group}) * len(TOPICS) + TOPICS.index(text[0]) for _, text, group in rows]
    contributions.add(tags, np.array(cells, np.int64))
    return contributions.rows


def tables_of(cells):
    """The counts of each table: groups, groups by topics, subjects."""
    topics = histogram(cells, (GROUPS.size, len(TOPICS)))
    return {"totals": topics.sum(axis=1), "topics": topics, "subjects": topics.sum(axis=0)}


@functools.cache
def noise_of(epsilon, per_author):
    return Summary(epsilon=epsilon, documents_per_author=per_author, shares="subjects=1").noise("subjects")


def probability(noise, count, value):
    return noise.probability(value - count)


SHARES = shares_of("totals=0.1,topics=0.6,subjects=0.3", TABLES)


class RawWords:
    """A generator that gives 64-bit words and nothing else."""

    def __init__(self):
        self.bit_generator, self._rng = self, seeded_rng(2)

    def random_raw(self, count):
        return self._rng.bit_generator.random_raw(count)


@dataclass(frozen=True, eq=False)  # hashed as the object that it is
class Parts:
    per_author: int = 1
    shares: object = None
    cells: object = staticmethod(cells_of)
    tables: object = staticmethod(tables_of)
    probability: object = staticmethod(probability)
    sample: object = DiscreteLaplace.sample

    def epsilon(self, statistic):
        return EPSILON * (self.shares or SHARES)[statistic]

    @functools.cache  # noqa: B019  # the test's own
    def distance(self, statistic, one, two):
        """The largest logarithm over all outputs of a cell, how probable under one count and under another."""
        noise = noise_of(self.epsilon(statistic), self.per_author)
        ratios = []
        for value in range(min(one, two) - 60, max(one, two) + 61):  # beyond both counts it stays the same
            under, other = self.probability(noise, one, value), self.probability(noise, two, value)
            if under > 0:
                ratios.append(math.inf if other == 0 else math.log(under / other))
        return max(ratios)

    def exponent(self, one, two):
        """The same for whole releases; infinite where they have not the same cells."""
        total = 0.0
        for statistic in TABLES:
            left, right = one[statistic], two[statistic]
            if left.shape != right.shape:
                return math.inf
            for i, j in zip(left.ravel().tolist(), right.ravel().tolist(), strict=True):
                total += self.distance(statistic, i, j) if i != j else 0.0
        return total


def rows_of(own, others):
    """The rows of the author A and of B, in both orders."""
    rows = [*(("A", *document) for document in own), *(("B", *document) for document in others)]
    return rows, rows[::-1]


def audit(parts, sets=SETS):
    """(violations, largest exponent) of all pairs in which the documents of an author are replaced."""
    violations, largest = 0, 0.0
    try:
        values = parts.sample(DiscreteLaplace(Fraction(2)), RawWords(), 50)
        violations += values.dtype.kind != "i"
    except AttributeError:
        violations += 1  # noise that is not made of whole numbers
    for key, others in itertools.product(KEYS, OTHERS):
        worlds = []
        for own in sets:
            tables = [parts.tables(parts.cells(rows, key, parts.per_author)) for rows in rows_of(own, others)]
            worlds.append((own, tables))
        for (_, one), (_, two) in itertools.permutations(worlds, 2):
            found = max(parts.exponent(left, right) for left, right in zip(one, two, strict=True))
            violations += found > float(EPSILON) * (1 + 1e-9)
            largest = max(largest, found)
    return violations, largest


@pytest.mark.parametrize("per_author", [1, 2, 3])
def test_all_neighboring_toy_collections(per_author):
    violations, largest = audit(Parts(per_author=per_author), SETS if per_author < 3 else WITH_THREE)
    assert violations == 0
    assert largest >= 0.99 * float(EPSILON)


WITH_THREE = [*itertools.islice(itertools.combinations(DOCUMENTS, 2), 6),
              (("x1", "a"), ("x2", "a"), ("x3", "a")), (("y1", "z"), ("y2", "z"), ("y3", "z")),
              (("x1", "a"), ("y2", "a"), ("y3", "z"))]  # fmt: skip


# Broken versions ----------------------------------------------------------------------------------------------------


def second_counts(rows, key, per_author):
    return cells_of(rows, key, per_author + 1)


def first_in_the_file(rows, key, per_author):
    seen, kept = {}, []
    for row in rows:
        seen[row[0]] = seen.get(row[0], 0) + 1
        if seen[row[0]] <= per_author:
            kept.append(row)
    return cells_of(kept, key, per_author)


def one_stream(rows, key, per_author):
    """One permutation of all rows; an author's first documents in it count."""
    order = seeded_rng(int.from_bytes(key.derive("order")[:4], "big")).permutation(len(rows))
    return first_in_the_file([rows[place] for place in order], key, per_author)


def sample_of_another(rows, key, per_author):
    """B's choice depends on what A wrote."""
    others = RunKey.seeded(zlib.crc32(repr(sorted(row for row in rows if row[0] == "A")).encode()))
    of = {name: [row for row in rows if row[0] == name] for name in "AB"}
    return np.sort(np.concatenate([cells_of(of["A"], key, per_author), cells_of(of["B"], others, per_author)]))


def learned_threshold(rows, key, per_author):
    """A text is about x if it is as frequent as the collection's mean: the theme is learned from the private texts."""
    frequent = sum(row[1][0] == "x" for row in rows) * 2 >= len(rows)
    return cells_of([(who, ("x" if frequent else "y") + text, group) for who, text, group in rows], key, per_author)


def groups_of_the_data(cells):
    tables = tables_of(cells)
    there = tables["totals"] > 0
    return tables | {"totals": tables["totals"][there], "topics": tables["topics"][there]}


def only_where_something_is(noise, count, value):
    return float(value == 0) if count == 0 else noise.probability(value - count)


def finite(noise, count, value):
    return noise.probability(value - count) if abs(value - count) <= 40 else 0.0


def float_noise(noise, rng, count):
    return np.round(rng.laplace(0, float(noise.scale), count))


MORE_THAN_ALL = {"totals": Fraction(1, 5), "topics": Fraction(3, 5), "subjects": Fraction(3, 10)}


BROKEN = {
    "a second document of an author counts": {"cells": second_counts},
    "noise on cells that are not empty only": {"probability": only_where_something_is},
    "groups read from the data": {"tables": groups_of_the_data},
    "one author's sample depends on another's": {"cells": sample_of_another},
    "noise of finite support": {"probability": finite},
    "float noise": {"sample": float_noise},
    "one stream of chance for all rows": {"cells": one_stream},
    "a threshold learned from the private texts": {"cells": learned_threshold},
    "shares of epsilon that sum to more": {"shares": MORE_THAN_ALL},
    "noise for authors added where they are replaced": {
        "probability": lambda noise, count, value: DiscreteLaplace(noise.scale / 2).probability(value - count)
    },
}  # fmt: skip
FEW = [*SETS[:2], *SETS[-8:]]


@functools.cache
def _genuine():
    return audit(Parts(), FEW)[0]


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_version_is_caught(name):
    assert _genuine() == 0
    assert audit(replace(Parts(), **BROKEN[name]), FEW)[0] > 0
