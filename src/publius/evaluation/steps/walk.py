"""The walk itself: one setting from public texts over a measurement to a release and its sign-off.

Each method is a step that the command line or the service's page takes when its turn has come;
`publius.evaluation.steps.commands` says which single commands do the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, final

from publius.documents.corpus import Document
from publius.errors import PolicyError, PubliusError, UsageError
from publius.evaluation.steps.answers import Choices
from publius.evaluation.steps.kept import KEPT, Kept
from publius.evaluation.steps.looking import check_said, reading
from publius.evaluation.steps.names import private_digest
from publius.evaluation.steps.older import (
    LEARNED,
    OF_THEM,
    PUBLIC,
    PublicCorpus,
    Written,
    check_author_column,
    check_not_among,
    maybe_author,
    own_authors,
    own_topics,
    texts_at,
)
from publius.files.progress import Advance, Progress, unheard
from publius.settings import (
    InputSettings,
    PublicWordSettings,
    ReleaseSettings,
    RunSettings,
)
from publius.vectors.learning.public_words import NAMES, NONE

if TYPE_CHECKING:
    from publius.documents.corpus import Corpus
    from publius.documents.inspection import Inspection
    from publius.evaluation.steps.learning import PublicVocabulary
    from publius.evaluation.verdict import Limits
    from publius.privacy.ledger import Ledger
    from publius.releases.engines import RunSummary
    from publius.releases.own_texts import OwnTexts
    from publius.releases.plan import Plan

PARTS: Final = 3
"""Parts of the second half that are attacked one after the other, by adversaries that know all other public texts.

They know five sixths of the texts then. Fewer parts would take more of an author's few texts from them; each further
part costs one more training of each adversary, and five already cost minutes where there are hundreds of authors.
"""

Step = Literal["learn", "measure", "release", "own", "sign"]
"""What is done one after the other; nothing is learned twice."""

PRINTED_AT_LEAST: Final = 2
"""Authors who must use a word of the packaged texts: they are few, and whatever stands in printed books is public."""

RELEASE: Final = "release"
EVALUATION: Final = "evaluation"
SIGNOFF: Final = "signoff.html"
CONFIG: Final = "publius.toml"
OWN: Final = "own-texts.json"
"""What was measured on the texts themselves: for the curator's eyes only, outside of the release."""


