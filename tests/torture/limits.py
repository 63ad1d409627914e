"""The disk is full, or the memory: a release ends with an error and without a folder, or it ends well."""

import os
import resource
import shutil
import signal
import tempfile
from pathlib import Path

from publius.audit.outcomes import Findings, violations
from publius.rng import seeded_rng
from torture import bench
from torture.children import run_child

_DOCUMENTS = 60
_LARGE = 600


def torture_full_disk(count, seed=2):
    """No file may grow beyond a random number of bytes, in a library's own writing too."""
    rng = seeded_rng(seed)
    hits, torn, wrong, left = 0, [], [], []
    with tempfile.TemporaryDirectory() as name:
        corpus = bench.write_corpus(Path(name) / "corpus.jsonl", _DOCUMENTS)
        jobs = [(format, _release(corpus, format)) for format in bench.FORMATS] + [("store", _store)]
        for trial in range(count):
            what, job = jobs[trial % len(jobs)]
            folder = Path(name) / f"run{trial}"
            folder.mkdir()
            limit = int(rng.integers(1, 3000))
            _, result = run_child(lambda j=job, f=folder: j(f / "out"), before=lambda n=limit: _limit_files(n))
            out, place = folder / "out", f"{what} with {limit} bytes"
            if result[0]:
                hits += 1
                torn += [place] if out.exists() else []
                wrong += [] if "StorageError" in result[0] else [f"{place}: {result[:2]}"]
                left += bench.leftovers(folder)
            elif not (out.exists() and (what == "store" or bench.whole(out, what, _DOCUMENTS))):
                torn += [f"{place}: success without the whole"]
            shutil.rmtree(folder)
    checks = (
        violations("full disk: torn or missing folders", hits, len(torn)),
        violations("full disk: untyped errors", hits, len(wrong)),
        violations("full disk: temporaries left behind", hits, len(left)),
    )
    return Findings(checks, {"full disks": hits, "problems": (torn + wrong + left)[:20]})


def _release(corpus, format):
    return lambda out: bench.obfuscate(corpus, out, format) and None


def _store(out):
    bench.EMBEDDINGS.save(out)


def _limit_files(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def torture_memory(count, seed=3):
    """The address space may grow by a random amount only."""
    rng = seeded_rng(seed)
    hits, torn = 0, []
    with tempfile.TemporaryDirectory() as name:
        corpus = bench.write_corpus(Path(name) / "corpus.jsonl", _LARGE, words=400)
        for trial in range(count):
            out = Path(name) / f"out{trial}"
            grow = int(rng.integers(1, 24)) * 2**20
            ended, result = run_child(
                lambda o=out: bench.obfuscate(corpus, o) and None, before=lambda n=grow: _limit_memory(n)
            )
            failed = bool(ended or result is None or result[0])
            hits += failed
            if out.exists() == failed or (not failed and not bench.whole(out, "jsonl", _LARGE)):
                torn.append(f"{grow >> 20} MiB: {result}")
            shutil.rmtree(out, ignore_errors=True)
    checks = (violations("memory limit: torn folders", count, len(torn)),)
    return Findings(checks, {"memory limits that hit": hits, "problems": torn[:20]})


def _limit_memory(grow):
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * os.sysconf("SC_PAGE_SIZE") + grow
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
