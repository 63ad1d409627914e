"""Folders as offices have them: nothing stops without a name, nothing is lost without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from fences import Fence
from publius.documents import corpus as corpus_room
from publius.documents import row_readers
from publius.documents.corpus import BadDocument, Document, open_corpus
from publius.documents.inspection import inspect
from publius.errors import DocumentError
from publius.releases import preflight


def _office(folder: Path) -> None:
    for name in (".DS_Store", "Thumbs.db", "desktop.ini", "~$letter.docx", ".~lock.letter.odt#"):
        (folder / name).write_bytes(b"x")
    (folder / "a.txt").write_text("a text")
    (folder / "zebra.doc").write_bytes(b"x")
    (folder / "below").mkdir()
    (folder / "below" / "b.txt").write_text("another text")
    found = open_corpus(folder)
    items = list(found)
    assert [item.text for item in items if isinstance(item, Document)] == ["a text"]
    bad = [item for item in items if isinstance(item, BadDocument)]
    assert [found.file_name(item) for item in bad] == ["below/b.txt", "zebra.doc"]
    assert not any(word in item.reason for item in bad for word in ("zebra", "b.txt"))
    texts = [item for item in open_corpus(folder, subfolders=True) if isinstance(item, Document)]
    assert [item.text for item in texts] == ["a text", "another text"]
    problems = " ".join(inspect(folder).problems)
    assert "zebra.doc" in problems
    assert "Thumbs" not in problems


def _systems_files_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_room, "passed_over", lambda name: name.startswith("."))


def _encodings(folder: Path) -> None:
    pytest.importorskip("charset_normalizer")
    text = "The café’s naïve owner said “no” to Frau Müller, and déjà vu was all he felt."
    (folder / "a.txt").write_bytes(text.encode("cp1252"))
    (found,) = open_corpus(folder / "a.txt", encoding=None)
    assert isinstance(found, Document), found.reason
    assert found.text == text


def _utf8_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_readers, "_told", lambda data: "utf-8")


def _losses(folder: Path) -> None:
    preflight.check_loss(5, 100)
    preflight.check_loss(6, 100, accepted=True)
    with pytest.raises(DocumentError, match="--accept-loss") as refused:
        preflight.check_loss(6, 100)
    assert refused.value.exit_code == 65
    for name in "abc":
        (folder / f"{name}.txt").write_text("a text")
    (folder / "d.doc").write_bytes(b"x")
    found = inspect(folder)
    assert (found.lost, found.documents) == (1, 4)


def _lost_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "LOST", 1.0)


FENCES = (
    Fence(14, "files of systems are passed over, others named to the curator", _office, _systems_files_count),
    Fence(14, "the encoding of a text is found", _encodings, _utf8_only),
    Fence(14, "more than 5 % is not lost unless accepted", _losses, _lost_silently),
)
