"""``publius guarantee``: what a release promises between two documents."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.before import with_what_is_kept
from publius.cli.console import print_json, print_table, printable
from publius.cli.distance import Text, Words, one_text
from publius.cli.options import OF_RELEASES, Json, MechanismCommand, options
from publius.errors import UsageError
from publius.settings import MechanismSettings, ReleaseSettings

if TYPE_CHECKING:
    from publius.releases.plan import Plan
    from publius.releases.stated import Compared

_LOOSE = 10.0  # nats; a factor of 22,000


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("guarantee", cls=MechanismCommand)(guarantee)


@options(without=OF_RELEASES, preserve=None)
def guarantee(
    settings: ReleaseSettings,
    release: Annotated[
        Path | None, typer.Argument(help="Folder of a release: as --manifest.", show_default=False)
    ] = None,
    distance: Annotated[
        float | None, typer.Option(help="Earth Mover's distance between the documents.")
    ] = None,
    between: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Two files (texts with --text, words with --words) whose distance is computed."),
    ] = None,
    public: Annotated[
        Path | None,
        typer.Option(help="Public texts, a file or folder: what is stated for typical pairs of them."),
    ] = None,
    manifest: Annotated[
        Path | None, typer.Option(help="Manifest of a release, in place of mechanism, epsilon and length.")
    ] = None,
    releases: Annotated[int, typer.Option(min=1, help="How many such releases are seen.")] = 1,
    candidates: Annotated[
        int | None, typer.Option(min=1, help="How many documents it could be, equally likely before.")
    ] = None,
    dimension: Annotated[
        int | None,
        typer.Option(min=1, help="Of vectors that are not at hand, with laplace and --distance."),
    ] = None,
    text: Text = False,
    words: Words = False,
    json: Json = False,
) -> None:
    """State what a release promises.

    By any mechanism: between two documents, at a distance, for typical pairs.
    """
    if release is not None and manifest is not None:
        raise UsageError("give the folder of a release or its --manifest, not both")
    manifest = release or manifest
    if sum(each is not None for each in (distance, between, public)) > 1:
        raise UsageError("give one of --distance D, --between A B and --public TEXTS")
    pair = None if between is None else _pair(between, text=text, words=words)
    if words and between is None:
        raise UsageError("--words says how to read --between A B: give both")
    if words and pair is not None and settings.length is None and len(pair[0]) == len(pair[1]):
        settings = replace(settings, length=len(pair[0]))
    if manifest is not None and (pair is not None or public is not None):
        from publius.releases.of_manifest import plan_of

        plan = plan_of(_manifest(manifest), settings.embeddings, settings.reference)
        facts = _of_plan(plan, None, pair, public, (releases, candidates))
    elif manifest is not None:
        facts = _of_manifest(manifest, distance, releases)
    else:
        facts = _of_setting(
            with_what_is_kept(settings), distance, pair, public, (releases, candidates, dimension)
        )
    if json:
        print_json(facts)
    elif "promise" not in facts:
        _print(facts)
    else:
        _print_constants(facts)


def _pair(between: tuple[str, str], *, text: bool, words: bool) -> Compared:
    """Two texts, or the words of each as they stand."""
    if text and words:
        raise UsageError("--text reads texts and --words single words: give one of them")
    if words:
        return between[0].split(), between[1].split()
    return one_text(between[0], text=text), one_text(between[1], text=text)


def _manifest(path: Path) -> dict[str, Any]:
    from publius.releases.manifests import read_manifest_of

    return read_manifest_of(path.parent if path.is_file() else path)


def _of_manifest(path: Path, distance: float | None, releases: int) -> dict[str, Any]:
    from publius.releases.stated import of_manifest

    return of_manifest(_manifest(path), distance, releases=releases)


def _of_setting(
    settings: ReleaseSettings,
    distance: float | None,
    pair: Compared | None,
    public: Path | None,
    seen: tuple[int, int | None, int | None],
) -> dict[str, Any]:
    from publius.releases.plan import Plan

    releases, candidates, dimension = seen
    if settings.reference is None and (settings.epsilon is None or settings.length is None):
        raise UsageError(
            "give --epsilon E and --length N, a --reference NAME with its --bound, or a --manifest"
        )
    if dimension is not None:
        return _laplace(settings, distance, dimension, releases, candidates)
    return _of_plan(Plan.of(settings), distance, pair, public, (releases, candidates))


def _of_plan(
    plan: Plan,
    distance: float | None,
    pair: Compared | None,
    public: Path | None,
    seen: tuple[int, int | None],
) -> dict[str, Any]:
    from publius.releases.stated import between, constants, examples_of, typical

    releases, candidates = seen
    if public is None and (distance is not None or pair is not None or plan.guarantee.bound is not None):
        return between(plan, pair, distance, releases=releases, candidates=candidates)
    found = examples_of(plan) if public is None else typical(plan, _texts(public))
    pairs = [
        {
            "name": each.name,
            "distance": each.distance,
            "exponent": each.exponent,
            "strength": each.strength,
        }
        for each in found
    ]
    return {**constants(plan), "pairs": pairs}


def _texts(public: Path) -> list[str]:
    from publius.documents.corpus import Document, open_public_corpus

    found = islice(open_public_corpus(public, number=True), 1_000)
    return [item.text for item in found if isinstance(item, Document) and item.text.strip()]


def _laplace(
    settings: ReleaseSettings, distance: float | None, dimension: int, releases: int, candidates: int | None
) -> dict[str, Any]:
    """The paper's mechanism at a distance, for any vectors of a dimension."""
    from publius.distances.metrics import ground_metric, metric_asked
    from publius.noise.laplace import checked_epsilon
    from publius.privacy.guarantee import Guarantee, laplace_bound
    from publius.privacy.promise import statement
    from publius.releases.stated import named

    if distance is None or settings.mechanism not in (None, MechanismSettings.mechanism):
        raise UsageError("--dimension goes with --distance D and the mechanism laplace")
    name = ground_metric(metric_asked(settings.metric)).name
    epsilon = checked_epsilon(settings.epsilon or 0.0)
    promised = Guarantee(epsilon, name, "proven").lifted(settings.chosen.size or 1)
    bound = laplace_bound(promised, distance, dimension)
    facts = statement(promised, distance, bound, releases=releases, candidates=candidates)
    return {**facts, **named(MechanismSettings.mechanism, "proven", facts["exponent"])}


