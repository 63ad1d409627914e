"""The sign-off: one page that says what was released, what was promised, what was measured, and binds them together.

It sees the finished release, what an evaluation measured and sums of a ledger: no document. `verify` tells whether
release and page are still the ones that were bound.
"""

from __future__ import annotations

import html
import itertools
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Self, final

from publius.errors import DataError, PolicyError, UsageError, extra
from publius.files import json_of, os_errors, read_bytes_limited, read_lines, shown, write_file
from publius.privacy.guarantee import STRENGTHS, Guarantee, strength_of
from publius.privacy.ledger import Ledger
from publius.privacy.promise import ceiling, floor, rounded_up
from publius.releases import account
from publius.releases.account import About
from publius.releases.contents import FILES, MANIFEST, RECEIVERS, SUMMARY, check_contents, check_page
from publius.releases.digests import digest_of, file_digest, file_digests, opened, sealed
from publius.releases.label_shares import LabelShares
from publius.releases.metadata import METADATA, write_metadata
from publius.releases.near import (
    ANY_TWO_VALUES,
    WITH_AND_WITHOUT,
    check_not_empty,
    emptiness_of,
    emptiness_of_bound,
)
from publius.releases.of_manifest import check_statements, is_own, not_checked, outcomes_of, promised
from publius.releases.own_texts import TOO_MANY, OwnTexts
from publius.releases.plan import BAG, DECLARED_VALUE, SHUFFLED, publius_version
from publius.releases.read_me import label_counts, unfit_share

_MANIFEST_LIMIT: Final = 2**20
_SAMPLE: Final = 1_000
_SHOWN_WORDS: Final = 6
SCHEMA: Final = "publius/evidence/1"
"""The form of the evidence: `evidence.schema.json` beside this module describes it."""

NOTHING_SAID: Final = About()
_NEEDED: Final = (
    "private", "promise", "kind", "documents", "size", "epsilon", "evidence", "mechanism", "vocabulary_sha256",
    "labels", "delta", "metric", "ordered", "mechanism_parameters",
)  # fmt: skip

_NEEDED_OF_SUMMARIES: Final = (
    "private", "promise", "epsilon", "delta", "unit", "documents_per_author", "shares", "strata", "cells", "tables",
    "reference", "vocabulary_sha256", "compared_with", "epsilon_exactly", "files",
)  # fmt: skip
NOT_TRIED: Final = (
    "Adversaries other than those above: people who read the bags, programs of another kind, knowledge from elsewhere.",
    "What a reader of the bags finds beside author and topic.",
)
"""Always said, whatever was measured."""


