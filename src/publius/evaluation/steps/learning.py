"""A reference learned from a file of public texts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

from publius.documents.corpus import BadDocument, open_public_corpus
from publius.errors import DataError, DocumentError, MissingExtraError, UsageError
from publius.files.progress import Progress, unheard
from publius.settings import PublicTextSettings, PublicWordSettings
from publius.text.tokenizer import StopWords, profile_named
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.aspects import LearningSettings
from publius.vectors.learning.fit_reference import NOTICE, fit_reference
from publius.vectors.learning.passages import sentences, typical_passages
from publius.vectors.learning.public_counts import fit_counts
from publius.vectors.learning.public_words import (
    CountedBy,
    PublicText,
    RareWord,
    WordCount,
    check_topics,
    general_words,
    left_out,
    rare_words,
)
from publius.vectors.learning.reference import (
    Reference,
    is_stored_reference,
    name_taken,
    new_reference_folder,
    read_reference_record,
    references_root,
    remember_texts,
)


@final
@dataclass(frozen=True, slots=True)
class PublicVocabulary:
    """The words of the public texts that become public.

    Attributes:
        words: each with how many use it.
        by: whether authors were counted or texts.
        at_least: how many must use a word.
        rare: words that hardly more use, telling ones first.
    """

    words: Mapping[str, int]
    by: CountedBy
    at_least: int
    rare: tuple[RareWord, ...]

    @classmethod
    def of(cls, texts: Sequence[PublicText], at_least: int) -> PublicVocabulary:
        """Of ``texts``; `DataError` where too little would be left."""
        count = WordCount.of(texts)
        rare = tuple(rare_words(count, at_least, general_words()))
        return cls(MappingProxyType(count.public(at_least)), count.by, at_least, rare)

    def uses(self, words: Iterable[str]) -> float:
        """The share of all uses, by who uses each, that these ``words`` are."""
        return sum(self.words[word] for word in words) / sum(self.words.values())

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, str]], at_least: int) -> PublicVocabulary:
        """Of rows with a text and, where it is known, an author; words are cut as `learn` does unless told."""
        read = PublicTextSettings()
        stops = StopWords.load(read.stop_words)
        texts = [PublicText.of(row["text"], read.tokenizer, stops, None, row.get("author")) for row in rows]
        return cls.of(texts, at_least)


def learn(
    public: Path,
    name: str,
    *,
    label: str | None = None,
    text_field: str = PublicTextSettings.text_field,
    words: PublicWordSettings | None = None,
    settings: LearningSettings | None = None,
    embeddings: str | None = None,
    progress: Progress = unheard,
) -> Reference:
    """Learn a reference from the texts at ``public`` and store it as ``name``; ``progress`` hears how far it is.

    ``label`` is the field that holds the topic; without one only the meaning can be kept. ``words`` says which words
    become public. What is stored under this name already, or has been by another process when this one ends, and is
    the same to the last bit, stays as it is. Raises
    `UsageError` for a name that is taken by another, `DocumentError` for a text that cannot be read or
    lacks its label, and what `publius.vectors.learning.fit_reference` raises.
    """
    settings, words = settings or LearningSettings(), words or PublicWordSettings()
    if not is_stored_reference(name):
        new_reference_folder(name)
    elif not public.exists():
        raise name_taken(name)
    vectors = _vectors(embeddings, settings.features)
    documents, facts = _documents(public, label, text_field, words, settings)
    folder, before = _place(name, facts)
    texts = list(documents)
    check_topics(((text.label, text.author) for text in texts), words.authors_at_least)
    vocabulary = PublicVocabulary.of(texts, words.authors_at_least)
    without = left_out(vocabulary.words, vocabulary.rare, words.leave_out, settings.tokenizer)
    facts["made"] = time.strftime("%Y-%m-%d", time.gmtime())
    facts["rare_words"] = {each.word: each.holders for each in vocabulary.rare if each.word not in without}
    settings = replace(settings, authors_at_least=words.authors_at_least, leave_out=without)
    found = fit_reference(
        texts, name=name, settings=settings, facts=facts, embeddings=vectors,
        progress=progress,
    )  # fmt: skip
    progress("learning what summaries need", 0, 1)
    found = _with_counts(found, texts, vectors, words)
    if before is None:
        try:
            stored = found.save(folder)
        except UsageError:
            _, before = _place(name, facts)  # somebody else may have learned and stored it meanwhile
            if before is None:
                raise
        else:
            remember_texts(folder, public, text_field)
            return stored
    if before.sha256 != found.sha256:
        raise name_taken(name)
    return before


def _place(name: str, facts: Mapping[str, Any]) -> tuple[Path, Reference | None]:
    """Where the reference goes, and what is there if that was learned from the same texts; else `UsageError`."""
    if not is_stored_reference(name):
        return new_reference_folder(name), None
    folder = references_root() / name
    source = read_reference_record(folder)["source"]
    if any(
        source.get(each) != facts.get(each)
        for each in ("corpus_sha256", "label", "author_field", "stop_words", "quotable")
    ):
        raise name_taken(name)
    return folder, Reference.load(name)


def _with_counts(
    reference: Reference, texts: Sequence[PublicText], vectors: Embeddings | None, words: PublicWordSettings
) -> Reference:
    """With what summaries need, where there are enough texts for that; where not, its record says so."""
    try:
        counted = fit_counts(
            [text.words for text in texts], reference.places, vectors, reference.stop_words,
            authors=[text.author for text in texts], uncut=[text.uncut for text in texts],
            profile=reference.tokenizer,
        )  # fmt: skip
    except DataError as error:
        source = MappingProxyType({**reference.source, "summaries": str(error)})
        return replace(reference, source=source)
    if words.quotable:
        stops = StopWords.load(reference.stop_words)
        passages = typical_passages(
            texts, counted.themes, reference, stops, words.authors_at_least, reference.tokenizer
        )
        counted = replace(counted, passages=passages)
    return replace(reference, counted=counted)


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
    public: Path, label: str | None, text_field: str, words: PublicWordSettings, settings: LearningSettings
) -> tuple[Iterator[PublicText], dict[str, Any]]:
    stops = StopWords.load(settings.stop_words)
    profile = profile_named(settings.tokenizer).name
    author_field = words.author_field
    kept = tuple(dict.fromkeys(field for field in (label, author_field) if field is not None))
    corpus = open_public_corpus(public, text_field=text_field, keep=kept, number=True)
    facts = {
        "corpus": corpus.path.name,
        "corpus_sha256": corpus.sha256(),
        "label": label,
        "author_field": author_field,
        "stop_words": settings.stop_words,
        **({"quotable": True, "notice": f"{NOTICE}, and so are sentences of them"} if words.quotable else {}),
    }

    def documents() -> Iterator[PublicText]:
        for document in corpus:
            if isinstance(document, BadDocument):
                raise DocumentError(f"{document.error()}; every public document needs a text and its label")
            topic = None if label is None else document.labels[label]
            author = None if author_field is None else document.labels[author_field]
            quoted = tuple(sentences(document.text)) if words.quotable else ()
            yield PublicText.of(document.text, profile, stops, topic, author, quoted)

    return documents(), facts
