"""Text becomes words, in one place: Unicode, case, punctuation, clitics, stop words.

The words follow the paper (Fernandes, Dras and McIver 2019, section 6): lower case, punctuation and stop words dropped.
Text is taken to NFC first; a word is a run of letters, marks and digits in any script, joined inside by an apostrophe
or a hyphen. Of scripts without spaces a run is one word, unless the profile has it cut by a dictionary.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Final, Literal, Protocol, final

import regex

from publius.errors import DataError, UsageError, extra
from publius.files.reading import listed
from publius.settings import ENGLISH, STOP_WORD_LANGUAGES, Between, TextSettings
from publius.text.normal_form import composed, cut

Splitter = Callable[[str], list[str]]

# Written text has several characters for one apostrophe and one hyphen, and hyphens that only show where a
# line may break.
_SPELLINGS = (("\u2019", "'"), ("\u02bc", "'"), ("\u2010", "-"), ("\u2011", "-"), ("\u00ad", ""))

# A letter or digit and what follows it; an apostrophe, a hyphen or a zero-width joiner only between two of
# these, a point or a comma only between digits. Possessive, so that time is linear in the length of any text.
# So many parts at once: what is remembered of each would fill the memory; `word_spans` joins longer words again.
_MOST_PARTS = 2**16
_JOINT = regex.compile(r"(?:['\-\u200c\u200d]|(?<=\p{Nd})[.,](?=\p{Nd}))(?=[\p{L}\p{N}])")
_WORD = regex.compile(
    r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*+"
    rf"(?:{_JOINT.pattern}[\p{{L}}\p{{N}}][\p{{L}}\p{{N}}\p{{M}}]*+){{0,{_MOST_PARTS}}}+"
)
# Marks of sentences and phrases, in their plain form; any other character between words is never kept.
_MARKS = {**{mark: mark for mark in ".,;:!?()-\"'"}, "\u2026": "...", "\u2013": "-", "\u2014": "-", "\u201c": '"',
          "\u201d": '"', "\u2018": "'"}  # fmt: skip
_WORD_OR_MARK = regex.compile(f"{_WORD.pattern}|[{regex.escape(''.join(_MARKS))}]")
_CLITIC = regex.compile(r"(?<=.)(?:n't|'s|'ll|'re|'ve|'d|'m)\Z", regex.DOTALL)
_NOT_IN_WORD = regex.compile(r"[\s\p{Cc}]")
_SPACE = regex.compile(r"\s")
_PIECE = regex.compile(r"\s+|\S+")
_APOSTROPHES = str.maketrans("\u2019\u02bc\u2010\u2011", "''--")  # what `normalize` writes in one way
_DIGIT = regex.compile(r"\p{Nd}")
_CHUNK = 8192  # characters prepared at once: the first N words of a long text cost no more than they must

_LONGEST_SPLIT = 128  # a word of more characters is not looked up in pieces: hostile ones would cost much

# Runs of scripts that are written without spaces are cut into words by ICU, of the extra ``segmentation``: its
# dictionaries are in itself, so its version says how a text was cut; the time it takes is linear in the length of a run.
_SCRIPTS: Final = ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar")
_UNSPACED: Final = regex.compile("[" + "".join(rf"\p{{Script_Extensions={each}}}" for each in _SCRIPTS) + "]++")
_END: Final = "\n"  # stands in no run, and no word reaches beyond it
_SEGMENTED_AT_ONCE = 256  # words: a call of ICU costs as much as some ten of its words


class Vocabulary(Protocol):
    """Anything that says whether it holds a word: a set, a dictionary, `Embeddings`."""

    def __contains__(self, word: object, /) -> bool: ...


@final
@dataclass(frozen=True, slots=True)
class Profile:
    """How an embedding's training text was cut into words; ``version`` changes when any text gives other words."""

    name: str
    version: int
    clitics: Literal["split", "whole"]  # whether ``don't`` is ``do n't`` (Penn Treebank, GloVe) or one word (word2vec)
    digits: Literal["kept", "masked"]  # masked where numbers were trained with each digit as ``#`` (Google News)
    segmented: bool = False  # whether what is written without spaces is cut by a dictionary

    @property
    def label(self) -> str:
        """Name and version, and the dictionary's, as a manifest states them."""
        if not self.segmented:
            return f"{self.name}-{self.version}"
        try:
            from icu4py import icu_version
        except ImportError:
            icu_version = "none"
        return f"{self.name}-{self.version}-{icu_version}"


