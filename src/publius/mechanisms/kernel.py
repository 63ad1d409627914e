"""`Kernel`, the base of mechanisms on words: a random draw and a deterministic map."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.distances.metrics import METRICS, AbstractMetric, Distances, ground_metric, is_own
from publius.embeddings.embeddings import Embeddings
from publius.errors import PolicyError, UsageError
from publius.files.processes import processors
from publius.files.user_code import keep_unheard, unheard
from publius.noise.laplace import checked_epsilon
from publius.noise.randomness import Generator
from publius.option import Settings, declared
from publius.privacy.guarantee import Evidence, Guarantee
from publius.settings import EUCLIDEAN

_FIXED = frozenset({"embeddings", "metric", "epsilon", "chosen", "shape", "constant"})


class Kernel(ABC):
    """A randomized map from vocabulary words to vocabulary words: a mechanism on words.

    To add one, write one class: ``name``, ``guarantee``, ``noise`` and ``apply``, and what it is in the class
    attributes below; faces list, explain and use it from these alone. Its constructor takes the embeddings, epsilon,
    the metric (unless it has one of its own) and what `Parameters` declares. One that can compute its output
    probabilities gives ``log_probabilities(words)``, ln K(x){w} of shape (words, V): nothing of it is then sampled. A
    mechanism whose guarantee has the evidence "none" is refused by a release.

    >>> import publius
    >>> toy = publius.Embeddings.from_arrays(["north", "south"], [[0.0], [1.0]], name="toy")
    >>> kernel = publius.make_kernel("exponential", toy, epsilon=2.0)
    >>> isinstance(kernel, publius.Kernel), kernel.guarantee.map(0.5)
    (True, 1.0)

    Attributes:
        name: as given on the command line and written in the manifest.
        Parameters: what it takes beyond epsilon and metric, declared with `publius.option.option`.
        metrics: names of the metrics it can be private in; none where it has a metric of its own.
        evidence: what its guarantee rests on.
        batch_words: words that are best searched together; it never changes a result.
        embeddings: the public vocabulary with its vectors.
        metric: d, in which the guarantee is stated.
        epsilon: per unit of d.
        chosen: its `Parameters`.

    """

    name: ClassVar[str]
    Parameters: ClassVar[type[Settings]] = Settings
    metrics: ClassVar[tuple[str, ...]] = tuple(METRICS)
    evidence: ClassVar[Evidence] = "proven"
    batch_words: ClassVar[int] = 4096  # enough for BLAS, 10 MB of noise at 300 dimensions
    embeddings: Embeddings
    metric: AbstractMetric
    epsilon: float
    chosen: Any

    def __init__(
        self, embeddings: Embeddings, *, epsilon: float, metric: str | AbstractMetric | Distances = EUCLIDEAN,
        **parameters: Any,
    ) -> None:  # fmt: skip
        """Take the public ``embeddings``, ``epsilon`` per unit of ``metric``, and what `Parameters` declares."""
        self.chosen = self.parameters_from(parameters)
        self.embeddings = embeddings
        self.metric = ground_metric(metric)
        self.epsilon = checked_epsilon(epsilon)
        self._prepare()

    def _prepare(self) -> None:  # noqa: B027
        """Make once what a subclass draws with."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        keep_unheard(cls, "mechanism", ("log_probabilities", "pushed"))

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse to change what the guarantee was computed for."""
        if name in _FIXED and name in self.__dict__:
            raise UsageError(f"the {name} of a mechanism cannot be changed: make another mechanism")
        super().__setattr__(name, value)

    @final
    @classmethod
    def parameters_from(cls, values: Mapping[str, Any]) -> Any:
        """``values`` as this mechanism's `Parameters`; `UsageError` for one that it does not take or allow."""
        if foreign := sorted(values.keys() - declared(cls.Parameters).keys()):
            raise UsageError(f"the mechanism {cls.name} takes no {' and no '.join(foreign)}")
        return cls.Parameters(**values)

    def __repr__(self) -> str:
        """Its name and numbers, for a notebook."""
        numbers = f"epsilon={self.epsilon:.6g}, metric={self.metric.name!r}"
        return f"{type(self).__name__}({self.embeddings.name!r}, {numbers})"

    def at(self, epsilon: float) -> Kernel:
        """The same mechanism at another ``epsilon``. A subclass may keep what depends on the vectors alone."""
        metric = {"metric": self.metric if is_own(self.metric) else self.metric.name} if self.metrics else {}
        return type(self)(self.embeddings, epsilon=epsilon, **metric, **vars(self.chosen))

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The guarantee of a single word."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Public parameters beyond epsilon and metric, for the manifest: what was chosen, unless it says more."""
        return dict(vars(self.chosen))

    @abstractmethod
    def noise(self, count: int, rng: Generator) -> Float64Array:
        """Randomness for ``count`` words, one row a word; it does not depend on the words."""

    @abstractmethod
    def apply(self, words: IndexArray, noise: Float64Array, *, threads: int = 1) -> IndexArray:
        """Output words for input ``words``, shape (count,), given their rows of noise.

        Deterministic; row by row, so that neither batch nor position matters, nor how many ``threads`` it may use.
        """

    @final
    def draw(
        self, batch: Sequence[IndexArray], rngs: Iterable[Generator], *, threads: int | None = None
    ) -> list[IndexArray]:
        """Output words for each document of ``batch``, arrays of vocabulary indices: the one way to draw.

        Each document's noise comes from the generator at its place in ``rngs``, and all are searched together, so
        the result of one depends neither on the others nor on ``threads`` (default: the processors there are).
        """
        if not batch:
            return []
        with unheard(type(self), f"the mechanism {self.name}"):
            noise = np.concatenate([self.noise(len(words), rng) for words, rng in zip(batch, rngs, strict=True)])
            words = np.concatenate(batch)
            outputs = self.apply(words, noise, threads=threads or processors())
        if outputs.shape != words.shape or not np.issubdtype(outputs.dtype, np.integer):
            raise PolicyError(f"the mechanism {self.name} must give one word, as an index, for each word")
        if len(outputs) and not (outputs.min() >= 0 and outputs.max() < self.embeddings.size):
            raise PolicyError(f"the mechanism {self.name} gave an index outside the vocabulary")
        return np.split(outputs, np.cumsum([len(words) for words in batch])[:-1])
