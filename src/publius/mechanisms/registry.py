"""The mechanisms by name: Publius's own, those of installed packages, and any class that can be imported.

The one place that turns settings into a mechanism on documents, of whichever kind.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from publius.distances.metrics import metric_asked
from publius.errors import PolicyError, PubliusError, UsageError
from publius.files.user_code import PYTHON
from publius.mechanisms import outside
from publius.mechanisms.finite.base import AbstractFinite
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.exponential import Exponential
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.kernels.mahalanobis import Mahalanobis
from publius.mechanisms.kernels.projected import ProjectedExponential, ProjectedLaplace
from publius.mechanisms.kernels.tight import RepairedTight, Tight
from publius.mechanisms.kernels.truncated import TruncatedExponential
from publius.mechanisms.kernels.vickrey import Vickrey
from publius.mechanisms.lifted import Lifted, as_mechanism
from publius.mechanisms.mechanism import Mechanism, OrderedText, Votes, without
from publius.mechanisms.position import Position
from publius.mechanisms.prototype import Prototype
from publius.mechanisms.randomized_response import RandomizedResponse
from publius.mechanisms.whole import WholeDocument
from publius.option import Declared, declared
from publius.settings import MechanismSettings, ReleaseSettings, WordRelease
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.reference import Reference

MECHANISMS: dict[str, type[Kernel]] = {
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


DOCUMENT_MECHANISMS: Final[dict[str, Any]] = {
    mechanism.name: mechanism for mechanism in (Prototype, Position)
}


def is_ours(name: str) -> bool:
    """Whether a mechanism of Publius itself has this name."""
    return name in MECHANISMS or _draws_documents(name) is not None


def _refuse_our_name(kind: Any) -> None:
    """`PolicyError` for a class from outside that has the name of one of ours: nobody could sign for its releases."""
    if outside.is_outside(kind) and is_ours(kind.name):
        raise PolicyError(
            f"{kind.__module__}.{kind.__qualname__} is named {kind.name!r}, which is a mechanism of Publius: give the "
            "class another name"
        )


def _draws_documents(name: str) -> type[Mechanism] | None:
    """Our class of this name that draws whole documents; None where there is none."""
    return {**DOCUMENT_MECHANISMS, RandomizedResponse.name: RandomizedResponse}.get(name)


def prints_labels(manifest: Mapping[str, Any]) -> bool:
    """Whether a mechanism of ours made a release, and one whose rows have labels."""
    found = _draws_documents(manifest["mechanism"])
    return found is not None and "mechanism_source" not in manifest and "label" in found.fields


def votes_of(manifest: Mapping[str, Any]) -> Votes | None:
    """`Mechanism.votes` of the mechanism of ours that made a release; None for a class from outside."""
    found = _draws_documents(manifest["mechanism"])
    if found is None or "mechanism_source" in manifest:
        return None
    return found.votes(manifest["mechanism_parameters"])


def tells_preserved(manifest: Mapping[str, Any]) -> bool:
    """`Mechanism.tells_preserved` of the mechanism of ours that made a release; False for a class from outside."""
    found = _draws_documents(manifest["mechanism"])
    return found is not None and "mechanism_source" not in manifest and found.tells_preserved


def prepares(name: str) -> bool:
    """Whether the mechanism of ours called ``name`` is computed over its vocabulary before it states its guarantee."""
    return name in MECHANISMS and MECHANISMS[name].preparation != "none"


def available() -> dict[str, type[Kernel]]:
    """Publius's mechanisms and those of installed packages (entry points of `outside.GROUP`), by name."""
    return {**MECHANISMS, **_installed().classes}


def _installed() -> outside.Installed:
    return outside.installed((*MECHANISMS, *DOCUMENT_MECHANISMS))


def class_named(name: str) -> type[Kernel] | type[WholeDocument]:
    """The class of the mechanism called ``name``, of a kernel or of a mechanism on whole documents.

    One of ours, of an installed package, or ``python:package.module:Class``. `UsageError` when there is none,
    `PolicyError` with the reason when it cannot be used.
    """
    if name.startswith(PYTHON):
        found_class = outside.imported(name)
        _refuse_our_name(found_class)
        return found_class
    kinds: dict[str, type[Kernel] | type[WholeDocument]] = {**MECHANISMS, **DOCUMENT_MECHANISMS}
    if name in kinds:
        return kinds[name]
    found = _installed()
    if name in found.refused:
        raise UsageError(f"the mechanism {name} cannot be used: {found.refused[name]}")
    kinds |= {**found.classes, **found.whole}
    if name not in kinds:
        raise UsageError(
            f"no mechanism is called {name!r:.80}: choose one of {', '.join(kinds)}, or python:MODULE:CLASS"
        )
    return kinds[name]


