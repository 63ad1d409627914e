"""What both pages say first, in words, and what stands behind it: made from one evidence object and nothing else.

The curator's page is signed and stays; the receivers' page leaves. What was measured on the private texts is in the
evidence under ``own`` only, which the receivers' evidence lacks.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, Self, final

from publius.errors import UsageError, how_many
from publius.privacy.guarantee import (
    STATED,
    STRENGTHS,
    posterior_at_most,
    posterior_with_all_rows,
    strength_of,
)
from publius.privacy.promise import (
    factor_text,
    nearness_is_meaning,
    percent,
    percent_down,
    percent_up,
    rounded_up,
    stand,
)
from publius.releases.contents import SUMMARY
from publius.releases.label_shares import unnamed_sentence
from publius.releases.own_texts import Naming, unfit_sentence, unsigned_sentence, ways_said
from publius.releases.plan import AS_READ, DECLARED_VALUE, ORDERED_TEXT, OWN_IDS, WHOSE
from publius.settings import AboutSettings
from publius.text.author_names import without_invisible

CANDIDATES: Final = 1_000
"""Documents among which somebody looks for the one that was released, in the sentence about singling out."""

USELESS: Final = STRENGTHS[-1][0]
"""Nats above which a promise is empty."""

ORIGINALS: Final = "originals"

ONE_BAG: Final = "one row of an author"
ALL_BAGS: Final = "all rows of one author together"
ALL_BOUND: Final = "bound for all of one author"
ONE_ROW: Final = "one row of a text"
WORST_CASES: Final = (ONE_BAG, ALL_BAGS, ALL_BOUND, ONE_ROW)
"""What was measured of the author, or text, who loses most: the names of the facts of an evaluation."""

AUTHORS_UNKNOWN: Final = ("authors", "not known: each text counts as of an author of its own")
"""The fact of an evaluation of texts of nobody: its figures are of texts."""

OPEN: Final = "left open: to be filled in before somebody signs"
LONGEST_SAID: Final = 2_000
"""Characters of what people say of a release, of each thing."""
NOBODY_NAMED: Final = "nobody named: ask whoever sent this"


@final
@dataclass(frozen=True, slots=True)
class About:
    """What only people know of a release; None is left open, and the pages say so.

    Attributes:
        purpose: what it is for.
        recipient: who gets it, and what they may hold beside it.
        originals: where the originals stay.
        review: when to look again.
        contact: whom those who receive it may write to.
    """

    purpose: str | None = None
    recipient: str | None = None
    originals: str | None = None
    review: str | None = None
    contact: str | None = None

    def __post_init__(self) -> None:
        """Take what shows nothing for unsaid; `UsageError` for what no page can show, or what is longer than a page."""
        for name in self.names():
            said = getattr(self, name)
            if said is None:
                continue
            if len(said) > LONGEST_SAID or any(unicodedata.category(each) == "Cs" for each in said):
                raise UsageError(
                    f"what is said as --{name} must be text of at most {LONGEST_SAID:,} characters, in the encoding of "
                    "the terminal"
                )
            shown = " ".join("".join(" " if each < " " else each for each in said).split())
            object.__setattr__(self, name, shown if without_invisible(shown).strip() else None)

    @classmethod
    def of(cls, said: AboutSettings) -> Self:
        """As it was said in options or answers."""
        return cls(**{name: getattr(said, name) for name in cls.names()})

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Of the options, which are those of the attributes."""
        return tuple(each.name for each in fields(cls))

    def record(self) -> dict[str, str | None]:
        """As the evidence has it."""
        return asdict(self)


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
    if found["bound"] is not None and not found["tells_preserved"]:
        whose = "a mechanism from outside Publius" if found["evidence"] == STATED else "the mechanism"
        return (
            f"The folder holds {documents} rows, one for each document, of words of a public list that {whose} put "
            "there."
        )
    if found["probability_kept"] is not None:
        return (
            f"The folder holds {documents} rows, one for each document: a label that says the {found['preserve']} "
            "found in it, or by chance another, and words typical of that label, which are not words of the document."
        )
    if found["kind"] == ORDERED_TEXT:
        kept = stand(found["kept_between"])
        return (
            f"The folder holds {documents} rows, one for each document: words of a public list in the order of the "
            f"document's, each drawn at random near its own{f'; between them {kept}' if kept else ''}."
        )
    return (
        f"The folder holds {documents} rows, one for each document: words of a public list, drawn at random near those "
        "of the document."
    )


