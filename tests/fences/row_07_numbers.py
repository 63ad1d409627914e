"""Numbers under which documents are published tell nothing of the order of the file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fences import Fence
from publius.documents.corpus import open_corpus
from publius.mechanisms.kernels.laplace import Laplace
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


def _as_read(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(local, "shuffle", lambda folder, format, key: None)


FENCES = (
    Fence(7, "a document's number does not tell its place in the file", _numbers_tell_nothing, _as_read),
)
