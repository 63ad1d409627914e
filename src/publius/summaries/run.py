"""From documents to the folder of a summary: counted, refused or drawn once, paid for, and given its place."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, final

import msgspec
import numpy as np

from publius import __version__
from publius.errors import DataError, PolicyError, UsageError, how_many
from publius.files import AnyPath, read_bytes_limited, shown
from publius.files.progress import stage
from publius.noise.randomness import RunKey
from publius.privacy.guarantee import upward
from publius.privacy.promise import promise, rounded_up
from publius.releases.draft import Draft
from publius.releases.manifest import ClassifierFacts, PublicInput, SummaryManifest
from publius.releases.register import check_public, note_files, refuse_training_file, whole
from publius.settings import Engine, Reading
from publius.summaries.counting import NEAR
from publius.summaries.folder import NOISY, fill_folder
from publius.summaries.novelty import Sample
from publius.summaries.summary import Mapped, Summary, too_few
from publius.summaries.told import Earlier, Told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from publius.classifiers.classifier import Classifier
    from publius.documents.corpus import Corpus
    from publius.privacy.ledger import Ledger


@final
@dataclass(frozen=True)
class Result:
    """What came of a run; the last two are for the curator alone."""

    manifest: SummaryManifest
    folder: Path
    told: Told
    left_out: int  # documents that name no author, which count nowhere
    undeclared: Mapping[str, int]  # of each field of ``by`` how many documents count as "other"


def summarize_corpus(
    corpus: Corpus,
    summary: Summary,
    output: AnyPath,
    *,
    compare: AnyPath | None = None,
    reading: Reading = Reading(),
    synthetic: int | None = None,
    force: bool = False,
    ledger: Ledger | None = None,
    workers: int | None = None,
    engine: Engine = "local",
    master: str | None = None,
) -> Result:
    """Write what the documents of ``corpus`` say into the new folder ``output``, whole or not at all.

    ``compare`` is an earlier summary or a file of public texts, ``reading`` how such a file is read; ``engine`` counts,
    "spark" with the ``master`` of that URL. That authors are too few is decided from their number and before the draw.
    """
    if ledger is not None and ledger.unit != "epsilon":
        raise UsageError(
            "a summary costs epsilon, and this ledger counts exponents of words: make one with --unit epsilon"
        )
    digests = {*corpus.digests()}
    made_with = [each for each in (summary.classifier, summary.subjects) if each is not None]
    refuse_training_file(digests, [sha256 for each in made_with for sha256 in each.trained_on], summary.public)
    earlier = None if compare is None else _earlier(Path(compare), summary, corpus, digests, reading, workers)
    with Draft.open(output, ledger=ledger) as draft:
        second: Mapped | None = None
        if engine == "spark":
            from publius.releases import spark

            second = partial(spark.mapped, folder=draft.work, master=master, workers=workers)
        found = summary.collect(corpus, draft.key, names=ledger is not None, workers=workers, second=second)
        if not found.authors:
            raise DataError("no document names its author, so no promise would cover any: check --author-field")
        few = too_few(summary, found.authors)
        with stage("drawing"):
            told = summary.draw(found, draft.key.rng, force=force).compared(earlier)
            manifest = manifest_of(told, few)
            fill_folder(draft.folder, told, manifest, synthetic=synthetic, rng=draft.key.rng("summary/synthetic"))
        note_files(digests)
        draft.charges = dict.fromkeys(found.names, summary.epsilon)
        complete = draft.finish(manifest)
    return Result(complete, Path(output), told, found.left_out, found.undeclared)


def manifest_of(told: Told, few: str | None = None) -> SummaryManifest:
    """The manifest, but for the digests of files: public, and the same whatever the documents say."""
    summary = told.summary
    given = summary.classifier if summary.classifier is not summary.subjects else None
    statements = len(summary.statements)
    made = SummaryManifest(
        publius_version=__version__,
        private=True,
        warning=few and f"{few}.",
        promise="",
        public=tuple(PublicInput(**each) for each in (*summary.public, *(told.earlier.public if told.earlier else ()))),
        epsilon=upward(summary.epsilon),
        authors=told.authors,
        documents_per_author=summary.documents_per_author,
        by={each.name: each.labels for each in summary.groups.fields},
        epsilons={name: float(summary.epsilon * share) for name, share in summary.shares.items()},
        scales={name: float(table.noise.scale) for name, table in told.tables.items()},
        statements=statements,
        statements_per_author=summary.statements_per_author if statements else None,
        near=NEAR if statements else None,
        forced=few is not None,
        classifier=None if given is None else _facts(given),
        subjects=None if summary.subjects is None else _facts(summary.subjects),
        compared_with=None if told.earlier is None else told.earlier.name,
    )
    return msgspec.structs.replace(made, promise=promise(made))


def _facts(classifier: Classifier) -> ClassifierFacts:
    return msgspec.convert(classifier, ClassifierFacts, from_attributes=True)


# What it is compared with -----------------------------------------------------------------------------------


def _earlier(
    place: Path, summary: Summary, corpus: Corpus, digests: set[str], reading: Reading, workers: int | None
) -> Earlier:
    """An earlier summary in a folder, or public texts in a file."""
    if not place.is_dir():
        return _public_texts(place, summary, corpus, digests, reading, workers)
    manifest, written = whole(place)
    if not isinstance(manifest, SummaryManifest):
        raise UsageError(f"{shown(place)} is a release of another kind: name an earlier summary to compare with")
    if manifest.documents_per_author != summary.documents_per_author:
        raise UsageError(
            f"{shown(place)} counts at most {how_many(manifest.documents_per_author, 'document')} of an author: take the same "
            "--documents-per-author, since those who write much write of something else"
        )
    try:
        content = json.loads(read_bytes_limited(place / NOISY))
        found = Told(summary, 0, {}).earlier_of(
            content, f"an earlier summary (epsilon {rounded_up(manifest.epsilon, 6)})"
        )
    except (LookupError, ValueError, TypeError, ArithmeticError):
        raise DataError(f"{shown(place / NOISY)} is damaged, or of another version") from None
    return _comparable(replace(found, sha256=sha256(written).hexdigest()), shown(place))


def _public_texts(
    path: Path, summary: Summary, corpus: Corpus, digests: set[str], reading: Reading, workers: int | None
) -> Earlier:
    """Public texts, counted without noise: at most c of each author, where they name authors as the private ones do."""
    from publius.documents.corpus import OWN, open_corpus

    public = open_corpus(path, reading)
    if {*public.digests()} & digests:
        raise PolicyError(f"{shown(path)} is one of the files that are summarized: compare with other texts")
    check_public(public.digests(), shown(path))
    author = corpus.plan.author
    public = public.carrying(author_field=author if author in public.columns else OWN, gaps=True)
    beside = Summary(
        summary.classifier, documents_per_author=summary.documents_per_author, subjects=summary.subjects,
        shares={"topics": 1} if summary.subjects is None else None,
    )  # fmt: skip
    cells = beside.collect(public, RunKey.fresh(), workers=workers).cells
    size, c = max(1, len(cells)), summary.documents_per_author
    counts = {name: np.atleast_2d(beside.histogram(name, cells)).sum(axis=0) for name in beside.shares}
    samples = {name: Sample(each, (size, size), None, c) for name, each in counts.items()}
    topics = samples.get("topics", samples.get("subjects") if summary.classifier is summary.subjects else None)
    first, *more = public.digests()
    digest = sha256(" ".join([first, *more]).encode()).hexdigest() if more else first
    return _comparable(Earlier("public texts", topics, samples.get("subjects"), digest), shown(path))


def _comparable(found: Earlier, place: str) -> Earlier:
    if found.topics is None and found.subjects is None:
        raise UsageError(
            f"{place} counts in other labels and subjects than this summary will: take the same classifier and word "
            "vectors, or leave out --compare"
        )
    return found
