"""What may be asked, field by field; anything else is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from publius.mechanisms.registry import MECHANISMS
from publius.web.guards.limits import LARGEST_LENGTH, LONGEST_COMPARED, LONGEST_TEXT, MOST_DOCUMENTS

if TYPE_CHECKING:
    MechanismName = str
else:
    MechanismName = Literal[tuple(MECHANISMS)]  # so that an error lists the names and not what was sent

Text = Annotated[str, Field(max_length=LONGEST_TEXT, description="A document. Private: it is never kept.")]
Id = Annotated[
    str, Field(min_length=1, max_length=256, description="Released with the bag and charged in the ledger.")
]
Epsilon = Annotated[
    float, Field(gt=0, allow_inf_nan=False, description="Privacy parameter per unit of word distance.")
]
Length = Annotated[int, Field(ge=1, le=LARGEST_LENGTH, description="N, the words of a bag.")]
ComparedLength = Annotated[int, Field(ge=1, le=LONGEST_COMPARED, description="N, the words of a bag.")]
Distance = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Strict(BaseModel):
    """No field that is not named, no text as a number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)


class Choice(Strict):
    """The public decisions of a release."""

    mechanism: MechanismName = "laplace"
    epsilon: Epsilon = 10.0
    metric: Literal["euclidean", "manhattan"] = "euclidean"
    length: Length = 400
    unknown: Literal["unk", "drop", "reject"] = "unk"
    stop_words: Literal["english", "none"] = "english"


class GivenDocument(Strict):
    """A private text under an id of the caller's."""

    id: Id
    text: Text
    subject: Annotated[Id | None, Field(description="Whom a ledger charges beside it, its author say.")] = (
        None
    )


class Obfuscate(Choice):
    """Documents to release."""

    documents: Annotated[list[GivenDocument], Field(min_length=1, max_length=MOST_DOCUMENTS)]


class Release(Choice):
    """One document to release into a folder."""

    id: Id
    text: Text
    subject: Id | None = None


class Account(Choice):
    """A document whose budget is asked for, and what its next release would cost."""

    id: Id


class Guarantee(Choice):
    """What a release promises between two documents that are ``distance`` apart."""

    distance: Distance | None = None
    releases: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    candidates: Annotated[int | None, Field(ge=1, le=10**12)] = None


class Tokens(Choice):
    """A text to cut into tokens."""

    text: Text


class Draw(Choice):
    """A text to draw a bag for, to look at."""

    text: Text


class Curve(Choice):
    """A text whose curves against epsilon are asked for, and a second one to compare with."""

    text: Text
    other: Text | None = None
    length: ComparedLength = 400
    mechanisms: Annotated[list[MechanismName], Field(min_length=1, max_length=len(MECHANISMS))] = Field(
        default_factory=lambda: ["laplace"]
    )


class Words(Choice):
    """A public word."""

    word: Annotated[str, Field(min_length=1, max_length=1000)]
    count: Annotated[int, Field(ge=1, le=50)] = 12


class Pair(Choice):
    """Two documents to compare."""

    a: Text
    b: Text
    length: ComparedLength = 400


def _fields(model: type[BaseModel]) -> set[str]:
    return {name for each in (model, *model.__subclasses__()) for name in each.model_fields}.union(
        *[_fields(each) for each in model.__subclasses__()]
    )


FIELDS = frozenset(_fields(Strict))
"""Every name that a request may have: only these are named in an error."""
