"""The promise says which fields leave as they are, wherever it is read; every row that leaves was looked at."""

from contextlib import suppress
from pathlib import Path

import pytest

import publius
from fences import Fence
from publius.documents.corpus import Corpus
from publius.errors import DocumentError
from publius.privacy import promise
from publius.releases.engines import protect_corpus
from publius.releases.manifests import read_manifest_of
from publius.releases.signoff import sign_off
from released import toy_documents, toy_plan, toy_release


def _check(folder: Path) -> None:
    release = toy_release(folder / "release", keep=["year"])
    said = read_manifest_of(release)["promise"]
    assert "NOTHING is promised for the field 'year'" in said
    assert "NOTHING is promised for the field &#39;year&#39;" in sign_off(release).decode()


def _broken(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(promise, "_of_labels", lambda labels: "")


def _changed(folder: Path) -> None:
    """Whether rows are put in the place of those that were read, or added to them."""
    for number, mode in enumerate(("w", "a")):
        path = toy_documents(folder / f"texts{number}.jsonl")
        path.write_text(path.read_text() + "{\n")
        ledger = publius.Ledger.create(folder / f"budget{number}", budget=100)
        output = folder / f"out{number}"

        def meanwhile(lost: int, documents: int, path: Path = path, mode: str = mode) -> None:
            with path.open(mode) as file:
                file.write('{"id": "new", "text": "a tiny thing"}\n')

        corpus = publius.open_corpus(path)
        with suppress(DocumentError):
            protect_corpus(corpus, toy_plan(), output, ledger=ledger, skip_bad=True, losing=meanwhile)
        assert (ledger.counts()[2], output.exists()) == (0, False)


def _unseen(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Corpus, "check_unchanged", lambda corpus, before: None)


FENCES = (
    Fence(13, "the promise names the fields that are kept", _check, _broken),
    Fence(13, "an input that changes while it is read is not released", _changed, _unseen),
)
