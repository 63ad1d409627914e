"""Attackers: estimators of scikit-learn on texts, ``fit(texts, authors)`` and ``predict(texts)``.

A text is a string of words with blanks between them; a released bag is its words, sorted. A class of one's own is
``python:MODULE:CLASS``; with ``decision_function`` or ``predict_proba`` its ties count by expectation.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, Literal

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.errors import PolicyError, UsageError, extra, place_of
from publius.files.user_code import PYTHON, object_at, unheard
from publius.text.bag import UNKNOWN

ADAPTIVE: Final = "adaptive-"
"""Before the name of an attacker: it learns from the known texts as its own draws of the mechanism make them."""
INFORMED: Final = "informed"
WORST_CASE: Final = "worst-case"

Task = Literal["author", "topic"]
KINDS: Final = {
    "letters": "counting:letters", "words": "counting:words", "likelihood": "counting:Likelihood",
    "delta": "counting:Delta", "koppel": "counting:Koppel", "transport": "transport:Transport",
    "fasttext": "fasttext:FastText",
}  # fmt: skip
"""Where those that learn from texts are; each also as adaptive-NAME."""
_OF_AUTHORS: Final = ("letters", "delta", "koppel")
"""Those that name no topics."""

STANDARD: Final = (
    "letters", "words", "likelihood", "delta", "koppel", "adaptive-likelihood", INFORMED, WORST_CASE,
)  # fmt: skip
"""Those that are tried where none is named."""


def told_of(name: str) -> tuple[str, ...]:
    """What the attacker of this name is told beside the mechanism's public inputs and the candidates' names."""
    if name == WORST_CASE:
        return ("originals", "mechanism")
    return ("texts", "mechanism") if name == INFORMED or name.startswith(ADAPTIVE) else ("texts",)


def tasks_of(name: str) -> tuple[Task, ...]:
    """What it can be asked to name."""
    return ("author",) if name.removeprefix(ADAPTIVE).split(":")[0] in _OF_AUTHORS else ("author", "topic")


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """The attackers called ``names``; `UsageError` for one that does not exist, or a parameter that it lacks."""
    with extra("evaluation", "scikit-learn"):
        import sklearn  # noqa: F401
    for name in names:
        if name not in (INFORMED, WORST_CASE):
            make_attacker(name)
    return tuple(dict.fromkeys(names)) or STANDARD


def make_attacker(name: str) -> Any:
    """The estimator called ``name``, adaptive or not, not fitted: ``koppel``, ``koppel:least_words=400``, ``python:M:C``."""
    base = name.removeprefix(ADAPTIVE)
    if base.startswith(PYTHON):
        return _own(base)
    head, *parameters = base.split(":")
    if head not in KINDS:
        names = ", ".join((*KINDS, INFORMED, WORST_CASE))
        raise UsageError(f"no attacker {name!r:.60}. Choose from {names}, adaptive-NAME, or python:MODULE:CLASS.")
    module, _, attribute = KINDS[head].partition(":")
    made = getattr(import_module(f"publius.evaluation.attackers.{module}"), attribute)()
    known = {} if head in ("letters", "words") else made.get_params()  # what a pipeline has is not meant
    for each in parameters:
        key, _, value = each.partition("=")
        if key not in known:
            raise UsageError(f"the attacker {head} has no parameter {key!r:.40}")
        try:
            made.set_params(**{key: value if known[key] is None else type(known[key])(value)})
        except ValueError:
            raise UsageError(f"{each!r:.60} is no parameter of the attacker {head}") from None
    if hasattr(made, "check"):
        made.check()
    return made


def _own(name: str) -> Any:
    found = object_at(name)
    if not (isinstance(found, type) and hasattr(found, "fit") and hasattr(found, "predict")):
        raise PolicyError(f"{name} is no attacker: it needs a class with fit(texts, authors) and predict(texts)")
    try:
        return found()
    except Exception as error:  # somebody else's bug is told as such
        raise PolicyError(f"the attacker {name} cannot be made: {place_of(error)}") from error


def fitted(estimator: Any, texts: Sequence[str], labels: Sequence[str], **more: Any) -> Any:
    """``estimator`` fitted."""
    with unheard(type(estimator), f"the attacker {type(estimator).__name__}"):
        return estimator.fit(list(texts), list(labels), **more)


def scores_of(estimator: Any, texts: Sequence[str]) -> tuple[list[str], Float64Array]:
    """The labels that a fitted attacker knows, and its score of each for each text, shape (n, labels): higher is likelier.

    Of one that only predicts, the score is one for what it names.
    """
    with unheard(type(estimator), f"the attacker {type(estimator).__name__}"):
        if hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba"):
            classes = [str(each) for each in estimator.classes_]
            function = getattr(estimator, "decision_function", None) or estimator.predict_proba
            values = np.asarray(function(list(texts)), np.float64)
            if values.ndim == 1:  # two labels: the sign decides
                values = np.stack([-values, values], axis=1)
        else:
            named = [str(each) for each in estimator.predict(list(texts))]
            classes = sorted({*named, *(str(each) for each in getattr(estimator, "classes_", ()))})
            values = np.array([[float(name == each) for each in classes] for name in named])
    if values.shape != (len(texts), len(classes)):
        raise PolicyError(f"the attacker {type(estimator).__name__} gave scores of shape {values.shape}")
    return classes, values


def naming(scores: Float64Array) -> Float64Array:
    """How often each label is named for each text, shape (n, labels): of equal scores each gets its share, by expectation."""
    best = scores.max(axis=1, keepdims=True)
    tied = scores >= best - 1e-12 * np.maximum(np.abs(best), 1e-300)
    return np.asarray(tied / tied.sum(axis=1, keepdims=True))


# Texts as attackers read them --------------------------------------------------------------------------------

BLANK = "\N{OPEN BOX}"
"""Stands for a blank inside a word of the vocabulary, as a text is its words with blanks between them."""


def joined(words: Sequence[str]) -> str:
    """Words as a text that attackers split again."""
    return " ".join(word.replace(" ", BLANK) for word in words)


def places_of(words: Sequence[str], embeddings: Any) -> list[int | None]:
    """The place of each word of a `joined` text in the vocabulary; None for one outside."""
    return [
        embeddings.unknown_index if word == UNKNOWN else embeddings.index(word.replace(BLANK, " ")) for word in words
    ]


def inside(words: Sequence[str], embeddings: Any) -> IndexArray:
    """The places of those of the words that the vocabulary has."""
    return np.array([place for place in places_of(words, embeddings) if place is not None], np.int64)


def replaced(words: Sequence[str], drawn: IndexArray, embeddings: Any) -> list[str]:
    """The words with those that the vocabulary has replaced by the ones ``drawn``; others stand as they are."""
    new, names = iter(drawn.tolist()), embeddings.vocabulary
    placed = places_of(words, embeddings)
    return [word if place is None else names[next(new)] for word, place in zip(words, placed, strict=True)]
