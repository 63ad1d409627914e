"""``publius write``: a text for each bag of a release, by a writer in a process apart.

What is written is kept line by line beside the output as it comes (``OUTPUT.partial``), so that a run that was ended
goes on where it stopped; the output takes its place whole. This is post-processing: whatever a writer does, it has a
release and public things to do it with, so the guarantee of the release holds for the texts as it stands.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, final

from publius.documents.foreign import KINDS as FOREIGN
from publius.documents.readers import kind_of_file
from publius.errors import DataError, PolicyError, PubliusError, StorageError, UsageError, how_many
from publius.files import AnyPath, child, os_errors, shown, storage_error, write_file
from publius.files.progress import Advance, unheard
from publius.files.reading import no_link
from publius.files.user_code import PYTHON, search_for
from publius.releases.digests import TEXT_DIGEST, WRITTEN_FROM, bags_digest, text_digest
from publius.releases.writing.chat import PREFIX
from publius.releases.writing.confinement import HOLDS, Rule
from publius.releases.writing.heard import LONGEST, Heard
from publius.releases.writing.llm import model_of
from publius.releases.writing.public_texts import public_texts
from publius.releases.writing.released_bags import read_bags, read_manifest
from publius.releases.writing.writers import check_name
from publius.settings import WritingSettings
from publius.vectors.learning.reference import Reference, parts_of

APART: Final = "publius.releases.writing.apart"
"""The module that is the writer's process."""

KEY: Final = "PUBLIUS_LLM_KEY"
"""The environment variable with what a server of language models wants as its key."""

_SYNC_EVERY: Final = 0.25  # seconds of writing that a power failure may cost
_SYSTEM: Final = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache",
                  "/etc/ssl/openssl.cnf", "/dev/null", "/dev/urandom")  # fmt: skip
_NETWORK: Final = ("/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf",
                   "/etc/services", "/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/pki/ca-trust", "/etc/pki/tls/certs",
                   "/etc/pki/tls/cert.pem", "/usr/share/ca-certificates")  # fmt: skip
"""Names and certificates, for a writer that asks a server: the folders of private keys are not among them."""


@final
@dataclass(frozen=True, slots=True)
class WritingSummary:
    """The summary of a run.

    Attributes:
        output: where the texts are.
        documents: bags of the release.
        written: of which there is a text; the others say why there is none.
        resumed: which an earlier run had done.
        writer, note: as on each line.
        confined: whether the kernel held the writer's process, as far as one can.
        held: to what exactly, of `confinement.HOLDS`.
        warning: NOT PRIVATE and why, for an experiment.

    """

    output: str
    documents: int
    written: int
    resumed: int
    writer: str
    note: str
    confined: bool
    held: tuple[str, ...]
    warning: str | None


def write_texts(
    release: AnyPath, output: AnyPath, settings: WritingSettings, progress: Advance = unheard
) -> WritingSummary:
    """Write a text for each bag of the release in a folder to a new file of JSON lines.

    Raises `PolicyError` for a release that is NOT PRIVATE, unless the settings say experiment, and for an address off
    this machine; `UsageError` for what cannot be asked; `DataError` for what is no release; `StorageError` when the
    disk, the writer's process or a language model's server fails: what was written is kept: rerun to resume.
    """
    folder, target = Path(release), Path(output)
    manifest = _checked(folder, target, settings)
    port = None
    if settings.writer.startswith(PREFIX):
        model = model_of(settings)
        model.check()
        port = model.port
    public = _public_things(manifest, settings)
    header = _header(folder, manifest, settings, public)
    with _Kept(target, header, settings.keep_requests) as kept:
        before = len(kept.places)
        progress(before)
        held = _run(folder, manifest, settings, public, port, kept, progress)
        if not kept.places:
            raise DataError(f"the release in {shown(release)} holds no bag: check that it is complete")
        with write_file(target, release=True) as file:
            facts = kept.copy(file)
        kept.drop()
    return WritingSummary(str(output), len(kept.places), facts.written, before, facts.writer, facts.note,
                   {*HOLDS} <= {*held}, held, manifest.get("warning"))  # fmt: skip


