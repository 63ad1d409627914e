"""The comparison with gensim runs and reports what it promises."""

import sys

import pytest

from benchmarks.search import synthetic_embeddings
from benchmarks.transport import bench_transport
from publius.errors import UsageError


def test_report():
    pytest.importorskip("gensim")
    pytest.importorskip("ot")
    report = bench_transport(synthetic_embeddings(2_000, 20), length=60)
    assert report["ms_per_pair"] > 0
    assert report["gensim_ms_per_pair"] > 0
    assert report["ratio_to_gensim"] == pytest.approx(
        report["gensim_ms_per_pair"] / report["ms_per_pair"], rel=0.5
    )


def test_without_gensim(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(UsageError, match="pip install gensim"):
        bench_transport(synthetic_embeddings(100, 5))
