"""Kernels from outside Publius: found, checked, made, and told apart in the manifest.

A class comes by its place, ``python:package.module:Class``. Importing it runs its code. It is refused where it is no
kernel or cannot state its guarantee; whether what it states is true is a question for ``publius audit --mechanism`` and
for a proof.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
from collections.abc import Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

from publius.embeddings.embeddings import Embeddings
from publius.errors import PolicyError, PubliusError, place_of
from publius.files.user_code import is_foreign, object_at
from publius.mechanisms.kernel import Kernel
from publius.option import Settings
from publius.privacy.guarantee import STATED, Guarantee


def imported(name: str) -> type[Kernel]:
    """The kernel at ``python:package.module:Class``; `PolicyError` with what is missing."""
    found = object_at(name)
    if not (isinstance(found, type) and issubclass(found, Kernel)):
        raise PolicyError(f"{name} is no mechanism on words: derive the class from publius.Kernel")
    if inspect.isabstract(found):
        raise PolicyError(f"{name} does not define {', '.join(sorted(found.__abstractmethods__))}")
    if not isinstance(getattr(found, "name", None), str):
        raise PolicyError(f"{name} has no name: give the class a name, as a text")
    if not issubclass(found.Parameters, Settings):
        raise PolicyError(f"{name} declares Parameters that do not derive from publius.option.Settings")
    for method in ("draw", "randomize", "indices", "bag"):
        if getattr(found, method) is not getattr(Kernel, method):
            raise PolicyError(f"{name} replaces {method}, which is Publius's: define noise and apply only")
    if "threads" not in inspect.signature(found.apply).parameters:
        raise PolicyError(f"{name}: apply needs the parameters words, noise and threads=1")
    return found


def made(kind: type[Kernel], embeddings: Embeddings, given: Mapping[str, Any]) -> Kernel:
    """The mechanism, once it has stated a guarantee: `PolicyError` with the reason where it does not."""
    failing = "be made"
    try:
        mechanism = kind(embeddings, **given)
        failing = "state its guarantee"
        promised: Any = mechanism.guarantee
    except PubliusError:
        raise
    except Exception as error:  # another package's bug is told as such
        raise PolicyError(f"the mechanism {kind.name} cannot {failing}: it raised {place_of(error)}") from error
    reason = None
    if not isinstance(promised, Guarantee):
        reason = f"it gives a {type(promised).__name__}, not a publius.Guarantee"
    elif promised.size is not None:
        reason = "it is that of a bag, not that of a single word"
    elif promised.metric != mechanism.metric.name:
        reason = f"it is in the metric {promised.metric!r}, and the mechanism's is {mechanism.metric.name!r}"
    elif not promised.epsilon <= mechanism.epsilon * (1 + 2**-51):
        reason = f"epsilon is {promised.epsilon!r}, more than the {mechanism.epsilon!r} asked for"
    if reason is not None:
        raise PolicyError(f"the mechanism {kind.name} cannot state its guarantee: {reason}")
    return mechanism


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
