"""The mechanisms by name: Publius's own, those of installed packages, and any class that can be imported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from publius.errors import PubliusError, UsageError
from publius.files.user_code import PYTHON
from publius.mechanisms import outside
from publius.mechanisms.base import AbstractMechanism
from publius.mechanisms.documents.base import AbstractDocumentMechanism
from publius.mechanisms.documents.registry import DOCUMENT_MECHANISMS, make_document_mechanism
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.words.exponential import Exponential
from publius.mechanisms.words.laplace import Laplace
from publius.mechanisms.words.mahalanobis import Mahalanobis
from publius.mechanisms.words.projected import ProjectedExponential, ProjectedLaplace
from publius.mechanisms.words.tight import RepairedTight, Tight
from publius.mechanisms.words.truncated import TruncatedExponential
from publius.mechanisms.words.vickrey import Vickrey
from publius.settings import Declared, MechanismSettings, ReleaseSettings, declared
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.reference import Reference

MECHANISMS: dict[str, type[AbstractMechanism]] = {
    mechanism.name: mechanism
    for mechanism in (
        Laplace,
        Exponential,
        Tight,
        RepairedTight,
        ProjectedLaplace,
        ProjectedExponential,
        TruncatedExponential,
        Mahalanobis,
        Vickrey,
    )
}


def available() -> dict[str, type[AbstractMechanism]]:
    """Publius's mechanisms and those of installed packages (entry points of `outside.GROUP`), by name."""
    return {**MECHANISMS, **outside.installed(MECHANISMS).classes}


def mechanism_class(name: str) -> type[AbstractMechanism]:
    """The class called ``name``: one of `available`, or ``python:package.module:Class``.

    `UsageError` when there is none, `PolicyError` with the reason when it is no mechanism that can be used.
    """
    if name.startswith(PYTHON):
        return outside.imported(name)
    if name in MECHANISMS:
        return MECHANISMS[name]
    found = outside.installed(MECHANISMS)
    if name in found.refused:
        raise UsageError(f"the mechanism {name} cannot be used: {found.refused[name]}")
    if name not in found.classes:
        names = ", ".join([*MECHANISMS, *found.classes])
        raise UsageError(f"no mechanism is called {name!r}: choose one of {names}, or python:MODULE:CLASS")
    return found.classes[name]


def described() -> dict[str, str]:
    """Each mechanism with a line that says what it does, or why it cannot be used."""
    lines = {name: summary(kind) for name, kind in {**available(), **DOCUMENT_MECHANISMS}.items()}
    refused = outside.installed(MECHANISMS).refused
    return {**lines, **{name: f"Cannot be used: {reason}." for name, reason in refused.items()}}


def summary(kind: type[AbstractMechanism] | type[AbstractDocumentMechanism]) -> str:
    """What the mechanism does, in a line: the first of its docstring."""
    return (kind.__doc__ or kind.name).strip().splitlines()[0]


def all_parameters(also: Iterable[str] = ()) -> tuple[Declared, ...]:
    """What the mechanisms declare beyond epsilon and metric, each name once; its help says who takes it.

    ``also`` names mechanisms from outside; those that cannot be had are passed over.
    """
    kinds: dict[str, Any] = {**available(), **DOCUMENT_MECHANISMS}
    for name in also:
        try:
            kinds[name] = mechanism_class(name)
        except PubliusError:
            continue
    takers: dict[str, list[tuple[str, Declared]]] = {}
    for name, kind in kinds.items():
        for each in declared(kind.Parameters):
            takers.setdefault(each.name, []).append((name, each))
    return tuple(_together(each) for each in takers.values())


def _together(takers: list[tuple[str, Declared]]) -> Declared:
    """One option for all that take it. Bounds that not all share are left to each mechanism's own check."""
    helps: dict[str, list[str]] = {}
    for name, each in takers:
        helps.setdefault(each.option.help, []).append(name)
    text = " ".join(f"{line} ({', '.join(names)})" for line, names in helps.items())
    first = takers[0][1]
    limits = ("at_least", "above", "at_most", "below")
    unshared = [name for name in limits if len({getattr(each.option, name) for _, each in takers}) > 1]
    option = replace(first.option, help=text, **dict[str, Any](dict.fromkeys(unshared)))
    return replace(first, default=None, option=option)


def parameters_of(name: str) -> frozenset[str]:
    """The keyword parameters that the mechanism called ``name`` takes; `UsageError` when there is none."""
    kind = mechanism_class(name)
    own = {each.name for each in declared(kind.Parameters)}
    metric = {"metric"} if kind.metrics else set()
    return frozenset({"epsilon"} | own | metric | ({"scale"} if issubclass(kind, AbstractFinite) else set()))


def make_mechanism(
    name: str, embeddings: Embeddings, *, threads: int | None = None, **parameters: Any
) -> AbstractMechanism:
    """The mechanism called ``name``, built with those of ``parameters`` that are not None.

    `UsageError` when there is no such mechanism or it does not take a parameter that is given, `PolicyError` when it
    cannot state its guarantee. The default metric may be given to a mechanism that has a metric of its own.
    ``threads``: processors that certifying may use.
    """
    kind, taken = mechanism_class(name), parameters_of(name)
    given = {key: value for key, value in parameters.items() if value is not None}
    if given.get("metric") == MechanismSettings.metric and "metric" not in taken:
        del given["metric"]
    if foreign := sorted(set(given) - taken):
        raise UsageError(f"the mechanism {name} takes no {' and no '.join(foreign)}")
    if outside.is_outside(kind):
        return outside.made(kind, embeddings, given)
    if kind.preparation != "none":
        given["threads"] = threads
    return kind(embeddings, **given)


def mechanism_of(settings: MechanismSettings, embeddings: Embeddings | None = None) -> AbstractMechanism:
    """The mechanism that ``settings`` name, on the ``embeddings`` given or the ones that they name."""
    parameters_of(settings.mechanism)
    if settings.epsilon is None and "scale" not in settings.parameters:
        raise UsageError("no epsilon is given: give the privacy parameter per unit of word distance")
    return make_mechanism(
        settings.mechanism,
        Embeddings.load(settings.embeddings) if embeddings is None else embeddings,
        epsilon=settings.epsilon,
        metric=settings.metric,
        **settings.parameters,
    )


def document_mechanism_of(settings: ReleaseSettings, reference: Reference) -> AbstractDocumentMechanism:
    """The document mechanism that ``settings`` name, on a public ``reference``."""
    chosen = settings.resolved()
    if chosen.mechanism in MECHANISMS:
        raise UsageError(
            f"the mechanism {chosen.mechanism} replaces words: with --preserve {chosen.preserve} choose one of "
            f"{', '.join(DOCUMENT_MECHANISMS)}"
        )
    return make_document_mechanism(
        chosen.mechanism or "",
        reference,
        preserve=chosen.preserve,
        epsilon=chosen.epsilon,
        bound=chosen.bound,
        length=chosen.size,
        **chosen.parameters,
    )
