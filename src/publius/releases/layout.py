"""A release as a record: its fields in their order, its line of JSON and back, its row of a table.

Words come in vocabulary order and nothing else about their order is written (R11), except of ordered text, which is
marked so in every record. An experiment's warning is in every one (R10).
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, Final, Self, final

from publius.documents.row_readers import import_parquet
from publius.errors import UsageError
from publius.files import json_of
from publius.releases.plan import ORDERED_TEXT, Plan, published
from publius.releases.release import Release, ReleasedTogether
from publius.text.bag import Bag, drawn_json
from publius.text.known_words import IndexedVocabulary
from publius.text.tokenizer import joined

if TYPE_CHECKING:
    import pyarrow

RESERVED = (
    "id", "size", "kind", "bag", "word", "count", "words", "counts", "kept", "text", "position", "warning", "private",
)  # fmt: skip

_JSON: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)

LABEL: Final = ("label", "probability_kept")
"""What a row leads with, where the mechanism prints a label: it says what is released."""

PROTOTYPE: Final = ("prototype",)


@final
@dataclass(frozen=True)
class Layout:
    """How releases are written: words in vocabulary order, exactly the labels asked for, an experiment's warning.

    ``ordered`` is for ordered text: each record says so, and has the words as they follow each other too. With
    ``prototypes`` each has the public prototype that stands for the document.

    ``probability_kept`` is the public constant that stands beside each label (`Mechanism.probability_kept`); None where
    no label is printed. Without ``bags`` a label is all that is released.
    """

    vocabulary: IndexedVocabulary
    labels: tuple[str, ...] = ()
    warning: str | None = None
    ordered: bool = False
    prototypes: bool = False
    probability_kept: float | None = None
    bags: bool = True

    def __post_init__(self) -> None:
        taken = {*RESERVED, *self.leading, *(PROTOTYPE if self.prototypes else ())}
        if clash := sorted(set(self.labels) & taken):
            raise UsageError(f"a kept field cannot be called {clash[0]!r}: that name is the release's own")

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """The layout of a plan's releases; `UsageError` when a kept field has a name of the release's own."""
        mechanism, kept = plan.mechanism, plan.mechanism.probability_kept
        return cls(
            plan.vocabulary, plan.labels, plan.warning, plan.ordered is not None, "prototype" in mechanism.fields,
            None if kept is None else published(kept), mechanism.releases_bags,
        )  # fmt: skip

    @property
    def leading(self) -> tuple[str, ...]:
        """The fields that a row begins with, before the id."""
        return () if self.probability_kept is None else LABEL

    def counts(self, release: Release) -> dict[str, int]:
        """The bag's words in vocabulary order; words outside it (an experiment's) last."""
        places, counts = self.vocabulary.places, release.bag.counts
        try:
            order = sorted(counts, key=places.__getitem__)
        except KeyError:
            order = sorted(counts, key=lambda word: (places.get(word, math.inf), word))
        return {word: counts[word] for word in order}

    def record(self, release: Release) -> dict[str, Any]:
        """Id, size, the kind of ordered text, an experiment's warning, and exactly the labels that were asked for."""
        if (release.words is not None) != self.ordered:
            raise UsageError("a release is of another kind than the plan: bags and ordered text do not mix")
        rest = {**self._marked(release.prototype), **self._kept(release.labels)}
        size = {"size": release.bag.size} if self.bags else {}
        return {**self._leading(release.label), "id": release.id, **size, **rest}

    def _leading(self, label: str | None) -> dict[str, Any]:
        return (
            {}
            if self.probability_kept is None
            else dict(zip(LABEL, (label, self.probability_kept), strict=True))
        )

    def _marked(self, prototype: int | None) -> dict[str, Any]:
        """What is the same of many documents: the kind of ordered text, a warning, the prototype."""
        kind = {"kind": ORDERED_TEXT} if self.ordered else {}
        warning = {"warning": self.warning} if self.warning else {}
        named = {"prototype": prototype} if self.prototypes else {}
        return {**kind, **warning, **named}

    def _kept(self, labels: Mapping[str, Any]) -> dict[str, Any]:
        if labels.keys() != {*self.labels}:
            raise UsageError("a release has other labels than the plan keeps: give both the same fields")
        return {label: labels[label] for label in self.labels}

    def json_line(self, release: Release) -> bytes:
        """The line of ``bags.jsonl``: label, id, size, bag, kept fields; ordered text has words, kept and text, too."""
        record = self.record(release)
        first = {name: record.pop(name) for name in (*self.leading, "id")}
        head = _JSON.encode(first)[:-1]
        if self.bags:
            bag = drawn_json(release.bag, self.vocabulary.vocabulary) or _JSON.encode(self.counts(release))
            head += f', "size": {record.pop("size")}, "bag": {bag}'
        rest = {**record, **self._in_order(release)}
        few = not self.labels and not self.ordered
        return (head + (_tail(tuple(rest.items())) if few else _encoded(rest))).encode()

    def json_lines(self, releases: Sequence[Release]) -> bytes:
        """The `json_line` of each, one behind the other; quicker where they were drawn together."""
        if isinstance(releases, ReleasedTogether) and not self.ordered:
            bags = releases.outcomes.bags
            if bags.alphabet.vocabulary is self.vocabulary.vocabulary and bags.texts is not None:
                return self._lines_together(releases, bags.size, bags.texts)
        return b"".join(map(self.json_line, releases))

    def _lines_together(self, releases: ReleasedTogether, size: int, bags: Sequence[str]) -> bytes:
        named = releases.outcomes.named
        marked = {each: self._marked(each[0]) for each in {*named}}
        lead = {each: _JSON.encode({**self._leading(each[1]), "id": ""})[:-3] for each in marked}
        if self.labels or any(releases.labels):
            pairs = zip(named, map(self._kept, releases.labels), strict=True)
            ends = [_encoded({**marked[each], **own}) for each, own in pairs]
        else:
            tails = {each: _encoded(marks) for each, marks in marked.items()}
            ends = [tails[each] for each in named]
        parts = zip(
            [lead[each] for each in named], map(encode_basestring, releases.ids), bags, ends, strict=True
        )
        lines = [f'{first}{id}, "size": {size}, "bag": {bag}{end}' for first, id, bag, end in parts]
        return "".join(lines).encode()

    def _in_order(self, release: Release) -> dict[str, Any]:
        """The words of ordered text as they follow each other, the places of those kept, and all as one line."""
        if release.words is None:
            return {}
        return {"words": list(release.words), "kept": list(release.kept), "text": joined(release.words)}

    def schema(self) -> pyarrow.Schema:
        """The columns of Parquet: label, id, size, the kept fields, words, counts; `MissingExtraError` without pyarrow.

        Ordered text has words, kept and text instead of words and counts.
        """
        pa = import_parquet()[0]
        marks = {name: text for name, text in self._marks().items() if text is not None}
        fields = list(zip(self.leading, (pa.string(), pa.float64()), strict=False))
        fields += [("id", pa.string()), *((("size", pa.int64()),) if self.bags else ())]
        fields += [(name, pa.string()) for name in marks]
        fields += [("prototype", pa.int64())] if self.prototypes else []
        fields += [(label, pa.string()) for label in self.labels]
        if not self.bags:
            return pa.schema(fields, metadata=marks or None)
        fields += [("words", pa.list_(pa.string()))]
        if self.ordered:
            fields += [("kept", pa.list_(pa.int64())), ("text", pa.string())]
        else:
            fields += [("counts", pa.list_(pa.int64()))]
        return pa.schema(fields, metadata=marks or None)

    def _marks(self) -> dict[str, str | None]:
        return {"kind": ORDERED_TEXT if self.ordered else None, "warning": self.warning}

    def rows(self, releases: Sequence[Release]) -> pyarrow.RecordBatch:
        """Releases as rows of `schema`."""
        records = []
        for release in releases:
            counts = self.counts(release)
            labels = {label: _text(value) for label, value in release.labels.items()}
            columns = self._in_order(release) or {"words": list(counts), "counts": list(counts.values())}
            records.append({**self.record(release), **labels, **(columns if self.bags else {})})
        return import_parquet()[0].RecordBatch.from_pylist(records, schema=self.schema())


