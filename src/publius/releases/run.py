"""A release of labels or words from a corpus: refusals, pieces, the public files, the debit, the folder.

What leaves depends on the documents through the mechanism alone: how many rows there are is public (rule 4). Refusals
come before the draw and look at no text; what was seen of texts is told to the curator and leaves nowhere (rule 5).
"""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import msgspec

from publius import __version__
from publius.errors import AnyPath, PolicyError, UsageError
from publius.files.processes import mapped
from publius.files.progress import advance, stage
from publius.mechanisms.mechanism import check_release
from publius.noise.randomness import RunKey
from publius.privacy.guarantee import upward
from publius.releases.draft import Draft
from publius.releases.manifest import AuthorFacts, ClassifierFacts, LabelManifest, Pair, PublicInput, WordManifest
from publius.releases.register import note_files, refuse_training_file
from publius.releases.rows import check_kept, csv_table, row_of, tally_of, write_piece, write_rows
from publius.settings import MOST_UNCHANGED, Leaving, Run

if TYPE_CHECKING:
    from publius.documents.corpus import Batch, Corpus
    from publius.mechanisms.mechanism import Mechanism
    from publius.privacy.ledger import Ledger

BATCH: Final = 1000
"""Documents of a piece."""

SEEDED: Final = "NOT PRIVATE: REPRODUCIBLE"
EXPERIMENT: Final = "NOT PRIVATE: EXPERIMENT"
_WORTH: Final = 0.9
"""What shuffling promises is stated where it is at most this share of what holds without."""


Given = tuple["Batch", bytes | None, Path]
"""A batch, a byte for each of its documents whether it leaves (None where all do), and where its piece will be."""


@final
@dataclass(frozen=True)
class Result:
    """What came of a run.

    Attributes:
        manifest: of the release.
        folder: where it is.
        left_out: rows that did not leave since their author has enough of them, or none is named.
        table: of a label release, what ``labels.csv`` says: label, rows, low, high.
    """

    manifest: LabelManifest | WordManifest
    folder: Path
    left_out: int = 0
    table: Sequence[Mapping[str, Any]] = ()


@final
@dataclass(frozen=True, kw_only=True)
class Work:
    """What a worker does with a batch: draw, and write one private piece. Picklable, so it holds the key itself."""

    mechanism: Mechanism
    secret: bytes = field(repr=False)
    ids: bool = False
    keep: tuple[str, ...] = ()
    warning: str | None = None

    def __call__(self, given: Given) -> int:
        """Draw the documents that leave, and write their rows; how many documents there were."""
        batch, mask, path = given
        documents = batch.documents()
        if mask is not None:
            documents = [each for each, leaves in zip(documents, mask, strict=True) if leaves]
        drawn = self.mechanism.protect(
            [each.text for each in documents], [each.row for each in documents], RunKey(self.secret)
        )
        encode = msgspec.json.encode
        plain: dict[str | None, bytes] = {}  # rows that are a label alone
        lines = []
        for document, outcome in zip(documents, drawn, strict=True):
            row = plain.get(outcome.label) if outcome.bag is None else None
            if row is None:
                kept = {name: document.fields.get(name) for name in self.keep}
                row = encode(row_of(outcome, kept, self.warning))[1:] + b"\n"
                if outcome.label is not None and outcome.bag is None and not self.keep:
                    plain[outcome.label] = row
            lines.append(encode(document.id) + b"," + row if self.ids else row)
        write_piece(path, lines, Counter(each.label for each in drawn if each.label is not None))
        return len(batch)


