"""The character n-grams of a bag, for tools that take no words: post-processing, as the paper has it."""

from __future__ import annotations

from typing import final

from publius.errors import UsageError
from publius.releases.reconstruction.likeliest_order import ReleasedBag
from publius.releases.writing.writer import AbstractTextWriter, Seen, Written
from publius.text.character_grams import LENGTH, character_grams


@final
class Characters(AbstractTextWriter):
    """Each n-gram inside the words, as often as it occurs; ``characters`` for four, ``characters:N`` for others."""

    name = "characters"
    note = "the character n-grams inside the words of the bag, in order of code points: no text"

    def __init__(self, seen: Seen) -> None:
        super().__init__(seen)
        _, _, said = seen.settings.writer.partition(":")
        if said and not (said.isdecimal() and int(said)):
            raise UsageError(f"the length of n-grams is a number from 1, not {said!r:.20}: say characters:4")
        self._length = int(said) if said else LENGTH

    def write(self, released: ReleasedBag) -> Written:
        """See `AbstractTextWriter.write`."""
        counts = character_grams(released.bag, self._length)
        pieces = [piece for piece, count in counts.items() for _ in range(count)]
        return Written(" ".join(pieces), {"characters": self._length})