def _scale() -> str:
    """The bands with their names."""
    from publius.privacy.guarantee import STRENGTHS

    return ", ".join(f"{name} up to {limit:g} nats" for limit, name in STRENGTHS) + ", empty beyond"


def _print_constants(facts: dict[str, Any]) -> None:
    from publius.privacy.promise import rounded_up

    def nats(value: float | None) -> str:
        return "none is stated" if value is None else f"{rounded_up(value, 6)} nats"

    author = facts["level"] == "author"
    rows = [
        ("mechanism", f"{facts['mechanism']}, {facts['evidence']}"),
        (
            "between any two collections of all others' documents and one author's"
            if author
            else "between any two documents",
            nats(facts["bound"]),
        ),
        *([] if author else [("per unit of distance", nats(facts["epsilon"]))]),
    ]
    if facts["exponent"] is not None:
        rows.append(("exponent", f"{nats(facts['exponent'])} ({facts['strength']})"))
    if facts.get("exact") is not None:
        rows.append(("exactly, for these two", nats(facts["exact"])))
    rows += _unknown_words(facts)
    print_table(
        ("guarantee", f"level {facts['level']}" + ("" if author else f", N = {facts['size']:,}")), rows
    )
    if "pairs" in facts:
        typer.echo("")
        table = [
            (printable(each["name"]), rounded_up(each["exponent"], 4), each["strength"])
            for each in facts["pairs"]
        ]
        print_table(("typical pairs", "nats", "in words"), table)
    typer.echo(f"\nIn words: {_scale()}.")
    if "promise" in facts:
        typer.echo("\n" + printable(facts["promise"]))


def _unknown_words(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Said where there are any: two different ones count as the same."""
    counts = facts.get("unknown_a", 0), facts.get("unknown_b", 0)
    if not any(counts):
        return []
    return [
        ("unknown words", f"{counts[0]:,} of A and {counts[1]:,} of B: no distance between them is known")
    ]


def _print(facts: dict[str, Any]) -> None:
    from publius.privacy.promise import delta_text, factor_text, rounded_up

    exponent = facts["exponent"]
    seen = "a release" if facts["releases"] == 1 else f"{facts['releases']:,} releases"
    rows = [
        ("distance", f"{facts['distance']:.6g} ({facts['metric']}, Earth Mover's)"),
        (
            "exponent",
            f"{rounded_up(exponent, 6)} nats = epsilon*N*distance"
            + (" * releases" if facts["releases"] > 1 else ""),
        ),
        ("factor", f"{factor_text(exponent)}, rounded up"),
        ("in words", f"{facts['strength']} ({_scale()})"),
        ("delta", delta_text(facts["delta"], facts["evidence"], comma=",")),
    ]
    if "prior" in facts:
        rows.append(
            (
                "posterior",
                f"at most {rounded_up(facts['posterior_at_most'], 4)}, from a prior of {facts['prior']:.4g}",
            )
        )
    rows += _unknown_words(facts)
    print_table(
        ("guarantee", f"epsilon = {rounded_up(facts['epsilon'], 6)} a word, N = {facts['size']:,}"), rows
    )
    typer.echo(
        f"\nWhatever is seen of {seen} is at most {factor_text(exponent)} times as probable under one of the "
        "documents as under the other, but for a probability of delta."
    )
    if exponent > _LOOSE:
        typer.echo("An exponent of this size bounds nothing in practice: see docs/guarantee.md.")
