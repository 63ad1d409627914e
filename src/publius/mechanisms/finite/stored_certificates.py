"""Certificates kept beside the embeddings, so that a large vocabulary is certified once.

A file is named by the SHA-256 of everything that the certificate depends on. It is read with a size limit, checked
for form, and its worst pair is computed again; whatever does not agree is as good as absent. Where the folder
cannot be written the certificate is simply not kept.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from publius.arrays import Float64Array
from publius.embeddings.catalogue import owned_store, store_root
from publius.errors import PubliusError
from publius.files import read_bytes_limited, write_file
from publius.mechanisms.finite.certificate.exact import Constant

VERSION: Final = 1
_LIMIT: Final = 2**27
_FIELDS: Final = {"epsilon", "scale", "worst", "smallest_distance", "sweeps"}


def kept_path(facts: Mapping[str, Any], folder: str, suffix: str) -> Path:
    """Where what depends on ``facts`` alone is kept, or would be: it is named by their digest."""
    text = json.dumps(dict(facts), sort_keys=True)
    return store_root().parent / folder / f"{hashlib.sha256(text.encode()).hexdigest()}{suffix}"


def cache_path(facts: Mapping[str, Any]) -> Path:
    """Where the certificate for ``facts`` is, or would be."""
    return kept_path({"version": VERSION, **facts}, "certificates", ".json")


def cached(
    facts: Mapping[str, Any], check: Callable[[Constant], bool], make: Callable[[], Constant]
) -> Constant:
    """The stored certificate for ``facts`` if there is one that passes ``check``, else a new one, which is stored."""
    found = _constant(_read(facts, "constant"))
    if found is not None and check(found):
        return found
    constant = make()
    _write(facts, {"constant": asdict(constant)})
    return constant


def cached_weights(facts: Mapping[str, Any], size: int, make: Callable[[], Float64Array]) -> Float64Array:
    """The stored weights for ``facts``, ``size`` finite numbers, else new ones, which are stored.

    They need no trust: whatever the weights, the certificate is computed for them.
    """
    found = _read(facts, "weights")
    if (
        isinstance(found, list)
        and len(found) == size
        and all(type(x) is float and math.isfinite(x) for x in found)
    ):
        return np.array(found)
    weights = make()
    _write(facts, {"weights": weights.tolist()})
    return weights


def _read(facts: Mapping[str, Any], key: str) -> object:
    path = cache_path(facts)
    try:
        if not path.is_file():
            return None
        record = json.loads(read_bytes_limited(path, _LIMIT))
    except (PubliusError, OSError, ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or record.get("facts") != json.loads(json.dumps(dict(facts))):
        return None
    return record.get(key)


def _write(facts: Mapping[str, Any], content: Mapping[str, Any]) -> None:
    path = cache_path(facts)
    record = {"facts": dict(facts), **content}
    try:
        owned_store(path)
        with write_file(path, 0o600) as stream:
            stream.write(json.dumps(record, allow_nan=False).encode())
    except (PubliusError, OSError):
        return


def _constant(record: object) -> Constant | None:
    """A certificate of the right form, or None."""
    if not isinstance(record, dict) or set(record) != _FIELDS:
        return None
    numbers = [record["epsilon"], record["scale"], record["smallest_distance"]]
    worst, sweeps = record["worst"], record["sweeps"]
    if not all(type(x) is float and math.isfinite(x) and x > 0 for x in numbers):
        return None
    if not (isinstance(worst, list) and len(worst) == 2 and all(type(x) is int for x in (*worst, sweeps))):
        return None
    return Constant(
        record["epsilon"], record["scale"], (worst[0], worst[1]), record["smallest_distance"], sweeps
    )
