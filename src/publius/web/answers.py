"""The answers: what the views return, and the OpenAPI document describes."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from publius.privacy.guarantee import Evidence


class Answer(BaseModel):
    """Exactly these fields; one with a default is left out of the JSON where it is not given."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    @classmethod
    def of(cls, **facts: Any) -> Self:
        """Made of ``facts`` by the names that the JSON has; records may stand for what lies deeper."""
        return cls.model_validate(facts)

    def content(self) -> dict[str, Any]:
        """For the JSON."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class Fault(Answer):
    """The fault and the way out; never a text that was sent."""

    code: Annotated[Literal[2, 65, 70, 74, 77], Field(description="As the command line exits.")]
    type: str
    message: str


class Error(Answer):
    """An error."""

    error: Fault


class Health(Answer):
    """The service runs."""

    status: Literal["ok"]
    version: str


class Progress(Answer):
    """How far a request is that is being answered; none where there is none of this id (any more).

    Of the stage: so many of its parts are done, seconds since it began, seconds left: null while nobody can tell.
    """

    state: Literal["none", "waiting", "running"]
    stage: str | None
    done: int
    total: int
    seconds: float
    left: float | None


class Mechanism(Answer):
    """A mechanism on the vectors in use. Epsilons are null where it is not available."""

    name: str
    summary: str
    evidence: Evidence
    exact: Annotated[bool, Field(description="Output probabilities are available.")]
    quick: Annotated[bool, Field(description="Ready at any epsilon; others certify the vocabulary first.")]
    releasable: bool
    available: bool
    reason: Annotated[str | None, Field(description="Why it is not available.")]
    metrics: list[str]
    epsilon_low: Annotated[float | None, Field(description="About 2 % of the vocabulary's words stay.")]
    epsilon_high: Annotated[float | None, Field(description="About 98 % stay.")]
    epsilon_default: Annotated[float | None, Field(description="About half stay.")]


class Mechanisms(Answer):
    """All of them."""

    mechanisms: list[Mechanism]


class Vectors(Answer):
    """Word vectors, by their digest."""

    name: str
    size: int
    dimension: int
    sha256: str | None
    tokenizer: str
    current: bool


class Embeddings(Answer):
    """The ones in use first."""

    embeddings: list[Vectors]


class ReleasedBag(Answer):
    """A protected bag of N words, the public prototype where the mechanism names one, and the fields that are kept."""

    model_config = ConfigDict(extra="allow")

    id: str
    size: int
    bag: dict[str, int]
    prototype: int | None = None
    label: str | None = None
    probability_kept: Annotated[
        float | None,
        Field(description="Of what was found, where a label is printed; at most, where choices are soft."),
    ] = None


class Releases(Answer):
    """In the order of the documents, with everything else that is revealed."""

    releases: list[ReleasedBag]
    manifest: dict[str, Any]


class Accurate(Answer):
    """So far the counts of one epsilon may be off: see ``publius summarize --accuracy``."""

    epsilon: float
    count_95: Annotated[int, Field(description="Half-width of the 95 % interval of one count.")]
    all_95: Annotated[int, Field(description="The same of all counts together.")]
    difference_95: Annotated[int, Field(description="By so much two counts must differ, all pairs together.")]
    share_95: float
    smallest_95: Annotated[int, Field(description="From so many on a count is told from an empty one.")]
    says_nothing: bool


class Accuracy(Accurate):
    """From public numbers only, with the same at other epsilons."""

    authors: int
    cells: int
    documents_per_author: int
    epsilon_added_or_left_out: float
    strata: int
    themes_that_pay: int
    wanted: int | None = None
    epsilon_for_wanted: float | None = None
    curve: list[Accurate]


class Summarized(Answer):
    """A summary as it is released, written into a folder; nothing that tells of the documents beside it."""

    folder: str
    report: Annotated[str, Field(description="Its page: see /v1/reports/{id}/ticket.")]
    manifest: dict[str, Any]
    tables: Annotated[
        dict[str, list[dict[str, bool | int | float | str | None]]], Field(description="By the file's name.")
    ]


class Refused(Answer):
    """A line of a stream that got no bag; the others go on."""

    line: Annotated[int, Field(description="Its number, from 1.")]
    error: Fault


class Stopped(Answer):
    """The last line of a stream that ended early."""

    error: Fault
    first: Annotated[int, Field(alias="from", description="The first line that was left out.")]
    charged: Annotated[int, Field(description="Documents from there on that were debited all the same.")]


class Ended(Answer):
    """The last line of a stream that was released whole: everything else that is revealed."""

    manifest: dict[str, Any]


StreamedLine = ReleasedBag | Refused | Ended | Stopped


class Balance(Answer):
    """Spending on a document."""

    unit: str
    budget: float
    spent: float
    remaining: float
    releases: int


class Account(Answer):
    """Null without a ledger."""

    account: Balance | None
    price: float | None


class Released(Answer):
    """A release in a folder of this machine."""

    folder: str
    bag: list[tuple[str, int]]
    prototype: int | None = None
    label: str | None = None
    manifest: dict[str, Any]
    account: Balance | None


class Stated(Answer):
    """A guarantee of bags of N words."""

    epsilon: float
    epsilon_total: float
    size: int
    metric: str
    evidence: str
    delta: float


class Guarantee(Stated):
    """As ``publius guarantee --json`` prints it; the exponent's fields only when a distance was given."""

    level: Literal["word"] | None = None
    mechanism: str
    bound: Annotated[None, Field(description="A word mechanism states none between any two documents.")] = (
        None
    )
    strength: str | None = None
    promise: str
    distance: float | None = None
    releases: int | None = None
    exponent: float | None = None
    factor: float | None = None
    log10_factor: float | None = None
    prior: float | None = None
    posterior_at_most: float | None = None


