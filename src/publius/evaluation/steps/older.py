"""The public or older texts of a first release: found, checked, and cut in a half to learn from and one to attack."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, final

import regex

from publius.errors import DataError, PolicyError, UsageError, how_many
from publius.evaluation.steps.answers import Choices
from publius.releases.lengths import count_words
from publius.settings import PublicWordSettings
from publius.text.author_names import Spellings, counted_name, without_invisible
from publius.text.normal_form import normal_form
from publius.vectors.learning.public_words import check_topics

if TYPE_CHECKING:
    from publius.documents.inspection import Inspection

AUTHORS: Final = ("author", "writer")
MAYBE_AUTHORS: Final = ("user", "speaker", "customer", "name", "username", "from")
"""Often columns of somebody or something else: proposed to whoever is asked, and taken unasked by nobody."""

TOPICS: Final = ("topic", "label", "category", "product", "class", "theme", "department")
FEWEST: Final = 20
"""Public texts below which nothing can be learned or judged."""

SAMPLES: Final = "samples"
"""What stands for the packaged texts in place of a path."""

PUBLIC: Final = "public"
LEARNED: Final = "learned.jsonl"
"""Of the public texts, those that are learned from."""
"""The folder that holds the public or older texts: its owner's only."""

_TELLING: Final = 8  # words from which on no two people write the same text by chance
_SHORT: Final = 3  # words from which on most of somebody's texts are not those of others by chance
_COPIED: Final = 0.2
_LOOKED_AT: Final = 2**16
"""Short texts that differ and are compared, at most."""
OF_THEM: Final = (
    "what is learned from those is public and tells of them, so name texts that are not to be released. Nothing was "
    "released"
)
_MARK: Final = regex.compile(r"[\p{M}\p{Cn}]")
_PIECE: Final = 2**16
_NO_BLANKS: Final = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_ANY_WORD: Final = regex.compile(
    rf"(?P<letters>(?:{_NO_BLANKS}\p{{M}}*+)++)"
    rf"|(?:(?!{_NO_BLANKS})[\p{{L}}\p{{N}}][\p{{M}}\p{{Cf}}'\u2019]*+)++"
)
_NO_LETTER: Final = regex.compile(r"[^\p{L}\p{N}]")

Row = dict[str, str]


