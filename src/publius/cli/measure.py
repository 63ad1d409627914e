"""``publius evaluate`` attacks protected public texts; ``publius audit`` tries this installation, or anybody's mechanism."""

from __future__ import annotations

import shlex
from dataclasses import is_dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from publius.cli import console
from publius.cli.console import Note, Table
from publius.cli.parsing import AsRead, ByAuthors, File, Folder, Help, Json, More, files_of, flat
from publius.errors import UsageError
from publius.settings import Limits, People, Reading, Tried

if TYPE_CHECKING:
    from publius.audit.case import Finding
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
    from publius.evaluation.records import EPSILONS
    from publius.evaluation.report import headline, write
    from publius.evaluation.verdict import EXIT_CODES
    from publius.files.writing import check_new_folder
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
            from publius.evaluation.membership import of_summary

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
    from publius.evaluation.records import ABOUT
    from publius.evaluation.report import curve, paper_rows, share, table_rows
    from publius.privacy.promise import percent

    if results.kind == "summary" or not results.attackers:
        return None
    if results.kind == "paper":
        return Table(
            ["epsilon", *ABOUT],
            [[row["epsilon"], *(f"{round(c['correct'], 1):g} ({c['low']:g} to {c['high']:g})" for c in row["cells"])]
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


def audit(
    *,
    mechanism: Annotated[tuple[str, ...], Help("Laws of it, or of python:MODULE:CLASS; repeatable.")] = (),
    target: Annotated[str | None, Help("python:MODULE:NAME, 'command: ...', recorded:FILE.")] = None,
    claim: Annotated[Path | None, Help("TOML: unit, epsilon or bound, vocabulary, vectors.")] = None,
    replay: Annotated[Path | None, Help("A case that refuted a target, to be tried again.")] = None,
    draws: Annotated[int, Help("About how many draws are made.")] = 100_000,
    seed: Annotated[int | None, Help("Seed of all draws. Default: a fresh one.")] = None,
    output: Annotated[Path | None, Help("For the case that refutes. Default: case.json.")] = None,
    json: Json = False,
) -> int:
    """Check this installation, or a mechanism's claim.

    Without options: known answers, laws of every mechanism; exit 70 if a check fails. A refuted target: exit 1.
    """
    from publius.audit.case import Case
    from publius.audit.case import replay as tried_again
    from publius.noise.randomness import entropy

    seed = int.from_bytes(entropy(4), "little") if seed is None else seed
    if target is None:
        if claim is not None or replay is not None:
            raise UsageError("--claim and --replay need --target, the mechanism that is tried")
        return _installation(mechanism, seed, json=json)
    if claim is None and replay is not None:
        return _of_target(console.watched(tried_again, Case.read(replay), target), target, replay, json=json)
    if claim is None or replay is not None:
        raise UsageError("--target needs --claim FILE.toml, or --replay CASE")
    found, place = console.watched(_judged, target, claim, draws, seed), output or Path("case.json")
    if found.case is not None:
        found.case.write(place)
    return _of_target(found, target, place, json=json)


def _installation(names: tuple[str, ...], seed: int, *, json: bool) -> int:
    from publius.audit.check import Check, checks
    from publius.audit.laws import check_laws
    from publius.mechanisms.registry import KERNELS, make_kernel

    def found() -> list[Check]:
        made = [] if names else list(checks())
        for name in names or KERNELS:
            verdicts = list(check_laws(lambda *on, name=name: make_kernel(name, on[0], epsilon=on[1]), seed=seed))
            faults = [f"{law}, on {vocabulary}: {reason}" for law, vocabulary, reason in verdicts if reason]
            laws, vocabularies = ({each[place] for each in verdicts} for place in (0, 1))
            said = faults[0] if faults else f"{len(laws)} laws on {len(vocabularies)} vocabularies"
            made.append(Check(f"laws of {name}", not faults, said))
        return made

    rows = console.watched(found)
    passed = all(row.passed for row in rows)
    said = "All checks passed." if passed else "FAILED: do not release with this installation; please report it."
    console.answer(
        {"passed": passed, "seed": seed, "checks": [row._asdict() for row in rows]},
        Table(("check", "", "found"), [(row.name, "ok" if row.passed else "FAILED", row.found) for row in rows]), said,
        json=json,
    )  # fmt: skip
    return 0 if passed else 70


def _judged(target: str, claim: Path, draws: int, seed: int) -> Finding:
    from publius.audit.claim import Claim
    from publius.audit.judge import judge
    from publius.audit.target import target_named

    stated = Claim.read(claim)
    with target_named(target, stated.unit) as opened:
        return judge(opened, stated, draws, seed)


def _of_target(found: Finding, target: str, place: Path, *, json: bool) -> int:
    """What is found of a target; a case that refutes it lies at ``place``."""
    from msgspec.structs import asdict

    from publius.audit.case import KINDS, counterexample

    rests = f"confidence {found.confidence:g}, {found.draws:,} draws"
    if found.case is not None:
        tried_with, seen = counterexample(found.case)
        told = (
            f"refuted: {KINDS[found.case.kind]}; {rests}\ntried: {tried_with}\nseen: {seen}\n"
            f"Try it again: publius audit --replay {place} --target {target}"
        )
    else:
        claimed = "nothing" if found.claimed is None else f"{found.claimed:.6g}"
        told = f"{found.verdict}: ln of the ratio is at least {found.lower_bound:.6g}, claimed {claimed}; {rests}"
    console.answer(
        asdict(found) | {"case": str(place) if found.case is not None else None}, told,
        Note(f"{found.refused:,} inputs gave no output: nothing is said of them.") if found.refused else None,
        json=json,
    )  # fmt: skip
    return 1 if found.verdict == "refuted" else 0
