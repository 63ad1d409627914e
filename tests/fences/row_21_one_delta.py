"""One delta: the manifest, Python and ``publius guarantee`` state the same number, from one function."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from fences import Fence
from publius.cli import app
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.laplace import ManhattanLaplace
from publius.privacy.guarantee import Bound, Guarantee
from publius.releases import stated
from publius.releases.plan import Plan
from publius.settings import ReleaseSettings
from publius.vectors.embeddings import Embeddings

_WORDS = [f"word{letter}" for letter in "abcdefghijklmnopqrst"]
_LENGTH = 4


def _stored(folder: Path) -> Path:
    """Vectors as wide, in Manhattan distance, as those of Google News: 300 numbers, each of its own small range."""
    vectors = np.random.default_rng(5).uniform(-0.25, 0.25, (len(_WORDS), 300)).astype(np.float32)
    Embeddings.from_arrays(_WORDS, vectors, name="wide").save(folder / "wide")
    return folder / "wide"


def _stated(stored: Path, metric: str, *more: str) -> float:
    arguments = ["--epsilon", "10", "--metric", metric, "--length", str(_LENGTH), "--embeddings", str(stored)]
    found = CliRunner().invoke(app, ["guarantee", *arguments, *more, "--json"])
    assert found.exit_code == 0, found.output
    return float(json.loads(found.stdout)["delta"])


def _one_delta(folder: Path) -> None:
    stored = _stored(folder)
    for metric in ("manhattan", "euclidean"):
        settings = ReleaseSettings(
            preserve="words",
            mechanism="laplace",
            epsilon=10.0,
            metric=metric,
            length=_LENGTH,
            embeddings=str(stored),
        )
        plan = Plan.of(settings)
        manifest = float(plan.manifest(1)["delta"])
        assert 0 < manifest < 1e-50, f"{metric}: the manifest states a delta of {manifest}"
        assert plan.mechanism.kernel.guarantee.lifted(_LENGTH).delta == manifest
        between = _stated(stored, metric, "--between", " ".join(_WORDS[:4]), " ".join(_WORDS[4:8]), "--text")
        assert between == manifest, f"{metric}: --between states {between}, the manifest {manifest}"
        assert _stated(stored, metric, "--distance", "1.5") == manifest
        assert _stated(stored, metric) == manifest


def _of_several(folder: Path) -> None:
    """Of several releases deltas add up as exponents do, whoever is asked."""
    words = ReleaseSettings(
        preserve="words", mechanism="laplace", epsilon=10.0, metric="euclidean", length=_LENGTH,
        embeddings=str(_stored(folder)),
    )  # fmt: skip
    for settings, distance in (
        (words, 1.5),
        (ReleaseSettings(preserve="topic", reference="themes", bound=7.0), None),
    ):
        plan = Plan.of(settings)
        manifest = plan.manifest(1)
        once, often = (stated.of_manifest(manifest, distance, releases=each) for each in (1, 1000))
        assert often["exponent"] == pytest.approx(1000 * once["exponent"])
        assert often["delta"] == pytest.approx(1000 * once["delta"], rel=1e-6, abs=0)
        assert max(manifest["delta"], manifest.get("bound_delta", 0)) <= once["delta"]
        assert once["delta"] > 0 or distance is None
        asked = stated.between(plan, distance=distance, releases=1000)
        assert asked["delta"] == pytest.approx(often["delta"], rel=1e-6, abs=0)


def _of_one(patch: pytest.MonkeyPatch) -> None:
    whole = stated._exponent

    def one(exponent: float, delta: float, releases: int) -> dict[str, Any]:
        return {**whole(exponent, 0.0, releases), "delta": delta}

    patch.setattr(stated, "_exponent", one)


def _by_distance(patch: pytest.MonkeyPatch) -> None:
    """Delta for the distance of two documents, in place of that of the vocabulary."""

    def bound(self: Laplace, size: int, distance: float) -> Bound:
        promised: Guarantee = self.guarantee.lifted(size)
        delta = self._noise.truncation_delta(self.epsilon * distance)
        return Bound(promised.privacy_map(distance), delta)

    patch.setattr(Laplace, "bound", bound)


def _every_coordinate_moves_all(patch: pytest.MonkeyPatch) -> None:
    """Delta as if each coordinate of a word could move by the whole Manhattan distance."""

    def delta(self: ManhattanLaplace, vectors: np.ndarray) -> float:
        return self.truncation_delta(self.epsilon * float(np.ptp(vectors, axis=0).sum()))

    patch.setattr(ManhattanLaplace, "vocabulary_delta", delta)


FENCES = (
    Fence(21, "one delta, whoever states it", _one_delta, _by_distance),
    Fence(21, "deltas of several releases add up", _of_several, _of_one),
    Fence(
        21, "the delta of Manhattan noise is that of its coordinates", _one_delta, _every_coordinate_moves_all
    ),
)
