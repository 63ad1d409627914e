"""CountVectorizer -> BagPrivatizer -> TfidfTransformer -> LogisticRegression: what is left of topic and author.

The texts are the Federalist papers (extra ``demo``); the topic of a paper is its part of the outline that Publius
gave in the first one, its author is who it is ascribed to. Run it with: python examples/scikit_learn.py
"""

from __future__ import annotations

import argparse
import re

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

import publius
from publius.documents.samples import federalist_papers
from publius.evaluation.statistics import clopper_pearson
from publius.sklearn import BagPrivatizer

OUTLINE = {
    "union": 1,
    "confederation": 15,
    "energy": 23,
    "republic": 37,
    "congress": 52,
    "executive": 67,
    "courts": 78,
}
SALUTATION = re.compile(r"To\s+the\s+People\s+of\s+the\s+State\s+of\s+New\s+York\W")


def papers():
    """(text, topic, author) of each paper; its head, which names the author, is cut off."""
    for path in sorted(federalist_papers().glob("federalist_*.txt")):
        head, text = SALUTATION.split(path.read_text(encoding="utf-8"), maxsplit=1)
        number = int(path.stem[-2:])
        topic = max((first, name) for name, first in OUTLINE.items() if first <= number)[1]
        yield text, topic, re.search(r"^(?:HAMILTON|MADISON|JAY).*$", head, re.MULTILINE)[0]


def public_vectors(size):
    """The most frequent words of the packaged vectors: quicker than all of them."""
    packaged = publius.Embeddings.load()
    return publius.Embeddings.from_arrays(
        packaged.vocabulary[:size],
        packaged.vectors[:size],
        name=f"glove-6b-50d-{size}",
        tokenizer=packaged.tokenizer,
    )


def pipeline(embeddings, epsilon):
    """Without protection when epsilon is None. The vocabulary is public, so that nothing is fitted on the texts."""
    vectorizer = CountVectorizer(vocabulary=list(embeddings.vocabulary), stop_words="english")
    protection = BagPrivatizer(
        embeddings,
        mechanism="laplace",
        epsilon=epsilon,
        length=400,
        feature_names=vectorizer.get_feature_names_out(),
    )
    classifier = LogisticRegression(C=10, max_iter=1_000, class_weight="balanced")
    steps = [vectorizer, protection, TfidfTransformer(sublinear_tf=True), classifier]
    return make_pipeline(*(step for step in steps if epsilon is not None or step is not protection))


def report(name, texts, labels, epsilons, embeddings, folds):
    """One line for each epsilon: how many texts get their label when they are held out, with a 95 % interval."""
    labels = np.array(labels)
    commonest = max(np.unique(labels, return_counts=True)[1]) / len(labels)
    print(f"{name}: {len(labels)} papers, always the commonest label: {commonest:.3f}")
    for epsilon in (None, *epsilons):
        held_out = StratifiedKFold(folds, shuffle=True, random_state=0)
        found = cross_val_predict(pipeline(embeddings, epsilon), texts, labels, cv=held_out)
        share = clopper_pearson(int((found == labels).sum()), len(labels))
        shown = "clean     " if epsilon is None else f"epsilon {epsilon:g}"
        print(f"  {shown:<11} {share.value:.3f} [{share.low:.3f}, {share.high:.3f}]", flush=True)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epsilon", type=float, action="append", help="repeatable; default 6, 8, 10, 12, 16")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--words", type=int, default=20_000, help="of the public vocabulary")
    parser.add_argument("--only", choices=["topic", "author"])
    given = parser.parse_args(arguments)
    epsilons, embeddings = given.epsilon or [6, 8, 10, 12, 16], public_vectors(given.words)
    texts, topics, authors = zip(*papers(), strict=True)
    if given.only != "author":
        report("topic", texts, topics, epsilons, embeddings, given.folds)
    if given.only == "topic":
        return
    two = [place for place, author in enumerate(authors) if author in ("HAMILTON", "MADISON")]
    report("author", [texts[i] for i in two], [authors[i] for i in two], epsilons, embeddings, given.folds)


if __name__ == "__main__":
    main()
