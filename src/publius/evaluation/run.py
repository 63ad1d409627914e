"""Run an evaluation: protect the attacked texts as a release would, train the attackers once a fold, count by expectation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.distances.earth_mover import pairwise_distances
from publius.distances.metrics import is_line
from publius.evaluation import worst_case
from publius.evaluation.attackers import (
    ADAPTIVE,
    INFORMED,
    WORST_CASE,
    Task,
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
from publius.evaluation.attackers.counting import Likelihood
from publius.evaluation.attackers.informed import EstimatedTransition, Informed, Transition, transition_of
from publius.evaluation.corpus import Dataset, Text
from publius.evaluation.records import CLEAR, Attempt, Setting, attempt, groups_of
from publius.files.progress import advance, stage
from publius.mechanisms.lifted import Lifted
from publius.noise.randomness import RunKey
from publius.settings import UnknownPolicy
from publius.text.bag import Bag, Encoding, words_of
from publius.text.tokenizer import StopWords

_Key = tuple[str, Task, bool]
_Hits = dict[_Key, Float64Array]
"""For each attacker, task, and whether it is told the topics: how often each text's label is named."""

COPIES: Final = 3
"""Protected versions of each known text that an adaptive attacker learns from; its own draws are free."""


@dataclass(frozen=True)
class Words:
    """How texts become the words of a bag, and what replaces these; without ``embeddings`` texts are attacked as they are.

    ``make_kernel`` makes the kernel of a mechanism's name and an epsilon.
    """

    embeddings: Any = None
    length: int = 0
    make_kernel: Any = None
    unknown: UnknownPolicy = "unk"
    stop_words: str = "english"
    metric: Any = "euclidean"

    def words(self, text: str, length: int | None = None) -> list[str]:
        """The words of a text in its order, at most ``length``; as it is also its marks and capitals."""
        if self.embeddings is None:
            return re.findall(r"[\w'’-]+|[^\w\s]", text)
        stops, profile = StopWords.load(self.stop_words), self.embeddings.tokenizer
        encoding = Encoding(length, self.unknown, stops, profile, padded=False)
        return list(words_of(text, self.embeddings, encoding).words)

    def clear(self, text: str) -> str:
        """What a release would be without noise, as attackers read it: the first N words, sorted."""
        words = self.words(text, self.length)
        return joined(words if self.embeddings is None else sorted(words))


class Part(NamedTuple):
    """A fold and a task: the places of the texts that are attacked, and of the known ones that attackers learn from."""

    task: Task
    fold: int | None
    at: IndexArray
    learned: list[int]


@dataclass
class Protected:
    """What one setting makes of the texts, drawn once for all attackers.

    ``bags`` are the attacked texts as released, draw by draw; ``copies`` the known ones as adaptive attackers learn them.
    """

    setting: Setting
    words: Words
    seed: int
    bags: list[list[str]] = field(default_factory=list)
    copies: list[list[str]] = field(default_factory=list)

    @cached_property
    def kernel(self) -> Any:
        """The mechanism on words; None for clear text."""
        return None if self.setting == CLEAR else self.words.make_kernel(self.setting.mechanism, self.setting.epsilon)

    @cached_property
    def lifted(self) -> Any:
        """The mechanism on documents."""
        words = self.words
        return Lifted(self.kernel, words.length, unknown=words.unknown, stop_words=words.stop_words)

    def released(self, texts: Sequence[Text], draw: int) -> list[str]:
        """Each text as released, as attackers read it."""
        key = RunKey.seeded(1_000 * self.seed + draw)
        found = self.lifted.protect([text.text for text in texts], [text.row for text in texts], key)
        return [joined([*outcome.bag.words()]) for outcome in found]

    @cached_property
    def transition(self) -> Transition:
        """The kernel as who knows it sees it."""
        return transition_of(self.kernel, RunKey.seeded(self.seed).rng("attacker"))


