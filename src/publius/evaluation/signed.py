"""The evaluation of one release's setting, for the sign-off; another setting is refused."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from publius.distances.metrics import METRICS
from publius.errors import DataError, UsageError, how_many
from publius.evaluation.adversaries import ORIGINALS
from publius.evaluation.of_release import check_kind
from publius.evaluation.report import NOT_TRIED
from publius.evaluation.runner import Results, read_results
from publius.evaluation.statistics import Interval
from publius.evaluation.summary import AdversaryResult as FoundByOne
from publius.evaluation.summary import SummaryLine, summarize
from publius.evaluation.verdict import Limits, authors_given, judge, knowing_topic, read_limits, unlooked_of
from publius.files import shown
from publius.files.user_code import PYTHON
from publius.mechanisms.registry import class_named, parameters_of
from publius.option import declared
from publius.privacy.guarantee import total_exponent
from publius.privacy.promise import rounded_up
from publius.releases.account import ALL_BAGS, ALL_BOUND, AUTHORS_UNKNOWN, ONE_BAG, ONE_ROW
from publius.releases.digests import file_digests
from publius.releases.label_shares import LabelShares
from publius.releases.manifests import matching, place_in
from publius.releases.measured import Finding, Measured, Share
from publius.releases.own_texts import equally_common
from publius.releases.page_parts import percent, percent_up
from publius.settings import EvaluationSettings, Task, VerdictSettings, names_of
from publius.text.tokenizer import PROFILES, StopWords


def measured_for(manifest: Mapping[str, Any], folder: Path) -> Measured:
    """The results of the evaluation in ``folder`` at the setting of a release's manifest.

    Raises `UsageError` where it measured another setting, `DataError` where there is no evaluation, `PolicyError` for
    ordered text.
    """
    check_kind(manifest, "the release")
    results = read_results(folder)
    matching(manifest, _stated(results, manifest))
    manifest = _as_measured(manifest, results)
    _check_choices(manifest, results)
    lines = summarize(results)
    line = _line(manifest, lines)
    bound = (
        None if manifest.get("bound") is None else line.bound
    )  # that of words is stated between near ones only
    _check_code(manifest, results, line, folder)
    _check_followed(manifest, _detail(results, line, "parameters"), folder)
    clean = next((each for each in lines if each.clean), None)
    kept = read_limits(folder)
    limits = replace(kept, tries=max(kept.tries, sum(not each.clean for each in lines)))
    verdict = judge([each for each in (clean, line) if each is not None], limits, results.facts)
    unlooked = unlooked_of(results.facts)
    # On texts that it was learned from a reference is right more often than on others: that would be nobody's figure.
    labels = None if unlooked is not None else _detail(results, line, "labels")
    holder = line.of(ORIGINALS, "author")
    return Measured(
        _about(results, holder, bound),
        tuple(_findings(line, clean, results.facts)),
        (*NOT_TRIED, *([] if unlooked is None else [f"{unlooked[0].upper()}{unlooked[1:]}."])),
        file_digests(folder),
        results.facts["unknown_texts"],
        results.facts["floor"],
        None if verdict is None else verdict.text,
        labels=None if labels is None else LabelShares.of_record(labels),
        linking=_detail(results, line, "linking"),
        worst=_worst(results, holder),
        options=options_of(results.facts["request"], kept),
        room=None if verdict is None else verdict.room,
        set_by=None if verdict is None else verdict.set_by,
        on_authors=None if verdict is None else verdict.on_authors,
        in_all=verdict is not None and verdict.in_all,
        adds_at_most=limits.adds_at_most,
        author_at_most=limits.author_at_most,
        topics=0
        if results.facts["floor"] is None
        else round(equally_common(Counter(results.facts["topic_numbers"]).values())),
    )


def options_of(request: Mapping[str, Any], limits: Limits) -> str:
    """What ``publius evaluate`` is given beside the texts and the release to measure the same again."""
    preset = request.get("preset") is not None  # it says how often, and who attacks
    names = {
        "preset",
        "parts",
        "sensitive",
        "training",
        "id_field",
        "text_field",
        "author_field",
        "topic_field",
    }
    names |= set() if preset else {"repeats", "adversaries"}
    said = [
        (each.option.flag or f"--{each.name.replace('_', '-')}", request[each.name])
        for each in declared(EvaluationSettings)
        if each.name in names and request.get(each.name) not in (None, [], each.default)
    ]
    said += [
        (f"--{each.name.replace('_', '-')}", getattr(limits, each.name))
        for each in declared(VerdictSettings)
        if getattr(limits, each.name) not in (None, each.default)
    ]
    return "".join(f" {flag} {shlex.quote(_option(value))}" for flag, value in said)


def _option(value: object) -> str:
    """A value as the command line takes it."""
    if isinstance(value, float):
        return f"{value:g}"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _worst(results: Results, finding: FoundByOne | None) -> dict[str, float] | None:
    """The author whom the holder of the originals names most often from all rows together; None where none is known."""
    found = (None if finding is None else finding.extra.get("together")) or {"worst": None}
    if found["worst"] is None or not authors_given(results.facts):
        return None
    return {"documents": found["documents"], "named": found["worst_high"], "most": found["most"]}


def _detail(results: Results, line: SummaryLine, name: str) -> dict[str, Any] | None:
    """What the cells found beside their rows at a line's setting; None where they found none."""
    stated = [line.mechanism, line.epsilon, line.bound]
    found = (each.get(name) for _, each in results.details if list(each["stated"]) == stated)
    return next((each for each in found if each is not None), None)