def _most(found: Mapping[str, Any]) -> str:
    bound = found["bound"]
    if found["kind"] == SUMMARY:
        epsilon = found["epsilon"]
        return (
            "Suppose somebody knows all other documents and only wonders which of two things an author wrote, each as "
            "likely as the other. With the folder they are right with a probability of at most "
            f"{_posterior(epsilon, 2)}; where they wonder whether the author wrote anything at all, at most "
            f"{_posterior(epsilon / 2, 2)} (proven, not measured)."
        )
    if bound is None:
        near, far = (
            ("documents that mean nearly the same", "Documents that mean something else")
            if nearness_is_meaning(found["metric"])
            else ("those near it, by the distance that the promise names", "Documents far from it")
        )
        if found["kind"] == ORDERED_TEXT:
            near = "those whose words are near its own, word by word in their order"
            near += (
                ", with the same of what is kept at the same places"
                if found["kept_between"] != "none"
                else ""
            )
            far = "Others"
        return (
            f"A document is hidden among {near}. {far} can be told apart from it: for those no useful limit is "
            f"stated.{_unlimited(found)}"
        )
    blind = 1 / CANDIDATES
    on_average = average_at_most(found, blind)
    average = (
        ""
        if on_average is None
        else f"at most {_in_per_cent(on_average)} on average over the documents, and "
    )
    known = "stated by its author" if found["evidence"] == STATED else "proven"
    return (
        f"Suppose somebody holds the exact texts of {CANDIDATES:,} documents{_agreeing(found)}, each as likely as any "
        f"other, and sees one row{_without_id(found)} that was made from one of them. Blindly they name the right one "
        "with a probability of "
        f"{percent(blind)}. With the row it is {average}at most {_posterior(bound, CANDIDATES)} in the worst case, "
        f"whatever the row shows; with only ten such documents, at most {_posterior(bound, 10)} ({known}, not "
        "measured). Who sees a row of each of the others, too, can be surer of one: at most "
        f"{_with_all_rows(bound, CANDIDATES)}.{_unlimited(found)}"
    )


_OF_IDS: Final = {
    OWN_IDS: " without its id",
    AS_READ: " without its number",
}
"""A row that a proven limit speaks of."""


def _agreeing(found: Mapping[str, Any], *, one: bool = False) -> str:
    """Which documents a proven limit compares: what is kept stands in the rows as it is. Empty where nothing is."""
    return f" that {'agrees' if one else 'agree'} in {_kept_fields(found)}" if found["kept_fields"] else ""


def _kept_fields(found: Mapping[str, Any]) -> str:
    names = found["kept_fields"]
    return f"the {'field' if len(names) == 1 else 'fields'} {', '.join(map(repr, names))}"


def _without_id(found: Mapping[str, Any]) -> str:
    return _OF_IDS.get(found["ids"], "")


def _unlimited(found: Mapping[str, Any]) -> str:
    """What stands in the rows without any limit, in sentences; empty where nothing does."""
    said = []
    if found["kept_fields"]:
        said.append(
            f"For documents that differ in {_kept_fields(found)} nothing is promised: whoever knows what stands there "
            "may know whose row it is."
        )
    if found["ids"] in _OF_IDS:
        said.append(WHOSE[found["ids"]])
    return "".join(f" {each}" for each in said)


def average_at_most(found: Mapping[str, Any], without: float) -> float | None:
    """The largest share that anybody names from a row, on average, who names ``without`` without it; None if unknown.

    A row is drawn from one of M outcomes, each with a probability of at most e^B/(e^B + M - 1) = p whatever the text,
    and a bag from its outcome alone. Whatever is guessed, and whatever was known before, the sum over outcomes of the
    best guess is at most M p times the best guess without a row: the multiplicative Bayes capacity of the channel.
    """
    outcomes, kept = found["outcomes"], found["probability_kept"]
    if outcomes is None or kept is None or found["evidence"] == STATED:
        return None
    return min(1.0, without * int(outcomes) * float(kept))


def _posterior(bound: float, among: int) -> str:
    """The largest posterior of one among so many equally likely, in per cent, with the digits of the promise."""
    return _in_per_cent(posterior_at_most(bound, among))


def _with_all_rows(bound: float, among: int) -> str:
    """The same for whoever sees a row of each of them."""
    return _in_per_cent(posterior_with_all_rows(bound, among))


def _in_per_cent(share: float) -> str:
    return f"{Decimal(rounded_up(share, 4)) * 100:.4g} %"


def _attacked(found: Mapping[str, Any]) -> str:
    measured = found["measurements"]
    strongest = strongest_of(found, "author")
    if measured is None or strongest is None:
        return (
            "Nobody tried to find out who wrote the texts, so there is no evidence that authors stay hidden."
            + _own_naming(found)
        )
    both, best = paired(found, "author"), percent(strongest["released"]["value"])
    named = f"From rows protected in the same way the best named {best}."
    if both is not None:
        clear, after = percent(both["clean"]["value"]), percent(both["released"]["value"])
        named = f"Without protection the best of them named {clear}, and from rows protected in the same way {after}."
        if after != best:
            named += f" From such rows another one named {best}."
    holder = strongest_of(found, "author", originals=True)
    told = None if holder is None else holder.get("knowing_topic")
    blind = f"whoever always says the same author names {percent(strongest['chance'])}"
    alone = measured["floor"]
    known = [
        blind[0].upper() + blind[1:]
        if alone is None
        else f"Whoever knows only what a text is about names {percent(alone)}, and {blind}"
    ]
    if told is not None:
        known.append(
            f"Whoever knows the topic, sees the row and holds the original texts names {percent(told['value'])}"
        )
    return (
        f"Programs tried to name the authors of {measured['texts']:,} public texts. {named} {'. '.join(known)}. These "
        "are averages over all texts: single authors may be named more often." + _own_naming(found)
    )


