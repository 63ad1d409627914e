"""Which documents count: at most c of each author, chosen from the author's own alone; and which statements."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from publius.errors import UsageError
from publius.noise.randomness import RunKey, seeded_rng
from publius.summaries.contributions import NEAR_RECORD, Contributions, Mentions, tags_of
from publius.summaries.summary import Summary

KEY = RunKey.seeded(5)
ROWS = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 5)), max_size=12)


def tags(names, key=KEY):
    return tags_of(names, key.derive("contribution-authors"))


def chosen(rows, per_author=1, key=KEY, at_once=100):
    found = Contributions(key, per_author)
    for start in range(0, len(rows), at_once):
        some = rows[start : start + at_once]
        found.add(tags([name for name, _ in some], key), np.array([cell for _, cell in some], np.int64))
    return found


@given(ROWS, st.integers(1, 3), st.integers(1, 5))
def test_batches_change_nothing(rows, per_author, at_once):
    assert chosen(rows, per_author, at_once=at_once).rows.tolist() == chosen(rows, per_author).rows.tolist()


@given(ROWS, st.integers(1, 3))
def test_rule_6_an_author_contributes_as_much_as_alone(rows, per_author):
    """What others wrote, and where, changes nothing; c documents at most count, fewer only where there are fewer."""
    own = {author: [row for row in rows if row[0] == author] for author, _ in rows}
    alone = [chosen(documents, per_author).rows for documents in own.values()]
    assert [len(cells) for cells in alone] == [min(per_author, len(documents)) for documents in own.values()]
    together = chosen(rows, per_author)
    assert sorted(np.concatenate([np.zeros(0, int), *alone]).tolist()) == together.rows.tolist()
    assert together.authors == len(own)
    by_author = sorted(rows, key=lambda row: row[0])  # every author's own documents stay in their order
    assert chosen(by_author, per_author).rows.tolist() == together.rows.tolist()


def test_every_document_of_an_author_has_the_same_chance():
    rows = [("a", 0), ("a", 1), ("a", 2)]
    counts = np.bincount([int(chosen(rows, key=RunKey.seeded(run)).rows[0]) for run in range(600)])
    assert (abs(counts - 200) < 60).all()  # five standard deviations
    pairs = [tuple(chosen(rows, 2, RunKey.seeded(run)).rows.tolist()) for run in range(600)]
    assert all(abs(pairs.count(pair) - 200) < 60 for pair in [(0, 1), (0, 2), (1, 2)])


def test_the_choice_is_secret_and_another_in_each_run():
    rows = [(f"author {i}", 2 * i + cell) for i in range(50) for cell in range(2)]
    assert chosen(rows).rows.tolist() != chosen(rows, key=RunKey.fresh()).rows.tolist()


def test_many_more_documents_than_fit_in_a_buffer():
    rows = [(str(i % 3000), i % 7) for i in range(60_000)]
    few = chosen(rows, 2, at_once=1000)
    assert few.authors == 3000
    assert len(few.rows) == 6000
    own = [row for row in rows if row[0] == "17"]
    assert few.rows.tolist() == chosen(rows, 2, at_once=60_000).rows.tolist()
    assert len(chosen(own, 2).rows) == 2


def test_memory_is_that_of_the_authors():
    """At most 100 bytes an author at the highest point, and no more for four times the documents."""

    def highest(documents):
        authors = tags([str(n) for n in range(10_000)])
        tracemalloc.start()
        try:
            found = Contributions(KEY)
            for start in range(0, documents, 1000):
                places = np.arange(start, start + 1000)
                found.add(authors[places % 10_000], places % 50)
            assert found.authors == 10_000
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    once, often = highest(30_000), highest(60_000)
    assert max(once, often) <= 100 * 10_000
    assert often <= 1.3 * once


@pytest.mark.parametrize("per_author", [0, -1, 1.5, True, 1001])
def test_numbers_of_documents_that_do_not_exist_are_refused(per_author):
    with pytest.raises(UsageError, match="documents per author"):
        Summary(documents_per_author=per_author)


def test_half_characters_are_names_too():
    assert chosen([("a\ud800", 3)]).rows.tolist() == [3]


# Statements -------------------------------------------------------------------------------------------------


def plainly(near, per_author, statements):
    """The k nearest statements of each author, by definition."""
    counts = np.zeros(statements, int)
    for author in {author for author, *_ in near}:
        best = {}
        for _, statement, cosine in (each for each in near if each[0] == author):
            best[statement] = max(best.get(statement, 0), cosine)
        for statement in sorted(best, key=lambda each: (-best[each], each))[:per_author]:
            counts[statement] += 1
    return counts.tolist()


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 4), st.sampled_from([0.4, 0.5, 0.75])), max_size=30),
    st.integers(1, 3),
    st.integers(1, 7),
)
def test_an_author_counts_for_the_nearest_statements(near, per_author, at_once):
    found = Mentions(per_author)
    for start in range(0, len(near), at_once):
        found.take(np.array(near[start : start + at_once], NEAR_RECORD))
        if start % 2:
            found.settled()  # whenever it is put in order
    assert found.counts(5).tolist() == plainly(near, per_author, 5)


def test_an_author_moves_at_most_2k_counts():
    rng = seeded_rng(3)
    for _ in range(50):
        worlds = []
        for _ in range(2):
            found = Mentions(2)
            number = int(rng.integers(0, 20))
            near = [(1, *each) for each in zip(rng.integers(0, 9, number), rng.random(number), strict=True)]
            found.take(np.array(near, NEAR_RECORD))
            worlds.append(found.counts(9))
        assert abs(worlds[0] - worlds[1]).sum() <= 4