def together_rows(finding: FoundByOne | None, bound: float | None) -> Iterator[tuple[str, str]]:
    """The holder of the originals on one bag and on all bags of one author, with the limit on the latter.

    ``finding`` is his, ``bound`` the nats between any two documents.
    """
    found = None if finding is None else finding.extra.get("together")
    if finding is None or found is None:
        return
    alone = found["worst_alone"]
    yield (
        ONE_BAG,
        f"whoever holds the originals names the author of {percent(finding.accuracy.value)} of the documents, at most "
        f"{percent_up(finding.accuracy.high)} allowing for chance. Of the documents of the author named most often it "
        f"is {percent_up(alone)}: so many of these are found, but the same name is given to many others, too",
    )
    many = f"{found['authors']:,} authors, equally likely before"
    if found["worst"] is None:
        named = f"in this one draw he names {percent_up(found['named'])} of {many}; the worst cannot be told from one"
    else:
        documents = _documents(found["documents"])
        named = (
            f"of {many}, he names {percent_up(found['named'])}; the worst, with {documents}, "
            f"{percent_up(found['worst_high'])} of the time"
        )
    yield (
        ALL_BAGS,
        f"by whoever holds the originals and knows which rows belong together; the best rule finds as much or more: "
        f"{named}",
    )
    most = found["most"]
    total = (
        "none: no useful bound is stated between any two documents"
        if bound is None
        else f"{rounded_up(total_exponent([bound] * most), 6)} nats for the author of most of the texts attacked, who "
        f"has {_documents(most)} there; of the documents released, the bound times the number of the author's"
    )
    yield ALL_BOUND, total


def _text_row(finding: FoundByOne | None) -> Iterator[tuple[str, str]]:
    """The holder of the originals on one bag, where nobody knows which bags are of one author."""
    found = None if finding is None else finding.extra.get("together")
    if finding is None or found is None:
        return
    yield (
        ONE_ROW,
        f"whoever holds the originals names the text of {percent(finding.accuracy.value)} of the rows, at most "
        f"{percent_up(finding.accuracy.high)} allowing for chance. The text named most often is named from "
        f"{percent_up(found['worst_alone'])} of its rows, but other rows are taken for it, too",
    )


def _documents(count: int) -> str:
    return how_many(count, "document")