@final
@dataclass(frozen=True, slots=True)
class Share:
    """A share of texts with its 95 % interval."""

    value: float
    low: float
    high: float


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one adversary or classifier on protected texts, beside unprotected ones.

    Attributes:
        task: what was to be named: author or topic.
        adversary: its name.
        released: the share named from a protected text alone.
        clean: the same unprotected; None where it was not tried.
        chance: the share of whoever always names the most frequent one.
        knowing_topic: the share of authors named by the same adversary where it is told each text's topic, with the
            interval that the verdict rests on; None where nothing of the kind was computed.
    """

    task: str
    adversary: str
    released: Share
    clean: Share | None
    chance: float | None
    knowing_topic: Share | None = None


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """The evaluation of this release's setting.

    Attributes:
        about: facts on the texts and the run, name and value.
        findings: the strongest first, by task.
        not_tried: sentences.
        digests: SHA-256 of every file of the evaluation.
        texts: how many texts were attacked.
        floor: what an adversary reaches who knows only the topic; None where it was not computed.
        verdict: PASS, FAIL or NO EVIDENCE with its reason; None where no limits were set.
        labels: how often a label is right on the attacked public texts; None where none is printed.
        linking: how often two releases of the same public texts are matched row by row.
        worst: the author who is named most often from all his rows together: ``documents``, and ``named``, an upper
            limit of how often; None where no author can be told from one draw.

    """

    about: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]
    not_tried: tuple[str, ...]
    digests: dict[str, str]
    texts: int
    floor: float | None = None
    verdict: str | None = None
    labels: LabelShares | None = None
    linking: Mapping[str, float] | None = None
    worst: Mapping[str, float] | None = None


@final
@dataclass(frozen=True, slots=True)
class Texts:
    """Texts that were written from a release.

    ``note`` is what each says of itself; ``missing`` bags have none.
    """

    writer: str
    note: str
    documents: int
    missing: int
    sha256: str


def read_texts(path: Path, release: Path) -> Texts:
    """Read a file of ``publius write``; `DataError` where it is none, or not of the bags in ``release``."""
    count, missing, writers = 0, 0, set()
    lines = (read_lines(path), read_lines(release / "bags.jsonl"))
    for (_, line), bag in itertools.zip_longest(*lines, fillvalue=(0, b"null")):
        try:
            record, id = json.loads(line), json.loads(bag[1])["id"]
            if record["id"] != id:
                raise ValueError
            count, missing = count + 1, missing + (record["text"] is None)
            writers.add((str(record["writer"]), str(record["note"])))
        except (ValueError, LookupError, TypeError):
            raise DataError(
                f"{shown(path)} does not hold the texts of the release in {shown(release)}, bag by bag: write them anew"
            ) from None
    if len(writers) != 1:
        raise DataError(f"{shown(path)} is not by one writer: write the texts anew")
    ((writer, note),) = writers
    return Texts(writer, note, count, missing, file_digest(path))


@final
@dataclass(frozen=True, slots=True)
class Budget:
    """Sums of a ledger: its unit, what one document may spend, how many have spent, the most that one has spent.

    ``most_of_an_author`` is the most that a person also charged has spent; None where the ledger knows none.
    """

    unit: str
    budget: float
    documents: int
    most_spent: float
    most_releases: int
    most_of_an_author: float | None = None

    @classmethod
    def of(cls, ledger: Ledger, manifest: Mapping[str, Any]) -> Self:
        """Those of the ledger that a release was charged to; `UsageError` where it counts something else."""
        try:
            ledger.price(Guarantee.of_manifest(manifest))
        except (PolicyError, KeyError, TypeError):
            raise UsageError(
                f"{shown(ledger.path)} counts {ledger.unit}, in which this release cannot have been charged: name the "
                "ledger that it was charged to"
            ) from None
        accounts = list(ledger.accounts())
        documents = [each for each in accounts if each.kind == "document"]
        authors = [float(each.spent) for each in accounts if each.kind == "subject"]
        return cls(
            ledger.unit,
            float(ledger.budget),
            len(documents),
            max((float(each.spent) for each in documents), default=0.0),
            max((each.releases for each in documents), default=0),
            max(authors, default=None),
        )


def read_manifest_of(release: Path) -> dict[str, Any]:
    """The manifest of a release folder; `DataError` when there is none or it is damaged."""
    path = release / MANIFEST
    if not path.is_file():
        raise DataError(f"{shown(release)} holds no {MANIFEST}: name the folder of a finished release")
    try:
        manifest = json_of(read_bytes_limited(path, _MANIFEST_LIMIT))
    except ValueError:
        manifest = None
    needed = (
        _NEEDED_OF_SUMMARIES if isinstance(manifest, dict) and manifest.get("kind") == SUMMARY else _NEEDED
    )
    if not isinstance(manifest, dict) or any(name not in manifest for name in needed):
        raise DataError(f"{shown(path)} is damaged, or of another version: make the release anew")
    return manifest


def sign_off(
    release: Path,
    measured: Measured | None = None,
    budget: Budget | None = None,
    texts: Texts | None = None,
    own: OwnTexts | None = None,
    about: About = NOTHING_SAID,
    *,
    for_receivers: bool = False,
) -> bytes:
    """The page for the release in a folder, bound to every file of it and of the evaluation.

    The page ``for_receivers`` has no place for a signature, and nothing that was measured on the private texts.

    Raises `PolicyError` for an experiment and for a release of another version, `DataError` for a folder that is no
    release or holds anything else than its manifest states (`publius.releases.contents`), `MissingExtraError` without
    jinja2.
    """
    manifest, files = _signable(release)
    if for_receivers:
        own, measured = None, _published(_judged(measured, manifest, release, None))
    found = evidence(release, measured, budget, texts, own, about)
    measured = _judged(measured, manifest, release, own)
    record = {
        "publius_version": publius_version(),
        "release": files,
        "evaluation": None if measured is None else measured.digests,
        "reference": _references(manifest),
        "promise": found["promise"],
        **({"texts": asdict(texts)} if texts else {}),
    }
    content = {
        "lead": _lead(manifest),
        "manifest": manifest, "files": files, "whole": digest_of(files), "measured": measured, "budget": budget,
        "texts": texts,
        "record": json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True),
        "references": record["reference"], "released": list(_released(manifest, release)),
        "constants": list(_constants(manifest)), "scale": _scale(manifest), "links": list(_links(manifest, release)),
        "groups": _groups(measured), "not_tried": found["not_tried"],
        "evaluation_whole": digest_of(measured.digests) if measured else None, "version": publius_version(),
        "zeros": "0" * 64,
        "who": account.who, "worst_author": account.worst_author(found),
        "found": found, "for_receivers": for_receivers, "about": about.record(), "open": account.OPEN,
        "sentences": list(account.sentences(found)), "unit": account.unit(found), "strength": account.strength(found),
        "not_promised": list(account.not_promised(found)), "risks": account.risks(found),
        "compared": account.compared(found),
        "served_worse": account.served_worse(found), "withdrawal": account.WITHDRAWAL,
        "look_again": account.LOOK_AGAIN, "commands": found["commands"],
        "own": None if found["own"] is None else list(account.own_sentences(found["own"])),
        "sample": None if found["sample_row"] is None else _shown_row(found["sample_row"]),
    }  # fmt: skip
    return sealed(_environment().get_template("signoff.html").render(content))


def check_signable(release: Path) -> dict[str, Any]:
    """The manifest of a release that this version wrote, as a release; else `PolicyError`.

    Earlier versions bound neither rows nor promise to the manifest, so whoever says that one of them wrote it could
    have changed both; what later ones state is not known here. Nothing else is looked at.
    """
    manifest = read_manifest_of(release)
    if manifest["private"] is not True:
        raise PolicyError(
            f"{shown(release)} is the output of an experiment and promises nothing: nobody can sign for it"
        )
    if not is_own(manifest):
        stated = manifest.get("publius_version")
        found = "no version" if stated is None else f"version {stated!r:.20}"
        raise PolicyError(
            f"the manifest in {shown(release)} names {found} of Publius as its writer, and {publius_version()} signs "
            "only for what it wrote itself. A sign-off that was made then still verifies; to sign anew, release the "
            "texts again with this version"
        )
    return manifest


def _signable(release: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The manifest of a release that somebody may sign for, and the digest of each of its files."""
    manifest = check_signable(release)
    return manifest, _checked(release, manifest)


