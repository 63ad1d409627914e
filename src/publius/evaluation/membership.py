"""Whether an author is in a summary: attacked by somebody who knows everything else.

The attacker knows all documents of all other authors, and two worlds: in one the author wrote his documents, in the other
somebody's documents stand in their place. He is shown a summary of one of them, each equally likely, and names the likelier one
by the exact law of the noise: nobody does better (Neyman and Pearson). Under epsilon he is right with probability at most
e^epsilon / (1 + e^epsilon), whatever the documents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from publius import __version__
from publius.arrays import IndexArray
from publius.classifiers import load_classifier
from publius.documents.corpus import open_corpus
from publius.documents.document import Document
from publius.errors import DataError
from publius.evaluation.corpus import Public
from publius.evaluation.records import Results
from publius.files.progress import counted, stage
from publius.files.user_code import PYTHON
from publius.noise.randomness import RunKey
from publius.privacy.promise import outward
from publius.releases.manifest import SummaryManifest
from publius.releases.register import made_here
from publius.releases.rows import read_release
from publius.statistics import clopper_pearson
from publius.summaries.contributions import Contributions, tags_of
from publius.summaries.summary import Summary
from publius.text.normal_form import author_key

_TRIED: Final = 20
"""Of so many other authors' documents those that differ most are what stands in the other world."""

_Tables = dict[Any, IndexArray]


def membership(
    summary: Summary, documents: Sequence[Document], *, attacks: int = 500, seed: int | None = None
) -> dict[str, Any]:
    """Attack authors at random, each in a summary of its own draw: how often it is right; `DataError` for fewer than two."""
    key = RunKey.fresh() if seed is None else RunKey.seeded(seed)
    rng = key.rng("attacks")
    own = _by_author(summary, documents, key)
    if len(own) < 2:
        raise DataError("A membership attack needs two authors at least. Use --author-field.")
    whole = {name: sum(each[name] for each in own) for name in own[0]}

    def apart(one: int, other: int) -> int:
        """In how many documents the tables of two authors differ."""
        return sum(int(np.abs(own[one][name] - own[other][name]).sum()) for name in whole)

    right = 0.0
    with stage("attacking"):
        for attack in counted(range(attacks), attacks):
            one = int(rng.integers(len(own)))
            others = [place for place in rng.permutation(len(own))[: _TRIED + 1].tolist() if place != one]
            other = max(others, key=partial(apart, one))
            replaced = bool(rng.integers(2))
            score = _evidence(summary, whole, own[one], own[other], replaced, key, attack)
            right += 0.5 if score == 0 else (score > 0) == replaced
    interval = clopper_pearson(math.floor(right), attacks)
    high = clopper_pearson(math.ceil(right), attacks).high
    at_most = 1 / (1 + math.exp(-float(summary.epsilon)))
    shown, most = outward(100 * interval.low, 100 * high, 1), outward(0, 100 * at_most, 1)[1]
    said = (
        f"Who knows all other authors' documents tells which of two contents one author wrote in {right / attacks:.1%} of "
        f"{attacks:,} attacks (95 % CI {shown[0]:g} % to {shown[1]:g} %); the promise allows {most:g} %, a coin has 50 %."
    )
    return {
        "attacks": attacks, "success": right / attacks, "low": interval.low, "high": high, "at_most": at_most,
        "authors": len(own), "sentence": said,
    }  # fmt: skip


def _by_author(summary: Summary, documents: Sequence[Document], key: RunKey) -> list[_Tables]:
    """The tables of each author's contributed documents."""
    cells, keys = summary.cells_of(key), [author_key(each.author) for each in documents]
    known = [(place, name) for place, name in enumerate(keys) if name is not None]
    contributions = Contributions(key, summary.documents_per_author)
    contributions.add(tags_of([name for _, name in known], cells.secret), np.array([n for n, _ in known], np.int64))
    own: dict[str | None, list[Document]] = {name: [] for _, name in known}
    for place in contributions.rows.tolist():
        own[keys[place]].append(documents[place])
    tables, found = [name for name in summary.shares if name != "statements"], []
    for chosen in own.values():
        counted = cells.of([each.text for each in chosen], [each.fields for each in chosen])
        found.append({name: summary.histogram(name, counted).ravel() for name in tables})
    return found


def _evidence(
    summary: Summary, whole: Mapping[Any, Any], one: _Tables, other: _Tables, replaced: bool, key: RunKey, attack: int
) -> float:
    """Ln of how much likelier one drawn summary is with the documents of ``other`` in the place of those of ``one``.

    Noise is independent in each cell, so only the cells in which the two worlds differ are drawn.
    """
    score = Fraction(0)
    for name in one:
        cells = np.flatnonzero(one[name] != other[name])
        if not len(cells):
            continue
        present = whole[name][cells]
        absent = present - one[name][cells] + other[name][cells]
        noise = summary.noise(name)
        drawn = noise.noisy(absent if replaced else present, key.rng(f"attack/{attack}/{name}"))
        gained = np.abs(drawn - present) - np.abs(drawn - absent)
        score += Fraction(int(gained.sum())) / Fraction(noise.scale)
    return float(score)


def of_summary(public: Public, folder: str) -> Results:
    """Attack the authors of a released summary's documents, in summaries made anew as its manifest says."""
    manifest = read_release(folder).manifest
    if not isinstance(manifest, SummaryManifest):
        raise DataError("--summary takes the folder of a summary.")
    if manifest.classifier is not None and manifest.classifier.name.startswith(PYTHON):
        made_here(folder)  # else whoever sent it would name the code that runs
    summary = _summary_of(manifest)
    corpus = open_corpus(
        public.source, public.reading, author_field=public.people.author_field or "author",
        no_author=public.people.no_author, fields=list(manifest.by),
    )  # fmt: skip
    documents = list(corpus)
    found = membership(summary, documents)
    return Results(
        publius_version=__version__, kind="summary", as_is=True, command=public.command, candidates=2.0,
        epsilon=float(summary.epsilon), facts={"membership": found},
        data={"attacked": len(documents), "authors": found["authors"], "split": "all authors but one are known"},
    )  # fmt: skip


def _summary_of(manifest: SummaryManifest) -> Summary:
    """The `Summary` that a released one was made with, without the statements that were asked."""
    classifier = None if manifest.classifier is None else load_classifier(manifest.classifier.name)
    if classifier is not None and manifest.classifier is not None and classifier.sha256 != manifest.classifier.sha256:
        raise DataError("The classifier of this name is not the one that the summary was made with.")

    def exact(value: Fraction) -> Fraction:
        """What was asked for, of at most twelve decimals: manifests round up, by less."""
        return Fraction(math.floor(value * 10**12), 10**12)

    epsilon = exact(Fraction(manifest.epsilon))
    return Summary(
        classifier, epsilon, documents_per_author=manifest.documents_per_author,
        by={name: labels[:-1] for name, labels in manifest.by.items()},
        shares={name: exact(Fraction(each) / epsilon) for name, each in manifest.epsilons.items() if name != "statements"},
    )  # fmt: skip
