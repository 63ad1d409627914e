"""Who an author is, and which of his documents count."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from publius.collections.authors import author_key, near_duplicates
from publius.collections.contributions import Contributions
from publius.errors import DataError, UsageError
from publius.noise.randomness import RunKey
from publius.text.author_names import name_key

# Authors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "same",
    [["Smith", " smith ", "SMITH\t", "\uff33mith"], ["Straße", "STRASSE"], [17, 17.0, "17", " 17"],
     ["é", "e\u0301", "É"], ["ﬁnn", "FINN"], [["Ann"], "ann", ["", "ann"]]],
)  # fmt: skip
def test_ids_of_one_author(same):
    assert len({author_key(value) for value in same}) == 1


@pytest.mark.parametrize("nobody", [None, "", "  \n", float("nan"), [], [None, ""], "\u00a0"])
def test_no_author(nobody):
    assert author_key(nobody) is None


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (["a", "b"], "2 authors"),
        ({"a": 1}, "not dict"),
        (True, "not bool"),
        ("Ann \ud800", "text of Unicode"),
        ("x" * 1025, "at most 1,024 characters"),
    ],
)
def test_several_authors_or_none_that_can_be_compared_are_refused(wrong, reason):
    with pytest.raises(DataError, match=reason):
        author_key(wrong)


@given(st.text())
def test_a_key_is_its_own_key(text):
    assert author_key(author_key(text)) == author_key(text)


def test_characters_that_show_nothing_make_no_other_author():
    assert {author_key("ann" + "\u200b" * count) for count in range(6)} == {"ann"}
    assert author_key("\u200b\ufeff") is None


def test_near_duplicates_are_shown_and_nothing_else():
    keys = ["john smith", "smith, john", "jóhn smith", "jon smith", "peter jones", "peter  jones", "mary", "mery",
            "c-10017", "c-10018", "annabel", "anneabel", "o'neill", "oneill", "zoe\u200b", "zoe"]  # fmt: skip
    assert near_duplicates(keys) == [
        ("annabel", "anneabel"), ("john smith", "jon smith", "jóhn smith", "smith, john"), ("o'neill", "oneill"),
        ("peter  jones", "peter jones"), ("zoe", "zoe\u200b"),
    ]  # fmt: skip
    assert near_duplicates([]) == near_duplicates(["a", "a"]) == []


def test_a_long_name_takes_no_more_memory_than_its_length():
    """Without each of its letters once, a name of 5,000 letters is 25 MB, and one of 60,000 gigabytes."""
    tracemalloc.start()
    try:
        assert near_duplicates(["a" * 4999 + "b", "a" * 4999 + "c", "ada lovelace", "ada lovelac"]) == [
            ("ada lovelac", "ada lovelace")
        ]
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


# Contributions ------------------------------------------------------------------------------------------------------

KEY = RunKey.seeded(5)
ROWS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["", "x", "y", "z"]), st.integers(0, 2)), max_size=12
)


def chosen(rows, per_author=1, key=KEY):
    found = Contributions(key, per_author)
    for row in rows:
        found.add(*row)
    return found


@given(ROWS, st.integers(1, 3), st.integers(1, 5))
def test_documents_added_together_are_those_added_one_by_one(rows, per_author, at_once):
    together = Contributions(KEY, per_author)
    for start in range(0, len(rows), at_once):
        together.add_all(rows[start : start + at_once])
    one_by_one = chosen(rows, per_author)
    assert together.cells.tolist() == one_by_one.cells.tolist()
    for one, other in zip(together.chosen(), one_by_one.chosen(), strict=True):
        assert one.tolist() == other.tolist()


@given(ROWS, st.integers(1, 3), st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_nor_parts_matter(rows, per_author, random):
    cells = chosen(rows, per_author).cells.tolist()
    mixed = [*rows, *rows]
    random.shuffle(mixed)
    assert chosen(mixed, per_author).cells.tolist() == cells
    half = chosen(mixed[::2], per_author)
    half.take(chosen([*mixed[1::2], *mixed[::5]], per_author).chosen())
    assert half.cells.tolist() == cells


@given(ROWS, st.integers(1, 3))
def test_an_author_contributes_as_much_as_alone(rows, per_author):
    """What others wrote changes nothing, and c documents at most count, fewer only where there are fewer."""
    own = {author: [row for row in rows if row[0] == author] for author, *_ in rows}
    alone = [chosen(documents, per_author).cells for documents in own.values()]
    assert [len(cells) for cells in alone] == [
        min(per_author, len({*documents})) for documents in own.values()
    ]
    assert (
        sorted(np.concatenate([np.zeros(0, int), *alone]).tolist()) == chosen(rows, per_author).cells.tolist()
    )
    assert chosen(rows, per_author).authors == len(own)


def test_every_document_of_an_author_has_the_same_chance():
    """Two copies of one text are one document: 400 runs, three documents, the copied one not more often."""
    rows = [("a", "x", 0), ("a", "x", 0), ("a", "x", 0), ("a", "y", 1), ("a", "z", 2)]
    counts = np.bincount(
        [int(chosen(rows, key=RunKey.seeded(run)).cells[0]) for run in range(600)], minlength=3
    )
    assert (abs(counts - 200) < 60).all()  # five standard deviations


def test_one_text_in_two_cells_is_two_documents():
    rows = [("a", "x", 0), ("a", "x", 1)]
    assert chosen(rows, 2).cells.tolist() == [0, 1]
    assert {int(chosen(rows, key=RunKey.seeded(run)).cells[0]) for run in range(40)} == {0, 1}


def test_the_choice_is_secret_and_another_in_each_run():
    rows = [(f"author {i}", text, 2 * i + cell) for i in range(50) for cell, text in enumerate("xy")]
    assert chosen(rows).cells.tolist() != chosen(rows, key=RunKey.fresh()).cells.tolist()
    assert "author" not in repr(chosen(rows)).replace("per_author", "")


def test_many_more_documents_than_fit_in_a_buffer():
    rows = [(str(i % 3000), str(i), i % 7) for i in range(60_000)]
    few = chosen(rows, 2)
    assert few.authors == 3000
    assert len(few.cells) == 6000
    last = chosen([row for row in rows if row[0] == "17"], 2)
    assert few.per_author == last.per_author


@pytest.mark.long
def test_memory_is_that_of_the_authors():
    """At most 100 bytes an author at the highest point, and no more for twice the documents."""

    def highest(documents):
        tracemalloc.start()
        try:
            found = Contributions(KEY)
            for start in range(0, documents, 100):  # together, as a run adds them
                found.add_all(
                    (str(place % 8_000), str(place), place % 50) for place in range(start, start + 100)
                )
            assert found.authors == 8_000
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    highest(8_000)  # whatever is imported or made once
    once, often = highest(48_000), highest(96_000)
    assert max(once, often) <= 100 * 8_000
    assert often <= 1.1 * once


@pytest.mark.parametrize("per_author", [0, -1, 1.5, True, 1001])
def test_numbers_of_documents_that_do_not_exist_are_refused(per_author):
    with pytest.raises(UsageError, match="documents per author"):
        Contributions(KEY, per_author)


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(DataError, match="without an author"):
        Contributions(KEY).add("", "x", 0)
    with pytest.raises(UsageError, match="cell"):
        Contributions(KEY).add("a", "x", -1)


def test_half_characters_are_texts_too():
    assert chosen([("a\ud800", "x\udfff", 3)]).cells.tolist() == [3]


@given(ROWS, st.integers(1, 3), st.sets(st.sampled_from("abcd")))
def test_who_is_left_out_is_as_one_who_wrote_nothing(rows, per_author, gone):
    found = chosen(rows, per_author)
    found.keep_only({"a", "b", "c", "d", "nobody"} - gone)
    assert (
        found.cells.tolist() == chosen([row for row in rows if row[0] not in gone], per_author).cells.tolist()
    )


def test_a_plain_name_is_compared_as_every_other():
    """Names in ASCII take a shorter way to the same key."""
    for code in range(1, 128):
        for name in (f"Ada{chr(code)}B", f" {chr(code)}Ada ", chr(code)):
            assert author_key(name) == (name_key(name) or None), code
