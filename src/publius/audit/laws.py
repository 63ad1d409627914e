"""The laws of every word mechanism, as checks of a class: Publius's own and anybody's.

Each law looks at a mechanism on a toy vocabulary and returns what is wrong, or None. Passing them all is no proof:
they refute a false claim where the vocabularies and the samples show it. The claim itself needs a theorem, or
probabilities that can be computed.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.embeddings.embeddings import Embeddings
from publius.errors import PolicyError, PubliusError, UsageError, place_of
from publius.mechanisms.kernel import Kernel
from publius.noise.randomness import RunKey, seeded_rng
from publius.privacy.guarantee import Guarantee

SAMPLES: Final = 20_000  # draws of each input word
_FALSE_ALARM: Final = 1e-6
_LAYOUT_SEED: Final = 20190411
_BLOCK: Final = 2**17
_WORDS: Final = 300
_LARGEST_DELTA: Final = 1e-9
_ROUNDING: Final = 1e-9
_RARE: Final = math.log(1e-9)
_FEWEST: Final = 25.0
_BAD: Final = (0.0, -1.0, math.nan, math.inf, True, "1")  # what is no epsilon

Maker = Callable[[Embeddings, float], Kernel]


def small_embeddings(vectors: Float64Array, name: str) -> Embeddings:
    """A vocabulary w0, w1, ... with these vectors."""
    words = [f"w{index}" for index in range(len(vectors))]
    return Embeddings.from_arrays(words, vectors, name=name, tokenizer="word2vec")


def worlds() -> Iterator[tuple[Embeddings, float]]:
    """Eight vocabularies of 2 to 12 words in 1, 2 and 6 dimensions, scattered or in two clusters, each with an epsilon.

    On the line of four the bound is reached: the cell of an outer word lies beyond both inner ones, so there the loss is
    epsilon*d exactly.
    """
    gap, exponent = 2.0**-6, 2.5
    for name, line in (("pair", [0.0, exponent]), ("sharp", [-gap, 0.0, exponent, exponent + gap])):
        yield small_embeddings(np.array(line)[:, None], f"{name}-1d"), 1.0
    for index in range(6):
        rng, dimension, clustered = seeded_rng(_LAYOUT_SEED + index), (1, 2, 6)[index % 3], index >= 3
        size = int(rng.integers(8, 13))
        epsilon = float(np.round(np.exp(rng.uniform(np.log(0.4), np.log(6.0))), 3))
        centers = 2 * rng.standard_normal((2, dimension)) if clustered else np.zeros((2, dimension))
        vectors = centers[np.arange(size) % 2] + (0.1 if clustered else 1.0) * rng.standard_normal((size, dimension))
        name = f"{'clustered' if clustered else 'scattered'}-{dimension}d-{size}w-eps{epsilon:g}"
        yield small_embeddings(vectors, name), epsilon


def word_counts(mechanism: Kernel, inputs: IndexArray, each: int, key: RunKey) -> Float64Array:
    """How often each word comes out for each of ``inputs``, mixed as in a document and drawn ``each`` times: (inputs, V)."""
    size = mechanism.embeddings.size
    counts = np.zeros((len(inputs), size))
    rounds = max(1, _BLOCK // len(inputs))
    for start in range(0, each, rounds):
        rows = np.tile(np.arange(len(inputs)), min(rounds, each - start))
        (outputs,) = mechanism.draw([inputs[rows]], [key.rng(f"laws/samples/{start}")], threads=1)
        counts += np.bincount(rows * size + outputs, minlength=counts.size).reshape(counts.shape)
    return counts


def excess(counts: Float64Array, bounds: Float64Array) -> float:
    """By how much ln P(w|x) - ln P(w|x') is above ``bounds``, at least: the most over all pairs of inputs and all words.

    Clopper and Pearson's bounds together at the level 1e-6, so more than 0 refutes.
    """
    from scipy.special import betaincinv

    cells, trials = counts[:, counts.sum(axis=0) > 0], counts.sum(axis=1)[:, None]
    tail = _FALSE_ALARM / (2 * len(cells) ** 2 * cells.shape[1])
    with np.errstate(divide="ignore"):
        low = np.log(np.where(cells > 0, betaincinv(np.maximum(cells, 1), trials - cells + 1, tail), 0.0))
        high = np.log(np.where(cells < trials, betaincinv(cells + 1, np.maximum(trials - cells, 1), 1 - tail), 1.0))
    lower = (low[:, None] - high[None]).max(axis=2)
    return float((lower - bounds)[~np.eye(len(cells), dtype=bool)].max(initial=-math.inf))


def log_p_pearson(counts: Float64Array, expected: Float64Array) -> float:
    """Ln of the p-value of Pearson's test of ``counts`` against ``expected``, shape (cells,), of the same sum.

    Cells that expect fewer than 25 are one, which joins the smallest of the others where it is small itself; a count
    where nothing is expected refutes at once.
    """
    from scipy.stats import chi2

    if counts[expected <= 0].any():
        return -math.inf
    large = expected >= _FEWEST
    cells = int(large.sum()) + bool(expected[~large].sum() >= _FEWEST)
    if cells < 2:
        return 0.0
    order = np.argsort(-expected)
    observed, wanted = (np.add.reduceat(each[order], np.arange(cells)) for each in (counts, expected))
    return float(chi2.logsf(((observed - wanted) ** 2 / wanted).sum(), cells - 1))


@final
class Toy:
    """A mechanism made on a small vocabulary, with words and noise to try; raises what making it raises."""

    def __init__(
        self, make: Maker, embeddings: Embeddings, epsilon: float, samples: int = SAMPLES, seed: int = 1
    ) -> None:
        self.make, self.embeddings, self.epsilon, self.samples = make, embeddings, epsilon, samples
        self.mechanism, self.key = make(embeddings, epsilon), RunKey.seeded(seed)
        self.words = self.key.rng("laws/words").integers(0, embeddings.size, _WORDS)

    def noise(self, name: str = "laws/noise", count: int = _WORDS) -> Float64Array:
        """Noise for ``count`` words: the same for the same ``name``."""
        return self.mechanism.noise(count, self.key.rng(name))


def _guarantee(toy: Toy) -> str | None:
    mechanism = toy.mechanism
    promised: Any = mechanism.guarantee
    if not isinstance(promised, Guarantee):
        return f"guarantee is a {type(promised).__name__}, not a publius.Guarantee"
    if promised.evidence == "none":
        return "the evidence is 'none': a release refuses the mechanism"
    if promised.evidence != mechanism.evidence:
        return f"the class says its evidence is {mechanism.evidence!r}, the guarantee {promised.evidence!r}"
    if promised.metric != mechanism.metric.name:
        return f"it is stated in {promised.metric!r}, and the mechanism's metric is {mechanism.metric.name!r}"
    if promised.size is not None or promised.epsilon != mechanism.epsilon:
        return "it must be that of a single word, with the mechanism's epsilon"
    if not promised.epsilon <= toy.epsilon:
        return f"epsilon is {promised.epsilon!r}, more than the {toy.epsilon!r} asked for"
    return None if 0 <= promised.delta <= _LARGEST_DELTA else f"delta is {promised.delta!r}, over {_LARGEST_DELTA:g}"


def _noise(toy: Toy) -> str | None:
    first = toy.noise()
    if not isinstance(first, np.ndarray) or first.ndim != 2 or len(first) != _WORDS:
        return f"noise must have one row a word, shape ({_WORDS}, k), not {np.shape(first)}"
    toy.mechanism.apply(toy.words, first)
    if not np.array_equal(toy.noise(), first):
        return "the same generator gave other noise after words were seen: noise depends on them, or on other lots"
    if np.array_equal(toy.noise("laws/other"), first):
        return "another generator gave the same noise: it is not used"
    return None


def _outputs(toy: Toy) -> str | None:
    outputs = toy.mechanism.apply(toy.words, toy.noise())
    if outputs.shape != toy.words.shape or not np.issubdtype(outputs.dtype, np.integer):
        return f"apply must give one index a word, not {outputs.dtype} of shape {outputs.shape}"
    if not ((outputs >= 0) & (outputs < toy.embeddings.size)).all():
        return "apply gave an index outside the vocabulary"
    empty = toy.mechanism.apply(toy.words[:0], toy.noise(count=0))
    return None if empty.shape == (0,) else f"for no word apply gave an array of shape {empty.shape}"


def _deterministic(toy: Toy) -> str | None:
    words, noise = toy.words.copy(), toy.noise()
    kept = noise.copy()
    apply = toy.mechanism.apply
    whole = apply(words, noise)
    if not (np.array_equal(words, toy.words) and np.array_equal(noise, kept, equal_nan=True)):
        return "apply changed the arrays it was given"
    order = toy.key.rng("laws/order").permutation(_WORDS)
    parts = [apply(words[start : start + 7], noise[start : start + 7]) for start in range(0, _WORDS, 7)]
    for changed, what in (
        (apply(words, noise), "the same words and noise gave other outputs"),
        (apply(words[order], noise[order])[np.argsort(order)], "the order of the rows changed outputs"),
        (np.concatenate(parts), "the other rows of the batch changed outputs"),
        (apply(words, noise, threads=3), "the number of threads changed outputs"),
    ):
        if not np.array_equal(changed, whole):
            return what
    return None


def _bounded(toy: Toy) -> str | None:
    mechanism, vectors = toy.mechanism, toy.embeddings.vectors
    bounds = mechanism.epsilon * mechanism.metric.pairwise(vectors, vectors)
    stated = getattr(mechanism, "log_probabilities", None)
    if stated is not None:
        logs: Float64Array = stated()
        more = float((np.abs(logs[:, None, :] - logs[None, :, :]).max(axis=2) - bounds).max())
        if more > _ROUNDING:
            return f"stated probabilities of two words differ by {more:.3g} more than epsilon*d"
        if not np.allclose(np.exp(logs).sum(axis=1), 1, rtol=0, atol=_ROUNDING):
            return "the stated probabilities of a word do not add up to 1"
    counts = word_counts(mechanism, np.arange(len(vectors)), toy.samples, toy.key)
    if (more := excess(counts, bounds)) > 0:
        return (
            f"outputs of two words were drawn with frequencies that differ by at least {more:.3g} more than "
            "epsilon*d (Clopper-Pearson, level 1e-6)"
        )
    if stated is not None:
        expected = np.exp(stated()) * toy.samples
        if min(log_p_pearson(*row) for row in zip(counts, expected, strict=True)) < _RARE:
            return "outputs are not drawn with the probabilities that are stated"
    return None


def _fixed(toy: Toy) -> str | None:
    for name in ("embeddings", "metric", "epsilon"):
        try:
            setattr(toy.mechanism, name, getattr(toy.mechanism, name))
        except UsageError:
            continue
        return f"{name} can be changed, and the guarantee was computed for it"
    return None


def _copied(toy: Toy) -> str | None:
    noise = toy.noise()
    here = toy.mechanism.apply(toy.words, noise)
    try:
        copy = pickle.loads(pickle.dumps(toy.mechanism))  # noqa: S301  # what was pickled in this line
    except Exception as error:  # whatever the class raises is the finding
        return f"it cannot be sent to a worker process: pickling raised {type(error).__name__}"
    if not np.array_equal(copy.apply(toy.words, noise), here) or copy.guarantee != toy.mechanism.guarantee:
        return "a copy in another process gives other words or another guarantee"
    return None


def _epsilons(toy: Toy) -> str | None:
    for bad in _BAD:
        try:
            toy.make(toy.embeddings, bad)  # type: ignore[arg-type]
        except UsageError:
            continue
        except Exception as error:  # whatever the class raises is the finding
            return f"epsilon {bad!r} raised {type(error).__name__}, not publius.errors.UsageError"
        return f"epsilon {bad!r} was accepted"
    twice = 2 * toy.epsilon
    try:
        other = toy.mechanism.at(twice).guarantee.epsilon
    except PolicyError:
        return None
    return None if other <= twice else f"at({twice:g}) has epsilon {other!r}"


LAWS: Final[dict[str, Callable[[Toy], str | None]]] = {
    "the guarantee is stated": _guarantee,
    "noise does not depend on the words": _noise,
    "outputs are words of the vocabulary": _outputs,
    "the same noise gives the same words, row by row": _deterministic,
    "output probabilities differ by at most epsilon*d": _bounded,
    "what the guarantee was computed for cannot be changed": _fixed,
    "it can be sent to a worker process": _copied,
    "a bad epsilon is refused": _epsilons,
}


def fault(law: str, toy: Toy) -> str | None:
    """What breaks ``law`` on ``toy``; an exception of the class's own is a reason."""
    try:
        return LAWS[law](toy)
    except Exception as error:  # whatever the class raises is the finding
        detail = f": {error}" if isinstance(error, PubliusError) else ""
        return f"it raised {place_of(error)}{detail}"


def check_laws(make: Maker, *, samples: int = SAMPLES, seed: int = 1) -> Iterator[tuple[str, str, str | None]]:
    """Every law on each of the `worlds`: the law, the vocabulary, and the fault.

    A world or an epsilon may be refused with `PolicyError`, as tight constraints do, but not all of them: the last
    reason is raised then. Anything else that making the mechanism raises is passed on.
    """
    refused, tried = None, False
    for embeddings, epsilon in worlds():
        try:
            toy = Toy(make, embeddings, epsilon, samples, seed)
        except PolicyError as error:
            refused = error
            continue
        tried = True
        yield from ((law, embeddings.name, fault(law, toy)) for law in LAWS)
    if refused is not None and not tried:
        raise refused
