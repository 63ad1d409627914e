"""The form of the answers on the way from files to a signed release; the others are in `answers`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from publius.evaluation.steps.questions import OfferedAnswer
from publius.evaluation.steps.showing import Example
from publius.releases.measured import Finding
from publius.settings import Quotes
from publius.vectors.learning.public_words import RareWord
from publius.web.answers import Answer, Fault

State = Literal["waiting", "running", "done", "failed", "stopped"]


class Column(Answer):
    """Of a table: the share of rows where it is filled, and how many different values."""

    name: str
    filled: float
    values: int


class Found(Answer):
    """As ``publius inspect --json`` prints it."""

    rows: int
    columns: list[str]
    delimiter: str | None
    encoding: str | None
    quotes: Quotes | None
    text_field: str | None
    guessed: Annotated[
        list[Literal["text_field", "encoding", "quotes"]],
        Field(description="What the texts propose: somebody has to say it."),
    ]
    words: dict[str, float]
    languages: dict[str, int]
    problems: list[str]
    fields: list[Column]


class Given(Answer):
    """Files of a corpus; found is null until they were looked into."""

    key: Annotated[str, Field(description="Another one for other files.")]
    name: str
    files: int
    size: Annotated[int, Field(description="Bytes.")]
    packaged: Annotated[bool, Field(description="The samples that come with the package.")] = False
    found: Found | None
    command: Annotated[str, Field(description="What looks into them on the command line.")]


class Looked(Given):
    """And the beginning of the first text, to see that it is read well. Private."""

    excerpt: str | None


class Stage(Answer):
    """A command of a run; left are seconds, null while nobody can tell."""

    title: str
    command: str
    state: State
    seconds: float
    done: int
    total: int
    left: float | None
    notes: list[str]


class Skipped(Answer):
    """A document that could not be read."""

    position: int
    reason: str


class Learned(Answer):
    """The reference that was learned."""

    reference: str | None


class Made(Answer):
    """A release, what was measured of its setting, and where all of it lies; folder is null where none was made."""

    folder: str | None
    verdict: str | None
    reason: str | None
    limit: Annotated[str | None, Field(description="How near a PASS is to its limit, and who set that.")]
    measured: list[Finding] | None
    floor: float | None
    texts: int | None
    documents: int | None
    skipped: list[Skipped]
    manifest: dict[str, Any] | None


class Tried(Answer):
    """Another setting, and what attacks found at it."""

    preserve: str
    strength: float
    verdict: str
    sentence: str


class Instead(Answer):
    """Alternatives after a FAIL; those that pass come first."""

    tried: list[Tried]


class Run(Answer):
    """Commands one after the other; facts are the answers that it was started with."""

    kind: Literal["learn", "release", "instead"]
    state: State
    facts: dict[str, Any]
    stages: list[Stage]
    result: Learned | Made | Instead | None
    error: Fault | None


class Running(Answer):
    """Null before the first."""

    run: Run | None


class Question(Answer):
    """A question in the words of the terminal, and which answers are offered; a column is an answer beside them."""

    name: str
    words: str
    options: tuple[OfferedAnswer, ...]


class Started(Running):
    """Everything the page needs to go on where it was."""

    questions: list[Question]

    texts: Given | None
    older: Given | None
    kinds: list[str]
    releases: str


class Older(Answer):
    """The public or older texts, and what the topic alone tells of their authors."""

    texts: int
    attacked: int
    author_field: str | None
    topic_field: str | None
    authors: int
    topics: int
    topic_names: Annotated[list[str], Field(description="They become public.")]
    floor: float | None
    packaged: bool


class Vocabulary(Answer):
    """The words of the public texts that become public, and which rare ones are left out."""

    size: int
    counted_by: Literal["authors", "texts"]
    at_least: int
    rare: list[RareWord]
    leave_out: Annotated[str, Field(description="names, all, none, or words separated by commas.")]
    warning: Annotated[
        str | None, Field(description="That what the texts are about may be left out with them; null else.")
    ]


class Plan(Answer):
    """The steps that would be done. Silent says why nothing can be measured, where nothing can."""

    start: str
    commands: list[str]
    reference: str | None
    learned: bool
    older: Older | None
    silent: str | None
    vocabulary: Annotated[
        Vocabulary | None, Field(description="Null where nothing is learned from the texts.")
    ]
    strength: Annotated[float, Field(description="The bound in nats; epsilon where words are kept.")]
    length: int | None


class Examples(Answer):
    """Before and after on public texts; warnings are of the texts to be released, without any word of them."""

    examples: list[Example]
    means: str | None
    warnings: list[str]


class After(Answer):
    """A bag, the most frequent words first."""

    label: str | None
    bag: list[tuple[str, int]]


class Likely(Answer):
    """A public prototype that a text may become."""

    label: str
    probability: float


class OneText(Answer):
    """A text to be released, with real words and pads counted apart. Private."""

    number: int
    problem: Annotated[str | None, Field(description="Why it cannot be read; all else is missing then.")]
    text: str | None = None
    words: int | None = None
    unknown: int | None = None
    padding: int | None = None
    beyond: int | None = None
    language: str | None = None
    warnings: list[str] | None = None
    after: After | None = None
    outcomes: list[Likely] | None = None


class Corpus(Answer):
    """Some of the texts. Private."""

    rows: int
    released: Annotated[bool, Field(description="The bags are those of the release; else they are draws.")]
    documents: list[OneText]


class PrototypeAt(Answer):
    """In two coordinates of the reference."""

    label: str
    x: float
    y: float


class TextAt(Answer):
    """Where a text lies, and the prototype that it most likely becomes. Private."""

    number: int
    prototype: int
    x: float
    y: float


class Map(Answer):
    """The texts among public prototypes."""

    rows: int
    prototypes: list[PrototypeAt]
    documents: list[TextAt]
    dimension: int


class Ticket(Answer):
    """An address that can be read once, within a minute."""

    address: str
