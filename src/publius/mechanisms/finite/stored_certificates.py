"""Certificates kept beside the embeddings, in a file named by the SHA-256 of everything that they depend on."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from publius.embeddings.catalogue import owned_store, store_root
from publius.errors import PubliusError
from publius.files import read_bytes_limited, write_file

VERSION: Final = 2
_LIMIT: Final = 2**27
_Kept = TypeVar("_Kept")


def cache_path(facts: Mapping[str, Any]) -> Path:
    """Where what depends on ``facts`` alone is, or would be."""
    text = json.dumps({"version": VERSION, **facts}, sort_keys=True)
    return store_root().parent / "certificates" / f"{hashlib.sha256(text.encode()).hexdigest()}.json"


def stored(
    facts: Mapping[str, Any], kind: type[_Kept], check: Callable[[_Kept], bool], make: Callable[[], _Kept]
) -> _Kept:
    """What is stored for ``facts`` if it is of the ``kind`` and passes ``check``, else what is made, and then stored if it can.

    Whatever is too large or has another form is as good as absent.
    """
    path = cache_path(facts)
    with contextlib.suppress(PubliusError, OSError, ValueError, RecursionError):
        if path.is_file():
            record = msgspec.json.decode(read_bytes_limited(path, _LIMIT), type=dict[str, Any])
            if record.get("facts") == json.loads(json.dumps(dict(facts))):
                found = msgspec.convert(record.get("kept"), kind)
                if check(found):
                    return found
    made = make()
    with contextlib.suppress(PubliusError, OSError):
        owned_store(path)
        with write_file(path, 0o600) as stream:
            stream.write(msgspec.json.encode({"facts": facts, "kept": made}))
    return made
