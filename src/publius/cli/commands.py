"""The commands: the module of each, and the line that the list of commands says of it.

So that the list loads none of them, and a command no other. The lines are those of the commands' own docstrings; a
test compares.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Command(NamedTuple):
    """One entry of the list."""

    module: str
    summary: str
    is_group: bool = False


COMMANDS: Final = {
    "start": Command(
        "start",
        "From a file of texts to a release that someone can sign; ends with 1 where the verdict is FAIL.",
    ),
    "demo": Command(
        "demo",
        "Walk from packaged texts, of twelve authors on four topics, to a release, a verdict and a page to sign.",
    ),
    "obfuscate": Command(
        "obfuscate",
        "Turn documents into protected bags-of-words: keep their topic or meaning, or their words.",
    ),
    "watch": Command(
        "watch", "Release what arrives in a folder, each file once; stopped or killed, the same call goes on."
    ),
    "inspect": Command(
        "inspect", "Look at a file of texts: columns, lengths, languages, odd rows. Nothing is released."
    ),
    "outcomes": Command(
        "outcomes",
        "Show what a document may become under a document mechanism: each prototype with its probability.",
    ),
    "certify": Command(
        "certify",
        "Certify a mechanism on a vocabulary: the exact constant over all pairs of words and all outputs.",
    ),
    "words": Command("words", "Show what becomes of words: likely outputs, staying, effective support."),
    "compare": Command(
        "compare", "Find the epsilon at which each mechanism changes as many words, or moves them as far."
    ),
    "distance": Command("distance", "Earth Mover's distance between two documents."),
    "nearest": Command(
        "distance", "The documents of a corpus nearest to a document, by Earth Mover's distance."
    ),
    "guarantee": Command(
        "guarantee",
        "What a release by any mechanism promises: between two documents, at a distance, for typical pairs.",
    ),
    "utility": Command(
        "utility", "How likely a release by the Laplace mechanism stays within a distance of its document."
    ),
    "evaluate": Command(
        "evaluate",
        "Attack protected documents of known authors and topics, and report what was found (an experiment).",
    ),
    "report": Command(
        "evaluate",
        "Write rows.jsonl, table.csv and report.html of an evaluation again, from what its cells found.",
    ),
    "calibrate": Command(
        "calibrate",
        "Find the settings at which measured adversaries fail and the topic stays, and say whether both can be had.",
    ),
    "explore": Command(
        "explore",
        "Open a page that shows what an epsilon does to a document, and serve programs; until interrupted.",
    ),
    "signoff": Command(
        "signoff",
        "Write one page to sign: what was released, promised and measured, bound to exactly these files.",
    ),
    "verify": Command(
        "signoff",
        "Check that a sign-off and a release are the ones that belong together; exit 65 when they are not.",
    ),
    "write": Command("write", "Write a text to read for each bag, from the release and public things alone."),
    "reconstruct": Command(
        "reconstruct",
        "Put the words of released bags into a likely order: the model's guess, not the author's order.",
    ),
    "audit": Command(
        "audit", "Check the implementation against its guarantee; exit code 70 when a check fails."
    ),
    "check-mechanism": Command(
        "check_mechanism",
        "Check that a word mechanism keeps the laws that its guarantee needs; exit 1 where one is broken.",
    ),
    "doctor": Command(
        "doctor",
        "Show what is installed and check what a release stands on; exit 70 (or 65, 74) when a check fails.",
    ),
    "embeddings": Command(
        "embeddings", "Public word vectors: what is stored, import of others' files.", is_group=True
    ),
    "reference": Command(
        "reference", "References for --preserve: public features and prototypes of documents.", is_group=True
    ),
    "ledger": Command("ledger", "Keep a privacy budget that refuses when it is spent.", is_group=True),
}
