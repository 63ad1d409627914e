"""The public passage nearest to a release, quoted with its place: every word of it was public before.

Whoever names texts says that all of them is public. Of those that a reference was learned from its words are, and no
more: where no others are named, the sentences are quoted that it holds because somebody let them be quoted.

Public texts are cut into passages at the ends of sentences. Where the release names a public prototype and its
reference is at hand, the passages that the reference places at this prototype are looked at, else all of them. The
nearest is that with the largest cosine to the bag, words weighing as they are rare in the public texts; of equals the
first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, final

import numpy as np
import regex

from publius.arrays import Float64Array, IndexArray
from publius.documents.corpus import BadDocument, Corpus
from publius.errors import DocumentError, UsageError
from publius.releases.writing.released_bags import ReleasedBag
from publius.releases.writing.writer import AbstractTextWriter, WriterInput, Written
from publius.vectors.learning.prototypes import nearest_by
from publius.vectors.learning.reference import Reference

PASSAGE: Final = 120
"""Words of a passage, at most, where sentences are no longer."""

FEWEST: Final = 20
"""Words of a passage, at least, where the text has more."""

_NOWHERE: Final[dict[str, Any]] = {"row": None, "from": None, "to": None}
_SENTENCE_END: Final = regex.compile(r"(?<=[.!?][\"'”’)]*)\s+|\n\s*\n")


@final
class Exemplar(AbstractTextWriter):
    """Quotes public texts; see the module."""

    name = "exemplar"
    note = "QUOTED from a public text that is near the release: not the document, and nobody's words about it"

    def __init__(self, seen: WriterInput) -> None:
        super().__init__(seen)
        self._quoted: list[tuple[str, dict[str, Any]]] = []
        self._places_of: dict[str, int] = {}
        if seen.public is not None:
            self._corpus = {"corpus": seen.public.path.name, "sha256": seen.public_sha256}
            self._read(_passages_of(seen.public))
        else:
            reference, sentences = _quotable(seen.reference)
            name, digest = (reference.source.get(each) for each in ("corpus", "corpus_sha256"))
            self._corpus = {"corpus": name or reference.name, "sha256": digest}
            self._read((each, _NOWHERE) for each in sentences)
        self._at_prototype = self._places()

    def write(self, released: ReleasedBag) -> Written:
        """See `AbstractTextWriter.write`."""
        among, weights = self._among(released)
        scores = np.asarray(weights @ self._vector(released))
        best = int(scores.argmax())
        if not scores[best] > 0 and weights is self._weights:
            return Written(
                None, {"corpus": self._corpus["corpus"]}, "no public passage has a word of the bag"
            )
        text, place = self._quoted[int(among[best])]
        own = self.seen.reference is not None and (self.seen.public is None or self.seen.own_texts)
        reference = self.seen.reference.name if self.seen.reference is not None and own else None
        return Written(text, {**self._corpus, **place, "reference": reference})

    def _read(self, found: Iterable[tuple[str, dict[str, Any]]]) -> None:
        """The passages, their places, and their word weights."""
        stop_words = self.seen.stop_words
        indices: list[int] = []
        ends = [0]
        for text, place in found:
            words = self.seen.words(text, stop_words)
            if words:
                self._quoted.append((text, place))
                indices += [self._places_of.setdefault(word, len(self._places_of)) for word in words]
                ends.append(len(indices))
        if not self._quoted:
            raise DocumentError("the public texts hold no passage with a word in it: give others")
        self._all = np.arange(len(self._quoted))
        self._weights = self._weighted(indices, ends)

    def _weighted(self, indices: Sequence[int], ends: Sequence[int]) -> Any:
        """Rows of length 1, shape (passages, words)."""
        from scipy.sparse import csr_array, diags_array

        shape = (len(ends) - 1, len(self._places_of))
        counts = csr_array((np.ones(len(indices)), np.array(indices), np.array(ends)), shape)
        counts.sum_duplicates()
        holding = np.bincount(counts.indices, minlength=shape[1])
        self._rarity = np.log((1 + shape[0]) / (1 + holding)) + 1
        counts.data = 1 + np.log(counts.data)
        weighted = counts @ diags_array(self._rarity)
        lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
        return (diags_array(1 / lengths) @ weighted).tocsr()

    def _vector(self, released: ReleasedBag) -> Float64Array:
        """The weights of the bag's words; its length is the same for all passages and is left as it is."""
        bag = np.zeros(len(self._places_of))
        for word, count in released.bag.counts.items():
            place = self._places_of.get(word)
            if place is not None:
                bag[place] = (1 + np.log(count)) * self._rarity[place]
        return bag

    def _among(self, released: ReleasedBag) -> tuple[IndexArray, Any]:
        """The passages to choose among, and their weights."""
        everything = self._all, self._weights
        if released.prototype is None:
            return everything
        return self._at_prototype.get(released.prototype, everything)

    def _places(self) -> dict[int, tuple[IndexArray, Any]]:
        """The passages at each prototype of the release, with their weights; nothing where it names none."""
        reference, manifest = self.seen.reference, self.seen.manifest
        size = dict(manifest.get("mechanism_parameters") or {}).get("prototypes")
        aspect = None if reference is None else reference.aspects.get(str(manifest.get("preserve")))
        if reference is None or aspect is None or size is None:
            return {}
        prototypes = aspect.prototypes(int(size))
        words = list(self._places_of)
        place = np.array([-1 if (at := reference.index(word)) is None else at for word in words])
        held = self._weights
        documents = []
        for row in range(held.shape[0]):
            found = place[held.indices[held.indptr[row] : held.indptr[row + 1]]]
            documents.append(found[found >= 0])
        nearest = nearest_by(aspect.rule, aspect.positions(documents), prototypes.points)
        rows = {int(each): np.flatnonzero(nearest == each) for each in np.unique(nearest)}
        return {each: (found, held[found]) for each, found in rows.items()}


