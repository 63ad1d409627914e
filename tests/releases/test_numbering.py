"""Documents without ids of their own: numbered in a secret random order, in every format, resumed or not."""

import csv
import hmac
import json
from functools import partial

import pytest

from publius.documents.corpus import open_corpus
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import RunKey
from publius.releases.engines import protect_corpus as protect_with_workers
from publius.releases.engines.run_folder import working_path
from publius.releases.plan import SHUFFLED, Experiment, Plan
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords

SEED, COUNT = 5, 30
protect_corpus = partial(protect_with_workers, workers=1, batch_size=4)


@pytest.fixture
def plan(embeddings):
    encoding = Encoding(6, "unk", StopWords.load("none"), "word2vec")
    return Plan(
        Laplace(embeddings, epsilon=2.0), encoding, labels=("place",), experiment=Experiment(seed=SEED)
    )


@pytest.fixture
def path(tmp_path, embeddings):
    words = list(embeddings.vocabulary)
    with (tmp_path / "texts.jsonl").open("w") as file:
        for place in range(1, COUNT + 1):
            text = " ".join(words[(place * 7 + step) % len(words)] for step in range(6))
            file.write(json.dumps({"id": str(place), "text": text, "place": str(place)}) + "\n")
    return tmp_path / "texts.jsonl"


def secret_order():
    """The places of the documents in the order of their numbers, from the definition."""
    secret = RunKey.seeded(SEED).derive("numbers")
    return sorted(
        range(1, COUNT + 1), key=lambda place: hmac.digest(secret, str(place).encode(), "sha256")[:8]
    )


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def cells(folder):
    with (folder / "bags.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def bags(folder, format):
    """Number, kept field and bag of each document, in the order of the file."""
    if format == "jsonl":
        return [(each["id"], each["place"], each["bag"]) for each in lines(folder / "bags.jsonl")]
    if format == "csv":
        found = {}
        for row in cells(folder):
            found.setdefault((row["id"], row["place"]), {})[row["word"]] = int(row["count"])
        return [(*head, bag) for head, bag in found.items()]
    if format == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        rows = parquet.read_table(folder / "bags.parquet").to_pylist()
        return [
            (row["id"], row["place"], dict(zip(row["words"], row["counts"], strict=True))) for row in rows
        ]
    words = (folder / "vocabulary.txt").read_text().splitlines()
    found = [(each["id"], each["place"], {}) for each in lines(folder / "documents.jsonl")]
    body = [line for line in (folder / "bags.mtx").read_text().splitlines() if not line.startswith("%")]
    assert int(body[0].split()[0]) == COUNT
    for line in body[1:]:
        row, column, count = map(int, line.split())
        found[row - 1][2][words[column - 1]] = count
    return found


@pytest.mark.parametrize("format", ["jsonl", "csv", "mtx", "parquet"])
def test_numbers_and_lines_are_in_the_secret_order(path, plan, tmp_path, format):
    protect_corpus(open_corpus(path, keep=["place"]), plan, tmp_path / "named", format=format)
    numbered = open_corpus(path, keep=["place"], number=True)
    summary = protect_corpus(numbered, plan, tmp_path / "numbered", format=format)
    found = {place: bag for _, place, bag in bags(tmp_path / "named", format)}
    order = secret_order()
    assert order != sorted(order)
    assert bags(tmp_path / "numbered", format) == [
        (str(number), str(place), found[str(place)]) for number, place in enumerate(order, start=1)
    ]
    assert summary.manifest["numbers"] == SHUFFLED
    assert json.loads((tmp_path / "numbered" / "manifest.json").read_text())["numbers"] == SHUFFLED
    assert "numbers" not in json.loads((tmp_path / "named" / "manifest.json").read_text())


@pytest.mark.parametrize("format", ["jsonl", "mtx"])
def test_a_resumed_run_has_the_same_numbers(path, plan, tmp_path, format):
    corpus = open_corpus(path, keep=["place"], number=True)
    protect_corpus(corpus, plan, tmp_path / "whole", format=format)
    done = 0

    def stop(count):
        nonlocal done
        done += count
        if done >= 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        protect_corpus(corpus, plan, tmp_path / "out", resume=True, format=format, progress=stop)
    assert working_path(tmp_path / "out").exists()
    summary = protect_corpus(corpus, plan, tmp_path / "out", resume=True, format=format)
    assert summary.found.documents == 12
    assert bags(tmp_path / "out", format) == bags(tmp_path / "whole", format)


def test_no_gap_tells_of_a_document_that_was_left_out(path, plan, tmp_path):
    with path.open("a") as file:
        file.write("[]\n" + json.dumps({"text": "river", "place": "last"}) + "\n")
    corpus = open_corpus(path, keep=["place"], number=True)
    protect_corpus(corpus, plan, tmp_path / "out", skip_bad=True)
    numbers = [number for number, _, _ in bags(tmp_path / "out", "jsonl")]
    assert numbers == [str(number) for number in range(1, COUNT + 2)]


def test_every_release_has_another_order(path, embeddings, tmp_path):
    encoding = Encoding(6, "unk", StopWords.load("none"), "word2vec")
    plan = Plan(Laplace(embeddings, epsilon=2.0), encoding, labels=("place",))
    orders = []
    for name in ("one", "two"):
        protect_corpus(open_corpus(path, keep=["place"], number=True), plan, tmp_path / name)
        orders.append([place for _, place, _ in bags(tmp_path / name, "jsonl")])
    assert orders[0] != orders[1]
    assert all(order != sorted(order, key=int) for order in orders)
