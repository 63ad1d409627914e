"""Pairs of worlds for the observable audit: corpora that differ in what a release must not tell."""

from __future__ import annotations

import functools
import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, final

from publius.audit.release_path import toy_embeddings
from publius.settings import TextSettings, UnknownPolicy

LENGTH: Final = 12
"""N, the words of a bag."""

_DOCUMENTS: Final = 40
_CHANGED: Final = 8  # the document in which worlds differ

Text = Callable[[list[str]], str]


@final
@dataclass(frozen=True)
class World:
    """A corpus: its documents ``texts``, how it is stored, and what becomes of unknown words.

    ``files`` cuts the lines into files of these names and numbers of lines; ``broken`` is a record that cannot be
    read, in the middle.
    """

    name: str
    texts: tuple[str, ...] = ()
    kind: str = "jsonl"
    files: tuple[tuple[str, int], ...] = (("corpus", _DOCUMENTS + 1),)
    unknown: UnknownPolicy = TextSettings.unknown
    broken: str | None = None
    ascii_only: bool = True
    packed: bool = False
    extra: str = ""

    @property
    def reading(self) -> Mapping[str, Any]:
        """How it is opened."""
        return MappingProxyType({"number": self.kind == "txt"})

    def write(self, folder: Path) -> Path:
        """Store it in ``folder``; what is to be opened."""
        lines = self._lines()
        for name, count in self.files:
            here, lines = lines[:count], lines[count:]
            if here:
                self._store(folder, name, here)
        (only, *others) = sorted(folder.iterdir())
        return folder if others else only

    def _lines(self) -> list[str]:
        records = [{"id": f"d{place}", "text": text} for place, text in enumerate(self.texts)]
        if self.extra:
            records = [{"note": self.extra, **record} for record in records]
        lines = [json.dumps(record, ensure_ascii=self.ascii_only) for record in records]
        if self.kind == "csv":
            quoted = (text.replace('"', '""') for text in self.texts)
            lines = [f'd{place},"{text}"' for place, text in enumerate(quoted)]
        middle = [] if self.broken is None else [self.broken]
        return [*lines[:20], *middle, *lines[20:]]

    def _store(self, folder: Path, name: str, lines: list[str]) -> None:
        head = "id,text\n" if self.kind == "csv" else ""
        data = (head + "".join(f"{line}\n" for line in lines)).encode("utf-8", "surrogatepass")
        path = folder / f"{name}.{self.kind}{'.gz' * self.packed}"
        path.write_bytes(gzip.compress(data, mtime=0) if self.packed else data)


@final
@dataclass(frozen=True)
class Pair:
    """Two worlds; ``equal`` when they are at distance 0, so that they must look the same byte for byte."""

    name: str
    one: World
    other: World
    equal: bool = True


@functools.cache
def pairs() -> tuple[Pair, ...]:
    """All pairs, at distance 0 first."""
    plain = _world("plain")
    drop = _world("drop", unknown="drop")
    broken = replace(plain, name="broken", broken='{"id": "x", "text": "bu')
    stored: dict[str, dict[str, Any]] = {
        "another name of the file": {"files": (("someone-s-diary", 99),)},
        "two files": {"files": (("a", 25), ("b", 99))},
        "five files, other names": {"files": (("a", 1), ("b", 1), ("c", 30), ("d", 2), ("z", 99))},
        "packed": {"packed": True},
        "separated values": {"kind": "csv"},
        "a field that is not kept": {"extra": "secret " * 900},
    }
    texts: dict[str, Text] = {
        "a longer tail": lambda words: " ".join([*words, *words * 40]),
        "a tail of 300 kB": lambda words: " ".join([*words, *words * 2500]),
        "another tail": lambda words: " ".join([*words[:LENGTH], words[3], "qqqq", "!"]),
        "another order": lambda words: " ".join([*reversed(words[:LENGTH]), *words[LENGTH:]]),
        "other unknown words": lambda words: " ".join(
            "qqqqzz" * 9 if word == "zzq" else word for word in words
        ),
        "stop words between": lambda words: " the ".join(words),
        "other bytes": lambda words: "\n\t... ".join(words).upper(),
        "other letters of unknown words": lambda words: " ".join(
            "\u0438\u0439" if w == "zzq" else w for w in words
        ),
    }
    equal = [
        *(Pair(name, plain, replace(plain, name=name, **how)) for name, how in stored.items()),
        *(Pair(name, plain, _world(name, change)) for name, change in texts.items()),
        Pair("raw letters", _world("u", _letters), replace(_world("raw", _letters), ascii_only=False)),
        Pair(
            "unknown words dropped",
            drop,
            _world("dropped", lambda w: "zz " + " qqq ".join(w), unknown="drop"),
        ),
        Pair("no word or no text", _world("stops", lambda w: "the of"), _world("empty", lambda w: "")),
        Pair(
            "unknown words dropped or none",
            _world("unknown", lambda w: "qqq " * 99, unknown="drop"),
            _world("none", lambda w: " ", unknown="drop"),
        ),
        Pair(
            "another broken record", broken, replace(broken, name="other", broken='{"text": "' + "bu " * 999)
        ),
    ]
    others: dict[str, Text] = {
        "other words": lambda words: " ".join(words[1:LENGTH] * 2),
        "stop words only": lambda words: "the of and",
        "unknown words only": lambda words: "zzq qqq",
        "one word": lambda words: words[0],
        "an empty text": lambda words: "",
    }
    apart = [
        *(Pair(name, plain, _world(name, change), False) for name, change in others.items()),
        *(
            Pair(f"{name}, dropped", drop, _world(name, change, unknown="drop"), False)
            for name, change in others.items()
        ),
        Pair(  # unknown tokens on one side, public words that fill an empty document up on the other
            "unknown words or none",
            _world("unknown", lambda w: "qqq " * 99),
            _world("none", lambda w: " "),
            False,
        ),
        Pair(
            "a document more is broken",
            broken,
            replace(_world("words", others["one word"]), broken="{"),
            False,
        ),
    ]
    return (*equal, *apart)


def _letters(words: list[str]) -> str:
    return " ".join([*words, "\u00e9t\u00e9", "\u0438"])


def _world(name: str, change: Text = " ".join, **options: Any) -> World:
    """Forty documents of vocabulary and unknown words, one of them changed."""
    vocabulary = toy_embeddings().vocabulary
    texts = []
    for place in range(_DOCUMENTS):
        words = [vocabulary[(7 * place + 11 * step) % len(vocabulary)] for step in range(LENGTH + 4)]
        words[5] = "zzq"
        texts.append((change if place == _CHANGED else " ".join)(words))
    return World(name, tuple(texts), **options)
