"""What was refused is told by the exit code, leaves nothing in the way, and names nobody."""

import io
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import publius
from fences import Fence
from publius import cli
from publius.cli import log, watch
from publius.documents.corpus import BadDocument
from publius.errors import BudgetError, DocumentError, PubliusError
from publius.privacy.ledger import Ledger
from publius.releases import watching
from publius.releases.writing.run import _Kept
from released import command, toy_documents, toy_release, toy_vectors


def _watch(folder: Path) -> None:
    toy_vectors().save(Path(os.environ["PUBLIUS_HOME"]) / "embeddings" / "toy")
    inbox, ledger = folder / "inbox", folder / "budget"
    inbox.mkdir()
    publius.Ledger.create(ledger, budget=100)
    (inbox / "film.mp4").write_bytes(b"x")
    call = ("watch", inbox, "--output", folder / "out", "--ledger", ledger, "--embeddings", "toy", "--epsilon", 2,
            "--length", 5, "--settle", 0, "--once")  # fmt: skip
    code, _, said = command(*call)
    assert (code, "THE PROMISE IS EMPTY" in said) == (65, False)
    assert "THE PROMISE IS EMPTY" in command(*call[:-3], "--epsilon", 90, *call[-3:])[2]
    toy_documents(inbox / "texts.jsonl")
    assert command(*call)[0] == 0  # one of the two is released


def _write(folder: Path) -> None:
    release = toy_release(folder / "release")
    before = sorted(folder.iterdir())
    for writer in ("python:nowhere:Writer", "python:elsewhere:Writer"):
        code, _, said = command("write", release, "--writer", writer, "--output", folder / "texts.jsonl")
        assert (code, "that can be imported" in said) == (2, True)
        assert sorted(folder.iterdir()) == before


def _ledger(folder: Path) -> None:
    toy_vectors().save(Path(os.environ["PUBLIUS_HOME"]) / "embeddings" / "toy")
    texts = folder / "texts.jsonl"
    texts.write_text(json.dumps({"id": "c1", "text": "river bridge judge", "who": "Erika Musterfrau"}) + "\n")
    publius.Ledger.create(folder / "budget", budget=10)
    call = ("obfuscate", texts, "--epsilon", 2, "--length", 5, "--embeddings", "toy", "--ledger", folder / "budget",
            "--subject-field", "who", "--allow-padding")  # fmt: skip
    assert command(*call, "--output", folder / "one")[0] == 0
    code, out, said = command(*call, "--output", folder / "two")
    assert code == 77
    assert "Musterfrau" not in out + said
    assert "smaller" not in said
    assert "is spent: leave it out" in said


def _unreadable(folder: Path) -> None:
    toy_vectors().save(Path(os.environ["PUBLIUS_HOME"]) / "embeddings" / "toy")
    texts, row = folder / "texts.jsonl", {"id": "Erika Musterfrau", "text": "river bridge judge"}
    drawn = ("--epsilon", 2, "--length", 3, "--embeddings", "toy", "--output", folder / "out")
    for wrong in ({**row, "text": "letter"}, {**row, "id": "Otto Normal", "text": None}):
        texts.write_text("".join(json.dumps(each) + "\n" for each in (row, wrong)), encoding="utf-8")
        code, out, said = command("obfuscate", texts, *drawn)
        assert (code, "document 2: line 2: " in said) == (65, True)
        assert not any(name in out + said for name in ("Erika", "Otto"))
        error = next(each.error() for each in publius.open_corpus(texts) if isinstance(each, BadDocument))
        with pytest.MonkeyPatch.context() as patch:  # at a terminal its curator reads which it is
            patch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
            assert repr(wrong["id"]) in cli._said(error)


def _named_files(folder: Path) -> None:
    """Files and authors have names that no log is to hold."""
    toy_vectors().save(Path(os.environ["PUBLIUS_HOME"]) / "embeddings" / "toy")
    texts = folder / "texts"
    texts.mkdir()
    for n in range(9):
        (texts / f"{n}.txt").write_text("river bridge judge")
    (texts / "Erika Musterfrau.txt").write_bytes(b"river \xff\xfe bridge")
    drawn = ("--epsilon", 2, "--length", 3, "--embeddings", "toy", "--number", "--skip-bad", "--accept-loss")
    code, out, said = command("obfuscate", texts, *drawn, "--output", folder / "out")
    assert code == 0, said
    assert "Erika" not in out + said, said
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", terminal := _Terminal())
        log.set_up("text", 0)
        log.say_here("Erika")
        log.set_up("json", 0)
        log.say_here("Otto")
    assert terminal.getvalue() == "Erika\n"


