"""The form of the answers on the way from files to a signed release; the others are in `answers`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

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
    text_field: str | None
    words: dict[str, float]
    languages: dict[str, int]
    problems: list[str]
    fields: list[Column]


class Given(Answer):
    """Files of a corpus; found is null until they were looked into."""

    name: str
    files: int
    size: Annotated[int, Field(description="Bytes.")]
    found: Found | None


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


class Share(Answer):
    """Of texts, with its 95 % interval."""

    value: float
    low: float
    high: float


class Finding(Answer):
    """What one adversary or classifier found."""

    task: str
    adversary: str
    released: Share
    clean: Share | None
    chance: float | None


class Skipped(Answer):
    """A document that could not be read."""

    position: int
    reason: str


class Learned(Answer):
    """The reference that was learned."""

    reference: str


class Made(Answer):
    """A release, what was measured of its setting, and where all of it lies."""

    folder: str
    verdict: str | None
    reason: str | None
    measured: list[Finding] | None
    floor: float | None
    texts: int | None
    documents: int
    skipped: list[Skipped]
    manifest: dict[str, Any]


class Run(Answer):
    """Commands one after the other; facts are the answers that it was started with."""

    kind: Literal["learn", "release"]
    state: State
    facts: dict[str, Any]
    stages: list[Stage]
    result: Learned | Made | None
    error: Fault | None


class Running(Answer):
    """Null before the first."""

    run: Run | None


class Started(Running):
    """Everything the page needs to go on where it was."""

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
    floor: float | None


class Plan(Answer):
    """What would be done."""

    start: str
    commands: list[str]
    reference: str
    learned: bool
    older: Older


class GivenText(Answer):
    """A text of the files. Private."""

    number: int
    rows: int
    text: str


class Ticket(Answer):
    """An address that can be read once, within a minute."""

    address: str
