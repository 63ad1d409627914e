"""Public texts from a file: roles, topics, folds, and what is not attacked."""

import json

import pytest

from publius.errors import DataError
from publius.evaluation.corpus import Public, everybody, split


def read(tmp_path, rows, **more):
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Public(source=path, **more).read()[0]


def row(text, author="a", **more):
    return {"text": text, "author": author, **more}


def test_roles_and_topics_are_read_by_their_columns(tmp_path):
    rows = [row("tea", role="known", topic=" drinks "), row("", role="known"), row("rain", "b", role="", topic="")]
    texts = read(tmp_path, rows)
    assert [(each.text, each.role, each.topic) for each in texts] == [
        ("tea", "known", "drinks"),
        ("rain", "unknown", None),
    ]
    assert [each.topic for each in read(tmp_path, [row("tea", kind="hot")], topic_field="kind")] == ["hot"]


def test_where_no_text_is_known_each_is_attacked(tmp_path):
    assert [each.role for each in read(tmp_path, [row("tea", role="topic"), row("rain", role="unknown")])] == [
        "unknown"
    ] * 2


def test_another_role_is_refused(tmp_path):
    with pytest.raises(DataError, match="Row 2 has another role than known, unknown, topic"):
        read(tmp_path, [row("tea", role="known"), row("rain", role="test")])


def test_a_text_that_stands_there_twice_is_attacked_once(tmp_path):
    rows = [row("a cup of tea"), row("A cup  of tea", "b"), row("rain"), row("wind", "b"), row("snow", "b")]
    data = split(read(tmp_path, rows), folds=2)
    assert [each.text for each in data.attacked] == ["a cup of tea", "rain", "wind", "snow"]
    assert "1 text equal to an earlier one left out" in data.said
    assert data.folds == (0, 1)


def test_two_authors_are_needed(tmp_path):
    rows = [row("tea", role="known"), row("rain", role="unknown"), row("snow", role="unknown")]
    with pytest.raises(DataError, match="role unknown"):
        split(read(tmp_path, rows))
    with pytest.raises(DataError, match="two authors"):
        everybody(read(tmp_path, [row("tea")]))
