"""The promise in words, made from a manifest's numbers, rounded to the safe side; nothing parses these sentences."""

from __future__ import annotations

import decimal
import math
from typing import Any, Final

from publius.privacy.guarantee import factor, posterior_at_most

CANDIDATES: Final = 1_000  # texts among which an attacker looks for the right one, in the promise of a label
SEVERAL: Final = 5  # documents of an author in the example of what they add up to
_KEPT: Final = {"stop-words": "stop words", "punctuation": "punctuation", "all": "stop words and punctuation"}


def promise(manifest: Any) -> str:
    """What a release promises, whole; for one that is not private, that it promises nothing."""
    if not manifest.private:
        return f"{(manifest.warning or 'NOT PRIVATE').rstrip('.')}. Nothing is promised."
    kind = manifest.__struct_config__.tag
    said = {"labels": _of_labels, "words": _of_words, "summary": _of_summary}[kind](manifest)
    return " ".join([*said, *_unprotected(manifest)])


def meaning(manifest: Any) -> str:
    """What epsilon means for this release, in one line of its own kind."""
    kind = manifest.__struct_config__.tag
    picked = percent(posterior_at_most(manifest.epsilon, 2), up=True)
    if kind == "labels":
        changed = 1 - label_kept(manifest.epsilon, len(manifest.labels))
        what, compared = ("declared values", "values") if manifest.classifier.kind == "values" else ("labels", "texts")
        times = number(round(changed * manifest.documents))
        return (
            f"Noise changes {percent(changed)} of {what} (about {times} of {number(manifest.documents)}). Suppose somebody "
            f"has two {compared}, and a row made from one of them. They pick the right one at most {picked} of the time (by "
            "guessing: 50 %)."
        )
    if kind == "summary":
        return (
            "Suppose somebody knows all texts but those of one author. They are given two texts, one by that author. "
            f"With this release, they pick the right one at most {picked} of the time (by guessing: 50 %)."
        )
    if manifest.evidence == "none":
        return "Nothing is promised: this mechanism has no proof."
    told = (
        "Suppose a row was made from one of two texts. A number, the exponent, says how easy it is to see which. If the "
        "exponent is above 10, there is almost no protection."
    )
    stated = [
        f"{rounded_up(value)} if one says nurse and the other says {word}"
        for word, value in (("doctor", manifest.nearest_pair), ("river", manifest.typical_pair))
        if value is not None
    ]
    if stated:
        return f"{told} Take two texts that differ in one word only. The exponent is at most {', and '.join(stated)}."
    return f"{told} It is {rounded_up(manifest.exponent_per_distance)} times the distance of the two."


def yardstick(manifest: Any) -> str:
    """How the field calls an epsilon of this size, beside this one; of words, what they hardly protect against."""
    if manifest.__struct_config__.tag == "words":
        return (
            f"Little protection if somebody has texts by these authors. Epsilon ({rounded_up(manifest.epsilon, 6)}) "
            "is for each word: do not compare it with the epsilon of labels or summaries."
        )
    here = f"{rounded_up(manifest.epsilon, 6)} per {manifest.unit}"
    if manifest.author is not None and manifest.author.epsilon != manifest.epsilon:
        here += f", {rounded_up(manifest.author.epsilon, 6)} per author"
    largest = max(manifest.epsilon, manifest.author.epsilon if manifest.author is not None else 0)
    called = "strong" if largest <= 1 else "it may be weak" if largest > 20 else "in between"
    return (
        "A smaller epsilon protects more. Up to 1, protection is called strong; above 20, it may be weak (NIST SP 800-226). "
        f"Here epsilon is {here}: {called}."
    )


def word_pairs(manifest: Any) -> list[tuple[str, float]]:
    """The exponents between documents that differ in one public word, with the pair's name."""
    pairs = [
        ("similar words (nurse, doctor)", manifest.nearest_pair),
        ("other words (nurse, river)", manifest.typical_pair),
    ]
    return [(name, value) for name, value in pairs if value is not None]


