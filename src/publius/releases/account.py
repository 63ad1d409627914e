"""What both pages say first, in words, and what stands behind it: made from one evidence object and nothing else.

The curator's page is signed and stays; the receivers' page leaves. What was measured on the private texts is in the
evidence under ``own`` only, which the receivers' evidence lacks.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from publius.errors import how_many
from publius.privacy.guarantee import STRENGTHS, posterior_at_most, strength_of
from publius.privacy.promise import ceiling, factor_text, floor, rounded_up
from publius.releases.contents import SUMMARY
from publius.releases.own_texts import unfit_sentence
from publius.releases.plan import DECLARED_VALUE

CANDIDATES: Final = 1_000
"""Documents among which somebody looks for the one that was released, in the sentence about singling out."""

USELESS: Final = STRENGTHS[-1][0]
"""Nats above which a promise is empty."""

ORIGINALS: Final = "originals"

OPEN: Final = "left open: to be filled in before somebody signs"


@final
@dataclass(frozen=True, slots=True)
class About:
    """What only people know of a release; None is left open, and the pages say so.

    Attributes:
        purpose: what it is for.
        recipient: who gets it, and what they may hold beside it.
        originals: where the originals stay.
        review: when to look again.
    """

    purpose: str | None = None
    recipient: str | None = None
    originals: str | None = None
    review: str | None = None

    def record(self) -> dict[str, str | None]:
        """As the evidence has it."""
        return {
            "purpose": self.purpose, "recipient": self.recipient, "originals": self.originals, "review": self.review,
        }  # fmt: skip


def who(adversary: str, *, topic: bool = False) -> str:
    """An adversary, called by what it knows beside the released row, with ``topic`` each text's topic, too."""
    if adversary == ORIGINALS:
        return "whoever knows the topic and holds the originals" if topic else "whoever holds the originals"
    return f"{adversary}, told the topic" if topic else adversary


def sentences(found: Mapping[str, Any]) -> Iterator[str]:
    """The release in five plain sentences."""
    yield _what(found)
    yield _most(found)
    yield _attacked(found)
    yield _right(found)
    yield _stays(found)


def _what(found: Mapping[str, Any]) -> str:
    if found["kind"] == SUMMARY:
        return "The folder holds counts of what a collection is about, and no row belongs to anybody."
    documents = f"{found['documents']:,}"
    if found["kind"] == DECLARED_VALUE:
        return f"The folder holds {documents} rows, one for each document: its declared value, or by chance another."
    if found["probability_kept"] is not None:
        return (
            f"The folder holds {documents} rows, one for each document: its label, or by chance another, and words "
            "typical of that label, which are not words of the document."
        )
    return (
        f"The folder holds {documents} rows, one for each document: words of a public list, drawn at random near those "
        "of the document."
    )


def _most(found: Mapping[str, Any]) -> str:
    bound = found["bound"]
    if found["kind"] == SUMMARY or bound is None:
        return str(found["promise"]).split(". ")[0] + "."
    return (
        f"Somebody who knows the exact text of {CANDIDATES:,} documents, thinks each equally likely and sees one row "
        f"made from one of them names the right one with a probability of at most "
        f"{rounded_up(posterior_at_most(bound, CANDIDATES), 4)}; whoever picks one blindly, with {1 / CANDIDATES:g}."
    )


def _attacked(found: Mapping[str, Any]) -> str:
    measured = found["measurements"]
    strongest = strongest_of(found, "author")
    if measured is None or strongest is None:
        return (
            "Nobody tried to find out who wrote the texts, so there is no evidence that authors stay hidden."
        )
    both = paired(found, "author")
    clear = (
        ""
        if both is None
        else f" One of them, {both['adversary']}, was right for {_percent(both['clean']['value'])} of these texts "
        f"without protection and for {_percent(both['released']['value'])} with it."
    )
    holder = strongest_of(found, "author", originals=True)
    told = None if holder is None else holder.get("knowing_topic")
    known = [
        f"{words} {_percent(share)}"
        for words, share in (
            ("whoever knows the topic only, for", measured["floor"]),
            ("whoever knows the topic and holds the originals, for", None if told is None else told["value"]),
        )
        if share is not None
    ]
    anyway = f"; {', and '.join(known)}" if known else ""
    worst = measured.get("worst")
    single = (
        "single authors may be named far more often, up to always"
        if worst is None
        else "whoever holds the originals and all rows of the author named most often "
        f"({_documents(worst['documents'])} in the test) names him up to {_percent_up(worst['named'])} of the time"
    )
    return (
        f"Programs tried to name the author of {measured['texts']:,} public texts, protected in the same way: the best "
        f"was right for {_percent(strongest['released']['value'])}{anyway}.{clear} These are means over all texts: "
        f"{single}."
    )


