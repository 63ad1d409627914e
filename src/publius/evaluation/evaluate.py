"""Evaluations from a file of public texts to `Results`: of words, of labels, of texts as they are, of the paper's table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from publius import __version__
from publius.errors import UsageError
from publius.evaluation.attackers import INFORMED, WORST_CASE, checked_names
from publius.evaluation.corpus import FOLDS, Dataset, everybody, read_texts, split
from publius.evaluation.records import CLEAR, Results, Setting
from publius.evaluation.run import AsIs, Evaluation, Words
from publius.evaluation.verdict import Limits, judged, overall, too_few
from publius.settings import ENGLISH, EUCLIDEAN, People, Reading, UnknownPolicy

AS_IS_ATTACKERS: Final = ("letters", "words", "likelihood", "delta", "koppel")
LENGTH: Final = 40


@dataclass(frozen=True, kw_only=True)
class Public:
    """The public texts of an evaluation, and how they are read and split.

    ``texts`` are rows that were read before; None where they are read from ``source``.
    """

    source: Any = None
    reading: Reading = Reading()
    people: People = People()
    topic_field: str | None = None
    role_field: str | None = None
    folds: int = FOLDS
    texts: Sequence[Any] | None = None
    command: str = ""

    def read(self) -> tuple[list[Any], tuple[str, ...]]:
        """The texts and the digests of their files."""
        if self.texts is not None:
            return list(self.texts), ()
        return read_texts(self.source, self.reading, self.people, self.topic_field, self.role_field)

    def dataset(self) -> Dataset:
        """Known and attacked texts."""
        if self.folds < 2:
            raise UsageError(f"--folds is a number from 2, not {self.folds}.")
        texts, sha256 = self.read()
        return split(texts, sha256, self.folds)


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What is tried on words.

    ``epsilons`` for each of ``mechanisms``, with those of the ``parameters`` NAME=VALUE that it declares; clear text is always
    attacked as well.
    """

    mechanisms: Sequence[str] = ("laplace",)
    epsilons: Sequence[float] = ()
    length: int | None = None
    embeddings: Any = None
    metric: Any = EUCLIDEAN
    parameters: Sequence[str] = ()
    stop_words: str = ENGLISH
    unknown: UnknownPolicy = "unk"
    draws: int = 1
    seed: int = 0

    def settings(self) -> list[Setting]:
        """Each mechanism at each epsilon."""
        if self.draws < 1:
            raise UsageError(f"--draws is a number from 1, not {self.draws}.")
        return [Setting(name, epsilon) for name in self.mechanisms for epsilon in self.epsilons]

    def words(self, default: int) -> Words:
        """The words of texts, and what replaces them."""
        from publius.distances.metrics import metric_asked
        from publius.embeddings.embeddings import Embeddings
        from publius.mechanisms.registry import make_kernel

        if self.unknown == "reject":
            raise UsageError(
                "An evaluation protects every text as a release does: --unknown unk or drop, or keep."
            )
        given, parameters = self.embeddings, self._parameters()
        embeddings = given if isinstance(given, Embeddings) else Embeddings.load(given)
        made: dict[str, Any] = {}

        def kernel(name: str, epsilon: float) -> Any:
            if name not in made:
                made[name] = make_kernel(
                    name, embeddings, epsilon=epsilon, metric=self.metric, parameters=parameters[name]
                )
            return made[name].at(epsilon)

        metric = metric_asked(self.metric) if isinstance(self.metric, str) else self.metric
        return Words(embeddings, self.length or default, kernel, self.unknown, self.stop_words, metric)

    def _parameters(self) -> dict[str, dict[str, Any]]:
        """For each mechanism what it declares of the parameters; `UsageError` for one that none takes."""
        from publius.mechanisms.registry import kernel_class, parse_set
        from publius.option import declared

        kinds = {name: kernel_class(name) for name in self.mechanisms}
        takes = {name: {each.name for each in declared(kind.Parameters)} for name, kind in kinds.items()}
        lost = [
            each
            for each in self.parameters
            if not any(each.partition("=")[0] in own for own in takes.values())
        ]
        return {
            name: parse_set(
                kind,
                [each for each in self.parameters if each in lost or each.partition("=")[0] in takes[name]],
            )
            for name, kind in kinds.items()
        }


