"""Evaluations from a file of public texts to `Results`: of words, of labels, of texts as they are, of the paper's table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from publius import __version__
from publius.errors import UsageError
from publius.evaluation.attackers import INFORMED, WORST_CASE, checked_names
from publius.evaluation.corpus import Dataset, everybody
from publius.evaluation.corpus import Public as Public
from publius.evaluation.labels import RANDOMIZED, evaluate_labels
from publius.evaluation.records import Attempt, Results, Setting
from publius.evaluation.report import focus
from publius.evaluation.verdict import judged, overall, too_few
from publius.settings import Limits, Tried, UnknownPolicy

if TYPE_CHECKING:
    from publius.evaluation.run import Words


def of_words(
    public: Public, epsilons: Sequence[float], tried: Tried = Tried(), attackers: Sequence[str] = (), limits: Limits = Limits()
) -> Results:  # fmt: skip
    """Attack the words of protected public texts; with ``limits`` a calibration: the first setting that passes."""
    names, data = checked_names(attackers), public.dataset()
    settings = [Setting(name, epsilon) for name in _mechanisms(tried) for epsilon in epsilons]

    def attack() -> tuple[list[Attempt], dict[str, Any]]:
        from publius.evaluation.run import Evaluation

        words = _words(tried, 40, "unk")
        attempts, found = Evaluation(data, words, settings, names, tried.draws, tried.seed).run()
        facts = {"length": words.length, "draws": tried.draws, "seed": tried.seed} | found
        return attempts, {"public": (_named(words.embeddings),), "facts": facts}

    return _results(public, "words", data, attack, settings, limits)


def of_labels(public: Public, classifier: Any, epsilons: Sequence[float], limits: Limits = Limits()) -> Results:
    """What rows of a label release say of authors and topics, in closed form."""
    data = everybody(*public.read())

    def attack() -> tuple[list[Attempt], dict[str, Any]]:
        answers = classifier.answers([text.text for text in data.attacked])
        attempts, facts = evaluate_labels(data, classifier.labels, answers, epsilons)
        return attempts, {"public": (_named(classifier, classifier.kind),), "facts": {"labels": facts}}

    return _results(public, "labels", data, attack, [Setting(RANDOMIZED, epsilon) for epsilon in epsilons], limits)


def of_texts_as_they_are(public: Public, attackers: Sequence[str] = ()) -> Results:
    """Attack texts as they are, such as those that another program made anonymous: for the curator alone."""
    names = checked_names(attackers or ("letters", "words", "likelihood", "delta", "koppel"))
    for name in names:
        if name in (INFORMED, WORST_CASE, "transport") or name.startswith("adaptive-"):
            raise UsageError(f"--as-is has no mechanism and no word vectors, so not the attacker {name}.")
    from publius.evaluation.run import Evaluation, Words

    data = public.dataset()
    return _results(public, "as-is", data, lambda: (Evaluation(data, Words(), (), names).run()[0], {"as_is": True}))


def of_paper(
    public: Public, epsilons: Sequence[float], tried: Tried = Tried(), *, koppel: str = "koppel", topical: str = "fasttext",
    workers: int | None = None,
) -> Results:  # fmt: skip
    """The paper's Table 1, whole."""
    checked_names([koppel, topical])
    from publius.evaluation.paper import table1

    mechanism, *_ = _mechanisms(tried)
    data, words = public.dataset(), _words(tried, 0, "keep")
    attempts, facts = table1(
        data, words, [Setting(mechanism, epsilon) for epsilon in epsilons], draws=tried.draws, seed=tried.seed,
        koppel=koppel, topical=topical, workers=workers,
    )  # fmt: skip
    return _results(public, "paper", data, lambda: (attempts, {"public": (_named(words.embeddings),), "facts": facts}))


def _mechanisms(tried: Tried) -> list[str]:
    if tried.draws < 1:
        raise UsageError(f"--draws is a number from 1, not {tried.draws}.")
    return [each.strip() for each in tried.mechanism.split(",")]


def _words(tried: Tried, length: int, unknown: UnknownPolicy) -> Words:
    """The words of texts, and what replaces them; ``length`` and ``unknown`` where nothing else was asked."""
    from publius.distances.metrics import metric_asked
    from publius.embeddings.embeddings import Embeddings
    from publius.evaluation.run import Words
    from publius.mechanisms.registry import make_kernel

    if tried.unknown == "reject":
        raise UsageError("An evaluation protects every text as a release does: --unknown unk or drop, or keep.")
    asked = str(tried.length or length or "shortest")
    if asked == "shortest" and length:
        raise UsageError("--length shortest is the paper's way: add --protocol paper, or give a number of words.")
    if asked != "shortest" and not (asked.isdecimal() and int(asked)):
        raise UsageError(f"--length is a number of words or shortest, not {asked!r:.40}.")
    parameters, made = _parameters(tried), dict[str, Any]()
    embeddings = Embeddings.load(tried.embeddings)

    def kernel(name: str, epsilon: float) -> Any:
        if name not in made:
            made[name] = make_kernel(
                name, embeddings, epsilon=epsilon, metric=tried.metric, parameters=parameters[name]
            )
        return made[name].at(epsilon)

    return Words(
        embeddings, 0 if asked == "shortest" else int(asked), kernel, tried.unknown or unknown, tried.stop_words,
        metric_asked(tried.metric),
    )  # fmt: skip


def _parameters(tried: Tried) -> dict[str, dict[str, Any]]:
    """For each mechanism what it declares of the parameters; `UsageError` for one that none takes."""
    from publius.mechanisms.registry import kernel_class, parse_set
    from publius.option import declared

    kinds = {name: kernel_class(name) for name in _mechanisms(tried)}
    takes = {name: declared(kind.Parameters) for name, kind in kinds.items()}
    every = set[str]().union(*takes.values())
    return {
        name: parse_set(kind, [
            each for each in tried.set if (parameter := each.partition("=")[0]) in takes[name] or parameter not in every
        ])
        for name, kind in kinds.items()
    }  # fmt: skip


def _named(public: Any, kind: str = "embeddings") -> dict[str, Any]:
    return {"name": public.name, "kind": kind, "sha256": public.sha256}


def _results(
    public: Public, kind: Any, data: Dataset, attack: Callable[[], tuple[list[Attempt], dict[str, Any]]],
    settings: Sequence[Setting] = (), limits: Limits = Limits(),
) -> Results:  # fmt: skip
    """What ``attack`` found, with a verdict on each setting; where too few authors could show anything, nothing is attacked."""
    authors = len(set(data.authors))
    few = too_few(limits, settings, authors) if limits.given else []
    attempts, more = ([], {}) if few else attack()
    verdicts = few or (judged(attempts, limits) if limits.given else [])
    facts = {
        "attacked": len(data.attacked), "known": len(data.known), "authors": authors, "split": data.said,
        "sha256": list(data.sha256),
    }  # fmt: skip
    made = Results(
        publius_version=__version__, kind=kind, command=public.command, candidates=float(authors), data=facts,
        attackers=tuple(attempts), limits=limits.given, verdicts=tuple(verdicts),
        verdict=overall(verdicts).answer if verdicts else None, **more,
    )  # fmt: skip
    return msgspec.structs.replace(made, epsilon=focus(made).epsilon)
