"""A writer of somebody's own sees a release and public copies, and does nothing beside writing."""

from __future__ import annotations

import json
import shutil
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from fences import Fence
from publius.documents.corpus import open_corpus
from publius.errors import PolicyError, UsageError
from publius.files import child
from publius.mechanisms.registry import make_mechanism
from publius.noise.randomness import seeded_rng
from publius.releases.engines import protect_corpus
from publius.releases.measured import read_texts
from publius.releases.plan import Encoding, Plan
from publius.releases.writing import heard, run
from publius.releases.writing.confinement import CALLS, FILES
from publius.settings import WritingSettings
from publius.vectors.embeddings import Embeddings
from toy import WORDS, sentence

_WRITER = """
import asyncio, ctypes, fcntl, os, socket
from publius.releases.writing.writer import AbstractTextWriter, Written

def tried(name, action):
    try:
        action()
    except OSError:
        return []
    return [name]

class Mine(AbstractTextWriter):
    note = "what could be done"
    def write(self, released):
        here = os.environ["TMPDIR"] + "/mine"
        open(here, "w").close()
        done = tried("listed", lambda: os.listdir({beside!r})) + tried("read", lambda: open({secret!r}).read())
        done += [name for path in ("/etc/ssl/private", "/etc/pki/tls/private") if os.path.isdir(path)
                 for name in tried("keys", lambda: os.listdir(path))]
        done += tried("names", lambda: open("/etc/hosts").read())
        done += tried("emptied", lambda: os.open(__file__, os.O_RDONLY | os.O_TRUNC))
        done += tried("emptied", lambda: os.open(__file__, os.O_ACCMODE | os.O_TRUNC))
        done += tried("mode", lambda: os.chmod(here, 0o666)) + tried("date", lambda: os.utime(here, (1, 1)))
        for family in (socket.AF_UNIX, socket.AF_INET):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                done += tried("socket", lambda: socket.socket(family, kind).close())
        for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
            done += tried("pair", lambda: socket.socketpair(socket.AF_UNIX, kind))
        asyncio.run(asyncio.sleep(0))  # takes a pair of streams, which lead nowhere else
        done += tried("program", lambda: os.posix_spawn("/bin/true", ["true"], {{}}))
        done += tried("signal", lambda: os.kill(1, 0))
        done += tried("lock", lambda: fcntl.flock(os.open(here, os.O_RDONLY), fcntl.LOCK_SH))
        ends = os.pipe()
        done += tried("who is told", lambda: fcntl.fcntl(ends[0], fcntl.F_SETOWN, os.getpid()))
        done += tried("that somebody is told", lambda: fcntl.ioctl(ends[0], 0x5452, b"\\1\\0\\0\\0"))
        done += tried("a lock of a part", lambda: fcntl.lockf(os.open(here, os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB))
        done += ["to live on"] * (ctypes.CDLL(None).prctl(1, 0, 0, 0, 0) == 0)
        done += tried("whose it is", lambda: os.setresuid(-1, -1, -1)) + tried("session", os.setsid)
        done += tried("group", lambda: os.setresgid(-1, -1, -1)) + tried("disks", lambda: os.statvfs("/"))
        text = next(iter(self.seen.public)).text
        return Written(f"{{text}}: {{done}}", {{}})
"""


def _written(folder: Path, *, unconfined: bool = False) -> tuple[run.WritingSummary, set[str]]:
    """A release, a public file beside a secret one, and what such a writer makes of them."""
    vectors = seeded_rng(20).standard_normal((len(WORDS), 8), np.float32)
    embeddings = Embeddings.from_arrays(WORDS, vectors, name="toy", tokenizer="word2vec")
    plan = Plan(make_mechanism("laplace", embeddings, epsilon=5.0), Encoding.of("word2vec", length=4))
    texts, public, plugins = folder / "texts.jsonl", folder / "given" / "public.jsonl", folder / "plugins"
    texts.write_text(json.dumps({"id": "a", "text": sentence(1)}) + "\n", encoding="utf-8")
    public.parent.mkdir()
    public.write_text(json.dumps({"text": "public words"}) + "\n", encoding="utf-8")
    secret = public.with_name("secret.txt")
    secret.write_text("secret", encoding="utf-8")
    protect_corpus(open_corpus(texts), plan, folder / "release")
    plugins.mkdir()
    source = _WRITER.format(beside=str(public.parent), secret=str(secret))
    (plugins / "fencewriter.py").write_text(source, encoding="utf-8")
    settings = WritingSettings(writer="python:fencewriter:Mine", public=str(public), unconfined=unconfined)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(plugins))
        summary = run.write_texts(folder / "release", folder / "written.jsonl", settings)
    lines = (folder / "written.jsonl").read_text(encoding="utf-8").splitlines()
    return summary, {json.loads(line)["text"] for line in lines}


