"""``publius label`` and ``obfuscate``: a look before anything is spent, the run, what is printed; ``sign`` and ``verify``."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from publius.cli import console
from publius.cli.console import Note, Table
from publius.cli.parsing import (
    AsRead,
    ByAuthors,
    Documents,
    File,
    Folder,
    Help,
    Json,
    More,
    WordOptions,
    files_of,
    flat,
)
from publius.errors import DataError, UsageError, how_many
from publius.settings import Between, Leaving, People, Reading, Run, Words

if TYPE_CHECKING:
    from publius.classifiers.classifier import Classifier
    from publius.documents.corpus import Batch
    from publius.mechanisms.kernel import Kernel
    from publius.mechanisms.lifted import Lifted
    from publius.mechanisms.mechanism import Mechanism
    from publius.releases.run import Result

_ROWS = 4
"""Labels that are shown; the others are in labels.csv."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options that both commands share."""

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


def label(
    file: Documents,
    *more: More,
    classifier: Annotated[str | None, Help("A stored one, a summary, or python:MODULE:NAME.")] = None,
    labels: Annotated[str | None, Help('A,B,"C D" or @FILE: the nearest name counts.')] = None,
    field: Annotated[str | None, Help("Column whose declared values, --labels, leave.")] = None,
    epsilon: Annotated[float, Help("Local epsilon of each document.")] = 5.0,
    bag: Annotated[int | None, Help("Public words of its label beside each row.")] = None,
    encoder: Annotated[str, Help("Default: packaged; or python:MODULE:NAME.")] = "packaged",
    labels_after_texts: Annotated[bool, Help("Labels were chosen after a look at the texts.")] = False,
    asked: Releasing = Asked(),
) -> None:
    """Release one randomized label per document."""
    from publius.mechanisms.randomized_response import RandomizedResponse

    if (classifier is None) == (labels is None) or (field is not None and labels is None):
        from publius.classifiers import stored_classifiers

        raise UsageError(
            "one classifier answers: --classifier NAME, --labels A,B (the nearest name), or --field COLUMN --labels "
            f"V1,V2. Stored: {', '.join(stored_classifiers()) or 'none yet'}. Train one on public texts: publius models "
            "train PUBLIC --label topic --name NAME"
        )
    files = files_of(file, more, labels)
    answers = answering(classifier, labels, encoder, field=field)
    if field is not None:
        asked = replace(asked, reading=replace(asked.reading, text_field=field, raw=True))
    mechanism = RandomizedResponse(answers, epsilon, bag=bag)
    _released(files, mechanism, asked, answers.known, field=field, labels_after_texts=labels_after_texts)


def obfuscate(
    file: Documents,
    *more: More,
    epsilon: Annotated[float, Help("Of each word and unit of distance.")],
    length: Annotated[int, Help("Words of every bag, N; public.")],
    ordered: Annotated[bool, Help("Words in their order; a weaker guarantee.")] = False,
    between: Annotated[Between, Help("Default: none kept; stop-words, punctuation or all.")] = "none",
    words: WordOptions = Words(),
    asked: Releasing = Asked(),
) -> None:
    """Release the words of each document as noisy bags."""
    mechanism = lifted_asked(words.mechanism, epsilon, length, words, ordered=ordered, between=between)
    _released(files_of(file, more), mechanism, asked, mechanism.known, by="these word vectors")


def answering(classifier: str | None, labels: str | None, encoder: str, *, field: str | None = None) -> Classifier:
    """The classifier of ``--classifier``, or that of ``--labels``: declared values of ``--field``, else nearest names."""
    from publius.classifiers import load_classifier
    from publius.classifiers.classifier import Names, Values
    from publius.classifiers.encoder import load_encoder

    if field is not None:
        return Values(declared_labels(labels or "")[0])
    if classifier is None:
        names, descriptions = declared_labels(labels or "")
        return Names(names, load_encoder(encoder), descriptions=descriptions)
    if encoder != "packaged":  # what a folder names counts only where it is named here, too
        load_encoder(encoder)
    return load_classifier(classifier)


def declared_labels(given: str) -> tuple[list[str], list[str] | None]:
    """Labels of ``--labels``: typed, one a line of a file, or a table ``label,description``; and their descriptions."""
    from publius.files.reading import value_list

    values = value_list(given, "--labels")
    if given.startswith("@"):
        import csv

        with Path(given[1:]).open(encoding="utf-8-sig", newline="") as file:
            rows = [*csv.reader(file)]
        if rows and [cell.strip() for cell in rows[0]] == ["label", "description"]:
            if any(len(row) != 2 for row in rows[1:] if row):
                raise DataError(f"{Path(given[1:]).name}: each row must have a label and a description, quoted as CSV")
            return [row[0].strip() for row in rows[1:] if row], [row[1].strip() for row in rows[1:] if row]
    return values, None


