"""How many words a bag is to have where words are kept: proposed from texts that are public."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from publius.errors import DataError
from publius.settings import TextSettings
from publius.text.bag import Encoding, words_of
from publius.text.tokenizer import Vocabulary
from publius.vectors.embeddings import Embeddings

PADDING: Final = 0.02
"""Share of the words released that may be padding at the length that is proposed."""


def proposed_length(
    texts: Iterable[str], vectors: Embeddings | None = None, stop_words: str = TextSettings.stop_words
) -> int:
    """The largest N, at most the default of a release, at which hardly any of these *public* texts is padded.

    The padding is at most `PADDING` of the words released. `DataError` where no text has a known word.
    """
    known = Embeddings.load() if vectors is None else vectors
    lengths = sorted(filter(None, (count_words(text, known, stop_words) for text in texts)))
    if not lengths:
        raise DataError(
            "none of the public texts has a word of the vocabulary: give other texts, or --length"
        )
    best = lengths[0]
    for size in range(lengths[0], min(int(TextSettings.length), lengths[-1]) + 1):
        if sum(max(0, size - length) for length in lengths) <= PADDING * size * len(lengths):
            best = size
    return min(best, int(TextSettings.length))


def count_words(text: str, vocabulary: Vocabulary, stop_words: str = TextSettings.stop_words) -> int:
    """How many words of ``text`` count: known ones that are no stop words."""
    profile = str(getattr(vocabulary, "tokenizer", "glove"))
    encoding = Encoding.of(profile, unknown="drop", stop_words=stop_words)
    return len(words_of(text, vocabulary, encoding).words)
