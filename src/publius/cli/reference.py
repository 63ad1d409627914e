"""``publius reference``: fit, list, info, verify, remove."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from publius.cli.console import print_json, print_table, printable, progress_shown, waiting
from publius.cli.options import Json, options
from publius.errors import how_many
from publius.settings import PublicTextSettings, PublicWordSettings

if TYPE_CHECKING:
    from publius.vectors.learning.reference import Reference

_SHOWN: Final = 400
"""Rare words that are printed; ``--json`` has all of them."""

Name = Annotated[str, typer.Argument(help="A stored name, themes, or a folder.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the ``reference`` commands."""
    group = typer.Typer(help="Learn, list and remove public references.", no_args_is_help=True)
    group.command("fit")(fit)
    group.command("list")(list_references)
    group.command("info")(info)
    group.command("verify")(verify)
    group.command("remove")(remove)
    app.add_typer(group, name="reference")


@options()
def fit(
    public: Annotated[Path, typer.Argument(help="PUBLIC documents to learn from, never those to be released.")],
    name: Annotated[str, typer.Option(help="What to call it: a-z, 0-9, dot, underscore, hyphen.")],
    read: PublicTextSettings,
    words: PublicWordSettings,
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
    embeddings: Annotated[
        str | None, typer.Option(help="Word vectors for features of the kind embedding. Default: the packaged GloVe.")
    ] = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Learn public features and prototypes of documents, for releases that keep the topic or the meaning.

    Words of the texts it is learned from become public: those that enough of their authors use. The rare ones among
    them are printed. Long numbers, addresses, mail and links never become public. Use public text, never the documents
    to be released.
    """
    from publius.evaluation.steps.learning import learn
    from publius.vectors.learning.aspects import LearningSettings

    settings = LearningSettings(
        features, dimension, prototypes, saturation, tokenizer=read.tokenizer, stop_words=read.stop_words
    )
    with progress_shown(quiet=True) as progress:
        stored = learn(
            public, name, label=label, text_field=read.text_field, words=words, settings=settings,
            embeddings=embeddings, progress=progress,
        )  # fmt: skip
    _show(_facts(stored), json)
    if not json:
        tell_misspelt(words.leave_out, stored.source)


def list_references(json: Json = False) -> None:
    """Show the stored references, what each was learned from, and how its words were counted."""
    from publius.vectors.learning.reference import references_root

    entries = list(_entries())
    if json:
        print_json({"store": str(references_root()), "references": entries})
    else:
        columns = (
            "name",
            "keeps",
            "texts",
            "authors",
            "topics",
            "from",
            "made",
            "words",
            "how they were counted",
        )
        print_table(columns, (_row(entry) for entry in entries))


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


def remove(
    name: Annotated[str, typer.Argument(help="A stored name.", show_default=False)], json: Json = False
) -> None:
    """Remove a stored reference, with all words and numbers that it keeps of its texts.

    Releases that were made with it stay as they are; they can no longer be evaluated or written out without it.
    """
    from publius.vectors.learning.reference import remove_reference

    remove_reference(name)
    if json:
        print_json({"name": name, "removed": True})
    else:
        typer.echo(f"{name} is removed.")


def _row(entry: dict[str, Any]) -> list[object]:
    names = ("keeps", "texts", "authors", "topics", "from", "made", "size")
    found = ["-" if entry.get(name) is None else printable(str(entry[name])) for name in names]
    return [entry["name"], *found, entry.get("words") or entry["kind"]]


def _entries() -> Iterator[dict[str, Any]]:
    from publius.errors import PubliusError
    from publius.vectors.learning.public_words import stated
    from publius.vectors.learning.reference import (
        read_reference_record,
        references_root,
        stored_reference_names,
    )

    general = {"format": "themes"}
    yield {
        "name": "themes",
        "size": 20_000,
        "keeps": "topic, meaning",
        "kind": "made from the default vectors",
        "words": stated(general),
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
                **_learned_from(record["source"]),
            }
        except (PubliusError, KeyError, TypeError, ValueError, AttributeError):
            yield {"name": name, "kind": f"damaged: see publius reference verify {name}"}


def _learned_from(source: dict[str, Any]) -> dict[str, Any]:
    """The public texts behind a reference; None for what an earlier version did not keep."""
    from publius.vectors.learning.public_words import stated

    counted = source.get("public_words") or {}
    return {
        "from": source.get("corpus"),
        "texts": source.get("documents"),
        "authors": counted.get("authors"),
        "topics": len(source.get("topics") or ()) or None,
        "counted_by": counted.get("counted_by"),
        "at_least": counted.get("at_least"),
        "made": source.get("made"),
        "words": stated(source),
    }


def _facts(reference: Reference) -> dict[str, Any]:
    from publius.vectors.learning.public_words import stated

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
    passages = () if reference.counted is None else reference.counted.passages
    return {
        "name": reference.name,
        "sha256": reference.sha256,
        "size": reference.size,
        "keeps": list(reference.keeps),
        "aspects": aspects,
        "tokenizer": reference.tokenizer,
        "stop_words": reference.stop_words,
        "words": stated(reference.source),
        **({"passages": [list(each) for each in passages]} if passages else {}),
        "source": dict(reference.source),
        "folder": None if reference.folder is None else str(reference.folder),
    }


def _show(facts: dict[str, Any], json: bool) -> None:
    if json:
        print_json(facts)
        return
    aspects, source = facts.pop("aspects", {}), facts.pop("source", {})
    choices, topics = source.pop("choices", {}), source.pop("topics", None)
    rare, counted = source.pop("rare_words", None), source.pop("public_words", {})
    source.pop("corpus_sha256", None)  # for machines: whether texts are those that it was learned from
    passages = sum(map(len, facts.pop("passages", ())))
    rows = [(key.replace("_", " "), value) for key, value in facts.items() if value is not None]
    if passages:
        rows.append(("sentences that may be quoted", f"{passages:,}; --json shows them"))
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
    rows += [
        (f"public words: {key.replace('_', ' ')}", value)
        for key, value in counted.items()
        if value is not None
    ]
    print_table(("reference", ""), rows)
    if rare is not None:
        tell_rare(rare, facts["size"], counted, "this reference")


def tell_misspelt(chosen: str, source: Mapping[str, Any]) -> None:
    """Tell how many words that were named to be left out are none of the public ones."""
    from publius.vectors.learning.public_words import listed_words

    left = source["public_words"].get("listed", 0)
    if (named := len(listed_words(chosen))) > left:
        typer.echo(
            f"Of {how_many(named, 'word')} that you named to be left out, {left:,} stood among those that would be "
            "public: look at how the others are spelt."
        )


def tell_rare(rare: dict[str, int], size: int, counted: dict[str, Any], what: str) -> None:
    """The rare words, and in so many words that they are public."""
    from publius.vectors.learning.public_words import many_left_out

    by, least = counted["counted_by"], counted["at_least"]
    typer.echo(
        f"\nAll {size:,} words of {what} become public with the first release that is made with it: whoever\n"
        f"gets it can learn them. Counted by {by}; at least {least:,} use each."
    )
    if by == "texts":
        typer.echo(
            "No author is known, so a name that one person wrote in several texts is counted as often: name the\n"
            "column of authors with --author-field."
        )
    if (why := many_left_out(counted.get("left_out", 0), size, by)) is not None:
        typer.echo(f"{why}.")
    if not rare:
        typer.echo("No word among them is rare.")
        return
    words = [f"{printable(word)} {count}" for word, count in rare.items()]
    more = f", and {len(words) - _SHOWN:,} more (--json has them all)" if len(words) > _SHOWN else ""
    typer.echo(
        f"Rare words that will be public, with how many {by} use each; names, and words that general text does not\n"
        f"know, come first: {', '.join(words[:_SHOWN])}{more}.\n"
        "Is one of them a name, or does it point at somebody? Remove it and fit it again with --leave-out."
    )
