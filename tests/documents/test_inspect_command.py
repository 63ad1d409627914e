"""``publius inspect``: what a curator sees, and what a release made of the documents."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "use"))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        "id,author,text,region\n" + "".join(f"r{n},a{n},{'long ' * 20 * (n % 2)}text {n},North\n" for n in range(9))
    )
    return path


def test_a_look_is_a_table_and_notes(run, file):
    code, out, err = run("inspect", file)
    assert (code, err) == (0, "")
    assert "id, author, text, region" in out
    assert "Nothing odd was found." in out
    code, out, _ = run("inspect", file, "--by", "region=South,West", "--json")
    assert [(note["count"], note["where"]) for note in json.loads(out)["notes"]] == [(9, "region: North (9)")]
    assert json.loads(run("inspect", file, "--header-row", "1-2", "--json")[1])["documents"] == 8


def test_groups_are_those_of_a_summary(run, tmp_path):
    months = ["2026-01-15", "2026-02", "2026-02-03T10:00", "Feb 2026", "2025-12-31"]
    (tmp_path / "a.csv").write_text("text,month\n" + "".join(f"some text {month},{month}\n" for month in months))
    out = run("inspect", tmp_path / "a.csv", "--by", "month=2026-01..2026-03", "--json")[1]
    other = [note["where"] for note in json.loads(out)["notes"] if "--by" in note["what"]]
    assert other == ["month: Feb 2026 (1), 2025-12-31 (1)"]


def test_one_document_is_shown_as_a_release_reads_it(run, tmp_path):
    (tmp_path / "a.csv").write_text('n,text\n1,one\n2,"my <b>words</b>\n> of another"\n')
    assert run("inspect", tmp_path / "a.csv", "--document", "2")[:2] == (0, "my words\n\n")
    assert "of another" in run("inspect", tmp_path / "a.csv", "--document", "2", "--raw")[1]


@pytest.mark.parametrize("ids", [True, False])
def test_what_a_release_made_of_them(run, file, tmp_path, ids):
    folder = tmp_path / "release"
    settings = [
        "--classifier", "python:lengths:Lengths", "--epsilon", "20", "--workers", "1",
        *(["--ids"] if ids else []),
    ]  # fmt: skip
    assert run("label", file, *settings, "--output", folder)[0] == 0
    code, out, _ = run("inspect", file, "--release", folder, "--json")
    found = json.loads(out)
    assert (code, found["by_id"]) == (0, ids)
    assert [row["label"] for row in found["labels"]] == ["short", "long", "other"]
    if ids:
        assert all((row["label"] == "long") == ("long" in row["text"]) for row in found["rows"])
    else:
        assert {row["text"] for row in found["rows"]} == {None}
        assert "secret order" in run("inspect", file, "--release", folder)[2]
    code, _, err = run("inspect", folder)
    assert code == 2
    assert "is a release" in err


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--by", "region"], 2, "FIELD=VALUE,VALUE"), (["--by", "x=a"], 65, "No column x. Found: id"), (["--header-row", "0"], 2, "from 1"), (["--quotes", "some"], 2, "quotes"),
        (["--text-field", "body"], 65, "No column body. Found: id, author, text, region."),
        (["--author-field", "writer"], 65, "No column writer"), (["--delimiter", "ab"], 2, "one character"),
        (["--encoding", "latin-99"], 2, "no encoding"),
    ],
)  # fmt: skip
def test_a_refusal_is_one_line_with_a_way_out(run, file, more, code, said):
    ended, out, err = run("inspect", file, *more)
    assert (ended, out) == (code, "")
    assert said in err
    assert err.count("\n") == 1
