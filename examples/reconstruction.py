"""How much better than chance a reconstruction reads, and how little of the author's order it finds.

A third of the Federalist papers (extra ``demo``) teaches the model that orders, a third another model that judges, and
bags of the last third are ordered: clean ones, and released ones. Run it with: python examples/reconstruction.py
"""

from __future__ import annotations

import argparse
import math
from itertools import pairwise

import publius
from publius.documents.samples import federalist_papers
from publius.noise.randomness import seeded_rng
from publius.releases.writing.language_model import NGramModel
from publius.releases.writing.likeliest_order import log_probability, order_words
from publius.text.bag import Encoding, words_of
from publius.text.tokenizer import StopWords, tokenize

SHUFFLES = 10


def perplexity(orderings, model):
    """Over all words of all orderings."""
    total = sum(log_probability(words, model) for words in orderings)
    return math.exp(-total / sum(map(len, orderings)))


def shuffled(words, seed):
    return tuple(words[place] for place in seeded_rng(seed).permutation(len(words)))


def followed(ordering, original):
    """The share of the original's neighbours, two by two, that are neighbours in the ordering too."""
    pairs = set(pairwise(original))
    return len(pairs & set(pairwise(ordering))) / len(pairs)


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def report(name, bags, originals, orders, judges, beam):
    ordered = [order_words(bag, orders, beam).words for bag in bags]
    chance = [
        shuffled(words, seed)
        for words in map(tuple, (bag.words() for bag in bags))
        for seed in range(SHUFFLES)
    ]
    rows = {"reconstructed": ordered, "random order": chance}
    if name == "clean bags":
        rows["author's order"] = originals
    print(f"{name}: {len(bags)} bags of {bags[0].size} words")
    for kind, found in rows.items():
        times = SHUFFLES if kind == "random order" else 1
        sources = [original for original in originals for _ in range(times)]
        share = mean(followed(a, b) for a, b in zip(found, sources, strict=True))
        own, other = (perplexity(found, model) for model in (orders, judges))
        print(f"  {kind:<15} perplexity {own:7.0f} (its own model) {other:7.0f} (another)   "
              f"author's neighbours {share:.3f}", flush=True)  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epsilon", type=float, action="append", help="repeatable; default 10 and 20")
    parser.add_argument("--length", type=int, default=200)
    parser.add_argument("--papers", type=int, default=20)
    parser.add_argument("--beam", type=int, default=16)
    given = parser.parse_args(arguments)
    texts = [path.read_text(encoding="utf-8") for path in sorted(federalist_papers().glob("*.txt"))]
    stop_words = StopWords.load("english")
    embeddings = publius.Embeddings.load()
    words = [
        [word for word in tokenize(text, embeddings.tokenizer) if word not in stop_words] for text in texts
    ]
    orders, judges = NGramModel.train(words[0::3]), NGramModel.train(words[1::3])
    encoding = Encoding(given.length, "unk", stop_words, embeddings.tokenizer)
    sample = texts[2::3][: given.papers]
    originals = [words_of(text, embeddings, encoding).words for text in sample]
    clean = [publius.Bag(words) for words in originals]
    report("clean bags", clean, originals, orders, judges, given.beam)
    for epsilon in given.epsilon or [10.0, 20.0]:
        mechanism = publius.Laplace(embeddings, epsilon=epsilon)
        made = [publius.release(text, mechanism, length=given.length).bag for text in sample]
        report(f"released at epsilon {epsilon:g}", made, originals, orders, judges, given.beam)


if __name__ == "__main__":
    main()
