"""An evaluation from its request to its folder: cells in parallel, each kept as soon as it is done, then the tables.

A killed run goes on where it was: cells that are there are not run again. The noise of a cell comes from the seed,
the repeat and the texts' ids only, so neither order nor number of workers changes a result.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any, final

from publius.distances.metrics import metric_asked
from publius.errors import DataError, PubliusError, UsageError
from publius.evaluation.adversaries import PRESETS, choose_adversaries
from publius.evaluation.attackers.language import LanguageAdversary
from publius.evaluation.data import Dataset
from publius.evaluation.encoding import EncodedDataset
from publius.evaluation.experiment import Cell, CellResult, Setting, run_cell
from publius.evaluation.hindsight import with_limit
from publius.evaluation.neighborhood import Neighborhood, neighborhood
from publius.evaluation.readings import Reading
from publius.evaluation.rows import CLEAN, ResultRow
from publius.evaluation.same_run import keep_key, what_is_the_same
from publius.files import read_bytes_limited, shown, storage_error, write_file
from publius.files.progress import Progress
from publius.files.user_code import PYTHON
from publius.files.workers import DIED, carried, spawning
from publius.mechanisms.registry import class_named, parameters_of, strength_of
from publius.mechanisms.whole import LENGTH
from publius.noise.laplace import checked_epsilon
from publius.noise.randomness import entropy
from publius.option import declared
from publius.releases.engines.worker_pool import end_with_parent
from publius.settings import EvaluationSettings, MechanismSettings, name_and_strength, names_of
from publius.vectors.embeddings import Embeddings

"""Called with the part that was just done, or "" within one, how many steps are done, and how many there are."""

_FACTS = "run.json"
MEMBERSHIP = "membership.json"
"""What stands in the evaluation of a summary instead."""
_CELLS = "cells"
_NEIGHBORHOOD = "neighborhood"
_ADDED = ("mechanisms", "epsilons", "bounds")
_LOOK = 0.5  # seconds after which steps of workers are passed on


@final
@dataclass(frozen=True, kw_only=True)
class EvaluationRequest(EvaluationSettings):
    """The public choices of an evaluation; every one is kept in ``run.json``.

    Nothing is imported to make one: that file names what it likes. `of` makes one of what the user asks.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        own = [at for _, at in map(name_and_strength, self.mechanisms) if at is not None]
        for strength in (*self.epsilons, *self.bounds, *own):
            checked_epsilon(strength)
        if not self.mechanisms:
            raise UsageError("an evaluation needs a mechanism")

    def check_asked(self) -> None:
        """`UsageError` for what would be passed over: a mechanism without a strength, a parameter without a taker."""
        open_ended = [name for name, at in map(name_and_strength, self.mechanisms) if at is None]
        if open_ended and not self.epsilons and not self.bounds:
            raise UsageError(
                "say how strongly to protect: --epsilon, --bound, --mechanism NAME:STRENGTH, or --release DIR for a "
                "release's own setting"
            )
        replacing = [name for name in open_ended if name not in self.bounded]
        if self.bounds and not self.epsilons and replacing:
            raise UsageError(f"the mechanism {replacing[0]} replaces words: give --epsilon")
        takers = map(parameters_of, self.names)
        if self.parts is not None and self.adversary is not None:
            raise UsageError(
                "a language model learns from all known texts: leave out --parts, or --adversary"
            )
        if foreign := sorted(set(self.parameters).difference(*takers)):
            names = " and ".join(self.names)
            raise UsageError(f"of {names} none takes {' or '.join(foreign)}")

    @classmethod
    def of(cls, settings: EvaluationSettings) -> EvaluationRequest:
        """The request that ``settings`` make: what they leave open is chosen, "all" adversaries are named."""
        choices = {each.name: getattr(settings, each.name) for each in declared(cls)}
        preset = PRESETS[settings.preset]
        first = "prototype" if settings.bounds and not settings.epsilons else MechanismSettings.mechanism
        mechanisms = settings.mechanisms or (first,)
        whole = all(class_named(name).reads == "reference" for name in names_of(mechanisms))
        made = cls(**{
            **choices,
            "mechanisms": mechanisms,
            "length": settings.length or (LENGTH if whole else None),
            "repeats": settings.repeats or preset.repeats,
            "adversaries": choose_adversaries(settings.adversaries or preset.adversaries),
        })  # fmt: skip
        if made.bounded and made.reference is None:
            raise UsageError(f"the mechanism {made.bounded[0]} needs a public reference: give --reference")
        return made

    @property
    def names(self) -> tuple[str, ...]:
        """The mechanisms, each once, without the strengths that are asked of them alone."""
        return names_of(self.mechanisms)

    @property
    def bounded(self) -> list[str]:
        """Those of the mechanisms whose strength is a bound between any two documents."""
        return [name for name in self.names if strength_of(name) == "bound"]

    @property
    def reads(self) -> set[str]:
        """The public inputs that its mechanisms read texts with."""
        return {class_named(name).reads for name in self.names}

    @property
    def times(self) -> int:
        """How many repeats."""
        return self.repeats or 1

    def record(self) -> dict[str, Any]:
        """The public choices, as JSON holds them."""
        public = {each.name: getattr(self, each.name) for each in declared(type(self)) if each.option.public}
        record: dict[str, Any] = json.loads(json.dumps(public, default=str))
        return record

    def cells(self) -> list[Cell]:
        """The clean cells, then repeat by repeat every mechanism at every epsilon or bound, the largest first.

        Unprotected texts are attacked as often as protected ones: adversaries draw lots, and differ by them.

        A mechanism that takes a bound is tried at the bounds; where there are none, at the epsilons. One that has a
        strength of its own is tried there, and nowhere else.
        """
        found = [Cell(CLEAN, None, repeat) for repeat in range(self.times)]
        for repeat, (mechanism, at) in product(range(self.times), map(name_and_strength, self.mechanisms)):
            kind = strength_of(mechanism) if self.bounds or at is not None else "epsilon"
            values = {"bound": self.bounds, "epsilon": self.epsilons}[kind] if at is None else (at,)
            found += [Cell.at(mechanism, kind, each, repeat) for each in sorted(set(values), reverse=True)]
        return list(dict.fromkeys(found))

    def together_with(self, folder: Path) -> EvaluationRequest:
        """Add what was asked for before in an evaluation's ``folder``, so that it is continued or extended.

        Cells do not depend on each other, so mechanisms, epsilons, bounds and repeats may be added at any time.
        """
        if not (folder / _FACTS).exists():
            return self
        earlier = _read_json(folder / _FACTS).get("request", {})
        for name in names_of(earlier.get("mechanisms", ())):
            if name.startswith(PYTHON) and name not in self.names:
                raise UsageError(
                    f"{shown(folder)} holds an evaluation of {name:.200}, and code that only a file names is not "
                    "imported: name it here, too, with --mechanism, or choose a new folder"
                )
        both: dict[str, Any] = {
            name: tuple(dict.fromkeys((*earlier.get(name, ()), *getattr(self, name)))) for name in _ADDED
        }
        return replace(self, **both, repeats=max(self.times, earlier.get("repeats") or 1))


