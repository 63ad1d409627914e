"""Rows of one's own as they are: which columns hold what, and who is known and who is attacked where nothing says it.

Of equal texts that are to be attacked the first one counts. Where there is a role for each text, it decides. Otherwise,
in this order:

- no author: every text is its own candidate, and all that can be asked is which text a release is of, and its topic;
  where some have one, the texts that have none are left out of what is known and attacked, and counted. Every second
  text of a topic teaches it; a text that is alone on its topic is left out and counted;
- texts of 3,000 words or more, all of them: the paper's way, the first 2,000 words known, the last 1,000 attacked;
- authors with several texts (on one topic, where there are topics): every second text of theirs is attacked, the
  others are known. Texts of other authors teach topics where they teach all of them, and are left out otherwise;
- otherwise each text of at least 80 words is cut into a known first half and an attacked second half.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, cast, final

from publius.documents.corpus import BadDocument, Document, open_corpus
from publius.errors import DocumentError, UsageError
from publius.evaluation.data import ROLES, LabeledText, Role
from publius.evaluation.steps.older import plain_letters
from publius.evaluation.stories import KNOWN_WORDS, UNKNOWN_WORDS, split_story
from publius.files import shown
from publius.text.author_names import Spellings
from publius.text.tokenizer import tokenize

FEWEST_WORDS_TO_HALVE: Final = 80


@final
@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the fields; None for author or topic is the usual name, if there is such a field.

    ``sensitive`` is a field whose value an adversary is to infer.
    """

    id: str = "id"
    text: str = "text"
    author: str | None = None
    topic: str | None = None
    sensitive: str | None = None


@final
@dataclass(frozen=True, slots=True)
class OwnRows:
    """Texts in their roles, how they came to them in words, and whether every text is its own candidate."""

    texts: tuple[LabeledText, ...]
    split: str
    alone: bool = False


def read_rows(
    path: Path, columns: Columns = Columns(), *, taught: bool = False, parts: int | None = None
) -> OwnRows:
    """The rows of a file in their roles; ``taught`` says that other texts teach topics. Raises `DocumentError`.

    With ``parts`` every text is attacked that can be, see `_crossed`.
    """
    texts, roles, merged = _labeled(path, columns)
    present = _present(path, texts, columns) | ({"role"} if roles else set())
    complete, said = _complete(texts, present)
    different, sent = once(complete, signed="author" in present)
    if parts is None or "author" not in present:
        own = _in_roles(path, different, present, taught=taught)
    else:
        own = _crossed(different, parts)
    return replace(own, split=own.split + said + sent + merged)


def _in_roles(path: Path, texts: list[LabeledText], present: frozenset[str], *, taught: bool) -> OwnRows:
    if "role" in present:
        if "author" not in present and any(text.role == "known" for text in texts):
            raise DocumentError(
                f"no text in {shown(path)} has an author (field 'author'), and known texts are of use only if it is "
                "known who wrote them: name the field with --author-field, or leave the known texts out"
            )
        if "author" not in present:
            return OwnRows(
                tuple(_own_candidates(texts)), f"the roles that the data give; {_ALONE}", alone=True
            )
        return OwnRows(tuple(texts), "the roles that the data give")
    if "author" not in present:
        return _alone(texts, taught=taught)
    return _by_author(texts)


def topic_rows(path: Path, columns: Columns = Columns()) -> Iterator[LabeledText]:
    """Texts that teach topics; `DocumentError` for one without a topic."""
    topic = columns.topic or "topic"
    number = _unnumbered(path, columns)
    for document in _documents(path, columns, (topic,), number=number):
        label = document.labels.get(topic)
        if not label:
            raise DocumentError(f"{_at(path, document)}: its topic is empty: label it").of(document.id)
        id = f"topic-{document.id}" if number else document.id
        yield LabeledText(id, document.text, None, label, "topic", place=_at(path, document))


# Reading --------------------------------------------------------------------------------------------------