def _nothing_else(folder: Path) -> None:
    try:
        summary, written = _written(folder)
    except PolicyError:
        pytest.skip("this system has no Landlock or no seccomp, and refuses a writer from outside")
    assert written == {"public words: []"}
    assert {FILES, CALLS} <= {*summary.held}


def _empties_nothing(folder: Path) -> None:
    """Nor where the kernel (before Linux 6.2) takes emptying a file for reading it."""
    with pytest.MonkeyPatch.context() as patch:
        _started_with(patch, "confinement._rights = lambda version: (1 << 14) - 1")
        _nothing_else(folder)


def _environment_made_in(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let this installation's prefix be a folder, as where ``python -m venv .`` or ``conda create -p .`` was typed."""
    paths = {**sysconfig.get_paths(), "data": str(folder), "scripts": str(folder)}
    patch.setattr(sysconfig, "get_paths", lambda: paths)
    for name in ("prefix", "exec_prefix", "base_prefix"):
        patch.setattr(sys, name, str(folder))


def _prefix_is_hidden(folder: Path) -> None:
    """An environment that was made in the folder of the documents shows a writer nothing of theirs."""
    with pytest.MonkeyPatch.context() as patch:
        _environment_made_in(patch, folder)
        (folder / "lib").mkdir()
        (folder / "ownwriter.py").touch()
        (folder / "plugins").mkdir()
        patch.syspath_prepend(str(folder))
        run._copy_module("python:ownwriter:Mine", folder / "plugins")
        assert (folder / "plugins" / "ownwriter.py").exists()  # it is not installed
        shutil.rmtree(folder / "plugins")
        _nothing_else(folder)
        patch.chdir(folder)
        assert child.parted([str(folder)]) == ([], [str(folder)])  # nor is it searched before our own


def _not_beside_modules(folder: Path) -> None:
    """Where Python's modules lie nobody works with a writer from outside."""
    modules = folder / "site-packages" / "work"
    modules.mkdir(parents=True)
    paths = {**sysconfig.get_paths(), "purelib": str(modules.parent)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sysconfig, "get_paths", lambda: paths)
        patch.chdir(modules)
        with pytest.raises(
            PolicyError, match=r"work' lies in .*site-packages', which a writer of your own may look"
        ):
            _written(folder)


def _only_when_typed(folder: Path) -> None:
    """Where the system holds nothing, it takes a typed word."""
    (folder / "first").mkdir()
    (folder / "second").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        _started_with(patch, "apart.confine = lambda rules, port: ()")
        with pytest.raises(PolicyError, match="--unconfined"):
            _written(folder / "first")
        assert not (folder / "first" / "written.jsonl").exists()
        summary, _ = _written(folder / "second", unconfined=True)
        assert (summary.held, summary.confined) == ((), False)


def _signed_if_held(folder: Path) -> None:
    """Texts of a writer that nothing held are told by each of their lines, and not signed for."""
    with pytest.MonkeyPatch.context() as patch:
        _started_with(patch, "apart.confine = lambda rules, port: ()")
        _written(folder, unconfined=True)
    with pytest.raises(PolicyError, match="no promise holds for it"):
        read_texts(folder / "written.jsonl", folder / "release")


def _without_links(folder: Path) -> None:
    """A writer's code is copied, and no file or folder that a link beside it leads to."""
    private, package, given = (folder / name for name in ("private", "linkedwriter", "given"))
    for each in (private / "anna", package / "own", given):
        each.mkdir(parents=True)
    (private / "texts.jsonl").write_text("a complaint", encoding="utf-8")
    (private / "settings.py").write_text("KEY = 1", encoding="utf-8")
    for code in (package / "__init__.py", package / "own" / "more.py"):
        code.touch()
    (package / "loot.py").symlink_to(private / "texts.jsonl")
    (package / "folder").symlink_to(private)
    (folder / "linkedmodule.py").symlink_to(private / "texts.jsonl")
    (folder / "linkedfolder").symlink_to(package)
    (folder / "linkedinit").mkdir()
    (folder / "linkedinit" / "__init__.py").symlink_to(private / "settings.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        for name in ("linkedmodule", "linkedfolder", "linkedinit"):
            with pytest.raises(UsageError, match=f"{name}.* is a symbolic link"):
                run._copy_module(f"python:{name}:Mine", given)
        run._copy_module("python:linkedwriter:Mine", given)
    found = sorted(
        str(path.relative_to(given / "linkedwriter")) for path in (given / "linkedwriter").rglob("*")
    )
    assert found == ["__init__.py", "own", str(Path("own", "more.py"))], found


def _without_names(folder: Path) -> None:
    """Of a writer's package only folders with code have a place in the copy: others may be called as somebody is."""
    package, given = folder / "deepwriter", folder / "given"
    for each in ("clients/Smith_John", "own/parts", "empty"):
        (package / each).mkdir(parents=True)
    for file in ("__init__.py", "own/parts/more.py", "clients/Smith_John/letter.txt"):
        (package / file).touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        run._copy_module("python:deepwriter:Mine", given)
    found = {path.relative_to(given / "deepwriter").as_posix() for path in given.rglob("*")} - {"."}
    assert found == {"__init__.py", "own", "own/parts", "own/parts/more.py"}, found


_BEFORE = "from publius.releases.writing import apart, confinement"
_changes: list[str] = []


def _started_with(patch: pytest.MonkeyPatch, change: str) -> None:
    """Let the writer's process start with a part of it replaced."""
    patch.setattr(sys.modules[__name__], "_changes", [*_changes, change])
    code = "\n".join([_BEFORE, *sys.modules[__name__]._changes, "apart.main()"])  # type: ignore[attr-defined]
    patch.setattr(child, "command", lambda module: [sys.executable, "-P", "-c", code])


def _all_calls(patch: pytest.MonkeyPatch) -> None:
    _started_with(patch, "confinement.refuse_calls = lambda internet: True")


def _all_pairs(patch: pytest.MonkeyPatch) -> None:
    _started_with(patch, "from publius.releases.writing import system_calls; system_calls._PAIR = (-1, -1)")


def _any_owner(patch: pytest.MonkeyPatch) -> None:
    of_owners = "('setresuid', 'setresgid', 'setsid')"
    change = f"from publius.releases.writing.system_calls import _REFUSED; [_REFUSED.pop(name) for name in {of_owners}]"
    _started_with(patch, change)


def _names_of_disks(patch: pytest.MonkeyPatch) -> None:
    of_disks = "('listmount', 'statmount', 'statfs', 'fstatfs')"
    change = f"from publius.releases.writing.system_calls import _REFUSED; [_REFUSED.pop(name) for name in {of_disks}]"
    _started_with(patch, change)


def _all_of_open_files(patch: pytest.MonkeyPatch) -> None:
    _started_with(patch, "from publius.releases.writing import system_calls; system_calls._OF_FILES.clear()")


def _any_flag(patch: pytest.MonkeyPatch) -> None:
    _started_with(patch, "from publius.releases.writing import system_calls; system_calls._OPEN.clear()")


def _public_folder_is_listed(patch: pytest.MonkeyPatch) -> None:
    real = run._readable

    def readable(public: run._Public, *, network: bool) -> list[tuple[str, str]]:
        return [*real(public, network=network), *((str(path.parent), "list") for path in public.files)]

    patch.setattr(run, "_readable", readable)


def _prefix_is_read(patch: pytest.MonkeyPatch) -> None:
    real = run._readable

    def readable(public: run._Public, *, network: bool) -> list[tuple[str, str]]:
        return [*real(public, network=network), (sys.prefix, "read")]

    patch.setattr(run, "_readable", readable)
    patch.setattr(run, "_check_hidden", lambda readable, *folders: None)


def _nobody_asks(patch: pytest.MonkeyPatch) -> None:
    _started_with(patch, "apart._check_held = lambda settings, held: None")


def _links_followed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(run, "_is_link", lambda path: False)


FENCES = (
    Fence(6, "a writer apart opens no socket and changes no mode", _nothing_else, _all_calls),
    Fence(6, "a writer apart has no socket by making two", _nothing_else, _all_pairs),
    Fence(6, "a writer apart stays whose it is, and so ends with its parent", _nothing_else, _any_owner),
    Fence(6, "a writer apart is told of no disk", _nothing_else, _names_of_disks),
    Fence(6, "a writer apart changes and locks no file that it may read", _nothing_else, _all_of_open_files),
    Fence(
        6, "a writer apart empties no file that it may read, on an older kernel", _empties_nothing, _any_flag
    ),
    Fence(6, "a writer apart lists no folder of a public file", _nothing_else, _public_folder_is_listed),
    Fence(
        6, "a writer apart reads nothing where the environment was made", _prefix_is_hidden, _prefix_is_read
    ),
    Fence(
        6,
        "nobody works with a writer from outside among the modules",
        _not_beside_modules,
        lambda patch: patch.setattr(run, "_check_hidden", lambda readable, *folders: None),
    ),
    Fence(
        6,
        "texts of a writer that nothing held are not signed for",
        _signed_if_held,
        lambda patch: patch.setattr(heard, "PYTHON", "nobody:"),
    ),
    Fence(6, "a link in a writer's package takes nothing along", _without_links, _links_followed),
    Fence(
        6,
        "a folder without code in a writer's package stays unnamed",
        _without_names,
        lambda patch: patch.setattr(run, "_is_code", lambda path: True),
    ),
    Fence(6, "a writer that nothing holds runs only when that is typed", _only_when_typed, _nobody_asks),
)