@final
@dataclass(frozen=True, slots=True)
class Results:
    """A finished evaluation, as its folder holds it.

    ``facts`` is ``run.json``; ``details`` has what each cell found beside its rows.
    """

    facts: dict[str, Any]
    rows: tuple[ResultRow, ...]
    details: tuple[tuple[Cell, dict[str, Any]], ...]
    neighborhood: Neighborhood | None


def facts_of(
    request: EvaluationRequest,
    dataset: Dataset,
    data: EncodedDataset,
    embeddings: Embeddings,
    whole: Reading | None = None,
    *,
    key: bytes,
) -> dict[str, Any]:
    """The report's facts about the run, which must be the same for a run to go on; ``key`` is the folder's."""
    from importlib.metadata import version

    if request.snippet is not None and request.snippet not in {text.id for text in dataset.unknown}:
        raise UsageError(f"no unknown text has the id {request.snippet!r}, so none of its words can be shown")
    return {
        "publius_version": version("publius"),
        "request": request.record(),
        "embeddings": embeddings.name,
        "vocabulary_size": embeddings.size,
        "vocabulary_sha256": embeddings.sha256,
        "dimension": embeddings.dimension,
        "tokenizer": embeddings.tokenizer,
        "size": data.size,
        "known_texts": len(data.known),
        "unknown_texts": len(data.unknown),
        "topic_texts": len(data.topics),
        "topic_training_texts": len(data.topic_training),
        "authors": len(dataset.authors),
        "authors_given": not dataset.alone,
        "topics": sorted({text.topic for text in dataset.unknown if text.topic is not None}),
        "chance": {task: dataset.chance(task) for task in request.tasks},
        "floor": dataset.topic_only_floor(),
        "anyway": [round(each, 6) for each in dataset.anyway()],
        "author_numbers": dataset.author_numbers(),
        "topic_numbers": dataset.topic_numbers(),
        "private": False,
        "split": dataset.split,
        "unlooked": dataset.unlooked,
        "learned_authors": dataset.learned_authors,
        **what_is_the_same(request.names, request.stop_words, dataset, key, request.metric),
        "documents": None
        if whole is None
        else {"reference_sha256": whole.public.sha256, "size": whole.length},
    }


