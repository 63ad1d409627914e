"""What a plan makes of the texts that are to be released: measured on them, so for their curator's eyes only.

How many have no text or fit no prototype; which subjects of public words they have far more often than the public
texts; how often the label that is printed is the one in a column of theirs; how much of one author is released.
Nothing is drawn: every share is the mean of exact probabilities. None of it may leave: it depends on every text.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median_low
from typing import TYPE_CHECKING, Any, Final, Self, final

import numpy as np

from publius.collections.authors import counted_key
from publius.collections.counting import Counting
from publius.collections.novelty import Sample, novelty
from publius.collections.strata import Strata
from publius.documents.corpus import Corpus, Document
from publius.errors import DataError, UsageError, how_many
from publius.files import AnyPath, read_bytes_limited, shown
from publius.noise.randomness import system_rng
from publius.privacy.promise import percent, rounded_up
from publius.releases.label_shares import LabelShares, label_shares
from publius.releases.preflight import FOREIGN, in_another_language, language_of_words
from publius.settings import TextSettings
from publius.text.author_names import counted_name
from publius.text.bag import Encoding, places_of_all
from publius.vectors.learning.prototypes import NONE_OF_THESE, nearest_by
from publius.vectors.learning.reference import Reference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from publius.arrays import Float64Array, IndexArray
    from publius.releases.plan import Plan
    from publius.vectors.learning.public_counts import PublicCounts

TOO_MANY: Final = 0.20
"""Share of texts that fit nothing public above which what was measured on public texts is no evidence for them."""

FEW_ROWS: Final = 0.05
"""The share of rows up to which a verdict stands though few authors share their kept values and the label beside them.

The share of authors whom a release may add by default, `publius.evaluation.verdict.ADDS`.
"""

SHARED: Final = 5
"""Authors who must share a value of the kept fields for a verdict that was made without them to stand."""

MOSTLY: Final = 0.5
"""The share of a value's rows above which it may name their busiest author, whoever else has it."""

FAR_ABOVE: Final = 0.2
"""It does where that is so much above his share of all rows, or of those of the label beside it.

Whoever names the busiest author of all is right for his rows as it is: their mean does not show that a value says which
they are. With `SHARED` authors a value has nine rows at least before one of them can have most; among as few, somebody
who wrote much has most of them by chance, too, and whoever reads the rows is as right.
"""

NOT_SHUFFLED: Final = (
    "the rows have ids of their own, or stand in the order in which they were read, and no attack on public texts was "
    "given that: it may say who wrote a row, or which rows are by one author. For a verdict release them under "
    "numbers, with the engine local"
)
"""Why no verdict stands. What an id tells cannot be looked up: a name, initials, a customer's number, a day."""


def unsigned_sentence(unnamed: int, texts: int) -> str | None:
    """A sentence on what a look at texts without authors leaves open; None where hardly one has none."""
    if unnamed <= FEW_ROWS * texts:
        return None
    which = "your own texts" if unnamed == texts else f"{unnamed:,} of your own texts"
    return (
        f"Nobody said who wrote {which}, so each was treated as if by a different author. Authors of several similar "
        "texts are named more often"
    )


TOLD: Final = {True: f"what a text is about, if {SHARED} authors or more have that topic,", False: "no topic"}
"""What whoever holds the texts knows of each beside its row, in the page's words."""

TOLD_BY_REFERENCE: Final = f"what the program takes a text to be about, if {SHARED} or more are about that,"
"""The same where no column of topics says it, or beside one."""

_MOST_NUMBERS: Final = 2**24
"""Numbers that a `_Holder` has in memory: of 51 outcomes for 150,000 texts."""

_BESIDE: Final = 60
"""As many numbers take as much memory as a text does beside its probabilities."""

_BUSY: Final = 4
"""Times the documents of the median author whose author may be no single one: see `_Holder.ways`."""

_EQUAL: Final = 1e-6
"""What probabilities of equal texts differ by, as they are held."""

_FEWEST: Final = 10
"""Authors of whom fewer may be those who typed the texts: as few attacked ones are no evidence either."""

_MANY: Final = 1024
"""A topic of so many texts is looked at in part where memory does not hold all."""

CURATOR_ONLY: Final = (
    "For the curator's eyes only: this was measured on the private texts, and nothing was paid for it."
)
FORMAT: Final = 11
"""Of what is written down. It goes up with every change of what is looked at: by earlier rules nothing is signed."""

_BATCH: Final = 512
_SUBJECTS: Final = 10
_WORDS: Final = 6
_LIMIT: Final = 2**24


def equally_common(counts: Iterable[int]) -> float:
    """How many equally common topics tell as much as topics of so many texts each: e to their entropy.

    Examples:
        >>> [round(equally_common(each), 1) for each in ([9, 9, 9, 9], [70, 15, 10, 5], [386, 7, 7], [])]
        [4.0, 2.5, 1.2, 0.0]

    """
    sizes = np.array([count for count in counts if count], np.float64)
    shares = sizes / sizes.sum()
    return float(np.exp(-(shares * np.log(shares)).sum())) if len(sizes) else 0.0


