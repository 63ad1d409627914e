"""Our broken versions as anybody's mechanism: through which outputs an audit from outside may see what is wrong.

A view is a target that draws with one part replaced, and what it claims. Each draw follows from its seed.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from audit.mutants.catalog import catalog
from audit.own_worlds import DOCUMENTS
from publius.audit.implementation import GENUINE, Subject
from publius.audit.release_path import make_plan
from publius.audit.toy_references import document_worlds
from publius.audit.toy_vocabularies import World, small_embeddings
from publius.audit.words import exact_kernel
from publius.documents.corpus import BadDocument, Document
from publius.mechanisms.mechanism import TOTAL
from publius.noise.randomness import RunKey, seeded_rng

_PLANE = np.array([[0.0, 0.0], [1.0, 0.1], [-0.3, 1.2], [1.6, 1.5]])
PLANE = World("plane", small_embeddings(_PLANE, "plane"), 2.0)
FINE = World("fine", small_embeddings(_PLANE / 20, "fine"), 40.0)
FAR = World("far", small_embeddings(_PLANE + 3000, "far"), 2.0)
WIDE = World("wide", small_embeddings(3 * _PLANE, "wide"), 2.0)
_TURNS = np.arange(8) * math.pi / 4
_ROUND = np.vstack([[[0.0, 0.0]], np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=1)]) / 25
ROUND = World("round", small_embeddings(_ROUND, "round"), 2.0)  # closer than most noise is long
_SEVEN = np.vstack([_PLANE, [[-1.0, -0.4], [0.7, -0.9], [2.4, 0.2]]])
SEVEN = World("seven", small_embeddings(_SEVEN, "seven"), 2.0)
TWINS = World("twins", small_embeddings(_PLANE[[0, 1, 1, 2, 3]], "twins"), 2.0)
PAIRED = World("paired", small_embeddings(_PLANE[:3], "paired"), 2.0)
LINE = World("line", small_embeddings(np.array([[0.0], [0.3], [1.0]]), "line"), 2.0)
SOFT = tuple(each for each in document_worlds(16) if each.gamma in (0.2, 1.0))


def key_of(seed: int) -> RunKey:
    """A key as a release has it, from a seed."""
    return RunKey(seeded_rng(seed).bytes(32))


# Words --------------------------------------------------------------------------------------------------------


class Words:
    """Words through the mechanism, ``size`` at a time, and the law that the genuine one states or has."""

    def __init__(self, subject: Subject, world: World, size: int = 1) -> None:
        self.words, self.size = list(world.embeddings.vocabulary), size
        self.mechanism = subject.mechanism(world.embeddings, world.epsilon)
        kernel = exact_kernel(self.mechanism)
        if kernel is None:
            raise AssertionError
        self.rows = kernel

    def __call__(self, given: Any, seed: int) -> Any:
        """One word for each."""
        words = [given] if self.size == 1 else given
        drawn = self.mechanism.draw([self.mechanism.indices(words)], [seeded_rng(seed)], threads=1)[0]
        found = [self.words[place] for place in drawn.tolist()]
        return found[0] if self.size == 1 else found

    def probabilities(self, given: Any) -> dict[Any, float]:
        """Of independent words."""
        if self.size == 1:
            return dict(zip(self.words, self.rows[self.words.index(given)].tolist(), strict=True))
        rows = [self.rows[self.words.index(word)].tolist() for word in given]
        found = itertools.product(*(zip(self.words, row, strict=True) for row in rows))
        return {tuple(w for w, _ in each): math.prod(p for _, p in each) for each in found}


def words_claim(world: World, size: int = 1) -> dict[str, Any]:
    """Epsilon per unit of distance."""
    unit = {} if size == 1 else {"unit": "sequence", "size": size}
    vectors = np.asarray(world.vectors, float).tolist()
    return {
        **unit,
        "vocabulary": list(world.embeddings.vocabulary),
        "vectors": vectors,
        "epsilon": world.epsilon,
    }


class Vector:
    """A noisy vector, as a number."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.law = subject, subject.noise(1, LINE.epsilon)

    def __call__(self, word: str, seed: int) -> float:
        vectors = LINE.vectors[[LINE.embeddings.index(word)]]
        return float(self.subject.noisy(self.law, vectors, self.law.sample(seeded_rng(seed), 1))[0, 0])