@final
class Evaluation:
    """Runs cells of one `Setting` in ``folder`` and keeps what they find there.

    A folder that another request filled is refused; one of the same request is continued, and one that lacks
    strengths, mechanisms or repeats of this one is extended (`EvaluationRequest.together_with`).
    """

    def __init__(
        self,
        folder: Path,
        request: EvaluationRequest,
        facts: dict[str, Any],
        seed: int | None,
        key: bytes | None = None,
    ) -> None:
        self._folder = folder
        self.request = request
        self.facts = _continued(folder, facts, seed, key)
        self._setting: Setting | None = None

    @property
    def seed(self) -> int:
        """The seed given, or the one drawn when the run began."""
        return int(self.facts["seed"])

    def prepare(
        self,
        data: EncodedDataset,
        embeddings: Embeddings,
        whole: Reading | None = None,
        language: LanguageAdversary | None = None,
    ) -> None:
        """Prepare the inputs that the cells share."""
        request = self.request
        self._setting = Setting(
            data, embeddings, metric_asked(request.metric), dict(request.parameters), request.adversaries,
            request.tasks, self.facts["chance"], self.seed, request.snippet, request.unknown, whole, language,
            compared=PRESETS[request.preset].compared,
        )  # fmt: skip

    @property
    def setting(self) -> Setting:
        """The inputs that the cells share, once prepared."""
        return self._ready()

    def run(self, cells: Sequence[Cell], *, workers: int, progress: Progress) -> None:
        """Run what is missing of ``cells`` and of the neighborhood."""
        setting = self._ready()
        jobs: list[Cell | None] = [None, *cells]  # None is the neighborhood
        missing = [job for job in jobs if not self._path(job).exists()]
        # A cell protects, then attacks; the neighborhood takes about as long.
        steps = 1 + len(self.request.adversaries) * len(self.request.tasks)
        total, done = steps * len(jobs), steps * (len(jobs) - len(missing))
        if done:
            progress("found from before", done, total)
        within: Counter[Cell | None] = Counter()

        def advance(job: Cell | None) -> None:
            within[job] += 1
            progress("", done + within.total(), total)

        for job, record in _results(missing, setting, workers, advance):
            _write_json(self._path(job), record)
            del within[job]
            done += steps
            progress("neighborhood" if job is None else job.name, done + within.total(), total)

    def results(self) -> Results:
        """Everything found so far, cell by cell in the order they are run in."""
        paths = sorted(path for path in (self._folder / _CELLS).glob("*.json") if path != self._path(None))
        records = sorted((_cell_record(path) for path in paths), key=lambda pair: self._order(pair[0]))
        details = tuple((cell, {k: v for k, v in record.items() if k != "rows"}) for cell, record in records)
        found = _read_json(self._path(None))["neighborhood"]
        near = (
            None if found is None else Neighborhood(**{name: tuple(values) for name, values in found.items()})
        )
        size = int(self.facts["size"])
        rows = tuple(
            with_limit(ResultRow(**row), record, near, size)
            for _, record in records
            for row in record["rows"]
        )
        return Results(self.facts, rows, details, near)

    def _order(self, cell: Cell) -> tuple[bool, int, int, float]:
        mechanisms = (CLEAN, *self.request.names)
        asked = cell.epsilon or cell.bound or 0.0
        return cell.mechanism != CLEAN, cell.repeat, mechanisms.index(cell.mechanism), -asked

    def _path(self, job: Cell | None) -> Path:
        return self._folder / _CELLS / f"{_NEIGHBORHOOD if job is None else job.name}.json"

    def _ready(self) -> Setting:
        if self._setting is None:
            raise UsageError("prepare an evaluation before it is run")
        return self._setting


def read_results(folder: Path) -> Results:
    """The results of the evaluation in ``folder``; `DataError` when there is none."""
    facts = _read_json(folder / _FACTS)
    choices: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in facts.get("request", {}).items()
    }
    try:
        request = EvaluationRequest(**choices)
    except TypeError:
        raise _damaged(folder / _FACTS) from None
    return Evaluation(folder, request, {k: v for k, v in facts.items() if k != "seed"}, None).results()