def unfit_sentence(fit_none: int, hardly_known: int, texts: int) -> str:
    """How many of the texts fit nothing public: to the curator before a release and on his page in the same words.

    Args:
        fit_none: how many fit nothing public.
        hardly_known: how many others are in another language, or have hardly a word that is known.
        texts: how many rows have a text.

    """
    share = (fit_none + hardly_known) / texts if texts else 0.0
    others = (
        f"; {hardly_known:,} more are in another language, or hardly a word of theirs is known"
        if hardly_known
        else ""
    )
    return (
        f"{fit_none:,} of {texts:,} texts fit nothing public and come out most probably as {NONE_OF_THESE!r}{others} "
        f"({percent(share)} altogether)"
    )


@final
@dataclass(frozen=True, slots=True)
class Subject:
    """A subject of public word vectors that the texts have far more often than the public ones.

    Attributes:
        words: the most frequent public words of it.
        share: of the texts.
        before: of the public texts.
    """

    words: tuple[str, ...]
    share: float
    before: float


@final
@dataclass(frozen=True, slots=True)
class AuthorCounts:
    """How many documents the authors have.

    Attributes:
        authors: how many there are.
        unnamed: documents without one.
        most: documents of the author who has most; those without one may be one author's.
        median: documents of the median author.
        several: share of the documents by authors with three or more.
        bound: nats between any two documents; None where nothing bounds them.
    """

    authors: int
    unnamed: int
    most: int
    median: int
    several: float
    bound: float | None

    @property
    def worst(self) -> float | None:
        """Nats of the author with most documents: promises add up."""
        return None if self.bound is None else self.most * self.bound

    @property
    def sentence(self) -> str:
        """For people: words first."""
        total = (
            ""
            if self.bound is None
            else f": together they are within {rounded_up(self.worst or 0.0, 6)} nats, {self.most:,} times the bound"
        )
        unnamed = (
            f"; {how_many(self.unnamed, 'document names', 'documents name')} no author"
            if self.unnamed
            else ""
        )
        return (
            f"{how_many(self.authors, 'author')} wrote your documents; half of them have {self.median:,} or fewer, and "
            f"{percent(self.several)} of the documents are by authors with three or more{unnamed}. {self.whose} "
            f"{self.most:,}{total}."
        )

    @property
    def whose(self) -> str:
        """Who has most, up to the number."""
        return "Those may be by one, who then has" if self.unnamed == self.most > 1 else "One author has"


@final
@dataclass(frozen=True, slots=True)
class Naming:
    """How often whoever holds the texts names the author of each; no row is drawn.

    Attributes:
        named: from one row, by the best rule: of each outcome, with what is kept beside it, the author whose texts give
            it the most probability.
        without: without a row, by always naming who wrote most, on the topic where that is told.
        texts: how many texts these are.
        told: whether he is told the topic of each that several authors have.
        authors: whether these are known. Where they are not each text counts as of an author of its own, as one without
            author does beside others.
        topics: how many topics he is told; of what he guesses, by how many the release or its reference tells texts
            apart.
        guessed: whether what he is told is what the release or its reference takes a text to be about, not a column.
        apart: whether each text of authors of far more than others, or of all, counts as of an author of its own.
        even: how many equally common topics would tell him as much (`equally_common`).
    """

    named: float
    without: float
    texts: int
    told: bool
    authors: bool = True
    topics: int = 0
    guessed: bool = False
    apart: bool = False
    even: float = 0.0

    @classmethod
    def of_record(cls, facts: Mapping[str, Any]) -> Self:
        """The one that was written down; `ValueError` for what is none."""
        found = cls(**facts)
        shares, said = (found.named, found.without), (found.told, found.authors, found.guessed, found.apart)
        if not all(type(each) in (int, float) and 0 <= each <= 1 + _EQUAL for each in shares):
            raise ValueError("no shares")
        if type(found.even) not in (int, float) or not found.even >= 0:
            raise ValueError("no number of topics")
        if not type(found.texts) is type(found.topics) is int or not all(type(each) is bool for each in said):
            raise ValueError("no counts")
        return found

    @property
    def added(self) -> float:
        """How many more he names from a row."""
        return self.named - self.without

    @property
    def sentence(self) -> str:
        """The rest of a sentence that says which texts he holds: his knowledge, and how often he is right."""
        said = (
            f"names the author of {percent(self.named)} of them from one row, and of {percent(self.without)} without it"
            if self.authors
            else f"names the text of a row for {percent(self.named)} of them, and for {percent(self.without)} without "
            "the row"
        )
        if self.authors and self.apart:
            said += (
                ", where each text of those who wrote far more than others counts as of an author of its own"
            )
        return f"is told {TOLD_BY_REFERENCE if self.guessed else TOLD[self.told]} {said}"

    @property
    def telling(self) -> str | None:
        """That rows name many more authors than are named without, in a sentence; None where they do not.

        A verdict leaves out what a topic tells that readers are taken to know, or that is preserved on purpose.
        """
        if not self.authors or self.added <= FEW_ROWS:
            return None
        return f"Of your own texts whoever holds them and {self.sentence}"

    def above(self, adds_at_most: float | None, author_at_most: float | None) -> str | None:
        """That this is more than one of the limits of a verdict allows, in words; None where it is not."""
        found = ((self.added, adds_at_most), (self.named, author_at_most))
        if all(limit is None or each <= limit for each, limit in found):
            return None
        return (
            f"whoever holds {self.texts:,} of these very texts and {self.sentence}, which is more than the limit "
            "allows: an attack on public texts says nothing about these"
        )


