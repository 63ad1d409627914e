"""The exponential mechanism (McSherry and Talwar 2007), and the truncated one (Carvalho, Vasiloudis and Feyisetan 2021)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import final

from publius.errors import UsageError
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.finite.word_weights import Shape
from publius.option import Settings, option


@final
class Exponential(AbstractFinite):
    """Exponential mechanism on word distance, with the exact constant of the vocabulary at hand.

    K(x){w} is proportional to exp(-s d(x, w)). The textbook claim is epsilon = 2s; the exact constant is smaller, so the
    same epsilon buys a larger s: less distortion.
    """

    name = "exponential"


@final
class TruncatedExponential(AbstractFinite):
    """As exponential, with all words beyond a distance gamma equally likely.

    The paper draws from the words within gamma and one "bottom" element, which stands for a uniform word of those beyond,
    so that each of these has the weight exp(-s gamma): the exponential mechanism for the metric min(d, gamma). gamma =
    ln((1 - beta)(V - 1) / beta) / s keeps the output within gamma with probability at least 1 - beta.
    """

    name = "truncated-exponential"

    @dataclass(frozen=True, kw_only=True)
    class Parameters(Settings):
        """What it takes."""

        beta: float = option(0.001, above=0, below=1)
        """Largest probability of an output beyond gamma."""

    def _shape(self) -> Shape:
        beta, others = self.chosen.beta, self.embeddings.size - 1
        if (1 - beta) * others <= beta:
            raise UsageError(f"beta must be small beside the vocabulary, not {beta!r}")
        truncation = math.log((1 - beta) * others / beta)
        return replace(super()._shape(), truncation=truncation)
