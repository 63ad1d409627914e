"""The implementation under audit: a record of replaceable parts.

The genuine one is Publius itself; a broken version replaces one part, so that a check that catches it is shown to
look at that part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, final

from publius.arrays import Float64Array, FloatArray, IndexArray
from publius.documents.corpus import BadDocument, Document
from publius.documents.parquet_limits import Allowance
from publius.errors import DataError, PolicyError, UsageError
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.registry import make_document_mechanism
from publius.mechanisms.whole import WholeDocument
from publius.noise.laplace import AbstractNoise, EuclideanLaplace
from publius.noise.randomness import Generator, RunKey, system_rng
from publius.privacy.ledger import Amount, Charge, Ledger
from publius.releases.layout import Layout
from publius.releases.plan import Plan
from publius.releases.protect import protect, release
from publius.releases.release import Release, Tally
from publius.releases.writers import WRITERS, AbstractWriter
from publius.text.tokenizer import normalize
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.reference import Reference
from publius.vectors.nearest import NearestWords

Outcome = tuple[Sequence[Release | BadDocument], Tally]


class Search(Protocol):
    """A nearest-word search: what `publius.vectors.nearest.NearestWords` offers."""

    def nearest(self, points: FloatArray, *, threads: int = 1) -> IndexArray:
        """Index of the nearest row for each point."""
        ...


class Taker(Protocol):
    """Counts the rows of a file: the part of `publius.documents.parquet_limits.Allowance` that is audited."""

    def take(self, values: dict[str, object], /) -> None:
        """Count a row or refuse it."""
        ...


class Writer(Protocol):
    """Writes releases: the part of `publius.releases.writers.AbstractWriter` that is audited."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

    def write(self, release: Release) -> None:
        """Add one release."""
        ...


class Account(Protocol):
    """A document's entry in a ledger."""

    @property
    def spent(self) -> Fraction:
        """In all."""
        ...


class Spender(Protocol):
    """The part of `publius.privacy.ledger.Ledger` that a release uses."""

    def spend(self, charges: Sequence[Charge], *, token: str | None = None) -> bool:
        """Debit all or refuse."""
        ...

    def document(self, id: str) -> Account:
        """The account of a document."""
        ...


def _laplace(embeddings: Embeddings, epsilon: float) -> Kernel:
    return Laplace(embeddings, epsilon=epsilon)


def _noisy(law: AbstractNoise, vectors: FloatArray, noise: FloatArray) -> Float64Array:
    """What `publius.Laplace.randomize_vectors` makes of ``vectors`` and ``noise``."""
    return law.grid.sum(vectors, noise)


def _ledger(path: Path, budget: Amount | None) -> Spender:
    """A new ledger with a budget, or the one that is there."""
    return Ledger(path) if budget is None else Ledger.create(path, budget=budget)


def _writer(plan: Plan, folder: Path) -> AbstractWriter:
    return WRITERS["jsonl"](folder, Layout.of(plan))


def _document_mechanism(name: str, reference: Reference, **parameters: Any) -> WholeDocument:
    return make_document_mechanism(name, reference, **parameters)


@final
@dataclass(frozen=True)
class Subject:
    """The parts of an implementation.

    Attributes:
        mechanism: makes the word mechanism from a vocabulary and epsilon.
        noise: makes the noise law from a dimension and epsilon.
        noisy: adds noise to vectors that are to be seen.
        search: makes the search from vectors.
        normalize: text as its words are looked for in it.
        allowance: how far a Parquet file may unpack.
        generator: a fresh generator for a release.
        plan: the public decisions of a release, refused where they break the promise.
        run_key: the key of a run of a plan.
        protect: a batch of documents through a plan.
        manifest: what is written beside the bags.
        writer: what writes the bags into a folder.
        ledger: makes a ledger with a budget, or opens the one that is there when the budget is None.
        paid_release: releases a bag against a ledger.
        document_mechanism: makes the document mechanism of a name on a reference, with its parameters.
        own_texts: refuses a reference that was learned from the texts with a digest.

    """

    mechanism: Callable[[Embeddings, float], Kernel] = _laplace
    noise: Callable[[int, float], AbstractNoise] = EuclideanLaplace
    noisy: Callable[[AbstractNoise, FloatArray, FloatArray], Float64Array] = _noisy
    search: Callable[[FloatArray], Search] = NearestWords
    normalize: Callable[[str], str] = normalize
    allowance: Callable[[Path, Any, tuple[str, ...]], Taker] = Allowance
    generator: Callable[[], Generator] = system_rng
    plan: Callable[..., Plan] = Plan
    run_key: Callable[[Plan], RunKey] = Plan.run_key
    protect: Callable[[Sequence[Document], Plan, RunKey], Outcome] = protect
    manifest: Callable[[Plan, int], dict[str, Any]] = Plan.manifest
    writer: Callable[[Plan, Path], Writer] = _writer
    ledger: Callable[[Path, Amount | None], Spender] = _ledger
    paid_release: Callable[..., Release] = release
    document_mechanism: Callable[..., WholeDocument] = _document_mechanism
    own_texts: Callable[[Reference, str], None] = Reference.check_learned_elsewhere


GENUINE = Subject()


def built(subject: Subject, embeddings: Embeddings, epsilon: float) -> Kernel | None:
    """The subject's mechanism on a vocabulary, or None where it does not exist there and says so.

    Some mechanisms refuse a vocabulary or an epsilon, such as tight constraints with a negative weight.
    """
    try:
        return subject.mechanism(embeddings, epsilon)
    except (PolicyError, UsageError, DataError):
        return None
