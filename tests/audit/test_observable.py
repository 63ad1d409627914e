"""The observable audit: neighboring worlds look the same, and it would see if they did not.

Its broken versions are with the others, in test_audit_mutants.py.
"""

import pytest

import audit.hostile_inputs as hostile_inputs
from audit.neighboring_worlds import pairs
from audit.observable import Way, compare, ways
from publius.audit.levels import level_named
from publius.audit.parts import pieces


def test_it_is_part_of_every_audit():
    for level in ("quick", "full"):
        assert "observable" in [piece.name for piece in pieces(level_named(level), "laplace")]


def test_the_full_level_compares_every_engine_and_format():
    chosen = ways(full=True)
    assert len(chosen) * len(pairs()) >= 200
    assert {way.engine for way in chosen} == {"one process", "two processes", "in turn"}
    assert {way.format for way in chosen} == {"jsonl", "csv", "parquet", "mtx"}


@pytest.mark.parametrize("way", [Way("one process", "mtx"), Way("in turn", "parquet", resume=True)], ids=str)
def test_worlds_look_the_same(way):
    assert compare([way], pairs()[::3])[1] == []


@pytest.mark.parametrize(
    "way",
    [
        Way("one process", "parquet"),
        pytest.param(Way("one process", "jsonl", resume=True), marks=pytest.mark.long),
        pytest.param(Way("in turn", "parquet"), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_worlds_look_the_same_where_long_texts_come_fewer_at_once(way, monkeypatch):
    """Batches that are cut by the lengths of private texts are seen nowhere."""
    from publius.releases.engines import worker_pool

    monkeypatch.setattr(worker_pool, "AT_ONCE", 40)
    some = [pair for pair in pairs() if "dropped" not in pair.name and "file" not in pair.name]
    assert compare([way], some)[1] == []


def test_every_pair_is_of_two_worlds():
    assert all(pair.one != pair.other for pair in pairs())
    assert len({pair.name for pair in pairs()}) == len(pairs())


def test_worlds_at_a_distance_are_told_apart_by_their_words():
    """What is compared holds the bags: with the words counted in, other words are seen."""
    (pair,) = [pair for pair in pairs() if pair.name == "other words"]
    from dataclasses import replace

    told = compare([Way("one process", "jsonl")], [replace(pair, equal=True)])[1]
    assert any("content of out/bags.jsonl" in each for each in told)


@pytest.mark.parametrize("which", hostile_inputs._SMALL, ids=lambda which: which[0])
def test_a_hostile_file_would_take_much_longer_than_it_may(which):
    """Fifty times as long: a system that counts in ticks of ten milliseconds, or is quick, ends its reader as well."""
    assert not hostile_inputs._read_under_small_limits(which, 50 * hostile_inputs._SECONDS)


def test_what_ends_a_hostile_file_is_its_limit():
    """The Parquet of many groups is read where it may take long."""
    which = next(each for each in hostile_inputs._SMALL if each[0] == "parquet")
    assert hostile_inputs._read_under_small_limits(which, 60)