def _checked(folder: Path, target: Path, settings: WritingSettings) -> dict[str, Any]:
    """The manifest of a release that text may be written from."""
    check_name(settings.writer)
    if os.path.lexists(target):
        raise UsageError(f"{shown(target)} is there already: choose a new file")
    manifest = read_manifest(folder)
    if target.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"the texts are no part of the release in {shown(folder)}: choose a file outside it")
    if (manifest.get("warning") or manifest.get("private") is not True) and not settings.experiment:
        raise PolicyError(
            f"the release in {shown(folder)} is NOT PRIVATE, and so would be the texts: give --experiment to have them "
            "all the same, each marked so"
        )
    for name in WRITTEN_FROM:
        if not (folder / name).is_file():
            raise UsageError(
                f"{shown(folder)} holds no {name}: text is made from releases in the format jsonl"
            )
    return manifest


@final
@dataclass(frozen=True, slots=True)
class _Public:
    """The public things that a writer is given, by their paths."""

    reference: Path | None
    reference_sha256: str | None
    texts: dict[str, Any] | None
    files: tuple[Path, ...]


def _public_things(manifest: Mapping[str, Any], settings: WritingSettings) -> _Public:
    reference = _reference(manifest, settings)
    folder, sha256 = (None, None) if reference is None else (reference.folder, reference.sha256)
    if settings.public is None:
        return _Public(folder, sha256, None, ())
    found = public_texts(Path(settings.public), settings.text_field, reference)
    if apart := sorted({kind_of_file(path.name) or "" for path in found.corpus.paths} & FOREIGN):
        raise UsageError(
            f"a writer starts no process, and {', '.join(apart)} is read by one: give the public texts as .txt, "
            ".jsonl, .csv or .tsv"
        )
    facts = {"path": str(found.corpus.path.absolute()), "text_field": found.corpus.text_field,
             "sha256": found.sha256, "own_texts": found.own}  # fmt: skip
    return _Public(folder, sha256, facts, found.corpus.paths)


def _reference(manifest: Mapping[str, Any], settings: WritingSettings) -> Reference | None:
    """The release's reference: the one that was named, or the one of its name where that is stored here."""
    made_with = manifest.get("reference_sha256")
    if settings.reference is not None:
        found = Reference.load(settings.reference)
        if made_with is not None and found.sha256 != made_with:
            raise UsageError(
                f"the reference {found.name!r} is not the one that the release was made with: leave it out, or name "
                f"the one with the digest {str(made_with)[:12]}…"
            )
        return found
    if made_with is None:
        return None
    try:
        found = Reference.load(str(manifest["reference"]))
    except PubliusError:
        return None
    return found if found.sha256 == made_with else None


def _header(
    folder: Path, manifest: Mapping[str, Any], settings: WritingSettings, public: _Public
) -> dict[str, Any]:
    """The facts that must be the same for a run to go on."""
    asked = {
        name: value
        for name, value in asdict(settings).items()
        if name in ("writer", "style", "language", "words")
    }
    warning = {"warning": manifest["warning"]} if manifest.get("warning") else {}
    return {
        "format": "publius-texts",
        "version": 3,
        **warning,
        "release": bags_digest(folder),
        "reference": public.reference_sha256,
        "public": None if public.texts is None else public.texts["sha256"],
        **asked,
    }


# The process --------------------------------------------------------------------------------------------------


