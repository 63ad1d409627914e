"""Label releases in closed form: nothing is trained and nothing drawn; the law of randomized response says all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.evaluation import worst_case
from publius.evaluation.corpus import Dataset
from publius.evaluation.records import CLEAR, Attempt, Setting, attempt, groups_of

RANDOMIZED: Final = "randomized-response"


def evaluate_labels(
    data: Dataset, labels: Sequence[str], answers: IndexArray, epsilons: Sequence[float]
) -> tuple[list[Attempt], dict[str, Any]]:
    """What a row of a label release says of its author, and of the topic; ``answers`` are the classifier's, shape (n,).

    The records, clear labels first, and what else follows for each epsilon.
    """
    authors, facts, attempts = data.authors, dict[str, Any](), list[Attempt]()
    place = {name: index for index, name in enumerate(labels)}
    right = np.array([place.get(text.label("topic"), -1) for text in data.attacked])
    clear = worst_case.label_law(answers, len(labels), math.inf)
    for epsilon in (math.inf, *epsilons):
        setting = CLEAR if epsilon == math.inf else Setting(RANDOMIZED, epsilon)
        law = worst_case.label_law(answers, len(labels), epsilon)
        facts[setting.name] = _facts(law, answers, labels, epsilon, right)
        for told in (False, True) if data.topics else (False,):
            groups = groups_of(data.attacked, told)
            exact = worst_case.exact_success(law, authors, groups)
            for name, also, found, unprotected, ceiling in (
                ("label", "texts", by_other_texts(law, authors, groups), by_other_texts(clear, authors, groups), exact.mean()),
                ("worst-case", "originals", exact, worst_case.exact_success(clear, authors, groups),
                 worst_case.ceiling_of_epsilon(epsilon, authors, groups)),
            ):  # fmt: skip
                known = [also, "mechanism", *["topic"] * told]
                attempts.append(attempt(
                    name, known, "author", setting, data.attacked, found, clear=unprotected, ceiling=ceiling, exact=True
                ))  # fmt: skip
        if (right >= 0).any():  # topics are labels
            read, clearly = (np.where(right >= 0, each[np.arange(len(right)), right], 0.0) for each in (law, clear))
            attempts.append(attempt("reader", (), "topic", setting, data.attacked, read, clear=clearly, exact=True))
    return attempts, facts


def by_other_texts(law: Float64Array, authors: Sequence[str], groups: IndexArray) -> Float64Array:
    """How often each text's author is named by who knows the labels of all *other* texts of its group, shape (n,).

    For each label he names the author whose other texts give it the most probability together; of equals each with the
    same probability. Where that is worse than to guess by how much they write (a text is missing from its own author's), he
    guesses. Never more than the best rule, who knows this text as well.
    """
    found = np.zeros(len(law))
    for at, own in worst_case.each_group(authors, groups):
        totals = worst_case.author_totals(law[at], own)
        for label in range(law.shape[1]):
            column = totals[:, label]
            best, second = -np.sort(-np.append(column, -math.inf))[:2]
            mine = column[own]
            others = np.where(mine >= best, second if (column >= best).sum() == 1 else best, best)
            left = mine - law[at, label]
            ties = np.abs(left - others) <= 1e-12 * np.maximum(np.abs(others), 1e-300)
            share = ((left > others) & ~ties).astype(np.float64)
            if ties.any():
                equal = np.isclose(column[None, :], others[:, None], rtol=1e-12, atol=0.0)
                equal[np.arange(len(at)), own] = False
                share[ties] = 1 / (1 + equal[ties].sum(axis=1))
            found[at] += law[at, label] * share
    return max(found, worst_case.baseline(authors, groups), key=lambda shares: float(shares.mean()))


def _facts(
    law: Float64Array, answers: IndexArray, labels: Sequence[str], epsilon: float, right: IndexArray
) -> dict[str, Any]:
    """How many labels noise changes, which stay right, and how often the right text is picked from one row."""
    texts, own = len(answers), [right == place for place in range(len(labels))]
    return {
        "labels": len(labels),
        "noise_changes": 1 - float(law[0, answers[0]]),
        "accuracy_by_label": {
            name: float(law[own[place], place].mean()) for place, name in enumerate(labels) if own[place].any()
        },
        "texts_by_label": {name: int((answers == place).sum()) for place, name in enumerate(labels)},
        "text_named": {
            "by_guessing": 1 / texts,
            "mean": float(law.max(axis=0).sum() / texts),
            "at_most": 1.0 if epsilon > 700 else 1 / (1 + (texts - 1) * math.exp(-epsilon)),
        },
    }
