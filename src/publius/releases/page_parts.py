"""The parts of the page to sign that tell of the release, from its manifest and its files."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from publius.errors import DataError, how_many
from publius.files import read_lines, shown
from publius.mechanisms.registry import tells_preserved
from publius.privacy import promise
from publius.privacy.guarantee import STRENGTHS, strength_of
from publius.privacy.promise import rounded_up
from publius.releases.contents import RECEIVERS, SUMMARY
from publius.releases.measured import Finding, Measured
from publius.releases.plan import AS_READ, BAG, DECLARED_VALUE, OWN_IDS, SHUFFLED
from publius.releases.read_me import KNOWN, label_counts

_SAMPLE: Final = 1_000
_SHOWN_WORDS: Final = 6
_SHOWN_LABELS: Final = 12
_LEVELS: Final = {"word": "word by word", "document": "whole documents"}


def lead(manifest: Mapping[str, Any]) -> str:
    """The release in a line."""
    if manifest["kind"] == SUMMARY:
        return "A summary of a collection, its authors protected"
    return f"{how_many(manifest['documents'], 'row')}, one for each document"


def references(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Digests of the public things that the promise rests on, by name."""
    found = {
        _vocabulary_of(manifest): manifest.get("vocabulary_sha256"),
        "stop words": manifest.get("stop_words_sha256"),
    }
    return {name: str(value) for name, value in found.items() if value}


def _vocabulary_of(manifest: Mapping[str, Any]) -> str:
    if manifest["kind"] == DECLARED_VALUE:
        return "declared values"
    return "reference" if manifest.get("reference") else "word vectors"


def released(manifest: Mapping[str, Any], release: Path, *, pages: bool = False) -> Iterator[tuple[str, str]]:
    """Name and value of each thing that leaves, the ``pages`` for receivers among it where they are made."""
    if manifest["kind"] == SUMMARY:
        yield from _released_summary(manifest)
    else:
        yield from _released_rows(manifest)
        if labels := _labels_in(release):
            yield "labels", labels
    own = [path for path in release.rglob("*") if path.is_file() and path.name not in RECEIVERS]
    beside = f", and {' and '.join(RECEIVERS)} beside them" if pages else ""
    yield "files", how_many(len(own), "file") + beside
    yield "made by", f"Publius {manifest['publius_version']}"


def _labels_in(release: Path) -> str:
    """Which labels stand in the rows, and in how many: they leave, whatever they tell."""
    counts = label_counts(release).most_common()
    more = f" and {len(counts) - _SHOWN_LABELS:,} more" if len(counts) > _SHOWN_LABELS else ""
    return ", ".join(f"{label} ({count:,})" for label, count in counts[:_SHOWN_LABELS]) + more


def bound_files(files: Mapping[str, str], *, for_receivers: bool) -> str:
    """Which files a page's digest is of, in words."""
    if for_receivers:
        return f"{how_many(len(files), 'file')} of the release, without {' and '.join(RECEIVERS)}"
    theirs = ", the pages for receivers among them" if any(name in files for name in RECEIVERS) else ""
    return f"all {how_many(len(files), 'file')} of the release{theirs}"


def left_out(manifest: Mapping[str, Any]) -> list[str]:
    """What the collection held and the release does not."""
    if manifest["kind"] == SUMMARY:
        return ["Documents beyond the number that counts of each author, and words that are not public."]
    missing = manifest.get("missing", 0)
    return [
        f"{how_many(missing, 'row')} of the collection could not be read and left out."
        if missing
        else "Rows left out: none. Every row of the collection that was read has its row here.",
        *(
            ["Fields left out: all but those that are kept."]
            if manifest["labels"]
            else ["Fields left out: all. No date leaves, so no change over time can be seen."]
        ),
    ]


