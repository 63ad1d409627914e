"""``publius inspect``: what stands in a file, before anything is decided; or what a release made of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import msgspec

from publius.cli import console
from publius.cli.console import Note, Table
from publius.cli.parsing import AsRead, ByAuthors, Documents, Folder, Help, Json, More, files_of
from publius.errors import UsageError
from publius.settings import People, Reading

_ROWS = 5


def inspect(
    file: Documents,
    *more: More,
    by: Annotated[tuple[str, ...], Help('Declared groups: which rows would become "other".')] = (),
    release: Annotated[Folder | None, Help("Show what this release made of these documents.")] = None,
    document: Annotated[int | None, Help("Print one as a release reads it; from 1.")] = None,
    json: Json = False,
    reading: AsRead = Reading(),
    people: ByAuthors = People(),
) -> None:
    """Look at a file, or at a release; nothing leaves."""
    from publius.documents.inspection import inspect as looked_at
    from publius.summaries.groups import Groups

    if (Path(file) / "manifest.json").is_file():
        raise UsageError(f"this folder is a release: publius explain {file}, or publius inspect FILE --release {file}")
    files = files_of(file, more, by[-1] if by else None)
    if release is not None:
        compared = console.watched(_against, files, reading, people, release)
        console.answer(compared, *_shown(compared), json=json)
        return
    if document is not None:
        from publius.documents.corpus import open_corpus

        console.say(next((each.text for each in open_corpus(files, reading) if each.row + 1 == document), ""))
        return
    groups = {field.name: field.declares for field in Groups.of(by).fields}
    found = console.watched(looked_at, files, reading, by=groups, **vars(people))
    without = f", {found.without_text:,} without text" if found.without_text else ""
    facts = [
        ("documents", f"{found.documents:,}{without}"), ("columns", ", ".join(found.columns)),
        ("texts in", found.text_field), ("encoding", found.encoding),
        ("languages", ", ".join(f"{name} {count:,}" for name, count in found.languages.items())),
    ]  # fmt: skip
    notes = Table(("rows", "to look at", "where"), [(each.count, each.what, each.where) for each in found.notes])
    odd = notes if found.notes else "Nothing odd was found."
    console.answer(msgspec.to_builtins(found), Table(("found", ""), facts), odd, json=json)


def _against(files: str | list[str], reading: Reading, people: People, folder: str) -> dict[str, Any]:
    """The first rows, beside their documents where ids left; and how often each label or word stands there."""
    from publius.documents.corpus import open_corpus
    from publius.releases.manifest import SummaryManifest
    from publius.releases.rows import read_release

    released = read_release(folder)
    texts: dict[str | None, str] = {}
    if getattr(released.manifest, "ids", False):
        corpus = open_corpus(files, reading, id_field="id", **vars(people))
        texts = {each.id: each.text for each in islice(corpus, _ROWS)}
    rows = (row for row in released.rows() if not texts or row.get("id") in texts)
    return {
        "by_id": bool(texts),
        "made_up": isinstance(released.manifest, SummaryManifest),
        "rows": [{"text": texts.get(row.get("id")), **row} for row in islice(rows, _ROWS)],
        **{name: released.table(name) for name in ("labels", "words") if name in released.tables},
    }


def _shown(compared: dict[str, Any]) -> Iterator[Note | Table]:
    if compared["made_up"]:
        yield Note("Rows of a summary are made up: they are nobody's.")
    elif not compared["by_id"]:
        yield Note("Rows of this release are in a secret order: nobody can say which document is which.")
    rows = []
    for row in compared["rows"]:
        said = ", ".join(f"{name} {value}" for name, value in row.items() if name not in ("id", "text"))
        rows.append((row.get("id"), _cut(row["text"] or ""), _cut(said)))
    yield Table(("id", "document", "released"), rows)
    for name in ("labels", "words"):
        if table := compared.get(name):
            yield Table(tuple(table[0]), [tuple(row.values()) for row in table[:20]])


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:77] + "..."