def _present(path: Path, texts: Sequence[LabeledText], columns: Columns) -> frozenset[str]:
    """The kinds of labels that a text has; `DocumentError` for a field that was named and is empty everywhere."""
    named = {"author": columns.author, "topic": columns.topic, "sensitive": columns.sensitive}
    values = {kind: [getattr(text, kind) for text in texts] for kind in named}
    found = {kind for kind, labels in values.items() if any(labels)}
    for kind, name in named.items():
        if name is not None and kind not in found:
            raise DocumentError(
                f"{shown(path)}: the field {name!r} is not there, or empty everywhere: name the field that holds the "
                f"{kind if kind != 'sensitive' else 'value to infer'}"
            )
    return frozenset(found)


def _complete(texts: Sequence[LabeledText], present: frozenset[str]) -> tuple[list[LabeledText], str]:
    """The texts that have every label they need where others have one, and how many have not, in words."""
    kept: list[LabeledText] = []
    lacking: Counter[str] = Counter()
    for text in texts:
        what = _lacks(text, present)
        if what is None:
            kept.append(text)
        else:
            lacking[what] += 1
    return kept, "".join(_left_out(count, f"without {what}") for what, count in lacking.items())


def once(texts: Iterable[LabeledText], *, signed: bool = True) -> tuple[list[LabeledText], str]:
    """The same without attacked texts that stand there before, under whatever name, and how many, in words.

    Nobody is named by a letter that many send: their texts would say of all others that few are named. The copies of
    one author would be known beside the one that is attacked. Where others are ``signed``, a text that is not teaches.
    """
    kept: list[LabeledText] = []
    before: set[str] = set()
    copies = 0
    for text in texts:
        if text.role == "unknown" and (text.author is not None or not signed):
            letters = plain_letters(text.text)
            if letters in before:
                copies += 1
                continue
            before.add(letters)
        kept.append(text)
    return kept, _left_out(copies, "equal to an earlier one")


def _lacks(text: LabeledText, present: frozenset[str]) -> str | None:
    if text.role == "topic":
        return None
    if "role" in present and "author" in present and text.author is None:
        return "an author"
    return "a value to infer" if "sensitive" in present and text.sensitive is None else None


def _has(path: Path, columns: Columns, name: str) -> bool:
    """Whether a file may have the field: a header says so, and where there is none each row speaks for itself."""
    if name in (columns.text, columns.id):
        return False
    number = _unnumbered(path, columns)
    try:
        next(iter(_documents(path, columns, (name,), number=number)))
    except DocumentError as error:
        if f"{name!r}" in str(error):
            return False
        raise
    return True


def _unnumbered(path: Path, columns: Columns) -> bool:
    """Whether the rows have no ids, so that they are to be numbered; only an id of the usual name may be absent."""
    if columns.id != "id":
        return False
    try:
        next(iter(_documents(path, columns, (), number=False)))
    except (DocumentError, UsageError) as error:
        return "'id'" in str(error)
    return False


def _documents(path: Path, columns: Columns, keep: tuple[str, ...], *, number: bool) -> Iterator[Document]:
    corpus = open_corpus(path, id_field=columns.id, text_field=columns.text, keep=keep, number=number)
    for found in replace(corpus, gaps=True):
        if isinstance(found, BadDocument):
            raise DocumentError(f"{_at(path, found)}: {found.reason}").of(found.id)
        if not found.text.strip():
            raise DocumentError(f"{_at(path, found)}: the text is empty: leave it out").of(found.id)
        yield found


def _at(path: Path, document: Document | BadDocument) -> str:
    """File and row: an evaluation may have several files, and an id may be a person's name."""
    return f"{shown(path)}, document {document.position}"