def kernel_asked(name: str, epsilon: float, words: Words) -> Kernel:
    """The kernel called ``name`` on the vectors that the options ask for."""
    from publius.embeddings.embeddings import Embeddings
    from publius.mechanisms import registry

    parameters = registry.parse_set(registry.kernel_class(name), words.set)
    vectors = Embeddings.load(words.embeddings)
    return registry.make_kernel(name, vectors, epsilon=epsilon, metric=words.metric, parameters=parameters)


def lifted_asked(name: str, epsilon: float, length: int, words: Words, **order: Any) -> Lifted:
    """`kernel_asked` on each word of a document."""
    from publius.mechanisms.lifted import Lifted

    kernel = kernel_asked(name, epsilon, words)
    return Lifted(kernel, length, unknown=words.unknown, stop_words=words.stop_words, **order)


def _released(
    files: str | list[str], mechanism: Mechanism, asked: Asked, known: Callable[[str], tuple[int, int]], *,
    by: str = "this classifier", field: str | None = None, labels_after_texts: bool = False,
) -> None:  # fmt: skip
    """Release the documents of ``files`` and print what came of it."""
    import msgspec

    from publius.documents.corpus import open_corpus
    from publius.documents.inspection import look
    from publius.files.writing import check_new_folder, remove_leftovers
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
        files,
        asked.reading,
        id_field=leaving.id_field if leaving.ids else None,
        fields=leaving.keep,
        **vars(asked.people),
    )
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
            (rows,) = work(Path(place, "release")).folder.glob("*.jsonl")
            with rows.open("rb") as source:
                shutil.copyfileobj(source, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    remove_leftovers(output)
    found = work(Path(output))
    record = {**msgspec.to_builtins(found.manifest), "folder": output, "left_out": found.left_out}
    console.answer(record, *_shown(found, output), json=asked.json)


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


def sign(
    release: Annotated[File, Help("Folder of a release that was made here.")],
    *,
    output: Annotated[File, Help("The curator's page (HTML): a new file.")],
    public_page: Annotated[File | None, Help("One for recipients: nothing of the private file.")] = None,
    purpose: Annotated[str | None, Help("What the release may be used for.")] = None,
    recipient: Annotated[str | None, Help("Who receives it.")] = None,
    contact: Annotated[str | None, Help("Whom recipients may ask.")] = None,
    review: Annotated[str | None, Help("When to look at it again, YYYY-MM-DD.")] = None,
    texts: Annotated[File | None, Help("Private file: authors and small cells, for you.")] = None,
    evaluation: Annotated[Folder | None, Help("Of publius evaluate, at the release's epsilon.")] = None,
    reading: AsRead = Reading(),
    people: ByAuthors = People(),
) -> None:
    """Write the page to sign for a release."""
    from publius.releases.sign import sign as write

    typed = {"purpose": purpose, "recipient": recipient, "contact": contact, "review": review}
    console.watched(
        write, release, output, texts=texts, reading=reading, people=people, evaluation=evaluation,
        public_page=public_page, **typed,
    )  # fmt: skip
    console.say(f"Page to sign: {output} (for you only).")
    if public_page is not None:
        console.say(f"Page for recipients: {public_page}.")
    if missing := [f"--{name}" for name, value in typed.items() if not value]:
        console.note(f"To be completed: {', '.join(missing)}.")
    console.say(f"Check: publius verify {release} {output}")


def verify(
    release: Annotated[File, Help("Folder of a release.")],
    page: Annotated[File | None, Help("A page that publius sign has written.")] = None,
    *,
    json: Json = False,
) -> int | None:
    """Check that a release and its page belong together.

    Exit 0: whole, and the page is its own. 1: the page is of another release, or was changed. 65: the folder was changed.
    """
    from publius.releases.sign import verify as check

    found = check(release, page)
    drawn = "as they were drawn" if found.here else "as its manifest names them"
    said = [f"Whole: {found.files} files {drawn}, nothing more."]
    if found.page is not None:
        said += [
            "The page is of this release." if found.page else "The page is of ANOTHER release.",
            "The page is as it was signed." if found.as_signed
            else "The page was CHANGED, or is signed by hand: sign again." if found.here
            else f"Compare what it says with the manifest: {found.promise}",
        ]  # fmt: skip
    said.append(
        "Drawn by this installation." if found.here
        else "Not in the register of this installation: who wrote its manifest cannot be told."
    )  # fmt: skip
    console.answer(asdict(found), *said, json=json)
    return 1 if False in (found.page, found.as_signed) else None
