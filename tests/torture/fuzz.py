"""Coverage-guided fuzzing of each parser: nothing but a typed error may come out.

``python -m torture.fuzz PARSER RUNS SEED FOLDER`` fuzzes one parser in this process (it needs atheris, which is
installed by ``make torture`` into a folder of its own) and tells on its standard output how far it is. What it finds
worth keeping lies in ``FOLDER``, where the next process goes on from it. `torture_fuzz` runs all of them, several at
once.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from publius.audit.outcomes import Findings, violations
from publius.cli.console import duration

PARSERS = ("vectors", "word list", "jsonl", "csv", "text", "store")
_LONGEST = 4096
_RUNS_OF_A_PROCESS = 250_000
"""The instrumented interpreter grows with its runs (to 2 GB after 1.2 million of them; the product alone does not), and
libFuzzer ends a process of 2 GB."""
_SCRATCH = "/dev/shm" if os.path.isdir("/dev/shm") else None


def torture_fuzz(executions, seed=5, processes=2, *, kept=None):
    """``executions`` in all, shared by the parsers; the folder ``kept`` holds each parser's end for another try."""
    if importlib.util.find_spec("atheris") is None:
        return Findings((violations("fuzzing: atheris is not installed", 0, 1),), {})
    each = -(-executions // len(PARSERS))
    with ThreadPoolExecutor(processes) as pool:
        found = dict(zip(PARSERS, pool.map(lambda p: _kept(p, each, seed, kept), PARSERS), strict=True))
    total = sum(runs for runs, _ in found.values())
    crashes = [f"{parser}: {crash}" for parser, (_, crash) in found.items() if crash]
    checks = (
        violations("fuzzing: untyped exceptions", total, len(crashes)),
        violations("fuzzing: executions missing", total, max(0, executions - total)),
    )
    runs = {parser: runs for parser, (runs, _) in found.items()}
    return Findings(checks, {"fuzz executions": total, "by parser": runs, "problems": crashes})


def _kept(parser, runs, seed, folder):
    """What `fuzzed` finds, or what ``folder`` holds of an earlier try."""
    path = None if folder is None else Path(folder) / f"fuzzing-{parser.replace(' ', '-')}.json"
    if path is not None and path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    found = fuzzed(parser, runs, seed)
    if path is not None:
        path.write_text(json.dumps(found) + "\n", encoding="utf-8")
    return found


def fuzzed(parser, runs, seed, at_once=_RUNS_OF_A_PROCESS):
    """(executions, what went wrong or nothing) of one parser in processes of its own, which report on our stderr.

    How long all of it takes is the machine's business: an input that hangs is ended by libFuzzer, after 20 minutes.
    """
    counted = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, start in enumerate(range(0, runs, at_once)):
            print(f"fuzzing, {parser}: {start:,} of {runs:,} done", file=sys.stderr, flush=True)
            part, problem = _in_one_process(parser, min(at_once, runs - start), seed + number, folder)
            counted += part
            if problem:
                return counted, problem
    return counted, ""


def _in_one_process(parser, runs, seed, folder):
    command = [sys.executable, "-m", "torture.fuzz", parser, str(runs), str(seed), folder]
    done = subprocess.run(command, stdout=2, stderr=subprocess.PIPE, text=True, check=False)
    said = re.findall(r"Done (\d+) runs", done.stderr)
    counted = int(said[-1]) if said else 0
    return counted, "" if done.returncode == 0 and said else done.stderr[-1500:]


def counting(one, parser, runs):
    """``one``, which says after each fifth of its runs how far it is and what is left of them at the speed so far."""
    started, done, step = time.monotonic(), 0, max(1, runs // 5)

    def counted(data):
        nonlocal done
        one(data)
        done += 1
        if done % step == 0 and done < runs:
            left = duration((time.monotonic() - started) / done * (runs - done))
            print(f"fuzzing, {parser}: {done:,} of these {runs:,}, {left} left", flush=True)

    return counted


def target(parser, folder):
    """What reads bytes as the parser would read a file; a typed error is an answer."""
    from publius.documents.corpus import open_corpus
    from publius.errors import PubliusError
    from publius.text.bag import Encoding, words_of
    from publius.text.tokenizer import PROFILES, StopWords
    from publius.vectors.embeddings import Embeddings
    from publius.vectors.importing.reader import read_vectors, read_word_list
    from torture import bench

    store = Path(folder) / "store"
    bench.EMBEDDINGS.save(store)
    words, meta = store / "words.txt", store / "meta.json"
    genuine = words.read_bytes(), meta.read_bytes()
    stops = StopWords.load("english")

    def text(path):
        content = path.read_bytes().decode("utf-8", "surrogateescape")
        for profile in PROFILES:
            words_of(content, bench.EMBEDDINGS, Encoding(9, "unk", stops, profile))
        list(open_corpus(path))

    def stored(path):
        """An even first byte: the words; an odd one: the record."""
        data = path.read_bytes()
        changed, which = (words, 0) if not data or data[0] % 2 == 0 else (meta, 1)
        changed.write_bytes(data[1:])
        try:
            Embeddings.open(store)
        finally:
            changed.write_bytes(genuine[which])

    readers = {
        "vectors": ("v.txt", lambda path: read_vectors(path, skip_bad_rows=len(path.read_bytes()) % 2 == 1)),
        "word list": ("w.txt", read_word_list),
        "jsonl": ("c.jsonl", lambda path: list(open_corpus(path, keep=("n",)))),
        "csv": ("c.csv", lambda path: list(open_corpus(path, keep=("n",)))),
        "text": ("c.txt", text),
        "store": ("s", stored),
    }
    name, read = readers[parser]
    path = Path(folder) / name

    def one(data):
        path.write_bytes(data)
        try:
            read(path)
        except PubliusError:
            return

    return one


def seeds(parser):
    """Valid files to start from."""
    from torture.malformed import kinds
    from vector_files import WRITERS

    if parser == "vectors":
        return [write() for write, _ in WRITERS.values()]
    with tempfile.TemporaryDirectory() as folder:
        contents = {kind.name: kind.content for kind in kinds(Path(folder))}
    names = {"word list": ["word list"], "jsonl": ["JSONL"], "csv": ["CSV"], "text": ["text"]}
    if parser in names:
        return [contents[name] for name in names[parser]]
    return [b"\x00" + contents["store, words.txt"], b"\x01" + contents["store, meta.json"]]


def main(parser, runs, seed, folder):
    """Fuzz one parser; libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["publius"]):
        import publius.documents.corpus
        import publius.vectors.importing.reader  # noqa: F401
    with tempfile.TemporaryDirectory(dir=_SCRATCH) as scratch:
        corpus = Path(folder) / "corpus"
        if not corpus.is_dir():
            corpus.mkdir()
            for number, content in enumerate(seeds(parser)):
                (corpus / str(number)).write_bytes(content)
        options = [f"-runs={runs}", f"-seed={seed}", f"-max_len={_LONGEST}", f"-artifact_prefix={folder}/"]
        one = counting(target(parser, scratch), parser, int(runs))
        atheris.Setup([sys.argv[0], *options, "-rss_limit_mb=2048", str(corpus)], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
