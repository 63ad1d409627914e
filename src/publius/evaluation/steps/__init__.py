"""From a file of texts to a release that someone can sign: what `publius start` and the explorer walk alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from publius.evaluation.steps.answers import Choices, config_text, read_config, together
from publius.evaluation.steps.older import PUBLIC, SAMPLES, Older
from publius.evaluation.steps.walk import Walk, looked_at

if TYPE_CHECKING:
    from publius.documents.inspection import Inspection

__all__ = [
    "PUBLIC",
    "SAMPLES",
    "Choices",
    "Older",
    "Walk",
    "config_text",
    "looked_at",
    "read_config",
    "texts_of",
    "together",
]


def texts_of(path: Path, found: Inspection, text_field: str | None) -> Iterator[str]:
    """The texts to be released, those apart that cannot be read."""
    from publius.documents.corpus import Document, open_corpus

    corpus = open_corpus(
        path, number=True, text_field=text_field or "text", delimiter=found.delimiter, encoding=found.encoding
    )
    return (item.text for item in corpus if isinstance(item, Document))
