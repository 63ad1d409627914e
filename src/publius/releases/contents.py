"""A check of a release's folder against its manifest, before anybody signs for it.

A release is its bags and its manifest and nothing else. What else lies there would be released with it; bags that are
not those of the manifest would be signed for under the promise of others.
"""

from __future__ import annotations

import csv
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final, final

from publius.documents.row_readers import import_parquet
from publius.errors import DataError, PolicyError, PubliusError
from publius.files import is_packed, os_errors, read_lines, shown
from publius.mechanisms.mechanism import PublicOutcome
from publius.releases.digests import file_digest, file_digests
from publius.releases.layout import LABEL, PROTOTYPE, record_of
from publius.releases.metadata import METADATA, metadata_of
from publius.releases.plan import BAG, DECLARED_VALUE, ORDERED_TEXT, SHUFFLED, publius_version
from publius.releases.read_me import READ_ME, label_counts, read_me
from publius.releases.summaries.names import (
    COUNTS,
    NOISY,
    PASSAGES,
    REPORT,
    ROWS,
    STRATA,
    SUBJECTS,
    THEMES,
    WORDS,
)
from publius.releases.writers import csv_rows, unmarked
from publius.text.tokenizer import PLAIN_MARKS, StopWords, joined
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.reference import Reference

MANIFEST: Final = "manifest.json"
FILES: Final = "files"
"""What the manifest calls the digests of all files beside it."""

SUMMARY: Final = "summary"
"""What the manifest of a summary calls itself."""

NOISE: Final = "discrete Laplace"
"""Of every count of a summary."""

RECEIVERS: Final = ("receivers.html", "receivers.json")
"""The page for those who receive a release, made after it: a sign-off binds it, the manifest does not."""

BESIDE: Final = (*RECEIVERS, *METADATA)
"""All that may lie in the folder and is not bound by the manifest."""

OF_SUMMARIES: Final = frozenset(
    (COUNTS, STRATA, SUBJECTS, THEMES, WORDS, ROWS, PASSAGES, NOISY, REPORT, READ_ME)
)
"""The files that a summary may hold beside its manifest."""

_SHOWN: Final = 5
_PARTS: Final = re.compile(r"bags\.parquet(/part-[0-9]{5,}\.parquet)?")
_NOT_ONE: Final = "manifest and bags are not of one release. Make the release anew"


def public_words(manifest: Mapping[str, Any]) -> Reference | Embeddings | None:
    """The public words that a release was made on, where the very same are stored here; None elsewhere."""
    try:
        if manifest.get("reference") is not None:
            found: Reference | Embeddings = Reference.load(manifest["reference"])
        elif manifest.get("embeddings") is not None:
            found = Embeddings.load(manifest["embeddings"])
        else:
            return None
    except (PubliusError, OSError):
        return None
    return found if found.sha256 == manifest["vocabulary_sha256"] else None


def check_contents(
    release: Path, manifest: Mapping[str, Any], outcomes: Sequence[PublicOutcome] | None = None
) -> dict[str, str]:
    """SHA-256 of every file of a release that holds exactly what its manifest states.

    ``outcomes`` are all that a row can name, where they are known.

    Raises `DataError` for files that are no part of a release, for bags that are more, fewer, of another size or with
    other fields than stated, and for files that are not those the manifest was written for; `PolicyError` for bags that
    are marked NOT PRIVATE. The message names files and kinds, never what stands in them.
    """
    if manifest.get("kind") == SUMMARY:
        return _check_summary(release, manifest)
    digests = _digests_of_plain(release)
    names = sorted(digests.keys() - {MANIFEST, READ_ME, *BESIDE})
    _check_bags(release, _format_of(release, set(names)), names, manifest, outcomes)
    stated, found = (
        manifest[FILES],
        {name: digest for name, digest in digests.items() if name not in (MANIFEST, *BESIDE)},
    )
    if stated != found:
        names = sorted(name for name in {*stated, *found} if stated.get(name) != found.get(name))
        raise DataError(
            f"{MANIFEST} in {shown(release)} was written for other files than lie there ({_listed(names)}): {_NOT_ONE}"
        )
    _check_metadata(release, manifest, digests)
    _check_read_me(release, manifest, [read_me(manifest, label_counts(release))])
    return digests


