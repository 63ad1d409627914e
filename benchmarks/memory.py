"""Memory of a run over many documents: the peak over all its processes, shared pages counted once."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from publius.noise.randomness import seeded_rng
from publius.vectors.embeddings import Embeddings


def main(documents: int = 100_000, length: int = 20) -> dict[str, object]:
    embeddings = Embeddings.load()
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.jsonl"
        _write_corpus(corpus, embeddings, documents, length)
        command = [
            sys.executable,
            "-m",
            "publius",
            "obfuscate",
            str(corpus),
            "--epsilon",
            "10",
            "--length",
            str(length),
        ]
        start = time.perf_counter()
        run = subprocess.Popen(
            [*command, "--output", f"{folder}/out", "--json"], stdout=subprocess.PIPE, text=True
        )
        peak = 0.0
        while run.poll() is None:
            peak = max(peak, sum(map(_proportional_mb, [run.pid, *_children(run.pid)])))
            time.sleep(0.2)
        seconds = time.perf_counter() - start
        released = json.loads(run.stdout.read())["documents"]
    vectors_mb = embeddings.vectors.nbytes / 1e6
    return {
        "benchmark": "memory",
        "documents": released,
        "length": length,
        "vectors_mb": round(vectors_mb, 1),
        "peak_mb": round(peak, 1),
        "beyond_vectors_mb": round(peak - vectors_mb, 1),
        "words_per_second": round(documents * length / seconds),
    }


def _write_corpus(path: Path, embeddings: Embeddings, documents: int, length: int) -> None:
    rng = seeded_rng(1)
    plain = [word for word in embeddings.vocabulary if word.isascii() and word.isalpha()]
    with path.open("w", encoding="utf-8") as file:
        for document in range(documents):
            text = " ".join(plain[i] for i in rng.integers(0, len(plain), length).tolist())
            file.write(json.dumps({"id": document, "text": text}) + "\n")


def _children(pid: int) -> list[int]:
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [child for name in listed for child in (int(name), *_children(int(name)))]


def _proportional_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("Pss:"))


if __name__ == "__main__":
    print(json.dumps(main()))
