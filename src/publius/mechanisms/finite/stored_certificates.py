"""Certificates kept beside the embeddings, so that a large vocabulary is certified once.

A file is named by the SHA-256 of everything that the certificate depends on. Whatever is too large, has another form or
a worst pair that does not agree is as good as absent; where the folder cannot be written nothing is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
import numpy as np

from publius.arrays import Float64Array
from publius.embeddings.catalogue import owned_store, store_root
from publius.errors import PubliusError
from publius.files import read_bytes_limited, write_file
from publius.mechanisms.finite.certificate.exact import Constant

VERSION: Final = 2
_LIMIT: Final = 2**27
_Made = TypeVar("_Made")


def cache_path(facts: Mapping[str, Any]) -> Path:
    """Where what depends on ``facts`` alone is, or would be."""
    text = json.dumps({"version": VERSION, **facts}, sort_keys=True)
    return store_root().parent / "certificates" / f"{hashlib.sha256(text.encode()).hexdigest()}.json"


def cached(facts: Mapping[str, Any], check: Callable[[Constant], bool], make: Callable[[], Constant]) -> Constant:
    """The stored certificate for ``facts`` if there is one that passes ``check``, else a new one, which is stored."""
    found: Constant | None = _read(facts, Constant)
    if found is not None and min(found.epsilon, found.scale, found.smallest_distance) > 0 and check(found):
        return found
    return _kept(facts, make())


def cached_weights(facts: Mapping[str, Any], size: int, make: Callable[[], Float64Array]) -> Float64Array:
    """The stored weights for ``facts``, ``size`` finite numbers, else new ones, which are stored.

    They need no trust: whatever the weights, the certificate is computed for them.
    """
    found = _read(facts, list[float])
    if found is not None and len(found) == size and all(map(math.isfinite, found)):
        return np.array(found)
    return np.array(_kept(facts, make().tolist()))


def _read(facts: Mapping[str, Any], kind: type[Any]) -> Any:
    """What is stored, or None."""
    path = cache_path(facts)
    with contextlib.suppress(PubliusError, OSError, ValueError, RecursionError):
        if path.is_file():
            record = msgspec.json.decode(read_bytes_limited(path, _LIMIT), type=dict[str, Any])
            if record.get("facts") == json.loads(json.dumps(dict(facts))):
                return msgspec.convert(record.get("kept"), kind)
    return None


def _kept(facts: Mapping[str, Any], made: _Made) -> _Made:
    path = cache_path(facts)
    with contextlib.suppress(PubliusError, OSError):
        owned_store(path)
        with write_file(path, 0o600) as stream:
            stream.write(msgspec.json.encode({"facts": facts, "kept": made}))
    return made
