"""``publius reference``: fit, list, info, verify."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import print_json, print_table, waiting
from publius.cli.evaluate import progress_shown
from publius.cli.options import Json, options
from publius.settings import PublicTextSettings

if TYPE_CHECKING:
    from publius.vectors.learning.reference import Reference

Name = Annotated[str, typer.Argument(help="A stored name, themes, or a folder.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the ``reference`` commands."""
    group = typer.Typer(
        help="References for --preserve: public features and prototypes of documents.", no_args_is_help=True
    )
    group.command("fit")(fit)
    group.command("list")(list_references)
    group.command("info")(info)
    group.command("verify")(verify)
    app.add_typer(group, name="reference")


@options()
def fit(
    public: Annotated[Path, typer.Argument(help="PUBLIC documents to learn from, never those to be released.")],
    name: Annotated[str, typer.Option(help="What to call it: a-z, 0-9, dot, underscore, hyphen.")],
    read: PublicTextSettings,
    label: Annotated[
        str | None, typer.Option(help="Field that holds the topic. Without it only the meaning can be kept.")
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(help="log-odds, discriminants or embedding. Default: what suits topic and meaning each."),
    ] = None,
    dimension: Annotated[int | None, typer.Option(min=1, help="How many features at most.")] = None,
    prototypes: Annotated[
        int | None,
        typer.Option(min=1, help="How many for the meaning. Default: several sets; a bound takes what fits it."),
    ] = None,
    saturation: Annotated[
        float | None,
        typer.Option(help="Half-width, in public spreads, of the box a position is clipped to. Default: chosen."),
    ] = None,
    least_documents: Annotated[int, typer.Option(min=1, help="Leave out words of fewer public documents.")] = 3,
    embeddings: Annotated[
        str | None, typer.Option(help="Word vectors for features of the kind embedding. Default: the packaged GloVe.")
    ] = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Learn public features and prototypes of documents, for releases that keep the topic or the meaning.

    The reference tells of the texts it was learned from: use public text, never the documents to be released.
    """
    from publius.evaluation.steps.learning import learn
    from publius.vectors.learning.fit_reference import ReferenceSettings

    settings = ReferenceSettings(
        features, dimension, prototypes, saturation, least_documents, read.tokenizer, read.stop_words
    )
    with progress_shown(quiet=True) as progress:
        stored = learn(
            public, name, label=label, text_field=read.text_field, settings=settings, embeddings=embeddings,
            progress=progress,
        )  # fmt: skip
    _show(_facts(stored), json)


def list_references(json: Json = False) -> None:
    """Show the stored references."""
    from publius.vectors.learning.reference_store import references_root

    entries = list(_entries())
    if json:
        print_json({"store": str(references_root()), "references": entries})
    else:
        columns = ("name", "size", "keeps", "kind")
        print_table(columns, ([entry.get(column, "?") for column in columns] for entry in entries))


def info(name: Name, json: Json = False) -> None:
    """Show what identifies a reference, what it can keep, and what it was learned from."""
    from publius.vectors.learning.reference import Reference

    with waiting("opening the reference"):
        reference = Reference.load(name)
    _show(_facts(reference), json)


def verify(name: Name, json: Json = False) -> None:
    """Read every byte of a reference again and compare with its digest."""
    from publius.vectors.learning.reference import Reference

    reference = Reference.load(name)
    reference.verify()
    _show({"name": reference.name, "verified": True, "sha256": reference.sha256}, json)


def _entries() -> Iterator[dict[str, Any]]:
    from publius.errors import PubliusError
    from publius.vectors.learning.reference_store import (
        read_reference_record,
        references_root,
        stored_reference_names,
    )

    yield {
        "name": "themes",
        "size": 20_000,
        "keeps": "topic, meaning",
        "kind": "made from the default vectors",
    }
    for name in stored_reference_names():
        try:
            record = read_reference_record(references_root() / name)
            keeps = ", ".join(str(aspect["name"]) for aspect in record["aspects"])
            yield {
                "name": name,
                "size": record["size"],
                "keeps": keeps,
                "kind": "stored",
                "sha256": record["sha256"],
            }
        except (PubliusError, KeyError, TypeError):
            yield {"name": name, "kind": f"damaged: see publius reference verify {name}"}


def _facts(reference: Reference) -> dict[str, Any]:
    aspects = {
        aspect.name: {
            "features": aspect.kind,
            "dimension": aspect.dimension,
            "rule": aspect.rule,
            "lipschitz": aspect.lipschitz,
            "diameter": aspect.diameter,
            "prototypes": [found.size for found in aspect.sets],
        }
        for aspect in reference.aspects.values()
    }
    return {
        "name": reference.name,
        "sha256": reference.sha256,
        "size": reference.size,
        "keeps": list(reference.keeps),
        "aspects": aspects,
        "tokenizer": reference.tokenizer,
        "stop_words": reference.stop_words,
        "source": dict(reference.source),
        "folder": None if reference.folder is None else str(reference.folder),
    }


def _show(facts: dict[str, Any], json: bool) -> None:
    if json:
        print_json(facts)
        return
    aspects, source = facts.pop("aspects", {}), facts.pop("source", {})
    choices, topics = source.pop("choices", {}), source.pop("topics", None)
    rows = [(key.replace("_", " "), value) for key, value in facts.items() if value is not None]
    for name, aspect in aspects.items():
        told = f"{aspect['features']}, {aspect['dimension']} dimensions, {aspect['rule']} of {aspect['prototypes']}"
        rows.append((f"keeps {name} by", told))
    rows += [(key.replace("_", " "), value) for key, value in source.items() if value is not None]
    if topics:
        rows.append(("topics", ", ".join(f"{topic} ({count})" for topic, count in topics.items())))
    rows += [
        (f"chosen for {name}", ", ".join(f"{k} {v}" for k, v in found.items()))
        for name, found in choices.items()
    ]
    print_table(("reference", ""), rows)
