"""``publius reconstruct``: a released bag as a line to read, from the release alone."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from publius.cli.console import Json, print_json, printable, standard_output
from publius.errors import DataError, UsageError
from publius.files.user_code import PYTHON, object_at
from publius.settings import StopWordSettings

if TYPE_CHECKING:
    from publius.releases.reconstruction.language_model import LanguageModel

_FEDERALIST = "federalist"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("reconstruct")(reconstruct)


def reconstruct(
    released: Annotated[Path, typer.Argument(help="Folder of a release: bags.jsonl and manifest.json.")],
    output: Annotated[Path, typer.Option(help="New file for the texts, JSON lines.")],
    model: Annotated[
        str,
        typer.Option(
            help="What says which word follows which: federalist (extra demo), public text to learn from (a .txt "
            "file or a folder of them), or python:MODULE:NAME, an object of yours."
        ),
    ] = _FEDERALIST,
    order: Annotated[int, typer.Option(min=1, max=5, help="Longest run of words learned from text.")] = 3,
    beam: Annotated[int, typer.Option(min=1, max=1000, help="Orderings followed at once.")] = 16,
    json: Json = False,
) -> None:
    """Put the words of released bags into a likely order.

    The order is the model's guess, not the author's.
    """
    from publius.files import write_file
    from publius.releases.reconstruction.likeliest_order import (
        NOTE,
        order_words,
        read_bags,
        read_manifest,
        record_of,
    )

    if output.exists():
        raise UsageError(f"{str(output)!r} is there already: choose a new file")
    manifest = read_manifest(released)
    speaker = _model(model, order, manifest)
    documents, logs, words, first = 0, 0.0, 0, ""
    with write_file(output) as file:
        for bag in read_bags(released, manifest):
            found = order_words(bag.bag, speaker, beam)
            record = record_of(bag, found, _shown(model), manifest)
            file.write(jsonlib.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n")
            documents += 1
            logs, words, first = logs + found.log_probability, words + bag.bag.size, first or record["text"]
        if not documents:
            raise DataError(f"the release in {str(released)!r} holds no bag: check that it is complete")
    facts = {"output": str(output), "documents": documents, "words": words, "model": _shown(model), "note": NOTE,
             "perplexity": _perplexity(logs, words)}  # fmt: skip
    with standard_output(f"{output} is complete"):
        print_json(facts) if json else _print(facts, first)


def _perplexity(log_probability: float, words: int) -> float:
    import math

    return round(math.exp(-log_probability / words), 3)


def _shown(model: str) -> str:
    """A model as the output names it: never a path."""
    return model if model == _FEDERALIST else "python" if model.startswith(PYTHON) else "text"


def _model(name: str, order: int, manifest: Mapping[str, Any]) -> LanguageModel:
    if name.startswith(PYTHON):
        return _imported(name)
    from publius.documents.samples import federalist_papers
    from publius.releases.reconstruction.language_model import NGramModel, read_public_texts
    from publius.text.tokenizer import StopWords, profile_labelled

    stop_words = manifest.get("stop_words")
    known = StopWords.load(stop_words if stop_words in ("english-1", "none") else StopWordSettings.stop_words)
    found = profile_labelled(str(manifest.get("tokenizer")))
    profile = "glove" if found is None else found.name
    place = federalist_papers() if name == _FEDERALIST else Path(name)
    return NGramModel.train(read_public_texts(place, profile=profile, stop_words=known), order)


def _imported(name: str) -> LanguageModel:
    """The user's own object; importing it runs their code, as they ask for."""
    found = object_at(name)
    if not hasattr(found, "log_probabilities") or not hasattr(found, "context_length"):
        raise UsageError(
            f"{name} is not a language model: it needs context_length and log_probabilities(context, words)"
        )
    model: LanguageModel = found
    return model


def _print(facts: Mapping[str, Any], first: str) -> None:
    lines = [
        f"Reconstructed {facts['documents']:,} bags ({facts['words']:,} words) to {facts['output']}",
        f"  model {facts['model']}, perplexity {facts['perplexity']:g} a word",
        f"  {facts['note']}",
        "",
        "The first begins: " + " ".join(first.split()[:30]),
    ]
    typer.echo("\n".join(printable(line) for line in lines))