class System:
    """A noisy vector from the generator that a release would get."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.law = subject, subject.noise(1, LINE.epsilon)

    def __call__(self, word: str) -> float:
        vectors = LINE.vectors[[LINE.embeddings.index(word)]]
        noise = self.law.sample(self.subject.generator(), 1)
        return float(self.subject.noisy(self.law, vectors, noise)[0, 0])


# Releases -----------------------------------------------------------------------------------------------------

LENGTH = 2
LOW = 0.2
"""An epsilon at which a fault shows in few draws."""
CLEAR = 0.6
"""An epsilon at which two texts with the same noise have different outputs; at `LOW` the noise alone decides."""


def shown(release: Any) -> dict[str, Any]:
    """What is seen of a release or of a refusal."""
    if isinstance(release, BadDocument):
        return {"id": release.id, "reason": release.reason}
    words = list(release.words) if release.words else sorted(release.bag.words())
    return {"id": release.id, "words": " ".join(words), "warning": str(release.warning)}


class Text:
    """One text through the way of a release."""

    def __init__(self, subject: Subject, unknown: str = "unk", epsilon: float = LOW) -> None:
        self.subject = subject
        self.plan = make_plan(subject, PLANE.embeddings, epsilon, LENGTH, unknown=unknown)

    def __call__(self, text: str, seed: int) -> Any:
        results, _ = self.subject.protect([Document("d", text, {}, 1)], self.plan, key_of(seed))
        return shown(results[0])


def firsts(rows: Any) -> list[str]:
    """The first text of each author: what is stated of a document holds of an author who has one."""
    found: dict[str, str] = {}
    for row in rows:
        found.setdefault(row["author"], row["text"])
    return list(found.values())


class Rows(Text):
    """A collection, a document an author."""

    def __call__(self, rows: Any, seed: int) -> Any:
        return self.released(rows, key_of(seed))

    def released(self, rows: Any, key: RunKey) -> dict[str, str]:
        """What is seen of each."""
        documents = [Document(f"d{n}", text, {}, n + 1) for n, text in enumerate(firsts(rows))]
        results, _ = self.subject.protect(documents, self.plan, key)
        return {each["id"]: json.dumps(each) for each in map(shown, results)}


class Run(Rows):
    """A collection, with the key that a run gets."""

    def __call__(self, rows: Any) -> Any:  # type: ignore[override]
        return self.released(rows, RunKey(self.subject.run_key(self.plan).expose()))


class Stated(Rows):
    """The manifest of a collection."""

    def __call__(self, rows: Any, seed: int) -> Any:
        self.released(rows, key_of(seed))
        return json.dumps(self.subject.manifest(self.plan, len(firsts(rows))), sort_keys=True)


DIAMETER = float(max(math.dist(x, y) for x in _PLANE for y in _PLANE))


def text_claim(subject: Subject = GENUINE, **more: Any) -> dict[str, Any]:
    """Texts as bags of so many words, all known: nothing is claimed of texts that a release refuses."""
    return {**words_claim(PLANE), "unit": "document", "size": LENGTH, "epsilon": LOW, **more}


def any_text_claim(subject: Subject = GENUINE) -> dict[str, Any]:
    """Any two texts."""
    claim = {"unit": "document", "size": LENGTH, "vocabulary": list(PLANE.embeddings.vocabulary)}
    return {**claim, "bound": LENGTH * LOW * DIAMETER}


def run_claim(subject: Subject = GENUINE, epsilon: float = LOW) -> dict[str, Any]:
    """Collections of three authors with one document each."""
    claim = {"unit": "author", "size": 3, "vocabulary": list(PLANE.embeddings.vocabulary)}
    return {**claim, "epsilon": LENGTH * epsilon * DIAMETER}


def manifest_epsilon(subject: Subject) -> dict[str, Any]:
    """What the manifest states of a unit of distance."""
    return text_claim(
        subject, epsilon=subject.manifest(Text(subject, epsilon=PLANE.epsilon).plan, 1)["epsilon"]
    )


def manifest_total(subject: Subject) -> dict[str, Any]:
    """What the manifest states of whole texts, by the mean distance of their words."""
    total = subject.manifest(Text(subject, epsilon=PLANE.epsilon).plan, 1)["epsilon_total"]
    return text_claim(subject, epsilon=total / LENGTH)


# Labels of documents ------------------------------------------------------------------------------------------


class Labels:
    """What stands for a document; the law is the mechanism's own, or the genuine one's where it draws otherwise."""

    def __init__(
        self, subject: Subject, world: Any, *, own: bool = True, kind: str = "prototype", length: int = 3
    ) -> None:
        self.reference = world.reference
        given = world.parameters if kind == "prototype" else {"bound": world.bound}
        self.mechanism = subject.document_mechanism(kind, world.reference, **given, length=length)
        lawful = (
            self.mechanism
            if own
            else GENUINE.document_mechanism(kind, world.reference, **given, length=length)
        )
        self.lawful = lawful

    def document(self, text: str) -> Any:
        """Places of its words."""
        found = [self.reference.index(word) for word in text.split()]
        places = [self.reference.unknown_index if place is None else place for place in found]
        return np.array(places, np.int64)

    def __call__(self, text: str, seed: int) -> Any:
        return self.mechanism.draw([self.document(text)], [seeded_rng(seed)])[0].label

    def probabilities(self, text: str) -> dict[str, float]:
        """The law."""
        weights = self.lawful.weights([self.document(text)])[0]
        found: Counter[str] = Counter()
        for outcome, weight in zip(self.lawful.outcomes, weights.tolist(), strict=True):
            found[str(outcome.label)] += weight / TOTAL
        return dict(found)


class Leaving(Labels):
    """All that leaves of a document."""

    def __call__(self, text: str, seed: int) -> Any:
        found = self.mechanism.draw([self.document(text)], [seeded_rng(seed)])
        return [" ".join(sorted(each.bag.words())) + f" {each.label} {each.prototype}" for each in found]

    probabilities = None  # type: ignore[assignment]


class OneWord(Labels):
    """The only word of a bag, with the label that it stands for."""

    def __call__(self, text: str, seed: int) -> Any:
        found = self.mechanism.draw([self.document(text)], [seeded_rng(seed)])[0]
        return f"{found.label} {next(iter(found.bag.words()))}"

    def probabilities(self, text: str) -> dict[str, float]:
        law = self.lawful.weights([self.document(text)])[0] / TOTAL
        places, weights = self.lawful.drawable_words
        found: Counter[str] = Counter()
        for k, outcome in enumerate(self.lawful.outcomes):
            for place, weight in zip(places[k].tolist(), weights[k].tolist(), strict=True):
                found[f"{outcome.label} {self.reference.vocabulary[place]}"] += law[k] * weight / 2.0**32
        return dict(found)


class Keyed(Labels):
    """Labels of some documents that are drawn together, as a run draws them: one an author."""

    def __call__(self, rows: Any, seed: int) -> Any:
        documents = [self.document(text) for text in firsts(rows)]
        drawn = self.mechanism.draw_keyed(documents, [f"d{n}" for n in range(len(documents))], key_of(seed))
        return [str(each.label) for each in drawn]

    probabilities = None  # type: ignore[assignment]


def labels_claim(world: Any, mechanism: Any, **more: Any) -> dict[str, Any]:
    """The bound that the mechanism states, of any two texts."""
    claim = {"unit": "document", "size": 2, "vocabulary": list(world.reference.vocabulary)}
    return {**claim, "bound": mechanism.guarantee.map(), **more}


def unit_claim(world: Any, mechanism: Any, size: int = 2) -> dict[str, Any]:
    """What it states per unit of the distance between two texts; a word that it does not know has the public place."""
    features = world.reference.aspect("topic").features
    claim = {"unit": "document", "size": size, "vocabulary": [*world.reference.vocabulary, "foreign"]}
    return {**claim, "vectors": features.tolist(), "epsilon": mechanism.guarantee.per_unit / size}


def collection_claim(world: Any, mechanism: Any) -> dict[str, Any]:
    """The bound, of collections in which one document differs."""
    claim = {"unit": "author", "size": 3, "vocabulary": list(world.reference.vocabulary)}
    return {**claim, "epsilon": mechanism.guarantee.map()}


# What is looked at how ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class View:
    """How a broken version is seen.

    Attributes:
        make: the target of a subject.
        claim: what that claims.
        draws: about how many.
        kinds: of case that may refute it.

    """

    make: Callable[[Subject], Any]
    claim: Callable[[Subject], dict[str, Any]]
    draws: int
    kinds: tuple[str, ...] = ("ratio",)

    @property
    def quick(self) -> bool:
        """Whether it needs hardly a draw."""
        return self.kinds in (("exact",), ("unknown",))


def words(world: World, *kinds: str, size: int = 1, draws: int = 24_000) -> View:
    """Words of a world."""
    return View(
        lambda subject: Words(subject, world, size), lambda subject: words_claim(world, size), draws,
        kinds or ("stated", "pooled"),
    )  # fmt: skip


def documents(
    world: Any,
    *kinds: str,
    cls: type[Labels] = Labels,
    claim: Any = labels_claim,
    draws: int = 1000,
    **more: Any,
) -> View:
    """Documents in a world of theirs."""
    return View(
        lambda subject: cls(subject, world, **more),
        lambda subject: claim(world, cls(subject, world, **more).mechanism),
        draws, kinds or ("exact",),
    )  # fmt: skip


ANY_TEXT = View(Text, any_text_claim, 2000, ("unknown",))
TEXTS = View(Text, text_claim, 6000)
ROWS = View(Rows, run_claim, 16_000)
STATED_FOR_TEXTS = lambda subject: Text(subject, epsilon=PLANE.epsilon)  # noqa: E731
MANIFESTS = View(STATED_FOR_TEXTS, manifest_epsilon, 20_000)
SHARP = DOCUMENTS
FIRST, UNIT, FIVE = SOFT[0], SOFT[3], SOFT[4]


def _unit(world: Any = UNIT) -> View:
    return documents(world, claim=lambda world, mechanism: unit_claim(world, mechanism, 3))


def _leaving(**more: Any) -> View:
    return documents(SOFT[2], "ratio", cls=Leaving, draws=8000, **more)


ONE_WORD, FAR_WORDS, PAIRS = words(PLANE), words(FAR), words(PAIRED, size=2)
ROUND_WORDS = words(ROUND, draws=48_000)
STATED_WORDS = words(PLANE, "exact", draws=1000)
VECTORS = View(Vector, lambda subject: words_claim(LINE), 20_000)
SYSTEMS = View(System, lambda subject: words_claim(LINE), 20_000, ("ratio", "memory"))
SHARP_LABELS, UNITS, UNIT_OF_FIVE, UNIT_OF_SHARP = documents(SHARP), _unit(), _unit(FIVE), _unit(SHARP)
DRAWN = documents(SOFT[2], "stated", "ratio", own=False, draws=10_000)
LEAVING, POSITIONS = _leaving(), _leaving(kind="position")

FOUND: dict[str, View] = {
    "noise: radius Gamma(n-1)": ONE_WORD,
    "noise: radius Gamma(n+1)": ONE_WORD,
    "noise: radius exponential": ONE_WORD,
    "noise: radius constant": ONE_WORD,
    "noise: uniform in a ball": ONE_WORD,
    "noise: Gaussian of the same mean length": ONE_WORD,
    "noise: Laplace by coordinate": ONE_WORD,
    "noise: direction from a cube": ROUND_WORDS,
    "noise: first coordinate always positive": ONE_WORD,
    "noise: last coordinate without noise": ONE_WORD,
    "noise: every vector twice": PAIRS,
    "noise: one vector for the whole batch": PAIRS,
    "noise: antithetic pairs": PAIRS,
    "noise: radius used twice": PAIRS,
    "finite: scale 2 % too large": STATED_WORDS,
    "finite: normalizers forgotten in the constant": STATED_WORDS,
    "finite: constant of the nearest pair": STATED_WORDS,
    "finite: least likely output left out": STATED_WORDS,
    "finite: weights underflow": words(WIDE, "exact", draws=1000),
    "finite: drawn without the least likely output": ONE_WORD,
    "search: expanded squared distance in float32": FAR_WORDS,
    "search: inner product without the norm": ONE_WORD,
    "search: cosine": ONE_WORD,
    "search: vectors rounded to sixteenths": words(FINE),
    "search: approximate candidates": ONE_WORD,
    "search: near-ties left to float32": FAR_WORDS,
    "search: ties to the higher index": words(TWINS),
    "mechanism: skips the input word": ONE_WORD,
    "mechanism: keeps the input on a second place": ONE_WORD,
    "mechanism: candidates round the input": words(SEVEN),
    "mechanism: keeps the input when the noise is short": ROUND_WORDS,
    "mechanism: one word in fifty passes": ROUND_WORDS,
    "mechanism: scale fitted to the input's neighborhood": words(PLANE, draws=200_000),
    "mechanism: noise redrawn when long": ONE_WORD,
    "mechanism: a harmless word passes": ONE_WORD,
    "vectors: no grid": VECTORS,
    "vectors: only the noise on the grid": VECTORS,
    "generator: seeded with a counter that forks inherit": View(
        System, lambda subject: words_claim(LINE), 20_000, ("state",)
    ),
    "generator: seeded with twelve bits": View(System, lambda subject: words_claim(LINE), 60_000),
    "generator: seeded with the process id": SYSTEMS,
    "release: a refusal names the word": View(
        lambda subject: Text(subject, "reject"), text_claim, 2000, ("unknown",)
    ),
    "release: unknown words allowed to pass": View(
        lambda subject: Text(subject, "keep"), any_text_claim, 2000, ("unknown",)
    ),
    "release: unknown words pass": ANY_TEXT,
    "release: keeps its document": ANY_TEXT,
    "release: text in a repr": ANY_TEXT,
    "release: as short as the document": View(Text, any_text_claim, 2000),
    "release: order of the text kept": TEXTS,
    "release: equal words share their noise": TEXTS,
    "release: one row of noise a document": TEXTS,
    "release: one stream for all documents": ROWS,
    "release: noise keyed by the text": ROWS,
    "release: vocabulary fitted on the documents": View(Rows, run_claim, 4000, ("unknown",)),
    "release: noise from a fixed seed": ONE_WORD,
    "release: constant run key": View(
        lambda subject: Run(subject, epsilon=CLEAR), lambda subject: run_claim(subject, CLEAR), 4000
    ),
    "release: digest of the documents in the manifest": View(Stated, run_claim, 2000),
    "release: epsilon understated": MANIFESTS,
    "release: epsilon*N without N": View(STATED_FOR_TEXTS, manifest_total, 20_000),
    "document: normalizer forgotten": documents(FIRST),
    "document: no share for every prototype": SHARP_LABELS,
    "document: probabilities of eight bits": SHARP_LABELS,
    "document: the empty document told by its prototype": SHARP_LABELS,
    "document: ratios 2 % too steep": SHARP_LABELS,
    "document: bound stated 2 % too small": SHARP_LABELS,
    "document: none of these not counted in M": SHARP_LABELS,
    "document: margin not halved": UNITS,
    "document: margin squared": UNITS,
    "document: margin all or nothing": UNITS,
    "document: epsilon stated at half": UNITS,
    "document: epsilon stated for a sharp choice": UNIT_OF_SHARP,
    "document: sums of features instead of means": UNIT_OF_FIVE,
    "document: mean over distinct words": UNITS,
    "document: a word that counts five times": UNIT_OF_FIVE,
    "document: unknown words pass through the features": UNITS,
    "document: drawn with numbers of two bits": DRAWN,
    "document: one document in ten stays": DRAWN,
    "document: one draw for all documents": DRAWN,
    "document: the bits of one document for all": documents(
        SOFT[2], "ratio", cls=Keyed, claim=collection_claim, draws=4000
    ),
    "document: words unevenly drawn": documents(
        SOFT[2], "stated", "pooled", cls=OneWord, own=False, length=1, draws=20_000
    ),
    "document: the bag's size tells the document's": LEAVING,
    "document: an unknown word passes": LEAVING,
    "document: a word of the document added": LEAVING,
    "document: the position leaves as a float": LEAVING,
    "document: noisy position leaves as a float": POSITIONS,
    "document: a row without text left out": LEAVING,
}
"""Where each broken version is seen from outside."""

_SMALL = "moves the probability of a word so little that it takes hundreds of thousands of draws of one word"
_BATCH = "a target draws one input at a time: only in a batch of many does it show"
_NO_WORD = "no word comes out another way"
_FILES = (
    "it shows in what lies beside the bags: files, their sizes and times, not in an output of a mechanism"
)
_NOISY = (
    "a document's place leaves only through words that are drawn near a noisy one: these draws do not show it"
)
_MEANS = "nothing is drawn another way: the source of randomness would have to fail or be looked at"
_SPENDING = "what was spent is no output"
_SAYS = "no output is less private: what is stated beside it is wrong"
_COMPANY = "a run gives each document noise of its own; only a second run with the same key shows it"
NOT_FOUND: dict[str, str] = {
    "noise: scale 2 % too small": _SMALL,
    "noise: scale 2 % too large": f"more noise than is claimed; and it {_SMALL}",
    "noise: scale half a percent too small in 300 dimensions": _SMALL,
    "noise: radius clipped at its 99.9 % quantile": _SMALL,
    "noise: one radius in two thousand too long": _SMALL,
    "noise: one vector in five hundred without noise": _SMALL,
    "noise: radius longer upwards": _BATCH,
    "noise: radius longer along an axis": _BATCH,
    "noise: float32 sampling": _NO_WORD,
    "noise: rounded to a grid": _NO_WORD,
    "finite: one normalizer for all words": "what it states does not sum to 1, which is refused as an error",
    "finite: drawn at a scale 2 % larger than stated": _SMALL,
    "finite: one word in a hundred stays": _SMALL,
    "finite: uniforms of eight bits": _SMALL,
    "search: batch centered in float32": _BATCH,
    "vectors: rounded to float32": "the last bits that are left are those of the sum",
    "text: marks are sorted however many there are": "it costs time, and nothing is claimed of that",
    "text: marks are left out": "words are read another way, which protects no less",
    "generator: seeded with the clock": "it is found where a second has many draws, and a test would hang on the clock",
    "generator: half a key": _MEANS,
    "generator: clock when the entropy fails": _MEANS,
    "generator: entropy not checked": _MEANS,
    "generator: can be copied": _MEANS,
    "release: constant key when the entropy fails": _MEANS,
    "release: writer does not mark experiments": _SAYS,
    "release: releases of experiments unmarked": _SAYS,
    "release: experiments stated as private": _SAYS,
    "release: another vocabulary's digest": _SAYS,
    "release: delta left out": f"{_SAYS}, by less than any draw shows",
    "release: delta of one word": f"{_SAYS}, by less than any draw shows",
    "release: noise keyed by the place": _COMPANY,
    "document: position not clipped": _NOISY,
    "document: position stretched": _NOISY,
    "document: position put on a circle": _NOISY,
    "document: diameter of half the box": _NOISY,
    "document: distance learned from the private texts": "a target draws one document at a time",
    "document: what fits nothing becomes the nearest": "a choice of another public label, within the bound",
    "document: weights that do not sum": "by a part in 2^62",
    "document: reference learned from the private texts": "the reference is public to whoever claims",
    **dict.fromkeys((each.name for each in catalog() if each.name.startswith("observable: ")), _FILES),
    **dict.fromkeys((each.name for each in catalog() if each.name.startswith("ledger: ")), _SPENDING),
}
"""Why an audit from outside does not see the others; each is found by the check that is named for it."""


@cache
def _targets() -> dict[str, tuple[View, Subject]]:
    subjects = {each.name: each for each in catalog()}
    found = {}
    for name, view in FOUND.items():
        found[target_of(name)] = view, subjects[name].subject
        found[target_of(name, genuine=True)] = view, subjects[name].genuine
    return found


def target_of(name: str, *, genuine: bool = False) -> str:
    """The callable of this module that is the broken version, or what it claims to be, seen in the same way."""
    return "".join(each if each.isalnum() else "_" for each in f"{'genuine' if genuine else 'broken'} {name}")


def __getattr__(name: str) -> Any:
    """Make a target where it is looked for: a process that is started for one makes no other."""
    if name not in _targets():
        raise AttributeError(name)
    view, subject = _targets()[name]
    return globals().setdefault(name, view.make(subject))


def claim_of(name: str, *, genuine: bool = False) -> dict[str, Any]:
    """What the target claims."""
    view, subject = _targets()[target_of(name, genuine=genuine)]
    return view.claim(subject)
