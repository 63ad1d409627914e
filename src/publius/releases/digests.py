"""Digests that bind a page to files: SHA-256 of each of them, and of the page's own text."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from publius.errors import DataError, UsageError
from publius.files import os_errors, read_bytes_limited, shown

_BLOCK: Final = 2**20
_BLANK: Final = b"0" * 64
WRITTEN_FROM: Final = ("manifest.json", "bags.jsonl")
"""Files of a release that `publius write` needs."""
TEXT_DIGEST: Final = "sha256"
"""In a line of what it writes: of the rest of the line."""
_OWN: Final = re.compile(rb'<code id="page-digest">([0-9a-f]{64})</code>')
_RECORD: Final = re.compile(r'<pre id="record">(.*?)</pre>', re.DOTALL)
PAGE_LIMIT: Final = 16 * 2**20


def file_digests(folder: Path, known: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """SHA-256 of every file below ``folder`` by its path in it, in the order of the paths.

    Those ``known`` to who has just written them are not read again.

    `UsageError` if it is not a folder, `DataError` for a link or device in it, `StorageError` if reading fails.
    """
    if not folder.is_dir():
        raise UsageError(f"{shown(folder)} is not a folder: name the folder of a release or an evaluation")
    found: dict[str, str] = {}
    with os_errors("read", folder):
        for parent, folders, names in os.walk(folder):
            folders.sort()
            links = [name for name in folders if Path(parent, name).is_symlink()]  # walked past otherwise
            for name in (*names, *links):
                path = Path(parent, name)
                if not stat.S_ISREG(path.lstat().st_mode):
                    raise DataError(f"{shown(path)} is no plain file, so it cannot be bound: take it out")
                name = path.relative_to(folder).as_posix()
                found[name] = known[name] if name in known else file_digest(path)
    return dict(sorted(found.items()))


def file_digest(path: Path) -> str:
    """SHA-256 of a file; `StorageError` when reading fails."""
    digest = hashlib.sha256()
    with os_errors("read", path), open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def digest_of(digests: Mapping[str, str]) -> str:
    """One SHA-256 for all files of a folder: of the lines that ``sha256sum`` writes for them, in their order."""
    return hashlib.sha256(
        b"".join(f"{value}  {name}\n".encode() for name, value in digests.items())
    ).hexdigest()


def sealed(page: str) -> bytes:
    """The page with its own digest in place of the 64 zeros: the digest of its bytes with those zeros."""
    data = page.encode()
    if len(_OWN.findall(data)) != 1:
        raise UsageError("a page has exactly one place for its own digest")
    return _OWN.sub(b'<code id="page-digest">' + _own_digest(data).encode() + b"</code>", data)


def _own_digest(data: bytes) -> str:
    return hashlib.sha256(_OWN.sub(b'<code id="page-digest">' + _BLANK + b"</code>", data)).hexdigest()


def opened(path: Path) -> tuple[str, dict[str, Any]]:
    """The page at ``path``, whose text is what it was when it was written, and the record in it; else `DataError`."""
    data = read_bytes_limited(path, PAGE_LIMIT)
    places = _OWN.findall(data)
    if len(places) != 1:
        raise DataError(f"{shown(path)} is no sign-off: it does not have exactly one digest of its own")
    if places[0].decode() != _own_digest(data):
        raise DataError(f"the text of {shown(path)} was changed after it was written: make the sign-off anew")
    from html import unescape  # with its table of entities

    page = data.decode("utf-8", "replace")
    try:
        (block,) = _RECORD.findall(page)
        record = json.loads(unescape(block))
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise DataError(f"{shown(path)} has no record of what it was made for: make the sign-off anew")
    return page, record


def text_digest(line: Mapping[str, Any]) -> str:
    """The digest of a line of ``publius write``, but for the digest that stands in it."""
    facts = {name: value for name, value in line.items() if name != TEXT_DIGEST}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def bags_digest(release: Path) -> str:
    """The digest of what texts are written from: the manifest and the bags of a release."""
    return digest_of({name: file_digest(release / name) for name in WRITTEN_FROM})
