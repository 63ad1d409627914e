"""Malformed files by mutation: valid files of every kind that is read, spoiled in a thousand ways.

Each must end in a typed error (or a document that is named as bad), or, where the spoiling left a valid file, in
content that keeps the rules; in memory within twice the file and 256 MB.
"""

import gzip
import hashlib
import io
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from publius.audit.outcomes import Findings, violations
from publius.documents.corpus import BadDocument, open_corpus
from publius.errors import PubliusError
from publius.noise.randomness import seeded_rng
from publius.text.tokenizer import StopWords
from publius.vectors.embeddings import Embeddings
from publius.vectors.importing.reader import read_vectors, read_word_list
from torture import bench
from vector_files import WRITERS as VECTOR_WRITERS

MEMORY = 256 * 2**20
_TOKENS = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\x1b[2J", b"NaN", b"inf", b"-1", b"1e999", b"99999999999",
    b'"', b"{", b"}", b"[" * 50, b",", b"\n", b"\r", b"\xef\xbb\xbf", b"null", b"\\ud800", b" " * 9,
    b"\x1f\x8b", b"0x1p3",
)  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A kind of file: its name, valid contents, and how it is read to the last byte."""

    name: str
    file: str
    content: bytes
    read: Callable[[Path], object]


def _vectors(path):
    found = read_vectors(path)
    if not np.isfinite(found.vectors).all() or len(found.words) != len(found.vectors):
        raise AssertionError("accepted vectors break the rules")


def _corpus(path):
    documents = list(open_corpus(path, keep=()))
    bad = [item for item in documents if isinstance(item, BadDocument)]
    if any(not document.id for document in documents if document not in bad):
        raise AssertionError("an accepted document breaks the rules")
    if bad:
        raise bad[0].error()


def _store(path):
    Embeddings.open(path.parent).verify()


def _rows():
    vocabulary = bench.EMBEDDINGS.vocabulary
    return [{"id": f"d{i}", "text": " ".join(vocabulary[i : i + 9]), "n": i} for i in range(8)]


def _csv():
    lines = [f'{row["id"]},"{row["text"]}, ""quoted""",{row["n"]}' for row in _rows()]
    return ("id,text,n\r\n" + "\r\n".join(lines) + "\r\n").encode()


def _parquet():
    import pyarrow
    import pyarrow.parquet

    stream = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(_rows()), stream)
    return stream.getvalue()


def kinds(folder: Path) -> list[Kind]:
    """Every kind of file that Publius reads; the store is made in ``folder``."""
    jsonl = "".join(json.dumps(row) + "\n" for row in _rows()).encode()
    found = [Kind(name, file, write(), _vectors) for name, (write, file) in VECTOR_WRITERS.items()]
    found += [
        Kind("glove, gzip", "v.txt.gz", gzip.compress(VECTOR_WRITERS["glove"][0]()), _vectors),
        Kind("word list", "words.txt", "\n".join(bench.EMBEDDINGS.vocabulary[:20]).encode(), read_word_list),
        Kind("stop words", "stop.txt", b"the\nof\nand\n", lambda path: StopWords.load(f"file:{path}")),
        Kind("JSONL", "c.jsonl", jsonl, _corpus),
        Kind("JSONL, gzip", "c.jsonl.gz", gzip.compress(jsonl), _corpus),
        Kind("CSV", "c.csv", _csv(), _corpus),
        Kind("text", "c.txt", _rows()[0]["text"].encode(), _corpus),
        Kind("Parquet", "c.parquet", _parquet(), _corpus),
    ]
    store = bench.EMBEDDINGS.save(folder / "store").folder
    found += [
        Kind(f"store, {name}", f"store/{name}", (store / name).read_bytes(), _store)
        for name in ("meta.json", "words.txt", "vectors.npy")
    ]
    return found


def mutate(content: bytes, other: bytes, rng) -> bytes:
    """One to three random changes of ``content``; ``other`` is a valid file of another kind."""
    for _ in range(int(rng.integers(1, 4))):
        content = _CHANGES[int(rng.integers(len(_CHANGES)))](content, other, rng)
    return content


