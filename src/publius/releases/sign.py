"""The page that a person signs for a release, and whether a page and a release belong together.

What is signed was drawn by this installation and is whole (`publius.releases.register`); the page names the digest of
its manifest, which holds those of all other files. Statements of a manifest are shown, never derived again.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import msgspec

from publius.errors import AnyPath, DataError, PolicyError, UsageError, shown
from publius.files.reading import read_bytes_limited
from publius.pages.facts import facts_of
from publius.pages.page import write_page
from publius.releases.manifest import LabelManifest, Manifest, SummaryManifest
from publius.releases.register import MANIFEST, made_here, note, stands_in_register, were_released, whole
from publius.releases.rows import ReleasedFolder
from publius.settings import AUTHORS_AT_LEAST, People, Reading
from publius.statistics import Interval
from publius.text.normal_form import author_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from publius.classifiers.classifier import Classifier
    from publius.documents.corpus import Corpus

_RECORD: Final = re.compile(rb'<script type="application/json" id="publius">(.*?)</script>', re.DOTALL)
_BY_DOCUMENTS: Final = (
    (1, "1 document"), (5, "2 to 5 documents"), (20, "6 to 20 documents"), (math.inf, "more documents"),
)  # fmt: skip
_TOLD: Final = {"texts": "other texts", "originals": "the originals", "topic": "topics"}
_DRAWN: Final = 4
"""Attackers in the picture; the table has all."""
_TYPED: Final = 240
"""Characters of what is typed for a page."""


class _Attempt(msgspec.Struct, kw_only=True):
    attacker: str
    knows: str
    task: str
    mechanism: str | None = None
    told: list[str] = []
    epsilon: float | None
    identified: Interval
    baseline: Interval
    clear: Interval | None = None
    candidates: float = 0.0


class _Results(msgspec.Struct):
    """What is read of an evaluation."""

    kind: str
    as_is: bool
    candidates: float
    command: str
    attackers: list[_Attempt]
    public: list[dict[str, Any]] = []
    facts: dict[str, Any] = {}
    data: dict[str, Any] = {}


@final
@dataclass(frozen=True, slots=True)
class Counted:
    """What was counted in the private file: for the curator alone."""

    documents: int
    authors: int | None  # None where nobody said who wrote them
    by_documents: tuple[tuple[str, int], ...]  # authors by how many documents they wrote
    largest: int  # documents of the author with most; 1 where nobody said who wrote them
    cells: tuple[tuple[str, int, int], ...]
    """For each kept column its cells (with the label, where labels leave), and how many have fewer than five authors."""


def sign(
    release: AnyPath, output: AnyPath, *, texts: AnyPath | None = None, reading: Reading = Reading(),
    people: People = People(), evaluation: AnyPath | None = None, purpose: str | None = None,
    recipient: str | None = None, contact: str | None = None, review: str | None = None,
    public_page: AnyPath | None = None,
) -> None:  # fmt: skip
    """Write the curator's page of a release, which a person signs, and on demand the recipients'.

    In ``texts``, the private file, is counted what the curator should know before signing; ``public_page`` shows nothing
    of that. ``evaluation`` is the folder of an evaluation of public texts at the epsilon of the release.
    """
    typed = {"purpose": purpose, "recipient": recipient, "contact": contact, "review": review}
    check_typed(typed)
    manifest = made_here(release)
    folder = Path(os.path.realpath(release))
    for page in [output] if public_page is None else [output, public_page]:
        if Path(os.path.realpath(page)).is_relative_to(folder):
            raise UsageError(f"{shown(page)} lies in the release, which is whole as it is: write the page beside it")
        if os.path.lexists(page):  # it may be signed
            raise UsageError(f"{shown(page)} is there already: name a new file, or remove it")
    if public_page is not None and os.path.realpath(public_page) == os.path.realpath(output):
        raise UsageError("--output and --public-page are two pages: give them two names")
    private = None
    if texts is not None:
        from publius.documents.corpus import open_corpus

        if field := getattr(manifest, "field", None):
            reading = replace(reading, text_field=field, raw=True)
        private = open_corpus(
            os.fspath(texts), reading, author_field=people.author_field, no_author=people.no_author,
            fields=getattr(manifest, "kept", ()),
        )  # fmt: skip
    found = None if evaluation is None else _evaluation(Path(evaluation), manifest, private)
    counted = None if private is None else _counted(private, manifest)
    drawn = ReleasedFolder(folder, manifest)
    if isinstance(manifest, SummaryManifest):
        facts = facts_of(manifest, None, None) | _counts(drawn)
    else:
        table = drawn.table("labels") if isinstance(manifest, LabelManifest) else None
        facts = facts_of(manifest, next(drawn.rows(), None), table)
    digest = hashlib.sha256(read_bytes_limited(folder / MANIFEST)).hexdigest()
    signed = typed | {"evaluation": found, "counted": counted, "digest": digest}
    more: dict[str, Any] = {"curator": False, "counted": None}
    for place, own, mode in ((output, {"curator": True}, 0o600), (public_page, more, 0o666)):
        if place is not None:
            write_page(place, "release.html", facts | {"signed": signed | own}, mode=mode)
            note(read_bytes_limited(place))


def _counts(drawn: ReleasedFolder) -> dict[str, Any]:
    """The counts of a summary that noise does not hide: statements where some were asked, else subjects or topics."""
    of = next((name for name in ("statements", "subjects", "topics", "groups") if name in drawn.tables), "subjects")
    name = {"statements": "statement", "groups": "group"}.get(of, "label")
    count = "authors" if of == "statements" else "documents"
    counts: list[dict[str, Any]] = [
        {"label": row[name], "value": int(row[count]), "low": int(row["low"]), "high": int(row["high"])}
        for row in (drawn.table(of) if of in drawn.tables else ())
        if int(row["low"]) > 0
    ]
    return {"counts": sorted(counts, key=lambda each: -each["value"]), "of": of}


def check_typed(typed: Mapping[str, str | None]) -> None:
    """`UsageError` for what is too long for a printed side, and for a review that is no date YYYY-MM-DD."""
    for name, said in typed.items():
        if said is not None and len(said) > _TYPED:
            raise UsageError(f"--{name} has {len(said)} characters: at most {_TYPED} fit the printed side")
    if review := typed.get("review"):
        with contextlib.suppress(ValueError):
            if date.fromisoformat(review).isoformat() == review:
                return
        raise UsageError(f"--review is a date as 2027-12-31, not {review!r:.40}")


@final
@dataclass(frozen=True, slots=True)
class Verified:
    """A release that is whole."""

    files: int  # its manifest among them
    here: bool  # whether this installation has drawn it
    page: bool | None  # whether the page is of this release; None without a page
    as_signed: bool | None  # whether the page is as `sign` wrote it here; None where the register cannot tell
    promise: str


def verify(release: AnyPath, page: AnyPath | None = None) -> Verified:
    """Whether a folder holds exactly the files its manifest names, and a page is of this release."""
    manifest, content = whole(release)
    same = None if page is None else _digest_on(page) == hashlib.sha256(content).hexdigest()
    here = stands_in_register(content)
    signed = stands_in_register(read_bytes_limited(page)) if page is not None and here else None
    return Verified(len(manifest.files) + 1, here, same, signed, manifest.promise)


def _digest_on(page: AnyPath) -> str:
    record = _RECORD.search(read_bytes_limited(page))
    try:
        if record is not None:
            return str(msgspec.json.decode(record[1])["manifest_sha256"])
    except (msgspec.MsgspecError, KeyError, TypeError):
        pass
    raise DataError(f"{shown(page)} is no page that publius sign has written: it names no manifest")


def _evaluation(folder: Path, manifest: Manifest, private: Corpus | None) -> dict[str, Any]:
    """The attacks on authors at the epsilon of the release, as a table and a picture."""
    try:
        results = msgspec.json.decode(read_bytes_limited(folder / "results.json"), type=_Results)
    except msgspec.MsgspecError:
        raise DataError(f"{shown(folder)} is no evaluation: name the folder that publius evaluate wrote") from None
    if results.as_is:
        raise PolicyError(
            f"{shown(folder)} attacked private texts as they are, which no page may show: evaluate public texts"
        )
    attacked = {*results.data.get("sha256", ())}
    if were_released(attacked) or (private is not None and attacked.intersection(private.digests())):
        raise PolicyError(
            f"{shown(folder)} attacked a file that was released, so its figures are of private texts: evaluate public ones"
        )
    stated = msgspec.to_builtins(manifest)
    if results.kind == "labels":
        stated["classifier"] = (stated.get("classifier") or {}).get("sha256")
    wrong = [name for name, value in _measured(results, stated).items() if stated.get(name) != value]
    if wrong:
        raise DataError(
            f"{shown(folder)} measured something else than what was released: {', '.join(wrong)} differ. Evaluate what "
            "release.html says"
        )
    made = stated.get("mechanism")
    attacks = [
        each for each in results.attackers
        if each.task == "author" and made in (None, each.mechanism) and not {"originals", "topic"} <= {*each.told}
    ]  # fmt: skip  # who holds the originals knows their topics, and is there without being told
    found = [each for each in attacks if each.epsilon == manifest.epsilon]
    if not found:
        tried = ", ".join(f"{each:g}" for each in sorted({e.epsilon for e in attacks if e.epsilon is not None}))
        raise DataError(
            f"{shown(folder)} has no attack on authors at epsilon {manifest.epsilon!r} (tried: {tried or 'none'}): "
            f"publius evaluate --epsilon {manifest.epsilon!r}"
        )
    found.sort(key=lambda each: -each.identified.value)
    drawn = _drawn(found)
    among = {round(each.candidates or results.candidates) for each in drawn}
    parts = (("clear", "b"), ("identified", "a"), ("baseline", "c"))
    rows = [
        {"label": each.attacker + f", {each.candidates or results.candidates:.0f} authors" * (len(among) > 1),
         "under": _knows(each), "marks": [
            {"value": part.value, "low": part.low, "high": part.high, "tone": tone}
            for name, tone in parts if (part := getattr(each, name)) is not None
        ]}
        for each in drawn
    ]  # fmt: skip
    other = next((each for each in found if "texts" in each.told and "originals" not in each.told), None)
    return {
        "attackers": [msgspec.to_builtins(each) for each in found], "rows": rows,
        "other": other and msgspec.to_builtins(other),
        "topic_known": other is not None and "topic" in other.told,
        "candidates": " or ".join(map(str, sorted(among))), "command": results.command,
    }  # fmt: skip


def _measured(results: _Results, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What an evaluation drew with at the mechanism and epsilon of a manifest, by the names of that."""
    sha256 = next(iter(results.public), {}).get("sha256")
    if results.kind == "labels":
        return {"kind": "labels", "classifier": sha256}
    drawn = [each for each in results.facts.get("stated", ()) if each["mechanism"] == manifest.get("mechanism")]
    same = (each for each in drawn if each["epsilon"] == manifest["epsilon"])
    return {"kind": results.kind, "vocabulary_sha256": sha256, **next(same, {} if drawn else {"mechanism": None})}


