"""Where documents come from: files, folders, standard input; the kind of each is told by its name or its content."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import stat
import sys
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final, final

from publius.documents.arrow import Arrow
from publius.documents.office import Office, Workbook
from publius.documents.plain import Json, JsonLines, Separated, TextFile, TextLines, most_frequent
from publius.documents.tables import HEAD, Table, head_of, whole_encoding
from publius.errors import DataError, UsageError, os_errors, shown, usable
from publius.settings import Reading
from publius.text.normal_form import decoded

_STDIN: Final = "standard input"
_STANDARD: Final = {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}
_NOT_READ: Final = {  # and what to save them as
    ".doc": ".docx", ".rtf": ".docx", ".odt": ".docx", ".msg": ".eml", ".pages": ".docx", ".wpd": ".docx",
    ".numbers": ".xlsx", ".sav": ".csv", ".dta": ".csv", ".rds": ".csv", ".ppt": ".pdf", ".pptx": ".pdf",
    **dict.fromkeys((".zip", ".7z", ".rar", ".tar", ".tgz"), "a folder of what is in it"),
    ".pst": ".mbox", ".xml": ".csv or .jsonl", ".sqlite": ".csv", ".db": ".csv",
}  # fmt: skip
_KINDS: Final = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".psv": "csv",
    ".txt": "txt", ".text": "txt", ".md": "txt", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow",
    ".feather": "arrow", ".xlsx": "sheets", ".xlsm": "sheets", ".xlsb": "sheets", ".xls": "sheets", ".ods": "sheets",
    ".docx": "docx", ".pdf": "pdf", ".html": "html", ".htm": "html", ".eml": "eml", ".mbox": "mbox",
}  # fmt: skip
_MAGIC: Final = (
    (b"%PDF", "pdf"), (b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"From ", "mbox"), (b"\xd0\xcf\x11\xe0", "sheets"),
)  # fmt: skip
_MAIL: Final = re.compile(
    r"(?:from|to|subject|date|received|return-path|delivered-to|mime-version): .*\r?\n[\w-]+:|received: ", re.IGNORECASE
)


File = tuple[Path, str, str]  # where it is, what messages call it, and its kind


@final
class Source:
    """The files of what a user named. Standard input and pipes are read once, into memory without a name."""

    def __init__(self, given: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> None:
        self.given = [given] if isinstance(given, (str, os.PathLike)) else list(given)
        if not self.given:
            raise UsageError("name a file, a folder, or - for standard input.")
        self.name = _STDIN if os.fspath(self.given[0]) in _STANDARD else shown(self.given[0])
        self.told: dict[str, tuple[int, str]] = {}
        self._files: list[File] = []

    def tables(self, reading: Reading) -> list[Table]:
        """A table for each file, in order; those of a folder by name. `UsageError` where two of them are one."""
        self._files = self._files or [file for each in self.given for file in self._found(each, reading)]
        names: dict[tuple[int, int], str] = {}
        for path, name, _ in self._files:
            state = path.stat()
            if (before := names.setdefault((state.st_dev, state.st_ino), name)) is not name:
                twice = "are one file, whose documents would leave twice: name it once."
                raise UsageError(f"{before} and {name} {twice}")
        asked = "lines" if reading.lines else "csv" if reading.delimiter else None
        kinds = [asked if asked and kind in ("csv", "txt") else kind for _, _, kind in self._files]
        return [
            _READERS[kind](path, name, reading, kind) for (path, name, _), kind in zip(self._files, kinds, strict=True)
        ]

    def _found(self, given: str | os.PathLike[str], reading: Reading) -> list[File]:
        if os.fspath(given) in _STANDARD:
            return [self._spooled(_standard_input(), _STDIN, reading)]
        path = usable(Path(given).expanduser())
        with os_errors("open", given):
            mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return self._in_folder(path, subfolders=reading.subfolders)
        if stat.S_ISREG(mode):
            return [(path, shown(given), kind_of(path, str(given), reading))]
        with os_errors("read", given), path.open("rb") as stream:
            return [self._spooled(stream, shown(given), reading)]

    def _in_folder(self, folder: Path, *, subfolders: bool) -> list[File]:
        found: list[File] = []
        left, deeper = list[str](), 0
        with os_errors("look into", folder):
            paths = sorted(folder.rglob("*") if subfolders else folder.iterdir())
        for path in paths:
            suffix = suffix_of(path.name)
            if "/." in f"/{path.relative_to(folder).as_posix()}" or path.name == "Thumbs.db":
                continue
            if path.is_dir():
                deeper += not subfolders
            elif suffix in _KINDS and path.is_file():
                found.append((path, shown(path), kind_of(path, path.name)))
            else:
                left.append(suffix)
        ways = "".join(f"; save {each} as {_NOT_READ[each]}" for each in sorted({*left} & _NOT_READ.keys()))
        if left:
            self.told[f"files of no kind that is read, left out{ways}"] = (len(left), shown(folder))
        if deeper:
            self.told["folders within the folder, left out without --subfolders"] = (deeper, shown(folder))
        if not found:
            below = " The folders in it are read with --subfolders." if deeper else ""
            such = "such as .txt, .docx, .pdf or .csv"
            raise DataError(f"{shown(folder)} holds no file that is read, {such}{ways}.{below}")
        return found

    def _spooled(self, stream: IO[bytes], name: str, reading: Reading) -> File:
        """What a stream gives, in memory, gone with the corpus: no copy of it lies on a disk."""
        held = os.memfd_create("documents", os.MFD_CLOEXEC)
        weakref.finalize(self, os.close, held)
        with open(held, "wb", closefd=False) as kept:
            shutil.copyfileobj(stream, kept, 2**20)
        path = Path(f"/proc/{os.getpid()}/fd/{held}")
        return path, name, kind_of(path, "", reading)


def _standard_input() -> IO[bytes]:
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("standard input is a terminal: send documents to it, or name a file.")
    stream: IO[bytes] | None = getattr(sys.stdin, "buffer", None)
    if stream is None:  # a notebook or a test gave text
        return io.BytesIO(sys.stdin.read().encode("utf-8", "surrogateescape"))
    return stream


def suffix_of(name: str) -> str:
    """The suffix that tells the kind, in small letters; .gz is none."""
    return Path(name.lower().removesuffix(".gz")).suffix


def kind_of(path: Path, name: str, reading: Reading = Reading()) -> str:
    """The kind of a file by its name, else by how it begins. `DataError` for one that is not read."""
    suffix = suffix_of(name)
    if suffix in _NOT_READ:
        raise DataError(f"{shown(name)} is of a kind that is not read: save it as {_NOT_READ[suffix]}.")
    kind = _KINDS.get(suffix, "txt" if reading.lines else None)
    if kind and kind not in ("json", "jsonl"):
        return kind
    head = head_of(path, -1 if kind == "json" else HEAD)
    if not head:
        return kind or "jsonl"  # of no rows
    if kind is None:
        for mark, told in _MAGIC:
            if head.startswith(mark):
                return told
        if head.startswith(b"PK\3\4"):
            return "docx" if b"word/" in head else "sheets"
    text = decoded(head, whole=whole_encoding(head, Reading())).lstrip("\ufeff \t\r\n")
    if text.startswith(("[", "{")):
        first, _, rest = text.partition("\n")
        lines = bool(rest.strip()) and first.rstrip().endswith("]" if text[0] == "[" else "}")
        objects = text[0] == "{" and (kind == "jsonl" or (kind is None and len(head) == HEAD))
        return "jsonl" if lines or objects else "json"
    if kind is not None:
        return kind
    if text[:200].lower().startswith(("<!doctype html", "<html")):
        return "html"
    if _MAIL.match(text):
        return "eml"
    return "csv" if _is_table(text, reading.text_field) else "txt"


def _is_table(text: str, asked: str | None) -> bool:
    """Whether the first line, and no row of anybody's, is names of columns: short, different, text or several of them."""
    line = re.split(r"[\r\n]", text, maxsplit=1)[0]
    header = next(csv.reader([line], delimiter=most_frequent(line)), [])
    short = all(0 < len(cell.strip()) == len(cell) <= 40 and len(cell.split()) <= 4 for cell in header)
    return asked in header or (short and len({*header}) == len(header) and (len(header) > 1 or "text" in header))


_READERS: Final[dict[str, type[Table]]] = {
    "jsonl": JsonLines, "json": Json, "csv": Separated, "txt": TextFile, "lines": TextLines, "sheets": Workbook,
    **dict.fromkeys(("parquet", "arrow"), Arrow), **dict.fromkeys(("docx", "pdf", "html", "eml", "mbox"), Office),
}  # fmt: skip
