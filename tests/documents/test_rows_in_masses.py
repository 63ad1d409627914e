"""Files of rows in masses: what is nearly empty is refused, what is many is read; ids find their place quickly."""

import gzip

import pytest

from publius.documents import row_readers, seen_ids
from publius.documents.corpus import open_corpus
from publius.documents.seen_ids import IdSet
from publius.errors import DocumentError

LIMIT = 100


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    monkeypatch.setattr(row_readers, "ROWS_LIMIT", LIMIT)


def read(path):
    return sum(1 for _ in open_corpus(path, number=True))


@pytest.mark.parametrize(
    ("name", "head", "row"),
    [
        ("a.csv", "text\n", "a\n"),
        ("a.csv", "text\n", "\n"),
        ("a.jsonl", "", '{"text": "a"}\n'),
        ("a.jsonl", "", "\n"),
    ],
)
def test_rows_that_are_nearly_empty_are_refused_in_masses_only(name, head, row, tmp_path):
    path = tmp_path / name
    path.write_text(head + "aaaaaaaaaaa\n" * (name == "a.csv") + row * (LIMIT - 3) + '{"text": "b"}\n')
    assert read(path) >= 1
    path.write_text(head + row * (LIMIT + 1))
    with pytest.raises(
        DocumentError, match=r"more than 100 rows of fewer than 32 bytes each .* cut it into files"
    ):
        read(path)
    with gzip.open(tmp_path / f"{name}.gz", "wt") as packed:
        packed.write(head + row * (LIMIT + 1))
    with pytest.raises(DocumentError, match="more than 100 rows"):
        read(tmp_path / f"{name}.gz")


@pytest.mark.parametrize(
    ("name", "head", "row"),
    [("a.csv", "text\n", "a" * 32 + "\n"), ("a.jsonl", "", '{"text": "' + "a" * 20 + '"}\n')],
)
def test_any_number_of_rows_that_say_something_is_read(name, head, row, tmp_path):
    path = tmp_path / name
    path.write_text(head + row * (50 * LIMIT))
    assert read(path) == 50 * LIMIT


def test_a_folder_of_parts_is_read(tmp_path):
    """The way out that the refusal names."""
    for part in range(3):
        (tmp_path / f"{part}.csv").write_text("text\n" + "a\n" * (LIMIT - 1))
    assert read(tmp_path) == 3 * (LIMIT - 1)


def test_nobody_can_make_ids_that_share_a_place(monkeypatch):
    """The place of an id depends on a key that differs from run to run."""
    monkeypatch.setattr(seen_ids, "_FIRST", 0)
    places = []
    for _ in range(2):
        seen = IdSet()
        assert all(seen.add(str(number)) for number in range(500))
        assert not any(seen.add(str(number)) for number in range(500))
        places.append([bytes(table._bytes) for table in seen._tables])
    assert places[0] != places[1]
