"""The disk is full, or the memory: a release ends with an error and without a folder, or it ends well."""

import contextlib
import os
import resource
import shutil
import signal
import tempfile
from pathlib import Path

import numpy as np

from publius.audit.outcomes import Findings, violations
from publius.noise.randomness import seeded_rng
from publius.vectors.embeddings import Embeddings
from torture import bench
from torture.children import run_child

_DOCUMENTS = 60
_LARGE = 100


def torture_full_disk(count, seed=2):
    """No file may grow beyond a random number of bytes, in a library's own writing too."""
    rng = seeded_rng(seed)
    hits, torn, wrong, left = 0, [], [], []
    with tempfile.TemporaryDirectory() as name:
        bench.warm(Path(name))
        corpus = bench.write_corpus(Path(name) / "corpus.jsonl", _DOCUMENTS)
        jobs = [(format, _release(corpus, format)) for format in bench.FORMATS] + [("store", _store)]
        for trial in range(count):
            what, job = jobs[trial % len(jobs)]
            folder = Path(name) / f"run{trial}"
            folder.mkdir()
            limit = int(rng.integers(1, 3000))
            _, result = run_child(lambda j=job, f=folder: j(f / "out"), before=lambda n=limit: limit_files(n))
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


def limit_files(size):
    """No file of this process may grow beyond ``size`` bytes; writing then fails instead of killing it."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def torture_memory(count, seed=3):
    """A random amount of memory is left, and the vocabulary needs some 20 MiB to be searched."""
    rng = seeded_rng(seed)
    hits, torn, hanging = 0, [], []
    vectors = rng.standard_normal((20_000, 64)).astype(np.float32)
    words = [f"{a}{b}" for a in bench.EMBEDDINGS.vocabulary for b in bench.EMBEDDINGS.vocabulary * 6][:20_000]
    large = Embeddings.from_arrays(list(dict.fromkeys(words)), vectors[: len(set(words))], name="large")
    with tempfile.TemporaryDirectory() as name:
        corpus = bench.write_corpus(Path(name) / "corpus.jsonl", _LARGE)
        bench.obfuscate(corpus, Path(name) / "warm", embeddings=large)  # imports are not what is limited
        for trial in range(count):
            out = Path(name) / f"out{trial}"
            grow = int(rng.integers(2**20, 8 * 2**20))
            ended, result = run_child(
                lambda o=out: bench.obfuscate(corpus, o, embeddings=large) and None,
                before=lambda n=grow: _leave_memory(n),
            )
            failed = bool(ended or result is None or result[0])
            hits += failed
            if ended == signal.SIGKILL:
                hanging.append(f"{grow >> 10} KiB")
            if out.exists() == failed or (not failed and not bench.whole(out, "jsonl", _LARGE)):
                torn.append(f"{grow >> 10} KiB: {result}")
            shutil.rmtree(out, ignore_errors=True)
    checks = (
        violations("memory limit: torn folders", count, len(torn)),
        violations("memory limit: runs that hang", count, len(hanging)),
        violations("memory limit: too few that hit", count, int(hits < count // 8)),
    )
    return Findings(checks, {"memory limits that hit": hits, "problems": (torn + hanging)[:20]})


_ballast: list[bytearray] = []


def _leave_memory(size):
    """Leave ``size`` bytes of address space: first all is used that the heap holds ready, then that much is allowed."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space(), hard))
    with contextlib.suppress(MemoryError):
        while True:
            _ballast.append(bytearray(2**16))
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + size, hard))


def _address_space():
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
