"""``publius evaluate`` and ``report``, end to end on made-up authors."""

import csv
import json
import shutil
import signal
import stat
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from letters import AUTHORS, rows, write
from publius.cli import app
from publius.errors import DataError, DocumentError, UsageError

for module in ("sklearn", "matplotlib", "jinja2"):
    pytest.importorskip(module, reason="extra evaluation is not installed")

KEYS = ["mechanism", "epsilon", "repeat", "adversary", "task", "correct", "total", "accuracy", "low", "high",
        "chance", "changed", "mean_distance"]  # fmt: skip
PATIENCE = 120
FEW = "sr-nearest,koppel,likelihood,adaptive-likelihood,informed,linear,originals"


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def place(tmp_path_factory, embeddings):
    """A folder with the corpus and the vectors."""
    folder = tmp_path_factory.mktemp("evaluate")
    write(folder / "corpus.jsonl", rows())
    embeddings.save(folder / "vectors")
    return folder


@pytest.fixture(scope="module")
def corpus(place):
    return place / "corpus.jsonl"


@pytest.fixture(scope="module")
def options(place):
    return [
        "--embeddings",
        place / "vectors",
        "--adversaries",
        FEW,
        "--workers",
        1,
        "--seed",
        1,
        "--length",
        "shortest",
    ]


@pytest.fixture(scope="module")
def folder(place, corpus, options):
    run(
        "evaluate", corpus, "--epsilon", "30,2", "--repeats", 2, "--output", place / "out", *options, "--json"
    )
    return place / "out"


def records(folder):
    return [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]


def test_rows_are_as_promised(folder):
    found = records(folder)
    assert all(list(row)[: len(KEYS)] == KEYS for row in found)
    assert {(r["mechanism"], r["epsilon"], r["repeat"]) for r in found} == {
        (*each, repeat)
        for each in (("clean", None), ("laplace", 30.0), ("laplace", 2.0))
        for repeat in (0, 1)
    }  # fmt: skip
    assert {(r["adversary"], r["task"]) for r in found if r["epsilon"] == 2.0} == {
        ("sr-nearest", "author"), ("sr-nearest", "topic"), ("koppel", "author"), ("likelihood", "author"),
        ("likelihood", "topic"), ("adaptive-likelihood", "author"), ("adaptive-likelihood", "topic"),
        ("informed", "author"), ("linear", "topic"), ("originals", "author"),
    }  # fmt: skip
    assert all(
        r["accuracy"] == r["correct"] / r["total"] and r["low"] <= r["accuracy"] <= r["high"] for r in found
    )


def test_texts_have_their_nearest_authors_and_how_far_they_are(folder):
    """The paper's table: nearest first, with distances, of up to five texts, clean and protected."""
    for name in ("clean-clean-0", "laplace-2.0-0"):
        shown = json.loads((folder / "cells" / f"{name}.json").read_text())["nearest"]
        assert sorted(each["text"] for each in shown) == [f"{author}-unknown" for author in AUTHORS]
        for each in shown:
            assert each["distances"] == sorted(each["distances"])
            assert sorted(each["authors"]) == sorted(AUTHORS)
            assert each["authors"][each["rank"] - 1] == each["text"].removesuffix("-unknown")
    page = (folder / "report.html").read_text()
    assert f"{shown[0]['authors'][0]} {shown[0]['distances'][0]:.3g}" in page


def test_the_table_of_the_paper_in_latex_has_intervals(folder):
    lines = (folder / "table.tex").read_text().splitlines()
    assert (lines[0], lines[-1]) == ("\\begin{tabular}{lcccc}", "\\end{tabular}")
    assert len(lines) == 3 + 3  # a header, and unprotected, 30 and 2
    for line in lines[2:-1]:
        cells = line.removesuffix(" \\\\").split(" & ")
        assert len(cells) == 5
        value, low, high = map(float, cells[1].replace("[", "").replace("]", "").replace(",", "").split())
        assert low <= value <= high <= 4


def test_every_row_states_how_the_texts_were_protected(folder):
    found = records(folder)
    assert all({"mechanism", "epsilon", "bound"} <= set(row) for row in found)
    assert {row["bound"] for row in found if row["mechanism"] == "clean"} == {None}
    small, large = ({row["bound"] for row in found if row["epsilon"] == at} for at in (2.0, 30.0))
    assert len(small) == len(large) == 1
    assert max(large) == pytest.approx(15 * max(small))