@final
@dataclass(frozen=True, slots=True)
class Walk:
    """A file to release, what was found in it, the public texts (or none), and answers that are complete.

    ``tries`` divides the level of the verdict: see `publius.evaluation.verdict.Limits`.
    """

    file: Path
    found: Inspection
    older: PublicCorpus | None
    choices: Choices
    tries: int = 1

    def __post_init__(self) -> None:
        """`UsageError` for answers that are missing or do not fit together; `PolicyError` for authors in the rows."""
        choices = self.choices
        if self.own_author is not None and self.own_author in choices.keep:
            raise PolicyError(
                f"{self.own_author!r} is the column of authors, and kept it would stand in every row: leave it out of "
                "--keep"
            )
        if choices.publish_ids and self.own_author == InputSettings.id_field:
            raise PolicyError(
                f"{self.own_author!r} is the column of authors, and as ids it would stand in every row: leave out "
                "--publish-ids"
            )
        if self.found.text_field is None or choices.preserve is None:
            raise UsageError("which column holds the texts and what to keep have to be said first")
        check_said(self.found)
        self.kept.check(choices)
        self._check_reference()

    def _check_reference(self) -> None:
        """`UsageError` where the reference that was chosen is none, or saw the texts that are to be attacked."""
        from publius.vectors.learning.reference import (
            read_reference_record,
            references_root,
            stored_reference_names,
        )
        from publius.vectors.learning.themes import NAME

        chosen = self.choices.reference
        if chosen is None:
            return
        known = [NAME, *stored_reference_names()]
        if chosen not in known:
            raise UsageError(
                f"no reference of this name is stored: known are {', '.join(known)}; leave it out to learn one from "
                "half of the public texts"
            )
        if chosen == NAME:
            return
        record = read_reference_record(references_root() / chosen)
        aspects = [str(aspect["name"]) for aspect in record["aspects"]]
        if self.kept.name not in aspects:
            raise UsageError(
                f"this reference keeps {' and '.join(aspects)}, not {self.kept.name}: choose another"
            )
        if self.older is not None and self.older.sha256 == record["source"].get("corpus_sha256", ""):
            raise UsageError(
                "this reference was learned from all of these public texts, so none is left that can be attacked "
                "fairly: leave out --reference, and one half teaches and the other is attacked"
            )

    def check_apart(self) -> None:
        """`PolicyError` where a text to be released is among those that are public, or that the reference learned from.

        `UsageError` where the reference that was chosen has seen texts that are to be attacked. Where its texts are no
        more where they were, nothing is compared with them but their digest.
        """
        if self.older is not None:
            if self.corpus.sha256() == self.older.sha256:
                raise PolicyError(
                    f"the texts to be released are the public or older ones, byte for byte: {OF_THEM}"
                )
            self.older.check_apart(self.texts())
        if (learned_from := self._learned_elsewhere()) is not None:
            check_not_among(self.texts(), learned_from, "those that the reference was learned from")
            if self.older is not None:
                self.older.check_unseen(learned_from)

    def _learned_elsewhere(self) -> Written | None:
        """The texts of the reference that was chosen, where they are still at hand."""
        from publius.vectors.learning.reference import references_root, remembered_texts

        chosen = self.choices.reference
        if chosen is None or (texts := remembered_texts(references_root() / chosen)) is None:
            return None
        try:
            return Written.of(texts_at(*texts))
        except PubliusError:
            return None

    @property
    def kept(self) -> Kept:
        """What is kept of a document."""
        return KEPT[str(self.choices.preserve)]

    @property
    def strength(self) -> float:
        """The bound in nats; epsilon where words are kept."""
        return self.kept.strength(self.choices)

    def at(self, strength: float) -> Walk:
        """The same at another bound or epsilon."""
        return replace(self, choices=self.kept.at(self.choices, strength))

    def trying(self, tries: int) -> Walk:
        """The same as one of so many settings that are tried on the public texts."""
        return replace(self, tries=tries)

    def keeping(self, kept: str) -> Walk:
        """The same with something else to keep, at the strength that is proposed for it."""
        changed: Any = {"preserve": kept, "bound": None, "epsilon": None, "length": None}
        return replace(self, choices=replace(self.choices, **changed))

    @property
    def reference(self) -> str | None:
        """The name of the public reference; None where words are kept."""
        return self.kept.reference(self)

    @property
    def words(self) -> PublicWordSettings:
        """Which words of the public texts become public: counted by authors wherever those are known."""
        known = self.older is not None and self.older.authors is not None
        printed = self.older is not None and self.older.packaged
        usual = PRINTED_AT_LEAST if printed else PublicWordSettings.authors_at_least
        return PublicWordSettings(
            author_field="author" if known else None,
            authors_at_least=self.choices.authors_at_least or usual,
            leave_out=self.choices.leave_out or (NONE if printed else NAMES),
        )

    @property
    def learned_digest(self) -> str:
        """Of what is learned from and how; keyed on this machine, since it is published in the reference's name."""
        words = self.words
        rows = [] if self.older is None else self.older.learned
        facts = [rows, words.author_field, words.authors_at_least, words.leave_out]
        return private_digest(json.dumps(facts).encode())

    def vocabulary(self) -> PublicVocabulary | None:
        """What becomes public of the first half of the public texts; None where nothing is learned from them."""
        if self.older is None or self.reference is None or self.choices.reference is not None:
            return None
        from publius.evaluation.steps.learning import PublicVocabulary

        return PublicVocabulary.of_rows(self.older.learned, self.words.authors_at_least)

    @property
    def topics(self) -> int | None:
        """How many topics a text can become; None where none is kept, or the reference knows no topics."""
        return self.kept.topics(self)

    @property
    def learned_before(self) -> bool:
        """Whether nothing has to be learned from the public texts."""
        from publius.vectors.learning.reference import stored_reference_names
        from publius.vectors.learning.themes import NAME

        return self.choices.reference is not None or self.reference in (None, NAME, *stored_reference_names())

    def learn(self, folder: Path, progress: Progress = unheard) -> None:
        """Learn the reference from the first half of the public texts, which are in ``folder``, and store it."""
        from publius.evaluation.steps.learning import learn

        if not self.learned_before and self.older is not None and self.reference is not None:
            label = "topic" if self.older.topics else None
            learn(
                folder / PUBLIC / LEARNED,
                self.reference,
                label=label,
                words=self.words,
                progress=progress,
            )

    @property
    def size(self) -> int | None:
        """Words of each bag where words are kept: as said, or as the public texts have them."""
        return self.kept.size(self)

    @property
    def settings(self) -> ReleaseSettings:
        """Every public decision of the release."""
        return replace(self.kept.settings(self), documents_per_author=self.choices.documents_per_author or 1)

    def plan(self) -> Plan:
        """The plan; the reference has to be learned before. `PolicyError` where its promise would be empty."""
        from publius.releases.near import check_not_empty
        from publius.releases.plan import Plan

        plan = Plan.of(self.settings, labels=self.choices.keep)
        check_not_empty(plan.empty, "Nothing was released")
        return plan

    @property
    def corpus(self) -> Corpus:
        """The documents to be released."""
        from publius.documents.corpus import open_corpus

        return open_corpus(
            self.file, number=not self.choices.publish_ids, text_field=self.found.text_field or "text",
            **{"encoding": self.choices.encoding, **self.found.form}, keep=self.choices.keep, **reading(self.choices),
        )  # fmt: skip

    def texts(self) -> Iterator[str]:
        """The texts to be released, those apart that cannot be read."""
        from publius.documents.corpus import Document

        return (item.text for item in self.corpus if isinstance(item, Document))

    def warnings(self, plan: Plan) -> Sequence[str]:
        """What the release would do to these texts, in sentences; `PolicyError` for too much padding."""
        from publius.releases.preflight import look

        found = look(self.corpus, plan)
        found.check(allowed=self.choices.allow_padding)
        return list(replace(found, unfit=0, without_text=0).warnings())  # of all of them: `examine`

    def examine(self, plan: Plan) -> OwnTexts:
        """What the release would make of all of these texts: for the curator's eyes only."""
        from publius.releases.own_texts import examine

        found = examine(self._own_corpus, plan, self.own_topic, self.own_author, self.choices.keep)
        self.check_unchanged()
        return found

    def check_unchanged(self) -> None:
        """`DocumentError` where the file was changed since it was looked at: rows that nobody judged would leave."""
        self.corpus.check_unchanged(self.found.state)

    @property
    def own_author(self) -> str | None:
        """The column of authors in the file to be released; None where there is none."""
        return own_authors(self.found, self.choices.author_field)

    @property
    def own_topic(self) -> str | None:
        """The column in the file to be released that says what the texts are about; None where there is none."""
        return own_topics(self.found, self.choices.topic_field)

    @property
    def _own_corpus(self) -> Corpus:
        """The same documents with their authors and topics, which are looked at and not released: every one of them."""
        looked_at = (self.own_topic, self.own_author)
        beside = tuple(name for name in looked_at if name is not None)
        return replace(self.corpus, beside=beside, authors=self.own_author)

    def check_authors(self) -> None:
        """`DataError` where an author has more documents than were declared, before anything is attacked."""
        from publius.collections.authors import check_documents_per_author

        if self.choices.documents_per_author is None:
            return
        check_author_column(self.found, self.choices.author_field)
        if self.own_author is None:
            if (maybe := maybe_author(self.found)) is not None:
                raise UsageError(
                    f"the column {maybe!r} may say who wrote the texts, and documents of an author are declared: name "
                    "the column with --author-field. Nothing was released"
                )
            return
        documents = (item for item in self._own_corpus if isinstance(item, Document))
        names = (item.labels[self.own_author] for item in documents)
        check_documents_per_author(names, self.choices.documents_per_author)

    def release(
        self,
        folder: Path,
        plan: Plan,
        progress: Advance,
        workers: int = 1,
        ledger: Ledger | None = None,
    ) -> RunSummary:
        """Release every document that can be read, into ``folder``; `DocumentError` where too many cannot be.

        Whoever calls it, authors with more documents than were declared are refused: the promise names their number.
        """
        from publius.releases.engines import protect_corpus
        from publius.releases.preflight import check_loss

        self.check_authors()
        self.check_unchanged()
        run = RunSettings(skip_bad=True, workers=workers, metadata=self.choices.metadata)
        losing = partial(check_loss, accepted=self.choices.accept_loss)
        summary = protect_corpus(
            self.corpus, plan, folder / RELEASE, run, progress=progress, losing=losing, ledger=ledger
        )
        self.check_unchanged()
        return summary

    def sign(self, folder: Path, ledger: Ledger | None = None, own: OwnTexts | None = None) -> None:
        """Write the page that binds release and evaluation; the evaluation is left out where there is none."""
        from publius.evaluation.signed import measured_for
        from publius.files import write_file
        from publius.releases.account import About
        from publius.releases.contents import MANIFEST
        from publius.releases.digests import file_digest
        from publius.releases.manifests import read_manifest_of
        from publius.releases.measured import Budget, Sources
        from publius.releases.signoff import sign_off, write_receivers

        release, evaluation = folder / RELEASE, folder / EVALUATION
        manifest = read_manifest_of(release)
        measured = measured_for(manifest, evaluation) if evaluation.exists() else None
        budget = None if ledger is None else Budget.of(ledger, manifest)
        if own is not None:
            own = replace(own, release=file_digest(release / MANIFEST))
            own.check_release(manifest, own.release or "")
        sources = Sources(measured=measured, budget=budget, own=own, about=About.of(self.choices))
        write_receivers(release, sources)
        with write_file(folder / SIGNOFF, 0o600) as file:  # it tells what was measured on the private texts
            file.write(sign_off(release, sources))
        if own is not None:
            with write_file(folder / OWN, 0o600) as file:
                file.write(json.dumps(own.record(), indent=1, ensure_ascii=False).encode() + b"\n")

    @property
    def measurable(self) -> bool:
        """Whether something can be attacked: what names authors, or at least topics and the texts themselves."""
        return self.older is not None and len(self.older.attacked) > 1

    @property
    def names_authors(self) -> bool:
        """Whether the public texts can say that authors are hidden."""
        return self.older is not None and self.older.unnamed is None

    @property
    def limits(self) -> Limits:
        """What is to hold of the authors: 5 points beyond what the topic tells, or a share that was asked for.

        Nothing where no attack can name an author.
        """
        from publius.evaluation.verdict import ADDS, Limits

        if not self.names_authors:
            return Limits(tries=self.tries)
        asked = self.choices.author_at_most
        return Limits(author_at_most=asked, adds_at_most=ADDS if asked is None else None, tries=self.tries)
