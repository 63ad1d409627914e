"""``python -m benchmarks [PEER_PYTHON]``: one table of all figures; also as JSON in benchmarks/results.json."""

import json
import platform
import sys
from pathlib import Path

import numpy as np

from benchmarks import memory, open_store, peer
from publius.bench.search import bench_end_to_end, bench_search, synthetic_embeddings
from publius.bench.transport import bench_transport

SHAPES = [(33_860, 300), (50_000, 50), (400_000, 50)]


def main(peer_python: str | None) -> None:
    results = []
    for words, dimension in SHAPES:
        vectors = synthetic_embeddings(words, dimension)
        results += [_show(bench_search(vectors)), _show(bench_end_to_end(vectors))]
    results.append(_show(bench_transport(synthetic_embeddings(*SHAPES[0]))))
    results += [_show(memory.main()), _show(open_store.main())]
    if peer_python is not None:
        results.append(_show(peer.main(peer_python)))
    facts = {"python": platform.python_version(), "numpy": np.__version__, "machine": platform.machine()}
    path = Path(__file__).with_name("results.json")
    path.write_text(json.dumps({**facts, "results": results}, indent=1) + "\n", encoding="utf-8")
    print(f"written to {path}")


def _show(result: dict[str, object]) -> dict[str, object]:
    name = result.get("benchmark", "benchmark")
    print(
        f"{name:<16} "
        + "  ".join(f"{key}={_short(value)}" for key, value in result.items() if key != "benchmark")
    )
    return result


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
