"""Draw the figures of the explanations from what they explain. ``make pages`` runs it (extras demo and plots)."""

import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from publius.distances import pairwise_distances
from publius.distances.metrics import Euclidean
from publius.documents.samples import federalist_papers
from publius.privacy.guarantee import Guarantee
from publius.text.bag import Bag
from publius.vectors.embeddings import Embeddings

DOCS = Path(__file__).parents[1]
PLAIN = {"svg.hashsalt": "publius", "svg.fonttype": "none", "font.size": 9}
EPSILON, SIZE, PAPERS, WORDS = 10.0, 400, 20, 2000


def unknown_words_table() -> tuple[list[str], dict[str, list[float]]]:
    """The epsilons and the four columns of the table in docs/evaluation.md that shows what unknown words carry."""
    text = (DOCS / "evaluation.md").read_text(encoding="utf-8")
    section = text[text.index("why its topic stays") :]
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in section.splitlines()
        if re.match(r"\| (none|\d)", line)
    ]
    rows = rows[:7]
    places = {"topic, unknown words pass": 4, "topic, every word protected": 9, "author, unknown words pass": 3,
              "author, every word protected": 8}  # fmt: skip
    return [row[0] for row in rows], {
        name: [float(row[place]) for row in rows] for name, place in places.items()
    }


def unknown_words() -> None:
    """Topic (DRtopic) and author (DRauth), with unknown words passing and with every word protected."""
    epsilons, columns = unknown_words_table()
    figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for (name, values), (color, style) in zip(
        columns.items(), [("#c0392b", "-"), ("#1f5f99", "-"), ("#c0392b", ":"), ("#1f5f99", ":")], strict=True
    ):
        axes.plot(epsilons, values, style, color=color, marker="o", markersize=3, label=name)
    axes.axhline(10, color="gray", linewidth=0.8, label="topic by chance")
    axes.set(
        xlabel="epsilon a word (smaller protects more)", ylabel="named rightly, of 20 texts", ylim=(0, 20.5)
    )
    figure.legend(fontsize=8, loc="outside upper center", ncols=2)
    _save(figure, "unknown-words")


def exponents() -> None:
    """Exponents between whole documents, and between documents that differ in one word only."""
    embeddings = Embeddings.load()
    papers = sorted(federalist_papers().glob("*.txt"))[:PAPERS]
    bags = [Bag.from_text(path.read_text(encoding="utf-8"), embeddings, length=SIZE) for path in papers]
    guarantee = Guarantee(EPSILON, "euclidean", "proven").lifted(SIZE)
    distances = pairwise_distances(bags, embeddings)[np.triu_indices(PAPERS, 1)]
    whole = [guarantee.privacy_map(float(distance)) for distance in distances]
    vectors = embeddings.vectors[:WORDS]
    apart = Euclidean().pairwise(vectors, vectors)
    np.fill_diagonal(apart, np.inf)
    single = [guarantee.privacy_map(float(distance) / SIZE) for distance in apart.min(axis=1)]
    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    bins = np.geomspace(0.3, 4e4, 70)
    for values, color, name in [
        (
            single,
            "#1f5f99",
            f"one of {SIZE} words becomes its nearest neighbor\n({WORDS:,} most frequent words)",
        ),
        (whole, "#c0392b", f"two Federalist papers, {SIZE} words each\n({len(whole)} pairs)"),
    ]:
        axes.hist(
            values, bins, weights=np.full(len(values), 1 / len(values)), color=color, alpha=0.8, label=name
        )
    axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
    axes.text(1.05, axes.get_ylim()[1] * 0.9, "1 nat", fontsize=8)
    axes.set(xscale="log", xlabel=f"exponent epsilon·N·E in nats, epsilon = {EPSILON:g}", ylabel="share")
    axes.legend(fontsize=8, loc="upper center")
    _save(figure, "exponents")


def _save(figure: plt.Figure, name: str) -> None:
    path = DOCS / "figures" / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None, "Creator": None}, facecolor="white")
    plt.close(figure)


def main() -> None:
    """All."""
    with mpl.rc_context(PLAIN):
        unknown_words()
        exponents()


if __name__ == "__main__":
    main()