def _as_measured(manifest: Mapping[str, Any], results: Results) -> Mapping[str, Any]:
    """The manifest with the mechanism called as the evaluation was asked for it: from outside, maybe by its place."""
    asked, place = names_of(results.facts["request"]["mechanisms"]), place_in(manifest)
    by_place = place in asked and manifest["mechanism"] not in asked
    return {**manifest, "mechanism": place} if by_place else manifest


def _check_code(manifest: Mapping[str, Any], results: Results, line: SummaryLine, folder: Path) -> None:
    """`UsageError` where a class or metric from outside was another when it was measured: code has no other name."""
    codes = results.facts.get("mechanism_code") or {}
    made = [("mechanism", line.mechanism, manifest.get("mechanism_source"))]
    if manifest["metric"].startswith(PYTHON):
        made.append(("metric", manifest["metric"], manifest.get("metric_source")))
    for what, name, source in made:
        if source is not None and codes.get(name) != source["sha256"]:
            raise UsageError(
                f"the evaluation in {shown(folder)} measured other code of the {what} {name:.200} than "
                f"made the release (SHA-256 {codes.get(name)!s:.12} instead of {source['sha256']:.12}): measure "
                "the release's own, in a new folder, with publius evaluate --release"
            )


def _check_choices(manifest: Mapping[str, Any], results: Results) -> None:
    """`UsageError` for what was asked otherwise than the release was made, by the names of the options."""
    request = results.facts["request"]
    made = dict(manifest.get("mechanism_parameters") or {})
    asked = request.get("parameters") or {}
    pairs = {name: (asked[name], made[name]) for name in asked.keys() & made.keys()}
    if "first" in manifest:
        pairs["first"] = (request.get("first"), manifest["first"])
        pairs["length"] = (results.facts.get("size"), manifest["size"])
    if _takes_metric(manifest):
        pairs["metric"] = (request.get("metric"), manifest["metric"])
    pairs |= {
        name: (value, made[name])
        for name, value in _defaults(manifest).items()
        if name in made.keys() - asked
    }
    differing = [
        f"{name.replace('_', ' ')} {'all' if found is None else found} instead of {'all' if wanted is None else wanted}"
        for name, (found, wanted) in sorted(pairs.items())
        if not _alike(found, wanted)
    ]
    _refuse(differing)


def _takes_metric(manifest: Mapping[str, Any]) -> bool:
    """Whether a metric was chosen, as far as that is known of a class from outside, which is not imported to sign."""
    if place_in(manifest) is not None:
        return manifest["metric"] in METRICS or manifest["metric"].startswith(PYTHON)
    return "metric" in parameters_of(manifest["mechanism"])


def _check_followed(manifest: Mapping[str, Any], found: Mapping[str, Any] | None, folder: Path) -> None:
    """The same of parameters that nobody named on either side, and that followed from the rest: prototypes, say.

    ``found`` are those of the evaluation in ``folder``. `DataError` where it does not say them, as those did that were
    made before they were compared: then nobody knows whether they are the release's.
    """
    if found is None:
        raise DataError(
            f"the evaluation in {shown(folder)} does not say all of the setting that it measured, as it is kept and "
            "compared now: measure it again, in a new folder"
        )
    made = manifest.get("mechanism_parameters") or {}
    _refuse([
        f"{name.replace('_', ' ')} {found.get(name)} instead of {made.get(name)}"
        for name in sorted({*made, *found})
        if not _alike(found.get(name), made.get(name))
    ])  # fmt: skip


def _refuse(differing: Sequence[str]) -> None:
    if differing:
        raise UsageError(
            f"the evaluation measured another setting than the release has ({'; '.join(differing)}): evaluate the "
            "release's own setting, with publius evaluate --release"
        )


