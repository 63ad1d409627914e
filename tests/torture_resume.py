"""Kills at random instants with resume: ``python tests/torture_resume.py [KILLS]``; a short version is a test.

Each round makes a corpus, starts a resumable run in a process of its own and kills it, half of the time at a
random instant, half of the time just when a certain file has appeared or gone, until a start gets through. After
each kill the output must be absent or whole, and no id may ever be seen with two different bags, even in the
working folder. At the end each document is there once and nothing else is left.
"""

import json
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from publius.documents.corpus import open_corpus
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import seeded_rng
from publius.releases.engines import protect_corpus
from publius.releases.engines.run_folder import working_path
from publius.releases.plan import Plan
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords
from publius.vectors.embeddings import Embeddings
from toy import WORDS, sentence

DOCUMENTS = 400
FORMATS = ("jsonl", "csv", "parquet", "mtx")
AIMS = (
    "secret",
    "record.json",
    "bags.jsonl",
    "release",
    "release/manifest.json",
    "placing.json",
    "-release",
    "-secret",
)


@dataclass
class Report:
    """What was done and what came of it."""

    kills: int = 0
    rounds: int = 0
    resumed_documents: int = 0
    phases: dict[str, int] = field(default_factory=dict)


def torture(kills: int, folder: Path, seed: int = 1) -> Report:
    """Kill ``kills`` runs; `AssertionError` at the first that is not as it should be."""
    rng, report = seeded_rng(seed), Report()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["publius.releases.engines", "publius.mechanisms.kernels.laplace", "pyarrow.parquet"]
    )
    corpus = folder / "corpus.jsonl"
    rows = [{"id": f"doc{i}", "text": sentence(i)} for i in range(DOCUMENTS)]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    while report.kills < kills:
        _round(context, corpus, folder / f"out{report.rounds}", kills, rng, report)
        report.rounds += 1
    left = {path.name for path in folder.iterdir()} - {f"out{i}" for i in range(report.rounds)}
    assert left == {"corpus.jsonl"}, left
    return report


def _round(context, corpus, output, kills, rng, report):
    seen: dict[str, dict[str, int]] = {}
    form, workers, seconds = FORMATS[report.rounds % 4], 1 + (report.rounds % 8 == 3), 0.6
    while True:
        run = context.Process(target=_run, args=(corpus, output, form, workers))
        run.start()
        if report.kills < kills:
            phase = _wait(run, output, rng, seconds)
        else:
            phase = None
            run.join()
        if run.is_alive():
            os.kill(run.pid, signal.SIGKILL)
            run.join()
            report.kills += 1
            report.phases[phase] = report.phases.get(phase, 0) + 1
        report.resumed_documents += _look(output, seen)
        if (output / "manifest.json").exists() and run.exitcode == 0:
            break
        assert run.exitcode in (-signal.SIGKILL, 2), run.exitcode
        if (
            run.exitcode == 2
        ):  # killed when all was done: only the last traces of the working folder were left
            assert (output / "manifest.json").exists()
            break
    _check_whole(output, form, seen)


def _wait(run, output, rng, seconds):
    """Return when it is time to kill, saying which time it is."""
    if rng.random() < 0.5:
        run.join(rng.random() * seconds)
        return "a random instant"
    aim = AIMS[rng.integers(len(AIMS))]
    path, gone = working_path(output) / aim.removeprefix("-"), aim.startswith("-")
    been = not gone
    while run.is_alive() and not (been and path.exists() != gone):
        been = been or path.exists()
        time.sleep(0.0002)
    return aim


def _run(corpus, output, form, workers):
    """In the process to be killed: small batches, so that there are many."""
    embeddings = Embeddings.from_arrays(
        WORDS, seeded_rng(20).standard_normal((len(WORDS), 8)), tokenizer="word2vec"
    )
    plan = Plan(Laplace(embeddings, epsilon=2.0), Encoding(20, "unk", StopWords.load("none"), "word2vec"))
    try:
        protect_corpus(
            open_corpus(corpus), plan, output, format=form, workers=workers, batch_size=5, resume=True
        )
    except ValueError:
        os._exit(2)


def _look(output, seen):
    """Every bag that can be seen now; each id has one and only one bag, ever."""
    bags = working_path(output) / "bags.jsonl"
    lines = bags.read_bytes().splitlines(keepends=True) if bags.exists() else []
    whole = [json.loads(line) for line in lines if line.endswith(b"\n")]
    for row in whole:
        assert seen.setdefault(row["id"], row["bag"]) == row["bag"], "an id was seen with two bags"
    assert not output.exists() or (output / "manifest.json").exists(), "the output is not whole"
    return len(whole)


def _check_whole(output, form, seen):
    manifest = json.loads((output / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["documents"] == DOCUMENTS
    assert not any((working_path(output) / name).exists() for name in ("secret", "bags.jsonl", "record.json"))
    if form == "jsonl":
        rows = [json.loads(line) for line in (output / "bags.jsonl").read_text(encoding="utf-8").splitlines()]
    elif form == "parquet":
        from pyarrow import parquet

        rows = parquet.read_table(output / "bags.parquet").to_pylist()
        rows = [{**row, "bag": dict(zip(row["words"], row["counts"], strict=True))} for row in rows]
    elif form == "csv":
        ids = [line.split(b",")[0].decode() for line in (output / "bags.csv").read_bytes().splitlines()[1:]]
        rows = [{"id": id, "bag": seen.get(id)} for id in dict.fromkeys(ids)]
    else:
        lines = (output / "documents.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [{"id": json.loads(line)["id"], "bag": seen.get(json.loads(line)["id"])} for line in lines]
    assert [row["id"] for row in rows] == [f"doc{i}" for i in range(DOCUMENTS)]
    assert all(seen.get(row["id"], row["bag"]) == row["bag"] for row in rows), "an id was seen with two bags"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        began = time.monotonic()
        print(torture(int(sys.argv[1]) if len(sys.argv) > 1 else 200, Path(place)))
        print(f"{time.monotonic() - began:.0f} s")
