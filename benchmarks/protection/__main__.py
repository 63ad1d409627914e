"""The table of protection, from corpora in a folder to a page of the docs: ``python -m benchmarks.protection DATA``.

DATA holds ``fanfiction/authors20.jsonl.gz``, ``authors50.jsonl.gz``, ``topics.jsonl.gz`` and
``newsgroups/train.jsonl.gz``, ``test.jsonl.gz`` (rows with id, text, author, topic); a corpus that is not there is left
out, and the page says so. Every figure comes from ``publius evaluate``: a run that was cut short goes on in --work, and
a corpus that has been measured is not measured again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.protection.page import page

SEED = 7
CLASSICAL = "koppel,likelihood,linear,adaptive-likelihood,informed,originals,retrieval"
MANY = "likelihood,linear,informed,originals,retrieval"


def publius(*arguments: object) -> None:
    """One command, shown before it is run."""
    command = [str(argument) for argument in arguments]
    print("$ publius", *command, flush=True)
    subprocess.run([sys.executable, "-m", "publius", *command], check=True)


def prepared(public: Path, name: str, words: int) -> None:
    """A topic metric and a reference, learned from public texts once."""
    home = Path(os.environ["PUBLIUS_HOME"])
    if not (home / "embeddings" / name).exists():
        publius("embeddings", "fit", public, "--name", name, "--words", words)
    if not (home / "references" / name).exists():
        publius("reference", "fit", public, "--label", "topic", "--name", name)


def run(corpus: str, part: str, path: Path, work: Path, *options: object) -> dict[str, object]:
    """One evaluation, with how long it took, the first time."""
    folder = work / f"{corpus}-{part}"
    timing = work / f"{corpus}-{part}.json"
    if not timing.exists():
        started = time.perf_counter()
        publius("evaluate", path, "--output", folder, "--seed", SEED, *options)
        timing.write_text(json.dumps({"seconds": time.perf_counter() - started}))
    return {"corpus": corpus, "part": part, "folder": folder, "options": [str(option) for option in options]}


def fanfiction(data: Path, work: Path, corpus: str, arguments: argparse.Namespace) -> list[dict[str, object]]:
    """Two topics: the paper's mechanism, certified words on the topic metric, whole documents."""
    topics = data / "topics.jsonl.gz"
    prepared(topics, "bench-fan", 1000)
    path = data / f"{corpus}.jsonl.gz"
    common = ("--topics", topics, "--adversaries", CLASSICAL)
    metric = ("--embeddings", "bench-fan", "--unknown", "drop", "--length", 40)
    return [
        run(corpus, "documents", path, work, *common, "--length", "shortest", "--reference", "bench-fan", "--mechanism",
            "prototype", "--bound", "7,5,3", "--repeats", arguments.documents),
        run(corpus, "topic-metric", path, work, *common, *metric, "--mechanism", "tight,exponential", "--epsilon",
            "0.5,0.3", "--repeats", arguments.words),
        run(corpus, "paper", path, work, "--topics", topics, "--adversaries", "koppel,likelihood,linear,originals",
            "--length", "shortest", "--mechanism", "laplace", "--epsilon", "10,5", "--repeats", arguments.words),
    ]  # fmt: skip


def signed_posts(path: Path, work: Path) -> Path:
    """The posts whose author is known, in a file of their own."""
    kept = work / "newsgroups.jsonl"
    with gzip.open(path, "rt", encoding="utf-8") as file, kept.open("w", encoding="utf-8") as out:
        out.writelines(line for line in file if json.loads(line)["author"])
    return kept


def newsgroups(data: Path, work: Path, arguments: argparse.Namespace) -> list[dict[str, object]]:
    """Twenty topics and short posts: authors with two posts on one topic are the candidates."""
    prepared(data / "train.jsonl.gz", "bench-news", 2000)
    path = signed_posts(data / "test.jsonl.gz", work)
    return [
        run("newsgroups", "documents", path, work, "--length", 40, "--adversaries", MANY, "--reference", "bench-news",
            "--mechanism", "prototype", "--bound", "7,5,3", "--repeats", arguments.documents),
    ]  # fmt: skip


def main() -> None:
    """Measure what there is, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument(
        "--work", type=Path, default=Path("build/protection"), help="Where the evaluations are kept."
    )
    parser.add_argument("--page", type=Path, default=Path("docs/protection.md"))
    parser.add_argument("--documents", type=int, default=10, help="Repeats of document mechanisms.")
    parser.add_argument("--words", type=int, default=3, help="Repeats of word mechanisms.")
    parser.add_argument("--only", default="authors20,authors50,newsgroups")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    os.environ["PUBLIUS_HOME"] = str(work / "home")
    runs: list[dict[str, object]] = []
    for corpus in arguments.only.split(","):
        folder = arguments.data / ("newsgroups" if corpus == "newsgroups" else "fanfiction")
        if not folder.exists():
            print(f"{folder} is not there: left out")
        elif corpus == "newsgroups":
            runs += newsgroups(folder, work, arguments)
        else:
            runs += fanfiction(folder, work, corpus, arguments)
    machine = f"{os.cpu_count()} processors, {platform.machine()}, Python {platform.python_version()}"
    arguments.page.write_text(page(runs, machine, SEED, work), encoding="utf-8")


if __name__ == "__main__":
    main()
