"""What a plan would do to the first documents of a corpus: padding, words left out, words it does not know.

It looks at texts and draws nothing. What it finds is for the curator's eyes; a release holds none of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, final

from publius.documents.corpus import BadDocument, Corpus
from publius.errors import PolicyError
from publius.text.bag import Encoding, words_of

LOOKED_AT: Final = 1_000
"""Documents that are looked at."""

WARNED: Final = 0.10
"""Share of padding among the words released above which there is a warning."""

REFUSED: Final = 0.30
"""Share of padding above which nothing is released unless it is allowed."""

FOREIGN: Final = 0.5
"""Share of unknown words from which on a document is said to be hardly known."""

_SHOWN: Final = 5


@final
@dataclass(frozen=True, slots=True)
class Preflight:
    """Counts over the documents looked at.

    Attributes:
        documents: how many were looked at.
        size: N.
        words: words that they have, known and unknown, stop words left out.
        padding: words that fill short documents up to N.
        left_out: words beyond the first N.
        cut: documents that have such words.
        foreign: positions of documents of which at least half of the words are unknown.
        bad: how many could not be used.

    """

    documents: int
    size: int
    words: int
    padding: int
    left_out: int
    cut: int
    foreign: tuple[int, ...]
    bad: int = 0

    @property
    def padding_share(self) -> float:
        """Share of the words released that are padding."""
        return self.padding / (self.documents * self.size) if self.documents else 0.0

    @property
    def left_out_share(self) -> float:
        """Share of the documents' words that are beyond the first N."""
        return self.left_out / self.words if self.words else 0.0

    def check(self, *, allowed: bool) -> None:
        """`PolicyError` above `REFUSED` unless it is ``allowed``."""
        if self.padding_share > REFUSED and not allowed:
            raise PolicyError(
                f"{self.padding_share:.0%} of the words released would be padding, whose number tells how long a text "
                f"is: choose a smaller --length than {self.size:,} from public or older texts, keep the topic or the "
                "meaning instead (--preserve topic), or say --allow-padding. Nothing was released"
            )

    def warnings(self) -> Iterator[str]:
        """What the curator should know before anything leaves, in sentences."""
        if self.padding_share > WARNED:
            yield (
                f"{self.padding_share:.0%} of the words will be padding, which fills short texts up to {self.size:,} "
                "words; its number tells how long a text is, as the promise allows"
            )
        if self.cut:
            yield (
                f"{self.left_out_share:.0%} of the words stand after the first {self.size:,} of their text and are "
                f"left out ({self.cut:,} of {self.documents:,} documents)"
            )
        if self.foreign:
            more = len(self.foreign) - _SHOWN
            named = ", ".join(map(str, self.foreign[:_SHOWN])) + (f" and {more:,} more" if more > 0 else "")
            yield (
                f"the vocabulary hardly knows {len(self.foreign):,} of {self.documents:,} documents, which may be in "
                f"another language: documents {named}"
            )


def look(corpus: Corpus, encoding: Encoding, vocabulary: Any, count: int = LOOKED_AT) -> Preflight:
    """What ``encoding`` makes of the first ``count`` documents that can be read."""
    whole = replace(encoding, length=None, unknown="unk")
    size = encoding.length or 1
    documents = words = padding = left_out = cut = bad = 0
    foreign: list[int] = []
    for item in islice(corpus, count):
        if isinstance(item, BadDocument):
            bad += 1
            continue
        found = words_of(item.text, vocabulary, whole)
        taken = found.seen - found.unknown if encoding.unknown == "drop" else found.seen
        if not taken or (found.unknown and encoding.unknown == "reject"):
            bad += 1
            continue
        documents += 1
        words += taken
        padding += max(0, size - taken)
        left_out += max(0, taken - size)
        cut += taken > size
        if found.unknown >= FOREIGN * found.seen:
            foreign.append(item.position)
    return Preflight(documents, size, words, padding, left_out, cut, tuple(foreign), bad)


def unusable(corpus: Corpus) -> list[BadDocument]:
    """Every document of the corpus that cannot be read, or has an id that was there before."""
    return [item for item in corpus if isinstance(item, BadDocument)]