@final
@dataclass(frozen=True, slots=True)
class TakenFor:
    """The topics that a release or its reference takes the texts to be about, beside those of its public texts.

    Attributes:
        topics: how many topics, the most frequent first, have all but `FEW_ROWS` of the texts.
        even: how many equally common topics tell as much of the texts (`equally_common`).
        public: the same of the public texts; 0 where that is not known.
    """

    topics: int
    even: float
    public: float

    @classmethod
    def of_counts(cls, texts: Iterable[int], public: Iterable[int]) -> Self:
        """From how many texts are on each topic."""
        sizes = sorted(texts, reverse=True)
        beyond = (sum(sizes[place:]) > FEW_ROWS * sum(sizes) for place in range(len(sizes)))
        return cls(sum(beyond), equally_common(sizes), equally_common(public))

    @classmethod
    def of_record(cls, facts: Mapping[str, Any]) -> Self:
        """The one that was written down; `ValueError` for what is none."""
        found = cls(**facts)
        numbers = (found.even, found.public)
        if type(found.topics) is not int or not all(
            type(each) in (int, float) and each >= 0 for each in numbers
        ):
            raise ValueError("no numbers of topics")
        return found


def ways_said(*first: Naming | None, otherwise: Iterable[Naming]) -> list[Naming]:
    """The ways that are told people: those in which rows add most, each after that of the names as they stand."""
    plain = [way for way in otherwise if not way.apart]
    found: list[Naming] = []
    for way in filter(None, first):
        alike = [each for each in plain if each.told == way.told] if way.apart else []
        found += [*sorted(alike, key=lambda each: each.guessed != way.guessed)[:1], way]
    return found