def strength_of(name: str) -> Literal["bound", "epsilon"]:
    """The parameter for the strength of the mechanism called ``name``: a bound where it takes one, else epsilon."""
    return "bound" if "bound" in parameters_of(name) else "epsilon"


def mechanism_class(name: str) -> type[Kernel]:
    """As `class_named`, of a kernel; `UsageError` where the name is that of another kind."""
    found = class_named(name)
    if issubclass(found, WholeDocument):
        raise UsageError(
            f"the mechanism {name} protects whole documents, and here words are replaced: where there is --preserve, "
            f"say topic or meaning; else choose one of {', '.join(MECHANISMS)}, or python:MODULE:CLASS. Its laws: "
            f"publius check-mechanism {name}"
        )
    return found


def document_class(name: str) -> type[WholeDocument]:
    """As `class_named`, of a mechanism on whole documents; `UsageError` where the name is that of another kind."""
    found = class_named(name)
    if issubclass(found, Kernel):
        raise UsageError(
            f"the mechanism {name} replaces words, and here whole documents are protected: choose one of "
            f"{', '.join(DOCUMENT_MECHANISMS)}, or python:MODULE:CLASS"
        )
    return found


def by_name(*, kernels_only: bool = False) -> dict[str, Any]:
    """As `available`, with mechanisms on whole documents unless ``kernels_only``."""
    return {**available(), **({} if kernels_only else {**DOCUMENT_MECHANISMS, **_installed().whole})}


def described(*, kernels_only: bool = False) -> dict[str, str]:
    """Each mechanism with a line that says what it does, or why it cannot be used."""
    lines = {name: summary(kind) for name, kind in by_name(kernels_only=kernels_only).items()}
    refused = _installed().refused
    return {**lines, **{name: f"Cannot be used: {reason}." for name, reason in refused.items()}}


def summary(kind: type[Kernel] | type[WholeDocument]) -> str:
    """Describe the mechanism in a line: the first of its docstring."""
    return (kind.__doc__ or kind.name).strip().splitlines()[0]


def all_parameters(also: Iterable[str] = (), *, kernels_only: bool = False) -> tuple[Declared, ...]:
    """The parameters that mechanisms declare beyond epsilon and metric, each name once; its help says who takes it.

    ``also`` names mechanisms from outside; those that cannot be had are passed over.
    """
    kinds = by_name(kernels_only=kernels_only)
    for name in also:
        try:
            kinds[name] = (mechanism_class if kernels_only else class_named)(name)
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
    kind = class_named(name)
    if issubclass(kind, WholeDocument):
        return document_parameters_of(name)
    own = {each.name for each in declared(kind.Parameters)}
    metric = {"metric"} if kind.metrics else set()
    return frozenset({"epsilon"} | own | metric | ({"scale"} if issubclass(kind, AbstractFinite) else set()))


def mechanism_on(
    name: str, public: Embeddings | Reference, length: int, *, threads: int | None = None, **parameters: Any
) -> Mechanism:
    """The mechanism on documents called ``name``, for bags of ``length`` words, on the ``public`` input that it reads.

    It gets those of ``parameters`` that it takes; a kernel is lifted. Raises as `make_mechanism` and
    `make_document_mechanism` do.
    """
    taken = {key: parameters[key] for key in parameters_of(name) & parameters.keys()}
    if isinstance(public, Reference):
        kept = {"preserve": parameters["preserve"]} if "preserve" in parameters else {}
        return make_document_mechanism(name, public, **kept, **taken, length=length)
    return Lifted(make_mechanism(name, public, threads=threads, **taken), length)


def make_mechanism(
    name: str, embeddings: Embeddings, *, threads: int | None = None, **parameters: Any
) -> Kernel:
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


def mechanism_of(settings: MechanismSettings, embeddings: Embeddings | None = None) -> Kernel:
    """The mechanism that ``settings`` name, on the ``embeddings`` given or the ones that they name."""
    mechanism_class(settings.mechanism)
    if settings.epsilon is None and "scale" not in settings.parameters:
        raise UsageError("no epsilon is given: give the privacy parameter per unit of word distance")
    return make_mechanism(
        settings.mechanism,
        Embeddings.load(settings.embeddings) if embeddings is None else embeddings,
        epsilon=settings.epsilon,
        metric=metric_asked(settings.metric),
        **settings.parameters,
    )


def make_document_mechanism(
    name: str, reference: Reference, *, preserve: str = "topic", **parameters: Any
) -> WholeDocument:
    """The mechanism called ``name`` on a public reference, with those of ``parameters`` that are not None.

    `UsageError` when there is no such mechanism, it does not take a parameter that is given, or the reference cannot
    keep what is asked for; `PolicyError` when a class from outside cannot state its guarantee.
    """
    kind: Any = document_class(name)
    given = {key: value for key, value in parameters.items() if value is not None}
    if foreign := sorted(set(given) - document_parameters_of(name)):
        raise UsageError(f"the mechanism {name} takes no {' and no '.join(foreign)}")
    if outside.is_outside(kind):
        return outside.made_whole(kind, reference, preserve, given)
    made: WholeDocument = kind(reference, preserve=preserve, **given)
    return made


