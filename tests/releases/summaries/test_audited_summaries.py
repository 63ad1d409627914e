"""A summary through ``publius audit --target``, as recorded outputs of collections with their law."""

import itertools
import json

import pytest

from publius.audit.claim import Claim
from publius.audit.judge import judge
from publius.audit.target import target_named
from publius.collections.contributions import Contributions
from publius.errors import DataError
from publius.noise.randomness import RunKey
from publius.releases.summaries.summary import Summary

TIGHT = 0.9
LOWEST, HIGHEST = -5, 8


def verdict(folder, name, claim, draws):
    path = folder / "claim.toml"
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in claim.items()))
    read = Claim.read(path)
    with target_named(name, read.unit) as target:
        return judge(target, read, draws, seed=3)


def recorded(reference, path, epsilon, draws):
    """Noisy counts of two strata, cut to a range, of collections that are neighbors; beside them their exact law."""
    summary = Summary(reference, epsilon, by=["product=card,loan"], shares="totals=1")
    law, lines = summary.noise("totals"), []
    collections = [["card", "loan"], ["loan", "loan"], ["card", "card"], ["other", "loan"]]
    for products in collections:
        rows = [{"author": f"a{n}", "text": each} for n, each in enumerate(products)]
        contributions = Contributions(RunKey.fresh(), 1)
        summary.count(summary.rows([{**row, "product": row["text"]} for row in rows]), contributions)
        cells = contributions.cells
        outputs = [
            [
                str(min(max(int(value), LOWEST), HIGHEST))
                for value in summary.draw(cells).totals.values.ravel()
            ]
            for _ in range(draws)
        ]
        counts = [products.count(each) for each in ("card", "loan", "other")]
        marginal = [
            {str(value): law.probability(value - count) for value in range(LOWEST + 1, HIGHEST)}
            | {str(LOWEST): law.above(count - LOWEST - 1), str(HIGHEST): law.above(HIGHEST - count - 1)}
            for count in counts
        ]
        stated = [
            [[x, y, z], marginal[0][x] * marginal[1][y] * marginal[2][z]]
            for x, y, z in itertools.product(*marginal)
        ]
        lines.append(json.dumps({"input": rows, "outputs": outputs, "probabilities": stated}))
    path.write_text("\n".join(lines) + "\n")
    return f"recorded:{path}"


def test_a_summary_is_exact_and_tight(reference, tmp_path):
    """Authors who are replaced: the counts of its summary agree with their law, whose ratio reaches epsilon."""
    name = recorded(reference, tmp_path / "draws.jsonl", 2, 600)
    claim = {"unit": "author", "vocabulary": ["card", "loan"], "size": 2}
    found = verdict(tmp_path, name, {**claim, "epsilon": 2.0}, 100_000)
    assert found.verdict == "exact"
    assert TIGHT <= found.lower_bound / found.claimed <= 1 + 1e-9
    assert verdict(tmp_path, name, {**claim, "epsilon": 1.8}, 100_000).verdict == "refuted"
    removed = {**claim, "neighbors": "removed", "epsilon": 1.0}
    with pytest.raises(DataError, match="says nothing"):
        verdict(tmp_path, name, removed, 1000)