def _labeled(path: Path, columns: Columns) -> tuple[list[LabeledText], bool, str]:
    """Every text with the labels it has, whether roles are given (else each is "unknown"), what was said of names."""
    names = (columns.author or "author", columns.topic or "topic", "role", columns.sensitive or "")
    asked = [columns.author, columns.topic, columns.sensitive]
    keep = tuple(
        name for name in dict.fromkeys(names) if name and (name in asked or _has(path, columns, name))
    )
    found = list(_documents(path, columns, keep, number=_unnumbered(path, columns)))
    given = any(document.labels.get("role") for document in found)
    texts = []
    spellings = Spellings()
    for document in found:
        author, topic, role, sensitive = (document.labels.get(name) or None for name in names)
        part: Role = _role(path, document, role) if given else "unknown"
        author = author and spellings.label(author)
        texts.append(
            LabeledText(document.id, document.text, author, topic, part, sensitive, place=_at(path, document))
        )
    return texts, given, _merged(spellings.merged)


def _merged(count: int) -> str:
    if count == 1:
        return "; 1 other spelling of an author's name counts as that author"
    return f"; {count:,} other spellings of authors' names count as these authors" if count else ""


def _role(path: Path, document: Document, role: str | None) -> Role:
    if role not in ROLES:
        raise DocumentError(
            f"{_at(path, document)} has a role that there is not: give {', '.join(ROLES)}"
        ).of(document.id)
    return cast("Role", role)


# Splitting ------------------------------------------------------------------------------------------------

_ALONE: Final = (
    "no author is given, so every text is its own candidate: the holder of the originals and linkage say how well a "
    "release hides which text it is of"
)


def _own_candidates(texts: Iterable[LabeledText]) -> list[LabeledText]:
    return [text if text.role == "topic" else replace(text, author=f"the text {text.id}") for text in texts]


def _alone(texts: Sequence[LabeledText], *, taught: bool) -> OwnRows:
    labeled = all(text.topic is not None for text in texts)
    if not labeled or taught:
        return OwnRows(tuple(_own_candidates(texts)), _ALONE, alone=True)
    topics = _groups(texts, lambda text: (text.topic,))
    several = [group for group in topics.values() if len(group) > 1]
    single = len(topics) - len(several)
    if single and len(several) < 2:
        raise DocumentError(
            f"{single:,} of {len(topics):,} topics have one text only, and of each topic one text must teach it and "
            "another be attacked: give more texts, texts that teach topics (--topics), or rows without a topic"
        )
    halves = [
        replace(text, role="topic" if place % 2 else "unknown")
        for group in several
        for place, text in enumerate(group)
    ]
    left = _left_out(single, f"with no other on the same topic ({single:,} of {len(topics):,} topics)")
    said = f"every second text of a topic teaches topics, the others are attacked{left}; {_ALONE}"
    return OwnRows(tuple(_own_candidates(halves)), said, alone=True)


def _groups(texts: Iterable[LabeledText], key: object) -> dict[tuple[str | None, ...], list[LabeledText]]:
    found: dict[tuple[str | None, ...], list[LabeledText]] = defaultdict(list)
    for text in texts:
        found[key(text)].append(text)  # type: ignore[operator]
    return found


def _by_author(texts: Sequence[LabeledText]) -> OwnRows:
    written = [text for text in texts if text.author is not None]
    lengths = [sum(1 for _ in tokenize(text.text, "word2vec")) for text in written]
    if written and min(lengths) >= KNOWN_WORDS + UNKNOWN_WORDS:
        parts = [part for text in written for part in split_story(text)]
        said = "the first 2,000 words of each text are known, its last 1,000 are attacked"
        return OwnRows(tuple(parts), said + _unsigned(texts))
    pairs = {key: group for key, group in _groups(written, _pair).items() if len(group) > 1}
    if len({author for author, _ in pairs}) > 1:
        return _alternate(texts, pairs)
    long = [text for text, length in zip(written, lengths, strict=True) if length >= FEWEST_WORDS_TO_HALVE]
    if len({text.author for text in long}) < 2:
        raise DocumentError(
            f"no two authors have two texts, or one of at least {FEWEST_WORDS_TO_HALVE} words to be cut in two: give "
            "more texts, or rows with a field 'role' that says known or unknown"
        )
    halves = [half for text in long for half in _halves(text)]
    short = _left_out(len(written) - len(long), f"shorter than {FEWEST_WORDS_TO_HALVE} words")
    return OwnRows(
        tuple(halves), f"the first half of each text is known, the second attacked{short}{_unsigned(texts)}"
    )


