"""What ``label`` and ``obfuscate`` share: a look before anything is spent, the run, and what is printed of it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from publius.cli import console
from publius.cli.console import Note, Table
from publius.cli.parsing import AsRead, ByAuthors, Folder, Json, flat
from publius.settings import Leaving, People, Reading, Run

if TYPE_CHECKING:
    from publius.documents.corpus import Batch
    from publius.mechanisms.mechanism import Mechanism
    from publius.releases.run import Result

_ROWS = 4
"""Labels that are shown; the others are in labels.csv."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options that ``label`` and ``obfuscate`` share."""

    output: Folder | None = None
    """New folder for the release, or - for rows alone."""
    documents_per_author: int | None = None
    """The most of an author that leave."""
    json: Json = False
    leaving: Annotated[Leaving, flat("Leaving")] = Leaving()
    people: ByAuthors = People()
    reading: AsRead = Reading()
    run: Annotated[Run, flat("Run")] = Run()


Releasing = Annotated[Asked, Parameter(name="*")]


def released(
    files: str | list[str], mechanism: Mechanism, asked: Asked, known: Callable[[str], tuple[int, int]], *,
    by: str = "this classifier", field: str | None = None, labels_after_texts: bool = False,
) -> None:  # fmt: skip
    """Release the documents of ``files`` and print what came of it."""
    import msgspec

    from publius.documents.corpus import open_corpus
    from publius.documents.inspection import look
    from publius.errors import UsageError, how_many
    from publius.files import check_new_folder, remove_leftovers
    from publius.noise.randomness import RunKey
    from publius.releases.run import check_run, protect_corpus

    output, leaving, run, c = asked.output or "", asked.leaving, asked.run, asked.documents_per_author
    if not output and not run.estimate:
        raise UsageError("where to? --output DIR, or --output - for rows alone")
    if output == "-":
        if run.format != "jsonl" or run.resume:
            raise UsageError("--output - writes JSON lines, all at once: leave out --format and --resume")
    elif output and not run.resume:
        check_new_folder(output)
    check_run(mechanism, leaving, c, ledger=leaving.ledger is not None)
    corpus = open_corpus(
        files, asked.reading, id_field=leaving.id_field if leaving.ids else None,
        author_field=asked.people.author_field, no_author=asked.people.no_author, fields=leaving.keep,
    )  # fmt: skip
    for line in console.watched(look, corpus, known if field is None else None, by=by, workers=run.workers):
        console.note(line)
    if field is not None and (undeclared := sum(not known(each.text)[1] for each in corpus)):
        console.note(f"{how_many(undeclared, 'document')} of an undeclared {field}: counted as other.")
    if run.estimate:
        key = RunKey.fresh()

        def tried(batch: Batch) -> object:
            return mechanism.protect([each.text for each in batch.documents()], range(len(batch)), key)

        console.estimate(tried, corpus, run.workers, json=asked.json)
        return

    def work(folder: Path) -> Result:
        return console.watched(
            protect_corpus, corpus, mechanism, folder, run=run, leaving=leaving, documents_per_author=c, field=field,
            labels_after_texts=labels_after_texts, noted=output != "-",
        )  # fmt: skip

    if output == "-":
        with tempfile.TemporaryDirectory() as place:
            _copy_rows(work(Path(place, "release")).folder)
        return
    remove_leftovers(output)
    found = work(Path(output))
    record = {**msgspec.to_builtins(found.manifest), "folder": output, "left_out": found.left_out}
    console.answer(record, *_shown(found, output), json=asked.json)


def _copy_rows(folder: Path) -> None:
    """The rows alone, on standard output; they are drawn and paid for by now."""
    (rows,) = folder.glob("*.jsonl")
    with rows.open("rb") as source:
        stream: Any = getattr(sys.stdout, "buffer", None)
        if stream is None:
            sys.stdout.write(source.read().decode())
        else:
            shutil.copyfileobj(source, stream)
            stream.flush()


def _shown(found: Result, output: str) -> Iterator[str | Table | Note]:
    from publius.privacy.promise import meaning
    from publius.releases.manifest import LabelManifest

    manifest = found.manifest
    if found.table:
        ranked = sorted(found.table, key=lambda each: -each["rows"])
        shown = ranked if len(ranked) == _ROWS + 1 else ranked[:_ROWS]
        rows = [(each["label"], each["rows"], f"{each['low']:,} to {each['high']:,}") for each in shown]
        if rest := ranked[len(shown) :]:
            rows.append((f"{len(rest)} more", sum(each["rows"] for each in rest), ""))
        yield Table(("label", "rows", "documents, 95 % for all"), rows)
    else:
        yield f"{manifest.documents:,} rows of words."
    if isinstance(manifest, LabelManifest) and manifest.classifier.kind == "names":
        yield Note("Nobody measured how often names alone are right: publius models try PUBLIC --labels A,B does.")
    if found.left_out:
        yield Note(f"{found.left_out:,} documents did not leave: an author has too many, or nobody is named.")
    yield meaning(manifest)
    yield f"Release: {output}. Read {output}/release.html; publius sign {output} --output page.html"
