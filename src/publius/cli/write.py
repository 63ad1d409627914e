"""``publius write``: readable text from a release alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from publius.cli.console import print_json, printable, progress_bar, standard_output
from publius.cli.log import say
from publius.cli.options import Json, options
from publius.errors import how_many
from publius.settings import WritingSettings

if TYPE_CHECKING:
    from publius.releases.writing.run import WritingSummary


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("write")(write)


@options()
def write(
    release: Annotated[Path, typer.Argument(help="Folder of a release: bags.jsonl and manifest.json.")],
    settings: WritingSettings,
    output: Annotated[
        Path, typer.Option(help="New file for the texts, JSON lines: id, text, writer, source.")
    ],
    json: Json = False,
) -> None:
    """Write readable texts from the bags of a release.

    Made from the release and public things alone. The promise of the release holds for the texts as it
    stands. They are the writer's: a quotation, a guess at an order, or what a language model makes of the
    words, which may state things that the document does not.
    """
    from publius.releases.writing.released_bags import read_manifest
    from publius.releases.writing.run import write_texts

    if settings.writer.startswith("llm:") and not json:
        address = settings.writer.removeprefix("llm:").rpartition("#")[0]
        say(f"the words of each bag, their counts and its label are sent to {printable(address)}")
    documents = read_manifest(release).get("documents")
    with progress_bar("writing", documents if isinstance(documents, int) else None) as progress:
        summary = write_texts(release, output, settings, progress)
    with standard_output(f"{output} is complete"):
        print_json(asdict(summary)) if json else _print(summary)


def _held(held: Collection[str]) -> list[str]:
    """What the kernel held the writer to, and what it did not, a line each."""
    from publius.releases.writing.confinement import HOLDS, NOT_HELD

    if not held:
        return ["nothing but a process of its own: this system cannot confine it"]
    missing = [f"not held: {HOLDS[each]}" for each in HOLDS if each not in held]
    return [*(f"by the kernel: {HOLDS[each]}" for each in HOLDS if each in held), *missing, f"but {NOT_HELD}"]


def _print(summary: WritingSummary) -> None:
    missing = summary.documents - summary.written
    lines = [
        f"Wrote {how_many(summary.written, 'text')} to {summary.output}"
        + (f"; for {missing:,} bags there is none, and their lines say why" if missing else ""),
        f"  writer     {summary.writer}",
        f"  each says  {summary.note}",
        *(f"  {'held to' if not place else '':<11}{line}" for place, line in enumerate(_held(summary.held))),
    ]  # fmt: skip
    if summary.warning:
        lines.insert(0, summary.warning)
    if summary.resumed:
        lines.append(f"  resumed    {summary.resumed:,} were there from a run before")
    typer.echo("\n".join(printable(line) for line in lines))
