"""What is kept for the user, and where: word vectors by name, packaged ones too, and what was computed from public things."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar, final

import msgspec

from publius.errors import AnyPath, MissingExtraError, PubliusError, StorageError, UsageError, os_errors
from publius.files.reading import read_bytes_limited
from publius.files.writing import write_file
from publius.text.list_rule import glove_data

_Kept = TypeVar("_Kept")
DEFAULT: Final = "glove-6b-50d"
# Names of the vectors that come with the extra ``glove``, and how many of its most frequent words each has.
PACKAGED: Final[Mapping[str, int]] = MappingProxyType({DEFAULT: 50_000, "glove-6b-50d-400k": 400_000})
PACKAGED_FOLDER: Final = "packaged"
NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


def check_name(name: str, what: str = "embeddings") -> str:
    """``name`` itself when embeddings may be called so; it becomes a folder's name, so `UsageError` otherwise."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r:.120} cannot be the name of {what}: up to 100 of a-z, 0-9, dot, underscore, hyphen, "
            "a letter or digit first"
        )
    return name


def name_from(path: AnyPath) -> str:
    """A name for the vectors of a file, from the file's."""
    stem = Path(path).name.removesuffix(".gz").rpartition(".")[0] or Path(path).name
    return re.sub(r"[^a-z0-9._-]+", "-", stem.lower()).strip("._-")[:100] or "embeddings"


def home() -> Path:
    """Where Publius keeps what is the user's: ``$PUBLIUS_HOME``, or in the user's data folder of the platform."""
    given = os.environ.get("PUBLIUS_HOME")
    return Path(given) if given else _data_folder() / "publius"


@final
@dataclass(frozen=True)
class Shelf:
    """What is stored of a kind, each in a folder of its name under ``$PUBLIUS_HOME``."""

    kind: str  # embeddings or classifiers
    taken: tuple[str, ...]  # names of those that come with a package
    sign: str = (
        ""  # a file by which one is told from what is none; without it whatever has a name is one, be it damaged
    )

    def root(self) -> Path:
        """Where all of them are."""
        return home() / self.kind

    def folder(self, name: str) -> Path:
        """Where the one called ``name`` is, or would be; `UsageError` for what cannot be a name."""
        return self.root() / check_name(name, self.kind)

    def holds(self, name: str) -> bool:
        """Whether one is stored under this name."""
        return bool(NAME.fullmatch(name)) and os.path.lexists(self.root() / name / self.sign)

    def names(self) -> list[str]:
        """The names of all, sorted."""
        with os_errors("read the folder", self.root()):
            try:
                return sorted(filter(self.holds, os.listdir(self.root())))
            except (FileNotFoundError, NotADirectoryError):
                return []

    def new(self, name: str) -> Path:
        """Where one that is to be called ``name`` goes; `UsageError` when the name is taken or not allowed."""
        if name in self.taken:
            raise UsageError(f"{name!r} is the name of packaged {self.kind}: choose another")
        if os.path.lexists(folder := self.folder(name)):
            raise UsageError(f"{name!r} is stored: choose another name, or publius models remove {name}")
        return folder

    def remove(self, name: str) -> None:
        """Remove one that is stored; `UsageError` where there is none."""
        if not self.holds(name):
            raise UsageError(f"no {self.kind} are called {name!r:.100}. Stored: {', '.join(self.names()) or 'none'}")
        with os_errors("remove", self.folder(name)):
            shutil.rmtree(self.folder(name))


SHELF: Final = Shelf("embeddings", tuple(PACKAGED))
store_root, stored_folder, is_stored = SHELF.root, SHELF.folder, SHELF.holds
stored_names, new_stored_folder = SHELF.names, SHELF.new


def owned_store(entry: AnyPath) -> bool:
    """Make the store that ``entry`` is to lie in, if it is one, for its owner alone; False for packaged ones: public."""
    parent, own = Path(entry).absolute().parent, home().absolute()
    if parent.parent != own:
        return True
    packaged = parent.name == PACKAGED_FOLDER
    with os_errors("make the folder", parent):
        own.mkdir(0o700, parents=True, exist_ok=True)
        parent.mkdir(0o777 if packaged else 0o700, exist_ok=True)
    return not packaged


def in_own_store(folder: AnyPath) -> bool:
    """Whether ``folder`` is an entry of the user's own store of word vectors, or of the packaged ones."""
    root = store_root()
    return Path(folder).resolve().parent in (root.resolve(), (home() / PACKAGED_FOLDER).resolve())


def _data_folder() -> Path:
    given = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_DATA_HOME", "")
    if os.path.isabs(given):  # a relative one is to be ignored: XDG Base Directory Specification
        return Path(given)
    try:
        home = Path.home()
    except RuntimeError:
        raise StorageError("there is no home folder to keep embeddings in: set PUBLIUS_HOME to a folder") from None
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    return home / "AppData" / "Local" if sys.platform == "win32" else home / ".local" / "share"


def package_installed() -> bool:
    """Whether the vectors of the extra ``glove`` are there."""
    with suppress(MissingExtraError):
        return glove_data().is_dir()
    return False


def computed_place(facts: Mapping[str, Any]) -> Path:
    """Where what depends on ``facts`` alone is, or would be."""
    text = json.dumps({"version": 2, **facts}, sort_keys=True)
    return home() / "computed" / f"{hashlib.sha256(text.encode()).hexdigest()}.json"


def computed(
    facts: Mapping[str, Any], kind: type[_Kept], check: Callable[[_Kept], bool], make: Callable[[], _Kept]
) -> _Kept:
    """What is kept for ``facts`` if it is of the ``kind`` and passes ``check``, else what is made, and then kept if it can."""
    path = computed_place(facts)
    with suppress(PubliusError, OSError, ValueError, RecursionError):
        if path.is_file():
            record = msgspec.json.decode(read_bytes_limited(path, 2**27), type=dict[str, Any])
            if record.get("facts") == json.loads(json.dumps(dict(facts))):
                found = msgspec.convert(record.get("kept"), kind)
                if check(found):
                    return found
    made = make()
    with suppress(PubliusError, OSError):
        owned_store(path)
        with write_file(path, 0o600) as stream:
            stream.write(msgspec.json.encode({"facts": facts, "kept": made}))
    return made