def _right(found: Mapping[str, Any]) -> str:
    labels = (found["measurements"] or {}).get("labels")
    if labels is None:
        if found["probability_kept"] is None:
            return "No row says what its document is about in so many words."
        return "How often a label is right was not measured on public texts."
    rare = [each for each in labels["topics"] if each["right"] < 0.5]
    lost = f"; hardly any of these are right: {', '.join(each['topic'] for each in rare[:5])}" if rare else ""
    both = paired(found, "topic")
    clear = (
        ""
        if both is None
        else f", and a program that reads the unprotected texts for {_percent(both['clean']['value'])}"
    )
    chance = ""
    if labels["low"] is not None:
        chance = (
            f" (from {_percent_down(labels['low'])} to {_percent_up(labels['high'])} allowing for chance)"
        )
    return (
        f"A label is right for about {_percent(labels['right'])} of {labels['texts']:,} public texts of the "
        f"kind{chance}; always saying the most frequent topic is right for {_percent(labels['majority'])}{clear}{lost}."
        + _own_labels(found)
    )


def _own_labels(found: Mapping[str, Any]) -> str:
    """The same of the private texts, for the curator."""
    labels = (found["own"] or {}).get("labels")
    return (
        ""
        if labels is None
        else f" On your own texts it is right for {_percent(labels['right'])}{_beside(labels)}."
    )


def _stays(found: Mapping[str, Any]) -> str:
    if found["kept_fields"]:
        names = ", ".join(map(repr, found["kept_fields"]))
        return (
            f"What each row keeps, and the fields {names}, are not hidden; once out, nothing can be recalled."
        )
    return "What each row keeps is not hidden, and once the folder is out nothing in it can be recalled."


def not_promised(found: Mapping[str, Any]) -> Iterator[str]:
    """What a signer could take to be promised and is not."""
    if found["kind"] != SUMMARY:
        kept = found.get("preserve")
        yield f"The {kept or 'content'} that is kept is not hidden: it is what is released."
    yield MENTIONED[found["kind"] == SUMMARY or found["unit"] == "author"]
    if found["probability_kept"] is not None:
        yield (
            "A single row proves nothing: its label may have been printed by chance, and its words are public words "
            "that nobody here need have written."
        )
    if found["kept_fields"]:
        yield "Fields that were kept stand as they were, without any protection."
    yield "A second release of the same documents adds its bound to this one's."
    yield "Whether a document is in the collection, and how many there are, is not promised to stay hidden."


MENTIONED: Final = {
    False: (
        "Whoever is mentioned in a text is protected with that text only, and not across texts. Health, opinions, "
        "faith and the like are protected no more than anything else in a text; where a kept topic names them, it "
        "tells them."
    ),
    True: (
        "Whoever is mentioned in texts has no promise of his own: what is said of him is protected as a part of what "
        "its author wrote. Health, opinions, faith and the like are protected no more than anything else."
    ),
}
"""Of persons who are no authors and of special categories, by whether the promise is per author."""


def worst_author(found: Mapping[str, Any]) -> tuple[str, str] | None:
    """Who loses most, and the bound of all his documents; None where the promise is per author, or there is no bound.

    For the curator it is the author with most documents; where nobody counted, and for receivers, one with five.
    """
    if found["unit"] != "document" or found["bound"] is None:
        return None
    most = ((found["own"] or {}).get("authors") or {}).get("most")
    who_loses, several = (
        ("the author with most documents", most) if most else ("an author of several documents", 5)
    )
    together = several * found["bound"]
    counted = (
        ""
        if most
        else ", for instance; how many anybody has was not counted"
        if found["own"]
        else ", for instance"
    )
    return (
        who_loses,
        f"{_documents(several)}{counted}: {rounded_up(together, 6)} nats for all of them together "
        f"({strength_of(together)})",
    )


