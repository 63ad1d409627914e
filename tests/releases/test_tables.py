"""Tables in memory: what comes out, what is refused, what is paid, and that no cell is in a message."""

import datetime
import itertools
import json
import pickle

import pytest

pytest.importorskip("pyarrow", reason="the extra parquet is not installed")

import pyarrow as pa
import pyarrow.compute

from publius.errors import BudgetError, DocumentError, PolicyError, UsageError
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.mechanism import OrderedText
from publius.privacy.ledger import Ledger
from publius.releases.tables import MANIFEST, protect_table
from toy import WORDS, sentence


def table(count=5, **columns):
    return {"id": [f"d{i}" for i in range(count)], "text": [sentence(i) for i in range(count)], **columns}


def protect(given, embeddings, epsilon=2.0, **options):
    return protect_table(
        given, Laplace(embeddings, epsilon=epsilon), **{"length": 20, "stop_words": "none", **options}
    )


@pytest.mark.parametrize(
    "make", [lambda t: t, pa.table, pa.RecordBatch.from_pydict, lambda t: _Stream(pa.table(t))]
)
def test_any_table_becomes_a_table_of_bags(embeddings, make):
    made = protect(make(table(topic=list("abcab"))), embeddings, keep=["topic"])
    assert made.column_names == ["id", "size", "topic", "words", "counts"]
    assert made["id"].to_pylist() == ["d0", "d1", "d2", "d3", "d4"]
    assert made["topic"].to_pylist() == list("abcab")
    assert [sum(counts) for counts in made["counts"].to_pylist()] == [20] * 5
    assert {word for words in made["words"].to_pylist() for word in words} <= set(WORDS)


class _Stream:
    """Another library's table, known by its Arrow stream alone."""

    def __init__(self, inner):
        self._inner = inner

    def __arrow_c_stream__(self, requested_schema=None):
        return self._inner.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("kept", ["text", "dictionary", "view", "runs", "null"])
def test_nothing_of_how_the_table_was_cut_leaves(embeddings, kept):
    """Arrow cuts a file where its bytes are many, which tells of long texts; a slice holds the rows beside it, too."""
    values = {
        "text": pa.array([f"beside{i}" for i in range(1_300)]),
        "dictionary": pa.array([f"beside{i}" for i in range(1_300)]).dictionary_encode(),
        "view": pa.array([f"beside{i}" for i in range(1_300)], pa.string_view()),
        "runs": pa.compute.run_end_encode(pa.array([f"beside{i}" for i in range(1_300)])),
        "null": pa.array([None if i % 3 else f"beside{i}" for i in range(1_300)]),
    }[kept]
    whole = pa.table({**table(1_300), "topic": values})
    cuts = [0, 100, 302, 571, 1_290]
    parts = pa.concat_tables([whole.slice(a, b - a) for a, b in itertools.pairwise(cuts)])
    made = protect(parts, embeddings, keep=["topic"])
    assert {column.num_chunks for column in made.columns} == {1}
    assert made["id"].to_pylist() == whole["id"].to_pylist()[:1_290]
    few = protect(whole.slice(5, 7), embeddings, keep=["topic"])
    for name in ("beside77", "d77"):
        assert name.encode() in pickle.dumps(whole)
        assert name.encode() not in pickle.dumps(few)
    assert few["id"].to_pylist() == [f"d{i}" for i in range(5, 12)]


def test_the_words_are_those_of_a_release(embeddings):
    made = protect(
        {"id": ["a"], "text": ["castle river castle"]}, embeddings, epsilon=1e6, length=3
    ).to_pylist()
    assert dict(zip(made[0]["words"], made[0]["counts"], strict=True)) == {"castle": 2, "river": 1}


def test_the_manifest_travels_with_it(embeddings):
    made = protect(table(), embeddings)
    manifest = json.loads(made.schema.metadata[MANIFEST])
    assert (manifest["documents"], manifest["size"], manifest["kind"]) == (5, 20, "bag-of-words")
    assert "any two documents of 20 words" in manifest["promise"]


def test_ordered_text(embeddings):
    made = protect(table(), embeddings, ordered=OrderedText())
    assert made.column_names == ["id", "size", "kind", "words", "kept", "text"]
    assert json.loads(made.schema.metadata[MANIFEST])["kind"] == made["kind"][0].as_py() == "ordered-text"


def test_each_call_draws_anew_and_rows_do_not_share_noise(embeddings):
    same = {"id": ["a", "b"], "text": [sentence(1)] * 2}
    made = [str(row) for _ in "xy" for row in protect(same, embeddings, epsilon=0.5)["words"].to_pylist()]
    assert len(set(made)) == 4


def test_many_rows_go_in_batches(embeddings):
    made = protect(table(700), embeddings)
    assert made["id"].to_pylist() == [f"d{i}" for i in range(700)]


def test_rows_without_words_are_released_as_unknown(embeddings):
    made = protect({**table(2), "text": ["", "the and"]}, embeddings, stop_words="english")
    assert made["id"].to_pylist() == table(2)["id"]
    assert [sum(counts) for counts in made["counts"].to_pylist()] == made["size"].to_pylist()


