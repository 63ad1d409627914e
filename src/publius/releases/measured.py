"""Sources of the page to sign beside the release: what was measured, sums of a ledger, texts that were written."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Self, final

from publius.errors import DataError, PolicyError, UsageError
from publius.files import json_of, read_lines, shown
from publius.privacy.guarantee import Guarantee, Unit
from publius.privacy.ledger import COUNTED, Ledger
from publius.releases.account import About
from publius.releases.contents import SUMMARY
from publius.releases.digests import TEXT_DIGEST, bags_digest, file_digest, text_digest
from publius.releases.label_shares import LabelShares
from publius.releases.own_texts import OwnTexts

_NOTHING_SAID: Final = About()


@final
@dataclass(frozen=True, slots=True)
class Share:
    """A share of texts with its 95 % interval."""

    value: float
    low: float
    high: float


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one adversary or classifier on protected texts, beside unprotected ones.

    Attributes:
        task: what was to be named: author or topic.
        adversary: its name.
        released: the share named from a protected text alone.
        clean: the same unprotected; None where it was not tried.
        chance: the share of whoever always names the most frequent one.
        knowing_topic: the share of authors named by the same adversary where it is told each text's topic, with the
            interval that the verdict rests on; None where nothing of the kind was computed.
    """

    task: str
    adversary: str
    released: Share
    clean: Share | None
    chance: float | None
    knowing_topic: Share | None = None


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """The evaluation of this release's setting.

    Attributes:
        about: facts on the texts and the run, name and value.
        findings: the strongest first, by task.
        not_tried: sentences.
        digests: SHA-256 of every file of the evaluation.
        texts: how many texts were attacked.
        floor: what an adversary reaches who knows only the topic; None where it was not computed.
        verdict: PASS, FAIL or NO EVIDENCE with its reason; None where no limits were set.
        labels: how often a label is right on the attacked public texts; None where none is printed.
        linking: how often two releases of the same public texts are matched row by row.
        worst: the author who is named most often from all his rows together: ``documents``, and ``named``, an upper
            limit of how often; ``most`` is the largest number of documents of any author attacked. None where no author
            can be told from one draw, or is known.
        options: what ``publius evaluate`` was given, as it is typed.
        room: how near a PASS is to its limit, in words; None where the verdict is no PASS, or on no authors.
        set_by: who set the limit on authors, in words; None where there is none.
        on_authors: what the limits on authors alone say; None where nothing was asked of them.
        in_all: whether those are on all the authors named, and not on what the release adds.
        adds_at_most: the limit on what the release adds; None where there is none.
        author_at_most: the limit on all the authors named; None where there is none.
        topics: of how many topics the attacked texts are, which attackers were told, as equally common ones; 0 where of
            none.
    """

    about: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]
    not_tried: tuple[str, ...]
    digests: dict[str, str]
    texts: int
    floor: float | None = None
    verdict: str | None = None
    labels: LabelShares | None = None
    linking: Mapping[str, float] | None = None
    worst: Mapping[str, float] | None = None
    options: str = ""
    room: str | None = None
    set_by: str | None = None
    on_authors: str | None = None
    in_all: bool = False
    adds_at_most: float | None = None
    author_at_most: float | None = None
    topics: int = 0

    @property
    def told(self) -> int:
        """Of how many equally common topics the attackers were told; 0 where there are none."""
        return 0 if self.floor is None else max(1, self.topics)


@final
@dataclass(frozen=True, slots=True)
class Texts:
    """Texts that were written from a release.

    ``note`` is what each says of itself; ``missing`` bags have none.
    """

    writer: str
    note: str
    documents: int
    missing: int
    sha256: str


@dataclass(frozen=True, slots=True)
class _OfSummary:
    """The price of a summary, which is an author's."""

    prices: Mapping[Unit, Fraction]


