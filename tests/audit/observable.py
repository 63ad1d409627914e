"""Everything that an outsider sees of a run, compared between neighboring worlds (R23, R26, R27).

With the run key fixed, worlds at distance 0 (other words after the first N, another order, other unknown words, other
bytes, files, names) must look the same byte for byte: what is in the output and how it is cut and named, what is left
beside it and in the home folder, permissions at every instant, how a failed run ends, what goes to a cluster's
workers. Worlds at a distance must look the same but for the words in the bags.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, final

from audit.hostile_inputs import check_costs, check_formats
from audit.neighboring_worlds import LENGTH, Pair, World, pairs
from publius.arrays import Float64Array, IndexArray
from publius.audit.outcomes import Check, Findings, violations
from publius.audit.release_path import toy_embeddings
from publius.documents.corpus import Document, open_corpus
from publius.errors import PolicyError, PubliusError, UsageError
from publius.mechanisms.kernel import Kernel
from publius.mechanisms.kernels.laplace import Laplace
from publius.mechanisms.lifted import Lifted
from publius.noise.randomness import Generator, RunKey
from publius.privacy.guarantee import Guarantee
from publius.releases.contents import FILES, MANIFEST
from publius.releases.digests import file_digest
from publius.releases.engines import AbstractEngine, protect_corpus
from publius.releases.engines.cluster import AbstractClusterEngine
from publius.releases.engines.local import LocalEngine
from publius.releases.engines.shard_job import ShardTask
from publius.releases.engines.worker_pool import LocalRunner
from publius.releases.plan import Experiment, Plan
from publius.releases.protect import protect
from publius.settings import TextSettings
from publius.text.bag import Encoding
from publius.vectors.embeddings import Embeddings

_BATCH: Final = 7  # documents; a few batches a corpus
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO

Seen = Mapping[str, Any]

SAME: Final = "observable: neighboring worlds look the same"
PRESENCE: Final = "observable: no unknown word decides who is there"
SEEDED: Final = "observable: a seeded key releases nothing"
ONE_RUN: Final = "observable: a key is one run's"
LEFTOVERS: Final = "observable: leftovers of dead runs go and are said"
HOME: Final = "observable: what is prepared follows public numbers"


@final
@dataclass
class InTurn(AbstractClusterEngine):
    """A cluster in this process, which notes what is carried to its workers."""

    carried: list[Any] = field(default_factory=list)

    def carry(self, task: ShardTask, numbers: Sequence[int]) -> None:
        """See `AbstractClusterEngine.carry`."""
        self.carried.append([list(numbers), len(pickle.dumps(task)) - len(str(task.kept))])
        for number in numbers:
            task(number)


@final
@dataclass(frozen=True)
class Way:
    """One way to run: an engine by its name, a format, whether the run can be resumed."""

    engine: str
    format: str
    resume: bool = False

    def __str__(self) -> str:
        return f"{self.engine}, {self.format}" + (", resumable" if self.resume else "")


def ways(*, full: bool) -> list[Way]:
    """The engines and formats that are there; Parquet, and with it a cluster, needs its extra."""
    formats = [name for name in LocalEngine.formats if name != "parquet" or find_spec("pyarrow")]
    clusters = ["in turn"] if find_spec("pyarrow") else []
    if not full:
        return [
            *(Way("one process", format) for format in formats),
            *(Way(name, "parquet") for name in clusters),
        ]
    local = [Way(name, format) for name in ("one process", "two processes") for format in formats]
    resumed = [Way("one process", format, resume=True) for format in formats]
    return local + resumed + [Way(name, "parquet", resume) for name in clusters for resume in (False, True)]


def make_plan(world: World, **options: Any) -> Plan:
    """The plan of a world, with a fixed run key."""
    embeddings = toy_embeddings()
    encoding = Encoding.of(
        embeddings.tokenizer, length=LENGTH, unknown=world.unknown, stop_words=TextSettings.stop_words
    )
    options = {"experiment": Experiment(seed=4), **options}
    return Plan(Lifted(Laplace(embeddings, epsilon=2.0), LENGTH), encoding, **options)


def check_observable(*, full: bool) -> Findings:
    """Every pair of worlds in every way: what differs, what is refused, what is left."""
    compared, told = compare(ways(full=full), pairs())
    checks = [
        violations(SAME, compared, len(told)),
        *check_refusals(),
        check_leftovers(),
        check_home(),
        check_formats(),
    ]
    figures: dict[str, Any] = {"pairs of worlds": compared, "differences": told[:20]}
    if full:
        costs, figures["files that cost too much"] = check_costs()
        checks.append(costs)
    return Findings(tuple(checks), figures)


def compare(chosen: Sequence[Way], among: Sequence[Pair]) -> tuple[int, list[str]]:
    """How many pairs were compared, and what tells the worlds of a pair apart."""
    compared, told = 0, list[str]()
    with tempfile.TemporaryDirectory() as home, _environment(PUBLIUS_HOME=home):
        for way in chosen:
            seen: dict[World, Seen] = {}
            with _engine(way, make_plan(World("any"))) as make:
                for pair in among:
                    for world in (pair.one, pair.other):
                        if world not in seen:
                            seen[world] = observe(world, way, make)
                    compared += 1
                    differ = differences(seen[pair.one], seen[pair.other], equal=pair.equal)
                    told += [f"{way}: {pair.name}: {what}" for what in differ]
    return compared, told


def observe(world: World, way: Way, make: Callable[[], AbstractEngine]) -> Seen:
    """Run ``world`` in a new folder and tell everything that can be seen of it."""
    with tempfile.TemporaryDirectory() as name:
        place, source = Path(name, "seen"), Path(name, "private")
        place.mkdir()
        source.mkdir()
        engine, plan, modes = make(), make_plan(world), set[int]()
        if isinstance(engine, LocalEngine) and engine.runner is not None:
            plan = engine.runner.plan if plan.encoding == engine.runner.plan.encoding else plan
            engine = engine if plan is engine.runner.plan else LocalEngine()
        corpus = open_corpus(world.write(source), **world.reading)

        def look(done: int) -> None:
            modes.update(stat.S_IMODE(path.lstat().st_mode) & _OTHERS for path in _below(place))

        try:
            protect_corpus(
                corpus, plan, place / "out", format=way.format, engine=engine, batch_size=_BATCH, skip_bad=True,
                resume=way.resume, progress=look,
            )  # fmt: skip
            ended: object = 0
        except PubliusError as error:
            ended = error.exit_code
        carried = engine.carried if isinstance(engine, InTurn) else []
        return {
            "exit code": ended,
            "modes while it runs": sorted(modes),
            "carried to workers": carried,
            "home": _names(Path(os.environ["PUBLIUS_HOME"])),
            "files": {str(path.relative_to(place)): _file(path) for path in _below(place)},
        }


def _file(path: Path) -> dict[str, Any]:
    content = path.read_bytes() if path.is_file() else b""
    return {
        "mode": stat.S_IMODE(path.lstat().st_mode),
        "links": path.lstat().st_nlink if path.is_file() else 0,
        "size": len(content),
        "content": hashlib.sha256(content).hexdigest(),
        "without words": _without_words(path, content) if path.is_file() else None,
    }


def _without_words(path: Path, content: bytes) -> Any:
    """What a file tells beside the words in its bags."""
    if path.name == "bags.jsonl":
        return [{**json.loads(line), "bag": None} for line in content.splitlines()]
    if path.name == "bags.csv":
        rows = [line.split(b",") for line in content.splitlines()]
        return list(dict.fromkeys((row[0], row[1]) for row in rows))
    if path.name == "bags.mtx":
        return [line.split()[:2] for line in content.splitlines()[:3] if line.startswith(b" ")]
    if path.suffix == ".parquet":
        return _of_parquet(path)
    if path.name == MANIFEST:
        return _without_digests(path, json.loads(content))
    return content


def _without_digests(path: Path, manifest: dict[str, Any]) -> dict[str, Any]:
    """The digest of a file beside it tells what the file tells; anything else that is called so stays."""
    found = {name: (path.parent / name, digest) for name, digest in manifest[FILES].items()}
    told = {name: None if file_digest(file) == digest else digest for name, (file, digest) in found.items()}
    return {**manifest, FILES: told}


def _of_parquet(path: Path) -> Any:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        metadata = file.metadata
        groups = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        names = [name for name in file.schema_arrow.names if name not in ("words", "counts")]
        return [groups, str(file.schema_arrow), file.read(names).to_pylist()]


def differences(one: Seen, other: Seen, *, equal: bool) -> list[str]:
    """What tells two worlds apart; unless they must be ``equal``, the words in the bags may."""
    told = [what for what in one if what != "files" and one[what] != other[what]]
    files, others = one["files"], other["files"]
    told += [f"{name} is there or not" for name in sorted({*files} ^ {*others})]
    facts = ("mode", "links", "size", "content") if equal else ("mode", "links", "without words")
    told += [
        f"{fact} of {name}"
        for name in sorted({*files} & {*others})
        for fact in facts
        if files[name][fact] != others[name][fact]
    ]
    if one["modes while it runs"] not in ([], [0]):
        told.append("others can read what is being made")
    return told


def check_refusals() -> list[Check]:
    """Runs that would tell who holds which words, or repeat noise, do not begin."""
    world = pairs()[0].one
    private = make_plan(world, experiment=None)
    rejecting = make_plan(World("any", unknown="reject"), experiment=None)
    embeddings = toy_embeddings()
    document = _document(embeddings.word(0))
    again = RunKey.fresh()
    protect([document], private, again)
    attempts: dict[str, Callable[[], object]] = {
        PRESENCE: lambda: _skipping(world, rejecting),
        SEEDED: lambda: protect([document], private, RunKey.seeded(1)),
        ONE_RUN: lambda: protect([_document(embeddings.word(1))], private, again),
    }
    return [violations(name, 1, int(_accepted(attempt))) for name, attempt in attempts.items()]


def _document(text: str) -> Document:
    return Document("d", text, {}, 1)


def _skipping(world: World, plan: Plan) -> object:
    with tempfile.TemporaryDirectory() as name:
        return protect_corpus(open_corpus(world.write(Path(name))), plan, Path(name, "out"), skip_bad=True)


def _accepted(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (PolicyError, UsageError):
        return False
    except PubliusError:  # it began
        return True
    return True


def check_leftovers() -> Check:
    """A folder of a dead run is taken away by the next into the same output, which says so."""
    world, said = pairs()[0].one, list[str]()
    with tempfile.TemporaryDirectory() as name:
        left = Path(name, ".publius-1-0.tmp")
        left.mkdir()
        left.chmod(0o1700)
        Path(left, "bags.jsonl").touch(0o600)
        source = Path(name, "in")
        source.mkdir()
        corpus = open_corpus(world.write(source))
        protect_corpus(corpus, make_plan(world), Path(name, "out"), notice=said.append)
        kept = left.exists() + (not any(left.name in text for text in said))
    return violations(LEFTOVERS, 2, kept)


def check_home() -> Check:
    """Whether rows are prepared, and so kept in the home folder, does not follow the size of the input."""
    prepared = []
    for tail in ("", " bu" * 20_000):
        with tempfile.TemporaryDirectory() as name:
            Path(name, "in.txt").write_text("ba" + tail, encoding="utf-8")
            mechanism = _Preparing(toy_embeddings(), epsilon=2.0)
            lifted = Lifted(mechanism, LENGTH)
            plan = Plan(lifted, make_plan(World("any")).encoding, experiment=Experiment())
            protect_corpus(open_corpus(Path(name, "in.txt")), plan, Path(name, "out"))
            prepared.append(mechanism.prepared)
    return violations(HOME, 2, int(prepared[0] != prepared[1]))


@final
class _Preparing(Kernel):
    """A mechanism that notes whether it was prepared, and is `Laplace` otherwise."""

    name = Laplace.name

    def __init__(self, embeddings: Embeddings, epsilon: float) -> None:
        self._inner, self.prepared = Laplace(embeddings, epsilon=epsilon), False
        self.embeddings, self.metric, self.epsilon = embeddings, self._inner.metric, epsilon
        self.chosen = self._inner.chosen

    @property
    def guarantee(self) -> Guarantee:
        """See `Kernel.guarantee`."""
        return self._inner.guarantee

    def prepare(self) -> None:
        """See `Kernel.prepare`."""
        self.prepared = True

    def noise(self, count: int, rng: Generator) -> Float64Array:
        """See `Kernel.noise`."""
        return self._inner.noise(count, rng)

    def apply(self, words: IndexArray, noise: Float64Array, *, threads: int = 1) -> IndexArray:
        """See `Kernel.apply`."""
        return self._inner.apply(words, noise, threads=threads)


def _below(folder: Path) -> list[Path]:
    """Everything in a folder that is there now; what goes meanwhile is passed over."""
    return sorted(path for path in folder.rglob("*") if os.path.lexists(path))


def _names(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in _below(folder)]


@contextmanager
def _engine(way: Way, plan: Plan) -> Iterator[Callable[[], AbstractEngine]]:
    """A maker of engines; worker processes are started once."""
    if way.engine == "in turn":
        yield InTurn
    elif way.engine == "two processes":
        with LocalRunner(plan, 2) as runner:
            yield lambda: LocalEngine(2, runner)
    else:
        yield LocalEngine


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value
