"""Texts that are made to take long (R28): what must be sorted is never long, whatever the text."""

from __future__ import annotations

import unicodedata
from itertools import groupby
from typing import Final

from publius.checks.audit.implementation import Subject
from publius.checks.audit.outcomes import Check, violations

_LENGTH: Final = 3000
_LONGEST_RUN: Final = 60  # thirty marks, each of which may come apart into two
_HOSTILE: Final = (
    "\u0301\u0323",
    "\u0301",
    "\u0f73",
    "\u0344",
    "e\u0323\u0301",
    "\u1100\u1161\u11a8",
    "Σ\u0345",
    "İ",
)
_ORDINARY: Final = (
    "Cafe\u0301",
    "ΟΔΟΣ",
    "İstanbul",
    "हिन्दी",
    "a\u0323\u0302",
    "\u1112\u1161\u11ab",
    "co\xadop",
    "don\u2019t",
)


def check_texts(subject: Subject) -> list[Check]:
    """The normal form of hostile texts has no long run of combining marks; that of ordinary ones is NFC's own."""
    long = sum(_longest_run(subject.normalize("x" + kind * _LENGTH)) > _LONGEST_RUN for kind in _HOSTILE)
    changed = sum(subject.normalize(word) != _expected(word) for word in _ORDINARY)
    return [
        violations("text: runs of combining marks are short", len(_HOSTILE), long),
        violations("text: ordinary words are composed", len(_ORDINARY), changed),
    ]


def _longest_run(text: str) -> int:
    runs = groupby(text, key=lambda character: unicodedata.combining(character) > 0)
    return max((sum(1 for _ in run) for marks, run in runs if marks), default=0)


def _expected(word: str) -> str:
    plain = unicodedata.normalize("NFC", word).replace("\xad", "").replace("\u2019", "'").lower()
    return unicodedata.normalize("NFC", plain)