@final
@dataclass(frozen=True, slots=True)
class Budget:
    """Sums of a ledger: its unit, what one document may spend, how many have spent, the most that one has spent.

    ``most_of_an_author`` is the most that a person also charged has spent; None where the ledger knows none. Where it
    knows no document, as with summaries, ``budget`` is what an author may spend.
    """

    unit: Unit
    budget: float
    documents: int
    most_spent: float
    most_releases: int
    most_of_an_author: float | None = None

    @property
    def nats(self) -> str:
        """The unit as readers of the page call it, who need not know the names of units."""
        return "nats" if self.unit == "bound" else COUNTED[self.unit]

    @classmethod
    def of(cls, ledger: Ledger, manifest: Mapping[str, Any]) -> Self:
        """Those of the ledger that a release was charged to; `UsageError` where it counts something else."""
        try:
            if manifest["kind"] == SUMMARY:
                ledger.price(_OfSummary({"bound": Fraction(manifest["epsilon_exactly"])}))
            else:
                ledger.price(Guarantee.of_manifest(manifest))
        except (PolicyError, KeyError, TypeError):
            raise UsageError(
                f"{shown(ledger.path)} counts {ledger.unit}, in which this release cannot have been charged: name the "
                "ledger that it was charged to"
            ) from None
        accounts = list(ledger.accounts())
        documents = [each for each in accounts if each.kind == "document"]
        authors = [float(each.spent) for each in accounts if each.kind == "subject"]
        return cls(
            ledger.unit,
            float(ledger.budget if documents else ledger.subject_budget),
            len(documents),
            max((float(each.spent) for each in documents), default=0.0),
            max((each.releases for each in documents), default=0),
            max(authors, default=None),
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """All that the page to sign takes beside the release; None was not given.

    Attributes:
        measured: the evaluation of the release's setting.
        budget: sums of the ledger that it was charged to.
        texts: what was written from it.
        own: what was measured on the private texts, for the curator alone.
        about: what a person said of purpose, recipient and originals.
    """

    measured: Measured | None = None
    budget: Budget | None = None
    texts: Texts | None = None
    own: OwnTexts | None = None
    about: About = _NOTHING_SAID


_OF_A_TEXT: Final = {"id", "text", "writer", "source", "note", "fault", "release", TEXT_DIGEST}


def read_texts(path: Path, release: Path) -> Texts:
    """Read a file of ``publius write``; `DataError` where it is none, was changed, or is not of ``release``'s bags.

    `PolicyError` for texts whose writer could read what it liked.
    """
    count, missing, writers, made_of = 0, 0, set(), bags_digest(release)
    lines = (read_lines(path), read_lines(release / "bags.jsonl"))
    for (number, line), bag in itertools.zip_longest(*lines, fillvalue=(0, b"null")):
        try:
            record, id = json_of(line), json.loads(bag[1])["id"]
            if "unconfined" in record:
                raise PolicyError(
                    f"{shown(path)} is by a writer of somebody's own that nothing kept from other files, so no promise "
                    "holds for it and nobody can sign for it: write it where the system holds such a writer"
                )
            if record["id"] != id or record["release"] != made_of or not record.keys() <= _OF_A_TEXT:
                raise ValueError
            if record[TEXT_DIGEST] != text_digest(record):
                raise DataError(
                    f"{shown(path)}, line {number}: it was changed after it was written, and nobody can sign that what "
                    "stands there was made from the release: write the texts anew"
                )
            count, missing = count + 1, missing + (record["text"] is None)
            writers.add((str(record["writer"]), str(record["note"])))
        except DataError:
            raise
        except (ValueError, LookupError, TypeError):
            raise DataError(
                f"{shown(path)} does not hold the texts of the release in {shown(release)}, bag by bag: write them anew"
            ) from None
    if len(writers) != 1:
        raise DataError(f"{shown(path)} is not by one writer: write the texts anew")
    ((writer, note),) = writers
    return Texts(writer, note, count, missing, file_digest(path))
