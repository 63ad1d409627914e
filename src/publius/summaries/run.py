"""From documents to the folder of a summary: counted, refused or drawn once, paid for, and given its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, final

import msgspec
import numpy as np

from publius import __version__
from publius.classifiers.classifier import OTHER
from publius.classifiers.store import PARTS
from publius.errors import AnyPath, DataError, PolicyError, UsageError, how_many, shown
from publius.files.progress import stage
from publius.files.reading import read_bytes_limited
from publius.files.writing import write_file
from publius.noise.randomness import Generator, RunKey
from publius.pages.facts import command_of, shares_of
from publius.pages.page import PAGE, READ_ME, write_page
from publius.privacy.guarantee import upward
from publius.privacy.promise import meaning, promise, rounded_up, yardstick
from publius.releases.draft import Draft
from publius.releases.manifest import ClassifierFacts, PublicInput, SummaryManifest
from publius.releases.register import check_public, note_files, refuse_training_file, whole
from publius.releases.rows import csv_table
from publius.settings import Engine, Reading
from publius.summaries.contributions import NEAR
from publius.summaries.novelty import Sample
from publius.summaries.summary import Mapped, Summary, too_few
from publius.summaries.told import Earlier, Row, Told

if TYPE_CHECKING:
    from publius.classifiers.clusters import Clusters
    from publius.documents.corpus import Corpus
    from publius.privacy.ledger import Ledger

NOISY: Final = "noisy.json"
_PLAIN: Final = re.compile(r"\w[\w .-]{0,80}")
"""A field's name that can be a folder's."""
_BARS: Final = 10
_GROUPS: Final = 8
_CHANGED: Final = 6
_NAMED: Final = 3
_CHANGES: Final = ("change", "share_before", "times_low", "times_high")


@final
@dataclass(frozen=True)
class Result:
    """What came of a run; the last two are for the curator alone."""

    manifest: SummaryManifest
    told: Told
    left_out: int  # documents that name no author, which count nowhere
    undeclared: Mapping[str, int]  # of each field of ``by`` how many documents count as "other"


def summarize_corpus(
    corpus: Corpus, summary: Summary, output: AnyPath, *, compare: AnyPath | None = None, reading: Reading = Reading(),
    synthetic: int | None = None, force: bool = False, ledger: Ledger | None = None, workers: int | None = None,
    engine: Engine = "local", master: str | None = None,
) -> Result:  # fmt: skip
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
            told = replace(summary.draw(found, draft.key.rng, force=force), earlier=earlier)
            manifest = manifest_of(told, few)
            fill_folder(draft.folder, told, manifest, synthetic=synthetic, rng=draft.key.rng("summary/synthetic"))
        note_files(digests)
        draft.charges = dict.fromkeys(found.names, summary.epsilon)
        complete = draft.finish(manifest)
    return Result(complete, told, found.left_out, summary.cells.undeclared(found.cells))


def manifest_of(told: Told, few: str | None = None) -> SummaryManifest:
    """The manifest, but for the digests of files: public, and the same whatever the documents say."""
    summary = told.summary
    given = summary.classifier if summary.classifier is not summary.subjects else None
    made_with = [
        None if each is None else msgspec.convert(each, ClassifierFacts, from_attributes=True)
        for each in (given, summary.subjects)
    ]
    public = [PublicInput(**each) for each in summary.public]
    if told.earlier is not None:
        public.append(PublicInput(name=told.earlier.name, kind="texts", sha256=told.earlier.sha256))
    statements = len(summary.statements)
    made = SummaryManifest(
        publius_version=__version__,
        private=True,
        warning=few and f"{few}.",
        promise="",
        public=tuple(public),
        epsilon=upward(summary.epsilon),
        authors=told.authors,
        documents_per_author=summary.documents_per_author,
        by={each.name: each.labels for each in summary.groups.fields},
        epsilons={name: float(summary.epsilon * share) for name, share in summary.shares.items()},
        scales={name: float(summary.noise(name).scale) for name in told.tables},
        statements=statements,
        statements_per_author=summary.statements_per_author if statements else None,
        near=NEAR if statements else None,
        forced=few is not None,
        classifier=made_with[0],
        subjects=made_with[1],
        compared_with=None if told.earlier is None else told.earlier.name,
    )
    return msgspec.structs.replace(made, promise=promise(made))


# The folder: tables, made-up rows, the raw counts, a page and a README ----------------------------------------


def fill_folder(folder: Path, told: Told, manifest: SummaryManifest, *, synthetic: int | None, rng: Generator) -> None:
    """Write every file of a summary but the manifest, from noisy counts and public things alone."""
    _write(folder / NOISY, [told.noisy()])
    counted = ("documents", "low", "high", "share")
    changes = _CHANGES if told.earlier is not None else ()
    if told.groups:
        _table(folder / "groups.csv", ("group", *counted), told.groups)
    if "topics" in told.tables:
        _table(folder / "counts.csv", ("group", "label", *counted), told.counts)
        said = [{"group": name, "words": words} for name, words in told.words_by_group.items()]
        _table(folder / "words.csv", ("group", "words"), said)
        if told.summary.classifier is not told.summary.subjects:
            _table(folder / "topics.csv", ("label", "words", *counted, *changes), told.topics)
    if "subjects" in told.tables:
        _table(folder / "subjects.csv", ("words", *counted, "label", *changes), told.subjects)
    if "statements" in told.tables:
        _table(folder / "statements.csv", ("statement", "authors", "low", "high"), told.statements)
    _write(folder / "synthetic.jsonl", (msgspec.json.encode(row) + b"\n" for row in told.synthetic(rng, synthetic)))
    _classifiers(folder / PARTS, told)
    facts, templates = page_facts(told, manifest), Path(__file__).parent / "templates"
    write_page(folder / PAGE, templates / "summary.html", facts, mode=0o600)
    write_page(folder / READ_ME, templates / "summary.txt", facts, mode=0o600)


def _write(path: Path, parts: Iterable[bytes]) -> None:
    with write_file(path, 0o600, durable=False) as file:  # the folder is flushed whole before it has its place
        for part in parts:
            file.write(part)


def _table(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    csv_table(path, columns, ([_cell(row.get(column)) for column in columns] for row in rows))


def _cell(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else "" if value is None else value


def _classifiers(folder: Path, told: Told) -> None:
    """Of each field of ``--by`` a classifier out of its labels' noisy counts, where the topics are of texts."""
    table, topics, groups = told.tables.get("topics"), told.summary.classifier, told.summary.groups
    if table is None or topics is None or topics.kind != "clusters" or not groups.fields:
        return
    from publius.classifiers.clusters import from_counts

    shaped = table.values.reshape(*groups.shape, -1)
    for place, each in enumerate(groups.fields):
        others = tuple(axis for axis in range(len(groups.fields)) if axis != place)
        summed = table.values.size // (len(each.labels) * table.values.shape[1])
        home = folder / (each.name if _PLAIN.fullmatch(each.name) else f"field {place + 1}")
        home.mkdir(0o700, parents=True)
        deviation = table.noise.deviation * summed**0.5
        from_counts(cast("Clusters", topics), each.name, each.labels, shaped.sum(axis=others), deviation).write(home)


