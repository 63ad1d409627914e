"""The character n-grams of a bag, for tools that take no words: post-processing, as the paper has it."""

from __future__ import annotations

from typing import final

from publius.releases.writing.released_bags import ReleasedBag
from publius.releases.writing.writer import AbstractTextWriter, WriterInput, Written, length_said
from publius.text.character_grams import LENGTH, character_grams


@final
class Characters(AbstractTextWriter):
    """Each n-gram inside the words, as often as it occurs; ``characters`` for four, ``characters:N`` for others."""

    name = "characters"
    note = "the character n-grams inside the words of the bag, in order of code points: no text"

    def __init__(self, seen: WriterInput) -> None:
        super().__init__(seen)
        self._length = length_said(seen.settings.writer, LENGTH)

    def write(self, released: ReleasedBag) -> Written:
        """See `AbstractTextWriter.write`."""
        counts = character_grams(released.bag, self._length)
        pieces = [piece for piece, count in counts.items() for _ in range(count)]
        return Written(" ".join(pieces), {"characters": self._length})
