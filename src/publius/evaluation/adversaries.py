"""The adversaries and topic classifiers by name, and how each is fitted: on clean, on protected, with knowledge."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

from publius.errors import PolicyError, PubliusError, UsageError, place_of
from publius.evaluation.attackers.base import AbstractAttacker
from publius.evaluation.attackers.boosting import BoostedTrees
from publius.evaluation.attackers.delta import Delta
from publius.evaluation.attackers.fasttext import FastText, fasttext_installed
from publius.evaluation.attackers.koppel import Koppel
from publius.evaluation.attackers.likelihood import Likelihood
from publius.evaluation.attackers.linear import character_machine, word_machine
from publius.evaluation.attackers.nearest import Distances, NearestTexts
from publius.files.user_code import PYTHON, object_at
from publius.settings import Task
from publius.vectors.embeddings import Embeddings

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
class PresetChoice:
    """The contents of a preset: adversaries by name, how often, and how many texts of a large corpus they compare."""

    adversaries: tuple[str, ...]
    repeats: int
    compared: int = 200


PRESETS: Final[dict[str | None, PresetChoice]] = {
    None: PresetChoice((ALL,), 1),
    "quick": PresetChoice(
        ("likelihood", "svm", "linear", "adaptive-likelihood", INFORMED, ORIGINALS, RETRIEVAL), 1, 80
    ),
    "thorough": PresetChoice((ALL,), 10),
}
"""By their names; None is what is tried where none is named."""


def choose_adversaries(names: Sequence[str]) -> tuple[str, ...]:
    """The adversaries called ``names``, in the order of `NAMES`; "all" stands for every one that is installed.

    Those with parameters, and classes of one's own, come last in the order given: see `kind_of`. `UsageError` for a
    name that does not exist, `PolicyError` for a class that is no adversary.
    """
    if not names:
        raise _unknown("")
    own = [name for name in names if name not in (*NAMES, ALL)]
    for name in own:
        kind_of(name)
    if ALL in names:
        known = [name for name in NAMES if fasttext_installed() or not name.endswith("fasttext")]
    else:
        known = [name for name in NAMES if name in names]
    return (*known, *own)


def kind_of(name: str) -> Kind:
    """The kind called ``name``, adaptive or not.

    ``koppel:least_words=400`` and ``fasttext:dimension=50:subwords=3-6:vectors=NAME:validation=0.1`` are kinds with
    parameters; ``python:MODULE:CLASS`` is a class of one's own derived from `AbstractAttacker`.
    """
    base = base_name(name)
    if base.startswith(PYTHON):
        return _imported(base)
    head, *parameters = base.split(":")
    if not parameters and head in KINDS:
        return KINDS[head]
    if not parameters or head not in _PARAMETERS:
        raise _unknown(name)
    given: dict[str, Any] = {}
    for each in parameters:
        key, _, value = each.partition("=")
        if key not in _PARAMETERS[head]:
            raise UsageError(
                f"the adversary {head} takes no {key!r:.40}: it takes {', '.join(_PARAMETERS[head])}"
            )
        try:
            given[key] = _PARAMETERS[head][key](value)
        except ValueError:
            raise UsageError(f"{each!r:.60} is no value for {key} of the adversary {head}") from None
    make: Any = Koppel if head == "koppel" else FastText
    if "vectors" in given:
        given["vectors"] = Embeddings.load(given["vectors"])
    make(**given)  # says what is wrong before anything is run
    return replace(KINDS[head], make=lambda task, distances, seed: make(**given, seed=seed))


def _lengths(value: str) -> tuple[int, int]:
    shortest, longest = value.split("-")
    return int(shortest), int(longest)


_PARAMETERS: Final[dict[str, dict[str, Callable[[str], Any]]]] = {
    "koppel": {"least_words": int, "rounds": int, "features": int},
    "fasttext": {
        "epochs": int, "rate": float, "dimension": int, "subwords": _lengths, "vectors": str, "validation": float,
    },
}  # fmt: skip
"""What kinds take beside the texts, and how each value is read."""


def _imported(name: str) -> Kind:
    """The class at ``python:MODULE:CLASS``; importing it runs its code."""
    found = object_at(name)
    if not (isinstance(found, type) and issubclass(found, AbstractAttacker)):
        raise PolicyError(
            f"{name} is no adversary: derive the class from publius.evaluation.attackers.base.AbstractAttacker"
        )
    if inspect.isabstract(found):
        raise PolicyError(f"{name} does not define {', '.join(sorted(found.__abstractmethods__))}")

    def make(task: Task, distances: Distances, seed: int) -> AbstractAttacker:
        try:
            made = found()
        except PubliusError:
            raise
        except Exception as error:  # somebody else's bug is told as such
            raise PolicyError(f"the adversary {name} cannot be made: {place_of(error)}") from error
        made.seed = seed
        return made

    return Kind(make, found.tasks, copies=1)


def _unknown(name: str) -> UsageError:
    return UsageError(
        f"no adversary is called {name!r:.80}: choose all, or some of {', '.join(NAMES)}, or python:MODULE:CLASS"
    )


def shown_place(name: str) -> int:
    """Where an adversary of this name is shown: as in `MEASURED`, a language model of the user's own last."""
    return MEASURED.index(name) if name in MEASURED else len(MEASURED)


def base_name(name: str) -> str:
    """The kind that an adaptive adversary adapts."""
    return name.removeprefix(ADAPTIVE)
