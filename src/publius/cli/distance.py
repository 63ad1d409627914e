"""``publius distance``: how far documents are apart."""

from __future__ import annotations

from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import print_json, print_table
from publius.cli.options import Json, options
from publius.errors import DocumentError, UsageError
from publius.settings import SHORTEST, DistanceSettings, InputSettings

if TYPE_CHECKING:
    from publius.distances import TransportPlan
    from publius.text.bag import Encoded, Encoding
    from publius.vectors.embeddings import Embeddings

_NOT_HERE = ("keep", "number", "subject_field")

Text = Annotated[bool, typer.Option("--text", help="The arguments are texts, not files.")]
Words = Annotated[
    bool, typer.Option("--words", help="The arguments are words as the vocabulary has them, case and all.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("distance")(distance)
    app.command("nearest", hidden=True)(nearest)


@options(without=_NOT_HERE)
def distance(
    a: Annotated[str, typer.Argument(help="A file with one document; a text with --text.")],
    b: Annotated[str, typer.Argument(help="The other one; with --nearest a corpus, a file or folder.")],
    settings: DistanceSettings,
    fields: InputSettings,
    plan: Annotated[bool, typer.Option("--plan", help="Show which word moves to which.")] = False,
    nearest: Annotated[
        int | None, typer.Option(min=1, help="List so many documents of a corpus, the nearest first.")
    ] = None,
    text: Text = False,
    words: Words = False,
    json: Json = False,
) -> None:
    """Measure how far documents are apart.

    Earth Mover's distance between two documents or, with --nearest, from one to those of a corpus.
    """
    if nearest is not None and (plan or words):
        raise UsageError("--plan and --words compare two documents: leave out --nearest")
    if nearest is not None:
        _nearest(a, Path(b), settings, fields, nearest, text=text, json=json)
    else:
        _between(a, b, settings, plan=plan, text=text, words=words, json=json)


def _between(
    a: str, b: str, settings: DistanceSettings, *, plan: bool, text: bool, words: bool, json: bool
) -> None:
    from publius.distances import transport_plan
    from publius.distances.metrics import metric_asked
    from publius.text.bag import Bag, Encoding, given_words
    from publius.vectors.embeddings import Embeddings

    ground = metric_asked(settings.metric)
    vectors = Embeddings.load(settings.embeddings)
    if words:
        as_given = Encoding.of(vectors.tokenizer, length=None)
        first, second = (given_words(each.split(), vectors, as_given) for each in (a, b))
    else:
        first, second = encoded_pair(a, b, vectors, settings, text=text)
    found = transport_plan(Bag(first.words), Bag(second.words), vectors, ground)
    if json:
        print_json(
            {**_facts(found, settings.metric, first, second), **({"plan": _moves(found)} if plan else {})}
        )
        return
    typer.echo(f"Earth Mover's distance {found.distance:.6g} ({settings.metric}, {vectors.name})")
    for name, encoded in (("A", first), ("B", second)):
        typer.echo(f"  {name}: {len(encoded.words):,} words, {encoded.unknown:,} of them unknown")
    if plan:
        _print_plan(found)


@options(without=_NOT_HERE)
def nearest(
    document: Annotated[str, typer.Argument(help="A file with one document; a text with --text.")],
    corpus: Annotated[Path, typer.Argument(help="The documents to search: a file or folder.")],
    settings: DistanceSettings,
    fields: InputSettings,
    count: Annotated[int, typer.Option("-k", "--count", min=1, help="How many to show.")] = 5,
    text: Text = False,
    json: Json = False,
) -> None:
    """List the documents of a corpus nearest to a document.

    An earlier name of publius distance --nearest.
    """
    _nearest(document, corpus, settings, fields, count, text=text, json=json)


def _nearest(
    document: str,
    corpus: Path,
    settings: DistanceSettings,
    fields: InputSettings,
    count: int,
    *,
    text: bool,
    json: bool,
) -> None:
    from publius.distances import NearestDocuments
    from publius.distances.metrics import metric_asked
    from publius.documents.corpus import open_corpus
    from publius.text.bag import Bag, Encoding, words_of
    from publius.vectors.embeddings import Embeddings

    ground = metric_asked(settings.metric)
    vectors = Embeddings.load(settings.embeddings)
    encoding = Encoding.of(
        vectors.tokenizer, length=settings.size, unknown=settings.policy, stop_words=settings.stop_words
    )
    query = Bag(words_of(one_text(document, text=text), vectors, encoding).words)
    ids, bags = _bags(open_corpus(corpus, **asdict(fields)), vectors, encoding)
    found = [
        (ids[n.position], n.distance) for n in NearestDocuments(bags, vectors, ground).query(query, count)
    ]
    if json:
        rows = [{"id": id, "distance": distance} for id, distance in found]
        print_json({"metric": settings.metric, "size": query.size, "documents": len(bags), "nearest": rows})
        return
    print_table(("id", "distance"), [(id, f"{distance:.6g}") for id, distance in found])


def encoded_pair(
    a: str, b: str, vectors: Embeddings, settings: DistanceSettings, *, text: bool
) -> tuple[Encoded, Encoded]:
    """The words of two documents as a release would take them."""
    from publius.text.bag import Encoding, words_of

    whole = Encoding.of(
        vectors.tokenizer, length=settings.size, unknown=settings.policy, stop_words=settings.stop_words
    )
    texts = one_text(a, text=text), one_text(b, text=text)
    first, second = (words_of(found, vectors, whole) for found in texts)
    for name, encoded in (("first", first), ("second", second)):
        if encoded.padding == len(encoded.words):
            raise DocumentError(f"the {name} document has no word left: it has only stop words")
    if settings.length != SHORTEST:
        return first, second
    shortest = replace(whole, length=min(len(first.words), len(second.words)))
    first, second = (words_of(found, vectors, shortest) for found in texts)
    return first, second


def one_text(argument: str, *, text: bool = False) -> str:
    """The one text in a file, or the argument itself; `UsageError` for a file of several."""
    from publius.documents.corpus import Document, open_corpus

    if text:
        return argument
    found = list(islice(open_corpus(argument, number=True), 2))
    if len(found) > 1:
        raise UsageError(
            f"{argument!r} holds several documents: give a file with one, or its text with --text"
        )
    if not isinstance(found[0], Document):
        raise found[0].error()
    return found[0].text


def _bags(corpus: Any, vectors: Embeddings, encoding: Encoding) -> tuple[list[str], list[Any]]:
    from publius.documents.corpus import Document
    from publius.text.bag import Bag, words_of

    ids, bags = [], []
    for item in corpus:
        if not isinstance(item, Document):
            raise item.error()
        encoded = words_of(item.text, vectors, encoding)
        if encoded.padding == len(encoded.words):
            raise DocumentError(f"document {item.position} has no word left: only stop words").of(item.id)
        ids.append(item.account or item.id)
        bags.append(Bag(encoded.words))
    return ids, bags


def _facts(plan: TransportPlan, metric: str, first: Encoded, second: Encoded) -> dict[str, Any]:
    return {
        "distance": plan.distance,
        "size_a": plan.size_a,
        "size_b": plan.size_b,
        "metric": metric,
        "unknown_a": first.unknown,
        "unknown_b": second.unknown,
    }


def _moves(plan: TransportPlan) -> list[dict[str, Any]]:
    return [
        {"from": move.source, "to": move.target, "mass": move.mass, "distance": move.distance}
        for move in plan.moves
    ]


def _print_plan(plan: TransportPlan) -> None:
    """The dearest moves first."""
    moves = sorted(plan.moves, key=lambda move: (-move.mass * move.distance, move.source, move.target))
    typer.echo()
    print_table(
        ("from", "to", "mass", "distance", "mass*distance"),
        [
            (
                move.source,
                move.target,
                f"{move.mass:.4f}",
                f"{move.distance:.4f}",
                f"{move.mass * move.distance:.4f}",
            )
            for move in moves
        ],
    )
