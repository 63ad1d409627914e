"""The public things that a summary counts in: themes of a reference, subjects of word vectors."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from publius.arrays import IndexArray
from publius.collections.counting import PrototypeThemes, Themes
from publius.settings import StopWordSettings
from publius.text.bag import Encoding
from publius.text.tokenizer import PROFILES, StopWords
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.prototypes import THEMES
from publius.vectors.learning.public_counts import subjects_of
from publius.vectors.learning.public_subjects import PublicSubjects
from publius.vectors.learning.reference import Reference

TYPICAL_WORDS: Final = 10

PUBLIC_DOCUMENTS_OF_ONE: Final = 5
"""Of public texts whose authors nobody knows, so many are taken to be one author's where something is called new.

Whoever writes often writes about the same: with each taken to be another author's, themes of the 20 newsgroups were
called new against posts of the same groups in six of six splits of the authors, with two or three of each still in two
to four of six, with five in none of 48 draws."""

_LACKS = (
    "lacks what summaries need (themes in a space of its own, how frequent words and subjects are in its texts): its "
    "prototypes are the themes, nothing can be called new against its texts, and counts tell less. Fit it again with "
    "this version"
)
_COUNTS_OTHERWISE = (
    "counts its own texts by the words that enough of their authors use, and others by more, so no subject can be "
    "called new against them. Fit it again with this version"
)


@final
@dataclass(frozen=True, eq=False)
class Spaces:
    """The cells that documents are counted in; all of it is public.

    Attributes:
        reference: that the themes are of.
        themes: of the reference.
        subjects: of the reference, or of the packaged word vectors.
        before: how many public documents are of each subject, and of none; None where that is not known.
        encoding: how texts become words.
        lacking: what is to be said of a reference that lacks something; empty where nothing is.
    """

    reference: Reference
    themes: Themes
    subjects: PublicSubjects
    before: IndexArray | None
    encoding: Encoding
    lacking: str = ""

    @property
    def passages(self) -> tuple[tuple[str, ...], ...]:
        """For each theme, sentences of the public texts that may be quoted; empty where none may."""
        return quotes(self.reference)

    @property
    def looked_up(self) -> tuple[str, ...]:
        """The words of themes and subjects: public texts were counted by all, whatever is asked of others."""
        counted = self.reference.counted
        return () if counted is None else (*counted.themes.vocabulary, *self.subjects.vocabulary)

    @classmethod
    def of(cls, reference: Reference | str | None, embeddings: str | None = None) -> Spaces:
        """Of a reference, by name or open; without one of the packaged themes."""
        found = reference if isinstance(reference, Reference) else Reference.load(reference or THEMES)
        encoding = _encoding(found)
        counted = found.counted
        if counted is not None and counted.subjects is not None and embeddings is None:
            if counted.comparable:
                return _again(found, counted.subjects, counted.holding, encoding)
            return _again(
                found, counted.subjects, None, encoding, f"the reference {found.name!r} {_COUNTS_OTHERWISE}"
            )
        subjects = subjects_of(Embeddings.load(embeddings), found.stop_words)
        lacking = (
            f"the reference {found.name!r} {_LACKS}" if found.source.get("format") == "reference" else ""
        )
        return _again(found, subjects, None, encoding, "" if counted is not None else lacking)

    def __reduce__(self) -> tuple[Any, ...]:
        """Themes are parts of the reference, which is opened again where it is stored."""
        return _again, (self.reference, self.subjects, self.before, self.encoding, self.lacking)

    @property
    def themes_sha256(self) -> str:
        """A digest that tells whether two summaries were counted in the same themes."""
        return self.reference.sha256

    @property
    def subjects_sha256(self) -> str:
        """A digest that tells whether two summaries were counted in the same subjects: their words and weights."""
        return sha256_of(self.subjects)


def authors_are_known(reference: Reference) -> bool:
    """Whether the public documents that are counted are one of each author; so, too, where none are counted."""
    authors = (reference.source.get("public_words") or {}).get("authors")
    return reference.counted is None or reference.counted.documents == authors


def words_of_themes(space: Themes) -> tuple[str, ...]:
    """Typical public words of each theme, as its row has them."""
    return tuple(" ".join(space.typical(cell, TYPICAL_WORDS)) for cell in range(space.size))


def words_of_subjects(space: PublicSubjects) -> tuple[str, ...]:
    """Typical public words of each subject, as its row has them."""
    return tuple(" ".join(space.words(cell, TYPICAL_WORDS)) for cell in range(space.size))


def sha256_of(subjects: PublicSubjects) -> str:
    """A digest of the words and weights of subjects."""
    state = hashlib.sha256("\n".join(subjects.vocabulary).encode())
    state.update(np.ascontiguousarray(subjects.members, "<i8").tobytes())
    state.update(np.ascontiguousarray(subjects.rarity, "<f8").tobytes())
    return state.hexdigest()


def _again(
    reference: Reference,
    subjects: PublicSubjects,
    before: IndexArray | None,
    encoding: Encoding,
    lacking: str = "",
) -> Spaces:
    themes = PrototypeThemes(reference) if reference.counted is None else reference.counted.themes
    return Spaces(reference, themes, subjects, before, encoding, lacking)


def _encoding(reference: Reference) -> Encoding:
    """How texts become words: as the reference has read its own."""
    stop_words = StopWords.load(reference.stop_words or StopWordSettings.stop_words)
    return Encoding.of(reference.tokenizer, unknown="drop", stop_words=stop_words, padded=False)


def quotes(reference: Reference) -> tuple[tuple[str, ...], ...]:
    """For each theme of a reference, sentences of its texts that may be quoted; empty where none may."""
    return () if reference.counted is None else reference.counted.passages


def facts_of(reference: Reference) -> dict[str, str]:
    """The part of a summary's manifest that says how texts become words."""
    encoding = _encoding(reference)
    return {
        "tokenizer": PROFILES[encoding.profile].label,
        "stop_words": encoding.stop_words.name,
        "stop_words_sha256": encoding.stop_words.sha256,
    }
