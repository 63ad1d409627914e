"""One browser, one explorer on a toy vocabulary for all tests of the page that do not need their own."""

import json
from pathlib import Path

import pytest

from explorer import explorer
from publius.accounting import Ledger


@pytest.fixture(scope="session")
def chromium_browser():
    from browser import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def toy_folder(embeddings, tmp_path_factory):
    """The toy vectors as a stored folder."""
    folder = tmp_path_factory.mktemp("vectors") / "toy"
    embeddings.save(folder)
    return folder


@pytest.fixture(scope="session")
def result_folder(tmp_path_factory):
    """A result folder in the form of ``publius evaluate``: its rows and its page."""
    return write_result(tmp_path_factory.mktemp("evaluations") / "letters", "laplace", "informed")


@pytest.fixture(scope="session")
def shared(toy_folder, result_folder, tmp_path_factory):
    """An explorer with a ledger and a report."""
    folder = tmp_path_factory.mktemp("explorer")
    Ledger.create(folder / "budget.ledger", budget=100_000)
    options = ["--embeddings", str(toy_folder), "--ledger", str(folder / "budget.ledger"), "--report", str(result_folder)]
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PUBLIUS_HOME", str(folder / "home"))
        with explorer(folder, *options) as running:
            yield running


@pytest.fixture
def page(chromium_browser, shared):
    from browser import opened

    with opened(chromium_browser, shared) as found:
        yield found


def write_result(folder: Path, mechanism: str, adversary: str) -> Path:
    """Rows of an unprotected text and of two epsilons, by two adversaries and a classifier, and a page."""
    folder.mkdir()
    rows = [_row("clean", None, "koppel", "author", 8), _row("clean", None, "linear", "topic", 10)]
    for epsilon, correct in ((5.0, 2), (10.0, 6)):
        rows += [
            _row(mechanism, epsilon, "koppel", "author", correct - 1),
            _row(mechanism, epsilon, adversary, "author", correct),
            _row(mechanism, epsilon, "linear", "topic", 9),
        ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "report.html").write_text(
        f"<!doctype html><title>report</title><h1>The letters</h1><p>{adversary}</p>"
        "<script>top.canary = 1; parent.canary = 1; alert(1)</script><img src=x onerror='top.canary=1'>",
        encoding="utf-8",
    )
    return folder


def _row(mechanism, epsilon, adversary, task, correct):
    return {
        "mechanism": mechanism, "epsilon": epsilon, "repeat": 0, "adversary": adversary, "task": task,
        "correct": correct, "total": 10, "accuracy": correct / 10, "low": max(0, correct / 10 - 0.2),
        "high": min(1, correct / 10 + 0.2), "chance": 0.1, "changed": 0.0 if epsilon is None else 0.5,
        "mean_distance": 0.0 if epsilon is None else 1.5, "hits": "1" * correct + "0" * (10 - correct),
    }  # fmt: skip
