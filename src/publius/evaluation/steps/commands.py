"""The single commands that do what a walk does, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from publius.evaluation.steps.older import PUBLIC
from publius.evaluation.steps.walk import EVALUATION, OWN, PARTS, RELEASE, SIGNOFF, Step, Walk
from publius.settings import AboutSettings

if TYPE_CHECKING:
    from publius.documents.inspection import Inspection


def commands_by_step(walk: Walk, folder: Path) -> dict[Step, list[str]]:
    """The steps in their order, each as the command that does it alone, without the word publius."""
    learned, attacked = (str(folder / PUBLIC / f"{half}.jsonl") for half in ("learned", "attacked"))
    release, evaluation = str(folder / RELEASE), str(folder / EVALUATION)
    steps: dict[Step, list[str]] = {}
    if walk.older is not None and walk.reference is not None and walk.choices.reference is None:
        label = ["--label", "topic"] if walk.older.topics else []
        words = walk.words
        author = ["--author-field", words.author_field] if words.author_field else []
        counted = ["--authors-at-least", str(words.authors_at_least), "--leave-out", words.leave_out]
        steps["learn"] = ["reference", "fit", learned, "--name", walk.reference, *label, *author, *counted]
    judged = []
    if walk.measurable:
        steps["measure"] = attack_command(walk, attacked, [walk.strength], evaluation)
        judged = ["--evaluation", evaluation]
    steps["release"] = _obfuscate(walk, release)
    own = str(folder / OWN)
    steps["own"] = _inspect(walk, release, own)
    steps["sign"] = [
        "signoff", release, *judged, "--own", own, *about_options(walk.choices), "--receivers", "--output",
        str(folder / SIGNOFF),
    ]  # fmt: skip
    return steps


def commands_of(walk: Walk, folder: Path) -> list[list[str]]:
    """The same commands: together they make everything below ``folder``, reference and all."""
    return list(commands_by_step(walk, folder).values())


def attack_command(walk: Walk, attacked: str, strengths: Sequence[float], output: str) -> list[str]:
    """The command that attacks texts which are protected as here, at each of the bounds or epsilons."""
    limits, limit = walk.limits, []
    if limits.author_at_most is not None:
        limit = ["--author-at-most", f"{limits.author_at_most:g}"]
    elif limits.adds_at_most is not None:
        limit = ["--adds-at-most", f"{limits.adds_at_most:g}"]
    limit += [] if walk.tries == 1 else ["--tries", str(walk.tries)]
    return [
        "evaluate", attacked, *walk.kept.attacked(walk, strengths), "--preset", "quick", "--parts", str(PARTS), *limit,
        "--output", output,
    ]  # fmt: skip


def _inspect(walk: Walk, release: str, own: str) -> list[str]:
    fields = {"--topic-field": walk.own_topic, "--author-field": walk.own_author}
    named = [part for flag, name in fields.items() if name is not None for part in (flag, name)]
    found = walk.found
    return [
        "inspect", str(walk.file), "--release", release, "--text-field", str(found.text_field), *named, *_form(found),
        *_reading(walk), "--output", own,
    ]  # fmt: skip


def _form(found: Inspection) -> list[str]:
    """How the table is written."""
    return [part for name, value in found.form.items() if value is not None for part in (f"--{name}", value)]


def about_options(said: AboutSettings) -> list[str]:
    """The options of ``publius signoff`` for what only people know, as far as they said it."""
    from publius.releases.account import About

    named = About.of(said).record()
    return [part for name, value in named.items() if value is not None for part in (f"--{name}", value)]


def _reading(walk: Walk) -> list[str]:
    """How folders, links and foreign files are read, where that was said."""
    choices = walk.choices
    said = {"--subfolders": choices.subfolders, "--follow-links": choices.follow_links}
    seconds = choices.reading_seconds
    return [
        *(flag for flag, asked in said.items() if asked),
        *([] if seconds is None else ["--reading-seconds", f"{seconds:g}"]),
        *(["--encoding", choices.encoding] if choices.encoding and not walk.found.delimiter else []),
    ]


def _obfuscate(walk: Walk, release: str) -> list[str]:
    found, choices = walk.found, walk.choices
    ids = [] if choices.publish_ids else ["--number"]
    ids += [part for name in choices.keep for part in ("--keep", name)]
    if choices.documents_per_author is not None:
        ids += ["--documents-per-author", str(choices.documents_per_author)]
    return [
        "obfuscate", str(walk.file), *walk.kept.options(walk), "--text-field", str(found.text_field), *ids,
        *_form(found), *_reading(walk), *(["--accept-loss"] if choices.accept_loss else []), "--skip-bad",
        *(["--metadata"] if choices.metadata else []), "--output", release,
    ]  # fmt: skip