def _run(
    folder: Path,
    manifest: Mapping[str, Any],
    settings: WritingSettings,
    public: _Public,
    port: int | None,
    kept: _Kept,
    progress: Advance,
) -> tuple[str, ...]:
    """Let the writer's process write what is not written yet; what the kernel held it to."""
    readable = _readable(public, network=port is not None)
    ids = [bag.id for bag in read_bags(folder, manifest)]
    heard = Heard(settings.writer, ids, kept.places, manifest.get("warning"))
    with (
        os_errors("start the writer's process", folder),
        _place() as place,
    ):
        if settings.writer.startswith(PYTHON) and not settings.unconfined:
            _check_hidden(readable, folder, kept.path.parent, Path.cwd())
        bags, plugins, scratch = (place / name for name in ("release", "writer", "scratch"))
        for each in (bags, plugins):
            each.mkdir()
        for name in WRITTEN_FROM:
            shutil.copyfile(folder / name, bags / name)
        if settings.writer.startswith(PYTHON):
            _copy_module(settings.writer, plugins)
        copied = _copied(public, place / "public")
        hidden = replace(settings, public=None if copied is None else str(copied["path"]), reference=None)
        job = {
            "parent": os.getpid(),
            "settings": asdict(hidden),  # without the paths of the user's
            "done": sorted(kept.places),
            "reference": None if public.reference is None else str(public.reference),
            "public": copied,
            "plugins": str(plugins),
            "port": port,
            "key": os.environ.get(KEY) if port is not None else None,
            "rules": [*readable, (str(place.resolve()), "read"), (str(scratch), "write")],
        }
        for line in _lines(_started(bags, scratch), json.dumps(job).encode()):
            try:
                found = heard.line(line)
            except PubliusError as error:
                raise type(error)(f"{error}; {kept.how_to_go_on}" if kept.places else str(error)) from None
            if found is not None:
                kept.add(*found)
                progress(1)
            elif heard.sent is not None:
                kept.add_request(heard.sent)
            elif heard.done:
                return heard.held or ()
    raise StorageError(f"the writer's process ended before its work was done: {kept.how_to_go_on}")


@contextlib.contextmanager
def _place() -> Iterator[Path]:
    """A folder with one that the process may write into; removed with all that lies there, however deep."""
    with tempfile.TemporaryDirectory(prefix="publius-") as name:
        scratch = Path(name, "scratch")
        scratch.mkdir()
        try:
            yield Path(name)
        finally:
            if os.name == "posix" and scratch.is_dir() and not _is_link(scratch):
                _flatten(scratch, Path(tempfile.mkdtemp(dir=name)))


def _flatten(top: Path, flat: Path) -> None:
    """Move every folder below one into another one: thousands in one another are more than a removal can follow.

    No link is followed: of each path only the last part was made by the process, and that is looked at first.
    """
    folders = [top]
    for folder in folders:  # which grow
        with os.scandir(folder) as inside:
            below = [each.path for each in inside if each.is_dir(follow_symlinks=False)]
        for path in below:
            os.chmod(path, 0o700)
            folders.append(flat / str(len(folders)))
            os.rename(path, folders[-1])


def _copied(public: _Public, place: Path) -> dict[str, Any] | None:
    """The public texts as the writer gets them: copies, so that it sees no folder of the user's."""
    if public.texts is None:
        return None
    path = Path(public.texts["path"])
    for each in public.files:
        copy = place / path.name / each.absolute().relative_to(path) if path.is_dir() else place / path.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(each, copy)
    return {**public.texts, "path": str(place / path.name)}


