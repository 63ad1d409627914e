"""Table 1 of Fernandes, Dras and McIver 2019, whole: SRauth, SRtopic, DRauth, DRtopic, clear and at each epsilon.

Every text is cut to N words, the shortest one's unless N is given, but for fastText, which learns from whole texts, and for
the words that Koppel's method asks of a candidate, which are judged before the cut. Words outside the vocabulary pass unchanged
as in the paper (unknown="keep") unless another policy is given, so nothing here is a release.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec
import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import DataError, UsageError
from publius.evaluation import worst_case
from publius.evaluation.attackers import fitted, make_attacker, naming, scores_of
from publius.evaluation.attackers.transport import Transport, inside, joined, replaced
from publius.evaluation.corpus import Dataset
from publius.evaluation.records import CLEAR, COLUMNS, Attempt, Setting, attempt
from publius.evaluation.run import Words, changed_share, check_least_words
from publius.files.pool import mapped
from publius.files.progress import counted, stage
from publius.noise.randomness import RunKey

SHOWN: Final = 5
FIRST_WORDS: Final = 24


class Neighbours(msgspec.Struct, frozen=True):
    """The authors nearest to one text, with their distances, and the place of its own among all."""

    text: int
    setting: str
    authors: tuple[int, ...]
    distances: tuple[float, ...]
    own_place: int


class Paper(msgspec.Struct, frozen=True):
    """What the experiment found; ``first_words`` are of one public text, clear and in each setting."""

    length: int
    attempts: tuple[Attempt, ...]
    neighbours: tuple[Neighbours, ...]
    first_words: dict[str, str]
    changed: dict[str, float]
    facts: dict[str, Any]


@dataclass
class _State:
    """What all cells share: texts in words, and the attackers, fitted once."""

    words: Words
    mechanism: str
    attacked: list[list[str]]
    authors: list[str]
    topics: list[str]
    transport: Transport
    topic_labels: IndexArray
    topic_names: list[str]
    koppel: Any
    topical: Any
    seed: int


@dataclass(frozen=True)
class _Cell:
    setting: Setting
    draw: int


@dataclass(frozen=True)
class _Found:
    shares: dict[str, Float64Array]
    neighbours: list[Neighbours]
    bags: list[str]
    first: str


def table1(
    data: Dataset, words: Words, epsilons: Sequence[float], *, mechanism: str = "laplace", draws: int = 1, seed: int = 0,
    koppel: str = "koppel", topical: str = "fasttext", length: int | None = None, workers: int | None = None,
) -> Paper:  # fmt: skip
    """Run the experiment on ``data``, whose roles or folds say which texts are known.

    ``koppel`` and ``topical`` name the attackers of the columns DRauth and DRtopic with their parameters. `UsageError` where
    texts have no topics or are in folds, `DataError` where one has no word.
    """
    topics = data.topics
    if topics is None or data.folds != (None,):
        raise UsageError(
            "--protocol paper needs texts with topics, and a column 'role' that says known or unknown."
        )
    check_least_words([koppel], data, words)
    known = [words.words(text.text) for text in data.known]
    attacked = [words.words(text.text) for text in data.attacked]
    size = length or min(map(len, (*known, *attacked)))
    if size < 1 or not all(attacked):
        raise DataError("A text has no word that counts. Leave it out, or use other --stop-words.")
    words = replace(words, length=size)
    with stage("training"):
        state = _state(data, words, known, attacked, topics, mechanism, koppel, topical, seed)
    cells = [_Cell(CLEAR, 0)] + [
        _Cell(Setting(mechanism, epsilon), draw) for epsilon in epsilons for draw in range(draws)
    ]
    with stage("attacking"):
        forks = sys.platform == "linux"  # fastText's models cannot be sent to other processes
        done = [*counted(mapped(_cell, state, cells, workers=workers if forks else 1), len(cells))]
    return _paper(data, state, cells, done, koppel, topical)


def _state(
    data: Dataset, words: Words, known: list[list[str]], attacked: list[list[str]], topics: list[str], mechanism: str,
    koppel: str, topical: str, seed: int,
) -> _State:  # fmt: skip
    size = words.length
    authors = [text.author or "" for text in data.known]
    cut = [joined(each[:size]) for each in known]
    transport = Transport(words.embeddings, words.metric).fit(cut, authors)
    places = [place for place, text in enumerate(cut) if len(inside(text.split(), words.embeddings))]
    names = sorted({text.topic or "" for text in data.known})
    teaching = data.teaching or data.known
    learned = [text for text in teaching if text.topic is not None]
    whole = [joined(words.words(text.text)) for text in learned]
    return _State(
        words, mechanism, [each[:size] for each in attacked], data.authors, topics, transport,
        np.array([names.index(data.known[place].topic or "") for place in places]), names,
        fitted(make_attacker(koppel), cut, authors, [len(each) for each in known]),
        fitted(make_attacker(topical), whole, [text.topic or "" for text in learned]), seed,
    )  # fmt: skip


def _cell(state: _State, cell: _Cell) -> _Found:
    """One draw of one setting: protect, and ask the four attackers."""
    protected = _protected(state, cell)
    bags = [joined(sorted(each)) for each in protected]
    whole = 0 if cell.draw else min(SHOWN, len(bags))  # of these every author's place is shown
    nearest = state.transport.nearest(bags[:whole], len(state.transport.known_))
    nearest += state.transport.nearest(bags[whole:], 5)
    author_classes = [str(name) for name in state.transport.classes_]
    by_author = np.array([state.transport.votes(found, 1) for found in nearest])
    by_topic = np.array([_topic_votes(state, found) for found in nearest])
    shares = {
        "SRauth": _right(author_classes, by_author, state.authors),
        "SRtopic": _right(state.topic_names, by_topic, state.topics),
        "DRauth": _right(*scores_of(state.koppel, bags), state.authors),
        "DRtopic": _right(*scores_of(state.topical, bags), state.topics),
    }
    shown = [_neighbours(state, cell.setting, n, nearest[n]) for n in range(whole)]
    return _Found(shares, shown, bags, " ".join(protected[0][:FIRST_WORDS]))


def _protected(state: _State, cell: _Cell) -> list[list[str]]:
    """The first N words of each text in their order, each through the kernel; those without a vector as they stand."""
    if cell.setting == CLEAR:
        return state.attacked
    kernel = state.words.make_kernel(state.mechanism, cell.setting.epsilon or 0.0)
    key = RunKey.seeded(1_000 * state.seed + cell.draw)
    embeddings = state.words.embeddings
    placed = [inside(each, embeddings) for each in state.attacked]
    outputs = kernel.draw(placed, [key.rng(str(n)) for n in range(len(placed))], threads=1)
    return [replaced(words, drawn, embeddings) for words, drawn in zip(state.attacked, outputs, strict=True)]


def _right(classes: Sequence[str], scores: Float64Array, truth: Sequence[str]) -> Float64Array:
    shares, place = naming(scores), {name: index for index, name in enumerate(classes)}
    return np.array([shares[row, place[name]] if name in place else 0.0 for row, name in enumerate(truth)])


def _topic_votes(state: _State, found: Sequence[tuple[float, int]]) -> Float64Array:
    """The 5 nearest texts' topics, by the rule of `Transport.votes`."""
    topical = Transport()
    topical.classes_, topical.labels_ = np.array(state.topic_names), state.topic_labels
    return topical.votes(found, 5)


