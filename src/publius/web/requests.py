"""Requests, field by field; anything else is refused.

The options of a release are those of `publius.settings`, the parameters of mechanisms those that they declare: a new
one is offered without a line here. What would read a file of this machine, or weaken a release, is not offered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from fastapi import Header
from pydantic import BaseModel, ConfigDict, Field, create_model

from publius.mechanisms.registry import all_parameters, available, by_name
from publius.option import Declared, declared
from publius.settings import (
    DEMO_EPSILON,
    ENGLISH,
    MechanismSettings,
    Quotes,
    ReleaseSettings,
    SafePolicy,
    StartSettings,
    SummarySettings,
    TextSettings,
)
from publius.web.guards.limits import (
    BATCH,
    LARGEST_LENGTH,
    LONGEST_COMPARED,
    LONGEST_TEXT,
    MOST_COUNTED,
    MOST_DOCUMENTS,
    MOST_WORDS,
)

if TYPE_CHECKING:
    MechanismName = str
    AnyMechanism = str
else:  # so that an error lists the names and not what was sent
    MechanismName = Literal[tuple(available())]
    AnyMechanism = Literal[tuple(by_name())]

Text = Annotated[str, Field(max_length=LONGEST_TEXT, description="A document. Private: it is never kept.")]
Id = Annotated[
    str, Field(min_length=1, max_length=256, description="Released with the bag and charged in the ledger.")
]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Length = Annotated[int, Field(ge=1, le=LARGEST_LENGTH)]
Reference = Annotated[str, Field(min_length=1, max_length=100)]
ComparedLength = Annotated[int, Field(ge=1, le=LONGEST_COMPARED, description="N, the words of a bag.")]
Distance = Annotated[float, Field(ge=0, allow_inf_nan=False)]


Word = Annotated[str, Field(min_length=1, max_length=200)]
Count = Annotated[int, Field(ge=1, le=LARGEST_LENGTH)]
Role = Literal["texts", "older"]
FileName = Annotated[str, Field(min_length=1, max_length=255)]
Column = Annotated[str, Field(min_length=1, max_length=1000)]
WatchId = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{8,64}$", description="Chosen at random by who asks.")]
Watched = Annotated[
    WatchId | None,
    Header(alias="Publius-Watch", description="Follow and stop this request under /v1/progress."),
]


class Strict(BaseModel):
    """No field that is not named, no text as a number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


def _field(option: Declared, kind: Any = None, default: Any = None) -> tuple[Any, Any]:
    """An option as a field of a model; ``kind`` narrows what it takes, ``default`` is one of the service's own."""
    facts = option.option
    bounds = {"ge": facts.at_least, "gt": facts.above, "le": facts.at_most, "lt": facts.below}
    limits: dict[str, Any] = {name: limit for name, limit in bounds.items() if limit is not None}
    described = Field(option.default if default is None else default, description=facts.help, **limits)
    taken = option.type if kind is None else kind
    if get_origin(taken) is tuple:  # JSON has lists alone
        taken = Annotated[taken, Field(strict=False)]
    return taken, described


def _own_parameters() -> dict[str, tuple[Any, Any]]:
    """Parameters that mechanisms declare, but for files."""
    return {
        each.name: _field(each, each.type | None)
        for each in all_parameters()
        if Path not in (each.type, *get_args(each.type))
    }


_Parameters: Any = create_model("Parameters", __base__=Strict, **_own_parameters())  # type: ignore[call-overload]
_Narrowed = dict[str, tuple[Any, ...]]
_FOR_WORDS: _Narrowed = {
    "mechanism": (MechanismName,),
    "epsilon": (Positive, DEMO_EPSILON),
    "length": (Length,),
    "unknown": (SafePolicy,),
    "stop_words": (Literal[ENGLISH, "none"],),
    "parameters": (_Parameters, {}),
}
_FOR_RELEASES: _Narrowed = {
    **_FOR_WORDS,
    "mechanism": (AnyMechanism | None,),
    "epsilon": (Positive | None,),
    "length": (Length | None,),
    "unknown": (SafePolicy | None,),
    "reference": (Reference | None,),
    "bound": (Annotated[float, Field(allow_inf_nan=False)] | None,),
}
_NOT_OFFERED = frozenset(
    {
        "embeddings",
        "experiment",
        "seed",
        "order",
        "keep_between",
        "public",
        "find",
        "delimiter",
        "encoding",
        "quotes",
    }
)
_ASKED_ELSEWHERE = frozenset(
    {"public", "find", "delimiter", "encoding", "quotes"}
)  # of start: with the files


