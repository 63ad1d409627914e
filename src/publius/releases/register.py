"""The register "made here": which releases this installation has drawn, by their manifests' digests (rule 14).

A manifest holds the digests of all other files of its folder, and the register the manifest's, so one equality covers
rows, tables, pages, order and white space. Of files that were released it holds salted digests, by which an evaluation
of one is known; it is for its owner alone. It protects against a folder that
was changed, not against who can write in this home: that person could change the program as well.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from publius.errors import DataError, PolicyError, os_errors, shown
from publius.files.reading import LISTED, file_sha256, read_bytes_limited
from publius.files.writing import private
from publius.noise.randomness import entropy
from publius.releases.manifest import Manifest, decoded, encoded

MANIFEST: Final = "manifest.json"
RUNNING: Final = ".publius-run"
"""How the folder of a run ends; what lies in it is no release before it is paid for and has its place."""


def register_path() -> Path:
    """Where the register is, ``$PUBLIUS_HOME/releases.jsonl``."""
    from publius.embeddings.catalogue import home

    return home() / "releases.jsonl"


def note(content: bytes) -> None:
    """Add a manifest, or a page to sign, to the register, durably."""
    _add({"sha256": hashlib.sha256(content).hexdigest(), "made": datetime.now(UTC).isoformat(timespec="seconds")})


def note_files(sha256: Iterable[str]) -> None:
    """Add the files of a release, by their digests, to the register: no page shows what was measured of them."""
    salt = entropy()
    _add({"salt": salt.hex(), "released": [_salted(salt, each) for each in sha256]})


def were_released(sha256: Collection[str]) -> bool:
    """Whether one of the files with these digests was released here."""
    for line in _lines() if sha256 else ():
        if b'"released"' in line:
            with contextlib.suppress(ValueError):  # of a line that a crash has torn
                found = json.loads(line)
                if not {*found["released"]}.isdisjoint(_salted(bytes.fromhex(found["salt"]), each) for each in sha256):
                    return True
    return False


def check_public(sha256: Collection[str], what: str) -> None:
    """`PolicyError` where one of the files was released here: what is learned of it tells of private texts (rule 11)."""
    if were_released(sha256):
        raise PolicyError(f"{what} was released here, so its texts are not public: take others")


def refuse_training_file(digests: Collection[str], taught: Iterable[str], public: Iterable[Mapping[str, Any]]) -> None:
    """`PolicyError` where what a release is made with was learned from its file, or from one released here (rule 11)."""
    learned = LISTED.union(taught)
    if not learned.union(each["sha256"] for each in public).isdisjoint(digests):
        raise PolicyError(
            "this file is what the classifier or the vectors were made from, or a list of public values: what leaves of a "
            "text that taught them tells more than epsilon says. Train on public texts, and release other ones"
        )
    check_public(learned, "a list of values, or a file that taught what is used here,")


def _salted(salt: bytes, sha256: str) -> str:
    return hashlib.blake2b(sha256.encode(), key=salt, digest_size=8).hexdigest()


def _add(line: Mapping[str, object]) -> None:
    path = register_path()
    with os_errors("write", path):
        path.parent.mkdir(0o700, parents=True, exist_ok=True)
        with open(path, "ab", opener=private) as file:
            file.write(b"\n" + json.dumps(line).encode())  # in one step, apart from a line that a crash has torn
            file.flush()
            os.fsync(file.fileno())


def _lines() -> Iterator[bytes]:
    """Those of the register, which grows with every release."""
    if (path := register_path()).exists():
        with os_errors("read", path), open(path, "rb") as file:
            yield from file


def stands_in_register(content: bytes) -> bool:
    """Whether this installation has written the manifest, or the page, of these bytes."""
    wanted = f'"{hashlib.sha256(content).hexdigest()}"'.encode()
    return any(wanted in line for line in _lines())


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a release but its manifest, by name; `DataError` for what is no plain file."""
    found = {}
    with os_errors("read", folder):
        for path in sorted(folder.rglob("*")):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise DataError(f"{shown(path)} is no plain file: a release holds none but those")
            if path.is_dir() and any(path.iterdir()):
                continue
            name = path.relative_to(folder).as_posix()
            if name != MANIFEST:
                found[name] = file_sha256(path) if path.is_file() else "an empty folder"
    return found


def whole(folder: str | os.PathLike[str]) -> tuple[Manifest, bytes]:
    """The manifest of a release and its bytes; `DataError` unless the folder holds exactly the files that it names."""
    place = Path(folder)
    if place.resolve().parent.name.endswith(RUNNING):
        raise DataError(f"{shown(folder)} is no release yet: the run was interrupted before it was paid for and placed")
    if place.exists() and not (place / MANIFEST).is_file():
        raise DataError(f"{shown(folder)} is no release: name the folder that Publius wrote")
    content = read_bytes_limited(place / MANIFEST)
    manifest = decoded(content, shown(place / MANIFEST))
    if encoded(manifest) != content:  # a key twice, other white space: another reader would find other numbers
        raise DataError(f"{shown(place / MANIFEST)} is not as it was drawn: it was written again")
    found = digests(place)
    if found != manifest.files:
        wrong = sorted(name for name in {*found, *manifest.files} if found.get(name) != manifest.files.get(name))
        raise DataError(f"{shown(folder)} is not as it was drawn: {', '.join(map(repr, wrong[:3]))} was changed")
    return manifest, content


def made_here(folder: str | os.PathLike[str]) -> Manifest:
    """The manifest of a release that this installation has drawn and nobody has changed; `PolicyError` otherwise."""
    manifest, content = whole(folder)
    if not stands_in_register(content):
        raise PolicyError(f"{shown(folder)} was not made by this installation, or was changed: draw it here to sign it")
    return manifest
