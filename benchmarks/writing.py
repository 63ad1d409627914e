"""What texts written from a release keep and give away: the figures of docs/how-to/readable-text.md.

python -m benchmarks.writing DATA [--only authors50 newsgroups] [--writer exemplar ngram] [--repeats 5]

DATA holds ``fanfiction`` (topics, authors50) and ``newsgroups`` (train, test) as JSON lines, gzipped. The reference is
fitted on the public texts (fanfiction/topics, newsgroups/train), the others are released with ``prototype`` at --bound
nats. The public texts are parted by row: writers quote and learn from the odd ones, and what judges them, the topic
classifiers and the bigram model of the perplexity, learns from the even ones. Adversaries are those of ``publius
evaluate``, with the same noise for bags and for texts. Prints one JSON object a line. Needs
publius[evaluation,glove].

python -m benchmarks.writing DATA --only newsgroups --texts RELEASE TEXTS.jsonl

measures what ``publius write`` has written, a language model's texts say: one request a text, and none here.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from publius.documents.corpus import open_corpus
from publius.evaluation.adversaries import KINDS, choose_adversaries
from publius.evaluation.data import Dataset, check_tasks, labels_of
from publius.evaluation.dataset_files import open_dataset
from publius.evaluation.encoding import OUTSIDE, encode_dataset
from publius.evaluation.experiment import Cell, Setting, run_cell
from publius.evaluation.protection import ProtectedText
from publius.evaluation.readings import read_whole
from publius.evaluation.rows import CLEAN, ResultRow
from publius.evaluation.statistics import clopper_pearson
from publius.files.reading import files_sha256
from publius.noise.randomness import seeded_rng
from publius.releases.plan import Plan
from publius.releases.writing.language_model import NGramModel
from publius.releases.writing.likeliest_order import log_probability
from publius.releases.writing.released_bags import ReleasedBag
from publius.releases.writing.writer import AbstractTextWriter, WriterInput
from publius.releases.writing.writers import made
from publius.settings import ReleaseSettings, WritingSettings
from publius.text.bag import Bag, Encoding
from publius.text.tokenizer import StopWords, tokenize
from publius.vectors.embeddings import Embeddings
from publius.vectors.learning.fit_reference import fit_reference
from publius.vectors.learning.reference import Reference

STOPS = StopWords.load("english")
SEED = 7
ADVERSARIES = {
    "authors50": "all",
    "newsgroups": "likelihood,delta,linear,adaptive-likelihood,adaptive-delta,informed,originals",
}
"""On newsgroups, with 825 authors, without the slow ones."""


def cut(text: str) -> tuple[str, ...]:
    """The words that count."""
    return tuple(word for word in tokenize(text) if word not in STOPS)


class Written:
    """What a writer makes of protected texts, as `Setting.written` takes it; remembers the texts of the release."""

    def __init__(self, writer: AbstractTextWriter, labels: Sequence[str], known: Path) -> None:
        self.writer, self._labels, self._public = writer, labels, known.read_text(encoding="utf-8")
        self.texts: list[str] = []
        self.bags: list[Bag] = []
        self.missing = 0

    def __call__(self, protected: Sequence[ProtectedText]) -> list[ProtectedText]:
        """Each with the words of its text instead of its bag; one without a text has no words but an unknown one."""
        found = []
        for item in protected:
            label = None if item.prototype is None else self._labels[item.prototype]
            text = self.writer.write(ReleasedBag(item.text.id, item.bag, {}, item.prototype, label)).text
            self.missing += text is None
            self.texts.append(text or "")
            self.bags.append(item.bag)
            words = cut(text or "") or ("<unk>",)
            outputs = np.full(len(words), OUTSIDE, np.int64)
            found.append(ProtectedText(item.text, outputs, words, Bag(words), item.prototype))
        return found

    def quoted(self) -> float:
        """The share of the texts that stand in the public corpus, letter by letter."""
        return float(np.mean([json.dumps(text)[1:-1] in self._public for text in self.texts]))


def parted(path: Path, folder: Path) -> tuple[Path, Path]:
    """The odd rows, for writers, and the even ones, for judges."""
    places = folder / "write.jsonl", folder / "judge.jsonl"
    with (
        gzip.open(path, "rt", encoding="utf-8") as rows,
        places[0].open("w") as odd,
        places[1].open("w") as even,
    ):
        for number, row in enumerate(rows, start=1):
            (odd if number % 2 else even).write(json.dumps(json.loads(row)) + "\n")
    return places


def signed(path: Path, folder: Path) -> Path:
    """The rows whose author is known."""
    kept = folder / "signed.jsonl"
    with gzip.open(path, "rt", encoding="utf-8") as rows, kept.open("w", encoding="utf-8") as out:
        out.writelines(row for row in rows if json.loads(row)["author"])
    return kept


def learned(path: Path) -> Reference:
    """A reference with every default."""
    rows = open_corpus(path, keep=("topic",), number=True)
    documents = [(cut(row.text), row.labels["topic"]) for row in rows]  # type: ignore[union-attr]
    facts = {"corpus": path.name, "corpus_sha256": files_sha256([str(path)])}
    return fit_reference(documents, name="bench", facts=facts, embeddings=Embeddings.load())


class Fluency:
    """Perplexity a word, stop words left out, under bigrams of public texts that no writer saw."""

    def __init__(self, path: Path) -> None:
        texts = [cut(document.text) for document in open_corpus(path, number=True)]  # type: ignore[union-attr]
        self._model = NGramModel.train(texts, 2)

    def __call__(self, texts: Sequence[Sequence[str]]) -> float:
        """Over all words of ``texts``."""
        logs = sum(log_probability(tuple(words), self._model) for words in texts)
        return float(np.exp(-logs / sum(map(len, texts))))


def whole(dataset: Dataset) -> dict[str, Any]:
    """What classifiers of topics and authors make of clean texts of which no word is left out."""
    found: dict[str, Any] = {}
    for task, name in (("topic", "linear"), ("topic", "likelihood"), ("author", "likelihood")):
        taught = dataset.topic_training if task == "topic" else dataset.known
        attacker = KINDS[name].make(task, None, SEED)  # type: ignore[arg-type]
        attacker.fit([Bag(cut(text.text)) for text in taught], [labels_of(text, task) for text in taught])
        named = attacker.predict([Bag(cut(text.text) or ("<unk>",)) for text in dataset.unknown])
        hits = [a == labels_of(text, task) for a, text in zip(named, dataset.unknown, strict=True)]
        interval = clopper_pearson(sum(hits), len(hits))
        found.setdefault(task, {})[name] = [
            round(v, 4) for v in (interval.value, interval.low, interval.high)
        ]
    return found


def measured(corpus: str, data: Path, asked: argparse.Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    """Clean texts, bags and each writer's texts: who finds what, and how the texts read."""
    where = data / ("newsgroups" if corpus == "newsgroups" else "fanfiction")
    public = where / ("train.jsonl.gz" if corpus == "newsgroups" else "topics.jsonl.gz")
    quoted, judging = parted(public, folder)
    released = (
        signed(where / "test.jsonl.gz", folder) if corpus == "newsgroups" else where / "authors50.jsonl.gz"
    )
    reference = learned(public)
    stored = reference.save(folder / "reference")
    vectors = Embeddings.load()
    dataset = open_dataset(released, judging)
    encoding = Encoding.of(vectors.tokenizer, length=None, unknown="unk", stop_words="english")
    if corpus == "newsgroups":  # the clean line is cut to this, and nothing else is
        encoding = replace(encoding, length=40)
    data_in_words = encode_dataset(dataset, vectors, encoding, "all")
    tasks = check_tasks(dataset, ())
    texts = (*dataset.known, *dataset.unknown, *dataset.topics)
    choices = read_whole(texts, stored, "topic", 40)
    adversaries = choose_adversaries((asked.adversaries or ADVERSARIES[corpus]).split(","))
    adversaries = tuple(name for name in adversaries if name not in ("linkage", "retrieval"))
    plan = Plan.of(ReleaseSettings(preserve="topic", reference=str(folder / "reference"), bound=asked.bound))
    manifest = plan.manifest(len(dataset.unknown))
    labels = stored.aspect("topic").prototypes(manifest["mechanism_parameters"]["prototypes"]).labels
    fluency = Fluency(judging)

    def setting(written: Written | None) -> Setting:
        return Setting(
            data_in_words, vectors, "euclidean", {}, adversaries, tasks,
            {task: dataset.chance(task) for task in tasks}, SEED, None, "unk", choices, written=written,
        )  # fmt: skip

    yield {
        "corpus": corpus, "texts": len(dataset.unknown), "authors": len(dataset.authors), "known": len(dataset.known),
        "bound": asked.bound, "floor": dataset.topic_only_floor(), "chance": {t: dataset.chance(t) for t in tasks},
        "adversaries": adversaries,
    }  # fmt: skip
    yield {"corpus": corpus, "what": "clean", **_found([run_cell(Cell(CLEAN, None, 0), setting(None)).rows])}
    yield {"corpus": corpus, "what": "clean, whole texts", **whole(dataset)}
    for name in ("bags", *asked.writer):
        written, started = None, time.process_time()
        if name != "bags":
            chosen = WritingSettings(writer=name, public=str(quoted))
            corpus_of = open_corpus(quoted, number=True)
            seen = WriterInput(manifest, chosen, stored, corpus_of, files_sha256([str(quoted)]), False)
            written = Written(made(seen, os.environ.get("PUBLIUS_LLM_KEY")), labels, quoted)
        cells = [run_cell(Cell("prototype", None, repeat, asked.bound), setting(written)).rows
                 for repeat in range(asked.repeats)]  # fmt: skip
        facts = {} if written is None else _texts(written, fluency)
        yield {"corpus": corpus, "what": name, **_found(cells), **facts,
               "seconds": round(time.process_time() - started, 1)}  # fmt: skip
    own = [cut(document.text) for document in open_corpus(quoted, number=True)]  # type: ignore[union-attr]
    yield {"corpus": corpus, "what": "public texts", "perplexity": round(fluency(own[:500]), 1)}


