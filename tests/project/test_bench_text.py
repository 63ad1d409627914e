"""`python -m benchmarks text` and `search` report what is promised, and the counts that are timed are the words'."""

import json
import sys
from collections import Counter
from functools import partial

import numpy as np
import pytest

from benchmarks import search as search_module
from benchmarks.commands import main
from benchmarks.text import bench_text, counts_of, made_texts
from publius.errors import MissingExtraError, UsageError
from publius.text.bag import Encoding
from publius.text.tokenizer import tokenize
from publius.vectors.embeddings import Embeddings
from publius.vectors.kernel_choice import usable_kernels


def test_counts_are_those_of_the_words():
    texts = ["Tea, milk; tea.", "", "unknown only", "milk's Tea"]
    vectors = Embeddings.from_arrays(
        ["milk", "tea", "'s"], [[1.0], [2.0], [3.0]], name="few", tokenizer="glove"
    )
    encoding = Encoding.of("glove", unknown="drop", stop_words="none")
    starts, places, counts = counts_of(texts, vectors, encoding)
    for row, text in enumerate(texts):
        part = slice(starts[row], starts[row + 1])
        found = {
            vectors.word(at): count
            for at, count in zip(places[part].tolist(), counts[part].tolist(), strict=True)
        }
        assert found == Counter(word for word in tokenize(text) if word in vectors)
    assert np.array_equal(starts, [0, 2, 2, 2, 5])


@pytest.fixture
def bench(monkeypatch, capsys):
    """Run ``python -m benchmarks``: (exit code, standard output, standard error)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["benchmarks", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return run


def test_command_counts_the_texts_of_a_file(bench, tmp_path):
    pytest.importorskip("sklearn")
    source = tmp_path / "texts.jsonl"
    source.write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in made_texts(30, 40)), encoding="utf-8"
    )
    code, out, err = bench("text", "--from", source, "--json")
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert (report["documents"], report["words"]) == (
        30,
        30 * 40 + sum("'s" in w for t in made_texts(30, 40) for w in t.split()),
    )
    assert report["rounds"] >= 5
    assert min(report["words_per_second"], report["countvectorizer_words_per_second"], report["ratio"]) > 0
    assert report["ratio_min"] <= report["ratio"] <= report["ratio_max"]


def test_without_scikit_learn_or_texts(monkeypatch):
    with pytest.raises(UsageError, match="no text to count"):
        bench_text([""])
    for name in [name for name in sys.modules if name.startswith("sklearn")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "sklearn.feature_extraction.text", None)
    with pytest.raises(MissingExtraError, match=r"publius\[sklearn\]"):
        bench_text(["tea and milk"])


@pytest.mark.long
def test_search_names_its_kernel(monkeypatch):
    monkeypatch.setattr(search_module, "_REPEATS", 2)
    report = search_module.bench_search(search_module.synthetic_embeddings(300, 8), seconds=0.01)
    assert report["kernel"] in report["kernels"]
    assert report["ratio"] == report["kernels"][report["kernel"]]
    assert set(report["kernels"]) == set(usable_kernels())
    assert min(report["kernels"].values()) > 0


def test_what_search_prints(bench, monkeypatch):
    monkeypatch.setattr(search_module, "_REPEATS", 2)
    monkeypatch.setattr(search_module, "bench_search", partial(search_module.bench_search, seconds=0.02))
    code, out, _ = bench("search", "--words", 300, "--dimension", 8, "--json")
    assert code == 0
    assert {"kernel", "ratio", "kernels"} <= set(json.loads(out))


def test_a_part_that_is_not_there_and_bad_input_are_told(bench):
    code, _, err = bench("--parts", "nothing")
    assert (code, err.count("\n")) == (2, 1)
    assert "kernel, text" in err


@pytest.mark.long
def test_search_with_a_kernel_that_is_named(monkeypatch):
    monkeypatch.setattr(search_module, "_REPEATS", 2)
    embeddings = search_module.synthetic_embeddings(600, 8)
    for kernel in usable_kernels():
        report = search_module.bench_search(embeddings, seconds=0.01, kernel=kernel)
        assert (report["kernel"], report["kernel_reason"]) == (kernel, "asked for")
        assert report["ratio"] == report["kernels"][kernel]
