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

from publius.collections.authors import author_key
from publius.collections.contributions import Contributions
from publius.collections.strata import Strata
from publius.collections.tables import STATISTICS, Shares, histogram, noisy_table
from publius.noise.discrete_laplace import DiscreteLaplace
from publius.noise.randomness import RunKey, seeded_rng

EPSILON = Fraction(1)
STRATA = Strata.parse(["s=a"])  # "a" and "other"
THEMES = ("x", "y")  # a text's first letter; its theme and its subject
KEYS = [RunKey.seeded(seed) for seed in range(3)]
DOCUMENTS = list(itertools.product(["x1", "x2", "y1", "y2"], ["a", "z"]))
SETS = [chosen for size in range(3) for chosen in itertools.combinations(DOCUMENTS, size)]
OTHERS = [(), (("x1", "a"),), (("x1", "a"), ("y2", "z"))]


def cells_of(rows, key, per_author):
    """The product's choice: stratum times theme of each document that counts."""
    contributions = Contributions(key, per_author)
    for author, text, stratum in rows:
        cell = STRATA.place({"s": stratum}) * len(THEMES) + THEMES.index(text[0])
        contributions.add(author_key(author), text, cell)
    return contributions.cells


def tables_of(cells):
    """The counts of each statistic: strata, strata by themes, subjects."""
    themes = histogram(cells, (STRATA.size, len(THEMES)))
    return {"totals": themes.sum(axis=1), "themes": themes, "subjects": themes.sum(axis=0)}


@functools.cache
def noise_of(epsilon, per_author):
    return noisy_table(np.zeros(1, np.int64), epsilon=epsilon, per_author=per_author, rng=seeded_rng(1)).noise


def probability(noise, count, value):
    return noise.probability(value - count)


class RawWords:
    """A generator that gives 64-bit words and nothing else."""

    def __init__(self):
        self.bit_generator, self._rng = self, seeded_rng(2)

    def random_raw(self, count):
        return self._rng.bit_generator.random_raw(count)


@dataclass(frozen=True, eq=False)  # hashed as the object that it is
class Parts:
    per_author: int = 1
    shares: object = Shares.parse("totals=0.1,themes=0.6,subjects=0.3")
    cells: object = staticmethod(cells_of)
    tables: object = staticmethod(tables_of)
    probability: object = staticmethod(probability)
    sample: object = DiscreteLaplace.sample
    visible: object = staticmethod(lambda rows: None)  # whatever is seen and not noisy: sizes, names, times

    def epsilon(self, statistic):
        return self.shares.epsilon(EPSILON, statistic)

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
        for statistic in STATISTICS:
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
    """(violations, largest exponent) for authors replaced and for authors added."""
    violations, largest = 0, {"replaced": 0.0, "added": 0.0}
    try:
        values = parts.sample(DiscreteLaplace(Fraction(2)), RawWords(), 50)
        violations += values.dtype.kind != "i"
    except AttributeError:
        violations += 1  # noise that is not made of whole numbers
    for key, others in itertools.product(KEYS, OTHERS):
        worlds = []
        for own in sets:
            orders = rows_of(own, others)
            tables = [parts.tables(parts.cells(rows, key, parts.per_author)) for rows in orders]
            same = all((tables[0][name] == tables[1][name]).all() for name in STATISTICS)
            worlds.append((own, tables[:1] if same else tables, parts.visible(orders[0])))
        for (own, one, seen), (instead, two, shown) in itertools.permutations(worlds, 2):
            kind = "replaced" if own and instead else "added"
            allowed = float(EPSILON) if kind == "replaced" else float(EPSILON) / 2
            found = max(parts.exponent(left, right) for left in one for right in two)
            if kind == "added" and seen != shown:
                found = math.inf
            violations += found > allowed * (1 + 1e-9)
            largest[kind] = max(largest[kind], found)
        violations += sum(len(tables) > 1 for _, tables, _ in worlds)  # the order of rows shows
    return violations, largest


@pytest.mark.parametrize("per_author", [1, 2, 3])
def test_all_neighboring_toy_collections(per_author):
    violations, largest = audit(Parts(per_author=per_author), SETS if per_author < 3 else WITH_THREE)
    assert violations == 0
    assert largest["replaced"] >= 0.99 * float(EPSILON)
    assert largest["added"] >= 0.99 * float(EPSILON) / 2


WITH_THREE = [(), *itertools.islice(itertools.combinations(DOCUMENTS, 2), 6),
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
    return np.sort(
        np.concatenate([cells_of(of["A"], key, per_author), cells_of(of["B"], others, per_author)])
    )


def learned_threshold(rows, key, per_author):
    """A text is about x if it is as frequent as the collection's mean: the theme is learned from the private texts."""
    frequent = sum(row[1][0] == "x" for row in rows) * 2 >= len(rows)
    return cells_of(
        [(who, ("x" if frequent else "y") + text, stratum) for who, text, stratum in rows], key, per_author
    )


def strata_of_the_data(cells):
    tables = tables_of(cells)
    there = tables["totals"] > 0
    return tables | {"totals": tables["totals"][there], "themes": tables["themes"][there]}


def only_where_something_is(noise, count, value):
    return float(value == 0) if count == 0 else noise.probability(value - count)


def finite(noise, count, value):
    return noise.probability(value - count) if abs(value - count) <= 40 else 0.0


def float_noise(noise, rng, count):
    return np.round(rng.laplace(0, float(noise.scale), count))


class MoreThanAll:
    def epsilon(self, total, statistic):
        return (
            total
            * {"totals": Fraction(1, 5), "themes": Fraction(3, 5), "subjects": Fraction(3, 10)}[statistic]
        )


BROKEN = {
    "a second document of an author counts": {"cells": second_counts},
    "noise on cells that are not empty only": {"probability": only_where_something_is},
    "strata read from the data": {"tables": strata_of_the_data},
    "the first documents in the file count": {"cells": first_in_the_file},
    "one author's sample depends on another's": {"cells": sample_of_another},
    "noise of finite support": {"probability": finite},
    "float noise": {"sample": float_noise},
    "one stream of chance for all rows": {"cells": one_stream},
    "a threshold learned from the private texts": {"cells": learned_threshold},
    "shares of epsilon that sum to more": {"shares": MoreThanAll()},
    "a size that tells the number of authors": {"visible": lambda rows: len({row[0] for row in rows})},
    "noise for authors added where they are replaced": {
        "probability": lambda noise, count, value: DiscreteLaplace(noise.scale / 2).probability(value - count)
    },
}  # fmt: skip
FEW = [(), *SETS[1:3], *SETS[-8:]]


@functools.cache
def _genuine():
    return audit(Parts(), FEW)[0]


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_version_is_caught(name):
    assert _genuine() == 0
    assert audit(replace(Parts(), **BROKEN[name]), FEW)[0] > 0
