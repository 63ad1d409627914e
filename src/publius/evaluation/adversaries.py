"""The adversaries and topic classifiers by name, and how each is fitted: on clean, on protected, with knowledge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, final

from publius.errors import UsageError
from publius.evaluation.attackers.base import AbstractAttacker
from publius.evaluation.attackers.boosting import BoostedTrees
from publius.evaluation.attackers.delta import Delta
from publius.evaluation.attackers.fasttext import FastText, fasttext_installed
from publius.evaluation.attackers.koppel import Koppel
from publius.evaluation.attackers.likelihood import Likelihood
from publius.evaluation.attackers.linear import character_machine, word_machine
from publius.evaluation.attackers.nearest import Distances, NearestTexts
from publius.settings import Task

ADAPTIVE: Final = "adaptive-"
INFORMED: Final = "informed"
ORIGINALS: Final = "originals"
LINKAGE: Final = "linkage"
RETRIEVAL: Final = "retrieval"
NOISY_LABEL: Final = "noisy-label"
CLUSTERING: Final = "clustering"
"""Apart from those who name authors and topics: who links releases, and what a release is good for."""
ALL: Final = "all"

COPIES: Final = 3
"""How many protected versions of each known text an adaptive adversary learns from; its own draws are free."""


@final
@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of adversary: how to make it for a task from the distances between bags and a seed.

    ``copies`` is how many protected versions of a text it learns from when it is adaptive.
    """

    make: Callable[[Task, Distances, int], AbstractAttacker]
    tasks: tuple[Task, ...]
    copies: int = COPIES


KINDS: Final[dict[str, Kind]] = {
    "sr-nearest": Kind(
        lambda task, distances, seed: NearestTexts(distances, 1 if task == "author" else 5, seed),
        ("author", "topic"),
        copies=1,
    ),
    "koppel": Kind(lambda task, distances, seed: Koppel(seed=seed), ("author",)),
    "delta": Kind(lambda task, distances, seed: Delta(seed=seed), ("author",)),
    "svm": Kind(lambda task, distances, seed: character_machine(seed), ("author",)),
    "likelihood": Kind(lambda task, distances, seed: Likelihood(seed=seed), ("author", "topic"), copies=3),
    "boosting": Kind(lambda task, distances, seed: BoostedTrees(seed=seed), ("author", "topic"), copies=3),
    "linear": Kind(lambda task, distances, seed: word_machine(seed), ("topic",), copies=1),
    "fasttext": Kind(lambda task, distances, seed: FastText(seed=seed), ("topic",), copies=1),
}
"""Every kind that learns from bags. "informed" is apart: it needs the mechanism itself."""

NAMES: Final = (*KINDS, *(ADAPTIVE + name for name in KINDS), INFORMED, ORIGINALS, LINKAGE, RETRIEVAL)
"""All that can be asked for. "retrieval" measures what a release is good for, and gives the rows of two more."""

MEASURED: Final = (*NAMES, NOISY_LABEL, CLUSTERING)
"""All that rows may be of, in the order they are shown."""


@final
@dataclass(frozen=True, slots=True)
class Chosen:
    """What a preset tries: adversaries by name, how often, and how many texts of a large corpus it compares."""

    adversaries: tuple[str, ...]
    repeats: int
    compared: int = 200


PRESETS: Final[dict[str | None, Chosen]] = {
    None: Chosen((ALL,), 1),
    "quick": Chosen(
        ("likelihood", "svm", "linear", "adaptive-likelihood", INFORMED, ORIGINALS, RETRIEVAL), 1, 80
    ),
    "thorough": Chosen((ALL,), 10),
}
"""By their names; None is what is tried where none is named."""


def choose_adversaries(names: Sequence[str]) -> tuple[str, ...]:
    """The adversaries called ``names``, in the order of `NAMES`; "all" stands for every one that is installed.

    `UsageError` for a name that does not exist.
    """
    wrong = [name for name in names if name not in (*NAMES, ALL)]
    if wrong or not names:
        raise UsageError(
            f"no adversary is called {wrong[0] if wrong else ''!r}: choose all, or some of {', '.join(NAMES)}"
        )
    if ALL in names:
        return tuple(name for name in NAMES if fasttext_installed() or not name.endswith("fasttext"))
    return tuple(name for name in NAMES if name in names)


def shown_place(name: str) -> int:
    """Where an adversary of this name is shown: as in `MEASURED`, a language model of the user's own last."""
    return MEASURED.index(name) if name in MEASURED else len(MEASURED)


def base_name(name: str) -> str:
    """The kind that an adaptive adversary adapts."""
    return name.removeprefix(ADAPTIVE)
