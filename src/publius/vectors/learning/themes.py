"""The reference that needs no corpus: themes of the default word vectors, made when first asked for.

Frequent words are clustered by direction; a cluster is a theme, its words are what is drawn for it. It knows no
topics of yours and keeps modestly (docs/documents.md): good enough to try things, not to settle on.
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from publius.arrays import Float64Array
from publius.errors import UsageError
from publius.files.progress import counted, stage
from publius.settings import StopWordSettings
from publius.text.tokenizer import StopWords
from publius.vectors.catalogue import PACKAGED_FOLDER, store_root
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.aspects import recall
from publius.vectors.learning.clusters import clusters, directions
from publius.vectors.learning.prototypes import THEMES, Aspect, Prototypes, distances_to, on_grid
from publius.vectors.learning.typical_words import drawable

NAME: Final = THEMES
WORDS: Final = 20_000
_PROTOTYPE_WORDS: Final = 4_000
_SHARED_RANK: Final = 3000.0
SIZES: Final = MappingProxyType({"topic": (10, 25, 50), "meaning": (50, 100, 150)})
_DRAWN: Final = 100
_VERSION: Final = 3


def place_of(embeddings: Embeddings) -> Path:
    """Where the themes of ``embeddings`` are stored."""
    name = f"{NAME}-v{_VERSION}-{embeddings.sha256[:12]}"
    return store_root().parent / PACKAGED_FOLDER / name


def is_made() -> bool:
    """Whether they are stored, so that they are opened in a moment."""
    return any((store_root().parent / PACKAGED_FOLDER).glob(f"{NAME}-v{_VERSION}-*"))


def themes_of(embeddings: Embeddings) -> dict[str, Any]:
    """The parts of the reference: themes of the most frequent of the words, which stand in that order."""
    stops = StopWords.load()
    places = [
        place
        for place, word in enumerate(embeddings.vocabulary[: 2 * WORDS])
        if word not in stops and len(word) > 2 and word.isalpha()
    ][:WORDS]
    if len(places) < 2:
        raise UsageError(f"the vectors {embeddings.name!r} have too few words to make themes of")
    vocabulary = tuple(embeddings.vocabulary[place] for place in places)
    rank = np.arange(1, len(places) + 1, dtype=np.float64)
    background = 1 / (rank + 10)
    background /= background.sum()
    vectors = np.asarray(embeddings.vectors[places], np.float64)
    features = on_grid(_weighted(vectors, rank, background))
    aspects = {}
    for name, sizes in SIZES.items():
        with stage(f"Making the reference {NAME}: what keeps the {name}"):
            aspects[name] = _aspect(name, features, background, vocabulary, sizes)
    source = {"format": "themes", "embeddings": embeddings.sha256, "words": len(places), "version": _VERSION}
    return {
        "name": NAME,
        "vocabulary": vocabulary,
        "background": background,
        "aspects": MappingProxyType(aspects),
        "tokenizer": embeddings.tokenizer,
        "stop_words": StopWordSettings.stop_words,
        "source": MappingProxyType(source),
    }


def _weighted(vectors: Float64Array, rank: Float64Array, background: Float64Array) -> Float64Array:
    """Vectors of which frequent words weigh less, and whose mean over a text of everyday words is 0; (V, n)."""
    weights = rank / (rank + _SHARED_RANK)
    shares = background * weights
    return np.asarray(weights[:, None] * (vectors - shares @ vectors / shares.sum()))


def _aspect(
    name: str,
    features: Float64Array,
    background: Float64Array,
    vocabulary: tuple[str, ...],
    sizes: tuple[int, ...],
) -> Aspect:
    clustered = features[:_PROTOTYPE_WORDS]
    units = directions(clustered)
    sets = []
    for size in counted(sizes, len(sizes)):
        size = min(size, len(clustered))
        members = clusters(clustered, size)
        points = np.zeros((size, features.shape[1]))
        np.add.at(points, members, units)
        points = directions(points)
        nearness = np.where(members[None, :] == np.arange(size)[:, None], points @ units.T, 0.0)
        chances = np.zeros((size, len(features)))
        chances[:, : len(clustered)] = np.maximum(nearness, 0) ** 2 * background[: len(clustered)] ** 0.5
        chances /= chances.sum(axis=1, keepdims=True)
        words, weights = drawable(chances, _DRAWN)
        labels = tuple(", ".join(vocabulary[int(word)] for word in row[:3]) for row in words)
        two = np.partition(distances_to(clustered, points), min(1, size - 1), axis=1)[:, :2]
        margin = float(np.median(two.max(axis=1) - two.min(axis=1)) / 2)
        quality = recall(clustered, points, "cosine")
        sets.append(Prototypes(points, labels, words, weights, margin, quality))
    spread = features.std(axis=0)
    whole = np.concatenate([features, np.zeros((1, features.shape[1]))])
    return Aspect(name, "embedding", whole, "cosine", -spread, spread, tuple(sets))
