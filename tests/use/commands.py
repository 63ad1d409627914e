"""What is done with a file. A command is one function in `COMMANDS`; it says how many documents were there.

``needs`` is a column that a format must have. A command that is not built in this installation is left out.
"""

import csv
import io
import json
import pickle
from typing import NamedTuple

from publius.documents.corpus import open_corpus
from publius.settings import Reading


class Given(NamedTuple):
    """A case: the command line, the files, their options, whether they have columns, a free folder, how many documents."""

    run: object
    files: list
    options: list
    columned: bool
    folder: object
    count: int

    def call(self, command, *more, code=0):
        ended, out, err = self.run(command, *self.files, *self.options, *more)
        assert ended == code, err
        return out


def read(given):
    told = dict(zip(given.options[::2], given.options[1::2], strict=False))
    reading = Reading(
        text_field=told.get("--text-field"), quotes=told.get("--quotes", "standard"), lines="--lines" in told
    )
    if given.options == ["--lines"]:
        reading = Reading(lines=True)
    corpus = open_corpus(given.files, reading, author_field="author" if given.columned else None)
    documents = list(corpus)
    assert all("Größe" in each.text for each in documents)
    assert not any("else's words" in each.text for each in documents)
    travelled = [pickle.loads(pickle.dumps(each)) for each in corpus.batches(5)]
    assert [each for batch in travelled for each in batch.documents()] == documents
    alone = sum(table.alone for table in corpus.tables)
    assert len(corpus.digests()) == len(corpus.tables) - max(alone - 1, 0)
    if given.columned:
        assert {each.author for each in documents} == {f"a{n}" for n in range(6)}
    return len([*corpus])


def inspect(given):
    found = json.loads(given.call("inspect", "--json"))
    assert found["without_text"] == 0
    return found["documents"]


def _lines(text):
    return [json.loads(line) for line in text.splitlines()]


def released(command, *settings, output="folder", row="label"):
    """A release of every document to ``output``: a folder of JSON lines, CSV or Parquet, or standard output."""

    def release(given):
        if output == "-":
            rows = _lines(given.call(command, *settings, "--output", "-"))
        else:
            folder = given.folder / "release"
            given.call(command, *settings, "--format", "jsonl" if output == "folder" else output, "--output", folder)
            rows = _rows(folder, output)
            manifest = json.loads((folder / "manifest.json").read_bytes())
            assert manifest["documents"] == len(rows)
            assert "Größe" not in "".join(each.read_text("utf-8", "replace") for each in folder.iterdir())
        assert all(row in each for each in rows)
        return len(rows)

    return release


def _rows(folder, output):
    if output == "csv":
        return list(csv.DictReader(io.StringIO((folder / "rows.csv").read_text())))
    if output == "parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(folder / "rows.parquet").to_pylist()
    (file,) = folder.glob("*.jsonl")
    return _lines(file.read_text())


def summarize(given):
    settings = "--author-field author --classifier python:lengths:Lengths --epsilon 1 --force"
    given.call("summarize", *settings.split(), "--output", given.folder / "release")
    manifest = json.loads((given.folder / "release" / "manifest.json").read_bytes())
    assert (manifest["kind"], manifest["authors"]) == ("summary", 6)
    return given.count


def evaluate(given):
    settings = "--author-field author --attackers letters --epsilon 5 --embeddings toy --json"
    found = json.loads(given.call("evaluate", *settings.split()))
    assert (found["candidates"], found["kind"]) == (6, "words")
    return given.count


def train(given):
    settings = "--label status --author-field author --name tried --json"
    code, out, err = given.run("models", "train", *given.files, *given.options, *settings.split())
    assert code == 0, err
    assert {"open", "closed", "other"} <= {*json.loads(out)["labels"]}
    return given.count


LABEL = ("label", "--classifier", "python:lengths:Lengths", "--epsilon", "3", "--workers", "1")
OBFUSCATE = ("obfuscate", "--epsilon", "8", "--length", "3", "--embeddings", "toy", "--workers", "1")
VALUES = ("label", "--field", "status", "--labels", "open,closed", "--epsilon", "3", "--workers", "1")
COMMANDS = {
    "read": (read, None), "inspect": (inspect, None), "label": (released(*LABEL), None),
    "label-stdout": (released(*LABEL, output="-"), None), "label-csv": (released(*LABEL, output="csv"), None),
    "label-values": (released(*VALUES), "status"), "obfuscate": (released(*OBFUSCATE, row="bag"), None),
    "obfuscate-stdout": (released(*OBFUSCATE, output="-", row="bag"), None),
    "obfuscate-parquet": (released(*OBFUSCATE, output="parquet", row="bag"), None),
    "summarize": (summarize, "author"), "evaluate": (evaluate, "author"), "models-train": (train, "status"),
}  # fmt: skip
ONE_FILE = {"evaluate"}
"""Commands that take one file or folder."""
