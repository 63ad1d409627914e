"""Every option once: its name, type, default, help and bounds, as fields of frozen dataclasses.

The command line, the service's request models and the evaluation derive theirs from these classes: to add an option
there, declare one field here. `start`, the explorer's page, scikit-learn, tables and `publius.release` name those that
they take, and read defaults off the class: ``TextSettings.stop_words``. A mechanism declares its own parameters the
same way, in a dataclass of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from publius.errors import UsageError
from publius.option import Settings, declared, option

Metric = Literal["euclidean", "manhattan"]
SafePolicy = Literal["unk", "drop", "reject"]
UnknownPolicy = Literal[SafePolicy, "keep"]
Preserve = Literal["topic", "meaning", "words"]
FIELD = "field:"
"""A field of declared values is released by `--preserve field:NAME`."""
Reads = Literal["embeddings", "reference"]
"""The public input that a mechanism reads documents with."""
Between = Literal["none", "stop-words", "punctuation", "all"]
"""Text left unprotected between the protected words."""
Training = Literal["same", "all"]
Task = Literal["author", "topic", "sensitive"]
Preset = Literal["quick", "thorough"]
Quotes = Literal["fields", "letters"]
Format = Literal["jsonl", "csv", "parquet", "mtx"]

EUCLIDEAN: Final = "euclidean"
MANHATTAN: Final = "manhattan"
ENGLISH: Final = "english"
STOP_WORD_LANGUAGES: Final = {
    "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt", "dutch": "nl", "greek": "el",
}  # fmt: skip
"""Languages whose stop words come with the extra ``languages``, and their ISO 639 codes."""
SHORTEST: Final = "shortest"
PROTOTYPE: Final = "prototype"
DOCUMENT_LENGTH: Final = 40
"""Words of a released bag where the promise is about whole documents."""
LONGEST: Final = 10_000_000
"""The most words that a bag may have."""
CONVENIENCE: Final = "convenience"
"""Says, in the `Annotated` of a command's own option, what `Option.convenience` says of a setting."""
DEMO_EPSILON: Final = 10.0
"""Where things are tried: in the demo, the service, scikit-learn and the audit. A release names its own."""
AUTHORS_AT_LEAST: Final = 5
"""Authors who must use a word of public texts before it becomes public."""


# What is typed in one text --------------------------------------------------------------------------------


def parsed_length(text: int | str, words: tuple[str, ...] = (SHORTEST,)) -> int | str:
    """A number of words from 1, or one of ``words`` as it stands."""
    if isinstance(text, str) and text in words:
        return text
    digits = str(text) if type(text) in (int, str) else ""
    if not digits.isascii() or not digits.isdigit() or not 1 <= int(digits[:12]) <= LONGEST:
        others = " or ".join(f"'{word}'" for word in words)
        raise UsageError(f"--length must be a whole number from 1 to {LONGEST:,}, or {others}, not {text!r}")
    return int(digits)


def size_of(length: int | str) -> int | None:
    """N, or None where it is the shortest document's."""
    found = parsed_length(length)
    return found if isinstance(found, int) else None


def numbers(text: str) -> tuple[float, ...]:
    """Epsilons from "10,15,none"; what is not protected at all is none."""
    try:
        return tuple(float(part) for part in text.split(",") if part.strip() not in ("", "none"))
    except ValueError:
        raise UsageError(f"epsilons are numbers separated by commas, not {text!r}") from None


def declared_values(text: str) -> tuple[str, ...]:
    """Values from "A,B" quoted as in CSV, or of ``@FILE``."""
    from publius.files.value_list import value_list

    return tuple(value_list(text, "--values"))


