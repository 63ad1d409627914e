"""``publius embeddings fit``: a topic metric from public labelled text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from publius.cli.console import print_json, print_table
from publius.cli.options import Json


def fit(
    public_corpus: Annotated[Path, typer.Argument(help="PUBLIC documents with a text and a topic each.")],
    name: Annotated[str, typer.Option(help="What to call the vectors: a-z, 0-9, dot, underscore, hyphen.")],
    label: Annotated[str, typer.Option(help="Field that holds the topic.")] = "topic",
    words: Annotated[int, typer.Option(min=2, help="How many of the most informative words to keep.")] = 1000,
    clip: Annotated[float | None, typer.Option(help="Longest vector of log-odds.")] = None,
    mix: Annotated[str | None, typer.Option(help="Vectors to mix in: a stored name or a file.")] = None,
    weight: Annotated[float, typer.Option(help="Of the vectors mixed in: d^2 + weight * d_mix^2.")] = 0.0,
    least_documents: Annotated[
        int, typer.Option(min=1, help="Leave out words of fewer public documents.")
    ] = 6,
    tokenizer: Annotated[
        str, typer.Option(help="glove or word2vec; that of --mix where it is given.")
    ] = "glove",
    stop_words: Annotated[str, typer.Option(help="Words left out: english, none or file:PATH.")] = "english",
    text_field: Annotated[str, typer.Option(help="Field that holds the text.")] = "text",
    json: Json = False,
) -> None:
    """Learn word vectors that hold what words say of the topic, from public labelled text.

    The vectors tell of the text they were learned from: use public text, never the documents to be released.
    """
    from publius.documents.corpus import open_corpus
    from publius.vectors.embeddings import Embeddings, new_stored_folder
    from publius.vectors.learning.topic_metric import TopicMetric

    folder = new_stored_folder(name)
    mixed = None if mix is None else Embeddings.load(mix)
    metric = TopicMetric(label, words, clip, least_documents, mixed, weight, tokenizer, stop_words)
    corpus = open_corpus(public_corpus, text_field=text_field, keep=(label,), number=True)
    found = metric.fit(corpus, name=name).save(folder)
    facts = {"name": found.name, "size": found.size, "dimension": found.dimension, "sha256": found.sha256}
    record = {**facts, "source": dict(found.source), "folder": str(found.folder)}
    if json:
        print_json(record)
    else:
        print_table(("embeddings", ""), [*facts.items(), *found.source.items()])
