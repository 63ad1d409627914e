"""Counts of a reference's public documents beyond words and prototypes, for those who count others by it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import DataError, StorageError
from publius.files import read_bytes_limited, write_file
from publius.text.author_names import counted_name
from publius.text.tokenizer import StopWords, lookup_words
from publius.vectors.catalogue import store_root
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.public_subjects import WORDS, PublicSubjects, make_subjects
from publius.vectors.learning.public_themes import THEMES, PublicThemes, fit_themes

_DOCUMENTS_A_THEME: Final = 6
_ARRAYS: Final = ("rarity", "axes", "centres", "words", "holding", "documents")
_MEMBERS_LIMIT: Final = 2**24


@final
@dataclass(frozen=True)
class PublicCounts:
    """Themes and subjects of public documents, and how many of these are of each; all of it is public.

    Attributes:
        themes: learned from the documents.
        subjects: of public word vectors, their words weighted by how rare they are in the documents; None where no
            word vectors are installed.
        holding: how many documents are of each subject, and without a word of any.
        documents: how many are counted: one of each author where authors are known, since documents of one author are
            no independent sample; `themes` counts the same.
        comparable: whether other texts count in the subjects as these did: by all words of the subjects, not only by
            those that enough authors of these texts use, which other texts have less often. Older references' are not.
        passages: for each theme, sentences of the documents that may be quoted; empty where none may.
    """

    themes: PublicThemes
    subjects: PublicSubjects | None
    holding: IndexArray
    documents: int
    passages: tuple[tuple[str, ...], ...] = ()
    comparable: bool = False

    def facts(self) -> dict[str, Any]:
        """The parts that are no arrays."""
        subjects = None if self.subjects is None else self.subjects.size
        quoted = {"passages": [list(each) for each in self.passages]} if self.passages else {}
        comparable = {"comparable": True} if self.comparable else {}
        counted = {"nearest": self.themes.nearest, "documents": self.documents, "subjects": subjects}
        return {**counted, **comparable, **quoted}

    def arrays(self, places: Mapping[str, int]) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
        """Every array by the name it is stored under; words of the themes are ``places`` in the vocabulary."""
        yield "counted.vocabulary", np.array([places[word] for word in self.themes.vocabulary], np.int64)
        for name in _ARRAYS:
            yield f"counted.{name}", getattr(self.themes, name)
        if self.subjects is not None:
            yield "counted.members", self.subjects.members
            yield "counted.weights", self.subjects.rarity
            yield "counted.subjects", self.holding

    @classmethod
    def of_arrays(
        cls,
        facts: Mapping[str, Any],
        arrays: Mapping[str, Any],
        vocabulary: Sequence[str],
        words: Sequence[str],
    ) -> PublicCounts:
        """Reverse `facts` and `arrays`, with the ``words`` of the subjects; `DataError` where they do not fit."""
        inside = tuple(vocabulary[place] for place in arrays["counted.vocabulary"].tolist())
        parts = {name: arrays[f"counted.{name}"] for name in _ARRAYS}
        themes = PublicThemes(vocabulary=inside, nearest=float(facts["nearest"]), **parts)
        v, k = len(inside), themes.size
        fits = (
            themes.rarity.shape == (v,) and themes.axes.shape == (v, themes.centres.shape[1])
            and themes.words.shape == themes.holding.shape == (k, v) and themes.documents.shape == (k + 2,)
        )  # fmt: skip
        subjects = None
        if facts["subjects"] is not None:
            size, members, weights = (
                int(facts["subjects"]),
                arrays["counted.members"],
                arrays["counted.weights"],
            )
            subjects = PublicSubjects(tuple(words), members, weights, size)
            fits &= members.shape == weights.shape == (len(words),)
            fits &= arrays["counted.subjects"].shape == (size + 1,)
        passages = tuple(tuple(map(str, each)) for each in facts.get("passages", ()))
        if not fits or (passages and len(passages) != k):
            raise DataError("what it has for summaries does not fit together")
        holding = arrays.get("counted.subjects", np.zeros(0, np.int64))
        comparable = facts.get("comparable") is True
        return cls(themes, subjects, holding, int(facts["documents"]), passages, comparable)


def fit_counts(
    documents: Sequence[Sequence[str]],
    public: Collection[str],
    embeddings: Embeddings | None,
    stop_words: str,
    *,
    themes: int = THEMES,
    authors: Sequence[str | None] = (),
    uncut: Sequence[Sequence[str] | None] = (),
    profile: str = "glove",
) -> PublicCounts:
    """Learn it from the words of public documents, of which only those in ``public`` become public.

    ``authors`` say who wrote each, where that is known: of an author one document is counted in the themes and
    subjects, that of the smallest digest. ``uncut`` are the words of each as a collection's are read, where they are
    others: by all of them, cut by ``profile``, it counts in a theme and a subject as a document of a collection does
    (`publius.collections.counting.Counting`), and only the number of such documents becomes public.
    With fewer than 300 documents there are fewer themes, six documents each. `DataError` where there are too few.
    """
    bags = [Counter(word for word in words if word in public) for words in documents]
    found = fit_themes(bags, themes=max(2, min(themes, len(bags) // _DOCUMENTS_A_THEME)))
    sample = one_of_each(documents, authors)
    subjects = None if embeddings is None else subjects_of(embeddings, stop_words)
    stops = StopWords.load(stop_words)
    known = frozenset(found.vocabulary).union(() if subjects is None else subjects.vocabulary)
    whole = [
        Counter(
            lookup_words(
                (uncut[place] if uncut else None) or documents[place],
                known,
                profile=profile,
                stop_words=stops,
            )
        )
        for place in sample
    ]
    found = replace(found, documents=np.bincount(found.cells_of(whole), minlength=found.cells))
    if subjects is None:
        return PublicCounts(found, None, np.zeros(0, np.int64), len(sample))
    holding = Counter(word for bag in bags for word in bag)
    subjects = replace(subjects, rarity=rarities(subjects.vocabulary, holding, len(bags)))
    cells = np.bincount(subjects.cells_of(whole), minlength=subjects.cells)
    return PublicCounts(found, subjects, cells, len(sample), comparable=True)


def one_of_each(documents: Sequence[Sequence[str]], authors: Sequence[str | None]) -> list[int]:
    """The places of a sample with one document of each author; of all documents where no author is known.

    Documents without author count as one more author's together, as their words do. Which one it is follows from a
    digest of its words and the author, so neither from its place nor from what it is about, and a letter that many
    sent counts of some of them, as it does in a collection.
    """
    if not any(authors):
        return list(range(len(documents)))
    least: dict[str, tuple[bytes, int]] = {}
    for place, (words, author) in enumerate(zip(documents, authors, strict=True)):
        name = counted_name(author)
        told = "\n".join((name, *words)).encode("utf-8", "surrogatepass")
        mark = hashlib.sha256(told).digest(), place
        least[name] = min(least.get(name, mark), mark)
    return sorted(place for _, place in least.values())


def rarities(words: Sequence[str], holding: Mapping[str, int], documents: int) -> Float64Array:
    """ln((n + 1) / (documents with the word + 1)) of each word."""
    return np.log((documents + 1) / (np.array([holding.get(word, 0) for word in words]) + 1.0))


def subjects_of(embeddings: Embeddings, stop_words: str) -> PublicSubjects:
    """The subjects of word vectors, weighted as if words were as rare as their places say.

    Grouping 20,000 words takes some seconds, so the groups are kept beside the vectors; where that cannot be, they are
    made again.
    """
    stops = StopWords.load(stop_words)
    words = embeddings.vocabulary[:WORDS]
    path = store_root().parent / "subjects" / f"v1-{embeddings.sha256[:16]}-{stops.sha256[:16]}"
    vectors = np.asarray(embeddings.vectors[: len(words)], np.float64)
    try:
        members = np.frombuffer(read_bytes_limited(path, _MEMBERS_LIMIT), "<i8")
        return make_subjects(words, vectors, {}, 0, left_out=stops.words, members=members)
    except (StorageError, DataError, ValueError):
        made = make_subjects(words, vectors, {}, 0, left_out=stops.words)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_file(path) as file:
            file.write(np.ascontiguousarray(made.members, "<i8").tobytes())
    except OSError:
        pass
    return made
