"""What a release is in the forms that data tools read: a dataset card, Croissant and a Frictionless data package.

All of it follows from the manifest, the digests and the names of columns in the folder, so it tells nothing that these
do not, and whoever checks a release makes it again and compares. There is no licence in it: that is for the curator.

Sources: Hugging Face, "Dataset cards" (https://huggingface.co/docs/hub/datasets-cards); MLCommons, Croissant format
specification 1.0 (http://mlcommons.org/croissant/1.0); Data Package 1.0 (https://specs.frictionlessdata.io).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from publius.documents.row_readers import import_parquet
from publius.errors import how_many
from publius.files import os_errors, read_bytes_limited, read_lines, write_file
from publius.mechanisms.registry import tells_preserved
from publius.releases.digests import file_digests
from publius.releases.read_me import READ_ME
from publius.releases.summaries.read_me import SOURCE
from publius.releases.summaries.read_me import columns as columns_of_summary

CARD, CROISSANT, PACKAGE = "README.md", "croissant.json", "datapackage.json"
METADATA: Final = (CARD, CROISSANT, PACKAGE)
"""The files, made after the release: a sign-off binds them, and the manifest says all that is in them."""

_TEXT, _WHOLE, _NUMBER = "string", "integer", "number"
_TYPES: Final = {
    "label": _TEXT, "probability_kept": _NUMBER, "prototype": _WHOLE, "id": _TEXT, "size": _WHOLE, "bag": "object",
    "word": _TEXT, "count": _WHOLE, "position": _WHOLE, "words": "array", "counts": "array", "text": _TEXT,
    "kept": "array",
}  # fmt: skip
"""What the columns of bags hold, as Frictionless calls it; others were kept as they are, or are of a summary."""
_TYPES_OF_SUMMARIES: Final = {
    **dict.fromkeys(("contributed", "low", "high", "noisy", "number"), _WHOLE),
    **dict.fromkeys(("stratum", "theme", "words", "passage", "source"), _TEXT), "bag": "object",
}  # fmt: skip
"""The same of a summary; a ratio may be "inf", or not there."""

_CROISSANT_TYPES: Final = {_WHOLE: "sc:Integer", _NUMBER: "sc:Float"}
_MEDIA: Final = {
    ".jsonl": "application/jsonlines", ".csv": "text/csv", ".parquet": "application/x-parquet",
    ".json": "application/json", ".txt": "text/plain", ".html": "text/html", ".mtx": "text/plain",
}  # fmt: skip
_MEANING: Final = {
    "label": "What the document is about, or by chance another label: see READ-ME.txt before any use.",
    "probability_kept": "How often at most the noise leaves what was found in a document: not how sure a row is.",
    "prototype": "The number of the public outcome that was drawn.",
    "id": "The document's id, or a random number that leads to no document.",
    "size": "Words of the bag: the same in every row.",
    "bag": "Public words drawn at random, with their counts: no words of the document.",
}
_MEANING_OF_OTHERS: Final = {
    **_MEANING,
    "label": "What the mechanism found for the document, or by chance another label: see READ-ME.txt before any use.",
    "bag": "Words of a public list that the mechanism put there, with their counts.",
}
"""Of the rows of mechanisms that do not say what they keep (`Mechanism.tells_preserved`)."""
_NOT_A_COLUMN: Final = "Each line has a further field, the object 'bag'."
_BAG_OF_SUMMARY: Final = (
    "Public words of the theme, dealt out at random, with their counts: no words of anybody's document."
)
_SIZES: Final = (
    (1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"), (100_000_000, "10M<n<100M"), (1_000_000_000, "100M<n<1B"),
)  # fmt: skip
_DESCRIPTION: Final = (
    "Documents released under a privacy bound with Publius. READ-ME.txt says what a row means."
)
_LARGEST_READ_ME: Final = 2**22

_CONTEXT: Final[Mapping[str, Any]] = {
    "@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"}, "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in (
        "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet", "format",
        "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references",
        "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",
    )},
}  # fmt: skip


def metadata_of(release: Path, manifest: Mapping[str, Any], beside: Sequence[str] = ()) -> dict[str, bytes]:
    """The three files for a release's folder, by name; files ``beside`` it are not described.

    Raises `StorageError` for files that cannot be read.
    """
    digests = {
        name: digest for name, digest in file_digests(release).items() if name not in (*METADATA, *beside)
    }
    with os_errors("read", release):
        columns = {name: found for name in digests if (found := _columns(release / name))}
    kinds, meaning = _dictionary(manifest)
    package = _package(manifest, digests, columns, kinds, meaning)
    croissant = _croissant(manifest, digests, columns, kinds, meaning)
    return {
        CARD: _card(release, manifest, [*columns]).encode(),
        CROISSANT: _json(croissant),
        PACKAGE: _json(package),
    }


def write_metadata(release: Path, manifest: Mapping[str, Any], beside: Sequence[str] = ()) -> None:
    """Put them into the folder, in place of earlier ones."""
    for name, content in metadata_of(release, manifest, beside).items():
        with write_file(release / name) as file:
            file.write(content)


def _dictionary(manifest: Mapping[str, Any]) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """What columns hold and what they mean, by name: as the READ-ME of a summary says, limits included."""
    if "strata" not in manifest:  # no summary
        known = manifest["bound"] is None or tells_preserved(manifest)
        return _TYPES, _MEANING if known else _MEANING_OF_OTHERS
    said = {name: text for names, text in columns_of_summary(manifest) for name in names.split(", ")}
    fields = dict.fromkeys(manifest["strata"], said.get("stratum", ""))
    meaning = {**fields, **said, "bag": _BAG_OF_SUMMARY, "passage": SOURCE, "source": SOURCE}
    kinds = {**dict.fromkeys(fields, _TEXT), **_TYPES_OF_SUMMARIES}
    limits = "in all rows of a table together, with a probability of at least 95 %"
    return kinds, {**meaning, **{name: f"{said[name]}, {limits}." for name in ("low", "high")}}


def _json(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _columns(path: Path) -> list[str]:
    """The columns of a table; none for another file."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return next(csv.reader(file), [])
    if path.suffix == ".jsonl":
        first = next(read_lines(path), None)
        return [] if first is None else [*json.loads(first[1])]
    if path.suffix == ".parquet":
        with import_parquet()[1].ParquetFile(path) as file:
            return [str(name) for name in file.schema_arrow.names]
    return []


