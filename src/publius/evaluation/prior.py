"""How often authors write, as an adversary who names them uses it beside what a text tells.

Whoever knows the texts that an adversary learns from knows who writes often on a topic. An adversary who did not use
that would name fewer authors than the topic alone does, and an attack with him would show nothing. How much a score
weighs beside it differs from adversary to adversary, and with how much a release holds; so the weight is learned, from
other texts than those that are attacked with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.evaluation.attackers.base import best_columns
from publius.evaluation.encoding import EncodedText

_WEIGHTS: Final = (1e-6, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 1e6)
"""Of a standard deviation of the scores beside one nat: from almost the prior alone to almost the scores alone."""


@final
@dataclass(frozen=True, slots=True)
class Scored:
    """Attacked texts and what one adversary, who has learned from others, makes of them.

    Attributes:
        texts: those that are attacked.
        names: the authors whom the adversary knows.
        scores: of each author for each text, shape (texts, names); higher is likelier.
        prior: the logarithm of each author's share of the known texts on the text's topic, in the same shape.

    """

    texts: Sequence[EncodedText]
    names: Sequence[str]
    scores: Float64Array
    prior: Float64Array

    def some(self, places: IndexArray) -> Scored:
        """The texts at ``places`` alone."""
        return Scored([self.texts[at] for at in places], self.names, self.scores[places], self.prior[places])

    def weighed(self, weight: float) -> Float64Array:
        """The scores at a weight, with the prior."""
        finite = self.scores[np.isfinite(self.scores)]
        least = float(finite.min()) if len(finite) else 0.0
        scores = np.where(np.isfinite(self.scores), self.scores, least)  # a distance may be infinite
        spread = float(np.std(scores - scores.mean(axis=1, keepdims=True))) or 1.0
        return np.asarray(weight / spread * scores + self.prior, np.float64)

    def hits(self, weight: float, seed: int) -> int:
        """How many authors are named rightly at a weight."""
        named = best_columns(self.weighed(weight), seed).tolist()
        return sum(self.names[at] == text.author for at, text in zip(named, self.texts, strict=True))


def log_shares(
    names: Sequence[str], known: Sequence[EncodedText], asked: Sequence[EncodedText]
) -> Float64Array:
    """The logarithm of the share of each author among the known texts on each asked text's topic.

    Minus infinity for one who is not known to write on it; zeros where nobody is.
    """
    often = Counter((text.topic, text.author) for text in known)
    counts = {
        topic: np.array([often[topic, name] for name in names], np.float64)
        for topic in dict.fromkeys(text.topic for text in asked)
    }
    with np.errstate(divide="ignore"):
        logs = {
            topic: np.log(found / found.sum()) if found.any() else np.zeros(len(names))
            for topic, found in counts.items()
        }
    return np.array([logs[text.topic] for text in asked]).reshape(len(asked), len(names))


def with_prior(parts: Sequence[Scored], seed: int) -> list[Float64Array]:
    """The scores of each part with the prior, at the weight that names most authors in the other parts.

    Of a single part each half is the other one's.
    """
    if len(parts) == 1:
        (whole,) = parts
        halves = [np.arange(first, len(whole.texts), 2) for first in (0, 1)]
        found = np.zeros_like(whole.scores)
        for places, scores in zip(
            halves, with_prior([whole.some(each) for each in halves], seed), strict=True
        ):
            found[places] = scores
        return [found]
    hits = np.array([[part.hits(weight, seed) for weight in _WEIGHTS] for part in parts])
    best = (hits.sum(axis=0) - hits).argmax(axis=1)
    return [part.weighed(_WEIGHTS[at]) for part, at in zip(parts, best.tolist(), strict=True)]