def _defaults(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What the release's mechanism takes where nothing is said; without those that follow from the rest.

    Nothing of a class from outside, which is not imported: `_check_followed` compares all.
    """
    if place_in(manifest) is not None:
        return {}
    values = {each.name: each.default for each in declared(class_named(manifest["mechanism"]).Parameters)}
    return {name: value for name, value in values.items() if value is not None}


def _alike(found: Any, wanted: Any) -> bool:
    if isinstance(found, int | float) and isinstance(wanted, int | float):
        return math.isclose(found, wanted, rel_tol=1e-9)
    return bool(found == wanted)


def _stated(results: Results, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The facts under the names that a manifest has for them: of the vocabulary, or of the reference."""
    request = results.facts["request"]
    if manifest.get("reference") is not None:
        read = results.facts.get("documents") or {}
        return {
            **read,
            "preserve": request.get("preserve"),
            "unknown": request.get("document_unknown", "drop"),
        }
    stops, profile = request.get("stop_words"), results.facts.get("tokenizer")
    return {
        **results.facts,
        "tokenizer": PROFILES[profile].label if profile in PROFILES else None,
        "unknown": request.get("unknown"),
        "stop_words_sha256": None if stops is None else StopWords.load(stops).sha256,
    }


def _line(manifest: Mapping[str, Any], lines: list[SummaryLine]) -> SummaryLine:
    for line in lines:
        if line.mechanism == manifest["mechanism"] and _same(line, manifest):
            return line
    found = ", ".join(f"{line.mechanism} at {_setting(line)}" for line in lines if line.mechanism != "clean")
    raise UsageError(
        f"the evaluation measured {found or 'unprotected texts only'}; the release is by {manifest['mechanism']} at "
        f"{_value('epsilon', manifest['epsilon'])}{_value(', bound', manifest.get('bound'))}: evaluate that setting"
    )


def _same(line: SummaryLine, manifest: Mapping[str, Any]) -> bool:
    bound = manifest.get("bound")
    return _near(line.epsilon, manifest["epsilon"]) and (bound is None or _near(line.bound, bound))


def _near(one: float | None, other: float | None) -> bool:
    return one == other or (one is not None and other is not None and math.isclose(one, other, rel_tol=1e-9))


def _setting(line: SummaryLine) -> str:
    return _value("epsilon", line.epsilon) + _value(", bound", line.bound)


def _value(name: str, value: float | None) -> str:
    return "" if value is None else f"{name} {value:g}"


def _about(results: Results, holder: FoundByOne | None, bound: float | None) -> tuple[tuple[str, str], ...]:
    facts, known = results.facts, authors_given(results.facts)
    rows = [("texts attacked", f"{facts['unknown_texts']:,}, each released as {facts['size']:,} words")]
    if facts.get("authors"):
        rows.append(("authors", f"{facts['authors']:,}") if known else AUTHORS_UNKNOWN)
    if learned := facts.get("learned_authors"):
        rows.append(
            (
                "authors of other texts that the reference learned from",
                f"{learned:,}; of authors whom it does not know a label is right less often, and rows may add more",
            )
        )
    if facts.get("topics"):
        rows.append(("topics", ", ".join(map(str, facts["topics"]))))
    rows.append(("repeats", f"{facts['request']['repeats']:,}, each with other noise"))
    rows.append(("made by", f"Publius {facts['publius_version']}"))
    return (*rows, *(together_rows(holder, bound) if known else _text_row(holder)))


def _findings(line: SummaryLine, clean: SummaryLine | None, facts: Mapping[str, Any]) -> list[Finding]:
    found, chance = [], facts["chance"]
    for (adversary, task), finding in line.findings.items():
        if task not in get_args(Task):  # what a release is good for is in the report
            continue
        before = None if clean is None else clean.findings.get((adversary, task))
        told = knowing_topic(finding, facts)
        found.append(
            Finding(
                str(task),
                adversary,
                _share(finding.accuracy),
                None if before is None else _share(before.accuracy),
                chance.get(str(task)),
                None if told is None else _share(told),
            )
        )
    return found


def _share(interval: Interval) -> Share:
    return Share(interval.value, interval.low, interval.high)
