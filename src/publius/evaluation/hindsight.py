"""The row of the holder of the originals: his success, its interval, topic by topic, and how far to trust it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from publius.arrays import Float64Array
from publius.evaluation.adversaries import ORIGINALS
from publius.evaluation.attackers.base import best_columns
from publius.evaluation.encoding import EncodedText
from publius.evaluation.neighborhood import Neighborhood
from publius.evaluation.originals import (
    author_scores,
    exact_naming,
    limit_of_bound,
    success_of,
    together_by_law,
    together_by_scores,
)
from publius.evaluation.protectors import Originals
from publius.evaluation.rows import Protection, ResultRow, make_row, measured_row
from publius.evaluation.statistics import CONFIDENCE, bootstrap_mean, clopper_pearson
from publius.noise.randomness import Generator, seeded_rng


def originals_row(
    protection: Protection,
    texts: Sequence[EncodedText],
    found: Originals,
    chance: float,
    rng: Generator,
    delta: float = 0.0,
) -> ResultRow:
    """One row: ``exact``: no adversary does better from one bag; ``by_topic``: share, limits and floor of each.

    ``limit`` is what the bound between any two documents alone says; ``delta`` is that of one document. ``told`` has
    his shares where he knows each text's topic, too, as whoever has a release that keeps the topic.

    An exact share is computed, not counted: its interval is over the texts, as a sample of texts like them.
    """
    authors = [text.label("author") for text in texts]
    names = sorted(set(authors))
    if found.success is not None and found.law is not None:
        shares, blind = found.success, _blind_by_law(texts, exact_naming(found.law, authors), names)
    else:
        chosen = best_columns(author_scores(found.scores, authors), int(rng.integers(2**31)))
        named = [names[at] for at in chosen.tolist()]
        shares = np.array([float(name == author) for name, author in zip(named, authors, strict=True)])
        blind = blind_to_text(texts, named)
    limit = None if protection.bound is None else limit_of_bound(protection.bound, authors, delta)
    extra: dict[str, Any] = {
        "exact": found.success is not None, "by_topic": _by_topic(texts, shares), "limit": limit,
        "together": together(found, authors, shares),
        "blind": blind,
    }  # fmt: skip
    extra |= _told(texts, found, int(rng.integers(2**31)))
    if found.success is None:
        return make_row(protection, ORIGINALS, "author", [share == 1 for share in shares], chance, extra)
    extra["shares"] = [round(each, 6) for each in shares.tolist()]
    interval = bootstrap_mean(shares[None, :], seeded_rng(len(shares)))
    return measured_row(protection, ORIGINALS, "author", (interval, len(shares)), chance, extra)


def _told(texts: Sequence[EncodedText], found: Originals, seed: int) -> dict[str, Any]:
    """Text by text, how often its author is named by who knows its topic, and what he names without regard to it."""
    topics = [text.topic for text in texts]
    if len(set(topics)) < 2:
        return {}
    shares, blind = np.zeros(len(texts)), np.zeros(len(texts))
    for topic in dict.fromkeys(topics):
        at = np.array([place for place, each in enumerate(topics) if each == topic])
        some = [texts[place] for place in at]
        authors = [text.label("author") for text in some]
        names = sorted(set(authors))
        if found.success is not None and found.law is not None:
            naming = exact_naming(found.law[at], authors)
            shares[at], blind[at] = success_of(naming, authors), _blind_by_law(some, naming, names)
        else:
            chosen = best_columns(author_scores(found.scores[np.ix_(at, at)], authors), seed)
            named = [names[place] for place in chosen.tolist()]
            shares[at] = [float(name == author) for name, author in zip(named, authors, strict=True)]
            blind[at] = blind_to_text(some, named)
    return {"told": np.round(shares, 6).tolist(), "told_blind": np.round(blind, 6).tolist()}


def together(found: Originals, authors: Sequence[str], shares: Float64Array) -> dict[str, Any]:
    """The authors that the holder of the originals names from all bags of one author together.

    The best rule would weigh every way in which bags and documents can belong together, and names as many or more.

    ``authors`` are of the texts, ``shares`` how often each text's author is named from its bag alone. The record holds
    the mean over ``authors``, ``named``, with its upper limit ``high``; and of the worst author ``documents`` and
    ``worst``, with ``worst_high`` (95 % for all authors together, as the worst was picked among them), None where there
    is only one draw of him. ``worst_alone`` is the largest mean over one author's documents, each alone; ``most`` the
    largest number of documents of one author.
    """
    names = sorted(set(authors))
    counts = [Counter(authors)[name] for name in names]
    alone = [float(np.mean([s for s, a in zip(shares, authors, strict=True) if a == name])) for name in names]
    record: dict[str, Any] = {"authors": len(names), "most": max(counts), "worst_alone": max(alone)}
    if found.law is None:
        hits = together_by_scores(found.scores, authors)
        interval = clopper_pearson(round(float(hits.sum())), len(hits))
        return {**record, "named": float(hits.mean()), "high": interval.high, "worst": None}
    named, draws = together_by_law(found.law, authors, seeded_rng(len(authors)))
    at = int(named.argmax())
    # The worst was picked among all: each limit takes its part of the level, so that all of them hold together.
    level = 1 - (1 - CONFIDENCE) / len(names)
    high = clopper_pearson(math.ceil(named[at] * draws), draws, level).high
    limit = bootstrap_mean(named[None, :], seeded_rng(len(names))).high
    return {
        **record, "named": float(named.mean()), "high": limit, "worst": float(named[at]), "worst_high": high,
        "documents": counts[at],
    }  # fmt: skip


def blind_to_text(texts: Sequence[EncodedText], named: Sequence[str]) -> list[float]:
    """For each text how often its author was named for the other texts of its topic.

    What names authors without regard to the text is right as often as this.
    """
    topics = Counter(text.topic for text in texts)
    often = Counter((text.topic, name) for text, name in zip(texts, named, strict=True))
    return [
        round(
            (often[text.topic, text.label("author")] - (name == text.author))
            / max(1, topics[text.topic] - 1),
            6,
        )
        for text, name in zip(texts, named, strict=True)
    ]


def _blind_by_law(texts: Sequence[EncodedText], naming: Float64Array, names: Sequence[str]) -> list[float]:
    """The same from the probability with which each of the authors ``names`` is named, shape (texts, authors)."""
    own = np.array([names.index(text.label("author")) for text in texts])
    found = np.zeros(len(texts))
    for topic in {text.topic for text in texts}:
        at = np.array([place for place, text in enumerate(texts) if text.topic == topic])
        others = naming[at].sum(axis=0)[own[at]] - naming[at, own[at]]
        found[at] = others / max(1, len(at) - 1)
    return [round(each, 6) for each in found.tolist()]


def with_limit(row: ResultRow, record: dict[str, Any], near: Neighborhood | None, size: int) -> ResultRow:
    """The row of the holder of the originals with what the guarantee alone says of him: ``at_most``.

    ``record`` is what its cell found beside the rows; ``size`` is N where words are replaced.
    """
    if row.adversary != ORIGINALS:
        return row
    limits = [1.0]
    if row.bound is not None:
        limits.append(row.extra["limit"])
    if record["promised"] and near is not None and row.epsilon is not None and record["exponents"] is None:
        limits.append(near.success_at_most(row.epsilon, size, record["delta"]))
    kept = {name: value for name, value in row.extra.items() if name != "limit"}
    return replace(row, extra={**kept, "at_most": min(limits)})


def _by_topic(texts: Sequence[EncodedText], shares: Float64Array) -> dict[str, dict[str, float]] | None:
    """For each topic the share of its texts whose author is named, its limits, and the floor of the topic alone."""
    if any(text.topic is None for text in texts):
        return None
    found = {}
    for topic in sorted({text.label("topic") for text in texts}):
        own = [place for place, text in enumerate(texts) if text.topic == topic]
        interval = bootstrap_mean(shares[None, own], seeded_rng(len(own)))
        commonest = max(Counter(texts[place].author for place in own).values())
        found[topic] = {
            "accuracy": interval.value, "low": interval.low, "high": interval.high, "floor": commonest / len(own),
        }  # fmt: skip
    return found