def _checked(release: Path, manifest: Mapping[str, Any]) -> dict[str, str]:
    """The digest of each file of a release of this version, after everything was compared that can be."""
    check_statements(manifest)
    files = check_contents(release, manifest, outcomes_of(manifest))
    if manifest["kind"] == SUMMARY:
        check_not_empty(emptiness_of_bound(manifest["epsilon"], WITH_AND_WITHOUT), "Nobody can sign for it")
        check_page(release, manifest)
    else:  # a summary promises the same whatever lies near what
        check_not_empty(emptiness_of(manifest), "Nobody can sign for it")
        if manifest["kind"] == DECLARED_VALUE:
            check_not_empty(emptiness_of_bound(manifest["bound"], ANY_TWO_VALUES), "Nobody can sign for it")
    return files


def write_receivers(
    release: Path, measured: Measured | None = None, texts: Texts | None = None, about: About = NOTHING_SAID
) -> None:
    """Put the page for receivers into the folder of a release, for people and for machines, in place of an earlier one.

    It holds declared limits, proven bounds and figures of public texts; nothing of a ledger. Raises as `sign_off` does.
    """
    check_signable(release)
    for name in RECEIVERS:
        with os_errors("remove", release):
            (release / name).unlink(missing_ok=True)
    manifest, _ = _signable(release)
    measured = _published(_judged(measured, manifest, release, None))
    page = sign_off(release, measured, None, texts, None, about, for_receivers=True)
    found = evidence(release, measured, None, texts, None, about)
    told = json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)
    for name, content in zip(RECEIVERS, (page, told.encode() + b"\n"), strict=True):
        with write_file(release / name) as file:
            file.write(content)