def _own_naming(found: Mapping[str, Any]) -> str:
    """For the curator, where it is much: how many authors of the private texts rows name without a topic."""
    own = found["own"] or {}
    if own.get("untold") is None:
        return ""
    texts = own["documents"]
    unnamed = texts if own["authors"] is None else own["authors"]["unnamed"]
    ways = ways_said(Naming(**own["untold"]), otherwise=(Naming(**each) for each in own["otherwise"]))
    said = (unsigned_sentence(unnamed, texts), next(filter(None, (way.telling for way in ways)), None))
    return "".join(f" {each}." for each in said if each is not None)


def _right(found: Mapping[str, Any]) -> str:
    if found["kind"] == SUMMARY:
        return (
            "Each count has noise added on purpose: the true number lies between the limits beside it, in all rows of "
            "a file together with a probability of at least 95 %."
        )
    if found["kind"] == DECLARED_VALUE:
        return (
            f"Each row has its document's own value with a probability of {percent(found['probability_kept'])}, and "
            "else one of the others, each as likely."
            + ("" if found["stands_for_others"] is None else f" {found['stands_for_others']}")
        )
    labels = (found["measurements"] or {}).get("labels")
    if labels is None:
        if found["probability_kept"] is None:
            return "No row says what its document is about in so many words."
        return "How often a label is right was not measured on public texts."
    rare = [each for each in labels["topics"] if each["right"] < 0.5]
    lost = (
        f"; of these less than half are right: {', '.join(each['topic'] for each in rare[:5])}"
        if rare
        else ""
    )
    both = paired(found, "topic")
    clear = (
        ""
        if both is None
        else f", and a program that reads the unprotected texts for {percent(both['clean']['value'])}"
    )
    chance = ""
    if labels["low"] is not None:
        chance = f" (from {percent_down(labels['low'])} to {percent_up(labels['high'])} allowing for chance)"
    return (
        f"A label is right for about {percent(labels['right'])} of {labels['texts']:,} public texts of the "
        f"kind{chance}; always saying the most frequent topic would be right for {percent(labels['majority'])}{clear}"
        f"{lost}." + _own_labels(found)
    )


def _own_labels(found: Mapping[str, Any]) -> str:
    """The same of the private texts, for the curator."""
    labels = (found["own"] or {}).get("labels")
    return (
        ""
        if labels is None
        else f" On your own texts it is right for {percent(labels['right'])}{_beside(labels)}."
    )


def _stays(found: Mapping[str, Any]) -> str:
    if found["kind"] == SUMMARY:
        return "Once the folder is out nothing in it can be recalled."
    if found["kept_fields"]:
        names = ", ".join(map(repr, found["kept_fields"]))
        return (
            f"What each row says, and the fields {names}, are not hidden; once out, nothing can be recalled."
        )
    return "What each row says is not hidden, and once the folder is out nothing in it can be recalled."


