"""What a manifest tells of a kernel from outside Publius: whose word its guarantee is, and where its code comes from."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

from publius.files.user_code import is_foreign
from publius.mechanisms.kernel import Kernel
from publius.privacy.guarantee import STATED, Guarantee


def known_guarantee(mechanism: Kernel) -> Guarantee:
    """The mechanism's guarantee with what is known of it: a class from outside may state whatever it likes."""
    said = mechanism.guarantee
    if is_foreign(type(mechanism)) and said.evidence != "none":
        return replace(said, evidence=STATED)
    return said


def origin(kind: Any) -> dict[str, str | None] | None:
    """Where a class or function from outside comes from, for the manifest: None for Publius's own."""
    if not is_foreign(kind):
        return None
    from importlib import metadata  # slow to start

    packages = metadata.packages_distributions().get(kind.__module__.partition(".")[0], ())
    distribution = packages[0] if packages else None
    return {
        "module": kind.__module__, "class": kind.__qualname__, "distribution": distribution,
        "version": metadata.version(distribution) if distribution else None, "sha256": source_digest(kind),
    }  # fmt: skip


def source_digest(kind: Any) -> str:
    """SHA-256 of the files in which a class and those that it derives from, or a function, are written."""
    digest = hashlib.sha256()
    for each in getattr(kind, "__mro__", (kind,)):
        with contextlib.suppress(TypeError, OSError):  # built in, or made where no file is
            digest.update(Path(inspect.getsourcefile(each) or "").read_bytes())
    return digest.hexdigest()