class Chosen(Strict):
    """Options that every request has in common."""

    if TYPE_CHECKING:
        parameters: Any

    @property
    def settings(self) -> ReleaseSettings:
        """The same as settings; words are tried at `DEMO_EPSILON`."""
        found = ReleaseSettings.among({**dict(self), "parameters": self.own})
        tried = {"embeddings": DEMO_EPSILON}.get(found.chosen.reads)
        return replace(found, epsilon=tried if found.epsilon is None else found.epsilon)

    @property
    def own(self) -> dict[str, Any]:
        """The parameters given for the mechanism."""
        return dict(self.parameters.model_dump(exclude_none=True)) if self.parameters else {}


def _options(
    name: str,
    narrowed: _Narrowed,
    *settings: type,
    base: type[Strict] = Chosen,
    left_out: frozenset[str] | None = None,
) -> Any:
    """A model of the options that ``settings`` declare, but for those that are not offered."""
    if left_out is None:
        left_out = _NOT_OFFERED if base is Chosen else _ASKED_ELSEWHERE
    fields: dict[str, Any] = {
        each.name: _field(each, *narrowed.get(each.name, ()))
        for kind in settings
        for each in declared(kind)
        if each.name not in left_out
    }
    return create_model(name, __base__=base, **fields)


_WordOptions: Any = _options("WordOptions", _FOR_WORDS, MechanismSettings, TextSettings)
_ReleaseOptions: Any = _options("ReleaseOptions", _FOR_RELEASES, ReleaseSettings)


class WordChoice(_WordOptions):  # type: ignore[misc]  # made above
    """Choices where words are looked at one by one."""


class Choice(_ReleaseOptions):  # type: ignore[misc]  # made above
    """The public decisions of a release: of words, or of a document's topic or meaning."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The public fields that are kept with each document."""
        return ()


class GivenDocument(Strict):
    """A private text under an id of the caller's, and the public fields that the choice keeps."""

    model_config = ConfigDict(extra="allow")

    id: Id
    text: Text
    subject: Annotated[Id | None, Field(description="Whom a ledger charges beside it, its author say.")] = (
        None
    )

    @property
    def fields(self) -> dict[str, Any]:
        """Those beside the ones above."""
        return self.model_extra or {}

    def not_kept(self, keep: Sequence[str]) -> str | None:
        """The name of a field that is not among those to ``keep``; None where there is none."""
        return next((name for name in self.fields if name not in keep), None)


class KeepingChoice(Choice):
    """A choice for documents that may have public fields."""

    keep: Annotated[list[Column], Field(max_length=100)] = Field(
        default_factory=list,
        description="Public fields of each document, such as topic, that leave as they are.",
    )

    @property
    def labels(self) -> tuple[str, ...]:
        """See `Choice.labels`."""
        return tuple(self.keep)


class Obfuscate(KeepingChoice):
    """Documents to release."""

    documents: Annotated[list[GivenDocument], Field(min_length=1, max_length=MOST_DOCUMENTS)]