@final
@dataclass(frozen=True, slots=True)
class OwnTexts:
    """What was found in the texts that are to be released.

    Attributes:
        documents: how many could be read.
        without_text: of them, those of white space only.
        fit_none: those with text that fit nothing public; None where the mechanism has no such outcome.
        hardly_known: others of whose words hardly one is known, or that are in another language than the public words
            and have as many unknown words as known ones.
        subjects: those that stand out, the most striking first; None where the reference knows no subjects, or counts
            its own texts in them otherwise than others (`PublicCounts.comparable`).
        labels: how often a label is right, against a column of the texts; None where none was named.
        authors: None where no column of authors was named.
        telling: kept fields some of whose values fewer than `SHARED` authors are known to have, or one has mostly
            (`MOSTLY`, `FAR_ABOVE`), or with which whoever names the busiest author of each value is right more often by
            more than `FEW_ROWS`; all of them where one of these is so, for more than `FEW_ROWS` of the rows, of the
            values with the label that most probably stands beside them, against the label alone; where words that are
            no label's stand beside them; or where no column of authors was named.
        placed: whether the rows have ids of their own, or stand in the order in which they were read.
        naming: what the rows, with the fields kept in them, tell of authors to whoever holds the texts and is told the
            topic of each where `SHARED` authors have it: the one of two ways by which the rows tell more, that of a
            column, or what the reference takes a text for. None where no topic is known, or the outcomes have no finite
            law.
        untold: the same of whoever is told no topic.
        otherwise: the same by the other ways, which a verdict is on, too.
        release: SHA-256 of the manifest of the release that was made of them; None while there is none.
        taken: what the reference takes them for; None where it takes them for nothing, or no column is beside that.
    """

    documents: int
    without_text: int
    fit_none: int | None
    hardly_known: int = 0
    subjects: tuple[Subject, ...] | None = field(default=None, repr=False)
    labels: LabelShares | None = field(default=None, repr=False)
    authors: AuthorCounts | None = None
    telling: tuple[str, ...] = ()
    placed: bool = False
    naming: Naming | None = None
    untold: Naming | None = None
    otherwise: tuple[Naming, ...] = ()
    release: str | None = None
    taken: TakenFor | None = None

    def check_release(self, manifest: Mapping[str, Any], sha256: str) -> None:
        """`UsageError` unless they were looked at for the release with this ``manifest``, whose digest is given."""
        if self.release != sha256 or self.documents < manifest.get("documents", 0):
            raise UsageError(
                "what was found in the texts is of another release, or of fewer texts than it has rows: look again "
                "with publius inspect FILE --release, and give what it writes"
            )

    @property
    def unfit(self) -> float:
        """The share of the rows with text that fit nothing public, or are hardly known."""
        texts = self.documents - self.without_text
        return ((self.fit_none or 0) + self.hardly_known) / texts if texts else 0.0

    def no_evidence(
        self, adds_at_most: float | None = None, author_at_most: float | None = None, *, topics: int = 1
    ) -> str | None:
        """Why attacks on public texts are no evidence for these ones, in a sentence; None where they may be.

        Given are the limits on authors that the verdict is on; ``topics`` says of how many the attackers were told.
        """
        if self.placed:
            return NOT_SHUFFLED
        if self.telling and self.authors is None:
            return (
                "who wrote the texts is not known, so nobody can tell whether values of what was kept "
                f"({', '.join(self.telling)}) are those of one author, and no attack on public texts was given them: "
                "name the column of authors, or leave them out"
            )
        if self.telling:
            return (
                f"values of what was kept ({', '.join(self.telling)}), or these with what stands beside them in "
                f"more than {FEW_ROWS:.0%} of the rows, may be those of fewer than {SHARED} authors, or mostly of one "
                "(in more than half of their rows), or let more of them be named, and no attack on public texts was "
                "given them: leave them out, or, where a label stands beside them, make their values coarser"
            )
        if self.unfit <= TOO_MANY and topics and self.untold is not None and not self._told_as_much(topics):
            worth = f", as by {how_many(topics, 'equally common topic')}" if topics > 1 else ""
            return (
                f"attackers on public texts were told what each is about{worth}. {self._said_of_topics()}, so what "
                "rows add to that was not computed. Name a column of these texts that says as much, learn the "
                "reference with --label, or attack texts without topics"
            )
        if self.unfit <= TOO_MANY:
            first = (self.naming if topics else None) or self.untold
            ways = (
                [] if first is None else [first, *(way for way in self.otherwise if way.told == first.told)]
            )
            said = (way.above(adds_at_most, author_at_most) for way in ways)
            return next(filter(None, said), None)
        return (
            f"{self.unfit:.0%} of the texts to be released fit none of the public texts, and above {TOO_MANY:.0%} an "
            "attack on public texts says nothing about them"
        )

    @property
    def _told(self) -> list[Naming]:
        """The ways in which whoever holds the texts is told topics."""
        return [way for way in (self.naming, *self.otherwise) if way is not None and way.told]

    def _told_as_much(self, topics: int) -> bool:
        """Whether whoever holds the texts was told about as much of what they are about as one of so many topics is.

        A column need tell no more topics, and no more evenly, than a reference finds here that knows as many: what the
        texts are not about nobody can be told. One that finds its public texts on hardly any shows nothing by that.
        """
        few, spread = float(topics), float(topics)
        guesses = any(way.guessed and 3 * max(1, way.topics) >= 2 * topics for way in self._told)
        if self.taken is not None and guesses and 2 * self.taken.public >= topics:
            few, spread = min(few, self.taken.topics), min(spread, self.taken.even)
        return any(
            3 * max(1, way.topics) >= 2 * (topics if way.guessed else few)
            and 2 * max(1, way.even) >= (topics if way.guessed else spread)
            for way in self._told
        )

    def _said_of_topics(self) -> str:
        """What is known of what these texts are about, in words."""
        best = max((way for way in self._told if way.topics), key=lambda way: way.even, default=None)
        if best is None:
            return (
                "Nobody said what most of these texts are about, or the topics that were named have fewer than "
                f"{SHARED} authors each"
            )
        return (
            f"What these texts are about is told by {how_many(best.topics, 'topic')}, worth as much as "
            f"{best.even:.1f} equally common ones"
        )

    @property
    def unsigned(self) -> str | None:
        """The sentence on what a look at these texts leaves open; None where it leaves nothing."""
        if self.untold is None:
            return None
        return unsigned_sentence(
            self.documents if self.authors is None else self.authors.unnamed, self.documents
        )

    def warnings(self, *, topics: int = 0) -> Iterator[str]:
        """What the curator is told before anything is released; ``topics`` as in `no_evidence`."""
        rows = how_many(self.documents, "row")
        if self.without_text:
            yield (
                f"{how_many(self.without_text, f'of {rows} has', f'of {rows} have')} no text. Each leaves as a row "
                f"whose label is most probably {NONE_OF_THESE!r}, inside the bound: to leave it out would tell that it "
                "was empty"
            )
        if self.fit_none or self.hardly_known:
            yield unfit_sentence(self.fit_none or 0, self.hardly_known, self.documents - self.without_text)
        if (why := self.no_evidence(topics=topics)) is not None:
            way_out = "" if self.placed or self.telling else ". Give public texts that are like yours"
            yield f"NO EVIDENCE: {why}{way_out}"
        else:
            said = (way.telling for way in ways_said(self.untold, otherwise=self.otherwise))
            yield from itertools.islice(filter(None, said), 1)
        if self.unsigned is not None:
            yield self.unsigned
        if self.subjects:
            found = "; ".join(
                f"{', '.join(each.words)} ({percent(each.share)} of yours, {percent(each.before)} of the public ones)"
                for each in self.subjects
            )
            yield (
                "For your eyes: subjects that your texts have far more often than the public ones, so that they may "
                f"come out under another label: {found}"
            )

    def record(self) -> dict[str, Any]:
        """For a file that stays with the curator."""
        facts = asdict(self)
        worst = None if self.authors is None else self.authors.worst
        if self.authors is not None:
            facts["authors"]["worst"] = worst
        return {"notice": CURATOR_ONLY, "format": FORMAT, "unfit": self.unfit, **facts}

    @classmethod
    def read(cls, path: AnyPath) -> Self:
        """What `record` wrote as JSON; `DataError` for anything else, and for what looked at less."""
        import json

        try:
            facts = json.loads(read_bytes_limited(path, _LIMIT))
            if facts["format"] != FORMAT:
                raise ValueError
            authors, labels, subjects = facts["authors"], facts["labels"], facts["subjects"]
            return cls(
                int(facts["documents"]),
                int(facts["without_text"]),
                None if facts["fit_none"] is None else int(facts["fit_none"]),
                int(facts["hardly_known"]),
                None
                if subjects is None
                else tuple(Subject(tuple(each["words"]), each["share"], each["before"]) for each in subjects),
                None if labels is None else LabelShares.of_record(labels),
                None
                if authors is None
                else AuthorCounts(**{name: value for name, value in authors.items() if name != "worst"}),
                tuple(map(str, facts["telling"])),
                bool(facts["placed"]),
                None if facts["naming"] is None else Naming.of_record(facts["naming"]),
                None if facts["untold"] is None else Naming.of_record(facts["untold"]),
                tuple(Naming.of_record(each) for each in facts["otherwise"]),
                facts.get("release"),
                None if facts["taken"] is None else TakenFor.of_record(facts["taken"]),
            )
        except (ValueError, KeyError, TypeError, OverflowError, AttributeError):
            raise DataError(
                f"{shown(path)} does not hold what publius inspect finds with --release now: make it anew"
            ) from None


