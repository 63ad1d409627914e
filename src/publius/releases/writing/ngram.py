"""The released words in the order that a small model of public text finds likeliest: a reconstruction."""

from __future__ import annotations

from typing import Final, final

from publius.documents.corpus import BadDocument, open_corpus
from publius.documents.samples import federalist_papers
from publius.errors import DocumentError
from publius.releases.writing.language_model import NGramModel
from publius.releases.writing.likeliest_order import NOTE, order_words
from publius.releases.writing.released_bags import ReleasedBag
from publius.releases.writing.writer import AbstractTextWriter, WriterInput, Written, length_said
from publius.text.tokenizer import joined

ORDER: Final = 3


@final
class NGram(AbstractTextWriter):
    """Orders the bag; the model learns from ``--public``, or from the Federalist papers of the extra ``demo``.

    ``ngram`` counts runs of three words, ``ngram:N`` shorter or longer ones.
    """

    name = "ngram"
    note = NOTE

    def __init__(self, seen: WriterInput) -> None:
        super().__init__(seen)
        order = length_said(seen.settings.writer, ORDER)
        corpus = seen.public or open_corpus(federalist_papers())
        stop_words, texts = seen.stop_words, []
        for document in corpus:
            if isinstance(document, BadDocument):
                raise DocumentError(f"{document.error()}; every public document needs a text")
            texts.append(seen.words(document.text, stop_words))
        self._model = NGramModel.train(texts, order)
        self._source = {
            "model": f"{order}-grams",
            "corpus": "federalist" if seen.public is None else corpus.path.name,
        }

    def write(self, released: ReleasedBag) -> Written:
        """See `AbstractTextWriter.write`."""
        found = order_words(released.bag, self._model)
        return Written(joined(found.words), {**self._source, "perplexity": round(found.perplexity, 3)})