class Token(Answer):
    """A stretch of the text; the texts of all tokens together are the text."""

    text: str
    kind: Literal["word", "unknown", "stop", "gap", "beyond"]
    words: Annotated[int | None, Field(description="Places of the bag that it takes.")] = None


class Counts(Answer):
    """Of words."""

    words: int
    unknown: int
    stop: int
    padding: int
    beyond: int


class Tokens(Answer):
    """A text as a release would read it."""

    tokens: list[Token]
    counts: Counts


class Pair(Answer):
    """A word of the text and what was drawn for it."""

    word: Annotated[str, Field(alias="in")]
    out: str
    distance: float


class Histogram(Answer):
    """Of the distances; one edge more than counts."""

    edges: list[float]
    counts: list[int]


class Seconds(Answer):
    """Seconds that the draw took: noise and search alone, and everything."""

    kernel: float
    total: float


class Draw(Answer):
    """A draw to look at beside the original. Not a release."""

    warning: str
    size: int
    padding: Annotated[int, Field(description="Of these, public words that fill a short text up.")]
    unchanged: Annotated[
        float, Field(description="Share of the real words; so is all that follows but the bag.")
    ]
    words: list[Pair]
    bag: list[tuple[str, int]]
    histogram: Histogram
    mean_distance: float
    distance: Annotated[float | None, Field(description="Earth Mover's; null for very large N.")]
    guarantee: Stated
    promise: str
    seconds: Seconds


class Point(Answer):
    """At one epsilon, with the number of draws, or of distinct words whose exact rows were used."""

    epsilon: float
    unchanged: float
    unchanged_low: float
    unchanged_high: float
    mean_distance: float
    draws: int | None = None
    words: int | None = None


class Curve(Answer):
    """Of one mechanism; no points, and the reason, where it is not available."""

    mechanism: str
    exact: bool
    points: list[Point]
    reason: str | None = None


class Bound(Answer):
    """Of the Laplace mechanism: how far a release lies from its document."""

    epsilon: float
    bound: Annotated[float | None, Field(description="P(nearer than the other document) is at least this.")]
    median_at_most: float
    distance_95_at_most: float


class Exponent(Answer):
    """Nats between the two documents."""

    epsilon: float
    exponent: float


class Curves(Answer):
    """Against epsilon."""

    size: int
    curves: list[Curve]
    utility: list[Bound] | None
    exponent: list[Exponent] | None
    distance_to_other: float | None


class Neighbor(Answer):
    """A word near the one asked for, placed in the plane."""

    word: str
    distance: float
    x: float
    y: float


class Output(Neighbor):
    """A likely output."""

    probability: float


class Words(Answer):
    """The outputs of a word; intervals where they were found by draws."""

    word: str
    stay: float
    stay_low: float
    stay_high: float
    support: int
    expected_distance: float
    exact: bool
    draws: int | None
    x: float
    y: float
    outputs: list[Output]
    neighbors: list[Neighbor]


class Move(Answer):
    """So many words go from one to another."""

    source: Annotated[str, Field(alias="from")]
    to: str
    count: int
    distance: float


class Distance(Answer):
    """Earth Mover's, the plan, and the exponent of a release; null without a guarantee."""

    distance: float
    size: int
    metric: str
    moves: list[Move]
    exponent: float | None
    exponent_text: str