def examine(
    corpus: Corpus,
    plan: Plan,
    topic_field: str | None = None,
    author_field: str | None = None,
    kept: Sequence[str] = (),
) -> OwnTexts:
    """What ``plan`` makes of every document of ``corpus`` that can be read.

    ``topic_field`` and ``author_field`` are among the fields that the corpus keeps, to be looked at only; ``kept`` are
    those that leave with the rows as they are, and are looked at together. `DataError` for a row with several authors.
    """
    documents = (item for item in replace(corpus, authors=author_field) if isinstance(item, Document))
    total = blank = hardly = 0
    unfit: int | None = None
    probabilities: list[float] = []
    labels: list[str] = []
    authors: Counter[str | None] = Counter()
    sharing, holder, told_by_reference = _Sharing(), _Holder(), _Holder()
    topics_of = _topics(plan) if plan.mechanism.reads_texts else None
    counted, language = _counted(plan), language_of_words(plan.vocabulary)
    beside_words = False
    cells, counting = None, None
    if counted is not None and counted.subjects is not None and counted.comparable:
        encoding = Encoding.of(
            plan.encoding.profile, unknown="drop", stop_words=plan.encoding.stop_words, padded=False
        )
        counting = Counting(Strata(()), counted.themes, counted.subjects, encoding)
        cells = np.zeros(counted.subjects.cells, np.int64)
    while batch := list(itertools.islice(documents, _BATCH)):
        texts = [item.text for item in batch]
        total += len(batch)
        empty = np.array([not text.strip() for text in texts])
        blank += int(empty.sum())
        if author_field is not None:
            authors.update(counted_key(item.labels.get(author_field)) for item in batch)
        places, foreign = _places(texts, plan, language) if plan.mechanism.reads_texts else ((), empty)
        law = plan.mechanism.law(places) if plan.mechanism.reads_texts else None
        likeliest: list[int | None] = [None] * len(batch) if law is None else law.argmax(axis=1).tolist()
        beside_words = bool(kept) and law is None
        for item, label in zip(batch, likeliest, strict=True) if kept else ():
            author = None if author_field is None else item.labels.get(author_field)
            sharing.add(
                tuple(item.labels[name] for name in kept), label, None if author is None else str(author)
            )
        if law is not None:
            topics = None if topics_of is None else topics_of[0](places, law)
            for at, (item, row) in enumerate(zip(batch, law, strict=True)):
                beside = tuple(item.labels[name] for name in kept)
                author = None if author_field is None else counted_key(item.labels.get(author_field))
                taken_for = None if topics is None else topics[at]
                said = str(item.labels.get(topic_field or "") or "").strip()  # a blank says nothing
                holder.add(said or taken_for, beside, author, row)
                if topic_field is not None and topics is not None:
                    told_by_reference.add(taken_for, beside, author, row)
        if not plan.mechanism.reads_texts:
            continue
        none = plan.mechanism.fit_none(places)
        if none is not None:
            unfit = (unfit or 0) + int((none & ~empty).sum())
        hardly += int((foreign & ~empty & ~(np.zeros(len(batch), bool) if none is None else none)).sum())
        if topic_field is not None:
            named = [place for place, item in enumerate(batch) if item.labels.get(topic_field)]
            own = [batch[place].labels[topic_field] for place in named]
            right = right_probabilities(plan, [places[place] for place in named], own)
            if right is not None:
                probabilities += right
                labels += own
        if cells is not None and counting is not None:
            subjects = counting.cells(texts, [0] * len(texts)) % len(cells)
            cells += np.bincount(subjects, minlength=len(cells))
    of_column, of_reference = (each.ways(authors, told=True) for each in (holder, told_by_reference))
    if topic_field is None:
        of_column, of_reference = [], of_column
    known = 0 if topics_of is None else topics_of[1]
    of_reference = [replace(each, guessed=True, topics=known) for each in of_reference]
    told = [*of_column, *of_reference]
    public = getattr(plan.vocabulary, "source", {}).get("topics") or {}
    untold = holder.ways(authors, told=False)
    first, second = (max(ways, key=lambda each: each.added, default=None) for ways in (told, untold))
    return OwnTexts(
        total, blank, unfit, hardly,
        None if cells is None or counted is None else _striking(cells, counted),
        label_shares(probabilities, labels, plan.mechanism.outcomes) if labels else None,
        None if author_field is None else _author_counts(authors, plan.guarantee.bound),
        (*kept,) if beside_words or sharing.tells else (),
        corpus.id_field is not None,
        first,
        second,
        tuple(each for each in (*told, *untold) if each not in (first, second)),
        taken=TakenFor.of_counts(told_by_reference.sizes, public.values()) if told_by_reference.sizes else None,
    )  # fmt: skip


