"""`Classifier`, a public function from a text to one of M public labels: what labels and summaries are made with.

Nothing about privacy depends on how good it is. What it must keep: an answer is a function of its one text, to the last
bit, whatever other texts stand beside it; and nothing of it was made from the private file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Final, Literal, overload

from publius.arrays import IndexArray

OTHER: Final = "other"
"""The last label of every classifier: a text without a known word, an undeclared value, a name that is not near."""
Kind = Literal["topics", "clusters", "subjects", "names", "values", "summary", "python"]


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
        accuracy: how often it is right on public texts, as a manifest states it; None where that is unknown.
        public: its public inputs, each with name, kind, sha256, licence and trained.
        trained_on: digests of the files it was trained on; releasing one of them is refused.
    """

    kind: ClassVar[Kind]
    name: str
    labels: tuple[str, ...]
    sha256: str
    accuracy: Any = None
    public: tuple[dict[str, Any], ...] = ()
    trained_on: tuple[str, ...] = ()

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
        return ()

    def known(self, text: str) -> tuple[int, int]:
        """How many words of a text were looked up, and how many are known."""
        return (1, 1) if text.strip() else (0, 0)