@functools.lru_cache(maxsize=1024)
def _tail(items: tuple[tuple[str, Any], ...]) -> str:
    """`_encoded` for what is the same of many documents: a prototype, an experiment's warning."""
    return _encoded(dict(items))


def _encoded(rest: dict[str, Any]) -> str:
    """The end of a line of JSON with ``rest`` in it, after other keys."""
    return f", {_JSON.encode(rest)[1:]}\n" if rest else "}\n"


def json_line(record: dict[str, Any]) -> bytes:
    """A record as a line of JSON."""
    return _JSON.encode(record).encode() + b"\n"


def record_of(line: bytes) -> dict[str, Any]:
    """The record that `json_line` wrote, without the newline; `ValueError` for another line that says the same."""
    record: dict[str, Any] = json_of(line)
    if json_line(record) != line + b"\n":
        raise ValueError("not as it is written")
    return record


def release_of(line: bytes, plan: Plan) -> Release:
    """The release that `Layout.json_line` wrote under ``plan``."""
    record = json.loads(line)
    return Release(
        record["id"],
        Bag.from_counts(record["bag"]) if plan.mechanism.releases_bags else Bag([record["label"]]),
        None if plan.experiment else plan.guarantee,
        {label: record[label] for label in plan.labels},
        record.get("warning"),
        tuple(record["words"]) if plan.ordered else None,
        tuple(record["kept"]) if plan.ordered else (),
        record.get("prototype"),
        record["label"] if plan.mechanism.probability_kept is not None else None,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) or value is None else json.dumps(value)
