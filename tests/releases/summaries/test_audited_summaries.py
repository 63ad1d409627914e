"""A summary through the judge of ``publius audit --target``, as what draws from collections and states their law."""

import itertools
import json

import pytest

from publius.audit.claim import Claim, input_from
from publius.audit.judge import judge
from publius.audit.target import Target
from publius.collections.contributions import Contributions
from publius.errors import DataError
from publius.noise.randomness import RunKey
from publius.releases.summaries.summary import Summary

TIGHT = 0.9
LOWEST, HIGHEST = -5, 8


def verdict(folder, target, claim, draws):
    path = folder / "claim.toml"
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in claim.items()))
    return judge(target, Claim.read(path), draws, seed=3)


class Totals(Target):
    """Noisy counts of two strata, cut to a range, of collections that are neighbors; beside them their exact law."""

    starts = False

    def __init__(self, reference, epsilon):
        super().__init__("the totals of a summary", "author")
        self.summary = Summary(reference, epsilon, by=["product=card,loan"], shares="totals=1")
        collections = [["card", "loan"], ["loan", "loan"], ["card", "card"], ["other", "loan"]]
        self.products = {
            input_from(
                [{"author": f"a{n}", "text": each} for n, each in enumerate(products)], "author"
            ): products
            for products in collections
        }
        self.inputs = [*self.products]

    def draws(self, given, count, rng):
        rows = [{"author": author, "text": text, "product": text} for author, text in given]
        contributions = Contributions(RunKey.fresh(), 1)
        self.summary.count(self.summary.rows(rows), contributions)
        drawn = (self.summary.draw(contributions.cells).totals.values.ravel() for _ in range(count))
        return [tuple(str(min(max(int(value), LOWEST), HIGHEST)) for value in values) for values in drawn]

    def stated(self, given):
        law = self.summary.noise("totals")
        counts = [self.products[given].count(each) for each in ("card", "loan", "other")]
        marginal = [
            {str(value): law.probability(value - count) for value in range(LOWEST + 1, HIGHEST)}
            | {str(LOWEST): law.above(count - LOWEST - 1), str(HIGHEST): law.above(HIGHEST - count - 1)}
            for count in counts
        ]
        return {
            (x, y, z): marginal[0][x] * marginal[1][y] * marginal[2][z]
            for x, y, z in itertools.product(*marginal)
        }


def test_a_summary_is_exact_and_tight(reference, tmp_path):
    """Authors who are replaced: the counts of its summary agree with their law, whose ratio reaches epsilon."""
    target = Totals(reference, 2)
    claim = {"unit": "author", "vocabulary": ["card", "loan"], "size": 2}
    found = verdict(tmp_path, target, {**claim, "epsilon": 2.0}, 4800)
    assert found.verdict == "exact"
    assert TIGHT <= found.lower_bound / found.claimed <= 1 + 1e-9
    assert verdict(tmp_path, target, {**claim, "epsilon": 1.8}, 4800).verdict == "refuted"
    removed = {**claim, "neighbors": "removed", "epsilon": 1.0}
    with pytest.raises(DataError, match="says nothing"):
        verdict(tmp_path, target, removed, 1000)