@dataclass
class Evaluation:
    """Attacks on the words of texts, protected in each of ``settings``, and clear.

    Figures are means over the ``draws`` of noise in each setting; an evaluation is an experiment, so noise has a ``seed``.
    """

    data: Dataset
    words: Words
    settings: Sequence[Setting]
    attackers: Sequence[str]
    draws: int = 1
    seed: int = 0
    _distances: dict[str, Float64Array] = field(default_factory=dict)
    _models: dict[tuple[int | None, str, str], Any] = field(default_factory=dict)

    def run(self) -> tuple[list[Attempt], dict[str, Any]]:
        """One record for each attacker, what it is told, and setting, clear text first.

        Beside them the share of words that each setting changed, and what a manifest states of its mechanism.
        """
        attempts, unprotected, changed, stated = list[Attempt](), _Hits(), dict[str, float](), list[dict[str, Any]]()
        with stage("attacking"):
            for done, setting in enumerate((CLEAR, *self.settings)):
                advance(done, len(self.settings) + 1)
                protected = Protected(setting, self.words, self.seed)
                hits = self._hits(protected)
                unprotected, ceilings = unprotected or hits, self._ceilings(protected)
                attempts += [
                    self._record(protected, key, values, unprotected[key], ceilings) for key, values in hits.items()
                ]
                changed[setting.name] = changed_share(self._clear, protected.bags)
                stated += [] if setting == CLEAR else [protected.lifted.facts()]
        return attempts, {"changed": changed, "stated": stated}

    @cached_property
    def _told(self) -> tuple[bool, ...]:
        """Whether who names authors is told the topics."""
        return (False, True) if self.data.topics else (False,)

    @cached_property
    def _known(self) -> list[Text]:
        """The texts that attackers may learn from: those whose authors are known, then those that teach topics."""
        return [*self.data.known, *self.data.teaching]

    @cached_property
    def _known_words(self) -> list[list[str]]:
        return [self.words.words(text.text) for text in self._known]

    @cached_property
    def _known_texts(self) -> list[str]:
        return [joined(words) for words in self._known_words]

    @cached_property
    def _clear(self) -> list[str]:
        """The attacked texts as they would be released without noise."""
        return [self.words.clear(text.text) for text in self.data.attacked]

    @cached_property
    def _held(self) -> list[int]:
        """The places of the texts among which who holds the originals chooses: all, or so many at random."""
        places = np.arange(len(self.data.attacked))
        if len(places) > worst_case.CANDIDATES:
            rng = RunKey.seeded(self.seed).rng("candidates")
            places = np.sort(rng.permutation(places)[: worst_case.CANDIDATES])
        return places.tolist()

    # Counting -----------------------------------------------------------------------------------------

    def _hits(self, protected: Protected) -> _Hits:
        texts = self.data.attacked
        protected.bags = (
            [self._clear] if protected.kernel is None
            else [protected.released(texts, draw) for draw in range(self.draws)]
        )  # fmt: skip
        protected.copies, found = self._copies(protected), _Hits()
        for name in self.attackers:
            for task in self._tasks(name) if name != WORST_CASE else ():
                told = self._told if task == "author" else (False,)
                found |= {(name, task, each): np.zeros(len(texts)) for each in told}
                for part in self._parts(task):
                    model = self._model(name, part, protected)
                    for bags in protected.bags:
                        classes, scores = scores_of(model, [bags[place] for place in part.at])
                        for each in told:
                            shares = self._named(model, part, classes, scores, told_topic=each)
                            found[name, task, each][part.at] += shares / len(protected.bags)
        return found | (self._worst_case(protected) if WORST_CASE in self.attackers else {})

    def _tasks(self, name: str) -> list[Task]:
        several = self.data.topics is not None and len({text.topic for text in self._known} - {None}) > 1
        return [task for task in tasks_of(name) if task == "author" or several]

    def _copies(self, protected: Protected) -> list[list[str]]:
        """The known texts, whole, as adaptive attackers' own draws of the mechanism make them."""
        if protected.kernel is None or not any(name.startswith(ADAPTIVE) for name in self.attackers):
            return []
        embeddings, transition, key = self.words.embeddings, protected.transition, RunKey.seeded(self.seed)
        if isinstance(transition, EstimatedTransition):  # the same rows serve them and the informed attacker
            distinct = sorted({word for words in self._known_words for word in words})
            transition.prepare(np.unique(inside(distinct, embeddings)))

        def copy(words: Sequence[str], name: str) -> str:
            return joined(replaced(words, transition.sample(inside(words, embeddings), key.rng(name)), embeddings))

        return [[copy(words, f"{n}/{each}") for each in range(COPIES)] for n, words in enumerate(self._known_words)]

    def _parts(self, task: Task) -> Iterator[Part]:
        """Each fold: learned from are the known texts of the others, for topics further ones, too, that have one."""
        teaching = range(len(self.data.known), len(self._known)) if task == "topic" else ()
        for fold in self.data.folds:
            known = [n for n, text in enumerate(self.data.known) if fold is None or text.fold != fold]
            learned = [n for n in (*known, *teaching) if task == "author" or self._known[n].topic is not None]
            attacked = np.array([n for n, text in enumerate(self.data.attacked) if text.fold == fold])
            yield Part(task, fold, attacked, learned)

    def _model(self, name: str, part: Part, protected: Protected) -> Any:
        """The fitted attacker: of one that knows no mechanism the same for all settings."""
        labels = [self._known[n].label(part.task) for n in part.learned]
        texts = [self._known_texts[n] for n in part.learned]
        if name == INFORMED and protected.kernel is not None:
            return fitted(Informed(protected.transition, self.words.embeddings), texts, labels)
        if name.startswith(ADAPTIVE) and protected.kernel is not None:
            many = [copy for n in part.learned for copy in protected.copies[n]]
            return fitted(self._made(name, part.task), many, [label for label in labels for _ in range(COPIES)])
        key = (part.fold, part.task, name.removeprefix(ADAPTIVE))
        if key not in self._models:
            made = Likelihood(prior_words=300) if name == INFORMED else self._made(name, part.task)
            self._models[key] = fitted(made, texts, labels)
        return self._models[key]

    def _made(self, name: str, task: Task) -> Any:
        made = make_attacker(name)
        if hasattr(made, "embeddings"):
            made.set_params(
                embeddings=self.words.embeddings, metric=self.words.metric, cut=self.words.length,
                neighbors=1 if task == "author" else 5,
            )  # fmt: skip
        return made

    def _named(
        self, model: Any, part: Part, classes: list[str], scores: Float64Array, *, told_topic: bool
    ) -> Float64Array:
        """How often the right label is named for each attacked text of the part, ties by expectation.

        An author is named among who writes, on the text's topic where that is told and anybody does; a likelihood is weighed
        with how often they do.
        """
        texts, weights = [self.data.attacked[place] for place in part.at.tolist()], None
        if part.task == "author":
            known = Counter((self._known[n].author, self._known[n].topic) for n in part.learned)
            everywhere = Counter(self._known[n].author for n in part.learned)
            weights = np.array([[everywhere[name] for name in classes]] * len(texts), np.float64)
            if told_topic:
                there = np.array([[known[name, text.topic] for name in classes] for text in texts], np.float64)
                weights = np.where(there.any(axis=1, keepdims=True), there, weights)
        truth, likelihood = [text.label(part.task) for text in texts], getattr(model, "is_likelihood", False)
        return named_shares(classes, scores, truth, weights, likelihood=likelihood)

    # Records ------------------------------------------------------------------------------------------

    def _record(
        self, protected: Protected, key: _Key, values: Float64Array, clear: Float64Array, ceilings: Mapping[bool, float]
    ) -> Attempt:
        name, task, told = key
        holds = name == WORST_CASE
        texts = [self.data.attacked[n] for n in self._held] if holds else self.data.attacked
        whole = task == "author" and len(texts) == len(self.data.attacked)
        return attempt(
            name, [*told_of(name), *["topic"] * told], task, protected.setting, texts, values, clear=clear,
            ceiling=ceilings[told] if whole else 1.0, exact=holds and protected.kernel is None, judged=not holds,
            draws=len(protected.bags),
        )  # fmt: skip

    def _ceilings(self, protected: Protected) -> dict[bool, float]:
        """The most that anybody is expected to identify from one row who knows the fold, and with True the topic, too."""
        data, exponents = self.data, self._exponents(protected)
        if exponents is None:
            return dict.fromkeys(self._told, 1.0)
        delta = protected.lifted.guarantee.delta
        return {
            told: worst_case.ceiling_of(exponents, data.authors, groups_of(data.attacked, told, fold=True), delta)
            for told in self._told
        }

    def _exponents(self, protected: Protected) -> Float64Array | None:
        """Of the guarantee between each two attacked texts; None where it says nothing or is too costly to compute."""
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

    def _worst_case(self, protected: Protected) -> _Hits:
        """How often who holds the originals names the authors of the held texts: among all of these, or their topic's."""
        texts = [self.data.attacked[n] for n in self._held]
        authors, scores = [text.label("author") for text in texts], self._candidate_scores(protected)
        return {
            (WORST_CASE, "author", told): np.mean(
                [worst_case.author_success(each, authors, groups_of(texts, told)) for each in scores], axis=0
            )
            for told in self._told
        }

    def _candidate_scores(self, protected: Protected) -> list[Float64Array]:
        """For each draw how likely each released row is under each held text (ln), shape (held, held)."""
        whole, embeddings, scores = [self._clear[n] for n in self._held], self.words.embeddings, []
        if protected.kernel is None:  # a candidate text can be it or not
            places = np.unique(whole, return_inverse=True)[1]
            return [np.where(places[:, None] == places[None, :], 0.0, -1e6)]
        texts = [inside(bag.split(), embeddings) for bag in whole]
        texts = [places if len(places) else np.zeros(1, np.int64) for places in texts]
        for draw, bags in enumerate(protected.bags):
            released = [inside(bags[n].split(), embeddings) for n in self._held]
            if isinstance(protected.transition, EstimatedTransition):
                rng = RunKey.seeded(self.seed).rng(f"worst case/{draw}")
                scores.append(worst_case.distance_scores(texts, released, protected.kernel, rng))
            else:
                scores.append(worst_case.mixture_scores(texts, released, protected.transition))
        return scores