def unit(found: Mapping[str, Any]) -> str:
    """Who is protected, in words."""
    if found["unit"] == "author" or found["kind"] == SUMMARY:
        return "each author with all contributed documents together"
    said = "each document alone"
    crowd = found["crowd"]
    if crowd is None:
        return f"{said}. No statement is made for an author with all documents together, beyond that bounds add up"
    if crowd["epsilon"] > USELESS:
        return (
            f"{said}. An author with as many as {crowd['documents_per_author']:,} of them has hardly any protection as "
            "a whole: their bounds add up, and leaving out ids and order does not change that"
        )
    return (
        f"{said}. As rows are numbered at random, an author with {_at_most(crowd['documents_per_author'])} is "
        f"protected as a whole, too: epsilon {rounded_up(crowd['epsilon'], 4)}, but for a probability of "
        f"{rounded_up(crowd['delta'], 2)}. An author with more is protected less"
    )


def strength(found: Mapping[str, Any]) -> str:
    """The bound in words first."""
    if found["bound"] is not None:
        bound, of_ten = rounded_up(found["bound"], 6), rounded_up(posterior_at_most(found["bound"], 10), 4)
        return (
            f"{found['strength']}, as bounds of one document go: any two within {bound} nats (a factor of "
            f"{factor_text(found['bound'])}). Who thinks only ten texts possible, and holds them, may be right with a "
            f"probability of up to {of_ten}"
        )
    epsilon = found["epsilon"]
    return f"epsilon {rounded_up(epsilon, 6)}" if epsilon is not None else "nothing is stated"


@final
@dataclass(frozen=True, slots=True)
class Risk:
    """One of the three questions: what was found, what is found without the release, and what nobody can exceed."""

    question: str
    measured: str
    without: str
    ceiling: str


def risks(found: Mapping[str, Any]) -> list[Risk]:
    """Singling out, linking and inference (docs/standards.md), each with success, floor and proven ceiling."""
    bound, measured = found["bound"], found["measurements"] or {}
    none = "not measured"
    originals = strongest_of(found, "author", originals=True)
    author = strongest_of(found, "author")
    linked, labels = measured.get("linking"), measured.get("labels")
    no_ceiling = "no useful one is proven"
    texts = measured.get("texts") or CANDIDATES
    return [
        Risk(
            "Singling out: whoever holds the exact texts names the author of a row" if author is not None
            else "Singling out: whoever holds the exact texts names the text of a row",
            none if originals is None else _holder(originals),
            none if originals is None or measured.get("floor") is None
            else f"{_percent(measured['floor'])}, knowing the topic only",
            no_ceiling if bound is None
            else f"{_percent_up(posterior_at_most(bound, texts))}, one of {texts:,} texts equally likely",
        ),
        Risk(
            "Linking: two releases of the same texts, which rows are of one text",
            none if linked is None
            else f"{_percent_up(linked['named'])} of {linked['texts']:,} rows, by whoever holds the originals",
            none if linked is None else f"{_percent(linked['chance'])}, any row blindly",
            no_ceiling if bound is None or linked is None
            else f"{_percent_up(linked['ceiling'])}, of one row where {linked['texts']:,} are equally likely",
        ),
        Risk(
            "Inference: what a text is about, from its row",
            none if labels is None else f"{_percent(labels['right'])} right",
            none if labels is None else f"{_percent(labels['majority'])}, always the most frequent topic",
            no_ceiling if found["probability_kept"] is None
            else f"{_percent_up(found['probability_kept'])}: a ceiling that the noise sets, not a result",
        ),
        Risk(
            "Inference: who wrote a text, from its row, without the texts",
            none if author is None else _interval(author["released"]),
            none if measured.get("floor") is None else f"{_percent(measured['floor'])}, knowing the topic only",
            no_ceiling if bound is None else "as for singling out",
        ),
    ]  # fmt: skip


def strongest_of(found: Mapping[str, Any], task: str, *, originals: bool = False) -> Mapping[str, Any] | None:
    """What the strongest adversary found; the holder of the originals is apart, since he has the texts."""
    measured = found["measurements"] or {}
    among = [
        each for each in measured.get("findings", ())
        if each["task"] == task and (each["adversary"] == ORIGINALS) is originals
    ]  # fmt: skip
    return max(among, key=lambda each: each["released"]["value"], default=None)


def paired(found: Mapping[str, Any], task: str) -> Mapping[str, Any] | None:
    """The adversary that finds most in unprotected texts: one attacker in both halves of a comparison."""
    among = [
        each for each in (found["measurements"] or {}).get("findings", ())
        if each["task"] == task and each["adversary"] != ORIGINALS and each["clean"] is not None
    ]  # fmt: skip
    return max(among, key=lambda each: each["clean"]["value"], default=None)


