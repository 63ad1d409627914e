"""Rows of one's own: columns by any name, texts split by themselves, corpora without authors or topics."""

import csv
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from letters import AUTHORS, rows, text, write
from publius.errors import DocumentError
from publius.evaluation.dataset_files import open_dataset
from publius.evaluation.own_data import Columns
from publius.evaluation.readings import without_learned


def table(path, records):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    return path


def letters(count=4, words=60, **others):
    """Some letters of each author, without id and role."""
    return [
        {"author": author, "text": text(author, number, words), **others}
        for author in AUTHORS
        for number in range(count)
    ]


def roles(data):
    return [(t.author, t.role) for t in (*data.known, *data.unknown, *data.topics)]


def test_a_csv_of_authors_and_nothing_else(tmp_path):
    """Every second text of an author is attacked, no text is both, and it is said."""
    data = open_dataset(table(tmp_path / "letters.csv", letters()))
    assert len(data.known) == len(data.unknown) == 8
    assert not {t.text for t in data.known} & {t.text for t in data.unknown}
    assert "every second text is attacked" in data.split
    assert data.tasks == ("author",)
    assert data.authors == AUTHORS


def test_an_author_under_several_spellings_is_one(tmp_path):
    """Else the right person under another spelling would count as a miss; what stands for nobody is no author."""
    written = ["{}1", "{}1.", "{}\u200b1", "{}1\u3164"]
    records = [
        {**row, "author": written[at % 4].format(row["author"] if at % 2 else row["author"].title())}
        for at, row in enumerate(letters())
    ]
    records += [
        {"author": name, "text": text("ada", 90 + at)} for at, name in enumerate(["Nobody", "n/a"] * 2)
    ]
    data = open_dataset(table(tmp_path / "letters.csv", records))
    assert set(data.authors) == {*(f"{author.title()}1" for author in AUTHORS)}
    assert len(data.known) == len(data.unknown) == 8
    assert data.split.endswith(
        "; 4 texts without an author are left out; 12 other spellings of authors' names count as these authors"
    )
    assert "spelling" not in open_dataset(table(tmp_path / "same.csv", letters())).split


@pytest.mark.parametrize("parts", [None, 2])
@pytest.mark.parametrize("role", [None, "unknown"])
def test_a_letter_that_many_send_is_attacked_once(tmp_path, parts, role):
    """They add nothing but texts of which nobody can be named, and a verdict would be the milder for each."""
    form, given = text("ada", 50), {} if role is None else {"role": role}
    sent = [f"{form.upper()} letter {turn}" for turn in range(2)]
    campaign = [
        {"author": f"sender {n}", "text": each + "!" * n, **given} for n in range(30) for each in sent * 2
    ]
    own = [
        {**row, **({"role": ("known", "unknown")[at % 2]} if role else {})}
        for at, row in enumerate(letters())
    ]
    if role:  # whoever is attacked is known by a letter of his own
        own += [{"author": f"sender {n}", "text": text("ben", 200 + n), "role": "known"} for n in range(30)]
    alone = open_dataset(table(tmp_path / "letters.csv", own), parts=parts)
    data = open_dataset(table(tmp_path / "both.csv", [*own, *campaign]), parts=parts)
    assert {t.author for t in data.unknown} - {t.author for t in alone.unknown} == {"sender 0"}
    assert len(data.unknown) - len(alone.unknown) == (1 if (parts, role) == (None, None) else 2)
    assert "118 texts equal to an earlier one are left out" in data.split


def test_equal_texts_without_an_author_are_attacked_once(tmp_path):
    """Which of two equal texts a release is of cannot be told: each copy would make the verdict milder."""
    records = [{"text": text(author, n, 60)} for author in AUTHORS for n in range(3)]
    data = open_dataset(table(tmp_path / "notes.csv", [*records, *records[:1] * 9]))
    assert (len(data.unknown), data.alone) == (12, True)
    assert "9 texts equal to an earlier one are left out" in data.split
    signed = [{**row, "author": author} for row, author in zip(records, ("", *"aabbccddeef"), strict=True)]
    data = open_dataset(table(tmp_path / "some.csv", [*signed, {**signed[0], "author": "a"}]))
    assert "equal to an earlier one" not in data.split  # what teaches takes nobody's text away


def test_columns_by_other_names(tmp_path):
    records = [
        {
            "number": str(at),
            "writer": row["author"],
            "body": row["text"],
            "about": "sea" if at % 8 < 4 else "court",
        }
        for at, row in enumerate(letters())
    ]
    columns = Columns(id="number", text="body", author="writer", topic="about")
    data = open_dataset(table(tmp_path / "letters.csv", records), None, columns)
    assert data.tasks == ("author", "topic")
    assert {t.id for t in data.unknown} <= {str(at) for at in range(16)}
    with pytest.raises(DocumentError, match="'scribe'"):
        open_dataset(tmp_path / "letters.csv", None, Columns(id="number", text="body", author="scribe"))