def test_the_holder_of_the_originals(folder):
    """He finds every unprotected text; under noise his figure is an attack, with what the guarantee alone allows."""
    found = {(r["epsilon"], r["repeat"]): r for r in records(folder) if r["adversary"] == "originals"}
    assert (found[None, 0]["accuracy"], found[None, 0]["exact"]) == (1.0, True)
    assert found[2.0, 0]["exact"] is False
    assert found[2.0, 0]["accuracy"] <= found[2.0, 0]["at_most"] <= 1.0
    assert set(found[2.0, 0]["by_topic"]) == {"sea", "court"}


def test_noise_hides_authors(folder):
    by = {
        (r["epsilon"], r["adversary"]): r
        for r in records(folder)
        if r["task"] == "author" and r["repeat"] == 0
    }
    assert by[None, "koppel"]["accuracy"] == 1.0
    assert by[None, "koppel"]["changed"] == 0.0
    assert by[2.0, "koppel"]["changed"] > by[30.0, "koppel"]["changed"]


def test_table(folder):
    with (folder / "table.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [line["epsilon"] for line in table] == ["none", "30.0", "2.0"]
    assert table[0]["DRauth"] == "4.0"
    found = [r for r in records(folder) if r["epsilon"] == 2.0 and r["task"] == "author"]
    means = {
        r["adversary"]: sum(x["accuracy"] for x in found if x["adversary"] == r["adversary"]) / 2
        for r in found
    }
    assert float(table[2]["strongest_accuracy"]) == pytest.approx(max(means.values()), abs=1e-6)
    assert table[2]["strongest"] == max(means, key=means.get)


@pytest.mark.usefixtures("undrawn")
def test_json_is_one_object(tmp_path, corpus, options):
    result = run("evaluate", corpus, "--epsilon", "5", "--output", tmp_path / "out", *options, "--json")
    assert json.loads(result.stdout)["chance"] == {"author": 0.25, "topic": 0.5}


UNGUARDED = """
from publius.evaluation import runner

print([*runner._results([None, None], "what all cells share" * 2**16, 2, print)])
"""


@pytest.mark.long
def test_a_script_that_starts_itself_again_in_its_workers_is_told_so(tmp_path):
    """It waited for ever to give them what they need: more than a pipe holds."""
    (tmp_path / "script.py").write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 1
    # Behind it Python's own process that cleans up may warn of what the workers, ended so early, had not told it.
    said = [
        line
        for line in done.stderr.splitlines()
        if not line.startswith(" ") and "resource_tracker" not in line
    ]
    assert "does a script start this outside of if __name__ == '__main__'?" in said[-1]


@pytest.mark.long
@pytest.mark.usefixtures("undrawn")
def test_workers_change_nothing(tmp_path, corpus, options, folder):
    again = tmp_path / "again"
    run("evaluate", corpus, "--epsilon", "2", "--output", again, *options, "--workers", 2)
    assert records(again) == [r for r in records(folder) if r["repeat"] == 0 and r["epsilon"] != 30]


@pytest.mark.usefixtures("undrawn")
def test_the_same_seed_pairs_and_another_does_not(tmp_path, corpus, options, folder):
    run("evaluate", corpus, "--epsilon", "2", "--repeats", 2, "--output", tmp_path / "a", *options)
    run(
        "evaluate",
        corpus,
        "--epsilon",
        "2",
        "--repeats",
        2,
        "--output",
        tmp_path / "b",
        *options,
        "--seed",
        2,
    )
    first, second = ([r for r in records(tmp_path / name) if r["epsilon"]] for name in "ab")
    assert first == [r for r in records(folder) if r["epsilon"] == 2.0]
    assert [r["mean_distance"] for r in first] != [r["mean_distance"] for r in second]


@pytest.mark.usefixtures("undrawn")
def test_a_killed_run_goes_on(tmp_path, corpus, options, folder):
    """Killed after its first cells; the cells it had are not run again and the result is the same."""
    out = tmp_path / "killed"
    command = ["evaluate", corpus, "--epsilon", "30,2", "--repeats", 2, "--output", out, *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "publius", *map(str, command)], stderr=subprocess.DEVNULL
    )
    cells = out / "cells"
    while process.poll() is None and (not cells.exists() or len(list(cells.glob("*.json"))) < 2):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = {path.name: path.stat().st_mtime_ns for path in cells.glob("*.json")}
    run(*command)
    assert len(kept) >= 2
    assert all((cells / name).stat().st_mtime_ns == when for name, when in kept.items())
    assert records(out) == records(folder)