PROFILES = {
    "glove": Profile("glove", 1, "split", "kept"), "word2vec": Profile("word2vec", 1, "whole", "masked"),
    "icu": Profile("icu", 1, "whole", "kept", segmented=True),
}  # fmt: skip


def profile_named(name: str) -> Profile:
    """The profile called ``name``; `UsageError` when there is none, `MissingExtraError` when it needs an extra."""
    if name not in PROFILES:
        raise UsageError(f"no tokenizer is called {name!r}: choose one of {', '.join(sorted(PROFILES))}")
    if PROFILES[name].segmented:
        _breaker()
    return PROFILES[name]


def tokenize(text: str, profile: str = "glove") -> Iterator[str]:
    """The words of ``text`` in order, lazily, as the embeddings of ``profile`` write them.

    >>> list(tokenize("Don't drop well-known words!", "glove"))
    ['do', "n't", 'drop', 'well-known', 'words']
    >>> list(tokenize("Don't drop well-known words!", "word2vec"))
    ["don't", 'drop', 'well-known', 'words']
    """
    chosen = profile_named(profile)
    tokens = _tokens(text, chosen, _WORD)
    if chosen.clitics == "whole":
        return tokens
    return (part for token in tokens for part in (split_clitics(token) if "'" in token else (token,)))


def _segmented(tokens: Iterable[str]) -> Iterator[str]:
    """Each word, or those that a dictionary finds in it; what is not of a script without spaces stays as it is."""
    tokens = iter(tokens)
    while some := list(islice(tokens, _SEGMENTED_AT_ONCE)):
        runs = [[run.span() for run in _UNSPACED.finditer(token)] for token in some]
        pairs = zip(some, runs, strict=True)
        found = iter(_segments([token[start:end] for token, places in pairs for start, end in places]))
        for token, places in zip(some, runs, strict=True):
            last = 0
            for start, end in places:
                yield from _WORD.findall(token, last, start)
                yield from next(found)
                last = end
            yield from _WORD.findall(token, last) if last else (token,)


@cache
def _breaker() -> Any:
    with extra("segmentation", "icu4py"):
        from icu4py.breakers import WordBreaker
    return WordBreaker


def _segments(runs: Sequence[str]) -> list[list[str]]:
    if not runs:
        return []
    text = _END.join(runs)
    places = _breaker()(text, "en").segments()  # the dictionaries are the same whatever language is named
    if max(text) <= "\uffff":
        words = (text[start:end] for start, end in places)
    else:  # ICU counts in these
        units = text.encode("utf-16-le", "surrogatepass")
        words = (units[2 * start : 2 * end].decode("utf-16-le", "surrogatepass") for start, end in places)
    return [[*some] for ends, some in groupby(words, _END.__eq__) if not ends]


def word_spans(text: str, pattern: regex.Pattern[str] = _WORD) -> Iterator[tuple[int, int]]:
    """Where the words stand in a normalized text, one of more parts than ``pattern`` takes at once in one piece."""
    start = end = 0
    for found in pattern.finditer(text):
        if end - start > _MOST_PARTS and _JOINT.match(text, end):
            end = max(end, found.end()) if found.start() > end else end  # a joint may be found as a mark
            continue
        if end:
            yield start, end
        start, end = found.span()
    if end:
        yield start, end


