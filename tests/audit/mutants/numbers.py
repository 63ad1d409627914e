"""Noisy vectors that betray what they were made of; texts and tables that are taken as they come."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from audit.hostile_inputs import check_parquet, check_texts
from audit.mutants.mutant import Mutant
from publius.arrays import Float64Array, FloatArray
from publius.audit.implementation import GENUINE, Subject
from publius.audit.outcomes import Check
from publius.audit.vectors import check_vectors
from publius.documents.parquet_limits import Allowance
from publius.noise.laplace import AbstractNoise
from publius.noise.randomness import RunKey

_DRAWS = 2000
_EXCLUDED = "vectors: the low bits exclude no neighbor"
_OUTSIDE = "vectors: every coordinate lies on the public grid"


def _no_grid(law: AbstractNoise, vectors: FloatArray, noise: FloatArray) -> Float64Array:
    """Algorithm 1 as it is printed, in floats."""
    return np.asarray(vectors, np.float64) + noise


def _single(law: AbstractNoise, vectors: FloatArray, noise: FloatArray) -> Float64Array:
    """Rounded to float32, whose steps depend on the vector."""
    return (np.asarray(vectors, np.float64) + noise).astype(np.float32).astype(np.float64)


def _only_noise(law: AbstractNoise, vectors: FloatArray, noise: FloatArray) -> Float64Array:
    """The noise is put on the grid, the vector is not."""
    return np.asarray(vectors, np.float64) + law.grid.indices(noise) * law.grid.spacing


def _as_it_comes(text: str) -> str:
    """NFC of the whole, however long its runs of combining marks are."""
    text = unicodedata.normalize("NFC", text).replace("\xad", "").replace("\u2019", "'").lower()
    return unicodedata.normalize("NFC", text)


def _cut_off(text: str) -> str:
    """Without any combining mark."""
    return "".join(character for character in _as_it_comes(text) if not unicodedata.combining(character))


class _Trusting:
    """Reads whatever comes."""

    def __init__(self, path: Path, metadata: Any, columns: tuple[str, ...]) -> None: ...

    def take(self, values: dict[str, object]) -> None:
        """Let it pass."""


class _Believing(Allowance):
    """Reads what declares little, however much comes."""

    def take(self, values: dict[str, object]) -> None:
        """Let it pass."""


def probe_vectors(subject: Subject, key: RunKey) -> Sequence[Check]:
    """Noisy vectors."""
    return check_vectors(subject, _DRAWS, key)


def probe_texts(subject: Subject, key: RunKey) -> Sequence[Check]:
    """Hostile texts."""
    return check_texts(subject)


def probe_parquet(subject: Subject, key: RunKey) -> Sequence[Check]:
    """Bombs."""
    return check_parquet(subject)


def number_mutants() -> list[Mutant]:
    """Three ways to add noise in floats, two to normalize, two to read Parquet."""
    vectors = (
        ("no grid", _no_grid, _EXCLUDED),
        ("rounded to float32", _single, _OUTSIDE),
        ("only the noise on the grid", _only_noise, _EXCLUDED),
    )
    texts = (
        ("marks are sorted however many there are", _as_it_comes, "text: runs of combining marks are short"),
        ("marks are left out", _cut_off, "text: ordinary words are composed"),
    )
    return [
        *(
            Mutant(f"vectors: {n}", replace(GENUINE, noisy=part), probe_vectors, by)
            for n, part, by in vectors
        ),
        *(Mutant(f"text: {n}", replace(GENUINE, normalize=part), probe_texts, by) for n, part, by in texts),
    ]