def compared(found: Mapping[str, Any]) -> str | None:
    """What the verdict compares with what, and why, in two sentences; None where nothing was judged."""
    measured = found["measurements"]
    if measured is None or measured["verdict"] is None:
        return None
    return (
        "How many authors an attacker names who knows the topic and sees the released rows is compared with how many "
        "are named by whoever knows the topic only, with an interval for chance, against the limit that was set. The "
        "difference is what the release adds; the topic itself is released on purpose."
    )


def served_worse(found: Mapping[str, Any]) -> list[str]:
    """Groups for which the release is worse than for most, from public texts."""
    labels = (found["measurements"] or {}).get("labels")
    if labels is None:
        return ["Not measured."]
    worse = [each for each in labels["topics"] if each["right"] < labels["right"] - 0.05]
    return [
        f"Of {each['texts']:,} texts on {each['topic']}, {_percent(each['right'])} got the right label."
        for each in worse[:10]
    ] or ["No topic of the public texts is told more than 5 points worse than all together."]


def own_sentences(own: Mapping[str, Any]) -> Iterator[str]:
    """What was measured on the private texts: on the curator's page only."""
    if own["without_text"]:
        yield f"{own['without_text']:,} of {own['documents']:,} rows have no text."
    if own["fit_none"] is not None:
        yield (
            unfit_sentence(own["fit_none"], own["hardly_known"], own["documents"] - own["without_text"]) + "."
        )
    labels = own["labels"]
    if labels is not None:
        yield (
            f"On the column of topics of these texts a label is right for {_percent(labels['right'])}{_beside(labels)}."
        )
        lost = [
            each for each in labels["topics"] if each["right"] < 0.5 or each["texts"] < 0.05 * labels["texts"]
        ]
        for each in lost[:10]:
            right = _percent(each["right"])
            yield f"Rare or hard to tell: {each['topic']}, {each['texts']:,} texts, right for {right}."
    authors = own["authors"]
    if authors is not None:
        worst = "" if authors["worst"] is None else f", {rounded_up(authors['worst'], 6)} nats together"
        yield (
            f"The author with most documents has {authors['most']:,}{worst}; the median author has "
            f"{authors['median']:,}; {_percent(authors['several'])} of the documents are by authors with three or more."
        )
    else:
        yield "Nobody counted the documents of each author: the promise is per document."
    for each in own["subjects"] or ():
        yield (
            f"Far more often than in the public texts: {', '.join(each['words'])} ({_percent(each['share'])} against "
            f"{_percent(each['before'])})."
        )


def _beside(labels: Mapping[str, Any]) -> str:
    """A share of right labels is worth what it is above always saying the most frequent topic."""
    less = ", which is less than" if labels["right"] < labels["majority"] else ";"
    return f"{less} always saying the most frequent topic: {_percent(labels['majority'])}"


def _at_most(documents: int) -> str:
    return "one document" if documents == 1 else f"at most {documents:,} documents"


def commands(release: str, *, evaluation: bool) -> list[str]:
    """What makes every number of the pages again."""
    folder = shlex.quote(release)
    again = [
        f"publius guarantee --manifest {folder}/manifest.json",
        f"publius signoff {folder}" + (" --evaluation EVALUATION" if evaluation else "") + " --json",
        f"publius inspect TEXTS --release {folder} --topic-field COLUMN --author-field COLUMN --json",
        "publius audit",
    ]
    if evaluation:
        again.insert(1, f"publius evaluate PUBLIC --release {folder} --adds-at-most 0.05 --output EVALUATION")
    return again


WITHDRAWAL: Final = (
    "An author who withdraws, or an error that is found after the release: later releases leave the document out. What "
    "is out stays out: no row can be recalled from those who hold it. Whoever signs knows this."
)
LOOK_AGAIN: Final = (
    "Look again before any further release of these documents, when older texts of the kind become public, when a "
    "stronger attack or a defect of the software becomes known, and on the date that the signer sets."
)


def _holder(finding: Mapping[str, Any]) -> str:
    """What the holder of the originals finds, without and with the topic."""
    told = finding.get("knowing_topic")
    also = "" if told is None else f"; {_interval(told)}, where he knows the topic, too"
    return _interval(finding["released"]) + also


def _documents(count: float) -> str:
    return how_many(count, "document")


def _interval(share: Mapping[str, float]) -> str:
    chance = f"{_percent_down(share['low'])} to {_percent_up(share['high'])} allowing for chance"
    return f"{_percent(share['value'])} ({chance})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _percent_up(share: float) -> str:
    return f"{ceiling(100 * share, 1):.1f} %"


def _percent_down(share: float) -> str:
    return f"{floor(100 * share, 1):.1f} %"
