"""``publius obfuscate``: the words of each document, as noisy bags."""

from __future__ import annotations

from typing import Annotated

from publius.cli.parsing import File, flat
from publius.settings import Between, Leaving, People, Reading, Run, Words


def obfuscate(
    file: File,
    *more: File,
    epsilon: float,
    length: int,
    output: File | None = None,
    ordered: bool = False,
    between: Between = "none",
    documents_per_author: int | None = None,
    json: bool = False,
    words: Annotated[Words, flat("Words")] = Words(),
    reading: Annotated[Reading, flat("Reading")] = Reading(),
    people: Annotated[People, flat("People")] = People(),
    leaving: Annotated[Leaving, flat("Leaving")] = Leaving(),
    run: Annotated[Run, flat("Run")] = Run(),
) -> None:
    """Release the words of each document as noisy bags.

    Parameters
    ----------
    file
        File or folder of documents, or -.
    more
        Further files, read after it.
    epsilon
        Epsilon of each word and unit of distance.
    length
        Words of every bag, N; public. Shorter documents are filled up, longer ones cut.
    output
        New folder for the release, or - for rows alone.
    ordered
        Words in the order of the text, under a weaker guarantee.
    between
        What stands unprotected between ordered words: none, stop-words, punctuation, all.
    documents_per_author
        The most documents of an author that leave; needs --author-field.
    json
        Print the result as JSON.
    """
    from publius.cli.released import released
    from publius.embeddings.embeddings import Embeddings
    from publius.mechanisms.lifted import Lifted
    from publius.mechanisms.registry import kernel_class, make_kernel, parse_set

    embeddings = Embeddings.load(words.embeddings)
    kernel = make_kernel(
        words.mechanism,
        embeddings,
        epsilon=epsilon,
        metric=words.metric,
        parameters=parse_set(kernel_class(words.mechanism), words.set),
    )
    mechanism = Lifted(
        kernel, length, ordered=ordered, between=between, unknown=words.unknown, stop_words=words.stop_words
    )
    released(
        [file, *more],
        mechanism,
        output,
        reading=reading,
        people=people,
        leaving=leaving,
        run=run,
        documents_per_author=documents_per_author,
        known=mechanism.known,
        by="these word vectors",
        json=json,
    )