def _quotable(reference: Reference | None) -> tuple[Reference, list[str]]:
    """The sentences that a reference holds to be quoted; `UsageError` where it holds none."""
    if reference is None:
        raise UsageError(
            "an exemplar is quoted from public texts, and no reference of the release is stored here: name the file or "
            "folder of such texts with --public"
        )
    held = () if reference.counted is None else reference.counted.passages
    if not any(held):
        raise UsageError(
            f"nobody said that sentences of the texts which the reference {reference.name!r} was learned from may be "
            "quoted: name texts of which every word is public with --public, or fit a reference with --quotable"
        )
    return reference, list(dict.fromkeys(sentence for each in held for sentence in each))


def _passages_of(corpus: Corpus) -> Iterator[tuple[str, dict[str, Any]]]:
    """The passages of public texts and their places."""
    for document in corpus:
        if isinstance(document, BadDocument):
            raise DocumentError(f"{document.error()}; every public document needs a text")
        for start, stop in passages(document.text):
            yield document.text[start:stop], {"row": document.position, "from": start, "to": stop}


def passages(text: str) -> list[tuple[int, int]]:
    """Where the passages of a text begin and end: whole sentences, some `PASSAGE` words together.

    A sentence longer than that is a passage of its own; what is left over at the end of a text joins the one before
    it when it has fewer than `FEWEST` words.
    """
    found: list[tuple[int, int]] = []
    words = 0
    for begin, end in _sentences(text):
        count = len(text[begin:end].split())
        if not found or (words >= FEWEST and words + count > PASSAGE):
            found.append((begin, end))
            words = count
        else:
            found[-1] = (found[-1][0], end)
            words += count
    if len(found) > 1 and words < FEWEST:
        (begin, _), (_, end) = found[-2:]
        found[-2:] = [(begin, end)]
    return found


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where sentences begin and end, white space left out; those without end are cut by words."""
    begin = 0
    for gap in (*(each.span() for each in _SENTENCE_END.finditer(text)), (len(text), len(text))):
        part = text[begin : gap[0]]
        left = begin + len(part) - len(part.lstrip())
        right = begin + len(part.rstrip())
        if right > left:
            yield from _cut(text, left, right)
        begin = gap[1]


def _cut(text: str, left: int, right: int) -> Iterator[tuple[int, int]]:
    words = [each.span() for each in regex.finditer(r"\S+", text, pos=left, endpos=right)]
    for first in range(0, len(words), PASSAGE):
        part = words[first : first + PASSAGE]
        yield part[0][0], part[-1][1]
