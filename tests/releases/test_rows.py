"""Rows: private pieces, their secret order, and the same rows in every format."""

import csv
import re
from collections import Counter
from types import SimpleNamespace

import msgspec
import pytest

from publius.errors import UsageError
from publius.noise.randomness import RunKey
from publius.releases import rows
from publius.releases.rows import check_kept, read_rows, row_of, spreadsheet_safe, tally_of, unmarked, write_piece
from publius.text.bag import Bag

KEY = RunKey(bytes(range(32)))


def outcome(label=None, bag=None, words=None):
    return SimpleNamespace(label=label, bag=bag and Bag(bag), words=words)


OUTCOMES = {
    "labels": [outcome("a"), outcome("b"), outcome("a"), outcome('=cmd "x", né')],
    "bags": [outcome(bag=["tea", "milk", "tea"]), outcome(bag=["tea", "=sum"]), outcome(bag=["a", "b"])],
    "labels with bags": [outcome("a", ["tea"]), outcome("b", ["milk"]), outcome("a", ["tea"])],
    "ordered": [outcome(words=("b", "a", "b")), outcome(words=("-x", "y", "z"))],
}


def pieces_of(folder, outcomes, size=2, kept=None, ids=False):
    found = []
    for start in range(0, len(outcomes), size):
        path = folder / f"{start:05d}.rows"
        encode = msgspec.json.encode
        lines = [
            (encode(f"doc\t{start + n}") + b"," if ids else b"") + encode(row_of(each, kept))[1:] + b"\n"
            for n, each in enumerate(outcomes[start : start + size])
        ]
        labels = Counter(each.label for each in outcomes[start : start + size] if each.label)
        write_piece(path, lines, labels)
        found.append(path)
    return found


def written(folder, outcomes, *, format="jsonl", ids=False, kept=None):
    made = folder / f"{format}-{ids}"
    (made / "pieces").mkdir(parents=True)
    (made / "out").mkdir()
    pieces = pieces_of(made / "pieces", outcomes, kept=kept, ids=ids)
    rows.write_rows(
        pieces, made / "out", KEY, rows=len(outcomes), kind="labels" if outcomes[0].label else "words", format=format,
        ids=ids, keep=tuple(kept or ()),
    )  # fmt: skip
    return made / "out"


@pytest.mark.parametrize("kind", OUTCOMES)
@pytest.mark.parametrize("ids", [False, True])
def test_every_format_holds_the_same_rows(tmp_path, kind, ids):
    kept = {"year": 2024, "note": None, "=x": "+1"}
    found = {}
    for format in ("jsonl", "csv", "parquet"):
        found[format] = [*read_rows(written(tmp_path, OUTCOMES[kind], format=format, ids=ids, kept=kept))]
    expected = [{**row, "year": "2024", "note": row["note"]} for row in found["jsonl"]]
    assert found["parquet"] == expected
    assert found["csv"] == [{**row, "note": ""} for row in expected]
    assert [row["id"] for row in found["jsonl"]] == (
        [f"doc\t{n}" for n in range(len(OUTCOMES[kind]))] if ids else [f"{n + 1}" for n in range(len(OUTCOMES[kind]))]
    )


def test_the_order_is_the_key_s_and_the_number_s_alone_however_much_memory_there_is(tmp_path, monkeypatch):
    outcomes = [outcome(f"label {n}") for n in range(50)]
    (whole := tmp_path / "whole").mkdir()
    (cut := tmp_path / "cut").mkdir()
    first = written(whole, outcomes)
    monkeypatch.setattr(rows, "_BUCKET", 100)
    second = written(cut, outcomes)
    assert (first / "labels.jsonl").read_bytes() == (second / "labels.jsonl").read_bytes()
    order = [int(row["label"][6:]) for row in read_rows(first)]
    assert sorted(order) == [*range(50)]
    assert order != sorted(order)
    expected = RunKey(KEY.derive("order")).rng("").permutation(50)
    assert [expected[each] for each in order] == [*range(50)]
    assert [path.name for path in (tmp_path / "cut" / "jsonl-False" / "pieces").iterdir() if path.is_dir()] == []


def test_a_torn_piece_is_none(tmp_path):
    (piece,) = pieces_of(tmp_path, OUTCOMES["labels"], size=10)
    assert piece.stat().st_mode & 0o777 == 0o600
    whole = (4, {"a": 2, "b": 1, '=cmd "x", né': 1})
    assert tally_of(piece) == whole
    content = piece.read_bytes()
    for torn in (b"", content[:-3], content[: content.rfind(b"\n", 0, -1) + 1], content[10:]):
        piece.write_bytes(torn)
        assert tally_of(piece) in (None, whole)
    piece.write_bytes(content[: content.index(b"\n") + 1])
    assert tally_of(piece) is None
    assert tally_of(tmp_path / "absent") is None


