"""How long opening a store takes and what memory it adds: ``python benchmarks/open_store.py``, JSON out.

A store of 100,000 words of 300 numbers is made in a temporary folder. Each repetition is a fresh process, so that
imports and caches of the last one do not help; the file itself is in the page cache, as it is on any second run.
Beside it, in the same process: the time to read the same array into memory, and to look up the first word.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

WORDS, DIMENSION, REPETITIONS = 100_000, 300, 7

PROBE = """
import json, sys, time
import numpy as np
from publius.vectors.embeddings import Embeddings

def memory(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field + ":")) / 1024

before, start = memory("VmRSS"), time.perf_counter()
embeddings = Embeddings.open(sys.argv[1])
opened, after = time.perf_counter(), memory("VmRSS")
embeddings.index("w1")
looked_up = time.perf_counter()
read = np.array(embeddings.vectors)
copied = time.perf_counter()
print(json.dumps({
    "open_ms": 1e3 * (opened - start), "first_lookup_ms": 1e3 * (looked_up - opened),
    "copy_vectors_ms": 1e3 * (copied - looked_up), "added_mb": after - before, "vectors_mb": read.nbytes / 2**20,
    "mapped": isinstance(embeddings.vectors.base, np.memmap),
}))
"""


def main():
    """Measure: the median of each figure."""
    import numpy as np

    from publius.noise.randomness import seeded_rng
    from publius.vectors.embeddings import Embeddings

    with tempfile.TemporaryDirectory() as folder:
        vectors = seeded_rng(1).standard_normal((WORDS, DIMENSION), np.float32)
        store = Path(folder, "store")
        Embeddings.from_arrays([f"w{i}" for i in range(WORDS)], vectors).save(store)
        command = [sys.executable, "-c", PROBE, str(store)]
        runs = [json.loads(subprocess.check_output(command)) for _ in range(REPETITIONS)]
    median = {
        key: round(statistics.median(run[key] for run in runs), 2) for key in runs[0] if key != "mapped"
    }
    worst = round(max(run["open_ms"] for run in runs), 2)
    shape = {"benchmark": "open store", "words": WORDS, "dimension": DIMENSION, "repetitions": REPETITIONS}
    return {**shape, **median, "worst_open_ms": worst, "mapped": all(run["mapped"] for run in runs)}


if __name__ == "__main__":
    print(json.dumps(main()))