def document_parameters_of(name: str) -> frozenset[str]:
    """The keyword parameters that the document mechanism called ``name`` takes beside what it preserves."""
    kind = document_class(name)
    taken = inspect.signature(kind.__init__).parameters.values()
    named = {each.name for each in taken if each.kind is not inspect.Parameter.VAR_KEYWORD}
    return frozenset(named | {each.name for each in declared(kind.Parameters)}) - {
        "self",
        "reference",
        "preserve",
    }


def mechanism_for(
    settings: ReleaseSettings,
    found: Kernel | Mechanism | None = None,
    *,
    public: Embeddings | Reference | None = None,
) -> Mechanism:
    """The mechanism on documents that ``settings`` ask for: one that is ``found`` already, or the one they name.

    A kernel is lifted to their length; the place of the shortest document's is 1, until it is known. A ``public``
    input that is open already is used. `UsageError` for settings that do not belong together.
    """
    if settings.keep_between is not None and not settings.order:
        raise UsageError("--keep-between says what stands between ordered words: give --order too")
    ordered = OrderedText(settings.keep_between or "none") if settings.order else None
    if isinstance(found, Mechanism):
        return as_mechanism(found, None, ordered)
    if found is None and settings.field is not None:
        return _declared(settings, settings.field)
    without(settings, dict.fromkeys(("values", "other"), "belongs to --preserve field:NAME"))
    chosen = settings.chosen
    if found is not None or isinstance(chosen, WordRelease):
        belongs = "belongs to --preserve topic or meaning: name one, or leave out --"
        without(settings, {name: belongs + name for name in ("reference", "bound", "first")})
        words = chosen if isinstance(chosen, WordRelease) else WordRelease()
        vectors = public if isinstance(public, Embeddings) else None
        return as_mechanism(found or mechanism_of(words, vectors), words.size or 1, ordered)
    without(
        settings,
        {
            "embeddings": "belongs to --preserve words: a reference has features of its own",
            "order": "belongs to --preserve words: a topic or meaning has no order",
        },
    )
    if chosen.size is None:
        raise UsageError("--length shortest belongs to --preserve words: give the words of a released bag")
    document_class(chosen.mechanism)
    if public is None and chosen.reference is None:
        raise UsageError(
            f"--preserve {chosen.preserve} needs a public reference: --reference themes is made from the "
            "packaged vectors, and 'publius reference fit' makes one of your own public texts"
        )
    return make_document_mechanism(
        chosen.mechanism,
        public if isinstance(public, Reference) else Reference.load(chosen.reference or ""),
        preserve=chosen.preserve,
        epsilon=chosen.epsilon,
        bound=chosen.bound,
        length=chosen.size,
        **chosen.parameters,
    )


def _declared(settings: ReleaseSettings, field: str) -> RandomizedResponse:
    if settings.bound is None:
        raise UsageError("a field is released under a bound between any two documents: give --bound")
    if not settings.values:
        raise UsageError("declare every value of the field: --values A,B,C or --values @FILE")
    if settings.mechanism not in (None, RandomizedResponse.name):
        raise UsageError(f"the mechanism {settings.mechanism} does not release a field: leave it out")
    return RandomizedResponse(field, settings.values, bound=settings.bound, other=settings.other)


def remade(
    manifest: Mapping[str, Any], embeddings: str | None = None, reference: str | None = None
) -> Kernel | Mechanism:
    """The mechanism of a release, from its manifest and the public inputs stored here, by their names or those given.

    Raises `KeyError` for a manifest that lacks something.
    """
    name, parameters = manifest["mechanism"], manifest["mechanism_parameters"]
    if name == RandomizedResponse.name:
        return RandomizedResponse(bound=manifest["bound"], **parameters)
    if manifest["reference"] is not None:
        taken = {key: parameters[key] for key in parameters.keys() & document_parameters_of(name)}
        found = Reference.load(reference or manifest["reference"])
        facts = {"bound": manifest["bound"], "length": manifest["size"]}
        if "none_of_these" in document_parameters_of(name):
            taken.setdefault("none_of_these", False)  # releases of before 0.3 had no such outcome
        return make_document_mechanism(name, found, preserve=manifest["preserve"], **facts, **taken)
    taken = {key: parameters[key] for key in parameters.keys() & parameters_of(name)}
    metric = manifest["metric"] if "metric" in parameters_of(name) else None
    vectors = Embeddings.load(embeddings or manifest["embeddings"])
    return make_mechanism(name, vectors, epsilon=manifest["epsilon"], metric=metric, **taken)
