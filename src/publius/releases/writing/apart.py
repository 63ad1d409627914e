"""The writer's own process: ``python -m publius.releases.writing.apart``, started by `run` and by nobody else.

It gets a job on standard input, gives lines of JSON on standard output, and confines itself before it loads the writer:
its folder holds a copy of the release's bags and manifest, and beside them it can read the Python installation and
copies of the public files. It can write into an empty folder that goes when it ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from publius.releases.writing.confinement import CALLS, FILES, confine
from publius.releases.writing.system_calls import ends_with

if TYPE_CHECKING:
    from publius.releases.writing.released_bags import ReleasedBag
    from publius.releases.writing.writer import AbstractTextWriter, Written

Emit = Callable[[Mapping[str, Any]], None]


def main() -> None:
    """Take the job, do it, say how it ended."""
    job = json.loads(sys.stdin.buffer.read())
    if not ends_with(job["parent"]):
        return
    emit = _emitter()
    held = confine([(path, way) for path, way in job["rules"]], job["port"])
    emit({"held": held})

    from publius.errors import PubliusError, place_of

    try:
        _check_held(job["settings"], held)
        _write(job, emit)
        emit({"done": True})
    except PubliusError as error:
        emit({"error": {"message": str(error), "exit_code": error.exit_code}})
    except Exception as error:
        emit({"error": {"message": f"internal error: {place_of(error)}. Please report it", "exit_code": 70}})


def _check_held(settings: Mapping[str, Any], held: Collection[str]) -> None:
    """`PolicyError` for somebody else's writer that the system cannot hold, unless that was asked for."""
    from publius.errors import PolicyError
    from publius.files.user_code import PYTHON

    if settings["writer"].startswith(PYTHON) and not settings["unconfined"] and not {FILES, CALLS} <= {*held}:
        raise PolicyError(
            "this system cannot hold a writer of your own to the release and public things: it could read, change and "
            "send what you can. Type --unconfined to run it all the same, or choose a writer of Publius"
        )


def _emitter() -> Emit:
    """What writes a line for the parent; whatever else is printed goes nowhere."""
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    lock = threading.Lock()

    def emit(record: Mapping[str, Any]) -> None:
        line = json.dumps(record, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        with lock:
            out.write(line)
            out.flush()

    return emit


def _write(job: Mapping[str, Any], emit: Emit) -> None:
    from publius.releases.writing.released_bags import read_bags, read_manifest

    manifest = read_manifest(".")
    writer = _writer(job, manifest)
    if job["settings"]["keep_requests"]:
        writer.sending = lambda record: emit({"request": record})
    done = set(job["done"])
    bags = ((place, bag) for place, bag in enumerate(read_bags(".", manifest)) if place not in done)
    emit({"writer": writer.name, "note": writer.note})
    for place, _, found in _written(writer, bags):
        fault = None if found.text is not None else found.fault
        emit({"place": place, "text": found.text, "source": dict(found.source), "fault": fault})


def _writer(job: Mapping[str, Any], manifest: Mapping[str, Any]) -> AbstractTextWriter:
    from publius.documents.corpus import open_public_corpus
    from publius.releases.writing import writers
    from publius.releases.writing.writer import WriterInput
    from publius.settings import WritingSettings
    from publius.vectors.learning.reference import Reference

    sys.path.append(job["plugins"])  # last: what the user named takes nobody's place
    settings = WritingSettings(**job["settings"])
    public, reference = job["public"], job["reference"]
    corpus = None
    if public is not None:
        corpus = open_public_corpus(public["path"], text_field=public["text_field"], number=True)
    seen = WriterInput(
        manifest,
        settings,
        None if reference is None else Reference.load(reference),
        corpus,
        None if public is None else public["sha256"],
        None if public is None else public["own_texts"],
    )
    return writers.made(seen, job["key"])


def _written(
    writer: AbstractTextWriter, bags: Iterator[tuple[int, ReleasedBag]]
) -> Iterator[tuple[int, ReleasedBag, Written]]:
    """What the writer makes of each bag, as it comes; when one fails those under way are waited for, then it raises."""
    from publius.releases.writing.writers import checked

    with ThreadPoolExecutor(writer.at_once) as pool:
        under_way: dict[Future[Written], tuple[int, ReleasedBag]] = {}
        try:
            for place, bag in bags:
                if len(under_way) >= writer.at_once:
                    for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                        found = future.result()
                        yield *under_way.pop(future), found
                under_way[pool.submit(checked, writer, bag)] = place, bag
            for future in [*under_way]:
                found = future.result()
                yield *under_way.pop(future), found
        except Exception:
            writer.stop()
            for future, (place, bag) in under_way.items():
                with suppress(Exception):
                    yield place, bag, future.result()
            raise


if __name__ == "__main__":
    main()
