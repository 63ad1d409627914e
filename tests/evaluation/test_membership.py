"""Who is in a summary: the best attacker stays below what the promise allows, and comes near it."""

import json
import math

import pytest

from publius.documents.document import Document
from publius.errors import DataError
from publius.evaluation.membership import membership


def collection(authors=30):
    return [Document(row=n, text="tea" if n % 3 else "coffee", author=f"a{n}") for n in range(authors)]


@pytest.mark.parametrize("epsilon", [0.5, 3])
def test_the_best_attacker_stays_below_the_promise(epsilon):
    from publius.classifiers.classifier import Values
    from publius.summaries.summary import Summary

    summary = Summary(Values(["tea", "coffee"]), epsilon=epsilon, shares={"topics": 1})
    found = membership(summary, collection(), attacks=400, seed=3)
    assert found["low"] <= found["at_most"] == pytest.approx(1 / (1 + math.exp(-epsilon)))
    assert found["success"] > 0.5 + (0.3 if epsilon == 3 else 0.0)
    assert "400 attacks" in found["sentence"]


def test_one_author_cannot_be_attacked():
    from publius.classifiers.classifier import Values
    from publius.summaries.summary import Summary

    summary = Summary(Values(["tea", "coffee"]), epsilon=1, shares={"topics": 1})
    with pytest.raises(DataError, match="two authors"):
        membership(summary, collection(1))


def test_from_a_release_with_the_usual_shares_to_a_report(run, tmp_path):
    """The usual shares are no decimals (2/15, 1/3, 1/5), and manifests round them up, and an epsilon of 0.3, too."""
    rows = [
        {"text": f"The {'teachers' if n % 2 else 'roads'} are tired and old.", "author": f"a{n}", "place": "ab"[n % 2]}
        for n in range(60)
    ]
    source, made = tmp_path / "in.jsonl", tmp_path / "made"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = ("--by", "place=a,b", "--ask", "Roads are bad.", "--epsilon", "0.3", "--force")
    code, _, err = run("summarize", source, "--author-field", "author", *asked, "--output", made)
    assert code == 0, err
    code, said, err = run("evaluate", source, "--summary", made, "--output", tmp_path / "out")
    assert code == 0, err
    assert "of 500 attacks" in said
    assert "the promise allows 57.5 %" in said
    assert (tmp_path / "out" / "report.html").exists()