def _pair(text: LabeledText) -> tuple[str | None, str | None]:
    return text.author, text.topic


def _alternate(
    texts: Sequence[LabeledText], pairs: Mapping[tuple[str | None, ...], Sequence[LabeledText]]
) -> OwnRows:
    chosen = [
        replace(text, role="unknown" if place % 2 else "known")
        for group in pairs.values()
        for place, text in enumerate(group)
    ]
    used = {text.id for text in chosen}
    others = [replace(text, role="topic") for text in texts if text.id not in used]
    teaches = {text.topic for text in others} >= {text.topic for text in chosen} - {None}
    where = " on one topic" if any(text.topic is not None for text in chosen) else ""
    said = f"of authors with several texts{where} every second text is attacked and the others are known"
    if teaches and others and all(text.topic is not None for text in others):
        unsigned = sum(text.author is None for text in others)
        among = f", {unsigned:,} of them without an author," if unsigned else ""
        return OwnRows((*chosen, *others), f"{said}; the {len(others):,} texts of others{among} teach topics")
    single = sum(text.author is not None for text in others)
    left = _left_out(single, "of authors without a second one") + _unsigned(texts)
    return OwnRows(tuple(chosen), said + left)


def _crossed(texts: Sequence[LabeledText], parts: int) -> OwnRows:
    """Every text whose author has another one is attacked once, by those who learn from all but its part.

    Where roles are given the unknown texts are attacked, and known ones are known to all. The texts of an author, on
    one topic after the other, go to the parts in turn, so that each part has as many of each as can be.
    """
    topical = [text for text in texts if text.role == "topic" or text.author is None]
    known = [text for text in texts if text.role == "known" and text.author is not None]
    asked = [text for text in texts if text.role == "unknown" and text.author is not None]
    everything = Counter(text.author for text in (*known, *asked))
    suitable = [text for text in asked if everything[text.author] > 1]
    if len({text.author for text in suitable}) < 2:
        raise DocumentError(
            "no two authors have two texts, so none can be attacked by somebody who knows another one: give more texts"
        )
    ordered = sorted(suitable, key=lambda text: (text.author or "", text.topic or ""))
    placed = {text.id: place % parts for place, text in enumerate(ordered)}
    attacked = [replace(text, part=placed[text.id]) for text in suitable]
    copies = [replace(text, id=f"{text.id}-known", role="known") for text in attacked]
    used = {text.author for text in attacked}
    others = [text for text in (*known, *asked) if everything[text.author] == 1 or text.author not in used]
    teaching = [replace(text, role="topic", author=None) for text in (*topical, *others)]
    labelled = any(text.topic is not None for text in attacked)
    kept = [text for text in known if text.author in used]
    said = (
        f"every text of an author with another one is attacked, in {parts} parts, and each adversary learns from "
        f"{'the known texts and ' if kept else ''}those of the other parts"
    )
    left = "" if labelled else _left_out(len(others), "of authors without a second one")
    return OwnRows((*kept, *copies, *attacked, *(teaching if labelled else ())), said + left)


def _unsigned(texts: Iterable[LabeledText]) -> str:
    return _left_out(sum(text.author is None for text in texts), "without an author")


def _left_out(count: int, why: str) -> str:
    if count == 1:
        return f"; 1 text {why} is left out"
    return f"; {count:,} texts {why} are left out" if count else ""


def _halves(text: LabeledText) -> tuple[LabeledText, LabeledText]:
    words = list(tokenize(text.text, "word2vec"))
    half = len(words) // 2
    text = replace(text, whole=text.text)
    return (
        replace(text, id=f"{text.id}-known", text=" ".join(words[:half]), role="known"),
        replace(text, id=f"{text.id}-unknown", text=" ".join(words[half:]), role="unknown"),
    )
