"""``publius guarantee``: what a release promises between two documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import print_json, print_table
from publius.cli.distance import Text, encoded_pair
from publius.cli.options import Json, options
from publius.errors import UsageError
from publius.settings import DistanceSettings

if TYPE_CHECKING:
    from publius.privacy.guarantee import Bound, Guarantee


_LOOSE = 10.0  # nats; a factor of 22,000


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("guarantee")(guarantee)


@options(without=("length",))
def guarantee(
    epsilon: Annotated[float, typer.Option(help="Privacy parameter per unit of word distance.")],
    length: Annotated[int, typer.Option(min=1, help="N, the words of a bag.")],
    settings: DistanceSettings,
    distance: Annotated[
        float | None, typer.Option(help="Earth Mover's distance between the documents.")
    ] = None,
    between: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Two files (texts with --text) whose distance is computed."),
    ] = None,
    releases: Annotated[int, typer.Option(min=1, help="How many such releases are seen.")] = 1,
    candidates: Annotated[
        int | None, typer.Option(min=1, help="How many documents it could be, equally likely before.")
    ] = None,
    dimension: Annotated[
        int | None,
        typer.Option(min=1, help="Of the vectors, for delta. Default: that of --embeddings, or the worst."),
    ] = None,
    text: Text = False,
    json: Json = False,
) -> None:
    """What a release by the Laplace mechanism promises between two documents."""
    from publius.distances.metrics import metric_named
    from publius.noise.laplace import checked_epsilon
    from publius.privacy.guarantee import Guarantee
    from publius.privacy.promise import statement

    promised = Guarantee(checked_epsilon(epsilon), metric_named(settings.metric).name, "proven").lifted(
        length
    )
    if (distance is None) == (between is None):
        raise UsageError("give either --distance D or --between A B")
    if between is not None:
        distance, bound = _between(promised, between, replace(settings, length=length), text=text)
    elif distance is not None:
        bound = _at(promised, distance, settings.embeddings, dimension)
    facts = statement(promised, distance or 0.0, bound, releases=releases, candidates=candidates)
    if json:
        print_json(facts)
    else:
        _print(facts)


def _at(promised: Guarantee, distance: float, embeddings: str | None, dimension: int | None) -> Bound:
    from publius.distances.metrics import metric_named
    from publius.privacy.guarantee import laplace_bound
    from publius.vectors.embeddings import Embeddings

    if embeddings is None:
        return laplace_bound(promised, distance, dimension)
    vectors = Embeddings.load(embeddings)
    diameter = metric_named(promised.metric).diameter_bound(vectors.vectors)
    return laplace_bound(promised, distance, vectors.dimension, diameter)


def _between(
    promised: Guarantee, between: tuple[str, str], settings: DistanceSettings, *, text: bool
) -> tuple[float, Bound]:
    from publius.distances import transport_plan
    from publius.privacy.guarantee import laplace_bound_between
    from publius.text.bag import Bag
    from publius.vectors.embeddings import Embeddings

    vectors = Embeddings.load(settings.embeddings)
    first, second = encoded_pair(*between, vectors, settings, text=text)
    plan = transport_plan(Bag(first.words), Bag(second.words), vectors, promised.metric)
    return plan.distance_upper, laplace_bound_between(promised, plan, vectors.dimension)


def _print(facts: dict[str, Any]) -> None:
    from publius.privacy.promise import factor_text

    exponent = facts["exponent"]
    seen = "a release" if facts["releases"] == 1 else f"{facts['releases']:,} releases"
    rows = [
        ("distance", f"{facts['distance']:.6g} ({facts['metric']}, Earth Mover's)"),
        (
            "exponent",
            f"{exponent:.6g} nats = epsilon*N*distance" + (" * releases" if facts["releases"] > 1 else ""),
        ),
        ("factor", factor_text(exponent)),
        ("delta", f"{facts['delta']:.1e}, for the finite range of the sampled noise"),
    ]
    if "prior" in facts:
        rows.append(
            ("posterior", f"at most {facts['posterior_at_most']:.4g}, from a prior of {facts['prior']:.4g}")
        )
    print_table(("guarantee", f"epsilon = {facts['epsilon']:g} a word, N = {facts['size']:,}"), rows)
    typer.echo(
        f"\nWhatever is seen of {seen} is at most {factor_text(exponent)} times as probable under one of the "
        "documents as under the other, but for a probability of delta."
    )
    if exponent > _LOOSE:
        typer.echo("An exponent of this size bounds nothing in practice: see docs/guarantee.md.")
