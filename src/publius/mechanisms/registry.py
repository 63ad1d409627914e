"""Kernels by name: Publius's own, and any class that can be imported. To add one, import it and name it in `KERNELS`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, get_args, get_origin

from publius.distances.metrics import metric_asked
from publius.embeddings.embeddings import Embeddings
from publius.errors import UsageError
from publius.files.user_code import PYTHON, is_foreign
from publius.mechanisms import outside
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.exponential import Exponential, TruncatedExponential
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.kernels.mahalanobis import Mahalanobis
from publius.mechanisms.kernels.projected import ProjectedExponential, ProjectedLaplace
from publius.mechanisms.kernels.tight import Tight
from publius.mechanisms.kernels.vickrey import Vickrey
from publius.option import declared
from publius.settings import EUCLIDEAN

KERNELS: Final[dict[str, type[Kernel]]] = {
    kind.name: kind
    for kind in (
        Laplace, Exponential, Tight, ProjectedLaplace, ProjectedExponential, TruncatedExponential, Mahalanobis, Vickrey,
    )
}  # fmt: skip


def kernel_class(name: str) -> type[Kernel]:
    """The class called ``name`` or at python:MODULE:CLASS; `UsageError` with the names where there is none."""
    if name.startswith(PYTHON):
        found = outside.imported(name)
        if found.name in KERNELS and is_foreign(found):
            raise UsageError(f"{name} is named {found.name!r}, which is a mechanism of Publius: give it another name")
        return found
    if name not in KERNELS:
        raise UsageError(
            f"no mechanism is called {name!r:.40}: choose one of {', '.join(KERNELS)}, or python:MODULE:CLASS"
        )
    return KERNELS[name]


def make_kernel(
    name: str, embeddings: Embeddings, *, epsilon: float, metric: str = EUCLIDEAN,
    parameters: Mapping[str, Any] | None = None,
) -> Kernel:  # fmt: skip
    """The kernel called ``name`` on public vectors, at ``epsilon`` per unit of ``metric``.

    ``parameters`` are those that it declares. `UsageError` for what does not exist, `PolicyError` where it cannot state
    a guarantee.

    >>> import publius
    >>> toy = publius.Embeddings.from_arrays(["north", "south"], [[0.0], [1.0]], name="toy")
    >>> publius.make_kernel("exponential", toy, epsilon=2.0).guarantee.map(0.5)
    1.0
    """
    kind = kernel_class(name)
    kind.parameters_from(parameters or {})
    given: dict[str, Any] = {"epsilon": epsilon, **(parameters or {})}
    if kind.metrics:
        given["metric"] = metric_asked(metric)
    elif metric != EUCLIDEAN:
        raise UsageError(f"the mechanism {name} has a metric of its own: leave out --metric")
    return outside.made(kind, embeddings, given)


def parse_set(kind: type[Kernel], asked: Iterable[str]) -> dict[str, Any]:
    """Parameters from NAME=VALUE, as the kernel declares them; `UsageError` for a name or value that it does not take."""
    options = {each.name: each for each in declared(kind.Parameters)}
    found: dict[str, Any] = {}
    for text in asked:
        name, equals, value = text.partition("=")
        if not equals or name not in options:
            takes = ", ".join(options) or "none"
            raise UsageError(f"--set takes NAME=VALUE; the mechanism {kind.name} takes {takes}, not {name!r:.40}")
        found[name] = _value(options[name].type, value, name)
    return found


def _value(kind: Any, text: str, name: str) -> Any:
    kinds = get_args(kind) if get_origin(kind) is not None else (kind,)
    for each in (int, float):
        if each in kinds:
            try:
                return each(text)
            except ValueError:
                continue
    if str in kinds or any(isinstance(each, str) for each in kinds):
        return text
    raise UsageError(f"--set {name} is no value that it takes: {text!r:.40}")