def test_authors_count_by_topic_and_the_rest_teach(tmp_path):
    """An author of one text on a topic is no candidate there; its text teaches, if such texts teach every topic."""
    records = [{**row, "topic": "sea"} for row in letters(2)]
    records += [
        {"author": f"stranger{n}", "text": text("ada", 50 + n, 60), "topic": topic}
        for n, topic in enumerate(("sea", "court"))
    ]
    data = open_dataset(table(tmp_path / "a.csv", records))
    assert {t.author for t in data.topics} == {"stranger0", "stranger1"}
    assert "teach topics" in data.split
    data = open_dataset(
        table(tmp_path / "b.csv", [r for r in records if r["topic"] == "sea" or "ada" in r["author"]][:-1])
    )
    assert not data.topics
    assert "left out" in data.split or len(data.known) == 4


def test_one_text_each_is_cut_in_two(tmp_path):
    data = open_dataset(table(tmp_path / "letters.csv", [*letters(1, 100), *letters(1, 20)[:1]][:4]))
    assert "first half" in data.split
    known, unknown = data.known[0], data.unknown[0]
    assert (known.author, len(known.text.split()), len(unknown.text.split())) == ("ada", 50, 50)


def test_too_little_to_split(tmp_path):
    with pytest.raises(DocumentError, match="field 'role'"):
        open_dataset(table(tmp_path / "letters.csv", letters(1, 20)))


def test_without_authors_every_text_is_its_own_candidate(tmp_path):
    records = [{"text": text(author, n, 60)} for author in AUTHORS for n in range(3)]
    data = open_dataset(table(tmp_path / "notes.csv", records))
    assert data.alone
    assert len(data.authors) == len(data.unknown) == 12
    assert (data.tasks, data.chance("author"), data.topic_only_floor()) == (("author",), 1 / 12, None)
    assert "own candidate" in data.split


def test_without_authors_but_with_topics(tmp_path):
    """Half of each topic teaches it; with texts of their own that teach, all are attacked."""
    records = [{"text": text(author, n, 60), "topic": "sea" if author in "ada ben" else "court"}
               for author in AUTHORS for n in range(4)]  # fmt: skip
    path = table(tmp_path / "notes.csv", records)
    data = open_dataset(path)
    assert (len(data.unknown), len(data.topics), data.tasks) == (8, 8, ("author", "topic"))
    assert data.topic_only_floor() == 2 / 8
    topics = table(tmp_path / "topics.csv", records)
    data = open_dataset(path, topics)
    assert (len(data.unknown), len(data.topics)) == (16, 16)


def of_topics(path, *counts):
    """A table of texts without authors, so many on each topic."""
    return table(path, [{"text": text("ada", 10 * topic + n, 60), "topic": f"topic {topic}"}
                        for topic, count in enumerate(counts) for n in range(count)])  # fmt: skip


def test_texts_alone_on_their_topic_are_left_out_and_counted(tmp_path):
    """No text could teach their topic; where that leaves fewer than two topics, nothing is guessed."""
    data = open_dataset(of_topics(tmp_path / "a.csv", 4, 1, 3, 1))
    assert "; 2 texts with no other on the same topic (2 of 4 topics) are left out" in data.split
    assert (len(data.unknown), len(data.topics)) == (4, 3)
    assert {t.topic for t in data.unknown} == {t.topic for t in data.topics} == {"topic 0", "topic 2"}
    assert data.tasks == ("author", "topic")
    for counts in ((4, 1), (1, 1, 1)):
        with pytest.raises(DocumentError, match=r"have one text only.*--topics"):
            open_dataset(of_topics(tmp_path / "b.csv", *counts))
    assert "left out" not in open_dataset(of_topics(tmp_path / "c.csv", 4)).split


def test_texts_alone_on_their_topic_are_refused_where_roles_or_teachers_are_given(tmp_path):
    found = rows()
    found[-1] = {**found[-1], "role": "unknown", "topic": "moon"}
    with pytest.raises(DocumentError, match="no text teaches the topic 'moon'"):
        open_dataset(write(tmp_path / "rows.jsonl", found))
    with pytest.raises(DocumentError, match="no text teaches the topic 'topic 1'"):
        open_dataset(of_topics(tmp_path / "a.csv", 2, 1), of_topics(tmp_path / "topics.csv", 2))


@settings(deadline=None, max_examples=50)
@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from(["sea", "court", "moon"])), min_size=4, max_size=9
    ),
    st.booleans(),
)
def test_a_split_of_ours_never_lacks_a_teacher(labels, authors):
    with tempfile.TemporaryDirectory() as folder:
        records = [{"text": text("ada", at, 90), "topic": topic} | ({"author": author} if authors else {})
                   for at, (author, topic) in enumerate(labels)]  # fmt: skip
        try:
            data = open_dataset(table(Path(folder) / "a.csv", records))
        except DocumentError as error:  # too few to split, never a topic without a teacher
            if "teaches the topic" in str(error):
                raise
        else:
            assert {t.topic for t in data.unknown} <= {t.topic for t in data.topic_training}


