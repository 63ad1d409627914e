"""Draw docs/figures/refuted-bound.svg: the paper's bound, the exact probability, a simulation.

Run from the project's folder: ``.venv/bin/python docs/figures/refuted_bound.py``. The result is the same every time.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from publius.noise.laplace import EuclideanLaplace
from publius.noise.randomness import seeded_rng
from publius.privacy.bounds import lower_bound, paper_bound_refuted

DRAWS = 200_000
CASES = [(1, 2), (10, 5)]  # (n, N)
PLAIN = {"svg.hashsalt": "publius", "svg.fonttype": "none", "font.size": 9}


def draw(axes: Axes, dimension: int, size: int) -> None:
    """Bags that repeat one word, where E is exactly the mean noise length; epsilon 1."""
    end = 1.6 * dimension
    distances = np.linspace(0, end, 200)
    rng = seeded_rng(dimension)
    lengths = np.linalg.norm(EuclideanLaplace(dimension, 1.0).sample(rng, DRAWS * size), axis=1)
    means = np.sort(lengths.reshape(DRAWS, size).mean(axis=1))
    shown = np.linspace(0, end, 21)
    paper = [paper_bound_refuted(1.0, size, dimension, d) for d in distances]
    applies = dimension / np.e / size
    axes.plot(
        distances, paper, color="#c0392b", linestyle="--", label="printed in the paper as a lower bound"
    )
    exact = [lower_bound(1.0, size, dimension, d) for d in distances]
    axes.plot(distances, exact, color="#1f5f99", label="exact: P(nN, εND)")
    counted = np.searchsorted(means, shown) / DRAWS
    axes.plot(shown, counted, "o", color="black", markersize=3, label=f"simulated, {DRAWS:,} bags")
    axes.axvspan(
        0, applies, color="#c0392b", alpha=0.12, linewidth=0, label="where the paper states it: εND ≤ n/e"
    )
    axes.set(title=f"n = {dimension}, N = {size}", xlabel="D, in units of 1/ε", xlim=(0, end), ylim=(0, 1))


def main() -> None:
    """Both cases side by side."""
    with mpl.rc_context(PLAIN):
        figure, panels = plt.subplots(1, 2, figsize=(8, 3.9), sharey=True, layout="constrained")
        for axes, case in zip(panels, CASES, strict=True):
            draw(axes, *case)
        panels[0].set_ylabel("probability that E ≤ D")
        figure.legend(*panels[1].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        path = Path(__file__).with_name("refuted-bound.svg")
        figure.savefig(path, metadata={"Date": None, "Creator": None}, facecolor="white")


if __name__ == "__main__":
    main()