def names(text: str) -> tuple[str, ...]:
    """Names from "a,b", each once."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def name_and_strength(asked: str) -> tuple[str, float | None]:
    """Split ``laplace:21.9`` into a mechanism, and the epsilon or bound that it alone is tried at, if any.

    >>> name_and_strength("laplace:21.9"), name_and_strength("python:mine:Coin")
    (('laplace', 21.9), ('python:mine:Coin', None))
    """
    name, _, number = asked.rpartition(":")
    if not name or not number[:1].isdigit():
        return asked, None
    try:
        return name, float(number)
    except ValueError:
        raise UsageError(
            f"{number!r:.40} is no strength for the mechanism {name:.80}: give a number"
        ) from None


def names_of(asked: Iterable[str]) -> tuple[str, ...]:
    """The mechanisms alone, each once, in the order asked for."""
    return tuple(dict.fromkeys(name_and_strength(each)[0] for each in asked))


# The options ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class FormSettings(Settings):
    """How tables and folders are read."""

    delimiter: str | None = option(
        None, help="What separates fields of a table: one character, or tab. Default: told by its header."
    )
    encoding: str | None = option(
        None, help="Encoding of tables and text, such as iso-8859-1. Default: UTF-8 or the mark at its start for a "
        "table; what its letters tell for a text that is a file.",
    )  # fmt: skip
    quotes: Quotes | None = option(
        None, help="What quotation marks in a table do: with fields they enclose fields, which may hold line breaks; "
        "with letters each line is a row. Default: as its header has them, else line breaks are refused where a line "
        "could be a row.", noun="use of quotation marks",
    )  # fmt: skip
    subfolders: bool = option(False, help="Also read the folders below a folder.")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class InputSettings(FormSettings):
    """Where in a file or table the documents are."""

    id_field: str = option("id", help="Field that holds a document's id.")
    text_field: str = option("text", help="Field that holds its text.")
    keep: tuple[str, ...] = option((), help="Public field to keep, such as topic; repeatable.", public=True)
    number: bool = option(
        False, help="Number the documents, in a secret random order, instead of reading ids."
    )
    subject_field: str | None = option(None, help="Field that names the person also charged, such as author.")
    follow_links: bool = option(False, help="Follow symbolic links in a folder, also to files outside of it.")
    reading_seconds: float = option(
        3.5, help="Processor seconds that 16 MiB of a Word, Excel, PDF, HTML, mail or Parquet file may take.",
        above=0, at_most=86_400,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class VectorSettings(Settings):
    """The public vectors and the distance between words."""

    embeddings: str | None = option(
        None, help="Word vectors: a stored name or a file. Default: the packaged GloVe."
    )
    metric: Metric = option(
        EUCLIDEAN, help="Word distance; or python:MODULE:NAME, one of yours (finite mechanisms, distances).",
        public=True, prefix="python:",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class StopWordSettings(Settings):
    """The words that count for nothing."""

    stop_words: str = option(
        ENGLISH,
        help=f"Words left out: english, {', '.join(STOP_WORD_LANGUAGES)}, none or file:PATH. "
        "The manifest holds the digest of such a file: put no names on it.",
        public=True,
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TextSettings(StopWordSettings):
    """How a text becomes the words of a bag."""

    length: int | str = option(
        400, help="Words per bag: a number N (first N words, shorter texts padded), or 'shortest'.",
        public=True, parse=parsed_length,
    )  # fmt: skip
    unknown: UnknownPolicy = option(
        "unk", help="Words outside the vocabulary: unk, drop or reject (keep: experiments only).",
        public=True, noun="policy for unknown words",
    )  # fmt: skip

    @property
    def size(self) -> int | None:
        """N, or None for the shortest document's."""
        return size_of(self.length)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ParameterSettings(Settings):
    """Parameters that mechanisms declare themselves."""

    parameters: Mapping[str, Any] = option(
        factory=dict, help="Further parameters, which the mechanisms declare themselves.", public=True
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PromiseSettings(Settings):
    """The property of a document that is kept, and how much may tell any two apart."""

    preserve: Preserve = option(
        "words", help="What to keep: topic or meaning, with a bound between any two documents; words (the paper's "
        "mechanism); or field:NAME, a column of declared values.",
        public=True, noun="thing to keep", prefix=FIELD,
    )  # fmt: skip
    values: tuple[str, ...] = option(
        (), help="With field:NAME: every value that it may have, quoted as in CSV, or @FILE with one a line. They are "
        "published.",
        public=True, parse=declared_values,
    )  # fmt: skip
    other: str | None = option(
        None, help="With field:NAME: the declared value that stands for all that are not declared. Default: refused.",
        public=True,
    )  # fmt: skip
    documents_per_author: int = option(
        1, help="The most documents of one author, fixed before looking: what rows without ids promise an author "
        "counts so many.",
        public=True, at_least=1,
    )  # fmt: skip
    bound: float | None = option(
        None, help="With topic, meaning or a field: nats between any two documents. At 7, with 20 topics, "
        "the one found in a text comes out at most 98.3 % of the time.",
        public=True, above=0,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ReferenceSettings(Settings):
    """The part of a text that a document mechanism reads, and the reference that it is compared with."""

    reference: str | None = option(
        None, help="With topic or meaning: the public reference, see 'publius reference'; themes needs no texts.",
        public=True,
    )  # fmt: skip
    first: int | None = option(
        None, help="With topic or meaning: how many words of a document count, from its start. Default: all.",
        public=True, at_least=1, flag="--max-words", earlier=("--first",),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MechanismSettings(ParameterSettings, VectorSettings):
    """How words are replaced."""

    mechanism: str = option("laplace", help="Mechanism, of those listed below.", public=True)
    epsilon: float | None = option(
        None, help="Privacy parameter per unit of word distance; smaller hides more.", public=True
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class WordRelease(TextSettings, MechanismSettings):
    """The options of a release that replaces words."""

    reads: ClassVar[Reads] = "embeddings"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DocumentRelease(ParameterSettings, ReferenceSettings, PromiseSettings):
    """The options of a release that keeps the topic or meaning of whole documents."""

    reads: ClassVar[Reads] = "reference"
    mechanism: str = option(PROTOTYPE, help="Mechanism.", public=True)
    epsilon: float | None = option(None, help="Nats per unit of distance.", public=True)
    length: int | str = option(DOCUMENT_LENGTH, help="Words per bag.", public=True, parse=parsed_length)
    unknown: UnknownPolicy = option("drop", help="Words that the reference lacks.", public=True)

    @property
    def size(self) -> int | None:
        """N; None for the shortest document's, which is no length here."""
        return size_of(self.length)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class _DrawingSettings(ParameterSettings, VectorSettings):
    """Options of drawing, of either kind of release."""

    mechanism: str | None = option(
        None, help="Mechanism, of those listed below. Default: laplace for words, prototype otherwise.",
        public=True,
    )  # fmt: skip
    epsilon: float | None = option(
        None, help="Privacy parameter per unit of word distance; smaller hides more.", public=True
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ReleaseSettings(StopWordSettings, _DrawingSettings, ReferenceSettings, PromiseSettings):
    """A caller's options of a release; None where nothing is said. `chosen` are the options of the kind that it is."""

    length: int | str | None = option(
        None, help="Words per bag: a number N or, for words, 'shortest'. Default: 400 for words (the first 400 of a "
        "text, shorter ones padded), 40 otherwise (whatever the document's length).",
        public=True, parse=parsed_length,
    )  # fmt: skip
    unknown: UnknownPolicy | None = option(
        None, help="Words outside the vocabulary: unk (default for words), drop (default otherwise) or reject (keep: "
        "experiments only).",
        public=True, noun="policy for unknown words",
    )  # fmt: skip
    experiment: bool = option(
        False, help="Allow weaker runs; every artefact is marked NOT PRIVATE.", public=True
    )
    seed: int | None = option(None, help="Reproducible noise (with --experiment).")
    order: bool = option(
        False, help="Ordered text instead of bags: protected words in place, a weaker promise.", public=True
    )
    keep_between: Between | None = option(
        None, help="Text left UNPROTECTED between ordered words. Default: none.",
        public=True, noun="choice of what to keep between words",
    )  # fmt: skip

    @property
    def field(self) -> str | None:
        """The field that is released itself; None where something is found in texts."""
        return self.preserve.removeprefix(FIELD) if self.preserve.startswith(FIELD) else None

    @property
    def chosen(self) -> WordRelease | DocumentRelease:
        """The options of the kind of release that it is, with that kind's defaults where nothing is said."""
        kind = WordRelease if self.preserve == ReleaseSettings.preserve else DocumentRelease
        said = {each.name: getattr(self, each.name) for each in declared(kind)}
        return kind(**{name: value for name, value in said.items() if value is not None})


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class WorkerSettings(Settings):
    """How many work at once."""

    workers: int | None = option(None, help="Processes. Default: one per CPU.", at_least=1, convenience=True)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MetadataSettings(Settings):
    """Whether a release's folder also says what it is to the tools of those who receive it."""

    metadata: bool = option(
        False,
        help="Also put a dataset card (README.md), croissant.json and datapackage.json into the folder.",
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AboutSettings(MetadataSettings):
    """What only people know of a release, for its pages."""

    purpose: str | None = option(None, help="What the release is for: stands on both pages.")
    recipient: str | None = option(
        None, help="Who gets it, and what they may hold beside it: stands on both pages."
    )
    originals: str | None = option(None, help="Where the originals stay: stands on both pages.")
    review: str | None = option(None, help="When to look again, such as a date: stands on both pages.")
    contact: str | None = option(
        None, help="Whom those who receive it may write to: stands on both pages. Default: nobody named."
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RunSettings(WorkerSettings, MetadataSettings):
    """How a corpus is worked through; none of it changes what is released."""

    format: Format | None = option(
        None,
        help="File format of the bags: jsonl (default), csv, parquet or mtx; Spark: parquet.",
        convenience=True,
    )
    engine: str = option("local", help="Engine: local (processes) or spark.")
    master: str | None = option(None, help="Spark master, such as spark://HOST:7077. Default: this machine.")
    batch_size: int | None = option(
        None,
        help="Documents searched together. Default: what suits the mechanism.",
        at_least=1,
        convenience=True,
    )
    resume: bool = option(False, help="Keep what is finished, so that a rerun resumes.")
    skip_bad: bool = option(False, help="Leave out documents that cannot be read.")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SummarySettings(Settings):
    """The fields that a collection is counted by, and how strongly each author is protected."""

    epsilon: str = option(
        "1", help="Of each author with all documents, replaced by another; half of it where one is left out.",
        public=True,
    )  # fmt: skip
    by: tuple[str, ...] = option(
        (), public=True,
        help="A field with its PUBLIC values: FIELD=V1,V2 or FIELD=@FILE or FIELD=2026-01..2026-12; repeatable.",
    )  # fmt: skip
    share: str = option(
        "themes=0.7,subjects=0.3",
        help="How epsilon is divided among totals, themes and subjects.",
        public=True,
    )
    documents_per_author: int = option(
        1, help="At most so many documents of an author count; fix it before looking.", public=True, at_least=1,
        at_most=1000,
    )  # fmt: skip
    reference: str | None = option(
        None,
        help="Themes of PUBLIC texts: a stored name or a folder. Default: the packaged themes.",
        public=True,
    )
    embeddings: str | None = option(
        None, help="Word vectors that subjects are made of. Default: the reference's, or the packaged GloVe."
    )
    text_field: str = option("text", help="Field that holds the text.")
    leave_out_without_author: bool = option(
        False, help="Leave out documents that do not name one author. Default: they are refused."
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SummaryRunSettings(WorkerSettings, FormSettings):
    """An earlier summary to compare with, and who counts."""

    compare: Path | None = option(
        None, help="Folder of an earlier summary: what is new against it, not against the public texts."
    )
    engine: str = option(RunSettings.engine, help="Engine: local (processes) or spark.")
    master: str | None = option(None, help="Spark master, such as spark://HOST:7077. Default: this machine.")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TargetSettings(Settings):
    """Somebody's mechanism that is audited against its claim, or a case that refuted one."""

    target: str | None = option(
        None, help='Audit this instead: python:MODULE:CALLABLE, "command: ARGUMENTS" (answers JSON lines) or '
        "recorded:FILE.",
    )  # fmt: skip
    claim: Path | None = option(None, help="With --target: what it claims (TOML).")
    draws: int = option(100_000, help="With --target: about how many draws.", at_least=1000)
    replay: Path | None = option(
        None, help="Try a case again that refuted a target: the one it names, or --target."
    )
    junit: Path | None = option(None, help="With --target: the verdict as JUnit XML too.")
    badge: Path | None = option(None, help="With --target: a badge (SVG) of what was tested, too.")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AccuracySettings(Settings):
    """Public numbers, from which it follows how far counts may be off."""

    accuracy: bool = option(False, help="Say how far counts may be off, from numbers alone; no file is read.")
    authors: int | None = option(
        None,
        help="About how many are expected, a public number. Without --accuracy: nothing is read where among "
        "so many nothing could be told apart.",
        at_least=1,
    )
    cells: int | None = option(None, help="With --accuracy: how many counts, empty ones too.", at_least=1)
    wanted: int | None = option(
        None, help="With --accuracy: how far a count may be off; says what epsilon that needs.", at_least=1
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class WatchSettings(Settings):
    """When a file that arrives is complete, and how often to look."""

    settle: float = option(
        2.0, at_least=0, at_most=86_400,
        help="Seconds that a file must not have changed to be complete; 0 where files are renamed into the folder.",
    )  # fmt: skip
    pause: float = option(
        1.0, help="Seconds between two looks.", at_least=0.01, at_most=86_400, convenience=True
    )
    once: bool = option(False, help="End when all that is there was released or refused.")


_FIELD: Final = "Field that holds"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class VerdictSettings(Settings):
    """Limits for a verdict of PASS, on either side of the intervals."""

    adds_at_most: float | None = option(
        None, help="How many more of the authors a release may let be named than its topics do: a share, such as 0.05.",
        at_least=0, at_most=1,
    )  # fmt: skip
    author_at_most: float | None = option(
        None, help="How many of the authors may be named in all: a share.", at_least=0, at_most=1
    )
    topic_at_least: float | None = option(
        None, help="How many of the topics must be named: a share.", at_least=0, at_most=1
    )
    bound_at_most: float | None = option(
        None, help="How many nats may tell any two documents apart.", at_least=0
    )
    tries: int = option(
        1, help="Settings that are tried on these texts, here and before: the level is divided by their number.",
        at_least=1,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class EvaluationSettings(StopWordSettings, ParameterSettings, VectorSettings, ReferenceSettings):
    """The settings that an evaluation tries, and what its adversaries are asked."""

    length: int | str | None = option(
        None, help="Words per bag: a number, or 'shortest' (the paper's way). Default: that of a release, 400 for "
        "words, 40 for document mechanisms.",
        public=True, parse=parsed_length,
    )  # fmt: skip
    unknown: UnknownPolicy = option(
        TextSettings.unknown, public=True, noun="policy for unknown words",
        help="Words outside the vocabulary: unk or drop; reject leaves out the attacked texts that have some; keep "
        "lets them pass, as in the paper.",
    )  # fmt: skip
    mechanisms: tuple[str, ...] = option(
        (), help="Mechanisms, separated by commas, each with a strength of its own if you like: "
        "laplace:21.9,exponential:5.4. Default: laplace, or prototype where a bound is given.",
        public=True, flag="--mechanism", parse=names,
    )  # fmt: skip
    epsilons: tuple[float, ...] = option(
        (), help="Epsilons, separated by commas; 'none' is always run.",
        public=True, flag="--epsilon", parse=numbers,
    )  # fmt: skip
    bounds: tuple[float, ...] = option(
        (), help="Nats between any two documents, separated by commas: for document mechanisms.",
        public=True, flag="--bound", parse=numbers,
    )  # fmt: skip
    preserve: Literal["topic", "meaning"] = option(
        "topic", help="What a document mechanism keeps: topic or meaning.", public=True, noun="thing to keep"
    )
    document_unknown: Literal["drop", "unk"] = option(
        "drop", help="With document mechanisms: words that the reference lacks. drop or unk, as in a release.",
        public=True, noun="policy for words that a reference lacks",
    )  # fmt: skip
    preset: Preset | None = option(
        None, help="quick: few adversaries, once; thorough: every one, ten times. What else is given counts.",
        public=True,
    )  # fmt: skip
    repeats: int | None = option(
        None, help="Runs with other noise. Default: 1, or what the preset says.", public=True, at_least=1
    )
    adversaries: tuple[str, ...] = option(
        (), help="Adversaries, separated by commas, or all: sr-nearest, koppel, delta, svm, likelihood, boosting, "
        "linear, fasttext (each also as adaptive-NAME), informed, originals, linkage, retrieval; python:MODULE:CLASS "
        "for one of your own. Default: all, or what the preset says.",
        public=True, parse=names,
    )  # fmt: skip
    tasks: tuple[Task, ...] = option(
        (), help="What to name: author, topic, sensitive. Default: what the texts are labelled with.",
        public=True, parse=names,
    )  # fmt: skip
    sensitive: str | None = option(
        None, help=f"{_FIELD} what an adversary is to infer, such as gender or age group.", public=True
    )
    id_field: str = option(InputSettings.id_field, help=f"{_FIELD} an id; numbered without.", public=True)
    text_field: str = option(InputSettings.text_field, help=f"{_FIELD} the text.", public=True)
    author_field: str | None = option(
        None, help=f"{_FIELD} the author. Default: author, if there is one.", public=True
    )
    topic_field: str | None = option(
        None, help=f"{_FIELD} the topic. Default: topic, if there is one.", public=True
    )
    training: Training = option(
        "same", help="Words adversaries learn from: 'same' as released, or 'all' of the known texts.", public=True
    )  # fmt: skip
    parts: int | None = option(
        None, help="Attack every row whose author has another one, in so many parts; adversaries learn from the other "
        "parts. Default: every second row is attacked.",
        public=True, at_least=2, at_most=100,
    )  # fmt: skip
    snippet: str | None = option(
        None, help="Id of a text of which the report may show the first words.", public=True
    )
    adversary: str | None = option(
        None, help="A language model of your own as one more adversary: llm:URL#MODEL, such as "
        "llm:http://127.0.0.1:11434/v1#llama3.2. Off by default.",
        public=True,
    )  # fmt: skip
    i_own_these_texts: bool = option(
        False, help="Show the language model the known texts as they are. Default: only what was protected.",
        public=True,
    )  # fmt: skip
    context: int = option(8192, help="Tokens that the language model takes.", public=True, at_least=512)
    remote_ok: bool = option(False, help="The language model may be on another machine.")
    timeout: float = option(300.0, help="Seconds that the language model has for an answer.", above=0)

    @property
    def size(self) -> int | None:
        """N of word mechanisms, or None for the shortest document's."""
        return size_of(TextSettings.length if self.length is None else self.length)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CalibrationSettings(EvaluationSettings):
    """The aims of an evaluation, and how its epsilon is searched."""

    mechanisms: tuple[str, ...] = option(
        (), flag="--mechanism", parse=names, help="Mechanisms to search, separated by commas. Default: laplace, "
        "exponential and tight; with --reference those on whole documents, too.",
    )  # fmt: skip
    bounds: tuple[float, ...] = option(
        (3.0, 5.0, 7.0), flag="--bound", parse=numbers, public=True,
        help="With --reference: nats between any two documents to try, separated by commas.",
    )  # fmt: skip
    author_at_most: float = option(help="Ceiling for the strongest adversary: a share of authors.")
    topic_at_least: float = option(help="Floor for topic accuracy: a share of texts.")
    length: str | None = option(
        None, help="Words per bag: numbers separated by commas, or 'shortest'. Default: 'shortest' for words, 40 for "
        "document mechanisms.",
    )  # fmt: skip
    repeats: int | None = option(
        None, help="Runs with other noise at each epsilon. Default: 5, or what the preset says.", at_least=1
    )
    cautious: bool = option(False, help="Let the limits of the intervals make candidates, not the means.")
    start: float = option(1.0, help="Epsilon to begin the search at.")
    precision: float = option(1.2, help="Factor to which epsilon is found.")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ExperimenterSettings(WorkerSettings):
    """How an evaluation is worked through."""

    topics: Path | None = option(None, help="Public rows with text and topic that teach topics.")
    seed: int | None = option(None, help="Seed of the noise. Default: drawn and kept.", at_least=0)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DistanceSettings(StopWordSettings, VectorSettings):
    """How two documents are compared."""

    length: int | str = option(
        "all", help="Words that count: a number N (short texts padded), 'shortest' or 'all'.",
        parse=partial(parsed_length, words=(SHORTEST, "all")),
    )  # fmt: skip
    unknown: UnknownPolicy = option(
        TextSettings.unknown, help="Words outside the vocabulary: unk, drop or reject; keep is drop here, for what an "
        "experiment kept has no vector and so no distance.",
        noun="policy for unknown words",
    )  # fmt: skip

    @property
    def policy(self) -> SafePolicy:
        """The policy for unknown words where distances are measured."""
        return "drop" if self.unknown == "keep" else self.unknown

    @property
    def size(self) -> int | None:
        """N, or None where all words count, or as many as the shorter document has."""
        length = parsed_length(self.length, (SHORTEST, "all"))
        return length if isinstance(length, int) else None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PublicTextSettings(StopWordSettings):
    """How public text is read that vectors are learned from."""

    tokenizer: str = option("glove", help="glove, word2vec, or icu for scripts without spaces.")
    text_field: str = option(InputSettings.text_field, help="Field that holds the text.")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CountedWordSettings(Settings):
    """Which words of the texts that are learned from become public."""

    author_field: str | None = option(
        None, help="Field that says who wrote a text: words are counted by authors. Without it they are counted by "
        "texts, and a word that one person wrote in several can become public."
    )  # fmt: skip
    authors_at_least: int = option(
        AUTHORS_AT_LEAST,
        help="A word becomes public only where so many authors use it (texts, without --author-field).",
        at_least=1,
    )
    leave_out: str = option(
        "none", help="Rare words to leave out: none, names (names and what general text does not know), all, or words "
        "separated by commas."
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PublicWordSettings(CountedWordSettings):
    """Which words, and whether sentences, of the texts that a reference is learned from become public."""

    quotable: bool = option(
        False,
        help="Whole sentences of these texts may be quoted: those of public words alone become public, too.",
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class WritingSettings(Settings):
    """Who writes text of a release, and from what."""

    writer: str = option(
        help="exemplar, ngram (the words in a likely order; ngram:2 for runs of two), characters (the character "
        "4-grams inside the words; characters:3 for others), "
        "llm:URL#MODEL (a language model of yours) or python:MODULE:CLASS.",
        public=True,
    )
    reference: str | None = option(
        None, help="The release's public reference: a stored name or a folder. Default: found by its name.",
        public=True,
    )  # fmt: skip
    public: str | None = option(
        None, help="PUBLIC texts that an exemplar is quoted from and an n-gram model learns from. Default: the "
        "sentences that the reference lets be quoted, and the Federalist papers (extra demo).",
    )  # fmt: skip
    text_field: str = option(InputSettings.text_field, help="Field of --public that holds the text.")
    style: str = option(
        "a short plain passage of prose", help="With llm: what kind of text. Public: it is sent.", public=True
    )
    language: str = option(
        "en", help="With llm: the language asked for and checked, as an ISO 639 code.", public=True
    )
    words: int = option(
        120, help="With llm: words asked for; up to three times as many are taken.", public=True, at_least=10,
        at_most=2_000,
    )  # fmt: skip
    remote_ok: bool = option(False, help="With llm: send to an address that is not this machine.")
    timeout: float = option(
        120.0, help="With llm: seconds for one answer.", above=0, at_most=86_400, convenience=True
    )
    attempts: int = option(
        4, help="With llm: how often a question is asked before the run stops.", at_least=1, convenience=True
    )
    at_once: int = option(
        2, help="With llm: questions at the same time.", at_least=1, at_most=64, convenience=True
    )
    unconfined: bool = option(
        False,
        help="With python: run the class even where the system cannot hold it to the release and public things.",
    )
    keep_requests: bool = option(False, help="With llm: keep what was sent, in OUTPUT.requests.jsonl.")
    experiment: bool = option(
        False,
        help="Write from a release that is NOT PRIVATE; every line and the summary say so.",
        public=True,
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ReadersSettings(Settings):
    """The needs of the readers of a first release."""

    summary: bool = option(
        False, help="What the collection says, its authors protected: see publius summarize. --author-field is then "
        "the column of authors in the file, and --epsilon that of each author.",
    )  # fmt: skip
    rows: bool = option(False, help="A row for each document; taken where --preserve or a bound is stated.")
    by: tuple[str, ...] = option(
        (), help="With --summary: a field with its PUBLIC values, as of publius summarize; repeatable."
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class StartSettings(AboutSettings):
    """The answers of ``publius start``, under the names that ``publius.toml`` has for them."""

    public: str | None = option(
        None,
        help="Public or older texts of the kind, with topics and authors; samples: those that are packaged.",
    )
    preserve: Preserve | None = option(
        None, help="What to keep: topic, meaning or words.", noun="thing to keep"
    )
    bound: float | None = option(
        None, help="With topic or meaning: nats between any two documents. Proposed: 7.", above=0
    )
    epsilon: float | None = option(
        None, help="With words: privacy parameter per unit of word distance. Proposed: 5.", above=0
    )
    length: int | None = option(
        None, help="With words: words of each bag. Proposed from the lengths of the public texts.",
        at_least=1, at_most=LONGEST,
    )  # fmt: skip
    reference: str | None = option(
        None,
        help="With topic or meaning: a stored reference. Default: learned from half of the public texts.",
    )
    authors_at_least: int | None = option(
        None, help=f"A word of the public texts becomes public only where so many of their authors use it. Default: "
        f"{AUTHORS_AT_LEAST}.",
        at_least=1,
    )  # fmt: skip
    leave_out: str | None = option(
        None, help="Rare words that do not become public: names (names and what general text does not know; the "
        "default), all, none, or words separated by commas."
    )  # fmt: skip
    author_at_most: float | None = option(
        None, help="The share of authors that may be named in all. Default: 0.05 beyond what the topic alone tells.",
        at_least=0, at_most=1,
    )  # fmt: skip
    find: bool = option(False, help="Find the weakest protection that passes, among a few that are tried.")
    text_field: str | None = option(None, help="Column of texts. Default: found by its name, or asked for.")
    author_field: str | None = option(
        None,
        help="Column of authors, in the file and in the public texts. Default: author or writer, or asked for.",
    )
    public_author_field: str | None = option(
        None, help="Column of authors in the public texts, where it has another name there."
    )
    topic_field: str | None = option(
        None, help="Column of topics, in the public texts and, where it is there, in the file. Default: found by its "
        "name."
    )  # fmt: skip
    public_topic_field: str | None = option(
        None, help="Column of topics in the public texts, where it has another name there."
    )
    documents_per_author: int | None = option(
        None, help="The most documents of one author, fixed before looking; with more nothing is released. Default: 1 "
        "is stated, and not checked.",
        at_least=1,
    )  # fmt: skip
    keep: tuple[str, ...] = option((), help="Public field to keep, such as year; repeatable.")
    delimiter: str | None = option(
        None,
        help="What separates the columns of the file: one character, or tab. Default: told by its header.",
    )
    encoding: str | None = option(
        None, help="Encoding of the file, such as iso-8859-1. Default: UTF-8, or asked for."
    )
    quotes: Quotes | None = option(
        None, help="What quotation marks in the table do: enclose fields, or they are letters. Default: as its header "
        "has them, or asked for.", noun="use of quotation marks",
    )  # fmt: skip
    subfolders: bool = option(False, help="Also read the folders below a folder.")
    follow_links: bool = option(False, help="Follow symbolic links in a folder, also to files outside of it.")
    reading_seconds: float | None = option(
        None, help="Processor seconds that 16 MiB of a Word, Excel, PDF, HTML, mail or Parquet file may take; 3.5.",
        above=0, at_most=86_400,
    )  # fmt: skip
    accept_loss: bool = option(
        False, help="Release even where more than 5 % of the documents cannot be read."
    )
    allow_padding: bool = option(
        False, help="With words: release even where more than 30 % of the words are padding."
    )
    publish_ids: bool = option(False, help="Release your own ids. Default: the documents are numbered.")
    without_evidence: bool = option(
        False,
        help="Go on where there is no evidence: no text says who wrote it, or words are kept and nothing was shown.",
    )

    @property
    def learns_topics(self) -> bool:
        """Whether the public texts have to teach topics."""
        return self.preserve == "topic" and self.reference is None
