"""`Classifier`, a public function from a text to one of M public labels, and those that need no training of ours.

Nothing about privacy depends on how good it is. What it must keep: an answer is a function of its one text, to the last
bit, whatever other texts stand beside it; and nothing of it was made from the private file.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, final, overload

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.classifiers.features import meaning, product, public_input
from publius.errors import UsageError
from publius.files.user_code import silent, source_digest, tried
from publius.text.normal_form import compared

if TYPE_CHECKING:
    from publius.classifiers.encoder import Encoder

OTHER: Final = "other"  # the last label of all: no known word, an undeclared value, no name that is near
Kind = Literal["topics", "clusters", "subjects", "names", "values", "summary", "python"]
_MOST: Final = 100_000
_LONGEST: Final = 200
BELOW: Final = 0.4  # share of the packaged sentences whose cosine to the nearest name is below the threshold


class Classifier(ABC):
    """A public function from a text to one of M public labels.

    >>> import publius
    >>> values = publius.Values(["open", "closed"])
    >>> isinstance(values, publius.Classifier), values.labels
    (True, ('open', 'closed', 'other'))
    >>> values.predict("open"), values.predict(["closed", "lost"])
    ('open', ['closed', 'other'])

    Attributes:
        name: what it is called.
        kind: how it was made.
        labels: all M labels, "other" the last.
        sha256: digest of all that decides its answers.
        vocabulary: the words that it looks up; None where it looks up none.
        accuracy: how often it is right on public texts, as a manifest states it; None where that is unknown.
        public: its public inputs, each with name, kind, sha256, licence and trained.
        trained_on: digests of the files it was trained on; releasing one of them is refused.
    """

    kind: ClassVar[Kind]
    name: str
    labels: tuple[str, ...]
    sha256: str
    vocabulary: tuple[str, ...] | None = None
    accuracy: Any = None
    public: tuple[dict[str, Any], ...] = ()
    trained_on: tuple[str, ...] = ()
    _words: Sequence[tuple[str, ...]] = ()

    @abstractmethod
    def answers(self, texts: Sequence[str]) -> IndexArray:
        """The number of each text's label, shape (n,); each is a function of its own text, to the last bit."""

    @overload
    def predict(self, text: str) -> str: ...  # type: ignore[overload-overlap]  # a text is a sequence, too
    @overload
    def predict(self, text: Sequence[str]) -> list[str]: ...
    def predict(self, text: str | Sequence[str]) -> str | list[str]:
        """The label of a text, or of each text of a list."""
        if isinstance(text, str):
            return self.labels[int(self.answers([text])[0])]
        return [self.labels[place] for place in self.answers(list(text)).tolist()]

    def words(self, label: str) -> tuple[str, ...]:
        """Public words of a label, the most typical first, by the list rule; none where there are no texts."""
        return dict(zip(self.labels, self._words, strict=False)).get(label, ())

    def known(self, text: str) -> tuple[int, int]:
        """How many words of a text were looked up, and how many are known."""
        if self.vocabulary is None:
            return (1, 1) if text.strip() else (0, 0)
        from publius.text.known_words import known_of

        return known_of(text, self.vocabulary)


def digest(*decides: str) -> str:
    """SHA-256 of what decides answers."""
    return hashlib.sha256("\n".join(decides).encode()).hexdigest()


