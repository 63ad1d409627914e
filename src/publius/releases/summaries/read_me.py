"""``READ-ME.txt`` of a summary: a function of what its manifest states."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

from publius.privacy.guarantee import posterior_at_most
from publius.privacy.promise import rounded_up
from publius.releases.read_me import WHOEVER_RECEIVES
from publius.releases.summaries.names import LIKE_ALL, PASSAGES, TOO_FEW
from publius.releases.summaries.spaces import PUBLIC_DOCUMENTS_OF_ONE, authors_are_known
from publius.vectors.learning.prototypes import NONE_OF_THESE
from publius.vectors.learning.public_themes import NO_WORDS
from publius.vectors.learning.reference import Reference

SOURCE: Final = "taken from the public texts, not from this collection"
"""What stands beside every quoted passage."""

BAG_WORDS: Final = 150
"""About so many words has a bag."""

INDEPENDENT: Final = (
    f" (their authors are not known, so {PUBLIC_DOCUMENTS_OF_ONE} of each are allowed for; where one wrote more, "
    "what is not new can look so)"
)
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
    return "" if authors_are_known(reference) else INDEPENDENT


def _text(manifest: Mapping[str, Any], note: str) -> str:
    most = manifest["documents_per_author"]
    documents = "document" if most == 1 else "documents"
    counted = f"contributed documents, at most {most} {documents} an author"
    fifty = " An author who wrote fifty counts no more than one who wrote one." if most == 1 else ""
    parts = [
        "WHAT THIS IS",
        "What a collection of documents says, counted by the program Publius so that any one author changes little. "
        f"Counted are {counted}: never all complaints, letters or posts.{fifty} Who published it, and for what, stands "
        "in receivers.html, where somebody said so.",
        "WHAT IS PROMISED TO EACH AUTHOR",
        manifest["promise"],
        "HOW TO READ THE NUMBERS",
        "Contributed documents are those that were drawn to be counted, at most as many of an author as stands above. "
        "Every count of them has noise added on purpose. 'contributed' is the count with that; the true number lies "
        "between 'low' and 'high', in all rows of a file together, with a probability of at least 95 %. Where 'low' is "
        "0 say only 'at most' and 'high'. Where the limits of two rows overlap, do not say that one is larger. Counts "
        "in counts.csv were cleaned so that the rows of a stratum add up to its total; 'share' and 'ratio' are from "
        "the counts before that, so they differ from 'contributed' divided by the total. Totals that are "
        "added up from different files differ, since each has noise of its own, and none is a mistake: how many "
        "contributed documents there are in all stands in report.html, with limits.",
        "THE COLUMNS",
        "\n".join(f"{name}: {meaning}" for name, meaning in columns(manifest)),
        *_files(manifest),
        "QUESTIONS",
        "\n".join(may_and_may_not(manifest)) + "\n"
        f"Is this subject new? Only where the column 'new' says true, and that says: {_larger(manifest, note)}. It "
        "allows for the noise and for chance on both sides, for all rows together. Rows are ordered by how much they "
        "stand out; one at the top without 'true' may be chance: do not quote its ratio. Without something to compare "
        "with, nothing is called new.",
        "WHAT LIMITS IT",
        "Themes are those of public texts. They can be only as fine as the public texts are like the private ones: "
        "what the public texts do not know is counted with whatever is nearest, or as 'none of these'. With "
        "thousands of authors this error is larger than the noise.",
    ]
    lines = ["\n".join(textwrap.fill(line, _WIDTH) for line in part.split("\n")) for part in parts]
    return "\n\n".join(lines) + "\n"


def may_and_may_not(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Questions and answers of those who receive a summary: here and on their page in the same words."""
    yield _how_many(manifest)
    yield f"May I say that a sentence was written by somebody? No. {_whose_sentences(manifest)}"
    yield (
        "Is Ms X in the data? This folder does not tell, and you must not say so either way. Somebody who knows all "
        "other documents, and guesses which of two authors wrote the rest, is right with a probability of at most "
        f"{chance(manifest)}, where a coin has 50 %; who guesses whether one author is in it at all, of at most "
        f"{chance(manifest, 'epsilon_added_or_left_out')}. Neither is a probability that she is in it."
    )
    yield WHOEVER_RECEIVES


