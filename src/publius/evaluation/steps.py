"""What ``publius start`` has to know, the public texts in two halves, and the commands that do the work."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from publius.errors import DataError, PolicyError, UsageError
from publius.files import read_bytes_limited, shown
from publius.settings import StartSettings

if TYPE_CHECKING:
    from publius.documents.inspection import Inspection

AUTHORS: Final = ("author", "user", "writer", "speaker", "customer", "name", "username", "from")
TOPICS: Final = ("topic", "label", "category", "product", "subject", "class", "theme", "department")
FEWEST: Final = 20
"""Public texts below which nothing can be learned or judged."""

MARGIN: Final = 0.15
"""How far above what the topic alone tells the authors named may lie for a verdict of PASS."""

PUBLIC: Final = "public"
"""The folder that holds the public or older texts: its owner's only."""

_LIMIT: Final = 2**20
_TELLING: Final = 8  # words from which on no two people write the same text by chance


Choices = StartSettings
"""The answers."""


def together(given: Choices, kept: Choices) -> Choices:
    """What was ``given``, and where nothing was said what was ``kept``."""
    mine, other = asdict(given), asdict(kept)
    return Choices(**{name: value or other[name] for name, value in mine.items()})


def read_config(path: Path) -> Choices:
    """The answers in a TOML file; `UsageError` for a name that is none, `DataError` where it is no TOML."""
    try:
        values = tomllib.loads(read_bytes_limited(path, _LIMIT).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise DataError(f"{shown(path)} is no TOML: write one answer a line, such as bound = 7") from None
    kinds: dict[str, tuple[type, ...]] = {
        "bound": (int, float), "publish_ids": (bool,), "without_evidence": (bool,),
    }  # fmt: skip
    for name, value in values.items():
        if name not in {each.name for each in fields(Choices)} or type(value) not in kinds.get(name, (str,)):
            raise UsageError(
                f"{shown(path)} has {name!r}, which is no answer or of another kind: see publius start --help"
            )
    return Choices(**values)


def config_text(choices: Choices) -> str:
    """The answers as TOML."""
    said = {name: value for name, value in asdict(choices).items() if value}
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in said.items()]
    return "# Answers of publius start; use them again with --config.\n" + "\n".join(lines) + "\n"


