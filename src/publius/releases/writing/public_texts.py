"""Public texts to quote or to learn from, and whether they are those that a reference was learned from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from publius.documents.corpus import Corpus, open_corpus
from publius.errors import DataError, UsageError
from publius.files import shown
from publius.vectors.learning.reference import Reference, remembered_texts


@final
@dataclass(frozen=True, slots=True)
class PublicTexts:
    """A public corpus, SHA-256 over its files, and whether a reference was learned from it; None without one."""

    corpus: Corpus
    sha256: str
    own: bool | None


def public_texts(path: Path, text_field: str, reference: Reference | None = None) -> PublicTexts:
    """The texts at ``path``; errors as `open_corpus`."""
    corpus = open_corpus(path, text_field=text_field, number=True, by_letters=True)
    digest = corpus.sha256()
    return PublicTexts(
        corpus, digest, None if reference is None else digest == reference.source.get("corpus_sha256")
    )


def own_texts(reference: Reference) -> PublicTexts | None:
    """The texts that a stored reference remembers; None where it remembers none.

    Raises `UsageError` when they are no longer there, `DataError` when they are no longer what it was learned from.
    """
    remembered = None if reference.folder is None else remembered_texts(reference.folder)
    if remembered is None:
        return None
    path, text_field = remembered
    if not path.exists():
        raise UsageError(
            f"the public texts of the reference {reference.name!r} are no longer at {shown(path)}: name them with "
            "--public"
        )
    found = public_texts(path, text_field, reference)
    if not found.own:
        raise DataError(
            f"the public texts at {shown(path)} are no longer what the reference {reference.name!r} was learned from: "
            "name texts with --public"
        )
    return found