def _digests_of_plain(folder: Path) -> dict[str, str]:
    """The digests of a folder's files, none of which is packed: what unpacks it may carry more than is read."""
    digests = file_digests(folder)
    if packed := sorted(name for name in digests if is_packed(folder / name)):
        raise DataError(f"{_listed(packed)} in {shown(folder)} is packed, which no release is: {_NOT_ONE}")
    with os_errors("read", folder):
        folders = [each for each in folder.rglob("*") if each.is_dir() and not any(each.iterdir())]
    if folders:
        names = sorted(each.relative_to(folder).as_posix() for each in folders)
        raise DataError(
            f"{shown(folder)} holds empty folders, whose names would leave: take out {_listed(names)}"
        )
    return digests


def _check_read_me(folder: Path, manifest: Mapping[str, Any], wanted: Collection[str]) -> None:
    """`DataError` unless it is there and says what a manifest and what lies beside it say."""
    if not (folder / READ_ME).is_file():
        raise DataError(f"{shown(folder)} holds no {READ_ME}, which every release does: {_NOT_ONE}")
    with os_errors("read", folder):
        found = (folder / READ_ME).read_bytes()
    if found not in [text.encode() for text in wanted]:
        own = manifest.get("publius_version") == publius_version()
        raise DataError(
            f"{READ_ME} in {shown(folder)} is not what follows from {MANIFEST} and the rows: "
            + (
                "make it anew"
                if own
                else f"use Publius {manifest.get('publius_version')!r:.20}, which wrote it"
            )
        )


def _check_summary(folder: Path, manifest: Mapping[str, Any]) -> dict[str, str]:
    """The same of a summary, which names all of its files; its tables have the cells of the strata that it states."""
    from publius.releases.summaries.checked import wrong_files  # rows need none of it
    from publius.releases.summaries.read_me import read_mes

    digests = _digests_of_plain(folder)
    found = {name: digest for name, digest in digests.items() if name not in (MANIFEST, *BESIDE)}
    if foreign := sorted(found.keys() - OF_SUMMARIES):
        raise DataError(
            f"{shown(folder)} holds what is no part of a summary and would leave with it: take out {_listed(foreign)}"
        )
    if manifest.get(FILES) != found:
        raise DataError(
            f"{MANIFEST} in {shown(folder)} was written for other files than lie there: {_NOT_ONE}"
        )
    public = public_words(manifest)
    _check_read_me(folder, manifest, read_mes(manifest, public if isinstance(public, Reference) else None))
    try:
        with os_errors("read", folder):
            wrong = sorted(
                {*wrong_files(folder, manifest, public if isinstance(public, Reference) else None)}
            )
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, csv.Error) as error:
        if isinstance(error, PubliusError):
            raise
        raise DataError(f"{shown(folder)} is damaged, or of another version: make the summary anew") from None
    if wrong:
        raise DataError(
            f"{_listed(wrong)} in {shown(folder)} cannot be what {MANIFEST} and the tables beside it state: they are "
            "not of one summary. Make it anew"
        )
    _check_metadata(folder, manifest, digests)
    return digests


def check_page(folder: Path, manifest: Mapping[str, Any]) -> None:
    """`DataError` unless the page of a summary is the one that its manifest and tables make, picture by picture."""
    from publius.releases.summaries.checked import drawn_by, is_page

    public = public_words(manifest)
    with os_errors("read", folder):
        page = (folder / REPORT).read_bytes()
    if not is_page(page, folder, manifest, public if isinstance(public, Reference) else None):
        raise DataError(
            f"{REPORT} in {shown(folder)} is not the page that {MANIFEST} and the tables make. Pictures are drawn "
            f"alike by one version alone ({drawn_by(manifest)}): sign with that one, or make the summary anew"
        )