def _topics(plan: Plan) -> tuple[Callable[[Sequence[IndexArray], Float64Array], list[str]], int] | None:
    """The topic of each text where no column says it, from its places and its law, and how many such topics there are.

    None where nobody can tell.

    Of a release that shows topics the likeliest label, else what the reference takes it for: whoever holds a text can
    tell what it is about.
    """
    labels = [each.label for each in plan.mechanism.outcomes]
    if plan.mechanism.shows_topics and labels:
        return lambda places, law: [labels[at] for at in law.argmax(axis=1)], len({*labels} - {NONE_OF_THESE})
    reference = plan.vocabulary
    if not isinstance(reference, Reference) or "topic" not in reference.keeps:
        return None
    aspect = reference.aspect("topic")
    found = aspect.sets[0]
    return lambda places, law: [
        found.labels[at] for at in nearest_by(aspect.rule, aspect.positions(places), found.points)
    ], len({*found.labels} - {NONE_OF_THESE})


@final
@dataclass(frozen=True, slots=True)
class _Held:
    """A text that is looked at: what is kept of it, its author, how probable each outcome is; ``place`` is random."""

    place: float
    kept: tuple[str, ...]
    author: str | int
    law: NDArray[np.float32]


@final
@dataclass(slots=True)
class _Topic:
    """The texts of a topic: how many there are, `SHARED` of their authors at most, and those that are looked at."""

    place: float
    texts: int = 0
    authors: list[str | int] = field(default_factory=list)
    held: list[_Held] = field(default_factory=list)


@final
class _Holder:
    """Who holds texts of known topics: all of them, or of more than memory holds a part drawn at random.

    Every topic, and every text, has a random place, and those below the rate are held. Of a topic of few texts all are
    looked at or none, since among fewer than there are everybody is named anyway; of one of `_MANY` and more, and of
    those that nobody is told, single texts, of which more are named than of all.
    """

    def __init__(self) -> None:
        self._rng = system_rng()
        self._texts = 0
        self._rate, self._numbers = 1.0, 0
        self._topics: dict[str, _Topic] = {}

    def add(self, topic: str | None, kept: tuple[str, ...], author: str | None, law: Float64Array) -> None:
        """A text, with what is kept of it beside the outcome; one without author is of an author of its own."""
        self._texts += 1
        own = self._topics.setdefault(topic or "", _Topic(self._rng.random()))
        own.texts += 1
        who = author or self._texts
        if len(own.authors) < SHARED and who not in own.authors:
            own.authors.append(who)
        text = _Held(self._rng.random(), kept, who, law.astype(np.float32))
        if text.place < self._rate or (own.place < self._rate and own.texts < _MANY):
            own.held.append(text)
            self._numbers += len(law) + _BESIDE
        while self._numbers > _MOST_NUMBERS:
            self._thin()

    @property
    def sizes(self) -> list[int]:
        """How many texts are on each topic."""
        return [topic.texts for topic in self._topics.values()]

    def _thin(self) -> None:
        """Hold half of what is held, or of topics that have many texts by now single ones alone."""
        self._rate /= 2
        self._numbers = 0
        for topic in self._topics.values():
            if topic.place >= self._rate or topic.texts >= _MANY:
                topic.held = [text for text in topic.held if text.place < self._rate]
            self._numbers += sum(len(text.law) + _BESIDE for text in topic.held)

    def ways(self, authors: Mapping[str | None, int], *, told: bool) -> list[Naming]:
        """How often he is right, by each way of telling who wrote a text and what it is about.

        Beside what is said of ``authors``, of so many texts each, those of whoever has far more than others (`_BUSY`)
        are tried as of an author each, and all where fewer than `_FEWEST` are named: a column may say who typed them,
        or that a name is withheld. None where he is ``told`` the topic of fewer than half of the texts, as of others
        nobody here knows it; where he is told that of some, these count alone, too.
        """
        named = {author: count for author, count in authors.items() if author is not None}
        busy = _busy(authors)
        tried: list[Container[str | int]] = [frozenset()] if named else []
        tried += [busy] if busy else []
        tried += [_EVERYBODY] if len(named) < _FEWEST else []
        unnamed = self._texts - sum(named.values())
        found: list[Naming | None] = []
        for apart in tried:
            topics = self._known(apart) if told else frozenset()
            texts = sum(self._topics[name].texts for name in topics)
            if told and texts < MOSTLY * self._texts:
                continue
            found.append(self.naming(told=told, apart=apart))
            if told and texts < self._texts:
                found.append(self.naming(told=told, apart=apart, alone=True))
            if named and unnamed > FEW_ROWS * self._texts:
                found.append(self.naming(told=told, apart=apart, signed=True))
        signed = unnamed <= MOSTLY * self._texts
        return [replace(each, authors=each.authors and signed) for each in found if each is not None]

    def naming(
        self,
        *,
        told: bool,
        apart: Container[str | int] = frozenset(),
        alone: bool = False,
        signed: bool = False,
    ) -> Naming | None:
        """How often he is right of all texts, of those ``alone`` whose topic he is told, or of the ``signed`` ones.

        None where these have fewer than two authors. Texts of authors who are taken ``apart`` are of one each. He is
        told a topic that `SHARED` authors have, and of other texts that they have none: one that few have says who they
        are, so readers know it no more than an empty one.
        """
        known = self._known(apart) if told else frozenset()
        size, named, without, texts = 0.0, 0.0, 0.0, 0
        authors: set[str | int] = set()
        for groups, weight in self._parts(known, apart)[alone:]:
            judged = [
                [text for text in group if not signed or isinstance(text.author, str)] for group in groups
            ]
            looked, held = sum(map(len, judged)), sum(map(len, groups))
            if not looked:
                continue
            authors |= {text.author for group in judged for text in group}
            each = weight * looked / held  # how many of all that are judged each of these stands for
            size, texts = size + each, texts + looked
            named += each * sum(_named(group, signed=signed) for group in groups) / looked
            without += each * _of_busiest(Counter(text.author for text in group) for group in judged) / looked
        if len(authors) < 2:
            return None
        return Naming(
            named / size,
            without / size,
            texts,
            told,
            apart is not _EVERYBODY,
            len(known),
            apart=bool(apart),
            even=equally_common(self._topics[name].texts for name in known),
        )

    def _known(self, apart: Container[str | int]) -> frozenset[str]:
        """The topics that may be told."""
        return frozenset(
            name
            for name, topic in self._topics.items()
            if name
            and (
                len(topic.authors) == SHARED
                or (topic.texts >= SHARED and any(author in apart for author in topic.authors))
            )
        )

    def _parts(
        self, known: Collection[str], apart: Container[str | int]
    ) -> list[tuple[list[list[_Held]], int]]:
        """Groups of texts, first those whose topic he is not told, and how many texts they stand for."""
        untold = [topic for name, topic in self._topics.items() if name not in known]
        found = [([self._single(*untold)], sum(topic.texts for topic in untold))]
        small = [self._topics[name] for name in known if self._topics[name].texts < _MANY]
        whole = [topic.held for topic in small if topic.place < self._rate]
        found.append((whole or [*map(self._single, small)], sum(topic.texts for topic in small)))
        large = [self._topics[name] for name in known if self._topics[name].texts >= _MANY]
        found += [([self._single(topic)], topic.texts) for topic in large]
        return [([_apart(group, apart) for group in groups], texts) for groups, texts in found]

    def _single(self, *topics: _Topic) -> list[_Held]:
        """The texts that were drawn one by one."""
        return [text for topic in topics for text in topic.held if text.place < self._rate]


