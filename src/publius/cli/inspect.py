"""``publius inspect``: what stands in a file, before anything is decided; or what a release made of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from publius.cli.parsing import File, flat
from publius.settings import People, Reading

if TYPE_CHECKING:
    from publius.documents.inspection import Inspection

_ROWS = 5


def inspect(
    file: File,
    *more: File,
    by: tuple[str, ...] = (),
    release: Path | None = None,
    json: bool = False,
    reading: Annotated[Reading, flat("Reading")] = Reading(),
    people: Annotated[People, flat("People")] = People(),
) -> None:
    """Look at a file, or at a release; nothing leaves.

    Parameters
    ----------
    file
        File or folder of documents, or -.
    more
        Further files, read after it.
    by
        Column and declared values of groups, FIELD=A,B; repeatable. Says what would become "other".
    release
        Folder of a release: show what it made of these documents.
    json
        Print the result as JSON.
    """
    from publius.cli import console
    from publius.documents.inspection import inspect as looked_at
    from publius.errors import UsageError
    from publius.files.value_list import value_list

    if (Path(file) / "manifest.json").is_file():
        raise UsageError(
            f"this folder is a release: publius explain {file}, or publius inspect FILE --release {file}"
        )
    files: str | list[str] = [file, *more] if more else file
    if release is not None:
        shown = console.watched(_against, files, reading, people, release)
        console.as_json(shown) if json else _print_release(shown)
        return
    groups: dict[str, list[str]] = {}
    for each in by:
        name, equals, values = each.partition("=")
        if not equals:
            raise UsageError("--by takes FIELD=A,B: a column and its declared values.")
        groups[name] = value_list(values, "--by")
    found = console.watched(
        looked_at, files, reading, author_field=people.author_field, no_author=people.no_author, by=groups
    )
    console.as_json(found.record()) if json else _print(found)


def _print(found: Inspection) -> None:
    from publius.cli import console

    console.table(
        ("found", ""),
        [
            (
                "documents",
                f"{found.documents:,}"
                + (f", {found.without_text:,} without text" * bool(found.without_text)),
            ),
            ("columns", ", ".join(found.columns)),
            ("texts in", found.text_field),
            ("encoding", found.encoding),
            (
                "languages",
                ", ".join(f"{name} {count:,}" for name, count in found.languages.items()) or "not looked at",
            ),
        ],
    )
    if found.notes:
        console.table(
            ("rows", "to look at", "where"), [(note.count, note.what, note.where) for note in found.notes]
        )
    else:
        console.say("Nothing odd was found.")


def _against(files: str | list[str], reading: Reading, people: People, folder: Path) -> dict[str, Any]:
    """The first documents beside what was released of them, where ids left; and how often each label stands there."""
    from itertools import islice

    from publius.documents.corpus import open_corpus
    from publius.releases.release import read_release

    released = read_release(folder)
    manifest = released.manifest
    ids = bool(getattr(manifest, "ids", False))
    rows = {}
    if ids:
        corpus = open_corpus(
            files, reading, id_field="id", no_author=people.no_author, author_field=people.author_field
        )
        wanted = {document.id: document.text for document in islice(corpus, _ROWS)}
        for row in released.rows():
            if row.get("id") in wanted:
                rows[row["id"]] = {"text": wanted[row["id"]], "released": _said(row)}
    else:
        rows = {
            str(place): {"text": None, "released": _said(row)}
            for place, row in enumerate(islice(released.rows(), _ROWS))
        }
    words = "words" in released.tables
    return {
        "kind": type(manifest).__struct_config__.tag, "documents": getattr(manifest, "documents", None),
        "matched_by_id": ids, "rows": [{"id": id, **row} for id, row in rows.items()],
        "labels": released.table("labels") if "labels" in released.tables else [],
        "words": released.table("words") if words else [],
    }  # fmt: skip


def _said(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.items() if name != "id")


def _print_release(shown: dict[str, Any]) -> None:
    from publius.cli import console

    if not shown["matched_by_id"]:
        console.note("Rows of this release are in a secret order: nobody can say which document is which.")
    columns = ("id", "document", "released") if shown["matched_by_id"] else ("row", "released")
    console.table(
        columns,
        [
            (row["id"], *([_cut(row["text"] or "")] if shown["matched_by_id"] else []), _cut(row["released"]))
            for row in shown["rows"]
        ],
    )
    for name in ("labels", "words"):
        if shown[name]:
            console.table(tuple(shown[name][0]), [tuple(row.values()) for row in shown[name][:20]])


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:77] + "..."