def _check_metadata(folder: Path, manifest: Mapping[str, Any], digests: Collection[str]) -> None:
    """`DataError` for metadata that say something else than the release does: they are made again and compared."""
    lying = [name for name in METADATA if name in digests]
    if not lying:
        return
    try:
        wanted = metadata_of(folder, manifest, RECEIVERS)
        with os_errors("read", folder):
            changed = [name for name in lying if (folder / name).read_bytes() != wanted[name]]
    except (ValueError, LookupError, TypeError, AttributeError, csv.Error) as error:
        if isinstance(error, PubliusError):
            raise
        raise DataError(f"{shown(folder)} is damaged, or of another version: make the release anew") from None
    if changed:
        raise DataError(
            f"{_listed(changed)} in {shown(folder)} describes another release, or was changed: make it anew with "
            "publius signoff --metadata, or take it out"
        )


@final
@dataclass(frozen=True, slots=True)
class _Bag:
    """A row as it stands in a file.

    Attributes:
        size: how many words it has.
        fields: their names.
        id: its id.
        words, counts: of its bag; none where the words are in order, or elsewhere.
        said: label, probability_kept and prototype, those that it has.
    """

    size: int
    fields: Collection[str]
    id: object
    words: Collection[str]
    counts: Collection[object]
    said: Mapping[str, object]
    order: _Order | None = None


@final
@dataclass(frozen=True, slots=True)
class _Order:
    """The words of a row of ordered text as they follow each other, and the places of those kept.

    ``text`` and ``kind`` are what a row says beside them; None where its format does not.
    """

    words: Sequence[object]
    kept: Sequence[object]
    text: object = None
    kind: object = None


@final
@dataclass(frozen=True, slots=True)
class _Format:
    """One way of writing bags: the files of it, and a reader of each bag's size and fields."""

    is_own: Callable[[str], bool]
    needed: frozenset[str]
    bag: tuple[str, ...]
    words: tuple[str, ...]
    ordered: tuple[str, ...]
    read: Callable[[Path, Sequence[str]], Iterator[_Bag]]

    def fields(self, manifest: Mapping[str, Any]) -> list[str]:
        """The fields that each row of a release has, in their order."""
        labelled = "probability_kept" in manifest
        first, kept = [*(LABEL if labelled else ()), "id"], manifest["labels"]
        if manifest["kind"] == DECLARED_VALUE:
            return [*first, *kept]
        if manifest["kind"] == BAG:
            return [*first, "size", *self.bag, *(PROTOTYPE if labelled else ()), *kept, *self.words]
        return [*first, "size", *self.bag, "kind", *kept, *self.ordered]


def _format_of(release: Path, names: set[str]) -> _Format:
    found = next((each for each in _FORMATS if each.needed <= names and any(map(each.is_own, names))), None)
    if found is None:
        raise DataError(f"{shown(release)} holds no bags: name the folder of a finished release")
    if foreign := sorted(name for name in names if not found.is_own(name)):
        raise DataError(
            f"{shown(release)} holds what is no part of a release and would leave with it: take out {_listed(foreign)}"
        )
    return found


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more


