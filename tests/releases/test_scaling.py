"""``python -m benchmarks scaling``: what it measures has the shape that was promised."""

import json
import sys

import pytest

from benchmarks import commands
from benchmarks.scaling import bench_scaling, settings_of
from publius.errors import PubliusError, UsageError


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