def not_promised(found: Mapping[str, Any]) -> Iterator[str]:
    """What a signer could take to be promised and is not."""
    if found["kind"] != SUMMARY:
        told = found["bound"] is not None and found["tells_preserved"]
        yield (
            f"The {found['preserve']} that is kept is not hidden: it is what is released."
            if told
            else "What a row tells is not hidden: it is what is released."
        )
    if found["kind"] == ORDERED_TEXT:
        yield "The order of a text is not hidden."
        if kept := stand(found["kept_between"]):
            yield f"What is kept between the words is unprotected: {kept}."
    yield MENTIONED[found["kind"] == SUMMARY or found["unit"] == "author"]
    if found["probability_kept"] is not None:
        words = ", and its words are public words that nobody here need have written"
        yield (
            "A single row proves nothing: its label may have been printed by chance"
            f"{'' if found['kind'] == DECLARED_VALUE else words}."
        )
    if found["kept_fields"]:
        yield "Fields that were kept stand as they were, without any protection."
    yield "Each further release of the same documents protects them less: its bound is added to this one's."
    if found["kind"] != SUMMARY:  # there it is bounded, as what anybody wrote is
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
    counts = (found["own"] or {}).get("authors") or {}
    most = counts.get("most")
    declared = (found["crowd"] or {}).get("documents_per_author", 1)
    who_loses, several = (
        ("worst case: one person wrote all that name no author", most)
        if most and most > 1 and counts.get("unnamed") == most
        else ("worst case: the author with most documents", most)
        if most
        else ("worst case: an author of several documents", declared if declared > 1 else 5)
    )
    together = several * found["bound"]
    said_to_be = (  # one is what a crowd takes where nobody declared anything
        f"declared: {declared:,} at most"
        if declared > 1
        else "the promise of the crowd takes 1 at most"
        if found["crowd"]
        else "none was declared"
    )
    counted = (
        f" (found; {said_to_be})"
        if most
        else " (declared; how many anybody has was not counted)"
        if found["own"] and declared > 1
        else " (an example; how many anybody has was not counted)"
        if found["own"]
        else " (declared; what was found does not leave)"
        if declared > 1
        else " (an example; what was found does not leave)"
    )
    measured = (found["measurements"] or {}).get("worst")
    tested = (
        ""
        if measured is None
        else ". In the test, whoever holds the originals and knows which rows are of one author named the author found "
        f"most often, with {_documents(measured['documents'])}, up to {percent_up(measured['named'])} of the time"
        + (f"; with {several:,} it was not tested" if measured["most"] < several else "")
    )
    nothing = ", which promises nothing" if strength_of(together) == "empty" else ""
    added = "their bounds add up to" if several > 1 else "the bound is"
    return (
        who_loses,
        f"{_documents(several)}{counted}; {added} {rounded_up(together, 6)} nats: "
        f"{strength_of(together)}{nothing}{tested}",
    )


def unit(found: Mapping[str, Any]) -> str:
    """Who is protected, in words."""
    if found["unit"] == "author" or found["kind"] == SUMMARY:
        return f"each author with all contributed documents together, as the column {found['author_field']!r} says"
    said = "each document alone"
    crowd = found["crowd"]
    if crowd is None:
        return f"{said}. No statement is made for an author with all documents together, beyond that bounds add up"
    if crowd["epsilon"] > USELESS:
        return (
            f"{said}. An author with as many as {crowd['documents_per_author']:,} of them (declared) has "
            "hardly any protection as a whole: their bounds add up, and leaving out ids and order does not change "
            "that"
        )
    return (
        f"{said}. As rows are numbered at random, an author with {_at_most(crowd['documents_per_author'])} is "
        f"protected as a whole, too: whatever that author wrote, what is seen is {_times(crowd['epsilon'])}, with an "
        f"exception of at most 1 in {_one_in(crowd['delta'])} (epsilon {rounded_up(crowd['epsilon'], 4)}, delta "
        f"{rounded_up(crowd['delta'], 2)}). An author with more is protected less"
    )


SCALE: Final = ", ".join(f"{name} up to {largest:g}" for largest, name in STRENGTHS)
"""The words for bounds, and how far each goes."""


def _times(exponent: float) -> str:
    """How much more probable something may be, for people: the exponent itself stands elsewhere."""
    return f"at most {factor_text(exponent).partition(' (')[0]} times as probable"


def _one_in(probability: float) -> str:
    """A small probability, rounded up, as one chance in so many."""
    return f"{int(1 / Fraction(rounded_up(probability, 2))):,}"


def strength(found: Mapping[str, Any]) -> str:
    """The bound in words first, then the number, and whose words they are."""
    epsilon, bound = found["epsilon"], found["bound"]
    if bound is not None:
        return (
            f"{found['strength']}: what a row{_without_id(found)} shows is {_times(bound)} for its document as for any "
            f"other{_agreeing(found, one=True)} ({rounded_up(bound, 6)} nats). "
            f"{found['strength'].capitalize()} is a word of Publius's own scale: "
            f"{SCALE} nats, empty beyond; no law has it"
        )
    if found["kind"] == SUMMARY:
        return (
            f"what is seen is {_times(epsilon)} as if an author had written other documents (epsilon "
            f"{rounded_up(epsilon, 6)})"
        )
    if epsilon is None:
        return "nothing is stated"
    near = "the meaning of another document" if nearness_is_meaning(found["metric"]) else "another document"
    return (
        f"the nearer {near}, the harder it is to tell them apart, and no bound between any two is stated "
        f"(epsilon {rounded_up(epsilon, 6)} per word and unit of word distance)"
    )


@final
@dataclass(frozen=True, slots=True)
class Risk:
    """One of the three questions: what is found without the rows and with them, and what nobody can exceed.

    Attributes:
        question: what is to be found, and by whom.
        without: what is found without the rows.
        measured: what was found with them, on public texts, a mean over all of them.
        average: the proven ceiling on such a mean.
        worst: the proven ceiling on one row, whatever it shows.
    """

    question: str
    without: str
    measured: str
    average: str
    worst: str


