"""What is tortured: a small vocabulary, corpora, and the operations that write."""

import json
from pathlib import Path

from publius.audit.release_path import toy_embeddings
from publius.documents.corpus import open_corpus
from publius.mechanisms.kernels.laplace import Laplace
from publius.releases.engines import protect_corpus
from publius.releases.plan import Plan
from publius.releases.writers import WRITERS
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords

EMBEDDINGS = toy_embeddings()
SIZE = 12
FORMATS = tuple(WRITERS)


def plan(embeddings=EMBEDDINGS):
    """Twelve words a document."""
    encoding = Encoding(SIZE, "unk", StopWords.load("none"), embeddings.tokenizer)
    return Plan(Laplace(embeddings, epsilon=2.0), encoding)


def write_corpus(path: Path, documents: int, words: int = 15) -> Path:
    """A JSONL corpus of vocabulary words."""
    vocabulary = EMBEDDINGS.vocabulary
    with path.open("w", encoding="utf-8") as file:
        for index in range(documents):
            text = " ".join(vocabulary[(7 * index + 11 * place) % len(vocabulary)] for place in range(words))
            file.write(json.dumps({"id": f"d{index}", "text": text}) + "\n")
    return path


def obfuscate(corpus: Path, output: Path, format: str = "jsonl", embeddings=EMBEDDINGS):
    """The release of a corpus, in this process."""
    return protect_corpus(open_corpus(corpus), plan(embeddings), output, format=format, workers=1)


def warm(folder: Path) -> None:
    """Import what a release of each format needs: a fork that finds it all there starts where the work does."""
    corpus = write_corpus(folder / "warm.jsonl", 2)
    for format in FORMATS:
        obfuscate(corpus, folder / f"warm-{format}", format)


def whole(output: Path, format: str, documents: int) -> bool:
    """Whether a released folder is complete: every document once, N words each, and the manifest."""
    manifest = json.loads((output / "manifest.json").read_text(encoding="utf-8"))
    return manifest["documents"] == documents and sizes(output, format) == [SIZE] * documents


def sizes(output: Path, format: str) -> list[int]:
    """The words of each released bag, counted from the file itself."""
    if format == "jsonl":
        lines = (output / "bags.jsonl").read_text(encoding="utf-8").splitlines()
        return [sum(json.loads(line)["bag"].values()) for line in lines]
    if format == "csv":
        import csv

        totals: dict[str, int] = {}
        with (output / "bags.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                totals[row["id"]] = totals.get(row["id"], 0) + int(row["count"])
        return list(totals.values())
    if format == "parquet":
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(output / "bags.parquet").to_pylist()
        return [sum(row["counts"]) for row in table]
    return _matrix_sizes(output)


def _matrix_sizes(output: Path) -> list[int]:
    lines = (output / "bags.mtx").read_text(encoding="utf-8").splitlines()
    body = [line.split() for line in lines if not line.startswith("%")]
    rows, _, entries = map(int, body[0])
    totals = [0] * rows
    for row, _, count in body[1:]:
        totals[int(row) - 1] += int(count)
    return totals if entries == len(body) - 1 else []


def leftovers(folder: Path) -> list[str]:
    """Temporary names that are still there."""
    return [path.name for path in folder.rglob(".publius-*")]