class _Everybody:
    """Every author is one of these."""

    def __contains__(self, author: object) -> bool:
        return True


_EVERYBODY: Final = _Everybody()


def _apart(group: Sequence[_Held], apart: Container[str | int]) -> list[_Held]:
    """The texts with those of some authors as of one each."""
    return [
        replace(text, author=-number) if text.author in apart else text
        for number, text in enumerate(group, start=1)
    ]


def _named(group: Sequence[_Held], *, signed: bool = False) -> float:
    """How many of the texts whoever holds them names rightly from their rows: of each outcome its likeliest author.

    Of ``signed`` texts those that name their authors are counted, though he looks among all.
    """
    laws: defaultdict[tuple[str, ...], dict[str | int, Float64Array]] = defaultdict(dict)
    for text in group:
        laws[text.kept][text.author] = laws[text.kept].get(text.author, np.zeros(len(text.law))) + text.law
    found = 0.0
    for each in laws.values():
        rows = np.array([*each.values()])
        best = rows.max(axis=0)
        if signed:  # of equals each is as likely
            likeliest = rows >= best - _EQUAL
            best = (
                best
                * likeliest[[isinstance(author, str) for author in each]].sum(axis=0)
                / likeliest.sum(axis=0)
            )
        found += float(best.sum())
    return found


@final
class _Sharing:
    """Who shares kept values, alone and with the label that most probably stands beside them."""

    def __init__(self) -> None:
        self._written: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        self._labelled: defaultdict[int | None, Counter[str]] = defaultdict(Counter)
        self._beside: defaultdict[tuple[tuple[str, ...], int | None], Counter[str]] = defaultdict(Counter)

    def add(self, values: tuple[str, ...], label: int | None, author: str | None) -> None:
        """A row. Few must not look like many: one author is one however written, who is not named no further one."""
        name = counted_name(author)
        self._written[values][name] += 1
        self._labelled[label][name] += 1
        self._beside[values, label][name] += 1

    @property
    def tells(self) -> bool:
        """Whether few share a kept value, or it helps whoever names the busiest author, alone or beside a label.

        So it does where those who have far more rows than others are nobody: see `_busy`.
        """
        busy = _busy(sum(self._labelled.values(), Counter[str]()))
        return self._tells or (bool(busy) and self._without(busy)._tells)

    def _without(self, names: Container[str]) -> _Sharing:
        """The same where rows with these names name nobody."""
        found = _Sharing()
        for own, counts in (
            (found._written, self._written),
            (found._labelled, self._labelled),
            (found._beside, self._beside),
        ):
            for key, each in counts.items():
                for name, rows in each.items():
                    own[key]["" if name in names else name] += rows  # type: ignore[index]  # its own keys
        return found

    @property
    def _tells(self) -> bool:
        whole = sum(self._labelled.values(), Counter[str]())
        if any(_few(each) or _far_above(each, whole) for each in self._written.values()):
            return True
        few = sum(each.total() for each in self._beside.values() if _few(each))
        mostly = sum(_far_above(each, self._labelled[label]) for (_, label), each in self._beside.items())
        alone = _of_busiest(self._written.values()) - _of_busiest([whole])
        beside = _of_busiest(self._beside.values()) - _of_busiest(self._labelled.values())
        named = whole.total() - whole[""]  # of these alone somebody can be right
        return max(few, mostly) > FEW_ROWS * whole.total() or max(alone, beside) > FEW_ROWS * named


