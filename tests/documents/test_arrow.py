"""Parquet and tables with the Arrow interface: the same documents as from any file."""

import datetime
import pickle

import pytest

pytest.importorskip("pyarrow")
import pyarrow
import pyarrow.feather
import pyarrow.parquet

from publius.documents.arrow import as_arrow, documents_in
from publius.documents.corpus import open_corpus
from publius.documents.document import Plan
from publius.errors import DataError, UsageError
from publius.settings import Reading

ROWS = {
    "id": [1, 2, 3], "author": [7.0, None, 8.0], "text": ["a <b>b</b>", None, "c"],
    "day": [datetime.date(2026, 3, 1), None, datetime.date(2026, 3, 2)],
    "answers": [[{"a": "x"}, {"a": "y"}], None, []],
}  # fmt: skip


class Frame:
    """Anything that hands its data over."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, schema=None):
        return self.table.__arrow_c_stream__(schema)


@pytest.mark.parametrize("made", ["string", "large_string", "dictionary"])
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_a_piece_holds_its_own_rows_alone(tmp_path, made, kind):
    texts = [f"{n} " + "x" * 60 for n in range(3000)]
    column = pyarrow.array(texts)
    if made == "large_string":
        column = column.cast("large_string")
    elif made == "dictionary":
        column = column.dictionary_encode()
    table = pyarrow.table({"text": column})
    {"parquet": pyarrow.parquet.write_table, "feather": pyarrow.feather.write_feather}[kind](
        table, tmp_path / f"a.{kind}"
    )
    sent = [pickle.dumps(each) for each in open_corpus(tmp_path / f"a.{kind}").batches(100)]
    assert len(sent) == 30
    assert max(map(len, sent)) < 20_000
    assert [each.text for some in sent for each in pickle.loads(some).documents()] == texts


def test_a_parquet_file(tmp_path):
    pyarrow.parquet.write_table(pyarrow.table(ROWS), tmp_path / "a.parquet", row_group_size=2)
    corpus = open_corpus(tmp_path / "a.parquet", author_field="author", id_field="id", fields=["day"])
    assert [(each.id, each.author, each.text) for each in corpus] == [
        ("1", "7", "a b"), ("2", None, ""), ("3", "8", "c"),
    ]  # fmt: skip
    assert [each.fields["day"] for each in corpus] == ROWS["day"]
    assert corpus.columns == ("id", "author", "text", "day", "answers[].a")
    nested = open_corpus(tmp_path / "a.parquet", Reading(text_field="answers[].a"))
    assert [each.text for each in nested] == ["x\n\ny", "", ""]


def test_dictionaries_large_strings_and_no_rows(tmp_path):
    table = pyarrow.table(
        {
            "text": pyarrow.array(["a", "b", "a"]).dictionary_encode(),
            "n": pyarrow.array(["x"] * 3, pyarrow.large_string()),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    assert [each.text for each in open_corpus(tmp_path / "a.parquet")] == ["a", "b", "a"]
    pyarrow.parquet.write_table(table.slice(0, 0), tmp_path / "b.parquet")
    with pytest.raises(DataError, match="holds no document"):
        open_corpus(tmp_path / "b.parquet")


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" + b"secret" * 99 + b"PAR1"])
def test_a_damaged_file_is_refused_without_its_content(tmp_path, data):
    (tmp_path / "a.parquet").write_bytes(data)
    with pytest.raises(DataError, match="cannot be read as parquet") as error:
        open_corpus(tmp_path / "a.parquet")
    assert "secret" not in str(error.value)


def test_a_frame_gives_the_same_documents_as_its_file(tmp_path):
    table = pyarrow.table(ROWS)
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    options = {"author_field": "author", "id_field": "id", "fields": ["day"]}
    plan = Plan("text", id="id", author="author", fields=("day",))
    assert documents_in(as_arrow(Frame(table)), plan) == [*open_corpus(tmp_path / "a.parquet", **options)]
    assert [each.author for each in documents_in(table, Plan("text", author="id"))] == ["1", "2", "3"]
    pyarrow.feather.write_feather(table.drop(["id"]), tmp_path / "a.feather")
    assert [each.author for each in open_corpus(tmp_path / "a.feather", author_field="id")] == [
        "\0000",
        "\0001",
        "\0002",
    ]
    with pytest.raises(UsageError, match="Arrow interface"):
        as_arrow([{"text": "a"}])
