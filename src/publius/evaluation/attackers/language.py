"""A language model of the user's own as an adversary: it reads words of every candidate and a release, and names one.

Authors go by numbers, in an order drawn for each cell, so no name or id is sent. The candidates stand first and are the
same in every question of a cell, so that a server that keeps what it has read need not read them again. Without the
word of the user that the texts are his, the model sees nothing but what a mechanism with a guarantee released: the
known texts are protected like the attacked ones, and unprotected texts are not asked about.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final, final

from publius.errors import UsageError
from publius.noise.randomness import seeded_rng
from publius.releases.writing.chat import ChatError, ChatModel, Message, patiently
from publius.releases.writing.llm import without_thoughts
from publius.text.bag import Bag

AT_ONCE: Final = 4
"""Questions under way at one time."""

TOKENS_A_WORD: Final = 1.4
"""What English words take in the vocabularies of current models, roughly."""

_AROUND: Final = 300
"""Tokens of the instructions and of the answer."""

_FEWEST_WORDS: Final = 15
_LONGEST_ANSWER: Final = 2048
_INSTRUCTIONS: Final = (
    "You attribute texts to their authors. You are shown words of texts by several candidates, and a bag of words: the "
    "words of one more text by one of them, without their order, a number after a word that occurs several "
    "times. Noise may have replaced words. Say which candidate wrote that text. Answer with JSON and nothing else: "
    '{"candidate": NUMBER}'
)
_NAMED: Final = re.compile(r'"candidate"\s*:\s*"?(\d{1,6})')


@final
@dataclass(frozen=True, slots=True)
class LanguageAdversary:
    """A model, and what it may be shown.

    Attributes:
        model: where it is asked.
        own: the clean texts of each author, which the user says he may send; None for protected ones only.
        context: tokens that a question and its answer may have.

    """

    model: ChatModel
    own: Mapping[str, Sequence[str]] | None = field(repr=False)
    context: int

    @property
    def name(self) -> str:
        """As rows have it."""
        return f"llm:{self.model.name}"

    def words_each(self, authors: int, size: int) -> int:
        """Words of each candidate that fit beside a bag of ``size`` words; `UsageError` for too few of them."""
        found = int(((self.context - _AROUND) / TOKENS_A_WORD - size) / authors) - 3
        if found < _FEWEST_WORDS:
            raise UsageError(
                f"{authors:,} candidates and a bag of {size:,} words do not fit into {self.context:,} tokens: give "
                "--context, as many tokens as the model takes, or fewer candidates or words"
            )
        return found

    def told(
        self, authors: Sequence[str], protected: Sequence[Bag] | None, released: Sequence[Bag], seed: int
    ) -> tuple[list[str], dict[str, Any]]:
        """The author named for each of ``released``, and what a row says beside it.

        ``authors`` are those of the known texts, ``protected`` these texts as released; None where `own` is shown.
        """
        shown: dict[str, list[str]] = defaultdict(list)
        if protected is None:
            shown |= {name: list((self.own or {})[name]) for name in authors}
        else:
            for name, bag in zip(authors, protected, strict=True):
                shown[name].append(bag_text(bag))
        words = self.words_each(len(shown), max(bag.size for bag in released))
        candidates = {name: excerpt(texts, words) for name, texts in shown.items()}
        named, unreadable = self.named(candidates, released, seed)
        if 2 * unreadable > len(named):  # else the lots would stand on the page as what an attack achieves
            raise ChatError(
                f"the language model named no candidate in {unreadable:,} of {len(named):,} answers, so it attacks "
                "nothing: take a model that answers in JSON as it is asked to, or leave it out",
                again=False,
            )
        return named, {"shown": "clean" if protected is None else "protected", "unreadable": unreadable}

    def named(
        self, candidates: Mapping[str, str], released: Sequence[Bag], seed: int
    ) -> tuple[list[str], int]:
        """The author named for each release, and how many answers named nobody: then one is drawn.

        ``candidates`` are the words of each author. Raises `ChatError` where the model does not answer at all.
        """
        rng = seeded_rng(seed)
        authors = sorted(candidates)
        order = [authors[place] for place in rng.permutation(len(authors)).tolist()]
        shown = "\n\n".join(
            f"Candidate {place}:\n{candidates[name]}" for place, name in enumerate(order, start=1)
        )
        with ThreadPoolExecutor(AT_ONCE) as pool:
            try:
                found = list(pool.map(lambda bag: self._asked(shown, bag, len(order)), released))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        lots = rng.integers(0, len(order), len(found)).tolist()
        places = [lot if place is None else place for place, lot in zip(found, lots, strict=True)]
        return [order[place] for place in places], found.count(None)

    def _asked(self, shown: str, bag: Bag, candidates: int) -> int | None:
        messages: list[Message] = [
            {"role": "system", "content": _INSTRUCTIONS},
            {
                "role": "user",
                "content": f"{shown}\n\nThe bag of words:\n{bag_text(bag)}\n\nWhich candidate, 1 to {candidates}?",
            },
        ]
        answer = patiently(lambda: self.model.chat(messages, temperature=0, max_tokens=_LONGEST_ANSWER))
        return chosen(answer, candidates)


def bag_text(bag: Bag) -> str:
    """The words of a bag with their numbers."""
    return ", ".join(word if count == 1 else f"{word} {count}" for word, count in bag.counts.items())


def excerpt(texts: Sequence[str], words: int) -> str:
    """The first words of each text of an author, as many of each, ``words`` in all."""
    share = max(1, words // len(texts))
    return "\n".join(" ".join(text.split()[:share]) for text in texts[:words])


def chosen(answer: str, candidates: int) -> int | None:
    """The place, from 0, that an answer names; None for one that names none, or several."""
    said = without_thoughts(answer)
    numbers = _NAMED.findall(said) or re.findall(r"\b\d{1,6}\b", said)
    found = {int(number) for number in numbers}
    number = found.pop() if len(found) == 1 else 0
    return number - 1 if 1 <= number <= candidates else None
