"""``publius utility``: how near its document a release of words stays."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from publius.cli.console import print_json, print_table
from publius.cli.options import Json

_PROBABILITIES = (0.05, 0.5, 0.95)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("utility")(utility)


def utility(
    epsilon: Annotated[float, typer.Option(help="Privacy parameter per unit of word distance.")],
    length: Annotated[int, typer.Option(help="N, the words of a bag.")],
    dimension: Annotated[int, typer.Option(help="n, the dimension of the word vectors.")],
    distance: Annotated[float, typer.Option(help="Distance D to the original that would do.")],
    json: Json = False,
) -> None:
    """State how near its document a release of words stays.

    The probability that the Laplace mechanism stays within a distance.
    """
    from publius.privacy.bounds import (
        density_times_volume,
        displacement_quantile,
        lower_bound,
        lower_bound_after_nearest,
        mean_noise_norm,
        paper_bound_applies,
        paper_bound_geometric,
        paper_bound_refuted,
    )

    case = epsilon, length, dimension, distance
    facts: dict[str, Any] = {
        "epsilon": epsilon,
        "size": length,
        "dimension": dimension,
        "distance": distance,
        "lower_bound": lower_bound(*case),
        "lower_bound_after_nearest": lower_bound_after_nearest(*case),
        "paper_bound": paper_bound_refuted(*case),
        "paper_bound_applies": paper_bound_applies(*case),
        "paper_bound_refuted": length > 1,
        "paper_bound_geometric": paper_bound_geometric(*case),
        "density_times_volume": density_times_volume(epsilon, dimension, length * distance),
        "mean_noise_norm": mean_noise_norm(epsilon, dimension),
        "mean_displacement_quantiles": {
            f"{share:g}": displacement_quantile(epsilon, length, dimension, share) for share in _PROBABILITIES
        },
    }
    if json:
        print_json(facts)
    else:
        _print(facts)


def _print(facts: dict[str, Any]) -> None:
    low, middle, high = (f"{value:.4g}" for value in facts["mean_displacement_quantiles"].values())
    where = (
        "within its range, epsilon*N*D <= n/e"
        if facts["paper_bound_applies"]
        else "outside its range, epsilon*N*D > n/e"
    )
    print_table(
        (
            "Laplace mechanism",
            f"N = {facts['size']:,}, n = {facts['dimension']:,}, epsilon = {facts['epsilon']:g}",
        ),
        [
            ("noise of a word", f"{facts['mean_noise_norm']:.4g} long on average (n/epsilon)"),
            ("mean noise of the bag", f"{low} to {high} in 90 of 100 releases, median {middle}"),
            (
                f"P(E <= {facts['distance']:g}), noisy vectors",
                f"at least {facts['lower_bound']:.3g} (exact for one repeated word)",
            ),
            (
                f"P(E <= {facts['distance']:g}), released words",
                f"at least {facts['lower_bound_after_nearest']:.3g}",
            ),
            ("the paper's bound", f"{facts['paper_bound']:.3g}, {_standing(facts['size'])} ({where})"),
            (
                "with its geometric factor",
                f"at least {facts['paper_bound_geometric']:.3g}, true (c_n V_n = {facts['density_times_volume']:.3g})",
            ),
        ],
    )


def _standing(size: int) -> str:
    return "exact for one word" if size == 1 else "refuted for N >= 2, see docs/refuted-bound.md"
