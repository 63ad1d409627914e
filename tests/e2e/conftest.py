"""One browser, one explorer on a toy vocabulary for all tests of the page that do not need their own."""

import json

import pytest
from explorer import explorer
from results import write_result

from publius.privacy.ledger import Ledger
from publius.releases.summaries.run import summarize
from publius.releases.summaries.summary import Summary
from references import fitted, public_documents


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
def summary_folder(tmp_path_factory):
    """A summary of made letters, in themes that are the reference's prototypes."""
    rows = [
        {"author": f"a{place}", "topic": topic, "text": " ".join(words)}
        for place, (words, topic) in enumerate(public_documents(300))
    ]
    folder = tmp_path_factory.mktemp("summaries")
    path = folder / "letters.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    summary = Summary(fitted("letters"), 10, by={"topic": ["music", "court"]}, shares="themes=1")
    summarize(summary.corpus(path), summary, folder / "summary-of-letters")
    return folder / "summary-of-letters"


@pytest.fixture(scope="session")
def shared(toy_folder, result_folder, summary_folder, tmp_path_factory):
    """An explorer with a ledger, a report and a summary."""
    folder = tmp_path_factory.mktemp("explorer")
    Ledger.create(folder / "budget.ledger", budget=100_000)
    ledger = ["--ledger", str(folder / "budget.ledger")]
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PUBLIUS_HOME", str(folder / "home"))
        fitted("letters").save(folder / "home" / "references" / "letters")
        with explorer(
            folder,
            "--embeddings",
            str(toy_folder),
            *ledger,
            "--report",
            str(result_folder),
            "--report",
            str(summary_folder),
        ) as running:
            yield running


@pytest.fixture
def page(chromium_browser, shared):
    from browser import opened

    with opened(chromium_browser, shared) as found:
        yield found
