"""A release that is being drawn: private until it is whole, paid for, and its key is gone.

Beside OUTPUT lies ``OUTPUT.publius-run``, its owner's only: the run key, a keyed digest of what is read, finished
private pieces, and the folder that will leave. The order of a run (rules 7, 8, 14): all pieces, the debit, the key
durably deleted, the note in the register, the rename. A run that is killed can go on with ``resume``: before the
debit it has its key, and what it computes again is the same noise; after it there is no key, and nothing is drawn.
"""

from __future__ import annotations

import hmac
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, final

import msgspec

from publius.errors import AnyPath, DataError, UsageError, os_errors, shown
from publius.files.writing import check_new_folder, own_folder, place_folder, remove_secret, sync, sync_tree, write_file
from publius.noise.randomness import KEY_BYTES, RunKey, entropy
from publius.releases.manifest import Manifest, decoded, encoded
from publius.releases.register import MANIFEST, RUNNING, digests, note

if TYPE_CHECKING:
    from publius.privacy.ledger import Ledger

M = TypeVar("M", bound=Manifest)

_KEY, _INPUT, _PAID, _PIECES, _RELEASE = "key", "input", "paid", "pieces", "release"


@final
@dataclass(slots=True)
class Draft:
    """An unfinished release; see `Draft.open`."""

    output: Path
    folder: Path  # what will leave; whatever lies in it when `finish` is called
    work: Path  # for private pieces, which are kept for a run that goes on
    key: RunKey = field(repr=False)
    ledger: Ledger | None = None
    charges: Mapping[str, Fraction] = field(default_factory=dict, repr=False)  # to each author's account
    placed: Manifest | None = None  # of a killed run, drawn and paid for: nothing is drawn again
    noted: bool = True

    @staticmethod
    @contextmanager
    def open(
        output: AnyPath, *, ledger: Ledger | None = None, charges: Mapping[str, Fraction] | None = None,
        resume: bool = False, fingerprint: Callable[[bytes], str] | None = None, seed: int | None = None,
        noted: bool = True,
    ) -> Iterator[Draft]:  # fmt: skip
        """A draft of ``output``; what is half-made goes when the block ends otherwise, but for a run to be resumed.

        ``charges`` can be set on the draft until `finish`. With ``resume`` it goes on with what a killed run of the same
        output left, and keeps what this one leaves; ``fingerprint`` is a keyed digest of all that a run reads and does.
        ``seed`` is of an experiment, never of a release; ``noted`` whether the release is noted as made here.
        """
        target = Path(os.path.realpath(output))
        home = target.with_name(target.name + RUNNING)
        if target.name.endswith(RUNNING):
            raise UsageError(f"{shown(output)} is named as the working folder of a run: name another output")
        with own_folder(home) as fresh:
            if (home / _PAID).exists():
                if not resume:
                    raise UsageError(
                        f"a run of {shown(output)} was drawn, paid for and stopped before it had its place: go on with "
                        f"--resume (label, obfuscate), or remove {shown(home)} to give it up"
                    )
                _check_input(home, fingerprint)
                yield Draft(target, home, home, RunKey.fresh(), placed=_place(target, home, noted=noted))
                return
            if not (fresh or resume):
                _clear(home)
            try:
                check_new_folder(output)
                key = _key(home, fingerprint, seed)
                yield Draft(target, home / _RELEASE, home / _PIECES, key, ledger, charges or {}, noted=noted)
                if home.exists() and not resume:
                    _remove(home)
            except BaseException:
                if not (resume and (home / _KEY).exists()) and not (home / _PAID).exists():
                    _remove(home)
                raise

    def finish(self, manifest: M) -> M:
        """Debit, delete the key, note the release and give it its place; the manifest with its files' digests."""
        home = self.folder.parent
        complete = msgspec.structs.replace(manifest, files=digests(self.folder))
        with write_file(self.folder / MANIFEST, 0o600) as file:
            file.write(encoded(complete))
        with os_errors("write", self.folder):
            sync_tree(self.folder)
        if self.ledger is not None and self.charges:
            self.ledger.spend(self.charges)
        with write_file(home / _PAID, 0o600) as file:
            file.write(b"drawn and paid for\n")
        _place(self.output, home, noted=self.noted)
        return complete


def _key(home: Path, fingerprint: Callable[[bytes], str] | None, seed: int | None) -> RunKey:
    """The key of a run, a fresh one or that of the run that goes on, and its working folder made ready."""
    with os_errors("write", home):
        if (home / _KEY).exists():
            secret = (home / _KEY).read_bytes()
        else:
            _clear(home)  # pieces without their key are of no use
            secret = entropy() if seed is None else RunKey.seeded(seed).expose()
            with write_file(home / _KEY, 0o600) as file:
                file.write(secret)
        _check_input(home, fingerprint)
        shutil.rmtree(home / _RELEASE, ignore_errors=True)
        (home / _RELEASE).mkdir(0o700)
        (home / _PIECES).mkdir(0o700, exist_ok=True)
    return RunKey(secret, seeded_run=seed is not None)


def _check_input(home: Path, fingerprint: Callable[[bytes], str] | None) -> None:
    """Note a digest of what a run reads and does, under a key of its own that outlives the run's; `DataError` for another."""
    path = home / _INPUT
    held = path.read_text() if path.exists() else ""
    salt = bytes.fromhex(held[: 2 * KEY_BYTES]) or entropy()
    said = salt.hex() + (fingerprint(salt) if fingerprint is not None else "")
    if not held:
        with write_file(path, 0o600) as file:
            file.write(said.encode())
    elif not hmac.compare_digest(held, said):
        raise DataError(
            f"the unfinished run in {shown(home)} was of another input or had other options: repeat it as it was, or "
            "remove that folder to give it up"
        )


def _place(target: Path, home: Path, *, noted: bool) -> Manifest:
    """What follows the debit; each step can be done again by a run that goes on."""
    remove_secret(home / _KEY)
    with os_errors("remove", home):
        shutil.rmtree(home / _PIECES, ignore_errors=True)
        if not (home / _RELEASE).exists():  # it had its place when the run was killed
            content = (target / MANIFEST).read_bytes()
        else:
            content = (home / _RELEASE / MANIFEST).read_bytes()
            if noted:
                note(content)
            place_folder(home / _RELEASE, target)
    _remove(home)
    return decoded(content, shown(target))


def _clear(home: Path) -> None:
    """Remove what is in the working folder, the secret first."""
    remove_secret(home / _KEY)
    for each in home.iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        else:
            each.unlink()


def _remove(home: Path) -> None:
    with os_errors("remove", home):
        if home.exists():
            _clear(home)
            home.rmdir()
            sync(home.parent)
