"""The cells of an evaluation: a mechanism at an epsilon, once, against every adversary."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Any, final

import numpy as np

from publius.arrays import Float64Array
from publius.distances.metrics import AbstractMetric, ground_metric
from publius.errors import UsageError
from publius.evaluation.adversaries import (
    ADAPTIVE,
    INFORMED,
    LINKAGE,
    ORIGINALS,
    RETRIEVAL,
    base_name,
    kind_of,
)
from publius.evaluation.attackers.base import AbstractAttacker, best_columns
from publius.evaluation.attackers.informed import Informed
from publius.evaluation.attackers.language import LanguageAdversary
from publius.evaluation.attackers.nearest import EarthMovers
from publius.evaluation.encoding import EncodedDataset, EncodedText
from publius.evaluation.hindsight import blind_to_text, originals_row
from publius.evaluation.linkage import Linkage, linkage_rows
from publius.evaluation.neighborhood import MOST_TEXTS
from publius.evaluation.prior import Scored, log_shares, with_prior
from publius.evaluation.protection import ProtectedText
from publius.evaluation.protectors import AbstractProtector, Protector, Unprotected
from publius.evaluation.readings import Reading
from publius.evaluation.retrieval import FEWEST_PUBLIC, PublicSpace, retrieval_rows
from publius.evaluation.rows import CLEAN, Protection, ResultRow, make_row
from publius.evaluation.transition import AbstractTransition, transition_of
from publius.files.user_code import PYTHON
from publius.mechanisms.registry import class_named, mechanism_on, strength_of
from publius.noise.randomness import RunKey
from publius.settings import EvaluationSettings, Task
from publius.text.bag import Bag
from publius.vectors.embeddings import Embeddings

SNIPPET_WORDS = 24
NEAREST_SHOWN = 5
TEXTS_SHOWN = 5


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """One experiment: ``mechanism`` with the noise of ``repeat``, at ``epsilon`` or at ``bound`` nats.

    The mechanism "clean" protects nothing and has neither.
    """

    mechanism: str
    epsilon: float | None
    repeat: int
    bound: float | None = None

    @classmethod
    def at(cls, mechanism: str, strength: str, value: float, repeat: int) -> Cell:
        """The cell at a ``value`` of its ``strength``, epsilon or bound."""
        return cls(mechanism, **{"epsilon": None, strength: value}, repeat=repeat)

    @property
    def name(self) -> str:
        """A file name for its result, and how progress calls it."""
        at = repr(self.epsilon) if self.bound is None else f"bound-{self.bound!r}"
        return f"{self.mechanism}-{'clean' if self.mechanism == CLEAN else at}-{self.repeat}"

    @property
    def shown(self) -> str:
        """For people, without the repeat."""
        return shown_cell(self.mechanism, self.epsilon, self.bound)


def shown_cell(mechanism: str, epsilon: float | None, bound: float | None) -> str:
    """A mechanism and what it was asked for, for people."""
    if mechanism == CLEAN:
        return "unprotected"
    outside = mechanism.startswith(PYTHON)  # whoever reads results has not named it, and imports nothing
    if bound is not None and (epsilon is None or outside or strength_of(mechanism) == "bound"):
        return f"{mechanism}, bound {bound:g}"
    return mechanism if epsilon is None else f"{mechanism} {epsilon:,.6g}"


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """Inputs that all cells share.

    Attributes:
        data: the texts in words.
        embeddings: the public vocabulary.
        metric: d, or its name.
        parameters: beside epsilon and metric, for the mechanisms that take them.
        adversaries: their names.
        tasks: what they are asked.
        chances: the chance level of each task.
        seed: all noise, and all lots that adversaries draw, come from it: an evaluation is an experiment.
        snippet: the id of the text of which the report may show words; None for none.
        unknown: what becomes of words outside the vocabulary.
        whole: how texts are read with a reference; None where no mechanism reads so.
        language: a language model of the user's own; None where none is asked.
        written: makes of what was protected what a reader gets instead, a text; None for the bags themselves.
        compared: how many texts of a large corpus are compared with each other.

    """

    data: EncodedDataset = field(repr=False)
    embeddings: Embeddings
    metric: str | AbstractMetric
    parameters: dict[str, Any]
    adversaries: tuple[str, ...]
    tasks: tuple[Task, ...]
    chances: dict[Task, float]
    seed: int
    snippet: str | None = None
    unknown: str = EvaluationSettings.unknown
    whole: Reading | None = None
    language: LanguageAdversary | None = None
    written: Callable[[Sequence[ProtectedText]], list[ProtectedText]] | None = None
    compared: int = MOST_TEXTS

    def protector(self, cell: Cell) -> AbstractProtector:
        """The protector of the texts of ``cell``."""
        if cell.mechanism == CLEAN:
            return Unprotected()
        reading = self.reading(cell.mechanism)
        parameters = {"bound": cell.bound, "epsilon": cell.epsilon, "metric": self.metric, **self.parameters}
        made = mechanism_on(
            cell.mechanism, reading.public, reading.length, threads=1, **reading.choices, **parameters
        )
        return Protector(made, reading, metric=ground_metric(self.metric).name)

    def reading(self, mechanism: str) -> Reading:
        """How texts are read for the mechanism of this name; `UsageError` where what it reads with is missing."""
        words = Reading(self.embeddings, self.data.size, self.unknown)
        found = {"embeddings": words, "reference": self.whole}[class_named(mechanism).reads]
        if found is None:
            raise UsageError(f"the mechanism {mechanism} needs a public reference: give --reference")
        return found


@final
@dataclass(frozen=True, slots=True)
class CellResult:
    """The result of one cell.

    Attributes:
        rows: one for each adversary and task.
        earth_movers: mean Earth Mover's distance of the released bags to the original ones.
        nearest: for each text of the nearest-authors table, the nearest authors, how far their nearest texts are, and
            the true one's rank.
        snippet: its first words, if they may be shown.
        exact: whether the informed adversary had exact probabilities.
        promised: whether the mechanism has a guarantee in the metric of the evaluation.
        stated: mechanism, epsilon and bound, as in the rows.
        delta: of the guarantee of one document.
        level: whether "word"s or "document"s are protected, or "none".
        exponents: nats between the texts for a document mechanism, see `AbstractProtector.exponents`; None otherwise.
        seconds: of processor time that each part took.
        linking: how often two releases of the same texts are matched row by row; None without a law over outcomes.
        labels: how often the printed label is the text's topic, by topic; None where no label is printed.
        parameters: of the mechanism, as a manifest states them: what was asked for, and what followed from the rest.

    """

    rows: tuple[ResultRow, ...]
    earth_movers: float
    nearest: list[dict[str, Any]]
    snippet: tuple[str, ...]
    exact: bool
    promised: bool
    stated: tuple[str, float | None, float | None]
    delta: float
    level: str
    exponents: dict[str, float | None] | None
    seconds: dict[str, float]
    labels: dict[str, Any] | None = None
    linking: dict[str, float] | None = None
    parameters: dict[str, Any] | None = None


def run_cell(cell: Cell, setting: Setting, advance: Callable[[], object] = lambda: None) -> CellResult:
    """Protect, attack, count; ``advance`` hears when an attack is over."""
    return _Run(cell, setting, advance).outcome()


@final
class _Run:
    """One cell under way: the protected texts, each made once for all adversaries."""

    def __init__(self, cell: Cell, setting: Setting, advance: Callable[[], object]) -> None:
        self._cell, self._setting, self._advance = cell, setting, advance
        self._key = RunKey.seeded(setting.seed)
        self._protector = setting.protector(cell)
        self._distances = EarthMovers(setting.embeddings, setting.metric)
        self._seconds: dict[str, float] = {}
        self._protected: dict[tuple[str, int], list[Bag]] = {}
        self._transitions: dict[Task, AbstractTransition] = {}
        self._clean: dict[str, list[Bag]] = {}
        self._facts: dict[str, Any] = {}

    def outcome(self) -> CellResult:
        protector = self._protector
        with self._timed("protect"):
            released = self._protect(self._setting.data.unknown, "release")
            moved = protector.moved(released)
        cell = self._cell
        protection = Protection(cell.mechanism, protector.epsilon, protector.bound, cell.repeat, *moved)
        bags = [item.bag for item in released]
        self._released = released
        rows = self._rows(released, bags, protection) + self._further_rows(bags, protection)
        rows += self._language_rows(bags, protection)
        with self._timed("distance to the original"):
            gone = self._distance_to_original(released)
        return CellResult(
            tuple(rows), gone, self._nearest(bags), self._snippet(released),
            protector.exact, protector.promised, (cell.mechanism, protector.epsilon, protector.bound), protector.delta,
            protector.level, protector.exponents(self._setting.data.unknown), self._seconds,
            protector.labels(self._setting.data.unknown),
            protector.linking(self._setting.data.unknown, self._key.rng(f"linking/{cell.repeat}")),
            None if protector.mechanism is None else _plain(protector.mechanism.parameters),
        )  # fmt: skip

    def _rows(
        self, released: Sequence[ProtectedText], bags: Sequence[Bag], protection: Protection
    ) -> list[ResultRow]:
        setting = self._setting
        rows = []
        for name, task in product(setting.adversaries, setting.tasks):
            if self._applies(name, task):
                rows.append(self._attack(name, task, bags, protection))
            self._advance()
        if ORIGINALS in setting.adversaries and "author" in setting.tasks:
            with self._timed("originals author"):
                rng = self._key.rng(f"originals/{self._cell.repeat}")
                found = self._protector.originals(setting.data.unknown, released, rng)
                chance = setting.chances["author"]
                rows.append(
                    originals_row(protection, setting.data.unknown, found, chance, rng, self._protector.delta)
                )
        return rows

    def _applies(self, name: str, task: Task) -> bool:
        """Adversaries that know the mechanism have nothing to know where there is none."""
        if name in (ORIGINALS, LINKAGE, RETRIEVAL):
            return False
        if task != "topic" and not self._setting.data.known:
            return False
        if name == INFORMED:
            # Estimating rows for every word of the topic texts would cost more than it tells; see the page.
            return self._protector.exact or (self._protector.kernel is not None and task != "topic")
        if name.startswith(ADAPTIVE) and self._cell.mechanism == CLEAN:
            return False
        return ("author" if task == "sensitive" else task) in kind_of(name).tasks

    def _further_rows(self, bags: Sequence[Bag], protection: Protection) -> list[ResultRow]:
        """Who links releases, once, and what a release is good for."""
        setting, data, rows = self._setting, self._setting.data, []
        seed = setting.seed * 1_000_003 + self._cell.repeat
        if LINKAGE in setting.adversaries and not self._cell.repeat and not data.crossed:
            with self._timed("linkage"):
                trial = Linkage(data.unknown, data.known, self._protector, self._protect)
                rows += linkage_rows(protection, trial, self._key.rng("linkage"))
        if RETRIEVAL in setting.adversaries:
            with self._timed("retrieval"):
                texts = [(text.bag, text.topic) for text in data.unknown]
                rows += retrieval_rows(protection, _public_space(data), texts, bags, seed)
        return rows

    def _language_rows(self, bags: Sequence[Bag], protection: Protection) -> list[ResultRow]:
        """What a language model names; nothing where it may not see what there is."""
        setting, model = self._setting, self._setting.language
        if model is None or (model.own is None and not self._may_be_shown()):
            return []
        known, seed = setting.data.known, setting.seed * 1_000_003 + self._cell.repeat
        with self._timed(f"{model.name} author"):
            protected = self._adaptive(known, "known", 1) if model.own is None else None
            named, extra = model.told([text.label("author") for text in known], protected, bags, seed)
        hits = [name == text.label("author") for name, text in zip(named, setting.data.unknown, strict=True)]
        return [make_row(protection, model.name, "author", hits, setting.chances["author"], extra)]

    def _may_be_shown(self) -> bool:
        """Whether what the cell makes of a text was released by a mechanism with a guarantee, all of it."""
        return self._protector.promised and self._setting.unknown != "keep"

    def _attack(self, name: str, task: Task, bags: Sequence[Bag], protection: Protection) -> ResultRow:
        with self._timed(f"{name} {task}"):
            texts, X = self._training(name, task)
            asked = self._setting.data.unknown
            named, told = [""] * len(asked), [""] * len(asked)
            parts = []
            for part in self._setting.data.parts:
                places = [place for place, text in enumerate(asked) if text.part == part]
                learned = [place for place, text in enumerate(texts) if part is None or text.part != part]
                known, attacked = [texts[at] for at in learned], [asked[at] for at in places]
                names, scores = self._scored(
                    name, task, known, [X[at] for at in learned],
                    [bags[at] for at in places], [self._released[at] for at in places],
                )  # fmt: skip
                prior = log_shares(names, known, attacked) if task == "author" else np.zeros_like(scores)
                parts.append((part, places, Scored(attacked, names, scores, prior)))
            knowing = [scored.scores for _, _, scored in parts]
            if task == "author":
                knowing = with_prior([scored for _, _, scored in parts], self._seed)
            for (part, places, scored), also in zip(parts, knowing, strict=True):
                for found, by in ((named, scored.scores if part is None else also), (told, also)):
                    for place, at in zip(places, best_columns(by, self._seed).tolist(), strict=True):
                        found[place] = scored.names[at]
        hits = [a == text.label(task) for a, text in zip(named, asked, strict=True)]
        extra = dict(self._facts)
        if task == "author":
            extra["blind"] = blind_to_text(asked, named)
        if told != named:
            extra["told"] = [float(a == text.label(task)) for a, text in zip(told, asked, strict=True)]
            extra["told_blind"] = blind_to_text(asked, told)
        return make_row(protection, name, task, hits, self._setting.chances[task], extra)

    def _scored(
        self, name: str, task: Task, texts: Sequence[EncodedText], X: Sequence[Bag], bags: Sequence[Bag],
        released: Sequence[ProtectedText],
    ) -> tuple[Sequence[str], Float64Array]:  # fmt: skip
        """The labels that an adversary knows, and the score of each for each bag, shape (bags, labels)."""
        labels = [text.label(task) for text in texts]
        self._facts = {}
        found = self._protector.informed(texts, labels, released) if name == INFORMED else None
        if found is not None:
            return found
        attacker = self._attacker(name, task).fit(X, labels)
        self._facts = attacker.facts_
        return attacker.classes_, attacker.decision_function(bags)

    @property
    def _seed(self) -> int:
        return self._setting.seed * 1_000_003 + self._cell.repeat

    def _attacker(self, name: str, task: Task) -> AbstractAttacker:
        if name == INFORMED and self._protector.kernel is not None:
            if task not in self._transitions:
                rng = self._key.rng(f"informed/{self._cell.repeat}/{task}")
                self._transitions[task] = transition_of(self._protector.kernel, rng)
            return Informed(self._transitions[task], self._setting.embeddings, seed=self._seed)
        return kind_of(name).make(task, self._distances, self._seed)

    def _training(self, name: str, task: Task) -> tuple[list[EncodedText], list[Bag]]:
        """The texts to learn from, and their bags as the adversary has them.

        The paper's nearest texts are the known ones for topics too.
        """
        data = self._setting.data
        of_authors = task != "topic" or (base_name(name) == "sr-nearest" and bool(data.known))
        texts, which = (data.known, "known") if of_authors else (data.topic_training, "topics")
        if not name.startswith(ADAPTIVE):
            if which not in self._clean:
                self._clean[which] = [text.bag for text in texts]
            return list(texts), self._clean[which]
        copies = kind_of(name).copies if of_authors else 1
        bags = self._adaptive(texts, which, copies)
        return list(texts) * copies, bags

    def _adaptive(self, texts: Sequence[EncodedText], which: str, copies: int) -> list[Bag]:
        for copy in range(copies):
            if (which, copy) not in self._protected:
                with self._timed(f"protect {which} texts for adaptive adversaries"):
                    protected = self._protect(texts, f"{which}/{copy}")
                    self._protected[which, copy] = [item.bag for item in protected]
        if copies == 1:
            return self._protected[which, 0]
        return [bag for copy in range(copies) for bag in self._protected[which, copy]]

    def _protect(self, texts: Sequence[EncodedText], stream: str) -> list[ProtectedText]:
        found = self._protector.protect(texts, self._key, f"{stream}/{self._cell.repeat}")
        written = None if self._cell.mechanism == CLEAN else self._setting.written
        return found if written is None else written(found)

    def _distance_to_original(self, released: Sequence[ProtectedText]) -> float:
        if self._cell.mechanism == CLEAN:
            return 0.0
        first = released[: self._setting.compared]
        gone = [self._distances([item.bag], [item.text.filled])[0, 0] for item in first]
        finite = [value for value in gone if np.isfinite(value)]
        return float(np.mean(finite)) if finite else 0.0

    def _nearest(self, bags: Sequence[Bag]) -> list[dict[str, Any]]:
        """The nearest known texts of five texts and how far they are, as in the paper's Table 2.

        The first is the one of which words may be shown.
        """
        data = self._setting.data
        if "sr-nearest" not in self._setting.adversaries or "known" not in self._clean or data.crossed:
            return []
        chosen = next((i for i, text in enumerate(data.unknown) if text.id == self._setting.snippet), 0)
        shown = [chosen, *(at for at in range(len(bags)) if at != chosen)][:TEXTS_SHOWN]
        table = self._distances(bags, self._clean["known"])
        return [self._nearest_of(at, table[at]) for at in shown]

    def _nearest_of(self, at: int, distances: Float64Array) -> dict[str, Any]:
        """The nearest known text of each author, nearest first, and the place of the true one."""
        data = self._setting.data
        nearest: dict[str | None, float] = {}
        for place in np.argsort(distances, kind="stable").tolist():
            nearest.setdefault(data.known[place].author, float(distances[place]))
        authors = list(nearest)
        return {
            "text": data.unknown[at].id,
            "authors": authors[:NEAREST_SHOWN],
            "distances": [
                round(far, 6) if np.isfinite(far) else None for far in list(nearest.values())[:NEAREST_SHOWN]
            ],
            "rank": authors.index(data.unknown[at].author) + 1,
        }

    def _snippet(self, released: Sequence[ProtectedText]) -> tuple[str, ...]:
        shown = [item.words[:SNIPPET_WORDS] for item in released if item.text.id == self._setting.snippet]
        return shown[0] if shown else ()

    def _timed(self, part: str) -> _Stopwatch:
        return _Stopwatch(self._seconds, part)


@lru_cache(maxsize=1)
def _public_space(data: EncodedDataset) -> PublicSpace | None:
    """The space of the public texts, made once in a process; None where there are too few of them."""
    public = data.topic_training
    if len(public) < FEWEST_PUBLIC:
        return None
    return PublicSpace([text.bag for text in public], [text.label("topic") for text in public])


@final
class _Stopwatch:
    """Adds a block's seconds of processor time to a part's: on a shared machine the clock would tell of others."""

    def __init__(self, seconds: dict[str, float], part: str) -> None:
        self._seconds, self._part = seconds, part

    def __enter__(self) -> None:
        from time import process_time

        self._start = process_time()

    def __exit__(self, *_: object) -> None:
        from time import process_time

        taken = process_time() - self._start
        self._seconds[self._part] = round(self._seconds.get(self._part, 0.0) + taken, 3)


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """As they come out of a file."""
    found: dict[str, Any] = json.loads(json.dumps(parameters, default=str))
    return found
