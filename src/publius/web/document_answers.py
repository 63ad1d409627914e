"""The form of the answers where a document's topic or meaning is kept; the others are in `answers`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from publius.privacy.guarantee import Strength
from publius.web.answers import Answer, Guarantee


class Kept(Answer):
    """How a reference keeps an aspect."""

    features: str
    prototypes: Annotated[list[int], Field(description="Sizes of its sets of public prototypes.")]


class Reference(Answer):
    """A public reference that documents can be released with."""

    name: str
    size: Annotated[int, Field(description="Words.")]
    sha256: str | None
    keeps: Annotated[dict[str, Kept], Field(description="By aspect: topic, meaning.")]
    learned_from: str
    made: Annotated[bool, Field(description="Stored; else it is made when first asked for.")]
    ready: Annotated[bool, Field(description="Open in this service.")]
    fault: str | None


class References(Answer):
    """The user's own first."""

    references: list[Reference]


class DocumentGuarantee(Answer):
    """A guarantee of whole documents; epsilon is null where nothing is stated per unit of distance."""

    level: Literal["document"]
    preserve: Literal["topic", "meaning"]
    reference: str
    mechanism: str
    mechanism_parameters: dict[str, Any]
    epsilon: Annotated[float | None, Field(description="Nats per unit of Earth Mover's distance.")]
    bound: Annotated[float, Field(description="Nats between any two documents.")]
    strength: Strength
    size: int
    metric: str
    evidence: str
    promise: str
    distance: float | None
    releases: int
    exponent: Annotated[float, Field(description="Nats at the distance, or between any two documents.")]
    factor: float | None
    log10_factor: float
    delta: float
    prior: float | None = None
    posterior_at_most: float | None = None


AnyGuarantee = Guarantee | DocumentGuarantee


class Outcome(Answer):
    """A public prototype that a document may become."""

    prototype: int
    label: str
    words: Annotated[list[str], Field(description="Its most typical words.")]
    probability: float


class Place(Answer):
    """In two coordinates of the reference."""

    x: float
    y: float


class PrototypePlace(Place):
    """Of a public prototype."""

    prototype: int
    label: str


class Picture(Answer):
    """Where the document lies among public prototypes: private."""

    dimension: int
    coordinates: Annotated[list[int], Field(description="Which ones are x and y, from 1.")]
    document: Place
    clipped: Annotated[Place, Field(description="In the box that the mechanism position clips to.")]
    box: Annotated[list[Place], Field(description="Its lowest and its highest corner.")]
    prototypes: list[PrototypePlace]


class KnownWords(Answer):
    """Words of the document that the reference knows, those it does not, and how many count."""

    known: int
    unknown: int
    counted: int


class DocumentDraw(Answer):
    """A draw to look at. Not a release."""

    prototype: int | None
    label: str | None
    bag: list[tuple[str, int]]


class Outcomes(Answer):
    """The outcomes that a document may have, the likeliest first; none where the mechanism names none."""

    warning: str
    outcomes: list[Outcome]
    bound: Annotated[float, Field(description="Nats between any two documents.")]
    epsilon: float | None
    preserve: Literal["topic", "meaning"]
    reference: str
    mechanism: str
    parameters: dict[str, Any]
    size: int
    evidence: str
    strength: Strength
    promise: str
    words: KnownWords
    document_warning: Annotated[str | None, Field(description="That no word of it is known.")]
    picture: Picture
    draw: DocumentDraw


class Exemplar(Answer):
    """A sentence of a public text, quoted; or why there is none."""

    text: str | None
    fault: str | None
    corpus: Annotated[str, Field(description="The name of the file of public texts.")]
    row: Annotated[int | None, Field(description="None: no row is kept of a sentence that may be quoted.")]
    note: str
