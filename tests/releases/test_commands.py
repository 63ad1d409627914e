"""``publius label`` and ``publius obfuscate`` as they are typed."""

import csv
import io
import json
import os
import sys

import pytest

import publius
from laws.subjects import corpus_file
from publius.releases.register import made_here, register_path

STATUS = ("--field", "status", "--labels", "yes,no")


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.csv"
    with path.open("w", newline="") as file:
        made = csv.writer(file)
        made.writerow(["id", "status", "who", "year"])
        made.writerows([n, "yes" if n < 30 else "no", f"p{n % 40}", 2000 + n % 2] for n in range(100))
    return path


@pytest.fixture
def toy_vectors(monkeypatch):
    from laws.subjects import _embeddings

    monkeypatch.setattr(publius.Embeddings, "load", classmethod(lambda cls, name=None: _embeddings()))


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def typed(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))


def test_a_column_of_declared_values(run, answers, tmp_path):
    code, out, err = run("label", answers, *STATUS, "--epsilon", 7, "--output", tmp_path / "out")
    assert (code, err) == (0, "100 texts.\n")
    assert len(out.strip().splitlines()) < 10
    assert "Noise changes" in out
    manifest = made_here(tmp_path / "out")
    assert (manifest.epsilon, manifest.labels, manifest.field) == (7, ("yes", "no", "other"), "status")
    counts = publius.read_release(tmp_path / "out").table("labels")
    assert [row["label"] for row in counts] == ["yes", "no", "other"]
    assert sum(int(row["rows"]) for row in counts) == 100
    assert all(int(row["low"]) <= int(row["high"]) for row in counts)
    assert (
        sorted(os.listdir(tmp_path / "out")) == "README.txt labels.csv labels.jsonl manifest.json release.html".split()
    )


def test_rows_alone_on_standard_output(run, answers, tmp_path, monkeypatch):
    code, out, err = run("label", answers, *STATUS, "--output", "-")
    assert code == 0
    assert [row["id"] for row in lines(out)] == [str(n) for n in range(1, 101)]
    assert "100 texts." in err
    assert not register_path().exists()
    typed(monkeypatch, '{"text": "yes"}\n')
    code, out, _ = run("label", "-", "--field", "text", "--labels", "yes,no", "--output", "-", "--epsilon", 20)
    assert (code, lines(out)) == (0, [{"id": "1", "label": "yes"}])
    assert run("label", answers, *STATUS, "--output", "-", "--format", "csv")[0] == 2
    assert os.listdir(tmp_path) == ["answers.csv"]


def test_people_ids_and_kept_columns(run, answers, tmp_path):
    out = tmp_path / "out"
    code, said, err = run(
        "label", answers, *STATUS, "--output", out, "--author-field", "who", "--documents-per-author", 2, "--ids",
        "--keep", "year", "--json",
    )  # fmt: skip
    assert code == 0
    found = json.loads(said)
    assert (found["documents"], found["left_out"]) == (80, 20)
    assert found["author"] == {"documents": 2, "epsilon": 10.0, "delta": 0.0}
    rows = [*publius.read_release(out).rows()]
    assert {row["year"] for row in rows} <= {"2000", "2001"}
    assert [int(row["id"]) for row in rows] == sorted(int(row["id"]) for row in rows)
    assert "by 40 authors" in err
    with pytest.raises(publius.PubliusError):
        publius.read_release(tmp_path)


def test_a_ledger_is_charged_and_refuses(run, answers, tmp_path):
    assert run("ledger", "init", tmp_path / "L", "--budget", 12, "--unit", "epsilon")[0] == 0
    people = ("--author-field", "who", "--documents-per-author", 1, "--ledger", tmp_path / "L")
    assert run("label", answers, *STATUS, "--output", tmp_path / "a", *people)[0] == 0
    assert run("label", answers, *STATUS, "--output", tmp_path / "b", *people)[0] == 0
    code, out, err = run("label", answers, *STATUS, "--output", tmp_path / "c", *people)
    assert (code, out) == (77, "")
    assert "p1" not in err
    assert not (tmp_path / "c").exists()
    assert publius.Ledger(tmp_path / "L").account("P0").spent == 10
    code, _, err = run("label", answers, *STATUS, "--output", tmp_path / "c", "--ledger", tmp_path / "L")
    assert (code, "--author-field" in err) == (2, True)


