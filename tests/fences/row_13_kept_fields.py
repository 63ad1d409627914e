"""The promise says which fields leave as they are, wherever it is read; every row that leaves was looked at."""

import itertools
import json
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import publius
from fences import Fence
from publius.documents import corpus as documents
from publius.documents.corpus import Corpus
from publius.documents.inspection import inspect
from publius.errors import DataError, DocumentError
from publius.evaluation.steps.answers import Choices
from publius.evaluation.steps.walk import Walk
from publius.mechanisms.prototype import Prototype
from publius.privacy import promise
from publius.releases import own_texts, signoff
from publius.releases.engines import protect_corpus
from publius.releases.manifests import read_manifest_of
from publius.releases.measured import Measured
from publius.releases.plan import Plan
from publius.releases.signoff import judged, sign_off
from publius.settings import ReleaseSettings
from references import TOPICS, fitted, public_documents
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


def _of_nobody(folder: Path) -> None:
    """An address that stands in six rows of one author, where no column says so, or where it says nothing."""
    for author in ({}, {"author": None}):
        rows = [
            {"id": str(n), "text": "a tiny thing", "place": "Elm Street 7" if n < 6 else "north", **author}
            for n in range(40)
        ]
        path = folder / "texts.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        corpus = replace(publius.open_corpus(path, keep=["place"], number=True), beside=(*author,))
        found = own_texts.examine(
            corpus, _labels(), author_field="author" if author else None, kept=["place"]
        )
        assert found.telling == ("place",)
        assert "what was kept" in (found.no_evidence() or "")


def _joint(folder: Path) -> None:
    """A value that stands only where one author signed with somebody else each time, in a list or an object."""
    for joint in (
        ["Xaver Huber", "Clerk {}"],
        {"name": "Xaver Huber", "posts": "{}"},
        [["Xaver Huber"], "Clerk {}"],
    ):
        rows: list[dict[str, object]] = [
            {"text": "a tiny thing", "place": "north", "author": f"writer {n}"} for n in range(40)
        ]
        for number in range(9):
            rows[number] |= {
                "place": "Elm",
                "author": json.loads(json.dumps(joint).replace("{}", f"{number}")),
            }
        path = folder / "texts.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        corpus = replace(publius.open_corpus(path, keep=["place"], number=True), beside=("author",))
        with pytest.raises(
            DataError, match=r"^document 1, line 1: (a document has 2 authors|an author's id must be)"
        ) as no:
            own_texts.examine(corpus, _labels(), author_field="author", kept=["place"])
        assert "Huber" not in str(no.value)
        walk = Walk(
            path, inspect(path), None,
            Choices(preserve="topic", without_evidence=True, documents_per_author=2),
        )  # fmt: skip
        with pytest.raises(DataError, match=r"^document 1, line 1: "):
            walk.check_authors()


def _labels() -> Plan:
    return Plan.of(ReleaseSettings(), Prototype(fitted(), bound=5.0))


def _one_a_topic(folder: Path) -> None:
    """Six authors share each place, and each is one of two who write on their topic there."""
    seen: Counter[str] = Counter()
    path = folder / "texts.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, (words, topic) in enumerate(public_documents(90, seed=9)):
            seen[topic] += 1
            author = topic + "abcd"[seen[topic] % 4]
            row = {
                "text": " ".join(words),
                "place": "north" if seen[topic] % 4 < 2 else "south",
                "author": author,
            }
            file.write(json.dumps({"id": str(number), **row}) + "\n")
    corpus = replace(publius.open_corpus(path, keep=["place"]), beside=("author",))
    found = own_texts.examine(corpus, _labels(), author_field="author", kept=["place"])
    assert found.telling == ("place",)


def _any_share_of_rows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(own_texts, "FEW_ROWS", 1.0)
    _never_far_above(patch)