def _larger(manifest: Mapping[str, Any], note: str) -> str:
    """What a row that is called new is."""
    if manifest["compared_with"]:
        return "its share has grown since an earlier summary"
    return f"its share is larger than in the public texts{note}; of when somebody began to write of it, it says nothing"


def chance(manifest: Mapping[str, Any], neighbors: str = "epsilon") -> str:
    """The most with which somebody who knows all else is right about one author, in percent; a coin has 50."""
    return f"{rounded_up(100 * posterior_at_most(float(manifest[neighbors]), 2), 4)} %"


def columns(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The columns of the tables that are there, each with its meaning in plain words."""
    tables = {*manifest["tables"]}
    ranked = [each for each in ("subjects", "themes") if each in tables]
    found: list[tuple[str, str]] = []
    if {"totals", "themes"} & tables:
        found.append(
            (
                "stratum",
                "one of the values that were declared beforehand. 'other' is any other value, and none at all; 'all' "
                "is the whole collection, where nothing was declared",
            )
        )
    if "themes" in tables:
        found.append(
            (
                "theme",
                "the five most typical words of a group of public documents; a document counts in the group that is "
                f"nearest to it. '{NONE_OF_THESE}' is a document with words that is near to no group; '{NO_WORDS}' is "
                "one without a word of any group: it is empty, say, or could not be read. ('other' is a stratum and "
                "says nothing about words.) The words tell no event of this collection, and a name among them names "
                "nobody of it.",
            )
        )
    found += [
        ("contributed", "how many contributed documents, noise included: a whole number from 0"),
        ("low, high", "the true number lies between them"),
    ]
    if ranked:
        kinds = " or ".join(each.removesuffix("s") for each in ranked)
        found += [
            ("words", f"at most ten public words of the {kinds} of a row"),
            (
                "new",
                "'true' where the share is larger than in what it is compared with, beyond noise and chance; 'false' "
                "where that is not shown, as it is of every theme unless an earlier summary is what it is compared "
                "with: themes were made of the public texts, which fall into them as no other texts do",
            ),
            (
                "share",
                "'noisy', or 0 where it is below 0, divided by about how many documents there are in all",
            ),
            (
                "share_before",
                "the share in what it is compared with; empty where there is nothing, as what follows is",
            ),
            (
                "ratio",
                "how many times as large the share is here, one document being added to each count before, so that "
                "none is 0. Empty where 1 lies between its limits: no difference is shown then. Quote it only where "
                "'new' says true, and then its lower limit: 'at least so many times'",
            ),
            (
                "ratio_low, ratio_high",
                "lower and upper limit of that, each for all rows together with at least 95 %; 'inf' is no upper "
                "limit: there may have been nothing before",
            ),
            (
                "excess",
                "by how many standard deviations the count is above what was expected; rows are in this order, or in "
                "that of 'noisy' where there is nothing to compare with",
            ),
            ("noisy", "the count as it was drawn, with its noise, before anything else; it may be below 0"),
            (
                "number",
                f"of the {kinds}, the same in every summary with the same public inputs"
                + (
                    ". A subject is a group of words that are alike: a document counts in one alone, the one that "
                    "holds most of its weight, so fewer count in a subject than wrote about it"
                    if "subjects" in ranked
                    else ""
                ),
            ),
        ]
    return found


def _how_many(manifest: Mapping[str, Any]) -> str:
    """Which row answers, what a sum of rows is worth, and why it is no number of all who ever wrote about it."""
    tables, c = manifest["tables"], manifest["documents_per_author"]
    places = [
        *(["of a stratum, its row in strata.csv"] if {"totals", "themes"} & {*tables} else []),
        *(["of a theme, its row in themes.csv"] if "themes" in tables else []),
        *(["of a subject, its row in subjects.csv"] if "subjects" in tables else []),
    ]
    sums = (
        " Of several themes of a stratum, add 'contributed', 'low' and 'high' of their rows in counts.csv: the sums "
        "hold, too, but get wide; a whole stratum and a whole theme have limits of their own."
        if "themes" in tables
        else ""
    )
    kinds = (
        " A stratum is what was declared of a document, a theme or subject what its words are near to: they answer two "
        "questions, so do not set the one beside the other."
        if len(places) > 1
        else ""
    )
    chosen = "one" if c == 1 else f"at most {c}"
    return (
        f"How many authors wrote about something? {'; '.join(places).capitalize()}.{kinds}{sums} Give the limits "
        "with the number, and say 'contributed documents': an author who wrote more counts with "
        f"{chosen} of them, chosen at random, so more authors may have written about it at some time."
    )


def _whose_sentences(manifest: Mapping[str, Any]) -> str:
    if "passages" not in manifest:
        return "No sentence of anybody is here. Words are public words of public texts, drawn at random for a theme."
    return (
        f"Every quoted sentence, in {PASSAGES} and in the report, is {SOURCE}: somebody wrote it there, it shows how "
        "one may write about a theme, and nothing says that anybody here wrote so. All other words are public words, "
        "drawn at random for a theme."
    )


def _files(manifest: Mapping[str, Any]) -> Iterator[str]:
    tables = manifest["tables"]
    yield "THE FILES"
    found = ["report.html: what matters most of all below, with pictures; open it in a browser."]
    if {"totals", "themes"} & {*tables}:
        found.append("strata.csv: contributed documents of each stratum, with limits of their own.")
        other = (
            f"of each stratum and theme, with limits; those that no theme has are in its rows '{NONE_OF_THESE}' and "
            f"'{NO_WORDS}'"
            if "themes" in tables
            else "the same"
        )
        found.append(f"counts.csv: {other}.")
    if "subjects" in tables:
        found.append(
            "subjects.csv: what the documents are about, in groups of words that are alike; share here, share in what "
            "it is compared with, ratio with limits. The first row stands out most, which may be chance. Documents "
            "without words of any subject have no row."
        )
    if "themes" in tables:
        found += [
            f"themes.csv: the same of the themes of public texts, without '{NONE_OF_THESE}' and '{NO_WORDS}', which "
            "stand in counts.csv.",
            "words.csv: ten public words that are typical of each stratum, as far as its themes tell. They are a "
            "guess: where the limits of a stratum are wide, noise may have chosen them. "
            f"'{LIKE_ALL}' where most of them would not be twice as frequent there as in the others: its documents are "
            f"like all, or of a kind that the public texts lack. '{TOO_FEW}' where noise may hide what stands out.",
            "synthetic.jsonl: made-up rows, as many of each stratum and theme as counts.csv says, noise included; each "
            f"has a bag of about {BAG_WORDS} public words of its theme, dealt out at random. Rows can be counted, "
            "searched and trained on; none is or stands for anybody's document. To train: multinomial naive Bayes on "
            "the bags, with a smoothing of 1 or less. When you label real documents with it, count a document as 20 "
            "words at most (where it has n words and n is more, multiply each count by 20 / n): long documents make it "
            "too sure.",
        ]
    if "passages" in manifest:
        found.append(
            f"{PASSAGES}: sentences that are typical of a stratum or of a theme, each {SOURCE}. For reading, not "
            "for counting."
        )
    found.append(
        "noisy.json: the counts as they were drawn, with their noise, some below 0: for sums and tests of your own. "
        "'names' says in their order what they are of. The other counts follow from them."
    )
    found.append("manifest.json: what was promised and drawn, exactly, and the digest of every file.")
    yield "\n".join(found)
