"""What a summary tells: lists, words, changes and made-up rows, all of it from noisy counts and public things.

What the noisy counts cannot tell from none is not listed, no made-up row is of it, and no share is beyond its limits.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from publius.arrays import IndexArray
from publius.noise.discrete_laplace import DiscreteLaplace, sum_of
from publius.noise.randomness import Generator
from publius.summaries.novelty import Novelty, Sample, novelty
from publius.summaries.summary import Summary
from publius.summaries.tables import LEVEL, NoisyTable, Table, whole_rows

WORDS_OF_GROUP: Final = 10
BAG: Final = 40  # words of a made-up row
TOO_FEW: Final = "too few to tell"
LIKE_ALL: Final = "nothing stands out"

Row = dict[str, Any]


@final
@dataclass(frozen=True, eq=False)
class Earlier:
    """What a summary is compared with: counts of the same subjects or labels, before."""

    name: str
    topics: Sample | None  # None where they were not counted in the same cells
    subjects: Sample | None
    sha256: str = ""  # of the manifest, or of the texts' file (of the digests of several)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Told:
    """A summary of a collection, from its raw noisy counts by table: nothing in it is anybody's document."""

    summary: Summary
    authors: int
    tables: Mapping[Table, NoisyTable]
    earlier: Earlier | None = None

    def __repr__(self) -> str:
        return f"Told(authors={self.authors:,}, tables={', '.join(self.tables)})"

    @functools.cached_property
    def documents(self) -> tuple[int, int]:
        """Between which numbers of contributed documents there are: exact where one of each author counts, else at 99 %."""
        c = self.summary.documents_per_author
        least, most = self.authors, self.authors * c
        if c == 1:
            return least, most
        found = [(least, most)]
        tables = {name: each for name, each in self.tables.items() if name != "statements"}
        for name, table in tables.items():
            # Each of up to three limits may miss; the narrowest is chosen after the fact.
            cells = table.values.size
            width = sum_of(self.summary.noise(name), cells).half_width(1 - (1 - 0.99) / len(tables))
            total = int(table.values.sum())
            found.append((min(max(total - width, least), most), max(min(total + width, most), least)))
        return min(found, key=lambda limits: limits[1] - limits[0])

    def _row(self, low: int, high: int, value: int) -> Row:
        documents = int(np.clip(value, low, high))
        share = documents / max(1.0, sum(self.documents) / 2)
        return {"documents": documents, "low": int(low), "high": int(high), "share": share}

    # Groups -----------------------------------------------------------------------------------------------------

    @functools.cached_property
    def groups(self) -> list[Row]:
        """Each declared group: group, documents, low, high, share; 95 % limits for all groups together."""
        names = self.summary.groups.names
        if len(names) == 1:
            low, high = self.documents
            return [{"group": names[0], **self._row(low, high, (low + high) // 2)}]
        measured = [self.tables["topics"].summed(1)] if "topics" in self.tables else []
        measured += [self.tables["totals"]] if "totals" in self.tables else []
        if not measured:
            return []
        # The best linear estimate of independent measurements; the limits of the narrower law: which it is, is public.
        weights = [1 / each.noise.deviation**2 for each in measured]
        estimate = sum(weight * each.values for weight, each in zip(weights, measured, strict=True)) / sum(weights)
        lows, highs = min(measured, key=lambda each: each.noise.half_width(LEVEL, cells=len(names))).limits()
        values = np.rint(estimate).astype(np.int64).tolist()
        return [
            {"group": name, **self._row(one, other, value)}
            for name, one, other, value in zip(names, lows, highs, values, strict=True)
        ]

    @functools.cached_property
    def counts(self) -> list[Row]:
        """Each group and label that is told from none: group, label, documents, low, high, share."""
        table, classifier = self.tables.get("topics"), self.summary.classifier
        if table is None or classifier is None:
            return []
        low, high = table.limits()
        return [
            {
                "group": self.summary.groups.names[g], "label": classifier.labels[t],
                **self._row(low[g, t], high[g, t], table.values[g, t]),
            }
            for g, t in np.argwhere(low > 0).tolist()
        ]  # fmt: skip

    # Topics and subjects ----------------------------------------------------------------------------------------

    @functools.cached_property
    def topics(self) -> list[Row]:
        """Each label that is told from none, over all groups: label, words, documents, low, high, share, changes.

        The largest first; compared, what stands out most. Empty where subjects say the same better.
        """
        table, classifier = self.tables.get("topics"), self.summary.classifier
        if table is None or classifier is None or classifier is self.summary.subjects:
            return []
        return self._ranked(classifier, classifier.labels, table.summed(0), self.earlier and self.earlier.topics)

    @functools.cached_property
    def subjects(self) -> list[Row]:
        """Each subject that is told from none, as `topics`; texts without a known word have no row."""
        table, classifier = self.tables.get("subjects"), self.summary.subjects
        if table is None or classifier is None:
            return []
        return self._ranked(classifier, classifier.labels[:-1], table, self.earlier and self.earlier.subjects)

    def _ranked(self, classifier: Any, labels: Sequence[str], table: NoisyTable, before: Sample | None) -> list[Row]:
        low, high = table.limits()
        values, found = table.values[: len(labels)], None
        if before is not None:
            least, most = self.documents
            now = Sample(values, (max(1, least), max(1, most)), table.noise, self.summary.documents_per_author)
            found = novelty(now, replace(before, counts=before.counts[: len(labels)]))
        order = np.argsort(-values if found is None else -found.excess, kind="stable")
        rows = []
        for place in order.tolist():
            change = "" if found is None else _change(found, place, told=bool(low[place] > 0))
            if low[place] <= 0 and change != "gone":
                continue
            row = {"label": labels[place], "words": " ".join(_words(classifier, labels[place])[:5])}
            row |= self._row(low[place], high[place], values[place])
            if found is not None:
                row |= {
                    "change": change, "share_before": float(found.before[place]), "times_low": float(found.low[place]),
                    "times_high": float(found.high[place]) if math.isfinite(found.high[place]) else None,
                }  # fmt: skip
            rows.append(row)
        return rows

    @functools.cached_property
    def statements(self) -> list[Row]:
        """Each statement: how many authors wrote something like it, of at most k an author, with 95 % limits."""
        table = self.tables.get("statements")
        if table is None:
            return []
        low, high = table.limits()
        return [
            {"statement": text, "authors": int(np.clip(value, one, other)), "low": int(one), "high": int(other)}
            for text, value, one, other in zip(self.summary.statements, table.values, low, high, strict=True)
        ]

    # Words of groups --------------------------------------------------------------------------------------------

    @functools.cached_property
    def standing_out(self) -> list[list[int]]:
        """Of each group the labels that are more frequent in it than in all by more than noise and chance explain."""
        table, classifier = self.tables.get("topics"), self.summary.classifier
        size = self.summary.groups.size
        if table is None or classifier is None or size == 1:
            return [[] for _ in range(size)]
        drawn = table.values.astype(np.float64)
        totals = np.array([max(1, row["documents"]) for row in self.groups], np.float64)
        everywhere = np.maximum(drawn.sum(axis=0), 0)
        expected = totals[:, None] * everywhere / max(1.0, everywhere.sum())
        width = table.noise.half_width(LEVEL, cells=drawn.shape[1])  # all labels of a group together
        excess = drawn - expected
        chance = 2.0 * np.sqrt(self.summary.documents_per_author * (expected + 1))
        excess[(excess <= width + chance) | (table.limits()[0] <= 0)] = 0
        excess[:, -1] = 0  # "other" has no words
        return [[at for at in np.argsort(-row, kind="stable").tolist() if row[at] > 0] for row in excess]

    @functools.cached_property
    def words_by_group(self) -> dict[str, str]:
        """Public words of the labels that stand out in each group, at most ten; or why there are none."""
        labels = () if self.summary.classifier is None else self.summary.classifier.labels
        told = {row["group"] for row in self.groups if row["low"] > 0}
        found = {}
        for name, places in zip(self.summary.groups.names, self.standing_out, strict=True):
            first = places[: WORDS_OF_GROUP // 2]
            each = max(2, WORDS_OF_GROUP // max(1, len(first)))
            words = [word for place in first for word in _words(self.summary.classifier, labels[place])[:each]]
            said = " ".join([*dict.fromkeys(words)][:WORDS_OF_GROUP])
            found[name] = said or (LIKE_ALL if name in told else TOO_FEW)
        return found

    # Made-up rows -----------------------------------------------------------------------------------------------

    def synthetic(self, rng: Generator, rows: int | None = None) -> Iterator[Row]:
        """Made-up rows: groups, what it is about, and a bag of public words of that, as many as counted or ``rows``.

        By default at most 10,000. No row is or stands for anybody's document.
        """
        classifier, cells, counts = self._cleaned()
        if classifier is None or not counts.sum():
            return
        wanted = min(int(counts.sum()), 10_000) if rows is None else rows
        if wanted != counts.sum():
            parts = counts / counts.sum() * wanted
            counts = np.floor(parts).astype(np.int64)
            most = np.argsort(counts - parts, kind="stable")[: wanted - int(counts.sum())]
            counts[most] += 1
        labels = [*self.summary.groups.labels]
        fields = [field.name for field in self.summary.groups.fields]
        for (group, place), count in zip(cells, counts.tolist(), strict=True):
            own = dict(zip(fields, labels[group], strict=True)) if "topics" in self.tables else {}
            label = classifier.labels[place]
            for bag in _bags(rng, tuple(classifier.words(label)), count):
                yield {**own, "about": label, "bag": bag}

    def _cleaned(self) -> tuple[Any, list[tuple[int, int]], IndexArray]:
        """The cells that are told from none, and whole numbers of each that add up to what all cells hold."""
        table, classifier, rows = self.tables.get("topics"), self.summary.classifier, self.groups
        if table is None:
            table, classifier = self.tables.get("subjects"), self.summary.subjects
            rows = [{"documents": sum(self.documents) // 2}]
        if table is None:
            return None, [], np.zeros(0, np.int64)
        values = np.atleast_2d(table.values)
        whole = whole_rows(values, np.array([row["documents"] for row in rows], np.int64))
        listed = np.argwhere(np.atleast_2d(table.limits()[0]) > 0)
        return classifier, [(g, t) for g, t in listed.tolist()], whole[listed[:, 0], listed[:, 1]]

    # As it was drawn --------------------------------------------------------------------------------------------

    def noisy(self) -> bytes:
        """The raw counts as JSON, with what they are of: all else in the folder follows from them."""
        found: Row = {"documents_per_author": self.summary.documents_per_author, "authors": self.authors}
        found["groups"] = list(self.summary.groups.names)
        for name, classifier in (("topics", self.summary.classifier), ("subjects", self.summary.subjects)):
            if classifier is not None:
                found[name] = {"labels": list(classifier.labels), "sha256": classifier.sha256}
        if self.summary.statements:
            found["statements"] = list(self.summary.statements)
        found["counts"] = {name: table.values.tolist() for name, table in self.tables.items()}
        found["scales"] = {name: str(self.summary.noise(name).scale) for name in self.tables}
        return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def earlier_of(self, content: Any, name: str) -> Earlier:
        """An earlier summary's ``noisy.json`` to compare with, as far as it counts in the same cells."""
        samples: dict[str, Sample | None] = {"topics": None, "subjects": None}
        c = int(content["documents_per_author"])
        least = int(content["authors"])
        for what, classifier in (("topics", self.summary.classifier), ("subjects", self.summary.subjects)):
            if classifier is None or what not in content["counts"] or content[what]["sha256"] != classifier.sha256:
                continue
            values = np.atleast_2d(np.array(content["counts"][what], np.int64))
            noise = sum_of(DiscreteLaplace(Fraction(content["scales"][what])), len(values))
            samples[what] = Sample(values.sum(axis=0), (max(1, least), max(1, least * c)), noise, c)
        return Earlier(name, samples["topics"], samples["subjects"])


def _change(found: Novelty, place: int, *, told: bool) -> str:
    if found.low[place] > 1:
        return "more" if found.seen[place] else "new"
    if found.high[place] < 1:
        return "less" if told else "gone"
    return ""


def _words(classifier: Any, label: str) -> Sequence[str]:
    """The public words of a label; the label itself where it has none."""
    return tuple(classifier.words(label)) or (label,)


def _bags(rng: Generator, words: tuple[str, ...], count: int) -> Iterator[dict[str, int]]:
    """Bags of public words, the first words of the list most often; empty where there are none."""
    if not words:
        yield from ({} for _ in range(count))
        return
    weights = 1 / (np.arange(len(words)) + 3.0)
    ordered = sorted(range(len(words)), key=words.__getitem__)
    for start in range(0, count, 1000):
        drawn = rng.multinomial(BAG, weights / weights.sum(), size=min(1000, count - start))
        for row in drawn[:, ordered].tolist():
            yield {words[place]: times for place, times in zip(ordered, row, strict=True) if times}