def _busy(authors: Mapping[Any, int]) -> frozenset[str]:
    """Names that may be nobody's, or of those who typed the texts: of far more texts than others have."""
    named = {author: count for author, count in authors.items() if author}
    usual = median_low(named.values()) if named else 0
    least = FEW_ROWS * sum(authors.values())
    return frozenset(author for author, count in named.items() if count > least and count > _BUSY * usual)


def _few(group: Counter[str]) -> bool:
    """Whether too few authors are known to be in a group: who is not named may be one of those who are."""
    return len(group) - ("" in group) < SHARED


def _far_above(group: Counter[str], among: Counter[str]) -> float:
    """How many more rows of a group are by its busiest author than among which it stands; 0 where he is not plain.

    Rows that name nobody may all be his, in the group and around it.
    """
    name = next((name for name, _ in group.most_common(2) if name), "")
    rows, around = (counts[name] + (counts[""] if name else 0) for counts in (group, among))
    usual = around / among.total()
    share = rows / group.total()
    return rows - usual * group.total() if share > MOSTLY and share > usual + FAR_ABOVE else 0.0


def _of_busiest(groups: Iterable[Mapping[Any, int]]) -> int:
    """How many rows are by the busiest author of their group: as often is right whoever names him.

    Rows that name nobody are left out: as those of one author they would hide him.
    """
    return sum(max((count for name, count in each.items() if name), default=0) for each in groups)


def right_probabilities(
    plan: Plan, places: Sequence[IndexArray], labels: Sequence[str]
) -> list[float] | None:
    """How probably each document's row has its own label; None where the law is not a finite one. Private."""
    law = plan.mechanism.law(places)
    outcomes = [each.label for each in plan.mechanism.outcomes]
    if law is None or not outcomes:
        return None
    columns: dict[str, list[int]] = {}
    for place, label in enumerate(outcomes):
        columns.setdefault(label, []).append(place)
    return [float(row[columns.get(label, [])].sum()) for row, label in zip(law, labels, strict=True)]


def _places(
    texts: Sequence[str], plan: Plan, language: str | None
) -> tuple[Sequence[IndexArray], np.ndarray[Any, np.dtype[np.bool_]]]:
    """The places of the words of each text that count, and whether it is foreign to the public words.

    It is where hardly one of its words is known. Related languages share words, names and loan words above all: French
    texts had seven unknown words of ten among English ones. So half are enough for a text in another language than
    the public words, whose ``language`` is None where it cannot be told.
    """
    encoding = replace(plan.encoding, unknown=TextSettings.unknown, padded=False)
    rows = places_of_all(texts, plan.vocabulary, encoding).places
    unknown = plan.vocabulary.unknown_index
    missing = [row == unknown for row in rows]
    share = FOREIGN[plan.level]
    shares = [float(lost.mean()) if len(lost) else 0.0 for lost in missing]
    foreign = np.array(
        [
            each >= share or (each >= FOREIGN["word"] and in_another_language(text, language))
            for each, text in zip(shares, texts, strict=True)
        ]
    )
    if plan.encoding.unknown != "drop":
        return rows, foreign
    return [row[~lost] for row, lost in zip(rows, missing, strict=True)], foreign


def _counted(plan: Plan) -> PublicCounts | None:
    return getattr(plan.vocabulary, "counted", None)


def _striking(cells: IndexArray, counted: PublicCounts) -> tuple[Subject, ...]:
    """The subjects whose share has a lower limit above that of the public texts, for all subjects together."""
    if counted.subjects is None or not cells.sum():
        return ()
    total = int(cells.sum())
    found = novelty(
        Sample(cells, (total, total)), Sample(counted.holding, (counted.documents, counted.documents))
    )
    chosen = [int(cell) for cell in found.order if found.new[cell] and cell < counted.subjects.size]
    return tuple(
        Subject(
            counted.subjects.words(cell, _WORDS),
            float(cells[cell] / total),
            float(counted.holding[cell] / counted.documents),
        )
        for cell in chosen[:_SUBJECTS]
    )


def _author_counts(authors: Mapping[str | None, int], bound: float | None) -> AuthorCounts:
    named = [count for author, count in authors.items() if author is not None]
    total, unnamed = sum(authors.values()), authors.get(None, 0)
    return AuthorCounts(
        len(named), unnamed, max([*named, unnamed]), median_low(named) if named else 0,
        sum(count for count in named if count >= 3) / total if total else 0.0, bound,
    )  # fmt: skip