def named_shares(
    classes: Sequence[str], scores: Float64Array, truth: Sequence[str], weights: Float64Array | None = None, *,
    likelihood: bool = False,
) -> Float64Array:  # fmt: skip
    """How often the right class is named for each text, shape (n,): ties by expectation.

    ``weights`` are how often each class is known to be right for each text, shape (n, classes): only classes that are so at
    all are named, and to a ``likelihood`` the logarithm is added. Without them scores count as they are.
    """
    if weights is not None:
        prior = np.log(np.maximum(weights, 1e-300)) if likelihood else 0.0
        scores = np.where(weights > 0, scores + prior, -np.inf)
        scores[~np.isfinite(scores.max(axis=1))] = 0.0
    place, shares = {name: index for index, name in enumerate(classes)}, naming(scores)
    return np.array([shares[row, place[name]] if name in place else 0.0 for row, name in enumerate(truth)])


def changed_share(clear: Sequence[str], released: Sequence[Sequence[str]]) -> float:
    """The share of released words that the clear bag lacks, the mean over texts and draws."""
    shares = []
    for bags in released:
        for before, after in zip(clear, bags, strict=True):
            left = Counter(after.split()) - Counter(before.split())
            shares.append(left.total() / max(1, len(after.split())))
    return float(np.mean(shares))
