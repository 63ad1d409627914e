"""`Names`: labels by their names alone, the nearest by a sentence encoder (docs/theory.md, encoder).

What it gets right is unknown without labelled texts. Whoever changes names after looking at the private texts lets these
into the classifier; the page of a release then says so (``--labels-after-texts``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from typing import Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.classifiers.classifier import OTHER, Classifier, checked_labels, digest, public_input
from publius.classifiers.encoder import Encoder, load_encoder
from publius.classifiers.features import meaning, product
from publius.errors import UsageError
from publius.text.normal_form import compared

BELOW: Final = 0.4  # share of the packaged sentences whose cosine to the nearest name is below the threshold


@final
class Names(Classifier):
    """The label whose name, or description, is nearest to a text by a sentence encoder, in any of its languages.

    A text is "other" where no name is nearer than the threshold: the cosine below which two fifths of packaged
    public sentences stay that speak of nothing (``sentences.txt``). `UsageError` for labels that cannot be, or as many
    descriptions as labels are not given.

    Attributes:
        threshold: that cosine.
    """

    kind = "names"

    def __init__(
        self, labels: Sequence[str], encoder: Encoder | None = None, *, descriptions: Sequence[str] | None = None,
        name: str = "names",
    ) -> None:  # fmt: skip
        if descriptions is not None and len(descriptions) != len(labels):
            raise UsageError(f"{len(labels)} labels and {len(descriptions)} descriptions: give one for each label")
        self.name, self.labels = name, checked_labels(labels)
        said = dict(zip(map(compared, labels), descriptions or labels, strict=True))
        self._said = tuple(said[label] or label for label in self.labels[:-1])
        self._said += (said[OTHER],) if descriptions is not None and said.get(OTHER) else ()
        self.encoder = load_encoder() if encoder is None else encoder
        self.sha256 = digest(*self.labels, *self._said, self.encoder.sha256, f"{BELOW:.6f}", *_sentences())
        self.public = (public_input(name, self.sha256), self.encoder.public)

    @cached_property
    def _vectors(self) -> Float64Array:
        return meaning(self._said, self.encoder)

    @cached_property
    def threshold(self) -> float:  # noqa: D102  # said above
        nearest = product(meaning(_sentences(), self.encoder), self._vectors.T).max(axis=1)
        return round(float(np.quantile(nearest, BELOW)), 3)

    def answers(self, texts: Sequence[str]) -> IndexArray:
        """See `Classifier.answers`."""
        nearness = product(meaning(texts, self.encoder), self._vectors.T)
        best = np.argmax(nearness, axis=1)
        return np.where(nearness.max(axis=1) >= self.threshold, best, len(self.labels) - 1).astype(np.int64)


def _sentences() -> list[str]:
    """The packaged sentences that speak of nothing a label would name."""
    lines = files("publius.classifiers").joinpath("sentences.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
