"""Releases linked: the score against its definition, and who is linked when."""

import numpy as np
import pytest
from scipy.special import gammaln

from letters import over_words
from publius.evaluation.encoding import EncodedText
from publius.evaluation.features import FeatureCounts
from publius.evaluation.linkage import TOGETHER, Linkage, link_scores, linkage_rows
from publius.evaluation.rows import Protection
from publius.mechanisms.registry import make_mechanism
from publius.noise.randomness import RunKey, seeded_rng
from publius.text.bag import Bag


def brute(counts, prior):
    """Ln of the Dirichlet-multinomial probability of a sequence with these counts."""
    return (
        gammaln(prior.sum())
        - gammaln(prior.sum() + counts.sum())
        + (gammaln(prior + counts) - gammaln(prior)).sum()
    )


def test_scores_are_the_bayes_factor():
    bags = [Bag(["a", "a", "b"]), Bag(["c"]), Bag(["a", "c", "c"])]
    counts = FeatureCounts().fit(bags).transform(bags)
    mean = np.asarray(counts.sum(axis=0))
    dense, prior = counts.toarray(), 5.0 * mean / mean.sum()
    expected = [[brute(a + b, prior) - brute(a, prior) - brute(b, prior) for b in dense] for a in dense]
    assert link_scores(counts, counts, mean, 5.0) == pytest.approx(np.array(expected))


def trial(embeddings, epsilon, authors=12, each=6, words=40):
    """Authors with favorite words of their own, some texts each."""
    rng = seeded_rng(4)
    tastes = rng.dirichlet(np.full(embeddings.size, 0.05), authors)
    texts = []
    for number in range(authors * each):
        places = rng.choice(embeddings.size, words, p=tastes[number % authors])
        names = tuple(embeddings.vocabulary[place] for place in places.tolist())
        texts.append(EncodedText(str(number), f"author{number % authors:02}", None, names, places))
    protector = over_words(make_mechanism("exponential", embeddings, epsilon=epsilon), words)
    key = RunKey.seeded(3)
    return Linkage(
        texts[:authors],
        texts[authors:],
        protector,
        lambda some, stream: protector.protect(some, key, stream),
    )


def test_little_noise_is_linked_and_much_is_not(embeddings):
    where = Protection("exponential", 1.0, 100.0, 0, 0.0, 0.0)
    found = {
        epsilon: {
            (r.extra["linked"], r.extra["releases"]): r
            for r in linkage_rows(where, trial(embeddings, epsilon), seeded_rng(1))
        }
        for epsilon in (8.0, 0.02)
    }
    for rows in found.values():
        assert {count for kind, count in rows if kind == "document"} == set(TOGETHER)
        assert {count for kind, count in rows if kind == "originals"} == set(TOGETHER)
        assert {count for kind, count in rows if kind == "author"} == {1, 2, 5}
        assert all(row.task == "link" and row.chance == 1 / 12 for row in rows.values())
    assert found[8.0]["document", 1].accuracy == 1.0
    assert found[8.0]["author", 5].accuracy >= 0.8
    assert found[0.02]["document", 1].accuracy <= 0.4
    assert found[0.02]["originals", 10].accuracy <= 0.5


def test_the_ledger_counts_every_release_that_is_seen(embeddings):
    rows = linkage_rows(
        Protection("exponential", 1.0, 7.0, 0, 0.0, 0.0), trial(embeddings, 1.0), seeded_rng(1)
    )
    totals = {
        (r.extra["linked"], r.extra["releases"]): (r.extra["ledger_total"], r.extra["bound_total"])
        for r in rows
    }
    assert totals["originals", 10] == (400.0, 70.0)
    assert totals["document", 10] == (440.0, 77.0)
    assert totals["author", 5] == (240.0, 42.0)
