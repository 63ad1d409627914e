"""``publius inspect``: what stands in a file of texts, before anything is decided."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import as_json, print_json, print_table, printable, waiting
from publius.cli.options import Json, options
from publius.errors import UsageError, how_many
from publius.files import shown
from publius.settings import FormSettings, InputSettings

if TYPE_CHECKING:
    from publius.documents.inspection import Inspection


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("inspect")(inspect)


@options()
def inspect(
    form: FormSettings,
    file: Annotated[Path, typer.Argument(help="A file of texts, or a folder of them.")],
    text_field: Annotated[
        str | None, typer.Option(help="Column that holds the texts. Default: found by name or length.")
    ] = None,
    follow_links: Annotated[
        bool,
        typer.Option(
            "--follow-links", help="Follow symbolic links in a folder, also to files outside of it."
        ),
    ] = False,
    reading_seconds: Annotated[
        float | None,
        typer.Option(
            help="Processor seconds that 16 MiB of a Word, Excel, PDF, HTML, mail or Parquet file may take. "
            f"Default: {InputSettings.reading_seconds:g}."
        ),
    ] = None,
    release: Annotated[
        Path | None,
        typer.Option(help="A release: how often its labels are right on these texts, for your eyes only."),
    ] = None,
    topic_field: Annotated[
        str | None, typer.Option(help="With --release: column that says what a text is about.")
    ] = None,
    author_field: Annotated[
        str | None, typer.Option(help="With --release: column that says who wrote a text.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="With --release: file for what was found; it stays with you.")
    ] = None,
    json: Json = False,
) -> None:
    """Look at a file of texts. Nothing is released.

    What is not said of how it is written is found.

    Columns, lengths, languages and odd rows. With --release: what a release made of such texts, measured on them.
    """
    from publius.documents import inspection

    if release is None and (topic_field or author_field or output):
        raise UsageError("--topic-field, --author-field and --output belong to --release")

    if (file / "manifest.json").is_file():
        raise UsageError(
            f"{shown(file)} is a release, not texts: publius guarantee {shown(file)} states what it promises, and "
            f"publius inspect TEXTS --release {shown(file)} measures it on such texts"
        )
    with waiting("reading the file"):
        reading: dict[str, Any] = {"follow_links": follow_links, **asdict(form)}
        if reading_seconds is not None:
            reading["reading_seconds"] = reading_seconds
        found = inspection.inspect(file, text_field=text_field, **reading)
    if release is not None:
        _against(release, file, found, reading, topic_field, author_field, output, json=json)
    elif json:
        print_json(found.record())
    else:
        _print(found)


def _against(
    release: Path,
    file: Path,
    found: Inspection,
    reading: dict[str, Any],
    topic_field: str | None,
    author_field: str | None,
    output: Path | None,
    *,
    json: bool,
) -> None:
    from publius.documents.corpus import open_corpus
    from publius.files import write_file
    from publius.releases.contents import MANIFEST
    from publius.releases.digests import file_digest
    from publius.releases.manifests import read_manifest_of
    from publius.releases.of_manifest import plan_of
    from publius.releases.own_texts import CURATOR_ONLY, examine
    from publius.releases.plan import SHUFFLED

    if found.text_field is None:
        raise UsageError("no column of texts was found: name it with --text-field")
    manifest = read_manifest_of(release)
    plan = plan_of(manifest)
    looked_at = tuple(name for name in (topic_field, author_field) if name is not None)
    if missing := [name for name in (*looked_at, *plan.labels) if name not in found.columns]:
        raise UsageError(
            f"no column {missing[0]!r} among {how_many(len(found.columns), 'column')}: publius inspect without "
            "--release shows them"
        ).among(found.columns)
    corpus = open_corpus(
        file,
        number=True,
        text_field=found.text_field,
        keep=plan.labels,
        **{**reading, **found.form},
    )
    with waiting("looking at the texts"):
        own = examine(
            replace(corpus, gaps=True, beside=looked_at), plan, topic_field, author_field, plan.labels
        )
    own = replace(own, placed=manifest.get("numbers") != SHUFFLED, release=file_digest(release / MANIFEST))
    if output is not None:
        with write_file(output, 0o600) as stream:
            stream.write(as_json(own.record()).encode() + b"\n")
    if json:
        print_json(own.record())
        return
    typer.echo(CURATOR_ONLY)
    sentences = [*own.warnings(), *(own.labels.sentences() if own.labels else ())]
    for sentence in [*sentences, *([own.authors.sentence] if own.authors else ())]:
        typer.echo(printable(sentence))


def _print(found: Inspection) -> None:
    from publius.documents.table_form import TableForm

    facts = [("rows", f"{found.rows:,}")]
    if found.delimiter is not None and found.encoding is not None:
        facts.append(("written as", str(TableForm(found.delimiter, found.encoding, found.quotes))))
    facts.append(("column of texts", found.text_field or "none found"))
    if found.words:
        facts.append(
            (
                "words a text",
                f"median {found.words['median']:,.0f}, from {found.words['shortest']:,.0f} to "
                f"{found.words['longest']:,.0f}; nine in ten have at most {found.words['ninth_decile']:,.0f}",
            )
        )
    if found.languages:
        facts.append(("languages", ", ".join(f"{name} {count:,}" for name, count in found.languages.items())))
    print_table(("found", ""), facts)
    typer.echo("")
    rows = [(each.name, f"{each.filled:.0%}", f"{each.values:,}") for each in found.fields]
    print_table(("column", "filled", "different values"), rows)
    typer.echo("\nTo look at:" if found.problems else "\nNothing odd was found.")
    for problem in found.problems:
        typer.echo(f"  {printable(problem)}")
    typer.echo("\nThis describes your texts. It is for your eyes; nothing was released or kept.")
