"""Reports of a summary: a page with pictures, offline, and a plain text for those who receive it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from publius.errors import extra
from publius.releases.contents import PASSAGES as PASSAGES_FILE
from publius.releases.drawing import pyplot
from publius.releases.summaries import pictures
from publius.releases.summaries.said import BAG_WORDS, SOURCE, Ranked, Said

_SHOWN: Final = 15
_MONTH: Final = re.compile(r"\d{4}-\d{2}")
_WIDTH: Final = 100


def check_libraries() -> None:
    """`MissingExtraError` where the page could not be made: before anything is read or spent."""
    _environment()
    pyplot()


def _environment() -> Any:
    with extra("evaluation", "jinja2"):
        import jinja2
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("publius.releases.summaries"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"number": _number, "percent": _percent, "times": _times}
    return environment


def render(said: Said, manifest: Mapping[str, Any]) -> bytes:
    """The page. Whatever comes from declared values or public texts is escaped."""
    from markupsafe import Markup

    content = {
        "manifest": manifest,
        "by": said.told.by,
        "author": "1 document" if said.told.by.documents_per_author == 1
        else f"{said.told.by.documents_per_author} documents",
        "size": said.size,
        "strata": list(_strata(said)),
        "themes": _table(said.themes, () if said.passages is None else said.passages.themes),
        "subjects": _table(said.subjects),
        "compared": _compared(said),
        "rows": said.told.themes is not None,
        "quoted": None if said.passages is None else SOURCE,
        "figures": [Markup(figure) for figure in _figures(said)],  # noqa: S704  # made by us
        "chance": float(np.exp(float(said.told.by.epsilon)) / (1 + np.exp(float(said.told.by.epsilon)))),
    }  # fmt: skip
    return str(_environment().get_template("report.html").render(content)).encode()


def _compared(said: Said) -> str | None:
    """What shares are compared with, in words."""
    ranked = [each for each in (said.themes, said.subjects) if each is not None and each.compared is not None]
    if not ranked:
        return None
    if said.earlier is not None:
        return said.earlier.name
    return f"the public texts of the reference {said.told.by.spaces.reference.name}{_independent(said)}"


def _independent(said: Said) -> str:
    """What has to be said where public texts are counted, and not their authors."""
    reference = said.told.by.spaces.reference
    authors = (reference.source.get("public_words") or {}).get("authors")
    if said.earlier is not None or reference.counted is None or reference.counted.documents == authors:
        return ""
    return " (each taken to be another author's: several of one author can make a subject look new)"


def _strata(said: Said) -> Iterator[dict[str, Any]]:
    totals = said.totals
    if totals is None:
        return
    typical = said.typical_words or [()] * len(said.strata)
    for place, name in enumerate(said.strata):
        # Where nobody may have written at all, words and sentences would be those of the noise.
        sure = totals.low[place] > 0
        yield {
            "name": name,
            "contributed": int(totals.contributed[place]),
            "low": int(totals.low[place]),
            "high": int(totals.high[place]),
            "words": ", ".join(typical[place]) if sure else "too few to tell",
            "passages": said.passages.strata[place] if sure and said.passages is not None else (),
        }


def _table(ranked: Ranked | None, passages: Sequence[Sequence[str]] = ()) -> dict[str, Any] | None:
    if ranked is None:
        return None

    def row(cell: int) -> dict[str, Any]:
        found: dict[str, Any] = {
            "words": ranked.words[cell], "contributed": int(ranked.counts.contributed[cell]),
            "low": int(ranked.counts.low[cell]), "high": int(ranked.counts.high[cell]),
            "share": float(ranked.shares[cell]), "new": cell in ranked.new,
            "passages": passages[cell] if passages else (),
        }  # fmt: skip
        if ranked.compared is not None and ranked.before is not None:
            compared = ranked.compared
            found |= {
                "before": float(ranked.before[cell]), "ratio": float(compared.ratio[cell]),
                "ratio_low": float(compared.low[cell]), "ratio_high": float(compared.high[cell]),
            }  # fmt: skip
        return found

    return {
        "first": [row(cell) for cell in ranked.cells[:_SHOWN].tolist()],
        "gone": [row(cell) for cell in list(ranked.gone)[:_SHOWN]],
        "new": len(ranked.new),
        "all": len(ranked.cells),
        "compared": ranked.compared is not None,
    }


def _figures(said: Said) -> Iterator[str]:
    totals = said.totals
    if totals is None:
        return
    fields = said.told.by.strata.fields
    limits = totals.contributed, totals.low, totals.high
    if len(said.strata) > 1:
        largest = np.argsort(-totals.contributed, kind="stable")[: pictures.MOST_BARS]
        yield pictures.bars(
            [said.strata[each] for each in largest.tolist()], *(each[largest] for each in limits)
        )
    shape = tuple(len(field.labels) for field in fields)
    for axis, field in enumerate(fields):
        if not field.monthly or len(fields) > 2:
            continue
        moved = [np.moveaxis(each.reshape(shape), axis, -1)[..., :-1] for each in limits]
        lines = [np.atleast_2d(each) for each in moved]
        names = [""] if len(fields) == 1 else list(fields[1 - axis].labels)
        yield pictures.trend(list(field.values), names, *lines)


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def _times(value: float) -> str:
    return "no limit" if not np.isfinite(value) else f"{value:.2g}" if value < 100 else f"{value:,.0f}"


def read_me(said: Said, manifest: Mapping[str, Any]) -> str:
    """Plain words for those who receive the folder: what was counted, how sure it is, what may be said of it."""
    summary = said.told.by
    documents = "document" if summary.documents_per_author == 1 else "documents"
    counted = f"contributed documents, at most {summary.documents_per_author} {documents} an author"
    parts = [
        "WHAT THIS IS",
        f"What a collection of documents says, counted so that no author can be found in it. Counted are {counted}: "
        "never all complaints, letters or posts. An author who wrote fifty counts no more than one who wrote "
        "one."
        if summary.documents_per_author == 1
        else f"What a collection of documents says, counted so that no "
        f"author can be found in it. Counted are {counted}: never all complaints, letters or posts.",
        "WHAT IS PROMISED TO EACH AUTHOR",
        manifest["promise"],
        "HOW TO READ THE NUMBERS",
        "Every count has noise added on purpose. 'contributed' is the best guess; the true number lies between 'low' "
        "and 'high', in all rows of a file together, with a probability of at least 95 %. A difference smaller than "
        "these limits is nothing. Counts were cleaned so that the rows of a stratum add up to its total.",
        *_files(said),
        "QUESTIONS",
        f"{_how_many(said)}\n"
        f"May I say that a sentence was written by somebody? No. {_whose_sentences(said)}\n"
        "Is Ms X in the data? Nobody can tell from this folder, and you must not say so either way: it would look "
        "nearly the same without anything that she wrote.\n"
        "Is this subject new? Only where the column 'new' says true. It compares shares with public texts or an "
        f"earlier summary{_independent(said)}, and allows for the noise and for chance on both sides, for all rows "
        "together. A row at the top without 'true' may be chance. Without something to compare with, nothing is called "
        "new.",
        "WHAT LIMITS IT",
        "Themes are those of public texts. They can be only as fine as the public texts are like the private ones: "
        "what the public texts do not know is counted with whatever is nearest, or as 'none of these'. With "
        "thousands of authors that costs more than the noise does.",
    ]
    lines = ["\n".join(textwrap.fill(line, _WIDTH) for line in part.split("\n")) for part in parts]
    return "\n\n".join(lines) + "\n"


def _how_many(said: Said) -> str:
    """Which row answers, what a sum of rows is worth, and why it is no number of all who ever wrote about it."""
    places = [
        *(["of a stratum, read the table of the report"] if said.totals is not None else []),
        *(["of a theme, its row in themes.csv"] if said.told.themes is not None else []),
        *(["of a subject, its row in subjects.csv"] if said.subjects is not None else []),
    ]
    sums = (
        " Of several themes of a stratum, add 'contributed', 'low' and 'high' of their rows in counts.csv: the sums "
        "hold, too."
        if said.told.themes is not None
        else ""
    )
    c = said.told.by.documents_per_author
    chosen = "one" if c == 1 else f"at most {c}"
    return (
        f"How many authors wrote about something? {'; '.join(places).capitalize()}.{sums} Give the limits with the "
        f"number, and say 'contributed documents': an author who wrote more counts with {chosen} of them, chosen at "
        "random, so more authors may have written about it at some time."
    )


def _whose_sentences(said: Said) -> str:
    if said.passages is None:
        return "No sentence of anybody is here. Words are public words of public texts, drawn at random for a theme."
    return (
        f"Every sentence in {PASSAGES_FILE} and in the report is {SOURCE}: it shows how one may write about a theme, "
        "and nothing says that anybody here wrote so. All other words are public words, drawn at random for a theme."
    )


def _files(said: Said) -> Iterator[str]:
    yield "THE FILES"
    found = ["report.html: everything below with pictures; open it in a browser."]
    if said.counts is not None:
        found.append("counts.csv: contributed documents of each stratum and theme, with limits.")
    if said.subjects is not None:
        found.append(
            "subjects.csv: what the documents are about, in groups of words that are alike; share here, share in what "
            "it is compared with, ratio with limits. The first row stands out most."
        )
    if said.told.themes is not None:
        found += [
            "themes.csv: the same of the themes of public texts.",
            "words.csv: ten public words that are typical of each stratum.",
            f"synthetic.jsonl: one row for each counted document, made up: its stratum, its theme and a bag of about "
            f"{BAG_WORDS} public words of that theme, dealt out at random. Rows can be counted, searched and trained "
            "on; none is anybody's document. To train: multinomial naive Bayes on the bags, with a smoothing of "
            "1 or less. When you label real documents with it, count a document as 20 words at most (divide its "
            "counts where it has more): long documents make it too sure.",
        ]
    if said.passages is not None:
        found.append(
            f"{PASSAGES_FILE}: sentences that are typical of a stratum or of a theme, each {SOURCE}. For reading, not "
            "for counting."
        )
    found.append("manifest.json: what was promised and drawn, exactly, and the digest of every file.")
    yield "\n".join(found)