def label_kept(epsilon: float, labels: int) -> float:
    """How often randomized response keeps the classifier's answer: e^epsilon / (e^epsilon + M - 1)."""
    return 1 / (1 + (labels - 1) * math.exp(-epsilon))


def on_average(epsilon: float, labels: int, candidates: int) -> float:
    """The largest probability of picking the right one of so many texts from one row, the mean over these texts."""
    kept = label_kept(epsilon, labels)
    other = (1 - kept) / (labels - 1) if labels > 1 else 0.0
    each = min(candidates, labels)
    return min(1.0, (each * kept + (labels - each) * other) / candidates)


def _of_labels(manifest: Any) -> list[str]:
    epsilon, labels = manifest.epsilon, len(manifest.labels)
    what, many = ("values", labels) if manifest.classifier.kind == "values" else ("texts", CANDIDATES)
    said = [
        f"Each row satisfies epsilon-local differential privacy with epsilon = {rounded_up(epsilon, 6)} (delta = 0, "
        f"proven): whatever two {what} are compared, the row is at most {factor_text(epsilon)} times as probable under "
        "one as under the other.",
        f"An attacker with {number(many)} {what}, one of them behind the row, picks the right one with probability at "
        f"most {percent(posterior_at_most(epsilon, many), up=True)} from the most telling row, and "
        f"{percent(on_average(epsilon, labels, many), up=True)} over all rows ({percent(1 / many)} by guessing).",
    ]
    if manifest.shuffled is not None:
        said.append(
            "Rows have no ids and a secret order: for those who do not know which row is whose, "
            f"epsilon = {rounded_up(manifest.shuffled.epsilon, 4)} {shuffled_unit(manifest)} with delta = "
            f"{rounded_up(manifest.shuffled.delta, 2)}, as long as what was drawn for others is not known from "
            "elsewhere."
        )
    return said + _of_author(manifest, "epsilon", epsilon)


def shuffled_unit(manifest: Any) -> str:
    """Whose what is stated of shuffling is."""
    return "per author" if manifest.author else "per document, of a person with one,"


def _of_words(manifest: Any) -> list[str]:
    if manifest.evidence == "none":
        return ["Nothing is promised: this mechanism has no proof."]
    exponent, length = rounded_up(manifest.exponent_per_distance, 6), number(manifest.length)
    evidence = "stated by the mechanism's author" if manifest.evidence == "stated" else manifest.evidence
    if manifest.ordered:
        between = f" that agree in {_KEPT[manifest.between]}" if manifest.between != "none" else ""
        what = f"Take any two sequences of {length} words{between}, and let E be the mean distance of words in order"
    else:
        what = f"Take any two documents of {length} words, and let E be their Earth Mover's distance"
    said = [
        f"{what} ({manifest.metric}, on the public word vectors). A row is at most exp({exponent} * E) times as "
        f"probable under one as under the other ({evidence}, for epsilon = {rounded_up(manifest.epsilon, 6)} "
        f"per word and distance, N = {length})"
        + (f", but for a probability of {rounded_up(manifest.delta, 2)}." if manifest.delta else "."),
        "A shorter document is filled up with public words, and E is then the largest that these could make it.",
        "The topic is not hidden. Somebody who has the texts could tell the author at every setting that was tried.",
    ]
    return said + _of_author(manifest, "exponent", manifest.exponent_per_distance)


def _of_author(manifest: Any, what: str, each: float) -> list[str]:
    """What several documents of an author add up to, and several releases."""
    times = " times the distance" if what == "exponent" else ""
    again = f"Each further release of a document adds its {what} to this one's."
    if manifest.author is None:
        return [f"An author of {SEVERAL} documents has {what} {rounded_up(SEVERAL * each, 6)}{times} in all.", again]
    documents = manifest.author.documents
    delta = manifest.author.delta and f" (delta = {rounded_up(manifest.author.delta)})"
    return [
        f"Of each author at most {number(documents)} {'document leaves' if documents == 1 else 'documents leave'}: "
        f"{what} {rounded_up(manifest.author.epsilon, 6)}{times}{delta or ''} for what they say, not for how many there are.",
        again,
    ]


