"""Run an evaluation: protect the attacked texts as a release would, train the attackers once a fold, count by expectation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.evaluation import worst_case
from publius.evaluation.attackers import (
    ADAPTIVE,
    INFORMED,
    WORST_CASE,
    base_name,
    fitted,
    inside,
    joined,
    make_attacker,
    naming,
    replaced,
    scores_of,
    tasks_of,
    told_of,
)
from publius.evaluation.corpus import Dataset, Text
from publius.evaluation.records import CLEAR, Attempt, Setting, Task, attempt
from publius.files.progress import advance, stage
from publius.noise.randomness import RunKey
from publius.settings import UnknownPolicy
from publius.text.bag import Bag, Encoding, words_of
from publius.text.tokenizer import StopWords

if TYPE_CHECKING:
    from publius.embeddings.embeddings import Embeddings
    from publius.evaluation.attackers.informed import Transition

Hits = Mapping[tuple[str, Task, bool], Float64Array]
"""For each attacker, task, and whether it is told the topics: how often each text's label is named."""

COPIES: Final = 3
"""Protected versions of each known text that an adaptive attacker learns from; its own draws are free."""


@dataclass(frozen=True)
class Words:
    """How texts become the words of a bag, and what replaces these.

    ``make_kernel`` makes the kernel of a mechanism's name and an epsilon on ``embeddings``.
    """

    embeddings: Embeddings
    length: int
    make_kernel: Callable[[str, float], Any]
    unknown: UnknownPolicy = "unk"
    stop_words: str = "english"
    metric: Any = "euclidean"

    def words(self, text: str, length: int | None = None) -> list[str]:
        """The words of a text in its order, at most ``length``."""
        stops, profile = StopWords.load(self.stop_words), self.embeddings.tokenizer
        encoding = Encoding(length, self.unknown, stops, profile, padded=False)
        return list(words_of(text, self.embeddings, encoding).words)

    def clear(self, text: str) -> str:
        """What a release would be without noise, as attackers read it: the first N words, sorted."""
        return joined(sorted(self.words(text, self.length)))


@dataclass(frozen=True)
class AsIs:
    """Texts as they stand, all of their words, marks and capitals, for attacks on what was made anonymous elsewhere."""

    embeddings: Any = None
    length: int = 0
    stop_words: str = "none"
    unknown: UnknownPolicy = "keep"
    metric: Any = "euclidean"

    def words(self, text: str, length: int | None = None) -> list[str]:
        """Words and marks in the text's order."""
        return re.findall(r"[\w'’-]+|[^\w\s]", text)

    def clear(self, text: str) -> str:
        """The same as attackers read it."""
        return " ".join(self.words(text))


@dataclass
class Protected:
    """What one setting makes of the texts, drawn once for all attackers."""

    setting: Setting
    words: Words | AsIs
    seed: int
    kernel: Any = None
    bags: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        name, epsilon = self.setting.mechanism, self.setting.epsilon
        if name is not None and epsilon is not None and isinstance(self.words, Words):
            self.kernel = self.words.make_kernel(name, epsilon)

    @cached_property
    def lifted(self) -> Any:
        """The mechanism on documents."""
        from publius.mechanisms.lifted import Lifted

        words = self.words
        return Lifted(self.kernel, words.length, unknown=words.unknown, stop_words=words.stop_words)

    def released(self, texts: Sequence[Text], draw: int) -> list[str]:
        """Each text as released, or as its own first N words, as attackers read it."""
        if self.kernel is None:
            return [self.words.clear(text.text) for text in texts]
        found = self.lifted.protect(
            [text.text for text in texts], [text.row for text in texts], RunKey.seeded(1_000 * self.seed + draw)
        )
        return [joined([*outcome.bag.words()]) for outcome in found.outcomes]

    @cached_property
    def transition(self) -> Transition:
        """The kernel as who knows it sees it."""
        from publius.evaluation.attackers.informed import transition_of

        return transition_of(self.kernel, RunKey.seeded(self.seed).rng("attacker"))

    def copy(self, words: Sequence[str], name: str) -> str:
        """A known text as an adaptive attacker's own draw of the mechanism makes it, all of its words."""
        embeddings = self.words.embeddings
        drawn = self.transition.sample(inside(words, embeddings), RunKey.seeded(self.seed).rng(name))
        return joined(replaced(words, drawn, embeddings))