def _check_bags(
    release: Path,
    format: _Format,
    names: Sequence[str],
    manifest: Mapping[str, Any],
    outcomes: Sequence[PublicOutcome] | None,
) -> None:
    """Compare marks, fields, sizes, labels and the number of bags with the manifest's."""
    worded = manifest["kind"] in (BAG, ORDERED_TEXT)
    fields, size = format.fields(manifest), manifest["size"] if worded else None
    public = public_words(manifest) if worded else None
    places = None if public is None else {word: place for place, word in enumerate(public.vocabulary)}
    allowed = _kept_tokens(manifest) if manifest["kind"] == ORDERED_TEXT else None
    numbered = manifest.get("numbers") == SHUFFLED
    named = _Named(outcomes, manifest.get("probability_kept"))
    bag, count = "", 0
    bags = format.read(release, names)
    while True:
        bag = f"bag {count + 1:,} in {shown(release)}"
        try:
            with os_errors("read", release):
                row = next(bags)
        except StopIteration:
            break
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            if isinstance(error, PubliusError):
                raise
            raise DataError(f"{bag} is damaged: make the release anew") from None
        if "warning" in row.fields:
            raise PolicyError(
                f"{bag} is marked NOT PRIVATE: it is of an experiment, which promises nothing, whatever the manifest "
                "says. Nobody can sign for it"
            )
        if [*row.fields] != fields:
            raise DataError(
                f"{bag} has other fields than the manifest states, or in another order: {_NOT_ONE}"
            )
        if (row.order is None) is (manifest["kind"] == ORDERED_TEXT):
            raise DataError(f"{bag} has an order where the manifest states none, or the reverse: {_NOT_ONE}")
        if row.size != size and size is not None:
            raise DataError(f"{bag} has {row.size:,} words, and the manifest states {size:,}: {_NOT_ONE}")
        count += 1
        if numbered and row.id != str(count):
            raise DataError(
                f"{bag} has an id, and the manifest states that rows are numbered from 1: {_NOT_ONE}"
            )
        if not isinstance(row.id, str) or not named.fits(row.said):
            raise DataError(f"{bag} says what no row of this release can say: {_NOT_ONE}")
        if not all(type(each) is int and each > 0 for each in row.counts):
            raise DataError(f"{bag} counts words in other than whole numbers: {_NOT_ONE}")
        if row.order is not None and not _in_order(row.order, row, allowed):
            raise DataError(
                f"{bag} has other words in its text than it counts, or keeps what none keeps: {_NOT_ONE}"
            )
        if places is not None:
            found = [places.get(word, -1) for word in row.words]
            if -1 in found:
                raise DataError(
                    f"{bag} has a word that is none of the public ones that the release was made of: {_NOT_ONE}"
                )
            if (row.order is None or format.bag) and any(one >= other for one, other in pairwise(found)):
                raise DataError(f"{bag} has its words in another order than a release has them: {_NOT_ONE}")
    if count != manifest["documents"]:
        raise DataError(
            f"{shown(release)} holds {count:,} bags, and its manifest states {manifest['documents']:,}: {_NOT_ONE}"
        )


def _kept_tokens(manifest: Mapping[str, Any]) -> frozenset[str] | None:
    """Tokens that may stand between words of an ordered text; None where the list of stop words is not to be had."""
    keep = manifest["kept_between"]
    allowed = PLAIN_MARKS if keep in ("punctuation", "all") else frozenset[str]()
    if keep not in ("stop-words", "all"):
        return allowed
    try:
        stops = StopWords.load(manifest["stop_words"])
    except (PubliusError, OSError):
        return None
    return allowed | stops.words if stops.sha256 == manifest["stop_words_sha256"] else None


def _in_order(order: _Order, row: _Bag, allowed: Collection[str] | None) -> bool:
    """Whether an ordered text is of the words that its row counts, with what may be kept between them."""
    words = [each for each in order.words if type(each) is str]
    kept = [each for each in order.kept if type(each) is int]
    if len(words) < len(order.words) or len(kept) < len(order.kept):
        return False
    between = {*kept}
    if kept != sorted(between) or (kept and not 0 <= kept[0] <= kept[-1] < len(words)):
        return False
    free = [word for place, word in enumerate(words) if place not in between]
    return (
        Counter(free) == dict(zip(row.words, row.counts, strict=True))
        and (allowed is None or all(words[place] in allowed for place in kept))
        and order.text in (None, joined(words))
        and order.kind in (None, ORDERED_TEXT)
    )