def describe(release: Path) -> None:
    """Put metadata for data tools into the folder of a finished release; raises as `sign_off` does."""
    check_signable(release)
    for name in METADATA:
        with os_errors("remove", release):
            (release / name).unlink(missing_ok=True)
    manifest, _ = _signable(release)
    write_metadata(release, manifest, RECEIVERS)


def _published(measured: Measured | None) -> Measured | None:
    """The same without a PASS, which stands only where the private texts are like the public ones.

    Whether they are is for the curator's page. It is left out whatever they are, so that nothing shows which it is.
    """
    if measured is None or not (measured.verdict or "").startswith("PASS"):
        return measured
    return replace(measured, verdict=None)


def _judged(
    measured: Measured | None, manifest: Mapping[str, Any], release: Path, own: OwnTexts | None
) -> Measured | None:
    """What was measured, with NO EVIDENCE for a PASS where texts are unlike the public ones or kept columns tell."""
    if measured is None or not (measured.verdict or "").startswith("PASS"):
        return measured
    if own is not None:
        why = own.no_evidence
    elif manifest.get("labels"):
        why = (
            f"the kept columns ({', '.join(manifest['labels'])}) stand in the rows, and what they tell was not "
            "looked at: give --own, from publius inspect --release with --author-field"
        )
    else:
        share = unfit_share(manifest, label_counts(release))
        why = (
            None
            if share is None or share <= TOO_MANY
            else (
                f"about {share:.0%} of the rows say that their document fits none of the public texts, and above "
                f"{TOO_MANY:.0%} an attack on public texts says nothing about these documents"
            )
        )
    return measured if why is None else replace(measured, verdict=f"NO EVIDENCE: {why}")


