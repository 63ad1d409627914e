"""A released bag as a line to read: its words in the order that a language model finds likeliest.

This is post-processing: it sees a release and public text, never a document, so the guarantee of the release holds
unchanged (docs/theory.md section 2). It imports nothing that reads documents. The order is the model's, not the
author's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array
from publius.errors import DataError, UsageError
from publius.releases.writing.language_model import Context, LanguageModel
from publius.text.bag import Bag

NOTE: Final = (
    "RECONSTRUCTED from a released bag-of-words: the order is a language model's guess, not the author's"
)
BEAM: Final = 16
"""How many orderings are followed at once."""


@final
@dataclass(frozen=True, slots=True)
class Ordering:
    """The words of a bag in an order, and ln of its probability under the model."""

    words: tuple[str, ...]
    log_probability: float

    @property
    def perplexity(self) -> float:
        """exp(-log probability / words): how many words the next one is like a choice among; lower reads better."""
        return math.exp(-self.log_probability / len(self.words))


def log_probability(words: tuple[str, ...], model: LanguageModel) -> float:
    """Ln of the probability of ``words`` in this order: the sum over each word given those before it."""
    length = model.context_length
    return sum(
        float(model.log_probabilities(_context(words[:place], length), (word,))[0])
        for place, word in enumerate(words)
    )


def _context(words: tuple[str, ...], length: int) -> Context:
    return words[max(0, len(words) - length) :] if length else ()


def order_words(bag: Bag, model: LanguageModel, beam: int = BEAM) -> Ordering:
    """The likeliest ordering of the words of ``bag`` that a beam search finds; the same each time.

    All orderings of a bag have the same words, so unfinished ones are compared by how much likelier each word became
    by its context: else frequent words would all come first. Raises `UsageError` for an empty bag or no beam, and
    `DataError` for a model whose answers are no log-probabilities.
    """
    if not bag.size or beam < 1:
        raise UsageError("an ordering needs a bag with words and a beam of at least 1")
    search = _Search(tuple(bag.counts), model)
    paths = [_Path(0.0, (), np.array(list(bag.counts.values()), np.int64))]
    for _ in range(bag.size):
        paths = search.extended(paths, beam)
    words = tuple(search.words[place] for place in paths[0].places)
    return Ordering(words, log_probability(words, model))


@final
@dataclass(frozen=True, slots=True)
class _Path:
    """An unfinished ordering: its score, the places of its words in the bag's list, how often each word is left."""

    score: float
    places: tuple[int, ...]
    left: np.ndarray[Any, np.dtype[np.int64]]


@final
class _Search:
    """One bag's search: the gain of each word after each context, computed once."""

    def __init__(self, words: tuple[str, ...], model: LanguageModel) -> None:
        self.words, self._model = words, model
        self._alone = self._asked(())
        self._gains: dict[tuple[int, ...], Float64Array] = {}

    def _asked(self, context: Context) -> Float64Array:
        found = np.asarray(self._model.log_probabilities(context, self.words), np.float64)
        if found.shape != (len(self.words),) or not np.isfinite(found).all():
            raise DataError(
                "the language model gave something else than a finite log-probability for each word"
            )
        return found

    def _gain(self, places: tuple[int, ...]) -> Float64Array:
        """Ln P(word | context) - ln P(word) for each word of the bag."""
        length = self._model.context_length
        nearest = places[max(0, len(places) - length) :] if length else ()
        if nearest not in self._gains:
            self._gains[nearest] = self._asked(tuple(self.words[place] for place in nearest)) - self._alone
        return self._gains[nearest]

    def extended(self, paths: list[_Path], beam: int) -> list[_Path]:
        """The best ``beam`` ways to go on, best first; of equals, the one found first."""
        scores = np.stack(
            [np.where(path.left > 0, path.score + self._gain(path.places), -np.inf) for path in paths]
        )
        order = np.argsort(-scores, axis=None, kind="stable")[:beam]
        chosen = [divmod(place, len(self.words)) for place in order.tolist()]
        return [_longer(paths[row], column, scores[row, column]) for row, column in chosen
                if np.isfinite(scores[row, column])]  # fmt: skip


def _longer(path: _Path, place: int, score: float) -> _Path:
    left = path.left.copy()
    left[place] -= 1
    return _Path(float(score), (*path.places, place), left)