@dataclass
class Evaluation:
    """Attacks on the words of texts, protected in each of ``settings``, and clear.

    Attributes:
        draws: of noise in each setting; figures are means over them.
        seed: of all noise: an evaluation is an experiment, and nothing it draws is released.
        stated: of each setting what a manifest says of its mechanism.
    """

    data: Dataset
    words: Words | AsIs
    settings: Sequence[Setting]
    attackers: Sequence[str]
    draws: int = 1
    seed: int = 0
    changed: dict[str, float] = field(default_factory=dict)
    stated: list[dict[str, Any]] = field(default_factory=list)
    _distances: dict[str, Float64Array] = field(default_factory=dict)

    def run(self) -> list[Attempt]:
        """One record for each attacker, what it is told, and setting; clear text first."""
        data, attempts = self.data, list[Attempt]()
        check_least_words(self.attackers, data, self.words)
        clear = Protected(CLEAR, self.words, self.seed)
        self._known = [self.words.words(text.text) for text in (*data.known, *data.teaching)]
        self._known_texts = [joined(words) for words in self._known]
        self._whole = clear.released(data.attacked, 0)
        self._models: dict[tuple[int | None, str, str], Any] = {}
        before: Hits = {}
        with stage("attacking"):
            for done, setting in enumerate((CLEAR, *self.settings)):
                advance(done, len(self.settings) + 1)
                protected = clear if setting == CLEAR else Protected(setting, self.words, self.seed)
                hits = self._hits(protected)
                attempts += self._records(protected, hits, before)
                before = before or hits
        return attempts

    # Counting -----------------------------------------------------------------------------------------

    def _hits(self, protected: Protected) -> Hits:
        """For each attacker, task and whether it is told the topics: how often each text's label is named."""
        data = self.data
        draws = 1 if protected.kernel is None else self.draws
        released = protected.bags = [protected.released(data.attacked, draw) for draw in range(draws)]
        self.changed[protected.setting.name] = changed_share(self._whole, released)
        if protected.kernel is not None:
            self.stated.append(protected.lifted.facts())
        copies = self._copies(protected)
        found: dict[tuple[str, Task, bool], Float64Array] = {}
        for name in self.attackers:
            if name == WORST_CASE:
                continue
            for task in self._tasks(name):
                told = (False, True) if task == "author" and data.topics else (False,)
                for each in told:
                    found[name, task, each] = np.zeros(len(data.attacked))
                for fold in data.folds:
                    at = np.array([n for n, text in enumerate(data.attacked) if text.fold == fold])
                    learned = self._learned(fold, task)
                    model = self._model(name, task, fold, learned, protected, copies)
                    for bags in released:
                        classes, scores = scores_of(model, [bags[place] for place in at])
                        for each in told:
                            shares = self._named(model, task, classes, scores, learned, at, told_topic=each)
                            found[name, task, each][at] += shares / draws
        return found

    def _copies(self, protected: Protected) -> list[list[str]]:
        """The known texts as adaptive attackers learn them."""
        from publius.evaluation.attackers.informed import EstimatedTransition

        if protected.kernel is None or not any(name.startswith(ADAPTIVE) for name in self.attackers):
            return []
        if isinstance(protected.transition, EstimatedTransition):  # the same rows serve them and the informed attacker
            distinct = sorted({word for words in self._known for word in words})
            protected.transition.prepare(np.unique(inside(distinct, self.words.embeddings)))
        return [
            [protected.copy(words, f"{place}/{copy}") for copy in range(COPIES)]
            for place, words in enumerate(self._known)
        ]

    def _learned(self, fold: int | None, task: str) -> list[int]:
        """The places, among known and teaching texts, of those that an attacker of this fold learns from."""
        data = self.data
        known = [n for n, text in enumerate(data.known) if fold is None or text.fold != fold]
        if task == "author":
            return known
        every = (*data.known, *data.teaching)
        return [n for n in (*known, *range(len(data.known), len(every))) if every[n].topic is not None]

    def _model(
        self, name: str, task: str, fold: int | None, learned: list[int], protected: Protected, copies: list[list[str]]
    ) -> Any:  # fmt: skip
        """The fitted attacker: of one that knows no mechanism the same for all settings."""
        from publius.evaluation.attackers.informed import Informed
        from publius.evaluation.attackers.likelihood import Likelihood

        every = (*self.data.known, *self.data.teaching)
        labels = [_label(every[n], task) for n in learned]
        texts = [self._known_texts[n] for n in learned]
        if name == INFORMED and protected.kernel is not None:
            return fitted(Informed(protected.transition, self.words.embeddings), texts, labels)
        if name.startswith(ADAPTIVE) and protected.kernel is not None:
            many = [copy for n in learned for copy in copies[n]]
            return fitted(self._made(name, task), many, [label for label in labels for _ in range(COPIES)])
        key = (fold, task, base_name(name))
        if key not in self._models:
            made = Likelihood(prior_words=300) if name == INFORMED else self._made(name, task)
            self._models[key] = fitted(made, texts, labels)
        return self._models[key]

    def _made(self, name: str, task: str) -> Any:
        made = make_attacker(name)
        if hasattr(made, "embeddings"):
            made.set_params(
                embeddings=self.words.embeddings, metric=self.words.metric, cut=self.words.length,
                neighbors=1 if task == "author" else 5,
            )  # fmt: skip
        return made

    def _named(
        self, model: Any, task: str, classes: list[str], scores: Float64Array, learned: list[int], at: IndexArray,
        *, told_topic: bool,
    ) -> Float64Array:  # fmt: skip
        """How often the right label is named for the attacked texts ``at``, ties by expectation.

        A likelihood is weighed with how often authors write (on the topic, who is told it); others name among who does.
        """
        known = [self.data.known[n] for n in learned] if task == "author" else []
        return named_shares(
            classes, scores,
            [_label(self.data.attacked[place], task) for place in at.tolist()],
            [(text.author or "", text.topic) for text in known],
            [self.data.attacked[place].topic for place in at.tolist()] if told_topic else None,
            likelihood=getattr(model, "is_likelihood", False),
        )  # fmt: skip

    # Records ------------------------------------------------------------------------------------------

    def _records(self, protected: Protected, hits: Hits, before: Hits) -> list[Attempt]:
        data, topics, found = self.data, self.data.topics, list[Attempt]()
        ceilings = self._ceilings(protected)
        for (name, task, told), values in hits.items():
            groups = worst_case.group_places(topics if told and topics else [0] * len(values))
            labels = [_label(text, task) for text in data.attacked]
            made = attempt(
                name, [*told_of(name), *["topic"] * told], task, protected.setting, data.authors, values,
                worst_case.baseline(labels, groups), clear=before.get((name, task, told), values),
                candidates=worst_case.candidates_of(labels, groups),
                ceiling=ceilings[told] if task == "author" else 1.0, draws=len(protected.bags),
            )  # fmt: skip
            found.append(made)
        if WORST_CASE in self.attackers:
            found += self._worst_case(protected, ceilings)
        return found

    def _ceilings(self, protected: Protected) -> dict[bool, float]:
        """The most that anybody is expected to identify from one row who knows the fold, and with True the topic, too."""
        data, topics = self.data, self.data.topics
        folds, exponents = [text.fold for text in data.attacked], self._exponents(protected)
        if exponents is None:
            return {False: 1.0, True: 1.0}
        delta = protected.lifted.guarantee.delta
        return {
            told: worst_case.ceiling_of(exponents, data.authors, worst_case.group_places(folds, *facts), delta)
            for told, facts in ((False, ()), *([(True, (topics,))] if topics else []))
        }

    def _exponents(self, protected: Protected) -> Float64Array | None:
        """Of the guarantee between each two attacked texts; None where it says nothing or is too costly to compute."""
        from publius.distances import pairwise_distances
        from publius.distances.ground import is_line

        kernel = protected.kernel
        if kernel is None or self.words.unknown == "keep" or kernel.guarantee.evidence == "none":
            return None
        metric, embeddings = kernel.metric, self.words.embeddings
        if len(self.data.attacked) > worst_case.MOST_COMPARED and not is_line(metric, embeddings.dimension):
            return None
        bags = [self.words.words(text.text, self.words.length) for text in self.data.attacked]
        full = np.array([len(words) == self.words.length for words in bags])
        exponents = np.full((len(bags), len(bags)), np.inf)  # of what is filled up: as far as can be
        if full.any():
            places = np.flatnonzero(full)
            key = getattr(metric, "name", "")
            if key not in self._distances:
                self._distances[key] = pairwise_distances([Bag(bags[n]) for n in places], embeddings, metric)
            unit = protected.lifted.guarantee.map(1.0)
            exponents[np.ix_(places, places)] = unit * np.asarray(self._distances[key]) * (1 + 1e-9)
        np.fill_diagonal(exponents, 0.0)
        return exponents

    def _worst_case(self, protected: Protected, ceilings: Mapping[bool, float]) -> list[Attempt]:
        """Who holds the originals: among all attacked texts, or those of the text's topic."""
        data = self.data
        chosen = np.arange(len(data.attacked))
        if len(chosen) > worst_case.CANDIDATES:
            rng = RunKey.seeded(self.seed).rng("candidates")
            chosen = np.sort(rng.permutation(chosen)[: worst_case.CANDIDATES])
        authors = [data.authors[n] for n in chosen]
        told = {False: np.zeros(len(chosen), np.int64)}
        if data.topics:
            told[True] = worst_case.group_places([data.topics[n] for n in chosen])
        same = _equal_scores([self._whole[n] for n in chosen])
        found, draws = [], len(protected.bags)
        scores = [self._candidate_scores(protected, chosen, draw) for draw in range(draws)]
        for topical, groups in told.items():
            hits = [worst_case.author_success(each, authors, groups) for each in scores]
            made = attempt(
                WORST_CASE, [*told_of(WORST_CASE), *["topic"] * topical], "author", protected.setting, authors,
                np.mean(hits, axis=0), worst_case.baseline(authors, groups),
                clear=worst_case.author_success(same, authors, groups),
                candidates=worst_case.candidates_of(authors, groups), draws=draws,
                ceiling=ceilings[topical] if len(chosen) == len(data.attacked) else 1.0,
                exact=protected.kernel is None, judged=False,
            )  # fmt: skip
            found.append(made)
        return found

    def _candidate_scores(self, protected: Protected, chosen: IndexArray, draw: int) -> Float64Array:
        whole = [self._whole[n] for n in chosen]
        if protected.kernel is None:
            return _equal_scores(whole)
        embeddings, bags = self.words.embeddings, protected.bags[draw]
        texts = [inside(bag.split(), embeddings) for bag in whole]
        texts = [places if len(places) else np.zeros(1, np.int64) for places in texts]
        released = [inside(bags[n].split(), embeddings) for n in chosen]
        if protected.transition.exact:
            return worst_case.mixture_scores(texts, released, protected.transition)
        rng = RunKey.seeded(self.seed).rng(f"worst case/{draw}")
        return worst_case.distance_scores(texts, released, protected.kernel, rng)

    def _tasks(self, name: str) -> list[Task]:
        topics = {text.topic for text in (*self.data.known, *self.data.teaching)} - {None}
        asked: list[Task] = ["author", "topic"] if self.data.topics is not None and len(topics) > 1 else ["author"]
        return [task for task in asked if task in tasks_of(name)]


