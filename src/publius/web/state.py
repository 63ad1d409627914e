"""What the explorer works with: public vectors, mechanisms, a ledger, where releases go, reports to show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import final

from publius.errors import UnknownWordError
from publius.mechanisms.base import AbstractMechanism
from publius.privacy.ledger import Ledger
from publius.settings import TextSettings
from publius.text.bag import Bag, Encoded, Encoding, words_of
from publius.vectors.embeddings import Embeddings
from publius.web.mechanism_cache import Mechanisms
from publius.web.reports import Reports
from publius.web.requests import Choice
from publius.web.samples import Samples


@final
class State:
    """Made once when the explorer starts. It holds no document: each is read for one request and forgotten.

    Attributes:
        embeddings: the public vocabulary with its vectors.
        mechanisms: on it.
        ledger: debited before each release, or None.
        releases: the folder in which each release gets a folder.
        reports: results of evaluations that may be shown.
        samples: public documents to try.
    """

    def __init__(
        self,
        embeddings: Embeddings,
        *,
        ledger: Ledger | None = None,
        releases: Path = Path("publius-releases"),
        reports: Sequence[Path] = (),
    ) -> None:
        """`UsageError` for a report folder that is none."""
        self.embeddings = embeddings
        self.mechanisms = Mechanisms(embeddings)
        self.ledger = ledger
        self.releases = releases
        self.reports = Reports(reports)
        self.samples = Samples()

    def mechanism(self, asked: Choice) -> AbstractMechanism:
        """The mechanism that a request names."""
        return self.mechanisms.get(asked.mechanism, asked.epsilon, asked.metric, **asked.own)

    def encoding(self, asked: Choice) -> Encoding:
        """How a request wants a text to become N words."""
        chosen = asked.settings
        return Encoding.of(
            self.embeddings.tokenizer,
            length=chosen.size,
            unknown=chosen.unknown or TextSettings.unknown,
            stop_words=chosen.stop_words,
        )

    def encoded(self, text: str, asked: Choice, which: str = "") -> Encoded:
        """The N words of ``text``; `DataError` when they cannot be released, naming ``which`` document."""
        try:
            found = words_of(text, self.embeddings, self.encoding(asked))
        except UnknownWordError as error:
            raise UnknownWordError(f"{which}{error}") from None
        return found

    def bag(self, text: str, asked: Choice, which: str = "") -> Bag:
        """`encoded` without order."""
        return Bag(self.encoded(text, asked, which).words)
