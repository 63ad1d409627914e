"""Numbers under which documents are published tell nothing of the order of the file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fences import Fence
from publius.documents.corpus import open_corpus
from publius.mechanisms.kernels.laplace import Laplace
from publius.privacy.ledger import Ledger
from publius.releases import watching
from publius.releases.engines import local, protect_corpus
from publius.releases.plan import Plan
from publius.releases.signoff import sign_off
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords
from publius.vectors.embeddings import Embeddings

_COUNT = 40


def _numbers_tell_nothing(folder: Path) -> None:
    words = [f"word{letter}" for letter in "abcdefghij"]
    vectors = np.random.default_rng(7).normal(size=(len(words), 4)).astype(np.float32)
    embeddings = Embeddings.from_arrays(words, vectors, name="toy")
    with (folder / "texts.jsonl").open("w") as file:
        for place in range(_COUNT):
            file.write(json.dumps({"text": words[place % len(words)], "place": f"{place:03d}"}) + "\n")
    plan = Plan(
        Laplace(embeddings, epsilon=1.0),
        Encoding(2, "unk", StopWords.load("none"), "word2vec"),
        labels=("place",),
    )
    corpus = open_corpus(folder / "texts.jsonl", keep=["place"], number=True)
    protect_corpus(corpus, plan, folder / "out", workers=1)
    rows = [json.loads(line) for line in (folder / "out" / "bags.jsonl").read_text().splitlines()]
    places = [row["place"] for row in rows]
    assert [row["id"] for row in rows] == [str(number) for number in range(1, _COUNT + 1)]
    assert sorted(places) == [f"{place:03d}" for place in range(_COUNT)]
    assert places != sorted(places), "the bags stand in the order of the file"
    page = sign_off(folder / "out").decode()
    assert "in a random order" in page
    assert "in the order in which they were read" not in page


def _arrived_together(folder: Path) -> None:
    """Whoever knows who handed something in has the names of the files, and with their order each one's release."""
    vectors = np.random.default_rng(7).normal(size=(2, 4)).astype(np.float32)
    embeddings = Embeddings.from_arrays(["river", "bridge"], vectors, name="toy")
    plan = Plan(Laplace(embeddings, epsilon=1.0), Encoding(2, "unk", StopWords.load("none"), "word2vec"))
    inbox = folder / "in"
    inbox.mkdir()
    names = [f"{letter}.txt" for letter in "abcdefghijkl"]
    for name in names:
        (inbox / name).write_text("river bridge")
    ledger = Ledger.create(folder / "ledger", budget=100)
    with watching.FolderWatch(inbox, folder / "out", plan, ledger, settle=0) as watch:
        assert [event.what for event in watch.look()] == ["released"] * len(names)
    record = watching.record_folder(folder / "out") / watching.RECORD
    numbered = [
        json.loads(line)["name"] for line in record.read_text().splitlines() if '"released"' not in line
    ]
    assert sorted(numbered) == names
    assert numbered != names, "releases are numbered in the order of the files' names"


class _InOrder:
    """A draw that is none."""

    @classmethod
    def fresh(cls) -> _InOrder:
        return cls()

    def rng(self, name: str) -> _InOrder:
        return self

    def permutation(self, count: int) -> range:
        return range(count)


def _by_name(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(watching, "RunKey", _InOrder)


def _as_read(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(local, "shuffle", lambda folder, format, key: None)


FENCES = (
    Fence(7, "a document's number does not tell its place in the file", _numbers_tell_nothing, _as_read),
    Fence(7, "nor does a watched folder's release tell the name of its file", _arrived_together, _by_name),
)
