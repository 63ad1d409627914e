"""In the tools that people work in: a table goes in as it lies there, a table comes out (``make ecosystem``)."""

import datetime
import re
from pathlib import Path

import pytest

import publius
from publius.documents.arrow import as_arrow, documents_in
from publius.documents.document import Plan

pyarrow = pytest.importorskip("pyarrow")

DATA = {
    "key": ["x1", "x2", "x3", "x4"], "text": ["open", "closed", None, "open"], "who": ["a", "b", "a", None],
    "day": [datetime.date(2026, 1, n) for n in range(1, 5)], "score": [1.5, None, 2.5, 3.5],
}  # fmt: skip


BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
BEGINNING, *SECTIONS = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8").split("\n## ")
RECIPES = {section.partition("\n")[0]: found for section in SECTIONS if (found := BLOCK.findall(section))}


def of_pandas():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(DATA).set_index(pandas.Index([7, 5, 3, 1])).sort_values("key", ascending=True)


def of_polars():
    return pytest.importorskip("polars").DataFrame(DATA)


def of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    answers = pyarrow.table(DATA)  # noqa: F841  # DuckDB finds it by its name
    return duckdb.sql("select * from answers where key is not null")


def of_datasets():
    return pytest.importorskip("datasets").Dataset.from_dict(DATA)


def of_datasets_view():
    return of_datasets().filter(lambda row: True).select([0, 1, 2, 3])


def of_arrow():
    return pyarrow.table(DATA)


def of_batches():
    return pyarrow.RecordBatchReader.from_batches(pyarrow.table(DATA).schema, pyarrow.table(DATA).to_batches())


TOOLS = [of_pandas, of_polars, of_duckdb, of_datasets, of_datasets_view, of_arrow, of_batches]


@pytest.fixture(scope="module")
def answers():
    return publius.RandomizedResponse(publius.Values(["open", "closed"]), epsilon=20)


@pytest.mark.parametrize("tool", TOOLS)
def test_a_table_goes_in_as_it_is(tool):
    found = documents_in(as_arrow(tool()), Plan("text", id="key", author="who", fields=("day", "score")))
    assert [each.id for each in found] == DATA["key"]
    assert [each.text for each in found] == ["open", "closed", "", "open"]
    assert [each.author for each in found] == DATA["who"]
    assert [each.fields["score"] for each in found] == DATA["score"]


@pytest.mark.parametrize("tool", TOOLS)
def test_kept_columns_leave_with_their_types_and_nulls(tool, answers):
    found = publius.protect_table(tool(), answers, ids="key", keep=["day", "score"])
    assert found.column("key" if "key" in found.column_names else "id").to_pylist() == DATA["key"]
    assert found.column("score").to_pylist() == DATA["score"]
    assert [day.isoformat()[:10] for day in found.column("day").to_pylist()] == [day.isoformat() for day in DATA["day"]]
    assert {*found.column("label").to_pylist()} <= {"open", "closed", "other"}
    assert "who" not in found.column_names
    assert "text" not in found.column_names


@pytest.mark.parametrize("tool", TOOLS)
def test_without_ids_neither_order_nor_index_leaves(tool, answers):
    found = publius.protect_table(tool(), answers, keep="score")
    assert sorted(map(int, found.column("id").to_pylist())) == [1, 2, 3, 4]
    assert not [name for name in found.column_names if "index" in name]
    assert b"pandas" not in (found.schema.metadata or {})
    assert sorted(map(str, found.column("score").to_pylist())) == sorted(map(str, DATA["score"]))


def test_back_into_a_frame(answers):
    assert list(publius.protect_table(of_pandas(), answers).to_pandas().columns) == ["id", "label"]
    polars = pytest.importorskip("polars")
    assert polars.from_arrow(publius.protect_table(of_polars(), answers)).columns == ["id", "label"]


def test_each_tool_has_its_recipe():
    assert list(RECIPES) == ["pandas", "polars", "DuckDB", "datasets", "spaCy", "Dagster"]


@pytest.mark.parametrize("tool", RECIPES)
def test_a_recipe_of_the_page_runs(tool, tmp_path, monkeypatch):
    """After the block that all of them share, in an empty folder."""
    pytest.importorskip(tool.lower())
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "recipes"}
    for text in (*BLOCK.findall(BEGINNING), *RECIPES[tool]):
        exec(compile(text, f"recipes.md, {tool}", "exec"), names)