def test_an_evaluation_is_for_its_owner_alone(folder):
    """It names authors, and texts by their ids: no other user of the machine reads it."""
    inside = [folder, *folder.rglob("*")]
    assert {"report.html", "rows.jsonl", "run.json", "cells"} <= {path.name for path in inside}
    assert [path for path in inside if stat.S_IMODE(path.stat().st_mode) & 0o077] == []


def test_another_request_does_not_go_on_there(tmp_path, corpus, options, folder):
    with pytest.raises(UsageError, match="differs in: request"):
        run("evaluate", corpus, "--epsilon", "30,2", "--training", "all", "--output", folder, *options)
    with pytest.raises(UsageError, match="differs in: seed"):
        run(
            "evaluate", corpus, "--epsilon", "30,2", "--repeats", 2, "--output", folder, *options, "--seed", 5
        )
    (tmp_path / "mine").touch()
    with pytest.raises(UsageError, match="holds no evaluation"):
        run("evaluate", corpus, "--epsilon", "3", "--output", tmp_path, *options)


@pytest.mark.usefixtures("undrawn")
def test_a_folder_is_extended_by_strengths_mechanisms_and_repeats(tmp_path, corpus, options):
    """What is there is kept, a smaller request shows all of it, and the whole is what one run would have found."""
    few, out = [*options, "--adversaries", "sr-nearest", "--tasks", "author"], tmp_path / "out"
    run("evaluate", corpus, "--epsilon", "30", "--output", out, *few)
    kept = {path: path.stat().st_mtime_ns for path in (out / "cells").glob("*.json")}
    run("evaluate", corpus, "--epsilon", "2", "--repeats", 2, "--output", out, *few)
    run("evaluate", corpus, "--mechanism", "exponential:4.5", "--output", out, *few)
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    once = tmp_path / "once"
    strengths = "laplace:30,laplace:2,exponential:4.5"
    run("evaluate", corpus, "--mechanism", strengths, "--repeats", 2, "--output", once, *few)
    assert records(out) == records(once)
    assert {(row["mechanism"], row["epsilon"]) for row in records(once)} == {
        ("clean", None), ("laplace", 30.0), ("laplace", 2.0), ("exponential", 4.5),
    }  # fmt: skip


def test_mechanisms_at_matched_rates_are_one_line(tmp_path, corpus, options):
    """What ``compare`` prints is what ``evaluate`` takes, and the page has the figure of privacy against utility."""
    vectors = options[:2]
    found = json.loads(
        run("compare", "--mechanisms", "laplace,exponential", "--unchanged", "0.5", *vectors, "--json").stdout
    )
    typed = ",".join(f"{row['mechanism']}:{row['epsilon']:.4g}" for row in found["rows"])
    assert found["evaluate"] == typed
    out = tmp_path / "out"
    few = [*options, "--adversaries", "sr-nearest,linear"]
    run("evaluate", corpus, "--mechanism", found["evaluate"], "--output", out, *few)
    assert len({(row["mechanism"], row["epsilon"]) for row in records(out)}) == 3
    picture = (out / "report.html").read_text().split("<figure>")[-1]
    assert "laplace" in picture
    assert "exponential" in picture


@pytest.mark.usefixtures("undrawn")
def test_the_page_has_the_command_that_runs_it_again(tmp_path, folder, corpus, options):
    from html import unescape
    from re import search
    from shlex import split

    page = unescape((folder / "report.html").read_text())
    words = split(search(r"<code>publius (evaluate .+?)</code>", page)[1])
    again = tmp_path / "again"
    here = {"CORPUS": corpus, "FOLDER": again, "toy": options[1]}  # the vectors by name
    said = [here.get(word, word) for word in words]
    run(*said, "--workers", 1)  # which changes nothing: see above
    assert records(again) == records(folder)


