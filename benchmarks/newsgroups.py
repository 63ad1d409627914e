"""What readers learn from summaries of real posts: labels, shares, typical words, and subjects that nobody named.

``../shared/data`` holds the posts; where it is absent it says so. A fifth of the authors are public and their posts
unlabelled, 15 % wrote what is to be labelled, and all other posts are private. A figure is a mean of several draws:
each chooses one post of each author anew, and draws fresh noise.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from publius.arrays import Float64Array, IndexArray
from publius.collections.contributions import Contributions
from publius.errors import DataError
from publius.evaluation.steps.learning import learn
from publius.noise.randomness import RunKey, seeded_rng
from publius.releases.summaries.said import Said
from publius.releases.summaries.summary import Seen, Summary
from publius.settings import PublicWordSettings
from publius.text.tokenizer import StopWords, tokenize
from publius.vectors.learning.public_themes import counted
from publius.vectors.learning.reference import Reference

DATA: Final = Path(__file__).parents[2] / "shared" / "data" / "newsgroups"
EPSILONS: Final = ("0.5", "1", "2")
FAMILIES: Final[dict[str, tuple[str, ...]]] = {
    "sport": ("rec.sport.",), "religion": ("alt.atheism", "soc.religion.", "talk.religion."),
    "politics": ("talk.politics.",), "computers": ("comp.",), "medicine": ("sci.med",), "space": ("sci.space",),
    "cryptography": ("sci.crypt",), "electronics": ("sci.electronics",), "vehicles": ("rec.autos", "rec.motorcycles"),
    "for sale": ("misc.forsale",),
}  # fmt: skip
_FIRST: Final = 5
_FIFTY: Final = 50

Post = Mapping[str, Any]


@final
@dataclass(frozen=True)
class Posts:
    """Public posts, posts to label, and private ones; all three of different authors."""

    public: Sequence[Post]
    to_label: Sequence[Post]
    private: Sequence[Post]

    @property
    def one_each(self) -> list[Post]:
        """Of each private author one post, the same each time."""
        order = np.random.default_rng(2).permutation(len(self.private))
        return [*{self.private[at]["author"]: self.private[at] for at in order}.values()]

    @property
    def labels(self) -> list[str]:
        """All labels, in order."""
        return sorted({str(post["topic"]) for post in self.private})


def read_posts(data: Path = DATA) -> Posts:
    """The posts at ``data``; `DataError` where there are none."""
    if not data.exists():
        raise DataError(f"the research data beside the project is not here ({data.name})")
    found: list[dict[str, Any]] = []
    for name in ("train", "test"):
        with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            found += map(json.loads, lines)
    for place, post in enumerate(found):
        post["author"] = post["author"] or f"anon{place}"
    rng = np.random.default_rng(1)
    authors = np.array(sorted({post["author"] for post in found}))
    rng.shuffle(authors)
    first, second = int(0.2 * len(authors)), int(0.35 * len(authors))
    sides = [set(authors[:first]), set(authors[first:second]), set(authors[second:])]
    public, others, private = ([post for post in found if post["author"] in side] for side in sides)
    return Posts(public, others, private)


@contextmanager
def learned(public: Sequence[Post], name: str) -> Iterator[Reference]:
    """A reference of public posts, as the command learns it, in a folder that goes again."""
    with tempfile.TemporaryDirectory() as folder:
        path, before = Path(folder) / "public.jsonl", os.environ.get("PUBLIUS_HOME")
        lines = (json.dumps({key: post[key] for key in ("text", "author")}) + "\n" for post in public)
        path.write_text("".join(lines), encoding="utf-8")
        os.environ["PUBLIUS_HOME"] = str(Path(folder) / "home")
        try:
            yield learn(path, name, words=PublicWordSettings(author_field="author"))
        finally:
            os.environ.pop("PUBLIUS_HOME")
            if before is not None:
                os.environ["PUBLIUS_HOME"] = before


@final
class Labelled:
    """What somebody who trains on the rows of a summary gets right, and whether its words are a label's own."""

    def __init__(self, posts: Posts, reference: Reference) -> None:
        self.posts, self.labels = posts, posts.labels
        self._reference = reference
        self._vocabulary = self.summary("1").spaces.themes.vocabulary
        stops = StopWords.load("english")
        self._to_label, counts = (
            counted([Counter(word for word in tokenize(post["text"]) if word not in stops) for post in some],
                    self._vocabulary)
            for some in (posts.to_label, posts.private)
        )  # fmt: skip
        self._truth, own = (
            np.array([self.labels.index(post["topic"]) for post in some])
            for some in (posts.to_label, posts.private)
        )
        holding = [
            np.asarray((counts[own == each] > 0).mean(axis=0)).ravel() for each in range(len(self.labels))
        ]
        above = np.vstack(holding) - np.asarray((counts > 0).mean(axis=0)).ravel()
        self._fifty = [{self._vocabulary[at] for at in np.argsort(-row)[:_FIFTY].tolist()} for row in above]

    def summary(self, epsilon: str, shares: str = "themes=1") -> Summary:
        """By label, as it is asked for."""
        return Summary(self._reference, epsilon, by={"topic": self.labels}, shares=shares)

    def right(self, said: Said, smoothing: float = 1.0) -> float:
        """The share of posts that multinomial naive Bayes labels rightly, trained on the rows."""
        size = len(self.labels)
        words, rows = np.zeros((size + 1, len(self._vocabulary))), np.zeros(size + 1)
        for stratum, _, bags in said.rows(seeded_rng(2)):
            words[stratum] += np.bincount(bags.flat, minlength=words.shape[1])
            rows[stratum] += len(bags.starts) - 1
        likely = words[:size] + smoothing
        likely = np.log(likely / likely.sum(axis=1, keepdims=True)).T
        prior = np.log((rows[:size] + 1) / rows.sum())
        return float(((self._to_label @ likely + prior).argmax(axis=1) == self._truth).mean())

    def typical(self, said: Said) -> float:
        """Of ten words of each label, the share among the fifty that its posts have most above all posts."""
        return float(
            np.mean(
                [
                    len(fifty & {*words}) / 10
                    for fifty, words in zip(self._fifty, said.typical_words[:-1], strict=True)
                ]
            )
        )

    def off(self, said: Said, cells: IndexArray) -> float:
        """How far the shares of labels are from those of the documents that count, in total variation."""
        if said.totals is None:
            raise DataError("nothing was counted by label")
        size = len(self.labels)
        (strata, *_) = np.unravel_index(cells, said.told.by.counting.shape)
        found, true = said.totals.contributed[:size], np.bincount(strata, minlength=size)[:size]
        return float(np.abs(found / max(1, found.sum()) - true / true.sum()).sum() / 2)