def risks(found: Mapping[str, Any]) -> list[Risk]:
    """Singling out, linking and inference (docs/standards.md), each with chance floor, success and proven ceilings."""
    bound, measured = found["bound"], found["measurements"] or {}
    none = "not measured"
    originals = strongest_of(found, "author", originals=True)
    author = strongest_of(found, "author")
    linked, labels = measured.get("linking"), measured.get("labels")
    unproven = "no useful one is proven"
    single = (
        unproven
        if bound is None
        else f"{_posterior(bound, CANDIDATES)} seeing that row alone, {_with_all_rows(bound, CANDIDATES)} seeing all, "
        f"of {CANDIDATES:,} equally likely texts{_agreeing(found)}"
    )
    if found["ids"] in _OF_IDS and bound is not None:
        single += "; none for whoever knows whose id it is"
    blind = (author or originals or {}).get("chance")
    without = _without(found, blind, "text" if author is None else "author")
    ceiling = _ceiling(found, blind)
    if author is not None and bound is not None:
        single += "; more for an author of several of them"
    kept = found["label_kept"]
    said = (
        "text is about"
        if found["probability_kept"] is None or found["tells_preserved"]
        else "label says of a text"
    )
    return [
        Risk(
            "Singling out: whoever holds the exact texts names the author of a row" if author is not None
            else "Singling out: whoever holds the exact texts names the text of a row",
            without,
            none if originals is None else _holder(originals),
            ceiling if blind is not None else _ceiling(found, 1 / CANDIDATES),
            single,
        ),
        Risk(
            "Linking: two releases of the same texts, which rows are of one text",
            none if linked is None else f"{percent(linked['chance'])}, any row blindly",
            none if linked is None
            else f"{percent(linked['named'])} of {linked['texts']:,} rows, by whoever holds the originals",
            unproven if linked is None else _ceiling(found, linked["chance"]),
            unproven if bound is None or linked is None or _unlimited(found)
            else f"{_posterior(bound, linked['texts'])} seeing the two rows alone, "
            f"{_with_all_rows(bound, linked['texts'])} seeing all, of {linked['texts']:,} equally likely rows",
        ),
        Risk(
            f"Inference: what a {said}, from its row",
            none if labels is None else f"{percent(labels['majority'])}, always the most frequent topic",
            none if labels is None else f"{percent(labels['right'])} of the labels are right",
            unproven if kept is None
            else f"{percent_up(kept)} of the labels are left by the noise as they were found",
            unproven if kept is None else "the same: it is said on purpose",
        ),
        Risk(
            "Inference: who wrote a text, from its row, without the texts",
            none if author is None else without,
            none if author is None else _interval(author["released"]),
            unproven if author is None else ceiling,
            unproven if bound is None else "as for singling out",
        ),
    ]  # fmt: skip


def _without(found: Mapping[str, Any], blind: float | None, one: str) -> str:
    """What is named without the rows: by always naming one author, and from the topic alone."""
    floor_share = (found["measurements"] or {}).get("floor")
    said = [] if blind is None else [f"{percent(blind)}, always naming one {one}"]
    if floor_share is not None:
        said.append(f"{percent(floor_share)}, from the topic alone")
    return "; ".join(said) or "not measured"


def _ceiling(found: Mapping[str, Any], without: float | None) -> str:
    """The proven ceiling on a mean, for whoever names so many without the rows."""
    most = None if without is None else average_at_most(found, without)
    if most is None or without is None or _unlimited(found):
        return "no useful one is proven"
    return (
        "none below 100 %"
        if most == 1
        else f"{percent_up(most)}, where {percent(without)} are named without the rows"
    )


def how_to_read(found: Mapping[str, Any]) -> list[str]:
    """What the numbers of the three questions mean beside each other."""
    said = []
    author, measured = strongest_of(found, "author"), found["measurements"] or {}
    told, anyway = (None if author is None else author["released"]["value"]), measured.get("floor")
    if told is not None and anyway is not None:
        beyond = "no more than that" if told - anyway < _SAME else "which is more than that"
        holder = (strongest_of(found, "author", originals=True) or {}).get("knowing_topic")
        judged = (
            "; what is beyond that which he names without the rows is what a verdict judges"
            if found["verdict"]
            else ""
        )
        held = (
            ""
            if holder is None
            else f" Whoever knows the topics, sees the rows and holds the originals names {percent(holder['value'])}"
            f"{judged}."
        )
        tells = {
            True: "A row tells the topic of its text on purpose, and a topic",
            None: "Many labels are the topic of their text, and a topic",
            False: "A topic, which readers may know from elsewhere,",
        }[shows_topics(found) or (None if _named_by_labels(found) else False)]
        said.append(
            f"{tells} tells something of who wrote it: from the topics "
            f"alone {percent(anyway)} of the authors are named. From the rows the programs named "
            f"{percent(told)}, {beyond}.{held}"
        )
    if measured.get("findings") and found["bound"] is not None:
        said.append(
            "Averages are over all texts. The worst case is one row: however it comes out, whoever names a text "
            "because of it is right with no higher probability than that. How many of one author's documents are found "
            "is another question: whoever always says one name finds all of that author's, and is wrong of nearly all "
            "others."
        )
    said += [f"{name}: {value}." for name, value in measured.get("about", ()) if name in WORST_CASES]
    return said


