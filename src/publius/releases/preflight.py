"""A preview of a plan on the first documents of a corpus: padding, words left out, words it does not know.

It looks at texts and draws nothing. What it finds is for the curator's eyes; a release holds none of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, final

import numpy as np

from publius.documents.corpus import BadDocument, Corpus, Document
from publius.documents.languages import READ, language_of
from publius.errors import DocumentError, MissingExtraError, PolicyError, how_many
from publius.mechanisms.whole import places_of
from publius.releases.engines.worker_pool import batches_of
from publius.releases.plan import Plan
from publius.settings import TextSettings
from publius.text.bag import Encoded, Encoding, words_of_all
from publius.text.segmentation import is_unspaced
from publius.text.tokenizer import profile_named
from publius.vectors.learning.prototypes import NONE_OF_THESE
from publius.vectors.learning.reference import Reference

LOOKED_AT: Final = 1_000
"""Documents that are looked at."""

WARNED: Final = 0.10
"""Share of padding among the words released above which there is a warning."""

REFUSED: Final = 0.30
"""Share of padding above which nothing is released unless it is allowed."""

LOST: Final = 0.05
"""Share of documents that cannot be read above which a person has to say that they may be missing."""

FOREIGN: Final = {"word": 0.5, "document": 0.8}
"""Share of unknown words from which on a document is said to be hardly known; a reference has fewer words."""

_TOGETHER: Final = 100
"""Documents that are looked at together."""

_FREQUENT: Final = 200
"""Words of a reference that say in which language it is."""

_SHOWN: Final = 5
_COMPARED: Final = 100
"""Documents whose words are known that say in which language most are."""


@final
@dataclass(frozen=True, slots=True)
class Preflight:
    """Counts over the documents looked at.

    Attributes:
        documents: how many were looked at.
        size: N; None where whole documents are protected, which are not filled up.
        words: words that they have, known and unknown, stop words left out.
        padding: words that fill short documents up to N.
        left_out: words beyond the first N.
        cut: documents that have such words.
        foreign: positions of documents of which at least half of the words are unknown.
        bad: how many could not be used.
        vocabulary: how many words are known at all.
        elsewhere: for those of the ``foreign`` that are in another language than the others, its ISO 639 code.
        unspaced: positions of documents in scripts without spaces, where the vocabulary's tokenizer does not cut them.

    """

    documents: int
    size: int | None
    words: int
    padding: int
    left_out: int
    cut: int
    foreign: tuple[int, ...]
    bad: int = 0
    vocabulary: int = 0
    elsewhere: Mapping[int, str] = field(default_factory=dict)
    unspaced: tuple[int, ...] = ()
    without_text: int = 0
    """Rows of white space only."""

    unfit: int = 0
    """Texts that fit nothing public, beyond those."""

    no_distance: bool = False
    """Whether the reference does not say how far a text may be from its topics."""

    unseen: int = 0
    """Files of a folder that cannot be read, beyond what was looked at."""

    @property
    def lost(self) -> tuple[int, int]:
        """How many of how many documents cannot be read, as far as was looked."""
        lost = self.bad + self.unseen
        return lost, self.documents + lost

    @property
    def padding_share(self) -> float:
        """Share of the words released that are padding."""
        return self.padding / (self.documents * self.size) if self.documents and self.size else 0.0

    @property
    def left_out_share(self) -> float:
        """Share of the documents' words that are beyond the first N."""
        return self.left_out / self.words if self.words else 0.0

    def check(self, *, allowed: bool) -> None:
        """`PolicyError` above `REFUSED` unless it is ``allowed``."""
        if self.padding_share > REFUSED and not allowed:
            raise PolicyError(
                f"{self.padding_share:.0%} of the words released would be padding, which says nothing of the texts and "
                "lets their lengths be guessed: take fewer words (--length, or --length-from older public texts), keep "
                "the topic or the meaning instead (--preserve topic), or say --allow-padding. Nothing was released"
            )

    def warnings(self) -> Iterator[str]:
        """Warnings for the curator before anything leaves, in sentences."""
        if self.padding_share > WARNED:
            yield (
                f"{self.padding_share:.0%} of the words will be padding: public words that fill short texts up to "
                f"{self.size} and let their lengths be guessed, as the promise allows"
            )
        rows = how_many(self.documents, "row")
        if self.without_text:
            yield (
                f"{how_many(self.without_text, f'of {rows} has', f'of {rows} have')} no text: each leaves as a row of "
                f"its own, most probably as {NONE_OF_THESE!r}, since to leave it out would tell that it was empty"
            )
        if self.unfit:
            yield (
                f"{self.unfit:,} of {self.documents:,} texts fit nothing public and come out most probably as "
                f"{NONE_OF_THESE!r}: they are in another language, or of another kind than the public texts"
            )
        if self.no_distance:
            yield (
                "this reference does not say how far a text may be from its topics, so a text that fits none of them "
                "becomes the nearest; only one without known words is "
                f"{NONE_OF_THESE!r}. A reference that 'publius reference fit' makes now says it"
            )
        if self.cut:
            yield (
                f"{self.left_out_share:.0%} of the words stand after the first that count and are "
                f"left out ({self.cut:,} of {self.documents:,} documents)"
            )
        if self.elsewhere:
            languages = ", ".join(sorted(set(self.elsewhere.values())))
            yield (
                f"{len(self.elsewhere):,} of {self.documents:,} documents are in another language ({languages}) than "
                f"the others, and hardly a word of theirs is known ({_named([*self.elsewhere])}): leave them "
                "out, or release them apart with public texts or vectors of their language"
            )
        if unknown := [place for place in self.foreign if place not in {*self.elsewhere, *self.unspaced}]:
            yield (
                f"the vocabulary of {self.vocabulary:,} words hardly knows {len(unknown):,} of {self.documents:,} "
                f"documents ({_named(unknown)}). If they are in its language, the public texts that it comes "
                "from are too few or of another kind: give more that are like yours. If they are not: give texts or "
                "vectors of their language"
            )
        if self.unspaced:
            yield (
                f"{len(self.unspaced):,} of {self.documents:,} documents are written without spaces between words, and "
                "these vectors take whole stretches of them for one unknown word: import vectors of the language with "
                f"--tokenizer icu: documents {_named(self.unspaced)}"
            )


