"""``publius embeddings train``: word vectors of a domain, from its public text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from publius.cli.console import print_json, print_table
from publius.cli.options import Json


def train(
    public_corpus: Annotated[Path, typer.Argument(help="PUBLIC documents of the domain.")],
    name: Annotated[str, typer.Option(help="What to call the vectors: a-z, 0-9, dot, underscore, hyphen.")],
    dimension: Annotated[int, typer.Option(min=1, help="Numbers a vector.")] = 50,
    window: Annotated[int, typer.Option(min=1, help="Words to either side that are a word's company.")] = 5,
    least_count: Annotated[int, typer.Option(min=1, help="Leave out words that occur less often.")] = 5,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the text.")] = 5,
    tokenizer: Annotated[str, typer.Option(help="glove or word2vec.")] = "glove",
    stop_words: Annotated[str, typer.Option(help="Words left out: english, none or file:PATH.")] = "english",
    text_field: Annotated[str, typer.Option(help="Field that holds the text.")] = "text",
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same vectors.")] = 0,
    json: Json = False,
) -> None:
    """Train word vectors on public text of a domain, so that its names are protected and meaningful.

    The vectors tell of the text they were trained on: use public text, never the documents to be released.
    """
    from publius.documents.corpus import open_corpus
    from publius.vectors.embeddings import new_stored_folder
    from publius.vectors.learning.domain_vectors import DomainVectors

    folder = new_stored_folder(name)
    recipe = DomainVectors(dimension, window, least_count, epochs, tokenizer, stop_words, seed)
    corpus = open_corpus(public_corpus, text_field=text_field, number=True)
    made = recipe.train(corpus, name=name).save(folder)
    facts = {"name": made.name, "size": made.size, "dimension": made.dimension, "sha256": made.sha256}
    if json:
        print_json({**facts, "source": dict(made.source), "folder": str(made.folder)})
    else:
        print_table(("embeddings", ""), [*facts.items(), *made.source.items()])
