"""Linkage: whether releases of one document, or of one author's documents, are recognised as such as they add up.

The linker sees releases only. For two sets of released words it compares how probable they are if both come from one
source with how probable they are from two (Dirichlet-multinomial, its mean what all releases have in common), and
takes the likeliest partner. Beside it stands the holder of the originals, who adds up what several releases of one
document tell him.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from publius.arrays import Float64Array
from publius.evaluation.adversaries import LINKAGE
from publius.evaluation.attackers.base import best_columns
from publius.evaluation.encoding import EncodedText
from publius.evaluation.features import FeatureCounts
from publius.evaluation.originals import author_scores
from publius.evaluation.protection import ProtectedText
from publius.evaluation.protectors import AbstractProtector
from publius.evaluation.rows import Protection, ResultRow, make_row
from publius.noise.randomness import Generator
from publius.text.bag import Bag

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TOGETHER: Final = (1, 2, 5, 10)
"""How many releases come together on one side."""

MOST_CANDIDATES: Final = 50
PRIOR_WORDS: Final = (10.0, 30.0, 100.0, 300.0, 1000.0)
"""Widths of the Dirichlet prior that the linker tries; it takes the one under which all it sees is likeliest."""

Protect = Callable[[Sequence[EncodedText], str], list[ProtectedText]]
"""Protects texts with the noise of a stream."""


@final
@dataclass(frozen=True, slots=True)
class Linkage:
    """Inputs of a linkage trial: the texts, how they are protected and what a release costs.

    Attributes:
        texts: the candidates, each with its author.
        others: further texts of the same authors, protected alike.
        protector: of the cell.
        protect: as `Protect`.

    """

    texts: Sequence[EncodedText]
    others: Sequence[EncodedText]
    protector: AbstractProtector
    protect: Protect


def linkage_rows(protection: Protection, trial: Linkage, rng: Generator) -> list[ResultRow]:
    """Rows of the task "link" for documents, for authors with enough of them, and for the holder of the originals."""
    places = sorted(rng.permutation(len(trial.texts))[:MOST_CANDIDATES].tolist())
    texts = [trial.texts[place] for place in places]
    releases = [trial.protect(texts, f"link/{number}") for number in range(max(TOGETHER) + 1)]
    rows = [_of_documents(protection, trial, releases, count, rng) for count in TOGETHER]
    rows += _of_originals(protection, trial, texts, releases, rng)
    return rows + _of_authors(protection, trial, rng)


def _of_documents(
    protection: Protection,
    trial: Linkage,
    releases: Sequence[Sequence[ProtectedText]],
    count: int,
    rng: Generator,
) -> ResultRow:
    """``count`` releases of a document on one side, one more of each document on the other."""
    left = [_together(parts) for parts in zip(*releases[1 : count + 1], strict=True)]
    right = [item.bag for item in releases[0]]
    return _row(protection, trial, _linked(left, right, rng), count, "document")


def _of_authors(protection: Protection, trial: Linkage, rng: Generator) -> list[ResultRow]:
    """As many documents of an author on one side, another of each author on the other, where there are enough."""
    by_author: dict[str, list[EncodedText]] = defaultdict(list)
    for text in (*trial.texts, *trial.others):
        by_author[text.label("author")].append(text)
    rows = []
    for count in TOGETHER:
        sets = [texts[: count + 1] for _, texts in sorted(by_author.items()) if len(texts) > count]
        if len(sets) < 2:
            break
        places = sorted(rng.permutation(len(sets))[:MOST_CANDIDATES].tolist())
        flat = [text for place in places for text in sets[place]]
        bags = [item.bag for item in trial.protect(flat, f"link/author/{count}")]
        groups = [bags[start : start + count + 1] for start in range(0, len(bags), count + 1)]
        left = [_sum(group[1:]) for group in groups]
        rows.append(
            _row(protection, trial, _linked(left, [group[0] for group in groups], rng), count, "author")
        )
    return rows


def _of_originals(
    protection: Protection,
    trial: Linkage,
    texts: Sequence[EncodedText],
    releases: Sequence[Sequence[ProtectedText]],
    rng: Generator,
) -> list[ResultRow]:
    """The holder of the originals with several releases of a document: their log likelihoods add up."""
    flat = [item for release in releases[1:] for item in release]
    scores = trial.protector.originals(texts, flat, rng).scores
    by_release = scores.reshape(len(releases) - 1, len(texts), len(texts))
    authors = [text.label("author") for text in texts]
    names = sorted(set(authors))
    rows = []
    for count in TOGETHER:
        named = best_columns(author_scores(by_release[:count].sum(axis=0), authors), int(rng.integers(2**31)))
        hits = [names[at] == author for at, author in zip(named.tolist(), authors, strict=True)]
        rows.append(_row(protection, trial, hits, count, "originals"))
    return rows


def _row(protection: Protection, trial: Linkage, hits: Sequence[bool], count: int, kind: str) -> ResultRow:
    """``releases`` come together on one side; ``ledger_total`` is what the ledger holds for all that is seen."""
    price, seen = trial.protector.price, count if kind == "originals" else count + 1
    extra: dict[str, Any] = {
        "releases": count, "linked": kind, "candidates": len(hits),
        "ledger_total": None if price is None else price * seen,
        "bound_total": None if protection.bound is None else protection.bound * seen,
    }  # fmt: skip
    return make_row(protection, LINKAGE, "link", hits, 1 / len(hits), extra)


def _together(parts: Sequence[ProtectedText]) -> Bag:
    return _sum([part.bag for part in parts])


def _sum(bags: Sequence[Bag]) -> Bag:
    counts: dict[str, int] = defaultdict(int)
    for bag in bags:
        for word, count in bag.counts.items():
            counts[word] += count
    return Bag(dict(counts))


def _linked(left: Sequence[Bag], right: Sequence[Bag], rng: Generator) -> list[bool]:
    """Whether the likeliest partner of each bag of ``left`` stands at the same place of ``right``."""
    counts = FeatureCounts().fit([*left, *right])
    a, b = counts.transform(left), counts.transform(right)
    mean = np.asarray(a.sum(axis=0) + b.sum(axis=0), np.float64)
    width = max(PRIOR_WORDS, key=lambda words: _alone(a, mean, words).sum() + _alone(b, mean, words).sum())
    best = best_columns(link_scores(a, b, mean, width), int(rng.integers(2**31)))
    return [bool(at == place) for place, at in enumerate(best.tolist())]


def link_scores(a: csr_array, b: csr_array, mean: Float64Array, width: float) -> Float64Array:
    """Ln of how much likelier each pair of bags is from one source than from two, shape (left, right)."""
    alone_a, alone_b = _alone(a, mean, width), _alone(b, mean, width)
    scores = np.empty((a.shape[0], b.shape[0]))
    for row in range(a.shape[0]):
        both = b + _repeated(a[[row]], b.shape[0])
        scores[row] = _alone(both, mean, width) - alone_a[row] - alone_b
    return scores


def _repeated(row: csr_array, times: int) -> csr_array:
    from scipy.sparse import csr_array

    pointers = np.arange(times + 1) * row.nnz
    return csr_array((np.tile(row.data, times), np.tile(row.indices, times), pointers), (times, row.shape[1]))


def _alone(counts: csr_array, mean: Float64Array, width: float) -> Float64Array:
    """Ln of the Dirichlet-multinomial probability of each bag, but for the number of its orders."""
    from scipy.special import gammaln

    prior = width * mean / mean.sum()
    table = counts.tocsr()
    table.sum_duplicates()
    parts = gammaln(table.data + prior[table.indices]) - gammaln(prior[table.indices])
    sums = np.add.reduceat(np.append(parts, 0.0), table.indptr[:-1]) * (np.diff(table.indptr) > 0)
    totals = np.asarray(table.sum(axis=1), np.float64)
    return np.asarray(sums + gammaln(width) - gammaln(width + totals))
