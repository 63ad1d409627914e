"""The labelled texts of an evaluation: who wrote what, on which topic, and in which role."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, final, get_args

from publius.errors import DocumentError, UsageError
from publius.settings import Task as Task

Role = Literal["known", "unknown", "topic"]
ROLES = get_args(Role)

TASKS: tuple[Task, ...] = get_args(Task)


@final
@dataclass(frozen=True, slots=True)
class LabeledText:
    """A text with its labels.

    Attributes:
        id: unique among the texts of an evaluation.
        text: never shown in a repr or an error.
        author: None for a text that only teaches topics.
        topic: None where the corpus has no topics.
        role: "known" texts are what an adversary has of an author, "unknown" ones are protected and attacked, and
            "topic" ones teach topic classifiers.
        sensitive: the value of a field that an adversary is to infer; None where there is none.
        part: where every text is attacked by those who learned without it, the part that it is in; None otherwise,
            and for a text that all may learn from.
        whole: the text that it was cut from; empty where it is one itself.
        place: file and row, for errors, which must not say the id; empty where it has none.

    """

    id: str
    text: str = field(repr=False)
    author: str | None
    topic: str | None
    role: Role
    sensitive: str | None = field(default=None, repr=False)
    part: int | None = None
    whole: str = field(default="", repr=False, compare=False)
    place: str = field(default="", repr=False, compare=False)

    @property
    def named(self) -> str:
        """The text in an error: by its place, where it has one."""
        return self.place or "a text"


@final
@dataclass(frozen=True, slots=True)
class Dataset:
    """Texts by role, checked by `make_dataset`.

    ``split`` says how they came to their roles; ``alone`` that no author is known and every unknown text stands for
    one of its own; ``unlooked`` why nobody knows whether what protects the unknown texts has learned from them;
    ``learned_authors`` from how many of the attacked authors it has, as far as is known, learned other texts.
    """

    known: tuple[LabeledText, ...]
    unknown: tuple[LabeledText, ...]
    topics: tuple[LabeledText, ...]
    split: str = "the roles that were given"
    alone: bool = False
    unlooked: str | None = None
    learned_authors: int = 0

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Tasks of the adversaries: "author" always, "topic" and "sensitive" where every unknown text has one."""
        found: tuple[Task, ...] = ("author",)
        if all(text.topic is not None for text in self.unknown):
            found = (*found, "topic")
        return (*found, "sensitive") if self.known and _all_sensitive(self) else found

    @property
    def crossed(self) -> bool:
        """Whether the unknown texts are known too, and attacked part by part by those who learned without the part."""
        return any(text.part is not None for text in self.unknown)

    @property
    def topic_training(self) -> tuple[LabeledText, ...]:
        """The texts that teach topics: those of that role, or the known ones where there are none; both if crossed."""
        return (*self.known, *self.topics) if self.crossed else self.topics or self.known

    @property
    def authors(self) -> tuple[str, ...]:
        """The candidates, sorted."""
        return tuple(sorted({_label(text.author) for text in self.known or self.unknown}))

    def chance(self, task: Task) -> float:
        """The accuracy of blind guessing: of whoever always names the label that most of the attacked texts have.

        Who learns from other texts may take another label for the commonest, and is right less often.
        """
        asked = Counter(labels_of(text, task) for text in self.unknown)
        return max(asked.values()) / len(self.unknown)

    def topic_only_floor(self) -> float | None:
        """The accuracy in naming authors of an adversary who knows each unknown text's topic and nothing else.

        The mean of `anyway`. None without topics.
        """
        if "topic" not in self.tasks:
            return None
        return sum(self.anyway()) / len(self.unknown)

    def anyway(self) -> list[float]:
        """For each unknown text the chance with which its topic alone names its author.

        Who knows the topic, and the texts that an adversary learns from, names the author who writes on it most often
        there; of several that are equally frequent each as often, and of all where none does. He must not count the
        attacked texts themselves: of many topics with few texts the most frequent author is known only to who has the
        answers, and against him no adversary would add anything. Without topics all texts are of one; where nothing is
        known of any author, each text stands for its own, one of those on its topic.
        """
        if not self.known:
            alike = Counter(text.topic for text in self.unknown)
            return [1 / alike[text.topic] for text in self.unknown]
        counted: dict[tuple[str | None, int | None], Counter[str]] = defaultdict(Counter)
        for text in self.known:
            counted[text.topic, text.part].update([_label(text.author)])
        named = {
            (topic, part): _most_frequent(counted, topic, part)
            for topic, part in dict.fromkeys((text.topic, text.part) for text in self.unknown)
        }
        return [
            1 / len(most)
            if _label(text.author) in (most := named[text.topic, text.part] or self.authors)
            else 0.0
            for text in self.unknown
        ]

    def author_numbers(self) -> list[int]:
        """For each unknown text which author wrote it, as a number."""
        numbers = {
            author: number for number, author in enumerate(dict.fromkeys(t.author for t in self.unknown))
        }
        return [numbers[text.author] for text in self.unknown]

    def topic_numbers(self) -> list[int]:
        """For each unknown text which topic it has, as a number; one for those without."""
        numbers = {topic: number for number, topic in enumerate(dict.fromkeys(t.topic for t in self.unknown))}
        return [numbers[text.topic] for text in self.unknown]


