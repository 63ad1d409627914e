"""Made scores of adversaries, of which the truth is known, for the rule that gives verdicts."""

import numpy as np

from publius.evaluation.statistics import Interval
from publius.evaluation.summary import AdversaryResult, SummaryLine


def line(adversaries, *, mechanism="prototype", bound=7.0):
    """A line of the table, from the hits of each adversary by name; nobody has a habit."""
    found = {}
    for name, (hits, anyway) in adversaries.items():
        value = float(np.mean(hits))
        found[name, "author"] = AdversaryResult(
            name, "author", Interval(value, value, value), float(np.sum(hits)), len(hits), {"exact": False},
            tuple(map(float, hits)), (anyway,) * len(hits),
        )  # fmt: skip
    return SummaryLine(mechanism, None, bound, 1, None, None, 0.0, found, None, None, None)


def clean(hits, anyway):
    """Unprotected texts, where the holder of the originals names everybody."""
    everybody = np.ones(len(hits))
    return line({"svm": (hits, anyway), "originals": (everybody, anyway)}, mechanism="clean", bound=None)


def facts(texts, authors, anyway):
    """What the run states of its texts."""
    return {
        "anyway": [anyway] * texts,
        "author_numbers": [place % authors for place in range(texts)],
        "floor": anyway,
    }
