"""Mechanisms from outside Publius: found, checked, made, and told apart in the manifest.

A class comes by its place, ``python:package.module:Class``, or with an installed package that lists it under the
entry-point group `GROUP`. Importing it runs its code. It is refused where it is no mechanism or cannot state its
guarantee; whether what it states is true is a question for ``publius check-mechanism`` and for a proof.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final, TypeVar, final

import numpy as np

from publius.errors import PolicyError, PubliusError, UsageError, place_of
from publius.files.user_code import is_foreign, object_at
from publius.mechanisms.kernel import AbstractExact, Kernel
from publius.mechanisms.mechanism import Mechanism
from publius.mechanisms.whole import WholeDocument
from publius.option import Settings
from publius.privacy.guarantee import STATED, Guarantee
from publius.embeddings.embeddings import Embeddings
from publius.embeddings.learning.reference import Reference

Own = type[Kernel] | type[WholeDocument]

GROUP: Final = "publius.mechanisms"
_OWN: Final[tuple[tuple[type, tuple[str, ...], str], ...]] = (
    (Kernel, ("draw", "randomize", "indices", "bag"), "noise and apply"),
    (
        WholeDocument,
        ("draw", "draw_keyed", "protect", "indices", "positions", "compare", "between", "randomize", "law"),
        "noise and apply, and what is said of them",
    ),
)
"""The two bases of a class from outside; the methods that are Publius's; what it defines itself."""
_TAKES: Final = ("preserve", "length")
"""What a release tells a mechanism on whole documents beside the reference and its strength."""


@final
@dataclass(frozen=True)
class Installed:
    """The mechanisms of installed packages: classes by name, and the reason for each that cannot be used.

    ``classes`` are those on words, ``whole`` those on whole documents.
    """

    classes: dict[str, type[Kernel]] = field(default_factory=dict)
    whole: dict[str, type[WholeDocument]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


def installed(taken: Collection[str]) -> Installed:
    """The mechanisms of installed packages, but for names that are ``taken``: looked for once a process."""
    return _installed(tuple(taken))


@cache
def _installed(taken: tuple[str, ...]) -> Installed:
    found = Installed()
    for point in metadata.entry_points(group=GROUP):
        name = point.name
        try:
            if name in taken or name in found.classes or name in found.whole:
                raise UsageError("another mechanism has this name")
            kind = _checked(point.load(), f"the entry point {point.value}")
            if kind.name != name:
                raise UsageError(f"its class is named {kind.name!r}")
        except PubliusError as error:
            found.refused[name] = str(error)
        except Exception as error:  # whatever another package does must not end Publius
            found.refused[name] = f"importing it raised {type(error).__name__}"
        else:
            if issubclass(kind, Kernel):
                found.classes[name] = kind
            else:
                found.whole[name] = kind
    return found


def imported(name: str) -> Own:
    """The mechanism at ``python:package.module:Class``."""
    return _checked(object_at(name), name)


def _checked(found: Any, where: str) -> Own:
    """``found`` as a class that Publius can use: `PolicyError` with what is missing."""
    base, ours, theirs = next(
        (each for each in _OWN if isinstance(found, type) and issubclass(found, each[0])), (None, (), "")
    )
    if base is None and isinstance(found, type) and issubclass(found, Mechanism):
        raise PolicyError(
            f"{where} reads and draws in its own way, so it is not taken by its name: derive the class from "
            "publius.mechanisms.whole.WholeDocument, or make it in Python and give it to publius.release or "
            "publius.Plan.of"
        )
    if base is None:
        raise PolicyError(
            f"{where} is no mechanism: derive the class from publius.Kernel, which replaces words, or from "
            "publius.mechanisms.whole.WholeDocument"
        )
    if inspect.isabstract(found):
        raise PolicyError(f"{where} does not define {', '.join(sorted(found.__abstractmethods__))}")
    if not isinstance(getattr(found, "name", None), str):
        raise PolicyError(f"{where} has no name: give the class a name, as a text")
    if not issubclass(found.Parameters, Settings):
        raise PolicyError(f"{where} declares Parameters that do not derive from publius.option.Settings")
    for method in ours:
        if getattr(found, method) is not getattr(base, method):
            raise PolicyError(f"{where} replaces {method}, which is Publius's: define {theirs} only")
    if issubclass(found, Kernel) and "threads" not in inspect.signature(found.apply).parameters:
        raise PolicyError(f"{where}: apply needs the parameters words, noise and threads=1")
    if issubclass(found, WholeDocument) and (lacking := _lacking(found)):
        raise PolicyError(f"{where} is made without {' and '.join(lacking)}, which a release says")
    kind: Own = found
    return kind


def _lacking(found: type[WholeDocument]) -> list[str]:
    taken = inspect.signature(found.__init__).parameters
    return [name for name in _TAKES if name not in taken]


def is_outside(kind: Any) -> bool:
    """Whether the class or function is not one of Publius's own."""
    return is_foreign(kind)


def made(kind: type[Kernel], embeddings: Embeddings, given: Mapping[str, Any]) -> Kernel:
    """The mechanism, once it has stated a guarantee: `PolicyError` with the reason where it does not."""
    return stating(lambda kind: kind(embeddings, **given), kind)


def made_whole(
    kind: type[WholeDocument], reference: Reference, preserve: str, given: Mapping[str, Any]
) -> WholeDocument:
    """The mechanism on whole documents, as `made` has it; it may state no more than was ``given`` to it."""

    def fault(mechanism: WholeDocument, promised: object) -> str | None:
        return _unstated_between(mechanism, promised, given)

    return _stating(lambda kind: kind(reference, preserve=preserve, **given), kind, fault)


def stating(make: Callable[[Any], Kernel], source: type[Kernel] | Kernel) -> Kernel:
    """Make ``make`` of ``source``, a class or a mechanism, once it has stated a guarantee, as `made` has it."""
    return _stating(make, source, _unstated)


_M = TypeVar("_M", Kernel, WholeDocument)


def _stating(
    make: Callable[[Any], _M], source: type[_M] | _M, fault: Callable[[_M, object], str | None]
) -> _M:
    failing = "be made"
    try:
        mechanism = make(source)
        failing = "state its guarantee"
        promised = mechanism.guarantee
    except PubliusError:
        raise
    except Exception as error:  # another package's bug is told as such
        raise PolicyError(
            f"the mechanism {source.name} cannot {failing}: it raised {place_of(error)}"
        ) from error
    if reason := fault(mechanism, promised):
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


def _unstated_between(mechanism: WholeDocument, promised: object, given: Mapping[str, Any]) -> str | None:
    """The same of whole documents, for the bound or the epsilon that was ``given``."""
    if not isinstance(promised, Guarantee):
        return f"it gives a {type(promised).__name__}, not a publius.Guarantee"
    if promised.bound is None:
        return "it states no bound between any two documents"
    if promised.size != mechanism.length or promised.preserve != mechanism.preserve:
        return "it is not that of the bags that the mechanism makes: state it with _stated"
    for name in ("bound", "epsilon"):
        asked, stated = given.get(name), getattr(promised, name)
        if asked is not None and not (stated is not None and stated <= asked):
            return f"{name} is {stated!r}, not at most the {asked!r} asked for"
    return None


def known_guarantee(mechanism: Kernel | Mechanism) -> Guarantee:
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
