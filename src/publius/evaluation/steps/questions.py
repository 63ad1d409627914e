"""Every question of a first release, once: a terminal asks it and the page shows it in the same words.

A question is a record: what is asked, the answers that are offered, the one that is proposed and why. Another question
is another record here; who asks needs no change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, final

from publius.errors import UsageError
from publius.option import check
from publius.settings import StartSettings

NONE: Final = "none"
"""The answer that there is no such thing."""

FIND: Final = "find"
STOP: Final = "stop"
RELEASE: Final = "release"
YES: Final = "yes"
NO: Final = "no"


@final
@dataclass(frozen=True, slots=True)
class OfferedAnswer:
    """An answer that is offered, what it is called, and what it means."""

    value: str
    title: str = ""
    means: str = ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and which answers there are.

    Attributes:
        name: of the answer, as `publius.settings.StartSettings` has it.
        words: the question.
        options: what can be answered.
        proposed: what is taken where nobody is asked; None where nothing can be proposed.
        because: why that is proposed, where it is not what is usual.
        otherwise: the way out where nobody is asked and nothing can be proposed.
        open: which other answers are taken, in words; empty for none.
        number: whether a number is taken.

    """

    name: str
    words: str
    options: tuple[OfferedAnswer, ...] = ()
    proposed: str | None = None
    because: str | None = None
    otherwise: str = ""
    open: str = ""
    number: bool = False

    def answer(self, said: str) -> str:
        """The answer that ``said`` is, without the case of an option; `UsageError` where it is none: ask again."""
        said = said.strip()
        values = [option.value for option in self.options]
        if {YES, NO} <= {*values}:  # as at every prompt; taken for a value it would be counted by
            said = {"y": YES, "n": NO}.get(said.lower(), said)
        exact = said if said in values else None
        found = exact or next((each for each in values if each.lower() == said.lower()), None)
        if found is not None:
            return found
        if self.number:
            return self._number(said)
        if self.open and said:
            return said
        raise UsageError(f"that is none of the answers: {', '.join(values)}")

    def _number(self, said: str) -> str:
        try:
            value = float(said)
        except ValueError:
            raise UsageError(f"that is none of the answers: {self.prompt}") from None
        check(StartSettings, bound=value)
        return said

    @property
    def yes_or_no(self) -> bool:
        """Whether these are the answers."""
        return {option.value for option in self.options} == {YES, NO}

    @property
    def prompt(self) -> str:
        """The question with the answers, on a line."""
        if self.number:
            offered = [f"{each.value!r} {each.title}" for each in self.options]
            return f"{self.words}: {', '.join(['a number', *offered])}"
        values = [option.value for option in self.options]
        return (
            f"{self.words} ({', '.join([*values, self.open] if self.open else values)})"
            if values
            else self.words
        )

    @property
    def taken(self) -> str:
        """The proposed answer and its reason, for whoever is not asked."""
        why = "" if self.because is None else f", because {self.because}"
        return f"{self.words}: {self.proposed}{why}."


def among(columns: Sequence[str]) -> tuple[OfferedAnswer, ...]:
    """Columns of a table, as answers."""
    return tuple(OfferedAnswer(name) for name in columns)


ROWS: Final = "rows"
SUMMARY: Final = "summary"

READERS: Final = Question(
    name="readers",
    words="What readers need",
    options=(
        OfferedAnswer(
            SUMMARY,
            "What the collection says",
            "How many wrote about what, what is new, in which words; each author is protected with all documents.",
        ),
        OfferedAnswer(ROWS, "A row for each document", "A protected bag of words for each document."),
    ),
    proposed=ROWS,
)
"""The first question, unless an answer that only one of the two has is stated."""

WRITER: Final = Question(
    name="author_field",
    words="Which column says who wrote each document: who is protected, with all documents",
    otherwise="a summary protects authors, and no column of authors was found: name it with --author-field. Nothing "
    "was released",
)
"""Its options are the columns of the file."""

STRATUM: Final = Question(
    name="by",
    words="Is this list public, whatever anybody wrote? Then documents are counted by it",
    options=(OfferedAnswer(YES), OfferedAnswer(NO)),
    proposed=NO,
    open="or the public values with commas",
)
"""Asked of each column with few values; where nobody is asked, no value that was seen is taken to be public."""

EPSILON_OF_AUTHOR: Final = Question(
    name="epsilon", words="Epsilon of each author with all documents", proposed="1", number=True
)

TEXT_FIELD: Final = Question(name="text_field", words="Which column holds the texts")
"""Its options are the columns of the file."""

ENCODING: Final = Question(
    name="encoding", words="The table is not in UTF-8; which encoding is it in", open="another encoding"
)

QUOTES: Final = Question(
    name="quotes",
    words="A text opens a quotation mark and does not close it before a line that could be a row. In this table",
    options=(
        OfferedAnswer(
            "fields", "the program that wrote it puts texts in quotation marks; they may hold line breaks"
        ),
        OfferedAnswer("letters", "it quotes nothing, and each line is a row"),
    ),
)