def _continued(folder: Path, facts: dict[str, Any], seed: int | None, key: bytes | None) -> dict[str, Any]:
    """The facts with the run's seed: those of the run in ``folder``, or of a new one that is begun there."""
    path = folder / _FACTS
    if not path.exists():
        if folder.exists() and any(folder.iterdir()):
            raise UsageError(f"{shown(folder)} is not empty and holds no evaluation: name a new folder")
        begun = {**facts, "seed": int.from_bytes(entropy(), "big") >> 192 if seed is None else seed}
        _make_folder(folder)
        if key is not None:
            keep_key(folder, key)
        _write_json(path, begun)
        return begun
    before = _read_json(path)
    now, then = _alike(facts), _alike(before)
    differing = sorted(key for key in {*now, *then} - {"seed"} if now.get(key) != then.get(key))
    code = before.get("mechanism_code", {})
    if any(facts["mechanism_code"].get(name) != code[name] for name in code):
        differing.append("mechanism_code")
    if seed is not None and before.get("seed") != seed:
        differing.append("seed")
    if differing:
        said = ", ".join(key.replace("_", " ") for key in differing)
        raise UsageError(
            f"{shown(folder)} holds another evaluation (it differs in: {said}): name a new folder"
        )
    extended = {**facts, "seed": before["seed"]}
    if extended != before:
        _write_json(path, extended)
    return extended


def _alike(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts but for what may be added to an evaluation."""
    request = {
        name: value for name, value in facts.get("request", {}).items() if name not in (*_ADDED, "repeats")
    }
    return {**facts, "request": request, "mechanism_code": None}


# Cells in processes ---------------------------------------------------------------------------------------


def _results(
    jobs: Sequence[Cell | None], setting: Setting, workers: int, advance: Callable[[Cell | None], None]
) -> Iterator[tuple[Cell | None, dict[str, Any]]]:
    if workers <= 1 or len(jobs) <= 1:
        yield from ((job, _record(job, setting, advance)) for job in jobs)
        return
    context = spawning()
    steps: SimpleQueue[Cell | None] = context.SimpleQueue()
    count = min(workers, len(jobs))
    with (
        carried(context, setting, count) as needed,
        ProcessPoolExecutor(count, context, _start_worker, (needed, steps)) as pool,
    ):
        running: dict[Future[dict[str, Any]], Cell | None] = {}
        try:
            running.update((pool.submit(_work, job), job) for job in jobs)
            while running:
                ended = wait(running, _LOOK, return_when=FIRST_COMPLETED).done
                while not steps.empty():
                    advance(steps.get())
                for future in ended:
                    yield running.pop(future), future.result()
        except BrokenProcessPool:
            raise PubliusError(f"{DIED}: run the same again to go on, with fewer --workers") from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


_worker: tuple[Setting, SimpleQueue[Cell | None]] | None = None


def _start_worker(needed: SimpleQueue[Setting], steps: SimpleQueue[Cell | None]) -> None:
    global _worker
    end_with_parent()
    _worker = needed.get(), steps


def _work(job: Cell | None) -> dict[str, Any]:
    if _worker is None:
        raise PubliusError("a worker was used before it was started")
    setting, steps = _worker
    return _record(job, setting, steps.put)


def _record(job: Cell | None, setting: Setting, advance: Callable[[Cell | None], None]) -> dict[str, Any]:
    """The result of a job, as JSON can hold it; on one thread, so that workers do not fight for processors."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        if job is None:
            found = neighborhood(setting.data.unknown, setting.embeddings, setting.metric, setting.compared)
            return {"neighborhood": None if found is None else asdict(found)}
        outcome: CellResult = run_cell(job, setting, partial(advance, job))
        return {"cell": asdict(job), **asdict(outcome)}


# Files ----------------------------------------------------------------------------------------------------


def _make_folder(folder: Path) -> None:
    """The folder of an evaluation and that of its cells, for their owner alone: they name authors and texts."""
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        (folder / _CELLS).mkdir(0o700, exist_ok=True)
    except OSError as error:
        raise storage_error("make the folder", folder, error) from None


def _write_json(path: Path, record: dict[str, Any]) -> None:
    with write_file(path, 0o600) as file:
        file.write(json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n")


def _read_json(path: Path) -> dict[str, Any]:
    if not path.exists():
        if (path.parent / MEMBERSHIP).is_file():
            raise DataError(
                f"{shown(path.parent)} is the evaluation of a summary: {MEMBERSHIP} says what was found, and neither a "
                "page to sign nor a report takes it; leave it out there"
            )
        raise DataError(
            f"{shown(path)} is missing: this is no evaluation, or an unfinished one; run it (again)"
        )
    try:
        record = json.loads(read_bytes_limited(path))
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise _damaged(path)
    return record


def _cell_record(path: Path) -> tuple[Cell, dict[str, Any]]:
    """A cell and what it found."""
    record = _read_json(path)
    try:
        return Cell(**record.pop("cell")), record
    except (KeyError, TypeError):
        raise _damaged(path) from None


def _damaged(path: Path) -> DataError:
    return DataError(
        f"{shown(path)} is damaged, or of another version: remove it and run the evaluation again"
    )
