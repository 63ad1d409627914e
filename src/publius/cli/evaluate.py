"""``publius evaluate``: attack protected public texts, and say who is identified."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from publius.cli.parsing import File, flat
from publius.errors import UsageError
from publius.settings import People, Reading, UnknownPolicy, Words

if TYPE_CHECKING:
    from publius.evaluation.evaluate import Public, Tried
    from publius.evaluation.records import Results
    from publius.evaluation.verdict import Limits


@dataclass(frozen=True, kw_only=True)
class TriedWords(Words):
    """What replaces the words, and how texts are read for it."""

    mechanism: str = "laplace"
    """Kernels, as laplace,exponential."""
    unknown: UnknownPolicy | None = None  # type: ignore[assignment]
    """Words without a vector. Default: unk; the paper: keep."""
    length: str | None = None
    """Words per bag, or shortest. Default: 40."""
    draws: int = 1
    """Draws of noise in each setting."""
    seed: int = 0
    """Of the noise, as in any experiment."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Limits that make a verdict: exit code 0 PASS, 1 FAIL, 3 INCONCLUSIVE."""

    identified_at_most: float | None = None
    """Share of texts whose author is named."""
    advantage_at_most: float | None = None
    """Share beyond the baseline."""
    topic_at_least: float | None = None
    """Share of texts whose topic is told."""
    tries: int = 0
    """Settings tried on these texts before."""


def evaluate(
    public: File,
    *more: File,
    epsilon: str = "",
    classifier: str | None = None,
    attackers: str = "",
    protocol: Literal["paper"] | None = None,
    as_is: bool = False,
    summary: str | None = None,
    output: str | None = None,
    topic_field: str | None = None,
    role_field: str | None = None,
    folds: int = 5,
    workers: int | None = None,
    json: bool = False,
    words: Annotated[TriedWords, flat("Protection")] = TriedWords(),
    asked: Annotated[Asked, flat("Limits")] = Asked(),
    reading: Annotated[Reading, flat("Reading")] = Reading(),
    people: Annotated[People, flat("People")] = People(),
) -> int | None:
    """Attack protected public texts; a grid of epsilons with limits finds the first that passes.

    Parameters
    ----------
    public
        Public texts with authors.
    more
        Further files.
    epsilon
        Such as 10,20,none (none is always tried).
    classifier
        Evaluate its labels, in closed form.
    attackers
        letters, words, likelihood, delta, informed, worst-case, transport,
        koppel[:least_words=400:rounds=100], fasttext[:dimension=50:subwords=3-6:
        vectors=NAME:validation=0.1:epochs=25:rate=1], adaptive-NAME, python:M:C.
    protocol
        Table 1 of the paper, whole.
    as_is
        Attack texts as they are; for the curator alone.
    summary
        Who is in this summary of PUBLIC?
    output
        New folder for results and report.
    topic_field
        Column of topics. Default: topic.
    role_field
        Column of known and unknown. Default: role.
    folds
        Parts attacked in turn without roles.
    workers
        Processes of the paper's table.
    json
        Print the result as JSON.
    """
    import msgspec

    from publius.cli import console
    from publius.evaluation import evaluate as made
    from publius.evaluation.report import headline, write
    from publius.evaluation.verdict import EXIT_CODES, Limits
    from publius.files import check_new_folder

    if output is not None:
        check_new_folder(output)
    source = made.Public(
        source=[public, *more] if more else public, reading=reading, people=people, topic_field=topic_field,
        role_field=role_field, folds=folds, command=_command([public, *more], locals()),
    )  # fmt: skip
    limits = Limits(**vars(asked))
    chosen = [bool(classifier), as_is, protocol is not None, summary is not None]
    if sum(chosen) > 1:
        raise UsageError("Choose one of --classifier, --as-is, --protocol and --summary.")
    if limits.given and (as_is or protocol or summary):
        raise UsageError(
            "Limits are for words and labels: leave them out, or leave out --as-is and --protocol."
        )
    epsilons = _epsilons(epsilon)
    if limits.given and not epsilons:
        raise UsageError("A verdict needs a grid: --epsilon 1,2,5.")
    work = _work(
        source,
        epsilons if epsilon else None,
        classifier,
        _names(attackers),
        protocol,
        as_is,
        summary,
        words,
        limits,
        workers,
    )
    results: Results = console.watched(work)
    if output is not None:
        write(results, output)
    if json:
        console.as_json(msgspec.to_builtins(results))
    else:
        _shown(results)
        console.say(headline(results))
    return EXIT_CODES[results.verdict] or None if results.verdict else None


