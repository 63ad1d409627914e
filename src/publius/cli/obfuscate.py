"""``publius obfuscate``: the words of each document, as noisy bags."""

from __future__ import annotations

from typing import Annotated

from publius.cli.explain import kernel_asked
from publius.cli.parsing import Documents, Help, More, WordOptions, files_of
from publius.cli.released import Asked, Releasing, released
from publius.settings import Between, Words


def obfuscate(
    file: Documents,
    *more: More,
    epsilon: Annotated[float, Help("Of each word and unit of distance.")],
    length: Annotated[int, Help("Words of every bag, N; public.")],
    ordered: Annotated[bool, Help("Words in their order; a weaker guarantee.")] = False,
    between: Annotated[Between, Help("Default: none kept; stop-words, punctuation or all.")] = "none",
    words: WordOptions = Words(),
    asked: Releasing = Asked(),
) -> None:
    """Release the words of each document as noisy bags."""
    from publius.mechanisms.lifted import Lifted

    kernel = kernel_asked(words.mechanism, epsilon, words)
    mechanism = Lifted(
        kernel, length, ordered=ordered, between=between, unknown=words.unknown, stop_words=words.stop_words
    )
    released(files_of(file, more), mechanism, asked, mechanism.known, by="these word vectors")