def of_words(
    public: Public, tried: Tried, attackers: Sequence[str] = (), limits: Limits = Limits()
) -> Results:
    """Attack the words of protected public texts; with ``limits`` a calibration: the first setting that passes."""
    names = checked_names(attackers)
    data, settings = public.dataset(), tried.settings()
    few = too_few(limits, settings, len(set(data.authors))) if limits.given else []
    if few:
        return _results(
            public, "words", data, limits=limits.given, verdict="INCONCLUSIVE", verdicts=tuple(few)
        )
    words = tried.words(LENGTH)
    evaluation = Evaluation(data, words, settings, names, tried.draws, tried.seed)
    attempts = evaluation.run()
    verdicts = judged(attempts, limits) if limits.given and settings else []
    return _results(
        public, "words", data, attackers=tuple(attempts), limits=limits.given, verdicts=tuple(verdicts),
        verdict=overall(verdicts).answer if verdicts else None, public=(_named(words),),
        facts={
            "length": words.length, "draws": tried.draws, "seed": tried.seed, "changed": evaluation.changed,
            "unknown": words.unknown, "stop_words": words.stop_words, "metric": getattr(words.metric, "name", ""),
        },
    )  # fmt: skip


def of_labels(
    public: Public, classifier: Any, epsilons: Sequence[float], limits: Limits = Limits()
) -> Results:
    """What rows of a label release say of authors and topics, in closed form."""
    from publius.evaluation.labels import evaluate_labels

    texts, sha256 = public.read()
    data = everybody(texts, sha256)
    for epsilon in epsilons:
        if not 0 < epsilon < float("inf"):
            raise UsageError(f"--epsilon is a number above 0, not {epsilon:g}.")
    settings = [Setting("randomized-response", epsilon) for epsilon in epsilons]
    few = too_few(limits, settings, len(set(data.authors))) if limits.given else []
    if few:
        return _results(
            public, "labels", data, limits=limits.given, verdict="INCONCLUSIVE", verdicts=tuple(few)
        )
    answers = classifier.answers([text.text for text in data.attacked])
    attempts, facts = evaluate_labels(data, classifier.labels, answers, epsilons)
    verdicts = judged(attempts, limits) if limits.given and settings else []
    return _results(
        public, "labels", data, attackers=tuple(attempts), limits=limits.given, verdicts=tuple(verdicts),
        verdict=overall(verdicts).answer if verdicts else None,
        public=({"name": classifier.name, "kind": classifier.kind, "sha256": classifier.sha256},),
        facts={"labels": facts},
    )  # fmt: skip


def of_texts_as_they_are(public: Public, attackers: Sequence[str] = ()) -> Results:
    """Attack texts as they are, such as those that another program made anonymous: for the curator alone."""
    names = checked_names(attackers or AS_IS_ATTACKERS)
    for name in names:
        if name in (INFORMED, WORST_CASE, "transport") or name.startswith("adaptive-"):
            raise UsageError(f"--as-is has no mechanism and no word vectors, so not the attacker {name}.")
    data = public.dataset()
    attempts = Evaluation(data, AsIs(), (), names).run()
    return _results(public, "as-is", data, attackers=tuple(attempts), as_is=True)


def of_paper(
    public: Public,
    tried: Tried,
    *,
    koppel: str = "koppel",
    topical: str = "fasttext",
    workers: int | None = None,
) -> Results:
    """The paper's Table 1, whole."""
    from publius.evaluation.paper import table1

    checked_names([koppel, topical])
    data, words = public.dataset(), tried.words(1)
    tried.settings()
    found = table1(
        data, words, tried.epsilons, mechanism=tried.mechanisms[0], draws=tried.draws, seed=tried.seed,
        koppel=koppel, topical=topical, length=tried.length, workers=workers,
    )  # fmt: skip
    facts = {
        "length": found.length, "neighbours": found.neighbours, "first_words": found.first_words, "changed": found.changed,
        "draws": tried.draws, "seed": tried.seed, **found.facts,
    }  # fmt: skip
    return _results(public, "paper", data, attackers=found.attempts, public=(_named(words),), facts=facts)


def _named(words: Words) -> dict[str, Any]:
    return {"name": words.embeddings.name, "kind": "embeddings", "sha256": words.embeddings.sha256}


def _results(public: Public, kind: Any, data: Dataset, /, **more: Any) -> Results:
    from publius.evaluation.report import focus

    made = Results(
        publius_version=__version__, kind=kind, command=public.command, data=data.facts(),
        candidates=float(len(set(data.authors))), **more,
    )  # fmt: skip
    setting = focus(made)
    return _replaced(made, epsilon=None if setting == CLEAR else setting.epsilon)


def _replaced(results: Results, **changes: Any) -> Results:
    import msgspec

    return msgspec.structs.replace(results, **changes)