_SAME: Final = 0.0005
"""A difference that is not shown."""


def authors_known(found: Mapping[str, Any]) -> bool:
    """Whether anybody said who wrote the attacked texts: else no figure is one of authors."""
    return AUTHORS_UNKNOWN not in map(tuple, (found["measurements"] or {}).get("about", ()))


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


_SAID_OF_AUTHORS: Final = re.compile(
    r"authors named beyond (?:the (?P<without>[\d.]+) that he|those whom (?:the topic|always saying one author)) "
    r"names\S*.*?, "
    r"from (?P<low>[-+]?[\d.]+) to (?P<high>[-+]?[\d.]+) allowing for chance, by (?P<who>.+?); "
    r"allowed (?P<allowed>[\d.]+) \(named (?P<named>[\d.]+), "
    r"(?:topic alone|always saying one author) (?P<alone>[\d.]+),"
)
"""The numbers of a verdict on what a release adds to what is named without it."""


def added(found: Mapping[str, Any]) -> str | None:
    """The verdict with its numbers, in a sentence for whoever signs; None where it says no such numbers."""
    said_of = _SAID_OF_AUTHORS.search(found["verdict"] or "")
    if said_of is None:
        return None
    without = said_of["without"] or said_of["alone"]
    told = (found["measurements"] or {}).get("room")  # it says how much of what is allowed is left
    allowed = "" if told else f"; {_points(said_of['allowed'])} were allowed"
    return (
        f"On public texts protected in the same way, {said_of['who']} named {percent(float(without))} of the authors "
        f"without the rows and {percent(float(said_of['named']))} with them. Allowing for chance the rows add from "
        f"{_points(said_of['low'])} to {_points(said_of['high'])} points{allowed}."
    )


_NOTHING_ASKED: Final = "Nothing was asked of authors, so this is no evidence that they are hidden."


def verdict_said(found: Mapping[str, Any]) -> str:
    """The sentence beside the verdict, for whoever signs: what was asked, and whether it holds."""
    verdict, of_authors = found["verdict"], found["measurements"]["on_authors"]
    standing = "what its author states" if found["evidence"] == STATED else "the proof"
    alike = "on public texts protected in the same way"
    asked = "what was asked of the topic or of the bound"
    if verdict.startswith("PASS"):
        if of_authors is None:
            return f"{asked} holds {alike}. {_NOTHING_ASKED}"
        return added(found) or (
            f"{alike}, attackers named on average no more authors than the limit that was set allows. Single authors "
            "may be named all the same."
        )
    if verdict.startswith("FAIL"):
        if of_authors == "FAIL":
            return f"{alike}, attackers named more authors than the limit that was set allows."
        besides = {None: _NOTHING_ASKED, "PASS": "The limit on authors was kept."}
        return (
            f"{asked} does not hold {alike}. {besides.get(of_authors, 'Of authors the test was undecided.')}"
        )
    if "an attack on public texts says nothing" in verdict:
        return (
            "these documents are unlike the public texts that were attacked, so the test says nothing about them, and "
            f"only {standing} stands."
        )
    if "what rows add to that was not computed" in verdict:
        return (
            "what the rows add for readers who know what these documents are about was not computed, since nobody said "
            f"what they are about, or not as finely as attackers were told, so only {standing} stands."
        )
    if "no attack on public texts was given" in verdict or "was not looked at" in verdict:
        return (
            "what stands in the rows beside the result, columns that were kept, ids or their order, may say who wrote "
            f"them, and the test judged nothing of it, so only {standing} stands."
        )
    if of_authors is None:
        return f"the test of what was asked was undecided. {_NOTHING_ASKED}"
    return f"the test was undecided. {_undecided(found)}, so only {standing} stands."


def _undecided(found: Mapping[str, Any]) -> str:
    """How many the holder of the originals named with the rows, where the test shows nothing else.

    Where programs find nobody in unprotected texts there is no verdict, whatever he finds, who has these.
    """
    measured, holder = found["measurements"], strongest_of(found, "author", originals=True)
    neither = "It shows neither that authors are hidden nor that they are found"
    limit = measured.get("author_at_most" if measured.get("in_all") else "adds_at_most")
    if holder is None or limit is None or measured["floor"] is None:
        return neither
    told = holder.get("knowing_topic") or holder["released"]
    said_of = _SAID_OF_AUTHORS.search(found["verdict"] or "")
    without = None if said_of is None else said_of["without"]
    anyway = max(measured["floor"], holder["chance"]) if without is None else float(without)
    if told["value"] - (0 if measured["in_all"] else anyway) <= limit:
        return neither
    whom = "them" if authors_known(found) else "the texts from their rows"
    return (
        f"It does not show that authors are hidden: {who(ORIGINALS, topic=True)} named {percent(told['value'])} of "
        f"{whom}, where {percent(anyway)} are named without the rows"
    )