def test_no_rows_make_a_file_all_the_same(tmp_path):
    for format in ("jsonl", "csv", "parquet"):
        assert rows.write_rows([], tmp_path, KEY, rows=0, kind="labels", format=format, ids=False) is None
    assert (tmp_path / "labels.jsonl").read_bytes() == b""
    assert (tmp_path / "rows.csv").read_bytes() == b"id,label\r\n"


@pytest.mark.parametrize("value", ["=1+1", "+1", "-1", "@x", "\tx", "'=x", 'a;"=x', "a\n=x", "plain", "a=b", ""])
def test_what_a_spreadsheet_would_calculate_is_marked_and_unmarked(value):
    safe = spreadsheet_safe(value)
    assert unmarked(safe) == value
    assert (safe == value) == (value in ("plain", "a=b", ""))
    assert spreadsheet_safe(-1) == -1


def test_a_kept_column_has_no_name_of_a_row_s_own():
    check_kept(["year", "ID"])
    for keep in (["label"], ["id"], ["position"], ["x", "x"]):
        with pytest.raises(UsageError, match="cannot be called"):
            check_kept(keep)


def test_a_long_kept_cell_is_read_again(tmp_path):
    out = written(tmp_path, OUTCOMES["labels"], format="csv", kept={"note": "x" * 140_000})
    csv.field_size_limit(2**17)  # as in a process that has read no other table
    assert {len(row["note"]) for row in read_rows(out)} == {140_000}


def test_memory_holds_a_bucket_of_the_rows_at_once(tmp_path, monkeypatch):
    """Many rows lie in files of which one is read at a time; few in none."""
    pieces = pieces_of(tmp_path, [outcome(f"label {n:03d}") for n in range(200)], size=50)
    size = sum(piece.stat().st_size for piece in pieces)
    found = {}
    for bucket, files in ((size, None), (size - 1, 2), (size // 4, 4), (1, 512)):
        monkeypatch.setattr(rows, "_BUCKET", bucket)
        lines = rows._in_secret_order(pieces, tmp_path, 200, KEY)
        found[bucket] = [next(lines)]
        left = sorted((int(path.name), path.stat().st_size) for path in (tmp_path / "order").glob("*"))
        if files is None:
            assert left == []
        else:
            assert left[-1][0] + 1 == files
            assert max(held for _, held in left) < 2 * size / files + 100
        found[bucket] += lines
        assert not (tmp_path / "order").exists()
    assert all(each == found[size] for each in found.values())
    assert len({*found[size]}) == 200


def test_a_table_of_words_has_their_places_and_one_of_bags_their_counts(tmp_path):
    head = b"id,size,note,"
    kept = {"note": "n"}
    ordered = written(tmp_path, [outcome(words=("b", "=a", "b"))], format="csv", kept=kept) / "rows.csv"
    assert ordered.read_bytes() == head + b"position,word\r\n1,3,n,1,b\r\n1,3,n,2,'=a\r\n1,3,n,3,b\r\n"
    (bags := tmp_path / "bags").mkdir()
    counted = written(bags, [outcome(bag=["b", "=a", "b"])], format="csv", kept=kept) / "rows.csv"
    assert counted.read_bytes() == head + b"word,count\r\n1,3,n,'=a,1\r\n1,3,n,b,2\r\n"


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("kind", ["bags", "ordered"])
def test_documents_of_one_id_are_as_many_rows(tmp_path, format, kind):
    (piece,) = pieces_of(tmp_path, OUTCOMES[kind], size=9, ids=True)
    piece.write_bytes(re.sub(rb'"doc\\t."', b'"same"', piece.read_bytes()))
    rows.write_rows([piece], tmp_path, KEY, rows=len(OUTCOMES[kind]), kind="words", format=format, ids=True)
    assert [*read_rows(tmp_path)] == [{"id": "same", **row_of(each)} for each in OUTCOMES[kind]]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_rows_of_several_groups_are_all_there(tmp_path, monkeypatch, format, count):
    monkeypatch.setattr(rows, "_GROUP", 2)
    found = written(tmp_path, [outcome("a", ["tea"])] * count, format=format, ids=True, kept={"year": 7})
    assert [*read_rows(found)] == [
        {"id": f"doc\t{n}", "label": "a", "size": 1, "bag": {"tea": 1}, "year": "7"} for n in range(count)
    ]
