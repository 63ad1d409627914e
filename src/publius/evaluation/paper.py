"""Table 1 of Fernandes, Dras and McIver 2019, whole: SRauth, SRtopic, DRauth, DRtopic, clear and at each epsilon.

Every text is cut to N words, the shortest one's unless N is given, but for fastText, which learns from whole texts, and for
the words that Koppel's method asks of a candidate, which are judged before the cut. Words outside the vocabulary pass unchanged
as in the paper (unknown="keep") unless another policy is given, so nothing here is a release.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from publius.arrays import Float64Array
from publius.errors import DataError, UsageError
from publius.evaluation.attackers import Task, fitted, inside, joined, make_attacker, replaced, scores_of
from publius.evaluation.attackers.transport import Transport
from publius.evaluation.corpus import Dataset
from publius.evaluation.records import CLEAR, Attempt, Setting, attempt
from publius.evaluation.run import Words, changed_share, named_shares
from publius.files.processes import mapped
from publius.files.progress import counted, stage
from publius.noise.randomness import RunKey


class _Found(NamedTuple):
    shares: dict[str, Float64Array]
    neighbours: list[dict[str, Any]]
    bags: list[str]
    first: str


@dataclass
class _Table:
    """What all cells share: texts in words, and the attackers, fitted once."""

    words: Words
    attacked: list[list[str]]
    authors: list[str]
    topics: list[str]
    by_author: Transport
    by_topic: Transport
    koppel: Any
    topical: Any
    seed: int

    def found(self, cell: tuple[Setting, int]) -> _Found:
        """One draw, by its number, of one setting: protect, and ask the four attackers."""
        setting, draw = cell
        protected = self._protected(setting, draw)
        bags = [joined(sorted(each)) for each in protected]
        whole = 0 if draw else min(5, len(bags))  # of these every author's place is shown
        nearest = self.by_author.nearest(bags[:whole], len(self.by_author.known_))
        nearest += self.by_author.nearest(bags[whole:], 5)

        def votes(model: Transport, count: int) -> tuple[list[str], Float64Array]:
            return [str(name) for name in model.classes_], np.array([model.votes(each, count) for each in nearest])

        shares = {
            "SRauth": named_shares(*votes(self.by_author, 1), self.authors),
            "SRtopic": named_shares(*votes(self.by_topic, 5), self.topics),
            "DRauth": named_shares(*scores_of(self.koppel, bags), self.authors),
            "DRtopic": named_shares(*scores_of(self.topical, bags), self.topics),
        }
        shown = [self._neighbours(setting, n, nearest[n]) for n in range(whole)]
        return _Found(shares, shown, bags, " ".join(protected[0][:24]))

    def _protected(self, setting: Setting, draw: int) -> list[list[str]]:
        """The first N words of each text in their order, each through the kernel; those without a vector as they stand."""
        if setting.mechanism is None or setting.epsilon is None:
            return self.attacked
        key, embeddings = RunKey.seeded(1_000 * self.seed + draw), self.words.embeddings
        placed = [inside(each, embeddings) for each in self.attacked]
        kernel = self.words.make_kernel(setting.mechanism, setting.epsilon)
        outputs = kernel.draw(placed, [key.rng(str(n)) for n in range(len(placed))], threads=1)
        return [replaced(words, drawn, embeddings) for words, drawn in zip(self.attacked, outputs, strict=True)]

    def _neighbours(self, setting: Setting, text: int, found: Sequence[tuple[float, int]]) -> dict[str, Any]:
        """The authors nearest to one text, with their distances, and the place of its own among all."""
        closest = np.full(len(self.by_author.classes_), np.inf)
        for distance, place in found:
            label = self.by_author.labels_[place]
            closest[label] = min(closest[label], distance)
        order = np.argsort(closest, kind="stable").tolist()
        own = self.by_author.classes_.tolist().index(self.authors[text])
        return {
            "text": text, "setting": setting.name, "authors": order[:5],
            "distances": np.round(closest[order[:5]], 4).tolist(), "own_place": order.index(own) + 1,
        }  # fmt: skip


def table1(
    data: Dataset, words: Words, settings: Sequence[Setting], *, draws: int = 1, seed: int = 0, koppel: str = "koppel",
    topical: str = "fasttext", workers: int | None = None,
) -> tuple[list[Attempt], dict[str, Any]]:  # fmt: skip
    """The records of the experiment on ``data``, whose roles say which texts are known, and its other facts.

    A length of 0 is that of the shortest text.
    """
    topics = data.topics
    if topics is None or data.folds != (None,):
        raise UsageError("--protocol paper needs texts with topics, and a column 'role' that says known or unknown.")
    known = [words.words(text.text) for text in data.known]
    attacked = [words.words(text.text) for text in data.attacked]
    size = words.length or min(map(len, (*known, *attacked)))
    if size < 1 or not all(attacked):
        raise DataError("A text has no word that counts. Leave it out, or use other --stop-words.")
    words = replace(words, length=size)
    with stage("training"):
        cut, authors = [joined(each[:size]) for each in known], [text.label("author") for text in data.known]
        by_koppel = fitted(make_attacker(koppel), cut, authors, lengths=[len(each) for each in known])
        learned = [text for text in data.teaching or data.known if text.topic is not None]
        whole = [joined(words.words(text.text)) for text in learned]
        table = _Table(
            words, [each[:size] for each in attacked], data.authors, topics,
            Transport(words.embeddings, words.metric).fit(cut, authors),
            Transport(words.embeddings, words.metric).fit(cut, [text.label("topic") for text in data.known]),
            by_koppel, fitted(make_attacker(topical), whole, [text.label("topic") for text in learned]), seed,
        )  # fmt: skip
    cells = [(CLEAR, 0), *((setting, draw) for setting in settings for draw in range(draws))]
    with stage("attacking"):
        forks = sys.platform == "linux"  # fastText's models cannot be sent to other processes
        done = [*counted(mapped(_Table.found, table, cells, workers=workers if forks else 1), len(cells))]
    facts: dict[str, Any] = {
        "length": size, "draws": draws, "seed": seed, "koppel": koppel, "topical": topical,
        "unknown_words_pass": words.unknown == "keep", "changed": {}, "first_words": {}, "neighbours": [],
        "unknown_share": 1 - float(np.mean([len(inside(each, words.embeddings)) / len(each) for each in table.attacked])),
    }  # fmt: skip
    if getattr(table.topical, "validation_", None) is not None:
        facts |= {"validation": table.topical.validation_, "validation_texts": table.topical.validation_texts_}
    attempts = []
    for setting in (CLEAR, *settings):
        own = [found for cell, found in zip(cells, done, strict=True) if cell[0] == setting]
        facts["changed"][setting.name] = changed_share(done[0].bags, [found.bags for found in own])
        facts["first_words"][setting.name] = own[0].first
        facts["neighbours"] += own[0].neighbours
        for column, clear in done[0].shares.items():
            task: Task = "topic" if column.endswith("topic") else "author"
            shares = np.mean([found.shares[column] for found in own], axis=0)
            attempts.append(attempt(
                column, ["texts"], task, setting, data.attacked, shares, clear=clear, draws=len(own), judged=False
            ))  # fmt: skip
    return attempts, facts
