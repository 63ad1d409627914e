"""The exponential mechanism over the whole vocabulary (McSherry and Talwar 2007; docs/theory.md section 5), and TEM.

TEM is the truncated one (Carvalho, Vasiloudis and Feyisetan 2021).
"""

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

    K(x){w} is proportional to exp(-s d(x, w)), s as large as the certified constant allows. The
    textbook claim is epsilon = 2s. The exact constant on a vocabulary is smaller, so the same epsilon buys a
    larger s: less distortion.
    """

    name = "exponential"


@dataclass(frozen=True, kw_only=True)
class TruncatedParameters(Settings):
    """Of the truncated exponential."""

    beta: float = option(0.001, above=0, below=1)
    """Largest probability of an output beyond gamma."""


@final
class TruncatedExponential(AbstractFinite):
    """As exponential, with all words beyond a distance gamma equally likely.

    K(x){w} is proportional to exp(-s min(d(x, w), gamma)). The paper draws from the words within gamma and
    one "bottom" element of score -gamma + ln(|W - L_x|) / s, which stands for a uniform word of those beyond.
    Every word beyond then has the weight exp(-s gamma): the mechanism is the exponential one for the metric
    min(d, gamma), which is how it is computed and certified here. gamma = ln((1 - beta)(V - 1) / beta) / s
    keeps the output within gamma with probability at least 1 - beta.
    """

    name = "truncated-exponential"
    Parameters = TruncatedParameters

    def _shape(self) -> Shape:
        beta, others = self.chosen.beta, self.embeddings.size - 1
        if (1 - beta) * others <= beta:
            raise UsageError(f"beta must be small beside the vocabulary, not {beta!r}")
        truncation = math.log((1 - beta) * others / beta)
        return replace(super()._shape(), truncation=truncation)