def _headerless(folder: Path) -> None:
    """The names of columns are the words of the first letter where nobody wrote a header."""
    own, older = folder / "own.csv", folder / "older.csv"
    own.write_text(
        "".join(f"I am Erika Musterfrau,my neighbour stole bicycle {n} and ran\n" for n in range(30))
    )
    older.write_text(
        "text,author,topic\n" + "".join(f"the judge crossed bridge {n},a{n % 7},x\n" for n in range(30))
    )
    keys = folder / "keys.jsonl"
    keys.write_text(
        "".join(f'{{"Erika Musterfrau": "x", "text": "my neighbour stole bicycle {n}"}}\n' for n in range(9))
    )
    semicolons = folder / "semicolons.csv"
    semicolons.write_text(
        "".join(f"I am Erika Musterfrau;my neighbour stole bicycle {n}\n" for n in range(9))
    )
    toy_vectors().save(Path(os.environ["PUBLIUS_HOME"]) / "embeddings" / "toy")
    release = toy_release(folder / "release", keep=["year"])
    new = ("--yes", "--output", folder / "new")
    calls = (
        ("start", own, "--public", older, *new),
        ("start", own, "--public", older, "--text-field", "text", *new),
        ("start", own, "--summary", "--text-field", "x", *new),
        ("start", keys, "--summary", "--author-field", "who", *new),
        ("start", semicolons, "--public", older, "--delimiter", ",", *new),
        ("start", older, "--public", own, *new),
        ("start", older, "--public", keys, "--author-field", "writer", *new),
        ("inspect", own, "--text-field", "text"),
        ("inspect", keys, "--release", release),
    )
    for call in calls:
        code, out, said = command("--log-format", "json", *call)
        assert code in (2, 65), (call, out, said)
        assert "Erika" not in out + said, said
        assert "column" in said, said
    # At a terminal its curator reads them, and no log does all the same.
    for kind, shown in ("text", True), ("json", False):
        call = ["publius", "--log-format", kind, "inspect", str(own), "--text-field", "text"]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stderr", terminal := _Terminal())
            patch.setattr(sys, "argv", call)
            with pytest.raises(SystemExit):
                cli.main()
        assert ("\nColumns: 'I am Erika Musterfrau', " in terminal.getvalue()) is shown
        assert ("Erika" in terminal.getvalue()) is shown


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _among(self: PubliusError, columns: tuple[str, ...]) -> PubliusError:
    return type(self)(f"{self}: found {columns}")


def _fields(folder: Path) -> None:
    """Which files of a watched folder have a release does not follow from the values of a field."""
    publius.Ledger.create(folder / "budget", budget=100, unit="bound")
    seen = set()
    for name, value in (
        ("declared", "loans"),
        ("another", "HIV clinic"),
        ("none", None),
        ("long", "x" * 2**25),
    ):
        inbox, output = folder / name, folder / f"{name}-out"
        inbox.mkdir()
        for number, each in enumerate(("cards", value), start=1):
            row = {"id": str(number), "product": each}
            (inbox / f"{number}.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
        for other in ((), ("--other", "cards")):
            place = output.with_name(f"{output.name}{len(other)}")
            code, out, said = command(
                "watch", inbox, "--output", place, "--ledger", folder / "budget", "--preserve", "field:product",
                "--text-field", "product", "--values", "loans,cards", "--bound", 2, "--settle", 0, "--once", *other,
            )  # fmt: skip
            released = tuple(sorted(path.name for path in place.iterdir())) if place.exists() else ()
            seen.add((other, code, released, out.replace(str(place), "OUT"), said))
    assert len({other for other, *_ in seen}) == len(seen), "what is there tells a value of the field"


def _named(bad: BadDocument) -> DocumentError:
    return DocumentError(f"document {bad.position} (id {bad.id!r}): {bad.reason}")


def _talkative(self: Ledger, kind: str, name: str, spent: object, amount: object) -> BudgetError:
    return BudgetError(f"the {kind} {name!r} has nothing left. Choose a smaller epsilon")


FENCES = (
    Fence(
        15, "a watch that refused everything ends with 65", _watch,
        lambda patch: patch.setattr(watch, "_exit_code", lambda counts: 0),
    ),
    Fence(
        15, "a call of write that wrote nothing leaves nothing behind", _write,
        lambda patch: patch.setattr(_Kept, "_drop_if_empty", lambda kept: None),
    ),
    Fence(
        15, "a refusal of the ledger names nobody and advises what helps", _ledger,
        lambda patch: patch.setattr(Ledger, "_overspent", _talkative),
    ),
    Fence(
        15, "a watch releases no field, whose values would tell which files are released", _fields,
        lambda patch: patch.setattr(watching, "_check_field", lambda plan: None),
    ),
    Fence(
        15, "an error about a document names its place, and its id at a terminal alone", _unreadable,
        lambda patch: patch.setattr(BadDocument, "error", _named),
    ),
    Fence(
        15, "names of files and authors are said at a terminal alone", _named_files,
        lambda patch: patch.setattr(log, "seen_here", lambda: True),
    ),
    Fence(
        15, "an error about columns names none but those that were asked for", _headerless,
        lambda patch: patch.setattr(PubliusError, "among", _among),
    ),
)  # fmt: skip