@final
class _Named:
    """What rows may say beside their words: the label of an outcome, and the probability that is public."""

    def __init__(self, outcomes: Sequence[PublicOutcome] | None, kept: object) -> None:
        self._labels = None if outcomes is None else {each.label for each in outcomes}
        self._of_prototype = {each.prototype: each.label for each in outcomes or ()}
        self._known, self._kept = outcomes is not None, kept

    def fits(self, said: Mapping[str, object]) -> bool:
        """Whether a row can say so; where no outcome is known a prototype has one label all the same."""
        if said.get("probability_kept", self._kept) != self._kept:
            return False
        label, prototype = said.get("label", ""), said.get("prototype", 0)
        if not isinstance(label, str) or type(prototype) is not int or prototype < 0:
            return False
        if "label" in said and self._labels is not None and label not in self._labels:
            return False
        if not {"label", "prototype"} <= said.keys():
            return True
        if self._known:
            return self._of_prototype.get(prototype) == label
        return self._of_prototype.setdefault(prototype, label) == label


def _said(row: Mapping[str, object]) -> dict[str, object]:
    return {name: row[name] for name in (*LABEL, *PROTOTYPE) if name in row}


def _json_lines(release: Path, names: Sequence[str]) -> Iterator[_Bag]:
    for _, line in read_lines(release / "bags.jsonl"):
        record = record_of(line)
        bag = record.get("bag", {})
        size = 0 if [*record][:1] == ["label"] and "bag" not in record else sum(record["bag"].values())
        if size != record.get("size", 0) or type(record.get("size", 0)) is not int:
            raise ValueError
        order = None
        if "kind" in record:
            words, kept = record["words"], record["kept"]
            if not (type(words) is type(kept) is list):  # what stands in anything else nobody would look at
                raise ValueError
            order = _Order(words, kept, str(record["text"]), str(record["kind"]))
        yield _Bag(size, record.keys(), record["id"], bag, bag.values(), _said(record), order)