def evidence(
    release: Path,
    measured: Measured | None = None,
    budget: Budget | None = None,
    texts: Texts | None = None,
    own: OwnTexts | None = None,
    about: About = NOTHING_SAID,
) -> dict[str, Any]:
    """The page for machines: one object, from the sources of the page itself. Raises as `sign_off` does.

    ``own`` is what was measured on the private texts: it is for the curator, and None in what receivers get.
    ``unit`` is whom the promise protects; people who are mentioned in texts are never it. ``measurements`` is None
    without an evaluation, ``crowd`` where rows can be told apart.
    """
    manifest, files = _signable(release)
    measured = _judged(measured, manifest, release, own)
    return {
        "schema": SCHEMA,
        "title": f"Release of {number(manifest['documents'])} documents"
        if manifest.get("documents") is not None
        else "Summary of a collection",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "about": about.record(),
        "own": None if own is None else own.record(),
        "preserve": manifest.get("preserve"),
        "strength": None if manifest.get("bound") is None else strength_of(manifest["bound"]),
        "commands": account.commands(release.name, evaluation=measured is not None),
        "publius_version": publius_version(),
        "documents": manifest.get("documents"),
        "kind": manifest["kind"],
        "released": dict(_released(manifest, release)),
        "sample_row": _sample_row(release),
        "unit": manifest.get("unit", "document"),
        "promise": promised(manifest),
        "constants": {
            name: {"value": value, "meaning": meaning} for name, value, meaning in _constants(manifest)
        },
        "epsilon": manifest["epsilon"],
        "bound": manifest.get("bound"),
        "delta": manifest.get("delta"),
        "crowd": manifest.get("crowd"),
        "probability_kept": manifest.get("probability_kept"),
        "trust": "central: the curator holds the documents",
        "kept_fields": list(manifest.get("labels", ())),
        "links": list(_links(manifest, release)),
        "measured": measured is not None,
        "measurements": None if measured is None else asdict(measured),
        "verdict": None if measured is None else measured.verdict,
        "budget": None if budget is None else asdict(budget),
        "texts": None if texts is None else asdict(texts),
        "not_tried": [*NOT_TRIED, *not_checked(manifest), *(measured.not_tried if measured else ())],
        "references": _references(manifest),
        "files": files,
        "sha256": digest_of(files),
    }


def _shown_row(row: Mapping[str, Any]) -> str:
    """A row as it stands in the file, its bag cut."""
    bag = row.get("bag")
    if isinstance(bag, Mapping) and len(bag) > _SHOWN_WORDS:
        row = {**row, "bag": {**dict(list(bag.items())[:_SHOWN_WORDS]), "…": "…"}}
    return json.dumps(row, ensure_ascii=False)


def _sample_row(release: Path) -> dict[str, Any] | None:
    """The first row of a release in JSON lines: it leaves with the release, so it may stand on the page."""
    path = release / "bags.jsonl"
    if not path.is_file():
        return None
    _, line = next(read_lines(path))
    row: dict[str, Any] = json.loads(line)
    return row


def _environment() -> Any:
    with extra("evaluation", "jinja2"):
        import jinja2
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("publius.releases"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"percent": percent, "up": percent_up, "down": percent_down, "number": number}
    return environment


def verify(
    release: Path, page: Path, evaluation: Path | None = None, texts: Path | None = None
) -> dict[str, Any]:
    """The record of a sign-off whose text, release and (where given) evaluation and texts are those it was made for.

    What this version wrote is compared with its manifest as for a new sign-off. Of another version's only the bytes
    are: `not_bound` says what that leaves open. Raises `DataError` that says what differs.
    """
    text, record = opened(page)
    bound_files = record.get("release")
    named = bound_files if isinstance(bound_files, dict) else {}
    # Metadata are made anew and compared. A page for receivers that nobody signed for is anybody's, but where it is
    # the page that is looked at: it binds what lay there before it.
    beside = (*METADATA, *(RECEIVERS if page.absolute().parent == release.absolute() else ()))
    lying = {
        name: digest for name, digest in file_digests(release).items() if name in named or name not in beside
    }
    _compare("the release", bound_files, lying)
    manifest = read_manifest_of(release)
    if is_own(manifest):
        _checked(release, manifest)
    elif is_own(record):
        raise DataError(
            f"{shown(page)} names {publius_version()} of Publius, which signs for no release of another version: it is "
            "no sign-off of this release"
        )
    said = record.get("promise")
    if said != manifest["promise"] or not isinstance(said, str) or html.escape(said) not in _plain(text):
        raise DataError(
            f"{shown(page)} states another promise than the release makes: make the sign-off anew"
        )
    if record.get("reference") != _references(manifest):
        raise DataError(f"{shown(page)} names another reference than the release: make the sign-off anew")
    if evaluation is not None:
        if record.get("evaluation") is None:
            raise DataError(f"{shown(page)} was made without an evaluation: make the sign-off anew with it")
        _compare("the evaluation", record["evaluation"], file_digests(evaluation))
    if texts is not None:
        bound = record.get("texts")
        if not isinstance(bound, dict):
            raise DataError(f"{shown(page)} names no written texts: make the sign-off anew with them")
        if bound.get("sha256") != file_digest(texts):
            raise DataError(f"{shown(texts)} does not hold the texts that were signed for")
    return record


