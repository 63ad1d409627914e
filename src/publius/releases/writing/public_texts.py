"""Public texts to quote or to learn from, and whether they are those that a reference was learned from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from publius.documents.corpus import Corpus, open_public_corpus
from publius.vectors.learning.reference import Reference


@final
@dataclass(frozen=True, slots=True)
class PublicTexts:
    """A public corpus, SHA-256 over its files, and whether a reference was learned from it; None without one."""

    corpus: Corpus
    sha256: str
    own: bool | None


def public_texts(path: Path, text_field: str, reference: Reference | None = None) -> PublicTexts:
    """The texts at ``path``; errors as `open_corpus`."""
    corpus = open_public_corpus(path, text_field=text_field, number=True)
    digest = corpus.sha256()
    return PublicTexts(
        corpus, digest, None if reference is None else digest == reference.source.get("corpus_sha256")
    )
