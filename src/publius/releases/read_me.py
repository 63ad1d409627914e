"""``READ-ME.txt``: what a release is, for those who receive it and have nothing but the folder.

It is made from the manifest and from the rows that leave, so it tells nothing that they do not. The manifest binds it.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any, Final

from publius.errors import how_many
from publius.files import read_lines
from publius.mechanisms.prototype import fidelity
from publius.mechanisms.registry import tells_preserved, votes_of
from publius.privacy.crowd import ShareEstimate, unbiased_shares
from publius.privacy.guarantee import STATED
from publius.privacy.promise import ceiling, floor, rounded_up, stand
from publius.releases.plan import BAG, DECLARED_VALUE
from publius.settings import FIELD
from publius.vectors.learning.prototypes import NONE_OF_THESE

READ_ME: Final = "READ-ME.txt"
_WIDTH: Final = 100
WHOEVER_RECEIVES: Final = (
    "Do not try to find out whose documents these are. This folder states no licence: ask whoever sent it what you may "
    "do with it. Whom to write to about errors stands in receivers.html, if somebody was named."
)
"""Of every release."""
_LABELS: Final = 200
"""Labels that are listed at most, the most frequent first."""

KNOWN: Final = {
    "proven": "by a theorem: the promise follows from how the rows are drawn",
    "certified": "by this software, which computed the promise exactly for what is public; no authority did",
    STATED: "by whoever wrote the mechanism: nothing was computed",
}
"""How the promise is known to hold, by the word for it."""


_LIMITS: Final = ", and give the limits with the counts, as READ-ME.txt has them"
"""What those who count rows are to do where their labels are votes: of other rows no limits are known."""

SHARED_OUT: Final = ", one between two labels in part for each"
"""How a document counts that is near to several labels: where the choice is soft each has its share of it."""


def read_me(manifest: Mapping[str, Any], counts: Mapping[str, int]) -> str:
    """The text for a release with this manifest, whose rows have each label so often."""
    parts = [*_title(manifest), *_what_it_is(manifest), *_what_it_is_not(manifest), *_promise(manifest)]
    text = "\n\n".join(fill(part, _WIDTH) for part in parts)
    return text + "\n" + "".join(f"{line}\n" for line in _labels(manifest, counts))


def may_and_may_not(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Sentences on the use of a release by those who receive it: here and on their page in the same words."""
    kept = "; what is kept unprotected apart" if stand(manifest.get("kept_between", "none")) else ""
    yield (
        f"What must not be concluded: that somebody wrote what stands in a row{kept}; that a single row is right; that "
        "a word which many rows have was frequent in the documents; how many people there are, since one may have "
        f"several rows. Count rows{'' if votes_of(manifest) is None else _LIMITS}."
    )
    if "probability_kept" in manifest and manifest["kind"] != DECLARED_VALUE:
        votes = votes_of(manifest)
        between = SHARED_OUT if votes is not None and votes.soft else ""
        yield (
            f"You may write that a program found a label in so many of the documents{between}; not that so many were "
            "about it. Whoever shows a row as an example says that its words are not the document's."
        )
    yield WHOEVER_RECEIVES


def prepare() -> None:
    """Import what `read_me` needs where rows have labels, for who has others at work: at the end all wait for it."""
    import scipy.special  # noqa: F401  # of `unbiased_shares`


def label_counts(folder: Path) -> Counter[str]:
    """How often each label was printed, read from the rows of a release; empty where rows have none."""
    if (folder / "bags.jsonl").is_file():
        return _of_lines(folder / "bags.jsonl")
    if (folder / "documents.jsonl").is_file():
        return _of_lines(folder / "documents.jsonl")
    if (folder / "bags.csv").is_file():
        return _of_csv(folder / "bags.csv")
    return _of_parquet(folder / "bags.parquet")


def _of_lines(path: Path) -> Counter[str]:
    """The first key of each line, where it is the label; a whole line is read only where it looks otherwise."""
    found: Counter[bytes] = Counter()
    for _, line in read_lines(path):
        head, comma, _ = line.partition(b', "probability_kept": ')
        if not comma or not head.startswith(b'{"label": '):
            return Counter()
        found[head] += 1
    return Counter({json.loads(head + b"}")["label"]: count for head, count in found.items()})


def _of_csv(path: Path) -> Counter[str]:
    import csv

    from publius.releases.writers import unmarked

    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        fields = next(rows)
        if fields[0] != "label":
            return Counter()
        id, last, found = fields.index("id"), None, Counter[str]()
        for row in rows:
            if row[id] != last:
                found[unmarked(row[0])] += 1
                last = row[id]
    return found


def _of_parquet(path: Path) -> Counter[str]:
    from publius.documents.row_readers import import_parquet

    parquet, found = import_parquet()[1], Counter[str]()
    for part in sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]:
        with parquet.ParquetFile(part) as file:
            if file.schema_arrow.names[:1] != ["label"]:
                return Counter()
            for batch in file.iter_batches(columns=["label"]):
                found.update(batch.column(0).to_pylist())
    return found