def _tokens(text: str, profile: Profile, pattern: regex.Pattern[str]) -> Iterator[str]:
    """Words as they stand, clitics and hyphens uncut, or those that a dictionary finds in what has no spaces."""
    return _segmented(_surface(text, pattern)) if profile.segmented else _surface(text, pattern)


def _surface(text: str, pattern: regex.Pattern[str]) -> Iterator[str]:
    for chunk in chunks_of(text):
        text = normalize(chunk)
        if len(text) <= _MOST_PARTS:
            yield from pattern.findall(text)
        else:
            yield from (text[start:end] for start, end in word_spans(text, pattern))


def chunks_of(text: str, size: int = _CHUNK) -> Iterator[str]:
    """``text`` cut at white space, in parts of ``size`` characters and what is left of a word."""
    # White space is in no word, takes no accent and ends every rule of case: a cut there changes nothing.
    return cut(text, size, _SPACE)


def normalize(text: str) -> str:
    """``text`` in NFC and lower case, with one apostrophe and hyphen, without soft hyphens; what is in this form stays."""
    if text.isascii():
        return text.lower()
    text = joined = composed(text)
    for written, meant in _SPELLINGS:
        text = text.replace(written, meant)
    text = text.lower()
    # Lower-casing and dropping can leave letters and accents that have a joined form.
    return text if text == joined else composed(text)


def stretches(text: str) -> Iterator[tuple[str, bool]]:
    """The stretches of ``text`` with a word in them, and those between; a piece that normalizing changes is one."""
    gap = ""
    for piece in (found.group() for found in _PIECE.finditer(text)):
        normal, last = normalize(piece), 0
        spans = list(word_spans(normal))
        plain = piece.lower().translate(_APOSTROPHES)
        if spans and (normal != plain or len(plain) != len(piece)):
            spans = [(0, len(piece))]
        for start, end in spans:
            if gap := gap + piece[last:start]:
                yield gap, False
            yield piece[start:end], True
            gap, last = "", end
        gap += piece[last:]
    if gap:
        yield gap, False


def split_clitics(token: str) -> list[str]:
    """A word, and the clitics at its end."""
    clitics: list[str] = []
    while len(token) <= _LONGEST_SPLIT and (found := _CLITIC.search(token)):
        clitics.append(found.group())
        token = token[: found.start()]
    return [token, *reversed(clitics)]


def _fallbacks(profile: Profile) -> tuple[Splitter, ...]:
    """What to try, in this order, for a word that the vocabulary lacks."""
    clitics = (split_clitics,) if profile.clitics == "split" else ()
    masks = (lambda token: [_DIGIT.sub("#", token)],) if profile.digits == "masked" else ()
    apostrophes, hyphens = (lambda token: [*filter(None, token.split("'"))]), (lambda token: token.split("-"))
    return (*clitics, apostrophes, hyphens, *masks)


@final
class UnprotectedToken(str):
    """A stop word or a mark of punctuation, for the order-keeping text that keeps it unprotected."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Kept()"


@final
class Unknown(str):
    """A word outside the vocabulary, as it stands in the text: never for output."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Unknown()"


def lookup(
    text: str, vocabulary: Vocabulary, *, profile: str, stop_words: StopWords, keep: Between = "none"
) -> Iterator[str]:
    """The words of ``text`` as a mechanism needs them, in order and lazily: of ``vocabulary``, or `Unknown`.

    A word is taken whole when the vocabulary has it, else in the pieces that it has; one of which no piece is known is
    unknown once. Stop words leave before that, and so do pieces that are. What ``keep`` names comes too, in its place.
    """
    chosen = profile_named(profile)
    tokens = _tokens(text, chosen, _WORD_OR_MARK if keep in ("punctuation", "all") else _WORD)
    return _lookup(tokens, vocabulary, stop_words.words, _fallbacks(chosen), kept=keep in ("stop-words", "all"))


