"""A language model of the user's own writes; it is told the released words with their counts, and the label.

Nothing else of a document exists in this process. An answer that is too short or too long, in another language, or a
refusal is asked for again, and in the end left out with the reason: the run goes on. A server that fails ends the run,
which goes on later.
"""

from __future__ import annotations

import threading
from typing import Final, final

import regex

from publius.documents.languages import language_of
from publius.errors import MissingExtraError
from publius.releases.writing.chat import PREFIX, ChatError, ChatModel, Message, patiently
from publius.releases.writing.released_bags import ReleasedBag
from publius.releases.writing.writer import AbstractTextWriter, WriterInput, Written
from publius.settings import WritingSettings
from publius.text.bag import UNKNOWN

FEWEST_WORDS: Final = 8
_TOKENS_A_WORD: Final = 6  # with what a reasoning model thinks before it answers
_THOUGHTS: Final = regex.compile(r"<think>.*?</think>", regex.DOTALL)
_HALF_A_PAIR: Final = regex.compile(r"\p{Surrogate}")
_REFUSAL: Final = regex.compile(
    r"\b(?:I(?:['’]m| am) (?:sorry|unable|not able)|I (?:can(?:not|['’]t)|won['’]t|must decline)"
    r"|as an? (?:AI|language model)|as a large language model)\b",
    regex.IGNORECASE,
)
_LOOKED_AT: Final = 200
"""Characters in which a refusal would begin."""


@final
class LanguageModelWriter(AbstractTextWriter):
    """Asks the model at ``llm:URL#MODEL``; see the module."""

    def __init__(self, seen: WriterInput, key: str | None = None) -> None:
        super().__init__(seen)
        settings = seen.settings
        self._model = model_of(settings, key)
        self.name = PREFIX + self._model.name
        self.note = f"written by {self._model.name} from a protected release; it may state things the document does not"
        self.at_once = settings.at_once
        self._stopped = threading.Event()

    def stop(self) -> None:
        """See `AbstractTextWriter.stop`."""
        self._stopped.set()

    def write(self, released: ReleasedBag) -> Written:
        """See `AbstractTextWriter.write`; `ChatError` when the server gives nothing in as many attempts."""
        messages, settings = prompt(released, self.seen.settings), self.seen.settings
        fault = None
        for _ in range(settings.attempts):
            text = patiently(
                lambda: self._asked(released.id, messages), settings.attempts, self._stopped.wait
            )
            text = without_thoughts(text).strip()
            fault = fault_of(text, settings)
            if fault is None:
                return Written(text, {"model": self._model.name})
        return Written(None, {"model": self._model.name}, f"the model's answer was {fault}")

    def _asked(self, id: str, messages: list[Message]) -> str:
        if self._stopped.is_set():
            raise ChatError("the run was stopped", again=False)
        limit = self.seen.settings.words * _TOKENS_A_WORD
        self.sending({"id": id, "url": self._model.url, "model": self._model.name, "messages": messages,
                      "max_tokens": limit})  # fmt: skip
        return self._model.chat(messages, max_tokens=limit)


def model_of(settings: WritingSettings, key: str | None = None) -> ChatModel:
    """The model that settings name; `UsageError` for what is no address."""
    return ChatModel.named(settings.writer, remote_ok=settings.remote_ok, timeout=settings.timeout, key=key)


def prompt(released: ReleasedBag, settings: WritingSettings) -> list[Message]:
    """The prompt for a bag: its words, how often each occurs, its label, and public choices. Nothing else."""
    counts = sorted(released.bag.counts.items(), key=lambda each: -each[1])
    words = ", ".join(
        word if count == 1 else f"{word} ({count} times)" for word, count in counts if word != UNKNOWN
    )
    about = f"Topic: {released.label}\n" if released.label else ""
    return [
        {
            "role": "system",
            "content": f"You write {settings.style}, of about {settings.words} words, in the language with the ISO 639 "
            f"code {settings.language}. You get words that it should use as far as they fit together. Answer with the "
            "text alone: no title, no list, no remark on the words.",
        },
        {"role": "user", "content": f"{about}Words: {words}"},
    ]


def without_thoughts(text: str) -> str:
    """An answer without what a reasoning model thinks aloud first; thoughts without an end are part of it.

    In time linear in its length: after the last end no beginning is looked at.
    """
    thought, end, rest = text.rpartition("</think>")
    return f"{_THOUGHTS.sub('', thought + end)}{rest}"


def fault_of(text: str, settings: WritingSettings) -> str | None:
    """The fault of an answer, in words for people; None where there is none."""
    count = len(text.split())
    if _HALF_A_PAIR.search(text):
        return "not valid Unicode"
    if _REFUSAL.search(text[:_LOOKED_AT]):
        return "a refusal"
    if count < FEWEST_WORDS:
        return "too short"
    if count > 3 * settings.words:
        return "too long"
    try:
        language = language_of(text)
    except MissingExtraError:  # nothing here can tell
        return None
    return None if language in (None, settings.language) else "in another language"