# The page and the README ------------------------------------------------------------------------------------


def page_facts(told: Told, manifest: SummaryManifest) -> dict[str, Any]:
    """What the page and the README say, as numbers and lists."""
    grouped = told.summary.groups.size > 1
    ranked = told.subjects or told.topics
    first = sorted((row for row in ranked if row["label"] != OTHER), key=lambda row: -row["documents"])
    changed = [row for row in [*told.topics, *told.subjects] if row.get("change")]
    groups = told.groups if grouped else []
    return {
        "m": manifest, "kind": "summary", "warning": manifest.warning, "meaning": meaning(manifest),
        "yardstick": yardstick(manifest), "command": command_of(manifest),
        "shares": shares_of(manifest),
        "groups": groups, "fields": [each.name for each in told.summary.groups.fields],
        "words": told.words_by_group if grouped else {}, "grouped": grouped and "topics" in told.tables,
        "topics": told.topics, "subjects": told.subjects, "has_subjects": "subjects" in told.tables,
        "ranked": ranked, "of": "subjects" if told.subjects or not told.topics else "topics",
        "named": [row["label"] for row in first[:_NAMED]], "example": first[0] if first else None,
        "group_bars": _bars(groups, "group", _GROUPS),
        "subject_bars": _bars([row for row in first if row["low"]], "label", _BARS),
        "statements": told.statements, "statement_bars": _bars(told.statements, "statement", _GROUPS, "authors"),
        "earlier": None if told.earlier is None else told.earlier.name,
        "grown": [row for row in changed if row["change"] in ("new", "more")][:_CHANGED],
        "fallen": [row for row in changed if row["change"] in ("gone", "less")][:_CHANGED],
        "documents": told.documents,
        "classifiers": bool(told.summary.groups.fields) and getattr(told.summary.classifier, "kind", "") == "clusters",
        "sizes": {name: table.values.size for name, table in told.tables.items()},
    }  # fmt: skip


def _bars(rows: Sequence[Row], name: str, most: int, counted: str = "documents") -> list[Row]:
    """Bars of the largest, with their limits, in the order given."""
    kept = sorted(sorted(range(len(rows)), key=lambda at: -rows[at][counted])[:most])
    return [
        {"label": row[name], "value": row[counted], "low": row["low"], "high": row["high"]}
        for row in map(rows.__getitem__, kept)
    ]


# What it is compared with -----------------------------------------------------------------------------------


def _earlier(
    place: Path, summary: Summary, corpus: Corpus, digests: set[str], reading: Reading, workers: int | None
) -> Earlier:
    """An earlier summary in a folder, or public texts in a file."""
    found = (
        _summary_in(place, summary) if place.is_dir() else _texts_in(place, summary, corpus, digests, reading, workers)
    )
    if found.topics is None and found.subjects is None:
        raise UsageError(
            f"{shown(place)} counts in other labels and subjects than this summary will: take the same classifier and word "
            "vectors, or leave out --compare"
        )
    return found


def _summary_in(place: Path, summary: Summary) -> Earlier:
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
    return replace(found, sha256=sha256(written).hexdigest())


def _texts_in(
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
    return Earlier("public texts", topics, samples.get("subjects"), digest)