def protect_corpus(
    corpus: Corpus, mechanism: Mechanism, output: AnyPath, *, run: Run = Run(), leaving: Leaving = Leaving(),
    documents_per_author: int | None = None, ledger: Ledger | None = None, field: str | None = None,
    labels_after_texts: bool = False, noted: bool = True,
) -> Result:  # fmt: skip
    """Release every document of ``corpus`` as a row of the new folder ``output``.

    Args:
        corpus: from `open_corpus`; with an ``author_field`` where authors are limited or charged.
        mechanism: a `RandomizedResponse` for labels, a `Lifted` for words.
        output: the folder, which appears whole or not at all.
        run: workers, engine, format, resume.
        leaving: ids and kept columns, which leave unprotected; an experiment.
        documents_per_author: c, the most documents of an author that leave, chosen at random from the author's own.
        ledger: debited once, all or nothing, before anything leaves: each author for all documents that leave. By
            default the one that ``leaving`` names.
        field: the column whose declared values are released, for the manifest.
        labels_after_texts: whether somebody chose the labels after looking at these texts, for the manifest.
        noted: whether the release is noted as made here, and has a page; False for rows alone.

    Raises `PolicyError` for an epsilon of a label above 20, a mechanism without a guarantee, or a classifier trained
    on these files, but for an experiment's; `UsageError` for options that do not go together; `BudgetError`.
    """
    if ledger is None and leaving.ledger is not None:
        from publius.privacy.ledger import Ledger

        ledger = Ledger(leaving.ledger)
    check_run(mechanism, leaving, documents_per_author, ledger=ledger is not None)
    if (documents_per_author is not None or ledger is not None) and corpus.plan.author is None and not corpus.plan.own:
        raise UsageError(
            f"{'--ledger' if ledger is not None else '--documents-per-author'} needs --author-field: the column that "
            "names who wrote each document, or id where each document is its own author"
        )
    for plan in corpus.plans:
        check_kept(leaving.keep, plan.id if leaving.ids else None, (plan.text, plan.author))
    digests = corpus.digests()
    if not leaving.experiment:
        refuse_training_file(digests, mechanism.trained_on, mechanism.public)
    unchanged = _unchanged(mechanism, leaving) if noted and mechanism.kind == "words" else None
    facts = msgspec.json.encode(
        [__version__, mechanism.facts(), run.format, leaving, documents_per_author, field], enc_hook=str
    )

    def fingerprint(key: bytes) -> str:
        return corpus.fingerprint(key) + " " + hashlib.blake2b(facts, key=key[:64]).hexdigest()

    with Draft.open(
        output, ledger=ledger, resume=run.resume, fingerprint=fingerprint, seed=leaving.seed, noted=noted
    ) as draft:
        if draft.placed is not None:  # of the same input and options, so of the same kind
            return Result(draft.placed, Path(output))  # type: ignore[arg-type]
        leaves, charged = _people(corpus, draft.key, documents_per_author, ledger is not None, run.workers)
        if ledger is not None:
            price = mechanism.charge(ledger.unit)
            draft.charges = {author: price * count for author, count in charged.items()}
            ledger.admit(draft.charges)  # to refuse early; the debit decides
        work = Work(
            mechanism=mechanism, secret=draft.key.expose(), ids=leaving.ids, keep=tuple(leaving.keep),
            warning=warning_of(leaving),
        )  # fmt: skip
        described = cache(partial(
            manifest_of, mechanism, leaving=leaving, documents_per_author=documents_per_author, field=field,
            labels_after_texts=labels_after_texts, unchanged=unchanged,
        ))  # fmt: skip

        def meanwhile() -> None:
            described(corpus.counted if leaves is None else leaves.count(1))
            import jinja2  # noqa: F401  # of the page; each takes a while

            import publius.pages.facts
            import publius.pages.page  # noqa: F401

        pieces = _make_pieces(work, corpus, leaves, draft, run, meanwhile)
        tallies = [*filter(None, map(tally_of, pieces))]
        manifest = described(sum(rows for rows, _ in tallies))
        labels = sum((Counter(labels) for _, labels in tallies), Counter[str]())
        if noted and not leaving.experiment:
            note_files(digests)
        table = _write(draft, mechanism, manifest, pieces, labels, run, leaving)
        left_out = 0 if leaves is None else leaves.count(0)
        return Result(draft.finish(manifest), draft.output, left_out, table)