def _lookup(
    tokens: Iterable[str], vocabulary: Container[str], stops: frozenset[str], splits: tuple[Splitter, ...], kept: bool
) -> Iterator[str]:
    """Words of the vocabulary, `Unknown` ones, marks, which are tokens where they are kept, and stop words if ``kept``."""
    for token in tokens:
        if token in _MARKS:  # first: a vocabulary may have marks too
            yield UnprotectedToken(_MARKS[token])
        elif token in stops:
            if kept:
                yield UnprotectedToken(token)
        elif token in vocabulary:
            yield token
        else:
            yield from _lookup_pieces(token, vocabulary, stops, splits, kept)


def _lookup_pieces(
    token: str, vocabulary: Container[str], stops: frozenset[str], splits: tuple[Splitter, ...], kept: bool
) -> list[str]:
    """A word that the vocabulary lacks: its pieces by the first fallback that finds any of them there."""
    for depth, split in enumerate(splits if len(token) <= _LONGEST_SPLIT else (), start=1):
        parts = split(token)
        if parts != [token]:
            found = list(_lookup(parts, vocabulary, stops, splits[depth:], kept))
            words = [word for word in found if type(word) is not UnprotectedToken] if kept else found
            if not words or any(type(word) is not Unknown for word in words):
                return found
    return [Unknown(token)]


_OURS: Final = "english-1"
_FILE: Final = "file:"
_LONGEST_WORD: Final = 64


@final
@dataclass(frozen=True, slots=True)
class StopWords:
    """A public, versioned set of words that are left out of every bag; its name, which manifests state, is no path."""

    name: str
    words: frozenset[str] = field(repr=False)

    @classmethod
    def load(cls, name: str | StopWords = TextSettings.stop_words) -> StopWords:
        """The list english (ours), of another language (stopwordsiso, extra ``languages``), none or "file:PATH"."""
        if isinstance(name, StopWords):
            return name
        if name == "none":
            return cls("none", frozenset())
        if name.startswith(_FILE):
            return cls("file", words_in_file(name.removeprefix(_FILE), "the stop word file"))
        if name not in (ENGLISH, _OURS, *STOP_WORD_LANGUAGES):
            known = ", ".join((ENGLISH, *STOP_WORD_LANGUAGES))
            raise UsageError(f"no stop word list is called {name!r}: choose one of {known}, none or file:PATH")
        return _listed(name)

    @property
    def sha256(self) -> str:
        """Digest of the words, in hexadecimal."""
        return hashlib.sha256("".join(f"{word}\n" for word in sorted(self.words)).encode()).hexdigest()

    def __contains__(self, word: object) -> bool:
        return word in self.words


@cache
def _listed(name: str) -> StopWords:
    """A packaged list, read once. Phrases of stopwordsiso match no word and are left out."""
    if name not in STOP_WORD_LANGUAGES:
        return StopWords(_OURS, words_in_file(Path(__file__).parent / "stop_words" / f"{_OURS}.txt", _OURS))
    with extra("languages", "stopwordsiso"):
        from stopwordsiso import stopwords
    words = {normalize(word) for word in stopwords(STOP_WORD_LANGUAGES[name])}
    return StopWords(name, frozenset(word for word in words if not _NOT_IN_WORD.search(word)))


def words_in_file(path: str | Path, what: str) -> frozenset[str]:
    """The words of a UTF-8 file, one a line, # comments, as the tokenizer writes words; `DataError` names the line."""
    data = listed(path, 32 << 20).removeprefix(b"\xef\xbb\xbf")
    words = set()
    for number, line in enumerate(data.split(b"\n"), start=1):
        where = f"line {number} of {what} is not"
        try:
            word = normalize(line.decode().strip())
        except UnicodeDecodeError as error:
            raise DataError(f"{where} UTF-8 (byte {error.start + 1}): save it as UTF-8") from None
        if not word or word.startswith("#"):
            continue
        if len(word) > _LONGEST_WORD or _NOT_IN_WORD.search(word):
            where += f" one word of at most {_LONGEST_WORD} characters"
            raise DataError(f"{where}: give one word a line; a line that starts with # is a comment")
        words.add(word)
    return frozenset(words)
