"""``python -m benchmarks [--peer PYTHON] [--spark PYTHON] [--parts A,B]``: one table of all figures.

Written to benchmarks/results.json, docs/benchmarks.md and docs/figures/benchmarks.svg. Parts that are not run keep
what they found last.
"""

import datetime
import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import engines, memory, open_store, peer, table, workers
from benchmarks.machine import processor
from benchmarks.mechanisms import bench_mechanisms
from benchmarks.search import bench_end_to_end, bench_search, synthetic_embeddings
from benchmarks.start import bench_start
from benchmarks.text import bench_text, made_texts
from benchmarks.transport import bench_transport
from publius.errors import UsageError

SHAPES = [(33_860, 300), (50_000, 50), (400_000, 50)]
RESULTS = Path(__file__).with_name("results.json")

Result = dict[str, object]


@dataclass(frozen=True)
class Options:
    """Interpreters of the environments of others; None where they are not measured."""

    peer: str | None = None
    spark: str | None = None


def kernel(options: Options) -> Iterator[Result]:
    for words, dimension in SHAPES:
        vectors = synthetic_embeddings(words, dimension)
        yield bench_search(vectors)
        yield bench_end_to_end(vectors)


def transport(options: Options) -> Iterator[Result]:
    yield bench_transport(synthetic_embeddings(*SHAPES[0]))


def text(options: Options) -> Iterator[Result]:
    yield bench_text(made_texts())


def start(options: Options) -> Iterator[Result]:
    yield bench_start()


def mechanisms(options: Options) -> Iterator[Result]:
    yield bench_mechanisms(synthetic_embeddings(*SHAPES[0]), words=2_000_000)


def run_engines(options: Options) -> Iterator[Result]:
    yield from engines.main(options.spark)


def run_workers(options: Options) -> Iterator[Result]:
    yield from workers.main()


def small(options: Options) -> Iterator[Result]:
    yield memory.main()
    yield open_store.main()


def run_peer(options: Options) -> Iterator[Result]:
    if options.peer is not None:
        yield peer.main(options.peer)


PARTS: dict[str, Callable[[Options], Iterator[Result]]] = {
    "kernel": kernel,
    "text": text,
    "start": start,
    "mechanisms": mechanisms,
    "transport": transport,
    "engines": run_engines,
    "workers": run_workers,
    "memory": small,
    "peer": run_peer,
}


def main(peer: str | None, spark: str | None, parts: Sequence[str]) -> None:
    if unknown := [name for name in parts if name not in PARTS]:
        raise UsageError(f"no part is called {unknown[0]!r}: choose among {', '.join(PARTS)}")
    options = Options(peer, spark)
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))["parts"] if RESULTS.exists() else {}
    load = os.getloadavg()[0]
    for name in parts:
        kept[name] = [_show(result) for result in PARTS[name](options)]
    record = {
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        "machine": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "load": load,
        "parts": {name: kept.get(name, []) for name in PARTS},
    }
    record["results"] = [result for found in record["parts"].values() for result in found]
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    table.main()
    print(f"written to {RESULTS} and docs/benchmarks.md")


def _show(result: Result) -> Result:
    for row in table.rows_of([result]):
        ratio = "" if row.ratio is None else f"{row.ratio:8.2f} x {row.against}"
        print(f"{row.figure:<44} {row.shape:<18} {row.measured:>18} {ratio}", flush=True)
    return result