def not_bound(record: Mapping[str, Any]) -> str | None:
    """What a sign-off of another version leaves open, in words; None for one of this version."""
    if is_own(record):
        return None
    return (
        f"It names version {record.get('publius_version')!r:.20} of Publius. Only bytes were compared: whether promise "
        "and rows follow from the manifest was not, and up to 0.2 nobody did when it was signed. Anybody can write "
        "such a page for any folder: believe it only if the digest that stands on it is the one on the paper that was "
        "signed."
    )


def _plain(page: str) -> str:
    """The page with the one way of writing quotes that `html.escape` has."""
    return page.replace("&#34;", "&quot;").replace("&#39;", "&#x27;")


def _compare(what: str, bound: object, found: Mapping[str, str]) -> None:
    if not isinstance(bound, dict):
        raise DataError(f"the sign-off binds no files of {what}: make it anew")
    missing, added = sorted(bound.keys() - found.keys()), sorted(found.keys() - bound.keys())
    changed = sorted(name for name in bound.keys() & found.keys() if bound[name] != found[name])
    if missing or added or changed:
        parts = (("missing", missing), ("added", added), ("changed", changed))
        said = "; ".join(f"{word}: {', '.join(map(repr, names[:5]))}" for word, names in parts if names)
        raise DataError(f"{what} is not the one that was signed for ({said})")


def _references(manifest: Mapping[str, Any]) -> dict[str, str]:
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


def _lead(manifest: Mapping[str, Any]) -> str:
    """The release in a line."""
    if manifest["kind"] == SUMMARY:
        return "A summary of a collection, its authors protected"
    return f"{number(manifest['documents'])} protected documents · {manifest['mechanism']}"


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
    yield "files", str(len(manifest[FILES]) + 1)
    yield "made by", f"Publius {manifest['publius_version']}"


def _released(manifest: Mapping[str, Any], release: Path) -> Iterator[tuple[str, str]]:
    if manifest["kind"] == SUMMARY:
        yield from _released_summary(manifest)
        return
    unit = {
        BAG: "a bag of words without order",
        DECLARED_VALUE: "its declared value, or by chance another",
    }.get(manifest["kind"], "a text of words in order")
    yield "documents", f"{manifest['documents']:,}, each {unit}"
    size_from = manifest["size_from"]
    said = "chosen beforehand" if size_from == "given" else f"taken from {size_from}"
    if manifest["kind"] != DECLARED_VALUE:
        yield "words of each", f"{manifest['size']:,}, {said}"
    yield "kept public", ", ".join(manifest["labels"]) or "no field beside the id"
    yield "mechanism", _mechanism(manifest)
    if manifest.get("reference"):
        yield "public reference", str(manifest["reference"])
        yield "its words", str(manifest.get("reference_words") or "how they were counted is not known")
    if manifest.get("embeddings"):
        yield "public word vectors", str(manifest["embeddings"])
        if manifest.get("reference_words"):
            yield "their words", str(manifest["reference_words"])
    yield "files", str(sum(1 for each in release.rglob("*") if each.is_file()))
    yield "made by", f"Publius {manifest['publius_version']}"


_LEVELS: Final = {"word": "word by word", "document": "whole documents"}


def _mechanism(manifest: Mapping[str, Any]) -> str:
    kept = manifest.get("preserve")
    level = _LEVELS[manifest["level"]]
    return f"{manifest['mechanism']}, {level}" + (f", to keep the {kept}" if kept else "")


