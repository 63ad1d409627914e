"""A word's likely outputs and its neighbors, placed in two dimensions."""

from __future__ import annotations

from typing import Final

import numpy as np

from publius.arrays import Float64Array
from publius.errors import UsageError
from publius.mechanisms.word_outcomes import nearest_words, outcomes
from publius.text.tokenizer import normalize
from publius.web import answers, requests
from publius.web.state import State

_DRAWS: Final = 5000


def words(state: State, asked: requests.Words) -> answers.Words:
    """The outputs of a word, and what is near it; `UsageError`, without the word, when it is not known."""
    vectors = state.embeddings
    mechanism = state.mechanism(asked)
    word = asked.word if asked.word in vectors else normalize(asked.word.strip())
    index = vectors.index(word)
    if index is None:
        raise UsageError(
            f"this word is not in the vocabulary {vectors.name!r}: it would become the unknown token, which stands "
            f"at {vectors.word(vectors.unknown_index)!r}"
        )
    found = outcomes(mechanism, word, count=asked.count, draws=_DRAWS)
    near, distances = nearest_words(mechanism, index, asked.count)
    outputs = [vectors.index(output.word) or 0 for output in found.outputs]
    shown = [index, *outputs, *near.tolist()]
    places = _plane(np.asarray(vectors.vectors[shown], np.float64))
    at = [{"x": float(x), "y": float(y)} for x, y in places]
    record = {"stay_low": found.stay_low, "stay_high": found.stay_high, **found.record()}
    record["outputs"] = [
        answers.Output.of(**output, **place) for output, place in zip(record["outputs"], at[1:], strict=False)
    ]
    neighbors = [
        answers.Neighbor(word=vectors.word(i), distance=d, **place)
        for i, d, place in zip(near.tolist(), distances.tolist(), at[1 + len(outputs) :], strict=True)
    ]
    return answers.Words.of(**record, **at[0], neighbors=neighbors)


def _plane(points: Float64Array) -> Float64Array:
    """The two leading principal components of ``points``, shape (p, n) -> (p, 2), about the first of them."""
    centered = points - points.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2][:2]
    placed = (points - points[0]) @ axes.T
    return np.pad(placed, ((0, 0), (0, 2 - placed.shape[1])))