def _texts(written: Written, fluency: Fluency) -> dict[str, Any]:
    """How the texts read, over everything that was written."""
    some = slice(0, 2000)
    words = [cut(text) for text in written.texts[some]]
    bags = written.bags[some]
    rng = seeded_rng(SEED)
    shuffled = [[list(bag.words())[i] for i in rng.permutation(bag.size).tolist()] for bag in bags]
    covered = [
        len(set(each) & set(bag.counts)) / len(bag.counts) for each, bag in zip(words, bags, strict=True)
    ]
    return {
        "written": len(written.texts),
        "without_text": written.missing,
        "words_of_the_bag_covered": round(float(np.mean(covered)), 4),
        "perplexity": round(fluency([each for each in words if each]), 1),
        "perplexity_of_bags_shuffled": round(fluency(shuffled), 1),
        "quoted": round(written.quoted(), 4),
    }


def _found(cells: Sequence[Sequence[ResultRow]]) -> dict[str, Any]:
    """For each adversary and task the share over all repeats, and the interval of the repeats' mean and texts."""
    from publius.evaluation.summary import _finding

    by_name: dict[tuple[str, str], list[ResultRow]] = {}
    for rows in cells:
        for row in rows:
            by_name.setdefault((row.task, row.adversary), []).append(row)
    shares: dict[str, dict[str, list[float]]] = {}
    for (task, name), rows in by_name.items():
        found = _finding(rows)
        shares.setdefault(task, {})[name] = [
            round(v, 4) for v in (found.accuracy.value, found.accuracy.low, found.accuracy.high)
        ]
    return shares


