"""Kernels from outside Publius: found, checked, made, and told apart in the manifest.

A class comes by its place, ``python:package.module:Class``. Importing it runs its code. It is refused where it is no
kernel or cannot state its guarantee; whether what it states is true is a question for ``publius audit --mechanism`` and
for a proof.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from publius.embeddings.embeddings import Embeddings
from publius.errors import PolicyError, PubliusError, place_of
from publius.files.user_code import is_foreign, object_at
from publius.mechanisms.kernel import AbstractExact, Kernel
from publius.option import Settings
from publius.privacy.guarantee import STATED, Guarantee

_OURS: Final = ("draw", "randomize", "indices", "bag")
"""Methods that a class from outside does not replace."""


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
    for method in _OURS:
        if getattr(found, method) is not getattr(Kernel, method):
            raise PolicyError(f"{name} replaces {method}, which is Publius's: define noise and apply only")
    if "threads" not in inspect.signature(found.apply).parameters:
        raise PolicyError(f"{name}: apply needs the parameters words, noise and threads=1")
    return found


def is_outside(kind: Any) -> bool:
    """Whether the class or function is not one of Publius's own."""
    return is_foreign(kind)


def made(kind: type[Kernel], embeddings: Embeddings, given: Mapping[str, Any]) -> Kernel:
    """The mechanism, once it has stated a guarantee: `PolicyError` with the reason where it does not."""
    return stating(lambda kind: kind(embeddings, **given), kind)


def stating(make: Callable[[Any], Kernel], source: type[Kernel] | Kernel) -> Kernel:
    """Make ``make`` of ``source``, a class or a mechanism, once it has stated a guarantee, as `made` has it."""
    failing = "be made"
    try:
        mechanism = make(source)
        failing = "state its guarantee"
        promised: Any = mechanism.guarantee
    except PubliusError:
        raise
    except Exception as error:  # another package's bug is told as such
        raise PolicyError(
            f"the mechanism {source.name} cannot {failing}: it raised {place_of(error)}"
        ) from error
    if reason := _unstated(mechanism, promised):
        raise PolicyError(f"the mechanism {source.name} cannot state its guarantee: {reason}")
    return mechanism


def _unstated(mechanism: Kernel, promised: object) -> str | None:
    """The fault of ``promised``, or None."""
    if not isinstance(promised, Guarantee):
        return f"it gives a {type(promised).__name__}, not a publius.Guarantee"
    if promised.size is not None:
        return "it is that of a bag, not that of a single word"
    if promised.metric != mechanism.metric.name:
        return f"it is in the metric {promised.metric!r}, and the mechanism's is {mechanism.metric.name!r}"
    if not promised.per_unit <= mechanism.epsilon * (1 + 2 * float(np.finfo(np.float64).eps)):
        return f"epsilon is {promised.epsilon!r}, more than the {mechanism.epsilon!r} asked for"
    return None


def known_guarantee(mechanism: Kernel) -> Guarantee:
    """The mechanism's guarantee with what is known of it: a class from outside may state whatever it likes."""
    said = mechanism.guarantee
    if is_outside(type(mechanism)) and said.evidence != "none":
        return replace(said, evidence=STATED)
    return said


@final
@dataclass(frozen=True)
class Computed:
    """The smallest epsilon that probabilities allow, rounded up, and the two words that need it."""

    epsilon: float
    worst: tuple[int, int]


LARGEST: Final = 1_000
"""Words of a vocabulary over which the constant of a class is computed that states its probabilities alone."""


def computed_constant(mechanism: Kernel) -> Computed | None:
    """The largest log ratio of output probabilities per unit of distance, over all pairs of words and all outputs.

    None where the class does not say its probabilities, or the vocabulary has more than `LARGEST` words.
    """
    size = mechanism.embeddings.size
    if not isinstance(mechanism, AbstractExact) or size > LARGEST:
        return None
    logs, places = mechanism.log_probabilities(), np.arange(size)
    if logs.shape != (size, size) or not np.isfinite(logs).all() or not np.allclose(np.exp(logs).sum(1), 1):
        raise PolicyError(f"the mechanism {mechanism.name} gives output probabilities that are none")
    found, vectors = Computed(0.0, (0, 0)), np.asarray(mechanism.embeddings.vectors, np.float64)
    for word in range(size):
        gaps = (logs[word] - logs).max(axis=1)
        gaps[word] = 0.0
        far = mechanism.metric.pairwise(vectors[word : word + 1], vectors)[0]
        ratios = np.divide(gaps, far, out=np.where(gaps > _ROUNDING, np.inf, 0.0), where=far > 0)
        worst = int(places[ratios.argmax()])
        if ratios[worst] > found.epsilon:
            found = Computed(float(ratios[worst]), (word, worst))
    return replace(found, epsilon=found.epsilon * (1 + _ROUNDING))


_ROUNDING: Final = 1e-12


def origin(kind: Any) -> dict[str, str | None] | None:
    """Where a class or function from outside comes from, for the manifest: None for Publius's own."""
    if not is_outside(kind):
        return None
    packages = metadata.packages_distributions().get(kind.__module__.partition(".")[0], ())
    distribution = packages[0] if packages else None
    return {
        "module": kind.__module__,
        "class": kind.__qualname__,
        "distribution": distribution,
        "version": metadata.version(distribution) if distribution else None,
        "sha256": source_digest(kind),
    }


def source_digest(kind: Any) -> str:
    """SHA-256 of the files in which a class and those that it derives from, or a function, are written."""
    digest = hashlib.sha256()
    for each in getattr(kind, "__mro__", (kind,)):
        with contextlib.suppress(TypeError, OSError):  # built in, or made where no file is
            digest.update(Path(inspect.getsourcefile(each) or "").read_bytes())
    return digest.hexdigest()