def _released_rows(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    unit = {
        BAG: "a bag of words without order",
        DECLARED_VALUE: "its declared value, or by chance another",
    }.get(manifest["kind"], "a text of words in order")
    yield "documents", f"{manifest['documents']:,}, each {unit}"
    size_from = manifest["size_from"]
    said = "chosen beforehand" if size_from == "given" else f"taken from {size_from}"
    if manifest["kind"] != DECLARED_VALUE:
        yield "words of each", f"{manifest['size']:,}, a number {said}"
    yield "kept public", ", ".join(manifest["labels"]) or "no field beside the id"
    yield "mechanism", _mechanism(manifest)
    if manifest.get("reference"):
        yield "public reference", str(manifest["reference"])
        yield "its words", str(manifest.get("reference_words") or "how they were counted is not known")
    if manifest.get("embeddings"):
        yield "public word vectors", str(manifest["embeddings"])
        if manifest.get("reference_words"):
            yield "their words", str(manifest["reference_words"])


def _released_summary(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    most = manifest["documents_per_author"]
    yield "counted", f"contributed documents, at most {most} an author, never all that was written"
    yield "who is protected", "each author, with all documents together"
    yield "counted by", ", ".join(manifest["strata"]) or "nothing beside themes and subjects"
    for name, table in manifest["tables"].items():
        yield (
            name,
            f"{table['cells']:,} counts, epsilon {table['epsilon']}, {table['noise']} of scale {table['scale']}",
        )
    yield "public reference", str(manifest["reference"])
    if "passages" in manifest:
        yield "quoted passages", str(manifest["passages"])


def _mechanism(manifest: Mapping[str, Any]) -> str:
    kept = manifest.get("preserve") if manifest.get("bound") is None or tells_preserved(manifest) else None
    level = _LEVELS[manifest["level"]]
    return f"{manifest['mechanism']}, {level}" + (f", to keep the {kept}" if kept else "")


def _agreeing(kept: Sequence[str]) -> str:
    return f" that agree in {', '.join(map(repr, kept))}" if kept else ""


def constants(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Name, value and meaning of what bounds a release."""
    if manifest["kind"] == SUMMARY:
        yield (
            "epsilon",
            rounded_up(manifest["epsilon"], 6),
            "for an author who is replaced by another, with all documents",
        )
        half = manifest["epsilon_added_or_left_out"]
        yield "epsilon", rounded_up(half, 6), "for an author who is added or left out"
        yield "delta", "0", "the promise has no exception"
        yield (
            "evidence",
            _by(manifest["evidence"]),
            KNOWN.get(manifest["evidence"], "how the promise is known to hold"),
        )
        return
    bound = manifest.get("bound")
    if bound is not None:
        yield (
            "bound",
            f"{rounded_up(bound, 6)} nats",
            f"between any two documents{_agreeing(manifest['labels'])}, whatever they say and however long they are",
        )
    else:
        yield (
            "bound",
            "none",
            "no bound between any two documents is stated; documents far apart can be told apart",
        )
    if manifest["epsilon"] is None:
        yield "epsilon", "none", "nothing is stated per unit of distance"
    elif bound is not None:
        yield (
            "epsilon",
            f"{rounded_up(manifest['epsilon'], 6)} nats",
            "per unit of distance between two documents",
        )
    else:
        total = manifest["epsilon_total"]
        yield "epsilon", f"{rounded_up(manifest['epsilon'], 6)} nats", "per word and unit of word distance"
        yield "epsilon times N", f"{rounded_up(total, 6)} nats", "per unit of distance between two documents"
    if manifest.get("delta"):
        part = "the promise" if bound is None else "what is stated per unit"
        yield "delta", rounded_up(manifest["delta"], 2), f"probability with which {part} can fail"
    yield (
        "evidence",
        _by(manifest["evidence"]),
        KNOWN.get(manifest["evidence"], "how the promise is known to hold"),
    )


def _by(evidence: str) -> str:
    """The word for how the promise is known, with whose word it is where that could be taken for an authority's."""
    return f"{evidence} by Publius" if evidence == "certified" else evidence


def scale(manifest: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The scale of words with the place of this release's bound; None where there is no bound."""
    bound = manifest.get("bound")
    if bound is None:
        return None
    names = [
        *((name, f"to {limit:g}") for limit, name in STRENGTHS),
        ("empty", f"above {STRENGTHS[-1][0]:g}"),
    ]
    return [{"name": name, "limit": limit, "here": strength_of(bound) == name} for name, limit in names]


def links(manifest: Mapping[str, Any], release: Path) -> Iterator[str]:
    """Who can tell which document a row was made from, in sentences."""
    if manifest["kind"] == SUMMARY:
        yield "No row belongs to anybody: rows are made from counts, and words are drawn from public ones."
        yield "A further summary of the same authors adds its epsilon to this one's."
        return
    ids = ids_of(manifest, release)
    if ids == SHUFFLED:
        yield (
            "Documents are numbered, and stand in the files, in a random order that was kept nowhere: neither a "
            "number nor a place tells which text a row was made from."
        )
    elif ids == AS_READ:
        yield (
            "Documents are numbered in the order in which they were read. Whoever has the file they were read from "
            "knows which bag belongs to which text."
        )
    else:
        yield "Each document is released under its id. Whoever knows an id knows whose bag it is."
    if manifest["labels"]:
        yield f"Each bag is linked with what was kept public: {', '.join(manifest['labels'])}."
    bound = manifest.get("bound")
    if bound is None:
        yield (
            "Whoever holds the originals may find out which text a bag came from: for texts that lie far apart no "
            "useful bound is promised."
        )
    else:
        yield (
            "Whoever holds the originals and sees one bag alone, without its id"
            f"{' and what was kept' if manifest['labels'] else ''}, learns which text it came from no better than the "
            f"bound of {rounded_up(bound, 6)} nats allows; with the other bags, no better than twice the bound."
        )
    if ids == SHUFFLED:
        yield (
            "A second release of the same documents has other numbers in another order: its rows can be matched with "
            "these only by what both show, and both exponents add up."
        )
    else:
        yield (
            "A second release of the same documents can be linked with this one by its ids, and both exponents add up."
        )


def ids_of(manifest: Mapping[str, Any], release: Path) -> str | None:
    """The kind of id that each row has; None of a summary, whose rows belong to nobody."""
    if manifest["kind"] == SUMMARY:
        return None
    if manifest.get("numbers") == SHUFFLED:
        return SHUFFLED
    return AS_READ if manifest.get("numbers") or _numbered(release) else OWN_IDS


def _numbered(release: Path) -> bool:
    """Whether the ids are the numbers 1, 2, 3, as far as they are looked at; only JSON lines are."""
    path = release / "bags.jsonl"
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            ids = [json.loads(line)["id"] for line in itertools.islice(file, _SAMPLE)]
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError(f"{shown(path)} is damaged: make the release anew") from None
    numbers = [int(each) for each in ids if isinstance(each, str) and each.isdigit()]
    return len(numbers) == len(ids) and numbers == sorted(numbers) and numbers[:1] == [1]


def groups(measured: Measured | None) -> list[tuple[str, Sequence[Finding]]]:
    """The findings by task, the strongest first."""
    if measured is None:
        return []
    found = sorted(measured.findings, key=lambda each: each.task)
    return [
        (task, sorted(group, key=lambda each: -each.released.value))
        for task, group in itertools.groupby(found, lambda each: each.task)
    ]


def shown_row(row: Mapping[str, Any]) -> str:
    """A row as it stands in the file, its bag cut."""
    bag = row.get("bag")
    if isinstance(bag, Mapping) and len(bag) > _SHOWN_WORDS:
        row = {**row, "bag": {**dict(list(bag.items())[:_SHOWN_WORDS]), "…": "…"}}
    return json.dumps(row, ensure_ascii=False)


_KEYS: Final = {
    "label": "label: what the row says.",
    "probability_kept": "probability_kept: how often at most the noise leaves what was found, not how sure it is; a "
    "label that several outcomes share is left more often.",
    "id": "id: the name of the row.",
    "bag": "bag: words, and how often each; size: how many in all.",
    "words": "words, text: the same in their order, with what is kept between them.",
    "kept": "kept: the places of what stands as in the document.",
    "prototype": "prototype: number of the public list that they are from.",
}
"""What the keys of a row mean, for whoever reads the first side."""


def row_in_words(row: Mapping[str, Any]) -> str:
    """The keys of a row in words, but for fields that were kept."""
    return " ".join(said for key, said in _KEYS.items() if key in row)


def sample_row(release: Path) -> dict[str, Any] | None:
    """The first row of a release in JSON lines: it leaves with the release, so it may stand on the page."""
    path = release / "bags.jsonl"
    if not path.is_file():
        return None
    _, line = next(read_lines(path))
    row: dict[str, Any] = json.loads(line)
    return row


def percent(value: float | None) -> str:
    """A share for people: "8.4 %"; a dash for none."""
    return "–" if value is None else _unbroken(promise.percent(value))


def percent_up(value: float) -> str:
    """A share that is an upper limit, for people: rounded up."""
    return _unbroken(promise.percent_up(value))


def percent_down(value: float) -> str:
    """A share that is a lower limit, for people: rounded down."""
    return _unbroken(promise.percent_down(value))


def _unbroken(said: str) -> str:
    return said.replace(" ", "\N{NO-BREAK SPACE}")


def number(value: float) -> str:
    """A count, or nats that a ledger has counted, for people, thousands grouped: rounded up."""
    return f"{value:,.0f}" if value == int(value) else promise.nats(value)