def _most_frequent(
    counted: dict[tuple[str | None, int | None], Counter[str]], topic: str | None, without: int | None
) -> set[str]:
    """The authors with most known texts of a topic, but for those of a part that is left out; none if none has any."""
    found: Counter[str] = Counter()
    for (about, part), authors in counted.items():
        if about == topic and (part is None or part != without):
            found.update(authors)
    most = max(found.values(), default=0)
    return {author for author, count in found.items() if count == most}


def labels_of(text: LabeledText, task: Task) -> str:
    """The label of ``text`` that ``task`` asks for; `DocumentError` when it has none."""
    label = {"author": text.author, "topic": text.topic, "sensitive": text.sensitive}[task]
    if label is None:
        raise DocumentError(f"{text.named} has no {task}: label it or leave it out").of(text.id)
    return label


def _all_sensitive(dataset: Dataset) -> bool:
    return all(text.sensitive is not None for text in (*dataset.known, *dataset.unknown))


def _label(author: str | None) -> str:
    return author or ""


def make_dataset(
    texts: Iterable[LabeledText],
    topics: Iterable[LabeledText] = (),
    *,
    split: str = "the roles that were given",
    alone: bool = False,
) -> Dataset:
    """A dataset of ``texts`` in their roles, and of ``topics``, all of which teach topics; see `Dataset`.

    `DocumentError` for what no figure could be trusted on: a missing label, an id used twice, no unknown text, a
    single author, an author of an unknown text without known ones, topics for some texts only, a single topic.
    """
    everything = [*texts, *(replace(text, role="topic") for text in topics)]
    _check_ids(everything)
    known, unknown, taught = (tuple(text for text in everything if text.role == role) for role in ROLES)
    dataset = Dataset(known, unknown, taught, split, alone)
    _check_authors(dataset)
    _check_topics(dataset)
    return dataset


def check_tasks(dataset: Dataset, tasks: Sequence[str]) -> tuple[Task, ...]:
    """``tasks`` in their order, if the corpus can answer them; `UsageError` or `DocumentError` otherwise.

    None named: all that the corpus can answer.
    """
    if not tasks:
        several = len(_topics(dataset.unknown)) > 1
        return tuple(task for task in dataset.tasks if task != "topic" or several)
    if "sensitive" in tasks and "sensitive" not in dataset.tasks:
        raise DocumentError(
            "the task sensitive needs --sensitive FIELD, with a value for every known and unknown text"
        )
    unknown = [task for task in tasks if task not in TASKS]
    if unknown or not tasks:
        raise UsageError(f"a task is {' or '.join(TASKS)}, not {', '.join(map(repr, unknown)) or 'nothing'}")
    if "topic" in tasks and "topic" not in dataset.tasks:
        raise DocumentError(
            "the unknown texts have no topic: label them, or ask for authors only (--tasks author)"
        )
    if "topic" in tasks and len(topics := _topics(dataset.unknown)) < 2:
        raise DocumentError(
            f"every unknown text has the same topic ({', '.join(map(repr, topics))}), so topic accuracy means nothing: "
            "add texts on another topic, or ask for authors only (--tasks author)"
        )
    return tuple(task for task in TASKS if task in tasks)


def _topics(texts: Iterable[LabeledText]) -> set[str]:
    return {text.topic for text in texts if text.topic is not None}


def _check_ids(texts: Sequence[LabeledText]) -> None:
    first: dict[str, LabeledText] = {}
    for text in texts:
        if text.id in first:
            raise DocumentError(f"{text.named} has the id of {first[text.id].named}: make ids differ").of(
                text.id
            )
        first[text.id] = text


def _check_authors(dataset: Dataset) -> None:
    if not dataset.unknown:
        raise DocumentError("no text has the role 'unknown', so there is nothing to protect and attack")
    for text in (*dataset.known, *dataset.unknown):
        labels_of(text, "author")
    if len(dataset.authors) < 2:
        raise DocumentError(
            f"{'there is one text' if dataset.alone else f'known texts are by {len(dataset.authors)} author(s)'}: "
            "naming an author needs at least two candidates"
        )
    known = set(dataset.authors)
    strangers = {text.author: text for text in dataset.unknown if _label(text.author) not in known}
    if strangers:
        text = next(iter(strangers.values()))
        raise DocumentError(
            f"{text.named} is unknown, and its author wrote no known one"
            f"{f' (and {len(strangers) - 1} more authors)' if len(strangers) > 1 else ''}: add a known text, or leave "
            "the author out"
        ).of(text.id)


def _check_topics(dataset: Dataset) -> None:
    labeled = [text for text in dataset.unknown if text.topic is not None]
    if not labeled:
        return
    taught = dataset.topic_training
    if not taught:
        raise DocumentError(
            "no text teaches topics: give some (--topics), or ask for authors only (--tasks author)"
        )
    missing = [text for text in (*dataset.unknown, *taught) if text.topic is None]
    if missing:
        raise DocumentError(
            f"some texts have a topic and {len(missing)} have none, the first of them {missing[0].named}: label all "
            "or none"
        ).of(missing[0].id)
    untaught = sorted(_topics(dataset.unknown) - _topics(dataset.topic_training))
    if untaught:
        raise DocumentError(
            f"no text teaches the topic {untaught[0]!r}: add some, or leave its unknown texts out"
        )