def _never_far_above(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(own_texts, "_far_above", lambda group, among: 0.0)


def _no_busiest(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(own_texts, "_busy", lambda authors: frozenset())
    patch.setattr(own_texts, "_of_busiest", lambda groups: 0)
    _never_far_above(patch)


def _mostly_one(folder: Path) -> None:
    """Nine rows of a place are one author's, and four others have one each."""
    path = folder / "texts.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, (words, _) in enumerate(public_documents(104, seed=9)):
            place = "abcdefgh"[number // 13]
            author = place if number % 13 < 9 else f"{place}{'wxyz'[number % 13 - 9]}"
            row = {"text": " ".join(words), "place": place, "author": author}
            file.write(json.dumps({"id": str(number), **row}) + "\n")
    corpus = replace(publius.open_corpus(path, keep=["place"], number=True), beside=("author",))
    found = own_texts.examine(corpus, _labels(), author_field="author", kept=["place"])
    assert found.telling == ("place",)


def _of_the_busiest(folder: Path) -> None:
    """Who wrote much wrote nearly all of a place, and nothing elsewhere; always to say his name is as often right."""
    path = folder / "texts.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, (words, _) in enumerate(public_documents(405, seed=9)):
            writer = "Ann" if number < 150 else f"w{number % 5}" if number < 165 else f"v{number % 60}"
            row = {"text": " ".join(words), "place": "x" if number < 165 else "y", "author": writer}
            file.write(json.dumps({"id": str(number), **row}) + "\n")
    corpus = replace(publius.open_corpus(path, keep=["place"], number=True), beside=("author",))
    found = own_texts.examine(corpus, _labels(), author_field="author", kept=["place"])
    assert found.telling == ("place",)
    assert "or mostly of one" in (found.no_evidence() or "")


def _most_beside_a_label(folder: Path) -> None:
    """Three write as much in each place and on each topic; what a place has on a topic is mostly by one of them."""
    seen: Counter[str] = Counter()
    path = folder / "texts.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, (words, topic) in enumerate(public_documents(270, seed=9)):
            turn, place = divmod(seen[topic], 3)
            seen[topic] += 1
            busy = "ABC"[(place + sorted(TOPICS).index(topic)) % 3]
            author = busy if turn % 10 < 6 else f"{topic} {'xyz'[place]} {'abcd'[turn % 10 - 6]}"
            row = {"text": " ".join(words), "place": "xyz"[place], "author": author}
            file.write(json.dumps({"id": str(number), **row}) + "\n")
    corpus = replace(publius.open_corpus(path, keep=["place"], number=True), beside=("author",))
    found = own_texts.examine(corpus, _labels(), author_field="author", kept=["place"])
    assert found.telling == ("place",)


def _ids(folder: Path) -> None:
    """Whether ids of the rows' own, which nobody attacked with, stand beside a PASS."""
    release = toy_release(folder / "release")
    passed = Measured((), (), (), {}, 100, verdict="PASS: nobody was named")
    found = judged(passed, read_manifest_of(release), release, None)
    assert found is not None
    assert (found.verdict or "").startswith("NO EVIDENCE")


def _unseen(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Corpus, "check_unchanged", lambda corpus, before: None)


def _beside_unnamed_rows(folder: Path) -> None:
    """Each district has five authors of its own; rows that name nobody, more than the busiest has, hide none of it."""
    for unnamed in (0, 6, 10):
        sharing = own_texts._Sharing()
        for district, author in itertools.product(map(str, range(100)), range(5)):
            for _ in range((3, 2, 2, 2, 1)[author]):
                sharing.add((district,), None, f"author {chr(97 + author)} of {district}")
        for district in map(str, range(100)):
            for _ in range(unnamed):
                sharing.add((district,), None, None)
        assert sharing.tells, unnamed


def _nobody_as_an_author(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        own_texts, "_of_busiest", lambda groups: sum(max(each.values(), default=0) for each in groups)
    )


FENCES = (
    Fence(
        13, "rows that name nobody hide no kept value that names", _beside_unnamed_rows, _nobody_as_an_author
    ),
    Fence(13, "the promise names the fields that are kept", _check, _broken),
    Fence(
        13,
        "kept values that are not known to be several authors' leave no verdict",
        _of_nobody,
        lambda patch: patch.setattr(own_texts, "SHARED", 0),
    ),
    Fence(
        13,
        "a row that several authors signed is refused where authors are counted",
        _joint,
        lambda patch: patch.setattr(documents, "one_author", lambda value: value),
    ),
    Fence(13, "kept values that are mostly one author's leave no verdict", _mostly_one, _any_share_of_rows),
    Fence(
        13,
        "a kept value that names the busiest author leaves no verdict",
        _of_the_busiest,
        _never_far_above,
    ),
    Fence(13, "kept values are looked at with the label beside them", _one_a_topic, _any_share_of_rows),
    Fence(
        13,
        "kept values that are mostly one author's beside a label leave no verdict",
        _most_beside_a_label,
        _no_busiest,
    ),
    Fence(
        13,
        "ids of the rows' own leave no verdict",
        _ids,
        lambda patch: patch.setattr(signoff, "SHUFFLED", None),
    ),
    Fence(13, "an input that changes while it is read is not released", _changed, _unseen),
)