def check_loss(lost: int, documents: int, *, accepted: bool = False) -> None:
    """`DocumentError` where more than `LOST` of the documents would be missing, unless that was ``accepted``."""
    if too_many(lost, documents) and not accepted:
        raise DocumentError(
            f"{lost:,} of {documents:,} documents cannot be read, more than {LOST:.0%}: see them with publius inspect "
            "and mend them, or say --accept-loss to release the others without them. Nothing was released"
        )


def published_ids(field: str) -> str:
    """The sentence on ids of a field, for whoever is about to publish them."""
    return f"Documents are published under the ids in your field {field!r}: whoever knows an id knows whose bag it is."


def too_many(lost: int, documents: int) -> bool:
    """Whether a person has to be asked before so many documents are left out."""
    return lost > LOST * documents


def _named(positions: Sequence[int]) -> str:
    more = len(positions) - _SHOWN
    return ", ".join(map(str, positions[:_SHOWN])) + (f" and {more:,} more" if more > 0 else "")


def look(corpus: Corpus, plan: Plan, count: int = LOOKED_AT) -> Preflight:
    """Preview ``plan`` on the first ``count`` documents that can be read."""
    encoding = plan.encoding
    # Words beyond the length count here, and those that reject would refuse; drop counts them as unk does.
    unknown = "drop" if encoding.unknown == "drop" else TextSettings.unknown
    whole = replace(encoding, length=None, unknown=unknown)
    documents = words = padding = left_out = cut = bad = 0
    foreign: dict[int, str] = {}
    others: list[str] = []
    unspaced: list[int] = []
    blank = unfit = 0
    segmented = profile_named(encoding.profile).segmented
    for batch in batches_of(islice(corpus, count), _TOGETHER):
        given = [item for item in batch if isinstance(item, Document)]
        bad += len(batch) - len(given)
        encoded = words_of_all([item.text for item in given], plan.vocabulary, whole)
        pairs = list(zip(given, encoded, strict=True))
        if encoding.unknown == "reject":
            pairs = [(item, found) for item, found in pairs if not found.unknown]
            bad += len(given) - len(pairs)
        unfit += _fit_none([(item.text, found) for item, found in pairs if item.text.strip()], plan, whole)
        for item, found in pairs:
            taken = found.seen - found.unknown if encoding.unknown == "drop" else found.seen
            documents += 1
            words += taken
            blank += not item.text.strip()
            padding += max(0, encoding.missing(taken))
            left_out += max(0, taken - (encoding.length or taken))
            cut += taken > (encoding.length or taken)
            if is_foreign(found, plan):
                foreign[item.position] = item.text[:READ]
            elif len(others) < _COMPARED:
                others.append(item.text[:READ])
            if not segmented and is_unspaced(item.text):
                unspaced.append(item.position)
    elsewhere = _elsewhere(foreign, others) if foreign else {}
    return Preflight(
        documents,
        plan.size if encoding.padded else None,
        words,
        padding,
        left_out,
        cut,
        tuple(foreign),
        bad,
        plan.vocabulary.size,
        elsewhere,
        tuple(unspaced),
        blank if plan.mechanism.fit_none([]) is not None else 0,
        unfit,
        plan.mechanism.fit_none([]) is not None and plan.mechanism.farthest is None,
        0 if documents + bad < count else len(corpus.left),
    )