def _place(content, rng):
    return int(rng.integers(len(content) + 1))


def _span(content, rng):
    start, stop = sorted((_place(content, rng), _place(content, rng)))
    return start, stop


def _flip(content, other, rng):
    if not content:
        return b"\x80"
    at = int(rng.integers(len(content)))
    return content[:at] + bytes([content[at] ^ 1 << int(rng.integers(8))]) + content[at + 1 :]


def _token(content, other, rng):
    at = _place(content, rng)
    return content[:at] + _TOKENS[int(rng.integers(len(_TOKENS)))] + content[at:]


def _noise(content, other, rng):
    at = _place(content, rng)
    return content[:at] + rng.bytes(int(rng.integers(1, 40))) + content[at:]


def _without(content, other, rng):
    start, stop = _span(content, rng)
    return content[:start] + content[stop:]


def _twice(content, other, rng):
    start, stop = _span(content, rng)
    return content[:stop] + content[start:stop] + content[stop:]


def _spliced(content, other, rng):
    return content[: _place(content, rng)] + other[_place(other, rng) :]


def _digits(content, other, rng):
    """A number becomes another, larger one."""
    places = [at for at, byte in enumerate(content) if 48 <= byte < 58]
    if not places:
        return content + b"9"
    at = places[int(rng.integers(len(places)))]
    return content[:at] + b"9" * int(rng.integers(1, 25)) + content[at + 1 :]


_CHANGES = (
    _flip,
    _token,
    _noise,
    _without,
    _twice,
    _spliced,
    _digits,
    lambda content, other, rng: content[: _place(content, rng)],
)


def torture_malformed(count, seed=4):
    """At least ``count`` distinct malformed files, over all kinds in turn."""
    rng = seeded_rng(seed)
    refused, seen, memory = Counter(), set(), _Memory()
    untyped, heavy, accepted = [], [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        every = kinds(folder)
        for turn in range(20 * count):
            if refused.total() >= count:
                break
            kind = every[turn % len(every)]
            content = mutate(kind.content, every[int(rng.integers(len(every)))].content, rng)
            digest = hashlib.sha256(kind.name.encode() + content).digest()
            if content == kind.content or digest in seen:
                continue
            seen.add(digest)
            path = folder / kind.file
            path.write_bytes(content)
            with memory.watched() as peak:
                outcome = _outcome(kind, path)
            refused[kind.name] += outcome == "refused"
            accepted += outcome == "accepted"
            if outcome not in ("refused", "accepted"):
                untyped.append(f"{kind.name}, turn {turn}: {outcome}")
            if peak.grown > 2 * len(content) + MEMORY:
                heavy.append(f"{kind.name}, turn {turn}: {peak.grown >> 20} MiB")
            path.write_bytes(kind.content)
    checks = (
        violations("malformed files: untyped errors", refused.total(), len(untyped)),
        violations("malformed files: memory beyond twice the file and 256 MB", refused.total(), len(heavy)),
        violations("malformed files: fewer than asked for", refused.total(), max(0, count - refused.total())),
    )
    figures = {"malformed files refused": refused.total(), "spoiled but still valid": accepted}
    return Findings(
        checks, {**figures, "malformed files by kind": dict(refused), "problems": (untyped + heavy)[:20]}
    )


def _outcome(kind, path):
    try:
        kind.read(path)
    except PubliusError:
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


class _Memory:
    """The growth of resident memory at its peak, by the kernel's own high-water mark, reset each time."""

    grown = 0

    def watched(self):
        return self

    def __enter__(self):
        self._before = _status("VmRSS")
        self._reset = _reset_peak()
        self._peak = _status("VmHWM")
        return self

    def __exit__(self, *error):
        self.grown = _status("VmHWM") - (self._before if self._reset else self._peak)


def _status(name):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return 0


def _reset_peak():
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True
