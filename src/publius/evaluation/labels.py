"""Label releases in closed form: nothing is trained and nothing drawn; the law of randomized response says all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.evaluation import worst_case
from publius.evaluation.corpus import Dataset
from publius.evaluation.records import CLEAR, Attempt, Setting, attempt

RANDOMIZED: Final = "randomized-response"
LABEL: Final = "label"
"""Who knows which labels each author's other texts have."""


def evaluate_labels(
    data: Dataset, labels: Sequence[str], answers: IndexArray, epsilons: Sequence[float]
) -> tuple[list[Attempt], dict[str, Any]]:
    """What a row of a label release says of its author, and of the topic; ``answers`` are the classifier's, shape (n,).

    The records, clear labels first, and for each epsilon what else follows: how many labels noise changes, and how often
    the right text is picked from one row.
    """
    size, attempts = len(labels), list[Attempt]()
    authors, topics = data.authors, data.topics
    told: dict[bool, IndexArray] = {False: np.zeros(len(answers), np.int64)}
    if topics:
        told[True] = worst_case.group_places(topics)
    clear = worst_case.label_law(answers, size, math.inf)
    facts: dict[str, Any] = {}
    for epsilon in (math.inf, *epsilons):
        setting = CLEAR if epsilon == math.inf else Setting(RANDOMIZED, epsilon)
        law = worst_case.label_law(answers, size, epsilon)
        facts[setting.name] = _facts(law, answers, labels, epsilon, [text.topic for text in data.attacked])
        for topical, groups in told.items():
            known = ["topic"] if topical else []
            common = {
                "candidates": worst_case.candidates_of(authors, groups), "exact": True,
            }  # fmt: skip
            without = worst_case.baseline(authors, groups)
            exact = worst_case.exact_success(law, authors, groups)
            attempts.append(
                attempt(
                    LABEL,
                    ["texts", "mechanism", *known],
                    "author",
                    setting,
                    authors,
                    by_other_texts(law, authors, groups),
                    without,
                    clear=by_other_texts(clear, authors, groups),
                    ceiling=float(exact.mean()),
                    **common,
                )
            )
            attempts.append(
                attempt(
                    "worst-case",
                    ["originals", "mechanism", *known],
                    "author",
                    setting,
                    authors,
                    exact,
                    without,
                    clear=worst_case.exact_success(clear, authors, groups),
                    ceiling=worst_case.ceiling_of_epsilon(epsilon, authors, groups),
                    **common,
                )
            )
        attempts += _accuracy(data, labels, law, clear, setting)
    return attempts, facts


def by_other_texts(law: Float64Array, authors: Sequence[str], groups: IndexArray) -> Float64Array:
    """How often each text's author is named by who knows the labels of all *other* texts of its group, shape (n,).

    For each label he names the author whose other texts give it the most probability together; of equals each with the
    same probability. Never more than the best rule, who knows this text as well: whom he names rightly, that one names.
    """
    places = np.unique(np.asarray(authors, dtype=str), return_inverse=True)[1]
    found = np.zeros(len(law))
    for group in range(int(groups.max()) + 1):
        at = np.flatnonzero(groups == group)
        names, own = np.unique(places[at], return_inverse=True)
        totals = np.zeros((len(names), law.shape[1]))
        np.add.at(totals, own, law[at])
        for label in range(law.shape[1]):
            column = totals[:, label]
            ranked = np.sort(column)[::-1]
            best = ranked[0]
            second = ranked[1] if len(ranked) > 1 else -math.inf
            mine = column[own]
            others = np.where(mine >= best, second if (column >= best).sum() == 1 else best, best)
            left = mine - law[at, label]
            wins, ties = _compared(left, others)
            equal = np.isclose(column[None, :], others[:, None], rtol=1e-12, atol=0.0) if ties.any() else None
            share = wins.astype(np.float64)
            if equal is not None:
                equal[np.arange(len(at)), own] = False
                share[ties] = 1 / (1 + equal[ties].sum(axis=1))
            found[at] += law[at, label] * share
    return found


def _compared(left: Float64Array, others: Float64Array) -> tuple[Any, Any]:
    near = np.abs(left - others) <= 1e-12 * np.maximum(np.abs(others), 1e-300)
    return (left > others) & ~near, near


def _accuracy(
    data: Dataset, labels: Sequence[str], law: Float64Array, clear: Float64Array, setting: Setting
) -> list[Attempt]:
    """How often the released label is the text's topic, where topics are labels."""
    topics = [text.topic for text in data.attacked]
    place = {name: index for index, name in enumerate(labels)}
    if not any(topic in place for topic in topics):
        return []
    right = np.array([place.get(topic or "", -1) for topic in topics])
    rows = np.arange(len(right))
    known = right >= 0
    named = [topic or "" for topic in topics]
    groups = np.zeros(len(right), np.int64)
    return [
        attempt(
            "reader",
            (),
            "topic",
            setting,
            data.authors,
            np.where(known, law[rows, right], 0.0),
            worst_case.baseline(named, groups),
            clear=np.where(known, clear[rows, right], 0.0),
            candidates=float(len(set(named))),
            ceiling=1.0,
            exact=True,
        )
    ]


def _facts(
    law: Float64Array,
    answers: IndexArray,
    labels: Sequence[str],
    epsilon: float,
    topics: Sequence[str | None],
) -> dict[str, Any]:
    size, texts = len(labels), len(answers)
    kept = float(law[0, answers[0]])
    by_label = {}
    for place, name in enumerate(labels):
        own = np.array([topic == name for topic in topics])
        if own.any():
            by_label[name] = float(law[own, place].mean())
    return {
        "labels": size,
        "noise_changes": 1 - kept,
        "accuracy_by_label": by_label,
        "texts_by_label": {name: int((answers == place).sum()) for place, name in enumerate(labels)},
        "text_named": {
            "by_guessing": 1 / texts,
            "mean": worst_case.text_named(law),
            "at_most": 1.0 if epsilon > 700 else 1 / (1 + (texts - 1) * math.exp(-epsilon)),
        },
    }