def _work(
    source: Public, asked: list[float] | None, classifier: str | None, names: list[str], protocol: str | None, as_is: bool,
    summary: str | None, words: TriedWords, limits: Limits, workers: int | None,
) -> Any:  # fmt: skip
    """The evaluation that was asked for, as a function without arguments."""
    from publius.evaluation import evaluate as made
    from publius.evaluation.records import EPSILONS

    epsilons = asked or []
    if classifier is not None:
        from publius.classifiers import load_classifier

        return lambda: made.of_labels(source, load_classifier(classifier), epsilons, limits)
    if as_is:
        return lambda: made.of_texts_as_they_are(source, names)
    if summary is not None:
        from publius.evaluation.membership import of_summary

        return lambda: of_summary(source, summary)
    if protocol is not None:
        koppel = next((name for name in names if name.startswith("koppel")), "koppel")
        topical = next((name for name in names if not name.startswith("koppel")), "fasttext")
        tried = _tried(words, list(EPSILONS) if asked is None else asked, "keep")
        return lambda: made.of_paper(source, tried, koppel=koppel, topical=topical, workers=workers)
    if words.length == "shortest":
        raise UsageError(
            "--length shortest is the paper's way: add --protocol paper, or give a number of words."
        )
    tried = _tried(words, epsilons, "unk")
    return lambda: made.of_words(source, tried, names, limits)


def _tried(words: TriedWords, epsilons: list[float], unknown: UnknownPolicy) -> Tried:
    from publius.evaluation.evaluate import Tried

    length = None
    if words.length not in (None, "shortest"):
        if not str(words.length).isdecimal() or int(words.length) < 1:
            raise UsageError(f"--length is a number of words or shortest, not {words.length!r:.40}.")
        length = int(words.length)
    return Tried(
        mechanisms=[each.strip() for each in words.mechanism.split(",")], epsilons=epsilons, length=length,
        embeddings=words.embeddings, metric=words.metric, parameters=words.set, stop_words=words.stop_words,
        unknown=words.unknown or unknown, draws=words.draws, seed=words.seed,
    )  # fmt: skip


def _epsilons(text: str) -> list[float]:
    found = []
    for each in filter(None, (part.strip() for part in text.split(","))):
        if each == "none":
            continue
        try:
            value = float(each)
        except ValueError:
            value = -1.0
        if not 0 < value < float("inf"):
            raise UsageError(f"--epsilon takes numbers above 0 and none, not {each!r:.40}.")
        found.append(value)
    return list(dict.fromkeys(found))


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _shown(results: Results) -> None:
    """One table: the curve where several settings were tried, else the attackers."""
    from publius.cli import console
    from publius.evaluation.records import COLUMNS
    from publius.evaluation.report import curve, paper_rows, share, table_rows

    if results.kind == "summary" or not results.attackers:
        return
    rows = curve(results)
    if results.kind == "paper":
        found = paper_rows(results)
        console.table(
            ["epsilon", *COLUMNS],
            [[row["epsilon"], *(f"{c['correct']:g} ({c['low']:g} to {c['high']:g})" for c in row["cells"])] for row in found],
        )  # fmt: skip
    elif len(rows) > 2:
        console.table(
            ["setting", "identified (95 % CI)", "baseline", "topics right", "verdict"],
            [
                [row["setting"].name, share(row["identified"]), share(row["baseline"], plain=True),
                 "" if row["topic"] is None else share(row["topic"]), row["answer"]]
                for row in rows
            ],
        )  # fmt: skip
    else:
        console.table(*table_rows(results))


def _command(files: list[str], given: dict[str, Any]) -> str:
    """The command line that repeats this, from what differs from the defaults."""
    parts = ["publius", "evaluate", *files]
    defaults = {"epsilon": "", "attackers": "", "as_is": False, "folds": 5, "json": False}
    for name in (
        "epsilon",
        "classifier",
        "attackers",
        "protocol",
        "as_is",
        "summary",
        "topic_field",
        "role_field",
        "folds",
    ):
        if given[name] != defaults.get(name):
            parts += [f"--{name.replace('_', '-')}", *([] if given[name] is True else [str(given[name])])]
    for group in (given["words"], given["asked"], given["reading"], given["people"]):
        for name, value in vars(group).items():
            if value == getattr(type(group)(), name):
                continue
            for each in value if isinstance(value, tuple) else (value,):
                parts += [f"--{name.replace('_', '-')}", *([] if each is True else [str(each)])]
    return shlex.join(parts)