def _unchanged(mechanism: Mechanism, leaving: Leaving) -> float:
    """The share of frequent public words that noise leaves as they are; `PolicyError` where that is nearly all."""
    from publius.mechanisms.word_outcomes import share_unchanged

    share = min(max(share_unchanged(mechanism.kernel), 0.0), 1.0)  # type: ignore[attr-defined]
    if share > MOST_UNCHANGED and not leaving.experiment:
        raise PolicyError(
            f"noise would leave {100 * share:.1f} % of frequent words as they are: at most {100 * MOST_UNCHANGED:.0f} % for a "
            "release, so a smaller epsilon, or --experiment"
        )
    return share


def check_run(mechanism: Mechanism, leaving: Leaving, c: int | None = None, *, ledger: bool = False) -> None:
    """Refuse what no release may be, from public numbers alone."""
    if leaving.seed is not None and not leaving.experiment:
        raise UsageError(
            "a release has no seed, since whoever knows it takes the noise away: --seed needs --experiment"
        )
    if c is not None and c < 1:
        raise UsageError(f"--documents-per-author must be at least 1, not {c}")
    if leaving.experiment:
        if ledger:
            raise UsageError("an experiment is no release, so no ledger is charged: leave out --ledger")
    else:
        check_release(mechanism)


def warning_of(leaving: Leaving) -> str | None:
    """What stands on everything that an experiment writes."""
    return None if not leaving.experiment else EXPERIMENT if leaving.seed is None else SEEDED


def _people(
    corpus: Corpus, key: RunKey, c: int | None, charged: bool, workers: int | None
) -> tuple[bytes | None, Mapping[str, int]]:
    """Of each row whether it leaves, None where all do; how many of each author leave. Read only where authors matter.

    Of each author the c rows with the smallest secret numbers leave. A row's number depends on the run key and its
    place alone, so the choice is one from the author's own documents, whatever they say and whoever else wrote.
    """
    if c is None and not charged:
        return None, {}
    secret = RunKey(key.derive("choice"))
    leaves, counts = bytearray(), Counter[str]()
    lowest: dict[str, list[tuple[int, int]]] = {}
    with stage("who wrote what"):
        for names in mapped(_names, None, corpus.batches(BATCH), workers=workers):
            # Where nobody is named, nobody can be limited or charged.
            leaves += bytes(name is not None and c is None for name in names)
            counts.update(name for name in names if name is not None)
            if c is None:
                continue
            rows = range(len(leaves) - len(names), len(leaves))
            for name, row, number in zip(names, rows, secret.bits(map(str, rows), 16), strict=True):
                if name is None:
                    continue
                kept = lowest.setdefault(name, [])
                heapq.heappush(kept, (-int.from_bytes(number, "big"), row))
                if len(kept) > c:
                    heapq.heappop(kept)
    for kept in lowest.values():
        for _, row in kept:
            leaves[row] = 1
    return bytes(leaves), counts if c is None else {name: min(n, c) for name, n in counts.items()}


def _names(_: None, batch: Batch) -> list[str | None]:
    return batch.authors()


def _make_pieces(
    work: Work, corpus: Corpus, leaves: bytes | None, draft: Draft, run: Run, meanwhile: Callable[[], None]
) -> list[Path]:
    paths: list[Path] = []

    def missing() -> Iterator[Given]:
        for batch in corpus.batches(BATCH):
            paths.append(draft.work / f"{batch.first:015d}.rows")
            if tally_of(paths[-1]) is None:
                yield batch, leaves and leaves[batch.first : batch.first + len(batch)], paths[-1]

    engine: Callable[..., Iterator[int]] = partial(mapped, meanwhile=meanwhile)
    if run.engine == "spark":
        from publius.releases import spark

        engine = partial(spark.mapped, folder=draft.work, master=run.master)
    with stage(f"{work.mechanism.kind} of documents"):
        done = 0
        for documents in engine(Work.__call__, work, missing(), workers=run.workers):
            done += documents
            advance(done, corpus.counted)
    return paths


