"""The options that name a mechanism, and the mechanism made from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import waiting

if TYPE_CHECKING:
    from publius.mechanisms.base import AbstractMechanism
    from publius.vectors.embeddings import Embeddings

Mechanism = Annotated[
    str,
    typer.Option(
        help="laplace, exponential, tight, repaired-tight, projected-laplace, projected-exponential, "
        "truncated-exponential, mahalanobis or vickrey."
    ),
]
Metric = Annotated[str, typer.Option(help="Word distance: euclidean or manhattan.")]
Vectors = Annotated[
    str | None, typer.Option(help="Word vectors: a stored name or a file. Default: the packaged GloVe.")
]
Project = Annotated[int | None, typer.Option(min=1, help="Principal components kept (projected mechanisms).")]
Prior = Annotated[
    Path | None, typer.Option(help="Public word weights, word TAB weight a line (exponential mechanisms).")
]
Floor = Annotated[
    float | None, typer.Option(min=0, help="Share of draws from the prior alone (exponential mechanisms).")
]
MAKING = "opening the vectors, certifying the mechanism"
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def extras(
    embeddings: Embeddings, project: int | None, prior: Path | None, floor: float | None
) -> dict[str, Any]:
    """The parameters beyond epsilon and metric, None where they are not given."""
    from publius.mechanisms.finite.prior import read_prior

    weights = None if prior is None else read_prior(prior, embeddings)
    return {"project": project, "prior": weights, "floor": floor}


def make(
    name: str, embeddings: str | None, epsilon: float | None, metric: str, project: int | None, prior: Path | None,
    floor: float | None, scale: float | None = None,
) -> AbstractMechanism:  # fmt: skip
    """The mechanism that the options name, on the vectors they name."""
    from publius.mechanisms.registry import make_mechanism
    from publius.vectors.embeddings import Embeddings

    with waiting(MAKING):
        vectors = Embeddings.load(embeddings)
        given = extras(vectors, project, prior, floor)
        return make_mechanism(name, vectors, epsilon=epsilon, metric=metric, scale=scale, **given)
