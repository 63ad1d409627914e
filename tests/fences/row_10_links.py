"""A symbolic link in a folder leads nowhere unless that was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from fences import Fence
from publius.documents import corpus as corpus_room
from publius.documents.corpus import BadDocument, Corpus, Document, open_corpus
from publius.errors import StorageError
from publius.files import reading


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
    monkeypatch.setattr(reading, "_no_link", None)


FENCES = (
    Fence(10, "a link in a folder is not followed unless asked for", _folder, _followed),
    Fence(10, "a file that becomes a link is not followed", _swapped, _opened_anyway),
)
