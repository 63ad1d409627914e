"""One text released, and a finished release read again."""

import pytest

import publius
from laws.subjects import words
from manifests import BAG, drawn, labels_of, summary_of, words_of
from publius.errors import DataError, PolicyError
from publius.releases.rows import csv_table
from publius.settings import Leaving, Run


def test_a_text_is_released_by_what_may_release_it():
    sure = publius.RandomizedResponse(publius.Values(["river", "market"]), epsilon=20)
    assert [publius.release(text, sure).label for text in ("river", "market", "storm")] == ["river", "market", "other"]
    weak = publius.RandomizedResponse(publius.Values(["river", "market"]), epsilon=21)
    with pytest.raises(PolicyError, match="at most 20"):
        publius.release("river", weak)
    assert publius.release("river", weak, experiment=True).label == "river"
    drawn_anew = {tuple(publius.release("river storm", words()).bag.counts.items()) for _ in range(5)}
    assert len(drawn_anew) > 1
    assert {sum(count for _, count in each) for each in drawn_anew} == {6}


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
def test_rows_and_tables_of_every_format_are_read(tmp_path, format):
    source = tmp_path / "in.csv"
    source.write_text("text,year\nriver,=1\nmarket,2\n")
    sure = publius.RandomizedResponse(publius.Values(["river", "market"]), epsilon=20)
    corpus = publius.open_corpus(source, fields=["year"])
    publius.protect_corpus(
        corpus, sure, tmp_path / "out", run=Run(workers=1, format=format), leaving=Leaving(keep=("year",))
    )
    found = publius.read_release(tmp_path / "out")
    assert sorted((row["label"], row["year"]) for row in found.rows()) == [("market", "2"), ("river", "=1")]
    assert found.tables == ("labels",)
    assert {row["label"]: row["rows"] for row in found.table("labels")} == {"river": "1", "market": "1", "other": "0"}
    for name in ("rows", "release", "labels.csv"):
        with pytest.raises(DataError, match=f"has no table '{name}': labels$"):
            found.table(name)


def test_a_summary_has_synthetic_rows_and_its_tables_without_the_marks_of_spreadsheets(tmp_path):
    csv_table(tmp_path / "made.csv", ["group", "+documents"], [["=1", 2], ['a;"-b', 3]])
    made = (tmp_path / "made.csv").read_bytes().decode()
    tables = {"topics": made, "groups": "group\r\n", "rows": "id\r\n"}
    release = drawn(tmp_path / "summary", summary_of(), [{"id": "1"}, {"id": "2", "words": ["a"]}], tables=tables)
    found = publius.read_release(release)
    assert [*found.rows()] == [{"id": "1"}, {"id": "2", "words": ["a"]}]
    assert found.tables == ("groups", "topics")
    assert [[*row.values()] for row in found.table("topics")] == [["=1", "2"], ['a;"-b', "3"]]
    assert found.table("groups") == []
    assert publius.read_release(drawn(tmp_path / "words", words_of(), [BAG])).tables == ()
    with pytest.raises(DataError, match="has no table 'labels': none at all"):
        publius.read_release(tmp_path / "words").table("labels")


def test_a_folder_that_is_no_release_or_was_written_again_is_named(tmp_path):
    release = drawn(tmp_path / "out", labels_of(3), [{"id": "1", "label": "other"}])
    path = release / "manifest.json"
    before = path.read_bytes()
    path.write_bytes(before.replace(b"\n  ", b"\n "))
    with pytest.raises(DataError, match=r"out/manifest.json' is not as it was drawn: it was written again"):
        publius.read_release(release)
    path.write_bytes(before)
    for name in "dcba":
        (release / name).touch()
    with pytest.raises(DataError, match="out' is not as it was drawn: 'a', 'b', 'c' was changed"):
        publius.read_release(release)
    running = tmp_path / "x.publius-run" / "release"
    running.parent.mkdir()
    for path, said in ((tmp_path, "is no release: name"), (release.rename(running), "is no release yet: the run was")):
        with pytest.raises(DataError, match=said):
            publius.read_release(path)