def checked_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Labels that were typed, in normal form, with "other" last; `UsageError` for none, twice the same, or too long."""
    found = tuple(label for label in map(compared, labels) if label != OTHER)
    if not 1 <= len(found) <= _MOST:
        raise UsageError(f"give from 1 to {_MOST:,} labels beside {OTHER!r}, not {len(found):,}")
    for label, times in Counter(found).items():
        if not label or len(label) > _LONGEST or not label.isprintable():
            raise UsageError(f"a label has from 1 to {_LONGEST} characters that can be printed, not {label!r:.40}")
        if times > 1:
            raise UsageError(f"the label {label!r} is given twice")
    return (*found, OTHER)


@final
class Values(Classifier):
    """A text is its value: one of those declared, in normal form and trimmed; any other is "other".

    The values are typed by the curator, never read from the file. `UsageError` for no value, one that is declared
    twice, empty or too long.

    >>> import publius
    >>> answers = publius.Values(["open", "closed"])
    >>> [answers.labels[place] for place in answers.answers(["closed", " open ", "who knows"])]
    ['closed', 'open', 'other']
    """

    kind = "values"

    def __init__(self, values: Sequence[str], *, name: str = "values") -> None:
        self.name = name
        self.labels = checked_labels(values)
        self._places = {value: place for place, value in enumerate(self.labels)}
        self.sha256 = digest(*self.labels)

    def answers(self, texts: Sequence[str]) -> IndexArray:
        """See `Classifier.answers`."""
        other = len(self.labels) - 1
        return np.array([self._places.get(compared(text), other) for text in texts], np.int64)

    def known(self, text: str) -> tuple[int, int]:
        """See `Classifier.known`: whether it was declared."""
        return 1, int(compared(text) in self._places)


@final
class Names(Classifier):
    """The label whose name, or description, is nearest to a text by a sentence encoder, in any of its languages.

    A text is "other" where no name is nearer than the threshold: the cosine below which two fifths of packaged
    public sentences stay that speak of nothing (``sentences.txt``). `UsageError` for labels that cannot be, or as many
    descriptions as labels are not given.

    What it gets right is unknown without labelled texts. Whoever changes names after looking at the private texts lets
    these into the classifier; the page of a release then says so (``--labels-after-texts``).

    Attributes:
        threshold: that cosine.
    """

    kind = "names"

    def __init__(
        self, labels: Sequence[str], encoder: Encoder | None = None, *, descriptions: Sequence[str] | None = None,
        name: str = "names",
    ) -> None:  # fmt: skip
        from publius.classifiers.encoder import load_encoder

        if descriptions is not None and len(descriptions) != len(labels):
            raise UsageError(f"{len(labels)} labels and {len(descriptions)} descriptions: give one for each label")
        self.name, self.labels = name, checked_labels(labels)
        said = dict(zip(map(compared, labels), descriptions or labels, strict=True))
        self._said = tuple(said[label] or label for label in self.labels[:-1])
        self._said += (said[OTHER],) if descriptions is not None and said.get(OTHER) else ()
        self.encoder = load_encoder() if encoder is None else encoder
        self.sha256 = digest(*self.labels, *self._said, self.encoder.sha256, f"{BELOW:.6f}", *_sentences())
        self.public = (public_input(name, self.sha256), self.encoder.public)

    @cached_property
    def _vectors(self) -> Float64Array:
        return meaning(self._said, self.encoder)

    @cached_property
    def threshold(self) -> float:  # noqa: D102  # said above
        nearest = product(meaning(_sentences(), self.encoder), self._vectors.T).max(axis=1)
        return round(float(np.quantile(nearest, BELOW)), 3)

    def answers(self, texts: Sequence[str]) -> IndexArray:
        """See `Classifier.answers`."""
        nearness = product(meaning(texts, self.encoder), self._vectors.T)
        best = np.argmax(nearness, axis=1)
        return np.where(nearness.max(axis=1) >= self.threshold, best, len(self.labels) - 1).astype(np.int64)


def _sentences() -> list[str]:
    """The packaged sentences that speak of nothing a label would name."""
    lines = Path(__file__).with_name("sentences.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@final
class Python(Classifier):
    """Anybody's object with ``labels``; what it says else, and what it raises, counts as "other": no text stops a release."""

    kind = "python"

    def __init__(self, name: str) -> None:
        self.name = name
        made, _ = tried(name, lambda made: getattr(made, "predict", made)("A public sentence."), "answer one text")
        labels = getattr(made, "labels", None)
        if isinstance(labels, str) or not isinstance(labels, Sequence):
            raise UsageError(f"{name} must have labels, a list of texts")
        self._function, self._values = getattr(made, "predict", made), Values(labels)
        self.labels = self._values.labels
        self.sha256 = digest(name, *self.labels, source_digest(made))
        licence, trained = (getattr(made, fact, None) for fact in ("licence", "trained"))
        self.public = (public_input(name, self.sha256, licence=licence, trained=trained),)

    def answers(self, texts: Sequence[str]) -> IndexArray:
        """See `Classifier.answers`: it is called with one text at a time."""
        return self._values.answers([self._said(text) for text in texts])

    def __reduce__(self) -> tuple[type[Python], tuple[str]]:
        return Python, (self.name,)

    def _said(self, text: str) -> str:
        try:
            with silent():
                return compared(self._function(text))
        except Exception:  # of foreign code, whatever it is: a refusal would tell of one text
            return OTHER