def _label(text: Text, task: str) -> str:
    return (text.author if task == "author" else text.topic) or ""


def check_least_words(attackers: Sequence[str], data: Dataset, words: Words | AsIs) -> None:
    """`UsageError` where an attacker asks for more known words than two authors have, by the texts before any cut."""
    from publius.evaluation.attackers.koppel import known_words, too_few

    for name in attackers:
        least = 0 if name in (INFORMED, WORST_CASE) else getattr(make_attacker(name), "least_words", 0)
        if least:
            lengths = [len(words.words(text.text)) for text in data.known]
            counts = known_words([text.author or "" for text in data.known], lengths)
            found = sum(count >= least for count in counts.values())
            if found < 2:
                raise too_few(found, len(counts), least)


def named_shares(
    classes: Sequence[str], scores: Float64Array, truth: Sequence[str], known: Sequence[tuple[str, str | None]],
    topics: Sequence[str | None] | None, *, likelihood: bool,
) -> Float64Array:  # fmt: skip
    """How often the right class is named for each text, shape (n,): ties by expectation.

    ``known`` are author and topic of each text that was learned from; with ``topics``, those of the attacked texts, only who
    has a known text on the topic is named, unless nobody has. To a likelihood the logarithm of how often each author
    writes is added. Without ``known`` scores count as they are.
    """
    if known:
        everywhere = Counter(author for author, _ in known)
        weights = np.array([[everywhere[name] for name in classes]] * len(truth), np.float64)
        if topics is not None:
            there = Counter(known)
            on_topic = np.array([[there[name, topic] for name in classes] for topic in topics], np.float64)
            weights = np.where(on_topic.any(axis=1, keepdims=True), on_topic, weights)
        prior = np.log(np.maximum(weights, 1e-300)) if likelihood else 0.0
        scores = np.where(weights > 0, scores + prior, -np.inf)
        lost = ~np.isfinite(scores.max(axis=1))
        scores[lost] = 0.0
    place = {name: index for index, name in enumerate(classes)}
    shares = naming(scores)
    return np.array([shares[row, place[name]] if name in place else 0.0 for row, name in enumerate(truth)])


def _equal_scores(bags: Sequence[str]) -> Float64Array:
    """Ln likelihoods of clear bags: a candidate text can be it or not."""
    places = np.unique(bags, return_inverse=True)[1]
    return np.where(places[:, None] == places[None, :], 0.0, -1e6)


def changed_share(clear: Sequence[str], released: Sequence[Sequence[str]]) -> float:
    """The share of released words that the clear bag lacks, the mean over texts and draws."""
    shares = []
    for bags in released:
        for before, after in zip(clear, bags, strict=True):
            left = Counter(after.split()) - Counter(before.split())
            shares.append(left.total() / max(1, len(after.split())))
    return float(np.mean(shares))