def _of_summary(manifest: Any) -> list[str]:
    epsilon, c = manifest.epsilon, manifest.documents_per_author
    return [
        f"The release satisfies epsilon-differential privacy for each author with epsilon = {rounded_up(epsilon, 6)} "
        "(delta = 0, proven): take two collections in which all documents of one author are replaced; whatever is "
        f"seen is at most {factor_text(epsilon)} times as probable under one as under the other.",
        meaning(manifest),
        f"Counted are at most {number(c)} {'document' if c == 1 else 'documents'} of each author"
        + f", and of all their documents at most {manifest.statements_per_author} statements"
        * (manifest.statements > 0)
        + "; the number of "
        "authors is public. People whom texts mention are not protected, nor is what most authors have in common.",
        "Each further release on the same authors adds its epsilon to this one's.",
    ]


def _unprotected(manifest: Any) -> list[str]:
    """What leaves as it is."""
    kept = [repr(name) for name in getattr(manifest, "kept", ())]
    named = ["the documents' own ids"] * getattr(manifest, "ids", False)
    named += [f"the {'column' if len(kept) == 1 else 'columns'} {', '.join(kept)}"] if kept else []
    if getattr(manifest, "between", "none") != "none":
        named.append(f"{_KEPT[manifest.between]} between the words, which show style and length")
    return [f"Not protected: {'; '.join(named)}."] if named else []


def number(value: float) -> str:
    """A number for people: thousands grouped, at most four significant digits of a fraction."""
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 1000 else f"{value:.4g}"


def rounded_up(value: float, digits: int = 3) -> str:
    """A limit for people: at most so many significant digits, rounded up."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "without limit"
    upward = decimal.Context(prec=digits, rounding=decimal.ROUND_CEILING).create_decimal(repr(float(value)))
    if abs(upward) >= 10**15 or abs(upward) < decimal.Decimal("1e-12"):
        return f"{upward:.{digits - 1}e}"
    said = f"{upward:,f}"
    return said.rstrip("0").rstrip(".") if "." in said else said


def outward(low: float, high: float, digits: int = 0) -> tuple[float, float]:
    """Limits of at most so many decimals, rounded to the safe side: the lower one down, the upper one up."""
    step = decimal.Decimal(1).scaleb(-digits)
    down = decimal.Decimal(repr(float(low))).quantize(step, decimal.ROUND_FLOOR)
    return float(down), float(decimal.Decimal(repr(float(high))).quantize(step, decimal.ROUND_CEILING))


def between(low: float, high: float) -> str:
    """Limits as percentages, rounded as in `outward`."""
    return f"{percent(low, down=True)} to {percent(high, up=True)}"


def percent(share: float, *, up: bool = False, down: bool = False) -> str:
    """A share as a percentage, finer near 0 and 1; ``up`` for an upper limit, never rounded down, ``down`` for a lower one."""
    near = min(abs(share), abs(1 - share))
    digits = 0 if near >= 0.1 else 1 if near >= 0.01 else 2 if near >= 0.0005 or near <= 0 else 3
    exact = decimal.Decimal(repr(float(share))) * 100
    rounding = decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR if down else decimal.ROUND_HALF_EVEN
    said = f"{exact.quantize(decimal.Decimal(1).scaleb(-digits), rounding):f}"
    return (said.rstrip("0").rstrip(".") if "." in said else said) + " %"


def factor_text(exponent: float) -> str:
    """exp(``exponent``), rounded up, for people; beyond float64 as a power."""
    value = factor(exponent)
    return f"exp({rounded_up(exponent, 6)})" if math.isinf(value) and math.isfinite(exponent) else rounded_up(value)