def _knows(attempt: _Attempt) -> str:
    """What an attacker knows of texts and topics, in a few words."""
    said = " and ".join(name for what, name in _TOLD.items() if what in attempt.told)
    return said and f"knows {said}"


def _drawn(found: Sequence[_Attempt]) -> list[_Attempt]:
    """The best attacker of each kind of knowledge, then the next best; the best first."""
    firsts = [*{_knows(each): each for each in reversed(found)}.values()]
    chosen = [*firsts, *(each for each in found if each not in firsts)][:_DRAWN]
    return [each for each in found if each in chosen]


def _counted(corpus: Corpus, manifest: Manifest) -> Counted:
    """Authors by documents, and cells that fewer than five authors share."""
    named = corpus.plan.author is not None or corpus.plan.own
    answers = _classifier(manifest) if isinstance(manifest, LabelManifest) else None
    columns = corpus.plan.fields or (("",) if answers is not None else ())
    wrote: Counter[str | int | None] = Counter()
    cells: dict[tuple[str, Any, str], set[Any]] = defaultdict(set)
    for batch in corpus.batches(500):
        documents = batch.documents()
        labels = [None] * len(batch) if answers is None else answers.answers([each.text for each in documents]).tolist()
        for label, document in zip(labels, documents, strict=True):
            author = author_key(document.author) if named else document.row
            wrote[author] += 1
            for name in columns:
                cell = cells[name, label, repr(document.fields[name]) if name else ""]
                if len(cell) < AUTHORS_AT_LEAST:
                    cell.add(author)
    count = wrote.total()
    wrote.pop(None, None)  # nobody is no author
    if not isinstance(manifest, SummaryManifest):
        left_out = count - manifest.documents
        if left_out < 0 or (left_out and manifest.author is None and not named):
            raise DataError(
                f"the file of --texts has {count:,} documents and the release {manifest.documents:,} rows: name the "
                "file that was released, and --author-field where it left rows of authors out"
            )
    few = Counter(name for (name, _, _), cell in cells.items() if len(cell) < AUTHORS_AT_LEAST)
    every = Counter(name for name, _, _ in cells)
    told = tuple((name, every[name], few[name]) for name in columns)
    if not named:
        return Counted(count, None, (), 1, told)
    sizes = Counter(next(name for most, name in _BY_DOCUMENTS if each <= most) for each in wrote.values())
    by_documents = tuple((name, sizes[name]) for _, name in _BY_DOCUMENTS if sizes[name])
    return Counted(count, len(wrote), by_documents, max(wrote.values(), default=1), told)


def _classifier(manifest: LabelManifest) -> Classifier:
    """The classifier that answered, made or read again; `DataError` where it has changed since."""
    from publius.classifiers import load_classifier
    from publius.classifiers.classifier import Names, Values
    from publius.classifiers.encoder import load_encoder

    facts, labels = manifest.classifier, manifest.labels[:-1]
    found: Classifier
    if facts.kind == "values":
        found = Values(labels)
    elif facts.kind == "names":
        found = Names(labels, load_encoder("packaged"))
    else:
        found = load_classifier(facts.name)
    if found.sha256 != facts.sha256:
        raise DataError(
            f"the classifier {facts.name} is not the one that answered: store that again, or leave --texts out"
        )
    return found
