"""Long texts as the paper cut them: the beginning is known, the end is attacked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from publius.errors import DocumentError
from publius.evaluation.data import LabeledText
from publius.text.tokenizer import tokenize

KNOWN_WORDS: Final = 2_000
UNKNOWN_WORDS: Final = 1_000
"""How the paper cut a story: its first words are known, its last ones unknown."""


def split_story(story: LabeledText) -> Iterator[LabeledText]:
    """The known beginning and the unknown end of a story, as in the paper.

    `DocumentError` for one of less than 3,000 words, whose parts would overlap: known words would be attacked.
    """
    words = list(tokenize(story.text, "word2vec"))
    if len(words) < KNOWN_WORDS + UNKNOWN_WORDS:
        raise DocumentError(
            f"{story.named} has {len(words):,} words; {KNOWN_WORDS + UNKNOWN_WORDS:,} are needed to take its "
            f"first {KNOWN_WORDS:,} as known and its last {UNKNOWN_WORDS:,} as unknown: leave it out, or give rows"
        ).of(story.id)
    story = replace(story, whole=story.text)
    yield replace(story, id=f"{story.id}-known", text=" ".join(words[:KNOWN_WORDS]), role="known")
    yield replace(story, id=f"{story.id}-unknown", text=" ".join(words[-UNKNOWN_WORDS:]), role="unknown")
