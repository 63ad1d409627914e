"""Word vectors trained on a domain's own public text, so that its names have vectors: protected *and* meaningful.

General vectors lack a domain's names. Such words have no distance and can only be dropped or become the unknown
token; passing them, as the paper does, protects nothing. Vectors trained on *public* text of the domain hold them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np

from publius.documents.corpus import BadDocument, Corpus
from publius.errors import DataError, DocumentError, UsageError, extra
from publius.settings import CountedWordSettings, TextSettings
from publius.text.tokenizer import StopWords, profile_named
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.public_words import PublicText, public_words

PUBLIC: Final = "trained on this corpus, which must be public: the vectors tell of its words"


@final
@dataclass(frozen=True)
class DomainVectors:
    """How to train: skip-gram with negative sampling (Mikolov et al. 2013), by gensim.

    Attributes:
        dimension: n.
        window: how many words to either side are a word's company.
        least_count: words that occur less often are left out.
        epochs: passes over the corpus.
        counted: which words become public: those that enough authors use, none that points at somebody.
        seed: one thread and one seed give the same vectors again.

    """

    dimension: int = 50
    window: int = 5
    least_count: int = 5
    epochs: int = 5
    tokenizer: str = "glove"
    stop_words: str = TextSettings.stop_words
    seed: int = 0
    counted: CountedWordSettings = field(default_factory=CountedWordSettings)

    def __post_init__(self) -> None:
        profile_named(self.tokenizer)
        if min(self.dimension, self.window, self.least_count, self.epochs) < 1:
            raise UsageError("dimension, window, least count and epochs are whole numbers from 1")

    def train(self, corpus: Corpus, *, name: str) -> Embeddings:
        """The vectors of a public ``corpus``, most frequent words first.

        `DocumentError` where a document cannot be read, `DataError` where fewer than two words occur often enough or
        in texts of enough authors,
        `MissingExtraError` without gensim.
        """
        with extra("domain", "gensim"):
            from gensim.models import Word2Vec
        texts = list(self._texts(corpus))
        public, facts = public_words(texts, self.counted)
        try:
            model = Word2Vec(
                [[word for word in text.words if word in public] for text in texts],
                vector_size=self.dimension, window=self.window, min_count=self.least_count, sg=1,
                epochs=self.epochs, seed=self.seed, workers=1,
            )  # fmt: skip
        except RuntimeError:  # gensim's word for an empty vocabulary
            raise self._too_few(0) from None
        words = list(model.wv.index_to_key)
        if len(words) < 2:
            raise self._too_few(len(words))
        source = {
            "format": "domain-vectors", "notice": PUBLIC, "corpus": corpus.path.name,
            "corpus_sha256": corpus.sha256(), "documents": len(texts),
            "window": self.window, "least_count": self.least_count, "epochs": self.epochs, "seed": self.seed,
            "stop_words": self.stop_words, "author_field": self.counted.author_field, **facts,
        }  # fmt: skip
        vectors = np.asarray(model.wv.vectors)
        return Embeddings.from_arrays(words, vectors, name=name, tokenizer=self.tokenizer, source=source)

    def _texts(self, corpus: Corpus) -> Iterator[PublicText]:
        stop_words, profile = StopWords.load(self.stop_words), profile_named(self.tokenizer).name
        for document in corpus:
            if isinstance(document, BadDocument):
                raise DocumentError(f"{document.error()}; every public document needs a text")
            author = self.counted.author_field
            by = None if author is None else document.labels[author]
            yield PublicText.of(document.text, profile, stop_words, None, by)

    def _too_few(self, found: int) -> DataError:
        return DataError(
            f"only {found} words occur {self.least_count} times: give more text, or a lower least count"
        )
