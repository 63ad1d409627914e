"""The commands: the module of each, the group that ``--help`` lists it in, and its summary.

So that the list loads none of them, and a command no other. The summaries are those of the commands' own docstrings;
a test compares.
"""

from __future__ import annotations

from typing import Final, NamedTuple

RELEASE: Final = "Release"
UNDERSTAND: Final = "Understand"
EVALUATE: Final = "Evaluate and audit"
PUBLIC: Final = "Public inputs and budgets"


class Command(NamedTuple):
    """One entry of the list; without a ``group`` it is an earlier name, which still works and is not listed."""

    group: str | None
    module: str
    summary: str
    is_group: bool = False


COMMANDS: Final = {
    "start": Command(RELEASE, "start", "Release a file of texts step by step, to a page to sign."),
    "demo": Command(RELEASE, "demo", "Walk through every step with packaged texts."),
    "inspect": Command(RELEASE, "inspect", "Look at a file of texts. Nothing is released."),
    "obfuscate": Command(RELEASE, "obfuscate", "Turn documents into protected bags of words."),
    "summarize": Command(RELEASE, "summarize", "State what a collection says, its authors protected."),
    "watch": Command(RELEASE, "watch", "Release what arrives in a folder, each file once."),
    "signoff": Command(RELEASE, "signoff", "Write the page to sign, bound to exactly these files."),
    "verify": Command(RELEASE, "signoff", "Check that a sign-off and a release belong together."),
    "write": Command(RELEASE, "write", "Write readable texts from the bags of a release."),
    "explore": Command(UNDERSTAND, "explore", "Open a page that shows what a choice does."),
    "guarantee": Command(UNDERSTAND, "guarantee", "State what a release promises."),
    "outcomes": Command(UNDERSTAND, "outcomes", "Show what a document or a word may become."),
    "words": Command(None, "outcomes", "Show what a word may become."),
    "distance": Command(UNDERSTAND, "distance", "Measure how far documents are apart."),
    "nearest": Command(None, "distance", "List the documents of a corpus nearest to a document."),
    "utility": Command(UNDERSTAND, "utility", "State how near its document a release of words stays."),
    "compare": Command(UNDERSTAND, "compare", "Find the epsilons at which mechanisms change words alike."),
    "evaluate": Command(EVALUATE, "evaluate", "Attack protected documents and report what was found."),
    "report": Command(EVALUATE, "evaluate", "Write the report of an evaluation again."),
    "calibrate": Command(EVALUATE, "calibrate", "Find settings that stop attackers and keep the topic."),
    "certify": Command(EVALUATE, "certify", "Compute the exact constant of a mechanism."),
    "check-mechanism": Command(EVALUATE, "check_mechanism", "Check the laws that a mechanism must keep."),
    "audit": Command(EVALUATE, "audit", "Check this installation, or anybody's mechanism."),
    "doctor": Command(EVALUATE, "doctor", "Check the installation and what a release stands on."),
    "reference": Command(PUBLIC, "reference", "Learn, list and remove public references.", is_group=True),
    "embeddings": Command(PUBLIC, "embeddings", "Import, learn and list public word vectors.", is_group=True),
    "ledger": Command(
        PUBLIC, "ledger", "Keep a privacy budget that refuses when it is spent.", is_group=True
    ),
}