def lines(path: Path) -> list[str]:
    """Of a file of JSON lines: U+2028 ends none."""
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def of_file(corpus: str, data: Path, release: Path, texts: Path, folder: Path) -> dict[str, Any]:
    """Clean texts, the bags of a release and the texts that ``publius write`` made of it, by learners of clean ones.

    The texts that are judged are those of authors with several posts, or all of authors50; what judges them learns from
    the even public rows, so texts should be written from the odd ones alone.
    """
    where = data / ("newsgroups" if corpus == "newsgroups" else "fanfiction")
    judging = parted(where / ("train.jsonl.gz" if corpus == "newsgroups" else "topics.jsonl.gz"), folder)[1]
    path = signed(where / "test.jsonl.gz", folder) if corpus == "newsgroups" else where / "authors50.jsonl.gz"
    dataset = open_dataset(path, judging)
    bags = {row["id"]: Bag.from_counts(row["bag"]) for row in map(json.loads, lines(release / "bags.jsonl"))}
    written = {row["id"]: row["text"] or "" for row in map(json.loads, lines(texts))}
    asked = [text for text in dataset.unknown if text.id in written]
    sets = {
        "clean": [Bag(cut(text.text) or ("<unk>",)) for text in asked],
        "bags": [bags[text.id] for text in asked],
        "texts": [Bag(cut(written[text.id]) or ("<unk>",)) for text in asked],
    }
    found: dict[str, Any] = {"corpus": corpus, "texts": len(asked), "floor": dataset.topic_only_floor()}
    for task, name in (
        ("topic", "linear"),
        ("topic", "likelihood"),
        ("author", "likelihood"),
        ("author", "delta"),
    ):
        taught = dataset.topic_training if task == "topic" else dataset.known
        attacker = KINDS[name].make(task, None, SEED)  # type: ignore[arg-type]
        attacker.fit([Bag(cut(text.text)) for text in taught], [labels_of(text, task) for text in taught])
        truth = [labels_of(text, task) for text in asked]
        for what, held in sets.items():
            hits = [a == b for a, b in zip(attacker.predict(held), truth, strict=True)]
            interval = clopper_pearson(sum(hits), len(hits))
            shares = [round(value, 4) for value in (interval.value, interval.low, interval.high)]
            found.setdefault(task, {}).setdefault(name, {})[what] = shares
    some = list(written)[:: max(1, len(written) // 300)]
    words = [cut(written[id]) for id in some]
    rng = seeded_rng(SEED)
    shuffled = [rng.permutation(list(bags[id].words())).tolist() for id in some]
    fluency = Fluency(judging)
    pairs = [(set(each), set(bags[id].counts)) for each, id in zip(words, some, strict=True)]
    clean = [cut(text.text) for text in asked[:: max(1, len(asked) // 300)]]
    return {
        **found,
        "covered": round(float(np.mean([len(a & b) / len(b) for a, b in pairs])), 4),
        "perplexity": {
            "texts": round(fluency([each for each in words if each]), 1),
            "bags, shuffled": round(fluency(shuffled), 1),
            "clean": round(fluency([each for each in clean if each]), 1),
        },
    }


def main() -> None:
    """Print one JSON object for each kind of text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", nargs="+", choices=list(ADVERSARIES), default=list(ADVERSARIES))
    parser.add_argument("--writer", nargs="+", default=["exemplar", "ngram"])
    parser.add_argument("--bound", type=float, default=9.0)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--adversaries", help="Names, separated by commas, as publius evaluate has them.")
    parser.add_argument(
        "--texts",
        nargs=2,
        type=Path,
        metavar=("RELEASE", "TEXTS"),
        help="Measure what publius write has written.",
    )
    asked = parser.parse_args()
    for corpus in asked.only:
        with tempfile.TemporaryDirectory() as folder:
            if asked.texts:
                print(json.dumps(of_file(corpus, asked.data, *asked.texts, Path(folder))), flush=True)
                continue
            for found in measured(corpus, asked.data, asked, Path(folder)):
                print(json.dumps(found, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