def _fit_none(read: Sequence[tuple[str, Encoded]], plan: Plan, encoding: Encoding) -> int:
    """How many of the texts, each with what was ``read`` of it by ``encoding``, fit nothing public.

    0 where the mechanism has no such outcome.
    """
    if plan.mechanism.fit_none([]) is None:
        return 0
    words = [found for _, found in read]
    if encoding != plan.encoding:
        words = words_of_all([text for text, _ in read], plan.vocabulary, plan.encoding)
    fitting = plan.mechanism.fit_none([*map(places_of, words)])
    return 0 if fitting is None else int(fitting.sum())


def is_foreign(found: Encoded, plan: Plan) -> bool:
    """Whether hardly a word of a document is known."""
    share = FOREIGN[plan.level]
    return bool(found.seen) and found.unknown >= share * found.seen


def _elsewhere(foreign: Mapping[int, str], others: Sequence[str]) -> dict[int, str]:
    """Which of the ``foreign`` are in another language than most of the ``others``; none where nobody can tell."""
    try:
        known = Counter(filter(None, map(language_of, others)))
        if not known:
            return {}
        (usual, _), *_ = known.most_common()
        found = {place: language_of(text) for place, text in foreign.items()}
    except MissingExtraError:
        return {}
    return {place: language for place, language in found.items() if language not in (None, usual)}


def unusable(corpus: Corpus) -> list[BadDocument]:
    """Every document of the corpus that cannot be read, or has an id that was there before."""
    return [item for item in corpus if isinstance(item, BadDocument)]


def language_of_words(vocabulary: object) -> str | None:
    """The language of the most frequent words that a reference knows; None where it is not clear or cannot be told."""
    if not isinstance(vocabulary, Reference):
        return None
    frequent = np.argsort(-vocabulary.background, kind="stable")[:_FREQUENT]
    try:
        return language_of(" ".join(vocabulary.vocabulary[place] for place in frequent.tolist()))
    except MissingExtraError:
        return None


def in_another_language(text: str, language: str | None) -> bool:
    """Whether a text is in another language than this one; False where either cannot be told."""
    if language is None:
        return False
    found = language_of(text[:READ])
    return found is not None and found != language
