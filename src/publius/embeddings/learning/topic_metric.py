"""A metric made for the task: word vectors that hold what a word says of the topic, and nothing else.

The theorem holds for any pseudometric on the vocabulary, so the metric says what a release may reveal. Here two
words are as far apart as the odds they give for the topics, learned from *public* labelled text (docs/theory.md section
7). Words that say the same of the topic are at distance 0 and become indistinguishable.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array
from publius.documents.corpus import BadDocument, Corpus
from publius.errors import DataError, DocumentError, UsageError
from publius.settings import CountedWordSettings, TextSettings
from publius.text.tokenizer import StopWords, profile_named
from publius.embeddings.embeddings import Embeddings
from publius.embeddings.learning.public_words import PublicText, public_words

WORDS: Final = 1000
PUBLIC: Final = "learned from this corpus, which must be public: the vectors tell of its words and topics"


@final
@dataclass(frozen=True)
class TopicMetric:
    """The settings of learning a metric.

    Attributes:
        label: the field that holds the topic.
        words: how many of the most informative words to keep.
        clip: longest allowed vector of log-odds; None for no limit.
        counted: which words become public: those that enough authors use, none that points at somebody.
        mix: vectors to mix in: d^2 = d_topic^2 + weight * d_mix^2.
        weight: of ``mix``, at least 0.
    """

    label: str
    words: int = WORDS
    clip: float | None = None
    counted: CountedWordSettings = field(default_factory=CountedWordSettings)
    mix: Embeddings | None = None
    weight: float = 0.0
    tokenizer: str = "glove"
    stop_words: str = TextSettings.stop_words

    def __post_init__(self) -> None:
        """Refuse what makes no metric: `UsageError`."""
        if self.words < 2:
            raise UsageError("a topic metric needs at least 2 words")
        if self.clip is not None and not (math.isfinite(self.clip) and self.clip > 0):
            raise UsageError(f"--clip must be a positive number, not {self.clip!r}")
        if not (math.isfinite(self.weight) and self.weight >= 0):
            raise UsageError(f"--weight must be a number from 0, not {self.weight!r}")
        if (self.mix is None) != (self.weight == 0):
            raise UsageError("give --mix and a positive --weight together")

    def fit(self, corpus: Corpus, *, name: str) -> Embeddings:
        """The vectors learned from a public ``corpus`` whose documents carry the label and, where told, the author.

        `DocumentError` where a document cannot be read or has no topic; `DataError` with fewer than two topics or
        two words that enough authors use.
        """
        texts = list(self._texts(corpus))
        public, facts = public_words(texts, self.counted)
        counts, documents = self._counts(texts, public)
        topics = sorted(documents)
        if len(topics) < 2:
            raise DataError(
                f"the corpus has {len(topics)} topic in the field {self.label!r}: at least two are needed"
            )
        words = [word for word in counts if self.mix is None or word in self.mix]
        table = np.array([[counts[word][topic] for topic in topics] for word in words], np.float64)
        if len(words) < 2:
            raise DataError(f"the vectors to mix in know {len(words)} of the public words: mix in others")
        vectors = log_odds(table, np.array([documents[topic] for topic in topics], np.float64))
        totals = table.sum(axis=1)
        chosen = self._chosen(words, vectors, totals)
        kept = [words[i] for i in chosen]
        return Embeddings.from_arrays(
            kept,
            self._mixed(kept, clipped(vectors[chosen], self.clip)),
            name=name,
            tokenizer=self.mix.tokenizer if self.mix else self.tokenizer,
            source=self._source(corpus, documents) | facts,
        )

    def _texts(self, corpus: Corpus) -> Iterator[PublicText]:
        stop_words = StopWords.load(self.stop_words)
        profile = profile_named(self.mix.tokenizer if self.mix else self.tokenizer).name
        author = self.counted.author_field
        for document in corpus:
            if isinstance(document, BadDocument):
                raise DocumentError(f"{document.error()}; every public document needs a text and a topic")
            by = None if author is None else document.labels[author]
            yield PublicText.of(document.text, profile, stop_words, document.labels[self.label], by)

    def _counts(
        self, texts: Iterable[PublicText], public: Container[str]
    ) -> tuple[dict[str, Counter[str]], Counter[str]]:
        """For each public word the number of documents of each topic with it; the number of documents of each topic."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        documents: Counter[str] = Counter()
        for text in texts:
            topic = str(text.label)
            documents[topic] += 1
            for word in set(text.words):
                if word in public:
                    counts[word][topic] += 1
        return counts, documents

    def _chosen(self, words: list[str], vectors: Float64Array, totals: Float64Array) -> list[int]:
        """The most informative words, by norm times root of count, in order of descending count."""
        information = np.sqrt((vectors**2).sum(axis=1) * totals)
        best = sorted(range(len(words)), key=lambda i: (-information[i], words[i]))[: self.words]
        return sorted(best, key=lambda i: (-totals[i], words[i]))

    def _mixed(self, words: list[str], vectors: Float64Array) -> Float64Array:
        if self.mix is None:
            return vectors
        indices = np.array([self.mix.index(word) for word in words], np.int64)
        return np.concatenate([vectors, math.sqrt(self.weight) * self.mix.vectors[indices]], axis=1)

    def _source(self, corpus: Corpus, documents: Counter[str]) -> dict[str, Any]:
        return {
            "format": "topic-metric",
            "notice": PUBLIC,
            "corpus": corpus.path.name,
            "corpus_sha256": corpus.sha256(),
            "label": self.label,
            "topics": dict(sorted(documents.items())),
            "words": self.words,
            "clip": self.clip,
            "author_field": self.counted.author_field,
            "stop_words": self.stop_words,
            "mix": self.mix.sha256 if self.mix else None,
            "weight": self.weight,
        }


def log_odds(counts: Float64Array, documents: Float64Array) -> Float64Array:
    """Centred log-odds of the topics for each word, shape (words, k) -> (words, k - 1).

    ``counts``: documents of each topic with the word; ``documents``: of each topic at all. For two topics the one
    number is the difference of the two; for more, coordinates in an orthonormal basis of the centred vectors.
    """
    logs = np.log((counts + 0.5) / documents)
    if counts.shape[1] == 2:
        return logs[:, :1] - logs[:, 1:]
    return np.asarray((logs - logs.mean(axis=1, keepdims=True)) @ centred_basis(counts.shape[1]))


def centred_basis(count: int) -> Float64Array:
    """Orthonormal columns that span the vectors of sum 0, shape (count, count - 1): Helmert's."""
    columns = []
    for k in range(1, count):
        column = np.concatenate([np.ones(k), [-k], np.zeros(count - k - 1)])
        columns.append(column / math.sqrt(k * (k + 1)))
    return np.stack(columns, axis=1)


def clipped(vectors: Float64Array, longest: float | None) -> Float64Array:
    """Vectors shortened to at most ``longest``, in their direction."""
    if longest is None:
        return vectors
    lengths = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    return np.asarray(vectors * np.minimum(1.0, longest / np.maximum(lengths, 1e-300)))