def drawn(summary: Summary, private: Sequence[Post], draws: int) -> Iterator[tuple[Said, IndexArray]]:
    """What it says of the same collection, and the cells that count, each time chosen anew and with fresh noise."""
    read = [each for some in summary.read(summary.rows(private), Seen()) for each in some]
    cells = summary.counting.cells([text for _, text, _ in read], [stratum for *_, stratum in read]).tolist()
    for _ in range(draws):
        contributions = Contributions(RunKey.fresh(), 1)
        for (author, text, _), cell in zip(read, cells, strict=True):
            contributions.add(author, text, cell)
        yield Said(summary.draw(contributions.cells)), contributions.cells


def bench_labels(posts: Posts, draws: int) -> dict[str, Any]:
    """Labels, words and shares."""
    found: dict[str, Any] = {}
    with learned(posts.public, "newsgroups") as reference:
        each = Labelled(posts, reference)
        for epsilon in EPSILONS:
            said = [one for one, _ in drawn(each.summary(epsilon), posts.private, draws)]
            for smoothing in (1.0, 0.1):
                right = [each.right(one, smoothing) for one in said]
                found[f"labels_right_epsilon_{epsilon}_smoothing_{smoothing:g}"] = round(
                    float(np.mean(right)), 4
                )
            found[f"typical_words_epsilon_{epsilon}"] = round(
                float(np.mean([each.typical(one) for one in said])), 4
            )
            found[f"labels_without_words_epsilon_{epsilon}"] = float(
                np.mean([sum(not words for words in one.typical_words[:-1]) for one in said])
            )
        halves = [*drawn(each.summary("1", "totals=0.5,themes=0.5"), posts.private, draws)]
        found["label_shares_off_totals_half"] = round(float(np.mean([each.off(*one) for one in halves])), 4)
    return found


def bench_families(posts: Posts, draws: int, epsilon: str = "1") -> dict[str, Any]:
    """Families of groups left out of the public texts: how many are among the first five subjects, of ten."""
    groups = np.array([post["topic"] for post in posts.private])
    members: dict[str, Any] = {
        name: np.char.startswith(groups[:, None], np.array(begins)).any(axis=1)
        for name, begins in FAMILIES.items()
    }
    found = {
        name: _in_the_first(
            [post for post in posts.public if not str(post["topic"]).startswith(begins)], posts.private,
            {name: members[name]}, draws, epsilon,
        )
        for name, begins in FAMILIES.items()
    }  # fmt: skip
    control = _in_the_first(posts.public, posts.private, members, draws, epsilon)
    return {
        "families_of_10_found": round(sum(each[0] for each in found.values()), 2),
        "families_of_10_called_new": round(sum(each[1] for each in found.values()), 2),
        "control_nothing_left_out": round(control[0], 2),
        **{f"found_{name.replace(' ', '_')}": round(each[0], 2) for name, each in found.items()},
    }


def _in_the_first(
    public: Sequence[Post],
    private: Sequence[Post],
    members: Mapping[str, Any],
    draws: int,
    epsilon: str,
) -> tuple[float, float]:
    """How many families have a subject that is mostly theirs among the first five, and among those called new."""
    with learned(public, "left-out") as reference:
        summary = Summary(reference, epsilon, shares="subjects=1")
        cells = summary.counting.cells([str(post["text"]) for post in private], [0] * len(private))
        own: dict[str, Float64Array] = {
            name: np.bincount(cells, among, summary.spaces.subjects.cells)
            / np.maximum(np.bincount(cells, minlength=summary.spaces.subjects.cells), 1)
            for name, among in members.items()
        }
        first = called = 0
        for said, _ in drawn(summary, private, draws):
            ranked = said.subjects
            if ranked is None:
                raise DataError("a summary of subjects has none")
            for share in own.values():
                first += bool((share[ranked.cells[:_FIRST]] > 0.5).any())
                called += bool((share[np.array(ranked.new[:_FIRST], np.int64)] > 0.5).any())
    return first / draws, called / draws


def main(draws: int = 8, draws_of_families: int = 5, data: Path = DATA) -> dict[str, Any]:
    """All figures."""
    start, posts = time.process_time(), read_posts(data)
    found = {
        "benchmark": "newsgroups", "public_posts": len(posts.public), "posts_to_label": len(posts.to_label),
        "private_posts": len(posts.private),
        "authors": len(posts.one_each), "draws": draws, "draws_of_families": draws_of_families,
    }  # fmt: skip
    if draws:
        found |= bench_labels(posts, draws)
    if draws_of_families:
        found |= bench_families(posts, draws_of_families)
    return {**found, "processor_seconds": round(time.process_time() - start, 1)}
