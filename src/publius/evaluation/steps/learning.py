"""A reference learned from a file of public texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from publius.documents.corpus import BadDocument, open_corpus
from publius.errors import DocumentError, MissingExtraError
from publius.settings import PublicTextSettings
from publius.text.tokenizer import StopWords, profile_named, tokenize
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.fit_reference import ReferenceSettings, fit_reference
from publius.vectors.learning.reference import Reference
from publius.vectors.learning.reference_store import new_reference_folder, remember_texts
from publius.vectors.learning.topic_metric import files_sha256

if TYPE_CHECKING:
    from publius.evaluation.runner import Progress


def learn(
    public: Path,
    name: str,
    *,
    label: str | None = None,
    text_field: str = PublicTextSettings.text_field,
    settings: ReferenceSettings | None = None,
    embeddings: str | None = None,
    progress: Progress = lambda part, done, total: None,
) -> Reference:
    """Learn a reference from the texts at ``public`` and store it as ``name``; ``progress`` hears how far it is.

    ``label`` is the field that holds the topic; without one only the meaning can be kept. Raises `UsageError` for a
    name that is taken, `DocumentError` for a text that cannot be read or lacks its label, and what
    `publius.vectors.learning.fit_reference` raises.
    """
    settings = settings or ReferenceSettings()
    folder = new_reference_folder(name)
    vectors = _vectors(embeddings, settings.features)
    documents, facts = _documents(public, label, text_field, settings)
    found = fit_reference(
        documents, name=name, settings=settings, facts=facts, embeddings=vectors,
        progress=lambda done, total: progress("learning the reference", done, total),
    )  # fmt: skip
    stored = found.save(folder)
    remember_texts(folder, public, text_field)
    return stored


def _vectors(embeddings: str | None, features: str | None) -> Embeddings | None:
    """The embeddings asked for, or the packaged ones where they are installed."""
    if embeddings is not None:
        return Embeddings.load(embeddings)
    try:
        return Embeddings.load()
    except MissingExtraError:
        if features == "embedding":
            raise
        return None


def _documents(
    public: Path, label: str | None, text_field: str, settings: ReferenceSettings
) -> tuple[Iterator[tuple[Sequence[str], str | None]], dict[str, Any]]:
    stops = StopWords.load(settings.stop_words)
    profile = profile_named(settings.tokenizer).name
    kept = () if label is None else (label,)
    corpus = open_corpus(public, text_field=text_field, keep=kept, number=True, encoding=None)
    facts = {
        "corpus": corpus.path.name,
        "corpus_sha256": files_sha256(str(path) for path in corpus.paths),
        "label": label,
        "stop_words": settings.stop_words,
    }

    def documents() -> Iterator[tuple[Sequence[str], str | None]]:
        for document in corpus:
            if isinstance(document, BadDocument):
                raise DocumentError(f"{document.error()}; every public document needs a text and its label")
            words = [word for word in tokenize(document.text, profile) if word not in stops]
            yield words, None if label is None else document.labels[label]

    return documents(), facts
