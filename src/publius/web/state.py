"""What the explorer works with: public vectors, mechanisms, a ledger, where releases go, reports to show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import final

from publius.errors import UnknownWordError
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.registry import document_mechanism_of
from publius.privacy.ledger import Ledger
from publius.releases.plan import Plan
from publius.settings import TextSettings
from publius.text.bag import Bag, Encoded, Encoding, TokenizedVocabulary, words_of
from publius.vectors.embeddings import Embeddings
from publius.web.mechanism_cache import Kept, Mechanisms
from publius.web.references import References
from publius.web.reports import Reports
from publius.web.requests import Choice, Chosen, WordChoice
from publius.web.samples import Samples
from publius.web.workplace import Workplace


@final
class State:
    """Made once when the explorer starts. Files apart it holds no document: each is read for one request and forgotten.

    Attributes:
        embeddings: the public vocabulary with its vectors.
        mechanisms: on it.
        references: for what is kept of whole documents.
        exemplars: what quotes the public texts of a reference, the last two.
        ledger: debited before each release, or None.
        releases: the folder in which each release gets a folder.
        reports: results of evaluations that may be shown.
        samples: public documents to try.
        workplace: files that were given, and the run on them; emptied when the explorer ends.
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
        self.references = References()
        self.exemplars = Kept(2)
        self.ledger = ledger
        self.releases = releases
        self.reports = Reports(reports)
        self.samples = Samples()
        self.workplace = Workplace()

    def mechanism(self, asked: Chosen) -> Kernel:
        """The mechanism on words that a request names."""
        chosen = asked.settings
        return self.mechanisms.get(
            chosen.mechanism or "", chosen.epsilon or 0.0, chosen.metric, **chosen.parameters
        )

    def plan(self, asked: Choice) -> Plan:
        """The plan of a release that a request asks for."""
        chosen = asked.settings
        if chosen.level == "word":
            return Plan.of(chosen, self.mechanism(asked))
        if chosen.reference is None:
            return Plan.of(chosen)  # which says that one is needed
        return Plan.of(chosen, document_mechanism_of(chosen, self.references.get(chosen.reference)))

    def is_ready(self, asked: Chosen) -> bool:
        """Whether what a request asks for is made in a moment: nothing has to be certified or opened first."""
        chosen = asked.settings
        if chosen.level == "document":
            return chosen.reference is None or self.references.is_ready(chosen.reference)
        return self.mechanisms.is_ready(
            chosen.mechanism or "", chosen.epsilon or 0.0, chosen.metric, **chosen.parameters
        )

    def encoding(self, asked: WordChoice) -> Encoding:
        """How a request wants a text to become N words."""
        chosen = asked.settings
        return Encoding.of(
            self.embeddings.tokenizer,
            length=chosen.size,
            unknown=chosen.unknown or TextSettings.unknown,
            stop_words=chosen.stop_words,
        )

    def encoded(self, text: str, asked: WordChoice, which: str = "") -> Encoded:
        """The N words of ``text``; `DataError` when they cannot be released, naming ``which`` document."""
        return read(text, self.embeddings, self.encoding(asked), which)

    def bag(self, text: str, asked: WordChoice, which: str = "") -> Bag:
        """`encoded` without order."""
        return Bag(self.encoded(text, asked, which).words)


def read(text: str, vocabulary: TokenizedVocabulary, encoding: Encoding, which: str = "") -> Encoded:
    """The words that stand for ``text``; `DataError` when they cannot be released, naming ``which`` document."""
    try:
        return words_of(text, vocabulary, encoding)
    except UnknownWordError as error:
        raise UnknownWordError(f"{which}{error}") from None
