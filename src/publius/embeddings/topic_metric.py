"""A metric made for the task: word vectors that hold what a word says of the topic, and nothing else (docs/theory.md, words).

The theorem holds for any pseudometric on the vocabulary, so the metric says what a release may reveal. Here two words
are as far apart as the odds they give for the topics, learned from *public* labelled text. Words that say the same of
the topic are at distance 0 and become indistinguishable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from publius.arrays import Float64Array
from publius.embeddings.embeddings import Embeddings
from publius.errors import DataError
from publius.settings import AUTHORS_AT_LEAST
from publius.text.list_rule import may_leave, uses
from publius.text.tokenizer import StopWords, tokenize

_WORDS: Final = 1000
_PUBLIC: Final = "learned from texts that must be public: the vectors tell of their words and topics"


def fit_metric(
    texts: Sequence[str], labels: Sequence[str], *, name: str, authors: Sequence[str | None] | None = None,
    extra: Collection[str] = (), languages: Sequence[str] = ("en",), trained_on: Sequence[str] = (),
) -> Embeddings:  # fmt: skip
    """Word vectors of log-odds of the topics: k distinct ``labels`` of public ``texts`` give k - 1 dimensions.

    The most informative words stay, of those that may leave (`publius.text.list_rule.may_leave`). ``trained_on``: digests
    of the files of these texts, which are then never released with it.
    """
    if len(texts) != len(labels):
        raise DataError(f"{len(texts)} public texts and {len(labels)} labels: give one label for each text")
    stops = StopWords.load()
    used = [{word for word in tokenize(text) if word not in stops} for text in texts]
    public = sorted(may_leave(uses(texts, authors)[1], extra=extra, languages=languages) - stops.words)
    topics = Counter(map(str, labels))
    if len(topics) < 2:
        raise DataError(f"the public texts have {len(topics)} topic: at least two are needed")
    if len(public) < 2:
        raise DataError(
            f"{len(public)} words of the public texts may leave: at least two are needed; give more texts, or a list of "
            "words of your own"
        )
    row, column = ({each: at for at, each in enumerate(every)} for every in (public, sorted(topics)))
    counts = np.zeros((len(row), len(column)))
    for own, label in zip(used, labels, strict=True):
        counts[[row[word] for word in own if word in row], column[str(label)]] += 1
    vectors, totals = log_odds(counts, np.array([topics[each] for each in column], float)), counts.sum(axis=1)
    # The words with the largest norm times root of count, the most used first.
    best = np.argsort(-np.sqrt((vectors**2).sum(axis=1) * totals), kind="stable")[:_WORDS]
    best = best[np.lexsort((best, -totals[best]))]
    source = {
        "format": "topic-metric", "notice": _PUBLIC, "topics": dict(sorted(topics.items())), "words": _WORDS,
        "stop_words": stops.name, "at_least": AUTHORS_AT_LEAST, "languages": list(languages), "trained_on": list(trained_on),
    }  # fmt: skip
    return Embeddings.from_arrays([public[place] for place in best.tolist()], vectors[best], name=name, source=source)


def log_odds(counts: Float64Array, documents: Float64Array) -> Float64Array:
    """Centred log-odds of the topics for each word, shape (words, k) -> (words, k - 1).

    ``counts``: texts of each topic with the word; ``documents``: of each topic at all. For two topics the one number
    is the difference of the two; for more, coordinates in an orthonormal basis of the centred vectors (Helmert's).
    """
    logs = np.log((counts + 0.5) / documents)
    if (k := counts.shape[1]) == 2:
        return np.asarray(logs[:, :1] - logs[:, 1:])
    steps = np.arange(1, k)
    basis = np.triu(np.ones((k, k - 1))) - np.eye(k, k - 1, -1) * steps
    return np.asarray((logs - logs.mean(axis=1, keepdims=True)) @ (basis / np.sqrt(steps * (steps + 1))))
