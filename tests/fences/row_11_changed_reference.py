"""A reference is what its digest was taken of, from the store and by path."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from fences import Fence
from publius.errors import EmbeddingError
from publius.vectors.learning import reference as reference_store
from publius.vectors.learning.reference import Reference
from references import fitted


def _changed_weight(folder: Path) -> None:
    stored = fitted().save(reference_store.references_root() / "toy")
    assert stored.folder is not None
    shutil.copytree(stored.folder, folder / "toy")
    for place, name in ((stored.folder, "toy"), (folder / "toy", str(folder / "toy"))):
        assert Reference.load(name).sha256 == stored.sha256
        path = place / "topic.3.weights.npy"
        weights = np.load(path)
        weights[0, 0] -= 1  # the sum stays 2^32: only the digest can tell
        weights[0, 1] += 1
        np.save(path, weights)
        with pytest.raises(EmbeddingError, match="digest"):
            Reference.load(name)


def _trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_store, "_check_digest", lambda reference: None)


FENCES = (Fence(11, "a reference with one weight changed is not opened", _changed_weight, _trusted),)
