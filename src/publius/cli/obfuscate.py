"""``publius obfuscate``: the words of each document, as noisy bags."""

from __future__ import annotations

from publius.cli.explain import kernel_asked
from publius.cli.parsing import Documents, More, WordOptions, files_of
from publius.cli.released import Asked, Releasing, released
from publius.settings import Between, Words


def obfuscate(
    file: Documents,
    *more: More,
    epsilon: float,
    length: int,
    ordered: bool = False,
    between: Between = "none",
    words: WordOptions = Words(),
    asked: Releasing = Asked(),
) -> None:
    """Release the words of each document as noisy bags.

    Args:
        epsilon: Of each word and unit of distance.
        length: Words of every bag, N; public.
        ordered: Words in their order; a weaker guarantee.
        between: Default: none kept; stop-words, punctuation or all.
    """
    from publius.mechanisms.lifted import Lifted

    kernel = kernel_asked(words.mechanism, epsilon, words)
    mechanism = Lifted(
        kernel, length, ordered=ordered, between=between, unknown=words.unknown, stop_words=words.stop_words
    )
    released(files_of(file, more), mechanism, asked, mechanism.known, by="these word vectors")
