"""The laws of every mechanism on whole documents, as checks of a class: Publius's own and anybody's.

As `publius.audit.laws` has them for words, on toy references on which every distance is known. Passing them all is no
proof: they refute a false claim where the references and the samples show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.audit.documents import pairwise_losses
from publius.audit.laws import SAMPLES, LawVerdict, accepts_bad, check_laws, other_as_copy, tried
from publius.audit.tests_of_fit import log_p_pearson
from publius.audit.toy_references import DocumentWorld, document_worlds
from publius.audit.words import ratios
from publius.errors import UsageError
from publius.mechanisms.mechanism import TOTAL, Outcome
from publius.mechanisms.registry import class_named, make_document_mechanism, make_mechanism, strength_of
from publius.mechanisms.whole import Noise, WholeDocument
from publius.noise.randomness import RunKey
from publius.settings import Reads
from publius.text.bag import Bag
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.reference import Reference

_WORLDS: Final = 4
_LARGEST_DELTA: Final = 1e-9
_ROUNDING: Final = 1e-9
"""Nats."""
_RARE: Final = -20.7  # ln of 1e-9
_SHARE: Final = 20
"""One of so many draws of a word is enough of a document, which takes as much longer."""

Maker = Callable[[Reference, float], WholeDocument]


@final
@dataclass(frozen=True)
class ToyCase:
    """A mechanism on a toy reference, with documents and noise to try.

    Attributes:
        make: makes the mechanism on a reference, at a bound.
        world: the reference and the bound.
        mechanism: made of these.
        samples: draws of each document, where the law is one of chance.
        key: of all draws: a check is repeated with the same ones.

    """

    make: Maker
    world: DocumentWorld
    mechanism: WholeDocument
    samples: int
    key: RunKey

    @cached_property
    def documents(self) -> list[IndexArray]:
        """No word, each word alone, all words, the unknown token, and a long text: places in the vocabulary."""
        size = self.world.reference.size
        alone = [np.array([place]) for place in range(size + 1)]
        return [np.zeros(0, np.int64), *alone, np.arange(size), np.arange(200) % size]

    def noise(self, name: str = "laws/noise") -> list[Any]:
        """Noise for each document: the same for the same ``name``."""
        return [self.mechanism.noise(self.key.rng(f"{name}/{place}")) for place in range(len(self.documents))]

    def outcomes(self, name: str = "laws/noise") -> list[Outcome]:
        """The outcome of each document with that noise."""
        return [*self.mechanism.apply(self.documents, self.noise(name))]


def _guarantee(case: ToyCase) -> str | None:
    mechanism = case.mechanism
    promised = mechanism.guarantee
    if promised.evidence == "none":
        return "the evidence is 'none': a release refuses the mechanism"
    if "label" in mechanism.fields and mechanism.probability_kept is None:
        return "labels are printed, and probability_kept does not say how probable a document's own is"
    if max(promised.delta, promised.bound_delta) > _LARGEST_DELTA:
        return f"delta is {max(promised.delta, promised.bound_delta)!r}, over {_LARGEST_DELTA:g}"
    return None if promised == mechanism.guarantee else "it is stated in two ways"


def _bits(noise: Sequence[Any]) -> list[tuple[bytes, bytes]]:
    return [(np.asarray(each.values).tobytes(), bytes(each.bits)) for each in noise]


def _noise(case: ToyCase) -> str | None:
    first = case.noise()
    if not all(isinstance(each, Noise) for each in first):
        return f"noise must be a Noise of values and bits, not {type(first[0]).__name__}"
    if len({(np.size(each.values), len(each.bits)) for each in first}) > 1:
        return "the size of the noise is not the same for all"
    size = case.mechanism.noise_bytes
    if size is not None and (np.size(first[0].values), len(first[0].bits)) != (0, size):
        return f"noise_bytes says that {size} bytes are all, and noise draws something else"
    case.mechanism.apply(case.documents, first)
    if _bits(case.noise()) != _bits(first):
        return "the same generator gave other noise after documents were seen: noise depends on them, or on other lots"
    if _bits(case.noise("laws/other")) == _bits(first):
        return "another generator gave the same noise: it is not used"
    return None


def _outputs(case: ToyCase) -> str | None:
    outcomes, mechanism = case.outcomes(), case.mechanism
    if len(outcomes) != len(case.documents):
        return f"of {len(case.documents)} documents apply released {len(outcomes)}: none may be missing"
    labels: dict[int | None, str] = {each.prototype: each.label for each in mechanism.outcomes}
    for found in outcomes:
        if type(found.bag) is not Bag or found.bag.size != mechanism.length:
            return f"a bag must have {mechanism.length} words, whatever the document"
        if not all(word in case.world.reference for word in found.bag.counts):
            return "a word came out that is not one of the reference's"
        if {"prototype", "label"} & {*mechanism.fields} and labels.get(found.prototype) != found.label:
            return "a prototype came out that is not one of the public outcomes, or under another label"
        if found.words is not None or found.kept:
            return "words came out in an order: a release of a whole document has none"
    return None if not [*mechanism.apply([], [])] else "for no document apply released something"


def _deterministic(case: ToyCase) -> str | None:
    documents, noise, apply = case.documents, case.noise(), case.mechanism.apply
    kept = [found.copy() for found in documents]
    whole = case.outcomes()
    if not all(map(np.array_equal, documents, kept)):
        return "apply changed the documents it was given"
    order = case.key.rng("laws/order").permutation(len(documents)).tolist()
    mixed = [*apply([documents[place] for place in order], [noise[place] for place in order])]
    alone = [apply([one], [bits])[0] for one, bits in zip(documents, noise, strict=True)]
    turned = [*apply([found[::-1].copy() for found in documents], noise)]
    for changed, what in (
        ([*apply(documents, noise)], "the same documents and noise gave other releases"),
        (
            [mixed[order.index(place)] for place in range(len(order))],
            "the order of the batch changed releases",
        ),
        (alone, "the other documents of the batch changed releases"),
        (turned, "the order of a document's words changed its release"),
    ):
        if changed != whole:
            return what
    return None


def _bounded(case: ToyCase) -> str | None:
    mechanism, documents = case.mechanism, case.documents
    bounds = np.array([[mechanism.between(a, b).exponent for b in documents] for a in documents])
    weights = mechanism.weights(documents)
    if weights is not None:
        if not (weights.sum(axis=1) == TOTAL).all() or (weights < 0).any():
            return "the stated probabilities of a document do not add up to 2^62"
        excess = float((pairwise_losses(weights) - bounds).max())
        if excess > _ROUNDING:
            return f"stated probabilities of two documents differ by {excess:.3g} nats more than the guarantee says"
    samples = max(1, case.samples // _SHARE)
    drawn = [_draws(case, place, samples) for place in range(len(documents))]
    seen = {each: column for column, each in enumerate(sorted({one for row in drawn for one in row}))}
    counts = np.zeros((len(documents), len(seen)))
    for place, row in enumerate(drawn):
        np.add.at(counts[place], [seen[one] for one in row], 1)
    apart = ratios(counts, bounds).excess
    if apart > 0:
        return (
            f"what two documents became was drawn with frequencies that differ by at least {apart:.3g} nats more than "
            "the guarantee says (Clopper-Pearson, level 1e-6)"
        )
    return None if weights is None else _fits(drawn, weights)


def _draws(case: ToyCase, place: int, samples: int) -> list[tuple[int, str]]:
    """Of each draw what is counted: the prototype, -1 for none, and the commonest word, the first of equals."""
    ids = [f"laws/samples/{place}/{number}" for number in range(samples)]
    outcomes = case.mechanism.draw_keyed([case.documents[place]] * samples, ids, case.key)
    return [(-1 if each.prototype is None else each.prototype, _commonest(each.bag)) for each in outcomes]


def _commonest(bag: Bag) -> str:
    return min(bag.counts, key=lambda word: (-bag.counts[word], word))


def _fits(drawn: Sequence[Sequence[tuple[int, str]]], weights: IndexArray) -> str | None:
    """Whether prototypes come out as often as is stated."""
    for row, stated in zip(drawn, weights, strict=True):
        expected: Float64Array = stated / TOTAL * len(row)
        found = np.bincount([max(prototype, 0) for prototype, _ in row], minlength=len(stated))
        if len(found) > len(stated) or log_p_pearson(found.astype(np.float64), expected) < _RARE:
            return "outcomes are not drawn with the probabilities that are stated"
    return None


def _fixed(case: ToyCase) -> str | None:
    for name in ("_reference", "preserve", "aspect", "length"):
        try:
            setattr(case.mechanism, name, getattr(case.mechanism, name))
        except UsageError:
            continue
        return f"{name.strip('_')} can be changed, and the guarantee was computed for it"
    return None


def _copied(case: ToyCase) -> str | None:
    here = case.outcomes()
    return other_as_copy(case.mechanism, lambda copy: [*copy.apply(case.documents, case.noise())] == here)


def _strengths(case: ToyCase) -> str | None:
    return accepts_bad(lambda bad: case.make(case.world.reference, bad), "the strength")


DOCUMENT_LAWS: Final = MappingProxyType(
    {
        "the guarantee is stated": _guarantee,
        "noise does not depend on the documents": _noise,
        "every document becomes N public words": _outputs,
        "the same noise gives the same release, document by document": _deterministic,
        "probabilities differ by at most the guarantee": _bounded,
        "what the guarantee was computed for cannot be changed": _fixed,
        "it can be sent to a worker process": _copied,
        "a bad bound is refused": _strengths,
    }
)


def check_document_laws(make: Maker, *, samples: int = SAMPLES, seed: int = 1) -> Iterator[LawVerdict]:
    """Every law on every toy reference that the mechanism takes, see `publius.audit.laws.tried`."""

    def case_on(world: DocumentWorld) -> ToyCase:
        return ToyCase(make, world, make(world.reference, world.bound), samples, RunKey.seeded(seed))

    return tried(DOCUMENT_LAWS, document_worlds(_WORLDS), case_on)


def check_named(
    name: str, *, samples: int = SAMPLES, seed: int = 1, **parameters: Any
) -> Iterator[LawVerdict]:
    """The laws of its unit on the mechanism called ``name``, made with ``parameters`` of its own."""
    return _OF[class_named(name).reads](name, parameters, samples, seed)


def _of_words(name: str, parameters: Mapping[str, Any], samples: int, seed: int) -> Iterator[LawVerdict]:
    def make(embeddings: Embeddings, epsilon: float) -> Any:
        return make_mechanism(name, embeddings, epsilon=epsilon, threads=1, **parameters)

    return check_laws(make, samples=samples, seed=seed)


def _of_documents(name: str, parameters: Mapping[str, Any], samples: int, seed: int) -> Iterator[LawVerdict]:
    def make(reference: Reference, strength: float) -> WholeDocument:
        given: dict[str, Any] = {**parameters, strength_of(name): strength}
        return make_document_mechanism(name, reference, **given)

    return check_document_laws(make, samples=samples, seed=seed)


_OF: Final[Mapping[Reads, Callable[..., Iterator[LawVerdict]]]] = {
    "embeddings": _of_words,
    "reference": _of_documents,
}