def _constants(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Name, value and meaning of what bounds a release."""
    if manifest["kind"] == SUMMARY:
        yield (
            "epsilon",
            f"{manifest['epsilon']:g}",
            "for an author who is replaced by another, with all documents",
        )
        half = manifest["epsilon_added_or_left_out"]
        yield "epsilon", f"{half:g}", "for an author who is added or left out"
        yield "delta", "0", "the promise has no exception"
        yield "evidence", str(manifest["evidence"]), "how the promise is known to hold"
        return
    bound = manifest.get("bound")
    if bound is not None:
        yield (
            "bound",
            f"{rounded_up(bound, 6)} nats",
            "between any two documents, whatever they say and however long they are",
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
    yield "evidence", str(manifest["evidence"]), "how the promise is known to hold"


def _scale(manifest: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The scale of words with the place of this release's bound; None where there is no bound."""
    bound = manifest.get("bound")
    if bound is None:
        return None
    names = [
        *((name, f"to {limit:g}") for limit, name in STRENGTHS),
        ("empty", f"above {STRENGTHS[-1][0]:g}"),
    ]
    return [{"name": name, "limit": limit, "here": strength_of(bound) == name} for name, limit in names]


def _links(manifest: Mapping[str, Any], release: Path) -> Iterator[str]:
    if manifest["kind"] == SUMMARY:
        yield "No row belongs to anybody: rows are made from counts, and words are drawn from public ones."
        yield "A further summary of the same authors adds its epsilon to this one's."
        return
    numbers = manifest.get("numbers")
    if numbers == SHUFFLED:
        yield (
            "Documents are numbered, and stand in the files, in a random order that was kept nowhere: neither a "
            "number nor a place tells which text a bag was made from."
        )
    elif numbers or _numbered(release):
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
            "Whoever holds the originals and sees a bag without its id learns which text it came from no better than "
            f"the bound of {rounded_up(bound, 6)} nats allows."
        )
    if numbers == SHUFFLED:
        yield (
            "A second release of the same documents has other numbers in another order: its rows can be matched with "
            "these only by what both show, and both exponents add up."
        )
    else:
        yield (
            "A second release of the same documents can be linked with this one by its ids, and both exponents add up."
        )


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


def _groups(measured: Measured | None) -> list[tuple[str, Sequence[Finding]]]:
    if measured is None:
        return []
    found = sorted(measured.findings, key=lambda each: each.task)
    return [
        (task, sorted(group, key=lambda each: -each.released.value))
        for task, group in itertools.groupby(found, lambda each: each.task)
    ]


def percent(value: float | None) -> str:
    """A share for people: "8.4 %"; a dash for none."""
    return "–" if value is None else f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def percent_up(value: float) -> str:
    """A share that is an upper limit, for people: rounded up."""
    return percent(ceiling(value, 3))


def percent_down(value: float) -> str:
    """A share that is a lower limit, for people: rounded down."""
    return percent(floor(value, 3))


def number(value: float) -> str:
    """A number for people, thousands grouped."""
    return f"{value:,.0f}" if abs(value) >= 1_000 or value == int(value) else f"{value:,.4g}"


def matching(manifest: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """`UsageError` when an evaluation's facts name another setting than a release's manifest where both say."""
    same = (
        "vocabulary_sha256",
        "reference_sha256",
        "size",
        "tokenizer",
        "unknown",
        "stop_words_sha256",
        "preserve",
    )
    differing = [
        name
        for name in same
        if None not in (facts.get(name), manifest.get(name)) and facts[name] != manifest[name]
    ]
    if differing:
        said = "; ".join(
            f"{name.replace('_', ' ')} {_brief(facts[name])} instead of {_brief(manifest[name])}"
            for name in differing
        )
        raise UsageError(
            f"the evaluation measured another setting than the release has ({said}): evaluate the release's own setting"
        )


def _brief(value: object) -> str:
    text = str(value)
    return text if len(text) < 40 else text[:12] + "…"
