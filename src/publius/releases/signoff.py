"""The sign-off: one page that says what was released, what was promised, what was measured, and binds them together.

It sees the finished release, what an evaluation measured and sums of a ledger: no document. Whether release and page
are still the ones that were bound says `publius.releases.verification`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, final

from publius.errors import PolicyError, how_many
from publius.files import os_errors, shown, write_file
from publius.mechanisms.registry import tells_preserved, votes_of
from publius.privacy.guarantee import strength_of
from publius.releases import account
from publius.releases.contents import RECEIVERS, SUMMARY, check_contents, check_page
from publius.releases.digests import digest_of, sealed
from publius.releases.manifests import read_manifest_of
from publius.releases.measured import Measured, Sources
from publius.releases.metadata import METADATA, write_metadata
from publius.releases.near import (
    ANY_TWO_VALUES,
    REPLACED,
    check_not_empty,
    emptiness_of,
    emptiness_of_bound,
)
from publius.releases.of_manifest import (
    check_statements,
    check_written,
    is_own,
    not_checked,
    outcomes_of,
    promised,
)
from publius.releases.own_texts import NOT_SHUFFLED, TOO_MANY, OwnTexts
from publius.releases.page_parts import (
    bound_files,
    constants,
    groups,
    ids_of,
    lead,
    left_out,
    links,
    number,
    percent,
    percent_down,
    percent_up,
    references,
    released,
    row_in_words,
    sample_row,
    scale,
    shown_row,
)
from publius.releases.pages import template
from publius.releases.plan import DECLARED_VALUE, SHUFFLED, publius_version
from publius.releases.read_me import label_counts, label_kept, may_and_may_not, stands_for_others, unfit_share
from publius.releases.summaries import read_me as of_summaries

SCHEMA: Final = "publius/evidence/1"
"""The form of the evidence: `evidence.schema.json` beside this module describes it."""
NOT_TRIED: Final = (
    "Adversaries other than those above: people who read the bags, programs of another kind, knowledge from elsewhere.",
    "What a reader of the bags finds beside author and topic.",
)
"""Always said, whatever was measured."""

_SHOWN_TOPICS: Final = 24
"""Topics whose errors the page lists, the most frequent first."""


_NOTHING: Final = Sources()


@final
@dataclass(frozen=True, slots=True)
class _Signable:
    """A release that somebody may sign for, the digest of each of its files, and what its page tells beside it."""

    release: Path
    manifest: Mapping[str, Any]
    files: dict[str, str]
    sources: Sources
    for_receivers: bool = False


def sign_off(release: Path, sources: Sources = _NOTHING, *, for_receivers: bool = False) -> bytes:
    """The page for the release in a folder, bound to every file of it and of the evaluation.

    The page ``for_receivers`` has no place for a signature, and nothing of a ledger or that was measured on the
    private texts.

    Raises `PolicyError` for an experiment and for a release of another version, `DataError` for a folder that is no
    release or holds anything else than its manifest states (`publius.releases.contents`), `MissingExtraError` without
    jinja2.
    """
    return _page(_signable(release, sources, for_receivers=for_receivers))


def evidence(release: Path, sources: Sources = _NOTHING) -> dict[str, Any]:
    """The page for machines: one object, from the sources of the page itself. Raises as `sign_off` does.

    ``own`` is what was measured on the private texts: it is for the curator, and None in what receivers get.
    ``unit`` is whom the promise protects; people who are mentioned in texts are never it. ``measurements`` is None
    without an evaluation, ``crowd`` where rows can be told apart.
    """
    return _evidence(_signable(release, sources))


def _page(signed: _Signable) -> bytes:
    manifest, files, sources = signed.manifest, signed.files, signed.sources
    found, measured, texts = _evidence(signed), sources.measured, sources.texts
    labels = measured.labels.topics if measured is not None and measured.labels is not None else ()
    record = {
        "publius_version": publius_version(),
        "release": files,
        "evaluation": None if measured is None else measured.digests,
        "reference": references(manifest),
        "promise": found["promise"],
        **({"texts": asdict(texts)} if texts else {}),
    }
    content = {
        "lead": lead(manifest), "found": found, "manifest": manifest, "files": files, "whole": found["sha256"],
        "bound_files": bound_files(files, for_receivers=signed.for_receivers),
        "measured": measured, "budget": sources.budget, "texts": texts,
        "record": json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True),
        "references": record["reference"], "constants": list(constants(manifest)), "scale": scale(manifest),
        "groups": groups(measured), "worst_cases": account.WORST_CASES,
        "evaluation_whole": digest_of(measured.digests) if measured else None, "version": publius_version(),
        "zeros": "0" * 64, "who": account.who, "for_receivers": signed.for_receivers,
        "about": found["about"], "open": account.OPEN, "nobody_named": account.NOBODY_NAMED,
        "compared": account.compared(found), "authors_known": account.authors_known(found),
        "verdict_said": account.verdict_said(found) if found["verdict"] else None,
        "own": None if found["own"] is None else list(account.own_sentences(found["own"])),
        "sample": None if found["sample_row"] is None else shown_row(found["sample_row"]),
        "by_label": labels[:_SHOWN_TOPICS], "labels_more": len(labels[_SHOWN_TOPICS:]),
        "sample_in_words": None if found["sample_row"] is None else row_in_words(found["sample_row"]),
    }  # fmt: skip
    filters = {"percent": percent, "up": percent_up, "down": percent_down, "number": number}
    return sealed(template("publius.releases", "signoff.html", **filters).render(content))


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


def _signable(release: Path, sources: Sources, *, for_receivers: bool = False) -> _Signable:
    """The release after everything was compared that can be, and what was measured as this release bears it."""
    manifest = check_signable(release)
    files = check_own(release, manifest)
    if for_receivers:
        # What kept columns tell is judged on the curator's page, as all is that rests on the texts.
        unkept = {**manifest, "labels": []}
        measured = _published(judged(sources.measured, unkept, release, None))
        sources = replace(sources, measured=measured, own=None, budget=None)
    else:
        sources = replace(sources, measured=judged(sources.measured, manifest, release, sources.own))
    return _Signable(release, manifest, files, sources, for_receivers)


def check_own(release: Path, manifest: Mapping[str, Any]) -> dict[str, str]:
    """The digest of each file of a release of this version, after everything was compared that can be."""
    check_statements(manifest)
    check_written(release, manifest)
    files = check_contents(release, manifest, outcomes_of(manifest))
    if manifest["kind"] == SUMMARY:
        check_not_empty(emptiness_of_bound(manifest["epsilon"], REPLACED), "Nobody can sign for it")
        check_page(release, manifest)
    else:  # a summary promises the same whatever lies near what
        check_not_empty(emptiness_of(manifest), "Nobody can sign for it")
        if manifest["kind"] == DECLARED_VALUE:
            check_not_empty(emptiness_of_bound(manifest["bound"], ANY_TWO_VALUES), "Nobody can sign for it")
    return files


def write_receivers(release: Path, sources: Sources = _NOTHING) -> None:
    """Put the page for receivers into the folder of a release, for people and for machines, in place of an earlier one.

    It holds declared limits, proven bounds and figures of public texts; nothing of a ledger. Raises as `sign_off` does.
    """
    check_signable(release)
    for name in RECEIVERS:
        with os_errors("remove", release):
            (release / name).unlink(missing_ok=True)
    signed = _signable(release, sources, for_receivers=True)
    told = json.dumps(_evidence(signed), indent=1, ensure_ascii=False, allow_nan=False)
    for name, content in zip(RECEIVERS, (_page(signed), told.encode() + b"\n"), strict=True):
        with write_file(release / name) as file:
            file.write(content)


def describe(release: Path) -> None:
    """Put metadata for data tools into the folder of a finished release; raises as `sign_off` does."""
    check_signable(release)
    for name in METADATA:
        with os_errors("remove", release):
            (release / name).unlink(missing_ok=True)
    signed = _signable(release, _NOTHING)
    write_metadata(release, signed.manifest, RECEIVERS)


def _published(measured: Measured | None) -> Measured | None:
    """The same without a PASS, which stands only where the private texts are like the public ones.

    Whether they are is for the curator's page. It is left out whatever they are, so that nothing shows which it is.
    """
    if measured is None or not _passes(measured):
        return measured
    return replace(measured, verdict=None, room=None, set_by=None, on_authors=None, in_all=False)


def _passes(measured: Measured) -> bool:
    """Whether the verdict is PASS, or what it says of authors is."""
    return measured.on_authors == "PASS" or (measured.verdict or "").startswith("PASS")


def judged(
    measured: Measured | None, manifest: Mapping[str, Any], release: Path, own: OwnTexts | None
) -> Measured | None:
    """The same with NO EVIDENCE for a PASS where texts are unlike the public ones, or kept columns or ids tell."""
    if measured is None or not _passes(measured):
        return measured
    why = None
    if account.shows_topics(manifest) and measured.floor is None and measured.on_authors is not None:
        why = "the rows show topics, and the attacked texts have none, so no attacker was told what rows show"
    elif manifest["kind"] != SUMMARY and manifest.get("numbers") != SHUFFLED:
        why = NOT_SHUFFLED
    elif own is not None:
        why = own.no_evidence(measured.adds_at_most, measured.author_at_most, topics=measured.told)
    elif manifest.get("labels"):
        why = (
            f"the kept columns ({', '.join(manifest['labels'])}) stand in the rows, and what they tell was not "
            "looked at: give --own, from publius inspect --release with --author-field"
        )
    share = None if why is not None else unfit_share(manifest, label_counts(release))
    if share is not None and share > TOO_MANY:
        why = (
            f"by the labels of the rows, without the bias of the noise, at least {share:.0%} of the documents fit none "
            f"of the public texts, and above {TOO_MANY:.0%} an attack on public texts says nothing about these "
            "documents"
        )
    return withdrawn(measured, why)


def withdrawn(measured: Measured, why: str | None) -> Measured:
    """The same with NO EVIDENCE in place of a PASS that does not stand, and the reason; None where it does."""
    if why is None or not _passes(measured):
        return measured
    of_authors = None if measured.on_authors is None else "NO EVIDENCE"
    if not (measured.verdict or "").startswith("PASS"):
        return replace(measured, on_authors=of_authors)
    return replace(measured, verdict=f"NO EVIDENCE: {why}", room=None, on_authors=of_authors)


def _evidence(signed: _Signable) -> dict[str, Any]:
    release, manifest, files, sources = signed.release, signed.manifest, signed.files, signed.sources
    for_receivers = signed.for_receivers
    measured, own, budget, texts = sources.measured, sources.own, sources.budget, sources.texts
    found = {
        "schema": SCHEMA,
        "leaves": "with the release"
        if for_receivers
        else "never: for the curator alone, as the page that is signed",
        "title": f"Release of {how_many(manifest['documents'], 'document')}"
        if manifest.get("documents") is not None
        else "Summary of a collection",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "about": sources.about.record(),
        "documents": manifest.get("documents"),
        "kind": manifest["kind"],
        "preserve": manifest.get("preserve"),
        "released": dict(released(manifest, release, pages=for_receivers or _has_pages(files))),
        "kept_fields": list(manifest.get("labels", ())),
        "ids": ids_of(manifest, release),
        "sample_row": sample_row(release),
        "unit": manifest.get("unit", "document"),
        "author_field": manifest.get("author_field"),
        "promise": promised(manifest),
        "constants": {
            name: {"value": value, "meaning": meaning} for name, value, meaning in constants(manifest)
        },
        "epsilon": manifest["epsilon"],
        "bound": manifest.get("bound"),
        "delta": manifest.get("delta"),
        "evidence": manifest["evidence"],
        "metric": manifest.get("metric"),
        "strength": None if manifest.get("bound") is None else strength_of(manifest["bound"]),
        "probability_kept": manifest.get("probability_kept"),
        "label_kept": label_kept(manifest),
        "stands_for_others": None if manifest["kind"] == SUMMARY else stands_for_others(manifest),
        "tells_preserved": manifest["kind"] != SUMMARY and tells_preserved(manifest),
        "kept_between": manifest.get("kept_between"),
        "outcomes": None if (votes := votes_of(manifest)) is None else votes.outcomes,
        "trust": "central: the curator holds the documents",
        "crowd": manifest.get("crowd"),
        "budget": None if budget is None else asdict(budget),
        "measured": measured is not None,
        "measurements": None if measured is None else asdict(measured),
        "verdict": None if measured is None else measured.verdict,
        "own": None if own is None else own.record(),
        "texts": None if texts is None else asdict(texts),
        "links": list(links(manifest, release)),
        "not_tried": [*NOT_TRIED, *not_checked(manifest), *(measured.not_tried if measured else ())],
        "may_and_may_not": list(
            (of_summaries.may_and_may_not if manifest["kind"] == SUMMARY else may_and_may_not)(manifest)
        ),
        "left_out": left_out(manifest),
        "publius_version": publius_version(),
        "randomness": manifest.get("randomness"),
        "commands": account.commands(
            release.name,
            evaluated=None if measured is None else measured.options,
            rows=manifest["kind"] != SUMMARY,
        ),
        "references": references(manifest),
        "files": files,
        "sha256": digest_of(files),
    }
    return {**found, **account.said(found)}


def _has_pages(files: Mapping[str, str]) -> bool:
    """Whether the pages for receivers lie in the folder."""
    return any(name in files for name in RECEIVERS)
