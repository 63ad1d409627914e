"""A table of all words' rows, kept beside the certificates and mapped into memory by every worker.

It depends on the public vocabulary and the mechanism's public parameters only, and is whole, so it tells nothing of
the documents but that there were many. A file is an array as NumPy stores it and 32 bytes more: the SHA-256 of its
name, which is the digest of all that it depends on, and of everything before. What does not agree is as good as
absent; where the folder cannot be written no table is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from publius.errors import PubliusError
from publius.files import write_file
from publius.mechanisms.finite.stored_certificates import kept_path
from publius.vectors.catalogue import owned_store

VERSION: Final = 1
_DIGEST: Final = hashlib.sha256().digest_size
_KEPT: Final = 4  # tables, the last used ones
_GIVEN_UP: Final = 60  # seconds without a byte: rows take milliseconds
_PIECE: Final = 2**22


def table_path(facts: Mapping[str, Any]) -> Path:
    """Where the table for ``facts`` is, or would be."""
    return kept_path({"table": VERSION, **facts}, "tables", ".npy")


def open_table(path: Path, size: int, row: np.dtype[np.void]) -> NDArray[np.void] | None:
    """The table of ``size`` rows, mapped, every byte checked; None when there is none, or not this one."""
    header = _header(size, row)
    try:
        content = np.asarray(np.memmap(path, np.uint8, "r"))
    except (OSError, ValueError):
        return None
    head, rows, digest = content[: len(header)], content[len(header) : -_DIGEST], content[-_DIGEST:]
    if head.tobytes() != header or len(rows) != size * row.itemsize:
        return None
    if _digest(path, content[:-_DIGEST]) != digest.tobytes():
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return rows.view(row)


def write_table(path: Path, size: int, row: np.dtype[np.void], parts: Iterable[NDArray[np.void]]) -> None:
    """Keep a table of ``size`` rows, given in ``parts``, whole or not at all; drop those longest unused."""
    state = hashlib.sha256(path.stem.encode())
    try:
        owned_store(path)
        _remove(_given_up(path.parent))
        with write_file(path, 0o600) as stream:
            for data in itertools.chain([_header(size, row)], (part.tobytes() for part in parts)):
                stream.write(data)
                state.update(data)
            stream.write(state.digest())
        _remove(sorted(path.parent.glob("*.npy"), key=lambda each: each.stat().st_mtime)[:-_KEPT])
    except (PubliusError, OSError):
        return


def _given_up(folder: Path) -> list[Path]:
    """Half-written files that killed processes left."""
    return [each for each in folder.glob("*.tmp") if each.stat().st_mtime < time.time() - _GIVEN_UP]


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)


def _header(size: int, row: np.dtype[np.void]) -> bytes:
    stream = io.BytesIO()
    described = {"descr": np.lib.format.dtype_to_descr(row), "fortran_order": False, "shape": (size,)}
    np.lib.format.write_array_header_2_0(stream, described)
    return stream.getvalue()


def _digest(path: Path, content: NDArray[np.uint8]) -> bytes:
    state = hashlib.sha256(path.stem.encode())
    for start in range(0, len(content), _PIECE):
        state.update(content[start : start + _PIECE].tobytes())
    return state.digest()
