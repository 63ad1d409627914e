"""What a summary promises and says: one test for each promise."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from made_collection import Keywords, Letters, made_rows

from publius.documents.corpus import Batch
from publius.documents.document import Plan
from publius.errors import PolicyError, UsageError
from publius.noise.randomness import RunKey, seeded_rng
from publius.summaries.contributions import tags_of
from publius.summaries.summary import Summary, expected, too_few
from publius.summaries.tables import NoisyTable
from publius.summaries.told import LIKE_ALL, TOO_FEW, Told
from publius.text.normal_form import author_key

BY = {"district": ["north", "south"]}


def columns(rows):
    return (
        [row["text"] for row in rows],
        [row["author"] for row in rows],
        {"district": [row["district"] for row in rows]},
    )


def summary(topics, subjects, **more):
    return Summary(topics, **{"epsilon": 1, "by": BY, "subjects": subjects, **more})


def exact(of, rows):
    """The same tables without noise, of which documents were contributed under a fixed key."""
    key = RunKey.seeded(1)
    return of.gathered(rows[0], rows[1], rows[2], key)


def test_which_tables_there_are(topics, subjects):
    assert tuple(Summary(subjects=subjects).shares) == ("subjects",)
    assert tuple(Summary(topics, subjects=subjects).shares) == ("topics", "subjects")
    assert tuple(summary(None, subjects).shares) == ("totals", "topics", "subjects")
    assert summary(None, subjects).classifier is subjects
    assert tuple(summary(topics, subjects, ask=["a b"]).shares) == ("totals", "topics", "subjects", "statements")
    assert Summary(subjects).subjects is subjects
    for each in (summary(topics, subjects), summary(topics, subjects, ask=["a"])):
        assert sum(each.shares.values()) == 1


def test_the_noise_is_for_an_author_who_is_replaced(topics, subjects):
    of = summary(topics, subjects, documents_per_author=3, epsilon="0.5", shares="totals=0.2,topics=0.5,subjects=0.3")
    assert {name: of.noise(name).scale for name in of.shares} == {
        "totals": 60, "topics": 24, "subjects": 40,
    }  # fmt: skip
    asked = Summary(
        subjects=subjects,
        ask=["a", "b", "c", "d", "e"],
        statements_per_author=2,
        encoder=Letters(),
        shares="statements=1",
    )
    assert asked.noise("statements").scale == 4
    few = Summary(
        subjects=subjects, ask=["a", "b", "c"], statements_per_author=3, encoder=Letters(), shares="statements=1"
    )
    assert few.noise("statements").scale == 3  # each of three counts moves by one at most


def test_counts_of_groups_topics_and_subjects(topics, subjects, rows):
    of = summary(topics, subjects, epsilon=20)
    told = of(*columns(rows))
    assert told.authors == 400
    groups = {row["group"]: row for row in told.groups}
    assert groups["north"]["documents"] == pytest.approx(200, abs=4)
    assert groups["other"]["high"] <= 5
    counts = {(row["group"], row["label"]): row for row in told.counts}
    assert counts["north", "bus"]["low"] > counts["south", "bus"]["high"]
    assert told.topics[0]["label"] == "bus"
    assert told.subjects[0]["words"] == "bus train tram driver"
    assert sum(row["share"] for row in told.subjects) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("c", [1, 2])
def test_limits_cover_what_was_contributed(topics, subjects, rows, c):
    of = summary(topics, subjects, documents_per_author=c, ask=["bus train", "school"], encoder=Letters())
    found = exact(of, columns(rows))
    cells = found.cells
    truth = {name: of.histogram(name, cells) for name in ("totals", "topics", "subjects")}
    held, rng = Counter(), seeded_rng(4)
    for _ in range(60):
        told = of.draw(found, lambda name: rng)
        low, high = told.tables["subjects"].limits()
        held["subjects"] += bool(((low <= truth["subjects"]) & (truth["subjects"] <= high)).all())
        rows_of = [(row["low"], row["documents"], row["high"]) for row in told.groups]
        held["groups"] += all(
            low <= true <= high for (low, _, high), true in zip(rows_of, truth["totals"], strict=True)
        )
        low, high = told.tables["topics"].summed(0).limits()
        true = truth["topics"].sum(axis=0)
        held["topics"] += bool(((low <= true) & (true <= high)).all())
        stated = np.array([[row["low"], row["high"]] for row in told.statements])
        true = found.mentions.counts(2)
        held["statements"] += bool(((stated[:, 0] <= true) & (true <= stated[:, 1])).all())
        assert told.documents[0] <= len(cells) <= told.documents[1] or c > 1
        for row in (*told.groups, *told.topics, *told.subjects, *told.counts):
            assert row["low"] <= row["documents"] <= row["high"]
            assert row["share"] <= min(1.0, row["high"] / told.documents[0])
    assert min(held.values()) >= 53


def test_a_cell_depends_on_its_document_alone(topics, subjects, rows):
    of = summary(topics, subjects, ask=["bus train"], encoder=Letters())
    texts, authors, groups = columns(rows)
    cells, plan = of.cells_of(RunKey.seeded(3)), Plan(text="text", fields=("district",), raw=True)
    values = [*zip(texts, [None] * len(texts), authors, groups["district"], strict=True)]
    together = cells.counted((Batch(0, values, plan), np.arange(len(texts))))
    for place in (0, 17, len(texts) - 1):
        alone = cells.counted((Batch(place, values[place : place + 1], plan), np.array([place])))
        assert alone.cells[0] == together.cells[place]
        own = together.near["cosine"][together.near["tag"] == tags_of([author_key(authors[place])], cells.secret)[0]]
        assert set(alone.near["cosine"].tolist()) <= set(own.tolist())


def test_only_chosen_documents_are_classified(topics, rows):
    asked, texts = [], [f"{text} {place}" for place, text in enumerate(columns(rows)[0])]

    class Noting:
        kind, name, labels, sha256, public, words = topics.kind, topics.name, topics.labels, topics.sha256, (), ()

        def answers(self, given):
            asked.extend(given)
            return topics.answers(given)

    authors = [place % 40 for place in range(len(texts))]
    found = Summary(Noting(), shares={"topics": 1}, documents_per_author=2).gathered(texts, authors, {}, RunKey.fresh())
    assert len(asked) == len({*asked}) == len(found.cells) == 80
    by = [int(text.rpartition(" ")[2]) % 40 for text in asked]
    assert sorted(by) == sorted([*range(40)] * 2)


def test_an_author_counts_once_however_the_name_is_written(topics):
    of = Summary(topics, shares={"topics": 1}, epsilon=20)
    names = ["Ada", " ada ", "ADA", "Ａｄａ"] * 30 + [f"a{n}" for n in range(40)]
    told = of(["bus"] * len(names), names)
    assert told.authors == 41
    assert told.topics[0]["documents"] in range(40, 43)


def test_who_is_not_named_counts_nowhere(topics):
    of = Summary(topics, shares={"topics": 1}, epsilon=20)
    told = of(["bus"] * 80, ["", None] * 20 + [f"a{n}" for n in range(40)])
    assert told.authors == 40


# Refusals and what is not told ------------------------------------------------------------------------------


def test_few_authors_are_refused_by_their_number_alone(topics, subjects):
    of = Summary(subjects=subjects)
    assert "5 authors are too few at epsilon 1: every count would be noise" in too_few(of, 5)
    (about,) = expected(of)
    assert about.cells == 5
    assert about.within == of.noise("subjects").half_width(cells=5)
    assert too_few(of, about.told) is None
    assert too_few(of, about.told - 1) is not None
    with pytest.raises(PolicyError, match="5 authors are too few"):
        of(["bus"] * 5, range(5))
    with pytest.raises(PolicyError, match="1 author is too few"):
        of(["bus"] * 500, ["Ada"] * 500)
    told = of(["bus"] * 5, range(5), force=True)
    assert all(row["low"] <= 5 and row["share"] <= 1 for row in told.subjects)


def test_what_noise_hides_is_not_told(subjects):
    of = Summary(subjects=subjects)
    values = np.array([100, 9, -3, 30, 5])
    table = NoisyTable(values, of.noise("subjects"), 140)
    told = Told(of, 140, {"subjects": table})
    width = table.noise.half_width(cells=5)
    assert 9 <= width < 30
    assert [row["label"] for row in told.subjects] == ["bus", "park"]
    made = Counter(row["about"] for row in told.synthetic(seeded_rng(1)))
    assert set(made) == {"bus", "park"}
    assert sum(made.values()) <= 140


def test_no_count_is_beyond_all_authors(subjects):
    """Five complaints of which one subject holds 94.1 % have limits from 0 to 5."""
    of = Summary(subjects=subjects)
    told = Told(of, 5, {"subjects": NoisyTable(np.array([40, 0, -9, 3, 1]), of.noise("subjects"), 5)})
    assert [row["documents"] for row in told.subjects] == [5]
    assert not Told(of, 5, {"subjects": NoisyTable(np.array([4, 0, -9, 3, 1]), of.noise("subjects"), 5)}).subjects


def test_words_of_a_group_are_of_what_stands_out_in_it(topics, subjects):
    rows = made_rows(weights=(1, 6, 2, 1))
    told = summary(topics, subjects, epsilon=8)(*columns(rows))
    north, south, other = told.words_by_group.values()
    assert north.split()[0] == "bus"
    assert "bus" not in south.split()
    assert other == TOO_FEW
    alike = [{**row, "text": "bus"} for row in rows]
    told = summary(topics, subjects, epsilon=8)(*columns(alike))
    assert [*told.words_by_group.values()][:2] == [LIKE_ALL] * 2


def test_made_up_rows_are_of_counts_and_public_words(topics, subjects, rows):
    told = summary(topics, subjects, epsilon=20)(*columns(rows))
    made = [*told.synthetic(seeded_rng(2))]
    assert len(made) == pytest.approx(400, abs=30)
    counts = Counter((row["district"], row["about"]) for row in made)
    for row in told.counts:
        assert counts[row["group"], row["label"]] == pytest.approx(row["documents"], abs=6)
    public = {word for words in topics_words() for word in words}
    assert all(set(row["bag"]) <= public and sum(row["bag"].values()) == 40 for row in made)
    assert len([*told.synthetic(seeded_rng(2), 7)]) == 7
    assert not [*told.synthetic(seeded_rng(2), 0)]


def topics_words():
    from made_collection import TOPICS

    return TOPICS.values()


# Statements -------------------------------------------------------------------------------------------------


def test_statements_count_authors(subjects):
    ask = ["bus train", "zzz yyy", "school lesson"]
    of = Summary(subjects=subjects, ask=ask, encoder=Letters(), epsilon=20, shares={"statements": 1})
    texts = ["bus train"] * 60 + ["school lesson"] * 50 + ["xxx"] * 10 + [""] * 5
    authors = [n // 2 for n in range(60)] + [100 + n for n in range(65)]
    told = of(texts, authors)
    assert [row["statement"] for row in told.statements] == ask
    assert [row["authors"] for row in told.statements] == pytest.approx([30, 0, 50], abs=2)


def test_an_author_counts_for_the_nearest_statements_only(subjects):
    ask = ["aab", "aac", "aad", "aae"]  # all near to each other
    of = Summary(
        subjects=subjects, ask=ask, statements_per_author=2, encoder=Letters(), epsilon=20, shares="statements=1"
    )
    told = of(["aab aac"] * 40 + ["aae"] * 40, [n % 40 for n in range(80)])
    assert sum(row["authors"] for row in told.statements) == pytest.approx(80, abs=8)
    assert told.statements[3]["authors"] == pytest.approx(40, abs=2)


@pytest.mark.parametrize("ask", [["a", "a"], ["a", " "], ["a b", "a  b"]])
def test_statements_that_are_none_are_refused(subjects, ask):
    with pytest.raises(UsageError, match="empty or given twice"):
        Summary(subjects=subjects, ask=ask, encoder=Letters()).statements  # noqa: B018


# What changed -----------------------------------------------------------------------------------------------


def test_what_changed_since_an_earlier_summary(topics, subjects):
    of = summary(topics, subjects, epsilon=4)
    before = of(*columns(made_rows(1500, 2, (5, 5, 1, 0))))
    now = of(*columns(made_rows(1500, 3, (5, 0, 1, 5))))
    told = replace(now, earlier=now.earlier_of(json.loads(before.noisy()), "an earlier summary"))
    changes = {row["label"]: row["change"] for row in told.subjects}
    assert changes["bus"] == ""
    assert changes["park"] in ("new", "more")
    assert changes.get("heating") in ("less", "gone")
    assert told.subjects[0]["label"] == "park"
    park = told.subjects[0]
    assert 1 < park["times_low"] < (park["times_high"] or 1e9)
    same = of(*columns(made_rows(1500, 5, (5, 5, 1, 0))))
    told = replace(same, earlier=same.earlier_of(json.loads(before.noisy()), "an earlier summary"))
    assert not [row for row in told.subjects if row["change"]]


def test_other_cells_are_not_compared(topics, subjects, rows):
    told = summary(topics, subjects)(*columns(rows))
    other = Summary(subjects=Keywords("subjects", ("bus", "park")), by=BY)(*columns(rows))
    other.summary.subjects.sha256 = "x" * 64
    earlier = told.earlier_of(json.loads(other.noisy()), "an earlier summary")
    assert earlier.topics is None
    assert earlier.subjects is None


# What cannot be asked ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "reason"),
    [({"epsilon": 0}, "epsilon"), ({"documents_per_author": 0}, "documents per author"),
     ({"statements_per_author": 0}, "statements per author"), ({"by": {"bag": ["a"]}}, "column 'bag' of its own"),
     ({"by": ["district"]}, "FIELD=VALUE"), ({"shares": "topics=2"}, "sum to 2"), ({"shares": "statements=1"}, "no table")],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(topics, subjects, more, reason):
    with pytest.raises(UsageError, match=reason):
        summary(topics, subjects, **more)


def test_columns_of_other_lengths_are_refused(topics):
    with pytest.raises(UsageError, match="for each text"):
        Summary(topics, shares={"topics": 1})(["bus"], ["a", "b"])


def test_epsilon_is_exact(topics, subjects):
    of = summary(topics, subjects, epsilon=0.1, shares="topics=1/3")
    assert of.noise("topics").scale == Fraction(2) / (Fraction(1, 10) / 3)
