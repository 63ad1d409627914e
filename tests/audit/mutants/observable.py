"""Runs that tell more than their bags: the genuine code with one part replaced while the audit looks."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, final

from audit.hostile_inputs import HOSTILE, check_formats
from audit.mutants.mutant import Mutant
from audit.neighboring_worlds import pairs
from audit.observable import (
    HOME,
    LEFTOVERS,
    ONE_RUN,
    PRESENCE,
    SAME,
    SEEDED,
    Way,
    check_home,
    check_leftovers,
    check_refusals,
    compare,
)
from publius.audit.implementation import GENUINE, Subject
from publius.audit.outcomes import Check, violations
from publius.documents.corpus import BadDocument
from publius.documents.shards import Shard, file_size
from publius.noise.randomness import RunKey
from publius.releases.protect import protect

_CLUSTER: Final = Way("in turn", "parquet")
_LOCAL: Final = Way("one process", "jsonl")


@final
@dataclass(frozen=True)
class Broken:
    """A part of the code replaced by another.

    Attributes:
        name: what is wrong with it, in words.
        place: the part, as "module:attribute.attribute".
        part: makes what stands there instead from what stood there.
        caught_by: the check that must fail.
        world: the pair of worlds, by name, that tells it; of hostile files their kind.
        way: how they are run.

    """

    name: str
    place: str
    part: Callable[[Any], Any]
    caught_by: str = SAME
    world: str = ""
    way: Way = _LOCAL

    def probe(self, subject: Subject, key: RunKey) -> Sequence[Check]:
        """The checks that look at this part, on the broken version unless ``subject`` is the genuine one."""
        with nullcontext() if subject is GENUINE else self._replaced():
            return observed(self)

    def mutant(self) -> Mutant:
        """For the catalog."""
        return Mutant(f"observable: {self.name}", replace(GENUINE), self.probe, self.caught_by)

    @contextmanager
    def _replaced(self) -> Iterator[None]:
        module, _, names = self.place.partition(":")
        *owners, name = names.split(".")
        owner: Any = importlib.import_module(module)
        for each in owners:
            owner = getattr(owner, each)
        genuine = getattr(owner, name)
        setattr(owner, name, self.part(genuine))
        try:
            yield
        finally:
            setattr(owner, name, genuine)


def observed(broken: Broken) -> Sequence[Check]:
    """What the audit sees where ``broken`` would show."""
    if broken.caught_by == SAME:
        compared, told = compare([broken.way], [pair for pair in pairs() if pair.name == broken.world])
        return [violations(SAME, compared, len(told))]
    if broken.caught_by == HOME:
        return [check_home()]
    if broken.caught_by == HOSTILE:
        return [check_formats(broken.world)]
    return [check_leftovers()] if broken.caught_by == LEFTOVERS else check_refusals()


def observable_mutants() -> list[Mutant]:
    """Eighteen runs that tell more than their bags, and two that read whatever it costs."""
    return [broken.mutant() for broken in broken_versions()]


def broken_versions() -> list[Broken]:
    """All of them."""
    releases, engines = "publius.releases", "publius.releases.engines"
    left_out, manifest = f"{engines}.worker_pool:protect", f"{engines}.run:_at_once"
    rows = "publius.documents.row_readers"
    asked = "publius.documents.foreign:_Process.ask"
    sorting = "publius.mechanisms.lifted:without_order"
    differ: list[tuple[str, str, Callable[[Any], Any], str, Way]] = [
        ("parts cut at bytes of the input", f"{engines}.survey:shards", _by_ranges, _TAIL, _CLUSTER),
        ("parts cut at files of the input", f"{engines}.survey:shards", _by_ranges, "two files", _CLUSTER),
        ("the job goes to workers", f"{engines}.shard_job:ShardTask.__getstate__", _carrying, _TAIL, _CLUSTER),
        ("others see what is being made", "publius.files.folders:_make_held", _open, "another order", _LOCAL),
        ("others may read bags being made", f"{releases}.writers:private", _public, "another order", _LOCAL),
        ("the order of words decides noise", sorting, _as_is, "another order", _LOCAL),
        ("documents without words left out", left_out, _with_words, "stop words only", _LOCAL),
        ("the same where unknown words are dropped", left_out, _with_words, "unknown words only, dropped", _LOCAL),
        ("the share of unknown words in the manifest", manifest, _sharing, "unknown words dropped", _LOCAL),
        ("the name of the input in the manifest", manifest, _naming, "another name of the file", _LOCAL),
        ("the size of the input in the manifest", manifest, _sizing, "a longer tail", _LOCAL),
        ("an empty text is left out", "publius.documents.corpus:_text", _not_empty, "no word or no text", _LOCAL),
    ]  # fmt: skip
    return [
        *(Broken(name, place, part, SAME, world, way) for name, place, part, world, way in differ),
        Broken("reject with skip-bad", f"{engines}.run:check_presence", lambda was: lambda *a, **k: None, PRESENCE),
        Broken("a seeded key releases", "publius.noise.randomness:RunKey.seeded", _unmarked, SEEDED),
        Broken("a key is used again", "publius.noise.randomness:RunKey.claim", lambda was: lambda *a: None, ONE_RUN),
        Broken("leftovers stay", f"{engines}.run:remove_leftovers", lambda was: lambda path: [], LEFTOVERS),
        Broken("leftovers go unsaid", f"{engines}.run:remove_leftovers", _silent, LEFTOVERS),
        Broken("a foreign file has no end of its time", asked, _patient, HOSTILE, "eml"),
        Broken("rows nearly empty are read in masses", f"{rows}:ROW_BYTES", lambda was: 0, HOSTILE, "jsonl"),
        Broken("rows prepared by the size of the input", f"{engines}.engine:Job.prepare", lambda was: _by_size, HOME),
    ]  # fmt: skip


_TAIL: Final = "a tail of 300 kB"


def _patient(was: Any) -> Any:
    return lambda process, request: was(process, {**request, "seconds": 1_000.0})


def _by_ranges(was: Any) -> Any:
    """A part for each range that is read, empty ones too."""
    return lambda counts, words: [Shard(first, 0, count) for first, count in enumerate(counts)]


def _carrying(was: Any) -> Any:
    return lambda task: {**was(task), "carried": task.kept.read_bytes()}


def _open(was: Any) -> Any:
    def made(temporary: Path, held: Any) -> None:
        was(temporary, held)
        temporary.chmod(0o755)

    return made


def _public(was: Any) -> Any:
    return lambda path, flags: os.open(path, flags, 0o644)


def _as_is(was: Any) -> Any:
    return lambda words: words


def _with_words(was: Any) -> Any:
    """Documents in which no word is known come back as bad."""

    def broken(documents: Sequence[Any], plan: Any, key: Any, **options: Any) -> Any:
        results, tally = protect(documents, plan, key, **options)
        known = plan.mechanism.vocabulary
        pairs = zip(results, documents, strict=True)
        kept = [
            result
            if any(word in known for word in each.text.split())
            else BadDocument(each.position, each.id, "none")
            for result, each in pairs
        ]
        return kept, replace(tally, documents=sum(not isinstance(each, BadDocument) for each in kept))

    return broken


def _noting(fact: Callable[[Any, Any], object]) -> Callable[[Any], Any]:
    """A run that adds a private fact to the manifest."""

    def part(was: Any) -> Any:
        def broken(engine: Any, job: Any, output: Path) -> Any:
            summary = was(engine, job, output)
            noted = {**summary.manifest, "noted": fact(job, summary)}
            (output / "manifest.json").write_text(json.dumps(noted), encoding="utf-8")
            return summary

        return broken

    return part


_naming = _noting(lambda job, summary: [path.name for path in job.corpus.paths])
_sizing = _noting(lambda job, summary: sum(map(file_size, job.corpus.paths)))
_sharing = _noting(lambda job, summary: summary.tally.unknown_share)


def _not_empty(was: Any) -> Any:
    def broken(fields: Any, name: str) -> str:
        from publius.errors import DocumentError

        text: str = was(fields, name)
        if not text.strip():
            raise DocumentError("the text is empty")
        return text

    return broken


def _unmarked(was: Any) -> Any:
    from publius.noise.randomness import RunKey

    return lambda seed: RunKey(was(seed).expose())


def _silent(was: Any) -> Any:
    def broken(path: Path) -> list[Path]:
        was(path)
        return []

    return broken


def _by_size(job: Any) -> None:
    if sum(map(file_size, job.corpus.paths)) >= 32 * job.plan.mechanism.vocabulary.size:
        job.plan.mechanism.prepare()