def _title(manifest: Mapping[str, Any]) -> str:
    documents = manifest.get("documents")
    return "Summary of a collection" if documents is None else f"Release of {how_many(documents, 'document')}"


def _name(path: str) -> str:
    """A file's name as an identifier: letters, digits, points, hyphens."""
    return path.lower().replace("/", "-")


def _media(path: str) -> str:
    return _MEDIA.get(Path(path).suffix, "application/octet-stream")


def _records(path: str) -> str:
    """What the rows of a table are called: apart from the file itself."""
    return f"rows-of-{_name(path)}"


def _facts(manifest: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The declared limits that belong to any description of the data."""
    for name in ("promise", "epsilon", "bound", "delta", "probability_kept", "publius_version"):
        if manifest.get(name) is not None:
            yield name, manifest[name]


def _package(
    manifest: Mapping[str, Any],
    digests: Mapping[str, str],
    columns: Mapping[str, Sequence[str]],
    kinds: Mapping[str, str],
    meaning: Mapping[str, str],
) -> dict[str, Any]:
    resources = []
    for path, digest in sorted(digests.items()):
        suffix = Path(path).suffix
        resource: dict[str, Any] = {
            "name": _name(path), "path": path, "format": suffix.removeprefix("."),
            "mediatype": _media(path),
            "hash": f"sha256:{digest}",
        }  # fmt: skip
        if path in columns:
            fields = [
                {
                    "name": name,
                    "type": _loose(_type(name, suffix, kinds), suffix),
                    **({"description": meaning[name]} if name in meaning else {}),
                }
                for name in columns[path]
            ]
            resource |= {"profile": "tabular-data-resource", "schema": {"fields": fields}}
            resource |= {} if suffix == ".parquet" else {"encoding": "utf-8"}
        resources.append(resource)
    return {
        "profile": "data-package", "name": "publius-release", "title": _title(manifest),
        "description": _DESCRIPTION, "publius": dict(_facts(manifest)), "resources": resources,
    }  # fmt: skip


def _loose(kind: str, suffix: str) -> str:
    """The type that readers can check: lists of Parquet reach them as arrays of a library's own."""
    return "any" if (kind, suffix) == ("array", ".parquet") else kind


def _type(name: str, suffix: str, kinds: Mapping[str, str]) -> str:
    found = kinds.get(name, "any")
    return _WHOLE if (name, suffix) == ("kept", ".csv") else found


def _objects(path: str, columns: Mapping[str, Sequence[str]], kinds: Mapping[str, str]) -> list[str]:
    """Columns that hold objects, for which Croissant has no type: its readers would fail at the first row."""
    return [name for name in columns.get(path, ()) if _type(name, Path(path).suffix, kinds) == "object"]


def _croissant(
    manifest: Mapping[str, Any],
    digests: Mapping[str, str],
    columns: Mapping[str, Sequence[str]],
    kinds: Mapping[str, str],
    meaning: Mapping[str, str],
) -> dict[str, Any]:
    files = [
        {
            "@type": "cr:FileObject", "@id": path, "name": path, "contentUrl": path,
            "encodingFormat": _media(path), "sha256": digest,
            **({"description": f"{_NOT_A_COLUMN} {meaning['bag']}"} if _objects(path, columns, kinds) else {}),
        }
        for path, digest in sorted(digests.items())
    ]  # fmt: skip
    records = [
        {
            "@type": "cr:RecordSet", "@id": _records(path), "name": _records(path),
            "field": [
                {
                    "@type": "cr:Field", "@id": f"{_records(path)}/{name}", "name": name,
                    "description": meaning.get(name, f"The column {name}."),
                    "dataType": _CROISSANT_TYPES.get(_type(name, Path(path).suffix, kinds), "sc:Text"),
                    **({"repeated": True} if _type(name, Path(path).suffix, kinds) == "array" else {}),
                    "source": {"fileObject": {"@id": path}, "extract": {"column": name}},
                }
                for name in names
                if name not in _objects(path, columns, kinds)
            ],
        }
        for path, names in sorted(columns.items())
    ]  # fmt: skip
    return {
        "@context": _CONTEXT, "@type": "sc:Dataset", "name": "publius-release",
        "description": f"{_title(manifest)}. {_DESCRIPTION} {manifest['promise']}",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "distribution": files, "recordSet": records,
    }  # fmt: skip


def _card(release: Path, manifest: Mapping[str, Any], tables: Sequence[str]) -> str:
    documents = manifest.get("documents")
    size = next((name for limit, name in _SIZES if (documents or 0) < limit), "n>1T")
    head = [
        f"pretty_name: {json.dumps(_title(manifest))}",
        "tags:",
        "- differential-privacy",
        "- publius",
        *([] if documents is None else ["size_categories:", f"- {size}"]),
        "configs:",
    ]
    for number, (name, files) in enumerate(_configurations(tables)):
        head += [
            f"- config_name: {json.dumps(name)}",
            *(["  default: true"] if not number else []),
            "  data_files:",
            "  - split: train",
            f"    path: {json.dumps(files)}",
        ]
    path = release / READ_ME
    said = read_bytes_limited(path, _LARGEST_READ_ME).decode() if path.is_file() else str(manifest["promise"])
    fence = "~" * 8
    return "\n".join(
        ["---", *head, "---", "", f"# {_title(manifest)}", "", f"{fence}text", said.rstrip("\n"), fence, ""]
    )


def _configurations(tables: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each table by name; the parts of a folder are one."""
    found = {Path(path).parts[0]: path for path in sorted(tables)}
    for name, path in found.items():
        yield Path(name).stem, path if path == name else f"{name}/*.parquet"
