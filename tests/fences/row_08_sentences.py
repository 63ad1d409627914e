"""What a curator reads before he chooses a bound is what the bound means, rounded to the safe side."""

from __future__ import annotations

import re
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest

from fences import Fence
from publius.evaluation import releases_linked
from publius.evaluation.steps import kept
from publius.privacy import promise
from publius.privacy.guarantee import Guarantee, posterior_at_most
from publius.releases import account


def _upper_limits(folder: Path) -> None:
    for bound in (1.0, 3.0, 5.0, 7.0, 10.0):
        said = kept.bound_in_words(bound)
        stated = float(said.split("a probability of at most ", 1)[1].split(",", 1)[0])
        assert stated >= posterior_at_most(bound, 1_000), f"bound {bound:g}: {stated} is said to be the most"
        assert "equally likely before" in said
        assert "the right one of 4 topics comes out" not in said


_NATS = re.compile(r"(?:exp\(|epsilon = |\()([\d.]+)(?= \* E| a word| nats)")


def _exponents(folder: Path) -> None:
    """Every number of nats in the promise of a bound, of an epsilon, and of a factor: none below what is promised."""
    for hundredths in range(1, 3_000):
        bound = hundredths / 100 + 2**-40
        words = promise.promise(Guarantee(bound, "euclidean", "proven", size=1), private=True)
        numbers = [float(each) for each in _NATS.findall(words + promise.factor_text(bound))]
        assert len(numbers) >= 2
        assert min(numbers) >= bound, f"{min(numbers)} is said of {bound}"


def _all_rows_seen(folder: Path) -> None:
    """Bayes' rule over every outcome: which text a row is of, and which rows of two releases are of one text.

    The texts and the laws of their rows are known, and all rows are seen, in a secret order.
    """
    for labels, bound in (((0, 1), 2.0), ((0, 1, 1), 2.0), ((0, 1, 1), 4.0), ((0, 1, 2), 1.0)):
        texts, values = len(labels), max(labels) + 1
        orders = np.array([*permutations(range(texts))])
        law = np.where(np.eye(values)[[*labels]] == 1, np.exp(bound), 1) / (np.exp(bound) + values - 1)
        single = pair = 0.0
        seen = [*product(range(values), repeat=texts)]
        # of each release and order: how probable it is, where row orders[o, i] is of text i
        chances = np.array([law[np.arange(texts), np.array(rows)[orders]].prod(axis=1) for rows in seen])
        for one in chances:
            single = max(single, *(one[orders[:, i] == 0].sum() / one.sum() for i in range(texts)))
            for two in chances:
                together = np.outer(one, two)
                for row in range(texts):
                    alike = sum(np.outer(orders[:, i] == 0, orders[:, i] == row) for i in range(texts))
                    pair = max(pair, (together * alike).sum() / together.sum())
        stated = account._with_all_rows(bound, texts)
        assert single <= float(stated.removesuffix(" %")) / 100, (
            f"{single:.4f} is reached and {stated} stated"
        )
        linked = releases_linked.linked_releases(law, bound, np.random.default_rng(1))["ceiling"]
        assert pair <= linked, f"{pair:.4f} of a pair is reached and {linked:.4f} stated"


def _one_row_alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(account, "posterior_with_all_rows", posterior_at_most)
    patch.setattr(releases_linked, "posterior_with_all_rows", posterior_at_most)


def _nearest(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kept, "rounded_up", lambda value, digits: f"{value:.{digits}g}")


def _nearest_nats(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(promise, "nats", lambda exponent: f"{exponent:,.1f}")


FENCES = (
    Fence(8, "an exponent that is a limit is rounded up", _exponents, _nearest_nats),
    Fence(8, "a probability that is a limit is rounded up", _upper_limits, _nearest),
    Fence(8, "a limit of one row holds for whoever sees all of them", _all_rows_seen, _one_row_alone),
)
