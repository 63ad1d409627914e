"""What ``label`` and ``obfuscate`` share: a look before anything is spent, the run, and what is printed of it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from publius.cli import console
from publius.settings import Leaving, People, Reading, Run

if TYPE_CHECKING:
    from publius.mechanisms.mechanism import Mechanism
    from publius.releases.run import Result

_ROWS = 4
"""Labels that are shown; the others are in labels.csv."""


def released(
    files: list[str],
    mechanism: Mechanism,
    output: str | None,
    *,
    reading: Reading,
    people: People,
    leaving: Leaving,
    run: Run,
    documents_per_author: int | None,
    known: Callable[[str], tuple[int, int]] | None,
    json: bool,
    by: str = "this classifier",
    field: str | None = None,
    labels_after_texts: bool = False,
) -> None:
    """Release the documents of ``files`` and print what came of it."""
    from publius.documents.corpus import open_corpus
    from publius.documents.inspection import look
    from publius.errors import UsageError, how_many
    from publius.files import check_new_folder, remove_leftovers
    from publius.releases.run import check_run, protect_corpus

    if output is None:
        raise UsageError("where to? --output DIR, or --output - for rows alone")
    if output == "-":
        if run.format != "jsonl" or run.resume:
            raise UsageError("--output - writes JSON lines, all at once: leave out --format and --resume")
    elif not run.resume:
        check_new_folder(output)
    limited = documents_per_author is not None
    check_run(mechanism, leaving, limited=limited, c=documents_per_author, ledger=leaving.ledger is not None)
    corpus = open_corpus(
        files if len(files) > 1 else files[0],
        reading,
        id_field=leaving.id_field if leaving.ids else None,
        author_field=people.author_field,
        no_author=people.no_author,
        fields=leaving.keep,
    )
    for line in console.watched(look, corpus, known if field is None else None, by=by):
        console.note(line)
    if field is not None and known is not None:
        undeclared = sum(not known(value)[1] for value, _ in corpus.texts())
        if undeclared:
            console.note(f"{how_many(undeclared, 'document')} of an undeclared {field}: counted as other.")

    def work(folder: Path) -> Result:
        return console.watched(
            protect_corpus,
            corpus,
            mechanism,
            folder,
            run=run,
            leaving=leaving,
            documents_per_author=documents_per_author,
            field=field,
            labels_after_texts=labels_after_texts,
            noted=output != "-",
        )

    if output == "-":
        with tempfile.TemporaryDirectory() as place:
            found = work(Path(place, "release"))
            _copy_rows(found.folder)
        return
    remove_leftovers(output)
    _print(work(Path(output)), output, json=json)


def _copy_rows(folder: Path) -> None:
    """The rows alone, on standard output; they are drawn and paid for by now."""
    import shutil

    (rows,) = (path for path in folder.glob("*.jsonl"))
    with rows.open("rb") as source:
        stream: Any = getattr(sys.stdout, "buffer", None)
        if stream is None:
            sys.stdout.write(source.read().decode())
        else:
            shutil.copyfileobj(source, stream)
            stream.flush()


def _print(result: Result, output: str, *, json: bool) -> None:
    from publius.privacy.promise import meaning

    manifest = result.manifest
    if json:
        import msgspec

        console.as_json({**msgspec.to_builtins(manifest), "folder": output, "left_out": result.left_out})
        return
    if result.table:
        ranked = sorted(result.table, key=lambda each: -each["rows"])
        shown = ranked if len(ranked) == _ROWS + 1 else ranked[:_ROWS]
        rows = [(each["label"], each["rows"], f"{each['low']:,} to {each['high']:,}") for each in shown]
        rest = ranked[len(shown) :]
        if rest:
            rows.append((f"{len(rest)} more", sum(each["rows"] for each in rest), ""))
        console.table(("label", "rows", "answers, 95 %"), rows)
    else:
        console.say(f"{manifest.documents:,} rows of words.")
    if result.left_out:
        console.note(f"{result.left_out:,} documents did not leave: at most so many of an author do.")
    console.say(meaning(manifest))
    console.say(f"Release: {output}. Read {output}/release.html; publius sign {output} --output page.html")