def _points(share: str) -> str:
    return f"{100 * float(share):.1f}"


def shows_topics(stated: Mapping[str, Any]) -> bool:
    """Whether the rows of a release name topics on purpose, by its manifest or its evidence."""
    return bool(stated.get("preserve") == "topic")


def _named_by_labels(found: Mapping[str, Any]) -> bool:
    """Whether labels of rows are topics, though the topic is not what is preserved."""
    return (found["measurements"] or {}).get("labels") is not None


def compared(found: Mapping[str, Any]) -> str | None:
    """What the verdict compares with what, and why, in two sentences; None where no authors were judged or known."""
    measured = found["measurements"]
    if measured is None or measured["verdict"] is None or measured["on_authors"] is None:
        return None
    if not authors_known(found):
        return None
    if measured["in_all"]:
        return (
            "How many authors an attacker names who sees the released rows, as he is and told the topic, is compared "
            "with the limit that was set, with an interval for chance. It is a limit on all the authors named: what "
            "the topic alone names counts, too."
        )
    if measured["floor"] is None:
        return (
            "The attacked texts have no topics, so no attacker knew any: how many authors one names who sees the "
            "released rows is compared with how many are named by always saying one author, with an interval for "
            "chance, against the limit that was set. Whoever knows what the texts are about may name more."
        )
    known = "readers are taken to know it of each row from elsewhere: what the rows tell of it counts for nothing here"
    topic = (
        "the topic itself is released on purpose"
        if shows_topics(found)
        else f"labels may be topics, and {known}"
        if _named_by_labels(found)
        else f"rows do not name the topic, and {known}"
    )
    return (
        "How many authors an attacker names who knows the topic and sees the released rows is compared with how many "
        "are named by whoever knows the topic only, with an interval for chance, against the limit that was set. The "
        f"difference is what the release adds; {topic}."
    )


def how_sure(found: Mapping[str, Any]) -> list[str]:
    """Each number for the sureness of a label: what it is, and what it is not; empty where there is no label."""
    kept, measured = found["probability_kept"], found["measurements"] or {}
    if kept is None:
        return []
    label, of_label = found["label_kept"], "a label as it was found"
    if label != kept:
        of_label = "one of several outcomes that share a label"
        of_label += (
            "" if label is None else f"; with {percent_up(label)} at most the label is as it was found"
        )
    said = [
        f"{percent_up(kept)} (probability_kept, in every row): how often at most the noise leaves {of_label}. "
        "It says of no row how sure that one is, and nothing of the errors of the program that found it."
    ]
    if found["kind"] == DECLARED_VALUE or found["outcomes"] is None:  # READ-ME has no such column
        return said
    said.append(
        "At least so many per cent (last column of READ-ME.txt): of the rows with a label, how many were not drawn "
        "blindly, from all labels alike. Of these rows the program erred on some, so it is no share of right labels."
    )
    labels, guessed = measured.get("labels"), strongest_of(found, "topic")
    if labels is not None:
        said.append(
            f"{percent(labels['right'])}: how often a printed label is the topic of its text, noise and errors of the "
            "program together, on public texts. It was not measured on these documents, and is no probability of any "
            "one row: that proves nothing."
        )
    if labels is not None and guessed is not None:
        said.append(
            f"{percent(guessed['released']['value'])}: how often a program that learned from other texts names the "
            "topic from a row, counted in rows that were drawn. The share of right labels is computed for all rows "
            "that could be drawn, so the two differ a little."
        )
    return said


def held_beside(found: Mapping[str, Any]) -> str:
    """The proof and the test beside whatever else a recipient holds: said where it says who receives the release."""
    bound, author = found["bound"], strongest_of(found, "author")
    proven = (
        "No useful limit is proven for whoever holds much."
        if bound is None and found["kind"] != SUMMARY
        else "The limit under 'how strongly' holds whatever they hold."
        if not _unlimited(found)
        else f"Only the limit under 'how strongly' holds whatever they hold.{_unlimited(found)}"
    )
    if author is None:
        return f"{proven} What they can find out with other texts of the same people was not tried."
    return (
        f"{proven} The programs of point 3 had learned from other texts of the same people; linking rows with anything "
        "else was not tried."
    )


