"""Learning a reference from public texts: words, features, prototypes, with choices made on the public texts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from publius.errors import DataError
from publius.files.progress import Progress, unheard
from publius.vectors.catalogue import check_name
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.aspects import LearningSettings, Public, meaning_aspect, topic_aspect
from publius.vectors.learning.prototypes import Aspect
from publius.vectors.learning.public_words import PublicText, WordCount
from publius.vectors.learning.reference import Reference

NOTICE: Final = "learned from these texts: its words, and what it tells of their topics, are public"
LARGEST_VOCABULARY: Final = 50_000
LABEL_LENGTH: Final = 200

LabelledWords = tuple[Sequence[str], str | None]


def fit_reference(
    documents: Iterable[LabelledWords | PublicText],
    *,
    name: str,
    settings: LearningSettings | None = None,
    facts: Mapping[str, Any] | None = None,
    embeddings: Embeddings | None = None,
    progress: Progress = unheard,
) -> Reference:
    """Learn a reference from the words and labels of *public* documents.

    ``documents`` gives for each its words in any order and its label, or None for all where there are no labels:
    then only the meaning can be kept; a meaning that is no more than the topic is left out. A `PublicText` has its
    author as well, and words are counted by authors then, else by documents. ``facts`` go into the
    provenance; ``embeddings`` are needed for features of that kind; ``progress`` hears how many prototypes of the
    meaning are made, and of how many. `DataError` where there is too little to learn
    from, `UsageError` for what cannot be asked.
    """
    chosen = settings or LearningSettings()
    check_name(name)
    texts = [each if isinstance(each, PublicText) else PublicText(*each) for each in documents]
    count = WordCount.of(texts)
    public = _counted(texts, count, chosen, embeddings)
    aspects: dict[str, Aspect] = {}
    choices: dict[str, Any] = {}
    if public.labels:
        aspects["topic"], choices["topic"] = topic_aspect(public, chosen)
    try:
        aspects["meaning"], choices["meaning"] = meaning_aspect(public, chosen, progress)
    except DataError as error:
        if not aspects:
            raise
        choices["meaning"] = {
            "left_out": str(error)
        }  # two topics span one direction: there is no more meaning
    source = {
        "format": "reference",
        "notice": NOTICE,
        **dict(facts or {}),
        "documents": len(public.topics),
        "topics": dict(sorted(public.sizes.items())),
        "public_words": {
            "counted_by": count.by,
            "at_least": chosen.authors_at_least,
            "authors": count.authors,
            "left_out": len(chosen.leave_out),
        },
        "embeddings": embeddings.sha256 if embeddings and public.uses_embeddings else None,
        "choices": choices,
    }
    return Reference(
        name=name,
        vocabulary=public.vocabulary,
        background=public.background,
        aspects=MappingProxyType(aspects),
        tokenizer=chosen.tokenizer,
        stop_words=chosen.stop_words,
        source=MappingProxyType(source),
    )


def _counted(
    texts: Sequence[PublicText], count: WordCount, settings: LearningSettings, embeddings: Embeddings | None
) -> Public:
    """The public documents as counts of the words that become public."""
    bags = [Counter(text.words) for text in texts]
    labels = [text.label for text in texts]
    _check_labels(labels)
    found = count.public(settings.authors_at_least)
    vocabulary = tuple(word for word in found if word not in settings.leave_out)[:LARGEST_VOCABULARY]
    if len(vocabulary) < 2:
        raise DataError(f"{len(vocabulary)} words are left to learn from: leave out fewer")
    counts = _matrix(bags, vocabulary)
    kept = np.flatnonzero(np.asarray(counts.sum(axis=1)).ravel() > 0)
    names = tuple(sorted({label for label in labels if label is not None}))
    places = {label: place for place, label in enumerate(names)}
    topics = np.array([places.get(labels[row] or "", 0) for row in kept.tolist()], np.int64)
    sizes = np.bincount(topics, minlength=len(names))
    if names and (sizes < 2).any():
        label = names[int(sizes.argmin())]
        raise DataError(
            f"the topic {label!r:.60} has {sizes.min()} public documents with words that are kept: every topic needs 2"
        )
    return Public(counts[kept], vocabulary, topics, names, embeddings)


def _check_labels(labels: Sequence[str | None]) -> None:
    if not labels:
        raise DataError("there are no public documents to learn from")
    missing = sum(label is None or not label for label in labels)
    if missing not in (0, len(labels)):
        raise DataError(
            f"{missing:,} of {len(labels):,} public documents have no label: all or none must have one"
        )
    distinct = {label for label in labels if label}
    if len(distinct) == 1:
        raise DataError("all public documents have one label: keeping the topic needs at least two topics")
    if any(len(label) > LABEL_LENGTH or not label.isprintable() for label in distinct):
        raise DataError(f"a label is longer than {LABEL_LENGTH} characters or holds control characters")


def _matrix(bags: Sequence[Counter[str]], vocabulary: Sequence[str]) -> Any:
    from scipy.sparse import csr_array

    places = {word: place for place, word in enumerate(vocabulary)}
    indices: list[int] = []
    values: list[int] = []
    starts = [0]
    for bag in bags:
        for word, count in bag.items():
            place = places.get(word)
            if place is not None:
                indices.append(place)
                values.append(count)
        starts.append(len(indices))
    shape = (len(bags), len(vocabulary))
    return csr_array((np.array(values, np.float64), np.array(indices), np.array(starts)), shape)
