"""Tables in memory: anything with the Arrow interface, kept columns by value, order and ids only where asked for."""

import json
from collections import Counter

import pytest

import publius
from laws.subjects import topics, values, words
from publius.errors import BudgetError, PolicyError, UsageError
from publius.releases.tables import MANIFEST
from toy import sentence

pa = pytest.importorskip("pyarrow")

COUNT = 40


def table(**more):
    columns = {
        "id": pa.array(range(100, 100 + COUNT), pa.int32()),
        "text": pa.array([None if n == 3 else "river" if n % 2 else "market" for n in range(COUNT)]),
        "year": pa.array([None if n == 5 else 2000 + n for n in range(COUNT)], pa.int16()),
        "group": pa.array([f"g{n % 2}" for n in range(COUNT)]).dictionary_encode(),
        "author": pa.array([f"Ada{n % 4}" for n in range(COUNT)]),
    }
    return pa.table({**columns, **more})


def test_rows_are_numbered_in_a_secret_order_unless_ids_leave():
    orders = set()
    for _ in range(3):
        found = publius.protect_table(table(), values(), keep="year")
        assert found.column_names == ["id", "label", "year"]
        assert found.column("id").to_pylist() == [str(n) for n in range(1, COUNT + 1)]
        orders.add(tuple(found.column("year").to_pylist()))
        assert json.loads(found.schema.metadata[MANIFEST])["ids"] is False
    assert len(orders) == 3
    assert Counter(next(iter(orders))) == Counter(table().column("year").to_pylist())
    found = publius.protect_table(table(), values(), ids="id", keep=["year", "group"])
    assert json.loads(found.schema.metadata[MANIFEST])["ids"] is True
    assert found.column("id").equals(table().column("id"))
    assert found.column("year").equals(table().column("year"))
    assert {*found.column("label").to_pylist()} <= {"river", "market", "other"}


def test_labels_are_of_their_own_row(monkeypatch):
    sure = publius.RandomizedResponse(publius.Values(["river", "market"]), epsilon=20)
    found = publius.protect_table(table(), sure, ids="id").to_pylist()
    expected = ["other" if n == 3 else "river" if n % 2 else "market" for n in range(COUNT)]
    assert [row["label"] for row in found] == expected
    marked = publius.RandomizedResponse(publius.Values(["<b>&amp;</b>", "&"]), epsilon=20)
    found = publius.protect_table({"text": ["<b>&amp;</b>"] * 3}, marked).column("label")
    assert found.to_pylist() == ["<b>&amp;</b>"] * 3  # a declared value is read as it is
    shuffled = publius.protect_table(table(place=range(COUNT)), sure, keep="place").to_pylist()
    assert all(row["label"] == expected[row["place"]] for row in shuffled)


def test_kept_columns_leave_by_value():
    part = table().slice(10, 5)
    found = publius.protect_table(part, values(), ids="id", keep=["group"])
    assert found.column("group").type == pa.string()
    assert found.column("group").to_pylist() == [f"g{n % 2}" for n in range(10, 15)]
    assert found.nbytes < 2000
    assert "author" not in found.column_names
    assert found.schema.metadata.keys() == {MANIFEST}
    manifest = json.loads(found.schema.metadata[MANIFEST])
    facts = [manifest[name] for name in ("kind", "documents", "kept", "shuffled")]
    assert facts == ["labels", 5, ["group"], None]


def test_words_and_bags_come_as_maps_of_counts():
    texts = pa.array([sentence(n) for n in range(COUNT)])
    found = publius.protect_table(table(text=texts), words(), ids="id")
    assert found.column_names == ["id", "size", "bag"]
    assert all(sum(dict(bag).values()) == 6 for bag in found.column("bag").to_pylist())
    found = publius.protect_table(table(text=texts), words(ordered=True))
    assert all(len(row) == 6 for row in found.column("words").to_pylist())
    found = publius.protect_table(table(text=texts), topics(bag=4))
    assert found.column_names == ["id", "label", "size", "bag"]


def test_frames_of_other_libraries_are_read():
    found = publius.protect_table({"text": ["river", "market"]}, values())
    assert len(found) == 2
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"text": ["river"] * 5, "year": [1, 2, 3, 4, 5]}, index=[9, 8, 7, 6, 5])
    found = publius.protect_table(frame, values(), keep="year")
    assert found.column_names == ["id", "label", "year"]
    assert sorted(found.to_pandas()["year"]) == [1, 2, 3, 4, 5]


def test_a_ledger_is_debited_once_for_each_author(tmp_path):
    ledger = publius.Ledger.create(tmp_path / "ledger", budget=50, unit="epsilon")
    publius.protect_table(table(), values(), author="author", ledger=ledger)
    assert ledger.account(" ada0").spent == 20
    publius.protect_table(table(), values(), author="author", ledger=ledger)
    with pytest.raises(BudgetError):
        publius.protect_table(table(), values(), author="author", ledger=ledger)
    assert ledger.account("ADA0").spent == 40
    with pytest.raises(UsageError, match="together"):
        publius.protect_table(table(), values(), ledger=ledger)
    nobody = table(author=pa.array([None if n % 2 else f"new {n}" for n in range(COUNT)], pa.string()))
    found = publius.protect_table(nobody, values(), author="author", ledger=ledger, ids="id")
    assert found.column("id").to_pylist() == [*range(100, 100 + COUNT, 2)]


def test_what_does_not_fit_is_refused():
    with pytest.raises(UsageError, match="0 columns called 'absent'"):
        publius.protect_table(table(), values(), keep="absent")
    with pytest.raises(UsageError, match="cannot be called 'label'"):
        publius.protect_table(table(label=range(COUNT)), values(), keep="label")
    with pytest.raises(UsageError, match="Arrow interface"):
        publius.protect_table(7, values())
    weak = publius.RandomizedResponse(publius.Values(["river", "market"]), epsilon=21)
    with pytest.raises(PolicyError, match="at most 20"):
        publius.protect_table(table(), weak)


def test_a_kept_value_that_python_cannot_hold_is_null_and_stops_no_other():
    day, far = 86_400, 10**14  # of the year 3,168,808
    when = pa.array([0, far, None, day, far], pa.timestamp("s")).dictionary_encode()
    several = pa.array([[0], [far, 5], None, [], [day, None]], pa.list_(pa.timestamp("s")))
    texts = {"text": ["river"] * 5, "when": when, "several": several}
    found = publius.protect_table(pa.table(texts), values(), ids="when", keep="several")
    assert found.column("id").cast(pa.int64()).to_pylist() == [0, None, None, day, None]
    assert found.column("several").cast(pa.list_(pa.int64())).to_pylist() == [[0], None, None, [], [day, None]]
