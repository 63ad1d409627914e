"""What chance alone misses at the floor is no FAIL, and what adds nothing can pass."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fences import Fence
from made_scores import clean, facts, line
from publius.evaluation import verdict
from publius.evaluation.verdict import Limits, judge


def _nothing_added(folder: Path) -> None:
    for texts, expected in ((61, "NO EVIDENCE"), (1200, "PASS")):
        every, bare = np.arange(texts) * 7 % 50 < 13, np.arange(texts) * 7 % 50 < 40
        found = judge(
            [clean(bare, 0.26), line({"svm": (every, 0.26)})],
            Limits(adds_at_most=0.05),
            facts(texts, 97, 0.26),
        )
        assert found is not None
        assert found.answer == expected, found.text


def _upper_end_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was: whatever may be above the limit by chance is a FAIL."""

    def before(authors: verdict.Authors) -> str:
        return "PASS" if authors.worst.judged.high <= authors.limit else "FAIL"

    monkeypatch.setattr(verdict.Authors, "answer", property(before))


def _few_authors_are_no_pass(folder: Path) -> None:
    """Of a kind of author as frequent as what is allowed there may be none among forty, whatever was found."""
    for authors, expected in ((40, "NO EVIDENCE"), (80, "PASS")):
        texts = 20 * authors
        found = judge(
            [clean(np.arange(texts) % 10 < 8, 0.26), line({"svm": (np.zeros(texts), 0.26)})],
            Limits(adds_at_most=0.05),
            facts(texts, authors, 0.26),
        )
        assert found is not None
        assert found.answer == expected, found.text


def _however_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict.Authors, "enough", True)


FENCES = (
    Fence(16, "chance at the floor is no failure", _nothing_added, _upper_end_decides),
    Fence(16, "few authors give no pass", _few_authors_are_no_pass, _however_few),
)
