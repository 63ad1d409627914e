"""The explorer's state: public vectors, mechanisms, a ledger, where releases go, reports to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import final

from publius.documents.corpus import check_fields
from publius.errors import UnknownWordError
from publius.mechanisms.kernel import Kernel
from publius.privacy.ledger import Ledger
from publius.releases.plan import Plan
from publius.settings import MechanismSettings, Reads
from publius.text.bag import Bag, Encoded, Encoding, TokenizedVocabulary, words_of
from publius.vectors.embeddings import Embeddings
from publius.web.mechanism_cache import Cache, MechanismCache
from publius.web.references import ReferenceCache
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
        self.mechanisms = MechanismCache(embeddings)
        self.references = ReferenceCache()
        self.exemplars = Cache(2)
        self.ledger = ledger
        self.releases = releases
        self.reports = Reports(reports)
        self.samples = Samples()
        self.workplace = Workplace()

    def mechanism(self, asked: Chosen) -> Kernel:
        """The mechanism on words that a request names."""
        return self.mechanisms.get(*self._named(asked), **asked.settings.parameters)

    def _named(self, asked: Chosen) -> tuple[str, float, str]:
        """Name, epsilon and metric of the mechanism on words that a request names."""
        settings = asked.settings
        return settings.mechanism or MechanismSettings.mechanism, settings.epsilon or 0.0, settings.metric

    def plan(self, asked: Choice) -> Plan:
        """The plan of a release that a request asks for."""
        chosen = asked.settings
        check_fields("id", "text", asked.labels)
        made: dict[Reads, Callable[[], Plan]] = {
            "embeddings": lambda: Plan.of(chosen, self.mechanism(asked), labels=asked.labels),
            "reference": lambda: Plan.of(
                chosen,
                labels=asked.labels,
                public=None if chosen.reference is None else self.references.get(chosen.reference),
            ),
        }
        return made[chosen.chosen.reads]()

    def is_ready(self, asked: Chosen) -> bool:
        """Whether what a request asks for is made in a moment: nothing has to be certified or opened first."""
        chosen = asked.settings
        ready: dict[Reads, Callable[[], bool]] = {
            "embeddings": lambda: self.mechanisms.is_ready(*self._named(asked), **chosen.parameters),
            "reference": lambda: chosen.reference is None or self.references.is_ready(chosen.reference),
        }
        return ready[chosen.chosen.reads]()

    def encoding(self, asked: WordChoice) -> Encoding:
        """How a request wants a text to become N words."""
        chosen = asked.settings.chosen
        return Encoding.of(
            self.embeddings.tokenizer,
            length=chosen.size,
            unknown=chosen.unknown,
            stop_words=asked.settings.stop_words,
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