def served_worse(found: Mapping[str, Any]) -> list[str]:
    """Groups for which the release is worse than for most, from public texts."""
    labels = (found["measurements"] or {}).get("labels")
    if labels is None:
        return ["Not measured."]
    worse = [each for each in labels["topics"] if each["right"] < labels["right"] - 0.05]
    return [
        f"Of {each['texts']:,} texts on {each['topic']}, {percent(each['right'])} got the right label."
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
            "Measured against the topics that your own table gives, a label is right for "
            f"{percent(labels['right'])}{_beside(labels)}."
        )
        if labels["unknown"]:
            yield unnamed_sentence(labels["unknown"])
        worst_told = min(labels["topics"], key=lambda each: each["right"])
        yield (
            f"Worst: of {worst_told['texts']:,} texts on {worst_told['topic']}, {percent(worst_told['right'])} got "
            "the right label."
        )
        lost = [
            each for each in labels["topics"] if each["right"] < 0.5 or each["texts"] < 0.05 * labels["texts"]
        ]
        for each in lost[:10]:
            right = percent(each["right"])
            yield f"Rare or hard to tell: {each['topic']}, {each['texts']:,} texts, right for {right}."
    authors = own["authors"]
    if authors is not None:
        worst = "" if authors["worst"] is None else f", {rounded_up(authors['worst'], 6)} nats together"
        most = f"The author with most documents has {authors['most']:,} (found){worst}"
        if authors["unnamed"] == authors["most"] > 1:
            most = f"{authors['unnamed']:,} documents name no author and may be by one (found){worst}"
        yield (
            f"{most}; the median author has "
            f"{authors['median']:,}; {percent(authors['several'])} of the documents are by authors with three or more."
        )
    else:
        yield "Nobody counted the documents of each author: the promise is per document."
    first, second, *others = (
        None if each is None else Naming(**each) for each in (own["naming"], own["untold"], *own["otherwise"])
    )
    for found in ways_said(first, second, otherwise=filter(None, others)):
        yield f"Computed on {found.texts:,} of your own texts: whoever holds them and {found.sentence}."
    if own["untold"] is None:
        yield (
            "What the rows tell of the authors of these very texts was not computed: nothing is found in texts, the "
            "mechanism draws from no finite list, or there are not two authors. A verdict rests on public texts alone."
        )
    for each in own["subjects"] or ():
        yield (
            f"Far more often than in the public texts: {', '.join(each['words'])} ({percent(each['share'])} against "
            f"{percent(each['before'])})."
        )


def _beside(labels: Mapping[str, Any]) -> str:
    """A share of right labels is worth what it is above always saying the most frequent topic."""
    less = ", which is less than" if labels["right"] < labels["majority"] else ";"
    return f"{less} always saying the most frequent topic: {percent(labels['majority'])}"


def _at_most(documents: int) -> str:
    return "one document" if documents == 1 else f"at most {documents:,} documents"


def commands(release: str, *, evaluated: str | None, rows: bool = True) -> list[str]:
    """What makes every number of the pages again; ``evaluated`` are the options of the evaluation, None without one."""
    folder = shlex.quote(release)
    evaluation = "" if evaluated is None else " --evaluation EVALUATION"
    again = [f"publius guarantee --manifest {folder}/manifest.json"]
    if evaluated is not None:
        again.append(f"publius evaluate PUBLIC --release {folder}{evaluated} --output EVALUATION")
    again.append(f"publius signoff {folder}{evaluation} --json")
    if rows:
        again.append(
            f"publius inspect TEXTS --release {folder} --topic-field COLUMN --author-field COLUMN --json"
        )
    return [*again, "publius audit"]


WITHDRAWAL: Final = (
    "An author who withdraws, or an error that is found after the release: later releases leave the document out. What "
    "is out stays out: no row can be recalled from those who hold it. Whoever signs knows this."
)
LOOK_AGAIN: Final = (
    "Look again before any further release of these documents, when older texts of the kind become public, when a "
    "stronger attack or a defect of the software becomes known, and on the date that is set."
)


def _holder(finding: Mapping[str, Any]) -> str:
    """What the holder of the originals finds, without and with the topic."""
    told = finding.get("knowing_topic")
    also = "" if told is None else f"; {_interval(told)}, where he knows the topic, too"
    return _interval(finding["released"]) + also


def _documents(count: float) -> str:
    return how_many(count, "document")


def _interval(share: Mapping[str, float]) -> str:
    chance = f"{percent_down(share['low'])} to {percent_up(share['high'])} allowing for chance"
    return f"{percent(share['value'])} ({chance})"


def said(found: Mapping[str, Any]) -> dict[str, Any]:
    """What the pages say of this evidence, in words: the same for people and for machines."""
    worst = worst_author(found)
    return {
        "sentences": list(sentences(found)),
        "who_is_protected": unit(found),
        "how_strongly": strength(found),
        "worst_author": None if worst is None else {"who": worst[0], "said": worst[1]},
        "questions": [asdict(each) for each in risks(found)],
        "average_and_worst": how_to_read(found),
        "how_sure": how_sure(found),
        "held_beside": held_beside(found),
        "served_worse": served_worse(found),
        "not_promised": list(not_promised(found)),
        "withdrawal": WITHDRAWAL,
        "look_again": LOOK_AGAIN,
    }