def _write(
    draft: Draft, mechanism: Mechanism, manifest: LabelManifest | WordManifest, pieces: list[Path],
    labels: Mapping[str, int], run: Run, leaving: Leaving,
) -> Sequence[Mapping[str, Any]]:  # fmt: skip
    """The public files from the pieces; the table of labels."""
    warned = () if manifest.warning is None else ("warning",)
    with stage("writing"):
        row = write_rows(
            pieces, draft.folder, draft.key, rows=manifest.documents, kind=mechanism.kind, format=run.format,
            ids=leaving.ids, keep=(*warned, *leaving.keep),
        )  # fmt: skip
        table = None
        if isinstance(manifest, LabelManifest):
            counts = [labels.get(label, 0) for label in manifest.labels]
            limits: Any = mechanism.count_limits(counts)  # type: ignore[attr-defined]
            table = [
                {"label": label, "rows": count, "low": int(low), "high": int(high)}
                for label, count, (low, high) in zip(manifest.labels, counts, limits, strict=True)
            ]
            marks = [manifest.warning] * len(warned)
            rows = [[*each.values(), *marks] for each in table]
            csv_table(draft.folder / "labels.csv", ("label", "rows", "low", "high", *warned), rows)
        if draft.noted:  # rows alone have no page
            from publius.pages.page import write_release_pages

            write_release_pages(draft.folder, manifest, row=row, table=table)
    return table or ()


def manifest_of(
    mechanism: Mechanism, documents: int, leaving: Leaving, *, documents_per_author: int | None = None,
    field: str | None = None, labels_after_texts: bool = False, unchanged: float | None = None,
) -> LabelManifest | WordManifest:  # fmt: skip
    """The manifest of ``documents`` rows, but for the digests of files."""
    from publius.privacy.promise import promise

    facts, c = mechanism.facts(), documents_per_author
    each, delta = Fraction(facts.get("exponent_per_distance", facts["epsilon"])), Fraction(facts.get("delta", 0))
    shared = {
        "publius_version": __version__, "private": not leaving.experiment, "warning": warning_of(leaving), "promise": "",
        "public": tuple(PublicInput(**each) for each in mechanism.public), "documents": documents, "ids": leaving.ids,
        "kept": tuple(leaving.keep),
        "author": c and AuthorFacts(documents=c, epsilon=upward(c * each), delta=upward(min(Fraction(1), c * delta))),
    }  # fmt: skip
    model: type[LabelManifest | WordManifest] = WordManifest
    if mechanism.kind == "labels":
        model = LabelManifest
        shared |= {
            "classifier": msgspec.convert(facts["classifier"], ClassifierFacts, from_attributes=True), "field": field,
            "labels_after_texts": labels_after_texts, "shuffled": _shuffled(mechanism, documents, leaving, c or 1),
        }  # fmt: skip
    else:
        shared["unchanged"] = unchanged
    made = model(**{name: value for name, value in facts.items() if name in model.__struct_fields__} | shared)
    return msgspec.structs.replace(made, promise=promise(made))


def _shuffled(mechanism: Mechanism, documents: int, leaving: Leaving, c: int) -> Pair | None:
    """What holds for an author of c documents since rows have no ids and no order; None where c epsilon says nearly it."""
    if leaving.ids or leaving.keep or leaving.experiment or documents < 2:
        return None
    from publius.mechanisms.randomized_response import Shuffled

    found = Shuffled(mechanism, documents, min(c, documents)).guarantee
    if not 0 < found.epsilon <= _WORTH * c * mechanism.facts()["epsilon"]:
        return None
    return Pair(epsilon=found.epsilon, delta=found.delta)
