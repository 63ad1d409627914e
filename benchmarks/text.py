"""From text to the counts of its words, against scikit-learn's ``CountVectorizer`` on the same texts and words."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from publius.arrays import IndexArray
from publius.documents.corpus import Document, open_corpus
from publius.errors import MissingExtraError, UsageError
from publius.noise.randomness import seeded_rng
from publius.text.bag import Encoding, places_of_all, words_of_all
from publius.text.known_words import known_words
from publius.text.tokenizer import tokenize
from publius.vectors.embeddings import Embeddings

_ROUNDS = 7
_VOCABULARY = 50_000
_LENGTH = 200
_SYLLABLES = [a + b for a in "bdfghklmnprstvwz" for b in ("a", "e", "i", "o", "u", "an", "er", "on")]


def bench_text(texts: Sequence[str], embeddings: Embeddings | None = None) -> dict[str, Any]:
    """Words a second from ``texts`` to the counts of each, ours and CountVectorizer's in turn, one thread each.

    The vocabulary is that of ``embeddings``, or the texts' own commonest words. Both speeds count the words that
    Publius looked up, so the ratio is that of the times; ``ratio_cold`` is the same where Publius has seen none of
    the texts before. Raises `MissingExtraError` without scikit-learn and `UsageError` without texts.
    """
    if not any(texts):
        raise UsageError("there is no text to count: give a corpus with documents")
    embeddings = embeddings or _own_vocabulary(texts)
    encoding = Encoding.of(embeddings.tokenizer, unknown="drop", stop_words="none")
    peer = _peer(embeddings)
    words = sum(found.seen for found in words_of_all(texts, embeddings, encoding))
    ours, theirs, cold = [], [], []
    for _ in range(_ROUNDS):
        theirs.append(words / _timed(lambda: peer(texts)))
        known_words.cache_clear()
        cold.append(words / _timed(lambda: counts_of(texts, embeddings, encoding)))
        ours.append(words / _timed(lambda: counts_of(texts, embeddings, encoding)))
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    return {
        "benchmark": "text",
        "vocabulary_size": embeddings.size,
        "documents": len(texts),
        "words": words,
        "rounds": _ROUNDS,
        "words_per_second": round(statistics.median(ours), 1),
        "countvectorizer_words_per_second": round(statistics.median(theirs), 1),
        "ratio": round(statistics.median(ratios), 4),
        "ratio_min": round(min(ratios), 4),
        "ratio_max": round(max(ratios), 4),
        "ratio_cold": round(statistics.median(a / b for a, b in zip(cold, theirs, strict=True)), 4),
    }


def counts_of(
    texts: Sequence[str], embeddings: Embeddings, encoding: Encoding
) -> tuple[IndexArray, IndexArray, IndexArray]:
    """How often each text has each word: where a text's row begins, the places of its words, their counts."""
    rows = places_of_all(texts, embeddings, encoding).places
    numbers = np.repeat(np.arange(len(rows)), np.diff(rows.starts))
    keys = np.sort(numbers * embeddings.size + rows.flat)
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    row, places = np.divmod(keys[first], embeddings.size)
    starts = np.searchsorted(row, np.arange(len(rows) + 1))
    return starts, places, np.diff(first, append=len(keys))


def made_texts(documents: int = 4000, length: int = _LENGTH) -> list[str]:
    """Texts of made-up words by Zipf's law, with capitals, marks and clitics; for timing only."""
    rng = seeded_rng(5)
    drawn = np.floor(_VOCABULARY ** rng.random((documents, length))).astype(int) - 1
    marked = rng.random((documents, length))
    return [
        " ".join(map(_written, row, marks))
        for row, marks in zip(drawn.tolist(), marked.tolist(), strict=True)
    ]


def read_texts(path: str) -> list[str]:
    """The texts of a corpus."""
    return [found.text for found in open_corpus(path, number=True) if isinstance(found, Document)]


def _written(number: int, marked: float) -> str:
    """A word for a number, shorter for a smaller one, and sometimes what stands round a word."""
    word = ""
    while number or not word:
        number, last = divmod(number, len(_SYLLABLES))
        word += _SYLLABLES[last]
    if marked < 0.1:
        return word + (". " if marked < 0.05 else ",")
    if marked < 0.2:
        return word.capitalize()
    return word + "'s" if marked < 0.22 else word


def _own_vocabulary(texts: Sequence[str]) -> Embeddings:
    common = Counter(word for text in texts for word in tokenize(text)).most_common(_VOCABULARY)
    vectors = seeded_rng(1).standard_normal((len(common), 2), np.float32)
    return Embeddings.from_arrays([word for word, _ in common], vectors, name="own", tokenizer="glove")


def _peer(embeddings: Embeddings) -> Callable[[Sequence[str]], object]:
    try:
        from sklearn.feature_extraction.text import CountVectorizer
    except ImportError:
        raise MissingExtraError("scikit-learn", "sklearn") from None
    return CountVectorizer(vocabulary={word: at for at, word in enumerate(embeddings.vocabulary)}).transform  # type: ignore[no-any-return]


def _timed(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start
