"""Kernels by name: Publius's own, and any class that can be imported. To add one, name its place in `KERNELS`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Final

import msgspec

from publius.distances.metrics import metric_asked
from publius.embeddings.embeddings import Embeddings
from publius.errors import PolicyError, PubliusError, UsageError, place_of
from publius.files.user_code import PYTHON, is_foreign, object_at
from publius.mechanisms.kernel import Kernel
from publius.option import Settings, declared
from publius.privacy.guarantee import Guarantee
from publius.settings import EUCLIDEAN

KERNELS: Final = {
    "laplace": "laplace:Laplace", "exponential": "exponential:Exponential", "tight": "tight:Tight",
    "projected-laplace": "projected:ProjectedLaplace", "projected-exponential": "projected:ProjectedExponential",
    "truncated-exponential": "exponential:TruncatedExponential", "mahalanobis": "mahalanobis:Mahalanobis",
    "vickrey": "vickrey:Vickrey",
}  # fmt: skip
"""Those of Publius, each imported when it is asked for."""


def kernel_class(name: str) -> type[Kernel]:
    """The class called ``name`` or at python:MODULE:CLASS, which is imported: that runs its code."""
    if name in KERNELS:
        module, _, own = KERNELS[name].partition(":")
        known: type[Kernel] = getattr(import_module(f"publius.mechanisms.kernels.{module}"), own)
        return known
    if not name.startswith(PYTHON):
        raise UsageError(
            f"no mechanism is called {name!r:.40}: choose one of {', '.join(KERNELS)}, or python:MODULE:CLASS"
        )
    found = object_at(name)
    if not (isinstance(found, type) and issubclass(found, Kernel)):
        raise PolicyError(f"{name} is no mechanism on words: derive the class from publius.Kernel")
    if inspect.isabstract(found):
        raise PolicyError(f"{name} does not define {', '.join(sorted(found.__abstractmethods__))}")
    if not isinstance(getattr(found, "name", None), str):
        raise PolicyError(f"{name} has no name: give the class a name, as a text")
    if found.name in KERNELS and is_foreign(found):
        raise UsageError(f"{name} is named {found.name!r}, which is a mechanism of Publius: give it another name")
    if not issubclass(found.Parameters, Settings):
        raise PolicyError(f"{name} declares Parameters that do not derive from publius.option.Settings")
    if found.draw is not Kernel.draw:
        raise PolicyError(f"{name} replaces draw, which is Publius's: define noise and apply only")
    if "threads" not in inspect.signature(found.apply).parameters:
        raise PolicyError(f"{name}: apply needs the parameters words, noise and threads=1")
    return found


def make_kernel(
    name: str, embeddings: Embeddings, *, epsilon: float, metric: str = EUCLIDEAN,
    parameters: Mapping[str, Any] | None = None,
) -> Kernel:  # fmt: skip
    """The kernel called ``name`` on public vectors, at ``epsilon`` per unit of ``metric``.

    ``parameters`` are those that it declares. `UsageError` for what does not exist, `PolicyError` where it cannot state
    a guarantee; whether what one from outside states is true is a question for ``publius audit`` and for a proof.

    >>> import publius
    >>> toy = publius.Embeddings.from_arrays(["north", "south"], [[0.0], [1.0]], name="toy")
    >>> publius.make_kernel("exponential", toy, epsilon=2.0).guarantee.map(0.5)
    1.0
    """
    kind, given = kernel_class(name), dict(parameters or {})
    kind.parameters_from(given)
    if kind.metrics:
        given["metric"] = metric_asked(metric)
    elif metric != EUCLIDEAN:
        raise UsageError(f"the mechanism {name} has a metric of its own: leave out --metric")
    failing = "be made"
    try:
        made = kind(embeddings, epsilon=epsilon, **given)
        failing = "state its guarantee"
        promised: Any = made.guarantee
    except PubliusError:
        raise
    except Exception as error:  # another package's bug is told as such
        raise PolicyError(f"the mechanism {kind.name} cannot {failing}: it raised {place_of(error)}") from error
    reason = None
    if not isinstance(promised, Guarantee):
        reason = f"it gives a {type(promised).__name__}, not a publius.Guarantee"
    elif promised.size is not None:
        reason = "it is that of a bag, not that of a single word"
    elif promised.metric != made.metric.name:
        reason = f"it is in the metric {promised.metric!r}, and the mechanism's is {made.metric.name!r}"
    elif not promised.epsilon <= made.epsilon * (1 + 2**-51):
        reason = f"epsilon is {promised.epsilon!r}, more than the {made.epsilon!r} asked for"
    if reason is not None:
        raise PolicyError(f"the mechanism {kind.name} cannot state its guarantee: {reason}")
    return made


def parse_set(kind: type[Kernel], asked: Iterable[str]) -> dict[str, Any]:
    """Parameters from NAME=VALUE, as the kernel declares them; `UsageError` for a name or value that it does not take."""
    options = declared(kind.Parameters)
    found: dict[str, Any] = {}
    for text in asked:
        name, equals, value = text.partition("=")
        if not equals or name not in options:
            takes = ", ".join(options) or "none"
            raise UsageError(f"--set takes NAME=VALUE; the mechanism {kind.name} takes {takes}, not {name!r:.40}")
        try:
            found[name] = msgspec.convert(value, options[name], strict=False)
        except msgspec.ValidationError:
            takes = getattr(options[name], "__name__", options[name])
            raise UsageError(f"--set {name} takes a value of {takes}, not {value!r:.40}") from None
    return found