def _csv(release: Path, names: Sequence[str]) -> Iterator[_Bag]:
    state = hashlib.sha256()
    with (release / "bags.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, strict=True)
        head = next(rows)
        state.update(csv_rows([head]))
        fields = [unmarked(name) for name in head]
        places = {name: place for place, name in enumerate(fields)}
        at, id, word = places.get("count"), places["id"], places.get("word")
        last = (
            min(places[name] for name in ("position", "word") if name in places) if word is not None else None
        )
        for number, lines in groupby(rows, lambda row: row[id]):
            bag = list(lines)
            state.update(csv_rows(bag))
            if any(len(row) != len(fields) or row[:last] != bag[0][:last] for row in bag):
                raise ValueError
            words = [] if word is None else [unmarked(row[word]) for row in bag]
            counts = [1 if at is None else int(row[at]) for row in bag]
            order = None
            if word is not None and "position" in places:
                order = _order_of(bag, places, words)
                between = {*order.kept}
                free = Counter(each for place, each in enumerate(words) if place not in between)
                words, counts = [*free], [*free.values()]
            if word is not None and str(sum(counts)) != bag[0][places["size"]]:
                raise ValueError
            said = _said(dict(zip(fields, map(unmarked, bag[0]), strict=True)))
            for name, kind in (("probability_kept", float), ("prototype", int)):
                if name in said:
                    said[name] = kind(str(said[name]))
            yield _Bag(sum(counts), fields, number, words, counts, said, order)
    if state.hexdigest() != file_digest(release / "bags.csv"):
        raise ValueError


def _order_of(bag: Sequence[Sequence[str]], places: Mapping[str, int], words: Sequence[str]) -> _Order:
    """The order of an ordered text whose rows are numbered from 1; `ValueError` where they are not."""
    position, kept = places["position"], places["kept"]
    if any(
        row[position] != str(place) or row[kept] not in ("0", "1") for place, row in enumerate(bag, start=1)
    ):
        raise ValueError
    marked = [place for place, row in enumerate(bag) if row[kept] == "1"]
    return _Order(words, marked, None, bag[0][places["kind"]])


def _parquet(release: Path, names: Sequence[str]) -> Iterator[_Bag]:
    parquet = import_parquet()[1]
    for name in names:
        with parquet.ParquetFile(release / name) as file:
            marks = {*(file.schema_arrow.metadata or {}), *(file.metadata.metadata or {})}
            if marks - {b"warning", b"kind", b"ARROW:schema"}:
                raise ValueError
            fields = [*file.schema_arrow.names, *(("warning",) if b"warning" in marks else ())]
            read = [
                *({"size", "id", "words", "counts", "kind", "kept", "text", *LABEL, *PROTOTYPE} & {*fields})
            ]
            for batch in file.iter_batches(columns=read):
                for row in batch.to_pylist():
                    words, counts, order = row.get("words", ()), row.get("counts", ()), None
                    if "text" in row and "kind" in row:
                        order = _Order([*words], [*row["kept"]], str(row["text"]), str(row["kind"]))
                        between = {*row["kept"]}
                        free = Counter(each for place, each in enumerate(words) if place not in between)
                        words, counts = [*free], [*free.values()]
                        if sum(counts) != row["size"]:
                            raise ValueError
                    yield _Bag(row.get("size", 0), fields, row["id"], words, counts, _said(row), order)


def _matrix(release: Path, names: Sequence[str]) -> Iterator[_Bag]:
    words: Collection[str] = [line.decode() for _, line in read_lines(release / "vocabulary.txt")]
    columns, rows, entries = len(words), 0, 0
    lines = read_lines(release / "bags.mtx")
    if next(lines)[1] != b"%%MatrixMarket matrix coordinate real general":
        raise ValueError
    line = next(lines)[1]
    if line.startswith(b"% NOT PRIVATE"):
        yield _Bag(0, ("warning",), "", (), (), {})
    size_line = line
    counted = groupby((_entry(line, columns) for _, line in lines), lambda entry: entry[0])
    for (_, line), (row, found) in zip(read_lines(release / "documents.jsonl"), counted, strict=True):
        record, entered = record_of(line), [*found]
        counts = [count for _, _, count in entered]
        if any(one >= other for (_, one, _), (_, other, _) in pairwise(entered)):
            raise ValueError
        rows, entries = rows + 1, entries + len(counts)
        if row != rows or sum(counts) != record["size"]:
            raise ValueError
        yield _Bag(record["size"], record.keys(), record["id"], words, counts, _said(record))
        words = ()
    if size_line != b"%20d %20d %20d" % (
        rows,
        columns,
        entries,
    ):  # as wide as it is written: spaces could say more
        raise ValueError


_ENTRY: Final = re.compile(rb"([1-9][0-9]{0,17}) ([1-9][0-9]{0,17}) ([1-9][0-9]{0,17})")


def _entry(line: bytes, columns: int) -> tuple[int, int, int]:
    """Row, column and count of a line of a matrix."""
    found = _ENTRY.fullmatch(line)
    if found is None or int(found[2]) > columns:
        raise ValueError
    return int(found[1]), int(found[2]), int(found[3])


def _format(files: Collection[str], *rest: Any) -> _Format:
    return _Format(files.__contains__, frozenset(files), *rest)


_FORMATS: Final = (
    _format(("bags.jsonl",), ("bag",), (), ("words", "kept", "text"), _json_lines),
    _format(("bags.csv",), (), ("word", "count"), ("position", "word", "kept"), _csv),
    _Format(
        lambda name: bool(_PARTS.fullmatch(name)), frozenset(), (), ("words", "counts"),
        ("words", "kept", "text"), _parquet,
    ),
    _format(("bags.mtx", "documents.jsonl", "vocabulary.txt"), (), (), (), _matrix),
)  # fmt: skip
