"""Public texts with their authors, split into what an attacker knows and what is attacked."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from publius.documents.corpus import open_corpus
from publius.documents.sources import Source
from publius.errors import DataError, UsageError, how_many
from publius.evaluation.attackers import Task
from publius.settings import People, Reading
from publius.text.normal_form import author_key

ROLES: Final = ("known", "unknown", "topic")


@dataclass(frozen=True, slots=True)
class Text:
    """A public text; ``fold`` is the part in which it is attacked, None where roles are given or it is known only."""

    row: int
    text: str = field(repr=False)
    author: str | None = None
    topic: str | None = None
    role: str = "unknown"
    fold: int | None = None

    def label(self, task: Task) -> str:
        """What is to be named."""
        return getattr(self, task) or ""


@dataclass(frozen=True)
class Dataset:
    """The texts of an evaluation: a fold's attackers know those of the other folds; ``teaching`` are further ones for topics.

    ``said`` is how they were split, in words without names; ``sha256`` of their files.
    """

    known: tuple[Text, ...]
    attacked: tuple[Text, ...]
    teaching: tuple[Text, ...] = ()
    said: str = ""
    sha256: tuple[str, ...] = ()

    @property
    def authors(self) -> list[str]:
        """Of the attacked texts."""
        return [text.label("author") for text in self.attacked]

    @property
    def topics(self) -> list[str] | None:
        """Of the attacked texts; None where some has none, or all have the same."""
        found = [text.topic for text in self.attacked]
        return None if None in found or len(set(found)) < 2 else [each or "" for each in found]

    @property
    def folds(self) -> tuple[int | None, ...]:
        """The parts that are attacked one after the other; one that is None where the texts are in none."""
        return tuple(dict.fromkeys(text.fold for text in self.attacked))


@dataclass(frozen=True, kw_only=True)
class Public:
    """The public texts of an evaluation, how they are read and split, and the command that is printed."""

    source: Any
    reading: Reading = Reading()
    people: People = People()
    topic_field: str | None = None
    role_field: str | None = None
    folds: int = 5
    command: str = ""

    def read(self) -> tuple[list[Text], tuple[str, ...]]:
        """The rows as `Text`, without those that have no word, and the digests of their files.

        Without a name the columns author, topic and role count where there are such.
        """
        source = Source(self.source)  # standard input is read once
        asked = (self.people.author_field, "author"), (self.topic_field, "topic"), (self.role_field, "role")
        columns = open_corpus(source, self.reading).columns
        author, topic, role = (name or (usual if usual in columns else None) for name, usual in asked)
        corpus = open_corpus(
            source, self.reading, author_field=author, no_author=self.people.no_author,
            fields=[name for name in (topic, role) if name is not None],
        )  # fmt: skip
        texts = []
        for document in corpus:
            if not document.text.strip():
                continue
            about, kind = (_value(document.fields.get(name or "")) for name in (topic, role))
            if kind is not None and kind not in ROLES:
                raise DataError(
                    f"Row {document.row + 1} has another role than {', '.join(ROLES)} in the column {role!r}."
                )
            texts.append(Text(document.row, document.text, author_key(document.author), about, kind or "unknown"))
        if not any(text.role == "known" for text in texts):
            texts = [replace(text, role="unknown") for text in texts]
        return texts, tuple(corpus.digests())

    def dataset(self) -> Dataset:
        """Known and attacked texts."""
        if self.folds < 2:
            raise UsageError(f"--folds is a number from 2, not {self.folds}.")
        return split(*self.read(), self.folds)


def _value(value: object) -> str | None:
    return None if value is None else str(value).strip() or None


def split(texts: Sequence[Text], sha256: tuple[str, ...] = (), folds: int = Public.folds) -> Dataset:
    """Known and attacked texts: by their roles, or every text of an author with another one, in ``folds`` parts.

    An attacked text that stands there before is left out: its copy would be known to the attacker of the other, and nobody
    is named by a letter that many send.
    """
    kept, before = [], set[bytes]()
    for text in texts:
        digest = hashlib.sha256(" ".join(text.text.split()).casefold().encode()).digest()
        if text.role != "unknown" or digest not in before:
            kept.append(text)
        before.add(digest)
    left = len(texts) - len(kept)
    said = f"; {how_many(left, 'text')} equal to an earlier one left out" if left else ""
    known = [text for text in kept if text.role == "known" and text.author]
    if known:
        attacked = [text for text in kept if text.role == "unknown" and text.author]
        if len({text.author for text in attacked}) < 2:
            raise DataError("Fewer than two authors have a text with the role unknown. Give texts of more authors.")
        return Dataset(
            tuple(known), tuple(attacked), tuple(text for text in kept if text.role == "topic"),
            f"known and attacked by the column of roles{said}", sha256,
        )  # fmt: skip
    return _crossed(kept, said, sha256, folds)


def _crossed(texts: Sequence[Text], said: str, sha256: tuple[str, ...], folds: int) -> Dataset:
    """The texts of an author, one topic after the other, go to the folds in turn: each has as many of each as can be."""
    several = Counter(text.author for text in texts if text.author and text.role == "unknown")
    chosen = [text for text in texts if several[text.author or ""] > 1]
    if len({text.author for text in chosen}) < 2:
        raise DataError(
            "No two authors have two texts each, so nobody can be identified by another text. Use --author-field, or "
            "give more texts."
        )
    chosen.sort(key=lambda text: (str(text.author), text.topic or ""))
    attacked = [replace(text, fold=turn % folds) for turn, text in enumerate(chosen)]
    others = [text for text in texts if several[text.author or ""] <= 1]
    lone = f"; {how_many(len(others), 'text')} of authors with one text not attacked" if others else ""
    return Dataset(
        tuple(attacked), tuple(attacked), tuple(text for text in others if text.topic is not None),
        f"each text of authors with several is attacked, in {folds} folds{lone}{said}", sha256,
    )  # fmt: skip


def everybody(texts: Sequence[Text], sha256: tuple[str, ...] = ()) -> Dataset:
    """Every text attacked, none known: what is told of labels is closed form. A text without an author is its own."""
    attacked = tuple(replace(text, author=text.author or f"text {text.row}") for text in texts if text.role != "topic")
    if len({text.author for text in attacked}) < 2:
        raise DataError("An evaluation needs texts of two authors at least.")
    return Dataset((), attacked, (), "every text", sha256)
