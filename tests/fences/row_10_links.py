"""A symbolic link in a folder leads nowhere unless that was asked for."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from fences import Fence
from publius.documents import corpus as corpus_room
from publius.documents.corpus import BadDocument, Corpus, Document, open_corpus
from publius.errors import DocumentError, StorageError
from publius.files import reading
from publius.mechanisms.kernels.laplace import Laplace
from publius.noise.randomness import seeded_rng
from publius.privacy.ledger import Ledger
from publius.releases.engines import protect_corpus
from publius.releases.plan import Plan
from publius.releases.watching import FolderWatch
from publius.text.bag import Encoding
from publius.text.tokenizer import StopWords
from publius.vectors.embeddings import Embeddings
from released import toy_vectors
from toy import WORDS, sentence


def _texts(found: Corpus) -> list[str]:
    return [item.text for item in found if isinstance(item, Document)]


def _folder(folder: Path) -> None:
    outside, inside = folder / "outside.txt", folder / "in"
    outside.write_text("secret")
    inside.mkdir()
    (inside / "own.txt").write_text("own")
    (inside / "link.txt").symlink_to(outside)
    assert _texts(open_corpus(inside)) == ["own"]
    (bad,) = [item for item in open_corpus(inside) if isinstance(item, BadDocument)]
    assert "--follow-links" in bad.reason
    assert _texts(open_corpus(inside, follow_links=True)) == ["secret", "own"]
    assert _texts(open_corpus(inside / "link.txt")) == ["secret"], "whoever names a link asks for it"


def _followed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = corpus_room._parts

    def all_followed(folder, left, subfolders, links, above=()):  # type: ignore[no-untyped-def]
        return before(folder, left, subfolders, True, above)

    monkeypatch.setattr(corpus_room, "_parts", all_followed)
    _opened_anyway(monkeypatch)


def _swapped(folder: Path) -> None:
    """A file that becomes a link between the look and the reading is not followed."""
    outside, inside = folder / "outside.txt", folder / "in"
    outside.write_text("secret")
    inside.mkdir()
    (inside / "a.txt").write_text("own")
    found = open_corpus(inside)
    (inside / "a.txt").unlink()
    (inside / "a.txt").symlink_to(outside)
    with pytest.raises(StorageError, match="symbolic link"):
        list(found)


def _opened_anyway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "no_link", None)


def _watched(folder: Path) -> None:
    outside, inbox = folder / "outside.txt", folder / "in"
    outside.write_text(sentence(40))
    inbox.mkdir()
    (inbox / "link.txt").symlink_to(outside)
    vectors = seeded_rng(20).standard_normal((len(WORDS), 8), np.float32)
    toy = Embeddings.from_arrays(WORDS, vectors, name="toy", tokenizer="word2vec")
    plan = Plan(Laplace(toy, epsilon=2.0), Encoding(20, "unk", StopWords.load("none"), "word2vec"))
    ledger = Ledger.create(folder / "ledger", budget=100)
    with FolderWatch(inbox, folder / "out", plan, ledger, settle=0) as watch:
        (event,) = watch.look()
    assert event.what == "refused", "a file outside of the folder was released"
    assert "--follow-links" in event.said[0]
    with FolderWatch(inbox, folder / "out", plan, ledger, settle=0, reading={"follow_links": True}) as watch:
        assert [event.what for event in watch.look()] == ["released"]


def _watch_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "is_symlink", lambda path: False)
    _opened_anyway(monkeypatch)


def _a_folder_becomes_a_link(folder: Path) -> None:
    """After it was listed: what lies elsewhere under the same names is not released."""
    for moment in ("before", "while"):
        inside, outside = folder / moment / "in", folder / moment / "outside"
        for each in (inside / "sub", outside):
            each.mkdir(parents=True)
            (each / "a.txt").write_text(sentence(30))
        found = open_corpus(inside, subfolders=True, number=True)

        def swap(_: int = 0, inside: Path = inside) -> None:
            if not (inside / ".old").exists():
                (inside / "sub").rename(inside / ".old")
                (inside / "sub").symlink_to("../outside")

        if moment == "before":
            swap()
        plan = Plan(
            Laplace(toy_vectors(), epsilon=2.0), Encoding(20, "unk", StopWords.load("none"), "word2vec")
        )
        with pytest.raises((StorageError, DocumentError)):
            protect_corpus(found, plan, folder / moment / "out", progress=swap)
        assert not (folder / moment / "out").exists()


def _wherever_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: the files' own state, which was asked for after the folder had become a link."""
    monkeypatch.setattr(Corpus, "state", lambda corpus: ())


def _waits_for_nothing(folder: Path) -> None:
    """A pipe that comes in the place of a file would hold whoever opens it until somebody writes."""
    inside = folder / "in"
    inside.mkdir()
    (inside / "a.txt").write_text("own")
    found = open_corpus(inside)
    (inside / "a.txt").unlink()
    os.mkfifo(inside / "a.txt")
    writer = threading.Thread(target=_write, args=(inside / "a.txt",))
    writer.start()
    try:
        with pytest.raises(StorageError):
            next(iter(found))
    finally:
        reader = os.open(inside / "a.txt", os.O_RDONLY | os.O_NONBLOCK)  # so that the writer ends
        writer.join()
        os.close(reader)


def _write(pipe: Path) -> None:
    with suppress(BrokenPipeError):
        pipe.write_text("whatever somebody writes")


FENCES = (
    Fence(10, "watch refuses a link unless asked for", _watched, _watch_follows),
    Fence(10, "a link in a folder is not followed unless asked for", _folder, _followed),
    Fence(10, "a file that becomes a link is not followed", _swapped, _opened_anyway),
    Fence(10, "a folder that becomes a link is not followed", _a_folder_becomes_a_link, _wherever_it_lies),
    Fence(10, "a file that becomes a pipe is not waited for", _waits_for_nothing, _opened_anyway),
)
