"""``python -m benchmarks scaling``: what it measures has the shape that was promised."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks import commands, runs
from benchmarks.scaling import bench_scaling, settings_of
from publius.errors import PubliusError, UsageError

MEASURE = runs.measure


@pytest.fixture
def benchmark(monkeypatch, capsys):
    """Run ``python -m benchmarks``: (exit code, standard output, standard error)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["benchmarks", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            commands.main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run


@pytest.mark.long
def test_documents_grow(benchmark):
    code, out, err = benchmark(
        "scaling", "--documents", 40, "--documents", 80, "--words", 50, "--dimension", 4,
        "--workers", 1, "--json",
    )  # fmt: skip
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert report["documents"] == [40, 80]
    assert all(rate > 0 for rate in report["words_per_second"])
    assert len(report["peak_rss_mb"]) == len(report["prepare_seconds"]) == 2
    expected = [count * 30 / rate for count, rate in zip([40, 80], report["words_per_second"], strict=True)]
    assert report["seconds"] == pytest.approx(expected, abs=6e-4)  # it has three decimals


@pytest.mark.long
def test_tables_for_synthetic_vectors_stay_out_of_the_users_folder(home):
    report = bench_scaling(settings_of([40], [2500], [10], mechanism="exponential", epsilon=2.0, workers=1))
    assert report["prepare_seconds"][0] > 0
    assert not (home / "tables").exists()


def test_one_thing_grows_at_a_time():
    with pytest.raises(UsageError, match="one thing"):
        settings_of([10, 20], [50, 60], [4])


def test_an_error_of_the_measured_run_is_told():
    with pytest.raises(PubliusError, match="no mechanism is called"):
        bench_scaling(settings_of([10], [50], [4], mechanism="magic"))


def test_documents_are_cut_from_real_text(tmp_path):
    from benchmarks.scaling import Setting, _write_corpus
    from publius.vectors.embeddings import Embeddings

    source = tmp_path / "source.jsonl"
    source.write_text(json.dumps({"text": "river mountain castle garden"}) + "\n", encoding="utf-8")
    vectors = Embeddings.from_arrays(["a", "b"], [[1.0], [2.0]])
    _write_corpus(tmp_path / "out", vectors, Setting(3, 2, 1, length=2, source=str(source)), 3)
    texts = [json.loads(line)["text"] for line in (tmp_path / "out").read_text().splitlines()]
    assert all(text in "river mountain castle garden" and len(text.split()) == 2 for text in texts)


def test_cost_is_words_over_speed_plus_reading(benchmark):
    code, out, _ = benchmark(
        "cost", "--documents", 7.2e6, "--length", 10, "--words-per-second", 10_000, "--machines", 2,
        "--share", 0.5, "--documents-read", 1_000, "--json",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["hours"] == 2 + 1
    assert json.loads(out)["computed"] is True
    assert benchmark("cost", "--words-per-second", -1, "--documents-read", 1)[0] == 2


def test_cost_of_whole_runs_is_the_rate_between_two_sizes(benchmark, monkeypatch):
    measured = {
        "length": 40,
        "documents": [1000, 5000],
        "seconds": {"prototype": [3.0, 7.0], "summarize": [2.0, 2.4]},
    }
    asked = []
    monkeypatch.setattr(runs, "measure", lambda sizes: asked.append(list(sizes)) or measured)
    code, out, _ = benchmark("cost", "--documents", 3.6e6, "--processors", 2, "--dollars", 0.6, "--json")
    assert code == 0
    found = json.loads(out)
    assert asked == [[1_000, 20_000]]
    assert found["computed"] is True
    assert found["prototype"] == {"microseconds": 1000.0, "machine_hours": 0.5, "dollars": 0.3}
    assert found["summarize"] == {"microseconds": 100.0, "machine_hours": 0.05, "dollars": 0.03}
    assert benchmark("cost", "--documents", 0)[0] == 2
    assert benchmark("cost", "--words-per-second", 5)[0] == 2
    with pytest.raises(UsageError, match="larger than the one before"):
        MEASURE([2000, 1000])


def test_the_docs_say_what_is_computed_from_the_measured_runs():
    docs = Path(__file__).parents[2] / "docs"
    measured = json.loads((docs / "figures/growth-runs.json").read_text(encoding="utf-8"))
    page = " ".join((docs / "scaling.md").read_text(encoding="utf-8").split())
    assert runs.in_words(measured) in page
    assert measured["documents"] == [10**power for power in range(3, 7)]
    assert runs.in_words({**measured, "length": 41}) not in page


@pytest.mark.long
def test_whole_runs_are_measured(tmp_path):
    """Two small ones, in processes of their own."""
    found = MEASURE([100, 200])
    assert found["documents"] == [100, 200]
    assert set(found["seconds"]) == set(runs.RUNS)
    assert all(second > 0 for seconds in found["seconds"].values() for second in seconds)
    runs.draw(found, tmp_path / "runs.svg")
    assert (tmp_path / "runs.svg").read_text(encoding="utf-8").startswith("<?xml")