def _neighbours(state: _State, setting: Setting, text: int, found: Sequence[tuple[float, int]]) -> Neighbours:
    closest = np.full(len(state.transport.classes_), np.inf)
    for distance, place in found:
        label = state.transport.labels_[place]
        closest[label] = min(closest[label], distance)
    order = np.argsort(closest, kind="stable")
    own = [str(name) for name in state.transport.classes_].index(state.authors[text])
    return Neighbours(
        text, setting.name, tuple(order[:5].tolist()), tuple(np.round(closest[order[:5]], 4).tolist()),
        int(np.flatnonzero(order == own)[0]) + 1,
    )  # fmt: skip


def _paper(
    data: Dataset, state: _State, cells: Sequence[_Cell], done: Sequence[_Found], koppel: str, topical: str
) -> Paper:
    attempts, changed, first, neighbours = [], {}, {}, []
    clear_bags = done[0].bags
    everybody = np.zeros(len(state.attacked), np.int64)
    for setting in dict.fromkeys(cell.setting for cell in cells):
        own = [found for cell, found in zip(cells, done, strict=True) if cell.setting == setting]
        changed[setting.name] = changed_share(clear_bags, [found.bags for found in own])
        first[setting.name] = own[0].first
        neighbours += own[0].neighbours
        for column in COLUMNS:
            task: Any = "topic" if column.endswith("topic") else "author"
            labels = state.topics if task == "topic" else state.authors
            attempts.append(
                attempt(
                    column,
                    ["texts"],
                    task,
                    setting,
                    state.authors,
                    np.mean([found.shares[column] for found in own], axis=0),
                    worst_case.baseline(labels, everybody),
                    clear=done[0].shares[column],
                    candidates=float(len(set(labels))),
                    ceiling=1.0,
                    draws=len(own),
                    judged=False,
                )
            )
    words = state.words.embeddings
    facts: dict[str, Any] = {
        "koppel": koppel, "topical": topical, "unknown_words_pass": state.words.unknown == "keep",
        "unknown_share": 1 - float(np.mean([len(inside(each, words)) / len(each) for each in state.attacked])),
    }  # fmt: skip
    if getattr(state.topical, "validation_", None) is not None:
        facts |= {
            "validation": state.topical.validation_,
            "validation_texts": state.topical.validation_texts_,
        }
    return Paper(state.words.length, tuple(attempts), tuple(neighbours), first, changed, facts)
