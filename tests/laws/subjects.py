"""What the laws of releases are about: mechanism x engine x format, a line each. A new one joins by a line."""

import json
import os
import signal
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import publius
from publius.documents.corpus import open_corpus
from publius.noise.randomness import seeded_rng
from publius.releases.run import protect_corpus
from publius.settings import Leaving, Run
from toy import WORDS, sentence

AUTHORS = ("Ada", "Bob", "Cleo", "Dan", "Eve")


@cache
def _embeddings():
    vectors = seeded_rng(3).standard_normal((len(WORDS), 5)).astype("float32")
    return publius.Embeddings.from_arrays(WORDS, vectors, name="toy")


def values():
    """Labels of declared values."""
    return publius.RandomizedResponse(publius.Values(["river", "market"]), epsilon=2)


def topics(bag=None):
    """Labels of a classifier that was trained, with a bag or without."""
    return publius.RandomizedResponse(_topics(), epsilon=2, bag=bag)


@cache
def _topics():
    texts = [sentence(n) + (" river storm harbor" if n % 2 else " market cheese bread") for n in range(40)]
    return publius.TopicClassifier.train(texts, ["water" if n % 2 else "food" for n in range(40)], name="toy")


def words(**more):
    """Noisy bags, or ordered text."""
    return publius.Lifted(publius.Laplace(_embeddings(), epsilon=3.0), 6, **more)


@dataclass(frozen=True)
class Subject:
    """A way to release."""

    name: str
    make: object
    arguments: dict = field(default_factory=dict)
    format: str = "jsonl"
    workers: int = 1
    engine: str = "local"

    def mechanism(self):
        return self.make(**self.arguments)

    def run(self, source, output, mechanism=None, *, workers=None, resume=False, leaving=Leaving(), batch=None, **more):
        corpus = open_corpus(source, id_field="id", author_field="author", fields=leaving.keep)
        run = Run(workers=workers or self.workers, engine=self.engine, format=self.format, resume=resume)
        return protect_corpus(corpus, mechanism or self.mechanism(), output, run=run, leaving=leaving, **more)


SUBJECTS = [
    Subject("values", values),
    Subject("values as csv", values, format="csv"),
    Subject("values as parquet", values, format="parquet"),
    Subject("topics", topics),
    Subject("topics with bags", topics, {"bag": 4}),
    Subject("topics with bags as csv, two workers", topics, {"bag": 4}, "csv", 2),
    Subject("words", words),
    Subject("words as csv", words, format="csv"),
    Subject("words as parquet", words, format="parquet"),
    Subject("ordered words", words, {"ordered": True}),
]


BY_NAME = {subject.name: subject for subject in SUBJECTS}


def corpus_file(folder, documents=30, name="in.jsonl", change=None):
    """A file of made documents, of which ``change`` (row -> text) replaces some texts."""
    path = folder / name
    with path.open("w") as file:
        for row in range(documents):
            text = (change or {}).get(row, sentence(row, 8) + (" river" if row % 3 else " market"))
            line = {"id": f"doc-{row}", "author": AUTHORS[row % 5], "year": 2000 + row % 2, "text": text}
            file.write(json.dumps(line) + "\n")
    return path


class FixedDraw:
    """A mechanism whose draw is fixed: what it gives is a function of key and row, whatever the text."""

    def __init__(self, mechanism):
        self._mechanism = mechanism
        self.calls = []

    @property
    def __class__(self):
        return type(self._mechanism)

    def __getattr__(self, name):
        if name.startswith("__") or name == "_mechanism":
            raise AttributeError(name)
        return getattr(self._mechanism, name)

    def protect(self, texts, rows, key):
        return self._mechanism.protect(["river market storm"] * len(texts), rows, key)


class Heard(FixedDraw):
    """A mechanism that notes under which key it drew which rows."""

    def protect(self, texts, rows, key):
        self.calls.append((key.expose(), tuple(rows)))
        return self._mechanism.protect(texts, rows, key)


class Odd:
    """A mechanism whose worker is killed once, or fails."""

    def __init__(self, mechanism, marker, error=None):
        self.mechanism, self.marker, self.error = mechanism, marker, error

    def __getattr__(self, name):
        if name.startswith("__") or name == "mechanism":
            raise AttributeError(name)
        return getattr(self.mechanism, name)

    @property
    def __class__(self):
        return type(self.mechanism)

    def __reduce_ex__(self, protocol):
        return Odd, (self.mechanism, self.marker, self.error)

    def protect(self, texts, rows, key):
        if 12 in rows and not os.path.exists(self.marker):
            if self.error is not None:
                raise self.error
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.mechanism.protect(texts, rows, key)


class OddAnswers:
    """A classifier whose worker is killed once."""

    def __init__(self, classifier, marker):
        self.classifier, self.marker = classifier, marker
        for name in ("kind", "name", "labels", "sha256", "public", "trained_on", "words", "known"):
            setattr(self, name, getattr(classifier, name, None))

    def answers(self, texts):
        if not os.path.exists(self.marker):
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.classifier.answers(texts)