def test_an_experiment_says_so_and_repeats(run, answers, tmp_path):
    for name in "ab":
        assert run("label", answers, *STATUS, "--output", tmp_path / name, "--experiment", "--seed", 3)[0] == 0
    rows = [[*publius.read_release(tmp_path / name).rows()] for name in "ab"]
    assert rows[0] == rows[1]
    assert all("NOT PRIVATE" in row["warning"] for row in rows[0])
    assert "NOT PRIVATE" in (tmp_path / "a" / "README.txt").read_text()
    assert run("label", answers, *STATUS, "--output", tmp_path / "c", "--seed", 3)[0] == 2


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "Stored: "), (("--field", "status"), 2, "one classifier answers"),
        (("--classifier", "absent", "--output", "OUT"), 2, "absent"),
        ((*STATUS, "--classifier", "x"), 2, "one classifier answers"), (STATUS, 2, "--output"),
        ((*STATUS, "--output", "OUT", "--epsilon", "21"), 77, "at most 20"),
        ((*STATUS, "--output", "OUT", "--epsilon", "-1"), 2, "epsilon"),
        (("--field", "absent", "--labels", "a,b", "--output", "OUT"), 65, "absent"),
        ((*STATUS, "--output", "OUT", "--documents-per-author", "1"), 2, "--author-field"),
        ((*STATUS, "--output", "OUT", "--keep", "label"), 65, "label"),
        ((*STATUS, "--output", "OUT", "--workers", "0"), 2, "--workers"),
        (("--field", "status", "--labels", 'a,"b', "--output", "OUT"), 2, "CSV"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_a_line(run, answers, tmp_path, arguments, code, said):
    found, out, err = run("label", answers, *(tmp_path / "out" if each == "OUT" else each for each in arguments))
    assert (found, out) == (code, "")
    assert said in err
    assert os.listdir(tmp_path) == ["answers.csv"]


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        (("verify",), 2, "RELEASE is missing"), (("verify", "answers.csv"), 65, "is no release"),
        (("obfuscate", "answers.csv", "--output", "x"), 2, "--epsilon is missing"),
        (("obfuscate", "answers.csv", "--epsilon", "8", "--length", "5.5"), 2, "no whole number"),
        (("obfuscate", "answers.csv", "--epsilon"), 2, "--epsilon takes a value: --epsilon E."),
        (("sign", "x", "--output", "y", "--public-page"), 2, "--public-page FILE"),
        (("label", "answers.csv", "--labels", "yes", "no", "--output", "x"), 2, "separated by commas: A,B"),
        (("models", "try", "answers.csv", "--labels", "yes", "no"), 2, "separated by commas, A,B"),
        (("label", "answers.csv", "no.csv", "--labels", "yes,no", "--output", "x"), 74, "no.csv"),
        (("label", "answers.csv", "--field", "status", "--labels", "YES,no", "--output", "-"), 0, "undeclared status"),
    ],
)  # fmt: skip
def test_a_line_says_what_is_missing_or_other(run, answers, monkeypatch, line, code, said):
    monkeypatch.chdir(answers.parent)
    found, _, err = run(*line)
    assert (found, said in err) == (code, True)


def test_labels_of_a_file_may_have_descriptions(tmp_path):
    from publius.cli.release import declared_labels

    (tmp_path / "a").write_text("housing\ntransport\n")
    assert declared_labels(f"@{tmp_path / 'a'}") == (["housing", "transport"], None)
    (tmp_path / "b").write_text('label,description\nhousing,"rent, repairs"\ntransport,buses\n')
    assert declared_labels(f"@{tmp_path / 'b'}") == (["housing", "transport"], ["rent, repairs", "buses"])
    (tmp_path / "c").write_text("label,description\nhousing\n")
    with pytest.raises(publius.DataError):
        declared_labels(f"@{tmp_path / 'c'}")


@pytest.mark.usefixtures("toy_vectors")
def test_words(run, tmp_path, monkeypatch):
    source = corpus_file(tmp_path)
    code, out, err = run("obfuscate", source, "--epsilon", 10, "--length", 6, "--output", tmp_path / "out")
    assert (code, err) == (0, "30 texts.\n")
    assert out.startswith("30 rows of words.\n")
    assert len(out.strip().splitlines()) < 10
    manifest = made_here(tmp_path / "out")
    assert (manifest.length, manifest.exponent_per_distance, manifest.mechanism) == (6, 60, "laplace")
    assert (tmp_path / "out" / "bags.jsonl").exists()
    code, out, _ = run("obfuscate", source, "--epsilon", 10, "--length", 6, "--ordered", "--output", "-")
    assert all(len(row["words"]) == row["size"] == 6 for row in lines(out))
    typed(monkeypatch, '{"text": "river market"}\n')
    code, out, err = run("obfuscate", "-", "--epsilon", 8, "--length", 5, "--output", "-")
    assert code == 0
    assert [row["size"] for row in lines(out)] == [5]
    for missing in (("--epsilon", 10), ("--length", 6)):
        assert run("obfuscate", source, *missing, "--output", "-")[0] == 2
    weak = ("--epsilon", 1, "--length", 6, "--mechanism", "exponential", "--unknown", "keep")
    code, _, err = run("obfuscate", source, *weak, "--output", "-")
    assert code == 77


def test_several_files_and_formats(run, answers, tmp_path):
    other = tmp_path / "more.csv"
    other.write_bytes(answers.read_bytes())
    for format in ("csv", "parquet"):
        code, _, err = run("label", answers, other, *STATUS, "--output", tmp_path / format, "--format", format)
        assert (code, "200 texts" in err) == (0, True)
        rows = [*publius.read_release(tmp_path / format).rows()]
        assert len(rows) == 200
        assert {*rows[0]} == {"id", "label"}


@pytest.mark.parametrize(
    "typed_", [("label", *STATUS, "--epsilon", 7), ("summarize", "--by", "status=yes,no", "--author-field", "who")]
)
def test_an_estimate_reads_and_leaves_nothing(run, answers, tmp_path, typed_):
    command, *options = typed_
    options += ["--text-field", "status"] * (command == "summarize")
    before = {*os.listdir(tmp_path)}
    code, out, _ = run(command, answers, *options, "--estimate", "--workers", 3, "--json")
    told = json.loads(out)
    assert code == 0
    assert (told["documents"], told["workers"]) == (100, 3)
    assert 0 < told["seconds"] < 600
    assert told["bytes"] > 2**20
    code, out, _ = run(command, answers, *options, "--estimate", "--output", tmp_path / "out")
    assert out.startswith("100 documents: about ")
    assert out.endswith("Nothing was kept.\n")
    assert {*os.listdir(tmp_path)} == before


def test_names_alone_are_said_to_be_unmeasured(run, answers, tmp_path):
    asked = ("--text-field", "status", "--epsilon", 5)
    code, _, err = run("label", answers, "--labels", "yes,no", *asked, "--output", tmp_path / "names")
    assert (code, "publius models try PUBLIC --labels A,B" in err) == (0, True)
    code, _, err = run("label", answers, *STATUS, "--epsilon", 5, "--output", tmp_path / "values")
    assert (code, "models try" in err) == (0, False)
