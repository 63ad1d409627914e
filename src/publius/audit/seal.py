"""Which stored cases an audit of this installation wrote: a keyed digest of each, which nobody else can make.

A case names what is called and brings what it is called with, so that replaying somebody else's runs what he likes.
The key lies in the home of the installation, beside what it stores, for its owner only.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from publius.errors import StorageError
from publius.files import os_errors, write_file
from publius.noise.randomness import KEY_BYTES, entropy
from publius.vectors.catalogue import store_root

KEY: Final = "cases.key"


def sealed(values: Mapping[str, Any]) -> str:
    """HMAC (SHA-256) of a case's ``values``; the key is made on first use. Empty where there is no home to keep it.

    A finding is not lost because its case cannot be sealed: it is replayed where its target is named again.
    """
    with suppress(StorageError):
        path = store_root().parent / KEY
        key = _key(path)
        if key is None:
            key = entropy(KEY_BYTES)
            with os_errors("make the folder", path.parent):
                path.parent.mkdir(0o700, parents=True, exist_ok=True)
            with write_file(path, 0o600) as file:
                file.write(key)
        return _digest(key, values)
    return ""


def holds(seal: str, values: Mapping[str, Any]) -> bool:
    """Whether this installation has made the ``seal`` of these values; never makes a key."""
    try:
        key = _key(store_root().parent / KEY)
    except StorageError:
        return False
    return key is not None and hmac.compare_digest(seal.encode(), _digest(key, values).encode())


def _key(path: Path) -> bytes | None:
    with os_errors("read", path):
        key = path.read_bytes() if path.exists() else b""
    return key if len(key) == KEY_BYTES else None


def _digest(key: bytes, values: Mapping[str, Any]) -> str:
    return hmac.new(key, json.dumps(values, sort_keys=True).encode(), "sha256").hexdigest()
