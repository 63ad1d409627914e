"""Conclusions from noisy tables: cleaned counts, what is new, typical words, and rows that others can count.

All of it is made of public things and of what was drawn, so none of it costs anything.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol, final

import numpy as np

from publius.arrays import Float64Array, IndexArray, Rows
from publius.collections.counting import labels
from publius.collections.novelty import Novelty, Sample, novelty
from publius.collections.strata import Strata, stratum_name
from publius.collections.tables import NoisyTable
from publius.noise.discrete_laplace import LaplaceSum
from publius.noise.randomness import Generator
from publius.releases.summaries.drawn import NEW_AT, Counts, Drawn
from publius.releases.summaries.names import ALONE, LIKE_ALL, TOO_FEW
from publius.releases.summaries.read_me import BAG_WORDS
from publius.releases.summaries.spaces import (
    PUBLIC_DOCUMENTS_OF_ONE,
    TYPICAL_WORDS,
    Spaces,
    authors_are_known,
    words_of_subjects,
    words_of_themes,
)
from publius.text.tokenizer import tokenize
from publius.vectors.learning.public_themes import NO_WORDS, counted

PASSAGES: Final = 3
"""Of each theme and each stratum."""
_RARE_SHARE: Final = 0.001
_DEVIATIONS: Final = 2
_MARKEDLY: Final = 2
_PLAIN: Final = 5
"""Nothing stands out where a theme with a fifth of a stratum more than of all would have been seen."""
_DEALT_AT_ONCE: Final = 256
"""Bags: a word of one takes some 70 bytes while it is sorted and written."""


@final
@dataclass(frozen=True, eq=False)
class Ranked:
    """Themes or subjects, the largest standardized excess first.

    Attributes:
        cells: their numbers, in order.
        words: typical public words of each cell, by number.
        counts: by number.
        noisy: what was drawn, by number.
        shares: of the contributed documents, by number.
        before: share in what it is compared with, by number; None where there is nothing to compare with.
        compared: by number; None likewise.
    """

    cells: IndexArray
    words: tuple[str, ...]
    counts: Counts
    noisy: IndexArray
    shares: Float64Array
    before: Float64Array | None
    compared: Novelty | None

    @property
    def new(self) -> Sequence[int]:
        """The numbers of what is new, in order."""
        if self.compared is None:
            return []
        return [cell for cell in self.cells.tolist() if self.compared.new[cell]]

    @property
    def gone(self) -> Sequence[int]:
        """The numbers of what was larger before, for all cells together; the largest fall first."""
        if self.compared is None:
            return []
        return [cell for cell in self.cells[::-1].tolist() if self.compared.high[cell] < 1]


@final
@dataclass(frozen=True, eq=False)
class Passages:
    """Sentences of public texts, the most typical first: of each theme and of each stratum, by number."""

    themes: tuple[tuple[str, ...], ...]
    strata: tuple[tuple[str, ...], ...]


@final
@dataclass(frozen=True, eq=False)
class Earlier:
    """An earlier summary to compare with: raw noisy counts of the same themes or subjects.

    ``name`` is published: what the curator calls its folder is no part of it.
    """

    themes: Sample | None
    subjects: Sample | None
    name: str


class CountedBy(Protocol):
    """The things that a summary counts by: strata, public cells, and the most documents of an author."""

    @property
    def strata(self) -> Strata: ...  # noqa: D102

    @property
    def spaces(self) -> Spaces: ...  # noqa: D102

    @property
    def documents_per_author(self) -> int: ...  # noqa: D102


@final
@dataclass(frozen=True, eq=False)
class Told:
    """A summary's noisy tables, and what is public beside them. Nothing in it is anybody's document.

    Attributes:
        by: the summary that was asked for.
        totals: documents of each stratum, shape (S,); None where they have no share of epsilon.
        themes: of each stratum and theme, shape (S, K + 2); None where they have no share.
        subjects: of each subject and "no words", shape (subjects + 1,); None where they have no share.
    """

    by: CountedBy
    totals: NoisyTable | None
    themes: NoisyTable | None
    subjects: NoisyTable | None


@final
class Said:
    """Everything that a summary says, made from what was drawn (``told``) and, maybe, an ``earlier`` one."""

    def __init__(self, told: Told, earlier: Earlier | None = None) -> None:
        self.told, self.earlier = told, earlier
        self.drawn = Drawn(told.totals, told.themes, told.subjects)
        self.strata = [stratum_name(told.by.strata.labels(place)) for place in range(told.by.strata.size)]

    @functools.cached_property
    def theme_labels(self) -> tuple[str, ...]:
        """The label of each cell of the themes, each different."""
        return labels(self.told.by.spaces.themes)

    @property
    def names(self) -> dict[str, Sequence[str]]:
        """What the drawn counts are of, in their order: strata, themes, subjects."""
        found: dict[str, Sequence[str]] = {} if self.drawn.of_strata is None else {"strata": self.strata}
        if self.told.themes is not None:
            found["themes"] = self.theme_labels
        if self.told.subjects is not None:
            found["subjects"] = (*words_of_subjects(self.told.by.spaces.subjects), NO_WORDS)
        return found

    @property
    def counts(self) -> Counts | None:
        """Of each stratum and theme; of each stratum alone, in one column, where themes have no share."""
        return self.drawn.counts

    @property
    def totals(self) -> Counts | None:
        """Of each stratum; all limits hold together."""
        return self.drawn.of_strata

    @property
    def size(self) -> tuple[int, int]:
        """Between which numbers of contributed documents there are, at 99 %."""
        return self.drawn.size

    # What is new --------------------------------------------------------------------------------------------------

    @functools.cached_property
    def themes(self) -> Ranked | None:
        """The themes, without "none of these" and "no words"."""
        table, found = self.told.themes, self.drawn.of_themes
        if table is None or found is None:
            return None
        space = self.told.by.spaces.themes
        before = self._before("themes")
        if before is None and self.earlier is None and space.documents is not None:
            before = self._public(space.documents, space.size)
        words = words_of_themes(space)
        ranked = self._ranked(*found, words, LaplaceSum(table.noise, len(table.values)), before)
        if ranked.compared is None or self.earlier is not None:
            return ranked
        # The themes were made of the public texts, which therefore fall into them as no others of the same kind do: the
        # chance of which texts were public does not explain how often.
        nothing, anything = np.zeros(space.size), np.full(space.size, np.inf)
        return replace(ranked, compared=replace(ranked.compared, low=nothing, high=anything))

    @functools.cached_property
    def subjects(self) -> Ranked | None:
        """The subjects, without "no words"."""
        table, found = self.told.subjects, self.drawn.of_subjects
        if table is None or found is None:
            return None
        space, holding = self.told.by.spaces.subjects, self.told.by.spaces.before
        before = self._before("subjects")
        if before is None and self.earlier is None and holding is not None:
            before = self._public(holding, space.size)
        return self._ranked(*found, words_of_subjects(space), table.noise, before)

    def _public(self, counts: IndexArray, size: int) -> Sample:
        """The public documents of each of ``size`` cells, with what may be one author's where nobody knows."""
        total = int(counts.sum())
        return Sample(counts[:size], (total, total), per_author=self._of_one)

    @property
    def _of_one(self) -> int:
        known = authors_are_known(self.told.by.spaces.reference)
        return 1 if known else PUBLIC_DOCUMENTS_OF_ONE

    def _before(self, what: Literal["themes", "subjects"]) -> Sample | None:
        if self.earlier is None:
            return None
        return self.earlier.themes if what == "themes" else self.earlier.subjects

    def _ranked(
        self, noisy: IndexArray, counts: Counts, words: tuple[str, ...], noise: object, before: Sample | None
    ) -> Ranked:
        size = len(words)
        shares = self.drawn.shares(noisy[:size])
        if before is None:
            order = np.argsort(-noisy[:size], kind="stable")
            return Ranked(order, words, counts, noisy, shares, None, None)
        now = Sample(noisy[:size], self.drawn.documents, noise, self.told.by.documents_per_author)  # type: ignore[arg-type]
        found = novelty(now, before, level=NEW_AT)
        if self.earlier is None:
            # Who writes much writes of something else. Where one author counts up to k times as much as another, here
            # or there, the shares of one population differ up to k times without any change.
            times = self._of_one * self.told.by.documents_per_author
            found = replace(found, low=found.low / times, high=found.high * times)
        earlier = np.maximum(before.counts, 0) / (sum(before.documents) / 2)
        return Ranked(found.order, words, counts, noisy, shares, earlier, found)

    # Which words --------------------------------------------------------------------------------------------------

    @functools.cached_property
    def typical_words(self) -> list[tuple[str, ...]]:
        """Ten words of each stratum: those that are most typical of it; none where nothing stands out.

        That is where its themes are as noise and chance may have them, or where most of the ten would not be twice as
        frequent as in the other strata: what the public texts lack is spread over themes of other things.
        """
        vocabulary = self.told.by.spaces.themes.vocabulary
        found = list[tuple[str, ...]]()
        for out, (typical, times) in zip(self._stands_out.tolist(), self._how_typical(), strict=True):
            best = np.argsort(-typical, kind="stable")[:TYPICAL_WORDS]
            best = best[typical[best] > 0]
            said = out and len(best) and np.median(times[best]) >= _MARKEDLY
            found.append(tuple(vocabulary[place] for place in best.tolist()) if said else ())
        return found

    @functools.cached_property
    def _stands_out(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Whether the themes of a stratum differ from those of all by more than noise and chance explain; by stratum.

        Summed are the squares of what each theme's count is off; more than two standard deviations above what noise and
        chance alone would give is a difference. Where there is none, words would be those of the noise.
        """
        found = self._off
        if found is None or self.totals is None:
            return np.zeros(0, np.bool_)
        return np.asarray((self.totals.low > 0) & (found[0] > found[1]))

    @functools.cached_property
    def _off(self) -> tuple[Float64Array, Float64Array] | None:
        """By stratum: squares of what its themes' counts are off, less what is expected; and what is no surprise."""
        table, totals = self.told.themes, self.totals
        if table is None or totals is None:
            return None
        drawn = table.values[:, : self.told.by.spaces.themes.size].astype(np.float64)
        everywhere = np.maximum(drawn.sum(axis=0), 0)
        expected = totals.contributed[:, None] * everywhere / max(1, everywhere.sum())
        variance = table.noise.deviation**2
        # The variance of the square of noise, whose fourth moment is v + 6 v^2, and a Poisson count together.
        of_square = variance + 5 * variance**2 + 4 * variance * expected + 2 * expected**2 + expected
        squares = (drawn - expected) ** 2 - variance - expected
        return squares.sum(axis=1), _DEVIATIONS * np.sqrt(of_square.sum(axis=1))

    def words_of(self, stratum: int, between: str = " ") -> str:
        """The typical words of a stratum, or why there are none."""
        if len(self.strata) == 1:
            return ALONE
        if found := self.typical_words[stratum]:
            return between.join(found)
        # A theme that has so many more than of all would have been seen.
        seen = 0.0 if self._off is None else float(np.sqrt(2 * self._off[1][stratum]))
        enough = self.totals is not None and self.totals.low[stratum] >= _PLAIN * seen
        return LIKE_ALL if enough or self._stands_out[stratum] else TOO_FEW

    def _how_typical(self) -> Iterator[tuple[Float64Array, Float64Array]]:
        """How typical each word is of each stratum, and how many times as frequent as in the other strata.

        Typical is its share of documents with it times the log-ratio to that of all.

        Both shares are estimated from themes, as the public documents of each theme hold the word. One document in a
        thousand is added to either, so that a word which hardly any document holds has no large ratio.
        """
        themes = self.told.by.spaces.themes
        if self.counts is None or self.told.themes is None:
            return
        drawn = self.counts.contributed[:, : themes.size].astype(np.float64)
        whole = drawn.sum(axis=0, keepdims=True)
        everywhere = (_shares(whole) @ themes.holding)[0] + _RARE_SHARE
        for own in drawn:
            share, elsewhere = _shares(np.vstack([own, whole[0] - own])) @ themes.holding
            times = (share + _RARE_SHARE) / (elsewhere + _RARE_SHARE)
            yield share * np.log((share + _RARE_SHARE) / everywhere), times

    # Which sentences ----------------------------------------------------------------------------------------------

    @functools.cached_property
    def passages(self) -> Passages | None:
        """Typical sentences of the public texts; None where none may be quoted.

        Those of a theme are chosen from public texts alone; those of a stratum by noisy counts: whose words are most
        typical of it on average, of sentences whose words are typical at all, and none where nothing stands out.
        """
        quotable, themes = self.told.by.spaces.passages, self.told.by.spaces.themes
        if not quotable or self.counts is None or self.told.themes is None:
            return None
        sentences = list(dict.fromkeys(sentence for each in quotable for sentence in each))
        bags = [tokenize(sentence, self.told.by.spaces.encoding.profile) for sentence in sentences]
        holds = counted([dict.fromkeys(words, 1) for words in bags], themes.vocabulary)
        sizes = np.maximum(np.diff(holds.indptr), 1)
        chosen = []
        for words, (typical, _) in zip(self.typical_words, self._how_typical(), strict=True):
            scores = holds @ typical / sizes
            best = np.argsort(-scores, kind="stable")[:PASSAGES].tolist() if words else []
            chosen.append(tuple(sentences[place] for place in best if scores[place] > 0))
        return Passages(tuple(each[:PASSAGES] for each in quotable), tuple(chosen))

    # Rows ---------------------------------------------------------------------------------------------------------

    def rows(self, rng: Generator) -> Iterator[tuple[int, int, Rows]]:
        """Stratum, theme and the places of the words of some bags, a bag for each counted document.

        The words of a stratum's bags together are as its themes have them, each word as often as expected, rounded;
        they are dealt out to the bags at random. Drawn one by one they would differ between strata by chance alone,
        which costs a reader a tenth of what the rows can teach. "None of these" has words of all themes, "no words"
        none.
        """
        if self.counts is None or self.told.themes is None:
            return
        themes = self.told.by.spaces.themes
        shares = np.concatenate([themes.words, themes.words.mean(axis=0, keepdims=True)])
        places = np.arange(shares.shape[1])
        for stratum, row in enumerate(self.counts.contributed.tolist()):
            expected = np.zeros(shares.shape[1])
            for theme, count in enumerate(row):
                for start in range(0, count, _DEALT_AT_ONCE):
                    some = min(_DEALT_AT_ONCE, count - start)
                    deck = places[:0]
                    if theme <= themes.size:
                        before = np.rint(expected)
                        expected += BAG_WORDS * some * shares[theme]
                        deck = rng.permutation(
                            np.repeat(places, (np.rint(expected) - before).astype(np.int64))
                        )
                    size, more = divmod(len(deck), some)  # the first bags have one more
                    starts = size * np.arange(some + 1) + np.minimum(np.arange(some + 1), more)
                    yield stratum, theme, Rows(deck, starts)


def _shares(counts: Float64Array) -> Float64Array:
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))
