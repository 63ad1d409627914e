"""``READ-ME.txt`` of a summary: a function of what its manifest states."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

from publius.releases.summaries.names import PASSAGES
from publius.vectors.learning.reference import Reference

SOURCE: Final = "from the public texts, written by nobody in this collection"
"""What stands beside every quoted passage."""

BAG_WORDS: Final = 150
"""About so many words has a bag."""

INDEPENDENT: Final = " (each taken to be another author's: several of one author can make a subject look new)"
_WIDTH: Final = 100


def read_me(manifest: Mapping[str, Any], reference: Reference) -> str:
    """Plain words for those who receive the folder: what was counted, how sure it is, what may be said of it."""
    return _text(manifest, independent(reference))


def read_mes(manifest: Mapping[str, Any], reference: Reference | None) -> list[str]:
    """What it can be: one text, and one more where nobody can see how the authors of the reference were counted."""
    if reference is not None:
        return [read_me(manifest, reference)]
    return [_text(manifest, each) for each in (INDEPENDENT, "")]


def independent(reference: Reference) -> str:
    """What has to be said where public texts are counted, and not their authors."""
    authors = (reference.source.get("public_words") or {}).get("authors")
    known = reference.counted is None or reference.counted.documents == authors
    return "" if known else INDEPENDENT


def _text(manifest: Mapping[str, Any], note: str) -> str:
    most = manifest["documents_per_author"]
    documents = "document" if most == 1 else "documents"
    counted = f"contributed documents, at most {most} {documents} an author"
    parts = [
        "WHAT THIS IS",
        f"What a collection of documents says, counted so that any one author changes little. Counted are {counted}: "
        "never all complaints, letters or posts. An author who wrote fifty counts no more than one who wrote "
        "one."
        if most == 1
        else f"What a collection of documents says, counted so that any "
        f"one author changes little. Counted are {counted}: never all complaints, letters or posts.",
        "WHAT IS PROMISED TO EACH AUTHOR",
        manifest["promise"],
        "HOW TO READ THE NUMBERS",
        "Every count has noise added on purpose. 'contributed' is the best guess; the true number lies between 'low' "
        "and 'high', in all rows of a file together, with a probability of at least 95 %. Where the "
        "limits of two rows overlap, do not say that one is larger. Counts in counts.csv were cleaned so that the rows "
        "of a stratum add up to its total; 'share' and 'ratio' are from the counts before that, so they differ from "
        "'contributed' divided by the total.",
        *_files(manifest),
        "QUESTIONS",
        f"{_how_many(manifest)}\n"
        f"May I say that a sentence was written by somebody? No. {_whose_sentences(manifest)}\n"
        "Is Ms X in the data? Nobody can tell from this folder, and you must not say so either way: it would look "
        "nearly the same without anything that she wrote.\n"
        "Is this subject new, that is, has its share grown? Only where the column 'new' says true. It compares "
        "shares with public texts or an "
        f"earlier summary{'' if manifest['compared_with'] else note}, and allows for the noise and for chance on both "
        "sides, for all rows together. Rows are ordered by how much they stand out; one at the top without "
        "'true' may be chance. Without something to compare "
        "with, nothing is called new.",
        "WHAT LIMITS IT",
        "Themes are those of public texts. They can be only as fine as the public texts are like the private ones: "
        "what the public texts do not know is counted with whatever is nearest, or as 'none of these'. With "
        "thousands of authors this error is larger than the noise.",
    ]
    lines = ["\n".join(textwrap.fill(line, _WIDTH) for line in part.split("\n")) for part in parts]
    return "\n\n".join(lines) + "\n"


def _how_many(manifest: Mapping[str, Any]) -> str:
    """Which row answers, what a sum of rows is worth, and why it is no number of all who ever wrote about it."""
    tables, c = manifest["tables"], manifest["documents_per_author"]
    places = [
        *(["of a stratum, read the table of the report"] if {"totals", "themes"} & {*tables} else []),
        *(["of a theme, its row in themes.csv"] if "themes" in tables else []),
        *(["of a subject, its row in subjects.csv"] if "subjects" in tables else []),
    ]
    sums = (
        " Of several themes of a stratum, add 'contributed', 'low' and 'high' of their rows in counts.csv: the sums "
        "hold, too."
        if "themes" in tables
        else ""
    )
    chosen = "one" if c == 1 else f"at most {c}"
    return (
        f"How many authors wrote about something? {'; '.join(places).capitalize()}.{sums} Give the limits with the "
        f"number, and say 'contributed documents': an author who wrote more counts with {chosen} of them, chosen at "
        "random, so more authors may have written about it at some time."
    )


def _whose_sentences(manifest: Mapping[str, Any]) -> str:
    if "passages" not in manifest:
        return "No sentence of anybody is here. Words are public words of public texts, drawn at random for a theme."
    return (
        f"Every sentence in {PASSAGES} and in the report is {SOURCE}: it shows how one may write about a theme, "
        "and nothing says that anybody here wrote so. All other words are public words, drawn at random for a theme."
    )


def _files(manifest: Mapping[str, Any]) -> Iterator[str]:
    tables = manifest["tables"]
    yield "THE FILES"
    found = ["report.html: everything below with pictures; open it in a browser."]
    if {"totals", "themes"} & {*tables}:
        found.append("counts.csv: contributed documents of each stratum and theme, with limits.")
    if "subjects" in tables:
        found.append(
            "subjects.csv: what the documents are about, in groups of words that are alike; share here, share in what "
            "it is compared with, ratio with limits. The first row stands out most."
        )
    if "themes" in tables:
        found += [
            "themes.csv: the same of the themes of public texts.",
            "words.csv: ten public words that are typical of each stratum.",
            f"synthetic.jsonl: one row for each counted document, made up: its stratum, its theme and a bag of about "
            f"{BAG_WORDS} public words of that theme, dealt out at random. Rows can be counted, searched and trained "
            "on; none is anybody's document. To train: multinomial naive Bayes on the bags, with a smoothing of "
            "1 or less. When you label real documents with it, count a document as 20 words at most (divide its "
            "counts where it has more): long documents make it too sure.",
        ]
    if "passages" in manifest:
        found.append(
            f"{PASSAGES}: sentences that are typical of a stratum or of a theme, each {SOURCE}. For reading, not "
            "for counting."
        )
    found.append("manifest.json: what was promised and drawn, exactly, and the digest of every file.")
    yield "\n".join(found)