def test_every_column_of_the_papers_table_has_its_interval(folder):
    for row in csv.DictReader((folder / "table.csv").read_text().splitlines()):
        for column in ("SRauth", "SRtopic", "DRauth", "DRtopic"):
            low, high = row[f"{column}_low"], row[f"{column}_high"]
            assert (row[column] == "") == (low == "") == (high == "")
            assert row[column] == "" or float(low) <= float(row[column]) <= float(high)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--adversaries", "nobody"], "no adversary is called 'nobody'"),
        (["--mechanism", "magic"], "no mechanism is called 'magic'"),
        (["--epsilon", "ten"], "numbers separated by commas"),
        (["--epsilon", "-1"], "epsilon"),
        (["--training", "some"], "no training is called"),
        (["--length", "zero"], "--length must be"),
        (["--gamma", "0.5"], "of laplace none takes gamma"),
        (["--snippet", "none-such"], "no unknown text has the id"),
        (["--tasks", "gender"], "no tasks is called"),
    ],
)
def test_refused(tmp_path, corpus, options, arguments, message):
    with pytest.raises(UsageError, match=message):
        run("evaluate", corpus, "--epsilon", "3", "--output", tmp_path / "out", *options, *arguments)
    assert not (tmp_path / "out" / "rows.jsonl").exists()


def test_report_is_made_again_from_its_folder(folder):
    before = {name: (folder / name).read_bytes() for name in ("rows.jsonl", "table.csv", "report.html")}
    for name in before:
        (folder / name).unlink()
    run("report", folder)
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_report_of_nothing(tmp_path):
    with pytest.raises(ValueError, match="no evaluation"):
        run("report", tmp_path)


@pytest.mark.parametrize("content", ["{", "[]", '{"mechanism": "laplace"}', '{"cell": {"epsilon": 1}}'])
def test_a_damaged_cell_is_named(tmp_path, folder, content):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "cells" / "laplace-2.0-0.json").write_text(content)
    with pytest.raises(DataError, match=r"laplace-2\.0-0\.json.* is damaged"):
        run("report", copy)


def test_page_has_no_script_and_no_network(folder):
    page = (folder / "report.html").read_text()
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert not {"http://", "https://"} & set(
        page.replace('xmlns="http://www.w3.org', "").replace('xlink="http://www.w3.org', "").split('"')
    )
    assert page.count("<svg") == 3


def test_words_and_ids_are_escaped(tmp_path, options):
    """Under "keep" any word may come through, and ids are the user's: none becomes markup."""
    records = rows()
    records[1] |= {"id": "<img src=x onerror=alert(1)>", "text": "a<script>b " + records[1]["text"]}
    for record in records:
        record["author"] = record["author"].replace("ada", "<b>ada</b>")
    corpus = write(tmp_path / "corpus.jsonl", records)
    out = tmp_path / "out"
    run(
        "evaluate",
        corpus,
        "--epsilon",
        "1",
        "--output",
        out,
        *options,
        "--unknown",
        "keep",
        "--snippet",
        records[1]["id"],
    )
    page = (out / "report.html").read_text()
    assert "<img" not in page
    assert "<b>" not in page
    assert "&lt;img src=x" in page
    assert "Nothing was promised" in page


def test_no_word_of_a_text_without_being_asked(folder):
    """No artefact holds a text's words unless a snippet was asked for."""
    canary = rows()[1]["text"].split()[:3]
    for path in folder.rglob("*"):
        if path.is_file():
            assert " ".join(canary).encode() not in path.read_bytes()


@pytest.mark.usefixtures("undrawn")
def test_single_topic_names_the_way_out(tmp_path, options):
    corpus = write(tmp_path / "corpus.jsonl", rows(topic="sea"))
    with pytest.raises(DocumentError, match="--tasks author"):
        run(
            "evaluate",
            corpus,
            "--epsilon",
            "3",
            "--output",
            tmp_path / "out",
            *options,
            "--tasks",
            "author,topic",
        )
    run("evaluate", corpus, "--epsilon", "3", "--output", tmp_path / "out", *options)
    assert {row["task"] for row in records(tmp_path / "out")} == {"author"}