class Stream(KeepingChoice):
    """The first line of a stream: the choice for the documents of all further lines."""

    batch: Annotated[
        int | None,
        Field(
            ge=1,
            le=512,
            description=f"Lines that are answered together: {BATCH}, or fewer where N is large, unless given.",
        ),
    ] = None

    def rows(self, length: int) -> int:
        """How many lines are answered together, for bags of ``length`` words: a public number."""
        return self.batch or max(1, min(BATCH, MOST_WORDS // length))


class Release(Choice):
    """One document to release into a folder."""

    id: Id
    text: Text
    subject: Id | None = None


class Account(Choice):
    """A document whose budget is asked for, and what its next release would cost."""

    id: Id


class Guarantee(Choice):
    """The promise of a release between two documents that are ``distance`` apart."""

    distance: Distance | None = None
    releases: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    candidates: Annotated[int | None, Field(ge=1, le=10**12)] = None


class Outcomes(Choice):
    """A text of which is asked what it may become."""

    text: Text


class Exemplar(Choice):
    """A bag that was drawn, of which the nearest public text is asked for."""

    bag: Annotated[dict[Word, Count], Field(min_length=1, max_length=LARGEST_LENGTH)]
    prototype: Annotated[int | None, Field(ge=0)] = None


class Tokens(WordChoice):
    """A text to cut into tokens."""

    text: Text


class Draw(WordChoice):
    """A text to draw a bag for, to look at."""

    text: Text


class Curve(WordChoice):
    """A text whose curves against epsilon are asked for, and a second one to compare with."""

    text: Text
    other: Text | None = None
    length: ComparedLength = 400
    mechanisms: Annotated[list[MechanismName], Field(min_length=1, max_length=len(available()))] = Field(
        default_factory=lambda: [MechanismSettings.mechanism]
    )


class Words(WordChoice):
    """A public word."""

    word: Annotated[str, Field(min_length=1, max_length=1000)]
    count: Annotated[int, Field(ge=1, le=50)] = 12


class Pair(WordChoice):
    """Two documents to compare."""

    a: Text
    b: Text
    length: ComparedLength = 400


_AboveZero = Annotated[float, Field(gt=0, le=10**6, allow_inf_nan=False)]
_ContributedAtMost = Annotated[int, Field(ge=1, le=1000)]


class Accuracy(Strict):
    """Public numbers, from which it follows how far the counts of a summary may be off."""

    epsilon: _AboveZero = 1.0
    authors: Annotated[int, Field(ge=1, le=10**9, description="How many are expected.")]
    cells: Annotated[int, Field(ge=1, le=50_000_000, description="How many counts, empty ones too.")]
    documents_per_author: _ContributedAtMost = 1
    strata: Annotated[int, Field(ge=1, le=100_000)] = 1
    wanted: Annotated[int | None, Field(ge=1, le=10**9, description="How far a count may be off.")] = None


_FOR_SUMMARIES: _Narrowed = {
    "epsilon": (_AboveZero, 1.0),
    "by": (
        Annotated[list[Annotated[str, Field(min_length=1, max_length=100_000)]], Field(max_length=20)],
        [],
    ),
    "share": (Annotated[str, Field(min_length=1, max_length=200)],),
    "reference": (Reference | None,),
    "text_field": (Column,),
}
_SummaryOptions: Any = _options(
    "SummaryOptions", _FOR_SUMMARIES, SummarySettings, base=Strict, left_out=frozenset({"embeddings"})
)
_Value = Annotated[str, Field(max_length=LONGEST_TEXT)] | int | float | bool | None


class Summarize(_SummaryOptions):  # type: ignore[misc]  # made above
    """A collection to count: rows in the request, or the files that were given as texts."""

    author_field: Annotated[Column, Field(description="Who is protected, with all documents.")]
    authors: Annotated[
        int | None,
        Field(
            ge=1,
            description="About how many, a public number: refused where nothing could be told apart then.",
        ),
    ] = None
    documents: Annotated[
        list[dict[Column, _Value]] | None,
        Field(min_length=1, max_length=MOST_COUNTED, description="Fields of each. Without: the given files."),
    ] = None
    texts_key: Annotated[
        str | None,
        Field(max_length=64, description="Key of the given files: refused where others were given since."),
    ] = None


class Look(Strict):
    """Files that were given, to look into, and what is known of their form."""

    role: Role
    text_field: Column | None = None
    delimiter: Annotated[str | None, Field(min_length=1, max_length=3)] = None
    encoding: Annotated[str | None, Field(min_length=1, max_length=40)] = None
    quotes: Quotes | None = None


class Given(Strict):
    """Files that were given, by what they are for."""

    role: Role


class Page(Strict):
    """One page of what was made, to open or to store."""

    what: Literal["signoff", "report", "release"]


_FOR_START: _Narrowed = {
    "bound": (Annotated[float, Field(allow_inf_nan=False)] | None,),
    "epsilon": (Positive | None,),
    "length": (Length | None,),
}
_StartOptions: Any = _options("StartOptions", _FOR_START, StartSettings, base=Strict)


class Start(_StartOptions):  # type: ignore[misc]  # made above
    """The answers of ``publius start``, for the files that were given."""

    after_fail: Annotated[bool, Field(description="Release all the same where the verdict is FAIL.")] = False
    texts_key: Annotated[
        str | None,
        Field(
            max_length=64,
            description="Key of the files that were shown: refused where others were given since.",
        ),
    ] = None
    older_key: Annotated[
        str | None, Field(max_length=64, description="With texts_key: that of the public or older texts.")
    ] = None

    @property
    def answers(self) -> StartSettings:
        """The same as settings."""
        return StartSettings.among(dict(self))


class Part(Start):
    """Some of the texts to be released, by their numbers from 1."""

    first: Annotated[int, Field(ge=1, le=10**9)] = 1
    count: Annotated[int, Field(ge=1, le=100)] = 25


def _fields(model: type[BaseModel]) -> set[str]:
    return {name for each in (model, *model.__subclasses__()) for name in each.model_fields}.union(
        *[_fields(each) for each in model.__subclasses__()]
    )


FIELDS = frozenset(_fields(Strict))
"""Every name that a request may have: only these are named in an error."""