def test_rows_can_be_numbered(embeddings):
    assert protect({"text": ["river", "castle"]}, embeddings, number=True)["id"].to_pylist() == ["1", "2"]


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"id": ["a", "a"]}, DocumentError, "document 2"),
        ({"text": ["canary", None]}, DocumentError, "document 2"),
        ({"text": [1, 2]}, DocumentError, "document 1"),
        ({"id": [1.5, 2.5]}, DocumentError, "document 1"),
    ],
)
def test_rows_that_cannot_be_read_stop_it(embeddings, changes, error, said):
    with pytest.raises(error, match=said) as caught:
        protect({**table(2), **changes}, embeddings, stop_words="english")
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [{"text": pa.Array.from_buffers(pa.string(), 2, [None, pa.array([0, 7, 8], pa.int32()).buffers()[1],
                                                    pa.py_buffer(b"canary \xff")])},
     {"seen": pa.array([2**62, 0], pa.timestamp("s"))}, {"seen": pa.array([2**55, 0], pa.date64())},
     {"seen": pa.array([2**62, 0], pa.duration("s"))}],
)  # fmt: skip
def test_what_arrow_says_of_a_cell_that_it_cannot_read_is_not_passed_on(embeddings, changes):
    with pytest.raises(DocumentError, match="cannot be read") as caught:
        protect(
            pa.table({**table(2), **changes}), embeddings, keep=[name for name in changes if name == "seen"]
        )
    assert (caught.value.__context__, caught.value.__cause__) == (None, None)


@pytest.mark.parametrize("given", [{"text": ["a"]}, {"id": ["a"]}, 7, ["canary"], {"id": ["a"], "text": [object()]},
                                   {"id": ["a"], "text": ["canary \ud800"]},
                                   pa.table([["a"], ["b"], ["c"]], names=["id", "text", "text"])])  # fmt: skip
def test_what_is_no_table_of_documents_is_refused(embeddings, given):
    with pytest.raises(UsageError) as caught:
        protect(given, embeddings)
    assert "canary" not in str(caught.value)
    assert caught.value.__context__ is None, "the library's error quotes a cell"


def test_the_text_cannot_be_kept(embeddings):
    with pytest.raises((PolicyError, UsageError)):
        protect(table(), embeddings, keep=["text"])


def test_a_ledger_is_debited_for_all_rows_or_none(embeddings, tmp_path):
    ledger = Ledger.create(tmp_path / "book", budget=40, subject_budget=100)
    rows = table(3, author=["x", "x", "x"])
    with pytest.raises(BudgetError):
        protect(rows, embeddings, ledger=ledger, subject_field="author")
    assert ledger.counts() == (0, 0, 0)
    protect(table(2, author=["x", "x"]), embeddings, ledger=ledger, subject_field="author")
    assert (ledger.document("d1").spent, ledger.subject("x").spent) == (40, 80)


def test_numbered_rows_cannot_be_charged(embeddings, tmp_path):
    with pytest.raises(UsageError, match="id field"):
        protect(table(), embeddings, number=True, ledger=Ledger.create(tmp_path / "book", budget=40))


def test_types_come_back_as_they_came(embeddings):
    columns = {
        "id": pa.array([7, 8, 9], pa.int32()),
        "text": ["red blue", "blue", "red"],
        "stars": pa.array([1, None, 5], pa.int64()),
        "when": pa.array([datetime.date(2026, 1, 2), None, datetime.date(2026, 3, 4)]),
        "score": pa.array([0.5, 1.5, None]),
        "paid": pa.array([True, False, None]),
    }
    table = pa.table(columns)
    kept = ["stars", "when", "score", "paid"]
    made = protect(table, embeddings, keep=kept)
    for name in ("id", *kept):
        assert made.schema.field(name).type == table.schema.field(name).type
        assert made.column(name).to_pylist() == table.column(name).to_pylist()
    assert json.loads(made.schema.metadata[b"publius"])["labels"] == kept
    one = protect(table, embeddings, keep="stars")
    assert "stars" in one.column_names
    assert "when" not in one.column_names


def test_a_merge_on_integer_ids_finds_every_row(embeddings):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [11, 12], "text": ["red", "blue"], "year": [1999, 2001]})
    made = protect(frame, embeddings, keep="year").to_pandas()
    assert len(frame.merge(made, on="id")) == 2
    assert made["year"].sum() == 4000


def test_categories_of_rows_that_are_not_there_do_not_leave(embeddings):
    kinds = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["shown", "canary"]))
    made = protect(pa.table({**table(2), "sort": kinds}), embeddings, keep="sort")
    assert made["sort"].to_pylist() == ["shown", "shown"]
    assert "canary" not in str(made.schema) + str(made)


def test_a_list_or_bytes_cannot_be_kept(embeddings):
    for value in ([["a"], ["b"]], [b"a", b"b"]):
        table = {"id": ["a", "b"], "text": ["red", "blue"], "more": value}
        with pytest.raises(DocumentError, match="more"):
            protect(table, embeddings, keep=["more"])