OWN_AUTHOR: Final = Question(
    name="author_field",
    words="Which column says who wrote each of your texts",
    options=(OfferedAnswer(NONE),),
    proposed=NONE,
)
"""It is looked at and never released."""

OWN_TOPIC: Final = Question(
    name="topic_field",
    words="Which column says what each of your texts is about; it shows how often labels are right and does not leave",
    options=(OfferedAnswer(NONE),),
    proposed=NONE,
)
"""Asked where the file has columns left and none is called as topics usually are."""

KEEP: Final = Question(
    name="keep",
    words="Which columns leave as they are, for everybody to read",
    options=(OfferedAnswer(NONE),),
    proposed=NONE,
    open="or several with commas",
)
"""Asked where the file has columns beside the id, the text, the author and the topic."""

PUBLIC: Final = Question(
    name="public",
    words="Public or older texts: a file, 'samples' to try with packaged ones, or 'none'",
    open="a file",
    otherwise="public or older texts of the kind are needed: name them with --public, try with --public samples, or "
    "say --without-evidence. Nothing was released",
)

AUTHOR_FIELD: Final = Question(
    name="author_field",
    words="Which column of the public texts says who wrote them",
    options=(OfferedAnswer(NONE),),
    proposed=NONE,
)

TOPIC_FIELD: Final = Question(
    name="topic_field",
    words="Which column of the public texts says what they are about",
    options=(OfferedAnswer(NONE),),
    proposed=NONE,
)

PRESERVE: Final = Question(
    name="preserve",
    words="What to keep",
    options=(
        OfferedAnswer(
            "topic",
            "Its topic",
            "Each document becomes words that are typical of its topic; a bound holds between any two documents.",
        ),
        OfferedAnswer(
            "meaning",
            "Its meaning",
            "Each document becomes words of the public theme that is nearest to it; the same kind of bound.",
        ),
        OfferedAnswer(
            "words",
            "Its words",
            "Each word is replaced by one that is near to it (the paper's way); texts far apart can be told apart.",
        ),
    ),
    proposed="topic",
)

LEAVE_OUT: Final = Question(
    name="leave_out",
    words="Rare words to leave out; the others will be public",
    options=(
        OfferedAnswer("names", "names, and what general text does not know"),
        OfferedAnswer("all", "all rare words"),
        OfferedAnswer(NONE, "none: all of these will be public"),
    ),
    proposed="names",
    open="or words with commas",
)

_FIND: Final = OfferedAnswer(FIND, "to look for the weakest protection that passes")

BOUND: Final = Question(name="bound", words="Bound between any two documents", options=(_FIND,), number=True)

EPSILON: Final = Question(name="epsilon", words="Epsilon", options=(_FIND,), number=True)

AFTER_FAIL: Final = Question(
    name="after_fail",
    words="Another bound or epsilon",
    options=(OfferedAnswer(RELEASE, "to release it all the same"), OfferedAnswer(STOP, "to release nothing")),
    proposed=STOP,
    number=True,
)

ACCEPT_LOSS: Final = Question(
    name="accept_loss",
    words="Go on without the documents that cannot be read",
    options=(OfferedAnswer(YES), OfferedAnswer(NO)),
    proposed=NO,
)

WITHOUT_EVIDENCE: Final = Question(
    name="without_evidence",
    words="Go on without evidence that authors are hidden",
    options=(OfferedAnswer(YES), OfferedAnswer(NO)),
    proposed=NO,
)

OPEN: Final = "open"

_LEFT_OPEN: Final = (OfferedAnswer(OPEN),)

ABOUT: Final = tuple(
    Question(name=name, words=words, options=_LEFT_OPEN, proposed=OPEN, open="or what is to stand there")
    for name, words in (
        ("purpose", "What is the release for"),
        ("recipient", "Who gets it, and what may they hold beside it"),
        ("originals", "Where do the originals stay"),
        ("review", "When is somebody to look at it again"),
        ("contact", "Whom may those who receive it write to"),
    )
)
"""What only people know; whatever is left open the pages say so. Asked at a terminal before the page is written."""

GO_ON: Final = Question(
    name="go_on", words="Go on", options=(OfferedAnswer(YES), OfferedAnswer(NO)), proposed=YES
)

ON_PAGE: Final = (
    TEXT_FIELD, AUTHOR_FIELD, TOPIC_FIELD, PRESERVE, LEAVE_OUT, ACCEPT_LOSS, WITHOUT_EVIDENCE, *ABOUT
)  # fmt: skip
"""The questions that the page shows as they stand here; it has controls of its own for files and numbers."""


def columns_in(answer: str, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns of a table that an answer to `KEEP` names; `UsageError` for one that is none: ask again."""
    if answer in columns:
        return (answer,)
    if answer.lower() == NONE:
        return ()
    named = tuple(dict.fromkeys(each.strip() for each in answer.split(",")))
    if wrong := [each for each in named if each not in columns]:
        raise UsageError(f"{wrong[0]!r} is none of the columns {', '.join(map(repr, columns))}")
    return named


def with_columns(question: Question, columns: Sequence[str]) -> Question:
    """A question on the columns of a table, with the answers that it has anyway after them."""
    return replace(question, options=(*among(columns), *question.options))