def test_roles_without_authors(tmp_path):
    records = [{k: v for k, v in row.items() if k != "author"} for row in rows()]
    for row in records:
        row["role"] = "topic" if row["role"] == "known" else "unknown"
    data = open_dataset(write(tmp_path / "corpus.jsonl", records))
    assert data.alone
    assert (len(data.unknown), len(data.topics)) == (4, 4)


def test_a_sensitive_field_comes_along_and_is_not_shown(tmp_path):
    records = [{**row, "gender": "f" if row["author"] < "c" else "m"} for row in rows()]
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in records))
    data = open_dataset(path, None, Columns(sensitive="gender"))
    assert [t.sensitive for t in data.unknown] == ["f", "f", "m", "m"]
    assert "sensitive" not in repr(data.unknown[0])


GAPS = [lambda row: {**row, "author": None}, lambda row: {**row, "author": ""}, lambda row: {**row, "author": "N/A"},
        lambda row: {name: value for name, value in row.items() if name != "author"}]  # fmt: skip


@pytest.mark.parametrize("without", GAPS)
@pytest.mark.parametrize("place", [0, 5])
def test_texts_without_an_author_are_counted_and_not_attacked(tmp_path, without, place):
    found = letters(4)
    found[place] = without(found[place])
    data = open_dataset(write(tmp_path / "rows.jsonl", found))
    assert (
        "1 of them without an author, teach topics" in data.split or "1 text without an author" in data.split
    )
    assert all(text.author for text in (*data.known, *data.unknown))
    assert data.authors == AUTHORS
    plain = [{name: value for name, value in row.items() if name != "topic"} for row in found]
    data = open_dataset(write(tmp_path / "plain.jsonl", plain))
    assert data.split.endswith("; 1 text without an author is left out")
    assert len(data.known) + len(data.unknown) == len(found) - 1


@pytest.mark.parametrize("without", GAPS)
def test_texts_without_an_author_where_roles_are_given(tmp_path, without):
    found = rows()
    stray = {"id": "stray", "author": "ada", "topic": "sea", "role": "unknown", "text": text("ada", 9)}
    data = open_dataset(write(tmp_path / "rows.jsonl", [without(stray), *found]))
    assert data.split == "the roles that the data give; 1 text without an author is left out"
    assert len(data.unknown) == len(data.known) == 4


def test_texts_without_a_value_to_infer_are_counted(tmp_path):
    found = [{**row, "mood": "calm"} for row in rows()]
    found += [{**found[1], "id": "b", "mood": None}]
    data = open_dataset(write(tmp_path / "rows.jsonl", found), columns=Columns(sensitive="mood"))
    assert data.split.endswith("; 1 text without a value to infer is left out")
    assert "sensitive" in data.tasks
    assert len(data.unknown) == 4


@pytest.mark.parametrize(
    "columns", [Columns(author="writer"), Columns(topic="theme"), Columns(sensitive="mood")]
)
def test_a_field_that_was_named_and_is_nowhere_is_an_error(tmp_path, columns):
    with pytest.raises(DocumentError, match="is not there, or empty everywhere"):
        open_dataset(write(tmp_path / "rows.jsonl", rows()), columns=columns)


def test_a_part_of_a_text_that_was_learned_from_is_not_attacked(tmp_path, embeddings):
    """Texts are cut in two where nobody has a second one; what the vectors learned from is left out in part, too."""
    rows_ = [{"author": author, "text": f"{author} {text(author, 1, 120)}"} for author in AUTHORS]
    write(tmp_path / "public.jsonl", rows_[:1])
    vectors = replace(embeddings, source={"format": "domain-vectors"})
    found = open_dataset(write(tmp_path / "rows.jsonl", rows_))
    kept = without_learned(found, vectors, "", tmp_path / "public.jsonl")
    assert [each.author for each in found.unknown] == [*AUTHORS]
    assert [each.author for each in kept.unknown] == [*AUTHORS[1:]]
    assert "1 that the word vectors learned from is left out" in kept.split
    assert "nobody could look whether the word vectors" in kept.unlooked, "no digest says that these were all"
    assert without_learned(found, embeddings, "") is found, "of no texts of anybody's"
    assert kept.learned_authors == 0
    more = [{"author": author, "text": text(author, 7)} for author in AUTHORS[1:3]]
    kept = without_learned(found, vectors, "", write(tmp_path / "more.jsonl", [*rows_[:1], *more]))
    assert kept.learned_authors == 2, "of whom other texts are attacked"
