"""References and word vectors are what their digest was taken of, from the store and by path."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from fences import Fence
from publius.errors import EmbeddingError
from publius.vectors import embeddings
from publius.vectors.embeddings import Embeddings
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


def _moved_vector(folder: Path) -> None:
    rows = np.random.default_rng(1).standard_normal((6, 3))
    stored = Embeddings.from_arrays(list("abcdef"), rows, name="toy").save(folder / "toy")
    worker = pickle.dumps(stored)
    assert Embeddings.load(folder / "toy").sha256 == stored.sha256
    path = folder / "toy" / "vectors.npy"
    vectors = np.load(path)
    vectors[2] += 20
    np.save(path, vectors)
    for again in (lambda: Embeddings.load(folder / "toy"), lambda: pickle.loads(worker)):
        with pytest.raises(EmbeddingError, match="digest"):
            again()
    meta = json.loads((stored.folder / "meta.json").read_text())
    np.save(path, vectors - 20 * (np.arange(6) == 2)[:, None])
    (stored.folder / "meta.json").write_text(
        json.dumps(meta | {"unknown_index": (meta["unknown_index"] + 1) % 6})
    )
    with pytest.raises(EmbeddingError):  # where the unknown token stands is in no digest
        Embeddings.load(folder / "toy")


def _mapped_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "in_own_store", lambda folder: True)


FENCES = (
    Fence(11, "a reference with one weight changed is not opened", _changed_weight, _trusted),
    Fence(
        11, "word vectors of which one was moved are not opened by their place", _moved_vector, _mapped_alone
    ),
)
