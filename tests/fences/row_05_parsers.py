"""Hostile files of foreign formats cost what a file may cost, and are read where that can be ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from fences import Fence
from publius.documents import foreign, mail, office, parquet_limits, readers, row_readers
from publius.documents.corpus import BadDocument, open_corpus
from publius.errors import DocumentError


def _reason(path: Path) -> str:
    (found,) = open_corpus(path, number=True)
    assert isinstance(found, BadDocument), "it was read"
    return found.reason


def _long_fields(folder: Path) -> None:
    path = folder / "a.eml"
    for field in (
        b"Subject: " + b" ".join([b"=?utf-8?q?caf=C3=A9?="] * 4_000),
        b"Content-Type: text/plain; " + b"; ".join(b"a%d=b" % place for place in range(10_000)),
    ):
        path.write_bytes(field + b"\n\ntext")
        assert "header field" in _reason(path)
    path.write_bytes(b"Subject: =?utf-8?q?caf=C3=A9?=\n\ntext")
    assert [item.text for item in open_corpus(path)] == ["café\n\ntext"]


def _no_field_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "FIELD_LIMIT", 2**30)
    _in_this_process(monkeypatch)


def _many_attributes(folder: Path) -> None:
    pytest.importorskip("selectolax")
    path = folder / "a.html"
    path.write_text("<a " + " ".join(f"a{place}=x" for place in range(2_000)) + ">text")
    assert "attributes" in _reason(path)


def _attributes_uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "_most_attributes", lambda page: 0)
    _in_this_process(monkeypatch)


def _many_columns(folder: Path) -> None:
    path = folder / "a.csv"
    path.write_text(",".join(f"c{place}" for place in range(2_000)) + ",text\n")
    with pytest.raises(DocumentError, match="2,001 columns"):
        list(open_corpus(path, number=True))


def _columns_uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_readers, "COLUMNS_LIMIT", 10**9)


def _rows_in_masses(folder: Path) -> None:
    path = folder / "a.csv"
    path.write_text("text\n" + "a\n" * 2_000)
    with pytest.MonkeyPatch.context() as less:
        less.setattr(row_readers, "ROWS_LIMIT", 1_000)
        with pytest.raises(DocumentError, match=r"more than 1,000 rows of fewer than"):
            list(open_corpus(path, number=True))
    limit = row_readers.ROWS_LIMIT * row_readers.ROW_BYTES
    assert limit <= 2**24, "16 MiB hold more rows than can be read in their time"


def _rows_uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_readers, "ROW_BYTES", 0)


def _apart(folder: Path) -> None:
    """Whatever brings a parser to its end, it is not this process that reads."""
    path = folder / "a.eml"
    path.write_bytes(b"Subject: a\n\ntext")
    before = ("read_eml", "message_text")
    saved = {name: getattr(mail, name) for name in before}

    def here(*arguments: object) -> None:
        raise AssertionError("a foreign file was read in this process")

    try:
        for name in before:
            setattr(mail, name, here)
        assert len(list(open_corpus(path))) == 1
    finally:
        for name, each in saved.items():
            setattr(mail, name, each)


def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {".eml": lambda *a, **k: mail.read_eml(*a), ".html": lambda *a, **k: office.read_html(*a)}
    for kind, reader in own.items():
        monkeypatch.setitem(readers.READERS, kind, reader)  # type: ignore[arg-type]


def _memory(folder: Path) -> None:
    path = folder / "a.eml"
    path.write_bytes(b"Subject: a\n\n" + b"\n" * (2 * 2**20))
    with pytest.MonkeyPatch.context() as less:
        less.setattr(foreign, "MEMORY_LIMIT", 16 * 2**20)
        assert "of memory" in _reason(path)
    assert foreign.MEMORY_LIMIT <= 400 * 2**20


def _time(folder: Path) -> None:
    path = folder / "a.eml"
    path.write_bytes(b"Subject: a\n\n" + b"\n" * (4 * 2**20))  # seconds of work
    (found,) = open_corpus(path, number=True, reading_seconds=0.01)
    assert isinstance(found, BadDocument), "it was read"
    assert "seconds of a processor" in found.reason


def _one_letter(folder: Path) -> None:
    """A text that packs a thousandfold does not decide whether the others of its file are read."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = folder / "a.parquet"
    for letters in (4 * 2**20, 40 * 2**20):
        texts = ["a" * letters, "hello", None]
        parquet.write_table(arrow.table({"text": texts}), path, compression="zstd")
        try:
            first, second, _ = open_corpus(path, number=True)
        except DocumentError as error:
            raise AssertionError("one text stops the file") from error
        assert isinstance(first, BadDocument) == (letters > row_readers.RECORD_LIMIT)
        assert not isinstance(second, BadDocument)


def _as_far_as_gzip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_limits, "FREE", 16 * 2**20)
    monkeypatch.setitem(readers.READERS, ".parquet", lambda *a, **k: row_readers.read_parquet(*a))


FENCES = (
    Fence(5, "a header field of mail is short or refused", _long_fields, _no_field_is_long),
    Fence(5, "an element of HTML has few attributes or is refused", _many_attributes, _attributes_uncounted),
    Fence(5, "a table has a bounded number of columns", _many_columns, _columns_uncounted),
    Fence(5, "rows that are nearly empty are bounded in number", _rows_in_masses, _rows_uncounted),
    Fence(5, "one text does not decide whether a Parquet file is read", _one_letter, _as_far_as_gzip),
    Fence(5, "foreign files are read by a process of their own", _apart, _in_this_process),
    Fence(5, "a file that fills the memory is refused", _memory, _in_this_process),
    Fence(5, "a file that takes too long is refused", _time, _in_this_process),
)