def _started(bags: Path, scratch: Path) -> subprocess.Popen[bytes]:
    """The process: its own folder, an environment that says nothing, no file that is open here."""
    environment = {
        "PYTHONSAFEPATH": "1",
        "LC_ALL": "C.UTF-8",
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        **{name: os.environ[name] for name in ("SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ},
    }
    return subprocess.Popen(  # noqa: S603  # our own interpreter on our own module
        child.command(APART), cwd=bags, env=environment, close_fds=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def _lines(process: subprocess.Popen[bytes], job: bytes) -> Iterator[bytes]:
    """What the process says, until it ends; it does not outlive the one who listens."""
    stdin, stdout = _pipe(process.stdin), _pipe(process.stdout)
    try:
        with contextlib.suppress(BrokenPipeError), stdin:
            stdin.write(job)
        while line := stdout.readline(LONGEST):
            yield line
    finally:
        process.kill()
        stdout.close()
        process.wait()


def _pipe(end: IO[bytes] | None) -> IO[bytes]:
    if end is None:
        raise StorageError("the writer's process has no standard input and output")
    return end


def _readable(public: _Public, *, network: bool) -> list[Rule]:
    """The system's part of what the process may read, with what is below it; or only list, to find modules.

    Of a prefix only Python's own: the environment may have been made in the very folder of the documents.
    """
    package = Path(__file__).resolve().parents[2]
    base, libraries = Path(sys.base_prefix), ("lib/lib*.so*", "lib64/lib*.so*")
    whole = [
        *sorted(child.installation()),
        child.command(APART)[0],  # the interpreter: `platform` looks there for the C library's version
        str(Path(sys.prefix, "pyvenv.cfg")),
        *(str(path) for pattern in libraries for path in base.glob(pattern) if path.is_file()),
        *(str(base / path) for path in ("ssl/openssl.cnf", "share/zoneinfo")),
        *_SYSTEM,
        *((*_NETWORK, str(base / "ssl/cert.pem")) if network else ()),
        str(package),
        *(() if public.reference is None else map(str, parts_of(public.reference))),
    ]
    return [*((path, "read") for path in whole), (str(package.parent), "list")]


def _check_hidden(readable: list[Rule], *folders: Path) -> None:
    """`PolicyError` where a folder of the user's lies in what a writer from outside may read or list."""
    for path, _ in readable:
        for folder in folders:
            if folder.resolve().is_relative_to(Path(path).resolve()):
                raise PolicyError(
                    f"{shown(folder)} lies in {shown(path)}, which a writer of your own may look into: let the "
                    "release, the output and the folder that you work in lie outside Python's and the system's folders"
                )


def _copy_module(name: str, plugins: Path) -> None:
    """Put the writer's module, or the package it is in, beside the release, unless it is installed."""
    top = name.removeprefix(PYTHON).partition(":")[0].partition(".")[0]
    search_for(top)
    try:
        found = importlib.util.find_spec(top) if top else None
    except (ImportError, ValueError):
        found = None
    if found is None or found.origin is None:
        raise UsageError(
            f"{name:.200} is not python:MODULE:CLASS of something that can be imported: is it on PYTHONPATH?"
        )
    origin = Path(found.origin)
    installed = (Path(path).resolve() for path in child.installation())
    if any(origin.resolve().is_relative_to(path) for path in installed):
        return
    package = bool(found.submodule_search_locations)
    for each in (origin, *([origin.parent] if package else [])):
        if _is_link(each):
            raise UsageError(
                f"{shown(each)} is a symbolic link, and the writer is given no file that a link leads to: put the code "
                "itself there, or name the folder that it lies in as PYTHONPATH"
            )
    if package:
        for code in filter(_is_code, _files_in(origin.parent)):
            copy = plugins / top / code.relative_to(origin.parent)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(code, copy)
    else:
        shutil.copyfile(origin, plugins / origin.name)


def _is_link(path: Path) -> bool:
    """Whether a path leads elsewhere, maybe to the very documents."""
    return path.is_symlink()


def _files_in(package: Path) -> Iterator[Path]:
    """Every file of a package, and of the folders in it that no link leads to."""
    for folder, _, names in os.walk(package):
        yield from (Path(folder, name) for name in names)


def _is_code(path: Path) -> bool:
    """Whether a path is a file of code, and no link to one.

    What lies in a package beside its code is left behind: it may be the very documents, and their folders' names tell.
    """
    return not _is_link(path) and path.is_file() and path.name.endswith((".py", ".so", ".pyd"))


# What is written ----------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class _Facts:
    written: int
    writer: str
    note: str


@final
class _Kept:
    """The lines that are written, in a file beside the output as they come, for one run at a time.

    Attributes:
        places: where the line of each bag of the release begins in the file, by the bag's place.

    """

    def __init__(self, target: Path, header: Mapping[str, Any], requests: bool) -> None:
        self._target, self._header = target, header
        self.path = target.with_name(target.name + ".partial")
        self.requests_path = target.with_name(target.name + ".requests.jsonl") if requests else None
        self.places: dict[int, int] = {}
        self._goes_on = False
        self._synced = time.monotonic()

    def __enter__(self) -> _Kept:
        with os_errors("write", self.path), contextlib.ExitStack() as opened:
            self._file: BinaryIO = opened.enter_context(open(self.path, "a+b", opener=no_link))
            self._lock()
            self._read()
            self._requests: BinaryIO | None = None
            if self.requests_path is not None:
                path = self.requests_path
                if not self._goes_on and path.exists() and path.stat().st_size:
                    raise UsageError(f"{shown(self.requests_path)} is there already: choose a new output")
                self._requests = opened.enter_context(open(path, "ab", opener=no_link))
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *ended: object) -> None:
        try:
            self._sync()
            self._drop_if_empty()
        finally:
            self._opened.close()

    @property
    def how_to_go_on(self) -> str:
        """The work that is done, and how to resume."""
        done = f"{how_many(len(self.places), 'text is', 'texts are')} written and kept in {shown(self.path)}"
        return f"{done}, rerun to resume"

    def add(self, place: int, record: Mapping[str, Any]) -> None:
        """Keep the line of one bag."""
        start = self._file.seek(0, os.SEEK_END)
        line = {**record, "release": self._header["release"]}
        self._append(self._file, {"place": place, "record": {**line, TEXT_DIGEST: text_digest(line)}})
        self.places[place] = start

    def add_request(self, record: Mapping[str, Any]) -> None:
        """Keep what was sent."""
        if self._requests is not None:
            self._append(self._requests, record)

    def copy(self, file: IO[bytes]) -> _Facts:
        """Write the lines in the order of the release."""
        written, record = 0, {"writer": "", "note": ""}
        for place in sorted(self.places):
            self._file.seek(self.places[place])
            record = json.loads(self._file.readline())["record"]
            written += record["text"] is not None
            file.write(_line(record))
        return _Facts(written, str(record["writer"]), str(record["note"]))

    def drop(self) -> None:
        """The output has its place: what was kept on the way is no longer needed."""
        self.path.unlink()

    def _drop_if_empty(self) -> None:
        """Before anything was written or sent there is nothing to go on with: the next call may be another."""
        sent = self.requests_path is not None and self.requests_path.stat().st_size > 0
        if not self.places and not sent and self.path.exists():
            self.path.unlink()
            if self.requests_path is not None:
                self.requests_path.unlink()

    def _lock(self) -> None:
        if sys.platform == "win32":
            return
        import fcntl

        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            ours = os.path.samestat(os.fstat(self._file.fileno()), self.path.stat())
        except (BlockingIOError, FileNotFoundError):
            ours = False
        if not ours:  # or who held it has removed it meanwhile
            raise UsageError(f"another process is writing {shown(self._target)}: wait for it")

    def _read(self) -> None:
        """Take over what an earlier run of the same work has written; cut off a line that is not whole."""
        self._file.seek(0)
        first = self._file.readline()
        header = _line(self._header)
        ours = _record(first) == self._header
        self._goes_on = ours and first.endswith(b"\n")
        begun = _record(first).get("format") == self._header["format"] and not self._file.readline()
        if (begun and not self._goes_on) or (len(first) < len(header) and header.startswith(first)):
            self._file.truncate(0)  # a run of this command was killed before its first text
            self._append(self._file, self._header)
            return
        if not ours:
            raise UsageError(
                f"{shown(self.path)} is the beginning of another run, with other bags, writer or choices, or of none: "
                "remove it, or choose another output"
            )
        start = self._file.seek(len(first))
        while line := self._file.readline():
            record = _record(line)
            if not line.endswith(b"\n") or not isinstance(record.get("place"), int):
                self._file.truncate(start)
                break
            self.places[record["place"]] = start
            start += len(line)

    def _append(self, file: BinaryIO, record: Mapping[str, Any]) -> None:
        try:
            file.write(_line(record))
            file.flush()
            if time.monotonic() - self._synced > _SYNC_EVERY:
                self._sync()
        except OSError as error:
            raise storage_error("write", self.path, error) from None

    def _sync(self) -> None:
        if not self._file.closed:
            os.fsync(self._file.fileno())
        if self._requests is not None:
            os.fsync(self._requests.fileno())
        self._synced = time.monotonic()


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _record(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}
