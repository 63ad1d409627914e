"""The page of measured protection: who has the floor to beat is told the topic, so he who is judged by it is, too."""

import json
from pathlib import Path

import pytest

from benchmarks.protection.page import RESULTS, Run, measured, page, row, tables
from publius.evaluation.adversaries import ORIGINALS
from publius.evaluation.statistics import Interval
from publius.evaluation.summary import AdversaryResult, SummaryLine
from publius.evaluation.verdict import knowing_topic

DOCS = Path(__file__).parents[2] / "docs"
TEXTS = 1000
FACTS = {
    "publius_version": "1.2.3",
    "unknown_texts": TEXTS,
    "authors": TEXTS,
    "floor": 0.1,
    "anyway": [0.1] * TEXTS,
    "author_numbers": list(range(TEXTS)),
    "topics": ["court", "garden"],
    "chance": {"author": 0.05},
    "size": 40,
    "embeddings": "own",
    "vocabulary_size": 60,
}
TOOK = {"made": "1 May 2026", "on": "a machine"}


def holder(named, told):
    """Computed exactly: ``named`` of the authors from the row alone, ``told`` by who is told its topic."""
    interval = Interval(named, named - 0.01, named + 0.01)
    shares = {"shares": (named,) * TEXTS, "told": (told,) * TEXTS, "told_blind": (0.1,) * TEXTS}
    return AdversaryResult(ORIGINALS, "author", interval, named * TEXTS, TEXTS, {"exact": True}, **shares)


def line(mechanism, bound, found):
    """Of a table, with nothing but what the holder of the originals found."""
    findings = {(ORIGINALS, "author"): found}
    return SummaryLine(mechanism, None, bound, 1, None, None, 0.0, findings, None, None, None)


def kept(named, told):
    """The rows of a run, as they are read again."""
    lines = [line("clean", None, holder(1.0, 1.0)), line("prototype", 7.0, holder(named, told))]
    run = Run("posts", "documents", Path(), ())
    return json.loads(json.dumps({run.name: row(run, TOOK, FACTS, lines, {})}))


def said(rows):
    """The page, as one line."""
    return " ".join(page(measured(rows)).split())


def test_the_page_and_the_figures_are_those_of_the_rows():
    done = measured(json.loads(RESULTS.read_text(encoding="utf-8")))
    assert (DOCS / "protection.md").read_text(encoding="utf-8") == page(done)
    assert (DOCS / "protection.csv").read_text(encoding="utf-8") == tables(done)


def test_the_holder_is_judged_as_one_who_is_told_the_topic():
    """By the row alone he names fewer than whoever knows the topic alone; told it as well, far more."""
    text = said(kept(0.09, 0.4))
    assert (
        "prototype, bound 7: the topic was not measured; someone with every text and the topic finds the author (0.400)"
        in text
    )
    assert "names up to 4.00 times as many authors as the topic alone gives" in text
    assert "hidden from him in 0 of 1 settings of prototype and as found in 1," in text
    assert "whatever they know" not in text
    assert "from everybody" not in text
    assert "0.090" not in text
    hidden = said(kept(0.09, 0.1))
    assert "someone with every text and the topic names 0.100, which counts as hidden" in hidden
    assert "hidden from him in 1 of 1 settings" in hidden


def test_the_rows_keep_his_share_with_its_interval():
    found = knowing_topic(holder(0.09, 0.4), FACTS)
    rows = kept(0.09, 0.4)
    record = rows["posts-documents"]["lines"][1]
    assert record["told"][ORIGINALS] == pytest.approx([found.value, found.low, found.high], abs=1e-6)
    assert record["originals_accuracy"] == 0.09
    each = f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
    assert f"0.090 (0.080 to 0.100),{each}," in tables(measured(rows))


def test_of_rows_of_an_adversary_who_was_not_told_nothing_is_said_to_be_hidden():
    rows = kept(0.09, 0.1)
    for record in rows["posts-documents"]["lines"]:
        record["told"] = {}
    text = said(rows)
    assert "an attack by someone with the texts names 0.090, and a better one may be possible" in text
    assert "told the topic names" not in text
    assert (
        "documents by Publius 1.2.3 on 1 May 2026, adversaries not told the topic. All on a machine." in text
    )