@final
@dataclass(frozen=True, slots=True)
class Older:
    """The public or older texts: rows in two halves, one to learn from and one to attack."""

    learned: tuple[dict[str, str], ...] = field(repr=False)
    attacked: tuple[dict[str, str], ...] = field(repr=False)
    authors: str | None
    topics: str | None
    floor: float

    @classmethod
    def read(cls, choices: Choices) -> Older:
        """The rows of the public file; `DataError` where there are too few, `UsageError` for a column not there."""
        from publius.documents.inspection import inspect

        path = Path(choices.public or "")
        found = inspect(path)
        authors = _column(found, choices.author_field, AUTHORS)
        topics = _column(found, choices.topic_field, TOPICS)
        if choices.preserve == "topic" and topics is None:
            raise UsageError(
                "the public texts have no column of topics: name it with --topic-field, or keep the meaning "
                "(--preserve meaning)"
            )
        rows = list(_rows(path, found, authors, topics))
        if len(rows) < FEWEST:
            raise DataError(
                f"{len(rows)} public texts can be used, too few to learn from: at least {FEWEST} are needed"
            )
        halves = _halves(rows)
        return cls(*halves, authors, topics, _floor(halves[1]))

    def write(self, folder: Path) -> None:
        """Both halves as JSON lines, for this user alone."""
        from publius.files import os_errors, write_file

        with os_errors("make the folder", folder):
            folder.mkdir(0o700)
        for name, rows in (("learned", self.learned), ("attacked", self.attacked)):
            with write_file(folder / f"{name}.jsonl", 0o600) as stream:
                for row in rows:
                    stream.write(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def check_apart(self, texts: Iterable[str]) -> None:
        """`PolicyError` where one of the ``texts`` to be released is among these, but for white space (R29)."""
        mine = {" ".join(row["text"].split()) for row in (*self.learned, *self.attacked)}
        words = (text.split() for text in texts)
        shared = sum(len(found) >= _TELLING and " ".join(found) in mine for found in words)
        if shared:
            raise PolicyError(
                f"{shared:,} of the texts to be released are among the public or older ones: what is learned from "
                "those is public and tells of them, so name texts that are not to be released. Nothing was released"
            )

    @property
    def digest(self) -> str:
        """Of what is learned from."""
        return hashlib.sha256(json.dumps(self.learned).encode()).hexdigest()


def _column(found: Inspection, named: str | None, usual: tuple[str, ...]) -> str | None:
    if named is not None:
        if named not in found.columns:
            raise UsageError(
                f"the public texts have no column {named!r}: found {', '.join(map(repr, found.columns))}"
            )
        return named
    by_name = {name.strip().lower(): name for name in reversed(found.columns)}
    return next(
        (by_name[name] for name in usual if name in by_name and by_name[name] != found.text_field), None
    )


def _rows(path: Path, found: Inspection, authors: str | None, topics: str | None) -> Iterator[dict[str, str]]:
    """Rows with a text and its labels; others are left out."""
    from publius.documents.corpus import Document, open_corpus

    labels = {"author": authors, "topic": topics}
    keep = [name for name in labels.values() if name is not None]
    corpus = open_corpus(
        path, number=True, text_field=found.text_field or "text", keep=keep, delimiter=found.delimiter,
        encoding=found.encoding,
    )  # fmt: skip
    for item in corpus:
        if isinstance(item, Document) and item.text.strip() and all(item.labels.get(name) for name in keep):
            named = {kind: item.labels[name] for kind, name in labels.items() if name is not None}
            yield {"id": item.id, "text": item.text, **named}


def texts_of(path: Path, found: Inspection, text_field: str | None) -> Iterator[str]:
    """The texts to be released, those apart that cannot be read."""
    from publius.documents.corpus import Document, open_corpus

    corpus = open_corpus(
        path, number=True, text_field=text_field or "text", delimiter=found.delimiter, encoding=found.encoding
    )
    return (item.text for item in corpus if isinstance(item, Document))


def _halves(rows: list[dict[str, str]]) -> tuple[tuple[dict[str, str], ...], tuple[dict[str, str], ...]]:
    """Every second text of each author and topic."""
    halves: tuple[list[dict[str, str]], list[dict[str, str]]] = ([], [])
    seen: Counter[tuple[str, str]] = Counter()
    for row in rows:
        group = (row.get("author", ""), row.get("topic", ""))
        halves[seen[group] % 2].append(row)
        seen[group] += 1
    return tuple(halves[0]), tuple(halves[1])


def _floor(rows: tuple[dict[str, str], ...]) -> float:
    """The share of authors that is named by always naming the most frequent author of the topic."""
    groups: dict[str, Counter[str]] = {}
    for row in rows:
        groups.setdefault(row.get("topic", ""), Counter())[row.get("author", "")] += 1
    return sum(max(counts.values()) for counts in groups.values()) / len(rows) if rows else 1.0


def commands(file: Path, found: Inspection, folder: Path, choices: Choices, older: Older) -> list[list[str]]:
    """The commands that make everything below ``folder``, without the word publius."""
    name = f"start-{older.digest[:12]}"
    learned, attacked = (str(folder / PUBLIC / f"{half}.jsonl") for half in ("learned", "attacked"))
    release, evaluation = str(folder / "release"), str(folder / "evaluation")
    fit = ["reference", "fit", learned, "--name", name, *(["--label", "topic"] if older.topics else [])]
    steps = [] if _stored(name) else [fit]
    steps.append([
        "obfuscate", str(file), "--preserve", str(choices.preserve), "--reference", name, "--bound",
        f"{choices.bound:g}", "--text-field", str(choices.text_field), "--skip-bad", "--output", release,
        *([] if choices.publish_ids else ["--number"]),
        *(["--delimiter", found.delimiter, "--encoding", str(found.encoding)] if found.delimiter else []),
    ])  # fmt: skip
    if older.authors is not None:
        steps.append([
            "evaluate", attacked, "--release", release, "--preset", "quick", "--author-at-most",
            f"{min(0.99, older.floor + MARGIN):.2f}", "--bound-at-most", f"{choices.bound:g}", "--output", evaluation,
        ])  # fmt: skip
    page = ["signoff", release, "--output", str(folder / "signoff.html")]
    steps.append([*page, "--evaluation", evaluation] if older.authors is not None else page)
    return steps


def _stored(name: str) -> bool:
    from publius.vectors.learning.reference_store import stored_reference_names

    return name in stored_reference_names()