def _title(manifest: Mapping[str, Any]) -> Iterator[str]:
    if manifest["private"] is not True:
        yield "NOT PRIVATE. This is the output of an experiment. It promises nothing and must not be passed on."
    yield f"What this folder is: {how_many(manifest['documents'], 'row')}, one for each document, made with Publius."


def label_kept(manifest: Mapping[str, Any]) -> float | None:
    """How often at most the label that was found is printed; None where no label is, or it is not known.

    ``probability_kept`` is that of one outcome: a label that several share is printed for each of them.
    """
    kept: float | None = manifest.get("probability_kept")
    shared: Mapping[str, int] = manifest.get("outcomes_of_label", {})
    if kept is None or not shared:
        return kept
    votes = votes_of(manifest)
    return None if votes is None else fidelity(manifest["bound"], votes.outcomes, max(shared.values()))


def _what_it_is(manifest: Mapping[str, Any]) -> Iterator[str]:
    kept = manifest.get("probability_kept")
    if kept is not None:
        declared = manifest["kind"] == DECLARED_VALUE
        found = (
            f"the {manifest['preserve']} that the program"
            if tells_preserved(manifest)
            else "what the mechanism"
        )
        whose, own = (
            ("the document's own", "A document's own label is printed with a probability of")
            if declared
            else (
                f"{found} found for the document, which may be wrong,",
                "The label that was found is printed with a probability of",
            )
        )
        probability = f"{kept:.4g}{_by_its_author(manifest)}"
        most = " at most" if str(manifest["probability_kept_is"]).startswith("an upper") else ""
        printed = f"{own}{most} {probability}; otherwise another label is printed. That number is"
        if "outcomes_of_label" in manifest:
            of_label = label_kept(manifest)
            much = f"above {kept:.4g}" if of_label is None else f"of at most {rounded_up(of_label, 4)}"
            printed = (
                f"The label that was found is printed with a probability {much}; otherwise another label is printed. "
                f"Several outcomes share a label, and {probability} is how often at most one of them is kept. That "
                "number is"
            )
        yield (
            f"Each row stands for one document and says one thing of it: a label, {whose} or by chance "
            f"another one. {printed} the same in every row and depends on no document: it does not say how far a row "
            f"can be believed. That depends on how frequent its label is, and "
            f"{'is not known here' if votes_of(manifest) is None else 'stands below'}."
        )
    if (stands := stands_for_others(manifest)) is not None:
        yield stands
    if manifest["mechanism_parameters"].get("none_of_these"):
        yield (
            f"The label {NONE_OF_THESE!r} stands for a document without text, and for one that is unlike all other "
            "labels: further from them than 99 of 100 public texts are from their own. It is printed by "
            "chance for others, as every label is."
        )
    yield _row_in_words(manifest)


def stands_for_others(manifest: Mapping[str, Any]) -> str | None:
    """That a declared value stands for what was not declared, too, in a sentence; None where none does."""
    other = None if manifest["kind"] != DECLARED_VALUE else manifest["mechanism_parameters"].get("other")
    if other is None:
        return None
    return (
        f"The label {other!r} stands for every value that was not declared, too: for documents with such a value it is "
        "meant where a document's own is spoken of, and counted with them."
    )


def _by_its_author(manifest: Mapping[str, Any]) -> str:
    """What stands behind a statement of a class from outside, of which nothing was computed; empty for ours."""
    return ", as the author of the mechanism states" if "mechanism_source" in manifest else ""


def _whose_words(manifest: Mapping[str, Any]) -> str:
    """Who put the words into a row that are not known to be typical of anything."""
    return (
        "a mechanism from outside Publius"
        if _by_its_author(manifest)
        else f"the mechanism {manifest['mechanism']}"
    )


def _row_in_words(manifest: Mapping[str, Any]) -> str:
    size = manifest["size"]
    if manifest["kind"] == DECLARED_VALUE:
        field = str(manifest["preserve"]).removeprefix(FIELD)
        return f"The labels are values of the field {field!r} that were declared beforehand."
    if manifest.get("bound") is not None and not tells_preserved(manifest):
        return (
            f"The words of a row ('bag': {size} words, repeats counted) are words of a public list that "
            f"{_whose_words(manifest)} put there. What they say of a document is limited by the promise alone."
        )
    if manifest.get("bound") is not None:
        drawn_for = "its label" if "probability_kept" in manifest else "a noisy place among public texts"
        return (
            f"The words of a row ('bag': {size} words, repeats counted) are NOT words of the document. They are "
            f"public words, typical of {drawn_for} and drawn at random. They say nothing beyond the "
            f"{manifest['preserve']} that is kept. Names of people may stand among them: no document need "
            "have mentioned these."
        )
    if manifest["kind"] == BAG:
        return (
            f"Each row is a bag of {size} words without order. Each word of a document was replaced at random by a "
            "word of a public vocabulary: one that stands there may or may not have been in the document."
        )
    kept = stand(manifest["kept_between"])
    between = f" Between these {kept}, unprotected." if kept else ""
    return (
        f"Each row is a text of {size} words in order, each replaced at random by a word of a public vocabulary."
        f"{between} This is the weaker kind of release: the order of a text is not hidden."
    )


