"""``publius evaluate``: attack protected public texts, and say who is identified."""

from __future__ import annotations

import shlex
from dataclasses import is_dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from publius.cli import console
from publius.cli.console import Table
from publius.cli.parsing import AsRead, ByAuthors, File, Folder, Help, Json, More, files_of, flat
from publius.errors import UsageError
from publius.evaluation.asked import Limits, Tried
from publius.settings import People, Reading

if TYPE_CHECKING:
    from publius.evaluation.records import Results

_UNSAID: Final = ("public", "more", "output", "workers", "json")
"""What changes no figure, or stands first in the command that is printed."""


def evaluate(
    public: Annotated[File, Help("Public texts with authors.")],
    *more: More,
    epsilon: Annotated[str, Help("Such as 10,20,none (none is always tried).")] = "",
    classifier: Annotated[str | None, Help("Evaluate its labels, in closed form.")] = None,
    attackers: Annotated[str, Help("Such as words,koppel; an unknown name lists all.")] = "",
    protocol: Annotated[Literal["paper"] | None, Help("Table 1 of the paper, whole.")] = None,
    as_is: Annotated[bool, Help("Attack texts as they are; for the curator alone.")] = False,
    summary: Annotated[str | None, Help("Who is in this summary of PUBLIC?")] = None,
    output: Annotated[Folder | None, Help("New folder for results and report.")] = None,
    topic_field: Annotated[str | None, Help("Column of topics. Default: topic.")] = None,
    role_field: Annotated[str | None, Help("Column of known and unknown. Default: role.")] = None,
    folds: Annotated[int, Help("Parts attacked in turn.")] = 5,
    workers: Annotated[int | None, Help("Processes of the paper's table.")] = None,
    json: Json = False,
    tried: Annotated[Tried, flat("Protection")] = Tried(),
    limits: Annotated[Limits, flat("Limits")] = Limits(),
    reading: AsRead = Reading(),
    people: ByAuthors = People(),
) -> int | None:
    """Attack protected public texts; a grid of epsilons with limits finds the first that passes."""
    command = _command(locals())
    import msgspec

    from publius.evaluation import evaluate as made
    from publius.evaluation.membership import of_summary
    from publius.evaluation.records import EPSILONS
    from publius.evaluation.report import headline, write
    from publius.evaluation.verdict import EXIT_CODES
    from publius.files import check_new_folder
    from publius.releases.register import were_released

    if output is not None:
        check_new_folder(output)
    if sum([classifier is not None, as_is, protocol is not None, summary is not None]) > 1:
        raise UsageError("Choose one of --classifier, --as-is, --protocol and --summary.")
    if limits.given and (as_is or protocol or summary):
        raise UsageError("Limits are for words and labels: leave them out, or leave out --as-is and --protocol.")
    epsilons = _epsilons(epsilon)
    if limits.given and not epsilons:
        raise UsageError("A verdict needs a grid: --epsilon 1,2,5.")
    source = made.Public(
        source=files_of(public, more), reading=reading, people=people, topic_field=topic_field,
        role_field=role_field, folds=folds, command=command,
    )  # fmt: skip
    names = [part.strip() for part in attackers.split(",") if part.strip()]

    def work() -> Results:
        if classifier is not None:
            from publius.classifiers import load_classifier

            return made.of_labels(source, load_classifier(classifier), epsilons, limits)
        if as_is:
            return made.of_texts_as_they_are(source, names)
        if summary is not None:
            return of_summary(source, summary)
        if protocol is not None:
            koppel = next((name for name in names if name.startswith("koppel")), "koppel")
            topical = next((name for name in names if not name.startswith("koppel")), "fasttext")
            asked = epsilons if epsilon else EPSILONS
            return made.of_paper(source, asked, tried, koppel=koppel, topical=topical, workers=workers)
        return made.of_words(source, epsilons, tried, names, limits)

    results = console.watched(work)
    if were_released(results.data.get("sha256", ())):
        console.note("A file that was attacked was released here: no page may show what was found.")
    if output is not None:
        write(results, output)
    console.answer(msgspec.to_builtins(results), _shown(results), headline(results), json=json)
    return EXIT_CODES[results.verdict] or None if results.verdict else None


def _epsilons(text: str) -> list[float]:
    found = []
    for each in (part.strip() for part in text.split(",")):
        if each in ("", "none"):
            continue
        try:
            value = float(each)
        except ValueError:
            value = -1.0
        if not 0 < value < float("inf"):
            raise UsageError(f"--epsilon takes numbers above 0 and none, not {each!r:.40}.")
        found.append(value)
    return list(dict.fromkeys(found))


def _shown(results: Results) -> Table | None:
    """One table: the curve where several settings were tried, else the attackers."""
    from publius.evaluation.records import COLUMNS
    from publius.evaluation.report import curve, paper_rows, share, table_rows
    from publius.privacy.promise import percent

    if results.kind == "summary" or not results.attackers:
        return None
    if results.kind == "paper":
        return Table(
            ["epsilon", *COLUMNS],
            [[row["epsilon"], *(f"{c['correct']:g} ({c['low']:g} to {c['high']:g})" for c in row["cells"])]
             for row in paper_rows(results)],
        )  # fmt: skip
    if len(rows := curve(results)) <= 2:
        return Table(*table_rows(results))
    return Table(
        ["setting", "identified (95 % CI)", "baseline", "topics right", "verdict"],
        [
            [row["setting"].name, share(row["identified"]), percent(row["baseline"].value),
             "" if row["topic"] is None else share(row["topic"]), row["answer"]]
            for row in rows
        ],
    )  # fmt: skip


def _command(given: dict[str, Any]) -> str:
    """The command line that repeats this, from what differs from the defaults; of paths their names, for it is read."""
    parts, asked = ["publius", "evaluate", given["public"], *given["more"]], []
    for name, parameter in signature(evaluate).parameters.items():
        value, default = given[name], parameter.default
        if is_dataclass(value):
            asked += [(each, its, getattr(default, each)) for each, its in vars(value).items()]
        elif name not in _UNSAID:
            asked.append((name, value, default))
    for name, value, default in asked:
        for each in (value if isinstance(value, tuple) else (value,)) if value != default else ():
            parts += [f"--{name.replace('_', '-')}", *([] if each is True else [str(each)])]
    return shlex.join([Path(each).name if Path(each.removeprefix("file:")).exists() else each for each in parts])