@final
@dataclass(frozen=True, slots=True)
class Written:
    """Texts as they are compared however they are written (`plain_letters`).

    Attributes:
        long: those that no two people write by chance, of `_TELLING` words.
        short: those of `_SHORT` words at least, as often as different people wrote them.
    """

    long: frozenset[str] = field(repr=False)
    short: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Those of ``texts``."""
        long, short = set[str](), list[str]()
        for text in texts:
            words = _words_up_to(text, _TELLING)
            if words >= _TELLING:
                long.add(plain_letters(text))
            elif words >= _SHORT:
                short.append(plain_letters(text))
        return cls(frozenset(long), tuple(short))

    def by_chance(self, rows: int) -> float:
        """The share of so many short texts, each counted once, that stand among others of the same kind.

        It is that of some of these among the rest, where nothing was copied.
        """
        some = self.short[:: max(2, len(self.short) // rows)] if rows else ()
        taken, all_of_them = Counter(some), Counter(self.short)
        again = sum(all_of_them[each] > count for each, count in taken.items())
        return again / len(taken) if taken else 0.0


@final
@dataclass(frozen=True, slots=True)
class PublicCorpus:
    """The public or older texts: rows in two halves, one to learn from and one to attack.

    A row has id and text, and author and topic where there is a column of them. ``packaged`` says that they are the
    samples that come with the package: to try, and of another kind than anybody's texts. ``sha256`` is that of the
    files, which says whether a stored reference was learned from them. ``written`` are all texts, each once for each of
    its authors: one that stands twice in a file was not written twice. Where nobody knows the authors each row counts,
    but for a file that stands several times in itself.
    """

    learned: tuple[Row, ...] = field(repr=False)
    attacked: tuple[Row, ...] = field(repr=False)
    authors: str | None
    topics: str | None
    packaged: bool = False
    sha256: str | None = None
    written: Written = field(default=Written(frozenset()), repr=False)

    @classmethod
    def read(cls, choices: Choices, own: Sequence[str] = ()) -> PublicCorpus:
        """The rows of the public file; `DataError` where there are too few, `UsageError` for a column not there.

        ``own`` are the columns of the file to be released: a field that is named may be one of these alone.
        """
        if choices.public == SAMPLES:
            from publius.documents.samples import labelled_passages

            all_rows = list(labelled_passages())
            authors: str | None = "author"
            topics: str | None = "topic"
            sha256 = None
        else:
            path, found = Path(choices.public or ""), _found(choices)
            authors = _column(found, *_named(choices, "author_field", found, own), AUTHORS)
            topics = _column(found, *_named(choices, "topic_field", found, own), TOPICS)
            all_rows = list(_rows(path, found, authors, topics))
            sha256 = _sha256(path, found)
        rows = _different(all_rows)
        if len(rows) < FEWEST:
            raise DataError(
                f"{len(rows)} public texts that differ can be used, too few to learn from: at least {FEWEST} are "
                "needed, or --public samples to try with the packaged ones"
            )
        at_least = choices.authors_at_least or PublicWordSettings.authors_at_least
        check_topics(((row.get("topic"), row.get("author")) for row in rows), at_least)
        written = Written.of(_once_for_each_author(all_rows))
        older = cls(*_halves(rows), authors, topics, choices.public == SAMPLES, sha256, written)
        older.check_topics(choices)
        return older

    def check_topics(self, choices: Choices) -> None:
        """`UsageError` where topics are to be learned and the texts have none."""
        if choices.learns_topics and self.topics is None:
            raise UsageError(
                "the public texts have no column of topics: name it with --topic-field, or keep the meaning "
                "(--preserve meaning)"
            )

    @property
    def count(self) -> int:
        """How many texts there are in both halves."""
        return len(self.learned) + len(self.attacked)

    @property
    def silent(self) -> str | None:
        """Why nobody can say who wrote a text, so that a curator has to agree to that; None where it is known."""
        if self.authors is None:
            return "the public texts have no column of authors"
        if len({row["author"] for row in (*self.learned, *self.attacked)}) < 2:
            return f"all the public texts have one author in the column {self.authors!r}"
        return None

    @property
    def unnamed(self) -> str | None:
        """Why no attack can name an author; None where one can. Topics can be attacked all the same."""
        if self.silent is None and len(self.judged) < 2:
            return "no two authors of the public texts have two of them, so none can be told by another one"
        return self.silent

    @property
    def judged(self) -> tuple[int, ...]:
        """How many texts of each author will be attacked: those of the second half whose author has another one."""
        counts = Counter(row.get("author", "") for row in (*self.learned, *self.attacked))
        asked = Counter(row.get("author", "") for row in self.attacked)
        return tuple(count for author, count in asked.items() if counts[author] > 1)

    @property
    def topic_names(self) -> tuple[str, ...]:
        """The topics, sorted; none without a column of them."""
        return tuple(sorted({row["topic"] for row in self.learned if "topic" in row}))

    @property
    def topics_attacked(self) -> tuple[str, ...]:
        """The topic of each text that is attacked; none without a column of them."""
        return tuple(row["topic"] for row in self.attacked if "topic" in row)

    @property
    def floor(self) -> float:
        """The share of authors that is named by always naming the most frequent author of the topic."""
        groups: dict[str, Counter[str]] = {}
        for row in self.attacked:
            groups.setdefault(row.get("topic", ""), Counter())[row.get("author", "")] += 1
        named = sum(max(counts.values()) for counts in groups.values())
        return named / len(self.attacked) if self.attacked else 1.0

    def write(self, folder: Path) -> None:
        """What is learned from, and what is attacked beside what is known then, as JSON lines for this user alone."""
        from publius.files import os_errors, write_file

        with os_errors("make the folder", folder):
            folder.mkdir(0o700)
        known = [{**row, "role": "known"} for row in self.learned]
        asked = [{**row, "role": "unknown"} for row in self.attacked]
        if self.unnamed is not None:  # each text stands for its own; the others can teach topics
            known = [_without_author(row, "topic") for row in self.learned if "topic" in row]
            asked = [_without_author(row, "unknown") for row in self.attacked]
        for name, rows in (("learned", self.learned), ("attacked", (*known, *asked))):
            with write_file(folder / f"{name}.jsonl", 0o600) as stream:
                for row in rows:
                    stream.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def check_apart(self, texts: Iterable[str]) -> None:
        """`PolicyError` where one of the ``texts`` to be released is among these, however it is written (R29).

        Whole texts are compared: that two of them quote a third is usual where people answer each other.
        """
        check_not_among(texts, self.written, "the public or older ones")

    def check_unseen(self, learned_from: Written) -> None:
        """`UsageError` where a chosen reference ``learned_from`` texts that are to be attacked."""
        if shared := sum(plain_letters(row["text"]) in learned_from.long for row in self.attacked):
            raise UsageError(
                f"the reference was learned from {shared:,} of the {len(self.attacked):,} public texts that are to be "
                "attacked, which would flatter it: leave out --reference, and one half teaches and the other is "
                "attacked, or name other public texts"
            )


def texts_at(path: Path, text_field: str) -> Iterator[str]:
    """The public texts that something was learned from; `PubliusError` where they are no more where they were."""
    from publius.documents.corpus import Document, open_public_corpus

    corpus = open_public_corpus(path, text_field=text_field, number=True)
    return (item.text for item in corpus if isinstance(item, Document))


def check_not_among(texts: Iterable[str], public: Written, which: str) -> None:
    """`PolicyError` where one of the ``texts`` to be released is among ``public`` ones.

    Or where more short ones are than chance would make, by a fifth of all texts.
    """
    known = frozenset(public.short)
    shared = long = rows = 0
    copied, others = set[str](), set[str]()
    for text in texts:
        letters, words = plain_letters(text), _words_up_to(text, _TELLING)
        if letters in public.long:
            shared += 1
        elif words >= _TELLING:
            long += 1
        elif words >= _SHORT and len(copied) + len(others) < _LOOKED_AT:
            rows += 1
            (copied if letters in known else others).add(letters)
    looked_at = len(copied) + len(others) + long
    if shared:
        raise PolicyError(
            f"{shared + len(copied):,} of the texts to be released are among {which}. Take them out of "
            f"those, if they are other people's (a form that many sent, say): {OF_THEM}"
        )
    if len(copied) > (_COPIED + public.by_chance(rows)) * max(FEWEST, looked_at):
        raise PolicyError(
            f"{len(copied):,} of the texts to be released are among {which}, more than by chance. Take them out of "
            f"those, if they are other people's: {OF_THEM}"
        )


def public_columns(
    choices: Choices,
) -> tuple[tuple[str, ...], dict[str, str | None], dict[str, str | None]]:
    """The columns of the public file but for that of texts; by question those found by their names, and proposed."""
    found = _found(choices)
    names = tuple(name for name in found.columns if name != found.text_field)
    usual = {"author_field": _column(found, None, AUTHORS), "topic_field": _column(found, None, TOPICS)}
    return names, usual, {"author_field": maybe_author(found), "topic_field": None}


def _found(choices: Choices) -> Inspection:
    """What stands in the public file; the column of texts is that of the other file where it has one of the name."""
    from publius.documents.inspection import inspect

    path = Path(choices.public or "")
    found = inspect(path)
    if choices.text_field in found.columns and choices.text_field != found.text_field:
        found = inspect(path, text_field=choices.text_field)
    if found.text_field is None:
        raise DataError(
            f"the public texts have no column of texts among {how_many(len(found.columns), 'column')} (publius inspect "
            "shows them): call it as in the file to be released"
        ).among(found.columns)
    return found


def _sha256(path: Path, found: Inspection) -> str:
    """As a reference that was learned from the same files keeps it."""
    from publius.documents.corpus import open_corpus

    return open_corpus(path, number=True, **found.form).sha256()


def _named(choices: Choices, field: str, found: Inspection, own: Sequence[str]) -> tuple[str | None]:
    """How the public texts call a field: as was said of them, or as in the file to be released."""
    of_public: str | None = getattr(choices, f"public_{field}")
    of_both: str | None = getattr(choices, field)
    if of_public is not None or of_both in found.columns or of_both not in own:
        return (of_public or of_both,)
    return (None,)


def own_topics(found: Inspection, named: str | None) -> str | None:
    """The column of topics in the file to be released: as it was named, or by its name; None where there is none."""
    return named if named in found.columns else found.told_by_name(TOPICS)


def own_authors(found: Inspection, named: str | None) -> str | None:
    """The column of authors in the file to be released: as it was named, or by its name; None where there is none.

    Nobody knows it where the rows name their fields and several are called as those of authors are.
    """
    if named in found.columns:
        return named
    return None if _called_as_authors(found) else found.told_by_name(AUTHORS)


def maybe_author(found: Inspection) -> str | None:
    """The column that may say who wrote the texts, by its name, where none surely does."""
    return None if found.by_name(AUTHORS) else next(iter(found.by_name(MAYBE_AUTHORS)), None)


def check_author_column(found: Inspection, named: str | None) -> None:
    """`UsageError` where several fields of the rows are called as authors are, and nobody has said which it is.

    One row may bring such a field: without authors nothing would be checked that is promised of them.
    """
    if named not in found.columns and (usual := _called_as_authors(found)):
        raise UsageError(
            f"several fields are called as those of authors are ({', '.join(map(repr, usual))}), and one row must not "
            "decide which it is, so name it with --author-field. Nothing was released"
        )


def _called_as_authors(found: Inspection) -> list[str]:
    """The fields, where there are several and any row may have brought one."""
    usual = found.by_name((*AUTHORS, *MAYBE_AUTHORS))
    return usual if found.keyed and len(usual) > 1 else []


def _column(found: Inspection, named: str | None, usual: tuple[str, ...]) -> str | None:
    if named is not None:
        if named not in found.columns:
            raise UsageError(
                f"the public texts have no column {named!r} among {how_many(len(found.columns), 'column')}: publius "
                "inspect shows them"
            ).among(found.columns)
        return named
    return next(iter(found.by_name(usual)), None)


def _rows(path: Path, found: Inspection, authors: str | None, topics: str | None) -> Iterator[Row]:
    """Rows with a text and its labels; others are left out."""
    from publius.documents.corpus import Document, open_corpus

    labels = {"author": authors, "topic": topics}
    keep = [name for name in labels.values() if name is not None]
    corpus = open_corpus(
        path, number=True, text_field=found.text_field or "text", keep=keep, **found.form,
    )  # fmt: skip
    spellings = Spellings()
    for item in corpus:
        if isinstance(item, Document) and item.text.strip() and all(item.labels.get(name) for name in keep):
            named = {kind: item.labels[name] for kind, name in labels.items() if name is not None}
            if "author" in named:
                author = spellings.label(named["author"])
                if author is None:
                    continue
                named["author"] = author
            yield {"id": item.id, "text": item.text, **named}


def _different(rows: Iterable[Row]) -> list[Row]:
    """Each text that has a word which counts, once: one that is learned from is not to be attacked, too."""
    from publius.vectors.embeddings import Embeddings

    vectors = Embeddings.load()
    found: dict[str, Row] = {}
    for row in rows:
        if count_words(row["text"], vectors):
            found.setdefault(plain_letters(row["text"]), row)
    return list(found.values())


def _once_for_each_author(rows: Sequence[Row]) -> Iterator[str]:
    """The texts as often as different people wrote them, as far as that is known: see `PublicCorpus`."""
    known = any("author" in row for row in rows)
    counted: Counter[tuple[str, str]] = Counter()
    texts: dict[tuple[str, str], str] = {}
    for row in rows:
        key = (plain_letters(row["text"]), counted_name(row.get("author")))
        counted[key] += 1
        texts.setdefault(key, row["text"])
    whole = min(counted.values(), default=1)
    for key, text in texts.items():
        yield from itertools.repeat(text, 1 if known else counted[key] // whole)


def _words_up_to(text: str, most: int) -> int:
    """How many words ``text`` has, ``most`` at most: whatever stands between them, and where nothing does.

    In scripts that put no blanks between words two letters count as one.
    """
    found = 0
    for each in _ANY_WORD.finditer(text):
        found += -(-len(each[0]) // 2) if each.lastgroup else 1
        if found >= most:
            return most
    return found


def plain_letters(text: str) -> str:
    """A digest of the letters and digits alone: without case, accents, punctuation, space and what cannot be seen.

    They are told character by character, each once, in pieces, and not kept: one of U+FDFA becomes fifteen letters.
    """
    digest = hashlib.blake2b(digest_size=16)
    for start in range(0, len(text), _PIECE):
        digest.update(text[start : start + _PIECE].translate(_LETTERS).encode())
    return digest.hexdigest()


@final
class _Letters(dict[int, str | None]):
    """The plain letters of each character that was seen, by its number."""

    def __missing__(self, number: int) -> str | None:
        seen = _MARK.sub("", without_invisible(chr(number)))
        plain = normal_form("NFKD", normal_form("NFKD", seen).casefold())
        self[number] = found = str(_NO_LETTER.sub("", plain)) or None
        return found


_LETTERS: Final = _Letters()


def _without_author(row: Row, role: str) -> Row:
    return {**{name: value for name, value in row.items() if name != "author"}, "role": role}


def _halves(rows: list[Row]) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """Every second text of each author and topic; of each topic where hardly anybody has a second text."""
    counts = Counter(row.get("author", "") for row in rows)
    several = sum(count > 1 for count in counts.values()) > 1
    halves: tuple[list[Row], list[Row]] = ([], [])
    seen: Counter[tuple[str, str]] = Counter()
    for row in rows:
        group = (row.get("author", "") if several else "", row.get("topic", ""))
        halves[seen[group] % 2].append(row)
        seen[group] += 1
    return tuple(halves[0]), tuple(halves[1])