def _what_it_is_not(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield from may_and_may_not(manifest)
    if manifest["labels"]:
        names = ", ".join(map(repr, manifest["labels"]))
        yield f"The fields {names} stand as they were in the documents, without any protection."


def _promise(manifest: Mapping[str, Any]) -> Iterator[str]:
    yield f"What is promised to those whose documents these are: {manifest['promise']}"
    yield from _words_of_it(manifest)
    yield "People who are mentioned in the documents are protected only as parts of a document, not by themselves."
    yield "manifest.json states all of this for machines, with the digests of this text and of the rows."


def _words_of_it(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Whose words the promise uses."""
    if manifest.get("bound") is not None:
        yield (
            f"'{str(manifest['strength']).capitalize()}' is a word of Publius's own scale, whose limits stand beside "
            "it; it is no verdict of a law or of an authority. A nat is the unit of that scale: with one nat more, "
            "what is seen may be 2.72 times as probable under one document as under the other."
        )
    if manifest["evidence"] == "certified":
        yield f"'Certified' means: {KNOWN['certified']}."


def _labels(manifest: Mapping[str, Any], counts: Mapping[str, int]) -> Iterator[str]:
    votes = votes_of(manifest)
    shared: Mapping[str, int] = manifest.get("outcomes_of_label", {})
    if votes is None or not counts or votes.outcomes < len(counts):  # of another law no share is known here
        return
    kept, outcomes = manifest["probability_kept"], votes.outcomes
    ordered = sorted(counts, key=lambda label: (-counts[label], label))
    rows = sum(counts.values())
    of_each = [shared.get(label, 1) for label in ordered]
    found = unbiased_shares(
        [counts[label] for label in ordered], manifest["bound"], outcomes, rows, shared=of_each
    )
    floor_of_one = 1 / (math.exp(manifest["bound"]) + outcomes - 1)
    # A row is drawn blindly with M / Z, and else from the labels that its document is near to: one, or softly some.
    not_blind = 1 - outcomes * floor_of_one
    yield ""
    yield from _heads(manifest)
    for label, share, together in list(zip(ordered, found, of_each, strict=True))[:_LABELS]:
        own = min(1.0, kept + (together - 1) * floor_of_one)
        right = _right(share, counts[label] / rows, own if manifest["kind"] == DECLARED_VALUE else not_blind)
        yield _columns(f"{counts[label]:,}", _interval(share), right, label)
    if len(ordered) > _LABELS:
        yield f"  and {len(ordered) - _LABELS:,} labels more"


def _heads(manifest: Mapping[str, Any]) -> Iterator[str]:
    """The heads of the columns of labels, and how to write of them."""
    if manifest["kind"] == DECLARED_VALUE:
        yield "Labels. First, how many rows have it. Then its share of the documents, without the bias of the noise"
        yield "(limits that hold for all labels together, with a probability of 95 %). Last, of these rows, the share"
        yield "whose label is the document's own, by a cautious limit."
        yield ""
        yield _columns("rows", "share", "its own", "label")
        return
    votes = votes_of(manifest)
    between = SHARED_OUT if votes is not None and votes.soft else ""
    yield from fill(
        f"Labels. First, how many rows have it. Then the share of documents in which the program found it{between}, "
        "without the bias of the noise (limits that hold for all labels together, with a probability of 95 %). Last, "
        "of these rows, the share that was not drawn blindly, from all labels alike, by a cautious limit.",
        _WIDTH,
    ).splitlines()
    yield "The share of documents that are really about it may lie outside these limits: the program errs, with some"
    yield "labels more than with others; how often stands in receivers.html, where it was measured on public texts."
    yield ""
    yield _columns("rows", "found in", "not drawn blindly", "label")


def _columns(rows: str, share: str, right: str, label: str) -> str:
    return f"  {rows:>9}  {share:<16}  {right:<22}  {label}"


def _interval(share: ShareEstimate) -> str:
    return f"{floor(share.low, 3):6.1%} to {ceiling(share.high, 3):6.1%}"


def _right(share: ShareEstimate, rate: float, kept: float) -> str:
    """Bayes' rule with the lowest share as prior: at least so many, rounded down.

    Nothing is known of how many rows have their document's nearest label where the choice is soft: documents that are
    nearer to another one may give this label all of its share.
    """
    least = math.floor(100 * min(1.0, kept * share.low / rate))
    return f"at least {least} %" if least else "not told from noise"


def unfit_share(manifest: Mapping[str, Any], counts: Mapping[str, int]) -> float | None:
    """The lower limit of the share of documents that fit nothing public; None where there is no such label.

    From what leaves alone, without the bias of the noise; at 95 %, since noise is no reason against a verdict.
    """
    rows = sum(counts.values())
    if not rows or not (manifest.get("mechanism_parameters") or {}).get("none_of_these"):
        return None
    votes = votes_of(manifest)
    if votes is None:
        return None
    found = unbiased_shares([counts.get(NONE_OF_THESE, 0)], manifest["bound"], votes.outcomes, rows)
    return found[0].low
